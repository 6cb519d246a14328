/* SPDX-License-Identifier: MIT */
/*
 * What the scheduler knows of a setting: time, exactness, knees. The statistics are infer's
 * (estimate_point, knees_find, knees_refine).
 */
#include "run/schedule.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/infer.h"
#include "infer/knee.h"
#include "stats/stats.h"

void slot_done(struct slot *s)
{
	free(s->measures);
	s->measures = NULL;
	s->n_measures = s->cap = 0;
}

int slot_add(struct slot *s, size_t first, size_t end, double seconds, bool any_ok)
{
	if (s->n_measures + (end - first) > s->cap) {
		size_t cap = 2 * (s->n_measures + (end - first));
		size_t *more = realloc(s->measures, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->measures = more;
		s->cap = cap;
	}
	for (size_t i = first; i < end; i++)
		s->measures[s->n_measures++] = i;
	s->n++;
	s->bad_streak = any_ok ? 0 : s->bad_streak + 1;
	if (seconds >= s->seconds) {
		s->seconds = seconds;
		s->points_timed = s->p->grid.n;
	}
	return 0;
}

double slot_seconds(const struct slot *s, const struct plan *plan)
{
	double more;

	if (s->n == 0)
		return plan_invocation_seconds(plan, s->p);
	more = s->p->grid.n > s->points_timed ? (double)(s->p->grid.n - s->points_timed) : 0;
	return s->seconds + more * 2 * plan->preset->point_seconds;
}

unsigned slot_min(const struct slot *s, const struct plan *plan)
{
	unsigned max = s->p->max_invocations;

	return max < plan->min_invocations ? max : plan->min_invocations;
}

/* --- points of one slot --- */

struct sighting { /* one measure at one inner value */
	uint64_t x;
	const struct measure *m;
};

struct slot_points {
	struct sighting *seen; /* sorted by x */
	const struct measure **measures;
	struct point *v; /* ascending by x */
	uint64_t *x;
	size_t n;
};

static int compare_sightings(const void *a, const void *b)
{
	const struct sighting *p = a, *q = b;

	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	return p->m < q->m ? -1 : p->m > q->m;
}

static void points_done(struct slot_points *p)
{
	free(p->seen);
	free(p->measures);
	free(p->v);
	free(p->x);
}

static size_t collect_sightings(const struct slot *s, const struct run *r, struct sighting *seen)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_measures; i++) {
		const struct measure *m = &r->measures[s->measures[i]];
		int64_t x = 0;

		if (s->p->inner) {
			x = attrs_int(&m->setting, s->p->inner, -1);
			if (x < 0)
				continue; /* says how an invocation ended */
		}
		seen[n++] = (struct sighting){ (uint64_t)x, m };
	}
	qsort(seen, n, sizeof(*seen), compare_sightings);
	return n;
}

static int points_make(const struct slot *s, const struct run *r, struct slot_points *ret)
{
	size_t room = s->n_measures + 1, n;
	struct slot_points p = {
		.seen = calloc(room, sizeof(*p.seen)),
		.measures = calloc(room, sizeof(*p.measures)),
		.v = calloc(room, sizeof(*p.v)),
		.x = calloc(room, sizeof(*p.x)),
	};

	if (!p.seen || !p.measures || !p.v || !p.x) {
		points_done(&p);
		return -ENOMEM;
	}
	n = collect_sightings(s, r, p.seen);
	for (size_t i = 0; i < n; i++) {
		struct point *at;

		if (i == 0 || p.seen[i].x != p.seen[i - 1].x) {
			p.x[p.n] = p.seen[i].x;
			p.v[p.n++] = (struct point){ .bench = p.seen[i].m->bench,
						     .setting = &p.seen[i].m->setting,
						     .measures = &p.measures[i] };
		}
		at = &p.v[p.n - 1];
		at->measures[at->n_measures++] = p.seen[i].m;
	}
	*ret = p;
	return 0;
}

/* --- exactness --- */

double slot_width(const struct slot *s, const struct run *r)
{
	const char *metric = s->p->bench->schema.metrics[0].name;
	struct slot_points p = { 0 };
	double *width, median;
	size_t n = 0;

	if (points_make(s, r, &p) < 0)
		return INFINITY;
	width = calloc(p.n + 1, sizeof(*width));
	for (size_t i = 0; width && i < p.n; i++) {
		struct estimate est;

		estimate_point(r, &p.v[i], metric, &est);
		if (est.n_invocations == 0)
			continue;        /* never ok: more invocations will not help */
		if (est.low == est.high) /* counts may be 0 */
			width[n++] = 0;
		else if (isfinite(est.low) && isfinite(est.high) && est.value != 0)
			width[n++] = (est.high - est.low) / 2 / fabs(est.value);
		else
			width[n++] = INFINITY;
	}
	median = n ? stats_median(width, n) : INFINITY;
	free(width);
	points_done(&p);
	/* Halfway between a number and infinity may be no number. */
	return isnan(median) ? INFINITY : median;
}

