// SPDX-License-Identifier: MIT
/*
 * One benchmark's section: the place of the chart, the same data as tables, what was not measured.
 * The script draws into the place; without it the tables are all there is.
 */
#include "report/html_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/curve_value.h"
#include "report/migration_matrix.h"
#include "report/render.h"

enum {
	ROWS_OPEN = 40,
	NOT_MEASURED_MAX = 12,
	CELLS_LONG = 1500, /* of a table that the script makes when it is opened */
};

/* --- the table of one metric --- */

struct row {
	double x;
	const struct point *p; /* any with that x */
};

static int by_x(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	return x->x < y->x ? -1 : x->x > y->x;
}

/* All values of the inner parameter, ascending, each once. */
static int rows_make(struct page *pg, const struct page_chart *ch, struct row **ret, size_t *ret_n)
{
	size_t n = 0, kept = 0;
	for (size_t i = 0; i < ch->n; i++)
		n += ch->curves[i].c->n;
	struct row *v = arena_alloc(pg->arena, (n + 1) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0; i < ch->n; i++)
		for (size_t k = 0; k < ch->curves[i].c->n; k++, n++)
			v[n] = (struct row){ page_inner(ch, ch->curves[i].c->points[k]),
					     ch->curves[i].c->points[k] };
	qsort(v, n, sizeof(*v), by_x);
	for (size_t i = 0; i < n; i++)
		if (!kept || v[kept - 1].x != v[i].x)
			v[kept++] = v[i];
	*ret = v;
	*ret_n = kept;
	return 0;
}

static const struct point *point_at(const struct page_chart *ch, const struct curve_points *c,
				    double x)
{
	size_t low = 0, high = c->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (page_inner(ch, c->points[middle]) < x)
			low = middle + 1;
		else
			high = middle;
	}
	return low < c->n && page_inner(ch, c->points[low]) == x ? c->points[low] : NULL;
}

/* Long times in us, ms or s, as elsewhere on the page. */
static void value_words(struct page *pg, double v, const char *unit)
{
	struct str text = { 0 };
	double divisor = html_time_divisor(v, &unit);
	if (isnan(v))
		return str_add(pg->out, "–");
	render_value(&text, v / divisor, unit, 3, true);
	html_text(pg->out, str_text(&text));
	pg->out->failed = pg->out->failed || text.failed;
	str_done(&text);
}

static void interval_words(struct page *pg, const struct curve_value *v, const char *unit)
{
	struct str text = { 0 };
	double divisor = html_time_divisor(v->value, &unit);
	if (isnan(v->low) || isnan(v->high))
		return; /* the style has a dash */
	render_interval(&text, v->low / divisor, v->high / divisor, v->value / divisor, unit, 3);
	html_text(pg->out, str_text(&text));
	pg->out->failed = pg->out->failed || text.failed;
	str_done(&text);
}

/* These cells are most of the page: without end tags, which HTML does not want. */
static void value_cells(struct page *pg, const struct page_chart *ch, const struct page_curve *pc,
			const struct metric *m, double x, struct page_notes *notes)
{
	const struct run *r = pg->in->runs[pc->run].rep->run;
	const struct point *p = point_at(ch, pc->c, x);
	struct curve_value v = { .value = NAN, .low = NAN, .high = NAN };
	struct estimate e = { 0 };
	if (!p)
		return str_add(pg->out, "<td><td><td>");
	if (curve_value_read(pg->arena, r, ch->schema, pc->c, p, m->name, &v) < 0)
		pg->out->failed = true;
	estimate_point(r, p, m->name, &e);
	str_add(pg->out, "<td");
	if (isnan(v.value) || v.mark)
		str_addf(pg->out, " data-n=%zu",
			 page_note(pg, notes,
				   v.mark     ? v.mark
				   : v.reason ? v.reason
					      : "no reason recorded"));
	str_add(pg->out, ">");
	value_words(pg, v.value, m->unit);
	str_add(pg->out, "<td>");
	interval_words(pg, &v, m->unit);
	str_addf(pg->out, "<td>%zu", e.n_invocations);
}

