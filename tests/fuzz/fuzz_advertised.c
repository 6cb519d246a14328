/* SPDX-License-Identifier: MIT */
/* CPUID leaves: the input is an array of them, as this processor would store it. */
#include "fuzz.h"

#include "host/advertised.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n = size / sizeof(struct cpuid_leaf);
	struct cpuid_leaf *leaves = malloc(n ? n * sizeof(*leaves) : 1);
	struct advertised a;

	CHECK(leaves);
	if (n)
		memcpy(leaves, data, n * sizeof(*leaves));
	advertised_decode(leaves, n, &a);
	CHECK(a.source);
	CHECK(a.n_tlb <= sizeof(a.tlb) / sizeof(a.tlb[0]));
	CHECK(a.n_tlb == 0 || a.source[0]);
	for (size_t i = 0; i < a.n_tlb; i++) {
		CHECK(a.tlb[i].level == 1 || a.tlb[i].level == 2);
		CHECK(a.tlb[i].entries > 0);
		CHECK(advertised_entries(&a, a.tlb[i].level, a.tlb[i].page_bytes) >=
		      a.tlb[i].entries);
	}
	free(leaves);
	return 0;
}
