/* SPDX-License-Identifier: MIT */
/*
 * advertised.c: CPUID leaves of processors as manuals and published dumps have them, and damaged
 * ones.
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

#include <limits.h>

#include "host/advertised.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define AMD                                                                                   \
	{                                                                                     \
		.leaf = 0, .eax = 16, .ebx = 0x68747541, .ecx = 0x444d4163, .edx = 0x69746e65 \
	}
#define INTEL                                                                                   \
	{                                                                                       \
		.leaf = 0, .eax = 0x20, .ebx = 0x756e6547, .ecx = 0x6c65746e, .edx = 0x49656e69 \
	}

static const uint64_t K4 = 4096, M2 = 2u << 20, G1 = 1u << 30;

static struct advertised decode(const struct cpuid_leaf *leaves, size_t n)
{
	struct advertised a;

	memset(&a, 0xa5, sizeof(a));
	advertised_decode(leaves, n, &a);
	assert_non_null(a.source);
	assert_true(a.n_tlb <= LENGTH(a.tlb));
	return a;
}

static unsigned ways(const struct advertised *a, unsigned level, uint64_t page_bytes)
{
	for (size_t i = 0; i < a->n_tlb; i++)
		if (a->tlb[i].level == level && a->tlb[i].page_bytes == page_bytes)
			return a->tlb[i].ways;
	return 12345;
}

static void test_zen3(void **state)
{
	static const struct cpuid_leaf leaves[] = {
		AMD,
		{ .leaf = 1, .ecx = 1u << 31 },
		{ .leaf = 0x80000005, .eax = 0xff40ff40, .ebx = 0xff40ff40 },
		{ .leaf = 0x80000006, .eax = 0x48002200, .ebx = 0x68004200 },
		{ .leaf = 0x80000019, .eax = 0xf040f040, .ebx = 0xf0400000 },
		{ .leaf = 0x80000021, .eax = 0x4d },
	};
	struct advertised a = decode(leaves, LENGTH(leaves));

	(void)state;
	assert_int_equal(a.hypervisor, 1);
	assert_string_equal(a.source, "CPUID 80000005h, 80000006h, 80000019h");
	assert_int_equal(advertised_entries(&a, 1, K4), 64);
	assert_int_equal(advertised_entries(&a, 1, M2), 64);
	assert_int_equal(advertised_entries(&a, 1, G1), 64);
	assert_int_equal(advertised_entries(&a, 2, K4), 2048);
	assert_int_equal(advertised_entries(&a, 2, M2), 2048);
	assert_int_equal(advertised_entries(&a, 2, G1), 64);
	assert_int_equal(ways(&a, 1, K4), UINT_MAX);
	assert_int_equal(ways(&a, 2, K4), 0); /* code 6, a range */
	assert_int_equal(ways(&a, 2, G1), UINT_MAX);
	assert_int_equal(advertised_entries(&a, 3, K4), 0);
	assert_int_equal(advertised_entries(&a, 1, 65536), 0);
}

static void test_zen5_counts_in_32s(void **state)
{
	struct cpuid_leaf leaves[] = {
		AMD,
		{ .leaf = 0x80000005, .eax = 0xff60ff40, .ebx = 0xff60ff40 },
		{ .leaf = 0x80000006, .eax = 0x60806040, .ebx = 0x80806040 },
		{ .leaf = 0x80000019, .eax = 0xf060f040, .ebx = 0x40200000 },
		{ .leaf = 0x80000021, .eax = 1u << 14 },
	};
	struct advertised a = decode(leaves, LENGTH(leaves));

	(void)state;
	assert_int_equal(advertised_entries(&a, 1, K4), 96);
	assert_int_equal(advertised_entries(&a, 1, G1), 96);
	assert_int_equal(advertised_entries(&a, 2, K4), 4096);
	assert_int_equal(advertised_entries(&a, 2, M2), 4096);
	assert_int_equal(advertised_entries(&a, 2, G1), 1024);
	leaves[4].eax = 0;
	a = decode(leaves, LENGTH(leaves));
	assert_int_equal(advertised_entries(&a, 2, K4), 128);
	assert_int_equal(advertised_entries(&a, 1, K4), 96);
}

