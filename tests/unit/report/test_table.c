// SPDX-License-Identifier: MIT
/* The table model and the text helpers: widths, splits, marks, numbers, hostile text. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "report/render.h"
#include "report/table.h"

static const struct report_options ascii = { .utf8 = false }, utf8 = { .utf8 = true };

static void assert_rendered(const struct table *t, const char *want)
{
	struct str out = { 0 };
	assert_int_equal(table_render(&out, t, &ascii), 0);
	assert_string_equal(str_text(&out), want);
	str_done(&out);
}

static void test_alignment_and_marks(void **state)
{
	struct arena a = { 0 };
	struct table t;
	(void)state;
	table_init(&t, &a, &ascii);
	t.rule = true;
	table_add_column(&t, "name", TABLE_LEFT, 0);
	table_add_column(&t, "local\nns", TABLE_RIGHT, 0);
	table_add_row(&t);
	table_set(&t, 0, 0, "ten");
	table_set(&t, 0, 1, "1.40");
	table_mark(&t, 0, 1, NOTE_UNPROVEN, "no counters");
	table_add_row(&t);
	table_set(&t, 1, 0, "eleven");
	table_set(&t, 1, 1, "-");
	table_mark(&t, 1, 1, NOTE_REASON, "one node");
	table_mark(&t, 1, 1, NOTE_REASON, "one node");
	table_mark(&t, 1, 1, NOTE_INVALID, "other node");
	assert_rendered(&t, "        local\n"
			    "name      ns\n"
			    "------  ---------\n"
			    "ten     1.40 ?1\n"
			    "eleven     - *2!3\n"
			    "?1 unproven: no counters\n"
			    "*2 one node\n"
			    "!3 invalid, never compared: other node\n");
	arena_done(&a);
}

static void test_common_marks_move_to_the_title(void **state)
{
	struct arena a = { 0 };
	struct table t;
	(void)state;
	table_init(&t, &a, &ascii);
	table_add_column(&t, "ns", TABLE_RIGHT, 0);
	for (size_t i = 0; i < 3; i++) {
		table_add_row(&t);
		table_set(&t, i, 0, "1.0");
		if (i < 2)
			table_mark(&t, i, 0, NOTE_UNPROVEN, "why");
	}
	table_lift_marks(&t, 0, NOTE_UNPROVEN); /* one cell is proven: nothing moves */
	assert_rendered(&t, " ns\n1.0 ?1\n1.0 ?1\n1.0\n?1 unproven: why\n");
	table_mark(&t, 2, 0, NOTE_UNPROVEN, "why");
	table_lift_marks(&t, 0, NOTE_REASON); /* another kind: nothing moves */
	assert_non_null(t.cells[0].marks);
	table_lift_marks(&t, 0, NOTE_UNPROVEN);
	assert_rendered(&t, "ns ?1\n  1.0\n  1.0\n  1.0\n?1 unproven: why\n");
	arena_done(&a);
}

/* A note that another cell brought in first comes first in a cell that has it second. */
static void test_marks_ascend(void **state)
{
	struct arena a = { 0 };
	struct table t;
	(void)state;
	table_init(&t, &a, &ascii);
	table_add_column(&t, "ns", TABLE_LEFT, 0);
	for (size_t i = 0; i < 2; i++) {
		table_add_row(&t);
		table_set(&t, i, 0, "1");
	}
	table_mark(&t, 0, 0, NOTE_REASON, "one");
	table_mark(&t, 1, 0, NOTE_REASON, "two");
	table_mark(&t, 1, 0, NOTE_UNPROVEN, "three");
	table_mark(&t, 1, 0, NOTE_REASON, "one");
	assert_rendered(&t, "ns\n1 *1\n1 *1*2?3\n*1 one\n*2 two\n?3 unproven: three\n");
	t.max_notes = 3;
	table_mark(&t, 0, 0, NOTE_REASON, "none of the three"); /* without a number: behind */
	table_mark(&t, 0, 0, NOTE_REASON, "two");
	assert_string_equal(t.cells[0].marks, "*1*2*");
	arena_done(&a);
}

