// SPDX-License-Identifier: MIT
/* Which curves stand side by side. */
#include <errno.h>
#include <string.h>

#include "report/curve_table.h"

static bool same_value(const struct attr *a, const struct attr *b)
{
	if (!a || !b)
		return a == b;
	struct attrs x = { .v = (struct attr[]){ *a }, .n = 1 };
	struct attrs y = { .v = (struct attr[]){ *b }, .n = 1 };
	return attrs_equal(&x, &y);
}

static bool known(const struct curve_group *g, const char *name)
{
	for (size_t i = 0; i < g->n_differing; i++)
		if (strcmp(g->differing[i], name) == 0)
			return true;
	return false;
}

/* Whether any curve of the group has another value of @name than the first has. */
static bool differs(const struct curve_group *g, const char *name)
{
	const struct attr *first = attrs_find(&g->curves[0]->outer, name);
	for (size_t i = 1; i < g->n; i++)
		if (!same_value(first, attrs_find(&g->curves[i]->outer, name)))
			return true;
	return false;
}

static int find_differing(struct arena *a, struct curve_group *g)
{
	size_t cap = 0;
	g->n_differing = 0;
	g->differing = NULL;
	for (size_t i = 0; i < g->n; i++) {
		const struct attrs *outer = &g->curves[i]->outer;
		for (size_t k = 0; k < outer->n; k++) {
			const char *name = outer->v[k].name;
			if (known(g, name) || !differs(g, name))
				continue;
			if (arena_grow(a, &g->differing, g->n_differing, &cap,
				       sizeof(*g->differing)) < 0)
				return -ENOMEM;
			g->differing[g->n_differing++] = name;
		}
	}
	return 0;
}

static const char *role_name(const struct curve_group *g, enum param_role role)
{
	const struct param *p = g->schema ? schema_role(g->schema, role) : NULL;
	return p ? p->name : "";
}

/* The two ends of a pair are one parameter: "from" stands for both. */
static bool ends_differ(const struct curve_group *g)
{
	return known(g, role_name(g, ROLE_FROM)) && known(g, role_name(g, ROLE_TO));
}

static size_t count_pairs(const struct curve_group *g)
{
	const char *from = role_name(g, ROLE_FROM), *to = role_name(g, ROLE_TO);
	size_t n = 0;
	for (size_t i = 0; i < g->n; i++) {
		const struct attrs *a = &g->curves[i]->outer;
		size_t k = 0;
		while (k < i &&
		       !(same_value(attrs_find(a, from), attrs_find(&g->curves[k]->outer, from)) &&
			 same_value(attrs_find(a, to), attrs_find(&g->curves[k]->outer, to))))
			k++;
		n += k == i;
	}
	return n;
}

static size_t count_free(const struct curve_group *g)
{
	return g->n_differing - (ends_differ(g) ? 1 : 0);
}

static size_t count_values(const struct curve_group *g, const char *name)
{
	size_t n = 0;
	for (size_t i = 0; i < g->n; i++) {
		size_t k = 0;
		while (k < i && !same_value(attrs_find(&g->curves[i]->outer, name),
					    attrs_find(&g->curves[k]->outer, name)))
			k++;
		n += k == i;
	}
	return n;
}

/* Curves are distinct, so a full grid has exactly the product of the numbers of values. */
static bool is_grid(const struct curve_group *g)
{
	size_t product = 1;
	for (size_t i = 0; i < g->n_differing; i++) {
		bool pair = ends_differ(g);
		if (pair && strcmp(g->differing[i], role_name(g, ROLE_TO)) == 0)
			continue;
		pair = pair && strcmp(g->differing[i], role_name(g, ROLE_FROM)) == 0;
		size_t n = pair ? count_pairs(g) : count_values(g, g->differing[i]);
		if (product > g->n / n)
			return false;
		product *= n;
	}
	return product == g->n;
}

static int add_curve(struct arena *a, struct curve_group *g, const struct curve_points *c)
{
	if (arena_grow(a, &g->curves, g->n, &g->cap, sizeof(*g->curves)) < 0)
		return -ENOMEM;
	g->curves[g->n++] = c;
	return 0;
}

static bool same_inner(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* A curve of skipped measures knows no inner parameter when the schema is missing. */
static const char *inner_of(const struct report *rep, const struct curve_points *c)
{
	if (c->inner)
		return c->inner;
	const struct bench_schema *s = run_schema(rep->run, c->bench);
	for (const struct param *p = s ? s->params : NULL; p && p->name; p++)
		if (p->role == ROLE_INNER)
			return p->name;
	return NULL;
}

static struct curve_group group_begin(const struct report *rep, const struct curve_points *c)
{
	return (struct curve_group){ .bench = c->bench,
				     .schema = run_schema(rep->run, c->bench),
				     .inner = inner_of(rep, c) };
}

/* Takes curves that differ from the group in the one parameter in which it differs already. */
static int take_neighbours(struct arena *a, const struct curve_group *all, bool *taken,
			   struct curve_group *g)
{
	for (size_t i = 0; i < all->n; i++) {
		if (taken[i])
			continue;
		struct curve_group wider = *g;
		wider.curves = arena_alloc(a, (g->n + 1) * sizeof(*wider.curves));
		if (!wider.curves)
			return -ENOMEM;
		memcpy(wider.curves, g->curves, g->n * sizeof(*g->curves));
		wider.curves[wider.n++] = all->curves[i];
		wider.cap = wider.n;
		if (find_differing(a, &wider) < 0)
			return -ENOMEM;
		if (count_free(&wider) <= 1) {
			*g = wider;
			taken[i] = true;
		}
	}
	return 0;
}

static int add_group(struct arena *a, struct curve_groups *ret, const struct curve_group *g)
{
	if (arena_grow(a, &ret->v, ret->n, &ret->cap, sizeof(*ret->v)) < 0)
		return -ENOMEM;
	ret->v[ret->n++] = *g;
	return 0;
}

/* Divides all curves of one benchmark. */
static int divide(struct arena *a, const struct report *rep, struct curve_group *all,
		  struct curve_groups *ret)
{
	if (find_differing(a, all) < 0)
		return -ENOMEM;
	if (!all->inner || is_grid(all))
		return add_group(a, ret, all);
	bool *taken = arena_alloc(a, all->n * sizeof(*taken));
	if (!taken)
		return -ENOMEM;
	for (size_t i = 0; i < all->n; i++) {
		if (taken[i])
			continue;
		struct curve_group g = group_begin(rep, all->curves[i]);
		taken[i] = true;
		if (add_curve(a, &g, all->curves[i]) < 0 ||
		    take_neighbours(a, all, taken, &g) < 0 || find_differing(a, &g) < 0 ||
		    add_group(a, ret, &g) < 0)
			return -ENOMEM;
	}
	return 0;
}

int curve_groups_make(struct arena *a, const struct report *rep, struct curve_groups *ret)
{
	const struct curves *c = &rep->curves;
	bool *done = arena_alloc(a, (c->n + 1) * sizeof(*done));
	*ret = (struct curve_groups){ 0 };
	if (!done)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++) {
		if (done[i])
			continue;
		struct curve_group all = group_begin(rep, &c->v[i]);
		for (size_t k = i; k < c->n; k++) {
			if (strcmp(c->v[k].bench, all.bench) != 0 ||
			    !same_inner(inner_of(rep, &c->v[k]), all.inner))
				continue;
			done[k] = true;
			if (add_curve(a, &all, &c->v[k]) < 0)
				return -ENOMEM;
		}
		if (divide(a, rep, &all, ret) < 0)
			return -ENOMEM;
	}
	return 0;
}
