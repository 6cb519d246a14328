/* SPDX-License-Identifier: MIT */
/*
 * Statistics of samples. Pure: no clocks, no files. Input arrays are never changed. All functions
 * with a size n accept n = 0 and then give NaN.
 */
#ifndef PAGETOLL_STATS_STATS_H
#define PAGETOLL_STATS_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

double stats_min(const double *x, size_t n);
double stats_mean(const double *x, size_t n);
/* Quantile type 7 of Hyndman and Fan (1996), q in [0, 1]. NaN when memory ran out. */
double stats_quantile(const double *x, size_t n, double q);
double stats_median(const double *x, size_t n);
/* Median absolute deviation, times 1.4826. */
double stats_mad(const double *x, size_t n);

/*
 * Distribution-free interval of the median from order statistics (binomial, exact). Gives the
 * narrowest symmetric pair (x[k], x[n+1-k]) whose coverage is at least @level; -EDOM when n is too
 * small for it (n < 6 at 95 %). ret_coverage may be NULL.
 */
int stats_median_interval(const double *x, size_t n, double level, double *ret_low,
			  double *ret_high, double *ret_coverage);

/*
 * Isotonic (non-decreasing) least-squares fit by pooling adjacent violators; w may be NULL (all 1).
 * @ret_fit has n elements, may be the same array as @y. 0 or -ENOMEM.
 */
int stats_isotonic(const double *y, const double *w, size_t n, double *ret_fit);

/*
 * Optimal piecewise-constant fit (dynamic programming, L1 cost on y) with @n_segments pieces of at
 * least
 * @min_length points. ret_start[k] is the first index of piece k, ret_level[k] its median,
 * *ret_cost the sum of absolute deviations. O(n^2 * n_segments). -EINVAL if n < n_segments *
 * min_length; -ENOMEM.
 */
int stats_segments(const double *y, size_t n, size_t n_segments, size_t min_length,
		   size_t *ret_start, double *ret_level, double *ret_cost);

/*
 * Non-negative least squares (Lawson and Hanson 1974, chapter 23): minimise |A x - b| with x >= 0.
 * A is rows x cols, row major; cols <= 32. ret_residual2 (sum of squares) may be NULL. 0, -EINVAL,
 * -ENOMEM, -ELOOP (no convergence).
 */
int stats_nnls(const double *a, const double *b, size_t rows, size_t cols, double *ret_x,
	       double *ret_residual2);

#endif