static void test_split_keeps_groups_and_keys(void **state)
{
	struct arena a = { 0 };
	struct table t;
	struct str out = { 0 };
	(void)state;
	table_init(&t, &a, &ascii);
	table_add_column(&t, "key", TABLE_LEFT, 0);
	t.n_keys = 1;
	for (unsigned i = 0; i < 6; i++)
		table_add_column(&t, &"a column of some thirty letters"[10 * (i % 2)], TABLE_RIGHT,
				 1 + i / 2);
	table_add_row(&t);
	for (size_t i = 0; i < 7; i++)
		table_set(&t, 0, i, "x");
	assert_true(table_width(&t) > RENDER_WIDTH);
	assert_int_equal(table_render(&out, &t, &ascii), 0);
	assert_non_null(strstr(str_text(&out), "columns 3 to 4 of 6:\nkey"));
	assert_non_null(strstr(str_text(&out), "columns 5 to 6 of 6:\nkey"));
	assert_null(strstr(str_text(&out), "columns 2 to"));
	for (const char *p = str_text(&out); *p; p = strchr(p, '\n') + 1)
		assert_true(strcspn(p, "\n") <= RENDER_WIDTH);
	str_done(&out);
	arena_done(&a);
}

static void test_wrap_and_optional_columns(void **state)
{
	struct arena a = { 0 };
	struct table t;
	(void)state;
	table_init(&t, &a, &ascii);
	t.bare = true;
	table_add_column(&t, "", TABLE_LEFT, 0);
	table_add_column(&t, "", TABLE_LEFT, 0);
	table_add_column(&t, "", TABLE_LEFT, 0);
	t.columns[0].wraps = true;
	t.columns[1].optional = true;
	table_add_row(&t);
	table_set(&t, 0, 0, "twelve words would fit here if the column beside it were less wide");
	table_set(&t, 0, 2, "12345678901234567890123456789012345678901234567890");
	assert_rendered(&t, "twelve words would fit here   "
			    "12345678901234567890123456789012345678901234567890\n"
			    "  if the column beside it\n"
			    "  were less wide\n");
	arena_done(&a);
}

static void test_many_notes_are_counted(void **state)
{
	struct arena a = { 0 };
	struct table t;
	struct str out = { 0 };
	(void)state;
	table_init(&t, &a, &ascii);
	table_add_column(&t, "x", TABLE_LEFT, 0);
	for (size_t i = 0; i < 15; i++) {
		table_add_row(&t);
		table_set(&t, i, 0, "-");
		table_mark(&t, i, 0, NOTE_REASON, arena_printf(&a, "reason %zu", i));
	}
	assert_int_equal(table_render(&out, &t, &ascii), 0);
	assert_non_null(strstr(str_text(&out), "*12 reason 11\n"));
	assert_null(strstr(str_text(&out), "reason 12"));
	assert_non_null(strstr(str_text(&out), "3 further reasons"));
	str_done(&out);
	arena_done(&a);
}

static void test_wrong_use_does_nothing(void **state)
{
	struct arena a = { 0 };
	struct table t;
	struct str out = { 0 };
	(void)state;
	table_init(&t, &a, &ascii);
	assert_int_equal(table_render(&out, &t, &ascii), 0); /* no columns */
	table_add_column(&t, "x", TABLE_LEFT, 0);
	assert_int_equal(table_render(&out, &t, &ascii), 0); /* no rows */
	table_set(&t, 0, 0, "x");
	table_mark(&t, 5, 5, NOTE_REASON, "x");
	assert_int_equal(out.len, 0);
	assert_int_equal(t.n_notes, 0);
	table_add_row(&t);
	table_set(&t, 0, 1, "no such column");
	assert_null(t.cells[0].text);
	t.failed = true;
	assert_int_equal(table_render(&out, &t, &ascii), -ENOMEM);
	assert_int_equal(table_width(&t), 0);
	arena_done(&a);
	str_done(&out);
}

/* --- text helpers --- */

