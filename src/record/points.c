/* SPDX-License-Identifier: MIT */
/*
 * From measures to points and from points to curves. Settings are found by a hash that does not
 * depend on the order of their names, so that a run of some thousand measures costs milliseconds.
 */
#include "record/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

/* Open addressing over the indexes of an array of groups (points or curves). */
struct table {
	size_t *index; /* index + 1, 0: free */
	size_t size;   /* a power of two, at least twice the number of entries */
};

static int table_init(struct arena *a, struct table *t, size_t entries)
{
	t->size = 16;
	while (t->size < entries * 2)
		t->size *= 2;
	t->index = arena_alloc(a, t->size * sizeof(*t->index));
	return t->index ? 0 : -ENOMEM;
}

static uint64_t hash_text(uint64_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3); /* FNV-1a */
	return rng_mix64(h);
}

static uint64_t hash_attr(const struct attr *a)
{
	uint64_t h = hash_text(UINT64_C(0xcbf29ce484222325) + (uint64_t)a->kind, a->name), bits;
	double v;

	switch (a->kind) {
	case ATTR_TEXT:
		return hash_text(h, a->text);
	case ATTR_INT:
		return rng_mix64(h ^ (uint64_t)a->integer);
	case ATTR_REAL:
		v = a->real == 0.0 ? 0.0 : a->real; /* -0.0 equals 0.0 */
		memcpy(&bits, &v, sizeof(bits));
		return rng_mix64(h ^ bits);
	case ATTR_NULL:
		break;
	}
	return h;
}

static bool same_arm(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static uint64_t hash_setting(const char *bench, const char *arm, const struct attrs *at)
{
	uint64_t sum = arm ? hash_text(0, arm) : 0;
	size_t i;

	for (i = 0; i < at->n; i++)
		sum += hash_attr(&at->v[i]);
	return rng_mix64(hash_text(sum, bench));
}

static size_t *find_point(const struct table *t, const struct points *p, const struct measure *m)
{
	size_t i = (size_t)hash_setting(m->bench, m->arm, &m->setting);

	for (;; i++) {
		size_t *at = &t->index[i & (t->size - 1)];

		if (!*at || (!strcmp(p->v[*at - 1].bench, m->bench) &&
			     same_arm(p->v[*at - 1].arm, m->arm) &&
			     attrs_equal(p->v[*at - 1].setting, &m->setting)))
			return at;
	}
}

int points_assemble(struct arena *a, const struct run *r, struct points *ret_points)
{
	struct points p = { 0 };
	struct table t;
	size_t i;

	if (table_init(a, &t, r->n_measures) < 0)
		return -ENOMEM;
	for (i = 0; i < r->n_measures; i++) {
		const struct measure *m = &r->measures[i];
		size_t *at = find_point(&t, &p, m);
		struct point *point;

		if (!*at) {
			if (arena_grow(a, &p.v, p.n, &p.cap, sizeof(*p.v)) < 0)
				return -ENOMEM;
			p.v[p.n++] = (struct point){ .bench = m->bench,
						     .arm = m->arm,
						     .setting = &m->setting };
			*at = p.n;
		}
		point = &p.v[*at - 1];
		if (arena_grow(a, &point->measures, point->n_measures, &point->cap,
			       sizeof(*point->measures)) < 0)
			return -ENOMEM;
		point->measures[point->n_measures++] = m;
	}
	*ret_points = p;
	return 0;
}

/*
 * The setting without @inner; shares names and texts with it. The arm of an interleaved experiment
 * stands in front like a parameter, so that everything made of curves names it.
 */
static int outer_of(struct arena *a, const struct point *p, const char *inner, struct attrs *ret)
{
	const struct attrs *setting = p->setting;
	struct attrs o = { 0 };
	size_t i;

	o.v = arena_alloc(a, (setting->n + 1) * sizeof(*o.v));
	if (!o.v)
		return -ENOMEM;
	o.cap = setting->n + 1;
	if (p->arm)
		o.v[o.n++] = (struct attr){ .name = "arm", .kind = ATTR_TEXT, .text = p->arm };
	for (i = 0; i < setting->n; i++)
		if (!inner || strcmp(setting->v[i].name, inner) != 0)
			o.v[o.n++] = setting->v[i];
	*ret = o;
	return 0;
}

static const char *inner_name(const struct run *r, const char *bench)
{
	const struct bench_schema *s = run_schema(r, bench);
	const struct param *p;

	for (p = s ? s->params : NULL; p && p->name; p++)
		if (p->role == ROLE_INNER)
			return p->name;
	return NULL;
}

static size_t *find_curve(const struct table *t, const struct curves *c, const struct point *p,
			  const struct attrs *outer)
{
	size_t i = (size_t)hash_setting(p->bench, p->arm, outer);

	for (;; i++) {
		size_t *at = &t->index[i & (t->size - 1)];

		if (!*at || (!strcmp(c->v[*at - 1].bench, p->bench) &&
			     same_arm(c->v[*at - 1].arm, p->arm) &&
			     attrs_equal(&c->v[*at - 1].outer, outer)))
			return at;
	}
}

/* Numbers ascending, anything else behind them; ties in order of appearance. */
struct sort_key {
	const struct point *point;
	int rank;
	int64_t integer;
	double real;
};

static int compare_keys(const void *va, const void *vb)
{
	const struct sort_key *a = va, *b = vb;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->real != b->real)
		return a->real < b->real ? -1 : 1;
	/* Integers beyond 2^53 may share a double. */
	if (a->integer != b->integer)
		return a->integer < b->integer ? -1 : 1;
	return a->point < b->point ? -1 : a->point > b->point;
}

