// SPDX-License-Identifier: MIT
/*
 * Making sets, victims of the rarer policies, and sets of more than 16 ways. Tree-PLRU and NRU as
 * in A. Abel, J. Reineke, "Reverse engineering of cache replacement policies", 2013.
 */
#include "sim/assoc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- both kinds --- */

static int alloc_large(struct assoc *a)
{
	const size_t slots = (size_t)a->sets * a->ways;

	a->words = (a->ways + 63) / 64;
	for (a->hash_bits = 4; (UINT64_C(1) << a->hash_bits) < 4 * slots;)
		a->hash_bits++;
	a->keys = calloc(slots, sizeof(*a->keys));
	a->slot_of = calloc((size_t)1 << a->hash_bits, sizeof(*a->slot_of));
	a->older = calloc(slots, sizeof(*a->older));
	a->newer = calloc(slots, sizeof(*a->newer));
	a->newest = calloc(a->sets, sizeof(*a->newest));
	a->n_used = calloc(a->sets, sizeof(*a->n_used));
	a->used = calloc((size_t)a->sets * a->words, sizeof(*a->used));
	a->referenced = calloc((size_t)a->sets * a->words, sizeof(*a->referenced));
	return a->keys && a->slot_of && a->older && a->newer && a->newest && a->n_used && a->used &&
			       a->referenced
		       ? 0
		       : -ENOMEM;
}

int assoc_init(struct assoc *a, const struct sim_shape *shape, uint64_t seed)
{
	int rc = 0;

	memset(a, 0, sizeof(*a));
	a->ways = shape->ways ? shape->ways : shape->entries;
	a->sets = shape->entries / a->ways;
	a->index = shape->index;
	a->policy = shape->policy;
	if ((a->sets & (a->sets - 1)) == 0) {
		a->mask = a->sets - 1;
		a->bits = (uint32_t)__builtin_ctz(a->sets);
	}
	for (unsigned i = 0; a->bits >= 8 && i < 3; i++) { /* 8 times 8 bits or more: all 64 */
		const uint32_t shift = a->bits << (2 - i);

		a->fold[i] = (uint8_t)(shift < 63 ? shift : 63);
	}
	a->wide = arch_match_is_wide();
	a->by_age = a->policy == SIM_LRU || a->policy == SIM_FIFO;
	a->is_plain = a->sets == 1 || (a->index == SIM_LINEAR && a->mask);
	a->full = a->ways <= ASSOC_SMALL ? (UINT32_C(1) << a->ways) - 1 : 0;
	rng_seed(&a->rng, seed);
	if (a->ways <= ASSOC_SMALL) {
		a->small_bytes =
			(uint32_t)(sizeof(struct assoc_small) + a->ways * sizeof(uint64_t) + 63) /
			64 * 64;
		a->small = aligned_alloc(64, (size_t)a->sets * a->small_bytes);
		rc = a->small ? 0 : -ENOMEM;
	} else {
		rc = alloc_large(a);
	}
	if (rc < 0) {
		assoc_done(a);
		return -ENOMEM;
	}
	assoc_clear(a);
	return 0;
}

void assoc_done(struct assoc *a)
{
	free(a->keys);
	free(a->small);
	free(a->slot_of);
	free(a->older);
	free(a->newer);
	free(a->newest);
	free(a->n_used);
	free(a->used);
	free(a->referenced);
	memset(a, 0, sizeof(*a));
}

size_t assoc_bytes(const struct assoc *a)
{
	const size_t slots = (size_t)a->sets * a->ways;

	if (a->small)
		return (size_t)a->sets * a->small_bytes;
	return slots * 16 + ((size_t)4 << a->hash_bits) + (size_t)a->sets * (8 + 16 * a->words);
}

