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
 * Disturbances only add time, and a larger set cannot cost less: a point well above the median of
 * the next three was disturbed (or carries a per-round overhead, at very small x). Its weight is 0.
 */
static void drop_spikes(struct curve_data *d)
{
	double limit = fmax(5 * d->sigma, 0.05);

	for (size_t i = 0; i + 1 < d->n; i++) {
		size_t after = d->n - i - 1 < 3 ? d->n - i - 1 : 3;
		double next = stats_median(d->log_y + i + 1, after);

		if (d->log_y[i] - next > limit) {
			d->weight[i] = 0;
			d->n_used--;
		}
	}
}

int curve_data_init(struct curve_data *d, const double *x, const double *y, size_t n)
{
	size_t words = n * (5 + (COMPS_MAX + 3) + (COMPS_MAX + 1));
	double *dev;
	int rc;

	*d = (struct curve_data){ .x = x, .y = y, .n = n, .n_used = n };
	d->memory = calloc(words, sizeof(double));
	if (!d->memory)
		return -ENOMEM;
	d->iso = d->memory;
	d->weight = d->iso + n;
	d->log_y = d->weight + n;
	d->rhs = d->log_y + n;
	d->basis = d->rhs + n;
	d->rows = d->basis + (COMPS_MAX + 3) * n;
	dev = d->rows + (COMPS_MAX + 1) * n;
	for (size_t i = 0; i < n; i++)
		d->log_y[i] = log(y[i]);
	/* In logs, because noise is in proportion to the cost. */
	rc = stats_isotonic(d->log_y, NULL, n, d->iso);
	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++) {
		dev[i] = fabs(d->log_y[i] - d->iso[i]);
		d->iso[i] = exp(d->iso[i]);
		d->weight[i] = 1 / d->iso[i];
	}
	d->sigma = 1.4826 * stats_median(dev, n);
	drop_spikes(d);
	return 0;
}

void curve_data_done(struct curve_data *d)
{
	free(d->memory);
	d->memory = NULL;
}

static double power(double base, unsigned exponent)
{
	double result = 1;

	for (; exponent; exponent >>= 1) {
		if (exponent & 1)
			result *= base;
		base *= base;
	}
	return result;
}

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

double comp_at(const struct curve_data *d, const struct comp *c, double x)
{
	switch (c->kind) {
	case COMP_HINGE:
		return x > c->c ? 1 - power(c->c / x, c->sharp) : 0;
	case COMP_STEP:
		return x > c->c;
	case COMP_OVERFLOW:
		return overfull(c->sharp * x / c->c, c->sharp);
	case COMP_LOG:
		return log(x / d->x[0]);
	case COMP_POWER:
		return pow(x / d->x[d->n - 1], 1.0 / c->sharp);
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

double model_params(const struct model *m)
{
	double params = 1;

	for (size_t k = 0; k < m->n; k++) {
		switch (m->v[k].kind) {
		case COMP_HINGE:
			params += m->v[k].sharp == 1 ? 2 : 3;
			break;
		case COMP_OVERFLOW:
			params += 3;
			break;
		case COMP_STEP:
			params += 2;
			break;
		default:
			params += 1;
			break;
		}
	}
	return params;
}

int model_fit(struct curve_data *d, struct model *m)
{
	size_t cols = m->n + 1;
	double cost[COMPS_MAX + 1];
	double used = (double)d->n_used;
	int rc;

	for (size_t i = 0; i < d->n; i++) {
		double *row = d->rows + i * cols;

		row[0] = d->weight[i];
		for (size_t k = 0; k < m->n; k++)
			row[k + 1] = d->weight[i] * comp_at(d, &m->v[k], d->x[i]);
		d->rhs[i] = d->weight[i] * d->y[i];
	}
	rc = stats_nnls(d->rows, d->rhs, d->n, cols, cost, NULL);
	m->rss = INFINITY;
	m->bic = INFINITY;
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
		fit = d->log_y[i] - log(fmax(fit / d->weight[i], 1e-3 * d->y[i]));
		m->rss += fit * fit;
	}
	m->bic =
		used * log(m->rss / used + SHAPE_ERROR * SHAPE_ERROR) + model_params(m) * log(used);
	return 0;
}

static void fill_column(struct curve_data *d, const struct comp *c, double *column)
{
	for (size_t i = 0; i < d->n; i++)
		column[i] = d->weight[i] == 0 ? 0 : d->weight[i] * comp_at(d, c, d->x[i]);
}

static double dot(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static void subtract(double *a, const double *b, double factor, size_t n)
{
	for (size_t i = 0; i < n; i++)
		a[i] -= factor * b[i];
}

/* The basis keeps orthonormal columns, then the residual of y, then room for one column. */
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
	double *residual = d->basis + (COMPS_MAX + 1) * d->n;

	*ret = (struct scan){ 0 };
	memcpy(d->basis, d->weight, d->n * sizeof(double));
	basis_add(d, ret);
	for (size_t k = 0; k < m->n; k++) {
		if (k == skip)
			continue;
		fill_column(d, &m->v[k], d->basis + ret->n_basis * d->n);
		basis_add(d, ret);
	}
	for (size_t i = 0; i < d->n; i++)
		residual[i] = d->weight[i] * d->y[i];
	for (size_t k = 0; k < ret->n_basis; k++)
		subtract(residual, d->basis + k * d->n, dot(residual, d->basis + k * d->n, d->n),
			 d->n);
	ret->rss = dot(residual, residual, d->n);
}

double scan_rss(struct curve_data *d, const struct scan *s, const struct comp *c)
{
	double *residual = d->basis + (COMPS_MAX + 1) * d->n;
	double *column = residual + d->n;
	double before, length2, along;

	fill_column(d, c, column);
	before = dot(column, column, d->n);
	for (size_t k = 0; k < s->n_basis; k++)
		subtract(column, d->basis + k * d->n, dot(column, d->basis + k * d->n, d->n), d->n);
	length2 = dot(column, column, d->n);
	along = dot(column, residual, d->n);
	if (!(length2 > 1e-10 * before) || along <= 0)
		return s->rss;
	return s->rss - along * along / length2;
}
