// SPDX-License-Identifier: MIT
/* Kernel profiles and other recorded tables as text. A column called "address" is hexadecimal. */
#include "report/profile_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/render.h"

enum { ROWS_MAX = 60 };

bool profile_table_is(const struct curve_group *g)
{
	const struct metric *m = g->schema ? g->schema->metrics : NULL;
	return m && m->name && m->form == FORM_TABLE;
}

static const char TOTAL[] = "total";

static bool is_address(double v)
{
	return v >= -9223372036854775808.0 && v < 9223372036854775808.0;
}

/* Addresses are signed numbers; where one has its top bit set, all have 16 digits. */
static int address_digits(const struct series *s, size_t column)
{
	for (size_t r = 0; r < s->n; r++)
		if (s->cells[r * s->n_columns + column] < 0)
			return 16;
	return 8;
}

static void set_address(struct table *t, size_t row, size_t column, double v, int digits)
{
	char text[32] = "-";
	if (is_address(v))
		snprintf(text, sizeof(text), "%0*llx", digits, (unsigned long long)(long long)v);
	table_set(t, row, column, text);
}

static void set_cell(struct table *t, size_t row, size_t column, const char *name, double v)
{
	struct str text = { 0 };
	char buf[UNITS_TEXT_BYTES];
	if (isnan(v))
		str_add(&text, "-");
	else if (strcmp(name, "load") == 0 && (v >= 0.001 || v == 0))
		str_addf(&text, "%.4f", v);
	else if (strcmp(name, "load") == 0)
		str_add(&text, format_digits(buf, v, 2));
	else
		str_add(&text, format_real(buf, v));
	table_set(t, row, column, str_text(&text));
	t->failed = t->failed || text.failed;
	str_done(&text);
}

static size_t column_of(const struct series *s, const char *name)
{
	size_t i = 0;
	while (i < s->n_columns && strcmp(s->columns[i], name) != 0)
		i++;
	return i;
}

/* Readprofile's order: the address before the symbol, what is counted behind it. */
static void add_row(struct table *t, const struct series *s, size_t r, size_t address)
{
	size_t row = table_add_row(t), column = 0;
	if (address < s->n_columns)
		set_address(t, row, column++, s->cells[r * s->n_columns + address],
			    address_digits(s, address));
	table_set(t, row, column++, s->keys[r]);
	for (size_t c = 0; c < s->n_columns; c++)
		if (c != address)
			set_cell(t, row, column++, s->columns[c], s->cells[r * s->n_columns + c]);
}

/* Returns how many rows were left out. */
static size_t build(struct table *t, const struct series *s, size_t top)
{
	size_t address = column_of(s, "address"), shown = 0, left_out = 0;
	t->indent = 2;
	t->rule = true;
	t->n_keys = address < s->n_columns ? 2 : 1;
	if (address < s->n_columns)
		table_add_column(t, "address", TABLE_RIGHT, 0);
	table_add_column(t, address < s->n_columns ? "symbol" : "name", TABLE_LEFT, 0);
	for (size_t c = 0; c < s->n_columns; c++)
		if (c != address)
			table_add_column(t, s->columns[c], TABLE_RIGHT, 0);
	for (size_t r = 0; r < s->n; r++) {
		bool is_total = strcmp(s->keys[r], TOTAL) == 0;
		if (is_total || shown < top)
			add_row(t, s, r, address);
		shown += !is_total && shown < top;
		left_out += !is_total;
	}
	return left_out - shown;
}

/* --- sums over invocations --- */

struct sum_row {
	const char *key;
	double *cells;
	size_t order; /* of appearance */
};

static int compare_keys(const void *a, const void *b)
{
	const struct sum_row *x = a, *y = b;
	int c = strcmp(x->key, y->key);
	return c ? c : (x->order > y->order) - (x->order < y->order);
}

/* Most ticks first, the total last. */
static int compare_ticks(const void *a, const void *b)
{
	const struct sum_row *x = a, *y = b;
	bool tx = strcmp(x->key, TOTAL) == 0, ty = strcmp(y->key, TOTAL) == 0;
	if (tx != ty)
		return tx ? 1 : -1;
	/* cells[0] is the sorting column here, see sum_series() */
	if (x->cells[0] != y->cells[0])
		return x->cells[0] > y->cells[0] ? -1 : 1;
	return strcmp(x->key, y->key);
}

static void add_cells(double *to, const double *cells, const struct series *s)
{
	for (size_t c = 0; c < s->n_columns; c++) {
		bool is_place = strcmp(s->columns[c], "address") == 0;
		if (isnan(to[1 + c]))
			to[1 + c] = cells[c];
		else if (!is_place && !isnan(cells[c]))
			to[1 + c] += cells[c];
	}
}

static bool same_columns(const struct series *a, const struct series *b)
{
	bool same = a->n_columns == b->n_columns;
	for (size_t c = 0; same && c < a->n_columns; c++)
		same = strcmp(a->columns[c], b->columns[c]) == 0;
	return same;
}

static bool is_usable(const struct measure *m, const struct series *s)
{
	return m->verdict == VERDICT_OK && s && s->form == FORM_TABLE && !s->null_reason && s->n;
}

