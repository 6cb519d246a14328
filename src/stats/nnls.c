// SPDX-License-Identifier: MIT
/*
 * Non-negative least squares by the active-set method. Leaves out: more than 32 columns, sparse
 * matrices, upper bounds.
 * Source: C. L. Lawson and R. J. Hanson, "Solving Least Squares Problems", 1974, chapter 23. Each
 * inner problem is solved from the normal equations of scaled columns, followed by one correction
 * from the true residual (A. Bjorck, "Numerical Methods for Least Squares Problems", 1996, 2.9.2),
 * which gives back the digits that squaring the matrix costs.
 */
#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLS = 32 };

/* A pivot below this share of its column's length: the column repeats others of the set. */
static const double DEPENDENT = 1e-12;

struct problem {
	const double *a, *b;
	size_t rows, cols;
	double scale[MAX_COLS];            /* 1 / length of the column; 0 for an empty one */
	double gram[MAX_COLS][MAX_COLS];   /* of scaled columns */
	double atb[MAX_COLS];              /* scaled */
	double factor[MAX_COLS][MAX_COLS]; /* lower Cholesky factor of the passive set's gram */
	size_t set[MAX_COLS];              /* passive columns in order of the factor */
	size_t n_set;
	bool blocked[MAX_COLS]; /* dependent on the set; tried again after the set has shrunk */
};

static double entry(const struct problem *p, size_t row, size_t col)
{
	return p->a[row * p->cols + col] * p->scale[col];
}

static void prepare(struct problem *p)
{
	for (size_t j = 0; j < p->cols; j++) {
		double sum = 0;

		for (size_t i = 0; i < p->rows; i++)
			sum += p->a[i * p->cols + j] * p->a[i * p->cols + j];
		p->scale[j] = sum > 0 ? 1 / sqrt(sum) : 0;
	}
	for (size_t j = 0; j < p->cols; j++) {
		for (size_t k = 0; k <= j; k++) {
			double sum = 0;

			for (size_t i = 0; i < p->rows; i++)
				sum += entry(p, i, j) * entry(p, i, k);
			p->gram[j][k] = sum;
			p->gram[k][j] = sum;
		}
		p->atb[j] = 0;
		for (size_t i = 0; i < p->rows; i++)
			p->atb[j] += entry(p, i, j) * p->b[i];
	}
}

/* Extends the factor by the column at set[@at]; false: it depends on those before. */
static bool factor_add(struct problem *p, size_t at)
{
	for (size_t k = 0; k <= at; k++) {
		double sum = p->gram[p->set[at]][p->set[k]];

		for (size_t m = 0; m < k; m++)
			sum -= p->factor[at][m] * p->factor[k][m];
		if (k < at)
			p->factor[at][k] = sum / p->factor[k][k];
		else if (sum <= DEPENDENT)
			return false;
		else
			p->factor[at][at] = sqrt(sum);
	}
	return true;
}

static void solve_factored(const struct problem *p, const double *rhs, double *ret)
{
	double half[MAX_COLS];

	for (size_t i = 0; i < p->n_set; i++) {
		half[i] = rhs[i];
		for (size_t k = 0; k < i; k++)
			half[i] -= p->factor[i][k] * half[k];
		half[i] /= p->factor[i][i];
	}
	for (size_t i = p->n_set; i-- > 0;) {
		ret[i] = half[i];
		for (size_t k = i + 1; k < p->n_set; k++)
			ret[i] -= p->factor[k][i] * ret[k];
		ret[i] /= p->factor[i][i];
	}
}

/* Least squares over the passive set; z[i] belongs to column set[i], in scaled units. */
static void solve_set(const struct problem *p, double *ret_z)
{
	double rhs[MAX_COLS], fix[MAX_COLS];

	for (size_t i = 0; i < p->n_set; i++)
		rhs[i] = p->atb[p->set[i]];
	solve_factored(p, rhs, ret_z);
	memset(rhs, 0, sizeof(rhs));
	for (size_t r = 0; r < p->rows; r++) {
		double residual = p->b[r];

		for (size_t i = 0; i < p->n_set; i++)
			residual -= entry(p, r, p->set[i]) * ret_z[i];
		for (size_t i = 0; i < p->n_set; i++)
			rhs[i] += entry(p, r, p->set[i]) * residual;
	}
	solve_factored(p, rhs, fix);
	for (size_t i = 0; i < p->n_set; i++)
		ret_z[i] += fix[i];
}

