/* SPDX-License-Identifier: MIT */
/*
 * The chases for real, small: every backing proves itself on this kernel, the checksum notices a
 * broken chain, and the descriptors refuse what makes no sense.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <cmocka.h>

#include "bench/chase.h"
#include "host/sysroot.h"
#include "run_words.h"

static uint64_t thp(void)
{
	struct sysroot sr;
	uint64_t bytes = 0;
	char mode[32] = "never";

	sysroot_init(&sr, NULL, NULL);
	sysroot_read_choice(&sr, "sys/kernel/mm/transparent_hugepage/enabled", mode, sizeof(mode),
			    NULL);
	if (strcmp(mode, "never") != 0)
		sysroot_read_u64(&sr, "sys/kernel/mm/transparent_hugepage/hpage_pmd_size", &bytes,
				 NULL);
	return bytes;
}

static void every_backing_proves_itself(void **state)
{
	static const uint64_t pointers[] = { 1, 7, 100, 600 };
	static const char *const backings[] = { "distinct", "zero", "memfd", "contiguous" };
	static const char *const orders[] = { "random", "sequential" };
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	(void)state;
	for (size_t b = 0; b < (thp() ? 4 : 3); b++) {
		for (size_t o = 0; o < 2; o++) {
			char words[400];
			struct seen s;

			snprintf(words, sizeof(words),
				 "stride=page stride.bytes=%ju page=base page.kind=base "
				 "page.bytes=%ju "
				 "backing=%s alias=plain line=auto order=%s",
				 (uintmax_t)page, (uintmax_t)page, backings[b], orders[o]);
			run_words("tlb.chase", words, pointers, 4, NULL, NULL, &s);
			if (s.ok != 4)
				fail_msg("backing=%s: %s", backings[b], s.reason);
			assert_string_equal(s.checksum, "right");
			if (geteuid() == 0)
				assert_string_equal(s.unproven, "");
		}
	}
}

/* Small pages where huge ones were asked for: said as such, not as memory that is missing. */
static void small_pages_are_no_proof_of_huge_ones(void **state)
{
	static const uint64_t pointers[] = { 8 };
	uint64_t huge = thp();
	char words[400];
	struct seen s;

	(void)state;
	if (!huge || prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0)
		skip();
	snprintf(words, sizeof(words),
		 "stride=page stride.bytes=%ju page=thp page.kind=thp page.bytes=%ju "
		 "backing=distinct alias=plain line=auto order=random",
		 (uintmax_t)huge, (uintmax_t)huge);
	run_words("tlb.chase", words, pointers, 1, NULL, NULL, &s);
	prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
	assert_int_equal(s.ok, 0);
	if (!strstr(s.reason, "are huge pages"))
		fail_msg("reason: %s", s.reason);
}

/* Asked for a CPU on which it does not run: measured, and invalid. */
static void another_cpu_is_no_proof(void **state)
{
	static const uint64_t pointers[] = { 8 };
	char words[400];
	struct seen s;

	(void)state;
	snprintf(
		words, sizeof(words),
		"stride=page stride.bytes=%ld page=base page.kind=base page.bytes=%ld backing=zero "
		"alias=plain line=auto order=random",
		sysconf(_SC_PAGESIZE), sysconf(_SC_PAGESIZE));
	run_words_cpu = 99999;
	run_words("tlb.chase", words, pointers, 1, NULL, NULL, &s);
	run_words_cpu = -1;
	assert_int_equal(s.ok, 0);
	assert_non_null(strstr(s.reason, "CPU 99999 was asked for"));
}

static void alias_free_addresses_are_proven_too(void **state)
{
	static const uint64_t pointers[] = { 16, 300 };
	char words[400];
	struct seen s;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	(void)state;
	snprintf(
		words, sizeof(words),
		"stride=page stride.bytes=%ju page=base page.kind=base page.bytes=%ju backing=zero "
		"alias=avoid line=auto order=random",
		(uintmax_t)page, (uintmax_t)page);
	run_words("tlb.chase", words, pointers, 2, NULL, NULL, &s);
	assert_int_equal(s.ok, 2);
}

static void huge_pages_and_strides_inside(void **state)
{
	static const uint64_t pointers[] = { 1, 4 };
	uint64_t huge = thp(), page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t strides[] = { huge, page, huge + page };
	static const char *const backings[] = { "distinct", "zero" };

	(void)state;
	if (!huge)
		skip();
	for (size_t i = 0; i < 3; i++) {
		for (size_t b = 0; b < 2; b++) {
			char words[400];
			struct seen s;

			snprintf(words, sizeof(words),
				 "stride=x stride.bytes=%ju page=thp page.kind=thp page.bytes=%ju "
				 "backing=%s alias=plain line=auto order=random",
				 (uintmax_t)strides[i], (uintmax_t)huge, backings[b]);
			run_words("tlb.chase", words, pointers, 2, NULL, NULL, &s);
			if (s.ok != 2)
				fail_msg("%s: %s", words, s.reason);
		}
	}
}

