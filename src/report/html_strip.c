// SPDX-License-Identifier: MIT
/*
 * Settings without a curve, one a row: the value, its interval, and a strip with every invocation
 * as a dot, the interval as a bar and the median as a line, all on one scale. Drawn here, so that
 * it needs no script. And the bars of a kernel profile.
 */
#include "report/html_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/render.h"

enum { STRIP_WIDTH = 200, STRIP_HEIGHT = 18, LOG_FROM = 20, PROFILE_ROWS = 40 };

struct scale {
	double low, high;
	bool is_log;
};

static double place(const struct scale *s, double v)
{
	double low = s->is_log ? log(s->low) : s->low, high = s->is_log ? log(s->high) : s->high;
	double x = s->is_log ? log(v) : v;
	return high > low ? 6 + (STRIP_WIDTH - 12) * (x - low) / (high - low) : STRIP_WIDTH / 2.0;
}

static void widen(struct scale *s, double v)
{
	if (isnan(v))
		return;
	s->low = fmin(s->low, v);
	s->high = fmax(s->high, v);
}

static struct scale scale_of(const struct page *pg, const struct page_chart *ch,
			     const struct metric *m)
{
	struct scale s = { INFINITY, -INFINITY, false };
	for (size_t i = 0; i < ch->n; i++) {
		const struct curve_points *c = ch->curves[i].c;
		const struct run *r = pg->in->runs[ch->curves[i].run].rep->run;
		for (size_t k = 0; k < c->n; k++) {
			struct estimate e;
			estimate_point(r, c->points[k], m->name, &e);
			widen(&s, e.value);
			widen(&s, e.low);
			widen(&s, e.high);
			for (size_t j = 0; j < c->points[k]->n_measures; j++)
				widen(&s, page_measure_value(r, c->points[k], j, m->name));
		}
	}
	s.is_log = s.low > 0 && s.high / s.low >= LOG_FROM;
	return s;
}

/* Coordinates with a tenth of a pixel, independent of the locale. */
static void coordinate(struct str *out, const char *name, double v)
{
	long tenths = lround(v * 10);
	str_addf(out, " %s=\"%ld.%ld\"", name, tenths / 10, labs(tenths % 10));
}

static void strip(struct page *pg, const struct run *r, const struct point *p, const char *metric,
		  const struct estimate *e, const struct scale *s)
{
	str_addf(pg->out,
		 "<td><svg class=\"strip\" width=\"%d\" height=\"%d\" aria-hidden=\"true\">",
		 STRIP_WIDTH, STRIP_HEIGHT);
	if (!isnan(e->low) && !isnan(e->high)) {
		double from = place(s, e->low), to = place(s, e->high);
		str_add(pg->out, "<rect class=\"band\" y=\"4\" height=\"10\"");
		coordinate(pg->out, "x", from);
		coordinate(pg->out, "width", fmax(to - from, 1));
		str_add(pg->out, "/>");
	}
	for (size_t k = 0; k < p->n_measures; k++) {
		double v = page_measure_value(r, p, k, metric);
		if (isnan(v))
			continue;
		str_add(pg->out, "<circle class=\"dot\" cy=\"9\" r=\"2.5\"");
		coordinate(pg->out, "cx", place(s, v));
		str_add(pg->out, "/>");
	}
	str_add(pg->out, "<rect class=\"median\" y=\"2\" width=\"2\" height=\"14\"");
	coordinate(pg->out, "x", place(s, e->value) - 1);
	str_add(pg->out, "/></svg></td>");
}

