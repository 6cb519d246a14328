// SPDX-License-Identifier: MIT
/* Memory nodes by memory nodes: as text and on the page; what is no matrix. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "fixture_parts.h"
#include "report/html.h"

static const struct param params[] = {
	{ .name = "pointers", .type = PARAM_COUNT, .role = ROLE_INNER, .min = 1, .max = 1 << 20 },
	{ .name = "page", .type = PARAM_PAGE, .def = "auto" },
	{ .name = "data", .type = PARAM_NODE, .def = "local" },
	{ .name = "page-tables", .type = PARAM_NODE, .def = "local" },
	{ .name = NULL }
};
static const struct metric metrics[] = {
	{ "ref_ns", "time per reference", "ns", BETTER_LOWER, EST_MIN, FORM_SAMPLES }, { 0 }
};
static const struct bench_schema nodes = { "node.chase", "chase by nodes", 1, params, metrics };

struct texts {
	struct str text, page;
};

/* Nodes @n_data x @n_tables, page sizes @pages; each setting at 8 and at 64 pointers. */
static void make(struct texts *ret, unsigned n_data, unsigned n_tables, unsigned pages,
		 int64_t missing)
{
	static const char *const page[] = { "4k", "thp" };
	static char outer[64][64];
	struct report rep;
	struct err e = { 0 };
	struct run *r = run_new();
	unsigned k = 0;

	assert_non_null(r);
	fixture_header(r);
	assert_int_equal(run_add_schema(r, &nodes), 0);
	for (unsigned i = 0; i < n_data * n_tables * pages; i++, k++) {
		unsigned d = i / pages / n_tables, t = i / pages % n_tables;
		struct fixture_setting s = { "node.chase", outer[k] };

		assert_true(k < 64);
		snprintf(outer[k], sizeof(outer[k]), "page=%s data=%u page-tables=%u",
			 page[i % pages], d, t);
		if (k == missing) {
			fixture_skip(r, s, VERDICT_SKIPPED, "node 2 has no memory");
			continue;
		}
		for (int64_t x = 8; x <= 64; x *= 8)
			for (unsigned n = 0; n < 6; n++)
				fixture_samples(r, fixture_measure(r, s, x, n), "ref_ns",
						100.0 * d + 10 * t + (x == 64 ? 500 : 0) + 1);
	}
	fixture_footer(r, true, "all invocations done");
	assert_int_equal(report_init(&rep, r, &e), 0);
	const struct report_options o = { .utf8 = true, .run_name = "last" };
	*ret = (struct texts){ 0 };
	assert_int_equal(report_text(&ret->text, &rep, &o), 0);
	const struct page_run one = { .rep = &rep, .name = "x" };
	assert_int_equal(report_html(&ret->page, &(struct page_input){ .runs = &one, .n_runs = 1 }),
			 0);
	report_done(&rep);
	run_free(r);
}

static void done(struct texts *t)
{
	str_done(&t->text);
	str_done(&t->page);
}

static void assert_has(const struct str *text, const char *what)
{
	if (!strstr(str_text(text), what))
		fail_msg("\"%s\" is missing in:\n%.3000s", what, str_text(text));
}

static void test_rows_are_data_columns_tables(void **state)
{
	struct texts t;

	(void)state;
	make(&t, 3, 4, 1, -1);
	assert_has(&t.text, "ref_ns, ns by data (rows) and page-tables (columns), pointers=64\n"
			    "  data    0    1    2    3\n"
			    "  ────  ───  ───  ───  ───\n"
			    "     0  501  511  521  531\n"
			    "     1  601  611  621  631\n"
			    "     2  701  711  721  731\n");
	assert_has(&t.page, "ref_ns by data (rows) and page-tables (columns)");
	assert_has(&t.page, "<summary>pointers=8</summary>");
	assert_has(&t.page, ">731 ns</td></tr>");
	assert_has(&t.page, "title=\"2 → 3: 731 ns [731, 731]\"");
	done(&t);
}

/* Ten stands behind nine, and no line is too long. */
static void test_many_nodes(void **state)
{
	struct texts t;

	(void)state;
	make(&t, 2, 12, 1, -1);
	assert_has(&t.text, "  data    0    1    2    3    4    5    6    7    8    9   10   11\n");
	for (const char *p = str_text(&t.text); *p; p += strcspn(p, "\n") + 1) {
		char line[512];

		snprintf(line, sizeof(line), "%.*s", (int)strcspn(p, "\n"), p);
		assert_true(str_columns(line) <= 80);
	}
	done(&t);
}

static void test_what_was_not_measured(void **state)
{
	struct texts t;

	(void)state;
	make(&t, 3, 3, 1, 7);
	assert_has(&t.text, "     2  701       721\n");
	assert_has(&t.text, "node 2 has no memory");
	assert_has(&t.page, "<td class=\"heat none\"></td>");
	done(&t);
}

static void test_what_is_no_matrix(void **state)
{
	static const struct {
		unsigned data, tables, pages;
	} rows[] = { { 1, 1, 1 }, { 1, 4, 1 }, { 4, 1, 1 }, { 2, 2, 2 }, { 1, 1, 2 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct texts t;

		make(&t, rows[i].data, rows[i].tables, rows[i].pages, -1);
		assert_null(strstr(str_text(&t.text), "(rows) and"));
		done(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_data_columns_tables),
		cmocka_unit_test(test_many_nodes),
		cmocka_unit_test(test_what_was_not_measured),
		cmocka_unit_test(test_what_is_no_matrix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
