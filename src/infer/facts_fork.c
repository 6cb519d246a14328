// SPDX-License-Identifier: MIT
/*
 * What memory costs a process that forks or goes away: the slope of a curve over resident size, in
 * ns for each GiB. Leaves out fixed costs, which the smallest points show.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "infer/facts.h"

static const double GIB = 1 << 30;

struct slope {
	const char *bench, *metric, *id;
};

static const struct slope slopes[] = {
	{ "fork.call", "pause_ns", "fork.pause_ns_gib" },
	{ "fork.cow", "storm_ns", "fork.cow_ns_gib" },
	{ "fork.unmap", "unmap_ns", "fork.unmap_ns_gib" },
};

static int set_where(struct work *w, const struct curve_points *c, struct fact *f)
{
	static const char *const names[] = { "how", "by", "memory", "order", "page" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *word = attrs_text(&c->outer, names[i], NULL);

		if (word && fact_where_text(w, f, names[i], word) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Largest less smallest point, over their distance. */
static int add_slope(struct work *w, const struct slope *s, const struct curve_points *c)
{
	struct span low = { 0, 0, 0.5 }, high = { 0, 0, 0.5 };
	struct cost cost;
	struct fact *f;
	struct view v;

	if (view_build(w, c, s->metric, &v) < 0)
		return -ENOMEM;
	if (v.n == 1)
		return 0; /* a single point has no slope, and needs no fact that says so */
	if (v.n == 0) {
		cost = cost_missing(v.reason);
	} else {
		double distance = (view_end(&v) - v.x[0]) / GIB;

		low.low = low.high = v.x[0];
		high.low = high.high = view_end(&v);
		cost = cost_between(w, &v, high, &v, low);
		cost.value /= distance;
		cost.low /= distance;
		cost.high /= distance;
	}
	f = fact_new(w, s->id, "ns", "slope between the smallest and the largest size");
	if (!f || set_where(w, c, f) < 0)
		return -ENOMEM;
	fact_set_cost(f, &cost);
	f->note = v.unproven;
	return 0;
}

int facts_fork(struct work *w)
{
	int rc = 0;

	for (size_t i = 0; i < w->curves->n && rc == 0; i++)
		for (size_t k = 0; k < sizeof(slopes) / sizeof(slopes[0]) && rc == 0; k++)
			if (strcmp(w->curves->v[i].bench, slopes[k].bench) == 0)
				rc = add_slope(w, &slopes[k], &w->curves->v[i]);
	return rc;
}
