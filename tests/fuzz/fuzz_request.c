// SPDX-License-Identifier: MIT
/* The words of `pagetoll run`, one a line. */
#include "fuzz.h"

#include "run/run_plan.h"

enum { MAX_WORDS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = fuzz_text(data, n), *words[MAX_WORDS], *save = NULL;
	struct arena a = { 0 };
	struct request q = { 0 };
	struct err e = { 0 };
	size_t k = 0;

	for (char *w = strtok_r(text, "\n", &save); w && k < MAX_WORDS;
	     w = strtok_r(NULL, "\n", &save))
		words[k++] = w;
	if (request_parse(&a, words, k, &q, &e)) {
		CHECK(e.code && e.msg[0]);
	} else {
		CHECK(q.n_targets >= 1 && !q.targets[0].name);
		for (size_t i = 1; i < q.n_targets; i++)
			CHECK(q.targets[i].name && *q.targets[i].name);
	}
	arena_done(&a);
	free(text);
	return 0;
}
