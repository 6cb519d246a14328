// SPDX-License-Identifier: MIT
/*
 * The least squares, and what they can tell. A figure whose standard error (from the loss, at
 * least one per cent a point) exceeds 30 % of it is not determined: it is put back to its prior,
 * one after the other from the worst, and the rest are fitted again. With which other figure it is
 * confounded is told by the correlation of their estimates (the inverse of the normal matrix).
 * Sources: P. J. Huber, "Robust estimation of a location parameter", Ann. Math. Stat. 35, 1964, for
 * the weights, by repeated least squares; G. A. F. Seber and A. J. Lee, "Linear Regression
 * Analysis", 2nd ed. 2003, ch. 3.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/parts.h"
#include "stats/stats.h"

enum { HUBER_ROUNDS = 5 };
static const double HUBER = 0.1;           /* relative error */
static const double NEVER_SHARE = 0.02;    /* of the time of every point */
static const double UNDETERMINED = 0.3;    /* standard error to value */
static const double SIGMA_MIN = 0.01;      /* relative error of a measured time */
static const double COLLINEAR = 0.7;       /* correlation of two estimates */
static const double LEAST[2] = { 0.5, 2 }; /* cycles, ns: below it nobody cares */

/* One least squares with weights @w. */
static int solve(const struct row *rows, const double *ns, const double *w, size_t n,
		 const bool *kept, double *ret_costs)
{
	unsigned cols[COLS];
	size_t k = 0;
	double x[COLS] = { 0 };
	double *a, *b;
	int rc;

	for (unsigned c = 0; c < COLS; c++)
		if (!kept[c])
			cols[k++] = c;
	if (k == 0)
		return 0;
	a = calloc(n * (k + 1), sizeof(*a));
	if (!a)
		return -ENOMEM;
	b = a + n * k;
	for (size_t i = 0; i < n; i++) {
		const double f = sqrt(w[i]) / ns[i];

		b[i] = (ns[i] - rows[i].rest) * f;
		for (unsigned c = 0; c < COLS; c++)
			b[i] -= kept[c] ? rows[i].x[c] * ret_costs[c] * f : 0;
		for (size_t j = 0; j < k; j++)
			a[i * k + j] = rows[i].x[cols[j]] * f;
	}
	rc = stats_nnls(a, b, n, k, x, NULL);
	free(a);
	for (size_t j = 0; j < k && rc == 0; j++)
		ret_costs[cols[j]] = x[j];
	return rc;
}

int fit_costs(const struct row *rows, const double *ns, size_t n, const bool *kept,
	      double *ret_costs, double *ret_loss)
{
	double *w = calloc(n + 1, sizeof(*w));
	int rc = w ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && rc == 0; i++)
		w[i] = 1;
	for (unsigned round = 0; round < HUBER_ROUNDS && rc == 0; round++) {
		rc = solve(rows, ns, w, n, kept, ret_costs);
		*ret_loss = 0;
		for (size_t i = 0; i < n && rc == 0; i++) {
			const double off = fabs(row_ns(&rows[i], ret_costs) / ns[i] - 1);

			w[i] = off > HUBER ? HUBER / off : 1;
			*ret_loss += off > HUBER ? HUBER * (2 * off - HUBER) : off * off;
		}
	}
	free(w);
	return rc;
}

/* Inverse of the k x k matrix @g (in place, Gauss and Jordan, scaled to a unit diagonal). */
static void invert(double g[COLS][COLS], size_t k)
{
	double scale[COLS];

	for (size_t i = 0; i < k; i++)
		scale[i] = g[i][i] > 0 ? 1 / sqrt(g[i][i]) : 1;
	for (size_t i = 0; i < k; i++)
		for (size_t j = 0; j < k; j++)
			g[i][j] *= scale[i] * scale[j];
	for (size_t i = 0; i < k; i++)
		g[i][i] += 1e-10; /* dependent columns get a huge error, not a division by 0 */
	for (size_t p = 0; p < k; p++) {
		const double pivot = g[p][p];

		g[p][p] = 1;
		for (size_t j = 0; j < k; j++)
			g[p][j] /= pivot;
		for (size_t i = 0; i < k; i++) {
			const double f = g[i][p];

			if (i == p)
				continue;
			g[i][p] = 0;
			for (size_t j = 0; j < k; j++)
				g[i][j] -= f * g[p][j];
		}
	}
	for (size_t i = 0; i < k; i++)
		for (size_t j = 0; j < k; j++)
			g[i][j] *= scale[i] * scale[j];
}

struct identifying {
	const struct row *rows;
	const double *ns;
	size_t n;
	const struct sim_machine *m;
	bool kept[COLS];
	double costs[COLS], prior[COLS], errors[COLS], share[COLS];
	enum calibrate_fate fate[COLS];
	unsigned with[COLS]; /* COLS: none */
};

