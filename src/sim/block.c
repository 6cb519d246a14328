// SPDX-License-Identifier: MIT
/*
 * A block of references through TLBs and walk caches, level by level (state.h says why), and the
 * lines that they read. Leaves out what holds tables in TLBs or hashes them (sim.c).
 */
#include <string.h>

#include "sim/state.h"

/* References of a block, by their place in it. */
struct some {
	unsigned n;
	uint16_t of[BLOCK];
};

/*
 * Asks @a for references; those that miss are in it then, as a walk would fill it. @what: of the
 * keys. @ret_missed may be @asks.
 */
static void ask(struct assoc *a, unsigned shift, unsigned what, const uint64_t *va,
		const struct some *asks, struct some *ret_missed)
{
	uint64_t keys[BLOCK], old[BLOCK];
	const unsigned n = asks->n;
	uint8_t ways[BLOCK];
	unsigned missed = 0;

	ret_missed->n = 0;
	if (n == 0)
		return;
	for (unsigned k = 0; k < n; k++)
		keys[k] = tlb_key(va[asks->of[k]] >> shift, what);
	assoc_block(a, n, keys, KEY_BITS, old, ways);
	for (unsigned k = 0; k < n; k++) {
		ret_missed->of[missed] = asks->of[k];
		missed += old[k] != keys[k];
	}
	ret_missed->n = missed;
}

/* All of a block through the TLBs: who walks, and whether the first level missed. */
static void ask_tlbs(struct sim *s, const uint64_t *va, unsigned n, struct some *ret_walks,
		     uint8_t *ret_missed_first)
{
	struct some *const left = ret_walks;

	left->n = n;
	for (unsigned k = 0; k < n; k++)
		left->of[k] = (uint16_t)k;
	for (unsigned i = 0; i < s->n_tlb_levels; i++) {
		const struct tlb_unit u = s->tlb_levels[i].units[0];
		const unsigned asked = left->n;

		if (s->tlb_levels[i].n) {
			ask(u.a, u.shift, u.shift, va, left, left);
			s->counts.tlb_hit[i] += asked - left->n;
			s->counts.tlb_miss[i] += left->n;
		}
		for (unsigned k = 0; i == 0 && k < left->n; k++)
			ret_missed_first[left->of[k]] = 1;
	}
}

/*
 * Walks through the walk caches: @reads of each level, from that of the leaves up, are those that
 * read a table of it. The first is known. @ret_n: how many tables each reads.
 */
static void ask_walk_caches(struct sim *s, const uint64_t *va, struct some *reads, uint8_t *ret_n)
{
	for (unsigned level = s->leaf; level <= s->levels; level++) {
		struct some *const own = &reads[level];
		struct assoc *a = &s->walk_caches[level];

		if (level > s->leaf) {
			const struct some *const below = &reads[level - 1];

			if (assoc_is_made(a)) {
				ask(a, s->base_shift + s->index_bits * (level - 1), 0, va, below,
				    own);
				s->counts.walk_cache_hit[level] += below->n - own->n;
				s->counts.walk_cache_miss[level] += own->n;
			} else {
				own->n = below->n;
				memcpy(own->of, below->of, own->n * sizeof(own->of[0]));
			}
		}
		for (unsigned k = 0; k < own->n; k++)
			ret_n[own->of[k]]++;
	}
}

/* --- lines of a block, each to the place that it has in the order of reading --- */

/* Data: @at is where. */
static void put_data(struct sim *s, const uint64_t *va, unsigned n, const uint16_t *at,
		     const uint8_t *missed_first)
{
	struct lines *l = &s->lines;
	const unsigned shift = s->page_shift;
	const uint64_t within = (UINT64_C(1) << shift) - 1;
	const bool skips = s->skips_first && s->n_caches > 1;
	uint64_t pa[BLOCK];

	switch (s->space.frames) {
	case SIM_FRAMES_SHARED:
		for (unsigned k = 0; k < n; k++)
			pa[k] = va[k] & within;
		break;
	case SIM_FRAMES_CONTIGUOUS:
		memcpy(pa, va, n * sizeof(pa[0]));
		break;
	case SIM_FRAMES_RANDOM:
		for (unsigned k = 0; k < n; k++)
			pa[k] = place_random(s, KIND_DATA, va[k] >> shift, shift) |
				(va[k] & within);
		break;
	}
	for (unsigned k = 0; k < n; k++) {
		l->pa[at[k]] = pa[k];
		l->va[at[k]] = va[k];
		l->what[at[k]] = SIM_DATA;
		l->first[at[k]] = skips & missed_first[k];
	}
}

/* Entries of tables of @level, so far before the data as it is above the leaves. */
static void put_entries(struct sim *s, unsigned level, const uint64_t *va, const struct some *reads,
			const uint16_t *at)
{
	struct lines *l = &s->lines;
	const unsigned back = level - s->leaf + 1;
	const unsigned shift = s->base_shift + s->index_bits * (level - 1);
	const uint64_t in_table = (UINT64_C(1) << s->index_bits) - 1;
	const unsigned kind = KIND_TABLE + level - 1, align = s->align_shift;
	const uint8_t first = (uint8_t)first_cache(s);

	for (unsigned k = 0; k < reads->n; k++) {
		const uint64_t from = va[reads->of[k]];
		const uint64_t entry = from >> shift, table = entry >> s->index_bits;
		const unsigned to = at[reads->of[k]] - back;
		const uint64_t pa = align ? (uint64_t)kind << KIND_SHIFT | table << align
					  : place_random(s, kind, table, s->base_shift);

		l->pa[to] = pa + (entry & in_table) * 8;
		l->va[to] = from;
		l->what[to] = (uint8_t)(SIM_WALK + level - 1);
		l->first[to] = first;
	}
	s->counts.steps += reads->n;
}

static void put_block(struct sim *s, const uint64_t *va, unsigned n, const struct some *reads,
		      const uint8_t *n_read, const uint8_t *missed_first)
{
	unsigned end = s->lines.n, more = n;
	uint16_t at[BLOCK];

	for (unsigned level = s->leaf; level <= s->levels; level++)
		more += reads[level].n;
	if (end + more > LINES_MAX) {
		lines_flush(s);
		end = 0;
	}
	for (unsigned k = 0; k < n; k++) {
		end += n_read[k] + 1u;
		at[k] = (uint16_t)(end - 1);
	}
	put_data(s, va, n, at, missed_first);
	for (unsigned level = s->leaf; level <= s->levels; level++)
		put_entries(s, level, va, &reads[level], at);
	s->lines.n = end;
}

void run_block(struct sim *s, const uint64_t *va, unsigned n)
{
	uint8_t missed_first[BLOCK] = { 0 }, n_read[BLOCK] = { 0 };
	struct some reads[SIM_LEVELS_MAX + 1];

	ask_tlbs(s, va, n, &reads[s->leaf], missed_first);
	s->counts.refs += n;
	s->counts.walks += reads[s->leaf].n;
	ask_walk_caches(s, va, reads, n_read);
	if (s->caches_in_blocks && !s->space.host_levels) {
		put_block(s, va, n, reads, n_read, missed_first);
		return;
	}
	for (unsigned k = 0; k < n; k++) {
		if (s->lines.n > LINES_MAX - LINES_OF_ONE)
			lines_flush(s);
		if (n_read[k])
			walk_from(s, va[k], s->leaf + n_read[k] - 1);
		read_data(s, va[k], !missed_first[k]);
	}
}
