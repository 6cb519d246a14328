// SPDX-License-Identifier: MIT
/*
 * From reports to charts: which curves share one, what each is called, what its axes are. Nothing
 * is concluded here: values are estimates of points, knees are facts. Left out: metrics that are
 * tables, and matrices.
 */
#include "report/plot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/curve_value.h"
#include "report/plot_parts.h"
#include "report/render.h"

enum { TEXT_MAX = 160 };

/* --- points --- */

static double inner_value(const struct point *p, const char *inner)
{
	const struct attr *a = inner ? attrs_find(p->setting, inner) : NULL;

	if (!a)
		return NAN;
	return a->kind == ATTR_INT ? (double)a->integer : a->kind == ATTR_REAL ? a->real : NAN;
}

/* What a picture can show: axes are computed from differences and ratios of such values. */
static bool is_drawable(double v)
{
	return fabs(v) <= 1e150 && (v == 0 || fabs(v) >= 1e-150);
}

static int read_each(struct maker *k, const struct plot_curve *c, const struct point *p,
		     struct plot_point *ret)
{
	const struct metric *m = c->schema ? schema_metric(c->schema, c->metric) : NULL;
	double *each = arena_alloc(k->arena, (p->n_measures + 1) * sizeof(*each));

	if (!each)
		return -ENOMEM;
	ret->each = each;
	for (size_t i = 0; i < p->n_measures; i++) {
		const struct series *s = measure_series(p->measures[i], c->metric);
		double v = s && p->measures[i]->verdict == VERDICT_OK
				   ? curve_series_value(s, m ? m->estimator : EST_MIN)
				   : NAN;

		if (is_drawable(v))
			each[ret->n_each++] = v;
	}
	return 0;
}

/* A point without a number is none. */
static int add_point(struct maker *k, const struct plot_curve *c, const struct point *p, double x,
		     struct plot_series *s)
{
	struct curve_value v;
	struct plot_point new = { .x = x };

	if (curve_value_read(k->arena, c->run->rep->run, c->schema, c->curve, p, c->metric, &v) < 0)
		return -ENOMEM;
	if (!is_drawable(v.value) || !is_drawable(x))
		return 0;
	new.value = v.value;
	bool has_interval = is_drawable(v.low) && is_drawable(v.high);
	new.low = has_interval ? v.low : NAN;
	new.high = has_interval ? v.high : NAN;
	new.invalid = !v.counts;
	new.unproven = v.counts &&v.mark;
	if (read_each(k, c, p, &new) < 0 ||
	    arena_grow(k->arena, &s->points, s->n, &s->cap, sizeof(*s->points)) < 0)
		return -ENOMEM;
	s->points[s->n++] = new;
	return 0;
}

/* --- series --- */

static int knee_text(struct maker *k, const struct fact *f, const char **ret)
{
	struct str text = { 0 };

	render_value(&text, isnan(f->nominal) ? f->value : f->nominal, f->unit, 3, true);
	*ret = text.failed ? NULL : render_clean(k->arena, str_text(&text), k->utf8, TEXT_MAX);
	str_done(&text);
	return *ret ? 0 : -ENOMEM;
}

static int add_knees(struct maker *k, const struct plot_curve *c, struct plot_series *s)
{
	const struct facts *facts = &c->run->rep->facts;

	for (size_t i = 0; i < facts->n; i++) {
		const struct fact *f = &facts->v[i];
		struct plot_knee knee = { f->knee, f->knee_low, f->knee_high, NULL };

		if (f->curve != c->curve || !isfinite(f->knee) || !isfinite(f->value))
			continue;
		if (knee_text(k, f, &knee.text) < 0 ||
		    arena_grow(k->arena, &s->knees, s->n_knees, &s->cap_knees, sizeof(*s->knees)) <
			    0)
			return -ENOMEM;
		s->knees[s->n_knees++] = knee;
	}
	return 0;
}

static const char *label_of(struct maker *k, const struct plot_curve *c, const struct split *s,
			    bool with_run)
{
	struct str text = { 0 };
	const char *ret;

	if (with_run)
		str_add(&text, c->run->name);
	for (size_t i = 0; i < s->n_differing; i++) {
		const struct attr *a = attrs_find(&c->curve->outer, s->differing[i]);

		if (!a)
			continue;
		str_addf(&text, "%s%s=", text.len ? " " : "", a->name);
		render_param(&text, c->schema, a);
	}
	ret = text.failed ? NULL : render_clean(k->arena, str_text(&text), k->utf8, TEXT_MAX);
	str_done(&text);
	return ret;
}

static int add_series(struct maker *k, const struct plot_curve *c, struct plot_series *s)
{
	for (size_t i = 0; i < c->curve->n; i++) {
		const struct point *p = c->curve->points[i];

		if (add_point(k, c, p, inner_value(p, c->curve->inner), s) < 0)
			return -ENOMEM;
	}
	return add_knees(k, c, s);
}