static void clear_large(struct assoc *a)
{
	for (size_t i = 0; i < (size_t)a->sets * a->ways; i++)
		a->keys[i] = ASSOC_NONE;
	memset(a->slot_of, 0, sizeof(*a->slot_of) << a->hash_bits);
	memset(a->used, 0, (size_t)a->sets * a->words * 8);
	memset(a->referenced, 0, (size_t)a->sets * a->words * 8);
	for (uint32_t set = 0; set < a->sets; set++) {
		const uint32_t first = set * a->ways;

		for (uint32_t w = 0; w < a->ways; w++) {
			a->older[first + w] = first + (w + 1) % a->ways;
			a->newer[first + w] = first + (w + a->ways - 1) % a->ways;
		}
		a->newest[set] = first;
		a->n_used[set] = 0;
	}
}

void assoc_clear(struct assoc *a)
{
	if (!a->small) {
		clear_large(a);
		return;
	}
	for (uint32_t set = 0; set < a->sets; set++) {
		struct assoc_small *s = assoc_small_at(a, set);

		memset(s->mark, 0, sizeof(s->mark));
		memset(s->ages, a->by_age ? 127 : 0, sizeof(s->ages));
		for (uint32_t way = 0; a->by_age && way < a->ways; way++)
			s->ages[way] = (uint8_t)way;
		for (uint32_t way = 0; way < a->ways; way++)
			s->keys[way] = ASSOC_NONE;
	}
}

/* --- victims --- */

/* The bit of @bits (not 0) that stands at position @nth. */
static uint32_t nth_bit(uint64_t bits, uint64_t nth)
{
	while (nth--)
		bits &= bits - 1;
	return (uint32_t)__builtin_ctzll(bits);
}

void assoc_small_behind(const struct assoc *a, struct assoc_small *s)
{
	for (uint32_t way = 0; way < a->ways; way++)
		if (s->keys[way] == ASSOC_NONE)
			arch_oldest16(s->ages, way, a->ways);
}

uint32_t assoc_small_choose(struct assoc *a, const struct assoc_small *s)
{
	const uint64_t all = (UINT64_C(1) << a->ways) - 1, idle = ~s->state & all;

	switch (a->policy) {
	case SIM_PLRU:
		return assoc_tree_victim(s->state, a->ways);
	case SIM_NRU_LOWEST:
		return idle ? (uint32_t)__builtin_ctzll(idle) : 0;
	case SIM_NRU:
		if (idle)
			return nth_bit(idle,
				       rng_below(&a->rng, (uint64_t)__builtin_popcountll(idle)));
		break;
	default:
		break;
	}
	return (uint32_t)rng_below(&a->rng, a->ways);
}

/* Of the ways whose bit is not set in @bits: the first, or one at random; ways: none. */
static uint32_t idle_way(struct assoc *a, const uint64_t *bits, bool at_random)
{
	uint32_t n = a->ways;
	uint64_t nth;

	for (uint32_t i = 0; i < a->words; i++)
		n -= (uint32_t)__builtin_popcountll(bits[i]);
	if (n == 0)
		return a->ways;
	nth = at_random ? rng_below(&a->rng, n) : 0;
	for (uint32_t i = 0;; i++) {
		const uint32_t left = a->ways - i * 64;
		const uint64_t all = left >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << left) - 1;
		const uint64_t idle = ~bits[i] & all;
		const uint64_t here = (uint64_t)__builtin_popcountll(idle);

		if (nth < here)
			return i * 64 + nth_bit(idle, nth);
		nth -= here;
	}
}

/* --- blocks --- */

enum {
	AHEAD = 12,        /* sets that are fetched early into the caches of this computer */
	NEAR_BYTES = 32768 /* so much is there anyway */
};

