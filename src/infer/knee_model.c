// SPDX-License-Identifier: MIT
/*
 * Cost curves as sums of non-negative components: shapes, fit of the costs, evidence. The search
 * for the right components is in knee_search.c.
 *
 * Shapes. A structure of C entries under random references misses with probability 1 - C/x. Under
 * the cyclic order of a chase the miss ratio climbs faster: random replacement as about
 * 1 - (C/x)^2, not-recently-used replacement as 1 - (C/x)^4 to ^8, least recently used at once.
 * Sets that pages of random colour overfill are the opposite: P(Poisson(w x / C) >= w) of the pages
 * lie in sets with more pages than ways, which rises without a kink (R. H. Saavedra and A. J.
 * Smith, IEEE Transactions on Computers 44(10), 1995, for the first; J. Gonzalez-Dominguez et al.,
 * "Servet", IPDPS 2010, for the last).
 *
 * Evidence. BIC (G. Schwarz, Annals of Statistics 6(2), 1978) on log residuals, with a floor under
 * the variance: no structure follows these shapes to better than 2 %, so a smaller misfit says
 * nothing.
 */
#include "infer/knee_model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/stats.h"

static const double SHAPE_ERROR = 0.02;

/* A point is disturbed when so far above one of the NEAR next ones, in noise and at least. */
static const double SPIKE_SIGMAS = 8;
static const double SPIKE_LEAST = 0.06;
enum { NEAR = 5 };

size_t curve_below(const struct curve_data *d, double c)
{
	size_t low = 0;
	size_t high = d->n;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (d->x[mid] <= c)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/*
 * Disturbances only add time, and a larger set cannot cost less: a point well above later ones was
 * disturbed, if it also sticks out from those before it. Where a curve only falls (overhead of each
 * round, at very small x) it takes three later points together. Looks no further than NEAR points,
 * so that noise alone rarely condemns one.
 */
static bool is_spike(const struct curve_data *d, size_t i)
{
	double limit = d->log_y[i] - fmax(SPIKE_SIGMAS * d->sigma, SPIKE_LEAST);
	size_t later = d->n - i - 1 < NEAR ? d->n - i - 1 : NEAR;
	size_t before = i < NEAR ? i : NEAR;

	if (stats_median(d->log_y + i + 1, later < 3 ? later : 3) < limit)
		return true;
	return stats_min(d->log_y + i + 1, later) < limit &&
	       stats_min(d->log_y + i - before, before) < limit;
}

static void drop_spikes(struct curve_data *d)
{
	for (size_t i = 0; i < d->n; i++) {
		bool spike = i + 1 < d->n && is_spike(d, i);

		d->weight[i] = spike ? 0 : 1;
		d->n_used -= spike;
	}
}

/* log(x / c) from -OVERFLOW_REACH to OVERFLOW_REACH in OVERFLOW_STEPS steps. */
static const double OVERFLOW_REACH = 4;
static const unsigned overflow_ways[OVERFLOW_KINDS] = { 2, 4, 8, 16 };

/* P(Poisson(mean) >= ways) */
static double overfull(double mean, unsigned ways)
{
	double term = exp(-mean);
	double sum = 0;

	for (unsigned k = 0; k < ways; k++) {
		sum += term;
		term *= mean / (k + 1);
	}
	return fmax(0, 1 - sum);
}

static void fill_overflow(double *table)
{
	for (size_t kind = 0; kind < OVERFLOW_KINDS; kind++) {
		double ways = overflow_ways[kind];

		for (size_t i = 0; i <= OVERFLOW_STEPS; i++) {
			double at = OVERFLOW_REACH * (2.0 * (double)i / OVERFLOW_STEPS - 1);

			*table++ = overfull(ways * exp(at), overflow_ways[kind]);
		}
	}
}

static double overflow_at(const struct curve_data *d, unsigned ways, double log_ratio)
{
	const double *table = d->overful;
	double at = (log_ratio / OVERFLOW_REACH + 1) * (OVERFLOW_STEPS / 2);
	size_t i;

	for (size_t kind = 0; kind < OVERFLOW_KINDS && overflow_ways[kind] != ways; kind++)
		table += OVERFLOW_STEPS + 1;
	if (at <= 0)
		return 0;
	if (at >= OVERFLOW_STEPS)
		return 1;
	i = (size_t)at;
	return table[i] + (at - (double)i) * (table[i + 1] - table[i]);
}

int curve_data_init(struct curve_data *d, const double *x, size_t n)
{
	size_t table = OVERFLOW_KINDS * (OVERFLOW_STEPS + 1);
	double *next;

	*d = (struct curve_data){ .x = x, .n = n };
	d->memory = calloc(n * (9 + 2 * (COMPS_MAX + 1)) + table, sizeof(double));
	if (!d->memory)
		return -ENOMEM;
	next = d->memory;
	double **const parts[] = { &d->log_x,  &d->inverse_x, &d->root_x, &d->log_y, &d->iso,
				   &d->weight, &d->target,    &d->rest,   &d->column };
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++, next += n)
		*parts[i] = next;
	d->basis = next;
	d->rows = d->basis + n * (COMPS_MAX + 1);
	d->overful = d->rows + n * (COMPS_MAX + 1);
	for (size_t i = 0; i < n; i++) {
		d->log_x[i] = log(x[i]);
		d->inverse_x[i] = 1 / x[i];
		d->root_x[i] = sqrt(x[i] / x[n - 1]);
	}
	fill_overflow(d->overful);
	return 0;
}

