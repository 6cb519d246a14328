/* SPDX-License-Identifier: MIT */
/* Renderers of a comparison: mail-width text (environment differences, facts, points, how), and
 * JSON. */
#ifndef PAGETOLL_REPORT_COMPARE_REPORT_H
#define PAGETOLL_REPORT_COMPARE_REPORT_H

#include "base/str.h"
#include "compare/compare.h"
#include "report/report.h"

int report_comparison_text(struct str *out, const struct comparison *c,
			   const struct report_options *o);
int report_comparison_json(struct str *out, const struct comparison *c);

#endif
