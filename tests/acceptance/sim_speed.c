// SPDX-License-Identifier: MIT
/*
 * How fast the model is: translated references a second for a random chase, by pages and by levels
 * of tables, on a machine of two TLB levels and three caches, and on machines that come along; and
 * the memory that it takes. Best of many short repetitions. Fails only over memory: times are for
 * people to read, since they are those of this computer and of what else it does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "access/chase.h"
#include "sim/sim.h"

enum { PART = 2048, SECONDS_OF_TEN = 6, MEMORY_MAX = 200 * 1000 * 1000 };

static const char plain[] =
	"{\"schema\":1,\"name\":\"plain\",\"summary\":\"four levels, two TLBs, three caches\","
	"\"sources\":{},\"core\":{\"clock_hz\":3e9,\"page\":\"4k\",\"levels\":4,\"source\":\"assumed\"},"
	"\"tlbs\":[{\"name\":\"1\",\"level\":1,\"entries\":64,\"ways\":4,\"pages\":[\"4k\",\"2m\"],"
	"\"source\":\"assumed\"},{\"name\":\"2\",\"level\":2,\"entries\":1536,\"ways\":12,"
	"\"pages\":[\"4k\",\"2m\"],\"hit_cycles\":7,\"source\":\"assumed\"}],"
	"\"walker\":{\"kind\":\"radix\",\"start_cycles\":9,\"first_cache\":1,\"source\":\"assumed\"},"
	"\"walk_caches\":[{\"level\":2,\"entries\":32,\"ways\":4,\"source\":\"assumed\"},"
	"{\"level\":3,\"entries\":4,\"source\":\"assumed\"},{\"level\":4,\"entries\":4,\"source\":"
	"\"assumed\"}],\"caches\":["
	"{\"name\":\"1\",\"size\":\"32k\",\"ways\":8,\"line\":64,\"hit_cycles\":4,\"source\":\"assumed\"},"
	"{\"name\":\"2\",\"size\":\"512k\",\"ways\":8,\"line\":64,\"hit_cycles\":14,\"source\":\"assumed\"},"
	"{\"name\":\"3\",\"size\":\"8m\",\"ways\":16,\"line\":64,\"hit_cycles\":40,\"source\":\"assumed\"}],"
	"\"memory\":{\"nodes\":2,\"local_ns\":90,\"remote_ns\":150,\"source\":\"assumed\"}}";

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Millions of references a second; the best part of a few rounds. */
static double speed(const struct sim_machine *m, const struct sim_space *space, uint64_t pages,
		    size_t *ret_bytes)
{
	uint64_t *va = malloc(pages * sizeof(*va));
	double best = 0, begin = now();
	struct err e = { 0 };
	struct chase c;
	struct sim *s;

	if (!va || sim_new(m, space, 1, &s, &e) < 0) {
		fprintf(stderr, "sim_speed: %s\n", e.msg);
		exit(1);
	}
	chase_init(&c, pages, 4096, 4096, CHASE_RANDOM, 1);
	for (uint64_t i = 0; i < pages; i++)
		va[i] = (UINT64_C(1) << 36) + chase_offset(&c, chase_element(&c, i));
	sim_run(s, va, pages);
	do {
		for (uint64_t at = 0; at < pages; at += PART) {
			const uint64_t n = pages - at < PART ? pages - at : PART;
			const double start = now();
			double rate;

			sim_run(s, va + at, n);
			rate = (double)n / (now() - start + 1e-12);
			best = rate > best ? rate : best;
		}
	} while (now() - begin < SECONDS_OF_TEN / 10.0);
	*ret_bytes = sim_bytes(s);
	sim_free(s);
	free(va);
	return best / 1e6;
}

static struct sim_machine *read_machine(const char *text, size_t n)
{
	struct sim_machine *m = NULL;
	struct err e = { 0 };

	if (sim_machine_read(text, n, &m, &e) < 0) {
		fprintf(stderr, "sim_speed: %s\n", e.msg);
		exit(1);
	}
	return m;
}

int main(void)
{
	static const char *const others[] = { "zen3-epyc", "skylake-sp", "neoverse-n1", NULL };
	struct sim_machine *m = read_machine(plain, sizeof(plain) - 1);
	size_t bytes, most = 0;

	printf("%-12s %8s %7s %12s %10s\n", "machine", "pages", "levels", "million/s", "MB");
	for (uint64_t pages = 1024; pages <= 262144; pages *= 4) {
		printf("%-12s %8ju %7d %12.1f", m->name, (uintmax_t)pages, 4,
		       speed(m, &(struct sim_space){ 0 }, pages, &bytes));
		printf(" %10.1f\n", (double)bytes / 1e6);
		most = bytes > most ? bytes : most;
	}
	for (uint32_t levels = 3; levels <= 5; levels++)
		printf("%-12s %8d %7u %12.1f\n", m->name, 65536, levels,
		       speed(m, &(struct sim_space){ .levels = levels }, 65536, &bytes));
	printf("%-12s %8d %7s %12.1f\n", m->name, 65536, "4 x 4",
	       speed(m, &(struct sim_space){ .host_levels = 4 }, 65536, &bytes));
	sim_machine_free(m);
	for (const struct sim_embedded *x = sim_embedded_machines; x->name; x++) {
		bool wanted = false;

		for (size_t i = 0; others[i]; i++)
			wanted = wanted || strcmp(others[i], x->name) == 0;
		if (!wanted)
			continue;
		m = read_machine(x->data, x->n);
		printf("%-12s %8d %7u %12.1f", m->name, 65536, m->core.levels,
		       speed(m, &(struct sim_space){ 0 }, 65536, &bytes));
		printf(" %10.1f\n", (double)bytes / 1e6);
		most = bytes > most ? bytes : most;
		sim_machine_free(m);
	}
	return most < MEMORY_MAX ? 0 : 1;
}