int curve_data_set_y(struct curve_data *d, const double *y)
{
	int rc;

	d->y = y;
	d->n_used = d->n;
	for (size_t i = 0; i < d->n; i++)
		d->log_y[i] = log(y[i]);
	/* In logs, because noise is in proportion to the cost. */
	rc = stats_isotonic(d->log_y, NULL, d->n, d->iso);
	if (rc)
		return rc;
	for (size_t i = 0; i < d->n; i++)
		d->column[i] = fabs(d->log_y[i] - d->iso[i]);
	d->sigma = 1.4826 * stats_median(d->column, d->n);
	drop_spikes(d);
	rc = stats_isotonic(d->log_y, d->weight, d->n, d->iso);
	for (size_t i = 0; i < d->n; i++) {
		d->iso[i] = exp(d->iso[i]);
		d->weight[i] /= d->iso[i];
		d->target[i] = d->weight[i] * y[i];
	}
	return rc;
}

void curve_data_done(struct curve_data *d)
{
	free(d->memory);
	d->memory = NULL;
}

/* The exponents in use are 1, 2, 4 and 8. */
static double power(double base, unsigned exponent)
{
	for (; exponent > 1; exponent /= 2)
		base *= base;
	return base;
}

double comp_at(const struct curve_data *d, const struct comp *c, double x)
{
	switch (c->kind) {
	case COMP_HINGE:
		return x > c->c ? 1 - power(c->c / x, c->sharp) : 0;
	case COMP_STEP:
		return x > c->c;
	case COMP_OVERFLOW:
		return overflow_at(d, c->sharp, log(x / c->c));
	case COMP_LOG:
		return log(x / d->x[0]);
	case COMP_POWER:
		return c->sharp == 1 ? x / d->x[d->n - 1] : sqrt(x / d->x[d->n - 1]);
	case COMP_KINDS:
		break;
	}
	return 0;
}

/* The same for all points, times the weights. Returns how many zeros it begins with, at least. */
static size_t fill_column(const struct curve_data *d, const struct comp *c, double *ret)
{
	const double *w = d->weight;
	double log_c = c->kind == COMP_OVERFLOW ? log(c->c) : 0;
	size_t zeros = 0;
	size_t i = 0;

	switch (c->kind) {
	case COMP_HINGE:
		for (; i < d->n && d->x[i] <= c->c; i++)
			ret[i] = 0;
		zeros = i;
		for (; i < d->n; i++)
			ret[i] = w[i] * (1 - power(c->c * d->inverse_x[i], c->sharp));
		return zeros;
	case COMP_STEP:
		for (; i < d->n && d->x[i] <= c->c; i++)
			ret[i] = 0;
		zeros = i;
		for (; i < d->n; i++)
			ret[i] = w[i];
		return zeros;
	case COMP_OVERFLOW:
		for (; i < d->n; i++)
			ret[i] = w[i] * overflow_at(d, c->sharp, d->log_x[i] - log_c);
		break;
	case COMP_LOG:
		for (; i < d->n; i++)
			ret[i] = w[i] * (d->log_x[i] - d->log_x[0]);
		break;
	case COMP_POWER:
		for (; i < d->n; i++)
			ret[i] =
				w[i] * (c->sharp == 1 ? d->root_x[i] * d->root_x[i] : d->root_x[i]);
		break;
	case COMP_KINDS:
		break;
	}
	return 0;
}

double model_at(const struct curve_data *d, const struct model *m, double x)
{
	double y = m->t0;

	for (size_t k = 0; k < m->n; k++)
		y += m->v[k].p * comp_at(d, &m->v[k], x);
	return y;
}

/*
 * What a component costs in parameters. One whose place is picked along the whole curve fits noise
 * better than its two parameters tell, so a place counts double (as for change points: N. R. Zhang
 * and D. O. Siegmund, Biometrics 63(1), 2007), a step, whose places are all tried, once more, a
 * sharpness picked among several twice more. Overfull sets beside a knee count double: otherwise
 * they explain the foot of every noisy knee. Settled by simulation, see tests/acceptance.
 */
