/* SPDX-License-Identifier: MIT */
/*
 * Reports: a model of a run (facts, curves, tables) and its renderers. Everything is appended to a
 * string; the caller prints it. Text is at most 80 columns wide where the data allow, has no colour
 * of its own unless asked, and holds no control characters from outside.
 */
#ifndef PAGETOLL_REPORT_REPORT_H
#define PAGETOLL_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "record/run.h"

struct comparison_subject;

struct report_options {
	bool colour;          /* ANSI colours beside the marks, never instead of them */
	bool utf8;            /* false: ASCII only */
	const char *run_name; /* how the user can name this run in the next command ("last", id
				 prefix) */
	const char *file;     /* path of the run file, NULL: none */
	/* show: a table for each of these instead of the headline's; NULL: not asked for */
	const char *const *metrics;
	size_t n_metrics;
	/* of a comparison only (compare_report.h) */
	bool all;                                 /* every point, not only the telling ones */
	const struct comparison_subject *subject; /* NULL: names alone */
};

/* A run with everything derived from it, ready to be rendered. */
struct report {
	const struct run *run; /* borrowed */
	struct arena arena;
	struct points points;
	struct curves curves;
	struct facts facts;
};
int report_init(struct report *rep, const struct run *r, struct err *e);
void report_done(struct report *rep);

/* What `run` without a target prints: the deciding line, machine, levels, disturbances, next
 * commands. */
int report_toll_card(struct str *out, const struct report *rep, const struct report_options *o);
/* Whether the run has a number that stands on the card: others are of `show`. */
bool report_has_toll_card(const struct report *rep);
/* Whether some benchmark of the run has the metric; else @e has those that there are. */
int report_find_metric(const struct report *rep, const char *metric, struct err *e);
/* What `show` and `run TARGET` print: header, facts, one table a benchmark and group of settings.
 */
int report_text(struct str *out, const struct report *rep, const struct report_options *o);
/*
 * What `profile` prints: what the command took, and the kernel's @top functions (0: 60) in the
 * columns of readprofile; @callers: also pairs of function and caller, where recorded.
 */
int report_profile(struct str *out, const struct report *rep, size_t top, bool callers,
		   const struct report_options *o);
/* One JSON document: header, findings, facts, points with estimates and raw series, footer. */
int report_json(struct str *out, const struct report *rep);
/* Tidy CSV: one row a value (sample, exact, count, summary), header line with units in the names.
 */
int report_csv(struct str *out, const struct report *rep);
/* CSV of the facts only. */
int report_facts_csv(struct str *out, const struct report *rep);
/* One line a result (docs/fom.md): facts, then the points of all curves. */
int report_fom(struct str *out, const struct report *rep);
/* doctor's findings. */
int report_findings_text(struct str *out, const struct run *r, const struct report_options *o);

#endif
