// SPDX-License-Identifier: MIT
/*
 * From components to knees: components with no plateau between them are one knee, and where it
 * lies. Real structures do not end as sharply as the step model has it (a few pages of the program
 * itself, sets filled unevenly), so that one end can take two components.
 */
#include "infer/knee_model.h"

#include <math.h>

/*
 * Components nearer than SAME_KNEE with fewer points between than make a plateau are one knee; so
 * are any nearer than NO_LEVEL, since no two structures lie so close.
 */
static const double SAME_KNEE = 1.5;
static const double NO_LEVEL = 1.12;
enum { PLATEAU_POINTS = 3 };
/* Share of the rise below which a set still fits. */
static const double FOOT = 0.15;

/* The knee component with the next larger capacity than @c; m->n: none. */
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

static bool is_one_knee(const struct curve_data *d, double c, double next)
{
	size_t points = 0;

	for (size_t i = curve_below(d, c) + 1; i < d->n && d->x[i] <= next; i++)
		points += d->weight[i] > 0;
	return next < NO_LEVEL * c || (next < SAME_KNEE * c && points < PLATEAU_POINTS);
}

void group_levels(const struct curve_data *d, const struct model *m, const struct knee_group *g,
		  double *ret_before, double *ret_after)
{
	double from = m->v[g->first].c;
	double to = m->v[g->last].c;
	size_t next = next_knee(m, to);
	double end = next < m->n ? m->v[next].c : d->x[d->n - 1];

	*ret_before = model_at(d, m, from * (1 - 1e-9));
	*ret_after = *ret_before;
	for (size_t k = 0; k < m->n; k++) {
		if (comp_is_knee(&m->v[k]) && m->v[k].c >= from && m->v[k].c <= to)
			*ret_after += m->v[k].p * comp_at(d, &m->v[k], end);
	}
}

bool group_is_step(const struct model *m, const struct knee_group *g)
{
	return g->first != g->last || m->v[g->first].kind == COMP_STEP;
}

/* The nearest undisturbed point at or before @i, and behind it (the last one: none is left). */
static size_t sound_before(const struct curve_data *d, size_t i)
{
	while (i > 0 && d->weight[i] == 0)
		i--;
	return i;
}

static size_t sound_after(const struct curve_data *d, size_t i)
{
	do
		i++;
	while (i + 1 < d->n && d->weight[i] == 0);
	return i < d->n ? i : d->n - 1;
}

/* Last point at which the monotone curve has not yet taken its share of the rise. */
static size_t foot(const struct curve_data *d, const struct model *m, const struct knee_group *g)
{
	size_t i = sound_before(d, curve_below(d, m->v[g->last].c));
	double before, after, limit;

	group_levels(d, m, g, &before, &after);
	limit = before +
		fmax(FOOT * (after - before), fmin(3 * d->sigma * before, (after - before) / 2));
	while (i > 0 && d->iso[i] > limit && d->x[i] * SAME_KNEE > m->v[g->first].c)
		i = sound_before(d, i - 1);
	for (size_t next = sound_after(d, i);
	     next + 1 < d->n && d->iso[next] <= limit && d->x[next] < SAME_KNEE * m->v[g->last].c;
	     next = sound_after(d, i))
		i = next;
	return i;
}

/*
 * The gap between two points in which the capacity lies bounds what can be known of it. Whole
 * numbers: the largest that may still fit is one below the first that does not.
 */
double group_locate(const struct curve_data *d, const struct model *m, const struct knee_group *g,
		    double *ret_low, double *ret_high)
{
	bool step = group_is_step(m, g);
	size_t i = step ? foot(d, m, g) : sound_before(d, curve_below(d, m->v[g->first].c));
	double next = d->x[sound_after(d, i)];

	*ret_low = d->x[i];
	*ret_high = next - d->x[i] >= 1 ? next - 1 : next;
	return step ? sqrt(*ret_low * *ret_high) : m->v[g->first].c;
}

/* A foot found far below its component can turn out to be the same end as that of the knee below.
 */
static size_t merge_located(const struct curve_data *d, const struct model *m,
			    struct knee_group *groups, size_t n)
{
	size_t kept = 0;

	for (size_t i = 1; i < n; i++) {
		double low, high;
		double below = group_locate(d, m, &groups[kept], &low, &high);

		if (group_locate(d, m, &groups[i], &low, &high) < NO_LEVEL * below)
			groups[kept].last = groups[i].last;
		else
			groups[++kept] = groups[i];
	}
	return n > 0 ? kept + 1 : 0;
}

size_t groups_find(const struct curve_data *d, const struct model *m, struct knee_group *ret,
		   size_t max)
{
	size_t n = 0;
	size_t k = next_knee(m, 0);

	while (k < m->n) {
		double c = m->v[k].c;

		if (n > 0 && is_one_knee(d, m->v[ret[n - 1].last].c, c)) {
			ret[n - 1].last = k;
		} else {
			if (n == max)
				break;
			ret[n++] = (struct knee_group){ .first = k, .last = k };
		}
		k = next_knee(m, c);
	}
	return merge_located(d, m, ret, n);
}
