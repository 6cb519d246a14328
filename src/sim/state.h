/* SPDX-License-Identifier: MIT */
/*
 * Inside of struct sim, shared by sim.c, block.c, walk.c, lines.c and place.c.
 *
 * Work goes in blocks, one level after the other: all references of a block through the first TLBs,
 * those that missed through the next, the walks of those that missed all; then all lines that were
 * read through the first cache, those that missed through the next, and so on. It gives the counts
 * of one reference after the other, since what a level sees, and in which order, depends on the
 * levels before it alone. Its loops are short, know what comes next (and fetch it early), and do
 * not branch on what hits. Where a level depends on those behind it (inclusive caches, TLBs that
 * hold tables), that part goes one after the other.
 */
#ifndef PAGETOLL_SIM_STATE_H
#define PAGETOLL_SIM_STATE_H

#include <assert.h>

#include "sim/assoc.h"
#include "sim/sim.h"

/* What is behind a number: kinds of pages. Tables of level k are KIND_TABLE + k - 1. */
enum {
	KIND_DATA,
	KIND_TABLE,
	KIND_CODE = KIND_TABLE + SIM_LEVELS_MAX,
	KIND_KERNEL_DATA,
	KIND_HOST
};
enum { KIND_SHIFT = 59 }; /* of a physical address: kinds never share a line */

/* Keys of TLBs: what the number counts is in the low bits. */
enum { KEY_BITS = 7, KEY_TABLE = 64 /* + level */, KEY_VHPT = 96 };
static inline uint64_t tlb_key(uint64_t number, unsigned what)
{
	return number << KEY_BITS | what;
}

enum { BLOCK = 128 /* references */, LINES_MAX = ASSOC_BLOCK };
static_assert(LINES_MAX >= BLOCK * (SIM_LEVELS_MAX + 1), "a block without a host's tables fits");
/* More than the lines of one reference: its walk, nested too, and its data. */
enum { LINES_OF_ONE = (SIM_LEVELS_MAX + 1) * (SIM_LEVELS_MAX + 1) };

/* Lines that were read, on their way through the caches. */
struct lines {
	unsigned n;
	uint64_t pa[LINES_MAX];
	uint64_t va[LINES_MAX];      /* or the guest's address: tells the number of page or table */
	uint8_t what[LINES_MAX];     /* enum sim_what */
	uint8_t first[LINES_MAX];    /* cache that it asks */
	uint64_t evicted[LINES_MAX]; /* by it, from a cache before a victim cache; or ASSOC_NONE */
};

enum { UNITS_MAX = 4 }; /* TLBs of one level that hold one page size */

struct tlb_unit {
	struct assoc *a;
	unsigned shift; /* of the entries */
};
struct tlb_level {
	struct tlb_unit units[UNITS_MAX];
	unsigned n;
};

struct frames {                  /* guest frames in the order of first use: hash table */
	uint64_t *keys, *values; /* owned; key 0: empty */
	unsigned bits;
	uint64_t n, limit; /* limit: frames that there are */
	bool failed;
};

struct sim {
	const struct sim_machine *m;
	struct sim_space space;
	uint64_t seed;
	/* geometry */
	unsigned base_shift, index_bits, leaf, levels, page_shift;
	unsigned host_leaf, host_shift, align_shift;
	struct mixer {
		uint64_t mask, key;
		unsigned half;
	} mix[64]; /* by shift of the pages */
	/* parts */
	struct assoc tlbs[SIM_TLBS_MAX], walk_caches[SIM_LEVELS_MAX + 1],
		host_caches[SIM_LEVELS_MAX + 1], caches[SIM_CACHES_MAX], nested, far;
	struct tlb_level tlb_levels[SIM_TLB_LEVELS];
	unsigned n_tlb_levels; /* that hold such pages or ask them */
	struct assoc *table_holder[SIM_LEVELS_MAX + 1], *vhpt_holder;
	unsigned line_shift[SIM_CACHES_MAX], n_caches;
	bool tells[SIM_CACHES_MAX];  /* somebody wants to know what leaves it */
	bool guards[SIM_CACHES_MAX]; /* a victim cache that may hold what comes to it */
	bool skips_first;
	bool passes_by; /* some lines do not ask the first cache */
	bool tlbs_in_blocks, caches_in_blocks;
	struct lines lines;
	uint64_t fills; /* of TLBs: turns between units */
	struct frames guest;
	/* aliases in the first cache */
	uint16_t *alias_of; /* owned; of each of its slots; NULL: no rule */
	struct alias_fold {
		unsigned shift;
		uint64_t mask;
	} folds[SIM_ALIAS_BITS];
	unsigned n_folds;
	struct sim_counts counts;
};

/* --- place.c --- */

/* Physical address of page @number of size 2^@shift. */
static inline uint64_t place_random(const struct sim *s, unsigned kind, uint64_t number,
				    unsigned shift)
{
	const struct mixer *x = &s->mix[shift];
	uint64_t n = number + x->key;

	n = n * 0xd6e8feb86659fd93u & x->mask;
	n ^= n >> x->half;
	n = n * 0xcf1bbcdcb7a56463u & x->mask;
	n ^= n >> x->half;
	return (uint64_t)kind << KIND_SHIFT | n << shift;
}
void place_init(struct sim *s);
int frames_init(struct frames *f, uint64_t limit);
/* Frame of base page size for @key (not 0). */
uint64_t frames_get(struct frames *f, uint64_t key);
uint32_t place_node(const struct sim *s, unsigned level, uint64_t number);

/* --- lines.c --- */

/* Finds the line of @pa in the caches from @first on, or in memory; fills them. Where it was. */
unsigned cache_access(struct sim *s, uint64_t pa, unsigned first);
/* A read of kind @what at @pa, counted now or by lines_flush(); @va as in struct lines. */
void read_line(struct sim *s, unsigned what, uint64_t pa, unsigned first, uint64_t va);
void lines_flush(struct sim *s);

/* The cache that walks ask first. */
static inline unsigned first_cache(const struct sim *s)
{
	const unsigned first = s->m->walker.first_cache - 1;

	return first < s->n_caches ? first : s->n_caches - 1;
}

/* --- walk.c --- */

void walk(struct sim *s, uint64_t va);
/* A radix walk of which the highest level to read is known. */
void walk_from(struct sim *s, uint64_t va, unsigned start);
/* The reference itself; whether its translation was in a TLB of the first level. */
void read_data(struct sim *s, uint64_t va, bool first_level);

/* --- block.c --- */

/* Up to BLOCK references, where TLBs go in blocks. */
void run_block(struct sim *s, const uint64_t *va, unsigned n);

#endif
