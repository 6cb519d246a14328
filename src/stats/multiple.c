// SPDX-License-Identifier: MIT
/*
 * Many tests at once, and how many values one test needs. Leaves out: dependence between tests
 * beyond what both procedures bear (Holm: any; Benjamini-Hochberg: positive).
 * Sources: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal
 * of Statistics 6, 1979; Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate",
 * Journal of the Royal Statistical Society B 57, 1995.
 */
#include "stats/two_sample.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct ranked {
	double p;
	size_t at;
};

static int by_p(const void *a, const void *b)
{
	const struct ranked *x = a;
	const struct ranked *y = b;

	return (x->p > y->p) - (x->p < y->p);
}

/* The values that are numbers, ascending; NULL: no memory. */
static struct ranked *rank_all(const double *p, size_t n, size_t *ret_m)
{
	struct ranked *r = calloc(n + 1, sizeof(*r));
	size_t m = 0;

	for (size_t i = 0; r && i < n; i++) {
		if (!isnan(p[i]))
			r[m++] = (struct ranked){ p[i], i };
	}
	if (r)
		qsort(r, m, sizeof(*r), by_p);
	*ret_m = m;
	return r;
}

int stats_holm(const double *p, size_t n, double *ret_adjusted)
{
	size_t m;
	struct ranked *r = rank_all(p, n, &m);
	double reached = 0;

	if (!r)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		ret_adjusted[i] = p[i];
	for (size_t i = 0; i < m; i++) {
		reached = fmax(reached, fmin(1, (double)(m - i) * r[i].p));
		ret_adjusted[r[i].at] = reached;
	}
	free(r);
	return 0;
}

int stats_benjamini_hochberg(const double *p, size_t n, double *ret_adjusted)
{
	size_t m;
	struct ranked *r = rank_all(p, n, &m);
	double reached = 1;

	if (!r)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		ret_adjusted[i] = p[i];
	for (size_t i = m; i-- > 0;) {
		reached = fmin(reached, (double)m / (double)(i + 1) * r[i].p);
		ret_adjusted[r[i].at] = reached;
	}
	free(r);
	return 0;
}

size_t stats_needed(size_t n_now, double half_width_now, double wanted)
{
	enum { LEAST = 6, MOST = 1000000 };
	double n = (double)n_now * pow(half_width_now / wanted, 2);

	if (!(n > LEAST))
		return LEAST;
	return n < MOST ? (size_t)ceil(n) : MOST;
}
