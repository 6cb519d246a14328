/* SPDX-License-Identifier: MIT */
/*
 * The machine as pagetoll sees it: CPUs, memory nodes, caches, page sizes and limits, read once
 * from a sysroot before anything is measured. CPU nodes and memory nodes are two different lists;
 * ids are the kernel's, sparse ids are normal.
 */
#ifndef PAGETOLL_HOST_MACHINE_H
#define PAGETOLL_HOST_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/units.h"
#include "host/sysroot.h"

enum page_kind { PAGE_KIND_BASE, PAGE_KIND_MTHP, PAGE_KIND_THP, PAGE_KIND_HUGETLB };

struct page_size {
	enum page_kind kind;
	uint64_t bytes;
	char name[24]; /* canonical word: "4k", "64k", "thp", "hugetlb-2m" */
	bool usable;
	bool zero_page; /* a shared zero page of this size can back reads (base; thp if enabled) */
	char reason[256]; /* why not usable, with the remedy as an exact command; "" if usable */
	uint64_t pool_pages, pool_free; /* hugetlb only, all nodes */
};

struct cache {
	unsigned level; /* 1, 2, 3... data or unified only */
	uint64_t size_bytes;
	unsigned line_bytes;  /* 0: unknown */
	unsigned ways;        /* 0: unknown or fully associative */
	struct u32_list cpus; /* that share it */
};

struct cpu {
	uint32_t id;
	int32_t node; /* -1: belongs to no node */
	bool online, allowed, isolated;
	uint32_t package, core; /* core: its lowest CPU id, so SMT siblings have the same one */
	unsigned capacity;      /* relative speed, 1024 = fastest kind; 1024 where not told */
};

struct node {
	uint32_t id;
	bool has_cpus, has_memory, mem_allowed;
	bool movable_only;    /* has memory that the kernel puts no page tables into */
	struct u32_list cpus; /* online ones */
	uint64_t total_bytes, free_bytes;
	uint32_t *distance; /* owned; to nodes[i], in the order of machine.nodes; 0: unknown */
};

/* A limit on memory: the smallest of these is the budget. */
struct mem_limit {
	char name[96];  /* "MemAvailable", "cgroup v2 /a/b memory.max", "RLIMIT_AS" */
	uint64_t bytes; /* what is left under it now */
};

/* A limit on processes: how many more may be started under it. */
struct process_limit {
	char name[96];   /* "RLIMIT_NPROC", "cgroup v2 /a/b pids.max"; "": none is known */
	uint64_t left;   /* of RLIMIT_NPROC all of it: what the user has running is not counted */
	char raise[160]; /* how to raise it */
};

struct machine {
	char model[128];          /* CPU model name, "" unknown */
	char vendor[32];          /* "AuthenticAMD" ... */
	char arch[16];            /* "x86_64", "aarch64" */
	char kernel[128];         /* release */
	char hypervisor[48];      /* "" none; else "KVM", "guest" ... */
	uint64_t page_bytes;      /* base page size */
	uint64_t leaf_table_span; /* bytes that one leaf page-table page maps */
	uint64_t pmd_table_span;  /* ... one page-table page above it */
	uint64_t pud_table_span;
	uint64_t p4d_table_span; /* 0: beyond 64 bits */
	/*
	 * Levels of page tables that addresses go through in this boot, by probing (host/paging.h).
	 * 0 with the reason: unknown, also on every recorded machine.
	 */
	unsigned paging_levels;
	unsigned address_bits; /* of a process's addresses; 0: unknown */
	char paging_reason[112];
	uint64_t hugetlb_bytes;  /* hugetlb's default page size; 0: the kernel has none */
	struct page_size *pages; /* owned; ascending by bytes, base first; also unusable ones */
	size_t n_pages;
	struct cpu *cpus; /* owned; ascending by id; every possible CPU that is told */
	size_t n_cpus;
	struct node *nodes; /* owned; ascending by id; at least one (also without NUMA) */
	size_t n_nodes;
	bool has_numa;        /* the kernel tells nodes; false: one pretended node 0 */
	struct cache *caches; /* owned; one an instance; ascending by level, then first CPU */
	size_t n_caches;
	struct mem_limit *limits; /* owned; ascending by bytes */
	size_t n_limits;
	struct process_limit processes; /* the smallest */
	uint64_t budget_bytes;          /* what a benchmark may map: 80 % of the smallest limit */
};

/*
 * Fills @ret (to be ended by machine_done()). Unknown, missing or reordered keys are no errors: the
 * field stays unknown. Errors only when memory runs out or the base page size cannot be told.
 */
int machine_read(const struct sysroot *sr, struct machine *ret, struct err *e);
void machine_done(struct machine *m);

const struct cpu *machine_cpu(const struct machine *m, uint32_t id);   /* NULL: none */
const struct node *machine_node(const struct machine *m, uint32_t id); /* NULL: none */
/*
 * By canonical name, or by the words "base", "hugetlb" (its default size) and "auto" (thp if
 * usable, else base). NULL: none.
 */
const struct page_size *machine_page(const struct machine *m, const char *name);
/*
 * Huge pages of hugetlb of @bytes that are free on @node right now (reserved ones are counted by
 * the kernel for all nodes together only). -ENOENT where the kernel does not tell.
 */
int machine_node_hugetlb_free(const struct sysroot *sr, uint32_t node, uint64_t bytes,
			      uint64_t *ret_pages);
/* Memory nodes that this process may use. */
size_t machine_count_memory_nodes(const struct machine *m);
/* The data or unified cache of @level that @cpu uses; NULL: not told. */
const struct cache *machine_cache(const struct machine *m, uint32_t cpu, unsigned level);
/* Size of the last-level cache that @cpu uses (0: unknown), and the sum over all instances online.
 */
uint64_t machine_llc_bytes(const struct machine *m, uint32_t cpu);
uint64_t machine_llc_total_bytes(const struct machine *m);

/*
 * The CPU that measures unless the user names one: allowed, online, of the fastest kind, on a node
 * with memory if there is one, not CPU 0 if there is another. -ENODEV: none.
 */
int machine_choose_cpu(const struct machine *m, uint32_t *ret_cpu, struct err *e);
/* A CPU for a load on @node other than @cpu (not its SMT sibling if possible). -ENODEV: none. */
int machine_choose_load_cpu(const struct machine *m, uint32_t node, uint32_t cpu, uint32_t *ret_cpu,
			    struct err *e);
/*
 * The memory node "local" to @cpu (its own node if that has memory, else the nearest with memory),
 * and "remote": the farthest usable memory node with CPUs that is not the local one. Memory without
 * CPUs (CXL, accelerators) is a tier of its own, meant by its id; it is "remote" only where no
 * other is. -ENODEV with "not measurable: one memory node".
 */
int machine_local_node(const struct machine *m, uint32_t cpu, uint32_t *ret_node, struct err *e);
int machine_remote_node(const struct machine *m, uint32_t cpu, uint32_t *ret_node, struct err *e);

/* Why no more than the budget: "19.1 GiB (80 % of MemAvailable)". */
void machine_budget_text(const struct machine *m, char *buf, size_t bytes);

#endif
