// SPDX-License-Identifier: MIT
/*
 * The points of a comparison: a table for each benchmark and metric. Of many only the telling ones
 * are shown and the rest is counted. Rows of a profile (one a symbol) are sorted by absolute
 * difference. Leaves out what stands in a row: compare_table.c.
 */
#include "report/compare_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/call_table.h"
#include "report/render.h"

enum { POINTS_MAX = 40 /* shown unless all are asked for */ };

/* Which points to show first; what is equivalent tells least. */
static int interest(const struct compared *c)
{
	switch (c->outcome) {
	case OUTCOME_WORSE:
	case OUTCOME_BETTER:
		return 3;
	case OUTCOME_DIFFERENCE:
		return c->percent == 0 ? 0 : 2;
	case OUTCOME_INCONCLUSIVE:
		return 1;
	case OUTCOME_MISSING: /* points around knees differ from run to run */
	case OUTCOME_EQUIVALENT:
		break;
	}
	return 0;
}

/* What only one side has differs by all of it. */
static double difference_of(const struct compared *c)
{
	double d = fabs((isnan(c->b) ? 0 : c->b) - (isnan(c->a) ? 0 : c->a));
	return isnan(d) ? 0 : d;
}

/* Symbols have different sizes: there the absolute difference tells, elsewhere the relative one. */
static double weight(const struct compared *c)
{
	double d = compared_is_of_profile(c) ? difference_of(c) : fabs(c->percent);
	return isnan(d) ? 0 : d;
}

/* Pointers of one array: their order is that of the comparison. */
static int by_interest(const void *x, const void *y)
{
	const struct compared *a = *(const struct compared *const *)x;
	const struct compared *b = *(const struct compared *const *)y;
	if (interest(a) != interest(b))
		return interest(b) - interest(a);
	if (weight(a) != weight(b))
		return weight(a) < weight(b) ? 1 : -1;
	return a < b ? -1 : a > b;
}

static int by_place(const void *x, const void *y)
{
	const struct compared *a = *(const struct compared *const *)x;
	const struct compared *b = *(const struct compared *const *)y;
	return a < b ? -1 : a > b;
}

static bool is_total(const struct compared *c)
{
	return strcmp(attrs_text(&c->where, "symbol", ""), "total") == 0;
}

/* The sum of all stands below its parts. */
static int by_difference(const void *x, const void *y)
{
	const struct compared *a = *(const struct compared *const *)x;
	const struct compared *b = *(const struct compared *const *)y;
	if (is_total(a) != is_total(b))
		return is_total(a) ? 1 : -1;
	if (difference_of(a) != difference_of(b))
		return difference_of(a) < difference_of(b) ? 1 : -1;
	return by_place(x, y);
}

static bool is_same_group(const struct compared *a, const struct compared *b)
{
	const char *x = a->bench ? a->bench : "", *y = b->bench ? b->bench : "";
	return strcmp(x, y) == 0 && strcmp(a->id, b->id) == 0;
}

static int render_group(const struct compare_writer *w, const struct compared **v, size_t n)
{
	struct str title = { 0 };
	struct compare_shape s = compare_shape_of(v, n);
	str_addf(&title, "%s%s%s", v[0]->bench ? v[0]->bench : "", v[0]->bench ? ": " : "",
		 v[0]->id);
	if (v[0]->unit && !strstr(v[0]->id, v[0]->unit))
		str_addf(&title, " (%s)", v[0]->unit);
	if (s.is_profile) {
		str_add(&title, ", by absolute difference");
		qsort(v, n, sizeof(*v), by_difference);
	}
	if (!s.has_verdict && s.has_interval)
		str_add(&title, "; intervals of the counting alone, no verdict");
	else if (!s.has_verdict)
		str_addf(&title, "; %sthe difference alone", s.is_single ? "single values: " : "");
	const char *clean = render_clean(w->arena, str_text(&title), w->o->utf8, 200);
	bool failed = title.failed || !clean;
	str_done(&title);
	if (failed)
		return -ENOMEM;
	str_add(w->out, "\n");
	render_wrap(w->out, clean, 0, 2, RENDER_WIDTH);
	return compare_rows_render(w, v, n);
}

