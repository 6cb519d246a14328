/* SPDX-License-Identifier: MIT */
/* Mapped regions on this kernel, seen through the proofs; and proofs that must notice what is
 * wrong. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "host/sysroot.h"
#include "mem/load.h"
#include "mem/policy.h"
#include "mem/proof.h"
#include "mem/region.h"

enum { N = 64 };

static uint64_t page_bytes(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t leaf_span(void)
{
	return page_bytes() * (page_bytes() / sizeof(uint64_t));
}

static uint64_t thp_bytes(void)
{
	struct sysroot sr;
	uint64_t bytes = 0;
	char mode[32] = "";

	if (sysroot_init(&sr, NULL, NULL) < 0 ||
	    sysroot_read_choice(&sr, "sys/kernel/mm/transparent_hugepage/enabled", mode,
				sizeof(mode), NULL) < 0 ||
	    strcmp(mode, "never") == 0)
		return 0;
	sysroot_read_u64(&sr, "sys/kernel/mm/transparent_hugepage/hpage_pmd_size", &bytes, NULL);
	return bytes;
}

static struct region_spec spec_of(enum backing backing, enum page_kind kind, uint64_t page,
				  uint64_t span)
{
	return (struct region_spec){ .span_bytes = span,
				     .kind = kind,
				     .page_bytes = page,
				     .backing = backing,
				     .align_bytes = UINT64_C(1) << 30,
				     .data_node = -1,
				     .table_node = -1 };
}

static void strided(uint64_t *offsets, size_t n, uint64_t stride)
{
	for (size_t i = 0; i < n; i++)
		offsets[i] = i * stride;
}

/* Small pages stay small under every THP mode that this kernel is in; each one is its own. */
static void distinct_small_pages(void **state)
{
	struct region_spec s =
		spec_of(BACKING_DISTINCT, PAGE_KIND_BASE, page_bytes(), N * page_bytes());
	uint64_t offsets[N];
	struct region r;
	struct proof_pages p;
	struct err e = { 0 };

	(void)state;
	strided(offsets, N, page_bytes());
	assert_int_equal(region_map(&s, &r, &e), 0);
	assert_int_equal((uintptr_t)r.base % s.align_bytes, 0);
	assert_int_equal(region_populate(&r, offsets, N, &e), 0);
	assert_int_equal(proof_pages(&r, &p, &e), 0);
	assert_int_equal(p.rss_bytes, N * page_bytes());
	assert_int_equal(p.huge_bytes, 0);
	assert_int_equal(p.kernel_page_bytes, page_bytes());
	assert_true(r.faults >= N);
	region_done(&r);
	assert_null(r.base);
}

/* Each page one leaf table away needs a table of its own; VmPTE shows them. */
static void zero_pages_cost_only_tables(void **state)
{
	struct region_spec s = spec_of(BACKING_ZERO, PAGE_KIND_BASE, page_bytes(), N * leaf_span());
	uint64_t offsets[N];
	struct region r;
	struct proof_pages p;
	struct err e = { 0 };
	int64_t asked, frames, follow;
	int result;

	(void)state;
	strided(offsets, N, leaf_span());
	assert_int_equal(region_map(&s, &r, &e), 0);
	assert_int_equal(region_populate(&r, offsets, N, &e), 0);
	assert_int_equal(proof_pages(&r, &p, &e), 0);
	assert_int_equal(p.rss_bytes, 0);
	assert_true(r.table_bytes_after - r.table_bytes_before >= (int64_t)(N * page_bytes()));
	result = proof_frames(&r, offsets, N, &asked, &frames, &follow);
	if (result != -EPERM) {
		assert_int_equal(result, 0);
		assert_int_equal(asked, N);
		assert_int_equal(frames, 1);
	}
	region_done(&r);
}

static void huge_pages_are_seen_as_huge(void **state)
{
	uint64_t huge = thp_bytes();
	struct region_spec s = spec_of(BACKING_DISTINCT, PAGE_KIND_THP, huge, 4 * huge);
	uint64_t offsets[4];
	struct region r;
	struct proof_pages p;
	struct err e = { 0 };

	(void)state;
	if (!huge)
		skip();
	strided(offsets, 4, huge);
	assert_int_equal(region_map(&s, &r, &e), 0);
	assert_int_equal(region_populate(&r, offsets, 4, &e), 0);
	assert_int_equal(proof_pages(&r, &p, &e), 0);
	assert_int_equal(p.huge_bytes, 4 * huge);
	/* and the proof notices when one of them is split */
	assert_int_equal(mprotect(r.base, page_bytes(), PROT_READ), 0);
	assert_int_equal(proof_pages(&r, &p, &e), 0);
	assert_int_equal(p.huge_bytes, 3 * huge);
	region_done(&r);
}

