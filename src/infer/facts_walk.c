// SPDX-License-Identifier: MIT
/*
 * Facts of tlb.walk: how many entries the walk cache of each level holds, what a miss in it costs,
 * what the top level says about one level more, and whether cold walks differ beyond their noise.
 *
 * Curves of one family differ in the stride only, so in the level whose entries a region uses up:
 * above the curve of the level below lies the cost of that level's misses. Leaves out loops that
 * conflict on purpose (index=fixed): facts_curves.c.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "infer/facts_tlb.h"
#include "stats/stats.h"

enum { LEVELS = 4 };
/* Noise may make a difference negative; no cost is less than this share of a reference's. */
static const double LEAST_SHARE = 0.1;
static const char *const stride_words[LEVELS] = { "leaf-table", "pmd-table", "pud-table",
						  "p4d-table" };

/* Curves that differ in the stride only; NULL: not measured. */
struct family {
	const struct curve_points *v[LEVELS];
	const struct curve_points *first; /* any of them */
	const char *page;
	bool is_cold;
};

/* What one entry of the level maps ("2m", "1g"), which is how levels are called here. */
static const char *level_name(struct work *w, int level)
{
	char size[UNITS_TEXT_BYTES];
	uint64_t bytes = stride_word_bytes(w->run, stride_words[level], "base");

	return bytes ? arena_printf(w->arena, "%s", format_size(size, bytes))
		     : arena_printf(w->arena, "%s", stride_words[level]);
}

static bool is_member(const struct curve_points *c)
{
	return strcmp(c->bench, "tlb.walk") == 0 && !c->arm && outer_is(c, "index", "spread") &&
	       outer_is(c, "loads", "dependent") && outer_is(c, "order", "random") &&
	       outer_is(c, "data", "local") && outer_is(c, "page-tables", "local") &&
	       outer_is(c, "load", "none");
}

static int level_of(const struct curve_points *c)
{
	const char *stride = attrs_text(&c->outer, "stride", "");

	for (int i = 0; i < LEVELS; i++)
		if (strcmp(stride, stride_words[i]) == 0)
			return i;
	return -1;
}

/* Whether all outer parameters but the stride are alike. */
static bool is_kin(const struct curve_points *a, const struct curve_points *b)
{
	if (a->outer.n != b->outer.n)
		return false;
	for (size_t i = 0; i < a->outer.n; i++) {
		const struct attr *x = &a->outer.v[i], *y = attrs_find(&b->outer, x->name);
		struct attr one = *x, other;

		if (strcmp(x->name, "stride") == 0)
			continue;
		if (!y)
			return false;
		other = *y;
		if (!attrs_equal(&(struct attrs){ .v = &one, .n = 1 },
				 &(struct attrs){ .v = &other, .n = 1 }))
			return false;
	}
	return true;
}

/* The family that begins with curve @at; false: an earlier curve began it, or it is none. */
static bool family_at(struct work *w, size_t at, struct family *ret)
{
	const struct curve_points *first = &w->curves->v[at];
	struct family f = { .first = first };

	if (!is_member(first) || level_of(first) < 0)
		return false;
	for (size_t i = 0; i < w->curves->n; i++) {
		const struct curve_points *c = &w->curves->v[i];

		if (!is_member(c) || level_of(c) < 0 || !is_kin(first, c))
			continue;
		if (i < at)
			return false;
		f.v[level_of(c)] = c;
	}
	f.page = attrs_text(&first->outer, "page", "");
	f.is_cold = strcmp(attrs_text(&first->outer, "caches", ""), "wiped") == 0;
	*ret = f;
	return true;
}

/* Whether other families of the run have another value. */
static bool is_told(struct work *w, const struct attr *a)
{
	static const char *const never[] = { "stride", "caches", "page", NULL };
	struct attr mine = *a;

	for (size_t i = 0; never[i]; i++)
		if (strcmp(a->name, never[i]) == 0)
			return false;
	for (size_t i = 0; i < w->curves->n; i++) {
		const struct attr *b = attrs_find(&w->curves->v[i].outer, a->name);
		struct attr other;

		if (!is_member(&w->curves->v[i]) || level_of(&w->curves->v[i]) < 0 || !b)
			continue;
		other = *b;
		if (!attrs_equal(&(struct attrs){ .v = &mine, .n = 1 },
				 &(struct attrs){ .v = &other, .n = 1 }))
			return true;
	}
	return false;
}