/* --- rows --- */

static size_t row_of(struct plot_chart *ret, const char *name)
{
	size_t i = 0;

	while (i < ret->n_rows && strcmp(ret->rows[i], name) != 0)
		i++;
	return i;
}

/* Without an inner parameter: a row a setting, a series a run. */
static int fill_rows(struct maker *k, const struct split *s, struct plot_chart *ret)
{
	ret->rows = arena_alloc(k->arena, (s->n + 1) * sizeof(*ret->rows));
	ret->series = arena_alloc(k->arena, (k->n_runs + 1) * sizeof(*ret->series));
	if (!ret->rows || !ret->series)
		return -ENOMEM;
	for (size_t r = 0; r < k->n_runs; r++) {
		struct plot_series *series = &ret->series[ret->n_series];
		const char *name = render_clean(k->arena, k->runs[r].name, k->utf8, TEXT_MAX);

		*series = (struct plot_series){ .label = k->n_runs > 1 ? name : "" };
		for (size_t i = 0; i < s->n; i++) {
			const struct plot_curve *c = &s->curves[i];
			const char *label = label_of(k, c, s, false);
			size_t row;

			if (!label || !name)
				return -ENOMEM;
			if (c->run != &k->runs[r])
				continue;
			row = row_of(ret, label);
			if (row == ret->n_rows)
				ret->rows[ret->n_rows++] = label;
			if (c->curve->n &&
			    add_point(k, c, c->curve->points[0], (double)row, series) < 0)
				return -ENOMEM;
		}
		ret->n_series += series->n > 0;
	}
	return 0;
}

static int fill_series(struct maker *k, const struct split *s, struct plot_chart *ret)
{
	ret->series = arena_alloc(k->arena, (s->n + 1) * sizeof(*ret->series));
	if (!ret->series)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++) {
		struct plot_series *series = &ret->series[ret->n_series];

		*series = (struct plot_series){ .label = label_of(k, &s->curves[i], s,
								  s->runs_differ) };
		if (!series->label || add_series(k, &s->curves[i], series) < 0)
			return -ENOMEM;
		ret->n_series += series->n > 0;
	}
	return 0;
}

/* --- axes --- */

struct extent {
	double low, high;
};

static void widen(struct extent *e, double v)
{
	if (!isfinite(v))
		return;
	e->low = fmin(e->low, v);
	e->high = fmax(e->high, v);
}

/* Times are shown in the largest unit in which the least still has a digit before the point. */
static void scale_times(struct plot_chart *c)
{
	static const struct {
		double ns;
		const char *unit;
	} scales[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1, "ns" } };
	double least = INFINITY;
	size_t k = 0;

	for (size_t s = 0; s < c->n_series; s++)
		for (size_t i = 0; i < c->series[s].n; i++)
			least = fmin(least, fabs(c->series[s].points[i].value));
	while (scales[k].ns > 1 && !(least >= scales[k].ns / 2 && isfinite(least)))
		k++;
	if (strcmp(c->y.unit, "ns") != 0 || scales[k].ns <= 1)
		return;
	c->y.unit = scales[k].unit;
	for (size_t s = 0; s < c->n_series; s++)
		for (size_t i = 0; i < c->series[s].n; i++) {
			struct plot_point *p = &c->series[s].points[i];

			p->value /= scales[k].ns;
			p->low /= scales[k].ns;
			p->high /= scales[k].ns;
			for (size_t e = 0; e < p->n_each; e++)
				p->each[e] /= scales[k].ns;
		}
}

/* What a curve over decades hides in a linear axis, a logarithmic one shows. */
static void set_axis(struct plot_axis *a, struct extent e, double ratio, bool from_zero)
{
	double span;

	a->log = e.low > 0 && e.high / e.low >= ratio;
	if (a->log) {
		a->low = e.low;
		a->high = e.high;
		return;
	}
	if (from_zero)
		widen(&e, 0);
	span = e.high - e.low;
	if (!(span > 0))
		span = e.high != 0 ? fabs(e.high) : 1;
	a->low = e.low == 0 || from_zero ? e.low : e.low - 0.05 * span;
	a->high = e.high == 0 ? (e.low < 0 ? 0 : 1) : e.high + 0.05 * span;
}

static void set_axes(struct plot_chart *c)
{
	struct extent x = { INFINITY, -INFINITY }, y = x;

	for (size_t s = 0; s < c->n_series; s++)
		for (size_t i = 0; i < c->series[s].n; i++) {
			const struct plot_point *p = &c->series[s].points[i];

			widen(&x, p->x);
			widen(&y, p->value);
			widen(&y, p->low);
			widen(&y, p->high);
			for (size_t e = 0; e < p->n_each; e++)
				widen(&y, p->each[e]);
		}
	set_axis(&c->x, x, c->rows ? INFINITY : 30, false);
	set_axis(&c->y, y, c->rows ? INFINITY : 10, true);
	if (c->y.log) {
		c->y.low /= 1.1;
		c->y.high *= 1.1;
	}
}

