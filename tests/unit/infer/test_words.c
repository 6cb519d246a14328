// SPDX-License-Identifier: MIT
/* Words of settings as bytes, and which curve of the toll set a setting is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "infer/facts.h"

#include "fact_sim.h"

static void strides_and_pages(void **state)
{
	static const struct {
		const char *stride, *page;
		uint64_t bytes;
	} rows[] = {
		{ "page", "4k", 4096 },
		{ "page", "base", 4096 },
		{ "page", "thp", 2097152 },
		{ "page", "hugetlb-1g", UINT64_C(1) << 30 },
		{ "page", "64k", 65536 },
		{ "base-page", "thp", 4096 },
		{ "leaf-table", "4k", 2097152 },
		{ "leaf-table+base-page", "4k", 2097152 + 4096 },
		{ "leaf-table+128", "4k", 2097152 + 128 },
		{ "pmd-table", "4k", UINT64_C(1) << 30 },
		{ "pud-table", "4k", UINT64_C(1) << 39 },
		{ "p4d-table", "4k", UINT64_C(1) << 48 },
		{ "32m+128", "4k", (UINT64_C(32) << 20) + 128 },
		{ "4k", "4k", 4096 },
		{ "", "4k", 0 },
		{ "+", "4k", 0 },
		{ "page+", "4k", 0 },
		{ "page+nonsense", "4k", 0 },
		{ "nonsense", "4k", 0 },
		{ "page", "nonsense", 0 },
		{ "page", "hugetlb-", 0 },
		{ "-4k", "4k", 0 },
		{ "leaf-table+leaf-table+leaf-table+leaf-table+leaf-table+leaf-table", "4k", 0 },
		{ "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", "4k",
		  0 },
	};
	struct run *r = sim_run(&sim_guest);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(stride_word_bytes(r, rows[i].stride, rows[i].page), rows[i].bytes);
	assert_true(page_word_is_base(r, "base"));
	assert_true(page_word_is_base(r, "4k"));
	assert_false(page_word_is_base(r, "thp"));
	assert_false(page_word_is_base(r, "64k"));
	assert_false(page_word_is_base(r, "nonsense"));
	run_free(r);
}

static void an_unknown_page_size_is_no_size(void **state)
{
	struct run *r = run_new();

	(void)state;
	assert_non_null(r);
	assert_int_equal(base_page_bytes(r), 0);
	assert_int_equal(page_word_bytes(r, "thp"), 0);
	assert_int_equal(stride_word_bytes(r, "leaf-table", "4k"), 0);
	assert_int_equal(stride_word_bytes(r, "page", "4k"), 4096);
	assert_false(page_word_is_base(r, "4k"));
	attrs_set_int(&r->arena, &r->fingerprint, "page_bytes", -4096);
	assert_int_equal(base_page_bytes(r), 0);
	attrs_set_int(&r->arena, &r->fingerprint, "page_bytes", 65536);
	assert_int_equal(page_word_bytes(r, "thp"), UINT64_C(512) << 20);
	run_free(r);
}

static void roles_follow_the_settings(void **state)
{
	static const struct {
		struct sim_row row;
		enum curve_role role;
	} rows[] = {
		{ { "tlb.chase", "4k", "page", "zero", "avoid", .page_tables = NULL },
		  CURVE_BASE_HITS },
		{ { "tlb.chase", "4k", "page", "zero", "plain", .page_tables = NULL },
		  CURVE_BASE_WALK },
		{ { "tlb.chase", "4k", "4k", "zero", "plain", .page_tables = NULL },
		  CURVE_BASE_WALK },
		{ { "tlb.chase", "4k", "leaf-table+4k", "zero", "plain", .page_tables = NULL },
		  CURVE_BASE_FAR },
		{ { "tlb.chase", "thp", "base-page", "distinct", "plain", .page_tables = NULL },
		  CURVE_INSIDE },
		{ { "tlb.chase", "thp", "page", "zero", "plain", .page_tables = NULL },
		  CURVE_LARGE },
		{ { "tlb.chase", "64k", "page", "distinct", "plain", .page_tables = NULL },
		  CURVE_LARGE },
		{ { "tlb.chase", "thp", "page", "distinct", "plain", .page_tables = NULL },
		  CURVE_OTHER },
		{ { "tlb.chase", "4k", "page", "distinct", "plain", .page_tables = NULL },
		  CURVE_OTHER },
		{ { "tlb.chase", "4k", "32m+128", "zero", "plain", .page_tables = NULL },
		  CURVE_OTHER },
		{ { "tlb.chase", "4k", "nonsense", "zero", "plain", .page_tables = NULL },
		  CURVE_OTHER },
		{ { "tlb.chase", "4k", "page", "zero", "plain", .page_tables = "remote" },
		  CURVE_OTHER },
		{ { "cache.chase", "4k", .spacing = 64, .page_tables = NULL }, CURVE_CACHE },
		{ { "cache.chase", "4k", .spacing = 4096, .page_tables = NULL }, CURVE_OTHER },
		{ { "cache.chase", "4k", .spacing = 64, .page_tables = "1" }, CURVE_OTHER },
		{ { "cache.chase", "4k", .spacing = 512, .pair = 64, .page_tables = NULL },
		  CURVE_LINE },
		{ { "fault.anon", "4k", .page_tables = NULL }, CURVE_OTHER },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct run *r = sim_run(&sim_guest);
		struct arena a = { 0 };
		struct points p;
		struct curves c;

		sim_skip(r, &rows[i].row, "only the setting matters");
		assert_int_equal(points_assemble(&a, r, &p), 0);
		assert_int_equal(curves_assemble(&a, r, &p, &c), 0);
		assert_int_equal(c.n, 1);
		assert_int_equal(curve_role(r, &c.v[0]), rows[i].role);
		arena_done(&a);
		run_free(r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strides_and_pages),
		cmocka_unit_test(an_unknown_page_size_is_no_size),
		cmocka_unit_test(roles_follow_the_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
