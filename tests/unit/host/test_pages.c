/* SPDX-License-Identifier: MIT */
/* machine_pages.c on invented machines: sizes, switches, pools, spans of tables, refusals. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tree_test.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const struct page_size *page(const struct machine *m, const char *name)
{
	const struct page_size *p = machine_page(m, name);

	if (!p)
		fail_msg("no page size %s", name);
	return p;
}

static void test_pages_plain(void **state)
{
	struct tree_test t;

	(void)state;
	tree_machine(&t, "plain");
	assert_int_equal(t.m.n_pages, 6);
	assert_true(t.m.pmd_table_span == 1ull << 30);
	assert_true(t.m.pud_table_span == 512ull << 30);
	assert_true(page(&t.m, "4k")->usable);
	assert_true(page(&t.m, "4k")->zero_page);
	assert_ptr_equal(machine_page(&t.m, "base"), machine_page(&t.m, "4k"));
	assert_false(page(&t.m, "16k")->usable);
	assert_non_null(strstr(page(&t.m, "16k")->reason,
			       "echo madvise > "
			       "/sys/kernel/mm/transparent_hugepage/hugepages-16kB/enabled"));
	assert_true(page(&t.m, "64k")->usable); /* inherits madvise */
	assert_false(page(&t.m, "64k")->zero_page);
	assert_true(page(&t.m, "thp")->usable);
	assert_true(page(&t.m, "thp")->zero_page);
	assert_ptr_equal(machine_page(&t.m, "auto"), machine_page(&t.m, "thp"));
	assert_false(page(&t.m, "hugetlb-2m")->usable);
	assert_ptr_equal(machine_page(&t.m, "hugetlb"), machine_page(&t.m, "hugetlb-2m"));
	assert_non_null(
		strstr(page(&t.m, "hugetlb-2m")->reason,
		       "echo 512 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"));
	assert_non_null(
		strstr(page(&t.m, "hugetlb-1g")->reason,
		       "echo 1 > /sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages"));
	assert_null(machine_page(&t.m, "8k")); /* for shared memory only */
	assert_null(machine_page(&t.m, "2m"));
	assert_null(machine_page(&t.m, ""));
	tree_close(&t);
}

static void test_pages_elsewhere(void **state)
{
	struct tree_test t;

	(void)state;
	tree_machine(&t, "two-sockets");
	assert_true(page(&t.m, "hugetlb-2m")->usable);
	assert_int_equal(page(&t.m, "hugetlb-2m")->pool_pages, 1024);
	assert_int_equal(page(&t.m, "hugetlb-2m")->pool_free, 976); /* less reserved ones */
	assert_non_null(strstr(page(&t.m, "hugetlb-1g")->reason, "echo 3 > "));
	tree_close(&t);

	tree_machine(&t, "arm64-64k");
	assert_string_equal(t.m.pages[0].name, "64k");
	assert_true(t.m.pmd_table_span == 4ull << 40);
	assert_true(page(&t.m, "2m")->usable);
	assert_int_equal(page(&t.m, "2m")->kind, PAGE_KIND_MTHP);
	assert_false(page(&t.m, "thp")->usable); /* its own switch says never */
	assert_ptr_equal(machine_page(&t.m, "auto"), machine_page(&t.m, "64k"));
	assert_ptr_equal(machine_page(&t.m, "hugetlb"), machine_page(&t.m, "hugetlb-512m"));
	assert_true(page(&t.m, "hugetlb-512m")->usable);
	assert_false(page(&t.m, "hugetlb-16g")->usable);
	tree_close(&t);

	tree_machine(&t, "thp-never");
	assert_false(page(&t.m, "thp")->usable);
	assert_false(page(&t.m, "thp")->zero_page);
	assert_non_null(strstr(page(&t.m, "thp")->reason,
			       "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"));
	assert_ptr_equal(machine_page(&t.m, "auto"), machine_page(&t.m, "base"));
	assert_null(machine_page(&t.m, "hugetlb"));
	tree_close(&t);

	tree_machine(&t, "no-numa");
	assert_false(page(&t.m, "thp")->usable);
	assert_null(machine_page(&t.m, "hugetlb"));
	tree_close(&t);

	/* The pool is full but all of it is on a node of others. */
	tree_machine(&t, "sparse-nodes");
	assert_int_equal(page(&t.m, "hugetlb-2m")->pool_free, 64);
	assert_false(page(&t.m, "hugetlb-2m")->usable);
	assert_non_null(strstr(page(&t.m, "hugetlb-2m")->reason,
			       "echo 512 > /sys/devices/system/node/node5/hugepages/"
			       "hugepages-2048kB/nr_hugepages"));
	tree_close(&t);

	/* The pool is full but the group may use none of it: touching would be SIGBUS. */
	tree_machine(&t, "cgroup-v2");
	assert_int_equal(page(&t.m, "hugetlb-2m")->pool_free, 512);
	assert_false(page(&t.m, "hugetlb-2m")->usable);
	assert_non_null(strstr(page(&t.m, "hugetlb-2m")->reason, "hugetlb.2MB.max"));
	tree_close(&t);
}

