/* SPDX-License-Identifier: MIT */
/* stacks.c: equal chains are counted together, unlike ones apart, many of them, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "profile/stacks.h"

static uint64_t ticks_of(const struct stacks *s, const uint64_t *frames, size_t n)
{
	for (size_t i = 0; i < s->cap; i++) {
		const struct stack *k = &s->slots[i];
		size_t same = 0;

		while (k->ticks && k->n == n && same < n && s->frames[k->at + same] == frames[same])
			same++;
		if (k->ticks && k->n == n && same == n)
			return k->ticks;
	}
	return 0;
}

static void test_counts(void **state)
{
	const uint64_t a[] = { 1, 2, 3 }, b[] = { 1, 2 }, c[] = { 3, 2, 1 };
	struct stacks s = { 0 };

	(void)state;
	stacks_add(&s, a, 3, 1);
	stacks_add(&s, b, 2, 1);
	stacks_add(&s, a, 3, 4);
	stacks_add(&s, c, 3, 1);
	assert_int_equal(s.n, 3);
	assert_int_equal(s.ticks, 7);
	assert_int_equal(ticks_of(&s, a, 3), 5);
	assert_int_equal(ticks_of(&s, b, 2), 1);
	/* nothing, and no chain */
	stacks_add(&s, a, 3, 0);
	stacks_add(&s, a, 0, 2);
	assert_int_equal(s.ticks, 7);
	assert_int_equal(s.dropped, 2);
	stacks_done(&s);
	stacks_done(&s);
}

static void test_many(void **state)
{
	enum { N = 5000 };
	struct stacks s = { 0 }, all = { 0 };

	(void)state;
	for (uint64_t round = 1; round <= 2; round++) {
		for (uint64_t i = 0; i < N; i++) {
			const uint64_t chain[] = { i, i * 3, ~i };

			stacks_add(&s, chain, 1 + i % 3, round);
		}
	}
	assert_int_equal(s.n, N);
	assert_int_equal(s.ticks, 3 * N);
	for (uint64_t i = 0; i < N; i += 499) {
		const uint64_t chain[] = { i, i * 3, ~i };

		assert_int_equal(ticks_of(&s, chain, 1 + i % 3), 3);
	}
	stacks_merge(&all, &s);
	stacks_merge(&all, &s);
	assert_int_equal(all.n, N);
	assert_int_equal(all.ticks, 6 * N);
	stacks_done(&all);
	stacks_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
