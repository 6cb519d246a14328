/* SPDX-License-Identifier: MIT */
/* Renderers of a comparison: mail-width text (environment differences, facts, points, how), and
 * JSON. */
#ifndef PAGETOLL_REPORT_COMPARE_REPORT_H
#define PAGETOLL_REPORT_COMPARE_REPORT_H

#include "base/str.h"
#include "compare/compare.h"
#include "report/report.h"

/*
 * The runs on both sides, so that the head can tell machine, kernel and time. Borrowed. Within one
 * run both sides hold that run.
 */
struct comparison_subject {
	const struct run *const *a, *const *b;
	size_t n_a, n_b;
};

/* @o->subject may be NULL: the head then tells the names alone. @o->all: every point. 0, -ENOMEM.
 */
int report_comparison_text(struct str *out, const struct comparison *c,
			   const struct report_options *o);
/* One JSON document, docs/json.md. Without a subject the sides have no runs. */
int report_comparison_json(struct str *out, const struct comparison *c);
int report_comparison_json_of(struct str *out, const struct comparison *c,
			      const struct comparison_subject *subject);

#endif
