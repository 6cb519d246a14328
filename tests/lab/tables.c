// SPDX-License-Identifier: MIT
/*
 * Where page tables and data come to lie on a machine with several nodes, by each way of making
 * tables, through the same memory library that the benchmarks use:
 *
 *	lab-tables WAY[,WAY]... TABLES[,TABLES]... CPU DATA_NODE TABLE_NODE
 *
 * WAY: demand (touching), populate (MADV_POPULATE_WRITE of one page for each table), populate-all
 * (of everything, region_populate_all()), fork (the child's copies; the parent's own tables go
 * wherever its CPU is). A node of -1: no policy. Prints as JSON, for each node, by how much the
 * kernel's count of page-table pages grew, what was left of that after unmapping, and where a
 * sample of the data lies; an array with an element for each way and number of tables.
 * The counts come from the nodes' meminfo, which the program's own proof does not read.
 * Source: Documentation/ABI/stable/sysfs-devices-node (meminfo), Linux 6.1.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/sysroot.h"
#include "mem/linux_abi.h"
#include "mem/policy.h"
#include "mem/region.h"

enum { MAX_NODES = 64, MAX_SAMPLE = 1024, USAGE = 2 };

struct counts {
	int64_t pages[MAX_NODES]; /* -1: no such node */
};

static int64_t meminfo_kb(const struct sysroot *sr, int node, const char *key)
{
	char path[96], *text;
	const char *at;
	int64_t kb = -1;

	snprintf(path, sizeof(path), "sys/devices/system/node/node%d/meminfo", node);
	if (sysroot_read(sr, path, &text, NULL, NULL) < 0)
		return -1;
	at = strstr(text, key);
	if (at)
		kb = strtoll(at + strlen(key), NULL, 10);
	free(text);
	return kb;
}

static struct counts read_counts(const struct sysroot *sr)
{
	struct counts c;
	char *text;

	if (sysroot_read(sr, "proc/sys/vm/stat_refresh", &text, NULL, NULL) == 0)
		free(text);
	for (int node = 0; node < MAX_NODES; node++) {
		int64_t kb = meminfo_kb(sr, node, "PageTables:");

		c.pages[node] = kb < 0 ? -1 : kb * 1024 / sysconf(_SC_PAGESIZE);
	}
	return c;
}

/* Tables of processes that are gone are freed some time later: waits until nothing changes. */
static struct counts still_counts(const struct sysroot *sr)
{
	struct counts last = read_counts(sr);

	for (int same = 0, i = 0; same < 3 && i < 100; i++) {
		struct counts now;

		nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
		now = read_counts(sr);
		same = memcmp(&now, &last, sizeof(now)) == 0 ? same + 1 : 0;
		last = now;
	}
	return last;
}

static void print_growth(const char *name, const struct counts *from, const struct counts *to)
{
	const char *comma = "";

	printf("\"%s\": {", name);
	for (int node = 0; node < MAX_NODES; node++) {
		if (from->pages[node] < 0)
			continue;
		printf("%s\"%d\": %jd", comma, node,
		       (intmax_t)(to->pages[node] - from->pages[node]));
		comma = ", ";
	}
	printf("}");
}

static void print_data(const struct region *r, const uint64_t *offsets, size_t n)
{
	size_t found[MAX_NODES] = { 0 }, count = n < MAX_SAMPLE ? n : MAX_SAMPLE;
	void *pages[MAX_SAMPLE] = { NULL };
	int nodes[MAX_SAMPLE];
	const char *comma = "";

	for (size_t i = 0; i < count; i++)
		pages[i] = r->base + offsets[i * (n / count)];
	printf("\"data\": {");
	if (policy_page_nodes(pages, count, nodes) == 0) {
		for (size_t i = 0; i < count; i++)
			if (nodes[i] >= 0 && nodes[i] < MAX_NODES)
				found[nodes[i]]++;
	}
	for (int node = 0; node < MAX_NODES; node++) {
		if (!found[node])
			continue;
		printf("%s\"%d\": %zu", comma, node, found[node]);
		comma = ", ";
	}
	printf("}");
}

static int populate_each(struct region *r, const uint64_t *offsets, size_t n, struct err *e)
{
	int result = r->spec.table_node < 0 ? 0 : policy_bind_task((uint32_t)r->spec.table_node);

	for (size_t i = 0; i < n && result == 0; i++)
		if (madvise(r->base + offsets[i], r->spec.page_bytes, MADV_POPULATE_WRITE) < 0)
			result = -errno;
	policy_reset_task();
	return result < 0 ? err_set(e, -result, "populating: %s", strerror(-result)) : 0;
}