/* "312 more points: 300 equivalent, 12 inconclusive, none differs by more than 1.3 %: --all" */
static void rest_render(const struct compare_writer *w, const struct compared *const *v, size_t n)
{
	struct outcome_counts counts = { { 0 } };
	struct str text = { 0 };
	char digits[UNITS_TEXT_BYTES];
	double largest = 0;
	const char *sep = ": ";
	for (size_t i = 0; i < n; i++) {
		counts.n[v[i]->outcome]++;
		largest = fmax(largest, isnan(v[i]->percent) ? 0 : fabs(v[i]->percent));
	}
	str_addf(&text, "%zu more point%s", n, n == 1 ? "" : "s");
	for (size_t i = 0; i < OUTCOMES; i++) {
		const char *look = outcome_look((enum outcome)i);
		if (!counts.n[i])
			continue;
		/* within a sentence the mark says nothing */
		str_addf(&text, "%s%zu %s", sep, counts.n[i], look[1] == ' ' ? look + 2 : look);
		sep = ", ";
	}
	if (isfinite(largest))
		str_addf(&text, "; the largest difference of these is %s %%",
			 format_digits(digits, largest, 2));
	str_add(&text, ". All of them: --all");
	str_add(w->out, "\n");
	render_wrap(w->out, str_text(&text), 0, 0, RENDER_WIDTH);
	w->out->failed = w->out->failed || text.failed;
	str_done(&text);
}

/* Settings as people order them: numbers ascending, words by the alphabet, else the
 * order of the comparison, which is that of measuring and shuffled.
 */
static int compare_where(const struct compared *a, const struct compared *b)
{
	for (size_t i = 0; i < a->where.n && i < b->where.n; i++) {
		const struct attr *x = &a->where.v[i], *y = &b->where.v[i];
		if (x->kind != y->kind || strcmp(x->name, y->name) != 0)
			break;
		if (x->kind == ATTR_INT && x->integer != y->integer)
			return x->integer < y->integer ? -1 : 1;
		int words = x->kind == ATTR_TEXT ? strcmp(x->text, y->text) : 0;
		if (words)
			return words;
	}
	return a < b ? -1 : a > b;
}

/* Points that a table holds together: the comparison has all metrics of a setting in a row. */
struct grouped {
	const struct compared *c;
	size_t group; /* numbered by first appearance */
};

static int by_group(const void *x, const void *y)
{
	const struct grouped *a = x, *b = y;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return compare_where(a->c, b->c);
}

/* Sorts @v, which is in order of place, by groups. */
static int group_points(struct arena *arena, const struct compared **v, size_t n)
{
	struct grouped *g = arena_alloc(arena, (n + 1) * sizeof(*g));
	const struct compared **first = arena_alloc(arena, (n + 1) * sizeof(*first));
	size_t n_groups = 0;
	if (!g || !first)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;
		while (k < n_groups && !is_same_group(first[k], v[i]))
			k++;
		if (k == n_groups)
			first[n_groups++] = v[i];
		g[i] = (struct grouped){ v[i], k };
	}
	if (n)
		qsort(g, n, sizeof(*g), by_group);
	for (size_t i = 0; i < n; i++)
		v[i] = g[i].c;
	return 0;
}

/* The points to show, grouped: *ret_n of *ret_all, the rest behind. */
static const struct compared **choose_points(const struct compare_writer *w, size_t *ret_n,
					     size_t *ret_all)
{
	size_t n = w->c->n_points;
	const struct compared **v = arena_alloc(w->arena, (n + 1) * sizeof(*v));
	if (!v)
		return NULL;
	n = 0;
	/* calls stand in tables of their own */
	for (size_t i = 0; i < w->c->n_points; i++)
		if (!call_table_is_call(w->c->points[i].bench) || w->o->all)
			v[n++] = &w->c->points[i];
	*ret_all = n;
	if (!w->o->all && n > POINTS_MAX) {
		qsort(v, n, sizeof(*v), by_interest);
		n = POINTS_MAX;
		qsort(v, n, sizeof(*v), by_place);
	}
	*ret_n = n;
	return group_points(w->arena, v, n) < 0 ? NULL : v;
}

int compare_points_render(const struct compare_writer *w)
{
	const struct comparison *c = w->c;
	size_t n = 0, all = c->n_points;
	const struct compared **v = choose_points(w, &n, &all);
	if (!v)
		return -ENOMEM;
	if (!all && c->n_points)
		return 0;
	str_add(w->out, "\n");
	render_paint(w->out, w->o, PAINT_BOLD, "Points");
	if (n < all)
		str_addf(w->out, ", the %zu that tell most", n);
	str_add(w->out, "\n");
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && is_same_group(v[i], v[end]); end++)
			;
		int ret = render_group(w, v + i, end - i);
		if (ret < 0)
			return ret;
	}
	if (!n)
		str_add(w->out, "  none\n");
	if (n < all)
		rest_render(w, v + n, all - n);
	return 0;
}
