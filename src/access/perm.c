/* SPDX-License-Identifier: MIT */
/* Computed random permutations; see perm.h for the construction. */
#include "access/perm.h"

#include "base/rng.h"

/* Newton's iteration doubles the number of right bits each time: 3 -> 6 -> ... -> 96. */
static uint64_t inverse_odd(uint64_t a)
{
	uint64_t x = a;

	for (int i = 0; i < 5; i++)
		x *= 2 - a * x;
	return x;
}

void perm_init(struct perm *p, uint64_t n, uint64_t seed)
{
	struct rng r;
	unsigned bits = 1;

	while (bits < 62 && (UINT64_C(1) << bits) < n)
		bits++;
	p->n = n;
	p->mask = (UINT64_C(1) << bits) - 1;
	p->shift = (bits + 1) / 2;
	rng_seed(&r, seed);
	p->key = rng_next(&r) & p->mask;
	for (int i = 0; i < PERM_ROUNDS; i++) {
		p->mul[i] = rng_next(&r) | 1;
		p->inv[i] = inverse_odd(p->mul[i]);
	}
}

static inline uint64_t forward(const struct perm *p, uint64_t x)
{
	x ^= p->key;
	for (int i = 0; i < PERM_ROUNDS; i++) {
		x = (x * p->mul[i]) & p->mask;
		x ^= x >> p->shift;
	}
	return x;
}

static inline uint64_t backward(const struct perm *p, uint64_t x)
{
	for (int i = PERM_ROUNDS - 1; i >= 0; i--) {
		x ^= x >> p->shift;
		x = (x * p->inv[i]) & p->mask;
	}
	return x ^ p->key;
}

uint64_t perm_at(const struct perm *p, uint64_t position)
{
	uint64_t x = position;

	do
		x = forward(p, x);
	while (x >= p->n);
	return x;
}

uint64_t perm_position(const struct perm *p, uint64_t element)
{
	uint64_t x = element;

	do
		x = backward(p, x);
	while (x >= p->n);
	return x;
}

uint64_t perm_next(const struct perm *p, uint64_t element)
{
	uint64_t position = perm_position(p, element) + 1;

	return perm_at(p, position == p->n ? 0 : position);
}
