// SPDX-License-Identifier: MIT
/* Marks along an axis. Sizes and counts go by powers of two, times by 1, 2 and 5. */
#include "report/plot.h"

#include <math.h>
#include <string.h>

#include "base/units.h"

double plot_place(const struct plot_axis *a, double v)
{
	if (a->log)
		return v > 0 ? (log(v) - log(a->low)) / (log(a->high) - log(a->low)) : 0;
	return (v - a->low) / (a->high - a->low);
}

static void tick_text(const struct plot_axis *a, struct plot_tick *t)
{
	char buf[UNITS_TEXT_BYTES];
	double v = !a->log && fabs(t->at) < 1e-12 * (a->high - a->low) ? 0 : t->at;

	if (strcmp(a->unit, "bytes") == 0 && v >= 0 && v < 1e18 && v == floor(v))
		format_size(buf, (uint64_t)v);
	else if (v != 0 && (fabs(v) < 1e-4 || fabs(v) >= 1e7))
		format_real(buf, v);
	else
		/* three digits are those of a step of 1, 2 or 5 */
		format_real(buf, round(v * 1e6) / 1e6);
	strncpy(t->text, buf, sizeof(t->text) - 1);
	t->text[sizeof(t->text) - 1] = '\0';
}

static void add(const struct plot_axis *a, double v, size_t *n, struct plot_tick *ret)
{
	if (*n == PLOT_TICKS_MAX)
		return;
	ret[*n].at = v;
	tick_text(a, &ret[(*n)++]);
}

static bool by_powers_of_two(const struct plot_axis *a)
{
	return strcmp(a->unit, "bytes") == 0 || !*a->unit;
}

static size_t decades(const struct plot_axis *a, int skip, int per, struct plot_tick *ret)
{
	static const double steps[] = { 1, 2, 5 };
	int from = (int)floor(log10(a->low)), to = (int)ceil(log10(a->high));
	size_t n = 0;

	for (int k = from; k <= to; k++)
		for (int i = 0; i < per && k % skip == 0; i++) {
			double v = steps[i] * pow(10, k);

			if (v >= a->low * (1 - 1e-9) && v <= a->high * (1 + 1e-9))
				add(a, v, &n, ret);
		}
	return n;
}

static size_t log_ticks(const struct plot_axis *a, size_t most, struct plot_tick *ret)
{
	double slack = 1e-9;
	size_t n = 0;

	if (by_powers_of_two(a)) {
		int from = (int)ceil(log2(a->low) - slack), to = (int)floor(log2(a->high) + slack);
		int step = 1;

		while ((size_t)((to - from) / step + 1) > most)
			step++;
		for (int k = from; k <= to; k++)
			if (k % step == 0)
				add(a, ldexp(1, k), &n, ret);
		return n;
	}
	/* 1, 2, 5, 10 where there is room, else powers of ten, else some of them */
	for (int skip = 1, per = 3;; skip += per == 1, per = 1) {
		n = decades(a, skip, per, ret);
		if (n <= most)
			return n;
	}
}

static double linear_step(const struct plot_axis *a, size_t most)
{
	double raw = (a->high - a->low) / (double)(most > 1 ? most - 1 : 1);
	double ten = pow(10, floor(log10(raw)));

	if (strcmp(a->unit, "bytes") == 0)
		return exp2(ceil(log2(raw)));
	return ten * (raw <= ten ? 1 : raw <= 2 * ten ? 2 : raw <= 5 * ten ? 5 : 10);
}

size_t plot_ticks(const struct plot_axis *a, size_t most, struct plot_tick *ret)
{
	size_t n = 0;

	most = most > PLOT_TICKS_MAX ? PLOT_TICKS_MAX : most < 2 ? 2 : most;
	if (a->log)
		n = log_ticks(a, most, ret);
	if (n >= 2)
		return n;
	/* a logarithmic axis of less than an octave has none of its own kind */
	double step = linear_step(a, most);

	n = 0;
	for (double k = ceil(a->low / step - 1e-9); k * step <= a->high + 1e-9 * step; k++)
		add(a, k * step + 0.0, &n, ret); /* no -0 */
	return n;
}
