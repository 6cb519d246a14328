/* SPDX-License-Identifier: MIT */
/*
 * A described machine: what decides the cost of address translation, as a file says it
 * (machines/, docs/machines.md). Every figure names its source; figures that nobody published are
 * marked "assumed". Leaves out how the parts behave (sim.h).
 *
 * Levels of page tables are counted from the leaf: level 1 holds the entries of base pages (PTE),
 * level 2 those above (PMD), up to level 5. Times: *_cycles are core cycles, *_ns nanoseconds.
 */
#ifndef PAGETOLL_SIM_MACHINE_H
#define PAGETOLL_SIM_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum {
	SIM_TLBS_MAX = 12,
	SIM_TLB_LEVELS = 3,
	SIM_CACHES_MAX = 4,
	SIM_LEVELS_MAX = 5,
	SIM_NODES_MAX = 64,
	SIM_PAGES_MAX = 6, /* page sizes of one TLB */
	SIM_ALIAS_BITS = 16,
};

enum sim_policy {
	SIM_LRU,        /* least recently used */
	SIM_PLRU,       /* binary tree; ways must be a power of two up to 64 */
	SIM_NRU,        /* a reference bit each; victim at random among those without */
	SIM_NRU_LOWEST, /* ... the lowest of those without */
	SIM_RANDOM,
	SIM_FIFO,
};
enum sim_index {
	SIM_LINEAR, /* low bits of the number */
	SIM_XOR,    /* exclusive or of the low bits with as many above them */
	SIM_HASH,   /* exclusive or of all bits, folded */
};
enum sim_relation {
	SIM_NON_INCLUSIVE, /* filled on a miss, nothing else */
	SIM_INCLUSIVE,     /* ... and what leaves it leaves the levels before it, too */
	SIM_VICTIM,        /* filled by what leaves the level before it; a hit moves back there */
};
enum sim_walker_kind {
	SIM_RADIX, /* hardware goes down the levels */
	SIM_VHPT,  /* ia64: virtually mapped linear table, software goes down on a second miss */
};
enum sim_alias_rule {
	SIM_ALIAS_NONE,
	SIM_ALIAS_UTAG, /* AMD: a hash of the virtual address predicts the way */
	SIM_ALIAS_VIPT, /* index bits above the page: a line lies where its last address says */
};

/* Where entries of anything lie. */
struct sim_shape {
	uint32_t entries;
	uint32_t ways; /* 0: fully associative */
	enum sim_index index;
	enum sim_policy policy;
};

struct sim_tlb {
	const char *name;
	uint32_t level; /* 1 is asked first */
	struct sim_shape shape;
	uint64_t pages[SIM_PAGES_MAX]; /* sizes that it holds */
	size_t n_pages;
	bool splits;            /* larger pages are held in parts of its largest size */
	uint32_t pinned;        /* entries that are never free for the program */
	double hit_cycles;      /* added to a reference that hits here */
	uint32_t holds_level;   /* table entries of this level compete for its entries; 0: none */
	bool holds_vhpt;        /* translations of the linear table's pages do */
	bool skips_first_cache; /* a miss here keeps the data access from the first cache */
};

struct sim_walk_cache {
	uint32_t level; /* of the table entries that it holds; from 2 */
	struct sim_shape shape;
};

struct sim_walker {
	enum sim_walker_kind kind;
	double start_cycles;   /* of each walk, beside its reads */
	double step_cycles;    /* of each read, beside the cache */
	uint32_t first_cache;  /* reads ask caches from this one on; 1 is the first */
	uint32_t parallel;     /* walks at once */
	double handler_cycles; /* VHPT: the software handler, beside its reads */
};

struct sim_cache {
	const char *name;
	uint64_t size_bytes;
	uint32_t ways; /* 0: fully associative */
	uint32_t line_bytes;
	enum sim_index index;
	enum sim_policy policy;
	enum sim_relation relation;
	double hit_cycles; /* load to use */
};

struct sim_alias {
	enum sim_alias_rule rule;
	uint32_t low[SIM_ALIAS_BITS], high[SIM_ALIAS_BITS]; /* UTAG: pairs of address bits */
	size_t n_pairs;
	double miss_cycles; /* of an access through another alias */
};