double model_params(const struct model *m)
{
	double params = 1;
	bool knee = false;
	bool overflow = false;

	for (size_t k = 0; k < m->n; k++) {
		switch (m->v[k].kind) {
		case COMP_HINGE:
			params += m->v[k].sharp == 1 ? 3 : 5;
			knee = true;
			break;
		case COMP_OVERFLOW:
			params += 3;
			overflow = true;
			break;
		case COMP_STEP:
			params += 4;
			knee = true;
			break;
		default:
			params += 1;
			break;
		}
	}
	return params + (knee && overflow ? 3 : 0);
}

int model_fit(struct curve_data *d, struct model *m)
{
	size_t cols = m->n + 1;
	double cost[COMPS_MAX + 1];
	double used = (double)d->n_used;
	int rc;

	for (size_t i = 0; i < d->n; i++)
		d->rows[i * cols] = d->weight[i];
	for (size_t k = 0; k < m->n; k++) {
		fill_column(d, &m->v[k], d->column);
		for (size_t i = 0; i < d->n; i++)
			d->rows[i * cols + k + 1] = d->column[i];
	}
	m->rss = INFINITY;
	m->bic = INFINITY;
	rc = stats_nnls(d->rows, d->target, d->n, cols, cost, NULL);
	if (rc)
		return rc;
	m->t0 = cost[0];
	for (size_t k = 0; k < m->n; k++)
		m->v[k].p = cost[k + 1];
	m->rss = 0;
	for (size_t i = 0; i < d->n; i++) {
		double fit = 0;

		if (d->weight[i] == 0)
			continue;
		for (size_t k = 0; k < cols; k++)
			fit += d->rows[i * cols + k] * cost[k];
		fit = log(fmax(fit, 1e-3 * d->target[i]) / d->target[i]);
		m->rss += fit * fit;
	}
	m->bic =
		used * log(m->rss / used + SHAPE_ERROR * SHAPE_ERROR) + model_params(m) * log(used);
	return 0;
}

/* Four sums side by side: the additions of one would wait for each other. */
static double dot(const double *a, const double *b, size_t n)
{
	double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
	size_t i = 0;

	for (; i + 4 <= n; i += 4) {
		s0 += a[i] * b[i];
		s1 += a[i + 1] * b[i + 1];
		s2 += a[i + 2] * b[i + 2];
		s3 += a[i + 3] * b[i + 3];
	}
	for (; i < n; i++)
		s0 += a[i] * b[i];
	return (s0 + s1) + (s2 + s3);
}

static void subtract(double *a, const double *b, double factor, size_t n)
{
	for (size_t i = 0; i < n; i++)
		a[i] -= factor * b[i];
}

/* Makes the column behind the basis orthonormal to it and takes it in, unless it depends on it. */
static void basis_add(struct curve_data *d, struct scan *s)
{
	double *column = d->basis + s->n_basis * d->n;
	double before = dot(column, column, d->n);
	double length2;

	for (size_t k = 0; k < s->n_basis; k++)
		subtract(column, d->basis + k * d->n, dot(column, d->basis + k * d->n, d->n), d->n);
	length2 = dot(column, column, d->n);
	if (!(length2 > 1e-10 * before))
		return;
	for (size_t i = 0; i < d->n; i++)
		column[i] /= sqrt(length2);
	s->n_basis++;
}

void scan_begin(struct curve_data *d, const struct model *m, size_t skip, struct scan *ret)
{
	*ret = (struct scan){ 0 };
	memcpy(d->basis, d->weight, d->n * sizeof(double));
	basis_add(d, ret);
	for (size_t k = 0; k < m->n; k++) {
		if (k == skip)
			continue;
		fill_column(d, &m->v[k], d->basis + ret->n_basis * d->n);
		basis_add(d, ret);
	}
	memcpy(d->rest, d->target, d->n * sizeof(double));
	for (size_t k = 0; k < ret->n_basis; k++)
		subtract(d->rest, d->basis + k * d->n, dot(d->rest, d->basis + k * d->n, d->n),
			 d->n);
	ret->rss = dot(d->rest, d->rest, d->n);
}

double scan_rss(struct curve_data *d, const struct scan *s, const struct comp *c)
{
	size_t skip = fill_column(d, c, d->column);
	const double *column = d->column + skip;
	size_t n = d->n - skip;
	double along = dot(column, d->rest + skip, n);
	double before, length2;

	if (along <= 0)
		return s->rss;
	before = length2 = dot(column, column, n);
	for (size_t k = 0; k < s->n_basis; k++) {
		double part = dot(column, d->basis + k * d->n + skip, n);

		length2 -= part * part;
	}
	if (!(length2 > 1e-9 * before))
		return s->rss;
	return s->rss - along * along / length2;
}
