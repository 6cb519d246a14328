// SPDX-License-Identifier: MIT
/*
 * Optimal piecewise-constant fit with a given number of pieces. Leaves out: the choice of the
 * number of pieces (callers compare costs), and pruning (n is some dozens here).
 * Source: R. Bellman, "On the approximation of curves by line segments using dynamic programming",
 * Communications of the ACM 4(6), 1961; absolute deviations instead of squares, so that single
 * disturbed points do not pull a level.
 */
#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Sum of absolute deviations from the median: upper half minus lower half of the sorted values. */
static double deviations(const double *sorted, size_t m)
{
	double sum = 0;

	for (size_t i = 0; i < m / 2; i++)
		sum += sorted[m - 1 - i] - sorted[i];
	return sum;
}

/* cost[i * n + j] for every range y[i..j]; @sorted is room for n values. */
static void fill_costs(const double *y, size_t n, double *cost, double *sorted)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = i; j < n; j++) {
			size_t at = j - i;

			for (; at > 0 && sorted[at - 1] > y[j]; at--)
				sorted[at] = sorted[at - 1];
			sorted[at] = y[j];
			cost[i * n + j] = deviations(sorted, j - i + 1);
		}
	}
}

/*
 * best[k * (n + 1) + j]: least cost of the first j points in k pieces; from[] of the same shape:
 * where the last of these pieces begins. Ties go to the earlier start.
 */
static void fill_best(const double *cost, size_t n, size_t pieces, size_t min_length, double *best,
		      size_t *from)
{
	size_t row = n + 1;

	for (size_t at = 0; at < (pieces + 1) * row; at++)
		best[at] = INFINITY;
	best[0] = 0;
	for (size_t k = 1; k <= pieces; k++) {
		for (size_t j = k * min_length; j <= n; j++) {
			for (size_t i = (k - 1) * min_length; i + min_length <= j; i++) {
				double c = best[(k - 1) * row + i] + cost[i * n + j - 1];

				if (c < best[k * row + j]) {
					best[k * row + j] = c;
					from[k * row + j] = i;
				}
			}
		}
	}
}

int stats_segments(const double *y, size_t n, size_t n_segments, size_t min_length,
		   size_t *ret_start, double *ret_level, double *ret_cost)
{
	size_t row = n + 1;
	size_t end = n;
	double *cost, *sorted, *best;
	size_t *from;
	int rc = -ENOMEM;

	if (n_segments == 0 || min_length == 0 || n / n_segments < min_length)
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(y[i]))
			return -EINVAL;
	}
	cost = calloc(n * n, sizeof(*cost));
	sorted = calloc(n, sizeof(*sorted));
	best = calloc((n_segments + 1) * row, sizeof(*best));
	from = calloc((n_segments + 1) * row, sizeof(*from));
	if (!cost || !sorted || !best || !from)
		goto out;
	fill_costs(y, n, cost, sorted);
	fill_best(cost, n, n_segments, min_length, best, from);
	*ret_cost = best[n_segments * row + n];
	for (size_t k = n_segments; k > 0; k--) {
		size_t start = from[k * row + end];

		ret_start[k - 1] = start;
		ret_level[k - 1] = stats_median(y + start, end - start);
		end = start;
	}
	rc = 0;
out:
	free(cost);
	free(sorted);
	free(best);
	free(from);
	return rc;
}
