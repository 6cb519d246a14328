// SPDX-License-Identifier: MIT
/*
 * Faults against populating: how much of a mapping must be used before filling all of it at once is
 * no dearer than faulting, and what filling saves when all of it is used. Leaves out why; the
 * parts of each point's time (map_ns, fill_ns, touch_ns, unmap_ns) tell.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/facts.h"

static const double ALL = 100; /* percent */

static bool is_fault(const struct curve_points *c)
{
	return strncmp(c->bench, "fault.", 6) == 0;
}

static bool is_demand(const struct curve_points *c)
{
	return outer_is(c, "fill", "demand");
}

/* Alike in all but the fill. */
static bool belong_together(const struct curve_points *a, const struct curve_points *b)
{
	if (strcmp(a->bench, b->bench) != 0 || a->outer.n != b->outer.n ||
	    (a->arm == NULL) != (b->arm == NULL) || (a->arm && strcmp(a->arm, b->arm) != 0))
		return false;
	for (size_t i = 0; i < a->outer.n; i++) {
		struct attr left = a->outer.v[i];
		const struct attr *found = attrs_find(&b->outer, left.name);
		struct attr right;
		struct attrs one = { .v = &left, .n = 1, .cap = 1 };
		struct attrs two = { .v = &right, .n = 1, .cap = 1 };

		if (strcmp(left.name, "fill") == 0)
			continue;
		if (!found)
			return false;
		right = *found;
		if (!attrs_equal(&one, &two))
			return false;
	}
	return true;
}

static int set_where(struct work *w, const struct curve_points *c, struct fact *f)
{
	static const char *const names[] = { "fill",   "access",  "spread",      "page",
					     "folios", "mapping", "fault-around" };

	if (fact_where_text(w, f, "of", strchr(c->bench, '.') + 1) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *word = attrs_text(&c->outer, names[i], NULL);

		if (word && strcmp(word, "keep") != 0 && fact_where_text(w, f, names[i], word) < 0)
			return -ENOMEM;
	}
	if (outer_int(c, "threads", 1) > 1)
		return fact_where_int(w, f, "threads", outer_int(c, "threads", 1));
	return 0;
}

/*
 * Where demand[i] - fill[i] first becomes positive and stays so, by straight lines between the
 * points; NaN: nowhere, or from the first point on.
 */
static double crossing(const double *x, const double *demand, const double *fill, size_t n)
{
	size_t at = n;

	while (at > 0 && demand[at - 1] - fill[at - 1] >= 0)
		at--;
	if (at == 0 || at == n)
		return NAN;
	double below = demand[at - 1] - fill[at - 1], above = demand[at] - fill[at];

	return x[at - 1] + (x[at] - x[at - 1]) * -below / (above - below);
}

/* Both curves at the values of x that both have. */
struct both {
	size_t n, n_reps;
	double *x, *demand, *fill; /* [rep * n + i]; x has n */
};

static int align(struct work *w, const struct view *d, const struct view *f, struct both *ret)
{
	size_t reps = d->n_reps < f->n_reps ? d->n_reps : f->n_reps;

	*ret = (struct both){ .n_reps = reps };
	ret->x = arena_alloc(w->arena, (d->n + 1) * sizeof(double));
	ret->demand = arena_alloc(w->arena, (d->n * reps + 1) * sizeof(double));
	ret->fill = arena_alloc(w->arena, (d->n * reps + 1) * sizeof(double));
	if (!ret->x || !ret->demand || !ret->fill)
		return -ENOMEM;
	for (size_t i = 0; i < d->n; i++)
		if (view_find(f, d->x[i]) < f->n)
			ret->x[ret->n++] = d->x[i];
	for (size_t r = 0; r < reps; r++) {
		for (size_t i = 0; i < ret->n; i++) {
			size_t a = view_find(d, ret->x[i]), b = view_find(f, ret->x[i]);

			ret->demand[r * ret->n + i] = d->reps[r * d->n + a];
			ret->fill[r * ret->n + i] = f->reps[r * f->n + b];
		}
	}
	return 0;
}

/* Why there is no crossing, by the last point of the medians. */
static const char *why_none(const struct view *d, const struct view *f)
{
	size_t a = view_find(d, view_end(d)), b = view_find(f, view_end(d));

	if (b >= f->n)
		return "the curves have no last point in common";
	return d->y[a] < f->y[b] ? "none: faulting is cheaper also when all pages are used"
				 : "none: filling is cheaper at every point measured";
}

static int add_break_even(struct work *w, const struct curve_points *c, const struct view *d,
			  const struct view *f)
{
	struct fact *fact = fact_new(w, "fault.break_even", "percent",
				     "crossing of the curves, per invocation");
	struct both b;
	double *values;
	struct cost cost;

	if (!fact || set_where(w, c, fact) < 0 || align(w, d, f, &b) < 0)
		return -ENOMEM;
	values = arena_alloc(w->arena, (b.n_reps + 1) * sizeof(*values));
	if (!values)
		return -ENOMEM;
	for (size_t r = 0; r < b.n_reps; r++)
		values[r] = crossing(b.x, b.demand + r * b.n, b.fill + r * b.n, b.n);
	cost = cost_of_values(values, b.n_reps, why_none(d, f));
	fact_set_cost(fact, &cost);
	return 0;
}

/* What filling saves when every page is used; negative: what it costs more. */
static int add_saving(struct work *w, const struct curve_points *c, const struct view *d,
		      const struct view *f)
{
	size_t a = view_find(d, ALL), b = view_find(f, ALL);
	size_t reps = d->n_reps < f->n_reps ? d->n_reps : f->n_reps;
	double *values = arena_alloc(w->arena, (reps + 1) * sizeof(*values));
	struct cost cost;
	struct fact *fact;

	if (!values)
		return -ENOMEM;
	if (a >= d->n || b >= f->n)
		return 0;
	for (size_t r = 0; r < reps; r++) {
		double demand = d->reps[r * d->n + a];

		values[r] = 100 * (demand - f->reps[r * f->n + b]) / demand;
	}
	cost = cost_of_values(values, reps, "no point has both");
	fact = fact_new(w, "fault.fill_saving", "percent", "of page_ns with every page used");
	if (!fact || set_where(w, c, fact) < 0)
		return -ENOMEM;
	fact_set_cost(fact, &cost);
	return 0;
}

static int add_pair(struct work *w, const struct curve_points *demand,
		    const struct curve_points *fill)
{
	struct view d, f;
	int rc = view_build(w, demand, "page_ns", &d);

	if (rc == 0)
		rc = view_build(w, fill, "page_ns", &f);
	if (rc < 0 || d.n == 0 || f.n == 0)
		return rc;
	if (d.n > 1 && f.n > 1)
		rc = add_break_even(w, fill, &d, &f);
	return rc < 0 ? rc : add_saving(w, fill, &d, &f);
}

int facts_fault(struct work *w)
{
	int rc = 0;

	for (size_t i = 0; i < w->curves->n && rc == 0; i++) {
		const struct curve_points *fill = &w->curves->v[i];

		if (!is_fault(fill) || is_demand(fill))
			continue;
		for (size_t k = 0; k < w->curves->n && rc == 0; k++)
			if (is_demand(&w->curves->v[k]) && belong_together(&w->curves->v[k], fill))
				rc = add_pair(w, &w->curves->v[k], fill);
	}
	return rc;
}
