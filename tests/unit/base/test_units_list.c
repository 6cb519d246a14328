/* SPDX-License-Identifier: MIT */
/*
 * units_list.c: CPU and node lists, and the series of a VALUE.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "base/units.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static void test_lists(void **state)
{
	static const struct {
		const char *text;
		const char *canonical; /* NULL: refused */
	} rows[] = {
		{ "", "" },
		{ "\n", "" },
		{ "0", "0" },
		{ "0-3,8,10-12", "0-3,8,10-12" },
		{ "0-3\n", "0-3" },
		{ "8,0-3", "0-3,8" },
		{ "1,2,3", "1-3" },
		{ "5-5", "5" },
		{ "0-4,2-6", "0-6" },
		{ "7,7,7", "7" },
		{ "1048575", "1048575" },
		{ "0,1048574-1048575", "0,1048574-1048575" },
		{ "1048576", NULL },
		{ "0-1048576", NULL },
		{ "18446744073709551616", NULL },
		{ "3-1", NULL },
		{ "-1", NULL },
		{ "1-", NULL },
		{ "1--3", NULL },
		{ "1-2-3", NULL },
		{ ",", NULL },
		{ "1,", NULL },
		{ ",1", NULL },
		{ "1,,2", NULL },
		{ "1 2", NULL },
		{ " 1", NULL },
		{ "1 ", NULL },
		{ "1\n\n", NULL },
		{ "1\n2", NULL },
		{ "0x1", NULL },
		{ "all", NULL },
		{ "0-31:2/4", NULL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < LENGTH(rows); i++) {
		struct u32_list l = { 0 };
		struct err e = { 0 };
		int rc = parse_u32_list(rows[i].text, &l, &e);
		char *back;

		if (rc != (rows[i].canonical ? 0 : -EINVAL))
			fail_msg("'%s': result %d", rows[i].text, rc);
		if (rc) {
			assert_int_equal(e.code, EINVAL);
			assert_null(l.v);
			continue;
		}
		back = format_u32_list(&l);
		assert_non_null(back);
		assert_string_equal(back, rows[i].canonical);
		free(back);
		u32_list_done(&l);
		assert_int_equal(l.n, 0);
	}
	u32_list_done(NULL);
}

static void test_contains(void **state)
{
	struct u32_list l = { 0 };
	uint32_t i;

	(void)state;
	assert_int_equal(u32_list_contains(&l, 0), 0);
	assert_int_equal(parse_u32_list("1,3-5,9", &l, NULL), 0);
	for (i = 0; i < 12; i++)
		assert_int_equal(u32_list_contains(&l, i), i == 1 || (i >= 3 && i <= 5) || i == 9);
	u32_list_done(&l);
}

struct item_row {
	const char *item;
	int bytes;
	int rc;
	const char *values; /* separated by blanks */
};

static const struct item_row items[] = {
	{ "5", 0, 0, "5" },
	{ "0", 0, 0, "0" },
	{ "18446744073709551615", 0, 0, "18446744073709551615" },
	{ "1..4", 0, 0, "1 2 3 4" },
	{ "5..5", 0, 0, "5" },
	{ "10..50:10", 0, 0, "10 20 30 40 50" },
	{ "10..55:20", 0, 0, "10 30 50" },
	{ "1..100:x10", 0, 0, "1 10 100" },
	{ "1..99:x10", 0, 0, "1 10" },
	{ "3..20:x2", 0, 0, "3 6 12" },
	{ "1..4:x1.25", 0, 0, "1 2 3 4" },
	{ "100..200:x1.25", 0, 0, "100 125 156 195" },
	{ "10..20:x1.10", 0, 0, "10 11 12 13 15 16 18 19" },
	{ "18446744073709551614..18446744073709551615", 0, 0,
	  "18446744073709551614 18446744073709551615" },
	{ "18446744073709551600..18446744073709551615:10", 0, 0,
	  "18446744073709551600 18446744073709551610" },
	{ "9223372036854775808..18446744073709551615:x2", 0, 0, "9223372036854775808" },
	{ "18446744073709551615..18446744073709551615:x1.5", 0, 0, "18446744073709551615" },
	{ "4k", 1, 0, "4096" },
	{ "4k..16k:4k", 1, 0, "4096 8192 12288 16384" },
	{ "4k..16k:x2", 1, 0, "4096 8192 16384" },
	{ "1.5k..3k:x2", 1, 0, "1536 3072" },
	{ "8g..16g:x2", 1, 0, "8589934592 17179869184" },
	{ "0..2", 0, 0, "0 1 2" },
	{ "", 0, -EINVAL, NULL },
	{ "k", 1, -EINVAL, NULL },
	{ "1..", 0, -EINVAL, NULL },
	{ "..5", 0, -EINVAL, NULL },
	{ "..", 0, -EINVAL, NULL },
	{ "5..1", 0, -EINVAL, NULL },
	{ "1..10:x1", 0, -EINVAL, NULL },
	{ "1..10:x0", 0, -EINVAL, NULL },
	{ "1..10:x1.0", 0, -EINVAL, NULL },
	{ "1..10:x1.0001", 0, -EINVAL, NULL },
	{ "1..10:x-2", 0, -EINVAL, NULL },
	{ "1..10:x1e3", 0, -EINVAL, NULL },
	{ "1..10:x", 0, -EINVAL, NULL },
	{ "1..10:x2k", 1, -EINVAL, NULL },
	{ "1..10:0", 0, -EINVAL, NULL },
	{ "1..10:", 0, -EINVAL, NULL },
	{ "1..10:-1", 0, -EINVAL, NULL },
	{ "1..10:2:3", 0, -EINVAL, NULL },
	{ "1..10:x2:3", 0, -EINVAL, NULL },
	{ "1..2..3", 0, -EINVAL, NULL },
	{ "1...3", 0, -EINVAL, NULL },
	{ "1:2", 0, -EINVAL, NULL },
	{ "0..10:x2", 0, -EINVAL, NULL },
	{ "4k..16g:x2", 0, -EINVAL, NULL },
	{ "1-10", 0, -EINVAL, NULL },
	{ " 1..2", 0, -EINVAL, NULL },
	{ "1 ..2", 0, -EINVAL, NULL },
	{ "0x10", 0, -EINVAL, NULL },
	{ "1e9", 0, -EINVAL, NULL },
	{ "1,10", 0, -EINVAL, NULL }, /* lists are split by the caller */
	{ "18446744073709551616", 0, -ERANGE, NULL },
	{ "1..18446744073709551616", 0, -ERANGE, NULL },
	{ "1..18446744073709551615", 0, -ERANGE, NULL },
	{ "0..18446744073709551615", 0, -ERANGE, NULL },
	{ "1..100001", 0, -ERANGE, NULL },
	{ "1..16777216t", 1, -ERANGE, NULL },
};

