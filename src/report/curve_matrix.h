/* SPDX-License-Identifier: MIT */
/* Memory nodes by memory nodes, as a matrix in text. Internal to report/. */
#ifndef PAGETOLL_REPORT_CURVE_MATRIX_H
#define PAGETOLL_REPORT_CURVE_MATRIX_H

#include "report/curve_table.h"

/*
 * Appends the headline of @g by two parameters that are memory nodes (data by page tables), at the
 * largest value of the inner parameter; nothing where the curves do not differ in exactly two such.
 * 0 or -ENOMEM.
 */
int curve_matrix_render(struct str *out, struct arena *a, const struct report *rep,
			const struct curve_group *g, const struct report_options *o);

#endif
