// SPDX-License-Identifier: MIT
/* The words of `pagetoll run`, one a line, all the way to a plan on an invented machine. */
#include "fuzz.h"

#include "../unit/run/fake_machine.h"
#include "run/run_plan.h"

enum { MAX_WORDS = 16 };

static void check_plan(const struct plan *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct planned *s = &p->v[i];

		CHECK(s->bench && s->max_invocations > 0 && s->samples > 0);
		CHECK(s->skip_reason || !s->inner || s->grid.n > 0);
		for (size_t k = 1; k < s->grid.n; k++)
			CHECK(s->grid.v[k - 1] < s->grid.v[k]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = fuzz_text(data, n), *words[MAX_WORDS], *save = NULL;
	struct fake_machine f;
	struct arena a = { 0 };
	struct request q = { 0 };
	struct plan p = { 0 };
	struct err e = { 0 };
	size_t k = 0;

	fake_machine_init(&f);
	if (n % 2)
		fake_machine_make_numa(&f);
	for (char *w = strtok_r(text, "\n", &save); w && k < MAX_WORDS;
	     w = strtok_r(NULL, "\n", &save))
		words[k++] = w;
	if (request_parse(&a, words, k, &q, &e) == 0) {
		if (plan_build(&q, &f.m, &p, &e) < 0)
			CHECK(e.code && e.msg[0] && !p.v);
		else
			check_plan(&p);
		plan_done(&p);
	}
	arena_done(&a);
	free(text);
	return 0;
}
