/* SPDX-License-Identifier: MIT */
/*
 * The harness around a benchmark inside a worker process: runs all inner points of one invocation
 * in shuffled order, calibrates the core clock around every repetition, watches what disturbs, and
 * hands each finished point to the caller. No hwloc, SQLite or jansson here; small resident size.
 */
#ifndef PAGETOLL_BENCH_CTX_H
#define PAGETOLL_BENCH_CTX_H

#include "bench/bench.h"

struct invocation_spec {
	const struct bench *bench;
	struct bench_setting setting;
	const char *inner; /* inner parameter's name, NULL: none (then one point) */
	const uint64_t *inner_values;
	size_t n_inner;
	unsigned invocation; /* 0-based */
	uint64_t seed;
	unsigned samples;     /* wanted repetitions a point */
	double point_seconds; /* time cap of one point's sampling */
};

/* The values of one metric of one point. */
struct metric_values {
	double *samples; /* n of them; form SAMPLES */
	size_t n, cap;
	int64_t exact; /* form EXACT */
	bool has_exact;
	int64_t events, exposure; /* form COUNT: @events >= 0 of @exposure > 0 */
	bool has_count;
	const char *null_reason; /* NULL unless the benchmark said so */
};

/* One finished point; everything is borrowed and valid during the callback only. */
struct bench_result {
	uint64_t inner_value; /* meaningless without an inner parameter */
	bool has_inner;       /* false also for an invocation that failed in setup */
	int verdict;          /* enum verdict of record/run.h */
	const char *reason;   /* NULL when ok */
	const char *unproven; /* NULL: all proven */
	struct attrs proof, taints;
	const struct metric *metrics;       /* the schema's table */
	const struct metric_values *values; /* one for each metric */
	size_t n_metrics;
	int64_t start_unix_ns, duration_ns;
};

/*
 * Runs the invocation: setup, all points, teardown. @emit is called for each point (and once
 * without an inner value when setup failed or skipped); it returns 0 or a negative errno that ends
 * the invocation.
 */
int bench_run_invocation(const struct invocation_spec *spec,
			 int (*emit)(void *user, const struct bench_result *r), void *user,
			 struct err *e);

#endif
