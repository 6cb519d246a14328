/* SPDX-License-Identifier: MIT */
/*
 * Invented comparisons, written by hand: a golden text changes only when the report does. Numbers
 * are plausible, none was measured.
 */
#ifndef PAGETOLL_TESTS_REPORT_FIXTURE_COMPARE_H
#define PAGETOLL_TESTS_REPORT_FIXTURE_COMPARE_H

#include "report/compare_report.h"

struct sample {
	struct comparison c;
	struct run *runs[8]; /* owned; n_a of A, then n_b of B */
	struct comparison_subject subject;
	struct report_options o;
};

struct compare_fixture {
	const char *name; /* of the golden file */
	void (*fill)(struct sample *s);
};

/* Ended by name NULL. */
extern const struct compare_fixture compare_fixtures[];

/* Ended by sample_close(). */
void sample_open(const char *name, struct sample *ret);
void sample_close(struct sample *s);

#endif
