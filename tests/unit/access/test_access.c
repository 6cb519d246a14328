/* SPDX-License-Identifier: MIT */
/* Computed permutations and chase orders: bijection, one cycle, inverse, randomness, offsets. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

#include "access/chase.h"
#include "access/perm.h"

/* Every position has one element and back, for every small n and a few seeds. */
static void permutation_is_bijective(void **state)
{
	(void)state;
	for (uint64_t n = 1; n <= 300; n++) {
		for (uint64_t seed = 0; seed < 3; seed++) {
			unsigned char seen[300] = { 0 };
			struct perm p;

			perm_init(&p, n, seed);
			for (uint64_t i = 0; i < n; i++) {
				uint64_t v = perm_at(&p, i);

				assert_true(v < n);
				assert_int_equal(seen[v], 0);
				seen[v] = 1;
				assert_int_equal(perm_position(&p, v), i);
			}
		}
	}
}

static void permutation_inverts_at_any_size(void **state)
{
	static const uint64_t sizes[] = { 4095,
					  4096,
					  4097,
					  1000003,
					  UINT64_C(1) << 27,
					  (UINT64_C(1) << 40) + 12345,
					  UINT64_C(1) << 61 };

	(void)state;
	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		struct perm p;

		perm_init(&p, sizes[k], 7 + k);
		for (uint64_t i = 0; i < 20000; i++) {
			uint64_t at = sizes[k] / 20000 * i % sizes[k], v = perm_at(&p, at);

			assert_true(v < sizes[k]);
			assert_int_equal(perm_position(&p, v), at);
		}
	}
}

/* Following perm_next() visits everything once and comes back. */
static void next_is_one_cycle(void **state)
{
	static const uint64_t sizes[] = { 1, 2, 3, 5, 64, 65, 1000, 65536, 100003 };

	(void)state;
	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		uint64_t n = sizes[k], at = 0, steps = 0;
		struct perm p;

		perm_init(&p, n, 99);
		do {
			at = perm_next(&p, at);
			steps++;
		} while (at != 0 && steps <= n);
		assert_int_equal(steps, n);
	}
}

/*
 * Distances between successive elements of a random cycle over n are uniform on 1..n-1: each of 16
 * equal bins holds n/16 +- 5 standard deviations. A sequential order puts all into one bin, so this
 * can fail.
 */
static unsigned worst_bin(enum chase_order order, uint64_t n, uint64_t seed)
{
	uint64_t bins[16] = { 0 };
	unsigned worst = 0;
	struct chase c;

	chase_init(&c, n, 64, 0, order, seed);
	for (uint64_t i = 0; i < n; i++)
		bins[(chase_next(&c, i) + n - i) % n * 16 / n]++;
	for (int b = 0; b < 16; b++) {
		uint64_t off = bins[b] > n / 16 ? bins[b] - n / 16 : n / 16 - bins[b];

		if (off > worst)
			worst = (unsigned)off;
	}
	return worst;
}

static void random_order_is_spread(void **state)
{
	const uint64_t n = 65536; /* sd of a bin: sqrt(n/16 * 15/16) = 62 */

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++)
		assert_true(worst_bin(CHASE_RANDOM, n, seed) < 5 * 62);
	assert_true(worst_bin(CHASE_SEQUENTIAL, n, 1) > 5 * 62);
}

static void seeds_differ(void **state)
{
	struct perm a, b, c;
	unsigned same = 0;

	(void)state;
	perm_init(&a, 4096, 1);
	perm_init(&b, 4096, 2);
	perm_init(&c, 4096, 1);
	for (uint64_t i = 0; i < 4096; i++) {
		same += perm_at(&a, i) == perm_at(&b, i);
		assert_int_equal(perm_at(&a, i), perm_at(&c, i));
	}
	assert_true(same < 40);
}

/* chase_element() is chase_next() applied again and again, in both orders. */
static void element_counts_steps(void **state)
{
	(void)state;
	for (int order = 0; order < 2; order++) {
		struct chase c;
		uint64_t at = 0;

		chase_init(&c, 777, 4096, 0, (enum chase_order)order, 5);
		for (uint64_t step = 0; step < 3000; step++) {
			assert_int_equal(chase_element(&c, step), at);
			at = chase_next(&c, at);
		}
	}
}

static void offsets_follow_stride_and_spread(void **state)
{
	struct chase c;

	(void)state;
	chase_init(&c, 1000, (UINT64_C(32) << 20) + 128, 0, CHASE_RANDOM, 1);
	assert_int_equal(chase_offset(&c, 0), 0);
	assert_int_equal(chase_offset(&c, 3), 3 * ((UINT64_C(32) << 20) + 128));
	chase_init(&c, 1000, 4096, 4096, CHASE_RANDOM, 1);
	assert_int_equal(chase_offset(&c, 1), 4096 + 64);
	assert_int_equal(chase_offset(&c, 63), 63 * 4096 + 63 * 64);
	assert_int_equal(chase_offset(&c, 64), 64 * 4096);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(chase_offset(&c, i) / 4096, i);
	assert_int_equal(chase_span(&c, 8), 999 * 4096 + 4096 + 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(permutation_is_bijective),
		cmocka_unit_test(permutation_inverts_at_any_size),
		cmocka_unit_test(next_is_one_cycle),
		cmocka_unit_test(random_order_is_spread),
		cmocka_unit_test(seeds_differ),
		cmocka_unit_test(element_counts_steps),
		cmocka_unit_test(offsets_follow_stride_and_spread),
	};

	return cmocka_run_group_tests_name("access", tests, NULL, NULL);
}
