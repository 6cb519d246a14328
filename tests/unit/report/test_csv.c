// SPDX-License-Identifier: MIT
/* CSV read back by an independent reader: shape, values, quoting, reasons. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "fixture.h"
#include "fixture_parts.h"

enum { COLUMNS_MAX = 40 };

/* A CSV text as fields; reads RFC 4180 with LF, quotes anywhere a field begins. */
struct csv {
	struct arena a;
	const char ***rows;
	size_t n, cap, columns;
};

static const char *read_field(struct csv *c, const char **p)
{
	struct str s = { 0 };
	if (**p == '"') {
		for (++*p; **p; ++*p) {
			if (**p == '"' && (*p)[1] != '"')
				break;
			*p += **p == '"';
			str_add_n(&s, *p, 1);
		}
		assert_int_equal(**p, '"');
		++*p;
	} else {
		size_t n = strcspn(*p, ",\n");
		str_add_n(&s, *p, n);
		*p += n;
	}
	const char *ret = arena_strdup(&c->a, str_text(&s));
	assert_non_null(ret);
	str_done(&s);
	return ret;
}

static void read_csv(struct csv *c, const char *text)
{
	*c = (struct csv){ 0 };
	for (const char *p = text; *p;) {
		const char **row = arena_alloc(&c->a, COLUMNS_MAX * sizeof(*row));
		size_t n = 0;
		assert_non_null(row);
		do {
			assert_true(n < COLUMNS_MAX);
			row[n++] = read_field(c, &p);
		} while (*p == ',' && p++);
		assert_int_equal(*p, '\n');
		p++;
		if (!c->columns)
			c->columns = n;
		assert_int_equal(n, c->columns);
		assert_int_equal(arena_grow(&c->a, &c->rows, c->n, &c->cap, sizeof(*c->rows)), 0);
		c->rows[c->n++] = row;
	}
}

static const char *cell(const struct csv *c, size_t row, const char *column)
{
	for (size_t i = 0; i < c->columns; i++)
		if (strcmp(c->rows[0][i], column) == 0)
			return c->rows[row][i];
	fail_msg("no column %s", column);
	return NULL;
}

static struct csv csv_of(const char *fixture, int (*render)(struct str *, const struct report *))
{
	struct report rep;
	struct report_options o;
	struct csv c;
	struct run *r = fixture_open(fixture_find(fixture), &rep, &o);
	struct str text = { 0 };
	assert_int_equal(render(&text, &rep), 0);
	read_csv(&c, str_text(&text));
	str_done(&text);
	fixture_close(r, &rep);
	return c;
}

static void test_every_fixture_has_its_rows(void **state)
{
	(void)state;
	for (const struct fixture *f = fixtures; f->name; f++) {
		struct report rep;
		struct report_options o;
		struct csv c;
		size_t rows = 1;
		struct run *r = fixture_open(f, &rep, &o);
		struct str text = { 0 };
		for (size_t i = 0; i < r->n_measures; i++) {
			const struct measure *m = &r->measures[i];
			rows += !m->n_series;
			for (size_t k = 0; k < m->n_series; k++)
				rows += m->series[k].n ? m->series[k].n : 1;
		}
		assert_int_equal(report_csv(&text, &rep), 0);
		read_csv(&c, str_text(&text));
		assert_int_equal(c.n, rows);
		str_clear(&text);
		arena_done(&c.a);
		assert_int_equal(report_facts_csv(&text, &rep), 0);
		read_csv(&c, str_text(&text));
		assert_int_equal(c.n, rep.facts.n + 1);
		arena_done(&c.a);
		str_done(&text);
		fixture_close(r, &rep);
	}
}

static void test_a_sample(void **state)
{
	struct csv c = csv_of("one-node", report_csv);
	(void)state;
	assert_string_equal(cell(&c, 2, "run"), "01HX0000000000000000000001");
	assert_string_equal(cell(&c, 2, "bench"), "tlb.chase");
	assert_string_equal(cell(&c, 2, "revision"), "1");
	assert_string_equal(cell(&c, 2, "invocation"), "0");
	assert_string_equal(cell(&c, 2, "verdict"), "ok");
	assert_string_equal(cell(&c, 2, "pointers"), "10");
	assert_string_equal(cell(&c, 2, "stride"), "32m+128");
	assert_string_equal(cell(&c, 2, "working-set"), "");
	assert_string_equal(cell(&c, 2, "metric"), "ref_ns");
	assert_string_equal(cell(&c, 2, "unit"), "ns");
	assert_string_equal(cell(&c, 2, "statistic"), "sample");
	assert_string_equal(cell(&c, 2, "index"), "1");
	assert_string_equal(cell(&c, 2, "value"), "1.4");
	assert_string_equal(cell(&c, 2, "reason"), "");
	/* samples of two metrics, then an exact one */
	assert_string_equal(cell(&c, 7, "statistic"), "exact");
	assert_string_equal(cell(&c, 7, "value"), "4096");
	assert_string_equal(cell(&c, 7, "unit"), "bytes");
	/* what could not run is a row, with its reason and without a value */
	assert_string_equal(cell(&c, c.n - 1, "verdict"), "skipped");
	assert_string_equal(cell(&c, c.n - 1, "value"), "");
	assert_string_equal(cell(&c, c.n - 1, "reason"), "not measurable: one memory node");
	arena_done(&c.a);
}

