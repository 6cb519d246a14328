// SPDX-License-Identifier: MIT
/* The whole of a calibration: what is fitted, the search, the costs, the errors, the machine. */
#include "calibrate/calibrate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "calibrate/parts.h"

enum { POINTS_MIN = 3 };

void calibration_done(struct calibration *c)
{
	sim_machine_free(c->machine);
	arena_done(&c->arena);
	memset(c, 0, sizeof(*c));
}

/* --- errors --- */

static void note(struct calibrate_error *to, const struct calibrate_point *p, double predicted)
{
	const double off = fabs(predicted / p->ns - 1);
	const uint64_t at = p->setting.inner_value;

	to->mean = (to->mean * (double)to->n + off) / (double)(to->n + 1);
	to->worst = fmax(to->worst, off);
	to->from = to->n && to->from < at ? to->from : at;
	to->to = to->to > at ? to->to : at;
	to->n++;
}

static void note_errors(const struct problem *p, const struct calibrate_curve *curves,
			struct calibration *ret)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct calibrate_point *at = &p->points[i];
		const double ns = ret->predicted[i];

		if (p->beyond[i]) {
			note(&ret->beyond[at->curve], at, ns);
			note(&ret->past, at, ns);
		} else {
			note(&ret->inside[at->curve], at, ns);
			note(curves[at->curve].held_out ? &ret->out : &ret->in, at, ns);
		}
	}
}

/* --- the machine --- */

int calibrate_add_source(struct sim_machine *m, const char *key, const char *text)
{
	struct sim_source *s;

	for (size_t i = 0; i < m->n_sources; i++) {
		if (strcmp(m->sources[i].key, key) == 0) {
			m->sources[i].text = arena_strdup(&m->arena, text);
			return m->sources[i].text ? 0 : -ENOMEM;
		}
	}
	if (arena_grow(&m->arena, &m->sources, m->n_sources, &m->cap_sources, sizeof(*s)) < 0)
		return -ENOMEM;
	s = &m->sources[m->n_sources];
	*s = (struct sim_source){ arena_strdup(&m->arena, key), arena_strdup(&m->arena, text) };
	if (!s->key || !s->text)
		return -ENOMEM;
	m->n_sources++;
	return 0;
}

static double prior_of(const struct sim_machine *prior, unsigned col)
{
	return column_exists(prior, col) ? column_get(prior, col) : 0;
}

/* Four digits: more would say that we know more. */
static double rounded(double v)
{
	char text[UNITS_TEXT_BYTES];
	double four = v;

	(void)parse_real(format_digits(text, v, 4), &four, NULL);
	return four;
}

static int set_costs(struct calibration *ret, const struct sim_machine *prior,
		     const struct calibrate_options *o, double *costs)
{
	size_t k = 0;

	for (unsigned c = 0; c < COLS; c++) {
		if (!column_exists(ret->machine, c)) {
			costs[c] = prior_of(prior, c);
			continue;
		}
		if (ret->costs[k].fate == CALIBRATE_FITTED) {
			costs[c] = ret->costs[k].value = rounded(costs[c]);
			/* the reader of machine files accepts no memory faster than this */
			if (c == COL_LOCAL || c == COL_REMOTE)
				costs[c] = ret->costs[k].value = fmax(costs[c], 1);
			column_set(ret->machine, c, costs[c]);
			if (sim_machine_set_source(ret->machine, ret->costs[k].path, o->source) < 0)
				return -ENOMEM;
		}
		k++;
	}
	return 0;
}

/* --- the steps --- */

static int begin(struct problem *p, const struct sim_machine *prior, size_t n_curves,
		 struct calibration *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->llc_bytes = prior->caches[prior->n_caches - 1].size_bytes;
	ret->inside = arena_alloc(&ret->arena, (n_curves + 1) * sizeof(*ret->inside));
	ret->beyond = arena_alloc(&ret->arena, (n_curves + 1) * sizeof(*ret->beyond));
	ret->predicted = arena_alloc(&ret->arena, (p->n + 1) * sizeof(*ret->predicted));
	ret->is_beyond = arena_alloc(&ret->arena, (p->n + 1) * sizeof(*ret->is_beyond));
	p->in_fit = arena_alloc(&ret->arena, (p->n + 1) * sizeof(*p->in_fit));
	ret->machine = sim_machine_copy(prior);
	if (!ret->inside || !ret->beyond || !ret->predicted || !ret->is_beyond || !p->in_fit ||
	    !ret->machine)
		return -ENOMEM;
	p->beyond = ret->is_beyond;
	for (size_t i = 0; i < p->n; i++)
		p->beyond[i] = p->points[i].table_bytes > ret->llc_bytes;
	return 0;
}

