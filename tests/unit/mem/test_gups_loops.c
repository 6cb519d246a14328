/* SPDX-License-Identifier: MIT */
/* Every kernel does the updates of the stream, each once, and the same again undo them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "mem/gups_loops.h"

enum { WORDS = 1 << 12, UPDATES = 4 * WORDS };

/* The updates of steps 1 to UPDATES, in the plainest way. */
static void expect(uint64_t *table)
{
	uint64_t a = 1;

	for (uint64_t i = 0; i < WORDS; i++)
		table[i] = i;
	for (int n = 0; n < UPDATES; n++) {
		a = a & (UINT64_C(1) << 63) ? a << 1 ^ 7 : a << 1;
		table[a % WORDS] ^= a;
	}
}

static void streams(uint64_t *table, void (*kernel)(uint64_t *, uint64_t, uint64_t *, uint64_t))
{
	uint64_t ran[RANDOMACCESS_STREAMS];

	randomaccess_streams(ran, 0, UPDATES);
	kernel(table, WORDS - 1, ran, UPDATES / RANDOMACCESS_STREAMS);
	for (uint64_t j = 0; j < RANDOMACCESS_STREAMS; j++)
		assert_true(ran[j] == randomaccess_start(
					      (int64_t)(UPDATES / RANDOMACCESS_STREAMS * (j + 1))));
}

static void kernels_do_the_updates(void **state)
{
	uint64_t *want = malloc(WORDS * sizeof(*want)), *got = malloc(WORDS * sizeof(*got));

	(void)state;
	expect(want);
	assert_int_not_equal(gups_count_wrong(want, WORDS), 0);
	for (int k = 0; k < 4; k++) {
		uint64_t end = randomaccess_start(UPDATES);

		gups_fill(got, WORDS);
		assert_int_equal(gups_count_wrong(got, WORDS), 0);
		if (k == 0)
			streams(got, gups_literal);
		else if (k == 1)
			streams(got, gups_tuned);
		else if (k == 2)
			assert_true(gups_dependent(got, WORDS - 1, 1, UPDATES) == end);
		else
			assert_true(gups_replay(got, WORDS - 1, 1, UPDATES) == end);
		assert_memory_equal(got, want, WORDS * sizeof(*got));
		gups_replay(got, WORDS - 1, 1, UPDATES);
		assert_int_equal(gups_count_wrong(got, WORDS), 0);
	}
	free(want);
	free(got);
}

static void no_updates_change_nothing(void **state)
{
	uint64_t table[8], ran[RANDOMACCESS_STREAMS], before[RANDOMACCESS_STREAMS];

	(void)state;
	gups_fill(table, 8);
	randomaccess_streams(ran, 0, UPDATES);
	memcpy(before, ran, sizeof(ran));
	gups_literal(table, 7, ran, 0);
	gups_tuned(table, 7, ran, 0);
	assert_true(gups_dependent(table, 7, 5, 0) == 5);
	assert_true(gups_replay(table, 7, 5, 0) == 5);
	assert_memory_equal(ran, before, sizeof(ran));
	assert_int_equal(gups_count_wrong(table, 8), 0);
}

static void every_wrong_word_counts(void **state)
{
	uint64_t table[64];

	(void)state;
	for (uint64_t n = 0; n <= 64; n++) {
		gups_fill(table, 64);
		for (uint64_t i = 0; i < n; i++)
			table[i] ^= UINT64_C(1) << i;
		assert_int_equal(gups_count_wrong(table, 64), n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_do_the_updates),
		cmocka_unit_test(no_updates_change_nothing),
		cmocka_unit_test(every_wrong_word_counts),
	};

	return cmocka_run_group_tests_name("gups loops", tests, NULL, NULL);
}
