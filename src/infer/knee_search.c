// SPDX-License-Identifier: MIT
/*
 * Which components a curve is made of: stepwise search by BIC. Each round tries to add a component
 * of every allowed kind where it helps most, to drop one, and to exchange one for another kind; the
 * best of these is taken until none lowers the BIC. Capacities are refined after every move.
 */
#include "infer/knee_model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "stats/stats.h"

enum { GRID_MAX = 64, SEGMENTS_MAX = KNEES_MAX + 1, ROUNDS_MAX = 16, TRIES = 3 };

struct shape {
	enum comp_kind kind;
	unsigned sharp;
};

static const struct shape shapes[] = {
	{ COMP_HINGE, 1 },     { COMP_HINGE, 2 },    { COMP_HINGE, 4 },    { COMP_HINGE, 8 },
	{ COMP_STEP, 1 },      { COMP_OVERFLOW, 2 }, { COMP_OVERFLOW, 4 }, { COMP_OVERFLOW, 8 },
	{ COMP_OVERFLOW, 16 }, { COMP_LOG, 1 },      { COMP_POWER, 1 },    { COMP_POWER, 2 },
};
enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static bool has_place(enum comp_kind kind)
{
	return kind == COMP_HINGE || kind == COMP_STEP || kind == COMP_OVERFLOW;
}

/*
 * Best place of a step within [low, high]: every gap between two points is one place, of which the
 * middle is taken. Two points at least stay on either side.
 */
static double refine_step(struct curve_data *d, struct model *m, size_t k, double low, double high)
{
	struct comp c = m->v[k];
	struct scan s;
	double best;

	scan_begin(d, m, k, &s);
	best = s.rss;
	for (size_t i = 1; i + 2 < d->n; i++) {
		double rss;

		c.c = sqrt(d->x[i] * d->x[i + 1]);
		if (d->x[i + 1] <= low || d->x[i] >= high)
			continue;
		rss = scan_rss(d, &s, &c);
		if (rss < best) {
			best = rss;
			m->v[k].c = c.c;
		}
	}
	return best;
}

double model_refine_one(struct curve_data *d, struct model *m, size_t k, double low, double high)
{
	static const double GOLDEN = 0.6180339887498949;
	struct comp c = m->v[k];
	struct scan s;
	double best, step, a, b, left, right, rss_left, rss_right;

	low = fmax(low, d->x[0]);
	high = fmin(high, d->x[d->n - 2]);
	if (!has_place(c.kind) || low >= high)
		return INFINITY;
	if (c.kind == COMP_STEP)
		return refine_step(d, m, k, low, high);
	scan_begin(d, m, k, &s);
	best = scan_rss(d, &s, &c);
	/* The sum of squares has a kink at every point: look around before closing in. */
	step = log(high / low) / 8;
	for (unsigned i = 0; i <= 8; i++) {
		struct comp try = c;
		double rss;

		try.c = low * exp(step * i);
		rss = scan_rss(d, &s, &try);
		if (rss < best) {
			best = rss;
			m->v[k].c = try.c;
		}
	}
	a = log(m->v[k].c) - step;
	b = log(m->v[k].c) + step;
	left = b - GOLDEN * (b - a);
	right = a + GOLDEN * (b - a);
	c.c = exp(left);
	rss_left = scan_rss(d, &s, &c);
	c.c = exp(right);
	rss_right = scan_rss(d, &s, &c);
	while (b - a > 0.002) {
		if (rss_left < rss_right) {
			b = right;
			right = left;
			rss_right = rss_left;
			left = b - GOLDEN * (b - a);
			c.c = exp(left);
			rss_left = scan_rss(d, &s, &c);
		} else {
			a = left;
			left = right;
			rss_left = rss_right;
			right = a + GOLDEN * (b - a);
			c.c = exp(right);
			rss_right = scan_rss(d, &s, &c);
		}
	}
	if (fmin(rss_left, rss_right) < best) {
		best = fmin(rss_left, rss_right);
		m->v[k].c = exp((a + b) / 2);
	}
	return best;
}

void model_refine(struct curve_data *d, struct model *m, unsigned sweeps)
{
	for (unsigned sweep = 0; sweep < sweeps; sweep++) {
		for (size_t k = 0; k < m->n; k++) {
			size_t i = curve_below(d, m->v[k].c);
			double low = d->x[i > 0 ? i - 1 : 0];
			double high = d->x[i + 2 < d->n ? i + 2 : d->n - 1];

			if (has_place(m->v[k].kind))
				model_refine_one(d, m, k, low, high);
		}
	}
}

