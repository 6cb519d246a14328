// SPDX-License-Identifier: MIT
/* Two groups: rank test, shift, rates, many tests, clusters. Golden values of R:
 * make_golden_two_sample.R. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "stats/stats.h"
#include "stats/two_sample.h"

#include "golden_two_sample.h"
#include "near.h"

#define COUNT(v) (sizeof(v) / sizeof((v)[0]))

static double rank_p(const double *a, size_t n_a, const double *b, size_t n_b, bool want_exact)
{
	double p = -1;
	bool exact = !want_exact;

	assert_int_equal(stats_mann_whitney(a, n_a, b, n_b, &p, &exact), 0);
	assert_int_equal(exact, want_exact);
	return p;
}

static void rank_test_golden(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(golden_rank_tests); i++) {
		const struct golden_rank_test *g = &golden_rank_tests[i];
		bool exact = g->source != 'n';

		assert_near(rank_p(g->a, g->n_a, g->b, g->n_b, exact), g->p, 1e-12);
		/* Two-sided: the sides may change. */
		assert_near(rank_p(g->b, g->n_b, g->a, g->n_a, exact), g->p, 1e-12);
	}
}

static void rank_test_ties(void **state)
{
	static const double a[] = { 115, 114, 115, 115, 115 };
	static const double b[] = { 78.8, 78.8, 78.8, 78.8, 78.8 };
	static const double c[] = { 3, 3, 3, 3 };

	(void)state;
	/* No value of B above one of A: 2 of the 252 divisions. */
	assert_near(rank_p(a, 5, b, 5, true), 2.0 / 252, 1e-14);
	assert_near(rank_p(c, 4, c, 4, true), 1, 0);
	assert_near(rank_p(c, 1, c, 4, true), 1, 0);
	/* Hand: ranks 1, 2.5, 2.5, 4; {1, 2.5} against {2.5, 4}. Sums of two of them: 3.5 3.5 5
	 * 5 6.5 6.5, mean 5; at least 1.5 away are 4 of 6. */
	assert_near(rank_p((const double[]){ 1, 2 }, 2, (const double[]){ 2, 3 }, 2, true), 4.0 / 6,
		    1e-14);
}

static void rank_test_refusals(void **state)
{
	static const double x[] = { 1, 2, NAN, INFINITY };
	double p = 7;
	bool exact = true;

	(void)state;
	assert_int_equal(stats_mann_whitney(x, 0, x, 2, &p, &exact), -EDOM);
	assert_int_equal(stats_mann_whitney(x, 2, x, 0, &p, &exact), -EDOM);
	assert_int_equal(stats_mann_whitney(x, 3, x, 2, &p, &exact), -EINVAL);
	assert_int_equal(stats_mann_whitney(x, 2, x + 2, 2, &p, &exact), -EINVAL);
	assert_int_equal(stats_mann_whitney(x, 2, x + 3, 1, &p, &exact), -EINVAL);
	assert_true(p == 7 && exact);
}

static void inputs_stay(void **state)
{
	double a[] = { 3, 1, 2, 5, 4 }, b[] = { 9, 7, 8, 6, 1 };
	double a2[5], b2[5], v, low, high;
	bool exact;

	(void)state;
	memcpy(a2, a, sizeof(a));
	memcpy(b2, b, sizeof(b));
	assert_int_equal(stats_mann_whitney(a, 5, b, 5, &v, &exact), 0);
	assert_int_equal(stats_hl_ratio(a, 5, b, 5, 0.95, &v, &low, &high), 0);
	stats_is_bimodal(a, 5, &v, &v);
	assert_memory_equal(a, a2, sizeof(a));
	assert_memory_equal(b, b2, sizeof(b));
}

static void shift_golden(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(golden_shifts); i++) {
		const struct golden_shift *g = &golden_shifts[i];
		double v = -1, low = -1, high = -1;

		assert_int_equal(
			stats_hl_difference(g->a, g->n_a, g->b, g->n_b, g->level, &v, &low, &high),
			0);
		assert_near(v, g->difference, 1e-12);
		assert_near(low, g->low, 1e-12);
		assert_near(high, g->high, 1e-12);
		assert_int_equal(
			stats_hl_ratio(g->a, g->n_a, g->b, g->n_b, g->level, &v, &low, &high), 0);
		assert_near(v, g->ratio, 1e-12);
		assert_near(low, g->ratio_low, 1e-12);
		assert_near(high, g->ratio_high, 1e-12);
	}
}