static bool is_overlay(const struct page *pg, const struct page_curve *pc)
{
	return pg->in->runs[pc->run].is_overlay;
}

/* Whether only published curves have a point there. */
static bool is_published_only(const struct page *pg, const struct page_chart *ch, double x)
{
	for (size_t i = 0; i < ch->n; i++)
		if (!is_overlay(pg, &ch->curves[i]) && point_at(ch, ch->curves[i].c, x))
			return false;
	return true;
}

static void table_head(struct page *pg, const struct page_chart *ch)
{
	str_add(pg->out, "<colgroup><col>");
	for (size_t i = 0; i < ch->n; i++)
		if (ch->curves[i].c->n)
			str_addf(pg->out, "<col span=3%s>",
				 is_overlay(pg, &ch->curves[i]) ? " class=o" : "");
	str_add(pg->out, "</colgroup><thead><tr><th rowspan=\"2\" scope=\"col\">");
	html_foreign(pg->out, ch->inner);
	str_add(pg->out, "</th>");
	for (size_t i = 0; i < ch->n; i++) {
		if (!ch->curves[i].c->n)
			continue;
		str_addf(pg->out, "<th colspan=\"3\" scope=\"colgroup\"%s>",
			 is_overlay(pg, &ch->curves[i]) ? " class=o" : "");
		html_foreign(pg->out, ch->curves[i].label);
		str_add(pg->out, "</th>");
	}
	str_add(pg->out, "</tr><tr>");
	for (size_t i = 0; i < ch->n; i++)
		if (ch->curves[i].c->n)
			str_add(pg->out, "<th scope=\"col\">median</th><th scope=\"col\">95 %</th>"
					 "<th scope=\"col\">n</th>");
	str_add(pg->out, "</tr></thead><tbody>\n");
}

static void table_rows(struct page *pg, const struct page_chart *ch, const struct metric *m,
		       const struct row *rows, size_t n)
{
	struct page_notes notes = { 0 };
	str_add(pg->out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
			 "aria-label=\"table\"><table class=\"n\">");
	table_head(pg, ch);
	for (size_t i = 0; i < n; i++) {
		struct str x = { 0 };
		page_inner_words(&x, ch, rows[i].p);
		str_addf(pg->out, "<tr%s\n><th>",
			 is_published_only(pg, ch, rows[i].x) ? " class=o" : "");
		html_text(pg->out, str_text(&x));
		pg->out->failed = pg->out->failed || x.failed;
		str_done(&x);
		for (size_t k = 0; k < ch->n; k++)
			if (ch->curves[k].c->n)
				value_cells(pg, ch, &ch->curves[k], m, rows[i].x, &notes);
	}
	str_add(pg->out, "</tbody></table></div>");
	page_notes_list(pg, &notes);
}

/* Within noscript, a browser that runs scripts makes no elements of it. */
static int metric_table(struct page *pg, const struct page_chart *ch, const struct metric *m,
			bool open)
{
	struct row *rows;
	size_t n;
	if (rows_make(pg, ch, &rows, &n) < 0)
		return -ENOMEM;
	bool is_long = n * ch->n > CELLS_LONG;
	str_addf(pg->out, "<details class=\"twin\" data-metric=\"");
	html_text(pg->out, m->name);
	str_addf(pg->out, "\"%s><summary>Table: ", open && n <= ROWS_OPEN ? " open" : "");
	html_foreign(pg->out, m->name);
	str_addf(pg->out, "</summary>%s", is_long ? "<noscript>" : "");
	table_rows(pg, ch, m, rows, n);
	str_addf(pg->out, "%s</details>\n", is_long ? "</noscript>" : "");
	return pg->out->failed ? -ENOMEM : 0;
}

/* --- the section --- */