/* The rows of all measures, one after the other; *ret_n of them. NULL: no memory. */
static struct sum_row *collect(struct arena *a, const struct point *p, const struct series *like,
			       size_t *ret_n)
{
	size_t n = 0;
	for (size_t i = 0; i < p->n_measures; i++) {
		const struct series *s = measure_series(p->measures[i], like->metric);
		n += is_usable(p->measures[i], s) && same_columns(s, like) ? s->n : 0;
	}
	struct sum_row *rows = arena_alloc(a, (n + 1) * sizeof(*rows));
	double *cells = arena_alloc(a, (n + 1) * (like->n_columns + 1) * sizeof(*cells));
	if (!rows || !cells)
		return NULL;
	*ret_n = n;
	n = 0;
	for (size_t i = 0; i < p->n_measures; i++) {
		const struct series *s = measure_series(p->measures[i], like->metric);
		if (!is_usable(p->measures[i], s) || !same_columns(s, like))
			continue;
		for (size_t r = 0; r < s->n; r++, n++) {
			rows[n] = (struct sum_row){ s->keys[r], cells, n };
			memcpy(cells + 1, s->cells + r * s->n_columns,
			       s->n_columns * sizeof(*cells));
			cells += like->n_columns + 1;
		}
	}
	return rows;
}

static int sum_series(struct arena *a, const struct point *p, const struct series *like,
		      struct series *ret)
{
	size_t n = 0, k = 0, sort = column_of(like, "ticks");
	struct sum_row *rows = collect(a, p, like, &n);
	if (!rows)
		return -ENOMEM;
	qsort(rows, n, sizeof(*rows), compare_keys);
	for (size_t i = 0; i < n; i++) {
		if (k && strcmp(rows[k - 1].key, rows[i].key) == 0)
			add_cells(rows[k - 1].cells, rows[i].cells + 1, like);
		else
			rows[k++] = rows[i];
	}
	for (size_t i = 0; i < k; i++) {
		double v = rows[i].cells[1 + (sort < like->n_columns ? sort : 0)];
		rows[i].cells[0] = isnan(v) ? 0 : v;
	}
	qsort(rows, k, sizeof(*rows), compare_ticks);
	*ret = *like;
	ret->n = k;
	ret->keys = arena_alloc(a, (k + 1) * sizeof(*ret->keys));
	ret->cells = arena_alloc(a, (k + 1) * like->n_columns * sizeof(*ret->cells));
	if (!ret->keys || !ret->cells)
		return -ENOMEM;
	for (size_t i = 0; i < k; i++) {
		ret->keys[i] = rows[i].key;
		memcpy(ret->cells + i * like->n_columns, rows[i].cells + 1,
		       like->n_columns * sizeof(*ret->cells));
	}
	return 0;
}

/* --- rendering --- */

static int render_reason(struct str *out, struct arena *a, const char *reason,
			 const struct report_options *o)
{
	const char *clean = render_clean(a, reason ? reason : "no reason recorded", o->utf8, 800);
	render_paragraph(out, 2, "- ", clean ? clean : "");
	return clean ? 0 : -ENOMEM;
}

int profile_table_point(struct str *out, struct arena *a, const struct point *p, const char *metric,
			size_t top, const struct report_options *o)
{
	const struct series *first = NULL;
	struct series sum;
	const char *reason = NULL;
	size_t n = 0;
	for (size_t i = 0; i < p->n_measures; i++) {
		const struct measure *m = p->measures[i];
		const struct series *s = measure_series(m, metric);
		if (is_usable(m, s)) {
			first = first ? first : s;
			n++;
		} else if (!reason) {
			reason = m->verdict != VERDICT_OK ? m->reason : s ? s->null_reason : NULL;
		}
	}
	if (!first)
		return render_reason(out, a, reason, o);
	if (n > 1 && sum_series(a, p, first, &sum))
		return -ENOMEM;
	struct table t;
	table_init(&t, a, o);
	size_t left_out = build(&t, n > 1 ? &sum : first, top ? top : ROWS_MAX);
	int ret = table_render(out, &t, o);
	if (left_out)
		str_addf(out, "  %zu more row%s%s\n", left_out, left_out == 1 ? "" : "s",
			 top ? "" : ": --format csv or json");
	return ret;
}

/* "fill=demand" of the parameters in which the group's settings differ, and what is not proven. */
static int setting_line(struct str *out, struct arena *a, const struct curve_group *g,
			const struct curve_points *c, const struct measure *m,
			const struct report_options *o)
{
	struct str text = { 0 };
	for (size_t i = 0; i < g->n_differing; i++) {
		const struct attr *v = attrs_find(&c->outer, g->differing[i]);
		if (!v)
			continue;
		str_addf(&text, "%s%s=", text.len ? " " : "", v->name);
		render_param(&text, g->schema, v);
	}
	if (m->unproven)
		str_addf(&text, "%sunproven: %s", text.len ? "; " : "", m->unproven);
	const char *clean = render_clean(a, str_text(&text), o->utf8, 800);
	if (clean && *clean)
		render_paragraph(out, 2, "", clean);
	str_done(&text);
	return clean ? 0 : -ENOMEM;
}

int profile_table_render(struct str *out, const struct report *rep, const struct curve_group *g,
			 const struct report_options *o)
{
	struct arena a = { 0 };
	int ret = 0;
	(void)rep;
	for (size_t i = 0; ret == 0 && i < g->n; i++) {
		const struct curve_points *c = g->curves[i];
		for (size_t k = 0; ret == 0 && k < c->n; k++) {
			const struct point *p = c->points[k];
			const char *metric = g->schema->metrics[0].name;
			if (!measure_series(p->measures[0], metric) &&
			    p->measures[0]->verdict == VERDICT_OK)
				continue;
			ret = setting_line(out, &a, g, c, p->measures[0], o);
			if (ret == 0)
				ret = profile_table_point(out, &a, p, metric, 0, o);
		}
	}
	arena_done(&a);
	return ret < 0 ? ret : out->failed ? -ENOMEM : 0;
}
