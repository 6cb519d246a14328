/* SPDX-License-Identifier: MIT */
/* /proc/self/smaps, for all addresses, for none, and for the lower half. */
#include "fuzz.h"

#include "mem/proof.h"

static struct proof_pages parse(const uint8_t *data, size_t size, uintptr_t from, uintptr_t to)
{
	struct proof_pages p = { .rss_bytes = -1 };
	char *text = fuzz_text(data, size);

	proof_parse_smaps(text, from, to, &p);
	free(text);
	CHECK(p.rss_bytes >= 0 && p.huge_bytes >= 0 && p.kernel_page_bytes >= 0);
	return p;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proof_pages all = parse(data, size, 0, UINTPTR_MAX);
	struct proof_pages half = parse(data, size, 0, UINTPTR_MAX / 2);
	struct proof_pages none = parse(data, size, 0, 0);

	CHECK(half.rss_bytes <= all.rss_bytes && half.huge_bytes <= all.huge_bytes);
	CHECK(none.rss_bytes == 0 && none.huge_bytes == 0 && none.kernel_page_bytes == 0);
	return 0;
}
