/* SPDX-License-Identifier: MIT */
/*
 * The measured touching: increments of words of a working set in the order of a pattern
 * (access/touch.h). Compiled at fixed flags like the other measured loops; increments are
 * independent of each other, so that the processor overlaps as many misses as it can.
 */
#ifndef PAGETOLL_MEM_TOUCH_LOOPS_H
#define PAGETOLL_MEM_TOUCH_LOOPS_H

#include <stddef.h>
#include <stdint.h>

#include "access/touch.h"

/* One pass over @base, which has t->words words. */
void touch_once(const struct touch *t, uint64_t *base);

/*
 * What so many passes left behind in memory that was zero before: the sum of all words (passes
 * times touch_count()) and the number of lines of 64 bytes that are not all zero.
 */
struct touch_trace {
	uint64_t sum, lines;
};
struct touch_trace touch_read(const uint64_t *base, uint64_t words);

/*
 * Throws the lines of @bytes out of all caches of all CPUs, dirty ones to memory, by the
 * processor's instruction for it. 0 where user space has none (nothing was done then), else 1.
 */
int touch_flush(const void *base, size_t bytes);

#endif
