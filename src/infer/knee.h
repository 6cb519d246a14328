/* SPDX-License-Identifier: MIT */
/*
 * Capacities from a curve "cost per reference against number of things touched": how many levels
 * there are, where each ends, and what passing it costs, each with an interval.
 *
 * Two models compete on evidence (BIC on log y):
 *   physical  y = t0 + sum_k p_k * max(0, 1 - C_k / x)      random replacement or hashed sets
 *   step      y = t0 + sum_k p_k * [x > C_k]                LRU-like cliff under a cyclic order
 * An isotonic fit comes first; a slow rise without a knee (set overflow by page colours) yields
 * none.
 */
#ifndef PAGETOLL_INFER_KNEE_H
#define PAGETOLL_INFER_KNEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { KNEES_MAX = 5 };

struct knee_curve {
	const double *x; /* n values, ascending, > 0 */
	const double *y; /* n values, > 0: the headline statistic of each point */
	size_t n;
	/* Replicates for the interval: reps[r * n + i], NaN where missing; NULL or n_reps 0: none.
	 */
	const double *reps;
	size_t n_reps;
	/*
	 * The quantile over replicates that y is: 0.5 their median; 0 their minimum, for times that
	 * disturbances can only lengthen.
	 */
	double rep_quantile;
};

struct knee {
	double capacity; /* largest x that still fits */
	double low,
		high; /* 95 % interval: model and replicates, never narrower than the grid allows */
	double before, after; /* cost levels on both sides, in the unit of y */
	double nominal; /* the round size it stands for: 2^k, 3, 5, 9 * 2^k; NaN: none within reach
			 */
	bool is_step;   /* the step model described this knee better */
};

struct knees {
	struct knee v[KNEES_MAX];
	size_t n;
	bool is_step; /* the model chosen for the curve */
	double base;  /* t0 */
	double bic_physical, bic_step, bic_flat;
};

/*
 * Finds the knees. Needs n >= 6 points, otherwise none is found. Same input, same output (the
 * bootstrap over replicates has a fixed seed). 0 or -ENOMEM, -EINVAL (x not ascending, y not
 * positive).
 */
int knees_find(const struct knee_curve *c, struct knees *ret, struct err *e);

/*
 * Where to measure next: up to @max new integer x values that would narrow the knees found (between
 * the neighbours of each knee; none that are in c->x already). Returns how many.
 */
size_t knees_refine(const struct knee_curve *c, const struct knees *k, uint64_t *ret_x, size_t max);

/* The round size that a capacity with interval [low, high] stands for; NaN: none within 10 % above.
 */
double knee_nominal(double capacity, double low, double high);

#endif
