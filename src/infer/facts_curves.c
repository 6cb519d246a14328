// SPDX-License-Identifier: MIT
/*
 * Facts of any other pointer chase, also of published ones: the knees as they stand, told apart by
 * the parameters in which the run's curves differ. Leaves out: what structure a knee belongs to;
 * level 1 is simply the first.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "infer/facts.h"

static bool is_other(struct work *w, const struct curve_points *c)
{
	if (strcmp(c->bench, "tlb.walk") == 0)
		return outer_is(c, "index", "fixed") && outer_is(c, "caches", "warm");
	return strcmp(c->bench, "tlb.chase") == 0 && curve_role(w->run, c) == CURVE_OTHER;
}

static const char *unit_of(const struct curve_points *c)
{
	return strcmp(c->bench, "tlb.walk") == 0 ? "regions" : "pointers";
}

static bool same_value(const struct attr *a, const struct attr *b)
{
	struct attr left = *a;
	struct attr right = *b;
	struct attrs one = { .v = &left, .n = 1, .cap = 1 };
	struct attrs two = { .v = &right, .n = 1, .cap = 1 };

	return attrs_equal(&one, &two);
}

/* Whether some other curve of the benchmark has another value. */
static bool differs(struct work *w, const char *bench, const struct attr *a)
{
	for (size_t i = 0; i < w->curves->n; i++) {
		const struct curve_points *c = &w->curves->v[i];
		const struct attr *b;

		if (strcmp(c->bench, bench) != 0)
			continue;
		b = attrs_find(&c->outer, a->name);
		if (!b || !same_value(a, b))
			return true;
	}
	return false;
}

static int set_where(struct work *w, const struct curve_points *c, struct fact *f)
{
	for (size_t i = 0; i < c->outer.n; i++) {
		const struct attr *a = &c->outer.v[i];
		int rc = 0;

		if (!differs(w, c->bench, a))
			continue;
		if (a->kind == ATTR_INT)
			rc = fact_where_int(w, f, a->name, a->integer);
		else if (a->kind == ATTR_TEXT)
			rc = fact_where_text(w, f, a->name, a->text);
		if (rc)
			return rc;
	}
	return 0;
}

static struct fact *curve_fact(struct work *w, const struct curve_points *c, const char *id,
			       const char *unit, int level)
{
	struct fact *f = fact_new(w, id, unit, "knee of the curve");

	if (!f || set_where(w, c, f) || fact_where_int(w, f, "level", level))
		return NULL;
	return f;
}

/* Rise at a knee: the plateau that follows it less the one before, per invocation. */
static struct cost step_cost(struct work *w, const struct view *v, const struct knees *k, size_t i)
{
	double below = i > 0 ? 1.25 * k->v[i - 1].capacity : 0;
	double end = i + 1 < k->n ? 0.9 * k->v[i + 1].capacity : INFINITY;
	struct span after = { 1.25 * k->v[i].capacity, end, 0.5 };
	struct span before = { below, 0.9 * k->v[i].capacity, 0.5 };

	/* Behind the last knee a slow rise may follow: stay near it where there are points. */
	if (i + 1 == k->n && view_end(v) > 4 * k->v[i].capacity)
		after.high = 4 * k->v[i].capacity;
	return cost_between(w, v, after, v, before);
}

static int add_curve(struct work *w, const struct curve_points *c)
{
	struct knees knees;
	struct view v;
	int rc = view_build(w, c, "ref_ns", &v);

	if (rc == 0)
		rc = view_knees(w, &v, &knees);
	if (rc)
		return rc;
	/* A handful of points is a table, not a curve; a fact without value would say nothing. */
	if (v.n < 6 && !c->skipped)
		return 0;
	if (knees.n == 0) {
		struct fact *f = curve_fact(w, c, "curve.knee", unit_of(c), 1);
		const char *none =
			arena_printf(w->arena, "no knee up to %.0f %s", view_end(&v), unit_of(c));

		if (!f || !none)
			return -ENOMEM;
		f->reason = v.n > 0 ? none : v.reason;
		return 0;
	}
	for (size_t i = 0; i < knees.n; i++) {
		struct cost cost = step_cost(w, &v, &knees, i);
		struct fact *f = curve_fact(w, c, "curve.knee", unit_of(c), (int)i + 1);

		if (!f)
			return -ENOMEM;
		fact_set_knee(f, &knees.v[i], 1);
		fact_on_curve(f, c, &knees.v[i]);
		f->note = v.unproven;
		f = curve_fact(w, c, "curve.step_ns", "ns", (int)i + 1);
		if (!f)
			return -ENOMEM;
		fact_set_cost(f, &cost);
		f->method = "plateau above the knee less plateau below";
		f->note = v.unproven;
	}
	return 0;
}

int facts_curves(struct work *w)
{
	int rc = 0;

	for (size_t i = 0; i < w->curves->n && rc == 0; i++) {
		if (is_other(w, &w->curves->v[i]))
			rc = add_curve(w, &w->curves->v[i]);
	}
	return rc;
}
