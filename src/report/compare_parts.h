/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the report on a comparison share: the look of verdicts, the count of outcomes,
 * and the tables of facts and points. Internal to report/.
 */
#ifndef PAGETOLL_REPORT_COMPARE_PARTS_H
#define PAGETOLL_REPORT_COMPARE_PARTS_H

#include "report/compare_report.h"
#include "report/table.h"

enum { OUTCOMES = OUTCOME_MISSING + 1 };

struct outcome_counts {
	size_t n[OUTCOMES];
};
struct outcome_counts outcomes_count(const struct compared *v, size_t n);

/* "! worse": the mark alone would be too little, the word alone is hard to find in a column. */
const char *outcome_look(enum outcome o);

/* Shared by the writers of one text. All borrowed. */
struct compare_writer {
	struct str *out;
	struct arena *arena;
	const struct comparison *c;
	const struct report_options *o;
};

/* Each appends its part and returns 0 or -ENOMEM. */
int compare_facts_render(const struct compare_writer *w);
int compare_points_render(const struct compare_writer *w);

#endif