static struct fact *walk_fact(struct work *w, const struct family *f, const char *id,
			      const char *unit, const char *method)
{
	struct fact *fact = fact_new(w, id, unit, method);

	if (!fact || fact_where_text(w, fact, "page", f->page))
		return NULL;
	for (size_t i = 0; i < f->first->outer.n; i++) {
		const struct attr *a = &f->first->outer.v[i];

		/* Those that tell families apart; which curve of one it is, the level says. */
		if (!is_told(w, a))
			continue;
		if (a->kind == ATTR_INT ? fact_where_int(w, fact, a->name, a->integer)
					: fact_where_text(w, fact, a->name,
							  a->kind == ATTR_TEXT ? a->text : "?"))
			return NULL;
	}
	return fact;
}

static struct fact *level_fact(struct work *w, const struct family *f, const char *id,
			       const char *unit, const char *method, int level)
{
	struct fact *fact = walk_fact(w, f, id, unit, method);
	const char *name = level_name(w, level);

	return !fact || !name || fact_where_text(w, fact, "level", name) ? NULL : fact;
}

/*
 * The point of the level below that @x is compared with; below->n: none. Fewer regions than it has
 * make use of several of its entries each, which are as many as its fewest.
 */
static size_t find_below(const struct view *below, double x)
{
	return below->n > 0 && x < below->x[0] ? 0 : view_find(below, x);
}

/* The largest number of regions that both have (@below NULL: the one has); NaN: none. */
static double common_end(const struct view *v, const struct view *below)
{
	for (size_t i = v->n; i-- > 0;)
		if (!below || find_below(below, v->x[i]) < below->n)
			return v->x[i];
	return NAN;
}

static double common_start(const struct view *v, const struct view *below)
{
	for (size_t i = 0; i < v->n; i++)
		if (!below || find_below(below, v->x[i]) < below->n)
			return v->x[i];
	return NAN;
}

static struct span exactly(double x)
{
	return (struct span){ .low = x, .high = x, .q = 0.5 };
}

/*
 * What @v costs above @below, where both have points, on top of the cost of @below's first point
 * (so that it is positive, as a curve must be).
 */
static int excess_view(struct work *w, const struct view *v, const struct view *below,
		       struct view *ret)
{
	size_t n_reps = v->n_reps < below->n_reps ? v->n_reps : below->n_reps;
	struct view r = { .n_reps = n_reps, .rep_quantile = 0.5, .reason = v->reason };

	r.x = arena_alloc(w->arena, (v->n + 1) * sizeof(*r.x));
	r.y = arena_alloc(w->arena, (v->n + 1) * sizeof(*r.y));
	r.reps = arena_alloc(w->arena, (v->n * n_reps + 1) * sizeof(*r.reps));
	if (!r.x || !r.y || !r.reps)
		return -ENOMEM;
	for (size_t i = 0; i < v->n; i++)
		r.n += find_below(below, v->x[i]) < below->n;
	for (size_t i = 0, to = 0; i < v->n; i++) {
		size_t k = find_below(below, v->x[i]);

		if (k == below->n)
			continue;
		r.x[to] = v->x[i];
		r.y[to] = fmax(below->y[0] + v->y[i] - below->y[k], LEAST_SHARE * below->y[0]);
		for (size_t rep = 0; rep < n_reps; rep++)
			r.reps[rep * r.n + to] = below->y[0] + v->reps[rep * v->n + i] -
						 below->reps[rep * below->n + k];
		to++;
	}
	*ret = r;
	return 0;
}

