// SPDX-License-Identifier: MIT
/*
 * Which curves share a chart: those of one benchmark against one inner parameter, divided by a
 * parameter until no chart has more series than can be told apart.
 */
#include <errno.h>
#include <string.h>

#include "report/plot_parts.h"

bool split_differs(const struct split *s, const char *name)
{
	for (size_t i = 0; i < s->n_differing; i++)
		if (strcmp(s->differing[i], name) == 0)
			return true;
	return false;
}

static bool same_value(const struct attr *a, const struct attr *b)
{
	struct attr x, y;

	if (!a || !b)
		return a == b;
	x = *a;
	y = *b;
	return attrs_equal(&(struct attrs){ .v = &x, .n = 1 }, &(struct attrs){ .v = &y, .n = 1 });
}

static const struct attr *value_of(const struct split *s, size_t i, const char *name)
{
	return attrs_find(&s->curves[i].curve->outer, name);
}

/* A curve without the parameter is one value more only for dividing, not for telling apart. */
static size_t count_values(const struct split *s, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		size_t k = 0;

		while (k < i && !same_value(value_of(s, i, name), value_of(s, k, name)))
			k++;
		n += k == i && value_of(s, i, name);
	}
	return n;
}

bool split_shares(const struct split *s, const char *name)
{
	for (size_t i = 1; i < s->n; i++)
		if (!same_value(value_of(s, 0, name), value_of(s, i, name)))
			return false;
	return true;
}

static int find_differing(struct arena *a, struct split *s)
{
	size_t cap = 0;

	s->n_differing = 0;
	s->differing = NULL;
	s->runs_differ = false;
	for (size_t i = 0; i < s->n; i++) {
		const struct attrs *outer = &s->curves[i].curve->outer;

		s->runs_differ = s->runs_differ || s->curves[i].run != s->curves[0].run;
		for (size_t k = 0; k < outer->n; k++) {
			const char *name = outer->v[k].name;

			if (split_differs(s, name) || count_values(s, name) < 2)
				continue;
			if (arena_grow(a, &s->differing, s->n_differing, &cap,
				       sizeof(*s->differing)) < 0)
				return -ENOMEM;
			s->differing[s->n_differing++] = name;
		}
	}
	return 0;
}

/* The parameter with the fewest values: it makes the fewest charts. */
static const char *divider(const struct split *s)
{
	const char *best = NULL;
	size_t least = 0;

	for (size_t i = 0; i < s->n_differing; i++) {
		size_t n = count_values(s, s->differing[i]);

		if (!best || n < least) {
			best = s->differing[i];
			least = n;
		}
	}
	return best;
}

static int take(struct arena *a, const struct split *s, bool *taken, size_t first, const char *name,
		struct split *ret)
{
	ret->curves = arena_alloc(a, (s->n + 1) * sizeof(*ret->curves));
	if (!ret->curves)
		return -ENOMEM;
	for (size_t i = first; i < s->n && ret->n < (name ? s->n : PLOT_SERIES_MAX); i++) {
		if (taken[i] ||
		    (name && !same_value(value_of(s, i, name), value_of(s, first, name))))
			continue;
		taken[i] = true;
		ret->curves[ret->n++] = s->curves[i];
	}
	return 0;
}

static bool too_many_pairs(const struct split *s)
{
	enum { PAIRS_DRAWN = 64 };

	return s->n > PAIRS_DRAWN && s->curves[0].schema &&
	       schema_role(s->curves[0].schema, ROLE_FROM);
}

/* Charts of rows may be as long as they like. */
static int divide(struct maker *k, struct split *s)
{
	bool *taken = arena_alloc(k->arena, (s->n + 1) * sizeof(*taken));
	bool fits = s->n <= PLOT_SERIES_MAX || !s->curves[0].curve->inner;
	const char *name;
	int rc = 0;

	if (!taken || find_differing(k->arena, s) < 0)
		return -ENOMEM;
	if (fits)
		return plot_add_chart(k, s);
	/* Runs alone differ: eight at a time. */
	name = divider(s);
	for (size_t i = 0; i < s->n && rc == 0; i++) {
		struct split part = { 0 };

		if (taken[i])
			continue;
		rc = take(k->arena, s, taken, i, name, &part);
		if (rc == 0)
			rc = divide(k, &part);
	}
	return rc;
}

/* --- all curves of all runs --- */

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static const char *inner_of(const struct plot_curve *c)
{
	const struct param *p = c->schema ? schema_role(c->schema, ROLE_INNER) : NULL;

	return c->curve->inner ? c->curve->inner : p ? p->name : NULL;
}

