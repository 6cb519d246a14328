// SPDX-License-Identifier: MIT
/*
 * The data of the page's curve charts, for its script: points with interval and every invocation,
 * and the knees that were inferred. The numbers are those of the JSON report,
 * to six digits.
 */
#include "report/html_parts.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "record/json.h"
#include "report/render.h"

/* @v among the dots that are there already by its place, as [number] otherwise: half the bytes. */
static json_t *json_from_value(double v, const double *each, size_t n)
{
	if (isnan(v))
		return json_null();
	for (size_t i = 0; i < n; i++)
		if (each[i] == v)
			return json_integer((json_int_t)i);
	return json_pack("[o]", html_json_number(v));
}

static bool are_equal(const double *each, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (each[i] != each[0])
			return false;
	return true;
}

/*
 * [invocations, [each], median, low, high], of which trailing nulls are left out. There may be
 * thousands: the ends of an interval and often the median are invocations too. All alike: one
 * number for them.
 */
static json_t *json_from_point(const struct page *pg, const struct run *r, const struct point *p,
			       const char *metric)
{
	struct estimate e;
	json_t *o = json_array(), *list = json_array();
	double *each = arena_alloc(pg->arena, (p->n_measures + 1) * sizeof(*each));
	size_t n = 0;
	bool bad = !o || !list || !each;
	estimate_point(r, p, metric, &e);
	for (size_t k = 0; !bad && k < p->n_measures; k++) {
		double v = page_measure_value(r, p, k, metric);
		if (isnan(v))
			continue;
		each[n++] = v;
		bad = json_array_append_new(list, html_json_number(v));
	}
	bad = bad || json_array_append_new(o, json_integer((json_int_t)e.n_invocations)) ||
	      json_array_append(o, list);
	const double v[] = { e.value, e.low, e.high };
	size_t last = !isnan(e.low) || !isnan(e.high) ? 3U : !isnan(e.value) ? 1U : 0U;
	for (size_t i = 0; !bad && i < last; i++)
		bad = json_array_append_new(o, json_from_value(v[i], each, n));
	if (!bad && n > 1 && n == e.n_invocations && are_equal(each, n))
		bad = json_array_set_new(o, 1, html_json_number(each[0]));
	json_decref(list);
	return json_unless(bad, o);
}

/* What a fact is called at its mark: "TLB level 2". */
static const struct {
	const char *id, *bench, *inner, *words;
} knee_facts[] = {
	{ "tlb.entries", "tlb.chase", "pointers", "TLB" },
	{ "curve.knee", "tlb.chase", "pointers", "knee" },
	{ "curve.knee", "tlb.walk", "regions", "knee" },
	{ "walk.entries", "tlb.walk", "regions", "walk cache" },
	{ "cache.capacity", "cache.chase", "working-set", "cache" },
};

/* Whether the fact holds for this curve: its conditions are the curve's. */
static bool is_of_curve(const struct fact *f, const struct curve_points *c)
{
	for (size_t i = 0; i < f->where.n; i++) {
		const struct attr *a = &f->where.v[i];
		const struct attr *b = attrs_find(&c->outer, a->name);
		struct str x = { 0 }, y = { 0 };
		if (strcmp(a->name, "level") == 0)
			continue;
		if (!b)
			return false;
		attr_format(&x, a);
		attr_format(&y, b);
		bool same = strcmp(str_text(&x), str_text(&y)) == 0;
		str_done(&x);
		str_done(&y);
		if (!same)
			return false;
	}
	return true;
}

/* Stated sizes hold for one page a pointer only: where the stride is a page, and nothing is odd. */
static bool is_plain(const struct curve_points *c)
{
	const char *order = attrs_text(&c->outer, "order", "random");
	const char *load = attrs_text(&c->outer, "load", "none");
	return c->n > 0 && !c->arm && strcmp(order, "random") == 0 && strcmp(load, "none") == 0;
}

static json_t *json_from_knee(const struct fact *f, const char *words)
{
	json_t *o = json_object();
	bool bad = !o;
	bad = bad || json_put(o, "id", html_json_text(f->id));
	bad = bad || json_put(o, "words", json_string(words));
	bad = bad || json_put(o, "level", json_integer(attrs_int(&f->where, "level", 0)));
	bad = bad || json_put(o, "value", html_json_number(f->value));
	bad = bad || json_put(o, "low", html_json_number(f->low));
	bad = bad || json_put(o, "high", html_json_number(f->high));
	bad = bad || json_put(o, "advertised", html_json_number(f->advertised));
	return json_unless(bad, o);
}

