/* SPDX-License-Identifier: MIT */
/*
 * Sets of entries with a replacement policy: what TLBs, walk caches, caches and the far side are
 * made of. Inside sim/ only. Up to 16 ways lie in one small record a set, found by a byte of their
 * key each; more ways (fully associative TLBs) are found through one hash table over all sets.
 *
 * In small sets of LRU and FIFO, ways without an entry are always older than those with one: the
 * oldest way is the one to fill whether the set is full or not, without asking.
 */
#ifndef PAGETOLL_SIM_ASSOC_H
#define PAGETOLL_SIM_ASSOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arch_match.h"
#include "base/rng.h"
#include "sim/machine.h"

#define ASSOC_NONE UINT64_MAX /* no key */
enum { ASSOC_SMALL = 16 /* ways */, ASSOC_WAYS_MAX = 4096 };

struct assoc_small {
	uint8_t mark[ASSOC_SMALL]; /* a byte of each key */
	union {
		uint8_t ages[ASSOC_SMALL]; /* LRU, FIFO: 0 is the youngest */
		struct {
			uint64_t state; /* NRU, PLRU: bits */
			uint32_t valid; /* a bit a way */
		};
	};
	/* Right behind: few entries of a set share its line of the computer that simulates. */
	uint64_t keys[];
};

struct assoc {
	uint32_t ways, sets;
	uint32_t mask; /* sets - 1 where that is a power of two, else 0 */
	uint32_t bits;
	bool is_plain;   /* one set, or low bits */
	uint8_t fold[3]; /* shifts that fold all bits of a number onto those of a set; 0: loop */
	enum sim_index index;
	enum sim_policy policy;
	char *small;          /* owned; a struct assoc_small each small_bytes; NULL: large */
	uint32_t small_bytes; /* a multiple of 64 */
	uint32_t full;        /* a bit for each way */
	bool by_age;          /* LRU, FIFO: small sets have ages */
	bool wide;            /* this computer has the instructions of ARCH_MATCH_WIDE */
	/* large */
	uint64_t *keys;    /* owned; sets x ways */
	uint32_t *slot_of; /* owned; hash table: slot + 1, 0: empty */
	uint32_t hash_bits;
	uint32_t *older, *newer;     /* owned; neighbours of a slot, by age; the ends wrap around */
	uint32_t *newest, *n_used;   /* owned; of each set */
	uint64_t *used, *referenced; /* owned; a bit a way */
	uint32_t words;              /* of 64 such bits, a set */
	struct rng rng;
};

/* @shape: checked by sim_machine_check(). -ENOMEM. */
int assoc_init(struct assoc *a, const struct sim_shape *shape, uint64_t seed);
void assoc_done(struct assoc *a); /* accepts zeroed ones */
void assoc_clear(struct assoc *a);
size_t assoc_bytes(const struct assoc *a);

bool assoc_large_find(struct assoc *a, uint64_t key, uint32_t set);
uint64_t assoc_large_insert(struct assoc *a, uint64_t key, uint32_t set, bool referenced);
bool assoc_large_remove(struct assoc *a, uint64_t key, uint32_t set);

/* Zeroed ones are not: the machine has none of that. */
static inline bool assoc_is_made(const struct assoc *a)
{
	return a->sets > 0;
}

/* The set of something numbered (page number, line number). */
static inline uint32_t assoc_set(const struct assoc *a, uint64_t number)
{
	if (a->is_plain)
		return (uint32_t)number & a->mask;
	if (a->index == SIM_LINEAR)
		return (uint32_t)(number % a->sets);
	if (!a->mask)
		return (uint32_t)((unsigned __int128)(number * 0x9e3779b97f4a7c15u) * a->sets >>
				  64);
	if (a->index == SIM_XOR)
		return (uint32_t)(number ^ number >> a->bits) & a->mask;
	if (a->fold[0]) {
		number ^= number >> a->fold[0];
		number ^= number >> a->fold[1];
		return (uint32_t)(number ^ number >> a->fold[2]) & a->mask;
	}
	for (uint64_t rest = number >> a->bits; rest; rest >>= a->bits)
		number ^= rest;
	return (uint32_t)number & a->mask;
}