static void test_amd_odd_cases(void **state)
{
	/* Second level off for 2 MiB (code 0); a shared one for 4 KiB (empty upper half). */
	static const struct cpuid_leaf leaves[] = {
		AMD,
		{ .leaf = 0x80000005, .eax = 0, .ebx = 0x02200000 },
		{ .leaf = 0x80000006, .eax = 0x04000000, .ebx = 0x00002200 },
	};
	struct advertised a = decode(leaves, LENGTH(leaves));

	(void)state;
	assert_int_equal(advertised_entries(&a, 1, K4), 32);
	assert_int_equal(ways(&a, 1, K4), 2);
	assert_int_equal(advertised_entries(&a, 1, M2), 0);
	assert_int_equal(advertised_entries(&a, 2, K4), 512);
	assert_int_equal(ways(&a, 2, K4), 2);
	assert_int_equal(advertised_entries(&a, 2, M2), 0);
	assert_int_equal(a.hypervisor, 0);
}

static void test_skylake_descriptors(void **state)
{
	static const struct cpuid_leaf leaves[] = {
		INTEL,
		{ .leaf = 2, .eax = 0x76036301, .ebx = 0x00f0b5ff, .edx = 0x00c30000 },
	};
	struct advertised a = decode(leaves, LENGTH(leaves));

	(void)state;
	assert_string_equal(a.source, "CPUID 2");
	assert_int_equal(advertised_entries(&a, 1, K4), 64);
	assert_int_equal(ways(&a, 1, K4), 4);
	assert_int_equal(advertised_entries(&a, 1, M2), 32);
	assert_int_equal(advertised_entries(&a, 1, G1), 4);
	assert_int_equal(advertised_entries(&a, 2, K4), 1536);
	assert_int_equal(advertised_entries(&a, 2, M2), 1536);
	assert_int_equal(advertised_entries(&a, 2, G1), 16);
	assert_int_equal(ways(&a, 2, K4), 0); /* says 6, has 12 */
}

static void test_descriptors_refused(void **state)
{
	/* The count in AL is no descriptor, nor is what stands in a register with bit 31. */
	static const struct cpuid_leaf leaves[] = {
		INTEL,
		{ .leaf = 2, .eax = 0x00000003, .ebx = 0x80c30303, .ecx = 0x00000007 },
	};
	struct advertised a = decode(leaves, LENGTH(leaves));

	(void)state;
	assert_int_equal(a.n_tlb, 0);
	assert_string_equal(a.source, "");
}

/* EBX: page sizes and ways, ECX: sets, EDX: type, level, fully associative. */
#define TLB18(sub, pages, way, sets, type, level, full)                                 \
	{                                                                               \
		.leaf = 0x18, .subleaf = (sub), .eax = 8, .ebx = (pages) | (way) << 16, \
		.ecx = (sets), .edx = (type) | (level) << 5 | (full) << 8               \
	}

static void test_icelake_leaf_18(void **state)
{
	static const struct cpuid_leaf leaves[] = {
		INTEL,
		{ .leaf = 2, .eax = 0x00feff01, .ebx = 0xf0 },
		TLB18(0, 0u, 0u, 0u, 0u, 0u, 0u),
		TLB18(1, 1u, 8u, 8u, 2u, 1u, 0u),      /* code */
		TLB18(2, 1u, 4u, 16u, 4u, 1u, 0u),     /* load, 4k */
		TLB18(3, 2u + 4u, 4u, 8u, 4u, 1u, 0u), /* load, 2m and 4m */
		TLB18(4, 8u, 8u, 1u, 4u, 1u, 1u),      /* load, 1g */
		TLB18(5, 15u, 16u, 1u, 5u, 1u, 1u),    /* store */
		TLB18(6, 1u + 2u + 4u, 8u, 128u, 3u, 2u, 0u),
		TLB18(7, 1u + 8u, 8u, 128u, 3u, 2u, 0u),
	};
	struct advertised a = decode(leaves, LENGTH(leaves));

	(void)state;
	assert_string_equal(a.source, "CPUID 18h");
	assert_int_equal(advertised_entries(&a, 1, K4), 64);
	assert_int_equal(advertised_entries(&a, 1, M2), 32);
	assert_int_equal(advertised_entries(&a, 1, G1), 8);
	assert_int_equal(ways(&a, 1, G1), UINT_MAX);
	assert_int_equal(ways(&a, 1, K4), 4);
	assert_int_equal(advertised_entries(&a, 2, K4), 2048); /* two that serve it */
	assert_int_equal(advertised_entries(&a, 2, M2), 1024);
	assert_int_equal(advertised_entries(&a, 2, G1), 1024);
}

