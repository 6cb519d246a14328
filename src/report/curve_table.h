/* SPDX-License-Identifier: MIT */
/*
 * Curves as tables: rows are the values of the inner parameter, one column a setting. Curves of one
 * benchmark stand in one table when they make a full grid of the parameters in which they differ,
 * or differ in one parameter only. Internal to report/.
 */
#ifndef PAGETOLL_REPORT_CURVE_TABLE_H
#define PAGETOLL_REPORT_CURVE_TABLE_H

#include "report/report.h"
#include "report/table.h"

struct curve_group {
	const char *bench;
	const struct bench_schema *schema; /* NULL: the run does not describe it */
	const char *inner;                 /* NULL: no inner parameter, a row is a curve */
	const struct curve_points **curves;
	size_t n, cap;
	const char **differing; /* outer parameters that differ between the curves */
	size_t n_differing;
};

struct curve_groups {
	struct curve_group *v;
	size_t n, cap;
};

/* Memory from @a; curves are borrowed from @rep. 0 or -ENOMEM. */
int curve_groups_make(struct arena *a, const struct report *rep, struct curve_groups *ret);

/*
 * Appends a blank line, caption, table and notes of one group: once, or for each metric of @o that
 * it has. 0 or -ENOMEM.
 */
int curve_group_render(struct str *out, const struct report *rep, const struct curve_group *g,
		       const struct report_options *o);

#endif
