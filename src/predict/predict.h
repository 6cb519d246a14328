/* SPDX-License-Identifier: MIT */
/*
 * What a benchmark would say on a described machine: the benchmark's own reference streams
 * (access/) go through the model (sim/), and the result is a measure of origin "predicted", with
 * the time of a reference in parts that add up to it. docs/model.md says what it cannot.
 */
#ifndef PAGETOLL_PREDICT_PREDICT_H
#define PAGETOLL_PREDICT_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "record/run.h"
#include "sim/sim.h"

/* How the model is set, beside the benchmark's own parameters. */
struct predict_model {
	const struct sim_machine *machine; /* NULL: geometry alone */
	uint64_t page_bytes;               /* base page where there is no machine */
	uint32_t levels;                   /* of page tables; 0: the machine's */
	uint32_t host_levels;              /* 0: not nested */
	uint64_t host_page_bytes;          /* 0: the machine's base page */
	uint64_t table_align_bytes;        /* 0: a page */
	bool text_replicated;
	/* Lines of one cold system call, and its time without them; < 0: of the published table. */
	double text_lines, data_lines, hot_ns;
	uint64_t seed;
	/*
	 * Whole rounds of at least so many references count, where less than the usual 100 000 is
	 * precise enough; 0: the usual.
	 */
	uint64_t refs;
};

/* One setting of a benchmark, resolved as bench/bench.h has it. */
struct predict_setting {
	const char *bench;
	const struct attrs *given, *resolved;
	const char *inner; /* NULL: none */
	uint64_t inner_value;
	/* page-tables=interleaved or replicated; NULL: resolved "page-tables.node" */
	const char *table_policy;
	uint32_t cpu_node;
};

enum { PREDICT_METRICS_MAX = 4 };
struct predict_metric {
	const char *name, *summary, *unit;
	bool is_exact; /* a whole number that is no time: `exact` */
	bool has_parts;
	double value;
	int64_t exact;
	struct sim_parts parts; /* in the metric's unit; they add up to it */
};
struct predict_result {
	struct predict_metric metrics[PREDICT_METRICS_MAX];
	size_t n_metrics;
	struct sim_counts counts; /* of the references that count */
	bool has_counts;
	uint64_t warm_refs; /* made before them */
	char note[200];     /* what to know of it; "": nothing */
};

/* Whether there is a prediction for @bench, and whether it needs a machine. */
bool predict_knows(const char *bench);
bool predict_needs_machine(const char *bench);
/* Names of those that can be predicted, from 0; NULL after the last. */
const char *predict_name(size_t i);

/*
 * -EINVAL: the setting cannot be predicted, or makes no sense on the machine (the message says what
 * is accepted); -ENOMEM. @ret is large: not for small stacks.
 */
int predict_point(const struct predict_model *m, const struct predict_setting *s,
		  struct predict_result *ret, struct err *e);

/* Adds the schema of what is predicted: @bench's, with the metrics of @r. 0 or -ENOMEM. */
int predict_add_schema(struct run *run, const struct bench_schema *bench,
		       const struct predict_result *r);
/*
 * Adds a measure of origin predicted, its setting from @s with @extra added (may be NULL), @arm
 * NULL, "A" or "B". -ENOMEM.
 */
int predict_add_measure(struct run *run, const struct predict_setting *s, const struct attrs *extra,
			const char *arm, const struct predict_result *r);

#endif
