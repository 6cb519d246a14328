/* SPDX-License-Identifier: MIT */
/*
 * Two groups of values: is there a difference, how large is it, and how sure is that. Pure; input
 * arrays are never changed. Values are one per invocation (the unit of replication), never pooled
 * repetitions.
 */
#ifndef PAGETOLL_STATS_TWO_SAMPLE_H
#define PAGETOLL_STATS_TWO_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Two-sided Mann-Whitney U test. Exact also with ties (distribution of the midrank sum over all
 * divisions of the pooled values, by the shift algorithm of Streitberg and Roehmel 1986) up to n_a
 * * n_b = 2500, beyond that the tie-corrected normal approximation with continuity correction. All
 * values equal: p = 1. -EDOM if a group is empty, -EINVAL for values that are not finite, -ENOMEM.
 */
int stats_mann_whitney(const double *a, size_t n_a, const double *b, size_t n_b, double *ret_p,
		       bool *ret_exact);

/*
 * Hodges-Lehmann estimate of the ratio b / a on logarithms, with the interval that inverts the U
 * test at
 * @level (0.95). Where both groups have no spread, low = high = ratio. *ret_low and *ret_high are
 * NaN when the groups are too small for the level (0). All values must be > 0: -EDOM, also for an
 * empty group. -EINVAL for values that are not finite or a level outside (0, 1). -ENOMEM.
 */
int stats_hl_ratio(const double *a, size_t n_a, const double *b, size_t n_b, double level,
		   double *ret_ratio, double *ret_low, double *ret_high);
/* The same for the difference b - a (values of any sign). */
int stats_hl_difference(const double *a, size_t n_a, const double *b, size_t n_b, double level,
			double *ret_difference, double *ret_low, double *ret_high);

/*
 * Ratio of two Poisson rates (events_b / exposure_b) / (events_a / exposure_a): exact conditional
 * interval (Clopper-Pearson on the binomial share) and two-sided p by doubling the smaller tail.
 * Zero events give an interval with 0 or infinity as a bound (ratio NaN when both are 0). Where
 * both counts exceed a million, the normal interval on logarithms. -EDOM for an exposure <= 0 or
 * negative events, -EINVAL for a level outside (0, 1).
 */
int stats_poisson_ratio(int64_t events_a, double exposure_a, int64_t events_b, double exposure_b,
			double level, double *ret_ratio, double *ret_low, double *ret_high,
			double *ret_p);

/* Holm's step-down adjustment (family-wise error), and Benjamini-Hochberg's (false-discovery rate).
 * NaN values stay NaN and do not count. ret_adjusted may be the same array as @p. 0 or -ENOMEM. */
int stats_holm(const double *p, size_t n, double *ret_adjusted);
int stats_benjamini_hochberg(const double *p, size_t n, double *ret_adjusted);

/*
 * About how many values a group needs so that an interval of the present spread shrinks to a half
 * width of
 * @wanted (relative, on logarithms): n * (half width now / wanted)^2, rounded up, at least 6, at
 * most a million.
 */
size_t stats_needed(size_t n_now, double half_width_now, double wanted);

/*
 * Two clearly separate clusters (as 60 % at 100 and 40 % at 130): the largest gap of the sorted
 * values is wider than 3 times the larger median absolute deviation of both sides (and than 2 % of
 * the median), and each side holds at least 20 %. Nothing is dropped because of it. Needs n >= 10,
 * else false.
 */
bool stats_is_bimodal(const double *x, size_t n, double *ret_low_centre, double *ret_high_centre);

/* Quantile of the standard normal distribution; -inf at 0, inf at 1, NaN outside. */
double stats_normal_quantile(double p);

#endif
