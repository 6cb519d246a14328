/* SPDX-License-Identifier: MIT */
/*
 * The two arms of one interleaved experiment (`pagetoll ab`): A against B, and what an experiment
 * without a difference tells of a machine. Works on loaded runs only.
 */
#ifndef PAGETOLL_COMPARE_COMPARE_ARMS_H
#define PAGETOLL_COMPARE_COMPARE_ARMS_H

#include "compare/compare.h"

/*
 * compare_by() the arm, with the arms' own names. Processes are the unit; boots, where the arms
 * never shared one and each has three or more. Errors as compare_by().
 */
int compare_arms(const struct run *r, const struct compare_options *o, struct comparison *ret,
		 struct err *e);

/* Findings of an experiment whose arms are alike: every one is false. */
struct arms_alike {
	size_t n_fact_tests, n_point_tests; /* rows that were tested */
	size_t n_fact_findings, n_point_findings;
};
void compare_arms_alike(const struct comparison *c, struct arms_alike *ret);

/*
 * Relative spread of a benchmark's values between A/A runs of one machine: at each point the
 * standard deviation of the logarithms of the runs' values, then the median over the points
 * (corrected for the median of a standard deviation from so few values lying below the true one).
 * From the blocks inside the runs while there are fewer than three runs: *ret_from_blocks. NaN:
 * nothing to tell it from.
 */
double compare_arms_spread(const struct run *const *runs, size_t n, const char *bench,
			   bool *ret_from_blocks);

#endif