static void test_values_round_trip(void **state)
{
	struct report rep;
	struct report_options o;
	struct run *r = fixture_open(fixture_find("two-nodes"), &rep, &o);
	struct str text = { 0 };
	struct csv c;
	size_t row = 1;
	(void)state;
	assert_int_equal(report_csv(&text, &rep), 0);
	read_csv(&c, str_text(&text));
	for (size_t i = 0; i < r->n_measures; i++) {
		const struct measure *m = &r->measures[i];
		row += !m->n_series;
		for (size_t k = 0; k < m->n_series; k++)
			for (size_t v = 0; v < m->series[k].n; v++, row++) {
				double got;
				if (!m->series[k].values)
					continue;
				assert_int_equal(parse_real(cell(&c, row, "value"), &got, NULL), 0);
				assert_true(got == m->series[k].values[v]);
			}
	}
	arena_done(&c.a);
	str_done(&text);
	fixture_close(r, &rep);
}

static void test_hostile_text_stays_in_its_field(void **state)
{
	struct csv c = csv_of("hostile", report_csv);
	(void)state;
	assert_string_equal(cell(&c, 1, "stride"), "\033[31mred\r\nx");
	arena_done(&c.a);
	c = csv_of("hostile", report_facts_csv);
	assert_int_equal(strlen(cell(&c, 1, "reason")), 10000);
	assert_string_equal(cell(&c, 2, "unit"), "\r\n");
	arena_done(&c.a);
}

static void test_a_missing_fact(void **state)
{
	struct csv c = csv_of("skipped", report_facts_csv);
	(void)state;
	assert_string_equal(cell(&c, 1, "fact"), "tlb.entries");
	assert_string_equal(cell(&c, 1, "where"), "page=4k level=1");
	assert_string_equal(cell(&c, 1, "value"), "");
	assert_string_equal(cell(&c, 1, "ci95_low"), "");
	assert_string_equal(cell(&c, 1, "agreement"), "");
	assert_string_equal(cell(&c, 1, "reason"),
			    "no curve: mmap: out of memory (budget 12.0 MiB)");
	arena_done(&c.a);
}

/* Forms that no chase has: counts with exposure, a kernel profile, values that are none. */
static void test_other_forms(void **state)
{
	static const char *columns[] = { "ticks", "load" };
	static const char *keys[] = { "do_wp_page", "a,\"b\"" };
	double cells[] = { 1245, 1.9095, NAN, 2 }, values[] = { 5.5, NAN, 7 };
	int64_t counts[] = { 1024, 4096 };
	struct run *r = run_new();
	struct report rep = { .run = r };
	struct str text = { 0 };
	struct csv c;
	(void)state;
	assert_non_null(r);
	r->id = "forms";
	struct measure *m = run_add_measure(r);
	m->bench = "fault.count";
	assert_int_equal(attrs_set_int(&r->arena, &m->setting, "value", 7), 0);
	*measure_add_series(r, m) = (struct series){
		.metric = "faults", .form = FORM_COUNT, .integers = counts, .n = 2
	};
	*measure_add_series(r, m) = (struct series){ .metric = "profile",
						     .form = FORM_TABLE,
						     .columns = columns,
						     .n_columns = 2,
						     .keys = keys,
						     .cells = cells,
						     .n = 2 };
	*measure_add_series(r, m) = (struct series){ .metric = "old_ns",
						     .form = FORM_SUMMARY,
						     .origin = ORIGIN_PUBLISHED,
						     .values = values,
						     .n = 3 };
	*measure_add_series(r, m) =
		(struct series){ .metric = "cycles", .null_reason = "no counters" };
	assert_int_equal(report_csv(&text, &rep), 0);
	read_csv(&c, str_text(&text));
	assert_int_equal(c.n, 11);
	/* a parameter does not take the name of a column */
	assert_string_equal(cell(&c, 1, "param.value"), "7");
	assert_string_equal(cell(&c, 1, "revision"), "");
	assert_string_equal(cell(&c, 1, "statistic"), "count");
	assert_string_equal(cell(&c, 2, "statistic"), "exposure");
	assert_string_equal(cell(&c, 2, "value"), "4096");
	assert_string_equal(cell(&c, 4, "part"), "do_wp_page");
	assert_string_equal(cell(&c, 4, "statistic"), "load");
	assert_string_equal(cell(&c, 4, "value"), "1.9095");
	assert_string_equal(cell(&c, 5, "part"), "a,\"b\"");
	assert_string_equal(cell(&c, 5, "value"), "");
	assert_string_equal(cell(&c, 5, "reason"), "not finite");
	assert_string_equal(cell(&c, 7, "origin"), "published");
	assert_string_equal(cell(&c, 7, "statistic"), "summary");
	assert_string_equal(cell(&c, 8, "value"), "");
	assert_string_equal(cell(&c, 10, "reason"), "no counters");
	arena_done(&c.a);
	str_done(&text);
	run_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_fixture_has_its_rows),
		cmocka_unit_test(test_a_sample),
		cmocka_unit_test(test_values_round_trip),
		cmocka_unit_test(test_hostile_text_stays_in_its_field),
		cmocka_unit_test(test_a_missing_fact),
		cmocka_unit_test(test_other_forms),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
