/* SPDX-License-Identifier: MIT */
/*
 * The measured loops. Compiled at fixed flags whatever the build type, without sanitizers; their
 * machine code is checked by a test (tools/check-loops): the number of loads, nothing vectorised,
 * no calls.
 */
#ifndef PAGETOLL_MEM_CHASE_LOOPS_H
#define PAGETOLL_MEM_CHASE_LOOPS_H

#include <stddef.h>
#include <stdint.h>

enum { CHASE_UNROLL = 16 };

/*
 * Follows links: every load gives the address of the next. @steps is a multiple of CHASE_UNROLL.
 * Returns where it stands afterwards.
 */
void *chase_links(void *start, uint64_t steps);

/*
 * Reads the addresses of a list (@n >= 1) one after the other, @rounds times over. Every word read
 * must be zero: it is added to the next address, which makes each load wait for the one before.
 * Returns the sum of the words (0 if the memory kept the rule).
 */
uintptr_t chase_list(const uintptr_t *list, size_t n, uint64_t rounds);

/*
 * The same list read without waiting: no address depends on a word that was read before. Returns
 * the sum of all words.
 */
uintptr_t chase_list_independent(const uintptr_t *list, size_t n, uint64_t rounds);

/* @count dependent additions of 1; one takes one core cycle on every CPU of today. Returns their
 * sum. */
uint64_t loop_adds(uint64_t count);

/* Sums one word of each cache line of @bytes (a load on the memory system). @bytes multiple of 512.
 */
uint64_t loop_stream(const void *base, size_t bytes);

/* Sums one word of each of @n pages of @page_bytes, the cache line moving from page to page. */
uint64_t loop_pages(const void *base, uint64_t n, uint64_t page_bytes);

/* @n calls of @call with @arg, and the function that does nothing, to be subtracted. */
void loop_calls(void (*call)(void *arg), void *arg, uint64_t n);
void call_nothing(void *arg);

#endif
