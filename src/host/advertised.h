/* SPDX-License-Identifier: MIT */
/*
 * What the processor says of its own TLBs and caches (CPUID; nothing on other architectures). A
 * claim to stand beside the measurement, never a replacement: see the known errors listed in
 * advertised.c.
 */
#ifndef PAGETOLL_HOST_ADVERTISED_H
#define PAGETOLL_HOST_ADVERTISED_H

#include <stddef.h>
#include <stdint.h>

struct cpuid_leaf {
	uint32_t leaf, subleaf;
	uint32_t eax, ebx, ecx, edx;
};

struct advertised_tlb {
	unsigned level;      /* 1 or 2 */
	uint64_t page_bytes; /* 4k, 2m, 1g */
	unsigned entries;
	unsigned ways; /* 0: unknown; UINT_MAX: fully associative */
};

struct advertised {
	struct advertised_tlb tlb[24]; /* data and unified (load) TLBs only */
	size_t n_tlb;
	int hypervisor;     /* CPUID's hypervisor bit */
	const char *source; /* "CPUID 80000005h, 80000006h, 80000019h"; "" nothing is told */
};

/* Decodes a set of leaves (recorded or read). Unknown vendors and codes: nothing is told. */
void advertised_decode(const struct cpuid_leaf *leaves, size_t n, struct advertised *ret);
/* Reads this processor's leaves; on other architectures none. Returns how many. */
size_t advertised_read_leaves(struct cpuid_leaf *leaves, size_t cap);
/* entries of @level for @page_bytes, 0: not told. */
unsigned advertised_entries(const struct advertised *a, unsigned level, uint64_t page_bytes);

#endif
