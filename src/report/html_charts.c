// SPDX-License-Identifier: MIT
/*
 * Which curves stand in one chart of the page: the groups of the text report; a group of a further
 * run joins the chart that has a curve of the same setting. Labels tell curves apart by the
 * parameters in which they differ, and by run where there are several.
 */
#include "report/html_parts.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "report/profile_table.h"
#include "report/render.h"
#include "stats/stats.h"

enum { ARMS_MAX = 16 }; /* curves of them on one chart */

double page_inner(const struct page_chart *ch, const struct point *p)
{
	const struct attr *a = ch->inner ? attrs_find(p->setting, ch->inner) : NULL;
	return !a || (a->kind != ATTR_INT && a->kind != ATTR_REAL) ? NAN
	       : a->kind == ATTR_INT                               ? (double)a->integer
								   : a->real;
}

void page_inner_words(struct str *out, const struct page_chart *ch, const struct point *p)
{
	const struct attr *a = ch->inner ? attrs_find(p->setting, ch->inner) : NULL;
	if (a)
		render_param(out, ch->schema, a);
}

double page_measure_value(const struct run *r, const struct point *p, size_t k, const char *metric)
{
	struct point one = *p;
	struct estimate e;
	one.measures = &p->measures[k];
	one.n_measures = one.cap = 1;
	estimate_point(r, &one, metric, &e);
	return e.value;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_setting(const struct curve_points *a, const struct curve_points *b)
{
	return same_text(a->arm, b->arm) && attrs_equal(&a->outer, &b->outer);
}

/* Arms of one experiment belong on one chart, whatever they differ in. */
static bool are_arms(const struct page_chart *ch, size_t run, const struct curve_group *g)
{
	return ch->n + g->n <= ARMS_MAX && ch->curves[0].run == run && ch->curves[0].c->arm &&
	       g->curves[0]->arm && strcmp(ch->curves[0].c->arm, g->curves[0]->arm) != 0;
}

static struct page_chart *chart_for(struct page *pg, size_t run, const struct curve_group *g,
				    bool overlay)
{
	for (size_t i = 0; i < pg->charts.n; i++) {
		struct page_chart *ch = &pg->charts.v[i];
		if (strcmp(ch->bench, g->bench) != 0 || !same_text(ch->inner, g->inner))
			continue;
		if (!overlay && are_arms(ch, run, g))
			return ch;
		for (size_t k = 0; k < ch->n && overlay; k++)
			if (ch->curves[k].c->n > 2)
				return ch;
		for (size_t k = 0; k < ch->n && !overlay; k++)
			for (size_t m = 0; m < g->n; m++)
				if (same_setting(ch->curves[k].c, g->curves[m]))
					return ch;
	}
	return NULL;
}

static int add_group(struct page *pg, size_t run, const struct curve_group *g)
{
	bool overlay = pg->in->runs[run].is_overlay;
	struct page_chart *ch = chart_for(pg, run, g, overlay);
	struct page_charts *all = &pg->charts;
	if (!ch && overlay)
		return 0;
	if (!ch) {
		if (arena_grow(pg->arena, &all->v, all->n, &all->cap, sizeof(*all->v)) < 0)
			return -ENOMEM;
		ch = &all->v[all->n++];
		*ch = (struct page_chart){ .bench = g->bench,
					   .schema = g->schema,
					   .inner = g->inner,
					   .is_table = profile_table_is(g) };
	}
	if (!ch->schema)
		ch->schema = g->schema;
	for (size_t i = 0; i < g->n; i++) {
		if (arena_grow(pg->arena, &ch->curves, ch->n, &ch->cap, sizeof(*ch->curves)) < 0)
			return -ENOMEM;
		ch->curves[ch->n++] = (struct page_curve){ .run = run, .c = g->curves[i] };
	}
	return 0;
}

static bool same_value(const struct attr *a, const struct attr *b)
{
	if (!a || !b)
		return a == b;
	struct attrs x = { .v = (struct attr[]){ *a }, .n = 1 };
	struct attrs y = { .v = (struct attr[]){ *b }, .n = 1 };
	return attrs_equal(&x, &y);
}

/* Overlays know fewer parameters: their absence makes no difference. */
static bool differs(const struct page *pg, const struct page_chart *ch, const char *name)
{
	const struct attr *first = NULL;
	bool any = false;
	for (size_t i = 0; i < ch->n; i++) {
		const struct attr *a = attrs_find(&ch->curves[i].c->outer, name);
		if (pg->in->runs[ch->curves[i].run].is_overlay)
			continue;
		if (any && !same_value(first, a))
			return true;
		first = a;
		any = true;
	}
	return false;
}

static int label_curve(struct page *pg, struct page_chart *ch, struct page_curve *pc, bool by_run)
{
	const struct page_run *run = &pg->in->runs[pc->run];
	struct str text = { 0 };
	for (size_t i = 0; i < pc->c->outer.n; i++) {
		const struct attr *a = &pc->c->outer.v[i];
		if ((!run->is_overlay && !differs(pg, ch, a->name)) || strcmp(a->name, "arm") == 0)
			continue;
		str_addf(&text, "%s%s=", text.len ? " " : "", a->name);
		render_param(&text, ch->schema, a);
	}
	if (pc->c->arm)
		str_addf(&text, "%sarm %s", text.len ? " " : "", pc->c->arm);
	if (by_run || run->is_overlay)
		str_addf(&text, "%s%s", text.len ? ", " : "", run->name);
	if (!text.len)
		str_add(&text, "measured");
	pc->label = text.failed ? NULL : arena_strdup(pg->arena, str_text(&text));
	str_done(&text);
	return pc->label ? 0 : -ENOMEM;
}

static int label_common(struct page *pg, struct page_chart *ch)
{
	struct attrs common = { 0 };
	struct str text = { 0 };
	const struct attrs *outer = &ch->curves[0].c->outer;
	for (size_t i = 0; i < outer->n; i++) {
		struct attrs one = { .v = &outer->v[i], .n = 1 };
		if (!differs(pg, ch, outer->v[i].name) && attrs_copy(pg->arena, &common, &one) < 0)
			return -ENOMEM;
	}
	render_where(&text, pg->in->runs[ch->curves[0].run].rep->run, &common);
	ch->common = text.failed ? NULL : arena_strdup(pg->arena, str_text(&text));
	str_done(&text);
	return ch->common ? 0 : -ENOMEM;
}

/* Whether all curves of @ch have the same value of @name, and which. */
static bool shares(const struct page *pg, const struct page_chart *ch, const char *name,
		   const struct attr **ret)
{
	*ret = attrs_find(&ch->curves[0].c->outer, name);
	return !differs(pg, ch, name);
}

/* Whether another chart of the benchmark has another value of @a. */
static bool tells_apart(const struct page *pg, const struct page_chart *ch, const struct attr *a)
{
	for (size_t i = 0; i < pg->charts.n; i++) {
		const struct page_chart *other = &pg->charts.v[i];
		const struct attr *b;
		if (other != ch && strcmp(other->bench, ch->bench) == 0 &&
		    (!shares(pg, other, a->name, &b) || !same_value(a, b)))
			return true;
	}
	return false;
}

static int label_own(struct page *pg, struct page_chart *ch)
{
	const struct attrs *outer = &ch->curves[0].c->outer;
	struct attrs own = { 0 };
	struct str text = { 0 };
	for (size_t i = 0; i < outer->n; i++) {
		const struct attr *a;
		struct attrs one = { .v = &outer->v[i], .n = 1 };
		if (shares(pg, ch, outer->v[i].name, &a) && tells_apart(pg, ch, &outer->v[i]) &&
		    attrs_copy(pg->arena, &own, &one) < 0)
			return -ENOMEM;
	}
	render_where(&text, pg->in->runs[ch->curves[0].run].rep->run, &own);
	ch->own = text.failed ? NULL : arena_strdup(pg->arena, str_text(&text));
	str_done(&text);
	return ch->own ? 0 : -ENOMEM;
}

/* Whether there are three numbers on the horizontal axis. */
static bool is_curve(const struct page *pg, const struct page_chart *ch)
{
	double seen[2] = { NAN, NAN };
	for (size_t i = 0; ch->inner && i < ch->n; i++) {
		if (pg->in->runs[ch->curves[i].run].is_overlay)
			continue;
		for (size_t k = 0; k < ch->curves[i].c->n; k++) {
			double x = page_inner(ch, ch->curves[i].c->points[k]);
			if (isnan(x))
				return false;
			if (isnan(seen[0]) || x == seen[0])
				seen[0] = x;
			else if (isnan(seen[1]) || x == seen[1])
				seen[1] = x;
			else
				return true;
		}
	}
	return false;
}

static int finish_chart(struct page *pg, struct page_chart *ch)
{
	for (size_t i = 0; i < ch->n; i++) {
		size_t k = 0;
		while (k < i && ch->curves[k].run != ch->curves[i].run)
			k++;
		ch->n_runs += k == i && !pg->in->runs[ch->curves[i].run].is_overlay;
	}
	ch->is_curve = !ch->is_table && is_curve(pg, ch);
	for (size_t i = 0; i < ch->n; i++)
		if (label_curve(pg, ch, &ch->curves[i], ch->n_runs > 1) < 0)
			return -ENOMEM;
	return label_common(pg, ch);
}

/* Charts of a benchmark stand together, in the order in which benchmarks came. */
static int gather(struct page *pg)
{
	struct page_charts *all = &pg->charts;
	struct page_chart *v = arena_alloc(pg->arena, (all->n + 1) * sizeof(*v));
	size_t n = 0;
	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < all->n; i++) {
		size_t k = 0;
		while (strcmp(all->v[k].bench, all->v[i].bench) != 0)
			k++;
		for (k = k == i ? i : all->n; k < all->n; k++)
			if (strcmp(all->v[k].bench, all->v[i].bench) == 0)
				v[n++] = all->v[k];
	}
	if (n)
		memcpy(all->v, v, n * sizeof(*v));
	return 0;
}

int page_charts_make(struct page *pg)
{
	for (size_t run = 0; run < pg->in->n_runs; run++) {
		struct curve_groups groups;
		if (curve_groups_make(pg->arena, pg->in->runs[run].rep, &groups) < 0)
			return -ENOMEM;
		for (size_t i = 0; i < groups.n; i++)
			if (add_group(pg, run, &groups.v[i]) < 0)
				return -ENOMEM;
	}
	if (gather(pg) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < pg->charts.n; i++)
		if (finish_chart(pg, &pg->charts.v[i]) < 0 || label_own(pg, &pg->charts.v[i]) < 0)
			return -ENOMEM;
	return 0;
}