static void shift_ties_and_constants(void **state)
{
	static const double a[] = { 115, 114, 115, 115, 115 };
	static const double b[] = { 78.8, 78.8, 78.8, 78.8, 78.8 };
	static const double c[] = { 0.3, 0.3, 0.3, 0.3 };
	double v, low, high;

	(void)state;
	assert_int_equal(stats_hl_ratio(a, 5, b, 5, 0.95, &v, &low, &high), 0);
	assert_near(v, 78.8 / 115, 1e-14);
	assert_near(100 * (v - 1), -31.5, 0.0007); /* lower by 31.5 % */
	assert_near(low, 78.8 / 115, 1e-14);
	assert_near(high, 78.8 / 114, 1e-14);
	/* No spread, no difference: exactly one, and exactly nothing. */
	assert_int_equal(stats_hl_ratio(c, 4, c, 4, 0.95, &v, &low, &high), 0);
	assert_true(v == 1 && low == 1 && high == 1);
	assert_int_equal(stats_hl_difference(c, 4, c, 4, 0.95, &v, &low, &high), 0);
	assert_true(v == 0 && low == 0 && high == 0);
}

static void shift_refusals(void **state)
{
	static const double x[] = { 1, 2, 3, 4, 0, -1, NAN };
	double v = 7, low = 7, high = 7;

	(void)state;
	assert_int_equal(stats_hl_ratio(x, 0, x, 4, 0.95, &v, &low, &high), -EDOM);
	assert_int_equal(stats_hl_ratio(x, 4, x, 0, 0.95, &v, &low, &high), -EDOM);
	assert_int_equal(stats_hl_ratio(x, 4, x, 5, 0.95, &v, &low, &high), -EDOM);
	assert_int_equal(stats_hl_ratio(x, 6, x, 4, 0.95, &v, &low, &high), -EDOM);
	assert_int_equal(stats_hl_ratio(x, 4, x + 6, 1, 0.95, &v, &low, &high), -EINVAL);
	assert_int_equal(stats_hl_ratio(x, 4, x, 4, 1, &v, &low, &high), -EINVAL);
	assert_int_equal(stats_hl_ratio(x, 4, x, 4, 0, &v, &low, &high), -EINVAL);
	assert_int_equal(stats_hl_ratio(x, 4, x, 4, NAN, &v, &low, &high), -EINVAL);
	assert_int_equal(stats_hl_difference(x, 7, x, 4, 0.95, &v, &low, &high), -EINVAL);
	assert_int_equal(
		stats_hl_difference(x, SIZE_MAX / 2, x, SIZE_MAX / 2, 0.95, &v, &low, &high),
		-ENOMEM);
	assert_true(v == 7 && low == 7 && high == 7);
	/* Any sign is a difference. */
	assert_int_equal(stats_hl_difference(x, 6, x, 4, 0.95, &v, &low, &high), 0);
}

/* Values of B are those of A times a factor: the estimate is that factor. */
static void shift_follows_scale(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 1963);
	for (int k = 0; k < 50; k++) {
		double a[12], b[12], v, low, high, factor = exp(rng_normal(&rng));

		for (size_t i = 0; i < 12; i++) {
			a[i] = exp(rng_normal(&rng));
			b[i] = factor * a[i];
		}
		assert_int_equal(stats_hl_ratio(a, 12, b, 12, 0.95, &v, &low, &high), 0);
		assert_near(v, factor, 1e-12);
		assert_true(low <= v && v <= high);
	}
}

/* Three spikes of a hundred values leave the centre where it is. */
static void spikes_do_not_move_the_centre(void **state)
{
	double a[100], b[100], v, low, high;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 3);
	for (size_t i = 0; i < 100; i++) {
		a[i] = 100 * (1 + 0.01 * rng_normal(&rng));
		b[i] = i % 33 == 0 && i ? 5000 : 100 * (1 + 0.01 * rng_normal(&rng));
	}
	assert_int_equal(stats_hl_ratio(a, 100, b, 100, 0.95, &v, &low, &high), 0);
	assert_true(fabs(v - 1) < 0.003 && low < 1 && high > 1);
	assert_false(stats_is_bimodal(b, 100, &low, &high));
}

