/* SPDX-License-Identifier: MIT */
/* The harness's own view of a running invocation: shared by ctx.c (what benchmarks call) and
 * harness.c. */
#ifndef PAGETOLL_BENCH_CTX_STATE_H
#define PAGETOLL_BENCH_CTX_STATE_H

#include <stdbool.h>

#include "base/arena.h"
#include "bench/ctx.h"
#include "host/counters.h"
#include "record/run.h"

struct bench_ctx {
	const struct invocation_spec *spec;
	struct arena arena; /* of the current point */
	uint64_t inner_value;
	uint64_t max_inner;
	uint64_t seed;
	struct metric_values *values; /* owned */
	size_t n_metrics;
	int add_metric; /* index of add_ns, -1: none */
	/* bench_value_cycles() of this point's repetitions, with the clock around each */
	struct timed {
		int metric;
		double ns, add_ns;
	} * timed; /* owned */
	size_t n_timed, cap_timed;
	enum verdict verdict;
	char reason[512];
	char unproven[512];
	struct attrs proof, taints;
	struct attrs setup_proof; /* kept for every point; memory from setup_arena */
	struct arena setup_arena;
	char setup_unproven[512];
	bool in_setup;
	double clock_step_ns;       /* see there */
	char below_step[96];        /* why a time is missing */
	int64_t wanted_cpu, ran_on; /* -1: none asked for; the last CPU that was not it, else it */
	struct counters counters;
	bool out_of_memory;
	bool enough; /* bench_enough() was called at this point */
};

/* Makes room for a value of every metric, so that taking them in a repetition faults no page. */
void ctx_reserve(struct bench_ctx *ctx);

#endif