/* The column outside the set that lowers the residual fastest; cols: none does. */
static size_t steepest(const struct problem *p, const double *x)
{
	bool inside[MAX_COLS] = { false };
	double best = 0;
	size_t at = p->cols;

	for (size_t i = 0; i < p->n_set; i++)
		inside[p->set[i]] = true;
	for (size_t j = 0; j < p->cols; j++) {
		double gradient = p->atb[j];
		double size = fabs(p->atb[j]);

		if (inside[j] || p->blocked[j] || p->scale[j] == 0)
			continue;
		for (size_t i = 0; i < p->n_set; i++) {
			double part = p->gram[j][p->set[i]] * x[p->set[i]];

			gradient -= part;
			size += fabs(part);
		}
		if (gradient > 1e-13 * size && gradient > best) {
			best = gradient;
			at = j;
		}
	}
	return at;
}

/* Takes columns that fell to zero out of the set and builds the factor anew. */
static void shrink(struct problem *p, double *x)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n_set; i++) {
		if (x[p->set[i]] > 0)
			p->set[kept++] = p->set[i];
		else
			x[p->set[i]] = 0;
	}
	p->n_set = kept;
	for (size_t i = 0; i < kept; i++)
		factor_add(p, i);
	memset(p->blocked, 0, sizeof(p->blocked));
}

/*
 * Moves @x towards the set's own optimum, stopping at the first column that reaches zero, until
 * the optimum itself is allowed. Each stop takes a column out, so this ends.
 */
static void settle(struct problem *p, double *x, size_t newest)
{
	while (p->n_set > 0) {
		double z[MAX_COLS];
		double step = 1;
		size_t limit = p->n_set;

		solve_set(p, z);
		for (size_t i = 0; i < p->n_set; i++) {
			double from = x[p->set[i]];

			if (z[i] > 0)
				continue;
			/* A column that came in by its gradient and is not wanted: rounding. */
			if (p->set[i] == newest && from == 0) {
				p->blocked[newest] = true;
				p->n_set--;
				return;
			}
			if (from / (from - z[i]) < step || limit == p->n_set) {
				step = fmin(step, from / (from - z[i]));
				limit = i;
			}
		}
		for (size_t i = 0; i < p->n_set; i++)
			x[p->set[i]] += step * (z[i] - x[p->set[i]]);
		if (limit == p->n_set)
			return;
		x[p->set[limit]] = 0;
		shrink(p, x);
		newest = p->cols;
	}
}

int stats_nnls(const double *a, const double *b, size_t rows, size_t cols, double *ret_x,
	       double *ret_residual2)
{
	struct problem p = { .a = a, .b = b, .rows = rows, .cols = cols };
	double x[MAX_COLS] = { 0 };
	double residual2 = 0;
	size_t budget = 30 * cols;
	size_t add;

	if (rows == 0 || cols == 0 || cols > MAX_COLS)
		return -EINVAL;
	for (size_t i = 0; i < rows * cols; i++) {
		if (!isfinite(a[i]) || !isfinite(b[i / cols]))
			return -EINVAL;
	}
	prepare(&p);
	while ((add = steepest(&p, x)) < cols) {
		if (budget-- == 0)
			return -ELOOP;
		p.set[p.n_set] = add;
		if (!factor_add(&p, p.n_set)) {
			p.blocked[add] = true;
			continue;
		}
		p.n_set++;
		settle(&p, x, add);
	}
	for (size_t r = 0; r < rows; r++) {
		double residual = b[r];

		for (size_t j = 0; j < cols; j++)
			residual -= entry(&p, r, j) * x[j];
		residual2 += residual * residual;
	}
	for (size_t j = 0; j < cols; j++)
		ret_x[j] = x[j] * p.scale[j];
	if (ret_residual2)
		*ret_residual2 = residual2;
	return 0;
}
