/* SPDX-License-Identifier: MIT */
/*
 * xoshiro256** and splitmix64. Sources: D. Blackman, S. Vigna, "Scrambled linear pseudorandom
 * number generators", ACM TOMS 47 (2021), figure for xoshiro256**; G. Steele, D. Lea, C. Flood,
 * "Fast splittable pseudorandom number generators", OOPSLA 2014 (splitmix64); D. Lemire, "Fast
 * random integer generation in an interval", ACM TOMACS 29 (2019) (bounded numbers); G. Marsaglia,
 * T. Bray, "A convenient method for generating normal variables", SIAM Review 6 (1964).
 */
#include "base/rng.h"

#include <math.h>

static uint64_t rotate_left(uint64_t x, unsigned k)
{
	return (x << k) | (x >> (64 - k));
}

uint64_t rng_mix64(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

void rng_seed(struct rng *r, uint64_t seed)
{
	const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
	unsigned i;

	for (i = 0; i < 4; i++) {
		seed += golden;
		r->s[i] = rng_mix64(seed);
	}
}

uint64_t rng_next(struct rng *r)
{
	uint64_t *s = r->s;
	uint64_t result = rotate_left(s[1] * 5, 7) * 9;
	uint64_t shifted = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = rotate_left(s[3], 45);
	return result;
}

uint64_t rng_below(struct rng *r, uint64_t bound)
{
	__extension__ typedef unsigned __int128 u128;
	u128 product = (u128)rng_next(r) * bound;

	if ((uint64_t)product < bound) {
		/* 2^64 mod bound: products whose low half lies below it would be drawn too often */
		uint64_t excess = bound ? (0 - bound) % bound : 0;

		while ((uint64_t)product < excess)
			product = (u128)rng_next(r) * bound;
	}
	return (uint64_t)(product >> 64);
}

double rng_unit(struct rng *r)
{
	return (double)(rng_next(r) >> 11) * 0x1p-53;
}

double rng_normal(struct rng *r)
{
	double u, v, square;

	/* The second number of each pair is given up: the generator has no place to keep it. */
	do {
		u = 2.0 * rng_unit(r) - 1.0;
		v = 2.0 * rng_unit(r) - 1.0;
		square = u * u + v * v;
	} while (square >= 1.0 || square == 0.0);
	return u * sqrt(-2.0 * log(square) / square);
}

void rng_shuffle_u64(struct rng *r, uint64_t *v, size_t n)
{
	size_t i;

	for (i = n; i > 1; i--) {
		size_t j = (size_t)rng_below(r, i);
		uint64_t swap = v[i - 1];

		v[i - 1] = v[j];
		v[j] = swap;
	}
}
