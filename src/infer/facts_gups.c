// SPDX-License-Identifier: MIT
/*
 * RandomAccess: what an update costs one CPU in the largest table, and what larger pages save of
 * it. Leaves out: whether two runs differ (compare/), and rates, which the points show.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "infer/facts.h"

static bool is_gups(const struct curve_points *c)
{
	return strcmp(c->bench, "mem.gups") == 0;
}

/* Form, kernel, table, and placements that are not the plain ones. */
static int set_where(struct work *w, struct fact *f, const struct curve_points *c, double table)
{
	static const char *const always[] = { "page", "form", "kernel" };
	static const char *const placed[] = { "data", "page-tables" };
	char size[UNITS_TEXT_BYTES];
	int rc = 0;

	for (size_t i = 0; i < 3 && rc == 0; i++)
		rc = fact_where_text(w, f, always[i], attrs_text(&c->outer, always[i], ""));
	for (size_t i = 0; i < 2 && rc == 0; i++)
		if (!outer_is(c, placed[i], "local"))
			rc = fact_where_text(w, f, placed[i], attrs_text(&c->outer, placed[i], ""));
	/* of a setting that could not run no table is known */
	if (rc == 0 && table > 0)
		rc = fact_where_text(w, f, "table", format_size(size, (uint64_t)table));
	return rc;
}

static int add_update(struct work *w, const struct curve_points *c)
{
	struct fact *f = fact_new(w, "gups.update_ns", "ns",
				  "median over invocations, in the largest table");
	struct span last = { 0, 0, 0.5 };
	struct cost cost;
	struct view v;

	if (!f || view_build(w, c, "update_ns", &v) < 0)
		return -ENOMEM;
	last.low = last.high = view_end(&v);
	cost = v.n > 0 ? cost_between(w, &v, last, NULL, last) : cost_missing(v.reason);
	if (set_where(w, f, c, v.n > 0 ? view_end(&v) : 0))
		return -ENOMEM;
	fact_set_cost(f, &cost);
	f->note = v.unproven;
	return 0;
}

/* The same setting but for its pages, which are small ones; NULL: none. */
static const struct curve_points *small_twin(struct work *w, const struct curve_points *c)
{
	for (size_t i = 0; i < w->curves->n; i++) {
		const struct curve_points *b = &w->curves->v[i];
		bool same = is_gups(b) && b->outer.n == c->outer.n;

		for (size_t k = 0; k < c->outer.n && same; k++) {
			const char *name = c->outer.v[k].name;

			if (strcmp(name, "page") == 0)
				same = page_word_is_base(w->run, attrs_text(&b->outer, name, ""));
			else if (c->outer.v[k].kind == ATTR_INT)
				same = outer_int(b, name, -1) == c->outer.v[k].integer;
			else
				same = outer_is(b, name, attrs_text(&c->outer, name, ""));
		}
		if (same)
			return b;
	}
	return NULL;
}

/* The largest table that both have; 0: none. */
static double common_table(const struct view *a, const struct view *b)
{
	for (size_t i = a->n; i-- > 0;)
		if (view_find(b, a->x[i]) < b->n)
			return a->x[i];
	return 0;
}

/* Of the medians, with an interval from invocations in pairs. */
static struct cost saving(struct work *w, const struct view *small, const struct view *huge,
			  double table)
{
	static const char missing[] = "no table size was measured with both page sizes";
	struct span at = { table, table, 0.5 };
	size_t n = small->n_reps < huge->n_reps ? small->n_reps : huge->n_reps;
	double *a = arena_alloc(w->arena, (small->n_reps + 1) * sizeof(*a));
	double *b = arena_alloc(w->arena, (huge->n_reps + 1) * sizeof(*b));
	struct cost of_small, of_huge, c;

	if (!a || !b)
		return cost_missing("out of memory");
	if (small->n == 0 || huge->n == 0)
		return cost_missing(small->n == 0 ? small->reason : huge->reason);
	if (table <= 0)
		return cost_missing(missing);
	span_values(small, at, a);
	span_values(huge, at, b);
	of_small = cost_of_values(a, small->n_reps, missing);
	of_huge = cost_of_values(b, huge->n_reps, missing);
	for (size_t r = 0; r < n; r++)
		a[r] = 100 * (1 - b[r] / a[r]);
	c = cost_of_values(a, n, missing);
	/* the figure must be what a reader gets from the two that stand beside it */
	c.value = 100 * (1 - of_huge.value / of_small.value);
	if (!isnan(c.low)) {
		c.low = fmin(c.low, c.value);
		c.high = fmax(c.high, c.value);
	}
	return c;
}

static int add_saving(struct work *w, const struct curve_points *small,
		      const struct curve_points *huge)
{
	struct fact *f = fact_new(w, "gups.page_saving", "percent",
				  "1 - larger / small of the medians of update_ns; interval from "
				  "invocations in pairs");
	struct view of_small, of_huge;
	struct cost c;
	double table;

	if (!f || view_build(w, small, "update_ns", &of_small) < 0 ||
	    view_build(w, huge, "update_ns", &of_huge) < 0)
		return -ENOMEM;
	table = common_table(&of_huge, &of_small);
	c = saving(w, &of_small, &of_huge, table);
	if (set_where(w, f, huge, table))
		return -ENOMEM;
	fact_set_cost(f, &c);
	return 0;
}

int facts_gups(struct work *w)
{
	int rc = 0;

	for (size_t i = 0; i < w->curves->n && rc == 0; i++)
		if (is_gups(&w->curves->v[i]))
			rc = add_update(w, &w->curves->v[i]);
	for (size_t i = 0; i < w->curves->n && rc == 0; i++) {
		const struct curve_points *c = &w->curves->v[i], *small;

		if (!is_gups(c) || page_word_is_base(w->run, attrs_text(&c->outer, "page", "")))
			continue;
		small = small_twin(w, c);
		if (small)
			rc = add_saving(w, small, c);
	}
	return rc;
}