static void not_measured(struct page *pg, const struct page_chart *ch)
{
	size_t n = 0;
	for (size_t i = 0; i < ch->n; i++) {
		const struct curve_points *c = ch->curves[i].c;
		if (!c->skipped)
			continue;
		if (n++ == 0)
			str_add(pg->out, "<h4>Not measured</h4><ul class=\"missing\">");
		if (n > NOT_MEASURED_MAX)
			continue;
		str_add(pg->out, "<li>");
		html_foreign(pg->out, ch->curves[i].label);
		str_addf(pg->out, ": %s: ", verdict_name(c->skipped->verdict));
		html_foreign(pg->out,
			     c->skipped->reason ? c->skipped->reason : "no reason recorded");
		str_add(pg->out, "</li>");
	}
	if (n > NOT_MEASURED_MAX)
		str_addf(pg->out, "<li>%zu more</li>", n - NOT_MEASURED_MAX);
	if (n)
		str_add(pg->out, "</ul>\n");
}

static void section_head(struct page *pg, const struct page_chart *ch, size_t index)
{
	bool first = !index || strcmp(pg->charts.v[index - 1].bench, ch->bench) != 0;
	str_addf(pg->out, "<section class=\"bench\" id=\"bench-%zu\"><h3>", index);
	html_foreign(pg->out, ch->bench);
	if (ch->own && *ch->own) {
		str_add(pg->out, ": ");
		html_foreign(pg->out, ch->own);
	}
	if (first && ch->schema && ch->schema->summary) {
		str_add(pg->out, " <small>");
		html_foreign(pg->out, ch->schema->summary);
		str_add(pg->out, "</small>");
	}
	str_add(pg->out, "</h3>\n");
	if (ch->common && *ch->common) {
		str_add(pg->out, "<p class=\"setting\">");
		html_foreign(pg->out, ch->common);
		str_add(pg->out, "</p>\n");
	}
}

static int curve_part(struct page *pg, const struct page_chart *ch, size_t index)
{
	int ret = 0;
	bool first = true;
	str_addf(
		pg->out,
		"<figure class=\"chart\" id=\"chart-%zu\"><noscript><p>The curve needs JavaScript; "
		"its data stand in the table below.</p></noscript></figure>\n",
		index);
	str_add(pg->out, "<div class=\"twins\">\n");
	for (const struct metric *m = ch->schema->metrics; ret == 0 && m->name; m++) {
		if (m->form == FORM_TABLE)
			continue;
		ret = metric_table(pg, ch, m, first);
		first = false;
	}
	str_add(pg->out, "</div>\n");
	return ret;
}

/* What migrations cost in the forms of the kernels that printed them, below the first chart. */
static int kernel_forms(struct page *pg, const struct page_chart *ch, size_t index)
{
	int ret = 0;
	if (strcmp(ch->bench, "migration.cost") != 0 ||
	    (index && strcmp(ch[-1].bench, ch->bench) == 0))
		return 0;
	for (size_t i = 0; ret == 0 && i < pg->in->n_runs; i++) {
		const struct page_run *run = &pg->in->runs[i];
		struct report_options o = { .utf8 = true, .run_name = run->name };
		struct str text = { 0 };
		if (!run->is_overlay)
			ret = migration_render(&text, pg->arena, run->rep, &o);
		if (ret == 0 && text.len) {
			str_add(pg->out, "<details><summary>As kernels printed it, and what it "
					 "says of the scheduler's constant</summary>"
					 "<pre class=\"scroll\" tabindex=\"0\">");
			html_lines(pg, &text, "\n");
			str_add(pg->out, "</pre></details>\n");
		}
		str_done(&text);
	}
	return ret;
}

int html_bench(struct page *pg, size_t index)
{
	const struct page_chart *ch = &pg->charts.v[index];
	int ret = 0;
	section_head(pg, ch, index);
	if (!ch->schema) {
		str_add(pg->out, "<p>The run does not describe this benchmark.</p>");
	} else if (ch->is_table) {
		ret = html_profile(pg, ch);
	} else {
		ret = html_matrices(pg, ch);
		if (ret == 0 && ch->is_curve)
			ret = curve_part(pg, ch, index);
		if (ret == 0 && !ch->is_curve)
			ret = html_strips(pg, ch);
		if (ret == 0)
			ret = kernel_forms(pg, ch, index);
	}
	not_measured(pg, ch);
	str_add(pg->out, "</section>\n");
	return ret < 0 ? ret : pg->out->failed ? -ENOMEM : 0;
}