static void test_leaf_18_refused(void **state)
{
	static const struct cpuid_leaf leaves[] = {
		INTEL,
		TLB18(1, 1u, 4u, 16u, 0u, 1u, 0u),              /* no type */
		TLB18(2, 1u, 4u, 16u, 1u, 0u, 0u),              /* no level */
		TLB18(3, 1u, 4u, 16u, 1u, 5u, 0u),              /* no such level */
		TLB18(4, 1u, 0xffffu, 0xffffffffu, 1u, 1u, 0u), /* too many */
		TLB18(5, 0u, 4u, 16u, 1u, 1u, 0u),              /* no page size */
		TLB18(6, 4u, 4u, 16u, 1u, 1u, 0u),              /* 4 MiB only */
	};
	struct advertised a = decode(leaves, LENGTH(leaves));

	(void)state;
	assert_int_equal(a.n_tlb, 0);
}

static void test_nothing_told(void **state)
{
	struct cpuid_leaf unknown[] = {
		{ .leaf = 0, .ebx = 0x41414141, .ecx = 0x41414141, .edx = 0x41414141 },
		{ .leaf = 0x80000005, .eax = 0xff40ff40, .ebx = 0xff40ff40 },
		{ .leaf = 2, .eax = 0x76036301 },
	};
	struct advertised a = decode(unknown, LENGTH(unknown));

	(void)state;
	assert_int_equal(a.n_tlb, 0);
	assert_string_equal(a.source, "");
	a = decode(NULL, 0);
	assert_int_equal(a.n_tlb, 0);
	assert_int_equal(a.hypervisor, 0);
	a = decode(unknown + 1, 1);
	assert_int_equal(a.n_tlb, 0);
}

static void test_more_than_fit(void **state)
{
	struct cpuid_leaf leaves[65] = { INTEL };
	struct advertised a;

	(void)state;
	for (unsigned i = 1; i < 65; i++)
		leaves[i] = (struct cpuid_leaf)TLB18(i, 11u, 4u, 16u, 1u, 1u, 0u);
	a = decode(leaves, 65);
	assert_int_equal(a.n_tlb, LENGTH(a.tlb));
}

static void test_live(void **state)
{
	struct cpuid_leaf leaves[64], few[2];
	size_t n = advertised_read_leaves(leaves, 64);

	(void)state;
	assert_true(n <= 64);
	assert_true(advertised_read_leaves(few, 2) <= 2);
	assert_int_equal(advertised_read_leaves(NULL, 0), 0);
	if (!n)
		skip(); /* no CPUID here */
	assert_int_equal(leaves[0].leaf, 0);
	decode(leaves, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zen3),
		cmocka_unit_test(test_zen5_counts_in_32s),
		cmocka_unit_test(test_amd_odd_cases),
		cmocka_unit_test(test_skylake_descriptors),
		cmocka_unit_test(test_descriptors_refused),
		cmocka_unit_test(test_icelake_leaf_18),
		cmocka_unit_test(test_leaf_18_refused),
		cmocka_unit_test(test_nothing_told),
		cmocka_unit_test(test_more_than_fit),
		cmocka_unit_test(test_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
