/* SPDX-License-Identifier: MIT */
/* What stands in one cell of a table of curves, and what was lost on the way. */
#ifndef PAGETOLL_REPORT_CURVE_VALUE_H
#define PAGETOLL_REPORT_CURVE_VALUE_H

#include "report/curve_table.h"

struct curve_value {
	bool asked;         /* this setting was to be measured at all */
	bool counts;        /* valid: differences and ratios may use it */
	double value;       /* NaN: none */
	double low, high;   /* NaN: no interval */
	const char *reason; /* why there is no value, else NULL */
	const char *mark;   /* text of the note, NULL: none */
	enum table_note_kind mark_kind;
};

/*
 * The cell of @metric at @p of curve @c; @p NULL: not measured there, @c says whether it was
 * skipped. Invalid measures show their value, marked, when nothing valid is left. 0 or -ENOMEM.
 */
int curve_value_read(struct arena *a, const struct run *r, const struct bench_schema *s,
		     const struct curve_points *c, const struct point *p, const char *metric,
		     struct curve_value *ret);

/*
 * Measures that do not count although their point has a value, and invocations that ended in setup
 * although others of their setting ran: how many, and why.
 */
int curve_losses_render(struct str *out, struct arena *a, const struct report *rep,
			const struct curve_group *g, const struct report_options *o);

/* What one measure says: its minimum or median, its number, its rate. NaN: nothing. */
double curve_series_value(const struct series *s, enum estimator estimator);

#endif
