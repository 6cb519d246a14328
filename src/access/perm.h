/* SPDX-License-Identifier: MIT */
/*
 * A random permutation of 0 .. n-1 that is computed, not stored: position to element and back in a
 * few instructions. Chase orders of any length need no table and can be written front to back; and
 * where a chase stands after k steps is known in advance, which proves that it took every step.
 *
 * A bijection of b bits (2^b >= n) made of xor-shifts by half the width and multiplications with
 * odd numbers modulo 2^b, each of which can be undone; values >= n are walked through ("cycle
 * walking", Black and Rogaway, "Ciphers with arbitrary finite domains", 2002). For unpredictable
 * memory access, not for secrets.
 */
#ifndef PAGETOLL_ACCESS_PERM_H
#define PAGETOLL_ACCESS_PERM_H

#include <stdint.h>

enum { PERM_ROUNDS = 4 };

struct perm {
	uint64_t n;
	uint64_t mask; /* 2^b - 1 */
	uint64_t key;
	uint64_t mul[PERM_ROUNDS], inv[PERM_ROUNDS]; /* odd, and their inverses modulo 2^b */
	unsigned shift; /* at least half of b: makes each xor-shift its own inverse */
};

/* @n from 1 to 2^62. Equal seeds give equal permutations. */
void perm_init(struct perm *p, uint64_t n, uint64_t seed);
/* The element at @position, and the position of @element; both below n. */
uint64_t perm_at(const struct perm *p, uint64_t position);
uint64_t perm_position(const struct perm *p, uint64_t element);
/* The element after @element in the cycle perm_at(0), perm_at(1), ..., perm_at(n - 1), perm_at(0).
 */
uint64_t perm_next(const struct perm *p, uint64_t element);

#endif
