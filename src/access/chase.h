/* SPDX-License-Identifier: MIT */
/*
 * Reference streams of pointer chases, pure: which byte offset the i-th element has, and in which
 * cyclic order the elements are visited. Benchmarks lay them into memory, the model walks them
 * without memory.
 */
#ifndef PAGETOLL_ACCESS_CHASE_H
#define PAGETOLL_ACCESS_CHASE_H

#include <stdint.h>

#include "access/perm.h"

enum chase_order { CHASE_RANDOM, CHASE_SEQUENTIAL };

enum { CHASE_LINE_BYTES = 64 }; /* step of the line spread; see chase_offset() */

struct chase {
	uint64_t n;
	uint64_t stride_bytes;
	/*
	 * Element i lies (i * CHASE_LINE_BYTES) modulo this further on, so that the lines do not
	 * all fall into one cache set; 0: no spread.
	 */
	uint64_t spread_bytes;
	enum chase_order order;
	struct perm perm;
};

/* @n >= 1, @stride_bytes >= 1. @seed decides the random order. */
void chase_init(struct chase *c, uint64_t n, uint64_t stride_bytes, uint64_t spread_bytes,
		enum chase_order order, uint64_t seed);
/* Byte offset of element @i (0 <= i < n) from the start of the region. */
uint64_t chase_offset(const struct chase *c, uint64_t i);
/* The element visited @step references after element 0 (any @step), and the one right after @i. */
uint64_t chase_element(const struct chase *c, uint64_t step);
uint64_t chase_next(const struct chase *c, uint64_t i);
/* Bytes from the start to the end of the last element, for elements of @element_bytes. */
uint64_t chase_span(const struct chase *c, uint64_t element_bytes);

#endif