/* The interval holds the truth as often as it says; the exact and the normal one. */
static void shift_coverage(void **state)
{
	static const struct {
		size_t n;
		int trials;
	} rows[] = { { 6, 2000 }, { 12, 2000 }, { 55, 300 } };
	struct rng rng;

	(void)state;
	rng_seed(&rng, 95);
	for (size_t k = 0; k < COUNT(rows); k++) {
		int held = 0;

		for (int t = 0; t < rows[k].trials; t++) {
			double a[64], b[64], v, low, high;

			for (size_t i = 0; i < rows[k].n; i++) {
				a[i] = exp(0.02 * rng_normal(&rng));
				b[i] = 1.03 * exp(0.02 * rng_normal(&rng));
			}
			assert_int_equal(
				stats_hl_ratio(a, rows[k].n, b, rows[k].n, 0.95, &v, &low, &high),
				0);
			held += low <= 1.03 && 1.03 <= high;
		}
		/* Exact intervals of few values hold a little more. */
		assert_in_range(1000 * held / rows[k].trials, 930, 980);
	}
}

static void rates_golden(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(golden_rates); i++) {
		const struct golden_rate *g = &golden_rates[i];
		double ratio = -1, low = -1, high = -1, p = -1;

		assert_int_equal(stats_poisson_ratio(g->a, g->exposure_a, g->b, g->exposure_b,
						     g->level, &ratio, &low, &high, &p),
				 0);
		assert_near(low / g->low, g->low == 0 ? NAN : 1, 1e-8);
		if (isinf(g->high))
			assert_true(isinf(high));
		else
			assert_near(high / g->high, 1, 1e-8);
		assert_near(p, g->p, 1e-9);
		if (g->a > 0)
			assert_near(ratio,
				    (double)g->b / g->exposure_b * g->exposure_a / (double)g->a,
				    1e-12);
	}
}

static void rates_edges(void **state)
{
	double ratio, low, high, p;

	(void)state;
	assert_int_equal(stats_poisson_ratio(0, 1, 0, 1, 0.95, &ratio, &low, &high, &p), 0);
	assert_true(isnan(ratio) && low == 0 && isinf(high) && p == 1);
	assert_int_equal(stats_poisson_ratio(0, 1, 5, 1, 0.95, &ratio, &low, &high, &p), 0);
	assert_true(isinf(ratio) && low > 0 && isinf(high));
	/* Just below and above the change to the normal interval. */
	assert_int_equal(stats_poisson_ratio(1000000, 1, 1003000, 1, 0.95, &ratio, &low, &high, &p),
			 0);
	double low2, high2, p2;

	assert_int_equal(
		stats_poisson_ratio(1000001, 1, 1003001, 1, 0.95, &ratio, &low2, &high2, &p2), 0);
	assert_near(low, low2, 3e-6);
	assert_near(high, high2, 3e-6);
	assert_true(fabs(p - p2) < 5e-3 * p2);
	/* Rare against very many. */
	assert_int_equal(stats_poisson_ratio(4, 1, INT64_MAX, 1, 0.95, &ratio, &low, &high, &p), 0);
	assert_true(low < ratio && ratio < high && p < 1e-9);
	/* 4 events: 1.089865 to 10.241589 by Poisson's own exact interval. */
	assert_near(ratio / high * 4, 1.089865, 1e-5);
	assert_near(ratio / low * 4, 10.241589, 1e-5);
}

static void rates_refusals(void **state)
{
	static const struct {
		int64_t a, b;
		double ea, eb, level;
		int rc;
	} rows[] = {
		{ -1, 1, 1, 1, 0.95, -EDOM },       { 1, -1, 1, 1, 0.95, -EDOM },
		{ 1, 1, 0, 1, 0.95, -EDOM },        { 1, 1, 1, -2, 0.95, -EDOM },
		{ 1, 1, NAN, 1, 0.95, -EDOM },      { 1, 1, 1, INFINITY, 0.95, -EDOM },
		{ 1, 1, 1, 1, 0, -EINVAL },         { 1, 1, 1, 1, 1, -EINVAL },
		{ INT64_MIN, 1, 1, 1, 0.9, -EDOM }, { 1, 1, 1, 1, NAN, -EINVAL },
	};
	double v = 7;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(stats_poisson_ratio(rows[i].a, rows[i].ea, rows[i].b, rows[i].eb,
						     rows[i].level, &v, &v, &v, &v),
				 rows[i].rc);
	assert_true(v == 7);
}

static void many_tests_golden(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(golden_adjusts); i++) {
		const struct golden_adjust *g = &golden_adjusts[i];
		double holm[12], bh[12];

		assert_int_equal(stats_holm(g->p, g->n, holm), 0);
		assert_int_equal(stats_benjamini_hochberg(g->p, g->n, bh), 0);
		for (size_t k = 0; k < g->n; k++) {
			assert_near(holm[k], g->holm[k], 1e-14);
			assert_near(bh[k], g->bh[k], 1e-14);
		}
	}
}

