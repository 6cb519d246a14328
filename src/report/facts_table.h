/* SPDX-License-Identifier: MIT */
/* Facts as aligned lines: value, interval, round size, what the processor advertises. */
#ifndef PAGETOLL_REPORT_FACTS_TABLE_H
#define PAGETOLL_REPORT_FACTS_TABLE_H

#include "report/report.h"

/* Appends nothing for a run without facts but a line that says so. 0 or -ENOMEM. */
int facts_table_render(struct str *out, struct arena *a, const struct report *rep,
		       const struct report_options *o);

#endif
