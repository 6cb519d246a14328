/* SPDX-License-Identifier: MIT */
/*
 * CPUID's words about data TLBs. Left out: instruction TLBs, stores' own TLBs, caches (hwloc tells
 * them). Sources: AMD64 Architecture Programmer's Manual volume 3, functions 8000_0005h, _0006h,
 * _0019h, _0021h; Intel Software Developer's Manual volume 2A, CPUID leaf 02h (its table of
 * descriptors) and leaf 18h.
 *
 * Known errors, which is why all this is a claim only:
 *  - AMD's codes for ways above 4 are ranges; Zen 3's second-level data TLB says 8 to 15 ways and
 *    has 16. Ranges are reported as unknown.
 *  - From Zen 5 on, sizes of the second level count 32 entries each (bit L2TlbSizeX32 of
 * 8000_0021h); Linux's "TLB size" line in /proc/cpuinfo ignored that for years.
 *  - Intel's descriptor C3h says 6 ways; the second-level TLB of Skylake has 12. Unknown, too.
 *  - Intel's leaf 18h of a Sapphire Rapids says 64 entries for small pages where the manual for the
 *    same core, and a Granite Rapids, say 96.
 *  - Second-level TLBs that serve several page sizes are told once for each size, as if nothing
 * else lived in them; where two of them serve a page size (Ice Lake), the claim is their sum and
 * what a program finds is less.
 *  - Hypervisors hide or change leaves: zeros mean "not told".
 */
#include "host/advertised.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/arch_cpuid.h"

enum { MAX_TLBS = sizeof(((struct advertised *)0)->tlb) / sizeof(struct advertised_tlb) };

static const uint64_t K4 = 4096, M2 = 2u << 20, G1 = 1u << 30;

static const struct cpuid_leaf *find(const struct cpuid_leaf *leaves, size_t n, uint32_t leaf,
				     uint32_t subleaf)
{
	for (size_t i = 0; i < n; i++)
		if (leaves[i].leaf == leaf && leaves[i].subleaf == subleaf)
			return &leaves[i];
	return NULL;
}

static void add(struct advertised *a, unsigned level, uint64_t page_bytes, unsigned entries,
		unsigned ways)
{
	if (!entries || a->n_tlb == MAX_TLBS)
		return;
	a->tlb[a->n_tlb++] = (struct advertised_tlb){
		.level = level, .page_bytes = page_bytes, .entries = entries, .ways = ways
	};
}

/* --- AMD --- */

/* First level: ways in plain numbers, FFh for fully associative. */
static void add_amd_l1(struct advertised *a, uint64_t page_bytes, uint32_t reg)
{
	unsigned ways = reg >> 24;

	add(a, 1, page_bytes, reg >> 16 & 0xff, ways == 0xff ? UINT_MAX : ways);
}

static unsigned amd_ways(unsigned code)
{
	switch (code) {
	case 1:
	case 2:
	case 3:
		return code;
	case 0xf:
		return UINT_MAX;
	default: /* a range, or told elsewhere */
		return 0;
	}
}

/* 12 bits of entries and 4 of ways, data in the upper half; an empty upper half: shared. */
static void add_amd_coded(struct advertised *a, unsigned level, uint64_t page_bytes, uint32_t reg,
			  unsigned scale)
{
	unsigned half = reg >> 16 ? reg >> 16 : reg & 0xffff;

	/* Code 0 means that the structure is off for this page size. */
	if (half >> 12)
		add(a, level, page_bytes, (half & 0xfff) * scale, amd_ways(half >> 12));
}