/* A child that waits to be killed; its tables are copies of ours, made under the policy. */
static int fork_child(int node, pid_t *ret, struct err *e)
{
	int result = node < 0 ? 0 : policy_bind_task((uint32_t)node);
	pid_t child;

	if (result < 0)
		return err_set(e, -result, "set_mempolicy: %s", strerror(-result));
	child = fork();
	if (child == 0)
		for (;;)
			pause();
	policy_reset_task();
	if (child < 0)
		return err_set(e, errno, "fork: %s", strerror(errno));
	*ret = child;
	return 0;
}

static int make_tables(const char *way, struct region *r, const uint64_t *offsets, size_t n,
		       struct err *e)
{
	if (strcmp(way, "populate") == 0)
		return populate_each(r, offsets, n, e);
	if (strcmp(way, "populate-all") == 0)
		return region_populate_all(r, r->spec.span_bytes, e);
	return region_populate(r, offsets, n, e);
}

static int show_placement(const char *way, size_t n, const struct region_spec *asked, struct err *e)
{
	struct region_spec spec = *asked;
	struct counts before, after, end;
	uint64_t *offsets = calloc(n, sizeof(*offsets));
	struct region r = REGION_NONE;
	struct sysroot sr;
	pid_t child = 0;
	int result = offsets ? sysroot_init(&sr, NULL, e) : err_set(e, ENOMEM, "no memory");

	if (result < 0)
		return result;
	for (size_t i = 0; i < n; i++)
		offsets[i] = i * (spec.span_bytes / n);
	if (strcmp(way, "fork") == 0)
		spec.table_node = -1;
	result = region_map(&spec, &r, e);
	before = still_counts(&sr);
	if (result == 0)
		result = make_tables(way, &r, offsets, n, e);
	if (result == 0 && strcmp(way, "fork") == 0) {
		before = still_counts(&sr);
		result = fork_child(asked->table_node, &child, e);
	}
	if (result == 0) {
		after = still_counts(&sr);
		printf("{\"way\": \"%s\", \"asked\": %zu, \"table_error\": %d, ", way, n,
		       r.table_error);
		print_growth("tables", &before, &after);
		printf(", ");
		print_data(&r, offsets, n);
		if (child > 0) {
			kill(child, SIGKILL);
			waitpid(child, NULL, 0);
		} else {
			region_done(&r);
		}
		end = still_counts(&sr);
		printf(", ");
		print_growth("left", &before, &end);
		printf("}\n");
	}
	region_done(&r);
	free(offsets);
	return result;
}

/* Pins this process. False: there is no such CPU. */
static bool pin(const char *cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(strtoul(cpu, NULL, 10), &set);
	return sched_setaffinity(0, sizeof(set), &set) == 0;
}

static int show_all(char *ways, const char *counts, struct region_spec *spec, struct err *e)
{
	uint64_t table_span = spec->page_bytes * (spec->page_bytes / sizeof(uint64_t));
	const char *comma = "[";
	char *save = NULL;
	int result = 0;

	for (char *way = strtok_r(ways, ",", &save); way; way = strtok_r(NULL, ",", &save)) {
		for (const char *at = counts; result == 0 && *at; at += *at == ',') {
			char *end;
			size_t n = strtoul(at, &end, 10);

			if (end == at || n == 0)
				return err_set(e, EINVAL, "%s: a list of counts is wanted", counts);
			at = end;
			spec->span_bytes = n * table_span;
			printf("%s", comma);
			comma = ", ";
			result = show_placement(way, n, spec, e);
		}
	}
	printf("]\n");
	return result;
}

int main(int argc, char **argv)
{
	struct region_spec spec = {
		.kind = PAGE_KIND_BASE,
		.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
		.backing = BACKING_DISTINCT,
		.align_bytes = UINT64_C(1) << 30,
	};
	struct err e = { 0 };

	if (argc != 6) {
		fprintf(stderr, "usage: lab-tables demand|populate|populate-all|fork TABLES CPU "
				"DATA_NODE TABLE_NODE\n");
		return USAGE;
	}
	if (!pin(argv[3])) {
		fprintf(stderr, "lab-tables: no CPU %s\n", argv[3]);
		return USAGE;
	}
	spec.data_node = (int)strtol(argv[4], NULL, 10);
	spec.table_node = (int)strtol(argv[5], NULL, 10);
	if (show_all(argv[1], argv[2], &spec, &e) < 0) {
		fprintf(stderr, "lab-tables: %s\n", e.msg);
		return 1;
	}
	return 0;
}
