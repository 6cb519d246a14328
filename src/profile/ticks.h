/* SPDX-License-Identifier: MIT */
/*
 * From counted call chains to the published table: address, symbol, ticks, ticks per byte of the
 * function, and a total.
 */
#ifndef PAGETOLL_PROFILE_TICKS_H
#define PAGETOLL_PROFILE_TICKS_H

#include "base/arena.h"
#include "base/str.h"
#include "profile/stacks.h"
#include "profile/symbols.h"

struct tick_row {
	const char *name; /* unique within the table */
	uint64_t address;
	uint64_t ticks;
	double load; /* ticks per byte; NaN: the size is not known */
};

struct tick_table {
	struct tick_row *v; /* most ticks first; the total is not among them */
	size_t n;
	uint64_t total;
	double total_load; /* ticks per byte of the kernel's text; NaN: not known */
};

/*
 * Ticks by the function in which each sample lies; places outside of every known function are one
 * row, "[unknown]". Memory from @a. 0 or -ENOMEM.
 */
int ticks_by_function(const struct stacks *st, const struct symbols *sy, struct arena *a,
		      struct tick_table *ret);
/*
 * The same of pairs, "function < caller", without loads; only samples that have a caller count,
 * also in the total.
 */
int ticks_by_caller(const struct stacks *st, const struct symbols *sy, struct arena *a,
		    struct tick_table *ret);
/*
 * Folded stacks, one line a chain: "@root;outermost;...;innermost TICKS", for flame graphs. Blanks
 * and semicolons in @root become '_'. 0 or -ENOMEM.
 */
int ticks_folded(const struct stacks *st, const struct symbols *sy, const char *root,
		 struct str *out);

#endif