static int choose(struct problem *p, const struct calibrate_curve *curves, struct err *e)
{
	size_t n = 0, held = 0, past = 0;

	for (size_t i = 0; i < p->n; i++) {
		p->in_fit[i] = !p->beyond[i] && !curves[p->points[i].curve].held_out;
		n += p->in_fit[i];
		past += p->beyond[i];
		held += !p->beyond[i] && !p->in_fit[i];
	}
	if (n >= POINTS_MIN)
		return 0;
	return err_set(e, EINVAL,
		       "%zu points are left to fit, at least %d are needed (%zu are held out, of "
		       "%zu the page tables outgrow the last-level cache)",
		       n, POINTS_MIN, held, past);
}

/* The errors of the prior, on the points that are fitted and on those held out. */
static int note_prior(struct problem *p, const struct calibrate_curve *curves,
		      const struct sim_machine *prior, const struct row *rows,
		      struct calibration *ret)
{
	uint64_t *refs = arena_alloc(&ret->arena, (p->n + 1) * sizeof(*refs));
	double costs[COLS];

	if (!refs)
		return -ENOMEM;
	for (unsigned c = 0; c < COLS; c++)
		costs[c] = prior_of(prior, c);
	for (size_t i = 0; i < p->n; i++) {
		refs[i] = rows[i].refs;
		if (!p->beyond[i])
			note(curves[p->points[i].curve].held_out ? &ret->prior_out : &ret->prior_in,
			     &p->points[i], row_ns(&rows[i], costs));
	}
	p->all = refs;
	return 0;
}

/* Fits the costs on the structure of ret->machine, whose rows are @rows. */
static int finish(const struct problem *p, const struct calibrate_curve *curves,
		  const struct sim_machine *prior, const struct row *rows, struct calibration *ret)
{
	struct row *fit = calloc(p->n, sizeof(*fit));
	double *ns = calloc(p->n, sizeof(*ns));
	double costs[COLS] = { 0 };
	size_t n = 0;
	int rc = fit && ns ? 0 : -ENOMEM;

	for (size_t i = 0; i < p->n && rc == 0; i++) {
		if (!p->in_fit[i])
			continue;
		fit[n] = rows[i];
		ns[n++] = p->points[i].ns;
	}
	if (rc == 0)
		rc = fit_identify(fit, ns, n, ret->machine, costs, ret);
	if (rc == 0)
		rc = set_costs(ret, prior, p->o, costs);
	for (size_t i = 0; i < p->n && rc == 0; i++)
		ret->predicted[i] = row_ns(&rows[i], costs);
	if (rc == 0)
		note_errors(p, curves, ret);
	free(fit);
	free(ns);
	return rc;
}

int calibrate(const struct sim_machine *prior, const struct calibrate_point *points, size_t n,
	      const struct calibrate_curve *curves, size_t n_curves,
	      const struct calibrate_hints *hints, const struct calibrate_options *o,
	      struct calibration *ret, struct err *e)
{
	struct problem p = { .points = points, .n = n, .o = o, .refs = o->refs };
	struct problem quick = problem_quick(&p);
	struct row *rows = calloc(n + 1, sizeof(*rows));
	int rc = begin(&p, prior, n_curves, ret);

	if (!rows || rc < 0)
		rc = err_set(e, ENOMEM, "out of memory");
	if (rc == 0)
		rc = choose(&p, curves, e);
	if (rc == 0)
		rc = rows_make(&quick, prior, NULL, n, rows, e);
	if (rc == 0)
		rc = note_prior(&p, curves, prior, rows, ret);
	if (rc == 0 && o->seconds > 0)
		rc = search_structure(&p, hints, &ret->machine, ret, e);
	if (rc == 0)
		rc = rows_make(&p, ret->machine, NULL, n, rows, e);
	if (rc == 0) {
		rc = finish(&p, curves, prior, rows, ret);
		if (rc < 0)
			err_set(e, -rc,
				rc == -ELOOP ? "the least squares do not converge"
					     : "out of memory");
	}
	free(rows);
	if (rc < 0)
		calibration_done(ret);
	return rc;
}
