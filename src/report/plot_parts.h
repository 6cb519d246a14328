/* SPDX-License-Identifier: MIT */
/* Between the files that make charts. Internal to report/. */
#ifndef PAGETOLL_REPORT_PLOT_PARTS_H
#define PAGETOLL_REPORT_PLOT_PARTS_H

#include "report/plot.h"

struct maker {
	struct plot *plot;
	struct arena *arena; /* the plot's */
	const struct plot_run *runs;
	size_t n_runs;
	bool utf8;
};

/* One curve of one run; all borrowed. */
struct plot_curve {
	const struct plot_run *run;
	const struct curve_points *curve;
	const struct bench_schema *schema; /* NULL: the run does not describe it */
	const char *metric;
};

/* The curves of one chart. */
struct split {
	struct plot_curve *curves;
	size_t n;
	const char **differing; /* outer parameters */
	size_t n_differing;
	bool runs_differ;
};
/* Whether curves have different values of it; whether all have one and the same. */
bool split_differs(const struct split *s, const char *name);
bool split_shares(const struct split *s, const char *name);

/* Appends the chart of @s, or why there is none. 0 or -ENOMEM. */
int plot_add_chart(struct maker *k, const struct split *s);
/* Notes why the curves of @s are not drawn. 0 or -ENOMEM. */
int plot_omit(struct maker *k, const struct split *s, const char *why);

#endif