static void begin(struct identifying *k)
{
	for (unsigned c = 0; c < COLS; c++) {
		k->with[c] = COLS;
		k->errors[c] = NAN;
		k->prior[c] = column_exists(k->m, c) ? column_get(k->m, c) : 0;
		k->costs[c] = k->prior[c];
		for (size_t i = 0; i < k->n; i++) {
			const double least = LEAST[column_unit(c)[0] == 'n'];
			const double at = fmax(k->prior[c], least) * k->rows[i].x[c] / k->ns[i];

			k->share[c] = fmax(k->share[c], at);
		}
		k->kept[c] = !column_exists(k->m, c) || k->share[c] < NEVER_SHARE;
		k->fate[c] = k->kept[c] ? CALIBRATE_NEVER : CALIBRATE_FITTED;
	}
}

/* Standard errors of what was fitted; the worst determined one, COLS if all are good enough. */
static unsigned find_worst(struct identifying *k, double loss)
{
	double g[COLS][COLS] = { 0 };
	unsigned cols[COLS], worst = COLS;
	double most = UNDETERMINED, sigma;
	size_t n = 0, w = 0;

	for (unsigned c = 0; c < COLS; c++)
		if (!k->kept[c])
			cols[n++] = c;
	sigma = k->n > n ? sqrt(loss / (double)(k->n - n)) : INFINITY;
	sigma = fmax(sigma, SIGMA_MIN);
	for (size_t i = 0; i < k->n; i++)
		for (size_t a = 0; a < n; a++)
			for (size_t b = 0; b < n; b++)
				g[a][b] += k->rows[i].x[cols[a]] * k->rows[i].x[cols[b]] /
					   (k->ns[i] * k->ns[i]);
	invert(g, n);
	for (size_t a = 0; a < n; a++) {
		const unsigned c = cols[a];
		const double least = LEAST[column_unit(c)[0] == 'n'];
		const double value = fmax(fmax(k->costs[c], k->prior[c]), least);

		k->errors[c] = sigma * sqrt(fmax(g[a][a], 0));
		if (k->errors[c] / value > most) {
			most = k->errors[c] / value;
			worst = c;
			w = a;
		}
	}
	for (size_t a = 0, best = n; worst < COLS && a < n; a++) {
		const double r = fabs(g[w][a]) / sqrt(fmax(g[w][w] * g[a][a], 1e-300));
		const double s =
			best < n ? fabs(g[w][best]) / sqrt(fmax(g[w][w] * g[best][best], 1e-300))
				 : COLLINEAR;

		if (a != w && r > s) {
			best = a;
			k->with[worst] = cols[a];
		}
	}
	return worst;
}

static void put_back(struct identifying *k, unsigned c, enum calibrate_fate fate)
{
	k->kept[c] = true;
	k->costs[c] = k->prior[c];
	k->errors[c] = NAN;
	k->fate[c] = fate;
}

/* A cache that came out faster than the one before it: a sign that it was not seen as such. */
static unsigned find_disorder(const struct identifying *k)
{
	double before = 0;

	for (unsigned c = COL_CACHE; c < COL_ALIAS; c++) {
		if (!column_exists(k->m, c))
			continue;
		if (!k->kept[c] && k->costs[c] < before)
			return c;
		before = k->costs[c];
	}
	if (!k->kept[COL_LOCAL] && column_exists(k->m, COL_LOCAL) &&
	    k->costs[COL_LOCAL] < before * 1e9 / k->m->core.clock_hz)
		return COL_LOCAL;
	return COLS;
}

static void tell(const struct identifying *k, struct calibration *ret)
{
	ret->n_costs = 0;
	for (unsigned c = 0; c < COLS; c++) {
		struct calibrate_cost *to = &ret->costs[ret->n_costs];

		if (!column_exists(k->m, c))
			continue;
		memset(to, 0, sizeof(*to));
		column_path(k->m, c, to->path);
		if (k->fate[c] == CALIBRATE_COLLINEAR)
			column_path(k->m, k->with[c], to->with);
		to->unit = column_unit(c);
		to->prior = k->prior[c];
		to->value = k->costs[c];
		to->error = k->errors[c];
		to->fate = k->fate[c];
		for (size_t i = 0; i < k->n; i++)
			to->share = fmax(to->share, k->rows[i].x[c] * k->costs[c] / k->ns[i]);
		ret->n_costs++;
	}
}

int fit_identify(const struct row *rows, const double *ns, size_t n, const struct sim_machine *m,
		 double *ret_costs, struct calibration *ret)
{
	struct identifying k = { .rows = rows, .ns = ns, .n = n, .m = m };
	unsigned c;
	int rc;

	begin(&k);
	do {
		double loss;

		rc = fit_costs(rows, ns, n, k.kept, k.costs, &loss);
		if (rc < 0)
			return rc;
		c = find_worst(&k, loss);
		if (c < COLS) {
			put_back(&k, c, k.with[c] < COLS ? CALIBRATE_COLLINEAR : CALIBRATE_VAGUE);
			continue;
		}
		c = find_disorder(&k);
		if (c < COLS)
			put_back(&k, c, CALIBRATE_DISORDER);
	} while (c < COLS);
	memcpy(ret_costs, k.costs, sizeof(k.costs));
	tell(&k, ret);
	return 0;
}
