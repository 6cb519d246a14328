/* SPDX-License-Identifier: MIT */
/* Offsets and orders of pointer chases. */
#include "access/chase.h"

void chase_init(struct chase *c, uint64_t n, uint64_t stride_bytes, uint64_t spread_bytes,
		enum chase_order order, uint64_t seed)
{
	c->n = n;
	c->stride_bytes = stride_bytes;
	c->spread_bytes = spread_bytes;
	c->order = order;
	perm_init(&c->perm, n, seed);
}

uint64_t chase_offset(const struct chase *c, uint64_t i)
{
	uint64_t offset = i * c->stride_bytes;

	if (c->spread_bytes)
		offset += (i * CHASE_LINE_BYTES) % c->spread_bytes;
	return offset;
}

/* Both orders begin at element 0: a random one is read from the position where 0 lies. */
uint64_t chase_element(const struct chase *c, uint64_t step)
{
	if (c->order == CHASE_SEQUENTIAL)
		return step % c->n;
	return perm_at(&c->perm, (perm_position(&c->perm, 0) + step % c->n) % c->n);
}

uint64_t chase_next(const struct chase *c, uint64_t i)
{
	if (c->order == CHASE_SEQUENTIAL)
		return i + 1 == c->n ? 0 : i + 1;
	return perm_next(&c->perm, i);
}

uint64_t chase_span(const struct chase *c, uint64_t element_bytes)
{
	uint64_t last = (c->n - 1) * c->stride_bytes;

	return last + (c->spread_bytes ? c->spread_bytes : 0) + element_bytes;
}