static void strip_row(struct page *pg, const struct page_chart *ch, const struct page_curve *pc,
		      const struct point *p, const struct metric *m, const struct scale *s)
{
	const struct run *r = pg->in->runs[pc->run].rep->run;
	struct estimate e;
	struct str x = { 0 };
	estimate_point(r, p, m->name, &e);
	str_add(pg->out, "<tr><th scope=\"row\">");
	html_foreign(pg->out, pc->label);
	page_inner_words(&x, ch, p);
	if (x.len) {
		str_add(pg->out, " ");
		html_foreign(pg->out, ch->inner);
		str_add(pg->out, "=");
		html_foreign(pg->out, str_text(&x));
	}
	pg->out->failed = pg->out->failed || x.failed;
	str_done(&x);
	str_add(pg->out, "</th>");
	if (isnan(e.value)) {
		str_add(pg->out, "<td colspan=\"4\" class=\"why\">");
		html_foreign(pg->out, e.reason ? e.reason : "no reason recorded");
		str_add(pg->out, "</td></tr>\n");
		return;
	}
	html_number_cell(pg->out, e.value, m->unit, 3);
	html_interval_cell(pg->out, e.low, e.high, e.value, m->unit);
	str_addf(pg->out, "<td class=\"num\">%zu</td>", e.n_invocations);
	strip(pg, r, p, m->name, &e, s);
	str_add(pg->out, "</tr>\n");
}

static int strip_table(struct page *pg, const struct page_chart *ch, const struct metric *m)
{
	struct scale s = scale_of(pg, ch, m);
	if (m->form == FORM_TABLE || s.low > s.high)
		return 0;
	bool headline = m == ch->schema->metrics;
	str_addf(pg->out, "<details%s><summary>", headline ? " open" : "");
	html_foreign(pg->out, m->name);
	if (m->summary) {
		str_add(pg->out, ": ");
		html_foreign(pg->out, m->summary);
	}
	str_addf(pg->out,
		 "</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		 "aria-label=\"table\"><table class=\"strips\"><thead><tr>"
		 "<th scope=\"col\">setting</th>"
		 "<th scope=\"col\">median</th><th scope=\"col\">95 %%</th><th scope=\"col\">n</th>"
		 "<th scope=\"col\">invocations%s</th></tr></thead><tbody>\n",
		 s.is_log ? " (log scale)" : "");
	for (size_t i = 0; i < ch->n; i++)
		for (size_t k = 0; k < ch->curves[i].c->n; k++)
			strip_row(pg, ch, &ch->curves[i], ch->curves[i].c->points[k], m, &s);
	str_add(pg->out, "</tbody></table></div></details>\n");
	return pg->out->failed ? -ENOMEM : 0;
}

int html_strips(struct page *pg, const struct page_chart *ch)
{
	int ret = 0;
	str_add(pg->out, "<div class=\"twins\">\n");
	for (const struct metric *m = ch->schema->metrics; ret == 0 && m->name; m++)
		ret = strip_table(pg, ch, m);
	str_add(pg->out, "</div>\n");
	return ret;
}

/* --- profiles --- */

struct bar {
	const char *key;
	double value;
};

static int by_key(const void *a, const void *b)
{
	const struct bar *x = a, *y = b;
	return strcmp(x->key, y->key);
}

static int by_value(const void *a, const void *b)
{
	const struct bar *x = a, *y = b;
	return x->value > y->value ? -1 : x->value < y->value ? 1 : by_key(a, b);
}

static bool is_attribute(const char *column)
{
	return strcmp(column, "address") == 0 || strcmp(column, "load") == 0;
}

/* What is counted: the first column that is no attribute of the symbol. */
static size_t counted_column(const struct series *s)
{
	size_t i = 0;
	while (i < s->n_columns && is_attribute(s->columns[i]))
		i++;
	return i;
}

