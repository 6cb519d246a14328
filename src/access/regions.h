/* SPDX-License-Identifier: MIT */
/*
 * Pages spread over regions, pure: a region is what the entry of one page-table level maps (or any
 * stride), and the question is how many such entries a set of pages needs. Element i is page
 * i / regions of region i modulo regions, so that walks go round over all regions.
 */
#ifndef PAGETOLL_ACCESS_REGIONS_H
#define PAGETOLL_ACCESS_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REGIONS_LEVELS = 4 };

struct regions {
	uint64_t n;            /* elements, each on a page of its own */
	uint64_t regions;      /* 1 <= regions <= n */
	uint64_t stride_bytes; /* from region to region */
	uint64_t page_bytes;
	/*
	 * What one table maps: leaf, then each level above; 0 from the first that does not exist
	 * on. The lowest that is larger than a page holds the pages' entries.
	 */
	uint64_t table_bytes[REGIONS_LEVELS];
	/*
	 * true: the index within every table below the stride moves from region to region, so that
	 * lines of tables and entries of TLBs fall into all sets; false: all regions use index 0,
	 * as a plain stride does.
	 */
	bool spread;
	/* Element i lies (i * 64) modulo this further on in its page; 0: at its start. */
	uint64_t line_room;
};

/* Pages that fit into a region: what the tables below its stride map; at least 1. */
uint64_t regions_room(const struct regions *s);
/* Byte offset of element @i < n from the start of region 0. */
uint64_t regions_offset(const struct regions *s, uint64_t i);
/* Bytes from the start of region 0 to the end of the last one. */
uint64_t regions_span(const struct regions *s);
/*
 * How many pages, and tables of each level, hold the elements at @offsets (sorted ascending here):
 * what has to be made for them.
 */
struct regions_count {
	uint64_t pages, tables[REGIONS_LEVELS];
};
void regions_count(const struct regions *s, uint64_t *offsets, size_t n, struct regions_count *ret);

#endif
