// SPDX-License-Identifier: MIT
/*
 * From the values of two sides to difference, interval and p. docs/statistics.md states the
 * formulas. Leaves out: which values (points.c, facts.c), and what follows (verdict.c).
 */
#include "compare/parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/stats.h"
#include "stats/two_sample.h"

/* Difference on logarithms with its interval; NaN bounds: none. */
struct shift {
	double middle, low, high, p;
};

/* Relative standard deviation that the runs themselves add to the difference of both sides. */
static double spread_between(const struct rules *r)
{
	if (!r->c->between_runs || isnan(r->c->run_spread))
		return 0;
	return r->c->run_spread * sqrt(1 / (double)r->runs_a + 1 / (double)r->runs_b);
}

/*
 * Values inside a run do not show how runs differ, so what is known of that is added: to the half
 * widths in quadrature, and to p by the normal law with the wider error.
 */
static void widen(const struct rules *r, struct shift *s)
{
	double between = spread_between(r);
	double z = stats_normal_quantile((1 + r->c->level) / 2);
	double down = s->middle - s->low;
	double up = s->high - s->middle;
	double facing = (s->middle > 0 ? down : up) / z;

	if (between <= 0 || isnan(s->low))
		return;
	s->low = s->middle - hypot(down, z * between);
	s->high = s->middle + hypot(up, z * between);
	s->p = fmax(s->p, erfc(fabs(s->middle) / hypot(facing, between) / sqrt(2)));
}

/* Without an interval there is nothing that the values shown could be at odds with. */
static void set_percent(struct row *row, const struct shift *s)
{
	if (isnan(s->low) && row->c.a > 0 && row->c.b > 0) {
		row->c.percent = 100 * (row->c.b / row->c.a - 1);
		row->c.p = s->p;
		return;
	}
	row->c.percent = 100 * expm1(s->middle);
	row->c.low = 100 * expm1(s->low);
	row->c.high = 100 * expm1(s->high);
	row->c.p = s->p;
}

static bool all_positive(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!(x[i] > 0))
			return false;
	}
	return true;
}

static bool is_constant(const double *x, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (x[i] != x[0])
			return false;
	}
	return true;
}

/* Values without spread by nature, or published ones: the difference alone. */
static void set_alone(struct row *row)
{
	struct compared *c = &row->c;

	int64_t difference;

	c->percent = c->a > 0 && c->b > 0 ? 100 * (c->b / c->a - 1) : c->a == c->b ? 0 : NAN;
	if (c->is_integer && c->integer_a > 0 && c->integer_b > 0 &&
	    !__builtin_sub_overflow(c->integer_b, c->integer_a, &difference))
		c->percent = 100 * (double)difference / (double)c->integer_a;
	if (row->is_exact)
		c->low = c->high = c->percent;
	if (isnan(c->percent) && !c->reason)
		c->reason = "there is no ratio to zero";
}

/* Shares in percent: a ratio of two savings says nothing that anybody asks. */
static bool is_share(const struct row *row)
{
	return row->c.unit && strcmp(row->c.unit, "percent") == 0;
}

/* No ratio: the difference stands in the reason. */
static int test_difference(const struct rules *r, struct row *row, const double *a, size_t n_a,
			   const double *b, size_t n_b)
{
	const char *why = is_share(row) ? "" : "zero or negative values have no ratio";
	double d, low, high;
	bool exact;
	int rc = stats_hl_difference(a, n_a, b, n_b, r->c->level, &d, &low, &high);

	if (rc == 0)
		rc = stats_mann_whitney(a, n_a, b, n_b, &row->c.p, &exact);
	if (rc)
		return rc;
	if (!isnan(low))
		why = arena_printf(r->arena,
				   "%s%sthe difference is %.3g %s, 95 %% from %.3g to %.3g", why,
				   *why ? "; " : "", d,
				   is_share(row) ? "percentage points"
				   : row->c.unit ? row->c.unit
						 : "",
				   low, high);
	if (!why)
		return -ENOMEM;
	row->c.reason = *why ? why : NULL;
	return 0;
}

