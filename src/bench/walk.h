/* SPDX-License-Identifier: MIT */
/*
 * The worker's side of tlb.walk: maps, proves and times pages in regions. What may be asked for is
 * in tlb_walk.c.
 */
#ifndef PAGETOLL_BENCH_WALK_H
#define PAGETOLL_BENCH_WALK_H

#include "access/regions.h"
#include "bench/chase.h"
#include "mem/evict.h"

/* Metrics: those of all chases, and this one. */
enum { M_GROUP_NS = M_PAGE_TABLE_BYTES + 1 };
enum {
	WALK_HOT_POINTERS = 8192, /* more pages than second-level TLBs have entries */
	WALK_GROUPS = 6,          /* wiped and timed, a repetition */
	WALK_COLD_LEAST = 16,     /* links are followed so many at a time */
	WALK_POINTERS_MAX = 1 << 20,
};

struct walk {
	struct chase_run run; /* first: see chase_sample() */
	struct regions at;
	struct evict evict;
	uint64_t pointers; /* 0: one in each region */
	enum chase_order order;
	bool is_cold, has_links;
	char placement[256]; /* evidence against the placement of tables, for all points */
	unsigned levels;
};

/* What tables map, where each fills a page with entries of 8 bytes; 0: beyond 64 bits. */
void walk_tables(uint64_t base_page, uint64_t ret[REGIONS_LEVELS]);

/* The functions of the descriptor; @state is a struct walk. */
int walk_setup(struct bench_ctx *ctx, void *state);
int walk_prepare(struct bench_ctx *ctx, void *state);
int walk_sample(struct bench_ctx *ctx, void *state);
int walk_check(struct bench_ctx *ctx, void *state);
void walk_teardown(struct bench_ctx *ctx, void *state);

#endif