/* Rows of all measures that count, equal symbols added up, the largest first. */
static int bars_make(struct page *pg, const struct point *p, const char *metric, struct bar **ret,
		     size_t *ret_n, double *ret_total, const char **ret_column)
{
	size_t cap = 0, n = 0, kept = 0;
	struct bar *v = NULL;
	*ret_total = 0;
	for (size_t k = 0; k < p->n_measures; k++) {
		const struct series *s = measure_series(p->measures[k], metric);
		if (p->measures[k]->verdict != VERDICT_OK || !s || s->form != FORM_TABLE)
			continue;
		size_t column = counted_column(s);
		for (size_t i = 0; column < s->n_columns && i < s->n; i++) {
			double value = s->cells[i * s->n_columns + column];
			*ret_column = s->columns[column];
			if (strcmp(s->keys[i], "total") == 0 || isnan(value))
				continue;
			if (arena_grow(pg->arena, &v, n, &cap, sizeof(*v)) < 0)
				return -ENOMEM;
			v[n++] = (struct bar){ s->keys[i], value };
			*ret_total += value;
		}
	}
	if (n)
		qsort(v, n, sizeof(*v), by_key);
	for (size_t i = 0; i < n; i++) {
		if (kept && strcmp(v[kept - 1].key, v[i].key) == 0)
			v[kept - 1].value += v[i].value;
		else
			v[kept++] = v[i];
	}
	if (kept)
		qsort(v, kept, sizeof(*v), by_value);
	*ret = v;
	*ret_n = kept;
	return 0;
}

static void bar_row(struct page *pg, const struct bar *b, double most, double total)
{
	str_add(pg->out, "<tr><th scope=\"row\">");
	html_foreign(pg->out, b->key);
	str_add(pg->out, "</th>");
	if (b->value == rint(b->value) && fabs(b->value) < 1e15)
		str_addf(pg->out, "<td class=num>%.0f", b->value);
	else
		html_number_cell(pg->out, b->value, NULL, 4);
	html_number_cell(pg->out, total > 0 ? 100 * b->value / total : NAN, NULL, 3);
	str_addf(pg->out,
		 "<td><svg class=\"bar\" width=\"%d\" height=\"%d\" aria-hidden=\"true\">"
		 "<rect y=\"3\" height=\"12\"",
		 STRIP_WIDTH, STRIP_HEIGHT);
	coordinate(pg->out, "width", most > 0 ? fmax(0, STRIP_WIDTH * b->value / most) : 0);
	str_add(pg->out, "/></svg></td></tr>\n");
}

static int bars_table(struct page *pg, const struct page_curve *pc, const struct point *p,
		      const struct metric *m)
{
	struct bar *v;
	size_t n;
	double total;
	const char *column = "samples";
	if (bars_make(pg, p, m->name, &v, &n, &total, &column) < 0)
		return -ENOMEM;
	if (!n)
		return 0;
	str_add(pg->out, "<details open><summary>");
	html_foreign(pg->out, pc->label);
	str_add(pg->out, ": ");
	html_foreign(pg->out, m->name);
	str_add(pg->out, "</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" "
			 "aria-label=\"table\"><table><thead><tr><th scope=\"col\">symbol</th>"
			 "<th scope=\"col\">");
	html_foreign(pg->out, column);
	str_add(pg->out, "</th><th scope=\"col\">% of rows</th><th></th></tr></thead><tbody>\n");
	for (size_t i = 0; i < n && i < PROFILE_ROWS; i++)
		bar_row(pg, &v[i], v[0].value, total);
	str_add(pg->out, "</tbody></table></div>");
	if (n > PROFILE_ROWS)
		str_addf(pg->out, "<p>%zu more rows: pagetoll show</p>", n - PROFILE_ROWS);
	str_add(pg->out, "</details>\n");
	return pg->out->failed ? -ENOMEM : 0;
}

int html_profile(struct page *pg, const struct page_chart *ch)
{
	int ret = 0;
	for (size_t i = 0; i < ch->n; i++)
		for (size_t k = 0; k < ch->curves[i].c->n; k++)
			for (const struct metric *m = ch->schema->metrics; ret == 0 && m->name; m++)
				if (m->form == FORM_TABLE)
					ret = bars_table(pg, &ch->curves[i],
							 ch->curves[i].c->points[k], m);
	return ret < 0 ? ret : html_strips(pg, ch);
}
