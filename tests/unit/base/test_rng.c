/* SPDX-License-Identifier: MIT */
/*
 * rng.c against the published numbers of its generators, and the properties that we rely on.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"

/* splitmix64 from seed 0, and xoshiro256** from the state 1 2 3 4. */
static void test_vectors(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 0);
	assert_true(r.s[0] == UINT64_C(0xe220a8397b1dcdaf));
	assert_true(r.s[1] == UINT64_C(0x6e789e6aa1b965f4));
	assert_true(r.s[2] == UINT64_C(0x06c45d188009454f));
	assert_true(r.s[3] == UINT64_C(0xf88bb8a8724c81ec));
	r = (struct rng){ { 1, 2, 3, 4 } };
	assert_true(rng_next(&r) == 11520);
	assert_true(rng_next(&r) == 0);
	assert_true(rng_next(&r) == 1509978240);
	assert_true(rng_next(&r) == UINT64_C(1215971899390074240));
}

static void test_below(void **state)
{
	enum { BOUND = 7, DRAWS = 70000 };
	unsigned seen[BOUND] = { 0 };
	struct rng r;
	int i;

	(void)state;
	rng_seed(&r, 5);
	for (i = 0; i < DRAWS; i++) {
		uint64_t v = rng_below(&r, BOUND);

		assert_true(v < BOUND);
		seen[v]++;
	}
	/* 10000 each, standard deviation 93. */
	for (i = 0; i < BOUND; i++)
		assert_in_range(seen[i], 9500, 10500);
	for (i = 0; i < 100; i++) {
		assert_true(rng_below(&r, 1) == 0);
		assert_true(rng_below(&r, UINT64_MAX) < UINT64_MAX);
	}
}

/* A bound of 3/4 of 2^64 shows a bias that small ones hide: two of three thirds would tie. */
static void test_below_unbiased(void **state)
{
	const uint64_t bound = UINT64_C(3) << 62;
	unsigned thirds[3] = { 0 };
	struct rng r;
	int i;

	(void)state;
	rng_seed(&r, 6);
	for (i = 0; i < 30000; i++)
		thirds[rng_below(&r, bound) >> 62]++;
	for (i = 0; i < 3; i++)
		assert_in_range(thirds[i], 9500, 10500);
}

static void test_unit_and_normal(void **state)
{
	enum { DRAWS = 100000 };
	double sum = 0, square = 0, low = 1, high = 0, nsum = 0, nsquare = 0;
	struct rng r;
	int i, beyond = 0;

	(void)state;
	rng_seed(&r, 7);
	for (i = 0; i < DRAWS; i++) {
		double u = rng_unit(&r), x = rng_normal(&r);

		sum += u;
		square += u * u;
		low = u < low ? u : low;
		high = u > high ? u : high;
		nsum += x;
		nsquare += x * x;
		beyond += fabs(x) > 1.959964;
	}
	assert_true(low >= 0.0 && low < 1e-3 && high < 1.0 && high > 1 - 1e-3);
	assert_true(fabs(sum / DRAWS - 0.5) < 0.005);
	assert_true(fabs(square / DRAWS - 1.0 / 3) < 0.005);
	assert_true(fabs(nsum / DRAWS) < 0.02);
	assert_true(fabs(nsquare / DRAWS - 1) < 0.03);
	assert_in_range(beyond, 4600, 5400);
}

static void test_shuffle(void **state)
{
	uint64_t v[100], sum = 0;
	unsigned first[5] = { 0 };
	struct rng r;
	size_t i, moved = 0;

	(void)state;
	rng_seed(&r, 8);
	for (i = 0; i < 100; i++)
		v[i] = i;
	rng_shuffle_u64(&r, v, 100);
	for (i = 0; i < 100; i++) {
		sum += v[i];
		moved += v[i] != i;
	}
	assert_true(sum == 4950 && moved > 80);
	rng_shuffle_u64(&r, v, 1);
	rng_shuffle_u64(&r, NULL, 0);
	for (i = 0; i < 5000; i++) {
		uint64_t w[5] = { 0, 1, 2, 3, 4 };

		rng_shuffle_u64(&r, w, 5);
		first[w[0]]++;
	}
	for (i = 0; i < 5; i++)
		assert_in_range(first[i], 850, 1150);
}

static void test_same_seed(void **state)
{
	struct rng a, b, c;
	int i, same = 0;

	(void)state;
	rng_seed(&a, 9);
	rng_seed(&b, 9);
	rng_seed(&c, 10);
	for (i = 0; i < 100; i++) {
		uint64_t x = rng_next(&a);

		assert_true(x == rng_next(&b));
		same += x == rng_next(&c);
	}
	assert_int_equal(same, 0);
	assert_true(rng_mix64(1) != rng_mix64(2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),        cmocka_unit_test(test_below),
		cmocka_unit_test(test_below_unbiased), cmocka_unit_test(test_unit_and_normal),
		cmocka_unit_test(test_shuffle),        cmocka_unit_test(test_same_seed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
