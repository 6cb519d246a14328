/* SPDX-License-Identifier: MIT */
/*
 * The common part of the system-call benchmarks. Cold follows the published experiment: caches are
 * flushed between calls and the flush is not timed (J. Steiner, linux-ia64, 20 Apr 2006); how they
 * are flushed without privilege is mem/evict's business. Leaves out the evidence:
 * syscall_proof.c.
 */
#include "bench/syscall.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/syscall_proof.h"
#include "host/clock.h"
#include "mem/chase_loops.h"

enum {
	COLD_BATCH = 6,       /* cold calls a repetition */
	COLD_REPETITIONS = 3, /* at least so many repetitions a point: the harness's rule */
	HOT_NS = 200000,      /* of one repetition of the loop */
	HOT_CALLS_MAX = 1 << 20,
	EMPTY_LOOPS = 3,
};
/* Bytes a second that eviction reads at least; for the plan's time only. */
static const double STREAM_RATE = 5e9;
/* A mean load this much faster than memory has not been to memory. */
static const double REACHED = 0.5;

const struct metric syscall_metrics[] = {
	[SC_CALL_NS] = { "call_ns", "time of one call", "ns", BETTER_LOWER, EST_MEDIAN,
			 FORM_SAMPLES },
	[SC_EMPTY_NS] = { "empty_ns", "the same without the call: subtracted", "ns", BETTER_NONE,
			  EST_MEDIAN, FORM_SAMPLES },
	[SC_CLOCK_NS] = { "clock_ns", "reading the clock with cold caches: not subtracted", "ns",
			  BETTER_NONE, EST_MEDIAN, FORM_SAMPLES },
	[SC_PROBE_NS] = { "probe_ns", "a load of an evicted line", "ns", BETTER_NONE, EST_MEDIAN,
			  FORM_SAMPLES },
	[SC_MEMORY_NS] = { "memory_ns", "a load of a flushed line: latency of memory", "ns",
			   BETTER_NONE, EST_MEDIAN, FORM_SAMPLES },
	{ .name = NULL },
};

const char *const syscall_cache_words[] = { "hot", "cold", NULL };
const char *const syscall_evict_words[] = { "both", "data", "code", "tlb", NULL };
const char *const syscall_none_words[] = { "none", NULL };
const char *const syscall_via_words[] = { "kernel", "vdso", NULL };

static unsigned kinds_of_word(const char *word)
{
	if (strcmp(word, "data") == 0)
		return EVICT_DATA;
	if (strcmp(word, "code") == 0)
		return EVICT_CODE;
	return strcmp(word, "tlb") == 0 ? EVICT_TLB : EVICT_DATA | EVICT_CODE;
}

bool syscall_is_vdso(const struct bench_ctx *ctx)
{
	return strcmp(bench_text(ctx, "via"), "vdso") == 0;
}

int syscall_cost(const struct machine *m, const struct bench_setting *s, uint64_t max_inner,
		 struct bench_cost *ret_cost, struct err *e)
{
	unsigned kinds = kinds_of_word(attrs_text(&s->given, "evict", "both"));
	struct bench_cost c = { 0 };
	struct evict_sizes sizes;
	const char *load = attrs_text(&s->given, "load", "none");
	double bytes;

	(void)max_inner;
	if (strcmp(load, "none") != 0 &&
	    strcmp(load, attrs_text(&s->given, "evict-node", "none")) == 0)
		return err_set(e, EINVAL,
			       "load=%s evict-node=%s: the same CPUs cannot do both; give one of "
			       "them",
			       load, load);
	if (strcmp(attrs_text(&s->given, "cache", "hot"), "cold") == 0 ||
	    strcmp(attrs_text(&s->given, "load", "none"), "none") != 0) {
		evict_sizes_of(m, (uint32_t)attrs_int(&s->resolved, "cpu.id", 0), &sizes);
		c.arena_bytes = evict_bytes(&sizes, kinds);
		c.table_bytes = c.arena_bytes / (m->page_bytes / 8) + 8 * m->page_bytes;
		c.faults = c.arena_bytes / m->page_bytes;
		bytes = 2 * (double)c.arena_bytes * COLD_BATCH * COLD_REPETITIONS;
		c.seconds = bytes / STREAM_RATE;
	}
	*ret_cost = c;
	return 0;
}

static int map_evict(struct bench_ctx *ctx, struct syscall_run *run, const struct sysroot *sr)
{
	unsigned kinds = kinds_of_word(bench_text(ctx, "evict"));
	struct evict_sizes sizes;
	struct err e = { 0 };

	evict_sizes_read(sr, (uint32_t)bench_u64(ctx, "cpu.id"), &sizes);
	if (evict_map(&sizes, kinds, &run->evict, &e) < 0)
		return e.code == ENOMEM ? bench_fail(ctx, e.code, "%s", e.msg)
					: bench_skip(ctx, "%s", e.msg);
	if (!run->cold)
		return 0;
	run->kinds = kinds;
	if (kinds & EVICT_DATA)
		bench_proof_int(ctx, "evict_data_bytes", (int64_t)sizes.data_bytes);
	if (kinds & EVICT_CODE)
		bench_proof_int(ctx, "evict_code_bytes", (int64_t)sizes.code_bytes);
	if (kinds & EVICT_TLB)
		bench_proof_int(ctx, "evict_tlb_pages", (int64_t)sizes.tlb_pages);
	run->memory_ns = evict_memory_ns(&run->evict);
	return 0;
}

