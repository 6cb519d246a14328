// SPDX-License-Identifier: MIT
/*
 * Isotonic fit, segmentation and non-negative least squares: hand-computed cases, scipy's results,
 * conditions that mark the optimum, and brute force.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "stats/stats.h"

#include "golden_nnls.h"
#include "near.h"

static void isotonic_by_hand(void **state)
{
	static const struct {
		size_t n;
		double y[6], w[6], fit[6];
	} rows[] = {
		{ 1, { 5 }, { 1 }, { 5 } },
		{ 3, { 1, 2, 3 }, { 1, 1, 1 }, { 1, 2, 3 } },
		{ 3, { 3, 2, 1 }, { 1, 1, 1 }, { 2, 2, 2 } },
		{ 4, { 1, 3, 2, 4 }, { 1, 1, 1, 1 }, { 1, 2.5, 2.5, 4 } },
		{ 4, { 1, 3, 2, 4 }, { 1, 1, 3, 1 }, { 1, 2.25, 2.25, 4 } },
		{ 5, { 4, 5, 1, 6, 8 }, { 1, 1, 1, 1, 1 }, { 10. / 3, 10. / 3, 10. / 3, 6, 8 } },
		{ 6, { 2, 2, 2, 1, 1, 9 }, { 1, 1, 1, 1, 1, 1 }, { 1.6, 1.6, 1.6, 1.6, 1.6, 9 } },
		/* Weight 0: the point follows its neighbours and pulls none. */
		{ 3, { 1, 100, 2 }, { 1, 0, 1 }, { 1, 2, 2 } },
	};

	(void)state;
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		double fit[6], same[6];

		assert_int_equal(stats_isotonic(rows[k].y, rows[k].w, rows[k].n, fit), 0);
		memcpy(same, rows[k].y, sizeof(same));
		assert_int_equal(stats_isotonic(same, rows[k].w, rows[k].n, same), 0);
		for (size_t i = 0; i < rows[k].n; i++) {
			assert_near(fit[i], rows[k].fit[i], 1e-14);
			assert_near(same[i], fit[i], 0);
		}
	}
	assert_int_equal(stats_isotonic(NULL, NULL, 0, NULL), 0);
}

/*
 * The fit is the least-squares one if it is monotone and, with residuals r, every partial sum of
 * w r from the left is >= 0 and the total over each block of equal values is 0.
 */
static void isotonic_is_optimal(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 7);
	for (int trial = 0; trial < 300; trial++) {
		size_t n = 1 + (size_t)rng_below(&r, 40);
		double y[40], w[40], fit[40];
		double block = 0;
		double sum = 0;

		for (size_t i = 0; i < n; i++) {
			y[i] = rng_normal(&r) + 0.05 * (double)i;
			w[i] = 0.1 + rng_unit(&r);
		}
		assert_int_equal(stats_isotonic(y, w, n, fit), 0);
		for (size_t i = 0; i < n; i++) {
			assert_true(i == 0 || fit[i] >= fit[i - 1]);
			sum += w[i] * (y[i] - fit[i]);
			block += w[i] * (y[i] - fit[i]);
			assert_true(sum >= -1e-10);
			if (i + 1 == n || fit[i + 1] > fit[i]) {
				assert_near(block, 0, 1e-10);
				block = 0;
			}
		}
	}
}

static void segments_by_hand(void **state)
{
	static const double y[] = { 1, 1, 2, 9, 9, 8, 30, 31, 30 };
	size_t start[3];
	double level[3], cost;

	(void)state;
	assert_int_equal(stats_segments(y, 9, 1, 1, start, level, &cost), 0);
	assert_int_equal(start[0], 0);
	assert_near(level[0], 9, 0);
	assert_near(cost, 8 + 8 + 7 + 0 + 0 + 1 + 21 + 22 + 21, 0);
	assert_int_equal(stats_segments(y, 9, 3, 2, start, level, &cost), 0);
	assert_int_equal(start[0], 0);
	assert_int_equal(start[1], 3);
	assert_int_equal(start[2], 6);
	assert_near(level[0], 1, 0);
	assert_near(level[1], 9, 0);
	assert_near(level[2], 30, 0);
	assert_near(cost, 3, 0);
}

static double brute_cost(const double *y, size_t n, size_t pieces, size_t min_length)
{
	double best = INFINITY;

	if (pieces == 0)
		return n == 0 ? 0 : INFINITY;
	for (size_t last = min_length; last <= n; last++) {
		double median = stats_median(y + n - last, last);
		double cost = brute_cost(y, n - last, pieces - 1, min_length);

		for (size_t i = n - last; i < n; i++)
			cost += fabs(y[i] - median);
		best = fmin(best, cost);
	}
	return best;
}

static void segments_match_brute_force(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 13);
	for (int trial = 0; trial < 60; trial++) {
		size_t n = 4 + (size_t)rng_below(&r, 7);
		size_t min_length = 1 + (size_t)rng_below(&r, 2);
		double y[10], cost, told = 0;
		size_t start[5];
		double level[5];

		for (size_t i = 0; i < n; i++)
			y[i] = floor(6 * rng_unit(&r));
		for (size_t pieces = 1; pieces * min_length <= n && pieces <= 4; pieces++) {
			assert_int_equal(
				stats_segments(y, n, pieces, min_length, start, level, &cost), 0);
			assert_near(cost, brute_cost(y, n, pieces, min_length), 1e-12);
			/* The cost is that of the pieces told. */
			told = 0;
			for (size_t k = 0; k < pieces; k++) {
				size_t end = k + 1 < pieces ? start[k + 1] : n;

				assert_true(end - start[k] >= min_length);
				for (size_t i = start[k]; i < end; i++)
					told += fabs(y[i] - level[k]);
			}
			assert_near(told, cost, 1e-12);
		}
	}
}