static void test_node_pools(void **state)
{
	struct tree_test t;
	uint64_t v = 7;

	(void)state;
	tree_machine(&t, "two-sockets");
	assert_int_equal(machine_node_hugetlb_free(&t.sr, 1, 2u << 20, &v), 0);
	assert_int_equal(v, 0);
	assert_int_equal(machine_node_hugetlb_free(&t.sr, 0, 2u << 20, &v), 0);
	assert_int_equal(v, 1000);
	assert_int_equal(machine_node_hugetlb_free(&t.sr, 0, 1u << 30, &v), -ENOENT);
	assert_int_equal(machine_node_hugetlb_free(&t.sr, 2, 2u << 20, &v), -ENOENT);
	assert_int_equal(v, 1000);
	tree_close(&t);
}

static void test_thp_switches(void **state)
{
	static const struct {
		const char *top, *own, *process;
		bool usable;
	} cases[] = {
		{ "[always] madvise never", "always [inherit] madvise never", "1", true },
		{ "always [madvise] never", "always [inherit] madvise never", "1", true },
		{ "always madvise [never]", "[always] inherit madvise never", "1", true },
		{ "always madvise [never]", "always inherit [madvise] never", "1", true },
		{ "always madvise [never]", "always [inherit] madvise never", "1", false },
		{ "[always] madvise never", "always inherit madvise [never]", "1", false },
		{ "[always] madvise never", "[always] inherit madvise never", "0", false },
		{ "nonsense", "[always] inherit madvise never", "1", false },
	};
	struct tree_test t;

	(void)state;
	tree_open(&t, "plain");
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct machine m;
		char status[64];

		tree_write(&t, "sys/kernel/mm/transparent_hugepage/enabled", cases[i].top);
		tree_write(&t, "sys/kernel/mm/transparent_hugepage/hugepages-2048kB/enabled",
			   cases[i].own);
		snprintf(status, sizeof(status), "THP_enabled:\t%s\n", cases[i].process);
		tree_write(&t, "proc/self/status", status);
		assert_int_equal(machine_read(&t.sr, &m, NULL), 0);
		assert_true(page(&m, "thp")->usable == cases[i].usable);
		machine_done(&m);
	}
	tree_close(&t);
}

static void test_base_page_refused(void **state)
{
	static const char *const sizes[] = { "KernelPageSize: 3 kB\n", "KernelPageSize: 2 kB\n",
					     "KernelPageSize: 2048 kB\n", "Rss: 4 kB\n", "" };
	struct tree_test t;

	(void)state;
	tree_open(&t, "plain");
	for (size_t i = 0; i < LENGTH(sizes); i++) {
		struct machine m = { .n_cpus = 77 };
		struct err e = { 0 };

		tree_write(&t, "proc/self/smaps", sizes[i]);
		assert_true(machine_read(&t.sr, &m, &e) < 0);
		assert_int_equal(m.n_cpus, 77);
		assert_non_null(strstr(e.msg, "page size"));
	}
	tree_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages_plain),       cmocka_unit_test(test_pages_elsewhere),
		cmocka_unit_test(test_node_pools),        cmocka_unit_test(test_thp_switches),
		cmocka_unit_test(test_base_page_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
