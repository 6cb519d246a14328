// SPDX-License-Identifier: MIT
/*
 * Round sizes and further measuring points around knees. Leaves out: sizes that no known structure
 * has (7 * 2^k, 11 * 2^k).
 */
#include "infer/knee.h"

#include <math.h>

/* Pages of stack, code and the address list take a few entries: the structure may be this larger.
 */
static const double HIDDEN = 1.1;
/* Capacities closer than this decide nothing more. */
static const double FINE = 1.005;

double knee_nominal(double capacity, double low, double high)
{
	static const double odd[] = { 1, 3, 5, 9 };

	if (!(capacity > 0) || !(low > 0) || !(high >= low) || !isfinite(high))
		return NAN;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		int first = (int)ceil(log2(low / odd[i]) - 1e-9);
		double best = NAN;

		for (int k = first < 0 ? 0 : first; odd[i] * exp2(k) <= high * HIDDEN; k++) {
			double size = odd[i] * exp2(k);

			if (isnan(best) || fabs(log(size / capacity)) < fabs(log(best / capacity)))
				best = size;
		}
		if (!isnan(best))
			return best;
	}
	return NAN;
}

/* Whether @value is in the curve or chosen already. */
static bool is_taken(const struct knee_curve *c, const uint64_t *chosen, size_t n, uint64_t value)
{
	for (size_t i = 0; i < c->n; i++) {
		if (c->x[i] == (double)value)
			return true;
	}
	for (size_t i = 0; i < n; i++) {
		if (chosen[i] == value)
			return true;
	}
	return false;
}

/* The nearest values to @at that stand in the curve or are chosen, on both sides. */
static void neighbours(const struct knee_curve *c, const uint64_t *chosen, size_t n, double at,
		       double *ret_left, double *ret_right)
{
	*ret_left = 0;
	*ret_right = INFINITY;
	for (size_t i = 0; i < c->n + n; i++) {
		double x = i < c->n ? c->x[i] : (double)chosen[i - c->n];

		if (x <= at)
			*ret_left = fmax(*ret_left, x);
		else
			*ret_right = fmin(*ret_right, x);
	}
}

/* The widest gap (as a ratio) that reaches into a knee's interval; 1: none. */
static double widest_gap(const struct knee_curve *c, const struct knees *k, const uint64_t *chosen,
			 size_t n, double *ret_left, double *ret_right)
{
	double widest = 1;

	*ret_left = 0;
	*ret_right = 0;
	for (size_t i = 0; i < k->n; i++) {
		double at = k->v[i].low;

		while (at <= k->v[i].high) {
			double left, right;

			neighbours(c, chosen, n, at, &left, &right);
			if (!(left > 0) || isinf(right))
				break;
			if (floor(right) - floor(left) > 1 && right / left > widest) {
				widest = right / left;
				*ret_left = left;
				*ret_right = right;
			}
			at = right;
		}
	}
	return widest;
}

size_t knees_refine(const struct knee_curve *c, const struct knees *k, uint64_t *ret_x, size_t max)
{
	size_t n = 0;

	while (n < max) {
		double left, right;
		uint64_t mid;

		if (widest_gap(c, k, ret_x, n, &left, &right) < FINE)
			break;
		mid = (uint64_t)(sqrt(left * right) + 0.5);
		if ((double)mid >= right)
			mid--;
		if ((double)mid <= left)
			mid++;
		if (mid == 0 || is_taken(c, ret_x, n, mid))
			break;
		ret_x[n++] = mid;
	}
	return n;
}
