// SPDX-License-Identifier: MIT
/*
 * How far two groups are apart: the median of all pairwise differences, with the interval of shifts
 * that the rank test does not refuse. Leaves out: groups that differ in more than their place.
 * Sources: J. L. Hodges and E. L. Lehmann, "Estimates of location based on rank tests", Annals of
 * Mathematical Statistics 34, 1963; D. F. Bauer, "Constructing confidence sets using rank
 * statistics", Journal of the American Statistical Association 67, 1972.
 */
#include "stats/two_sample.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "stats/rank_sums.h"

double stats_normal_quantile(double p)
{
	double low = -40, high = 40;

	if (!(p > 0 && p < 1))
		return p == 0 ? -INFINITY : p == 1 ? INFINITY : NAN;
	/* The upper half by symmetry: there the tail would lose its digits. */
	if (p > 0.5)
		return -stats_normal_quantile(1 - p);
	for (int i = 0; i < 100 && low < high; i++) {
		double mid = 0.5 * (low + high);

		if (0.5 * erfc(-mid / sqrt(2)) < p)
			low = mid;
		else
			high = mid;
	}
	return 0.5 * (low + high);
}

/* The largest k with P(U <= k - 1) <= tail when there is no difference; 0: none. */
static int exact_k(size_t n_a, size_t n_b, double tail, size_t *ret_k)
{
	size_t n = n_a + n_b;
	size_t small = n_a < n_b ? n_a : n_b;
	size_t least = small * (small - 1) / 2; /* the smallest sum, where U is 0 */
	size_t *scores = calloc(n, sizeof(*scores));
	double *counts, all = 0, below = 0;
	size_t max, k = 0;
	int rc;

	if (!scores)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		scores[i] = i;
	rc = rank_sums_count(scores, n, small, &counts, &max);
	free(scores);
	if (rc)
		return rc;
	for (size_t s = 0; s <= max; s++)
		all += counts[s];
	while (k < n_a * n_b) {
		below += counts[least + k];
		/* Counts are whole numbers, the tail is not: 2.5 % of 40 has to be reached by 1. */
		if (below > tail * all * (1 + 1e-9))
			break;
		k++;
	}
	free(counts);
	*ret_k = k;
	return 0;
}

static size_t normal_k(size_t n_a, size_t n_b, double tail)
{
	double product = (double)n_a * (double)n_b;
	double sd = sqrt(product * (double)(n_a + n_b + 1) / 12);
	double k = floor(product / 2 + 0.5 + stats_normal_quantile(tail) * sd);

	return k > 0 ? (size_t)k : 0;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a;
	const double *y = b;

	return (*x > *y) - (*x < *y);
}

/* The estimate from the differences in @d, which are sorted in place. */
static int estimate(double *d, size_t n_a, size_t n_b, double level, double *ret, double *ret_low,
		    double *ret_high)
{
	size_t n = n_a * n_b;
	size_t k;

	if (n <= RANK_SUMS_EXACT) {
		int rc = exact_k(n_a, n_b, (1 - level) / 2, &k);

		if (rc)
			return rc;
	} else {
		k = normal_k(n_a, n_b, (1 - level) / 2);
	}
	qsort(d, n, sizeof(*d), by_value);
	/* Halves first: the sum of two large values may be infinite. */
	*ret = n % 2 ? d[n / 2] : 0.5 * d[n / 2 - 1] + 0.5 * d[n / 2];
	*ret_low = k > 0 ? d[k - 1] : NAN;
	*ret_high = k > 0 ? d[n - k] : NAN;
	return 0;
}

static int check(const double *x, size_t n, bool positive)
{
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(x[i]))
			return -EINVAL;
		if (positive && x[i] <= 0)
			return -EDOM;
	}
	return 0;
}

static int shift(const double *a, size_t n_a, const double *b, size_t n_b, bool logs, double level,
		 double ret[3])
{
	double *d;
	int rc;

	if (n_a == 0 || n_b == 0)
		return -EDOM;
	if (!(level > 0 && level < 1))
		return -EINVAL;
	if (n_b > SIZE_MAX / sizeof(*d) / n_a)
		return -ENOMEM;
	rc = check(a, n_a, logs);
	rc = rc ? rc : check(b, n_b, logs);
	if (rc)
		return rc;
	d = calloc(n_a * n_b, sizeof(*d));
	if (!d)
		return -ENOMEM;
	for (size_t i = 0; i < n_a; i++) {
		for (size_t j = 0; j < n_b; j++)
			d[i * n_b + j] = logs ? log(b[j]) - log(a[i]) : b[j] - a[i];
	}
	rc = estimate(d, n_a, n_b, level, &ret[0], &ret[1], &ret[2]);
	free(d);
	return rc;
}

int stats_hl_ratio(const double *a, size_t n_a, const double *b, size_t n_b, double level,
		   double *ret_ratio, double *ret_low, double *ret_high)
{
	double v[3];
	int rc = shift(a, n_a, b, n_b, true, level, v);

	if (rc)
		return rc;
	*ret_ratio = exp(v[0]);
	*ret_low = exp(v[1]);
	*ret_high = exp(v[2]);
	return 0;
}

int stats_hl_difference(const double *a, size_t n_a, const double *b, size_t n_b, double level,
			double *ret_difference, double *ret_low, double *ret_high)
{
	double v[3];
	int rc = shift(a, n_a, b, n_b, false, level, v);

	if (rc)
		return rc;
	*ret_difference = v[0];
	*ret_low = v[1];
	*ret_high = v[2];
	return 0;
}
