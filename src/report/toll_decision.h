/* SPDX-License-Identifier: MIT */
/* The headline of the toll card. Internal to report/. */
#ifndef PAGETOLL_REPORT_TOLL_DECISION_H
#define PAGETOLL_REPORT_TOLL_DECISION_H

#include "base/arena.h"
#include "base/str.h"
#include "report/report.h"

/* The deciding line, and what a hypervisor makes of huge pages where it does. */
void toll_decision_render(struct str *out, struct arena *a, const struct report *rep,
			  const struct report_options *o);

#endif
