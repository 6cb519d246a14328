/* SPDX-License-Identifier: MIT */
/*
 * Every benchmark declares a smallest setting that is one: the matrix of hostile environments runs
 * it in every cell.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "fake_machine.h"
#include "run/run_plan.h"

enum { MAX_SETTINGS = 2, MAX_POINTS = 4, MAX_BYTES = 64 << 20, WORDS_MAX = 8 };

/* What is wrong with @smoke as the smallest setting of benchmark @name; "": nothing. */
static void examine(const struct machine *m, const char *name, const char *smoke, char ret[256])
{
	struct request q = { .preset = preset_find("quick"), .invocations = 1 };
	char text[256], *words[WORDS_MAX], *rest = text, *word;
	struct arena arena = { 0 };
	struct plan plan = { 0 };
	struct err e = { 0 };
	size_t n = 0, points = 0;
	double seconds = 0;

	if (!smoke) {
		snprintf(ret, 256, "none is declared");
		return;
	}
	snprintf(text, sizeof(text), "%s %s", name, smoke);
	while ((word = strsep(&rest, " ")) != NULL && n < WORDS_MAX)
		if (*word)
			words[n++] = word;
	ret[0] = '\0';
	if (request_parse(&arena, words, n, &q, &e) < 0 || plan_build(&q, m, &plan, &e) < 0) {
		snprintf(ret, 256, "%.250s", e.msg);
		arena_done(&arena);
		return;
	}
	for (size_t i = 0; i < plan.n; i++) {
		points += plan.v[i].grid.n;
		if (!plan.v[i].skip_reason)
			seconds += plan_invocation_seconds(&plan, &plan.v[i]);
	}
	if (plan.n == 0 || plan.n > MAX_SETTINGS || points > MAX_POINTS)
		snprintf(ret, 256, "%zu settings with %zu points", plan.n, points);
	else if (plan.peak_bytes > MAX_BYTES)
		snprintf(ret, 256, "%llu bytes", (unsigned long long)plan.peak_bytes);
	else if (seconds > 1)
		snprintf(ret, 256, "an invocation takes %.1f s", seconds);
	plan_done(&plan);
	arena_done(&arena);
}

static void every_benchmark_has_one(void **state)
{
	struct fake_machine one, numa;
	char wrong[256];
	unsigned n_wrong = 0;

	(void)state;
	fake_machine_init(&one);
	fake_machine_init(&numa);
	fake_machine_make_numa(&numa);
	for (const struct bench *const *b = bench_table; *b; b++) {
		const struct machine *const machines[] = { &one.m, &numa.m };

		for (size_t i = 0; i < 2; i++) {
			examine(machines[i], (*b)->schema.name, (*b)->smoke, wrong);
			if (wrong[0]) {
				print_error("%s: smoke: %s\n", (*b)->schema.name, wrong);
				n_wrong++;
			}
		}
	}
	assert_int_equal(n_wrong, 0);
}

static void bad_ones_are_found(void **state)
{
	static const struct {
		const char *smoke, *found;
	} rows[] = {
		{ NULL, "none is declared" },
		{ "pointer=1", "pointers" },
		{ "pointers=0", "pointers" },
		{ "pointers=1..100", "1 settings with 100 points" },
		{ "pointers=1 page=4k,thp order=random,sequential", "4 settings" },
		{ "pointers=100000", "bytes" },
	};
	struct fake_machine f;
	char wrong[256];

	(void)state;
	fake_machine_init(&f);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		examine(&f.m, "tlb.chase", rows[i].smoke, wrong);
		if (!strstr(wrong, rows[i].found))
			fail_msg("%s: \"%s\"", rows[i].smoke, wrong);
	}
	examine(&f.m, "tlb.chase", "pointers=1", wrong);
	assert_string_equal(wrong, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_benchmark_has_one),
		cmocka_unit_test(bad_ones_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
