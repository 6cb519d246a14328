// SPDX-License-Identifier: MIT
/*
 * Matrices as heat maps: two parameters with the roles from and to, or two memory nodes (data by
 * page tables), one table for each setting of everything else. The colour is a class of ten, so
 * that the page's style has it in light and dark; the number stands in every cell.
 */
#include "report/html_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/render.h"

enum { STEPS = 10, MATRICES_MAX = 24, SIDE_MAX = 128, SMALL = 8 };

static const double SPREAD_LEAST = 0.2;

struct cell {
	const char *row, *column, *rest; /* in words */
	double x, value, low, high;
	size_t run;
};

struct matrix {
	struct cell *cells;
	size_t n, cap;
	const char *from, *to; /* the parameters */
};

/* Whether the curves have two values of @name at least, published ones aside. */
static bool varies(const struct page *pg, const struct page_chart *ch, const char *name)
{
	struct str first = { 0 }, text = { 0 };
	bool yes = false;
	for (size_t i = 0; i < ch->n && !yes; i++) {
		const struct attr *a = attrs_find(&ch->curves[i].c->outer, name);
		struct str *s = first.len ? &text : &first;
		str_clear(&text);
		if (!a || pg->in->runs[ch->curves[i].run].is_overlay)
			continue;
		attr_format(s, a);
		yes = s == &text && strcmp(str_text(&first), str_text(&text)) != 0;
	}
	str_done(&first);
	str_done(&text);
	return yes;
}

static bool find_ends(const struct page *pg, const struct page_chart *ch, struct matrix *m)
{
	const struct param *from = schema_role(ch->schema, ROLE_FROM);
	const struct param *to = schema_role(ch->schema, ROLE_TO);
	if (from && to) {
		m->from = from->name;
		m->to = to->name;
		return varies(pg, ch, from->name) || varies(pg, ch, to->name);
	}
	for (const struct param *p = ch->schema->params; p && p->name; p++) {
		if (p->type != PARAM_NODE || !varies(pg, ch, p->name))
			continue;
		if (!m->from) {
			m->from = p->name;
		} else {
			m->to = p->name;
			return true;
		}
	}
	return false;
}

static const char *words_of(struct page *pg, const struct page_chart *ch, const struct attrs *at,
			    const char *name)
{
	const struct attr *a = attrs_find(at, name);
	struct str text = { 0 };
	if (a)
		render_param(&text, ch->schema, a);
	const char *copy = text.failed ? NULL : arena_strdup(pg->arena, str_text(&text));
	str_done(&text);
	return copy;
}

/* What is alike within one matrix: everything but the two ends. */
static const char *rest_of(struct page *pg, const struct page_chart *ch, const struct matrix *m,
			   const struct page_curve *pc, const struct point *p)
{
	struct str text = { 0 };
	for (size_t i = 0; i < pc->c->outer.n; i++) {
		const struct attr *a = &pc->c->outer.v[i];
		if (strcmp(a->name, m->from) == 0 || strcmp(a->name, m->to) == 0 ||
		    !varies(pg, ch, a->name))
			continue;
		str_addf(&text, "%s%s=", text.len ? " " : "", a->name);
		render_param(&text, ch->schema, a);
	}
	if (pc->c->arm)
		str_addf(&text, "%sarm %s", text.len ? " " : "", pc->c->arm);
	if (ch->inner) {
		str_addf(&text, "%s%s=", text.len ? " " : "", ch->inner);
		page_inner_words(&text, ch, p);
	}
	if (ch->n_runs > 1)
		str_addf(&text, "%s%s", text.len ? ", " : "", pg->in->runs[pc->run].name);
	const char *copy = text.failed ? NULL : arena_strdup(pg->arena, str_text(&text));
	str_done(&text);
	return copy;
}

