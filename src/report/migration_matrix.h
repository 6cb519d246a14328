/* SPDX-License-Identifier: MIT */
/*
 * Migration cost in the forms in which kernels printed it: the matrix of 2005 (-mm) and the line of
 * 2.6.16 and later; and beside them what the measured costs say of the scheduler's constant, and
 * the table of paged against contiguous memory. Internal to report/.
 */
#ifndef PAGETOLL_REPORT_MIGRATION_MATRIX_H
#define PAGETOLL_REPORT_MIGRATION_MATRIX_H

#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

struct migration_matrix {
	const uint32_t *cpus; /* ascending */
	size_t n;
	const double *cost_ns; /* n x n, row: from; NaN: not measured */
	const int *distance;   /* n x n, of measured pairs */
};
/*
 * Cells " ms.tenths(distance)" under heads "    [NN]", "    -   " where from is to, blank where
 * nothing was measured; in blocks of at most 8 columns, so that no line is longer than 80.
 */
void migration_matrix_render(struct str *out, const struct migration_matrix *m);

/* "migration_cost=US,US,..." and a newline: microseconds by distance, negative costs as 0. */
void migration_line_render(struct str *out, const double *cost_ns, size_t n);

/* Whether name and value are the same. */
bool migration_same_attr(const struct attr *a, const struct attr *b);
/* The largest median cost of a curve over its working sets, ns; NaN: none. */
double migration_largest_ns(const struct report *rep, const struct curve_points *c);
/* Paged against contiguous memory, where the run has both: nothing otherwise. 0 or -ENOMEM. */
int migration_backings(struct str *out, struct arena *a, const struct report *rep,
		       const struct report_options *o);

/*
 * All of it, for a run that has migration.cost: nothing otherwise. In both historical forms stand
 * twice the largest costs, as the kernel took them. 0 or -ENOMEM.
 */
int migration_render(struct str *out, struct arena *a, const struct report *rep,
		     const struct report_options *o);

#endif
