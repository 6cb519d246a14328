/* SPDX-License-Identifier: MIT */
/*
 * Invented runs for the tests of report/: built in memory, with facts written by hand, so that a
 * golden text changes only when the report does. Numbers are plausible, none was measured.
 */
#ifndef PAGETOLL_TESTS_REPORT_FIXTURE_H
#define PAGETOLL_TESTS_REPORT_FIXTURE_H

#include "report/report.h"

struct fixture {
	const char *name;                          /* of the golden files */
	void (*fill)(struct run *r);               /* header, measures, footer */
	void (*facts)(struct report *rep);         /* NULL: none */
	void (*options)(struct report_options *o); /* NULL: defaults */
};

/* Ended by name NULL. */
extern const struct fixture fixtures[];

const struct fixture *fixture_find(const char *name);
/* Builds @f; ended by fixture_close(). Ends the test when memory runs out. */
struct run *fixture_open(const struct fixture *f, struct report *rep, struct report_options *o);
void fixture_close(struct run *r, struct report *rep);

#endif
