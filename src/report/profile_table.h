/* SPDX-License-Identifier: MIT */
/*
 * Tables that were recorded as tables (a kernel profile), each as it is: one a setting, its rows in
 * their order. Internal to report/.
 */
#ifndef PAGETOLL_REPORT_PROFILE_TABLE_H
#define PAGETOLL_REPORT_PROFILE_TABLE_H

#include "report/curve_table.h"

/* Whether the group's headline is a table. */
bool profile_table_is(const struct curve_group *g);
/* Appends the tables of the group, below its caption. 0 or -ENOMEM. */
int profile_table_render(struct str *out, const struct report *rep, const struct curve_group *g,
			 const struct report_options *o);

#endif