static void test_clean(void **state)
{
	static const struct {
		const char *in, *utf8, *ascii;
		size_t max;
	} rows[] = {
		{ "plain", "plain", "plain", 0 },
		{ "", "", "", 0 },
		{ "a\tb\nc", "a b c", "a b c", 0 },
		{ "\033[31m", "?[31m", "?[31m", 0 },
		{ "\xc2\x9b", "?", "?", 0 },
		{ "\xff\xfe", "??", "??", 0 },
		{ "\xe2\x82\xac 5", "\xe2\x82\xac 5", "? 5", 0 },
		{ "12345", "12345", "12345", 5 },
		{ "123456", "12345... (6 characters, cut here)",
		  "12345... (6 characters, cut here)", 5 },
		{ "\xe2\x82\xac\xe2\x82\xac", "\xe2\x82\xac... (2 characters, cut here)",
		  "?... (2 characters, cut here)", 1 },
	};
	struct arena a = { 0 };
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_string_equal(render_clean(&a, rows[i].in, true, rows[i].max), rows[i].utf8);
		assert_string_equal(render_clean(&a, rows[i].in, false, rows[i].max),
				    rows[i].ascii);
	}
	arena_done(&a);
}

static void test_wrap(void **state)
{
	static const struct {
		const char *text;
		size_t first, hang, width;
		const char *want;
	} rows[] = {
		{ "", 0, 0, 10, "\n" },
		{ "one two", 0, 0, 10, "one two\n" },
		{ "one two three", 0, 2, 10, "one two\n  three\n" },
		{ "one   two", 0, 0, 10, "one   two\n" },
		{ "trailing  ", 0, 0, 10, "trailing\n" },
		{ "abcdefghijklmno", 0, 0, 10, "abcdefghij\nklmno\n" },
		{ "cache.latency_cycles", 0, 0, 19, "cache.latency_\ncycles\n" },
		{ "a.bcdefghijklmno", 0, 0, 10, "a.bcdefghi\njklmno\n" }, /* not so early */
		{ "abcdefghi", 6, 1, 16, "abcdefghi\n" },
		{ "abcdefghijkl", 6, 1, 16, "\n abcdefghijkl\n" },
		{ "ns [1, 2] x", 0, 0, 8, "ns\n[1, 2] x\n" },
		{ "[1234, 5678, 9]", 0, 0, 9, "[1234,\n5678, 9]\n" },
		{ "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"
		  "\xe2\x82\xac\xe2\x82\xac!",
		  0, 0, 8,
		  "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"
		  "\xe2\x82\xac\xe2\x82\xac\n!\n" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct str out = { 0 };
		render_wrap(&out, rows[i].text, rows[i].first, rows[i].hang, rows[i].width);
		assert_string_equal(str_text(&out), rows[i].want);
		str_done(&out);
	}
}

static void test_values(void **state)
{
	static const struct {
		double v;
		const char *unit;
		int digits;
		bool with_unit;
		const char *want;
	} rows[] = {
		{ 63, "entries", 3, false, "63" },
		{ 2012.4, "entries", 3, true, "2012 entries" },
		{ 5.621, "ns", 3, true, "5.62 ns" },
		{ 5.621, "ns", 4, false, "5.621" },
		{ 747.635, "ns", 4, false, "747.6" },
		{ 1234.5, "ns", 3, false, "1234" },
		{ 258048, "bytes", 3, false, "252 KiB" },
		{ 64, "bytes", 3, true, "64 B" },
		{ 1023.6, "bytes", 3, true, "1.00 KiB" },
		{ 2.98e9, "Hz", 3, true, "2.98 GHz" },
		{ 42.94, "percent", 2, true, "43 %" },
		{ 7, NULL, 3, true, "7.00" },
		{ 0, "ns", 3, true, "0 ns" },
		{ 1e300, "ns", 3, true, "1.00e+300 ns" },
		{ -1e-300, "ns", 3, true, "-1.00e-300 ns" },
		{ INFINITY, "entries", 3, false, "inf" },
		{ 1e18, "entries", 3, false, "1000000000000000000" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct str out = { 0 };
		render_value(&out, rows[i].v, rows[i].unit, rows[i].digits, rows[i].with_unit);
		assert_string_equal(str_text(&out), rows[i].want);
		str_done(&out);
	}
}

static void test_intervals(void **state)
{
	static const struct {
		double low, high, value;
		const char *unit, *want;
	} rows[] = {
		{ 62, 65, 63, "entries", "[62, 65]" },
		{ 31 << 10, 33 << 10, 32 << 10, "bytes", "[31, 33]" },
		{ 28 << 10, 40 * 1024 + 10, 32 << 10, "bytes", "[28.0, 40.0]" },
		{ 900, 1100, 1024, "bytes", "[0.879, 1.07]" },
		{ 62, INFINITY, 63, "entries", "[62, inf]" },
		{ -3, 5, 1, "percent", "[-3.00, 5.00]" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct str out = { 0 };
		render_interval(&out, rows[i].low, rows[i].high, rows[i].value, rows[i].unit, 3);
		assert_string_equal(str_text(&out), rows[i].want);
		str_done(&out);
	}
}

static void test_differences(void **state)
{
	static const struct {
		double v, scale;
		int digits;
		const char *want;
	} rows[] = {
		{ 441.339, 747.6, 4, "441.3" },
		{ -0.001, 11.29, 4, "0" },
		{ -0.027, 11.3, 4, "-0.03" },
		{ 80.631, 132.389, 4, "80.6" },
		{ 0, 5, 3, "0" },
		{ 1234.6, 5000, 3, "1235" },
		{ -9.996, 50, 3, "-10.0" },
		{ 0.4, 0, 3, "0.40" },
		{ 1e300, 1e300, 3, "1.00e+300" },
		{ 1e-320, 1e-320, 3, "0" },
		{ NAN, 5, 3, "-" },
		{ 5, INFINITY, 3, "5.00" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct str out = { 0 };
		render_difference(&out, rows[i].v, rows[i].scale, rows[i].digits);
		assert_string_equal(str_text(&out), rows[i].want);
		str_done(&out);
	}
}

static void test_agreement(void **state)
{
	static const struct {
		double value, low, high, nominal, advertised;
		enum agreement want, uncertain; /* uncertain: with a note, or under load */
	} rows[] = {
		{ 63, 62, 65, 64, 64, AGREE_YES, AGREE_YES },
		{ 63, 62, 65, NAN, 64, AGREE_YES, AGREE_YES },
		{ 61, NAN, NAN, NAN, 64, AGREE_YES, AGREE_YES },
		{ 60, NAN, NAN, NAN, 64, AGREE_NO, AGREE_UNKNOWN },
		{ 512, 500, 530, 512, 2048, AGREE_NO, AGREE_UNKNOWN },
		{ NAN, NAN, NAN, NAN, 64, AGREE_UNKNOWN, AGREE_UNKNOWN },
		{ 63, 62, 65, 64, NAN, AGREE_UNKNOWN, AGREE_UNKNOWN },
		{ 63, 62, 65, 64, 0, AGREE_UNKNOWN, AGREE_UNKNOWN },
	};
	struct finding load = { .id = "load", .severity = SEVERITY_WARNING, .what = "load 3" };
	struct run calm = { 0 }, loaded = { .findings = &load, .n_findings = 1 };
	struct report rep = { .run = &calm };
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct fact f = { .value = rows[i].value,
				  .low = rows[i].low,
				  .high = rows[i].high,
				  .nominal = rows[i].nominal,
				  .advertised = rows[i].advertised };
		rep.run = &calm;
		assert_int_equal(fact_agreement(&rep, &f), rows[i].want);
		rep.run = &loaded;
		assert_int_equal(fact_agreement(&rep, &f), rows[i].uncertain);
		rep.run = &calm;
		f.note = "includes translation";
		assert_int_equal(fact_agreement(&rep, &f), rows[i].uncertain);
	}
}

static void test_time_and_colour(void **state)
{
	struct str out = { 0 };
	struct report_options colour = { .colour = true };
	(void)state;
	render_time(&out, 1767225600000000000);
	str_add(&out, "|");
	render_time(&out, 0);
	str_add(&out, "|");
	render_time(&out, -5);
	assert_string_equal(str_text(&out), "2026-01-01 00:00:00 UTC|unknown|unknown");
	str_clear(&out);
	render_paint(&out, &utf8, PAINT_RED, "x");
	render_paint(&out, &colour, PAINT_RED, "x");
	render_paint(&out, &colour, PAINT_RED, "");
	assert_string_equal(str_text(&out), "x\033[31mx\033[0m");
	str_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alignment_and_marks),
		cmocka_unit_test(test_common_marks_move_to_the_title),
		cmocka_unit_test(test_marks_ascend),
		cmocka_unit_test(test_split_keeps_groups_and_keys),
		cmocka_unit_test(test_wrap_and_optional_columns),
		cmocka_unit_test(test_many_notes_are_counted),
		cmocka_unit_test(test_wrong_use_does_nothing),
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_agreement),
		cmocka_unit_test(test_time_and_colour),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
