/* SPDX-License-Identifier: MIT */
/* The measured loops do what they say, and the alias probe is consistent with itself. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>
#include <cmocka.h>

#include "mem/alias.h"
#include "mem/chase_loops.h"

static void links_take_exactly_their_steps(void **state)
{
	enum { N = 1000 };
	void *cells[N];

	(void)state;
	for (int i = 0; i < N; i++)
		cells[i] = &cells[(i + 1) % N];
	for (uint64_t steps = 0; steps <= 3200; steps += CHASE_UNROLL)
		assert_ptr_equal(chase_links(&cells[0], steps), &cells[steps % N]);
}

/* The sum shows any word that is not zero; so a list that was read wrongly cannot pass. */
static void list_reads_every_word(void **state)
{
	enum { N = 100 };
	uintptr_t words[N] = { 0 }, list[N];

	(void)state;
	for (int i = 0; i < N; i++)
		list[i] = (uintptr_t)&words[i];
	assert_int_equal(chase_list(list, N, 3), 0);
	words[N - 1] = 8;
	assert_int_equal(chase_list(list, N, 1), 8);
}

static void adds_add(void **state)
{
	(void)state;
	assert_int_equal(loop_adds(0), 0);
	assert_int_equal(loop_adds(16), 16);
	assert_int_equal(loop_adds(32768), 32768);
}

static void stream_reads_a_word_a_line(void **state)
{
	uint64_t words[512 / 8 * 4] = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(words) / 64; i++)
		words[i * 8] = i + 1;
	assert_int_equal(loop_stream(words, sizeof(words)), 32 * 33 / 2);
}

static void pages_read_a_word_a_page(void **state)
{
	static uint64_t words[70][32]; /* pages of 256 bytes: four lines */

	(void)state;
	for (unsigned i = 0; i < 70; i++)
		words[i][i % 4 * 8] = i;
	assert_int_equal(loop_pages(words, 70, sizeof(words[0])), 69 * 70 / 2);
	assert_int_equal(loop_pages(words, 0, sizeof(words[0])), 0);
}

static void aliases_are_distinct_addresses(void **state)
{
	struct alias_hash h;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(alias_probe(12, &h, &e), 0);
	assert_int_equal(h.n_free + h.n_pairs + h.n_single, ALIAS_LAST_BIT - ALIAS_FIRST_BIT + 1);
	assert_int_equal(alias_offset(&h, 0), 0);
	for (uint64_t i = 1; i < 600; i++) {
		assert_int_equal(alias_offset(&h, i) % 4096, 0);
		for (uint64_t k = i > 40 ? i - 40 : 0; k < i; k++)
			assert_true(alias_offset(&h, i) != alias_offset(&h, k));
	}
}

/* With the hash of Zen (eight pairs) every chosen address has hash 0: each pair's bits are equal.
 */
static void aliases_keep_a_known_hash(void **state)
{
	static const unsigned pairs[8][2] = { { 12, 27 }, { 13, 26 }, { 14, 25 }, { 15, 20 },
					      { 16, 21 }, { 17, 22 }, { 18, 23 }, { 19, 24 } };
	struct alias_hash h;

	(void)state;
	memset(&h, 0, sizeof(h));
	for (unsigned k = 0; k < 8; k++)
		h.free[h.n_free++] = UINT64_C(1) << pairs[k][0] | UINT64_C(1) << pairs[k][1];
	h.n_pairs = 8;
	for (uint64_t i = 0; i < 512; i++)
		for (unsigned k = 0; k < 8; k++)
			assert_int_equal(alias_offset(&h, i) >> pairs[k][0] & 1,
					 alias_offset(&h, i) >> pairs[k][1] & 1);
	assert_int_equal(alias_offset(&h, 1), UINT64_C(1) << 12 | UINT64_C(1) << 27);
	assert_int_equal(alias_offset(&h, 256), UINT64_C(1) << 28);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_take_exactly_their_steps),
		cmocka_unit_test(list_reads_every_word),
		cmocka_unit_test(adds_add),
		cmocka_unit_test(stream_reads_a_word_a_line),
		cmocka_unit_test(pages_read_a_word_a_page),
		cmocka_unit_test(aliases_are_distinct_addresses),
		cmocka_unit_test(aliases_keep_a_known_hash),
	};

	return cmocka_run_group_tests_name("loops", tests, NULL, NULL);
}
