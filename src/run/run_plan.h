/* SPDX-License-Identifier: MIT */
/*
 * From a request to a plan: which benchmarks at which outer settings, with which inner values, what
 * that needs in memory and time, and what cannot run here and why. Nothing is measured or allocated
 * yet.
 */
#ifndef PAGETOLL_RUN_RUN_PLAN_H
#define PAGETOLL_RUN_RUN_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "bench/bench.h"
#include "host/machine.h"

struct assignment {
	const char *name;  /* "page-tables" */
	const char *value; /* "local,remote" */
};

/* TARGET with the assignments to its right; name NULL: those before the first target. */
struct target {
	const char *name; /* benchmark, family, or "all" */
	struct assignment *assigns;
	size_t n_assigns, cap_assigns;
};

struct preset {
	const char *name; /* "quick", "default", "rigorous" */
	const char *summary;
	unsigned min_invocations; /* before a setting may stop; below 6 no interval is given */
	unsigned max_invocations;
	double interval_target; /* relative half width of the interval at which a setting stops */
	double budget_seconds;  /* for the whole run */
	unsigned samples;       /* wanted repetitions a point */
	double point_seconds;   /* time cap of one point's sampling */
};
/* NULL when there is none of that exact name. */
const struct preset *preset_find(const char *name);
extern const struct preset presets[]; /* ended by name NULL */

struct request {
	struct target *targets; /* [0] has name NULL (assignments for all); then the named ones */
	size_t n_targets, cap_targets;
	const struct preset *preset;
	double budget_seconds; /* > 0 overrides the preset */
	unsigned invocations;  /* > 0: exactly so many */
	uint64_t seed;
};

/*
 * Parses the positional words of `run` ("tlb.chase", "stride=32m+128") into @ret, whose other
 * fields are kept. Texts are borrowed from @words, arrays and names from @a. Checks only the form.
 * -EINVAL with what is wrong.
 */
int request_parse(struct arena *a, char *const *words, size_t n, struct request *ret,
		  struct err *e);

struct planned { /* one outer setting of one benchmark */
	const struct bench *bench;
	struct bench_setting setting;
	const char *inner;     /* inner parameter's name, NULL: none */
	struct u64_array grid; /* inner values; owned by the plan */
	struct bench_cost cost;
	const char *skip_reason; /* not NULL: cannot run here */
	const char *note;        /* how the grid was capped, else NULL */
	bool in_toll;
	bool first;       /* what the run is for: gets its fewest invocations before the others */
	bool grid_auto;   /* the grid was not given by the user: may be capped and refined */
	double share;     /* of the budget that the setting may use; 0: an equal share */
	unsigned samples; /* repetitions a point, from the preset or the toll row */
	unsigned max_invocations;
};

struct plan {
	struct arena arena;
	struct planned *v;
	size_t n, cap;
	const struct preset *preset;
	double budget_seconds; /* 0: none (an exact number of invocations was asked for) */
	unsigned min_invocations, max_invocations;
	uint64_t seed;
	double estimated_seconds; /* one round of all settings times the invocations, capped by
				     budget */
	uint64_t peak_bytes;      /* largest single invocation, arena and tables */
	bool is_toll;             /* no target was named */
};

/*
 * Builds the plan. An unknown benchmark, parameter or value: -EINVAL with "did you mean" and what
 * is accepted. A setting over the memory budget: -ENOMEM with both numbers and where the budget
 * comes from. Settings that cannot run here (one memory node, no hugetlb pool) stay in the plan
 * with skip_reason.
 */
int plan_build(const struct request *q, const struct machine *m, struct plan *ret, struct err *e);
void plan_done(struct plan *p);
/* Expected seconds of one invocation, from its cost, before any was measured. */
double plan_invocation_seconds(const struct plan *plan, const struct planned *p);
/* Number of settings without skip_reason. */
size_t plan_count_runnable(const struct plan *p);

#endif
