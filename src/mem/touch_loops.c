/* SPDX-License-Identifier: MIT */
/* The measured touching, its trace, and the flush before it. */
#include "mem/touch_loops.h"

#include "base/arch_code.h"

/* clang unrolls loops whatever the flags say; volatile keeps every increment, in its order */
TOUCH_INLINE void increment(void *user, uint64_t word)
{
	volatile uint64_t *base = user;

	base[word] = base[word] + 1;
}

static __attribute__((noinline)) void touch_kernel(uint64_t words, uint64_t *base)
{
	touch_walk_kernel(words, increment, base);
}

static __attribute__((noinline)) void touch_four(uint64_t words, uint64_t *base)
{
	touch_walk_four(words, increment, base);
}

static __attribute__((noinline)) void touch_full(const struct touch *t, uint64_t *base)
{
	touch_walk_full(t, increment, base);
}

void touch_once(const struct touch *t, uint64_t *base)
{
	switch (t->pattern) {
	case TOUCH_FULL:
		touch_full(t, base);
		break;
	case TOUCH_FOUR_REGION:
		touch_four(t->words, base);
		break;
	case TOUCH_KERNEL:
		touch_kernel(t->words, base);
		break;
	}
}

struct touch_trace touch_read(const uint64_t *base, uint64_t words)
{
	const uint64_t per_line = TOUCH_LINE_BYTES / TOUCH_WORD_BYTES;
	struct touch_trace t = { 0 };

	for (uint64_t i = 0; i < words; i += per_line) {
		uint64_t any = 0;

		for (uint64_t k = i; k < i + per_line && k < words; k++) {
			t.sum += base[k];
			any |= base[k];
		}
		t.lines += any != 0;
	}
	return t;
}

int touch_flush(const void *base, size_t bytes)
{
	if (!arch_has_flush())
		return 0;
	arch_flush_lines(base, bytes);
	return 1;
}
