// SPDX-License-Identifier: MIT
/* The kernel's symbols, as any kernel, container or recording may have them. */
#include "fuzz.h"

#include "profile/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct symbols s;
	struct arena a = { 0 };

	CHECK(symbols_parse((const char *)data, n, &s) == 0);
	CHECK(s.n_bad_lines <= s.n_lines && s.n <= s.n_lines);
	CHECK(!s.hidden || s.n == 0);
	for (size_t i = 0; i < s.n; i++) {
		const struct symbol *v = &s.v[i];

		CHECK(v->address < v->end && v->name[0]);
		CHECK(i == 0 || s.v[i - 1].end <= v->address);
		CHECK(symbols_find(&s, v->address) == v);
		CHECK(symbols_find(&s, v->end - 1) == v);
		CHECK(v->end == UINT64_MAX || symbols_find(&s, v->end) != v);
		if (i < 8)
			CHECK(symbols_unique_name(&s, v, &a));
	}
	(void)symbols_find(&s, 0);
	(void)symbols_find(&s, UINT64_MAX);
	arena_done(&a);
	symbols_done(&s);
	return 0;
}
