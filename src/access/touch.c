/* SPDX-License-Identifier: MIT */
/* Touch patterns: their making, and what they touch. See touch.h for what each is. */
#include "access/touch.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/rng.h"

const char *const touch_pattern_words[] = { "full", "four-region", "kernel-2.6.18", NULL };

void touch_init(struct touch *t, enum touch_pattern pattern, uint64_t bytes, uint64_t seed)
{
	uint64_t order[TOUCH_BLOCK_LINES];
	struct rng rng;

	*t = (struct touch){ .pattern = pattern, .words = bytes / TOUCH_WORD_BYTES };
	if (pattern != TOUCH_FULL)
		return;
	t->lines = bytes / TOUCH_LINE_BYTES;
	t->key = rng_mix64(seed);
	perm_init(&t->blocks, (t->lines + TOUCH_BLOCK_LINES - 1) / TOUCH_BLOCK_LINES, seed);
	for (unsigned k = 0; k < TOUCH_BLOCK_LINES; k++)
		order[k] = k;
	rng_seed(&rng, t->key);
	rng_shuffle_u64(&rng, order, TOUCH_BLOCK_LINES);
	for (unsigned k = 0; k < TOUCH_BLOCK_LINES; k++)
		t->order[k] = (unsigned char)order[k];
}

uint64_t touch_block_key(const struct touch *t, uint64_t block)
{
	return rng_mix64(block ^ t->key) % TOUCH_BLOCK_LINES;
}

static void walk(const struct touch *t, touch_visit visit, void *user)
{
	switch (t->pattern) {
	case TOUCH_FULL:
		touch_walk_full(t, visit, user);
		break;
	case TOUCH_FOUR_REGION:
		touch_walk_four(t->words, visit, user);
		break;
	case TOUCH_KERNEL:
		touch_walk_kernel(t->words, visit, user);
		break;
	}
}

static void count_one(void *user, uint64_t word)
{
	uint64_t *n = user;

	(void)word;
	(*n)++;
}

uint64_t touch_count(const struct touch *t)
{
	uint64_t n = 0;

	walk(t, count_one, &n);
	return n;
}

struct seen {
	unsigned char *bits;
	uint64_t words_per_line, n;
};

static void mark_line(void *user, uint64_t word)
{
	struct seen *s = user;
	uint64_t line = word / s->words_per_line;
	unsigned char bit = (unsigned char)(1u << line % 8);

	s->n += !(s->bits[line / 8] & bit);
	s->bits[line / 8] |= bit;
}

int touch_lines(const struct touch *t, uint64_t line_bytes, uint64_t *ret_lines)
{
	struct seen s = { .words_per_line = line_bytes / TOUCH_WORD_BYTES };

	s.bits = calloc(t->words / s.words_per_line / 8 + 1, 1);
	if (!s.bits)
		return -ENOMEM;
	walk(t, mark_line, &s);
	free(s.bits);
	*ret_lines = s.n;
	return 0;
}
