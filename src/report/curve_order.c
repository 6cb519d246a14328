// SPDX-License-Identifier: MIT
/* The order of curves in every report. */
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/render.h"

struct key {
	const struct run *run;
	struct curve_points curve;
	size_t bench; /* index of its schema */
	size_t index; /* order of appearance */
};

static size_t bench_index(const struct run *r, const char *bench)
{
	size_t i = 0;
	while (i < r->n_schemas && strcmp(r->schemas[i].name, bench) != 0)
		i++;
	return i;
}

/* Numbers before sizes in words before other words. */
static int rank_of(const struct attr *a, uint64_t *ret_number)
{
	if (!a)
		return 3;
	*ret_number = 0;
	if (a->kind == ATTR_INT && a->integer >= 0) {
		*ret_number = (uint64_t)a->integer;
		return 0;
	}
	if (a->kind == ATTR_TEXT && parse_size(a->text, ret_number, NULL) == 0)
		return 1;
	return 2;
}

static int compare_values(const struct attr *a, const struct attr *b)
{
	uint64_t x = 0, y = 0;
	int rank_a = rank_of(a, &x), rank_b = rank_of(b, &y);
	if (rank_a != rank_b)
		return rank_a < rank_b ? -1 : 1;
	if (rank_a < 2)
		return x < y ? -1 : x > y;
	if (rank_a == 2 && a->kind == ATTR_TEXT && b->kind == ATTR_TEXT)
		return strcmp(a->text, b->text);
	return 0;
}

static int compare_keys(const void *va, const void *vb)
{
	const struct key *a = va, *b = vb;
	if (a->bench != b->bench)
		return a->bench < b->bench ? -1 : 1;
	const struct param *p =
		a->bench < a->run->n_schemas ? a->run->schemas[a->bench].params : NULL;
	for (; p && p->name; p++) {
		int order = compare_values(attrs_find(&a->curve.outer, p->name),
					   attrs_find(&b->curve.outer, p->name));
		if (order)
			return order;
	}
	return a->index < b->index ? -1 : a->index > b->index;
}

void report_sort_curves(const struct run *r, struct curves *c)
{
	struct key *keys = c->n > 1 ? calloc(c->n, sizeof(*keys)) : NULL;
	if (!keys)
		return; /* the order of measuring is a fair one too */
	for (size_t i = 0; i < c->n; i++)
		keys[i] = (struct key){ .run = r,
					.curve = c->v[i],
					.bench = bench_index(r, c->v[i].bench),
					.index = i };
	qsort(keys, c->n, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < c->n; i++)
		c->v[i] = keys[i].curve;
	free(keys);
}