static void segments_refuse(void **state)
{
	static const double y[] = { 1, 2, 3, 4, INFINITY, 5, NAN };
	static const struct {
		size_t n, pieces, min_length;
	} bad[] = { { 4, 0, 1 }, { 4, 1, 0 }, { 4, 5, 1 }, { 4, 3, 2 },
		    { 0, 1, 1 }, { 5, 1, 1 }, { 7, 2, 1 }, { 4, 2, SIZE_MAX } };
	size_t start[5] = { 99 };
	double level[5] = { 99 };
	double cost = 99;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(stats_segments(y, bad[i].n, bad[i].pieces, bad[i].min_length,
						start, level, &cost),
				 -EINVAL);
	assert_int_equal(start[0], 99);
	assert_near(level[0], 99, 0);
	assert_near(cost, 99, 0);
}

static void nnls_matches_scipy(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof(golden_nnls) / sizeof(golden_nnls[0]); k++) {
		const struct golden_nnls *g = &golden_nnls[k];
		double x[6], residual2;

		assert_int_equal(stats_nnls(g->a, g->b, g->rows, g->cols, x, &residual2), 0);
		for (size_t j = 0; j < g->cols; j++)
			assert_near(x[j], g->x[j], 1e-8);
		assert_near(sqrt(residual2), g->residual, 1e-9);
	}
}

/* Karush-Kuhn-Tucker: x >= 0, gradient A'(b - Ax) <= 0, and zero where x > 0. */
static void nnls_is_optimal(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 17);
	for (int trial = 0; trial < 300; trial++) {
		size_t rows = 1 + (size_t)rng_below(&r, 20);
		size_t cols = 1 + (size_t)rng_below(&r, 12);
		double a[240], b[20], x[12], residual[20], residual2, sum = 0;

		for (size_t i = 0; i < rows * cols; i++)
			a[i] = rng_normal(&r);
		for (size_t i = 0; i < rows; i++)
			b[i] = rng_normal(&r);
		/* Every third: a column twice, and one empty. */
		if (trial % 3 == 0 && cols > 2) {
			for (size_t i = 0; i < rows; i++) {
				a[i * cols + 1] = a[i * cols];
				a[i * cols + 2] = 0;
			}
		}
		assert_int_equal(stats_nnls(a, b, rows, cols, x, &residual2), 0);
		for (size_t i = 0; i < rows; i++) {
			residual[i] = b[i];
			for (size_t j = 0; j < cols; j++)
				residual[i] -= a[i * cols + j] * x[j];
			sum += residual[i] * residual[i];
		}
		assert_near(sum, residual2, 1e-9);
		for (size_t j = 0; j < cols; j++) {
			double gradient = 0;

			for (size_t i = 0; i < rows; i++)
				gradient += a[i * cols + j] * residual[i];
			assert_true(x[j] >= 0);
			assert_true(gradient < 1e-8);
			if (x[j] > 0)
				assert_near(gradient, 0, 1e-8);
		}
	}
}

static void nnls_keeps_sizes_apart(void **state)
{
	/* Columns of very different size, as nanoseconds and entries would give. */
	static const double a[] = { 1e-9, 1e9, 2e-9, 1e9, 3e-9, 2e9 };
	static const double b[] = { 3e9 + 1e-9, 3e9 + 2e-9, 6e9 + 3e-9 };
	double x[2];

	(void)state;
	assert_int_equal(stats_nnls(a, b, 3, 2, x, NULL), 0);
	assert_near(x[1], 3, 1e-12);
}

static void nnls_refuses(void **state)
{
	static const double a[] = { 1, 2, 3, NAN };
	static const double wide[33] = { 1 };
	static const double b[] = { 1, INFINITY };
	double x[33] = { 7 };
	double residual2 = 7;

	(void)state;
	assert_int_equal(stats_nnls(a, b, 0, 1, x, &residual2), -EINVAL);
	assert_int_equal(stats_nnls(a, b, 1, 0, x, &residual2), -EINVAL);
	assert_int_equal(stats_nnls(wide, b, 1, 33, x, &residual2), -EINVAL);
	assert_int_equal(stats_nnls(a, b, 1, 4, x, &residual2), -EINVAL);
	assert_int_equal(stats_nnls(a, b, 2, 1, x, &residual2), -EINVAL);
	assert_near(x[0], 7, 0);
	assert_near(residual2, 7, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(isotonic_by_hand), cmocka_unit_test(isotonic_is_optimal),
		cmocka_unit_test(segments_by_hand), cmocka_unit_test(segments_match_brute_force),
		cmocka_unit_test(segments_refuse),  cmocka_unit_test(nnls_matches_scipy),
		cmocka_unit_test(nnls_is_optimal),  cmocka_unit_test(nnls_keeps_sizes_apart),
		cmocka_unit_test(nnls_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
