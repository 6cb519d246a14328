/* SPDX-License-Identifier: MIT */
/*
 * Tables that were recorded as tables (a kernel profile), each as it is: one a setting, its rows in
 * their order; of several invocations their sum, the largest rows first. Internal to report/.
 */
#ifndef PAGETOLL_REPORT_PROFILE_TABLE_H
#define PAGETOLL_REPORT_PROFILE_TABLE_H

#include "report/curve_table.h"

/* Whether the group's headline is a table. */
bool profile_table_is(const struct curve_group *g);
/* Appends the tables of the group, below its caption. 0 or -ENOMEM. */
int profile_table_render(struct str *out, const struct report *rep, const struct curve_group *g,
			 const struct report_options *o);
/*
 * Appends the table of one metric of a point: the first @top rows (0: a default) and the total,
 * which is never left out. Why there is none stands in its place. 0 or -ENOMEM.
 */
int profile_table_point(struct str *out, struct arena *a, const struct point *p, const char *metric,
			size_t top, const struct report_options *o);

#endif
