// SPDX-License-Identifier: MIT
/* Quantiles and the exact interval of the median against R and theory. */
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

#include "golden_stats.h"
#include "near.h"

static void quantiles_match_r(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(golden_quantiles) / sizeof(golden_quantiles[0]); i++) {
		const struct golden_quantile *g = &golden_quantiles[i];

		assert_near(stats_quantile(g->x, g->n, 0), g->q0, 1e-14);
		assert_near(stats_quantile(g->x, g->n, 0.05), g->q05, 1e-14);
		assert_near(stats_quantile(g->x, g->n, 0.25), g->q25, 1e-14);
		assert_near(stats_quantile(g->x, g->n, 0.5), g->q50, 1e-14);
		assert_near(stats_quantile(g->x, g->n, 0.9), g->q90, 1e-14);
		assert_near(stats_quantile(g->x, g->n, 1), g->q100, 1e-14);
		assert_near(stats_median(g->x, g->n), g->q50, 1e-14);
		assert_near(stats_min(g->x, g->n), g->q0, 0);
		assert_near(stats_mad(g->x, g->n), g->mad, 1e-12);
	}
}

static void nothing_and_nonsense_give_nan(void **state)
{
	static const double some[] = { 1, 2, 3 };
	static const double hole[] = { 1, NAN, 3 };
	static const double outside[] = { -0.1, 1.1, NAN, INFINITY, -INFINITY };

	(void)state;
	assert_true(isnan(stats_min(some, 0)));
	assert_true(isnan(stats_mean(some, 0)));
	assert_true(isnan(stats_median(some, 0)));
	assert_true(isnan(stats_quantile(some, 0, 0.5)));
	assert_true(isnan(stats_mad(some, 0)));
	assert_true(isnan(stats_min(NULL, 0)));
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		assert_true(isnan(stats_quantile(some, 3, outside[i])));
	assert_true(isnan(stats_min(hole, 3)));
	assert_true(isnan(stats_mean(hole, 3)));
	assert_true(isnan(stats_median(hole, 3)));
	assert_true(isnan(stats_mad(hole, 3)));
}

static void inputs_stay_as_they_are(void **state)
{
	double x[300], copy[300];
	double low, high;
	struct rng r;

	(void)state;
	rng_seed(&r, 5);
	for (size_t i = 0; i < 300; i++)
		x[i] = rng_unit(&r);
	memcpy(copy, x, sizeof(x));
	stats_median(x, 300);
	stats_median(x, 20);
	stats_mad(x, 300);
	assert_int_equal(stats_median_interval(x, 300, 0.95, &low, &high, NULL), 0);
	assert_memory_equal(x, copy, sizeof(x));
}

/* Large samples take another path (heap, library sort): both must give the same. */
static void large_and_small_samples_agree(void **state)
{
	double x[1001];

	(void)state;
	for (size_t i = 0; i < 1001; i++)
		x[(i * 397) % 1001] = (double)i;
	assert_near(stats_median(x, 1001), 500, 0);
	assert_near(stats_quantile(x, 1001, 0.25), 250, 0);
	assert_near(stats_quantile(x, 1001, 0.999), 999, 1e-12);
	assert_near(stats_mad(x, 1001), 1.4826 * 250, 1e-12);
}

static void quantiles_follow_shift_and_scale(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 11);
	for (size_t n = 1; n <= 50; n++) {
		double x[50], y[50];
		double q = rng_unit(&r);

		for (size_t i = 0; i < n; i++) {
			x[i] = rng_normal(&r);
			y[i] = 7 + 3 * x[i];
		}
		assert_near(stats_quantile(y, n, q), 7 + 3 * stats_quantile(x, n, q), 1e-12);
		assert_near(stats_mad(y, n), 3 * stats_mad(x, n), 1e-12);
		assert_near(stats_mean(y, n), 7 + 3 * stats_mean(x, n), 1e-12);
	}
}

static void mean_does_not_lose_small_values(void **state)
{
	double x[1000];

	(void)state;
	x[0] = 1e16;
	for (size_t i = 1; i < 1000; i++)
		x[i] = 1;
	/* Added naively, the ones all vanish beside the first value. */
	assert_near(stats_mean(x, 1000) * 1000, 1e16 + 999, 3e-16);
	assert_true(stats_mean(x, 1000) * 1000 - 1e16 > 900);
}

static void median_interval_ranks_match_r(void **state)
{
	static double x[3000];

	(void)state;
	for (size_t i = 0; i < 3000; i++)
		x[i] = (double)(i + 1);
	for (size_t i = 0; i < sizeof(golden_ranks) / sizeof(golden_ranks[0]); i++) {
		const struct golden_rank *g = &golden_ranks[i];
		double low = -1, high = -1, coverage = -1;
		int rc = stats_median_interval(x, g->n, g->level, &low, &high, &coverage);

		if (g->rank == 0) {
			assert_int_equal(rc, -EDOM);
			assert_near(low, -1, 0);
			assert_near(high, -1, 0);
			assert_near(coverage, -1, 0);
			continue;
		}
		assert_int_equal(rc, 0);
		assert_near(low, (double)g->rank, 0);
		assert_near(high, (double)(g->n + 1 - g->rank), 0);
		assert_near(coverage, g->coverage, 1e-11);
	}
}

static void median_interval_refuses(void **state)
{
	static const double x[] = { 3, 1, 2, 5, 4, 6, NAN };
	static const struct {
		size_t n;
		double level;
	} bad[] = {
		{ 0, 0.95 }, { 5, 0.95 }, { 7, 0.95 }, { 6, 0 },
		{ 6, 1 },    { 6, -1 },   { 6, 2 },    { 6, NAN },
	};
	double low = 9, high = 9;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(
			stats_median_interval(x, bad[i].n, bad[i].level, &low, &high, NULL), -EDOM);
	assert_near(low, 9, 0);
	assert_near(high, 9, 0);
	assert_int_equal(stats_median_interval(x, 6, 0.95, &low, &high, NULL), 0);
	assert_near(low, 1, 0);
	assert_near(high, 6, 0);
}

/* Of 4000 samples with known median, the interval must hold it about as often as it says. */
static void median_interval_covers(void **state)
{
	static const size_t sizes[] = { 6, 8, 9, 20 };
	struct rng r;

	(void)state;
	rng_seed(&r, 3);
	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		double told = 0;
		int inside = 0;

		for (int trial = 0; trial < 4000; trial++) {
			double x[20], low, high;

			for (size_t i = 0; i < sizes[k]; i++)
				x[i] = exp(rng_normal(&r));
			assert_int_equal(
				stats_median_interval(x, sizes[k], 0.95, &low, &high, &told), 0);
			inside += low <= 1 && 1 <= high;
		}
		/* Four standard errors of a share near 0.96 in 4000 trials. */
		assert_near(inside / 4000.0, told, 0.0124);
		assert_true(told >= 0.95);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_match_r),
		cmocka_unit_test(nothing_and_nonsense_give_nan),
		cmocka_unit_test(inputs_stay_as_they_are),
		cmocka_unit_test(large_and_small_samples_agree),
		cmocka_unit_test(quantiles_follow_shift_and_scale),
		cmocka_unit_test(mean_does_not_lose_small_values),
		cmocka_unit_test(median_interval_ranks_match_r),
		cmocka_unit_test(median_interval_refuses),
		cmocka_unit_test(median_interval_covers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
