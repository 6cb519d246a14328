// SPDX-License-Identifier: MIT
/*
 * Tables of both sides symbol by symbol. Of a kernel profile the column "ticks" counts samples:
 * those are compared as counts of equal exposure (the same work on both sides). "address" says
 * where a symbol lies and is no number to compare. The row "total" is a sum: it comes last, and its
 * test is none of the family of symbols. Any other column is a value like a time. A symbol that a
 * table does not list has no tick where the rows sum to the total; otherwise nothing is known of
 * it.
 */
#include "compare/parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/stats.h"

static const char TOTAL[] = "total";

/* The table of a measure that counts; NULL: none. */
static const struct series *table_of(const struct measure *m, const char *metric)
{
	const struct series *s = measure_series(m, metric);

	return m->verdict == VERDICT_OK && s && s->form == FORM_TABLE && s->n > 0 ? s : NULL;
}

static size_t column_of(const struct series *s, const char *column)
{
	size_t at = 0;

	while (at < s->n_columns && strcmp(s->columns[at], column) != 0)
		at++;
	return at;
}

/* NaN: it has no such row or column, or nothing there. */
static double cell_of(const struct series *s, const char *key, const char *column)
{
	size_t at = column_of(s, column);

	for (size_t i = 0; at < s->n_columns && i < s->n; i++) {
		if (strcmp(s->keys[i], key) == 0)
			return s->cells[i * s->n_columns + at];
	}
	return NAN;
}

/* The rows sum to the total: then no function with a tick is left out. */
static bool is_complete(const struct series *s)
{
	size_t at = column_of(s, "ticks");
	double sum = 0, total = NAN;

	for (size_t i = 0; at < s->n_columns && i < s->n; i++) {
		double v = s->cells[i * s->n_columns + at];

		if (strcmp(s->keys[i], TOTAL) == 0)
			total = v;
		else if (!isnan(v))
			sum += v;
	}
	return sum == total;
}

/* The tables of both sides for one metric. */
struct pair {
	const struct point *a, *b; /* NULL: that side has no such point */
	const struct metric *metric;
	bool complete_a, complete_b; /* what is in no table has no tick */
};

/* One cell of one side, by unit of replication. */
struct cells {
	struct count *counts;
	double *values;
	size_t n;          /* units that have it */
	bool is_count;     /* all are whole and not negative */
	bool is_published; /* somebody's single value */
	bool has_any;
};

/* Sums and medians over the measures of unit @u. */
static void add_unit(const struct side *s, const struct point *p, const char *metric,
		     const char *key, const char *column, unsigned u, double *scratch,
		     struct cells *to)
{
	struct count sum = { 0, 0 };
	size_t n = 0;

	for (size_t i = 0; i < p->n_measures; i++) {
		const struct series *table = table_of(p->measures[i], metric);
		double v = table ? cell_of(table, key, column) : NAN;

		if (!table || s->unit_of[p->measures[i] - s->run->measures] != u)
			continue;
		to->is_published = to->is_published || table->origin == ORIGIN_PUBLISHED;
		sum.exposure++;
		if (isnan(v))
			continue;
		to->is_count = to->is_count && v >= 0 && v < 9e15 && v == floor(v);
		sum.events += to->is_count ? (int64_t)v : 0;
		scratch[n++] = v;
	}
	if (sum.exposure == 0)
		return;
	to->has_any = to->has_any || n > 0;
	to->counts[to->n] = sum;
	/* A symbol that no sample fell on is not in the table of that process. */
	to->values[to->n++] = n ? stats_median(scratch, n) : 0;
}

static int collect(const struct side *s, const struct point *p, const char *metric, const char *key,
		   const char *column, struct cells *ret)
{
	size_t room = (p ? p->n_measures : 0) + 1;
	double *scratch = calloc(room, sizeof(*scratch));

	*ret = (struct cells){ .counts = calloc(room, sizeof(*ret->counts)),
			       .values = calloc(room, sizeof(*ret->values)),
			       .is_count = strcmp(column, "ticks") == 0 };
	if (!scratch || !ret->counts || !ret->values) {
		free(scratch);
		return -ENOMEM;
	}
	for (size_t u = 0; p && u < s->n_units; u++)
		add_unit(s, p, metric, key, column, (unsigned)u, scratch, ret);
	free(scratch);
	return 0;
}

static int test_cells(const struct rules *r, struct row *row, const struct cells *a,
		      const struct cells *b)
{
	row->is_alone = a->is_published || b->is_published;
	if (a->is_count && b->is_count)
		return row_test_counts(r, row, a->counts, a->n, b->counts, b->n);
	row->is_alone = row->is_alone || (a->n == 1 && b->n == 1);
	row->c.a = stats_median(a->values, a->n);
	row->c.b = stats_median(b->values, b->n);
	return row_test_values(r, row, a->values, a->n, b->values, b->n);
}

