// SPDX-License-Identifier: MIT
/* From a point to a cell: the estimate, or the invalid value, or the reason; and its mark. */
#include "report/curve_value.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "infer/infer.h"
#include "report/render.h"
#include "stats/stats.h"

enum { LOSSES_MAX = 6 };

double curve_series_value(const struct series *s, enum estimator estimator)
{
	if (s->null_reason)
		return NAN;
	switch (s->form) {
	case FORM_SAMPLES:
		return estimator == EST_MIN ? stats_min(s->values, s->n)
					    : stats_median(s->values, s->n);
	case FORM_EXACT:
		return s->integers && s->n ? (double)s->integers[0] : NAN;
	case FORM_COUNT:
		return s->integers && s->n > 1 && s->integers[1]
			       ? (double)s->integers[0] / (double)s->integers[1]
			       : NAN;
	case FORM_SUMMARY:
		return s->values && s->n ? s->values[0] : NAN;
	case FORM_TABLE:
		break;
	}
	return NAN;
}

/* Median over the invalid measures, for show only. */
static int invalid_value(struct arena *a, const struct point *p, const char *metric,
			 enum estimator estimator, double *ret)
{
	double *v = arena_alloc(a, (p->n_measures + 1) * sizeof(*v));
	size_t n = 0;
	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_measures; i++) {
		const struct measure *m = p->measures[i];
		const struct series *s = measure_series(m, metric);
		double x =
			m->verdict == VERDICT_INVALID && s ? curve_series_value(s, estimator) : NAN;
		if (!isnan(x))
			v[n++] = x;
	}
	*ret = stats_median(v, n);
	return 0;
}

static const struct measure *first_of(const struct point *p, enum verdict v)
{
	for (size_t i = 0; i < p->n_measures; i++)
		if (p->measures[i]->verdict == v)
			return p->measures[i];
	return NULL;
}

static const char *first_unproven(const struct point *p)
{
	for (size_t i = 0; i < p->n_measures; i++)
		if (p->measures[i]->verdict == VERDICT_OK && p->measures[i]->unproven)
			return p->measures[i]->unproven;
	return NULL;
}

/* "one memory node" for a skip, "timeout: ..." for what should have worked. */
static const char *verdict_reason(struct arena *a, const struct measure *m)
{
	const char *reason = m->reason ? m->reason : "no reason recorded";
	if (m->verdict == VERDICT_SKIPPED)
		return reason;
	return arena_printf(a, "%s: %s", verdict_name(m->verdict), reason);
}

static int missing(struct arena *a, const struct point *p, struct curve_value *ret)
{
	static const enum verdict order[] = { VERDICT_FAILED, VERDICT_TIMEOUT, VERDICT_KILLED,
					      VERDICT_SKIPPED };
	ret->mark_kind = NOTE_REASON;
	for (size_t i = 0; i < sizeof(order) / sizeof(*order) && !first_of(p, VERDICT_OK); i++) {
		const struct measure *m = first_of(p, order[i]);
		if (!m)
			continue;
		ret->reason = ret->mark = verdict_reason(a, m);
		return ret->mark ? 0 : -ENOMEM;
	}
	ret->mark = ret->reason;
	return 0;
}

int curve_value_read(struct arena *a, const struct run *r, const struct bench_schema *s,
		     const struct curve_points *c, const struct point *p, const char *metric,
		     struct curve_value *ret)
{
	*ret = (struct curve_value){ .value = NAN, .low = NAN, .high = NAN };
	if (!p) {
		if (!c->skipped)
			return 0;
		ret->asked = true;
		ret->mark_kind = NOTE_REASON;
		ret->reason = ret->mark = verdict_reason(a, c->skipped);
		return ret->mark ? 0 : -ENOMEM;
	}
	struct estimate e;
	estimate_point(r, p, metric, &e);
	ret->asked = true;
	if (!isnan(e.value)) {
		ret->counts = true;
		ret->value = e.value;
		ret->low = e.low;
		ret->high = e.high;
		ret->mark = first_unproven(p);
		ret->mark_kind = NOTE_UNPROVEN;
		return 0;
	}
	ret->reason = e.reason ? e.reason : "no value, no reason recorded";
	const struct measure *invalid = first_of(p, VERDICT_INVALID);
	if (!invalid || first_of(p, VERDICT_OK))
		return missing(a, p, ret);
	const struct metric *m = s ? schema_metric(s, metric) : NULL;
	ret->mark_kind = NOTE_INVALID;
	ret->mark = invalid->reason ? invalid->reason : "no reason recorded";
	return invalid_value(a, p, metric, m ? m->estimator : EST_MIN, &ret->value);
}

/* --- losses --- */

struct loss {
	enum verdict verdict;
	const char *reason;
	size_t n;
};

struct losses {
	struct loss *v;
	size_t n, cap;
};

static int count_losses(struct arena *a, struct losses *l, const struct point *p)
{
	for (size_t k = 0; k < p->n_measures; k++) {
		const struct measure *m = p->measures[k];
		const char *reason = m->reason ? m->reason : "no reason recorded";
		size_t i = 0;
		if (m->verdict == VERDICT_OK)
			continue;
		while (i < l->n &&
		       (l->v[i].verdict != m->verdict || strcmp(l->v[i].reason, reason) != 0))
			i++;
		if (i == l->n) {
			if (arena_grow(a, &l->v, l->n, &l->cap, sizeof(*l->v)) < 0)
				return -ENOMEM;
			l->v[l->n++] = (struct loss){ m->verdict, reason, 0 };
		}
		l->v[i].n++;
	}
	return 0;
}

static int collect_losses(struct arena *a, const struct report *rep, const struct curve_group *g,
			  struct losses *l)
{
	for (size_t c = 0; c < g->n; c++) {
		const struct curve_points *curve = g->curves[c];
		for (size_t i = 0; i < curve->n; i++)
			/* without any valid measure the cell says it */
			if (first_of(curve->points[i], VERDICT_OK) &&
			    count_losses(a, l, curve->points[i]) < 0)
				return -ENOMEM;
		/* an invocation that ended in setup has no inner value and is no point of a curve
		 */
		for (size_t i = 0; g->inner && curve->n && i < rep->points.n; i++) {
			const struct point *p = &rep->points.v[i];
			if (strcmp(p->bench, g->bench) == 0 &&
			    attrs_equal(p->setting, &curve->outer) && count_losses(a, l, p) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

int curve_losses_render(struct str *out, struct arena *a, const struct report *rep,
			const struct curve_group *g, const struct report_options *o)
{
	struct losses l = { 0 };
	if (collect_losses(a, rep, g, &l) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < l.n && i < LOSSES_MAX; i++) {
		struct str text = { 0 };
		str_addf(&text, "not counted: %zu measure%s, %s: %s", l.v[i].n,
			 l.v[i].n == 1 ? "" : "s", verdict_name(l.v[i].verdict), l.v[i].reason);
		const char *clean = render_clean(a, str_text(&text), o->utf8, 400);
		if (clean)
			render_paragraph(out, 2, "", clean);
		out->failed = out->failed || !clean;
		str_done(&text);
	}
	if (l.n > LOSSES_MAX)
		str_addf(out, "  not counted: %zu further reasons, in full with --format json\n",
			 l.n - LOSSES_MAX);
	return 0;
}
