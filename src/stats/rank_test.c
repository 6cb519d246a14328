// SPDX-License-Identifier: MIT
/*
 * The rank test for two groups. Leaves out: paired values, one-sided questions.
 * Sources: H. B. Mann and D. R. Whitney, "On a test of whether one of two random variables is
 * stochastically larger than the other", Annals of Mathematical Statistics 18, 1947; B. Streitberg
 * and J. Roehmel, "Exact distributions for permutation and rank tests: an introduction to some
 * recently published algorithms", Statistical Software Newsletter 12, 1986 (shift algorithm);
 * E. L. Lehmann, "Nonparametrics", 1975, section 1.4 (variance with ties).
 */
#include "stats/two_sample.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "stats/rank_sums.h"

/* The largest sum of k of the scores is at most k times the largest score, and their total. */
static size_t sum_bound(const size_t *scores, size_t n, size_t k)
{
	size_t total = 0, largest = 0;

	for (size_t i = 0; i < n; i++) {
		total += scores[i];
		largest = scores[i] > largest ? scores[i] : largest;
	}
	return k * largest < total ? k * largest : total;
}

int rank_sums_count(const size_t *scores, size_t n, size_t k, double **ret_counts, size_t *ret_max)
{
	size_t max = sum_bound(scores, n, k);
	size_t width = max + 1;
	size_t reached = 0;
	/* c[j * width + s]: subsets of j of the scores so far with sum s. */
	double *c = calloc((k + 1) * width, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c[0] = 1;
	for (size_t i = 0; i < n; i++) {
		reached = reached + scores[i] < max ? reached + scores[i] : max;
		for (size_t j = i + 1 < k ? i + 1 : k; j >= 1; j--) {
			double *to = &c[j * width];
			const double *from = &c[(j - 1) * width];

			for (size_t s = scores[i]; s <= reached; s++)
				to[s] += from[s - scores[i]];
		}
	}
	for (size_t s = 0; s < width; s++)
		c[s] = c[k * width + s];
	*ret_counts = c;
	*ret_max = max;
	return 0;
}

struct pooled {
	double value;
	bool is_small; /* belongs to the smaller group */
};

static int by_value(const void *a, const void *b)
{
	const struct pooled *x = a;
	const struct pooled *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/* What the test needs of the pooled values. */
struct ranks {
	size_t n, k;       /* of all, of the smaller group */
	struct pooled *v;  /* ascending */
	size_t *twice;     /* doubled midranks, which are whole numbers */
	size_t twice_sum;  /* of the smaller group */
	double tie_excess; /* sum of t^3 - t over ties */
};

static int ranks_init(struct ranks *r, const double *a, size_t n_a, const double *b, size_t n_b)
{
	bool a_is_small = n_a <= n_b;

	*r = (struct ranks){ .n = n_a + n_b, .k = a_is_small ? n_a : n_b };
	r->v = calloc(r->n, sizeof(*r->v));
	r->twice = calloc(r->n, sizeof(*r->twice));
	if (!r->v || !r->twice)
		return -ENOMEM;
	for (size_t i = 0; i < r->n; i++) {
		r->v[i].value = i < n_a ? a[i] : b[i - n_a];
		r->v[i].is_small = (i < n_a) == a_is_small;
		if (!isfinite(r->v[i].value))
			return -EINVAL;
	}
	qsort(r->v, r->n, sizeof(*r->v), by_value);
	for (size_t i = 0, end; i < r->n; i = end) {
		double t;

		for (end = i + 1; end < r->n && r->v[end].value == r->v[i].value; end++)
			;
		t = (double)(end - i);
		r->tie_excess += t * t * t - t;
		/* Ranks i + 1 to end have the mean (i + 1 + end) / 2. */
		for (size_t j = i; j < end; j++) {
			r->twice[j] = i + 1 + end;
			r->twice_sum += r->v[j].is_small ? r->twice[j] : 0;
		}
	}
	return 0;
}

static void ranks_done(struct ranks *r)
{
	free(r->v);
	free(r->twice);
}

static size_t distance(size_t a, size_t b)
{
	return a > b ? a - b : b - a;
}

/* Share of all divisions whose rank sum lies at least as far from its mean. */
static int exact_p(struct ranks *r, double *ret_p)
{
	size_t mean = r->k * (r->n + 1); /* of the doubled sum */
	size_t seen = distance(r->twice_sum, mean);
	size_t least = r->twice[0];
	size_t unit = 2; /* without halves the sums are half as long */
	double *counts, all = 0, extreme = 0;
	size_t max;
	int rc;

	for (size_t i = 0; i < r->n; i++)
		unit = (r->twice[i] - least) % 2 ? 1 : unit;
	for (size_t i = 0; i < r->n; i++)
		r->twice[i] = (r->twice[i] - least) / unit;
	rc = rank_sums_count(r->twice, r->n, r->k, &counts, &max);
	if (rc)
		return rc;
	for (size_t s = 0; s <= max; s++) {
		all += counts[s];
		if (distance(s * unit + r->k * least, mean) >= seen)
			extreme += counts[s];
	}
	free(counts);
	*ret_p = fmin(1, extreme / all);
	return 0;
}

static double normal_p(const struct ranks *r)
{
	double n = (double)r->n;
	double product = (double)r->k * (double)(r->n - r->k);
	double variance = product / 12 * (n + 1 - r->tie_excess / (n * (n - 1)));
	/* Half a step towards the mean: the continuity correction. */
	double d = (double)distance(r->twice_sum, r->k * (r->n + 1)) / 2 - 0.5;

	if (d <= 0 || variance <= 0)
		return 1;
	return fmin(1, erfc(d / sqrt(2 * variance)));
}

int stats_mann_whitney(const double *a, size_t n_a, const double *b, size_t n_b, double *ret_p,
		       bool *ret_exact)
{
	bool exact = n_a > 0 && n_b <= RANK_SUMS_EXACT / n_a;
	struct ranks r;
	double p = 1;
	int rc;

	if (n_a == 0 || n_b == 0)
		return -EDOM;
	rc = ranks_init(&r, a, n_a, b, n_b);
	if (rc == 0 && exact)
		rc = exact_p(&r, &p);
	else if (rc == 0)
		p = normal_p(&r);
	ranks_done(&r);
	if (rc)
		return rc;
	*ret_p = p;
	*ret_exact = exact;
	return 0;
}
