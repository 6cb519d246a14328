/* SPDX-License-Identifier: MIT */
/* Page-table pages by geometry: sizes that textbooks give, boundaries, and nothing for nothing. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "access/tables.h"

#define K UINT64_C(1024)
#define M (K * K)
#define G (K * M)
#define T (K * G)

static void spans_of_levels(void **state)
{
	(void)state;
	assert_true(tables_span(4 * K, 0) == 2 * M);
	assert_true(tables_span(4 * K, 1) == G);
	assert_true(tables_span(4 * K, 2) == 512 * G);
	assert_true(tables_span(4 * K, 3) == 256 * T);
	assert_true(tables_span(16 * K, 0) == 32 * M);
	assert_true(tables_span(64 * K, 0) == 512 * M);
	assert_true(tables_span(64 * K, 3) == UINT64_MAX);
}

static void tables_of_ranges(void **state)
{
	static const struct {
		uint64_t base, page, start, bytes;
		unsigned levels;
		uint64_t leaf, pmd, pud;
	} rows[] = {
		/* 500 connections on 8000 MiB: 4000 leaf tables each, 7.63 GiB in all */
		{ 4 * K, 4 * K, 0, 8000 * M, 4, 4000, 8, 1 },
		{ 4 * K, 2 * M, 0, 8000 * M, 4, 0, 8, 1 },
		{ 4 * K, G, 0, 8 * G, 4, 0, 0, 1 },
		{ 4 * K, 4 * K, 0, 1, 4, 1, 1, 1 },
		/* two bytes across a boundary of all levels */
		{ 4 * K, 4 * K, 512 * G - 1, 2, 4, 2, 2, 2 },
		{ 4 * K, 4 * K, 2 * M - 1, 2, 4, 2, 1, 1 },
		{ 4 * K, 4 * K, 0, 4 * M, 2, 2, 1, 0 },
		{ 64 * K, 64 * K, 0, G, 3, 2, 1, 1 },
		{ 4 * K, 4 * K, 12345, 0, 4, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct table_count c = tables_under(rows[i].base, rows[i].levels, rows[i].page,
						    rows[i].start, rows[i].bytes);

		assert_int_equal(c.pages[0], rows[i].leaf);
		assert_int_equal(c.pages[1], rows[i].pmd);
		assert_int_equal(c.pages[2], rows[i].pud);
		assert_int_equal(tables_bytes(&c, rows[i].base, 1), rows[i].leaf * rows[i].base);
	}
}

static void five_hundred_connections(void **state)
{
	struct table_count c = tables_under(4 * K, 4, 4 * K, 0, 8000 * M);
	uint64_t leaf = 500 * tables_bytes(&c, 4 * K, 1);

	(void)state;
	assert_true(leaf == UINT64_C(8192000000)); /* 7.63 GiB */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_of_levels),
		cmocka_unit_test(tables_of_ranges),
		cmocka_unit_test(five_hundred_connections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
