// SPDX-License-Identifier: MIT
/*
 * The search for the structure: axis after axis, each value of an axis tried with the others as
 * they are, until a sweep over all of them changes nothing. A value replaces the one that stands
 * only if it makes the loss of the fit smaller by 5 %; one that does as well within 5 % is named.
 * Leaves out: combinations of axes that only together are better.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "calibrate/parts.h"

enum { LIGHT_REFS = 40000, LIGHT_MIN = 12, SEARCH_POINTS = 64, SWEEPS_MAX = 3 };
static const double GAIN = 0.05;
static const double FLOOR = 1e-6; /* of the sum, a point: a relative error of 0.1 % */

struct searching {
	const struct problem *p;
	struct sim_machine *m; /* the best so far */
	double loss;
	size_t *which;
	size_t n;
	double *ns;
	struct row *rows;
	struct calibration *out;
	double until;
	size_t n_all; /* structures of one sweep */
	size_t done;  /* of this sweep */
};

static bool is_late(const struct searching *s)
{
	return s->p->o->now && s->p->o->now() > s->until;
}

static double slack(const struct searching *s)
{
	return FLOOR * (double)s->n;
}

/* The loss on @m; INFINITY: the points cannot be predicted on it. -ENOMEM. */
static int try_machine(struct searching *s, const struct sim_machine *m, double *ret)
{
	double costs[COLS] = { 0 };
	bool kept[COLS];
	struct err e = { 0 };
	int rc = rows_make(s->p, m, s->which, s->n, s->rows, &e);

	*ret = INFINITY;
	s->out->tried++;
	if (rc < 0)
		return rc == -ENOMEM ? rc : 0;
	for (unsigned c = 0; c < COLS; c++)
		kept[c] = !column_exists(m, c);
	rc = fit_costs(s->rows, s->ns, s->n, kept, costs, ret);
	if (rc == -ELOOP) {
		*ret = INFINITY;
		rc = 0;
	}
	return rc;
}

static void tell_progress(struct searching *s, const char *what)
{
	const struct calibrate_options *o = s->p->o;

	if (o->progress)
		o->progress(o->user, what, s->done, s->n_all, sqrt(s->loss / (double)s->n));
}

static void add_word(char *list, const char *word)
{
	const size_t n = strlen(list);

	snprintf(list + n, CALIBRATE_WORDS - n, "%s%s", n ? ", " : "", word);
}

static void tell_axis(struct searching *s, const struct axis *a, const double *loss,
		      struct calibrate_axis *to)
{
	const int64_t now = axis_get(a, s->m);
	char word[32];

	memcpy(to->path, a->path, sizeof(to->path));
	axis_word(a, a->values[0], to->prior);
	axis_word(a, now, to->value);
	to->changed = now != a->values[0];
	to->tried[0] = to->alike[0] = '\0';
	for (size_t i = 0; i < a->n; i++) {
		axis_word(a, a->values[i], word);
		if (isfinite(loss[i]))
			add_word(to->tried, word);
		if (a->values[i] != now && loss[i] <= s->loss * (1 + GAIN) + slack(s))
			add_word(to->alike, word);
	}
	to->determined = to->alike[0] == '\0';
}

/* Tries all values of an axis; takes the best if it is better. */
static int search_axis(struct searching *s, const struct axis *a, struct calibrate_axis *to,
		       bool *ret_changed)
{
	const int64_t now = axis_get(a, s->m);
	struct sim_machine *best = NULL;
	double loss[VALUES_MAX], best_loss = s->loss;
	int rc = 0;

	for (size_t i = 0; i < a->n && rc == 0; i++) {
		struct sim_machine *m;

		loss[i] = a->values[i] == now ? s->loss : INFINITY;
		if (a->values[i] == now || (is_late(s) && i > 0))
			continue;
		m = sim_machine_copy(s->m);
		if (!m)
			rc = -ENOMEM;
		else if (axis_set(a, a->values[i], m, s->p->o->source))
			rc = try_machine(s, m, &loss[i]);
		if (rc == 0 && loss[i] < best_loss) {
			best_loss = loss[i];
			sim_machine_free(best);
			best = m;
			m = NULL;
		}
		sim_machine_free(m);
		s->done++;
		tell_progress(s, a->path);
	}
	if (rc == 0 && best && best_loss < s->loss * (1 - GAIN) - slack(s)) {
		sim_machine_free(s->m);
		s->m = best;
		best = NULL;
		s->loss = best_loss;
		*ret_changed = true;
	}
	sim_machine_free(best);
	if (rc == 0)
		tell_axis(s, a, loss, to);
	return rc;
}