struct sim_memory {
	uint32_t nodes;
	double local_ns, remote_ns; /* load to use, beyond all caches */
	/* nodes x nodes, row: of the processor; NULL: local_ns and remote_ns. */
	const double *latency_ns;
};

/* Optional: something at the memory's side that knows a number of lines, and costs when not. */
struct sim_far_side {
	bool present;
	const char *label; /* what it may be; always printed with its share */
	struct sim_shape shape;
	double miss_ns;
};

struct sim_text {
	uint32_t home_node; /* of the kernel's only copy */
	bool replicated;
};

struct sim_core {
	double clock_hz;
	uint64_t page_bytes; /* base page */
	uint32_t levels;
	double round_cycles;      /* of each round of a list, beside its references */
	uint32_t parallel_misses; /* independent loads that miss at once */
	uint32_t host_levels;     /* levels below a guest */
	uint32_t nested_entries;  /* guest pages whose host translation is kept; 0: none */
	bool nested;              /* it is a guest: predicted with host_levels below it */
	uint64_t host_page_bytes; /* host's pages behind a guest's memory; 0: base pages */
};

/* Where a figure is from. @path: "tlbs[0].entries", "core.clock_hz". */
struct sim_origin {
	const char *path;
	const char *source; /* key of a source, or "assumed..." */
};
struct sim_source {
	const char *key, *text;
};

struct sim_machine {
	struct arena arena; /* owns all that is pointed to */
	const char *name, *summary;
	struct sim_core core;
	struct sim_tlb tlbs[SIM_TLBS_MAX];
	size_t n_tlbs;
	struct sim_walker walker;
	struct sim_walk_cache walk_caches[SIM_LEVELS_MAX], host_walk_caches[SIM_LEVELS_MAX];
	size_t n_walk_caches, n_host_walk_caches;
	struct sim_cache caches[SIM_CACHES_MAX];
	size_t n_caches;
	struct sim_alias alias;
	struct sim_memory memory;
	struct sim_far_side far_side;
	struct sim_text text;
	struct sim_source *sources;
	size_t n_sources, cap_sources;
	struct sim_origin *origins;
	size_t n_origins, cap_origins;
};

/*
 * Reads a description (JSON). Unknown keys, wrong units, values out of range, figures without a
 * source and combinations that make no sense are refused: -EBADMSG with the path, the value and
 * what is accepted. -ENOMEM. The result is the caller's, for sim_machine_free().
 */
int sim_machine_read(const char *text, size_t n, struct sim_machine **ret, struct err *e);
void sim_machine_free(struct sim_machine *m); /* accepts NULL */
/* The same machine again, to be changed; NULL: no memory. */
struct sim_machine *sim_machine_copy(const struct sim_machine *m);
/* Appends the description, in a form that reads back to the same. -ENOMEM. */
int sim_machine_text(struct str *out, const struct sim_machine *m);
/* What a machine that was put together or changed in memory must hold; -EINVAL with the path. */
int sim_machine_check(const struct sim_machine *m, struct err *e);

/* The source of the figure at @path; NULL: none, or no such figure. */
const char *sim_machine_source(const struct sim_machine *m, const char *path);
/* Sets it (@source is copied); -ENOMEM. */
int sim_machine_set_source(struct sim_machine *m, const char *path, const char *source);
bool sim_source_is_assumed(const char *source);
/* Figures that are marked as assumed. */
size_t sim_machine_count_assumed(const struct sim_machine *m);

const char *sim_policy_name(enum sim_policy p);

/* Latency of memory on @to for a processor on @from. */
double sim_latency_ns(const struct sim_machine *m, uint32_t from, uint32_t to);

/* Machines that the program knows; ended by name NULL. */
struct sim_embedded {
	const char *name;
	const char *data;
	size_t n;
};
extern const struct sim_embedded sim_embedded_machines[];

/* --- the schema, for docs/machines.md and its test --- */

struct sim_field_doc {
	const char *section, *key, *unit, *summary;
	bool is_figure; /* needs a source */
};
/* Fields in the order of files, from 0; section NULL: after the last. */
struct sim_field_doc sim_field_doc(size_t i);

#endif