static inline ARCH_MATCH_INLINE void block_lru(const struct assoc *a, unsigned n,
					       const uint64_t *keys, unsigned shift,
					       uint64_t *ret_old, uint8_t *ret_ways)
{
	/* copies: the compiler cannot know that stores of bytes leave those of @a alone */
	const uint32_t full = a->full, ways = a->ways, bytes = a->small_bytes, mask = a->mask;
	const bool far = (size_t)a->sets * bytes > NEAR_BYTES, is_one = a->sets == 1;
	char *const small = a->small;
	uint32_t at[ASSOC_BLOCK + AHEAD];

	for (unsigned k = 0; a->is_plain && k < n; k++)
		at[k] = ((uint32_t)(keys[k] >> shift) & mask) * bytes;
	for (unsigned k = 0; !a->is_plain && k < n; k++)
		at[k] = assoc_set(a, keys[k] >> shift) * bytes;
	for (unsigned k = n; k < n + AHEAD; k++)
		at[k] = 0;
	for (unsigned k = 0; k < n; k++) {
		struct assoc_small *s = (struct assoc_small *)(void *)(small + at[k]);
		uint32_t way;

		/* the youngest again: walk caches of the upper levels see little else, and each
		 * would wait for the stores of the one before */
		if (is_one && k > 0 && keys[k] == keys[k - 1]) {
			ret_old[k] = keys[k];
			ret_ways[k] = ret_ways[k - 1];
			continue;
		}
		for (uint32_t line = 0; far && line < bytes; line += 64)
			__builtin_prefetch(small + at[k + AHEAD] + line, 1);
		ret_old[k] = assoc_swap_lru(s, full, ways, keys[k], &way);
		ret_ways[k] = (uint8_t)way;
	}
}

static void block_lru_any(const struct assoc *a, unsigned n, const uint64_t *keys, unsigned shift,
			  uint64_t *ret_old, uint8_t *ret_ways)
{
	block_lru(a, n, keys, shift, ret_old, ret_ways);
}

static ARCH_MATCH_WIDE void block_lru_wide(const struct assoc *a, unsigned n, const uint64_t *keys,
					   unsigned shift, uint64_t *ret_old, uint8_t *ret_ways)
{
	block_lru(a, n, keys, shift, ret_old, ret_ways);
}

void assoc_block(struct assoc *a, unsigned n, const uint64_t *keys, unsigned shift,
		 uint64_t *ret_old, uint8_t *ret_ways)
{
	if (a->small && a->policy == SIM_LRU) {
		if (a->wide)
			block_lru_wide(a, n, keys, shift, ret_old, ret_ways);
		else
			block_lru_any(a, n, keys, shift, ret_old, ret_ways);
		return;
	}
	for (unsigned k = 0; k < n; k++) {
		const uint32_t set = assoc_set(a, keys[k] >> shift);

		ret_old[k] =
			assoc_find(a, keys[k], set) ? keys[k] : assoc_insert(a, keys[k], set, true);
		if (a->small)
			ret_ways[k] = (uint8_t)assoc_small_way(a, assoc_small_at(a, set), keys[k]);
	}
}

/* --- more than 16 ways --- */

static uint32_t hash_of(const struct assoc *a, uint64_t key)
{
	return (uint32_t)((key ^ key >> 29) * 0xbf58476d1ce4e5b9u >> (64 - a->hash_bits));
}

/* Place of @key in the hash table, or the empty one at which the search ends. */
static uint32_t probe(const struct assoc *a, uint64_t key)
{
	const uint32_t mask = (1u << a->hash_bits) - 1;
	uint32_t at = hash_of(a, key);

	while (a->slot_of[at] && a->keys[a->slot_of[at] - 1] != key)
		at = (at + 1) & mask;
	return at;
}

/* Takes a place away; those behind it move up, so that no search ends too early. */
static void unhash(struct assoc *a, uint32_t hole)
{
	const uint32_t mask = (1u << a->hash_bits) - 1;

	for (uint32_t at = (hole + 1) & mask; a->slot_of[at]; at = (at + 1) & mask) {
		const uint32_t home = hash_of(a, a->keys[a->slot_of[at] - 1]);

		if (((at - home) & mask) >= ((at - hole) & mask)) {
			a->slot_of[hole] = a->slot_of[at];
			hole = at;
		}
	}
	a->slot_of[hole] = 0;
}

