/* SPDX-License-Identifier: MIT */
/*
 * Mapped memory with a page size, a backing, a node for the data and a node for the page tables,
 * and what was asked of the kernel to get it. Whether it came true is proof.h's business.
 */
#ifndef PAGETOLL_MEM_REGION_H
#define PAGETOLL_MEM_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "host/machine.h"

enum backing {
	BACKING_DISTINCT,   /* a page of its own everywhere */
	BACKING_ZERO,       /* read only: the shared zero page (small or huge) everywhere */
	BACKING_CONTIGUOUS, /* small pages over contiguous frames: huge pages whose mapping was
			       split */
	BACKING_MEMFD,      /* a few pages of one file, mapped again and again */
};

enum { REGION_MEMFD_CHUNK_PAGES = 64 };

struct region_spec {
	uint64_t span_bytes; /* address space; only what is populated costs memory */
	enum page_kind kind;
	uint64_t page_bytes;
	enum backing backing;
	uint64_t align_bytes; /* of the start; a power of two, at least a page */
	uint64_t hint;        /* address to ask for (beyond the common width); 0: any */
	int data_node;        /* -1: wherever the kernel puts it */
	int table_node;       /* -1: likewise */
};

struct region {
	char *base; /* aligned start; NULL: not mapped */
	struct region_spec spec;
	void *map; /* owned mapping around it */
	size_t map_bytes;
	int fd;          /* memfd, -1: none; meaningless while unmapped */
	int data_error;  /* negative errno of mbind, 0: done or not asked */
	int table_error; /* negative errno of set_mempolicy */
	int64_t faults;  /* minor faults counted while populating */
	/* By how much the counters of page tables on and off table_node grew while populating,
	 * other processes' in them. tables_counted: they could be read. */
	int64_t tables_on_node, tables_elsewhere;
	bool tables_counted;
	int64_t table_bytes_before, table_bytes_after; /* VmPTE around populating; -1: unknown */
};

/* REGION_NONE, and all-zero, is an unmapped region. */
#define REGION_NONE ((struct region){ .fd = -1 })

/*
 * Reserves the address space and sets page size and data policy. -EINVAL for combinations that make
 * no sense, -ENOMEM, -errno of the calls with the remedy.
 */
int region_map(const struct region_spec *spec, struct region *ret, struct err *e);

/*
 * Populates the pages that hold the bytes at base + offsets[i], under the page-table policy. Zero
 * backing is read, all other is written.
 */
int region_populate(struct region *r, const uint64_t *offsets, size_t n, struct err *e);

/* The same for the first @bytes, all of them, by MADV_POPULATE_WRITE where the kernel has it. */
int region_populate_all(struct region *r, uint64_t bytes, struct err *e);

/* Unmaps; accepts an unmapped region. */
void region_done(struct region *r);

#endif