static const char *metric_of(const struct curve_points *c, const struct bench_schema *s,
			     const char *wanted)
{
	if (wanted && s && schema_metric(s, wanted))
		return wanted;
	if (wanted)
		return NULL;
	if (s && s->metrics && s->metrics->name)
		return s->metrics->name;
	for (size_t i = 0; i < c->n; i++)
		for (size_t m = 0; m < c->points[i]->n_measures; m++)
			if (c->points[i]->measures[m]->n_series)
				return c->points[i]->measures[m]->series[0].metric;
	return NULL;
}

static int collect(struct maker *k, const char *bench, const char *metric, struct split *ret)
{
	size_t cap = 0;

	for (size_t r = 0; r < k->n_runs; r++) {
		const struct report *rep = k->runs[r].rep;

		for (size_t i = 0; i < rep->curves.n; i++) {
			struct plot_curve c = { .run = &k->runs[r], .curve = &rep->curves.v[i] };

			if (bench && strcmp(c.curve->bench, bench) != 0)
				continue;
			c.schema = run_schema(rep->run, c.curve->bench);
			c.metric = metric_of(c.curve, c.schema, metric);
			if (!c.metric)
				continue;
			if (arena_grow(k->arena, &ret->curves, ret->n, &cap, sizeof(*ret->curves)) <
			    0)
				return -ENOMEM;
			ret->curves[ret->n++] = c;
		}
	}
	return 0;
}

/* Names what there is instead. */
static int nothing(const struct maker *k, const char *bench, const char *metric, struct err *e)
{
	struct str list = { 0 };
	bool has_bench = false;
	int rc;

	for (size_t r = 0; r < k->n_runs; r++)
		for (size_t i = 0; i < k->runs[r].rep->curves.n; i++)
			has_bench = has_bench || !bench ||
				    strcmp(k->runs[r].rep->curves.v[i].bench, bench) == 0;
	for (size_t r = 0; r < k->n_runs; r++)
		for (size_t i = 0; i < k->runs[r].rep->curves.n; i++) {
			const char *name = k->runs[r].rep->curves.v[i].bench;
			const struct bench_schema *s = run_schema(k->runs[r].rep->run, name);

			if (!has_bench)
				str_add_listed(&list, name);
			else if (!bench || strcmp(name, bench) == 0)
				for (const struct metric *m = s ? s->metrics : NULL; m && m->name;
				     m++)
					str_add_listed(&list, m->name);
		}
	if (!list.len)
		rc = err_set(e, ENOENT, "nothing was measured that could be drawn");
	else if (!has_bench)
		rc = err_set(e, ENOENT, "no '%.64s' was measured; there are %s", bench,
			     str_text(&list));
	else
		rc = err_set(e, ENOENT, "there is no metric '%.64s'; there are %s",
			     metric ? metric : "", str_text(&list));
	str_done(&list);
	return rc;
}

static int make(struct maker *k, const char *bench, const char *metric, struct err *e)
{
	struct split all = { 0 };
	int rc = collect(k, bench, metric, &all);
	bool *taken = arena_alloc(k->arena, (all.n + 1) * sizeof(*taken));

	if (rc < 0 || !taken)
		return err_set(e, ENOMEM, "out of memory");
	if (!all.n)
		return nothing(k, bench, metric, e);
	for (size_t i = 0; i < all.n && rc == 0; i++) {
		struct split part = { .curves =
					      arena_alloc(k->arena, all.n * sizeof(*part.curves)) };

		if (taken[i])
			continue;
		if (!part.curves)
			return err_set(e, ENOMEM, "out of memory");
		for (size_t m = i; m < all.n; m++) {
			const struct plot_curve *a = &all.curves[i], *b = &all.curves[m];

			if (taken[m] || strcmp(a->curve->bench, b->curve->bench) != 0 ||
			    !same_text(inner_of(a), inner_of(b)) ||
			    !same_text(a->metric, b->metric))
				continue;
			taken[m] = true;
			part.curves[part.n++] = *b;
		}
		rc = too_many_pairs(&part)
			     ? plot_omit(k, &part,
					 "too many pairs of CPUs for curves: 'pagetoll show' "
					 "prints their matrix")
			     : divide(k, &part);
	}
	return rc < 0 ? err_set(e, ENOMEM, "out of memory") : 0;
}

int plot_make(struct plot *ret, const struct plot_run *runs, size_t n, const char *bench,
	      const char *metric, bool utf8, struct err *e)
{
	struct plot p = { 0 };
	struct maker k = { .plot = &p, .arena = &p.arena, .runs = runs, .n_runs = n, .utf8 = utf8 };
	int rc = make(&k, bench, metric, e);

	if (rc < 0) {
		plot_done(&p);
		return rc;
	}
	*ret = p;
	return 0;
}

void plot_done(struct plot *p)
{
	arena_done(&p->arena);
	*p = (struct plot){ 0 };
}
