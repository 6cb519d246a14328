/* SPDX-License-Identifier: MIT */
/* Any step of the RandomAccess stream, by squaring. See randomaccess.h for the field. */
#include "access/randomaccess.h"

/* Squaring in GF(2) is linear: bit i of a number contributes x^(2i). */
static void squares_of_bits(uint64_t ret[64])
{
	uint64_t power = 1;

	for (int i = 0; i < 64; i++) {
		ret[i] = power;
		power = randomaccess_next(randomaccess_next(power));
	}
}

static uint64_t square(const uint64_t squares[64], uint64_t a)
{
	uint64_t sum = 0;

	for (; a; a &= a - 1)
		sum ^= squares[__builtin_ctzll(a)];
	return sum;
}

uint64_t randomaccess_start(int64_t n)
{
	uint64_t squares[64], a = 1;
	int64_t step = n % RANDOMACCESS_PERIOD;

	if (step < 0)
		step += RANDOMACCESS_PERIOD;
	squares_of_bits(squares);
	/* x^n by the bits of n, the highest first */
	for (int bit = 62; bit >= 0; bit--) {
		a = square(squares, a);
		if (step >> bit & 1)
			a = randomaccess_next(a);
	}
	return a;
}

void randomaccess_streams(uint64_t ret[RANDOMACCESS_STREAMS], uint64_t first, uint64_t updates)
{
	uint64_t part = updates / RANDOMACCESS_STREAMS;

	for (uint64_t j = 0; j < RANDOMACCESS_STREAMS; j++)
		ret[j] = randomaccess_start((int64_t)(first + part * j));
}
