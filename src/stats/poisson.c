// SPDX-License-Identifier: MIT
/*
 * Ratio of two event rates. Given the sum of both counts, one of them is binomial, and its share
 * holds the ratio; so the interval is that of a binomial share. Leaves out: counts that vary more
 * than Poisson's law allows (their invocations have to be compared as values).
 * Sources: J. Przyborowski and H. Wilenski, "Homogeneity of results in testing samples from Poisson
 * series", Biometrika 31, 1940; C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial
 * limits illustrated in the case of the binomial", Biometrika 26, 1934. Incomplete beta function:
 * continued fraction 26.5.8 of M. Abramowitz and I. A. Stegun, 1964, evaluated by W. J. Lentz,
 * Applied Optics 15, 1976.
 */
#include "stats/two_sample.h"

#include <errno.h>
#include <math.h>

enum {
	/* Beyond that in both groups, counts are normal to more digits than anybody reads. */
	EXACT_EVENTS = 1000000,
	FRACTION_TERMS = 100000,
};

/* What lgamma(x) has beyond (x - 1/2) log x - x + log(2 pi) / 2, for x >= 10. */
static double stirling_rest(double x)
{
	double i = 1 / (x * x);

	return (1.0 / 12 - i * (1.0 / 360 - i * (1.0 / 1260 - i * (1.0 / 1680 - i / 1188)))) / x;
}

/* lgamma(a + b) - lgamma(b); for large b the two would only leave rounding errors. */
static double lgamma_step(double a, double b)
{
	if (b < 10)
		return lgamma(a + b) - lgamma(b);
	return a * log(a + b) + (b - 0.5) * log1p(a / b) - a + stirling_rest(a + b) -
	       stirling_rest(b);
}

static double away_from_zero(double v)
{
	return fabs(v) < 1e-300 ? 1e-300 : v;
}

static double beta_fraction(double a, double b, double x)
{
	double c = 1;
	double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
	double f = d;

	for (int m = 1; m <= FRACTION_TERMS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double change;

		d = 1 / away_from_zero(1 + even * d);
		c = away_from_zero(1 + even / c);
		f *= c * d;
		d = 1 / away_from_zero(1 + odd * d);
		c = away_from_zero(1 + odd / c);
		change = c * d;
		f *= change;
		if (fabs(change - 1) < 1e-15)
			break;
	}
	return f;
}

/* I_x(a, b) with y = 1 - x, which the caller knows to all digits. */
static double beta_share(double a, double b, double x, double y)
{
	double front;

	if (x <= 0 || y <= 0)
		return x <= 0 ? 0 : 1;
	front = a <= b ? lgamma_step(a, b) - lgamma(a) : lgamma_step(b, a) - lgamma(b);
	front = exp(front + a * (x < 0.5 ? log(x) : log1p(-y)) +
		    b * (x < 0.5 ? log1p(-x) : log(y)));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, y) / b;
}

/* P(X >= k) of n trials with the odds exp(log_odds). */
static double upper_tail(double k, double n, double log_odds)
{
	double y = 1 / (1 + exp(log_odds));
	double x = 1 / (1 + exp(-log_odds));

	return k <= 0 ? 1 : beta_share(k, n - k + 1, x, y);
}

static double lower_tail(double k, double n, double log_odds)
{
	double y = 1 / (1 + exp(log_odds));
	double x = 1 / (1 + exp(-log_odds));

	/* P(X <= k) = P(n - X >= n - k), so that small tails keep their digits. */
	return k >= n ? 1 : beta_share(n - k, k + 1, y, x);
}

/* The log odds at which one tail has the size @tail. */
static double solve(double k, double n, double tail, bool upper)
{
	double low = -100, high = 100;

	for (int i = 0; i < 80; i++) {
		double mid = 0.5 * (low + high);
		/* The upper tail grows with the odds, the lower one falls. */
		bool too_small =
			upper ? upper_tail(k, n, mid) < tail : lower_tail(k, n, mid) > tail;

		if (too_small)
			low = mid;
		else
			high = mid;
	}
	return 0.5 * (low + high);
}

struct log_ratio {
	double low, high, p;
};

static struct log_ratio normal_ratio(double a, double b, double shift, double level)
{
	double se = sqrt(1 / a + 1 / b);
	double middle = log(b) - log(a) - shift;
	double half = stats_normal_quantile((1 + level) / 2) * se;

	return (struct log_ratio){ middle - half, middle + half,
				   erfc(fabs(middle) / se / sqrt(2)) };
}

/* @shift: logarithm of exposure_b / exposure_a. */
static struct log_ratio exact_ratio(double a, double b, double shift, double level)
{
	double n = a + b;
	double tail = (1 - level) / 2;
	double p = 2 * fmin(upper_tail(b, n, shift), lower_tail(b, n, shift));
	struct log_ratio r = { -INFINITY, INFINITY, fmin(1, p) };

	if (b > 0)
		r.low = solve(b, n, tail, true) - shift;
	if (a > 0)
		r.high = solve(b, n, tail, false) - shift;
	return r;
}

/*
 * @b is not the larger count. So many events of the other that they add less than 1 / 20000 to the
 * width are as good as any more of them, while the share of @b would lose its digits.
 */
static struct log_ratio rare_ratio(double a, double b, double shift, double level)
{
	double enough = fmin(a, fmax(1e8, 1e4 * b));
	double less = enough > 0 ? log(a / enough) : 0;

	/* Fewer events of as much less exposure: the same rate. */
	return exact_ratio(enough, b, shift + less, level);
}

int stats_poisson_ratio(int64_t events_a, double exposure_a, int64_t events_b, double exposure_b,
			double level, double *ret_ratio, double *ret_low, double *ret_high,
			double *ret_p)
{
	double a = (double)events_a;
	double b = (double)events_b;
	double shift;
	struct log_ratio r;

	if (events_a < 0 || events_b < 0 || !(exposure_a > 0) || !(exposure_b > 0) ||
	    isinf(exposure_a) || isinf(exposure_b))
		return -EDOM;
	if (!(level > 0 && level < 1))
		return -EINVAL;
	shift = log(exposure_b) - log(exposure_a);
	if (events_a == 0 && events_b == 0) {
		r = (struct log_ratio){ -INFINITY, INFINITY, 1 };
	} else if (events_a > EXACT_EVENTS && events_b > EXACT_EVENTS) {
		r = normal_ratio(a, b, shift, level);
	} else if (events_b > events_a) {
		/* The smaller count as the second keeps the digits of its share. */
		struct log_ratio turned = rare_ratio(b, a, -shift, level);

		r = (struct log_ratio){ -turned.high, -turned.low, turned.p };
	} else {
		r = rare_ratio(a, b, shift, level);
	}
	*ret_ratio = events_a == 0 && events_b == 0 ? NAN : b / exposure_b / (a / exposure_a);
	*ret_low = exp(r.low);
	*ret_high = exp(r.high);
	*ret_p = r.p;
	return 0;
}
