/* SPDX-License-Identifier: MIT */
/* The measured loops of RandomAccess. See gups_loops.h for what each does. */
#include "mem/gups_loops.h"

/* clang unrolls loops whatever the flags say */
#ifdef __clang__
#define KEEP_ROLLED _Pragma("clang loop unroll(disable) vectorize(disable)")
#else
#define KEEP_ROLLED
#endif
/*
 * Asks for a line in order to write it. The compiler's own gives a prefetch for reading where the
 * flags promise nothing; processors without this one take it for no operation.
 */
#ifdef __x86_64__
#define ASK_FOR(p) __asm__ volatile("prefetchw %0" : : "m"(*(p)))
#else
#define ASK_FOR(p) __builtin_prefetch(p, 1)
#endif
#define OPAQUE(x) __asm__ volatile("" : "+r"(x))

void gups_literal(uint64_t *table, uint64_t mask, uint64_t ran[RANDOMACCESS_STREAMS],
		  uint64_t rounds)
{
	KEEP_ROLLED
	for (; rounds; rounds--) {
		KEEP_ROLLED
		for (unsigned j = 0; j < RANDOMACCESS_STREAMS; j++) {
			ran[j] = randomaccess_next(ran[j]);
			table[ran[j] & mask] ^= ran[j];
		}
	}
}

/*
 * Stream k runs GUPS_AHEAD updates before its word is due: what is due at j was asked for when the
 * loop was at j - GUPS_AHEAD. ran[k] has then been stepped, and waits for its turn.
 */
void gups_tuned(uint64_t *table, uint64_t mask, uint64_t ran[RANDOMACCESS_STREAMS], uint64_t rounds)
{
	if (!rounds)
		return;
	KEEP_ROLLED
	for (unsigned k = 0; k < GUPS_AHEAD; k++) {
		ran[k] = randomaccess_next(ran[k]);
		ASK_FOR(&table[ran[k] & mask]);
	}
	KEEP_ROLLED
	for (uint64_t i = 0; i < rounds * RANDOMACCESS_STREAMS - GUPS_AHEAD; i++) {
		uint64_t due = ran[i % RANDOMACCESS_STREAMS];
		uint64_t *next = &ran[(i + GUPS_AHEAD) % RANDOMACCESS_STREAMS];

		*next = randomaccess_next(*next);
		ASK_FOR(&table[*next & mask]);
		table[due & mask] ^= due;
	}
	KEEP_ROLLED
	for (unsigned k = RANDOMACCESS_STREAMS - GUPS_AHEAD; k < RANDOMACCESS_STREAMS; k++)
		table[ran[k] & mask] ^= ran[k];
}

uint64_t gups_dependent(uint64_t *table, uint64_t mask, uint64_t ran, uint64_t updates)
{
	uint64_t zero = 0;

	OPAQUE(zero); /* the compiler must not know that the sum below adds nothing */
	KEEP_ROLLED
	for (; updates; updates--) {
		uint64_t word;

		ran = randomaccess_next(ran);
		word = table[ran & mask];
		table[ran & mask] = word ^ ran;
		ran += word & zero;
	}
	return ran;
}

uint64_t gups_replay(uint64_t *table, uint64_t mask, uint64_t ran, uint64_t updates)
{
	KEEP_ROLLED
	for (; updates; updates--) {
		ran = randomaccess_next(ran);
		table[ran & mask] ^= ran;
	}
	return ran;
}

void gups_fill(uint64_t *table, uint64_t words)
{
	for (uint64_t i = 0; i < words; i++)
		table[i] = i;
}

uint64_t gups_count_wrong(const uint64_t *table, uint64_t words)
{
	uint64_t wrong = 0;

	for (uint64_t i = 0; i < words; i++)
		wrong += table[i] != i;
	return wrong;
}
