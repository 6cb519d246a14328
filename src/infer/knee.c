// SPDX-License-Identifier: MIT
/*
 * Knees of a cost curve: searches the best model of hinges, the best of steps and the best without
 * any knee, lets them compete on evidence, and turns the components of the winner into capacities.
 * Leaves out: what the capacities belong to (facts_*.c), and curves that fall with x.
 * Sources: see knee_model.c, knee_search.c and knee_interval.c.
 */
#include "infer/knee.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "infer/knee_model.h"

enum { LEAST_POINTS = 6 };

/* A knee raises the cost by at least this share, and by this many times the noise. */
static const double LEAST_RISE = 0.15;
static const double LEAST_NOISE = 3;
/* Evidence that a knee must have over the best explanation without it (in units of BIC). */
static const double MARGIN = 6;

static int check(const struct knee_curve *c, struct err *e)
{
	for (size_t i = 0; i < c->n; i++) {
		if (!(c->x[i] > 0) || !isfinite(c->x[i]) || (i > 0 && c->x[i] <= c->x[i - 1]))
			return err_set(e, EINVAL,
				       "curve: x must be positive and ascending, point %zu is not",
				       i);
		if (!(c->y[i] > 0) || !isfinite(c->y[i]))
			return err_set(e, EINVAL,
				       "curve: y must be positive and finite, point %zu is not", i);
	}
	return 0;
}

static bool has_knee(const struct model *m)
{
	for (size_t k = 0; k < m->n; k++) {
		if (comp_is_knee(&m->v[k]) && m->v[k].p > 0)
			return true;
	}
	return false;
}

/* Index of the knee component with the next larger capacity than @c; m->n: none. */
static size_t next_knee(const struct model *m, double c)
{
	size_t at = m->n;

	for (size_t k = 0; k < m->n; k++) {
		if (comp_is_knee(&m->v[k]) && m->v[k].p > 0 && m->v[k].c > c &&
		    (at == m->n || m->v[k].c < m->v[at].c))
			at = k;
	}
	return at;
}

/* Cost just before a knee, and what was reached behind it before the next one (or the end). */
static void levels(const struct curve_data *d, const struct model *m, size_t at, double *ret_before,
		   double *ret_after)
{
	const struct comp *c = &m->v[at];
	size_t next = next_knee(m, c->c);
	double end = next < m->n ? m->v[next].c : d->x[d->n - 1];

	*ret_before = model_at(d, m, c->c * (1 - 1e-9));
	*ret_after = *ret_before + c->p * comp_at(d, c, end);
}

/* Drops the weakest knee that raises the cost too little to be one; false: all are strong. */
static bool drop_weak(struct curve_data *d, struct model *m)
{
	double least = INFINITY;
	size_t at = m->n;

	for (size_t k = 0; k < m->n; k++) {
		double before, after;

		if (!comp_is_knee(&m->v[k]))
			continue;
		levels(d, m, k, &before, &after);
		if (after / before < least) {
			least = after / before;
			at = k;
		}
	}
	if (at == m->n || least >= 1 + fmax(LEAST_RISE, LEAST_NOISE * d->sigma))
		return false;
	m->v[at] = m->v[--m->n];
	model_refine(d, m, 2);
	model_fit(d, m);
	return true;
}

static void choose(struct curve_data *d, const struct model *physical, const struct model *step,
		   const struct model *flat, struct model *ret)
{
	const struct model *start = physical->bic <= step->bic ? physical : step;

	model_search(d, ALLOW_HINGE | ALLOW_STEP | ALLOW_SMOOTH, start, ret);
	while (drop_weak(d, ret))
		;
	if (!has_knee(ret) || ret->bic > flat->bic - MARGIN)
		*ret = *flat;
}

/*
 * The gap between two points in which the capacity lies bounds what can be known of it. Whole
 * numbers: the largest that may still fit is one below the first that does not.
 */
static void grid_cell(const struct curve_data *d, double c, double *ret_low, double *ret_high)
{
	size_t i = curve_below(d, c);
	double next = d->x[i + 1 < d->n ? i + 1 : i];

	*ret_low = d->x[i];
	*ret_high = next - d->x[i] > 1 ? next - 1 : next;
}

static void fill_knee(struct curve_data *d, const struct model *m, size_t at, struct knee *ret)
{
	const struct comp *c = &m->v[at];
	double low, high;

	levels(d, m, at, &ret->before, &ret->after);
	grid_cell(d, c->c, &low, &high);
	ret->is_step = c->kind == COMP_STEP;
	ret->capacity = ret->is_step ? sqrt(low * high) : c->c;
	interval_profile(d, m, at, &ret->low, &ret->high);
	ret->low = fmin(ret->low, low);
	ret->high = fmax(ret->high, high);
}

static int fill(const struct knee_curve *c, struct curve_data *d, const struct model *m,
		struct knees *ret)
{
	size_t at[KNEES_MAX];
	double last = 0;
	int rc;

	ret->base = m->t0;
	while (ret->n < KNEES_MAX) {
		size_t k = next_knee(m, last);

		if (k == m->n)
			break;
		last = m->v[k].c;
		at[ret->n] = k;
		fill_knee(d, m, k, &ret->v[ret->n++]);
	}
	if (ret->n > 0 && c->reps && c->n_reps > 1) {
		rc = interval_replicates(c, d, m, at, ret);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < ret->n; i++)
		ret->v[i].nominal = knee_nominal(ret->v[i].capacity, ret->v[i].low, ret->v[i].high);
	return 0;
}

int knees_find(const struct knee_curve *c, struct knees *ret, struct err *e)
{
	struct model empty = { 0 };
	struct model flat, hinges, physical, step, best;
	struct knees found = { 0 };
	struct curve_data d;
	int rc = check(c, e);

	if (rc)
		return rc;
	found.bic_physical = found.bic_step = found.bic_flat = NAN;
	if (c->n < LEAST_POINTS) {
		*ret = found;
		return 0;
	}
	rc = curve_data_init(&d, c->x, c->y, c->n);
	if (rc)
		goto out;
	model_search(&d, ALLOW_SMOOTH, &empty, &flat);
	model_search(&d, ALLOW_HINGE, &empty, &hinges);
	model_search(&d, ALLOW_HINGE | ALLOW_SMOOTH, &hinges, &physical);
	rc = model_search_steps(&d, &step);
	if (rc)
		goto out;
	choose(&d, &physical, &step, &flat, &best);
	found.bic_physical = physical.bic;
	found.bic_step = step.bic;
	found.bic_flat = flat.bic;
	found.is_step = step.bic < physical.bic;
	rc = fill(c, &d, &best, &found);
	if (rc == 0)
		*ret = found;
out:
	curve_data_done(&d);
	return rc ? err_set(e, -rc, "curve of %zu points: out of memory", c->n) : 0;
}