static void decode_amd(const struct cpuid_leaf *leaves, size_t n, struct advertised *a)
{
	const struct cpuid_leaf *l1 = find(leaves, n, 0x80000005, 0);
	const struct cpuid_leaf *l2 = find(leaves, n, 0x80000006, 0);
	const struct cpuid_leaf *g1 = find(leaves, n, 0x80000019, 0);
	const struct cpuid_leaf *more = find(leaves, n, 0x80000021, 0);
	unsigned scale = more && (more->eax >> 14 & 1) ? 32 : 1;

	if (l1) {
		add_amd_l1(a, K4, l1->ebx);
		add_amd_l1(a, M2, l1->eax);
	}
	if (g1)
		add_amd_coded(a, 1, G1, g1->eax, 1);
	if (l2) {
		add_amd_coded(a, 2, K4, l2->ebx, scale);
		add_amd_coded(a, 2, M2, l2->eax, scale);
	}
	if (g1)
		add_amd_coded(a, 2, G1, g1->ebx, scale);
	if (a->n_tlb)
		a->source = scale == 1 ? "CPUID 80000005h, 80000006h, 80000019h"
				       : "CPUID 80000005h, 80000006h, 80000019h, 80000021h";
}

/* --- Intel --- */

enum { TYPE_NONE, TYPE_DATA, TYPE_CODE, TYPE_UNIFIED, TYPE_LOAD, TYPE_STORE };

static void decode_leaf_18(const struct cpuid_leaf *leaves, size_t n, struct advertised *a)
{
	for (size_t i = 0; i < n; i++) {
		const struct cpuid_leaf *l = &leaves[i];
		unsigned type = l->edx & 0x1f, level = l->edx >> 5 & 7;
		uint64_t ways = l->ebx >> 16, entries = ways * l->ecx;
		unsigned told_ways = l->edx >> 8 & 1 ? UINT_MAX : (unsigned)ways;

		if (l->leaf != 0x18 || entries > 1u << 20 || level < 1 || level > 2)
			continue;
		if (type != TYPE_DATA && type != TYPE_UNIFIED && type != TYPE_LOAD)
			continue;
		if (l->ebx & 1)
			add(a, level, K4, (unsigned)entries, told_ways);
		if (l->ebx & 2)
			add(a, level, M2, (unsigned)entries, told_ways);
		if (l->ebx & 8)
			add(a, level, G1, (unsigned)entries, told_ways);
	}
	if (a->n_tlb)
		a->source = "CPUID 18h";
}

/* Descriptors of data and shared TLBs; ways 0 where they are known to be wrong. */
static const struct {
	unsigned char code, level;
	unsigned short entries_4k, entries_2m, entries_1g;
	unsigned ways;
} descriptors[] = {
	{ 0x03, 1, 64, 0, 0, 4 },
	{ 0x04, 1, 0, 8, 0, 4 },
	{ 0x05, 2, 0, 32, 0, 4 },
	{ 0x56, 1, 0, 16, 0, 4 },
	{ 0x57, 1, 16, 0, 0, 4 },
	{ 0x59, 1, 16, 0, 0, UINT_MAX },
	{ 0x5a, 1, 0, 32, 0, 4 },
	{ 0x5b, 1, 64, 64, 0, UINT_MAX },
	{ 0x5c, 1, 128, 128, 0, UINT_MAX },
	{ 0x5d, 1, 256, 256, 0, UINT_MAX },
	{ 0x63, 1, 0, 32, 4, 4 },
	{ 0x64, 2, 512, 0, 0, 4 },
	{ 0x6a, 1, 64, 0, 0, 8 },
	{ 0x6b, 2, 256, 0, 0, 8 },
	{ 0x6c, 2, 0, 128, 0, 8 },
	{ 0x6d, 2, 0, 0, 16, UINT_MAX },
	{ 0xa0, 1, 32, 0, 0, UINT_MAX },
	{ 0xb3, 1, 128, 0, 0, 4 },
	{ 0xb4, 2, 256, 0, 0, 4 },
	{ 0xba, 2, 64, 0, 0, 4 },
	{ 0xc0, 1, 8, 8, 0, 4 },
	{ 0xc1, 2, 1024, 1024, 0, 8 },
	{ 0xc2, 1, 16, 16, 0, 4 },
	{ 0xc3, 2, 1536, 1536, 16, 0 },
	{ 0xc4, 1, 0, 32, 0, 4 },
	{ 0xca, 2, 512, 0, 0, 4 },
};

