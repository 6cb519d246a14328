/* SPDX-License-Identifier: MIT */
/*
 * How many page-table pages a mapping takes, from geometry alone. A table page has base / 8 entries
 * (8-byte entries on every 64-bit architecture); a leaf table maps base * base / 8 bytes, each
 * level above it base / 8 times more. Source: Documentation/mm/page_tables.rst, Linux 6.12.
 */
#ifndef PAGETOLL_ACCESS_TABLES_H
#define PAGETOLL_ACCESS_TABLES_H

#include <stdint.h>

enum { TABLES_LEVELS = 5 };

struct table_count {
	/* pages by level: [0] leaf tables (of base pages), [1] PMD, [2] PUD, [3] P4D, [4] PGD */
	uint64_t pages[TABLES_LEVELS];
};

/* Bytes of address space that one table page of @level (0: leaf) maps; UINT64_MAX: 2^64 or more. */
uint64_t tables_span(uint64_t base_bytes, unsigned level);

/*
 * Tables under the fully populated range [@start, @start + @bytes) of pages of @page_bytes, at
 * levels below @levels (2 to 5). Levels whose entries are smaller than a page have no table: huge
 * pages of the size of a leaf table's span have none at level 0. A range without bytes has none.
 */
struct table_count tables_under(uint64_t base_bytes, unsigned levels, uint64_t page_bytes,
				uint64_t start, uint64_t bytes);

/* Bytes of all counted tables below @top levels: 2 leaves out what a process has anyhow. */
uint64_t tables_bytes(const struct table_count *c, uint64_t base_bytes, unsigned top);

#endif
