/* SPDX-License-Identifier: MIT */
/* Pages in regions: no two alike, each region a chain of tables of its own, index as asked. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

#include "access/regions.h"

#define KIB UINT64_C(1024)
#define LEAF (UINT64_C(2) << 20)
#define PMD (UINT64_C(1) << 30)
#define PUD (UINT64_C(512) << 30)
#define P4D (UINT64_C(256) << 40)
#define TABLES                      \
	{                           \
		LEAF, PMD, PUD, P4D \
	}

static void count(const struct regions *s, struct regions_count *ret)
{
	uint64_t *offsets = malloc(s->n * sizeof(*offsets));

	assert_non_null(offsets);
	for (uint64_t i = 0; i < s->n; i++) {
		offsets[i] = regions_offset(s, i);
		assert_true(offsets[i] < regions_span(s));
	}
	regions_count(s, offsets, s->n, ret);
	free(offsets);
}

static void pages_and_tables(void **state)
{
	static const struct {
		uint64_t n, regions, stride, page;
		uint64_t leaf, pmd, pud, p4d;
	} rows[] = {
		/* one page a region */
		{ 512, 512, 16 * LEAF, 4 * KIB, 512, 16, 1, 1 },
		{ 512, 512, LEAF, 4 * KIB, 512, 1, 1, 1 },
		{ 128, 128, PMD, 4 * KIB, 128, 128, 1, 1 },
		{ 128, 128, PUD, 4 * KIB, 128, 128, 128, 1 },
		{ 100, 100, P4D, 4 * KIB, 100, 100, 100, 100 },
		{ 600, 600, 4 * KIB, 4 * KIB, 2, 1, 1, 1 },
		/* the same pages in fewer regions: fewer tables of that level only */
		{ 8192, 1024, LEAF, 4 * KIB, 1024, 2, 1, 1 },
		{ 8192, 16, LEAF, 4 * KIB, 16, 1, 1, 1 },
		{ 8192, 64, PMD, 4 * KIB, 64, 64, 1, 1 },
		{ 8192, 128, PUD, 4 * KIB, 128, 128, 128, 1 },
		/* more than a leaf table holds: the region's next one */
		{ 8192, 1, PMD, 4 * KIB, 16, 1, 1, 1 },
		{ 8192, 2, PUD, 4 * KIB, 16, 2, 2, 1 },
		/* huge pages have no leaf tables of their own */
		{ 1024, 64, PMD, LEAF, 1024, 64, 1, 1 },
		{ 1024, 64, PUD, LEAF, 1024, 64, 64, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (int spread = 0; spread < 2; spread++) {
			struct regions s = { .n = rows[i].n,
					     .regions = rows[i].regions,
					     .stride_bytes = rows[i].stride,
					     .page_bytes = rows[i].page,
					     .table_bytes = TABLES,
					     .spread = spread,
					     .line_room = spread ? 4096 : 0 };
			struct regions_count c;

			count(&s, &c);
			assert_int_equal(c.pages, rows[i].n);
			assert_int_equal(c.tables[0], rows[i].leaf);
			assert_int_equal(c.tables[1], rows[i].pmd);
			assert_int_equal(c.tables[2], rows[i].pud);
			assert_int_equal(c.tables[3], rows[i].p4d);
		}
	}
}

static void fixed_means_the_same_index_everywhere(void **state)
{
	struct regions s = { .n = 512,
			     .regions = 512,
			     .stride_bytes = 16 * LEAF,
			     .page_bytes = 4 * KIB,
			     .table_bytes = TABLES };

	(void)state;
	for (uint64_t i = 0; i < s.n; i++)
		assert_int_equal(regions_offset(&s, i), i * 16 * LEAF);
}

/* Spread: all sets of a cache get lines of tables, all sets of a TLB get pages. */
static void spread_uses_all_indexes(void **state)
{
	static const uint64_t strides[] = { LEAF, PMD, PUD };

	(void)state;
	for (size_t k = 0; k < 3; k++) {
		struct regions s = { .n = 512,
				     .regions = 512,
				     .stride_bytes = strides[k],
				     .page_bytes = 4 * KIB,
				     .table_bytes = TABLES,
				     .spread = true };
		unsigned leaf[512] = { 0 }, pmd[512] = { 0 };

		for (uint64_t i = 0; i < s.n; i++) {
			leaf[regions_offset(&s, i) / 4096 % 512]++;
			pmd[regions_offset(&s, i) / LEAF % 512]++;
		}
		for (size_t i = 0; i < 512; i++) {
			assert_int_equal(leaf[i], 1);
			assert_int_equal(pmd[i], 1);
		}
	}
}

/* Eight pages of a region begin a line of its table, so that their number of lines is constant. */
static void pages_of_a_region_fill_lines(void **state)
{
	struct regions s = { .n = 8192,
			     .regions = 1024,
			     .stride_bytes = PMD,
			     .page_bytes = 4 * KIB,
			     .table_bytes = TABLES,
			     .spread = true };
	struct regions_count c;
	uint64_t *lines = malloc(s.n * sizeof(*lines));

	(void)state;
	assert_non_null(lines);
	for (uint64_t i = 0; i < s.n; i++)
		lines[i] = regions_offset(&s, i) / (8 * 4096) * (8 * 4096);
	s.page_bytes = 8 * 4096; /* to count lines of eight entries */
	regions_count(&s, lines, s.n, &c);
	assert_int_equal(c.pages, 1024);
	free(lines);
}

static void room(void **state)
{
	static const struct {
		uint64_t stride, page, room;
	} rows[] = {
		{ LEAF, 4 * KIB, 512 },
		{ PMD, 4 * KIB, 512 * 512 },
		{ PMD, LEAF, 512 },
		{ 16 * LEAF, 4 * KIB, 512 },     /* the first of its leaf tables */
		{ 16 * LEAF + 128, 4 * KIB, 1 }, /* no whole tables */
		{ LEAF, LEAF, 1 },
		{ 4 * KIB, 4 * KIB, 1 },
		{ 32 * KIB, 4 * KIB, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct regions s = { .n = 8,
				     .regions = 8,
				     .stride_bytes = rows[i].stride,
				     .page_bytes = rows[i].page,
				     .table_bytes = TABLES };

		assert_int_equal(regions_room(&s), rows[i].room);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_and_tables),
		cmocka_unit_test(fixed_means_the_same_index_everywhere),
		cmocka_unit_test(spread_uses_all_indexes),
		cmocka_unit_test(pages_of_a_region_fill_lines),
		cmocka_unit_test(room),
	};

	return cmocka_run_group_tests_name("regions", tests, NULL, NULL);
}