/* --- texts --- */

static const char *cleaned(struct maker *k, struct str *text, size_t max)
{
	const char *ret =
		text->failed ? NULL : render_clean(k->arena, str_text(text), k->utf8, max);

	str_done(text);
	return ret;
}

/* Nothing where curves came about in different ways. */
static void how_text(struct str *out, const struct split *s, const struct metric *m)
{
	enum origin origin = s->curves[0].run->rep->run->origin;

	for (size_t i = 1; i < s->n; i++)
		if (s->curves[i].run->rep->run->origin != origin)
			return;
	if (origin == ORIGIN_PUBLISHED)
		str_add(out, "as published");
	else if (m && m->form == FORM_SAMPLES)
		str_addf(out, "median over invocations of the %s of each",
			 m->estimator == EST_MIN ? "minimum" : "median");
}

static int set_texts(struct maker *k, const struct split *s, struct plot_chart *ret)
{
	const struct plot_curve *c = &s->curves[0];
	const struct metric *m = c->schema ? schema_metric(c->schema, c->metric) : NULL;
	const struct param *inner =
		c->schema && c->curve->inner ? schema_param(c->schema, c->curve->inner) : NULL;
	const char *what = m && m->summary && *m->summary ? m->summary : c->metric;
	struct str text = { 0 };

	str_addf(&text, "%s: %s", c->curve->bench, what);
	ret->title = cleaned(k, &text, TEXT_MAX);
	for (size_t i = 0; i < c->curve->outer.n; i++) {
		const struct attr *a = &c->curve->outer.v[i];

		if (!split_shares(s, a->name))
			continue;
		str_addf(&text, "%s%s=", text.len ? " " : "", a->name);
		render_param(&text, c->schema, a);
	}
	ret->fixed = cleaned(k, &text, 2 * TEXT_MAX);
	how_text(&text, s, m);
	ret->how = cleaned(k, &text, 0);
	ret->bench = render_clean(k->arena, c->curve->bench, k->utf8, TEXT_MAX);
	ret->metric = render_clean(k->arena, c->metric, k->utf8, TEXT_MAX);
	ret->y.name = render_clean(k->arena, what, k->utf8, TEXT_MAX);
	ret->y.unit = render_clean(k->arena, m && m->unit ? m->unit : "", k->utf8, 20);
	ret->x.name = render_clean(k->arena, c->curve->inner ? c->curve->inner : "", k->utf8, 40);
	ret->x.unit = inner && inner->type == PARAM_BYTES ? "bytes" : "";
	return ret->title && ret->fixed && ret->how && ret->bench && ret->metric && ret->y.name &&
			       ret->y.unit && ret->x.name
		       ? 0
		       : -ENOMEM;
}

int plot_omit(struct maker *k, const struct split *s, const char *why)
{
	struct plot *p = k->plot;
	struct str text = { 0 };
	const char *line;

	str_addf(&text, "%s: %s", s->curves[0].curve->bench, why);
	line = cleaned(k, &text, 2 * TEXT_MAX);
	for (size_t i = 0; line && i < p->n_omitted; i++)
		if (strcmp(p->omitted[i], line) == 0)
			return 0;
	if (!line || arena_grow(k->arena, &p->omitted, p->n_omitted, &p->cap_omitted,
				sizeof(*p->omitted)) < 0)
		return -ENOMEM;
	p->omitted[p->n_omitted++] = line;
	return 0;
}

static const char *no_value(const struct split *s)
{
	const struct plot_curve *c = &s->curves[0];
	const struct metric *m = c->schema ? schema_metric(c->schema, c->metric) : NULL;
	const struct measure *skipped = c->curve->skipped;

	if (m && m->form == FORM_TABLE)
		return "a table, which 'pagetoll show' prints; not a curve";
	if (skipped && skipped->reason)
		return skipped->reason;
	return "no point has a number";
}

int plot_add_chart(struct maker *k, const struct split *s)
{
	struct plot_chart c = { 0 };
	struct plot *p = k->plot;
	bool has_inner = s->curves[0].curve->inner;

	if (set_texts(k, s, &c) < 0 || (has_inner ? fill_series : fill_rows)(k, s, &c) < 0)
		return -ENOMEM;
	if (!c.n_series)
		return plot_omit(k, s, no_value(s));
	if (c.n_series == 1 && !*c.fixed && !has_inner)
		c.series[0].label = "";
	scale_times(&c);
	set_axes(&c);
	if (arena_grow(k->arena, &p->charts, p->n, &p->cap, sizeof(*p->charts)) < 0)
		return -ENOMEM;
	p->charts[p->n++] = c;
	return 0;
}
