/* SPDX-License-Identifier: MIT */
/* Counting page-table pages. Leaves out what a kernel adds (deposited tables, shared tables). */
#include "access/tables.h"

enum { ENTRY_BYTES = 8 };

uint64_t tables_span(uint64_t base_bytes, unsigned level)
{
	uint64_t span = base_bytes;

	for (unsigned i = 0; i <= level; i++)
		if (__builtin_mul_overflow(span, base_bytes / ENTRY_BYTES, &span))
			return UINT64_MAX;
	return span;
}

struct table_count tables_under(uint64_t base_bytes, unsigned levels, uint64_t page_bytes,
				uint64_t start, uint64_t bytes)
{
	struct table_count c = { { 0 } };

	for (unsigned level = 0; bytes > 0 && level < levels && level < TABLES_LEVELS; level++) {
		uint64_t span = tables_span(base_bytes, level);

		if (page_bytes < span)
			c.pages[level] = (start + bytes - 1) / span - start / span + 1;
	}
	return c;
}

uint64_t tables_bytes(const struct table_count *c, uint64_t base_bytes, unsigned top)
{
	uint64_t pages = 0;

	for (unsigned level = 0; level < top && level < TABLES_LEVELS; level++)
		pages += c->pages[level];
	return pages * base_bytes;
}
