// SPDX-License-Identifier: MIT
/*
 * Which curves are held out. A curve may be, if whatever makes its time (as the prior predicts it)
 * makes time of another curve too, that stays: what no fitted point exercises cannot be predicted,
 * which is another question than how well the fit does. The measured times play no part.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/parts.h"

enum { PARTS_MAX = 256 };
static const double MATTERS = 0.05; /* share of the time of a curve's point */
static const double COVERED = 0.5;  /* of that share, in another curve */

struct shares {
	char names[PARTS_MAX][48];
	size_t n;
	double *of; /* owned: curves x PARTS_MAX, the largest share in any point of the curve */
};

static size_t part_index(struct shares *s, const char *name)
{
	size_t i = 0;

	while (i < s->n && strcmp(s->names[i], name) != 0)
		i++;
	if (i == s->n && s->n < PARTS_MAX)
		memcpy(s->names[s->n++], name, sizeof(s->names[0]));
	return i;
}

static int find_shares(const struct problem *p, const struct sim_machine *prior, struct shares *s,
		       const bool *beyond, struct err *e)
{
	struct predict_result *r = malloc(sizeof(*r));
	int rc = r ? 0 : err_set(e, ENOMEM, "out of memory");

	for (size_t i = 0; i < p->n && rc == 0; i++) {
		double *row = &s->of[p->points[i].curve * PARTS_MAX];

		if (beyond[i])
			continue;
		rc = point_simulate(p, i, prior, r, e);
		for (size_t k = 0; rc == 0 && k < r->metrics[0].parts.n; k++) {
			const struct sim_part *part = &r->metrics[0].parts.v[k];
			const size_t at = part_index(s, part->name);
			const double share = part->ns / r->metrics[0].value;

			if (at < PARTS_MAX && share > row[at])
				row[at] = share;
		}
	}
	free(r);
	return rc;
}

static bool may_go(const struct shares *s, const struct calibrate_curve *curves, size_t n,
		   size_t which)
{
	const double *own = &s->of[which * PARTS_MAX];

	for (size_t k = 0; k < s->n; k++) {
		bool covered = own[k] < MATTERS;

		for (size_t i = 0; i < n; i++)
			covered = covered || (i != which && !curves[i].held_out &&
					      s->of[i * PARTS_MAX + k] >= COVERED * own[k]);
		if (!covered)
			return false;
	}
	return true;
}

int calibrate_hold_out(const struct sim_machine *prior, const struct calibrate_point *points,
		       size_t n, struct calibrate_curve *curves, size_t n_curves,
		       const struct calibrate_options *o, struct err *e)
{
	const uint64_t llc = prior->caches[prior->n_caches - 1].size_bytes;
	const struct problem all = { .points = points, .n = n, .o = o, .refs = o->refs };
	const struct problem p = problem_quick(&all);
	struct shares *s = calloc(1, sizeof(*s));
	bool *beyond = calloc(n + 1, sizeof(*beyond));
	size_t held = 0;
	int rc = 0;

	if (s)
		s->of = calloc((n_curves + 1) * PARTS_MAX, sizeof(*s->of));
	if (!s || !s->of || !beyond)
		rc = err_set(e, ENOMEM, "out of memory");
	for (size_t i = 0; i < n && rc == 0; i++)
		beyond[i] = points[i].table_bytes > llc;
	if (rc == 0)
		rc = find_shares(&p, prior, s, beyond, e);
	/* from the second on: the first is what was thought of first, mostly the plain one */
	for (size_t k = 1; k <= n_curves && rc == 0; k++) {
		const size_t i = k % n_curves;

		curves[i].held_out =
			3 * (held + 1) <= n_curves + 1 && may_go(s, curves, n_curves, i);
		held += curves[i].held_out;
	}
	if (s)
		free(s->of);
	free(s);
	free(beyond);
	return rc;
}