/* Neighbours below one huge zero page need no fault; below small zero pages each one does. */
static void huge_zero_page_is_told_from_small_ones(void **state)
{
	uint64_t huge = thp_bytes();
	struct region_spec s = spec_of(BACKING_ZERO, PAGE_KIND_THP, huge, 8 * huge);
	uint64_t offsets[8];
	struct region r;
	struct err e = { 0 };

	(void)state;
	if (!huge)
		skip();
	strided(offsets, 8, huge);
	assert_int_equal(region_map(&s, &r, &e), 0);
	assert_int_equal(region_populate(&r, offsets, 8, &e), 0);
	assert_int_equal(proof_huge_faults(&r, offsets, 8, page_bytes()), 0);
	region_done(&r);
	s = spec_of(BACKING_ZERO, PAGE_KIND_BASE, page_bytes(), 8 * huge);
	assert_int_equal(region_map(&s, &r, &e), 0);
	assert_int_equal(region_populate(&r, offsets, 8, &e), 0);
	assert_true(proof_huge_faults(&r, offsets, 8, page_bytes()) >= 8);
	region_done(&r);
}

static void contiguous_small_pages(void **state)
{
	uint64_t huge = thp_bytes(), n = huge ? 2 * huge / page_bytes() : 0;
	struct region_spec s = spec_of(BACKING_CONTIGUOUS, PAGE_KIND_BASE, page_bytes(), 2 * huge);
	uint64_t *offsets = calloc(n ? n : 1, sizeof(*offsets));
	int64_t asked, frames, follow;
	struct region r;
	struct proof_pages p;
	struct err e = { 0 };

	(void)state;
	if (!huge) {
		free(offsets);
		skip();
	}
	strided(offsets, n, page_bytes());
	assert_int_equal(region_map(&s, &r, &e), 0);
	assert_int_equal(region_populate(&r, offsets, n, &e), 0);
	assert_int_equal(proof_pages(&r, &p, &e), 0);
	assert_int_equal(p.huge_bytes, 0);
	assert_int_equal(p.rss_bytes, 2 * huge);
	if (proof_frames(&r, offsets, n, &asked, &frames, &follow) == 0) {
		assert_int_equal(frames, asked);
		assert_true(follow >= asked - 3); /* two huge pages: one seam or two */
	}
	region_done(&r);
	free(offsets);
}

static void memfd_repeats_few_frames(void **state)
{
	enum { MANY = 4 * REGION_MEMFD_CHUNK_PAGES };
	struct region_spec s =
		spec_of(BACKING_MEMFD, PAGE_KIND_BASE, page_bytes(), MANY * page_bytes());
	uint64_t offsets[MANY];
	int64_t asked, frames, follow;
	struct region r;
	struct err e = { 0 };

	(void)state;
	strided(offsets, MANY, page_bytes());
	assert_int_equal(region_map(&s, &r, &e), 0);
	assert_int_equal(region_populate(&r, offsets, MANY, &e), 0);
	r.base[offsets[0]] = 77;
	assert_int_equal(r.base[offsets[REGION_MEMFD_CHUNK_PAGES]], 77);
	if (proof_frames(&r, offsets, MANY, &asked, &frames, &follow) == 0)
		assert_int_equal(frames, REGION_MEMFD_CHUNK_PAGES);
	region_done(&r);
}

static void nonsense_is_refused(void **state)
{
	static const struct {
		enum backing backing;
		enum page_kind kind;
	} rows[] = {
		{ BACKING_ZERO, PAGE_KIND_HUGETLB },   { BACKING_ZERO, PAGE_KIND_MTHP },
		{ BACKING_CONTIGUOUS, PAGE_KIND_THP }, { BACKING_MEMFD, PAGE_KIND_HUGETLB },
		{ BACKING_MEMFD, PAGE_KIND_THP },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct region_spec s = spec_of(rows[i].backing, rows[i].kind, 2 << 20, 2 << 20);
		struct region r = REGION_NONE;
		struct err e = { 0 };

		assert_int_equal(region_map(&s, &r, &e), -EINVAL);
		assert_non_null(strstr(e.msg, "backing="));
		assert_null(r.base);
	}
}

/* A hugetlb pool without pages: an error with the reason, no SIGBUS. */
static void empty_hugetlb_pool_is_an_error(void **state)
{
	struct region_spec s = spec_of(BACKING_DISTINCT, PAGE_KIND_HUGETLB, 2 << 20, 4 << 20);
	struct sysroot sr;
	uint64_t free_pages = 1;
	uint64_t offsets[2] = { 0, 2 << 20 };
	struct region r;
	struct err e = { 0 };

	(void)state;
	sysroot_init(&sr, NULL, NULL);
	sysroot_read_u64(&sr, "sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages",
			 &free_pages, NULL);
	if (free_pages != 0)
		skip();
	if (region_map(&s, &r, &e) < 0)
		return; /* refused already at mmap: as good */
	assert_true(region_populate(&r, offsets, 2, &e) < 0);
	assert_non_null(strstr(e.msg, "pool"));
	region_done(&r);
}

