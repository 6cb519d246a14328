// SPDX-License-Identifier: MIT
/*
 * The table of a thread of 2005 (K. Chen, linux-ia64): migration cost with the working set in paged
 * memory against contiguous memory, one row a machine and pattern. Published runs bring their
 * machines with them, measured ones are one.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "infer/infer.h"
#include "report/migration_matrix.h"
#include "report/render.h"
#include "report/table.h"

bool migration_same_attr(const struct attr *x, const struct attr *y)
{
	struct attr left = *x, right = *y;
	struct attrs one = { .v = &left, .n = 1, .cap = 1 },
		     two = { .v = &right, .n = 1, .cap = 1 };

	return attrs_equal(&one, &two);
}

/* The largest median cost of a pair over its working sets; NaN: none. */
double migration_largest_ns(const struct report *rep, const struct curve_points *c)
{
	double most = NAN;

	for (size_t i = 0; i < c->n; i++) {
		struct estimate e;

		estimate_point(rep->run, c->points[i], "cost_ns", &e);
		most = fmax(most, e.value); /* passes over NaN */
	}
	return most;
}

/* What a setting is in the words of the table of 2005. */
static int column_of(const struct attrs *outer)
{
	const char *backing = attrs_text(outer, "backing", ""),
		   *page = attrs_text(outer, "page", "");
	bool large = strcmp(page, "thp") == 0 || strncmp(page, "hugetlb", 7) == 0;

	if (large)
		return 2;
	if (strcmp(backing, "paged") == 0 || strcmp(backing, "scattered") == 0)
		return 0;
	if (strcmp(backing, "contiguous") == 0)
		return attrs_find(outer, "page") ? 1 : 2; /* published: by large pages */
	return -1;
}

static bool same_row(const struct attrs *a, const struct attrs *b)
{
	for (size_t i = 0; i < a->n; i++) {
		const char *name = a->v[i].name;
		const struct attr *other = attrs_find(b, name);

		if (strcmp(name, "backing") != 0 && strcmp(name, "page") != 0 &&
		    strcmp(name, "from") != 0 && strcmp(name, "to") != 0 &&
		    (!other || !migration_same_attr(&a->v[i], other)))
			return false;
	}
	return true;
}

/* The most costly curve of a row and column; NaN: none. */
static double row_value(const struct report *rep, const struct curve_points *row, int column)
{
	double most = NAN;

	for (size_t i = 0; i < rep->curves.n; i++) {
		const struct curve_points *c = &rep->curves.v[i];

		if (strcmp(c->bench, "migration.cost") == 0 && column_of(&c->outer) == column &&
		    same_row(&row->outer, &c->outer))
			most = fmax(most, migration_largest_ns(rep, c) / 1e6);
	}
	return most;
}

static void row_name(struct str *out, const struct report *rep, const struct curve_points *c)
{
	const char *machine = attrs_text(&c->outer, "machine", NULL);

	str_add(out, machine ? machine : attrs_text(&rep->run->fingerprint, "cpu", "this machine"));
	if (attrs_find(&c->outer, "cache")) {
		str_add(out, ", ");
		render_param(out, run_schema(rep->run, c->bench), attrs_find(&c->outer, "cache"));
	}
	str_addf(out, ", %s", attrs_text(&c->outer, "pattern", "?"));
}

static void add_row(struct table *t, const struct report *rep, const struct curve_points *c)
{
	double v[3] = { row_value(rep, c, 0), row_value(rep, c, 1), row_value(rep, c, 2) };
	struct str text = { 0 };
	size_t row = table_add_row(t);

	row_name(&text, rep, c);
	table_set(t, row, 0, str_text(&text));
	for (size_t k = 0; k < 3; k++) {
		str_clear(&text);
		if (isnan(v[k]))
			continue;
		render_value(&text, v[k], NULL, 3, false);
		table_set(t, row, 1 + k, str_text(&text));
	}
	if (!isnan(v[0]) && !isnan(v[2]) && v[0] > 0) {
		str_clear(&text);
		render_value(&text, v[2] / v[0], NULL, 3, false);
		table_set(t, row, 4, str_text(&text));
	}
	t->failed = t->failed || text.failed;
	str_done(&text);
}

/* The table of the thread, where a run has more than one kind of memory. */
int migration_backings(struct str *out, struct arena *a, const struct report *rep,
		       const struct report_options *o)
{
	struct table t;

	table_init(&t, a, o);
	t.indent = 2;
	t.rule = true;
	t.n_keys = 1;
	table_add_column(&t, "machine, pattern", TABLE_LEFT, 0);
	table_add_column(&t, "paged\nms", TABLE_RIGHT, 0);
	table_add_column(&t, "contiguous\nsmall pages\nms", TABLE_RIGHT, 0);
	table_add_column(&t, "large\npages\nms", TABLE_RIGHT, 0);
	table_add_column(&t, "large\n/ paged", TABLE_RIGHT, 0);
	if (t.failed)
		return -ENOMEM;
	t.columns[0].wraps = true;
	for (size_t k = 2; k <= 4; k++)
		t.columns[k].optional = true;
	for (size_t i = 0; i < rep->curves.n; i++) {
		const struct curve_points *c = &rep->curves.v[i];
		bool seen = strcmp(c->bench, "migration.cost") != 0 || c->arm;

		for (size_t k = 0; k < i && !seen; k++)
			seen = strcmp(rep->curves.v[k].bench, c->bench) == 0 &&
			       same_row(&c->outer, &rep->curves.v[k].outer);
		if (!seen && !isnan(row_value(rep, c, 0)) &&
		    (!isnan(row_value(rep, c, 1)) || !isnan(row_value(rep, c, 2))))
			add_row(&t, rep, c);
	}
	if (!t.n_rows)
		return 0;
	str_add(out, "\nPaged against contiguous memory: largest cost of each\n");
	return table_render(out, &t, o);
}
