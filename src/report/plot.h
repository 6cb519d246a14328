/* SPDX-License-Identifier: MIT */
/*
 * Charts: what is drawn of runs, as a model, and its renderers. A chart is one benchmark's headline
 * (or another metric) against its inner parameter, a series a curve; a benchmark without an inner
 * parameter is a chart of rows, one a setting. Curves of several runs share charts. Charts hold at
 * most PLOT_SERIES_MAX series: more are divided by a parameter. All texts are cleaned, without
 * control characters. Values are in the chart's unit.
 */
#ifndef PAGETOLL_REPORT_PLOT_H
#define PAGETOLL_REPORT_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "report/report.h"

enum { PLOT_SERIES_MAX = 8 };

struct plot_point {
	double x;         /* of the inner parameter, in its own unit; or the index of the row */
	double value;     /* median over invocations, finite */
	double low, high; /* 95 %; NaN: no interval */
	double *each;     /* what each invocation says */
	size_t n_each;
	bool invalid; /* the evidence is contrary */
	bool unproven;
};

/* Where a curve bends, by the run's facts. */
struct plot_knee {
	double x, low, high; /* low, high: NaN: no interval */
	const char *text;    /* "64 entries" */
};

struct plot_series {
	const char *label;         /* "" where the chart has one series */
	struct plot_point *points; /* ascending by x */
	size_t n, cap;
	struct plot_knee *knees;
	size_t n_knees, cap_knees;
};

/* How values lie along an axis. */
struct plot_axis {
	const char *name; /* "pointers", "time per reference" */
	const char *unit; /* "ns", "bytes"; "": none */
	bool log;
	double low, high; /* what is shown; low < high; low > 0 where log */
};

struct plot_chart {
	const char *bench, *metric;
	const char *title; /* "tlb.chase: time per reference" */
	const char *fixed; /* "page=4k order=random": what all series share; "" */
	const char *how;   /* "median over invocations of the minimum of each"; "" */
	struct plot_axis x, y;
	const char **rows; /* names of the rows; NULL: x is a number */
	size_t n_rows;
	struct plot_series *series;
	size_t n_series;
};

struct plot {
	struct arena arena;
	struct plot_chart *charts;
	size_t n, cap;
	const char **omitted; /* "profile.kernel: a table": what cannot be drawn, and why */
	size_t n_omitted, cap_omitted;
};

/* One run with the name that its series have where there are several. */
struct plot_run {
	const struct report *rep;
	const char *name;
};

/*
 * @bench NULL: all benchmarks of the runs; @metric NULL: each one's headline. Texts beyond ASCII
 * become '?' unless @utf8. 0, -ENOMEM, or -ENOENT: the runs have no such benchmark or metric, the
 * message names those that there are.
 */
int plot_make(struct plot *ret, const struct plot_run *runs, size_t n, const char *bench,
	      const char *metric, bool utf8, struct err *e);
void plot_done(struct plot *p);

/* Places of marks on an axis with what stands there: at most @most, ascending. Returns how many. */
enum { PLOT_TICKS_MAX = 24 };
struct plot_tick {
	double at;
	char text[24];
};
size_t plot_ticks(const struct plot_axis *a, size_t most, struct plot_tick *ret);
/* 0 at the axis' low end, 1 at its high end. */
double plot_place(const struct plot_axis *a, double v);

/* Charts for a terminal, 80 columns wide: marks tell series apart, colours only help. */
int plot_text(struct str *out, const struct plot *p, const struct report_options *o);

/*
 * A script for gnuplot 5.2 or later with all data in it. @terminal ("svg", "png", "pdf"): written
 * to standard output; charts stand below each other (at most PLOT_PICTURE_MAX), of a pdf each is a
 * page. NULL: it draws where gnuplot's session does.
 */
enum { PLOT_PICTURE_MAX = 24 };
int plot_gnuplot(struct str *out, const struct plot *p, const char *terminal);

#endif