static void data_nodes_are_told(void **state)
{
	struct region_spec s =
		spec_of(BACKING_DISTINCT, PAGE_KIND_BASE, page_bytes(), N * page_bytes());
	uint64_t offsets[N];
	struct proof_nodes p;
	struct region r;
	struct err e = { 0 };
	int result;

	(void)state;
	strided(offsets, N, page_bytes());
	s.data_node = 0;
	assert_int_equal(region_map(&s, &r, &e), 0);
	assert_int_equal(region_populate(&r, offsets, N / 2, &e), 0);
	result = proof_data_nodes(&r, offsets, N, 0, &p);
	if (result == 0) {
		assert_int_equal(p.asked, N);
		assert_int_equal(p.on_node, N / 2);
		assert_int_equal(p.absent, N / 2);
		/* the same pages do not prove another node */
		assert_int_equal(proof_data_nodes(&r, offsets, N / 2, 1, &p), 0);
		assert_int_equal(p.on_node, 0);
		assert_int_equal(p.elsewhere, N / 2);
	}
	region_done(&r);
}

/* Other processes' tables come and go in the same counters: one undisturbed try of many is enough.
 */
static bool witness_shows(int node, bool on_node)
{
	for (int i = 0; i < 20; i++) {
		struct proof_tables p;
		struct err e = { 0 };

		assert_int_equal(proof_table_nodes(node, page_bytes(), 4096, &p, &e), 0);
		assert_int_equal(p.tables, 4096);
		if (on_node ? p.on_node > 4000 && p.on_node < 4400 && p.elsewhere < 400
			    : p.on_node == 0 && p.elsewhere > 4000)
			return true;
	}
	return false;
}

static void table_witness_counts_tables(void **state)
{
	struct proof_tables p;
	struct err e = { 0 };

	(void)state;
	if (proof_table_nodes(0, page_bytes(), 4096, &p, &e) < 0)
		skip(); /* no NUMA: no per-node counters */
	if (p.policy_error == 0 && proof_count_nodes() == 1)
		assert_true(witness_shows(0, true));
	/* a node that does not exist gets nothing: the tables are elsewhere */
	assert_true(witness_shows(900, false));
	assert_false(witness_shows(900, true));
}

/* Counted around populating where there are several nodes; else known not to be. */
static void own_tables_are_counted(void **state)
{
	enum { TABLES = 1024 };
	struct region_spec s =
		spec_of(BACKING_ZERO, PAGE_KIND_BASE, page_bytes(), TABLES * leaf_span());
	uint64_t offsets[TABLES];
	struct proof_counted counted;
	struct region r;
	struct err e = { 0 };
	int known;

	(void)state;
	strided(offsets, TABLES, leaf_span());
	s.table_node = 0;
	known = proof_count_tables(0, &counted);
	assert_true(known == 0 || known == -ENODEV || known == -EACCES || known == -ENOENT);
	assert_int_equal(region_map(&s, &r, &e), 0);
	assert_int_equal(region_populate(&r, offsets, TABLES, &e), 0);
	assert_int_equal(r.tables_counted, known == 0);
	if (known == 0 && r.table_error == 0)
		assert_true(r.tables_on_node > TABLES / 2);
	region_done(&r);
	s.table_node = -1;
	assert_int_equal(region_map(&s, &r, &e), 0);
	assert_int_equal(region_populate(&r, offsets, TABLES, &e), 0);
	assert_false(r.tables_counted);
	region_done(&r);
}

static void policies_refuse_bad_nodes(void **state)
{
	(void)state;
	assert_int_equal(policy_bind_task(5000), -EINVAL);
	assert_true(policy_bind_task(900) < 0);
	assert_int_equal(policy_reset_task(), 0);
}

static void load_starts_and_stops(void **state)
{
	struct load l = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(load_start(0, -1, 1 << 20, &l, &e), 0);
	assert_true(l.pid > 0);
	load_stop(&l);
	assert_int_equal(l.pid, 0);
	assert_true(load_start(100000, -1, 1 << 20, &l, &e) < 0);
	assert_non_null(strstr(e.msg, "100000"));
	load_stop(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distinct_small_pages),
		cmocka_unit_test(zero_pages_cost_only_tables),
		cmocka_unit_test(huge_pages_are_seen_as_huge),
		cmocka_unit_test(huge_zero_page_is_told_from_small_ones),
		cmocka_unit_test(contiguous_small_pages),
		cmocka_unit_test(memfd_repeats_few_frames),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(empty_hugetlb_pool_is_an_error),
		cmocka_unit_test(data_nodes_are_told),
		cmocka_unit_test(table_witness_counts_tables),
		cmocka_unit_test(own_tables_are_counted),
		cmocka_unit_test(policies_refuse_bad_nodes),
		cmocka_unit_test(load_starts_and_stops),
	};

	return cmocka_run_group_tests_name("region", tests, NULL, NULL);
}