static int sweep(struct searching *s, const struct axis *axes, size_t n, bool *ret_changed)
{
	int rc = 0;

	s->done = 0;
	for (size_t i = 0; i < n && rc == 0; i++) {
		if (is_late(s)) {
			s->out->search_done = false;
			return 0;
		}
		rc = search_axis(s, &axes[i], &s->out->axes[i], ret_changed);
		s->out->n_axes = i + 1 > s->out->n_axes ? i + 1 : s->out->n_axes;
	}
	return rc;
}

/* Whether a point is for the search: what takes many references is not. */
static bool is_light(const struct problem *p, size_t i)
{
	return p->in_fit[i] && (!p->all || p->all[i] <= LIGHT_REFS);
}

/*
 * Of the points to fit, so many at random: each structure costs a simulation of each. Every k-th
 * would be the same place of each of several curves (D. E. Knuth, The Art of Computer Programming,
 * vol. 2, 3.4.2, algorithm S).
 */
static int choose_points(struct searching *s)
{
	size_t all = 0, seen = 0;
	bool any = false;
	struct rng rng;

	for (size_t i = 0; i < s->p->n; i++)
		all += is_light(s->p, i);
	if (all < LIGHT_MIN) {
		any = true;
		for (size_t i = all = 0; i < s->p->n; i++)
			all += s->p->in_fit[i];
	}
	s->which = calloc(SEARCH_POINTS, sizeof(*s->which));
	s->ns = calloc(SEARCH_POINTS, sizeof(*s->ns));
	s->rows = calloc(SEARCH_POINTS, sizeof(*s->rows));
	if (!s->which || !s->ns || !s->rows)
		return -ENOMEM;
	rng_seed(&rng, s->p->o->seed);
	for (size_t i = 0; i < s->p->n; i++) {
		if (any ? !s->p->in_fit[i] : !is_light(s->p, i))
			continue;
		if (all <= SEARCH_POINTS || rng_below(&rng, all - seen) < SEARCH_POINTS - s->n) {
			s->which[s->n] = i;
			s->ns[s->n++] = s->p->points[i].ns;
		}
		seen++;
	}
	return 0;
}

int search_structure(const struct problem *p, const struct calibrate_hints *h,
		     struct sim_machine **m, struct calibration *ret, struct err *e)
{
	struct axis axes[CALIBRATE_AXES_MAX];
	const size_t n = axes_make(*m, h, axes);
	struct problem quick = problem_quick(p);
	struct searching s = { .p = &quick, .m = *m, .out = ret };
	bool changed = true;
	int rc;

	ret->search_done = true;
	/* what the system itself says is where the search begins: axes are tried one by one */
	if (n > 0 && axes[0].with[0] && axis_get(&axes[0], s.m) == 0 &&
	    !axis_set(&axes[0], (int64_t)s.m->core.page_bytes, s.m, p->o->source))
		return err_set(e, ENOMEM, "out of memory");
	s.until = p->o->now ? p->o->now() + p->o->seconds : 0;
	for (size_t i = 0; i < n; i++)
		s.n_all += axes[i].n - 1;
	rc = choose_points(&s);
	if (rc == 0)
		rc = try_machine(&s, s.m, &s.loss);
	for (unsigned k = 0; k < SWEEPS_MAX && changed && rc == 0 && ret->search_done; k++) {
		changed = false;
		rc = sweep(&s, axes, n, &changed);
	}
	*m = s.m;
	free(s.which);
	free(s.ns);
	free(s.rows);
	return rc < 0 ? err_set(e, -rc, "out of memory") : 0;
}
