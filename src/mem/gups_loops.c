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

static inline void update(uint64_t *table, uint64_t mask, uint64_t *ran)
{
	uint64_t a = randomaccess_next(*ran);

	*ran = a;
	table[a & mask] ^= a;
}

/*
 * Unrolled as the rules' program is by the flags that it comes with: the fewer instructions between
 * two updates, the more of them are under way at once.
 */
void gups_literal(uint64_t *table, uint64_t mask, uint64_t ran[RANDOMACCESS_STREAMS],
		  uint64_t rounds)
{
	KEEP_ROLLED
	for (; rounds; rounds--) {
		KEEP_ROLLED
		for (unsigned j = 0; j < RANDOMACCESS_STREAMS; j += 4) {
			update(table, mask, &ran[j]);
			update(table, mask, &ran[j + 1]);
			update(table, mask, &ran[j + 2]);
			update(table, mask, &ran[j + 3]);
		}
	}
}

/* One step of the stream at @next and a request for its word; the update of the one that is due. */
static inline void ask_and_update(uint64_t *table, uint64_t mask, uint64_t *next, uint64_t due)
{
	uint64_t a = randomaccess_next(*next);

	*next = a;
	ASK_FOR(&table[a & mask]);
	table[due & mask] ^= due;
}

/*
 * Asks for the words of one half of the streams while it does the updates of the other. A function
 * of its own, so that a test finds its loop.
 */
__attribute__((noinline)) static void gups_half_round(uint64_t *table, uint64_t mask,
						      uint64_t next[GUPS_AHEAD],
						      const uint64_t due[GUPS_AHEAD])
{
	KEEP_ROLLED
	for (unsigned j = 0; j < GUPS_AHEAD; j += 4) {
		ask_and_update(table, mask, &next[j], due[j]);
		ask_and_update(table, mask, &next[j + 1], due[j + 1]);
		ask_and_update(table, mask, &next[j + 2], due[j + 2]);
		ask_and_update(table, mask, &next[j + 3], due[j + 3]);
	}
}

void gups_tuned(uint64_t *table, uint64_t mask, uint64_t ran[RANDOMACCESS_STREAMS], uint64_t rounds)
{
	uint64_t *first = ran, *second = ran + GUPS_AHEAD;

	if (!rounds)
		return;
	KEEP_ROLLED
	for (unsigned j = 0; j < GUPS_AHEAD; j++) {
		first[j] = randomaccess_next(first[j]);
		ASK_FOR(&table[first[j] & mask]);
	}
	for (;;) {
		gups_half_round(table, mask, second, first);
		if (!--rounds)
			break;
		gups_half_round(table, mask, first, second);
	}
	KEEP_ROLLED
	for (unsigned j = 0; j < GUPS_AHEAD; j++)
		table[second[j] & mask] ^= second[j];
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
