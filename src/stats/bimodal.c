// SPDX-License-Identifier: MIT
/*
 * Whether values fall into two clusters, for which one centre says little (two page colourings, two
 * clock speeds). Nothing is dropped because of it. Leaves out: three clusters and more (the largest
 * gap is looked at), clusters that overlap. The rule is ours; two_sample.h states it.
 */
#include "stats/two_sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/stats.h"

static int by_value(const void *a, const void *b)
{
	const double *x = a;
	const double *y = b;

	return (*x > *y) - (*x < *y);
}

static bool sorted_is_bimodal(const double *v, size_t n, double *ret_low, double *ret_high)
{
	size_t least = (n + 4) / 5; /* 20 %, rounded up */
	size_t at = 1;
	double gap, spread;

	for (size_t i = 1; i < n; i++) {
		if (v[i] - v[i - 1] > v[at] - v[at - 1])
			at = i;
	}
	gap = v[at] - v[at - 1];
	if (at < least || n - at < least || !isfinite(gap))
		return false;
	spread = fmax(stats_mad(v, at), stats_mad(v + at, n - at));
	if (!(gap > 3 * spread) || !(gap > 0.02 * fabs(stats_median(v, n))))
		return false;
	*ret_low = stats_median(v, at);
	*ret_high = stats_median(v + at, n - at);
	return true;
}

bool stats_is_bimodal(const double *x, size_t n, double *ret_low_centre, double *ret_high_centre)
{
	enum { LEAST = 10 };
	double *v;
	bool is;

	if (n < LEAST)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(x[i]))
			return false;
	}
	v = malloc(n * sizeof(*v));
	if (!v)
		return false;
	memcpy(v, x, n * sizeof(*v));
	qsort(v, n, sizeof(*v), by_value);
	is = sorted_is_bimodal(v, n, ret_low_centre, ret_high_centre);
	free(v);
	return is;
}