static inline uint8_t assoc_mark(uint64_t key)
{
	return (uint8_t)(key * 0x9e3779b97f4a7c15u >> 56);
}

static inline struct assoc_small *assoc_small_at(const struct assoc *a, uint32_t set)
{
	return (struct assoc_small *)(void *)(a->small + (size_t)set * a->small_bytes);
}

/* The way of @key in a small set, or ways. */
static inline uint32_t assoc_small_way(const struct assoc *a, const struct assoc_small *s,
				       uint64_t key)
{
	for (uint32_t hit = arch_match16(s->mark, assoc_mark(key)); hit; hit &= hit - 1) {
		const uint32_t way = (uint32_t)__builtin_ctz(hit);

		if (way < a->ways && s->keys[way] == key)
			return way;
	}
	return a->ways;
}

/* Walks down the tree towards the victim; touching turns all nodes on the path away from @way. */
static inline uint64_t assoc_tree_touch(uint64_t tree, uint32_t ways, uint32_t way)
{
	uint32_t node = 1;

	for (uint32_t half = ways / 2; half; half /= 2) {
		const bool upper = way & half;

		tree = upper ? tree & ~(UINT64_C(1) << node) : tree | UINT64_C(1) << node;
		node = 2 * node + upper;
	}
	return tree;
}

static inline uint32_t assoc_tree_victim(uint64_t tree, uint32_t ways)
{
	uint32_t node = 1;

	while (node < ways)
		node = 2 * node + (tree >> node & 1);
	return node - ways;
}

static inline void assoc_small_touch(const struct assoc *a, struct assoc_small *s, uint32_t way)
{
	const uint64_t all = (UINT64_C(1) << a->ways) - 1;

	switch (a->policy) {
	case SIM_LRU:
		if (s->ages[way])
			arch_youngest16(s->ages, way);
		break;
	case SIM_PLRU:
		s->state = assoc_tree_touch(s->state, a->ways, way);
		break;
	case SIM_NRU:
	case SIM_NRU_LOWEST:
		s->state |= UINT64_C(1) << way;
		if (s->state == all)
			s->state = UINT64_C(1) << way;
		break;
	case SIM_RANDOM:
	case SIM_FIFO:
		break;
	}
}

static inline uint32_t assoc_oldest_way(const struct assoc *a, const struct assoc_small *s)
{
	return (uint32_t)__builtin_ctz(arch_match16(s->ages, (uint8_t)(a->ways - 1)));
}

/* Ways without an entry behind (older than) those with one again. */
void assoc_small_behind(const struct assoc *a, struct assoc_small *s);
uint32_t assoc_small_choose(struct assoc *a, const struct assoc_small *s);

static inline uint32_t assoc_small_victim(struct assoc *a, const struct assoc_small *s)
{
	if (a->by_age)
		return assoc_oldest_way(a, s);
	if (s->valid != a->full)
		return (uint32_t)__builtin_ctz(~s->valid);
	return assoc_small_choose(a, s);
}

/* Whether @key is in @set; a hit counts as a reference. */
static inline bool assoc_find(struct assoc *a, uint64_t key, uint32_t set)
{
	struct assoc_small *s;
	uint32_t way;

	if (!a->small)
		return assoc_large_find(a, key, set);
	s = assoc_small_at(a, set);
	way = assoc_small_way(a, s, key);
	if (way == a->ways)
		return false;
	assoc_small_touch(a, s, way);
	return true;
}

/*
 * Puts @key, which is not there, into @set and returns the key that had to go, ASSOC_NONE: none.
 * Not @referenced: as if it had not been used yet, so that it is the next to go.
 */
