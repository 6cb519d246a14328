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

/* What the columns of a table depend on. */
struct compare_shape {
	bool has_interval, has_verdict, is_profile;
	bool is_single; /* one invocation a side everywhere */
	size_t n_keys;  /* the same parameters in the same order, few enough for columns */
};
struct compare_shape compare_shape_of(const struct compared *const *v, size_t n);
/* A row of a kernel profile: it has its symbol among its conditions. */
bool compared_is_of_profile(const struct compared *c);
/* Appends @n > 0 rows of one kind as a table. 0 or -ENOMEM. */
int compare_rows_render(const struct compare_writer *w, const struct compared *const *v, size_t n);

/* Each appends its part and returns 0 or -ENOMEM. */
int compare_facts_render(const struct compare_writer *w);
int compare_points_render(const struct compare_writer *w);

#endif
