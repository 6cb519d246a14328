// SPDX-License-Identifier: MIT
/*
 * The published runs against the tables that they were made from: every value, none more. Units are
 * moved by shifting the decimal point of the text, so that the test rounds nowhere.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "record/csv_read.h"
#include "store/library.h"

static const char *data_dir;

struct table {
	struct arena arena;
	struct csv_rows rows;
	struct run *run;
};

static void load(struct table *t, const char *csv, const char *name)
{
	struct err e = { 0 };
	char path[512], text[16384];
	size_t n;
	FILE *f;

	*t = (struct table){ 0 };
	snprintf(path, sizeof(path), "%s/%s", data_dir, csv);
	f = fopen(path, "r");
	if (!f)
		fail_msg("%s: %s", path, strerror(errno));
	n = fread(text, 1, sizeof(text), f);
	assert_true(n > 0 && n < sizeof(text));
	fclose(f);
	if (csv_read(&t->arena, text, n, &t->rows, &e) || library_load(name, &t->run, NULL, &e))
		fail_msg("%s", e.msg);
	assert_int_equal(t->run->origin, ORIGIN_PUBLISHED);
	assert_string_equal(t->run->id, name);
}

static void done(struct table *t)
{
	run_free(t->run);
	arena_done(&t->arena);
}

static const char *cell(const struct table *t, size_t row, const char *column)
{
	const struct csv_row *head = &t->rows.v[0];

	for (size_t i = 0; i < head->n; i++) {
		if (strcmp(head->fields[i], column) == 0)
			return t->rows.v[row].fields[i];
	}
	fail_msg("no column %s", column);
	return "";
}

/* "8.20" shifted by 9 is 8.20e9. */
static double number(const char *text, int shift)
{
	char buf[64];
	double v = NAN;

	snprintf(buf, sizeof(buf), "%se%d", text, shift);
	assert_int_equal(parse_real(buf, &v, NULL), 0);
	return v;
}

static bool is_setting(const struct measure *m, const char *name, const char *value)
{
	char buf[32];
	const struct attr *a = attrs_find(&m->setting, name);

	if (a && a->kind == ATTR_INT) {
		snprintf(buf, sizeof(buf), "%lld", (long long)a->integer);
		return strcmp(buf, value) == 0;
	}
	return a && a->kind == ATTR_TEXT && strcmp(a->text, value) == 0;
}

/* The one measure with these settings (pairs, ended by NULL). */
static const struct measure *find(const struct table *t, const char *bench,
				  const char *const *settings)
{
	const struct measure *found = NULL;

	for (size_t i = 0; i < t->run->n_measures; i++) {
		const struct measure *m = &t->run->measures[i];
		bool same = strcmp(m->bench, bench) == 0;

		for (const char *const *s = settings; same && *s; s += 2)
			same = is_setting(m, s[0], s[1]);
		if (!same)
			continue;
		assert_null(found);
		found = m;
	}
	if (!found)
		fail_msg("no %s with %s=%s", bench, settings[0], settings[1]);
	assert_int_equal(found->verdict, VERDICT_OK);
	assert_non_null(found->unproven);
	return found;
}

static void assert_summary(const struct measure *m, const char *metric, double v)
{
	const struct series *s = measure_series(m, metric);

	assert_non_null(s);
	assert_int_equal(s->form, FORM_SUMMARY);
	assert_int_equal(s->n, 1);
	if (s->values[0] != v)
		fail_msg("%s is %.17g, not %.17g", metric, s->values[0], v);
}

static double value(const struct measure *m, const char *metric)
{
	const struct series *s = measure_series(m, metric);

	assert_non_null(s);
	return s->values[0];
}

static void test_levels(void **state)
{
	struct table t;
	double per_reference[3];

	(void)state;
	load(&t, "page-table-levels.csv", "page-table-levels-2005");
	assert_int_equal(t.rows.n, 3);
	assert_int_equal(t.run->n_measures, 2);
	for (size_t i = 1; i < 3; i++) {
		const char *settings[] = { "levels", cell(&t, i, "page_table_levels"), NULL };
		const struct measure *m = find(&t, "tlb.walk", settings);
		const struct series *total = measure_series(m, "total_ticks");

		assert_non_null(total);
		assert_int_equal(total->form, FORM_EXACT);
		assert_true((double)total->integers[0] == number(cell(&t, i, "total_ticks"), 0));
		per_reference[i] = value(m, "ref_ticks");
		assert_true(fabs(per_reference[i] * 512 * 100000 - (double)total->integers[0]) <
			    1e-3);
	}
	assert_true(fabs(per_reference[1] - 320.4) < 0.05);
	assert_true(fabs(per_reference[2] - 522.8) < 0.05);
	assert_true(fabs(100 * (per_reference[2] / per_reference[1] - 1) - 63.2) < 0.05);
	assert_non_null(strstr(attrs_text(&t.run->context, "derivation", ""), "512"));
	done(&t);
}

static void test_text_replication(void **state)
{
	struct table t;

	(void)state;
	load(&t, "kernel-text-replication.csv", "kernel-text-replication-2006");
	assert_int_equal(t.rows.n, 13);
	assert_int_equal(t.run->n_measures, 24);
	for (size_t i = 1; i < t.rows.n; i++) {
		const char *none[] = { "cache", cell(&t, i, "cache"), "replication", "none", NULL };
		const char *all[] = { "cache", cell(&t, i, "cache"), "replication", "all", NULL };
		char bench[64];
		const struct measure *a, *b;

		snprintf(bench, sizeof(bench), "syscall.%s", cell(&t, i, "test"));
		a = find(&t, bench, none);
		b = find(&t, bench, all);
		assert_summary(a, "call_ns", number(cell(&t, i, "norep_us"), 3));
		assert_summary(b, "call_ns", number(cell(&t, i, "rep_us"), 3));
		/* The improvement is not stored, it follows; the source has two decimals. */
		if (fabs(100 * (1 - value(b, "call_ns") / value(a, "call_ns")) -
			 number(cell(&t, i, "improvement_percent"), 0)) > 0.0051)
			fail_msg("row %zu: another improvement", i);
	}
	done(&t);
}