static bool has_neighbours(const struct bench_ctx *ctx, const char *name)
{
	const char *word = bench_text(ctx, name);

	return *word && strcmp(word, "none") != 0;
}

/* One untimed call; processes of the load make it on their own copy of everything. */
static void call_once(void *arg)
{
	struct syscall_run *run = arg;

	if (run->call->renew)
		run->call->renew(run->arg);
	run->call->call(run->arg);
}

/* Processes on the other CPUs of the node that @name names; none: nothing to do. */
static int start_neighbours(struct bench_ctx *ctx, struct syscall_run *run,
			    const struct sysroot *sr, const char *name, struct neighbours *g)
{
	bool is_load = g == &run->load;
	char full[40];
	struct err e = { 0 };
	int64_t node;

	if (!has_neighbours(ctx, name) || (!is_load && !run->cold))
		return 0;
	snprintf(full, sizeof(full), "%s.node", name);
	node = (int64_t)bench_u64(ctx, full);
	if (neighbours_start(sr, (uint32_t)node, (uint32_t)bench_u64(ctx, "cpu.id"), &run->evict,
			     is_load ? call_once : NULL, run, g, &e) < 0)
		return bench_skip(ctx, "%s=%d: %s", name, (int)node, e.msg);
	snprintf(full, sizeof(full), is_load ? "load_cpus" : "evict_node_cpus");
	bench_proof_int(ctx, full, g->n);
	return 0;
}

int syscall_setup(struct bench_ctx *ctx, struct syscall_run *run, const struct syscall_call *call,
		  void *arg)
{
	struct clock_quality quality;
	struct sysroot sr;
	struct err e = { 0 };

	run->call = call;
	run->arg = arg;
	run->cold = strcmp(bench_text(ctx, "cache"), "cold") == 0;
	clock_measure(&quality);
	run->resolution_ns = quality.resolution_ns;
	bench_proof_real(ctx, "clock_resolution_ns", quality.resolution_ns);
	bench_proof_int(ctx, "node", (int64_t)bench_u64(ctx, "node.node"));
	if (sysroot_init(&sr, NULL, &e) < 0)
		return bench_fail(ctx, e.code, "%s", e.msg);
	if ((run->cold || has_neighbours(ctx, "load")) && map_evict(ctx, run, &sr) != 0)
		return 1;
	syscall_prove_home(ctx, &sr);
	if (syscall_prove_entries(ctx, run) != 0 ||
	    start_neighbours(ctx, run, &sr, "load", &run->load) != 0)
		return 1;
	return start_neighbours(ctx, run, &sr, "evict-node", &run->evictors);
}

/* --- hot --- */

/* @n calls in a loop, in ns. `renew` before, where calls use something up. */
static double time_loop(const struct syscall_run *run, uint64_t n)
{
	int64_t start;

	if (run->call->renew)
		run->call->renew(run->arg);
	start = clock_now_ns();
	loop_calls(run->call->call, run->arg, n);
	return (double)(clock_now_ns() - start);
}

int syscall_prepare(struct bench_ctx *ctx, void *state)
{
	struct syscall_run *run = state;
	uint64_t most = run->call->most ? run->call->most : HOT_CALLS_MAX;

	(void)ctx;
	run->n_hot = run->n_cold = run->n_below = run->n_probe = 0;
	run->probe_sum = 0;
	run->hot_calls = 1;
	run->load_calls = neighbours_count(&run->load);
	if (run->cold) {
		/* pages that forks for the proof have left shared are written once, untimed */
		evict_now(&run->evict);
		call_once(run);
		evict_probe_ns(&run->evict);
		return 0;
	}
	while (run->hot_calls < most && time_loop(run, run->hot_calls) < HOT_NS)
		run->hot_calls *= 2;
	if (run->hot_calls > most)
		run->hot_calls = most;
	return 0;
}

/* The least of a few: what interrupts an empty loop would make the calls too cheap. */
static double time_empty(const struct syscall_run *run)
{
	double least = INFINITY;

	for (int i = 0; i < EMPTY_LOOPS; i++) {
		int64_t start = clock_now_ns();

		loop_calls(call_nothing, run->arg, run->hot_calls);
		least = fmin(least, (double)(clock_now_ns() - start));
	}
	return least;
}

static int sample_hot(struct bench_ctx *ctx, struct syscall_run *run)
{
	double n = (double)run->hot_calls;
	double empty = time_empty(run), ns = time_loop(run, run->hot_calls) - empty;

	run->n_hot++;
	bench_value(ctx, SC_EMPTY_NS, empty / n);
	if (ns < run->resolution_ns)
		run->n_below++;
	else
		bench_value(ctx, SC_CALL_NS, ns / n);
	return 0;
}