static int collect(struct page *pg, const struct page_chart *ch, const char *metric,
		   struct matrix *m)
{
	for (size_t i = 0; i < ch->n; i++) {
		const struct page_curve *pc = &ch->curves[i];
		if (pg->in->runs[pc->run].is_overlay)
			continue;
		for (size_t k = 0; k < pc->c->n; k++) {
			const struct point *p = pc->c->points[k];
			struct estimate e;
			estimate_point(pg->in->runs[pc->run].rep->run, p, metric, &e);
			struct cell c = { .row = words_of(pg, ch, &pc->c->outer, m->from),
					  .column = words_of(pg, ch, &pc->c->outer, m->to),
					  .rest = rest_of(pg, ch, m, pc, p),
					  .x = page_inner(ch, p),
					  .value = e.value,
					  .low = e.low,
					  .high = e.high,
					  .run = pc->run };
			if (!c.row || !c.column || !c.rest ||
			    arena_grow(pg->arena, &m->cells, m->n, &m->cap, sizeof(c)) < 0)
				return -ENOMEM;
			m->cells[m->n++] = c;
		}
	}
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;
	int order = x->run < y->run ? -1 : x->run > y->run;
	if (order == 0 && !isnan(x->x) && !isnan(y->x))
		order = x->x < y->x ? -1 : x->x > y->x;
	order = order ? order : strcmp(x->rest, y->rest);
	order = order ? order : render_compare_words(x->row, y->row);
	return order ? order : render_compare_words(x->column, y->column);
}

static int by_name(const void *a, const void *b)
{
	return render_compare_words(*(const char *const *)a, *(const char *const *)b);
}

/* The distinct columns of one matrix. */
static size_t columns_of(const struct cell *v, size_t n, const char **ret, size_t max)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;
		while (k < kept && strcmp(ret[k], v[i].column) != 0)
			k++;
		if (k == kept && kept < max)
			ret[kept++] = v[i].column;
	}
	qsort(ret, kept, sizeof(*ret), by_name);
	return kept;
}

static void heat_cell(struct page *pg, const struct cell *c, const struct metric *m, double least,
		      double most)
{
	struct str text = { 0 }, interval = { 0 };
	double share = most > least ? (c->value - least) / (most - least) : 0;
	if (isnan(c->value)) {
		str_add(pg->out, "<td class=\"heat\">–</td>");
		return;
	}
	const char *unit = m->unit;
	double divisor = html_time_divisor(c->value, &unit);
	render_value(&text, c->value / divisor, unit, 3, true);
	if (!isnan(c->low) && !isnan(c->high))
		render_interval(&interval, c->low / divisor, c->high / divisor, c->value / divisor,
				unit, 3);
	str_addf(pg->out, "<td class=\"heat h%d\" tabindex=\"0\" title=\"",
		 (int)fmin(STEPS - 1, share * STEPS));
	html_text(pg->out, c->row);
	str_add(pg->out, " → ");
	html_text(pg->out, c->column);
	str_add(pg->out, ": ");
	html_text(pg->out, str_text(&text));
	str_add(pg->out, " ");
	html_text(pg->out, interval.len ? str_text(&interval) : "no interval");
	str_add(pg->out, "\">");
	html_text(pg->out, str_text(&text));
	str_add(pg->out, "</td>");
	pg->out->failed = pg->out->failed || text.failed || interval.failed;
	str_done(&text);
	str_done(&interval);
}

static void heat_row(struct page *pg, const struct cell *v, size_t n, const char *const *columns,
		     size_t n_columns, const struct metric *m, double least, double most)
{
	str_add(pg->out, "<tr><th scope=\"row\">");
	html_foreign(pg->out, v[0].row);
	str_add(pg->out, "</th>");
	for (size_t k = 0; k < n_columns; k++) {
		size_t i = 0;
		while (i < n && strcmp(v[i].column, columns[k]) != 0)
			i++;
		if (i < n)
			heat_cell(pg, &v[i], m, least, most);
		else
			str_add(pg->out, "<td class=\"heat none\"></td>");
	}
	str_add(pg->out, "</tr>\n");
}