static int sort_curve(struct arena *a, struct curve_points *c)
{
	struct sort_key *keys;
	size_t i;

	if (!c->inner || c->n < 2)
		return 0;
	keys = arena_alloc(a, c->n * sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	for (i = 0; i < c->n; i++) {
		const struct attr *v = attrs_find(c->points[i]->setting, c->inner);

		keys[i].point = c->points[i];
		keys[i].rank = v && (v->kind == ATTR_INT || v->kind == ATTR_REAL) ? 0 : 1;
		if (keys[i].rank == 0 && v->kind == ATTR_INT) {
			keys[i].integer = v->integer;
			keys[i].real = (double)v->integer;
		} else if (keys[i].rank == 0) {
			keys[i].real = v->real;
		}
	}
	qsort(keys, c->n, sizeof(*keys), compare_keys);
	for (i = 0; i < c->n; i++)
		c->points[i] = keys[i].point;
	return 0;
}

/* Puts a point where it belongs in its curve. */
static int curve_add(struct arena *a, struct curve_points *c, const struct point *point)
{
	if (c->inner && !attrs_find(point->setting, c->inner)) {
		if (!c->n && !c->skipped)
			c->skipped = point->measures[0];
		return 0;
	}
	/* Some invocation ran: the setting as a whole was not skipped. */
	c->skipped = NULL;
	if (arena_grow(a, &c->points, c->n, &c->cap, sizeof(*c->points)) < 0)
		return -ENOMEM;
	c->points[c->n++] = point;
	return 0;
}

int curves_assemble(struct arena *a, const struct run *r, const struct points *p,
		    struct curves *ret_curves)
{
	struct curves c = { 0 };
	struct table t;
	size_t i;

	if (table_init(a, &t, p->n) < 0)
		return -ENOMEM;
	for (i = 0; i < p->n; i++) {
		const struct point *point = &p->v[i];
		const char *inner = inner_name(r, point->bench);
		struct attrs outer;
		size_t *at;

		if (outer_of(a, point, inner, &outer) < 0)
			return -ENOMEM;
		at = find_curve(&t, &c, point, &outer);
		if (!*at) {
			if (arena_grow(a, &c.v, c.n, &c.cap, sizeof(*c.v)) < 0)
				return -ENOMEM;
			c.v[c.n++] = (struct curve_points){ .bench = point->bench,
							    .arm = point->arm,
							    .outer = outer,
							    .inner = inner };
			*at = c.n;
		}
		if (curve_add(a, &c.v[*at - 1], point) < 0)
			return -ENOMEM;
	}
	for (i = 0; i < c.n; i++)
		if (sort_curve(a, &c.v[i]) < 0)
			return -ENOMEM;
	*ret_curves = c;
	return 0;
}