int row_test_values(const struct rules *r, struct row *row, const double *a, size_t n_a,
		    const double *b, size_t n_b)
{
	struct compared *c = &row->c;
	struct shift s;
	bool exact;
	double centres[2];
	int rc;

	c->n_a = n_a;
	c->n_b = n_b;
	row->is_exact = row->is_exact && is_constant(a, n_a) && is_constant(b, n_b);
	if (row->is_alone || row->is_exact) {
		set_alone(row);
		return 0;
	}
	if (n_a == 0 || n_b == 0)
		return 0;
	c->bimodal_a = stats_is_bimodal(a, n_a, &centres[0], &centres[1]);
	c->bimodal_b = stats_is_bimodal(b, n_b, &centres[0], &centres[1]);
	if (is_share(row) || !all_positive(a, n_a) || !all_positive(b, n_b))
		return test_difference(r, row, a, n_a, b, n_b);
	rc = stats_hl_ratio(a, n_a, b, n_b, r->c->level, &s.middle, &s.low, &s.high);
	if (rc == 0)
		rc = stats_mann_whitney(a, n_a, b, n_b, &s.p, &exact);
	if (rc)
		return rc;
	s.middle = log(s.middle);
	s.low = log(s.low);
	s.high = log(s.high);
	widen(r, &s);
	set_percent(row, &s);
	return 0;
}

static struct count total(const struct count *v, size_t n)
{
	struct count sum = { 0, 0 };

	for (size_t i = 0; i < n; i++) {
		sum.events += v[i].events;
		sum.exposure += v[i].exposure;
	}
	return sum;
}

/* Sum of squared deviations from the side's rate, in units of Poisson's variance. */
static double dispersion(const struct count *v, size_t n)
{
	struct count sum = total(v, n);
	double rate = (double)sum.events / (double)sum.exposure;
	double chi2 = 0;

	for (size_t i = 0; i < n && sum.events > 0; i++) {
		double expected = rate * (double)v[i].exposure;
		double d = (double)v[i].events - expected;

		chi2 += d * d / expected;
	}
	return chi2;
}

/* 99 % point of chi-square (E. B. Wilson and M. M. Hilferty, PNAS 17, 1931). */
static double dispersion_limit(double freedom)
{
	double h = 2 / (9 * freedom);

	return freedom * pow(1 - h + stats_normal_quantile(0.99) * sqrt(h), 3);
}

static int test_rates(const struct rules *r, struct row *row, const struct count *a, size_t n_a,
		      const struct count *b, size_t n_b)
{
	double *rates = calloc(n_a + n_b, sizeof(*rates));
	int rc;

	if (!rates)
		return -ENOMEM;
	for (size_t i = 0; i < n_a + n_b; i++) {
		const struct count *k = i < n_a ? &a[i] : &b[i - n_a];

		rates[i] = (double)k->events / (double)k->exposure;
	}
	rc = row_test_values(r, row, rates, n_a, rates + n_a, n_b);
	free(rates);
	return rc;
}

int row_test_counts(const struct rules *r, struct row *row, const struct count *a, size_t n_a,
		    const struct count *b, size_t n_b)
{
	struct count x = total(a, n_a);
	struct count y = total(b, n_b);
	struct shift s;
	double freedom = (double)(n_a + n_b) - 2;
	int rc;

	row->c.n_a = n_a;
	row->c.n_b = n_b;
	if (n_a == 0 || n_b == 0)
		return 0;
	row->c.a = (double)x.events / (double)x.exposure;
	row->c.b = (double)y.events / (double)y.exposure;
	/* Counts that vary more than chance between invocations are values like times. */
	if (freedom > 0 && dispersion(a, n_a) + dispersion(b, n_b) > dispersion_limit(freedom))
		return test_rates(r, row, a, n_a, b, n_b);
	rc = stats_poisson_ratio(x.events, (double)x.exposure, y.events, (double)y.exposure,
				 r->c->level, &s.middle, &s.low, &s.high, &s.p);
	if (rc)
		return rc;
	if (x.events == 0 && y.events == 0) {
		row->is_exact = true;
		row->c.reason = "no event on either side";
		set_alone(row);
		return 0;
	}
	if (x.events == 0 || y.events == 0) {
		/* A ratio to nothing: it has one bound, and that can be enough. */
		row->c.reason = x.events == 0 ? "no event in A: the interval is open upwards"
					      : "no event in B: the interval is open downwards";
		row->c.percent = x.events == 0 ? NAN : -100;
		row->c.low = 100 * (s.low - 1);
		row->c.high = 100 * (s.high - 1);
		row->c.p = s.p;
		return 0;
	}
	s.middle = log(s.middle);
	s.low = log(s.low);
	s.high = log(s.high);
	widen(r, &s);
	set_percent(row, &s);
	return 0;
}
