/* SPDX-License-Identifier: MIT */
/*
 * A group of curves as a sheet of values: which metrics and rows it has, what stands in each cell,
 * which two curves make a pair. Without layout. Internal to report/.
 */
#ifndef PAGETOLL_REPORT_CURVE_SHEET_H
#define PAGETOLL_REPORT_CURVE_SHEET_H

#include "report/curve_table.h"
#include "report/curve_value.h"

enum { METRICS_MAX = 4, HEAD_MAX = 20 };

struct sheet {
	struct arena *arena;
	const struct report *rep;
	const struct report_options *o;
	const struct curve_group *g;
	const char *only;                   /* a metric that was asked for; NULL: none */
	const char *metrics[METRICS_MAX];   /* the headline first */
	const char *units[METRICS_MAX];     /* as shown */
	const char *raw_units[METRICS_MAX]; /* as recorded */
	const char *titles[METRICS_MAX];    /* for metrics that share a unit: "system s" */
	size_t n_metrics;
	struct curve_value *values; /* [metric][row][curve] */
	const struct attr **rows;   /* inner values, ascending; NULL without an inner parameter */
	size_t n_rows;
	bool has_interval;
	bool has_pair;
	size_t from, minus; /* the pair: curve minus curve */
	bool legend;        /* heads are too long: "#1" */
	int digits;
};

/* Fills everything from arena, rep, o, g and digits, which the caller has set. 0 or -ENOMEM. */
int sheet_fill(struct sheet *s);
struct curve_value *sheet_value(const struct sheet *s, size_t metric, size_t row, size_t curve);
/* A curve's value of a parameter, cleaned; "" when it has none. In the arena. */
const char *sheet_param(const struct sheet *s, size_t curve, const char *name);
/* The cleaned name of a parameter. In the arena. */
const char *sheet_name(const struct sheet *s, const char *name);

/*
 * The shape of each curve in a line of its own, from the first row to the last, where there are
 * rows enough; heights are relative to the least and the largest value of the group. Nothing else.
 */
void sheet_sparklines(struct str *out, const struct sheet *s);

#endif