static void many_tests_pass_over_nan(void **state)
{
	double p[] = { NAN, 0.01, NAN, 0.04, 0.03, NAN };

	(void)state;
	assert_int_equal(stats_holm(p, 6, p), 0); /* in place */
	assert_true(isnan(p[0]) && isnan(p[2]) && isnan(p[5]));
	assert_near(p[1], 0.03, 1e-15);
	assert_near(p[3], 0.06, 1e-15);
	assert_near(p[4], 0.06, 1e-15);
	assert_int_equal(stats_benjamini_hochberg(p, 0, p), 0);
	assert_int_equal(stats_benjamini_hochberg(p, 1, p), 0);
	assert_true(isnan(p[0]));
}

static void needed(void **state)
{
	(void)state;
	assert_int_equal(stats_needed(10, 0.04, 0.02), 40);
	assert_int_equal(stats_needed(10, 0.03, 0.02), 23);
	assert_int_equal(stats_needed(10, 0.001, 0.02), 6);
	assert_int_equal(stats_needed(0, 0.04, 0.02), 6);
	assert_int_equal(stats_needed(10, 0.04, 0), 1000000);
	assert_int_equal(stats_needed(10, NAN, 0.02), 6);
}

static void clusters(void **state)
{
	double x[50], low = 0, high = 0;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 100);
	for (size_t i = 0; i < 50; i++)
		x[i] = (i % 5 < 3 ? 100 : 130) * (1 + 0.01 * rng_normal(&rng));
	assert_true(stats_is_bimodal(x, 50, &low, &high));
	assert_near(low, 100, 0.01);
	assert_near(high, 130, 0.01);
	assert_true(stats_is_bimodal(x, 10, &low, &high));
	assert_false(stats_is_bimodal(x, 9, &low, &high)); /* too few */
}

static void no_clusters(void **state)
{
	double x[50], low = 7, high = 7;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 101);
	for (size_t i = 0; i < 50; i++)
		x[i] = 100 * (1 + 0.02 * rng_normal(&rng));
	assert_false(stats_is_bimodal(x, 50, &low, &high));
	/* One in ten far away are spikes, not a cluster. */
	for (size_t i = 0; i < 50; i += 10)
		x[i] = 130;
	assert_false(stats_is_bimodal(x, 50, &low, &high));
	/* Two neighbouring ticks of the clock: apart, but by less than 2 %. */
	for (size_t i = 0; i < 50; i++)
		x[i] = i % 2 ? 100 : 101;
	assert_false(stats_is_bimodal(x, 50, &low, &high));
	for (size_t i = 0; i < 50; i++)
		x[i] = 5;
	assert_false(stats_is_bimodal(x, 50, &low, &high));
	x[3] = NAN;
	assert_false(stats_is_bimodal(x, 50, &low, &high));
	assert_false(stats_is_bimodal(x, 0, &low, &high));
	assert_true(low == 7 && high == 7);
}

static void normal_quantiles(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(golden_normals); i++)
		assert_near(stats_normal_quantile(golden_normals[i].p), golden_normals[i].quantile,
			    1e-11);
	assert_true(stats_normal_quantile(0) == -INFINITY && stats_normal_quantile(1) == INFINITY);
	assert_true(isnan(stats_normal_quantile(-0.1)) && isnan(stats_normal_quantile(1.1)));
	assert_true(isnan(stats_normal_quantile(NAN)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rank_test_golden),
		cmocka_unit_test(rank_test_ties),
		cmocka_unit_test(rank_test_refusals),
		cmocka_unit_test(inputs_stay),
		cmocka_unit_test(shift_golden),
		cmocka_unit_test(shift_ties_and_constants),
		cmocka_unit_test(shift_refusals),
		cmocka_unit_test(shift_follows_scale),
		cmocka_unit_test(spikes_do_not_move_the_centre),
		cmocka_unit_test(shift_coverage),
		cmocka_unit_test(rates_golden),
		cmocka_unit_test(rates_edges),
		cmocka_unit_test(rates_refusals),
		cmocka_unit_test(many_tests_golden),
		cmocka_unit_test(many_tests_pass_over_nan),
		cmocka_unit_test(needed),
		cmocka_unit_test(clusters),
		cmocka_unit_test(no_clusters),
		cmocka_unit_test(normal_quantiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
