/* SPDX-License-Identifier: MIT */
/* Comparison of doubles for tests: cmocka has none in this version. */
#ifndef PAGETOLL_TESTS_STATS_NEAR_H
#define PAGETOLL_TESTS_STATS_NEAR_H

#include <math.h>
#include <stdio.h>

/* Equal within @tolerance of the larger one's size (or absolutely, below 1). NaN equals NaN. */
static inline int is_near(double a, double b, double tolerance)
{
	double size = fmax(1, fmax(fabs(a), fabs(b)));

	if (isnan(a) || isnan(b))
		return isnan(a) && isnan(b);
	if (fabs(a - b) <= tolerance * size)
		return 1;
	fprintf(stderr, "%.17g is not near %.17g\n", a, b);
	return 0;
}

#define assert_near(a, b, tolerance) assert_true(is_near((a), (b), (tolerance)))

#endif
