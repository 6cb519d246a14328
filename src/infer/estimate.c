// SPDX-License-Identifier: MIT
/*
 * A point's headline from its measures. The unit of replication is the invocation: repetitions
 * inside one process share its address space, page frames and luck, so they are reduced to one
 * value first, and only these values are compared or given an interval. Leaves out: whether two
 * points differ (compare/). Source: T. Kalibera and R. Jones, "Rigorous benchmarking in reasonable
 * time", ISMM 2013.
 */
#include "infer/infer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/facts.h"
#include "stats/stats.h"

static const double LEVEL = 0.95;

const char *interval_missing(size_t n)
{
	static const char *const few[] = {
		"0 invocations; an interval needs 6", "1 invocation; an interval needs 6",
		"2 invocations; an interval needs 6", "3 invocations; an interval needs 6",
		"4 invocations; an interval needs 6", "5 invocations; an interval needs 6",
	};

	return n < sizeof(few) / sizeof(few[0]) ? few[n] : "the interval could not be computed";
}

double measure_value(const struct run *r, const struct measure *m, const char *metric)
{
	const struct bench_schema *schema = run_schema(r, m->bench);
	const struct metric *described = schema ? schema_metric(schema, metric) : NULL;
	const struct series *s = measure_series(m, metric);

	if (m->verdict != VERDICT_OK || !s || s->n == 0)
		return NAN;
	switch (s->form) {
	case FORM_SAMPLES:
		if (!s->values)
			return NAN;
		return described && described->estimator == EST_MEDIAN
			       ? stats_median(s->values, s->n)
			       : stats_min(s->values, s->n);
	case FORM_SUMMARY:
		return s->values ? s->values[0] : NAN;
	case FORM_EXACT:
		return s->integers ? (double)s->integers[0] : NAN;
	case FORM_COUNT:
		if (!s->integers || s->n < 2 || s->integers[1] <= 0)
			return NAN;
		return (double)s->integers[0] / (double)s->integers[1];
	case FORM_TABLE:
		break;
	}
	return NAN;
}

/* Why a measure has no value for the metric; NULL when it has one. */
static const char *missing(const struct measure *m, const char *metric, double value)
{
	const struct series *s = measure_series(m, metric);

	if (!isnan(value))
		return NULL;
	if (m->verdict != VERDICT_OK)
		return m->reason ? m->reason : verdict_name(m->verdict);
	if (!s)
		return "this metric was not recorded";
	return s->null_reason ? s->null_reason : "no value was recorded";
}

static double smallest(const struct measure *m, const char *metric, double value)
{
	const struct series *s = measure_series(m, metric);

	return s->form == FORM_SAMPLES ? stats_min(s->values, s->n) : value;
}

/* The interval that a publication gives for its single value. */
static void published_interval(const struct point *p, const char *metric, struct estimate *e)
{
	for (size_t i = 0; i < p->n_measures; i++) {
		const struct series *s = measure_series(p->measures[i], metric);

		if (p->measures[i]->verdict != VERDICT_OK || !s || s->form != FORM_SUMMARY)
			continue;
		e->interval_reason = "a published single value";
		if (s->n == 3 && isfinite(s->values[1]) && isfinite(s->values[2])) {
			e->low = s->values[1];
			e->high = s->values[2];
			e->interval_reason = NULL;
		}
		return;
	}
}

/* Sums the counts of the measures that have a value. */
static void add_counts(const struct measure *m, const char *metric, bool *overflow,
		       struct estimate *e)
{
	const struct series *s = measure_series(m, metric);

	if (s->form == FORM_COUNT)
		*overflow = *overflow ||
			    __builtin_add_overflow(e->events, s->integers[0], &e->events) ||
			    __builtin_add_overflow(e->exposure, s->integers[1], &e->exposure);
	if (*overflow)
		e->events = e->exposure = 0;
}

/* One invocation's values, several only where its number stands several times. */
struct value {
	const struct measure *m;
	double v;
};

static bool is_same_process(const struct measure *a, const struct measure *b)
{
	if (a->invocation != b->invocation)
		return false;
	return a->boot_id == b->boot_id ||
	       (a->boot_id && b->boot_id && strcmp(a->boot_id, b->boot_id) == 0);
}

/* Medians by process into @to; how many. @scratch has room for all. */
static size_t reduce(const struct value *v, size_t n, double *scratch, double *to)
{
	size_t n_to = 0;

	for (size_t i = 0; i < n; i++) {
		size_t k = 0, first = 0;

		while (first < i && !is_same_process(v[first].m, v[i].m))
			first++;
		if (first < i)
			continue;
		for (size_t j = i; j < n; j++)
			if (is_same_process(v[i].m, v[j].m))
				scratch[k++] = v[j].v;
		to[n_to++] = stats_median(scratch, k);
	}
	return n_to;
}

static void add_exact(const struct measure *m, const char *metric, bool is_first,
		      struct estimate *e)
{
	const struct series *s = measure_series(m, metric);
	bool is_exact = s->form == FORM_EXACT && (is_first || e->is_exact);

	e->is_exact = is_exact && (is_first || e->exact == s->integers[0]);
	e->exact = e->is_exact ? s->integers[0] : 0;
}

void estimate_point(const struct run *r, const struct point *p, const char *metric,
		    struct estimate *ret)
{
	struct estimate e = { .value = NAN, .low = NAN, .high = NAN, .min = NAN };
	bool overflow = false;
	size_t room = p->n_measures ? p->n_measures : 1, n = 0;
	struct value *found = calloc(room, sizeof(*found));
	double *values = calloc(2 * room, sizeof(*values));

	e.q25 = e.q75 = NAN;
	if (!values || !found) {
		free(values);
		free(found);
		e.reason = e.interval_reason = "out of memory";
		*ret = e;
		return;
	}
	for (size_t i = 0; i < p->n_measures; i++) {
		const struct measure *m = p->measures[i];
		double v = measure_value(r, m, metric);
		const char *why = missing(m, metric, v);

		if (why) {
			e.reason = e.reason ? e.reason : why;
			continue;
		}
		add_counts(m, metric, &overflow, &e);
		e.min = fmin(e.min, smallest(m, metric, v)); /* fmin() passes over NaN */
		add_exact(m, metric, n == 0, &e);
		found[n++] = (struct value){ m, v };
	}
	e.n_invocations = reduce(found, n, values + room, values);
	free(found);
	if (e.n_invocations > 0)
		e.reason = NULL;
	else if (!e.reason)
		e.reason = "not measured";
	e.value = stats_median(values, e.n_invocations);
	e.q25 = stats_quantile(values, e.n_invocations, 0.25);
	e.q75 = stats_quantile(values, e.n_invocations, 0.75);
	if (stats_median_interval(values, e.n_invocations, LEVEL, &e.low, &e.high, NULL))
		e.interval_reason = interval_missing(e.n_invocations);
	if (e.n_invocations == 1)
		published_interval(p, metric, &e);
	free(values);
	*ret = e;
}
