/* SPDX-License-Identifier: MIT */
/*
 * A memory segment that several processes map: a memfd of small, transparent huge or hugetlb pages,
 * filled once, so that what mapping it costs each process is seen apart from what filling it cost.
 */
#ifndef PAGETOLL_MEM_SEGMENT_H
#define PAGETOLL_MEM_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "host/machine.h"

/* Mappings start at multiples of this: hugetlb shares the tables of whole such ranges. */
#define SEGMENT_ALIGN_BYTES (UINT64_C(1) << 30)

struct segment {
	int fd; /* owned */
	uint64_t bytes;
	enum page_kind kind;
	uint64_t page_bytes;
};

/* A segment that does not exist. */
#define SEGMENT_NONE ((struct segment){ .fd = -1 })

/*
 * Creates and fills a segment of @bytes, a multiple of @page_bytes. PAGE_KIND_MTHP is -EINVAL.
 * -ENOMEM when memory or the pool of huge pages does not suffice, else -errno of the calls, with
 * the remedy.
 */
int segment_create(enum page_kind kind, uint64_t page_bytes, uint64_t bytes, struct segment *ret,
		   struct err *e);

/* The same without filling it: its pages come with the first touches. */
int segment_create_empty(enum page_kind kind, uint64_t page_bytes, uint64_t bytes,
			 struct segment *ret, struct err *e);

/* Address space for one mapping of the segment, and the mapping in it. */
struct segment_map {
	char *base; /* NULL: not mapped; aligned to SEGMENT_ALIGN_BYTES */
	void *reserved;
	size_t reserved_bytes;
};
int segment_map(const struct segment *s, struct segment_map *ret, struct err *e);
void segment_unmap(struct segment_map *m);

/* Closes; accepts SEGMENT_NONE. */
void segment_done(struct segment *s);

#endif
