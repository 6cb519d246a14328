/* SPDX-License-Identifier: MIT */
/*
 * Evidence about mapped memory, from sources that the mapping code does not control: smaps for page
 * sizes, move_pages() for where data lie, the kernel's per-node counters for where page tables lie.
 */
#ifndef PAGETOLL_MEM_PROOF_H
#define PAGETOLL_MEM_PROOF_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "mem/region.h"

/* What smaps says of the mappings that make up a region; bytes. */
struct proof_pages {
	int64_t rss_bytes;
	int64_t huge_bytes;        /* mapped by huge entries: anonymous, of files, or hugetlb */
	int64_t kernel_page_bytes; /* smallest KernelPageSize seen */
};
/*
 * Adds up the mappings of an smaps text that overlap the addresses from @from to before @to; @text
 * is taken apart. Numbers beyond 64 bits are left out.
 */
void proof_parse_smaps(char *text, uintptr_t from, uintptr_t to, struct proof_pages *ret);
/* -EMSGSIZE when there are too many mappings to read, -errno of the file. */
int proof_pages(const struct region *r, struct proof_pages *ret, struct err *e);

/* Page tables of this process (VmPTE: leaf, PMD and PUD tables); -1: unknown. */
int64_t proof_table_bytes(void);

/* Where up to 1024 of the elements' pages lie. */
struct proof_nodes {
	int64_t asked, on_node, elsewhere, absent;
};
/* @node: where they should be. -errno of move_pages (-EPERM, -ENOSYS: cannot be proven). */
int proof_data_nodes(const struct region *r, const uint64_t *offsets, size_t n, int node,
		     struct proof_nodes *ret);

/*
 * One frame behind all elements? Frame numbers of up to 1024 elements from pagemap. -EPERM when the
 * kernel hides them (no CAP_SYS_ADMIN), -errno of the file. @ret_frames counts different frames,
 * @ret_run the elements whose frame follows their predecessor's (physical contiguity).
 */
int proof_frames(const struct region *r, const uint64_t *offsets, size_t n, int64_t *ret_asked,
		 int64_t *ret_frames, int64_t *ret_run);

/*
 * How many of up to 1024 elements' pages belong to folios larger than a page, by /proc/kpageflags.
 * -EPERM or -EACCES when the kernel hides it, -errno of the files.
 */
int proof_large_folios(const struct region *r, const uint64_t *offsets, size_t n,
		       int64_t *ret_asked, int64_t *ret_large);

/*
 * Small pages below one huge entry fault together: reads a second small page beside up to 64
 * elements and counts faults; 0 means that huge entries map them. Changes what is populated: only
 * for huge pages.
 */
int64_t proof_huge_faults(const struct region *r, const uint64_t *offsets, size_t n,
			  uint64_t base_page_bytes);

/*
 * Untimed witness of page-table placement: maps @tables leaf tables with zero pages under the
 * policy that the benchmark uses, and reads the per-node counters around it.
 */
struct proof_tables {
	int64_t tables;  /* leaf tables made */
	int64_t on_node; /* growth of the counter of the node asked for, pages */
	int64_t elsewhere;
	int policy_error; /* negative errno of set_mempolicy, 0: done */
};
/* -errno when the counters cannot be read. Sleeps 1.2 s where they cannot be refreshed (not root).
 */
int proof_table_nodes(int node, uint64_t base_page_bytes, uint64_t tables, struct proof_tables *ret,
		      struct err *e);

/*
 * Page tables of all processes, now: on @node, and on the other nodes. For what grows around an
 * action; other processes' come and go in the same counters. -ENODEV on one node, where nothing can
 * lie wrongly; -EACCES where the counters cannot be refreshed at once (not root).
 */
struct proof_counted {
	int64_t on_node, elsewhere;
};
int proof_count_tables(int node, struct proof_counted *ret);

/* Memory nodes of this machine (1 without NUMA). */
size_t proof_count_nodes(void);

#endif