/* Places @c within [low, high] where it lowers the sum of squares most; returns that sum. */
static double place(struct curve_data *d, const struct scan *s, struct comp *c, double low,
		    double high)
{
	double octaves = log2(high / low);
	size_t steps = (size_t)fmin(GRID_MAX, fmax(4, 4 * octaves));
	double best = INFINITY;
	double at = low;

	if (!has_place(c->kind))
		return scan_rss(d, s, c);
	for (size_t i = 0; i <= steps; i++) {
		double rss;

		c->c = low * exp2(octaves * (double)i / (double)steps);
		rss = scan_rss(d, s, c);
		if (rss < best) {
			best = rss;
			at = c->c;
		}
	}
	c->c = at;
	return best;
}

/* Refines and fits @try; keeps it in @best if its evidence is better. */
static void consider(struct curve_data *d, struct model *try, struct model *best)
{
	model_refine(d, try, 1);
	if (model_fit(d, try) == 0 && try->bic < best->bic - 1e-9)
		*best = *try;
}

/*
 * Tries the allowed shapes in place of component @at, near where that is (m->n: as a further one,
 * anywhere). The few that fit best go on to be refined.
 */
static void try_shapes(struct curve_data *d, unsigned allow, const struct model *m, size_t at,
		       struct model *best)
{
	double low = d->x[0];
	double high = d->x[d->n - 3];
	struct comp found[N_SHAPES];
	double rss[N_SHAPES];
	size_t overflows = 0;
	struct scan s;

	if (at >= COMPS_MAX)
		return;
	if (at < m->n && has_place(m->v[at].kind)) {
		low = fmax(low, m->v[at].c / 2);
		high = fmin(high, m->v[at].c * 3);
	}
	if (low >= high)
		return;
	scan_begin(d, m, at, &s);
	for (size_t k = 0; k < m->n; k++)
		overflows += k != at && m->v[k].kind == COMP_OVERFLOW;
	/* One structure of random page colours explains a slow rise; two could mimic any curve. */
	if (overflows > 0)
		allow &= ~(1U << COMP_OVERFLOW);
	for (size_t i = 0; i < N_SHAPES; i++) {
		bool same = at < m->n && m->v[at].kind == shapes[i].kind &&
			    m->v[at].sharp == shapes[i].sharp;

		found[i] = (struct comp){ .kind = shapes[i].kind, .sharp = shapes[i].sharp };
		rss[i] = !same && allow & (1U << shapes[i].kind)
				 ? place(d, &s, &found[i], low, high)
				 : INFINITY;
	}
	for (unsigned tries = 0; tries < TRIES; tries++) {
		struct model try = *m;
		size_t pick = 0;

		for (size_t i = 1; i < N_SHAPES; i++) {
			if (rss[i] < rss[pick])
				pick = i;
		}
		if (!(rss[pick] < s.rss))
			return;
		rss[pick] = INFINITY;
		try.v[at] = found[pick];
		if (at == m->n)
			try.n++;
		consider(d, &try, best);
	}
}

/* One round: a further component or one less; only if neither helps, another shape for one. */
static void improve(struct curve_data *d, unsigned allow, struct model *now)
{
	struct model best = *now;

	for (size_t k = 0; k < now->n; k++) {
		struct model try = *now;

		try.v[k] = try.v[--try.n];
		consider(d, &try, &best);
	}
	try_shapes(d, allow, now, now->n, &best);
	for (size_t k = 0; k < now->n && !(best.bic < now->bic); k++)
		try_shapes(d, allow, now, k, &best);
	*now = best;
}

void model_search(struct curve_data *d, unsigned allow, const struct model *start,
		  struct model *ret)
{
	struct model now = *start;

	model_refine(d, &now, 1);
	model_fit(d, &now);
	for (unsigned round = 0; round < ROUNDS_MAX; round++) {
		double before = now.bic;

		improve(d, allow, &now);
		if (!(now.bic < before))
			break;
	}
	model_refine(d, &now, 2);
	model_fit(d, &now);
	*ret = now;
}

int model_search_steps(struct curve_data *d, struct model *ret)
{
	struct model best = { .bic = INFINITY };
	struct model empty = { 0 };

	for (size_t pieces = 2; pieces <= SEGMENTS_MAX && d->n >= 2 * pieces; pieces++) {
		struct model try = { .n = pieces - 1 };
		size_t start[SEGMENTS_MAX];
		double level[SEGMENTS_MAX];
		double cost;
		int rc = stats_segments(d->log_y, d->n, pieces, 2, start, level, &cost);

		if (rc)
			return rc;
		for (size_t k = 1; k < pieces; k++)
			try.v[k - 1] =
				(struct comp){ .kind = COMP_STEP,
					       .sharp = 1,
					       .c = sqrt(d->x[start[k] - 1] * d->x[start[k]]) };
		consider(d, &try, &best);
	}
	model_search(d, ALLOW_STEP | ALLOW_SMOOTH, best.bic < INFINITY ? &best : &empty, ret);
	return 0;
}
