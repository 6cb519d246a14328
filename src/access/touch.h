/* SPDX-License-Identifier: MIT */
/*
 * How a working set is touched, pure: which 8-byte words are incremented, in which order. The same
 * walk is compiled into the measured loops (mem/touch_loops) and into what counts lines here, so
 * that a share of lines is that of the loop that was timed.
 *
 *   full           every 64-byte line once, in shuffled order: blocks of 64 lines (4 KiB) in the
 *                  order of a random permutation, the lines of a block in a random order of their
 *                  own. So a page is entered once, and what is timed are lines and not TLB misses.
 *   four-region    four streams from both ends and the middle; every line once
 *   kernel-2.6.18  the pattern of the kernel's measurement at boot (2.6.12-mm to 2.6.22): six
 *                  streams, of which four or two are left out in turns
 *
 * Known defect of the kernel's pattern: its step of 8 words is even, so that the switch over
 * (i modulo 6) is entered at 0, 2 and 4 only, and falls through from there. With lines of 64 bytes
 * the six sixths of the working set have 1/3, 2/3, 2/3, 1, 1 and 1/3 of their lines touched: two
 * thirds in all (88.9 % of lines of 128 bytes). Its results are those of a working set smaller than
 * the one it names. Source: Linux 2.6.18 kernel/sched.c, touch_cache(); the four streams: I.
 * Molnar, message to linux-ia64, 22 June 2005; the defect: kernel bug 7476.
 */
#ifndef PAGETOLL_ACCESS_TOUCH_H
#define PAGETOLL_ACCESS_TOUCH_H

#include <stdint.h>

#include "access/perm.h"

enum touch_pattern { TOUCH_FULL, TOUCH_FOUR_REGION, TOUCH_KERNEL };
/* "full", "four-region", "kernel-2.6.18", NULL: in the order of the enum. */
extern const char *const touch_pattern_words[];

enum { TOUCH_LINE_BYTES = 64, TOUCH_BLOCK_LINES = 64, TOUCH_WORD_BYTES = 8 };
enum { TOUCH_LEAST_BYTES = 512 }; /* smallest working set of all patterns */

struct touch {
	enum touch_pattern pattern;
	uint64_t words; /* of 8 bytes */
	/* TOUCH_FULL only */
	uint64_t lines;
	uint64_t key;
	struct perm blocks;
	unsigned char order[TOUCH_BLOCK_LINES];
};

/*
 * @bytes >= TOUCH_LEAST_BYTES; what is beyond the last whole word (for TOUCH_FULL: line) is not
 * touched.
 * @seed decides the shuffled order, the other patterns have none.
 */
void touch_init(struct touch *t, enum touch_pattern pattern, uint64_t bytes, uint64_t seed);

/* Increments of one pass. */
uint64_t touch_count(const struct touch *t);
/* Different lines of @line_bytes (a power of two, 8 or more) that one pass touches. 0 or -ENOMEM.
 */
int touch_lines(const struct touch *t, uint64_t line_bytes, uint64_t *ret_lines);

/* --- the walk; @visit gets the number of a word --- */

typedef void (*touch_visit)(void *user, uint64_t word);
#define TOUCH_INLINE static inline __attribute__((always_inline))

TOUCH_INLINE void touch_walk_kernel(uint64_t words, touch_visit visit, void *user)
{
	const uint64_t third = words / 3, two_thirds = 2 * words / 3;

	for (uint64_t i = 0; i < words / 6; i += 8) {
		const uint64_t from = i % 6; /* 0, 2 or 4 */

		if (from == 0) {
			visit(user, i);
			visit(user, words - 1 - i);
		}
		if (from <= 2) {
			visit(user, third - i);
			visit(user, third + i);
		}
		visit(user, two_thirds - i);
		visit(user, two_thirds + i);
	}
}

TOUCH_INLINE void touch_walk_four(uint64_t words, touch_visit visit, void *user)
{
	const uint64_t half = words / 2;

	for (uint64_t i = 0; i < words / 4; i += 8) {
		visit(user, i);
		visit(user, words - 1 - i);
		visit(user, half - i);
		visit(user, half + i);
	}
}

/* What xors the order of the lines in a block: 0 to 63. */
uint64_t touch_block_key(const struct touch *t, uint64_t block);

TOUCH_INLINE void touch_walk_block(const struct touch *t, uint64_t block, touch_visit visit,
				   void *user)
{
	const uint64_t first = block * TOUCH_BLOCK_LINES, key = touch_block_key(t, block);
	const unsigned words = TOUCH_LINE_BYTES / TOUCH_WORD_BYTES;

	if (t->lines - first >= TOUCH_BLOCK_LINES) {
		for (unsigned k = 0; k < TOUCH_BLOCK_LINES; k++)
			visit(user, (first + (t->order[k] ^ key)) * words);
		return;
	}
	for (unsigned k = 0; k < TOUCH_BLOCK_LINES; k++) /* the last block may be a part */
		if (first + (t->order[k] ^ key) < t->lines)
			visit(user, (first + (t->order[k] ^ key)) * words);
}

TOUCH_INLINE void touch_walk_full(const struct touch *t, touch_visit visit, void *user)
{
	for (uint64_t b = 0; b < t->blocks.n; b++)
		touch_walk_block(t, perm_at(&t->blocks, b), visit, user);
}

#endif