static json_t *json_from_knees(const struct report *rep, const struct page_chart *ch,
			       const struct curve_points *c)
{
	json_t *list = json_array();
	for (size_t i = 0; list && i < rep->facts.n; i++) {
		const struct fact *f = &rep->facts.v[i];
		for (size_t k = 0; list && k < sizeof(knee_facts) / sizeof(*knee_facts); k++) {
			if (strcmp(f->id, knee_facts[k].id) != 0 || !ch->inner ||
			    strcmp(ch->bench, knee_facts[k].bench) != 0 ||
			    strcmp(ch->inner, knee_facts[k].inner) != 0 ||
			    (isnan(f->value) && isnan(f->advertised)) || !is_plain(c) ||
			    !is_of_curve(f, c))
				continue;
			list = json_unless(
				json_array_append_new(list, json_from_knee(f, knee_facts[k].words)),
				list);
		}
	}
	return list;
}

/* Values of the inner parameter: the same for all metrics. */
static json_t *json_from_inner(const struct page_chart *ch, const struct curve_points *c)
{
	json_t *list = json_array();
	for (size_t i = 0; list && i < c->n; i++) {
		double x = page_inner(ch, c->points[i]);
		list = json_unless(json_array_append_new(list, html_json_number(x)), list);
	}
	return list;
}

static json_t *json_from_curve(const struct page *pg, const struct page_chart *ch,
			       const struct page_curve *pc, const struct metric *metrics)
{
	const struct page_run *run = &pg->in->runs[pc->run];
	json_t *o = json_object(), *all = json_object();
	bool bad = !o || !all;
	for (const struct metric *m = metrics; !bad && m->name; m++) {
		if (m->form == FORM_TABLE)
			continue;
		json_t *list = json_array();
		for (size_t i = 0; list && i < pc->c->n; i++)
			list = json_unless(
				json_array_append_new(list,
						      json_from_point(pg, run->rep->run,
								      pc->c->points[i], m->name)),
				list);
		bad = json_put(all, m->name, list);
	}
	bad = bad || json_put(o, "label", html_json_text(pc->label));
	bad = bad || json_put(o, "run", json_integer((json_int_t)pc->run));
	bad = bad || json_put(o, "overlay", json_boolean(run->is_overlay));
	bad = bad || json_put(o, "knees", json_from_knees(run->rep, ch, pc->c));
	bad = bad || json_put(o, "x", json_from_inner(ch, pc->c));
	bad = bad || json_object_set(o, "metrics", all);
	json_decref(all);
	return json_unless(bad, o);
}

static json_t *json_from_metrics(const struct metric *metrics)
{
	json_t *list = json_array();
	for (const struct metric *m = metrics; list && m->name; m++) {
		json_t *o = m->form == FORM_TABLE ? NULL : json_object();
		if (m->form == FORM_TABLE)
			continue;
		bool bad = !o;
		bad = bad || json_put(o, "name", html_json_text(m->name));
		bad = bad || json_put(o, "unit", html_json_text(m->unit ? m->unit : ""));
		bad = bad || json_put(o, "summary", html_json_text(m->summary ? m->summary : ""));
		bad = bad || json_array_append(list, o);
		json_decref(o);
		list = json_unless(bad, list);
	}
	return list;
}

static json_t *json_from_chart(const struct page *pg, const struct page_chart *ch)
{
	const struct param *p = schema_param(ch->schema, ch->inner);
	json_t *o = json_object(), *curves = json_array();
	bool bad = !o || !curves;
	for (size_t i = 0; !bad && i < ch->n; i++)
		bad = ch->curves[i].c->n &&
		      json_array_append_new(
			      curves, json_from_curve(pg, ch, &ch->curves[i], ch->schema->metrics));
	bad = bad || json_put(o, "bench", html_json_text(ch->bench));
	bad = bad || json_put(o, "inner", html_json_text(ch->inner));
	bad = bad || json_put(o, "bytes", json_boolean(p && p->type == PARAM_BYTES));
	bad = bad || json_put(o, "metrics", json_from_metrics(ch->schema->metrics));
	bad = bad || json_object_set(o, "curves", curves);
	json_decref(curves);
	return json_unless(bad, o);
}

json_t *html_data(const struct page *pg)
{
	json_t *doc = json_object(), *charts = json_object();
	bool bad = !doc || !charts;
	for (size_t i = 0; !bad && i < pg->charts.n; i++) {
		char id[32];
		if (!pg->charts.v[i].is_curve || !pg->charts.v[i].schema)
			continue;
		snprintf(id, sizeof(id), "chart-%zu", i);
		bad = json_put(charts, id, json_from_chart(pg, &pg->charts.v[i]));
	}
	bad = bad || json_put(doc, "format", json_string("pagetoll-page"));
	bad = bad || json_put(doc, "format_version", json_integer(2));
	bad = bad || json_object_set(doc, "charts", charts);
	json_decref(charts);
	return json_unless(bad, doc);
}