static void test_prefault_times(void **state)
{
	static const char *const columns[][2] = { { "user_s", "user_ns" },
						  { "system_s", "system_ns" },
						  { "elapsed_s", "elapsed_ns" } };
	struct table t;
	size_t faults = 0;

	(void)state;
	load(&t, "prefault-times.csv", "prefault-times-2002");
	assert_int_equal(t.rows.n, 5);
	assert_int_equal(t.run->n_measures, 4);
	for (size_t i = 1; i < t.rows.n; i++) {
		const char *settings[] = { "script", cell(&t, i, "script"), "fill",
					   cell(&t, i, "variant"), NULL };
		const struct measure *m = find(&t, "exec.patches", settings);
		const struct series *s = measure_series(m, "page_faults");

		for (size_t k = 0; k < 3; k++)
			assert_summary(m, columns[k][1], number(cell(&t, i, columns[k][0]), 9));
		assert_non_null(s);
		if (!*cell(&t, i, "page_faults")) {
			assert_non_null(s->null_reason);
			continue;
		}
		assert_int_equal(s->form, FORM_EXACT);
		assert_true((double)s->integers[0] == number(cell(&t, i, "page_faults"), 0));
		faults++;
	}
	assert_int_equal(faults, 2);
	done(&t);
}

/* Row @key of @s with the values of row @i of the table. */
static void assert_profile_row(const struct table *t, size_t i, const struct series *s)
{
	const char *key = cell(t, i, "symbol");
	size_t row = 0;

	while (row < s->n && strcmp(s->keys[row], key) != 0)
		row++;
	if (row == s->n)
		fail_msg("no row %s", key);
	assert_true(s->cells[row * 3] == (double)strtoull(cell(t, i, "address"), NULL, 16));
	assert_true(s->cells[row * 3 + 1] == number(cell(t, i, "ticks"), 0));
	assert_true(s->cells[row * 3 + 2] == number(cell(t, i, "load"), 0));
}

static void test_profile(void **state)
{
	struct table t;
	size_t rows = 0;

	(void)state;
	load(&t, "prefault-kernel-profile.csv", "prefault-profile-2002");
	assert_int_equal(t.run->n_measures, 2);
	for (size_t i = 1; i < t.rows.n; i++) {
		const char *settings[] = { "fill", cell(&t, i, "variant"), NULL };
		const struct series *s =
			measure_series(find(&t, "profile.kernel", settings), "profile_ticks");

		assert_non_null(s);
		assert_int_equal(s->form, FORM_TABLE);
		assert_int_equal(s->n_columns, 3);
		assert_string_equal(s->columns[0], "address");
		assert_string_equal(s->columns[1], "ticks");
		assert_string_equal(s->columns[2], "load");
		assert_profile_row(&t, i, s);
	}
	for (size_t i = 0; i < 2; i++)
		rows += t.run->measures[i].series[0].n;
	assert_int_equal(rows, t.rows.n - 1);
	done(&t);
}

static void test_migration(void **state)
{
	struct table t;

	(void)state;
	load(&t, "cache-migration-cost.csv", "migration-cost-2005");
	assert_int_equal(t.rows.n, 8);
	assert_int_equal(t.run->n_measures, 14);
	for (size_t i = 1; i < t.rows.n; i++) {
		static const char *const backing[][2] = { { "paged", "paged_vmalloc_ms" },
							  { "contiguous",
							    "contiguous_large_page_ms" } };
		char pattern[32], cache[32];
		char *underscore;

		snprintf(pattern, sizeof(pattern), "%s", cell(&t, i, "pattern"));
		underscore = strchr(pattern, '_');
		assert_non_null(underscore);
		*underscore = '-';
		snprintf(cache, sizeof(cache), "%.0f",
			 1048576 * number(cell(&t, i, "cache_mib"), 0));
		for (size_t k = 0; k < 2; k++) {
			const char *settings[] = { "machine", cell(&t, i, "machine"),
						   "cache",   cache,
						   "pattern", pattern,
						   "backing", backing[k][0],
						   NULL };

			assert_summary(find(&t, "migration.cost", settings), "cost_ns",
				       number(cell(&t, i, backing[k][1]), 6));
		}
	}
	done(&t);
}

static void test_altix(void **state)
{
	struct table t;

	(void)state;
	load(&t, "altix-page-table-placement.csv", "altix-2005");
	assert_int_equal(t.run->n_measures, 2 * (t.rows.n - 1));
	for (size_t i = 1; i < t.rows.n; i++) {
		const char *n = cell(&t, i, "pointers");
		const char *local[] = { "pointers", n, "page-tables", "local", NULL };
		const char *remote[] = { "pointers", n, "page-tables", "remote", NULL };

		assert_summary(find(&t, "tlb.chase", local), "ref_ns",
			       number(cell(&t, i, "page_tables_local_ns"), 0));
		assert_summary(find(&t, "tlb.chase", remote), "ref_ns",
			       number(cell(&t, i, "page_tables_remote_ns"), 0));
	}
	done(&t);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_altix),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_text_replication),
		cmocka_unit_test(test_prefault_times),
		cmocka_unit_test(test_profile),
		cmocka_unit_test(test_migration),
	};

	if (argc != 2)
		return 2;
	data_dir = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