/* walk.entries and walk.reach of a level, from where its curve leaves the one below. */
static int add_reach(struct work *w, const struct family *f, int level, const struct view *v,
		     const struct view *below)
{
	static const char *const ids[] = { "walk.entries", "walk.reach" };
	static const char *const units[] = { "entries", "bytes" };
	double span = (double)stride_word_bytes(w->run, stride_words[level], "base");
	struct view over = *v;
	const struct knee *k;
	const char *none;
	struct knees knees;
	int rc = below && below->n > 0 ? excess_view(w, v, below, &over) : 0;

	if (below && below->n == 0)
		over = (struct view){ .reason = below->reason };
	rc = rc ? rc : view_knees(w, &over, &knees);
	if (rc)
		return rc;
	k = strongest_knee(&knees, 0);
	none = over.n == 0  ? over.reason
	       : over.n < 6 ? "fewer than 6 points: no knee can be told"
			    : arena_printf(w->arena,
					   "no knee up to %.0f regions: this level's entries "
					   "are held, or a miss costs nothing that shows",
					   view_end(&over));
	for (int i = 0; i < 2; i++) {
		struct fact *fact = level_fact(w, f, ids[i], units[i], "knee of the curve", level);

		if (!fact || !none)
			return -ENOMEM;
		if (k)
			fact_set_knee(fact, k, i == 0 ? 1 : span);
		if (k && i == 0)
			fact_on_curve(fact, v->curve, k);
		fact->reason = k ? NULL : none;
	}
	return 0;
}

/* What spreading over the most regions adds to the level below (or to the fewest regions). */
static struct cost level_cost(struct work *w, const struct view *v, const struct view *below)
{
	double end = common_end(v, below);

	if (v->n == 0)
		return cost_missing(v->reason);
	if (below && below->n == 0)
		return cost_missing(below->reason);
	if (isnan(end))
		return cost_missing("no number of regions was measured at this and at the level "
				    "below");
	if (!below)
		return cost_between(w, v, exactly(end), v, exactly(v->x[0]));
	return cost_between(w, v, exactly(end), below, exactly(below->x[find_below(below, end)]));
}

static int add_level_cost(struct work *w, const struct family *f, int level, const char *id,
			  const char *unit, const struct view *v, const struct view *below)
{
	struct cost cost = level_cost(w, v, below);
	struct fact *fact = level_fact(w, f, id, unit,
				       below ? "most regions, less the same of the level below"
					     : "most regions less fewest",
				       level);

	if (!fact)
		return -ENOMEM;
	fact_set_cost(fact, &cost);
	if (!isnan(cost.value))
		fact->note =
			arena_printf(w->arena, "per walk, at %.0f regions", common_end(v, below));
	return 0;
}

/*
 * One level more or less at the top: what a miss there costs, at the number of top entries that
 * this machine's memory needs (dense) and at the most that could be measured (sparse).
 */
static int add_top(struct work *w, const struct family *f, int level, const struct view *v,
		   const struct view *below)
{
	int64_t memory = attrs_int(&w->run->fingerprint, "memory_bytes", 0);
	uint64_t span = stride_word_bytes(w->run, stride_words[level], "base");
	double need = span && memory > 0 ? ceil((double)memory / (double)span) : 1;
	double at[2] = { common_start(v, below), common_end(v, below) };

	for (size_t i = 0; i < v->n && v->x[i] <= need; i++)
		if (find_below(below, v->x[i]) < below->n)
			at[0] = v->x[i];
	for (int i = 0; i < 2; i++) {
		double under = isnan(at[i]) ? NAN : below->x[find_below(below, at[i])];
		struct cost c = isnan(under)
					? level_cost(w, v, below)
					: cost_between(w, v, exactly(at[i]), below, exactly(under));
		struct fact *fact = walk_fact(w, f, "walk.top_level_ns", "ns",
					      "curve of the top level less the one below");

		if (!fact || fact_where_text(w, fact, "use", i == 0 ? "dense" : "sparse"))
			return -ENOMEM;
		fact_set_cost(fact, &c);
		if (isnan(c.value))
			continue;
		fact->note = arena_printf(
			w->arena,
			i == 0 ? "%.0f of %s: what this machine's memory fills. One level more or "
				 "less at the top changes a walk by no more; huge pages take away "
				 "the level at the leaf instead, which every walk reads"
			       : "%.0f of %s, each wanted in turn: the most that one level more or "
				 "less at the top was seen to cost here",
			at[i], level_name(w, level));
		if (!fact->note)
			return -ENOMEM;
	}
	return 0;
}

