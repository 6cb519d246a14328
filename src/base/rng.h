/* SPDX-License-Identifier: MIT */
/*
 * Random numbers for shuffles and simulations: xoshiro256** seeded through splitmix64
 * (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2018). Same seed, same
 * numbers on every machine. Not for secrets.
 */
#ifndef PAGETOLL_BASE_RNG_H
#define PAGETOLL_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t s[4];
};

void rng_seed(struct rng *r, uint64_t seed);
uint64_t rng_next(struct rng *r);                  /* all 64 bits */
uint64_t rng_below(struct rng *r, uint64_t bound); /* uniform in [0, bound), bound >= 1; unbiased */
double rng_unit(struct rng *r);                    /* uniform in [0, 1) */
double rng_normal(struct rng *r);                  /* mean 0, standard deviation 1 */
void rng_shuffle_u64(struct rng *r, uint64_t *v, size_t n);
uint64_t rng_mix64(uint64_t x); /* splitmix64 finaliser: a bijection */

#endif
