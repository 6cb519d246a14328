// SPDX-License-Identifier: MIT
/*
 * Order statistics and simple summaries. Leaves out: weighted quantiles, streaming estimates.
 * Sources: R. J. Hyndman and Y. Fan, "Sample Quantiles in Statistical Packages", The American
 * Statistician 50(4), 1996 (type 7); the factor 1.4826 makes the median absolute deviation
 * consistent for the standard deviation of a normal distribution.
 *
 * An input that holds NaN gives NaN everywhere: an unknown value has no rank.
 */
#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ON_STACK = 256 };

double stats_min(const double *x, size_t n)
{
	double best = NAN;

	for (size_t i = 0; i < n; i++) {
		if (isnan(x[i]))
			return NAN;
		if (i == 0 || x[i] < best)
			best = x[i];
	}
	return best;
}

double stats_mean(const double *x, size_t n)
{
	double sum = 0;
	double rest = 0;

	if (n == 0)
		return NAN;
	/* Kahan's sum: runs hold many small times, whose mean must not depend on their order. */
	for (size_t i = 0; i < n; i++) {
		double t = x[i] - rest;
		double next = sum + t;

		rest = (next - sum) - t;
		sum = next;
	}
	return sum / (double)n;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a;
	const double *y = b;

	return (*x > *y) - (*x < *y);
}

/* Small samples are sorted by insertion: the bulk of all calls has fewer than 20 values. */
static void sort_values(double *v, size_t n)
{
	if (n > 32) {
		qsort(v, n, sizeof(*v), by_value);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		double key = v[i];
		size_t j = i;

		for (; j > 0 && v[j - 1] > key; j--)
			v[j] = v[j - 1];
		v[j] = key;
	}
}

/* A sorted copy in @small or on the heap (*ret_heap); NULL: NaN inside, or no memory. */
static const double *sorted_copy(const double *x, size_t n, double *small, double **ret_heap)
{
	double *copy = small;

	*ret_heap = NULL;
	for (size_t i = 0; i < n; i++) {
		if (isnan(x[i]))
			return NULL;
	}
	if (n > ON_STACK) {
		copy = malloc(n * sizeof(*copy));
		if (!copy)
			return NULL;
		*ret_heap = copy;
	}
	memcpy(copy, x, n * sizeof(*copy));
	sort_values(copy, n);
	return copy;
}

static double sorted_quantile(const double *s, size_t n, double q)
{
	double h = (double)(n - 1) * q;
	double below = floor(h);
	size_t i = (size_t)below;

	if (i + 1 >= n)
		return s[n - 1];
	if (h == below)
		return s[i];
	return s[i] + (h - below) * (s[i + 1] - s[i]);
}

double stats_quantile(const double *x, size_t n, double q)
{
	double small[ON_STACK];
	double *heap;
	double result = NAN;
	const double *s;

	if (n == 0 || !(q >= 0 && q <= 1))
		return NAN;
	s = sorted_copy(x, n, small, &heap);
	if (s)
		result = sorted_quantile(s, n, q);
	free(heap);
	return result;
}

double stats_median(const double *x, size_t n)
{
	return stats_quantile(x, n, 0.5);
}

double stats_mad(const double *x, size_t n)
{
	double small[ON_STACK];
	double *dev = small;
	double median = stats_median(x, n);
	double result;

	if (isnan(median))
		return NAN;
	if (n > ON_STACK) {
		dev = malloc(n * sizeof(*dev));
		if (!dev)
			return NAN;
	}
	for (size_t i = 0; i < n; i++)
		dev[i] = fabs(x[i] - median);
	result = 1.4826 * stats_median(dev, n);
	if (dev != small)
		free(dev);
	return result;
}

/*
 * log of P(B <= k) for B binomial (n, 1/2), summed from the term of k downwards: the terms shrink,
 * so the first one sets the scale and nothing underflows for large n.
 */
static double log_binomial_half_cdf(size_t n, size_t k)
{
	double log_term = -(double)n * M_LN2;
	double scaled = 1;
	double ratio = 1;

	for (size_t i = 0; i < k; i++)
		log_term += log((double)(n - i) / (double)(i + 1));
	for (size_t i = k; i > 0; i--) {
		ratio *= (double)i / (double)(n - i + 1);
		scaled += ratio;
	}
	return log_term + log(scaled);
}

int stats_median_interval(const double *x, size_t n, double level, double *ret_low,
			  double *ret_high, double *ret_coverage)
{
	double small[ON_STACK];
	double coverage = 0;
	double *heap;
	const double *s;
	size_t k = 0;

	if (n == 0 || !(level > 0 && level < 1))
		return -EDOM;
	/* Coverage of (x[k], x[n+1-k]), 1-based, falls with k: the last k that is good enough. */
	for (size_t next = 1; 2 * next <= n; next++) {
		double c = 1 - 2 * exp(log_binomial_half_cdf(n, next - 1));

		if (c < level)
			break;
		k = next;
		coverage = c;
	}
	if (k == 0)
		return -EDOM;
	s = sorted_copy(x, n, small, &heap);
	if (!s)
		return n > ON_STACK ? -ENOMEM : -EDOM;
	*ret_low = s[k - 1];
	*ret_high = s[n - k];
	if (ret_coverage)
		*ret_coverage = coverage;
	free(heap);
	return 0;
}