/* --- refinement --- */

struct curve_data {
	double *x, *y, *reps;
	size_t n, n_reps;
};

static void curve_done(struct curve_data *c)
{
	free(c->x);
	free(c->y);
	free(c->reps);
}

static double replicate(const struct slot *s, const struct measure *m)
{
	const struct metric *metric = &s->p->bench->schema.metrics[0];
	const struct series *series = measure_series(m, metric->name);

	if (m->verdict != VERDICT_OK || !series || series->form != FORM_SAMPLES || !series->n)
		return NAN;
	return metric->estimator == EST_MIN ? stats_min(series->values, series->n)
					    : stats_median(series->values, series->n);
}

static int curve_make(const struct slot *s, const struct run *r, const struct slot_points *p,
		      struct curve_data *ret)
{
	const struct metric *metric = &s->p->bench->schema.metrics[0];
	struct curve_data c = {
		.x = calloc(p->n + 1, sizeof(double)),
		.y = calloc(p->n + 1, sizeof(double)),
		.reps = calloc((p->n + 1) * s->n, sizeof(double)),
		.n_reps = s->n,
	};
	size_t *from = calloc(p->n + 1, sizeof(*from));

	if (!c.x || !c.y || !c.reps || !from) {
		curve_done(&c);
		free(from);
		return -ENOMEM;
	}
	for (size_t i = 0; i < p->n; i++) {
		struct estimate est;

		estimate_point(r, &p->v[i], metric->name, &est);
		if (!(est.value > 0) || !isfinite(est.value) || p->x[i] == 0)
			continue;
		c.x[c.n] = (double)p->x[i];
		c.y[c.n] = metric->estimator == EST_MIN ? est.min : est.value;
		from[c.n++] = i;
	}
	for (size_t k = 0; k < c.n * c.n_reps; k++)
		c.reps[k] = NAN;
	for (size_t i = 0; i < c.n; i++) {
		const struct point *at = &p->v[from[i]];

		for (size_t k = 0; k < at->n_measures; k++)
			if (at->measures[k]->invocation < c.n_reps)
				c.reps[at->measures[k]->invocation * c.n + i] =
					replicate(s, at->measures[k]);
	}
	free(from);
	*ret = c;
	return 0;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Only values inside the grid: the cost of the setting was computed for its largest. */
static int add_to_grid(struct u64_array *g, const uint64_t *x, size_t n)
{
	uint64_t low = g->v[0], high = g->v[g->n - 1];
	int added = 0;

	for (size_t i = 0; i < n; i++) {
		if (x[i] <= low || x[i] >= high ||
		    bsearch(&x[i], g->v, g->n, sizeof(x[i]), compare_u64))
			continue;
		if (u64_array_add(g, x[i]) < 0)
			return -ENOMEM;
		qsort(g->v, g->n, sizeof(*g->v), compare_u64);
		added++;
	}
	return added;
}

int slot_refine(struct slot *s, const struct run *r, size_t max)
{
	struct slot_points p = { 0 };
	struct curve_data c = { 0 };
	struct knees knees = { 0 };
	uint64_t x[64];
	int added = 0;

	if (!s->p->inner || !s->p->grid_auto || s->n == 0 || s->p->grid.n < 2)
		return 0;
	/* What two CPUs differ by has no knees: it rises with the caches and falls behind them. */
	if (schema_role(&s->p->bench->schema, ROLE_FROM))
		return 0;
	if (max > sizeof(x) / sizeof(x[0]))
		max = sizeof(x) / sizeof(x[0]);
	if (points_make(s, r, &p) < 0)
		return -ENOMEM;
	if (curve_make(s, r, &p, &c) < 0) {
		points_done(&p);
		return -ENOMEM;
	}
	struct knee_curve curve = {
		.x = c.x,
		.y = c.y,
		.n = c.n,
		.reps = c.reps,
		.n_reps = c.n_reps,
		.rep_quantile = s->p->bench->schema.metrics[0].estimator == EST_MIN ? 0 : 0.5,
	};

	if (c.n >= 6 && knees_find(&curve, &knees, NULL) == 0)
		added = add_to_grid(&s->p->grid, x, knees_refine(&curve, &knees, x, max));
	curve_done(&c);
	points_done(&p);
	return added;
}
