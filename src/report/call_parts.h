/* SPDX-License-Identifier: MIT */
/*
 * Blocks and rows of system calls: what call_table.c (a run) and call_compare.c (a comparison) have
 * in common. Internal to these.
 */
#ifndef PAGETOLL_REPORT_CALL_PARTS_H
#define PAGETOLL_REPORT_CALL_PARTS_H

#include "report/call_table.h"
#include "report/table.h"

/* One row: a test at one setting. */
struct call_row {
	const char *block; /* "cold", "hot, evict=data": what its block is called */
	const char *test;  /* "null", "time (vdso)" */
	const char *node;  /* NULL: not told among the conditions */
	const void *from;  /* the curve, or the compared point */
};

/*
 * Makes a row of @where, of which the parameters in @skip (NULL-terminated) are left out; the rest
 * names the block. 0 or -ENOMEM.
 */
int call_row_make(struct arena *a, const struct bench_schema *s, const char *bench,
		  const struct attrs *where, const char *const *skip, struct call_row *ret);
/* Cold before hot, tests in the published order, then nodes. */
void call_rows_sort(struct call_row *v, size_t n);
/* Rows of one block, from @from. */
size_t call_rows_block_end(const struct call_row *v, size_t n, size_t from);
/* Nanoseconds as "0.894": microseconds with three decimals, four below 10 ns. */
void call_us(struct str *out, double ns);
/* The same with four digits or so, for tables with more columns. */
void call_us_short(struct str *out, double ns);

#endif