static void cache_chase_with_and_without_pairs(void **state)
{
	static const uint64_t sets[] = { 4096, 65536, 1 << 20 };
	static const char *const words[] = {
		"page=base page.kind=base spacing=64 pair=0 order=random",
		"page=base page.kind=base spacing=512 pair=64 order=random",
		"page=base page.kind=base spacing=64 pair=32 order=sequential",
		"page=base page.kind=base spacing=4096 pair=0 order=random",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		char all[400];
		struct seen s;

		snprintf(all, sizeof(all), "%s page.bytes=%ld", words[i], sysconf(_SC_PAGESIZE));
		run_words("cache.chase", all, sets, 3, NULL, NULL, &s);
		if (s.ok != 3)
			fail_msg("%s: %s", words[i], s.reason);
		assert_string_equal(s.checksum, "right");
	}
}

/* A chain with a short cut stands elsewhere after the same number of steps. */
static void checksum_notices_a_short_cut(void **state)
{
	static const uint64_t n = 1000;
	char cells[1000 * 64] __attribute__((aligned(64)));
	struct chase_run run = { .region = { .base = cells, .fd = -1 } };
	uint64_t second;

	(void)state;
	chase_init(&run.chase, n, 64, 0, CHASE_RANDOM, 3);
	chase_link(&run);
	chase_warm(&run);
	assert_ptr_equal(run.at,
			 run.region.base +
				 chase_run_offset(&run, chase_element(&run.chase, run.steps)));
	chase_link(&run);
	second = chase_offset(&run.chase, chase_element(&run.chase, 2));
	*(void **)(void *)cells = cells + second; /* element 0 leaves one out */
	chase_warm(&run);
	assert_ptr_not_equal(run.at,
			     run.region.base +
				     chase_run_offset(&run, chase_element(&run.chase, run.steps)));
}

static void costs_refuse_nonsense(void **state)
{
	static const struct {
		const char *bench, *words, *says;
		uint64_t inner;
	} rows[] = {
		{ "tlb.chase", "stride.bytes=100 page.bytes=4096 backing=distinct alias=plain",
		  "multiple", 9 },
		{ "tlb.chase",
		  "stride.bytes=4096 page.bytes=4096 backing=distinct alias=avoid stride=page",
		  "backing=zero", 9 },
		{ "tlb.chase",
		  "stride.bytes=8192 page.bytes=4096 backing=zero alias=avoid stride=8k",
		  "stride=page", 9 },
		{ "tlb.chase",
		  "stride.bytes=1099511627776 page.bytes=4096 backing=zero alias=plain",
		  "address space", 1000 },
		{ "cache.chase", "spacing=20 pair=0 page.bytes=4096", "multiple", 4096 },
		{ "cache.chase", "spacing=64 pair=60 page.bytes=4096", "multiple", 4096 },
		{ "cache.chase", "spacing=64 pair=64 page.bytes=4096", "fit", 4096 },
		{ "cache.chase", "spacing=8192 pair=0 page.bytes=4096", "no element", 4096 },
	};
	struct machine m = { .page_bytes = 4096,
			     .leaf_table_span = 2 << 20,
			     .pmd_table_span = 1 << 30,
			     .budget_bytes = UINT64_C(1) << 33 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena a = { 0 };
		struct bench_setting s = { 0 };
		struct bench_cost c;
		struct err e = { 0 };

		set_words(&a, &s, rows[i].words);
		assert_int_equal(bench_find(rows[i].bench)->cost(&m, &s, rows[i].inner, &c, &e),
				 -EINVAL);
		if (!strstr(e.msg, rows[i].says))
			fail_msg("%s: %s", rows[i].words, e.msg);
		arena_done(&a);
	}
}

static void cost_counts_tables_and_pages(void **state)
{
	struct machine m = { .page_bytes = 4096,
			     .leaf_table_span = 2 << 20,
			     .pmd_table_span = 1 << 30,
			     .budget_bytes = UINT64_C(1) << 33 };
	struct arena a = { 0 };
	struct bench_setting s = { 0 };
	struct bench_cost c;
	struct err e = { 0 };

	(void)state;
	set_words(&a, &s,
		  "stride.bytes=33554560 page.bytes=4096 backing=distinct alias=plain stride=x");
	assert_int_equal(bench_find("tlb.chase")->cost(&m, &s, 900, &c, &e), 0);
	assert_true(c.table_bytes >= 900 * 4096 && c.table_bytes < 940 * 4096);
	assert_true(c.arena_bytes >= 900 * 4096 && c.arena_bytes < 905 * 4096 + 900 * 16);
	assert_int_equal(c.faults, 900);
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_backing_proves_itself),
		cmocka_unit_test(small_pages_are_no_proof_of_huge_ones),
		cmocka_unit_test(another_cpu_is_no_proof),
		cmocka_unit_test(alias_free_addresses_are_proven_too),
		cmocka_unit_test(huge_pages_and_strides_inside),
		cmocka_unit_test(cache_chase_with_and_without_pairs),
		cmocka_unit_test(checksum_notices_a_short_cut),
		cmocka_unit_test(costs_refuse_nonsense),
		cmocka_unit_test(cost_counts_tables_and_pages),
	};

	return cmocka_run_group_tests_name("chases", tests, NULL, NULL);
}
