/* SPDX-License-Identifier: MIT */
/*
 * The model of address translation: references go through TLBs, page walks and caches of a
 * described machine, and each is counted where it was found. No walk has a fixed cost: every one
 * reads lines of page tables through the caches that data go through. Pure: the same machine,
 * space, references and seed give the same counts on every computer. docs/model.md has the rules.
 *
 * One struct sim is one CPU with all its caches to itself. Leaves out: other CPUs, prefetchers,
 * stores as such, instruction TLBs, overlap (which costs are overlapped is sim_cost()'s business).
 */
#ifndef PAGETOLL_SIM_SIM_H
#define PAGETOLL_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sim/machine.h"

/* Which frames pages have. */
enum sim_frames {
	SIM_FRAMES_RANDOM,     /* any: page colours are random */
	SIM_FRAMES_CONTIGUOUS, /* in the order of addresses */
	SIM_FRAMES_SHARED,     /* one frame behind all pages (the zero page) */
};
/* On which node memory is. */
enum sim_place {
	SIM_PLACE_NODE,       /* on `node` */
	SIM_PLACE_INTERLEAVE, /* page after page over all nodes */
	SIM_PLACE_REPLICATE,  /* a copy on each node: always that of the CPU */
};
struct sim_placement {
	enum sim_place place;
	uint32_t node;
};

/* An address space, and the CPU that uses it. */
struct sim_space {
	uint32_t levels;     /* 2 to 5; 0: the machine's */
	uint64_t page_bytes; /* 0: the machine's base page; else that or what a table level maps */
	enum sim_frames frames;
	/* Table pages lie at multiples of this (a power of two); 0: a base page. */
	uint64_t table_align_bytes;
	struct sim_placement data, tables;
	uint32_t cpu_node;
	/*
	 * Nested paging: levels of the host's tables, 0: none. The host's pages behind the guest's
	 * memory, 0: base pages. The host's tables are placed as `tables`.
	 */
	uint32_t host_levels;
	uint64_t host_page_bytes;
	uint64_t guest_memory_bytes; /* frames of the guest lie in so much; 0: 64 GiB */
	/*
	 * Where a page is, instead of the placements; NULL: they hold. @level 0: data page of
	 * number @number (address / page), from 1: table of that level (address / what it maps).
	 */
	uint32_t (*node_of)(void *user, unsigned level, uint64_t number);
	void *user;
};

/* What was read: rows of the counts. */
enum sim_what {
	SIM_DATA,
	SIM_WALK, /* + level - 1: entries of that level, 1 (leaf) to 5 */
	SIM_HOST = SIM_WALK + SIM_LEVELS_MAX, /* the host's entries, likewise */
	SIM_CODE = SIM_HOST + SIM_LEVELS_MAX, /* instructions */
	SIM_WHATS,
};
/* Where it was found: a cache (0 is the first), or memory of a node. */
enum { SIM_IN_MEMORY = SIM_CACHES_MAX, SIM_WHERES = SIM_CACHES_MAX + SIM_NODES_MAX };

struct sim_counts {
	uint64_t refs;
	uint64_t rounds;                   /* told by sim_round() */
	uint64_t tlb_hit[SIM_TLB_LEVELS];  /* references that hit at this level of TLBs */
	uint64_t tlb_miss[SIM_TLB_LEVELS]; /* ... that asked it and missed */
	uint64_t walks, handlers;          /* walks; of them by the software handler */
	uint64_t walk_cache_hit[SIM_LEVELS_MAX + 1], walk_cache_miss[SIM_LEVELS_MAX + 1];
	uint64_t host_cache_hit[SIM_LEVELS_MAX + 1], host_cache_miss[SIM_LEVELS_MAX + 1];
	uint64_t nested_hit, nested_miss; /* of host translations of guest pages that are kept */
	uint64_t steps;                   /* reads of all walks */
	uint64_t alias_misses;
	uint64_t far_hit, far_miss;
	uint64_t cache_hit[SIM_CACHES_MAX], cache_miss[SIM_CACHES_MAX];
	uint64_t found[SIM_WHATS][SIM_WHERES];
	uint64_t far_miss_of[SIM_WHATS];
};

struct sim;

/* -EINVAL: machine and space do not fit together, with what is accepted; -ENOMEM. @m, borrowed. */
int sim_new(const struct sim_machine *m, const struct sim_space *space, uint64_t seed,
	    struct sim **ret, struct err *e);
void sim_free(struct sim *s); /* accepts NULL */
/* One reference after the other, at virtual addresses below 2^57. */
void sim_run(struct sim *s, const uint64_t *addresses, size_t n);
/* A round of the program's loop has ended (it costs core.round_cycles). */
void sim_round(struct sim *s);
/*
 * Line @line of the kernel's text (SIM_CODE) or data (SIM_DATA) on @node: through the caches,
 * without a translation (the kernel's own mapping is of entries that are pinned or huge).
 */
void sim_line(struct sim *s, enum sim_what what, uint64_t line, uint32_t node);
/* Empties caches, TLBs and walk caches. */
enum { SIM_FLUSH_CACHES = 1, SIM_FLUSH_TLBS = 2, SIM_FLUSH_WALK_CACHES = 4, SIM_FLUSH_ALL = 7 };
void sim_flush(struct sim *s, unsigned what);
const struct sim_counts *sim_counts(const struct sim *s);
void sim_clear_counts(struct sim *s);  /* what is in caches stays */
size_t sim_bytes(const struct sim *s); /* memory that it takes */

/* --- costs --- */

/* One component of the time of a reference. All parts of a prediction add up to it. */
struct sim_part {
	char name[48];  /* "data.l1", "tlb.l2", "walk.leaf.memory.remote", "walk.start" */
	uint64_t count; /* how often */
	double ns;      /* of all of them */
};
enum { SIM_PARTS_MAX = 160 };
struct sim_parts {
	struct sim_part v[SIM_PARTS_MAX];
	size_t n;
};

/*
 * What the counts cost on @m, for a CPU on @cpu_node; only parts that occurred. @overlap: data
 * misses are divided by core.parallel_misses, walks by walker.parallel (independent references).
 * The cost is linear in the cost figures of @m: count x figure.
 */
void sim_cost(const struct sim_machine *m, uint32_t cpu_node, const struct sim_counts *c,
	      bool overlap, struct sim_parts *ret);
double sim_parts_ns(const struct sim_parts *p); /* their sum */
const char *sim_level_name(unsigned level);     /* "leaf", "pmd", "pud", "p4d", "pgd" */

#endif
