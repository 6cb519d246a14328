/* SPDX-License-Identifier: MIT */
/* The levels on the toll card: TLBs and walks a page size, data caches. Internal to report/. */
#ifndef PAGETOLL_REPORT_TOLL_LEVELS_H
#define PAGETOLL_REPORT_TOLL_LEVELS_H

#include "report/report.h"

/* 0 or -ENOMEM. */
int toll_levels_render(struct str *out, struct arena *a, const struct report *rep,
		       const struct report_options *o);

#endif