static int fill_row(struct matching *m, struct row *row, const struct pair *t,
		    const struct cells *a, const struct cells *b)
{
	bool has_a = a->has_any || (t->complete_a && a->is_count);
	bool has_b = b->has_any || (t->complete_b && b->is_count);

	if (has_a && has_b)
		return test_cells(m->rules, row, a, b);
	/* What a table does not list may be anything below its last row. */
	row->c.a = a->has_any ? stats_median(a->values, a->n) : NAN;
	row->c.b = b->has_any ? stats_median(b->values, b->n) : NAN;
	row->c.n_a = a->has_any ? a->n : 0;
	row->c.n_b = b->has_any ? b->n : 0;
	row->c.reason = a->has_any ? "not in the table of B" : "not in the table of A";
	return 0;
}

static int add_cell(struct matching *m, const struct pair *t, const char *key, const char *column)
{
	struct arena *arena = m->rules->arena;
	const char *metric = t->metric->name;
	struct cells x = { 0 }, y = { 0 };
	struct row *row = NULL;
	int rc = collect(m->a, t->a, metric, key, column, &x);

	rc = rc ? rc : collect(m->b, t->b, metric, key, column, &y);
	if (rc == 0 && (x.has_any || y.has_any)) {
		row = point_row(m, t->a ? t->a : t->b, t->metric);
		rc = row ? 0 : -ENOMEM;
	}
	if (row) {
		row->is_sum = strcmp(key, TOTAL) == 0;
		row->c.id = arena_printf(arena, "%s.%s", metric, column);
		if (!row->c.id || attrs_set_text(arena, &row->c.where, "symbol", key))
			rc = -ENOMEM;
		rc = rc ? rc : fill_row(m, row, t, &x, &y);
	}
	free(x.counts);
	free(x.values);
	free(y.counts);
	free(y.values);
	return rc;
}

/* --- which symbols ---------------------------------------------------------------------------- */

struct words {
	const char **v; /* owned; the words are of the runs */
	size_t n, cap;
};

static int add_word(struct words *w, const char *word)
{
	for (size_t i = 0; i < w->n; i++) {
		if (strcmp(w->v[i], word) == 0)
			return 0;
	}
	if (w->n == w->cap) {
		size_t cap = w->cap ? 2 * w->cap : 32;
		const char **grown = reallocarray(w->v, cap, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		w->v = grown;
		w->cap = cap;
	}
	w->v[w->n++] = word;
	return 0;
}

/* Symbols and columns of all tables of a point, in their order. */
static int add_words(const struct point *p, const char *metric, struct words *keys,
		     struct words *columns)
{
	int rc = 0;

	for (size_t i = 0; p && rc == 0 && i < p->n_measures; i++) {
		const struct series *s = table_of(p->measures[i], metric);

		for (size_t k = 0; s && rc == 0 && k < s->n; k++)
			rc = strcmp(s->keys[k], TOTAL) == 0 ? 0 : add_word(keys, s->keys[k]);
		for (size_t k = 0; s && rc == 0 && k < s->n_columns; k++)
			rc = strcmp(s->columns[k], "address") == 0
				     ? 0
				     : add_word(columns, s->columns[k]);
	}
	return rc;
}

static bool all_complete(const struct point *p, const char *metric)
{
	size_t n = 0;

	for (size_t i = 0; p && i < p->n_measures; i++) {
		const struct series *s = table_of(p->measures[i], metric);

		if (s && !is_complete(s))
			return false;
		n += s != NULL;
	}
	return n > 0;
}

int rows_of_table(struct matching *m, const struct point *a, const struct point *b,
		  const struct metric *metric)
{
	const struct pair t = { .a = a,
				.b = b,
				.metric = metric,
				.complete_a = all_complete(a, metric->name),
				.complete_b = all_complete(b, metric->name) };
	struct words keys = { 0 }, columns = { 0 };
	int rc = add_words(a, metric->name, &keys, &columns);

	rc = rc ? rc : add_words(b, metric->name, &keys, &columns);
	rc = rc ? rc : add_word(&keys, TOTAL);
	for (size_t i = 0; rc == 0 && i < keys.n; i++) {
		for (size_t k = 0; rc == 0 && k < columns.n; k++)
			rc = add_cell(m, &t, keys.v[i], columns.v[k]);
	}
	free(keys.v);
	free(columns.v);
	return rc;
}
