// SPDX-License-Identifier: MIT
/*
 * The matrix of a group of curves that differ in two memory nodes. Leaves out intervals, which the
 * table above it has, and pairs of CPUs, whose matrices are migration_matrix.c's.
 */
#include "report/curve_matrix.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/infer.h"
#include "report/render.h"
#include "report/table.h"

enum { SIDE_MAX = 64, NODE_COLUMNS = 24 };

struct ends {
	const char *name[2]; /* of the parameters: rows, columns */
	const char *v[2][SIDE_MAX];
	size_t n[2];
};

static int64_t inner_of(const struct curve_group *g, const struct point *p)
{
	return g->inner ? attrs_int(p->setting, g->inner, 0) : 0;
}

static int by_words(const void *a, const void *b)
{
	return render_compare_words(*(const char *const *)a, *(const char *const *)b);
}

/* A node as it is shown; the same text for the same node. NULL: no memory. */
static const char *node_of(struct arena *a, const struct curve_points *c, const char *name)
{
	const struct attr *at = attrs_find(&c->outer, name);
	struct str text = { 0 };
	if (at)
		attr_format(&text, at);
	const char *clean =
		text.failed ? NULL : render_clean(a, str_text(&text), false, NODE_COLUMNS);
	str_done(&text);
	return clean;
}

/* The values of one end. False: there are too many, or memory ran out. */
static bool collect(struct arena *a, const struct curve_group *g, struct ends *e, size_t end)
{
	for (size_t i = 0; i < g->n; i++) {
		const char *node = node_of(a, g->curves[i], e->name[end]);
		size_t k = 0;
		while (node && k < e->n[end] && strcmp(e->v[end][k], node) != 0)
			k++;
		if (!node || k == SIDE_MAX)
			return false;
		if (k == e->n[end])
			e->v[end][e->n[end]++] = node;
	}
	qsort(e->v[end], e->n[end], sizeof(*e->v[end]), by_words);
	return true;
}

static bool find_ends(struct arena *a, const struct curve_group *g, struct ends *e)
{
	if (!g->schema || g->n_differing != 2 || g->n < 4)
		return false;
	for (size_t i = 0; i < 2; i++) {
		const struct param *p = schema_param(g->schema, g->differing[i]);
		if (!p || p->type != PARAM_NODE)
			return false;
		e->name[i] = g->differing[i];
	}
	return collect(a, g, e, 0) && collect(a, g, e, 1) && e->n[0] > 1 && e->n[1] > 1;
}

/* The largest inner value that any curve has. */
static const struct point *largest(const struct curve_group *g)
{
	const struct point *most = NULL;
	for (size_t i = 0; i < g->n; i++)
		for (size_t k = 0; k < g->curves[i]->n; k++)
			if (!most || inner_of(g, g->curves[i]->points[k]) > inner_of(g, most))
				most = g->curves[i]->points[k];
	return most;
}

static void set_cell(struct table *t, size_t row, size_t column, const struct report *rep,
		     const struct point *p, const struct metric *m)
{
	struct estimate e;
	struct str text = { 0 };
	estimate_point(rep->run, p, m->name, &e);
	if (isnan(e.value))
		str_add(&text, "-");
	else
		render_value(&text, e.value, m->unit, 3, false);
	table_set(t, row, column, str_text(&text));
	if (isnan(e.value))
		table_mark(t, row, column, NOTE_REASON, e.reason ? e.reason : "no reason recorded");
	t->failed = t->failed || text.failed;
	str_done(&text);
}

static void fill(struct table *t, struct arena *a, const struct report *rep,
		 const struct curve_group *g, const struct ends *e, int64_t at)
{
	for (size_t i = 0; i < g->n; i++) {
		const struct curve_points *c = g->curves[i];
		size_t row = 0, column = 0;
		const char *from = node_of(a, c, e->name[0]), *to = node_of(a, c, e->name[1]);
		if (!from || !to) {
			t->failed = true;
			return;
		}
		while (strcmp(e->v[0][row], from) != 0)
			row++;
		while (strcmp(e->v[1][column], to) != 0)
			column++;
		for (size_t k = 0; k < c->n; k++)
			if (inner_of(g, c->points[k]) == at)
				set_cell(t, row, 1 + column, rep, c->points[k], g->schema->metrics);
	}
}

static void caption(struct str *out, struct arena *a, const struct curve_group *g,
		    const struct ends *e, const struct point *at, const struct report_options *o)
{
	const struct metric *m = g->schema->metrics;
	struct str text = { 0 };
	str_addf(&text, "%s%s%s by %s (rows) and %s (columns)", m->name,
		 m->unit && *m->unit ? ", " : "", m->unit ? m->unit : "", e->name[0], e->name[1]);
	if (g->inner) {
		str_addf(&text, ", %s=", g->inner);
		const struct attr *inner = attrs_find(at->setting, g->inner);
		if (inner)
			render_param(&text, g->schema, inner);
	}
	const char *clean = render_clean(a, str_text(&text), o->utf8, 4 * RENDER_WIDTH);
	str_add(out, "\n");
	render_wrap(out, clean ? clean : "", 0, 2, RENDER_WIDTH);
	out->failed = out->failed || !clean || text.failed;
	str_done(&text);
}

int curve_matrix_render(struct str *out, struct arena *a, const struct report *rep,
			const struct curve_group *g, const struct report_options *o)
{
	struct ends e = { 0 };
	struct table t;
	if (!find_ends(a, g, &e))
		return 0;
	const struct point *at = largest(g);
	if (!at)
		return 0;
	const char *head = render_clean(a, e.name[0], o->utf8, NODE_COLUMNS);
	if (!head)
		return -ENOMEM;
	table_init(&t, a, o);
	t.indent = 2;
	t.n_keys = 1;
	t.rule = true;
	table_add_column(&t, head, TABLE_RIGHT, 0);
	for (size_t i = 0; i < e.n[1]; i++)
		table_add_column(&t, e.v[1][i], TABLE_RIGHT, 0);
	for (size_t i = 0; i < e.n[0]; i++)
		table_set(&t, table_add_row(&t), 0, e.v[0][i]);
	fill(&t, a, rep, g, &e, inner_of(g, at));
	caption(out, a, g, &e, at, o);
	int ret = table_render(out, &t, o);
	return ret < 0 ? ret : out->failed || t.failed ? -ENOMEM : 0;
}
