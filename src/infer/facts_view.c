// SPDX-License-Identifier: MIT
/*
 * Curves as arrays, and costs of parts of curves per invocation. Leaves out: what they mean.
 */
#include "infer/facts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "stats/stats.h"

enum { REPS_MAX = 1024, LEAST_FOR_INTERVAL = 6 };

static size_t count_invocations(const struct curve_points *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		for (size_t k = 0; k < c->points[i]->n_measures; k++) {
			size_t id = c->points[i]->measures[k]->invocation;

			if (id < REPS_MAX && id + 1 > n)
				n = id + 1;
		}
	}
	return n;
}

/* Keeps the columns that have a value, in place. */
static void pack(struct view *v, const bool *keep, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		kept += keep[i];
	for (size_t r = 0; r < v->n_reps; r++) {
		size_t to = r * kept;

		for (size_t i = 0; i < n; i++) {
			if (keep[i])
				v->reps[to++] = v->reps[r * n + i];
		}
	}
	v->n = kept;
}

static void fill_point(struct work *w, const struct point *p, const char *metric, struct view *v,
		       size_t i, size_t n)
{
	for (size_t k = 0; k < p->n_measures; k++) {
		const struct measure *m = p->measures[k];

		if (m->invocation < v->n_reps)
			v->reps[m->invocation * n + i] = measure_value(w->run, m, metric);
		if (m->verdict == VERDICT_OK && m->unproven && !v->unproven)
			v->unproven = m->unproven;
	}
}

/* Disturbances only lengthen a time of which the minimum is taken; so does a bad invocation. */
static double rep_quantile(struct work *w, const struct curve_points *c, const char *metric)
{
	const struct bench_schema *s = c->bench ? run_schema(w->run, c->bench) : NULL;
	const struct metric *m = s ? schema_metric(s, metric) : NULL;

	return m && m->estimator == EST_MIN ? 0 : 0.5;
}

int view_build(struct work *w, const struct curve_points *c, const char *metric, struct view *ret)
{
	struct view v = { .n_reps = count_invocations(c),
			  .rep_quantile = rep_quantile(w, c, metric),
			  .reason = "not measured",
			  .curve = c };
	bool *keep = arena_alloc(w->arena, (c->n + 1) * sizeof(*keep));

	v.x = arena_alloc(w->arena, (c->n + 1) * sizeof(*v.x));
	v.y = arena_alloc(w->arena, (c->n + 1) * sizeof(*v.y));
	v.reps = arena_alloc(w->arena, (c->n * v.n_reps + 1) * sizeof(*v.reps));
	if (!keep || !v.x || !v.y || !v.reps)
		return -ENOMEM;
	for (size_t i = 0; i < c->n * v.n_reps; i++)
		v.reps[i] = NAN;
	if (c->skipped)
		v.reason = c->skipped->reason ? c->skipped->reason : "skipped";
	for (size_t i = 0; i < c->n; i++) {
		int64_t x = c->inner ? attrs_int(c->points[i]->setting, c->inner, 0) : 0;
		struct estimate e;

		estimate_point(w->run, c->points[i], metric, &e);
		fill_point(w, c->points[i], metric, &v, i, c->n);
		keep[i] = x > 0 && e.value > 0 && isfinite(e.value) &&
			  (v.n == 0 || (double)x > v.x[v.n - 1]);
		if (keep[i]) {
			v.x[v.n] = (double)x;
			v.y[v.n++] = e.value;
		} else if (e.reason) {
			v.reason = e.reason;
		}
	}
	pack(&v, keep, c->n);
	*ret = v;
	return 0;
}

/* The values of point @i over invocations, into @ret; how many. */
static size_t column_values(const struct view *v, size_t i, double *ret)
{
	size_t n = 0;

	for (size_t r = 0; r < v->n_reps; r++)
		if (v->reps[r * v->n + i] > 0)
			ret[n++] = v->reps[r * v->n + i];
	return n;
}

