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
/*
 * A rise that is still under way where the curve ends (less than this share of it was seen) may be
 * the beginning of anything, unless it is this large already.
 */
static const double REACHED = 0.7;
static const double UNFINISHED_RISE = 2;
/* Evidence that a knee must have over the best explanation without it (in units of BIC). */
static const double MARGIN = 3;

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

/* Drops the weakest knee that is none; false: all are strong. */
static bool drop_weak(struct curve_data *d, struct model *m)
{
	double end = d->x[d->n - 1];
	double sigma = sqrt(m->rss / fmax(1, (double)d->n_used - model_params(m)));
	double least = INFINITY;
	size_t at = m->n;

	for (size_t k = 0; k < m->n; k++) {
		struct knee_group one = { .first = k, .last = k };
		double before, after, needed;

		if (!comp_is_knee(&m->v[k]))
			continue;
		group_levels(d, m, &one, &before, &after);
		needed = 1 + fmax(LEAST_RISE, LEAST_NOISE * sigma);
		if (comp_at(d, &m->v[k], end) < REACHED)
			needed = UNFINISHED_RISE;
		if (after / before / needed < least) {
			least = after / before / needed;
			at = k;
		}
	}
	if (at == m->n || least >= 1)
		return false;
	m->v[at] = m->v[--m->n];
	model_refine(d, m, 2);
	model_fit(d, m);
	return true;
}

/* The models in competition. */
struct contest {
	struct model flat, physical, step, best;
};

static void keep_better(struct curve_data *d, const struct model *start, struct model *best)
{
	struct model now;

	model_search(d, ALLOW_HINGE | ALLOW_STEP | ALLOW_SMOOTH, start, &now);
	if (now.bic < best->bic)
		*best = now;
}

static int compete(struct curve_data *d, struct contest *ret)
{
	const struct model empty = { 0 };
	struct model hinges;
	int rc;

	model_search(d, ALLOW_SMOOTH, &empty, &ret->flat);
	model_search(d, ALLOW_HINGE, &empty, &hinges);
	model_search(d, ALLOW_HINGE | ALLOW_SMOOTH, &hinges, &ret->physical);
	rc = model_search_steps(d, &ret->step);
	if (rc)
		return rc;
	/* Several ways up: stepwise search ends on the nearest top. */
	ret->best = ret->physical;
	keep_better(d, &ret->physical, &ret->best);
	keep_better(d, &ret->step, &ret->best);
	while (drop_weak(d, &ret->best))
		;
	if (!has_knee(&ret->best) || ret->best.bic > ret->flat.bic - MARGIN)
		ret->best = ret->flat;
	return 0;
}

static void fill_knee(struct curve_data *d, const struct model *m, const struct knee_group *g,
		      struct knee *ret)
{
	double low, high;

	group_levels(d, m, g, &ret->before, &ret->after);
	ret->is_step = group_is_step(m, g);
	ret->capacity = group_locate(d, m, g, &low, &high);
	ret->low = low;
	ret->high = high;
	if (g->first == g->last) {
		interval_profile(d, m, g->first, &ret->low, &ret->high);
		ret->low = fmin(ret->low, low);
		ret->high = fmax(ret->high, high);
	}
}

static int fill(const struct knee_curve *c, struct curve_data *d, const struct model *m,
		struct knees *ret)
{
	struct knee_group groups[KNEES_MAX];
	int rc;

	ret->base = m->t0;
	ret->n = groups_find(d, m, groups, KNEES_MAX);
	for (size_t i = 0; i < ret->n; i++)
		fill_knee(d, m, &groups[i], &ret->v[i]);
	if (ret->n > 0 && c->reps && c->n_reps > 1) {
		rc = interval_replicates(c, m, groups, ret);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < ret->n; i++)
		ret->v[i].nominal = knee_nominal(ret->v[i].capacity, ret->v[i].low, ret->v[i].high);
	return 0;
}

int knees_find(const struct knee_curve *c, struct knees *ret, struct err *e)
{
	struct contest m;
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
	rc = curve_data_init(&d, c->x, c->n);
	if (rc == 0)
		rc = curve_data_set_y(&d, c->y);
	if (rc)
		goto out;
	rc = compete(&d, &m);
	if (rc)
		goto out;
	found.bic_physical = m.physical.bic;
	found.bic_step = m.step.bic;
	found.bic_flat = m.flat.bic;
	found.is_step = m.step.bic < m.physical.bic;
	rc = fill(c, &d, &m.best, &found);
	if (rc == 0)
		*ret = found;
out:
	curve_data_done(&d);
	return rc ? err_set(e, -rc, "curve of %zu points: out of memory", c->n) : 0;
}
