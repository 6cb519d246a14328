/* SPDX-License-Identifier: MIT */
/*
 * Runs as one HTML file that needs nothing else: no network, no other file, no server. Text from
 * outside is escaped everywhere, and the page's policy allows its own script and style only.
 * Without JavaScript facts, tables, matrices and bars are there all the same; curves are not.
 */
#ifndef PAGETOLL_REPORT_HTML_H
#define PAGETOLL_REPORT_HTML_H

#include "compare/compare.h"
#include "report/report.h"

/* A run on the page. All borrowed. */
struct page_run {
	const struct report *rep;
	const char *name; /* as the user calls it */
	bool is_overlay;  /* published beside: only its curves, shown on request */
};

/* The first run, or side, against a later one. All borrowed. */
struct page_comparison {
	const char *name_a, *name_b;
	const struct comparison *c; /* NULL: refused */
	const char *refusal;        /* why; NULL where there is a comparison */
};

struct page_input {
	const struct page_run *runs; /* overlays last */
	size_t n_runs;
	const struct page_comparison *comparisons;
	size_t n_comparisons;
	const char *version; /* of the program */
};

/* Appends the document. 0, -ENOMEM, or -EINVAL when there is no run. */
int report_html(struct str *out, const struct page_input *in);

#endif