static void to_newest(struct assoc *a, uint32_t set, uint32_t slot)
{
	const uint32_t first = a->newest[set];
	const uint32_t last = a->newer[first];

	if (slot == first)
		return;
	if (slot != last) { /* the ring turns otherwise */
		a->newer[a->older[slot]] = a->newer[slot];
		a->older[a->newer[slot]] = a->older[slot];
		a->newer[slot] = last;
		a->older[slot] = first;
		a->older[last] = slot;
		a->newer[first] = slot;
	}
	a->newest[set] = slot;
}

static void reference(struct assoc *a, uint32_t set, uint32_t way)
{
	uint64_t *bits = &a->referenced[(size_t)set * a->words];

	bits[way / 64] |= UINT64_C(1) << way % 64;
	if (idle_way(a, bits, false) < a->ways)
		return;
	memset(bits, 0, a->words * sizeof(*bits));
	bits[way / 64] |= UINT64_C(1) << way % 64;
}

static void touch(struct assoc *a, uint32_t set, uint32_t slot)
{
	const uint32_t way = slot - set * a->ways;

	switch (a->policy) {
	case SIM_LRU:
		to_newest(a, set, slot);
		break;
	case SIM_PLRU: /* up to 64 ways: one word */
		a->referenced[set] = assoc_tree_touch(a->referenced[set], a->ways, way);
		break;
	case SIM_NRU:
	case SIM_NRU_LOWEST:
		reference(a, set, way);
		break;
	case SIM_RANDOM:
	case SIM_FIFO:
		break;
	}
}

bool assoc_large_find(struct assoc *a, uint64_t key, uint32_t set)
{
	const uint32_t slot = a->slot_of[probe(a, key)];

	if (!slot)
		return false;
	touch(a, set, slot - 1);
	return true;
}

static uint32_t large_victim(struct assoc *a, uint32_t set)
{
	const uint64_t *bits = &a->referenced[(size_t)set * a->words];
	const uint32_t first = set * a->ways;
	uint32_t way = a->ways;

	if (a->n_used[set] < a->ways)
		return first + idle_way(a, &a->used[(size_t)set * a->words], false);
	switch (a->policy) {
	case SIM_LRU:
	case SIM_FIFO:
		return a->newer[a->newest[set]];
	case SIM_PLRU:
		return first + assoc_tree_victim(bits[0], a->ways);
	case SIM_NRU:
	case SIM_NRU_LOWEST:
		way = idle_way(a, bits, a->policy == SIM_NRU);
		break;
	case SIM_RANDOM:
		break;
	}
	return first + (way < a->ways ? way : (uint32_t)rng_below(&a->rng, a->ways));
}

uint64_t assoc_large_insert(struct assoc *a, uint64_t key, uint32_t set, bool referenced)
{
	const uint32_t slot = large_victim(a, set), way = slot - set * a->ways;
	const uint64_t old = a->keys[slot];

	if (old != ASSOC_NONE)
		unhash(a, probe(a, old));
	a->keys[slot] = key;
	a->slot_of[probe(a, key)] = slot + 1;
	a->used[(size_t)set * a->words + way / 64] |= UINT64_C(1) << way % 64;
	a->n_used[set] += old == ASSOC_NONE;
	if (a->policy == SIM_FIFO)
		to_newest(a, set, slot);
	else if (referenced)
		touch(a, set, slot);
	else if (a->policy == SIM_NRU || a->policy == SIM_NRU_LOWEST)
		a->referenced[(size_t)set * a->words + way / 64] &= ~(UINT64_C(1) << way % 64);
	return old;
}

bool assoc_large_remove(struct assoc *a, uint64_t key, uint32_t set)
{
	const uint32_t at = probe(a, key), slot = a->slot_of[at];
	uint32_t way;

	if (!slot)
		return false;
	unhash(a, at);
	a->keys[slot - 1] = ASSOC_NONE;
	way = slot - 1 - set * a->ways;
	a->used[(size_t)set * a->words + way / 64] &= ~(UINT64_C(1) << way % 64);
	a->n_used[set]--;
	return true;
}
