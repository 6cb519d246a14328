// SPDX-License-Identifier: MIT
/* Text of /proc and /sys, as any kernel or container may have it. */
#include "fuzz.h"

#include "host/kernel_home.h"
#include "host/kernel_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = fuzz_text(data, n);
	char small[8], large[256];
	uint64_t value = 0, first = 0, last = 0;
	struct u32_list l = { 0 };

	(void)ktext_u64(text, &value);
	(void)ktext_limit(text, &value);
	(void)ktext_key(text, "MemAvailable", &value);
	(void)ktext_field(text, "model name", small, sizeof(small));
	if (ktext_field(text, "model name", large, sizeof(large)) == 0)
		CHECK(strlen(large) < sizeof(large));
	(void)ktext_has_word(text, "flags", "hypervisor");
	(void)ktext_choice(text, small, sizeof(small));
	(void)ktext_rlimit(text, "Max address space", &value);
	if (kernel_home_parse(text, &first, &last) == 0)
		CHECK(first <= last);
	if (ktext_mask(text, &l) == 0) {
		for (size_t i = 1; i < l.n; i++)
			CHECK(l.v[i - 1] < l.v[i]);
		u32_list_done(&l);
	}
	free(text);
	return 0;
}