static void add_descriptor(struct advertised *a, unsigned char code)
{
	for (size_t i = 0; i < sizeof(descriptors) / sizeof(descriptors[0]); i++) {
		if (descriptors[i].code != code)
			continue;
		add(a, descriptors[i].level, K4, descriptors[i].entries_4k, descriptors[i].ways);
		add(a, descriptors[i].level, M2, descriptors[i].entries_2m, descriptors[i].ways);
		add(a, descriptors[i].level, G1, descriptors[i].entries_1g, descriptors[i].ways);
	}
}

static void decode_leaf_2(const struct cpuid_leaf *leaves, size_t n, struct advertised *a)
{
	const struct cpuid_leaf *l = find(leaves, n, 2, 0);
	uint32_t regs[4];

	if (!l)
		return;
	memcpy(regs, (const uint32_t[]){ l->eax, l->ebx, l->ecx, l->edx }, sizeof(regs));
	for (int r = 0; r < 4; r++) {
		if (regs[r] >> 31) /* no descriptors in this register */
			continue;
		/* The lowest byte of EAX is a count. */
		for (int b = r == 0; b < 4; b++)
			add_descriptor(a, (unsigned char)(regs[r] >> (8 * b)));
	}
	if (a->n_tlb)
		a->source = "CPUID 2";
}

/* --- both --- */

void advertised_decode(const struct cpuid_leaf *leaves, size_t n, struct advertised *ret)
{
	const struct cpuid_leaf *zero = find(leaves, n, 0, 0), *one = find(leaves, n, 1, 0);
	struct advertised a = { .source = "" };
	char vendor[13] = "";

	a.hypervisor = one && one->ecx >> 31;
	if (zero) {
		memcpy(vendor, &zero->ebx, 4);
		memcpy(vendor + 4, &zero->edx, 4);
		memcpy(vendor + 8, &zero->ecx, 4);
	}
	if (!strcmp(vendor, "AuthenticAMD") || !strcmp(vendor, "HygonGenuine")) {
		decode_amd(leaves, n, &a);
	} else if (!strcmp(vendor, "GenuineIntel")) {
		decode_leaf_18(leaves, n, &a);
		if (!a.n_tlb)
			decode_leaf_2(leaves, n, &a);
	}
	*ret = a;
}

struct reader {
	struct cpuid_leaf *leaves;
	size_t n, cap;
};

/* Asks, and keeps the answer if there is room. */
static struct cpuid_leaf ask(struct reader *r, uint32_t leaf, uint32_t subleaf)
{
	uint32_t regs[4];
	struct cpuid_leaf l;

	arch_cpuid(leaf, subleaf, regs);
	l = (struct cpuid_leaf){ leaf, subleaf, regs[0], regs[1], regs[2], regs[3] };
	if (r->n < r->cap)
		r->leaves[r->n++] = l;
	return l;
}

size_t advertised_read_leaves(struct cpuid_leaf *leaves, size_t cap)
{
	static const uint32_t extended[] = { 0x80000005, 0x80000006, 0x80000019, 0x80000021 };
	struct reader r = { leaves, 0, cap };
	struct cpuid_leaf zero, ext;

	if (!arch_has_cpuid())
		return 0;
	zero = ask(&r, 0, 0);
	if (zero.eax >= 1)
		ask(&r, 1, 0);
	if (zero.eax >= 2)
		ask(&r, 2, 0);
	ext = ask(&r, 0x80000000, 0);
	for (size_t i = 0; i < sizeof(extended) / sizeof(extended[0]); i++)
		if (ext.eax >= extended[i] && ext.eax < 0x80010000)
			ask(&r, extended[i], 0);
	if (zero.eax >= 0x18) {
		uint32_t last = ask(&r, 0x18, 0).eax;

		for (uint32_t i = 1; i <= last && i < 64; i++)
			ask(&r, 0x18, i);
	}
	return r.n;
}

unsigned advertised_entries(const struct advertised *a, unsigned level, uint64_t page_bytes)
{
	unsigned sum = 0;

	for (size_t i = 0; i < a->n_tlb; i++)
		if (a->tlb[i].level == level && a->tlb[i].page_bytes == page_bytes)
			sum += a->tlb[i].entries;
	return sum;
}
