/* SPDX-License-Identifier: MIT */
/*
 * Inside the inference: curves as arrays, costs of parts of curves, and the facts made of them.
 * Used by estimate.c and the facts*.c files only.
 */
#ifndef PAGETOLL_INFER_FACTS_H
#define PAGETOLL_INFER_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "infer/infer.h"
#include "infer/knee.h"

enum { FACTS_REVISION = 1 };

/* Static text "N invocations; an interval needs 6". */
const char *interval_missing(size_t n);

/* A measure's value by the metric's estimator; NaN: none. */
double measure_value(const struct run *r, const struct measure *m, const char *metric);

/* What the inference works with, passed around. All borrowed. */
struct work {
	struct arena *arena;
	const struct run *run;
	const struct curves *curves;
	struct facts *facts;
	struct err *err;
};

/* One metric of one curve as arrays, in the arena: points that have a value. */
struct view {
	size_t n;
	double *x, *y;
	double *reps; /* reps[r * n + i] of invocation r at point i; NaN: missing */
	size_t n_reps;
	double rep_quantile; /* over invocations, for knees: 0 where the metric is a minimum */
	const char *reason;  /* why n is 0 */
	const char *unproven;
	const struct curve_points *curve; /* of which it is */
};
int view_build(struct work *w, const struct curve_points *c, const char *metric, struct view *ret);
/* The knees of a view; none for a view of less than 6 points. */
int view_knees(struct work *w, const struct view *v, struct knees *ret);
/* Largest x; NaN when empty. */
double view_end(const struct view *v);
/* The point at exactly @x; n: none. */
size_t view_find(const struct view *v, double x);

/* A part of a curve, low <= x <= high, reduced to one cost by a quantile over its points. */
struct span {
	double low, high;
	double q; /* 0.5: median, 0.25: lower quartile */
};

/* A cost with its interval, from the same statistic in every invocation. */
struct cost {
	double value, low, high;
	const char *reason, *interval_reason;
};
/* Cost of @plus less that of @minus (NULL: nothing), per invocation, then the median. */
struct cost cost_between(struct work *w, const struct view *plus, struct span a,
			 const struct view *minus, struct span b);
/* The same from values per invocation; NaN values are left out. */
struct cost cost_of_values(const double *values, size_t n, const char *reason);
/* Cost of a span in each invocation, into ret[0..n_reps). */
void span_values(const struct view *v, struct span s, double *ret);
struct cost cost_missing(const char *reason);

/* Sizes that words in settings stand for; 0: unknown. */
uint64_t base_page_bytes(const struct run *r);
uint64_t page_word_bytes(const struct run *r, const char *page);
uint64_t stride_word_bytes(const struct run *r, const char *stride, const char *page);
bool page_word_is_base(const struct run *r, const char *page);

/* Appends a fact without value; NULL: no memory. Fill the rest in place. */
struct fact *fact_new(struct work *w, const char *id, const char *unit, const char *method);
int fact_where_text(struct work *w, struct fact *f, const char *name, const char *value);
int fact_where_int(struct work *w, struct fact *f, const char *name, int64_t value);
void fact_set_cost(struct fact *f, const struct cost *c);
/* Value, interval and nominal of a capacity, all multiplied by @factor. */
void fact_set_knee(struct fact *f, const struct knee *k, double factor);
/* That the fact is this knee of that curve, for pictures. */
void fact_on_curve(struct fact *f, const struct curve_points *c, const struct knee *k);
const char *knee_method(const struct knee *k);

/* Whether an outer parameter has one of the values (NULL-terminated), or is absent. */
bool outer_is(const struct curve_points *c, const char *name, const char *value);
int64_t outer_int(const struct curve_points *c, const char *name, int64_t otherwise);

/* Which of the toll set's curves this is, by its settings; ROLE_OTHER: none. */
enum curve_role {
	CURVE_OTHER,
	CURVE_BASE_HITS, /* small pages, zero page, way-predictor aliases avoided */
	CURVE_BASE_WALK, /* small pages, zero page, dense */
	CURVE_BASE_FAR,  /* small pages, zero page, one page per leaf table */
	CURVE_INSIDE,    /* offsets inside one huge page */
	CURVE_LARGE,     /* one pointer per larger page */
	CURVE_CACHE,     /* latency against working set */
	CURVE_LINE,      /* second access behind each element */
};
enum curve_role curve_role(const struct run *r, const struct curve_points *c);
/* The first curve of a role; NULL: none. */
const struct curve_points *curve_of_role(struct work *w, enum curve_role role);

/* Each adds the facts of its field. 0 or -ENOMEM. */
int facts_clock(struct work *w);
int facts_tlb(struct work *w);
int facts_cache(struct work *w);
int facts_toll(struct work *w);
int facts_ways(struct work *w);
int facts_syscall(struct work *w);
int facts_tables(struct work *w);
int facts_fork(struct work *w);
int facts_fault(struct work *w);
int facts_migration(struct work *w);
int facts_walk(struct work *w);
int facts_gups(struct work *w);
int facts_curves(struct work *w); /* curves that are none of the toll set's */

#endif
