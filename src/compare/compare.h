/* SPDX-License-Identifier: MIT */
/*
 * Run A against run B (each one or several run files: several boots), or one run against itself by
 * a parameter. Facts are the tested family (Holm); points carry a false-discovery rate
 * (Benjamini-Hochberg). docs/statistics.md defines every rule. Works on loaded runs only: no files,
 * no host.
 */
#ifndef PAGETOLL_COMPARE_COMPARE_H
#define PAGETOLL_COMPARE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "record/run.h"

enum outcome {
	OUTCOME_BETTER, /* B is better than A by more than the margin */
	OUTCOME_WORSE,
	OUTCOME_EQUIVALENT,   /* the interval lies within the margin */
	OUTCOME_INCONCLUSIVE, /* reason says what is missing */
	OUTCOME_DIFFERENCE,   /* single values, or a metric without a good direction: the difference
				 alone */
	OUTCOME_MISSING,      /* only one side has it */
};
const char *outcome_name(enum outcome o);

struct compared {
	bool is_fact;
	const char *bench;  /* NULL for facts */
	const char *id;     /* fact id, or metric name */
	struct attrs where; /* fact's where, or the point's setting (only what differs within the
			       comparison) */
	const char *unit;
	double a, b; /* values (medians over invocations) */
	/* Both are whole numbers without spread: then they are these, also beyond 2^53. */
	bool is_integer;
	int64_t integer_a, integer_b;
	/*
	 * 100 * (ratio - 1) of B to A: the Hodges-Lehmann estimate where there is an interval, b /
	 * a where not; NaN where a ratio makes no sense.
	 */
	double percent;
	double low, high;     /* interval of percent, NaN: none */
	double p, p_adjusted; /* NaN: not tested */
	size_t n_a, n_b;      /* invocations */
	enum outcome outcome;
	const char *reason; /* why inconclusive or missing, "about 14 more invocations" */
	bool bimodal_a, bimodal_b;
};

/* One row that differs between the environments of A and B. */
struct environment_difference {
	const char *name, *a, *b;
	bool is_fingerprint; /* part of what must match, else context */
	bool is_factor;      /* what the experiment compares: it differs on purpose */
};

struct comparison {
	struct arena arena;
	const char *name_a, *name_b;
	struct compared *facts, *points;
	size_t n_facts, cap_facts, n_points, cap_points;
	struct environment_difference *environment;
	size_t n_environment, cap_environment;
	const char *environment_note; /* why a difference may be missing here; NULL: none can be */
	/*
	 * --by parameter or --across; without them "paging_levels" where two boots differ in the
	 * levels of page tables (then the first row of the environment). NULL: none.
	 */
	const char *factor;
	bool between_runs; /* run-to-run variation matters; false within one run */
	double run_spread; /* relative standard deviation of A/A runs of this machine, NaN: unknown
			    */
	bool one_boot_a, one_boot_b;
	double threshold;    /* practical margin, 0.02 */
	double level;        /* 0.95 */
	const char *how[12]; /* the box: how the numbers were obtained, NULL-terminated */
};

struct compare_options {
	double threshold;   /* 0: 0.02 */
	const char *across; /* NULL; "machine": unlike machines are allowed */
	double run_spread;  /* as in struct comparison; NaN (or not above 0): unknown */
};

/*
 * Refuses (-EINVAL, the message says what and what to do) runs without a common benchmark, unlike
 * revisions of a benchmark, and unlike machines without options->across. Frees nothing of the runs.
 */
int compare_runs(const struct run *const *a, size_t n_a, const struct run *const *b, size_t n_b,
		 const struct compare_options *o, struct comparison *ret, struct err *e);
/*
 * Within one run: points that differ in @parameter only, value @value_a against @value_b (as text,
 * sizes also as "4k"). The parameter "arm" stands for the arms of an interleaved experiment.
 * Refuses (-EINVAL) parameters and values that the run does not have, naming those that it has.
 */
int compare_by(const struct run *r, const char *parameter, const char *value_a, const char *value_b,
	       const struct compare_options *o, struct comparison *ret, struct err *e);
void comparison_done(struct comparison *c);

/* 0, or -EINVAL naming what makes them unlike machines (kernels and their switches do not). */
int compare_machines(const struct run *a, const struct run *b, struct err *e);

/* Worst outcome of the facts (or of the points where there are no facts): for --fail-on. */
enum outcome comparison_overall(const struct comparison *c);

#endif
