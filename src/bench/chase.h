/* SPDX-License-Identifier: MIT */
/*
 * What the pointer chases share: parameters of placement, the mapped region with its proof, the
 * load beside it, and one timed repetition. Used by tlb_chase.c and cache_chase.c only.
 */
#ifndef PAGETOLL_BENCH_CHASE_H
#define PAGETOLL_BENCH_CHASE_H

#include "access/chase.h"
#include "bench/bench.h"
#include "mem/load.h"
#include "mem/region.h"

/* Metrics of both chases, in the order of the schema. */
enum { M_REF_NS, M_REF_CYCLES, M_ADD_NS, M_PAGE_TABLE_BYTES };
extern const struct metric chase_metrics[];

extern const char *const chase_order_words[]; /* "random", "sequential" */
extern const char *const chase_load_words[];  /* "none" */

#define CHASE_PLACEMENT_PARAMS                                                           \
	{ .name = "order",                                                               \
	  .summary = "order of the references",                                          \
	  .type = PARAM_CHOICE,                                                          \
	  .def = "random",                                                               \
	  .choices = chase_order_words },                                                \
		{ .name = "cpu",                                                         \
		  .summary = "CPU that measures",                                        \
		  .type = PARAM_CPU,                                                     \
		  .def = "auto" },                                                       \
		{ .name = "data",                                                        \
		  .summary = "memory node of the data",                                  \
		  .type = PARAM_NODE,                                                    \
		  .def = "local" },                                                      \
		{ .name = "page-tables",                                                 \
		  .summary = "memory node of the page tables",                           \
		  .type = PARAM_NODE,                                                    \
		  .def = "local" },                                                      \
	{                                                                                \
		.name = "load",                                                          \
		.summary = "node on which another CPU streams through memory meanwhile", \
		.type = PARAM_NODE, .def = "none", .choices = chase_load_words           \
	}

/* A region under measurement and where the chase stands in it. */
struct chase_run {
	struct region region;
	struct load load;
	struct chase chase;
	uint64_t *offsets; /* owned: byte offset of each element; NULL: chase_offset() */
	size_t n_offsets;
	const uint64_t *sample; /* borrowed: offsets of elements to be proven */
	size_t n_sample;
	/* linked chases */
	char *at;
	uint64_t steps;      /* taken since linking */
	uint64_t pair_bytes; /* each element is followed by a second access so far on; 0: none */
	/* list chases (memory that cannot hold links) */
	uintptr_t *list; /* owned mapping */
	size_t list_cap, list_n, list_at;
	uintptr_t list_sum;
	bool independent;    /* no load waits for the one before; list chases only */
	uintptr_t word_sum;  /* of the words that one round reads: 0 where they are zero */
	uint64_t words_read; /* whole rounds of an independent list */
	char contrary[256];  /* evidence against what was asked; "": none */
};

/* The order that the parameter "order" asks for. */
enum chase_order chase_order_of(const struct bench_ctx *ctx);

/*
 * Maps run->region with the setting's page size and nodes, @span_bytes of address space aligned to
 * 1 GiB. 0 or nonzero as bench_fail().
 */
int chase_map(struct bench_ctx *ctx, struct chase_run *run, enum backing backing,
	      uint64_t span_bytes);
/* The same on nodes of the caller's choice; without meaning where there is one node. */
int chase_map_on(struct bench_ctx *ctx, struct chase_run *run, enum backing backing,
		 uint64_t span_bytes, int data_node, int table_node);
/* The same at other than the usual addresses: @spec has span, alignment, hint and
 * nodes. */
int chase_map_spec(struct bench_ctx *ctx, struct chase_run *run, enum backing backing,
		   const struct region_spec *spec);
/* The verdict on a failed populate: hugetlb pages that are not there are a skip, all else a
 * failure. */
int chase_populate_failed(struct bench_ctx *ctx, const struct chase_run *run, const struct err *e);

/*
 * Proof of what lies behind the populated elements (page size, frames, nodes, tables): stores
 * evidence, what is unproven, and in run->contrary what contradicts the request. Called in setup.
 */
void chase_prove(struct bench_ctx *ctx, struct chase_run *run, uint64_t expected_bytes,
		 uint64_t expected_tables);

/*
 * Bytes of leaf page tables under so many bytes of dense memory; huge pages have theirs deposited
 * for a later split.
 */
uint64_t chase_leaf_table_bytes(uint64_t bytes);

/*
 * The two parts of chase_prove(), for benchmarks that map anew for each point: what lies behind the
 * elements, and (once, in setup, after populating) the witness of where page tables are placed.
 */
void chase_prove_pages(struct bench_ctx *ctx, struct chase_run *run, uint64_t expected_bytes,
		       uint64_t expected_tables);
/* More tables than were planned (and a few) are contrary, too: something else would be walked. */
void chase_prove_no_more_tables(struct chase_run *run, uint64_t planned_bytes);
void chase_prove_table_nodes(struct bench_ctx *ctx, struct chase_run *run);

/* Starts the load that the setting asks for; 0 or nonzero as bench_fail() and bench_skip(). */
int chase_start_load(struct bench_ctx *ctx, struct chase_run *run);

/* Byte offset of element @i. */
uint64_t chase_run_offset(const struct chase_run *run, uint64_t i);
/* Writes the links of run->chase into the region, front to back, and stands at element 0. */
void chase_link(struct chase_run *run);
/* Fills the list with the addresses in visiting order. @cap entries were reserved by
 * chase_list_reserve(). */
int chase_list_reserve(struct chase_run *run, size_t elements, struct err *e);
void chase_list_fill(struct chase_run *run);

/* Goes on for about @refs references (a multiple of 16) from where it stands; returns how many. */
uint64_t chase_advance(struct chase_run *run, uint64_t refs);
/* Runs some references untimed, so that caches and TLBs hold what they would in the long run. */
void chase_warm(struct chase_run *run);
/*
 * The rest of a descriptor, the same for all chases: @state begins with its struct chase_run. One
 * repetition of about 60 000 references or two rounds (ref_ns and ref_cycles); contrary evidence
 * and the checksum (did the chase take every step it was timed for?); the end.
 */
int chase_sample(struct bench_ctx *ctx, void *state);
int chase_check(struct bench_ctx *ctx, void *state);
void chase_teardown(struct bench_ctx *ctx, void *state);

#endif