static inline uint64_t assoc_insert(struct assoc *a, uint64_t key, uint32_t set, bool referenced)
{
	struct assoc_small *s;
	uint64_t old;
	uint32_t way;

	if (!a->small)
		return assoc_large_insert(a, key, set, referenced);
	s = assoc_small_at(a, set);
	way = assoc_small_victim(a, s);
	old = s->keys[way];
	s->keys[way] = key;
	s->mark[way] = assoc_mark(key);
	if (a->by_age) {
		if (referenced || a->policy == SIM_FIFO)
			arch_youngest16(s->ages, way);
		else
			assoc_small_behind(a, s);
		return old;
	}
	s->valid |= 1u << way;
	if (referenced)
		assoc_small_touch(a, s, way);
	else if (a->policy == SIM_NRU || a->policy == SIM_NRU_LOWEST)
		s->state &= ~(UINT64_C(1) << way);
	return old;
}

/*
 * Find and insert in one for LRU, without a branch that depends on the outcome: a hit and a miss
 * both end with the key in one way, which becomes the youngest, so only the choice of that way
 * differs. What a miss pushes out (a hit: @key itself) comes back. Where a level hits, no branch
 * predictor of the simulating computer knows, and each wrong guess costs as much as a lookup.
 */
static inline ARCH_MATCH_INLINE uint64_t assoc_swap_lru(struct assoc_small *s, uint32_t full,
							uint32_t ways, uint64_t key,
							uint32_t *ret_way)
{
	const uint32_t oldest = arch_match16(s->ages, (uint8_t)(ways - 1)) << 16;
	const uint8_t mark = assoc_mark(key);
	uint32_t hits = arch_match16(s->mark, mark) & full;
	/* the lowest bit is a way that may hit, or, 16 above, the oldest */
	uint32_t way = (uint32_t)__builtin_ctz(hits | oldest) & 15;
	uint64_t old = s->keys[way];

	if (__builtin_expect((hits != 0) & (old != key), 0)) { /* another key of that mark */
		while (hits && s->keys[__builtin_ctz(hits)] != key)
			hits &= hits - 1;
		way = (uint32_t)__builtin_ctz(hits | oldest) & 15;
		old = s->keys[way];
	}
	s->keys[way] = key;
	arch_enter16(s->mark, s->ages, way, mark);
	*ret_way = way;
	return old;
}

/* Find, and insert if it was not there: whether it was. */
static inline bool assoc_access(struct assoc *a, uint64_t key, uint32_t set)
{
	uint32_t way;

	if (a->small && a->policy == SIM_LRU)
		return assoc_swap_lru(assoc_small_at(a, set), a->full, a->ways, key, &way) == key;
	if (assoc_find(a, key, set))
		return true;
	assoc_insert(a, key, set, true);
	return false;
}

static inline bool assoc_remove(struct assoc *a, uint64_t key, uint32_t set)
{
	struct assoc_small *s;
	uint32_t way;

	if (!a->small)
		return assoc_large_remove(a, key, set);
	s = assoc_small_at(a, set);
	way = assoc_small_way(a, s, key);
	if (way == a->ways)
		return false;
	s->keys[way] = ASSOC_NONE;
	if (a->by_age)
		arch_oldest16(s->ages, way, a->ways);
	else
		s->valid &= ~(1u << way);
	return true;
}

/*
 * The same for @n keys, one after the other: what was pushed out (as of assoc_swap_lru()), and, in
 * small sets, the way of each. @shift: from keys to the numbers that tell sets. @n: up to
 * ASSOC_BLOCK.
 */
enum { ASSOC_BLOCK = 768 };
void assoc_block(struct assoc *a, unsigned n, const uint64_t *keys, unsigned shift,
		 uint64_t *ret_old, uint8_t *ret_ways);

/* Into the caches of the computer that simulates. */
static inline void assoc_prefetch(const struct assoc *a, uint32_t set)
{
	const char *at = (const char *)assoc_small_at(a, set);

	for (uint32_t line = 0; line < a->small_bytes; line += 64)
		__builtin_prefetch(at + line, 1);
}

#endif