int view_knees(struct work *w, const struct view *v, struct knees *ret)
{
	struct knee_curve c = { .n_reps = v->n_reps, .rep_quantile = v->rep_quantile };
	double *x = arena_alloc(w->arena, (v->n + 1) * sizeof(*x));
	double *y = arena_alloc(w->arena, (v->n + 1) * sizeof(*y));
	double *reps = arena_alloc(w->arena, (v->n * v->n_reps + 1) * sizeof(*reps));
	double *column = arena_alloc(w->arena, (v->n_reps + 1) * sizeof(*column));
	size_t *kept = arena_alloc(w->arena, (v->n + 1) * sizeof(*kept));
	size_t most = 0;
	int rc;

	if (!x || !y || !reps || !column || !kept)
		return -ENOMEM;
	for (size_t i = 0; i < v->n; i++)
		if (column_values(v, i, column) > most)
			most = column_values(v, i, column);
	for (size_t i = 0; i < v->n; i++) {
		size_t n = column_values(v, i, column);

		/* The minimum of few is no match for the minimum of many. */
		if (2 * n < most)
			continue;
		x[c.n] = v->x[i];
		y[c.n] = n > 0 ? stats_quantile(column, n, v->rep_quantile) : v->y[i];
		kept[c.n++] = i;
	}
	for (size_t r = 0; r < v->n_reps; r++)
		for (size_t k = 0; k < c.n; k++)
			reps[r * c.n + k] = v->reps[r * v->n + kept[k]];
	c.x = x;
	c.y = y;
	c.reps = reps;
	rc = knees_find(&c, ret, w->err);
	/* A published curve has what its grid tells; a measured one must be repeated. */
	for (size_t i = 0; rc == 0 && i < ret->n; i++)
		if (w->run->origin == ORIGIN_MEASURED && v->n_reps < LEAST_FOR_INTERVAL)
			ret->v[i].low = ret->v[i].high = NAN;
	return rc;
}

double view_end(const struct view *v)
{
	return v->n > 0 ? v->x[v->n - 1] : NAN;
}

size_t view_find(const struct view *v, double x)
{
	size_t i = 0;

	while (i < v->n && v->x[i] != x)
		i++;
	return i;
}

void span_values(const struct view *v, struct span s, double *ret)
{
	enum { SPAN_MAX = 256 };
	double inside[SPAN_MAX];

	for (size_t r = 0; r < v->n_reps; r++) {
		size_t n = 0;

		for (size_t i = 0; i < v->n && n < SPAN_MAX; i++) {
			double y = v->reps[r * v->n + i];

			if (v->x[i] >= s.low && v->x[i] <= s.high && !isnan(y))
				inside[n++] = y;
		}
		ret[r] = stats_quantile(inside, n, s.q);
	}
}

struct cost cost_missing(const char *reason)
{
	return (struct cost){ .value = NAN, .low = NAN, .high = NAN, .reason = reason };
}

struct cost cost_of_values(const double *values, size_t n, const char *reason)
{
	struct cost c = cost_missing(reason);
	double *some = calloc(n + 1, sizeof(*some));
	size_t kept = 0;

	if (!some)
		return cost_missing("out of memory");
	for (size_t i = 0; i < n; i++) {
		if (!isnan(values[i]))
			some[kept++] = values[i];
	}
	if (kept > 0) {
		c.value = stats_median(some, kept);
		c.reason = NULL;
		if (stats_median_interval(some, kept, 0.95, &c.low, &c.high, NULL))
			c.interval_reason = interval_missing(kept);
	}
	free(some);
	return c;
}

struct cost cost_between(struct work *w, const struct view *plus, struct span a,
			 const struct view *minus, struct span b)
{
	size_t n = plus->n_reps > (minus ? minus->n_reps : 0) ? plus->n_reps
		   : minus                                    ? minus->n_reps
							      : 0;
	double *values = arena_alloc(w->arena, (n + 1) * sizeof(*values));
	double *less = arena_alloc(w->arena, (n + 1) * sizeof(*less));

	if (!values || !less)
		return cost_missing("out of memory");
	if (plus->n == 0)
		return cost_missing(plus->reason);
	if (minus && minus->n == 0)
		return cost_missing(minus->reason);
	for (size_t i = 0; i < n; i++)
		values[i] = less[i] = NAN;
	span_values(plus, a, values);
	if (minus) {
		span_values(minus, b, less);
		for (size_t i = 0; i < n; i++)
			values[i] -= less[i];
	}
	return cost_of_values(values, n, "the curve has no point in the range that this needs");
}