/* --- cold --- */

static int keep_cold(struct bench_ctx *ctx, struct syscall_run *run, double ns)
{
	if (run->n_cold == run->cap_cold) {
		size_t cap = run->cap_cold ? 2 * run->cap_cold : 64;
		double *more = realloc(run->cold_ns, cap * sizeof(*more));

		if (!more)
			return bench_fail(ctx, ENOMEM, "no memory for results");
		run->cold_ns = more;
		run->cap_cold = cap;
	}
	run->n_below += ns < run->resolution_ns;
	run->cold_ns[run->n_cold++] = fmax(ns, 0);
	return 0;
}

/* One call after one eviction. Whatever is timed has its clock warmed by two readings before. */
static int call_cold(struct bench_ctx *ctx, struct syscall_run *run)
{
	void (*call)(void *) = run->call->call;
	void *arg = run->arg;
	int64_t t0, t1, t2, t3;
	double probe;

	if (run->call->renew)
		run->call->renew(arg);
	if (run->evictors.n > 0 && neighbours_evict(&run->evictors) < 0)
		return bench_fail(ctx, ECHILD, "evict-node: a process there is gone");
	evict_now(&run->evict);
	t0 = clock_now_ns();
	t1 = clock_now_ns();
	t2 = clock_now_ns();
	call(arg);
	t3 = clock_now_ns();
	probe = evict_probe_ns(&run->evict);
	bench_value(ctx, SC_CLOCK_NS, (double)(t1 - t0));
	bench_value(ctx, SC_EMPTY_NS, (double)(t2 - t1));
	bench_value(ctx, SC_PROBE_NS, probe);
	run->probe_sum += probe;
	run->n_probe++;
	return keep_cold(ctx, run, (double)(t3 - t2) - (double)(t2 - t1));
}

int syscall_sample(struct bench_ctx *ctx, void *state)
{
	struct syscall_run *run = state;
	double memory;

	if (!run->cold)
		return sample_hot(ctx, run);
	for (int i = 0; i < COLD_BATCH; i++)
		if (call_cold(ctx, run) != 0)
			return 1;
	memory = evict_memory_ns(&run->evict);
	if (!isnan(memory)) {
		bench_value(ctx, SC_MEMORY_NS, memory);
		run->memory_ns = fmin(run->memory_ns, memory);
	}
	return 0;
}

/* --- evidence of the point --- */

static int check_cold(struct bench_ctx *ctx, struct syscall_run *run)
{
	double probe = run->probe_sum / (double)run->n_probe;

	bench_proof_int(ctx, "cold_calls", (int64_t)run->n_cold);
	if (run->n_below > 0)
		bench_proof_int(ctx, "below_resolution", (int64_t)run->n_below);
	if (2 * run->n_below > run->n_cold)
		bench_null(ctx, SC_CALL_NS, "below the clock's resolution");
	for (size_t i = 0; i < run->n_cold && 2 * run->n_below <= run->n_cold; i++)
		bench_value(ctx, SC_CALL_NS, run->cold_ns[i]);
	if (isnan(run->memory_ns)) {
		bench_null(ctx, SC_MEMORY_NS,
			   "this architecture has no instruction for programs that flushes a line");
		if (run->kinds & EVICT_DATA)
			bench_unproven(ctx, "how far eviction reached: no latency of memory to "
					    "hold the probe against");
		return 0;
	}
	if ((run->kinds & EVICT_DATA) && probe < REACHED * run->memory_ns)
		return bench_invalid(ctx,
				     "eviction did not reach memory: an evicted line takes %.0f "
				     "ns, a flushed one %.0f ns",
				     probe, run->memory_ns);
	return 0;
}

int syscall_check(struct bench_ctx *ctx, void *state)
{
	static const char hot[] = "nothing is evicted when hot";
	struct syscall_run *run = state;

	if (run->contrary[0])
		return bench_invalid(ctx, "%s", run->contrary);
	if (run->load.n > 0) {
		int64_t made = (int64_t)(neighbours_count(&run->load) - run->load_calls);

		bench_proof_int(ctx, "load_calls", made);
		if (made == 0)
			return bench_invalid(ctx, "the load made no call meanwhile");
	}
	if (run->cold)
		return check_cold(ctx, run);
	bench_proof_int(ctx, "hot_calls", (int64_t)run->hot_calls);
	if (run->n_below > 0)
		bench_proof_int(ctx, "below_resolution", (int64_t)run->n_below);
	if (run->n_below == run->n_hot)
		bench_null(ctx, SC_CALL_NS, "below the clock's resolution");
	bench_null(ctx, SC_CLOCK_NS, hot);
	bench_null(ctx, SC_PROBE_NS, hot);
	bench_null(ctx, SC_MEMORY_NS, hot);
	return 0;
}

void syscall_teardown(struct bench_ctx *ctx, void *state)
{
	struct syscall_run *run = state;

	(void)ctx;
	neighbours_stop(&run->load);
	neighbours_stop(&run->evictors);
	evict_done(&run->evict);
	free(run->cold_ns);
	run->cold_ns = NULL;
}