static void test_items(void **state)
{
	size_t i, j;

	(void)state;
	for (i = 0; i < LENGTH(items); i++) {
		const struct item_row *row = &items[i];
		struct u64_array a = { 0 };
		struct err e = { 0 };
		struct str text = { 0 };
		int rc;

		/* What is there already stays, also when the item is refused. */
		assert_int_equal(u64_array_add(&a, 18446744073709551614u), 0);
		rc = parse_item(row->item, row->bytes, &a, &e);
		if (rc != row->rc)
			fail_msg("'%s': result %d (%s)", row->item, rc, e.msg);
		assert_int_equal(e.code, -rc);
		assert_true(a.v[0] == 18446744073709551614u);
		for (j = 1; j < a.n; j++)
			str_addf(&text, "%s%llu", j > 1 ? " " : "", (unsigned long long)a.v[j]);
		if (strcmp(str_text(&text), row->values ? row->values : "") != 0)
			fail_msg("'%s': %s", row->item, str_text(&text));
		str_done(&text);
		u64_array_done(&a);
	}
	u64_array_done(NULL);
}

/* A series may begin with the value that ended the one before. */
static void test_items_join(void **state)
{
	struct u64_array a = { 0 };

	(void)state;
	assert_int_equal(parse_item("4", 0, &a, NULL), 0);
	assert_int_equal(parse_item("4..8:x2", 0, &a, NULL), 0);
	assert_int_equal(a.n, 3);
	assert_true(a.v[1] == 4 && a.v[2] == 8);
	u64_array_done(&a);
}

static void test_items_limit(void **state)
{
	struct u64_array a = { 0 };
	char digits[400];

	(void)state;
	assert_int_equal(parse_item("1..100000", 0, &a, NULL), 0);
	assert_int_equal(a.n, 100000);
	assert_int_equal(parse_item("1", 0, &a, NULL), -ERANGE);
	assert_int_equal(parse_item("1..2", 0, &a, NULL), -ERANGE);
	assert_int_equal(parse_item("1..2:x2", 0, &a, NULL), -ERANGE);
	assert_int_equal(a.n, 100000);
	u64_array_done(&a);

	/* The finest factor over all of 64 bits stays within the limit. */
	assert_int_equal(parse_item("1..18446744073709551615:x1.001", 0, &a, NULL), 0);
	assert_true(a.n > 30000);
	u64_array_done(&a);

	memset(digits, '0', sizeof(digits) - 1);
	digits[sizeof(digits) - 1] = '\0';
	assert_int_equal(parse_item(digits, 0, &a, NULL), -EINVAL);
	assert_int_equal(a.n, 0);
	u64_array_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists),       cmocka_unit_test(test_contains),
		cmocka_unit_test(test_items),       cmocka_unit_test(test_items_join),
		cmocka_unit_test(test_items_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