/* Cells of one matrix, sorted. */
static void heat_map(struct page *pg, const struct matrix *x, const struct metric *m,
		     const struct cell *v, size_t n, const char *state)
{
	const char *columns[SIDE_MAX];
	size_t n_columns = columns_of(v, n, columns, SIDE_MAX);
	double least = INFINITY, most = -INFINITY;
	for (size_t i = 0; i < n; i++) {
		least = isnan(v[i].value) ? least : fmin(least, v[i].value);
		most = isnan(v[i].value) ? most : fmax(most, v[i].value);
	}
	least = fmin(least, most - SPREAD_LEAST * fabs(most)); /* noise is to have one colour */
	str_addf(pg->out, "<details class=\"matrix\"%s><summary>", state);
	html_foreign(pg->out, *v[0].rest ? v[0].rest : m->name);
	str_add(pg->out, "</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" "
			 "aria-label=\"matrix\"><table><thead><tr><th scope=\"col\">");
	html_foreign(pg->out, x->from);
	str_add(pg->out, " ↓ ");
	html_foreign(pg->out, x->to);
	str_add(pg->out, " →</th>");
	for (size_t k = 0; k < n_columns; k++) {
		str_add(pg->out, "<th scope=\"col\">");
		html_foreign(pg->out, columns[k]);
		str_add(pg->out, "</th>");
	}
	str_add(pg->out, "</tr></thead><tbody>\n");
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && strcmp(v[end].row, v[i].row) == 0;)
			end++;
		heat_row(pg, &v[i], end - i, columns, n_columns, m, least, most);
	}
	str_add(pg->out, "</tbody></table></div></details>\n");
}

static void matrices_head(struct page *pg, const struct matrix *x, const struct metric *m)
{
	str_add(pg->out, "<h4>");
	html_foreign(pg->out, m->name);
	str_add(pg->out, " by ");
	html_foreign(pg->out, x->from);
	str_add(pg->out, " (rows) and ");
	html_foreign(pg->out, x->to);
	str_add(pg->out, " (columns)</h4>");
	if (m->summary) {
		str_add(pg->out, "<p class=\"why\">");
		html_foreign(pg->out, m->summary);
		str_add(pg->out, "; the darker or, on black, the lighter, the more within a matrix"
				 "</p>");
	}
	str_add(pg->out, "<div class=\"maps\">\n");
}

/* Whether every matrix is small enough to stand open beside the others. */
static bool are_small(const struct matrix *x)
{
	for (size_t i = 0, end; i < x->n; i = end) {
		for (end = i + 1; end < x->n && x->cells[end].run == x->cells[i].run &&
				  strcmp(x->cells[end].rest, x->cells[i].rest) == 0;)
			end++;
		if (end - i > SMALL * SMALL)
			return false;
	}
	return true;
}

int html_matrices(struct page *pg, const struct page_chart *ch)
{
	struct matrix x = { 0 };
	const struct metric *m = ch->schema->metrics;
	size_t shown = 0, left = 0;
	if (!m || !m->name || !find_ends(pg, ch, &x))
		return 0;
	if (collect(pg, ch, m->name, &x) < 0)
		return -ENOMEM;
	if (x.n)
		qsort(x.cells, x.n, sizeof(*x.cells), by_place);
	bool all = are_small(&x);
	matrices_head(pg, &x, m);
	for (size_t i = 0, end; i < x.n; i = end) {
		for (end = i + 1; end < x.n && x.cells[end].run == x.cells[i].run &&
				  strcmp(x.cells[end].rest, x.cells[i].rest) == 0;)
			end++;
		if (shown < MATRICES_MAX)
			heat_map(pg, &x, m, &x.cells[i], end - i,
				 all || end == x.n || shown == 0 ? " open" : "");
		else
			left++;
		shown++;
	}
	str_add(pg->out, "</div>\n");
	if (left)
		str_addf(pg->out, "<p>%zu more matrices: the table below has their numbers.</p>",
			 left);
	return pg->out->failed ? -ENOMEM : 0;
}
