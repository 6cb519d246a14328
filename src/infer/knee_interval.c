// SPDX-License-Identifier: MIT
/*
 * Intervals of capacities: from the shape of the fit (profile of the sum of squares), and from a
 * bootstrap over whole invocations, which also covers what differs between processes. Leaves out:
 * the uncertainty of the number of knees.
 * Sources: D. M. Bates and D. G. Watts, "Nonlinear Regression Analysis and Its Applications", 1988,
 * chapter 6 (profiles); B. Efron and R. J. Tibshirani, "An Introduction to the Bootstrap", 1993,
 * chapter 13 (percentile interval).
 */
#include "infer/knee_model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "stats/stats.h"

enum { RESAMPLES = 200 };

static const double CHI2_95 = 3.841;     /* 95 % quantile of chi-squared with one degree */
static const double LEAST_SIGMA = 0.005; /* timers and minima are never better than this */

/* Largest move of log c in direction @sign that keeps the sum of squares below @limit. */
static double reach(struct curve_data *d, const struct scan *s, struct comp c, double limit,
		    double sign)
{
	double start = c.c;
	double inside = 0;
	double outside = 0.01;

	while (outside < 2) {
		c.c = start * exp(sign * outside);
		if (scan_rss(d, s, &c) > limit)
			break;
		inside = outside;
		outside *= 1.5;
	}
	for (unsigned i = 0; i < 8; i++) {
		double mid = (inside + outside) / 2;

		c.c = start * exp(sign * mid);
		if (scan_rss(d, s, &c) > limit)
			outside = mid;
		else
			inside = mid;
	}
	return start * exp(sign * outside);
}

void interval_profile(struct curve_data *d, const struct model *m, size_t at, double *ret_low,
		      double *ret_high)
{
	struct comp c = m->v[at];
	double freedom = fmax(1, (double)d->n_used - model_params(m));
	struct scan s;
	double rss, limit;

	scan_begin(d, m, at, &s);
	rss = scan_rss(d, &s, &c);
	limit = rss + CHI2_95 * fmax(rss / freedom, LEAST_SIGMA * LEAST_SIGMA);
	*ret_low = reach(d, &s, c, limit, -1);
	*ret_high = reach(d, &s, c, limit, 1);
}

/* The headline of each point over the drawn invocations; points without data keep that of all. */
static void resample(const struct knee_curve *c, struct rng *rng, double *values, double *y)
{
	size_t *draw = (size_t *)(void *)(values + c->n_reps);

	for (size_t r = 0; r < c->n_reps; r++)
		draw[r] = (size_t)rng_below(rng, c->n_reps);
	for (size_t i = 0; i < c->n; i++) {
		size_t n = 0;

		for (size_t r = 0; r < c->n_reps; r++) {
			double v = c->reps[draw[r] * c->n + i];

			if (v > 0)
				values[n++] = v;
		}
		y[i] = n > 0 ? stats_quantile(values, n, c->rep_quantile) : c->y[i];
	}
}

int interval_replicates(const struct knee_curve *c, const struct model *m,
			const struct knee_group *groups, struct knees *k)
{
	struct curve_data part;
	struct rng rng;
	double *y = calloc(c->n, sizeof(*y));
	double *values = calloc(2 * c->n_reps, sizeof(*values));
	double *found = calloc(RESAMPLES * KNEES_MAX, sizeof(*found));
	int rc = curve_data_init(&part, c->x, c->n);

	_Static_assert(sizeof(size_t) <= sizeof(double), "draws share the room of the values");
	if (rc || !y || !values || !found) {
		rc = -ENOMEM;
		goto out;
	}
	rng_seed(&rng, 1);
	for (size_t b = 0; b < RESAMPLES && rc == 0; b++) {
		struct model try = *m;
		double low, high;

		resample(c, &rng, values, y);
		rc = curve_data_set_y(&part, y);
		model_refine(&part, &try, 1);
		model_fit(&part, &try);
		for (size_t i = 0; i < k->n; i++)
			found[i * RESAMPLES + b] =
				group_locate(&part, &try, &groups[i], &low, &high);
	}
	if (rc)
		goto out;
	for (size_t i = 0; i < k->n; i++) {
		k->v[i].low =
			fmin(k->v[i].low, stats_quantile(found + i * RESAMPLES, RESAMPLES, 0.025));
		k->v[i].high =
			fmax(k->v[i].high, stats_quantile(found + i * RESAMPLES, RESAMPLES, 0.975));
	}
out:
	curve_data_done(&part);
	free(y);
	free(values);
	free(found);
	return rc;
}
