/* SPDX-License-Identifier: MIT */
/*
 * The update stream of HPC Challenge RandomAccess, pure: which 64-bit number comes at which step. A
 * number a is followed by a * x in GF(2)[x] modulo x^64 + x^2 + x + 1 (the sum of the low terms is
 * 7): shift left, and add 7 where a bit went out. The stream begins with 1. The polynomial is
 * divisible by x + 1; the order of x is (2^63 - 1) / 7.
 *
 * Leaves out: tables and updates (mem/gups_loops.h).
 * Source: HPC Challenge Benchmark, "RandomAccess rules" and the specification's description of the
 * random number generator and of starting it at any step (P. Luszczek et al., 2005).
 */
#ifndef PAGETOLL_ACCESS_RANDOMACCESS_H
#define PAGETOLL_ACCESS_RANDOMACCESS_H

#include <stdint.h>

enum {
	RANDOMACCESS_POLY = 7,
	RANDOMACCESS_STREAMS = 128,    /* interleaved, in the kernel of one CPU */
	RANDOMACCESS_LOOKAHEAD = 1024, /* most updates that a CPU may hold back */
	RANDOMACCESS_UPDATES_PER_WORD = 4,
};
#define RANDOMACCESS_PERIOD INT64_C(1317624576693539401)

/* The number after @a. */
static inline uint64_t randomaccess_next(uint64_t a)
{
	return a << 1 ^ ((int64_t)a < 0 ? RANDOMACCESS_POLY : 0);
}

/* The number at step @n (step 0 is 1) in some 4000 operations; any @n, also negative. */
uint64_t randomaccess_start(int64_t n);

/*
 * The streams of @updates steps from @first on: stream j stands where its part of
 * @updates / RANDOMACCESS_STREAMS steps begins. @updates: a multiple of RANDOMACCESS_STREAMS.
 */
void randomaccess_streams(uint64_t ret[RANDOMACCESS_STREAMS], uint64_t first, uint64_t updates);

#endif
