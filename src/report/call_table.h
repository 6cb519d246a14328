/* SPDX-License-Identifier: MIT */
/*
 * System calls in the form in which they were published (J. Steiner, linux-ia64, 20 Apr 2006): a
 * block for cold caches and one for hot ones, a row a test, microseconds. Of a run: the median with
 * its interval, the minimum and the quartiles of all repetitions, or the nodes side by side. Of a
 * comparison: A, B and the improvement (A - B) / A in percent. Internal to report/.
 */
#ifndef PAGETOLL_REPORT_CALL_TABLE_H
#define PAGETOLL_REPORT_CALL_TABLE_H

#include "report/compare_parts.h"
#include "report/report.h"

bool call_table_is_call(const char *bench);

/* Appends the blocks of a run's system calls; nothing when it has none. 0 or -ENOMEM. */
int call_table_of_run(struct str *out, struct arena *a, const struct report *rep,
		      const struct report_options *o);
/* Appends the blocks of a comparison; nothing when no point is a call's time. 0 or -ENOMEM. */
int call_table_of_comparison(const struct compare_writer *w);
bool call_table_has_point(const struct comparison *c);
/* (A - B) / A in percent; NaN without both. */
double call_table_improvement(const struct compared *c);

#endif
