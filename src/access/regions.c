/* SPDX-License-Identifier: MIT */
/* Offsets of pages in regions. Leaves out the order of visits (access/chase.h). */
#include "access/regions.h"

#include <stdlib.h>

enum { LINE = 64 };
/* Odd, so that all indexes are used; unlike, so that levels do not move alike. */
static const uint64_t steps[REGIONS_LEVELS] = { 73, 151, 233, 331 };
/* For regions of many pages: eight entries share a line, and each region's should begin one. */
enum { ENTRIES_A_LINE = 8, LINE_STEP = 72 };

/* Index of the table that holds the pages' entries. */
static size_t first_table(const struct regions *s)
{
	size_t k = 0;

	while (k < REGIONS_LEVELS && s->table_bytes[k] && s->table_bytes[k] <= s->page_bytes)
		k++;
	return k;
}

static uint64_t entries_of(const struct regions *s, size_t table, size_t first)
{
	uint64_t below = table == first ? s->page_bytes : s->table_bytes[table - 1];

	return s->table_bytes[table] / below;
}

/* Whether regions are made of whole tables of this level. */
static bool is_below(const struct regions *s, size_t table)
{
	return table < REGIONS_LEVELS && s->table_bytes[table] &&
	       s->stride_bytes % s->table_bytes[table] == 0;
}

uint64_t regions_room(const struct regions *s)
{
	size_t first = first_table(s);
	uint64_t room = 1;

	for (size_t k = first; is_below(s, k); k++)
		room *= entries_of(s, k, first);
	return room;
}

uint64_t regions_offset(const struct regions *s, uint64_t i)
{
	uint64_t r = i % s->regions, rest = i / s->regions;
	uint64_t at = r * s->stride_bytes;
	size_t first = first_table(s);

	for (size_t k = first; is_below(s, k); k++) {
		uint64_t entries = entries_of(s, k, first);
		uint64_t unit = s->table_bytes[k] / entries;
		bool many = k == first && s->n / s->regions >= ENTRIES_A_LINE;
		uint64_t step = many ? LINE_STEP : steps[k - first];
		uint64_t moved = s->spread ? r * step : 0;

		/* Pages fill the lowest table, then go on in the next one of the region. */
		at += (moved + rest) % entries * unit;
		rest /= entries;
	}
	return s->line_room ? at + i * LINE % s->line_room : at;
}

uint64_t regions_span(const struct regions *s)
{
	uint64_t last = s->stride_bytes > s->page_bytes ? s->stride_bytes : s->page_bytes;

	return (s->regions - 1) * s->stride_bytes + last;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t count_units(const uint64_t *sorted, size_t n, uint64_t unit)
{
	uint64_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += i == 0 || sorted[i] / unit != sorted[i - 1] / unit;
	return count;
}

void regions_count(const struct regions *s, uint64_t *offsets, size_t n, struct regions_count *ret)
{
	struct regions_count c = { 0 };

	qsort(offsets, n, sizeof(*offsets), compare_u64);
	c.pages = count_units(offsets, n, s->page_bytes);
	for (size_t k = 0; k < REGIONS_LEVELS && s->table_bytes[k]; k++)
		c.tables[k] = count_units(offsets, n, s->table_bytes[k]);
	*ret = c;
}
