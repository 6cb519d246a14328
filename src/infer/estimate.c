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

void estimate_point(const struct run *r, const struct point *p, const char *metric,
		    struct estimate *ret)
{
	struct estimate e = { .value = NAN, .low = NAN, .high = NAN, .min = NAN };
	bool overflow = false;
	double *values = calloc(p->n_measures ? p->n_measures : 1, sizeof(*values));

	e.q25 = e.q75 = NAN;
	if (!values) {
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
		values[e.n_invocations++] = v;
	}
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