static int hot_family(struct work *w, const struct family *f, const char *metric, const char *unit,
		      const char *id, bool is_ns)
{
	struct view views[LEVELS];
	int rc = 0, top = 0;

	for (int i = 0; i < LEVELS && rc == 0; i++) {
		const struct view *below = i > 0 && f->v[i - 1] ? &views[i - 1] : NULL;

		if (!f->v[i])
			continue;
		rc = view_build(w, f->v[i], metric, &views[i]);
		/* A curve alone has the knees of all levels below in it. */
		if (rc || (i > 0 && !below))
			continue;
		if (is_ns)
			rc = add_reach(w, f, i, &views[i], below);
		rc = rc ? rc : add_level_cost(w, f, i, id, unit, &views[i], below);
		if (below && views[i].n > 0 && below->n > 0)
			top = i;
	}
	if (rc == 0 && is_ns && top > 0)
		rc = add_top(w, f, top, &views[top], &views[top - 1]);
	return rc;
}

/* Half of all groups of a point lie within this: the interquartile range, per reference. */
static double group_noise(const struct curve_points *c, double regions)
{
	double values[1024], noise;
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct point *p = c->points[i];

		if ((double)attrs_int(p->setting, c->inner, 0) != regions)
			continue;
		for (size_t k = 0; k < p->n_measures; k++) {
			const struct series *s = measure_series(p->measures[k], "group_ns");

			if (p->measures[k]->verdict != VERDICT_OK || !s || !s->values)
				continue;
			for (size_t j = 0; j < s->n && n < 1024; j++)
				values[n++] = s->values[j] / regions;
		}
	}
	noise = stats_quantile(values, n, 0.75) - stats_quantile(values, n, 0.25);
	return noise;
}

/* A view of whole groups as one of references. */
static void per_reference(struct view *v)
{
	for (size_t i = 0; i < v->n; i++) {
		v->y[i] /= v->x[i];
		for (size_t r = 0; r < v->n_reps; r++)
			v->reps[r * v->n + i] /= v->x[i];
	}
}

static const char *cold_note(struct work *w, const struct cost *c, double noise)
{
	bool apart = isnan(c->low) ? fabs(c->value) > noise : c->low > 0 || c->high < 0;

	if (isnan(c->low))
		return arena_printf(w->arena,
				    "%s half of all groups' spread (%.3g ns); too few invocations "
				    "for more",
				    apart ? "more than" : "not more than", noise);
	return arena_printf(w->arena,
			    "%s the noise between processes; half of all groups lie within %.3g ns",
			    apart ? "exceeds" : "does not exceed", noise);
}

static int cold_family(struct work *w, const struct family *f)
{
	struct view views[LEVELS];
	int rc = 0;

	for (int i = 0; i < LEVELS && rc == 0; i++) {
		const struct view *below = i > 0 && f->v[i - 1] ? &views[i - 1] : NULL;
		struct fact *fact;
		struct cost c;
		double end;

		if (!f->v[i])
			continue;
		rc = view_build(w, f->v[i], "group_ns", &views[i]);
		if (rc)
			return rc;
		per_reference(&views[i]);
		end = view_end(&views[i]);
		c = views[i].n ? cost_between(w, &views[i], exactly(end), NULL, exactly(end))
			       : cost_missing(views[i].reason);
		fact = level_fact(w, f, "walk.cold_ns", "ns",
				  "median of groups after wiping, per reference", i);
		if (!fact)
			return -ENOMEM;
		fact_set_cost(fact, &c);
		if (views[i].n)
			fact->note = arena_printf(w->arena,
						  "groups of %.0f references; half of them "
						  "lie within %.3g ns",
						  end, group_noise(f->v[i], end));
		if (below) {
			c = level_cost(w, &views[i], below);
			fact = level_fact(w, f, "walk.cold_level_ns", "ns",
					  "groups less the same of the level below", i);
			if (!fact)
				return -ENOMEM;
			fact_set_cost(fact, &c);
			end = common_end(&views[i], below);
			if (!isnan(c.value))
				fact->note = cold_note(w, &c, group_noise(f->v[i], end));
		}
	}
	return rc;
}

int facts_walk(struct work *w)
{
	struct family f;
	int rc = 0;

	for (size_t i = 0; i < w->curves->n && rc == 0; i++) {
		if (!family_at(w, i, &f))
			continue;
		if (f.is_cold) {
			rc = cold_family(w, &f);
			continue;
		}
		rc = hot_family(w, &f, "ref_ns", "ns", "walk.level_ns", true);
		rc = rc ? rc
			: hot_family(w, &f, "ref_cycles", "cycles", "walk.level_cycles", false);
	}
	return rc;
}
