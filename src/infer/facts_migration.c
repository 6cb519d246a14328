// SPDX-License-Identifier: MIT
/*
 * Facts of migration.cost: what moving costs by class of distance and working set, the dearest
 * working set, and what that says of the scheduler's constant. Leaves out: whether the classes are
 * true (facts_migration_groups.c), and published values, which are no curves.
 */
#include "infer/facts_migration.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "stats/stats.h"

enum { INVOCATIONS_MAX = 1024, KNOB_DEFAULT_NS = 500000, FACT_STEP = 4 };
static const double FIRST_BYTES = 16 << 10;

/* --- families --- */

static bool is_end(const char *name)
{
	return strcmp(name, "from") == 0 || strcmp(name, "to") == 0;
}

static bool is_historical(const struct curve_points *c)
{
	return strcmp(attrs_text(&c->outer, "search", "curve"), "historical") == 0;
}

static bool pair_of(const struct curve_points *c, struct pair_curve *ret)
{
	uint64_t from, to;

	if (strcmp(c->bench, "migration.cost") != 0 || c->n == 0 ||
	    parse_u64(attrs_text(&c->outer, "from", ""), &from, NULL) < 0 ||
	    parse_u64(attrs_text(&c->outer, "to", ""), &to, NULL) < 0 || from > UINT32_MAX ||
	    to > UINT32_MAX)
		return false;
	*ret = (struct pair_curve){ .c = c, .from = (uint32_t)from, .to = (uint32_t)to };
	for (size_t i = 0; i < c->n && !ret->class; i++)
		for (size_t k = 0; k < c->points[i]->n_measures && !ret->class; k++)
			ret->class = attrs_text(&c->points[i]->measures[k]->proof, "class", NULL);
	return ret->class != NULL;
}

static bool same_attr(const struct attr *a, const struct attrs *in)
{
	const struct attr *b = attrs_find(in, a->name);
	struct attr left = *a, right;
	struct attrs one = { .v = &left, .n = 1, .cap = 1 },
		     two = { .v = &right, .n = 1, .cap = 1 };

	if (!b)
		return false;
	right = *b;
	return attrs_equal(&one, &two);
}

/* Whether both curves differ in nothing but the CPUs. */
static bool same_rest(const struct curve_points *a, const struct curve_points *b)
{
	if (a->outer.n != b->outer.n || (a->arm ? a->arm[0] : 0) != (b->arm ? b->arm[0] : 0))
		return false;
	for (size_t i = 0; i < a->outer.n; i++)
		if (!is_end(a->outer.v[i].name) && !same_attr(&a->outer.v[i], &b->outer))
			return false;
	return true;
}

static int add_pair(struct work *w, struct families *all, const struct pair_curve *p)
{
	struct family *f = NULL;

	for (size_t i = 0; i < all->n && !f; i++)
		if (strcmp(all->v[i].class, p->class) == 0 && same_rest(all->v[i].pairs[0].c, p->c))
			f = &all->v[i];
	if (!f) {
		if (arena_grow(w->arena, &all->v, all->n, &all->cap, sizeof(*all->v)) < 0)
			return -ENOMEM;
		f = &all->v[all->n++];
		*f = (struct family){ .class = p->class };
	}
	if (arena_grow(w->arena, &f->pairs, f->n, &f->cap, sizeof(*f->pairs)) < 0)
		return -ENOMEM;
	f->pairs[f->n++] = *p;
	return 0;
}

static double inner_of(const struct pair_curve *p, size_t i)
{
	return (double)attrs_int(p->c->points[i]->setting, p->c->inner ? p->c->inner : "", 0);
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static int collect_x(struct work *w, struct family *f)
{
	size_t n = 0, kept = 0;

	for (size_t k = 0; k < f->n; k++)
		n += f->pairs[k].c->n;
	f->x = arena_alloc(w->arena, (n + 1) * sizeof(*f->x));
	if (!f->x)
		return -ENOMEM;
	n = 0;
	for (size_t k = 0; k < f->n; k++) {
		for (size_t i = 0; i < f->pairs[k].c->n; i++) {
			const struct point *p = f->pairs[k].c->points[i];

			f->x[n++] = inner_of(&f->pairs[k], i);
			for (size_t m = 0; m < p->n_measures; m++)
				if (p->measures[m]->invocation < INVOCATIONS_MAX &&
				    p->measures[m]->invocation + 1 > f->n_reps)
					f->n_reps = p->measures[m]->invocation + 1;
		}
	}
	qsort(f->x, n, sizeof(*f->x), compare_double);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || f->x[kept - 1] != f->x[i])
			f->x[kept++] = f->x[i];
	f->n_x = kept;
	return 0;
}

/* The value of one pair at one working set in one invocation; NaN: none. */
static double pair_value(struct work *w, const struct pair_curve *p, double x, size_t rep,
			 const char *metric)
{
	for (size_t i = 0; i < p->c->n; i++) {
		if (inner_of(p, i) != x)
			continue;
		for (size_t m = 0; m < p->c->points[i]->n_measures; m++)
			if (p->c->points[i]->measures[m]->invocation == rep)
				return measure_value(w->run, p->c->points[i]->measures[m], metric);
	}
	return NAN;
}

static int fill(struct work *w, struct family *f, const char *metric, double **ret)
{
	double *v = arena_alloc(w->arena, (f->n_x * f->n_reps + 1) * sizeof(*v));
	double *each = arena_alloc(w->arena, (f->n + 1) * sizeof(*each));

	if (!v || !each)
		return -ENOMEM;
	for (size_t r = 0; r < f->n_reps; r++) {
		for (size_t i = 0; i < f->n_x; i++) {
			size_t n = 0;

			for (size_t k = 0; k < f->n; k++) {
				double y = pair_value(w, &f->pairs[k], f->x[i], r, metric);

				if (!isnan(y))
					each[n++] = y;
			}
			/* An invocation in which a direction is missing would be another sum. */
			v[r * f->n_x + i] = n == f->n ? stats_median(each, n) : NAN;
		}
	}
	*ret = v;
	return 0;
}

int families_make(struct work *w, struct families *ret)
{
	struct families all = { 0 };

	for (size_t i = 0; i < w->curves->n; i++) {
		struct pair_curve p;

		if (pair_of(&w->curves->v[i], &p) && add_pair(w, &all, &p) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < all.n; i++)
		if (collect_x(w, &all.v[i]) < 0 ||
		    fill(w, &all.v[i], "cost_ns", &all.v[i].cost) < 0 ||
		    fill(w, &all.v[i], "stayed_ns", &all.v[i].stayed) < 0)
			return -ENOMEM;
	*ret = all;
	return 0;
}

struct cost family_cost(const struct family *f, size_t i)
{
	double values[INVOCATIONS_MAX];

	for (size_t r = 0; r < f->n_reps; r++)
		values[r] = f->cost[r * f->n_x + i];
	return cost_of_values(values, f->n_reps, "no invocation has all pairs of the class");
}

static bool differs(const struct families *all, const struct attr *a)
{
	for (size_t i = 0; i < all->n; i++)
		if (!same_attr(a, &all->v[i].pairs[0].c->outer))
			return true;
	return false;
}

struct fact *family_fact(struct work *w, const struct families *all, const struct family *f,
			 const char *id, const char *unit, const char *method)
{
	const struct attrs *outer = &f->pairs[0].c->outer;
	struct fact *ret = fact_new(w, id, unit, method);

	if (!ret || fact_where_text(w, ret, "class", f->class) < 0)
		return NULL;
	for (size_t i = 0; i < outer->n; i++) {
		const struct attr *a = &outer->v[i];
		int rc = 0;

		if (is_end(a->name) || !differs(all, a))
			continue;
		if (a->kind == ATTR_INT)
			rc = fact_where_int(w, ret, a->name, a->integer);
		else if (a->kind == ATTR_TEXT)
			rc = fact_where_text(w, ret, a->name, a->text);
		if (rc < 0)
			return NULL;
	}
	return ret;
}

/* --- costs --- */

static const char over_pairs[] = "median over pairs, then over invocations, of median differences";

/* At 16 KiB and every fourfold of it: the curve itself stands in the tables. */
static bool is_fact_size(double bytes)
{
	double x = FIRST_BYTES;

	while (x < bytes)
		x *= FACT_STEP;
	return x == bytes;
}

static int add_costs(struct work *w, const struct families *all, const struct family *f,
		     const char *note)
{
	for (size_t i = 0; i < f->n_x; i++) {
		struct cost c = family_cost(f, i);
		struct fact *fact;

		if (!is_fact_size(f->x[i]) && f->n_x > FACT_STEP)
			continue;
		fact = family_fact(w, all, f, "migration.cost_ns", "ns", over_pairs);
		if (!fact || fact_where_int(w, fact, "working-set", (int64_t)f->x[i]) < 0)
			return -ENOMEM;
		fact_set_cost(fact, &c);
		fact->note = note;
	}
	return 0;
}

static int add_maximum(struct work *w, const struct families *all, const struct family *f,
		       const char *note)
{
	struct cost best = cost_missing("nothing was measured"), c;
	struct fact *fact;
	size_t at = 0;

	for (size_t i = 0; i < f->n_x; i++) {
		c = family_cost(f, i);
		if (!isnan(c.value) && (isnan(best.value) || c.value > best.value)) {
			best = c;
			at = i;
		}
	}
	fact = family_fact(w, all, f, "migration.max_cost_ns", "ns",
			   "cost of the working set whose median is largest");
	if (!fact)
		return -ENOMEM;
	fact_set_cost(fact, &best);
	fact->note = note;
	fact = family_fact(w, all, f, "migration.max_bytes", "bytes",
			   "working set whose median cost is largest");
	if (!fact)
		return -ENOMEM;
	if (isnan(best.value)) {
		fact->reason = best.reason;
		return 0;
	}
	fact->value = f->x[at];
	fact->interval_reason = "one of the working sets measured";
	if (at + 1 == f->n_x && f->n_x > 1)
		fact->note = "the largest that was measured: larger ones may cost more";
	return 0;
}

/* --- the scheduler's constant --- */

struct knob {
	double ns;
	const char *note; /* NULL: read from the machine */
};

static struct knob knob_of(struct work *w)
{
	const struct attr *a = attrs_find(&w->run->context, "sched_migration_cost_ns");
	struct knob k = { KNOB_DEFAULT_NS, NULL };

	if (a && a->kind == ATTR_INT) /* -1: a task is always hot */
		k.ns = a->integer < 0 ? INFINITY : (double)a->integer;
	else
		k.note = arena_printf(w->arena,
				      "against the kernel's default, 500 us: this machine's value "
				      "is not known (%s)",
				      a && a->kind == ATTR_NULL ? a->text : "not recorded");
	return k;
}

static const char *no_bound(struct work *w, const struct family *f, const char *which)
{
	char size[UNITS_TEXT_BYTES];

	for (size_t i = 0; i < f->n_x; i++) {
		struct cost c = family_cost(f, i);

		if (isnan(c.low))
			return c.interval_reason ? c.interval_reason : c.reason;
	}
	return arena_printf(w->arena, "no working set up to %s surely costs %s than it",
			    format_size(size, f->n_x ? (uint64_t)f->x[f->n_x - 1] : 0), which);
}

/*
 * Up to which working set moving surely costs less than the constant, and from which on it surely
 * costs more: by the ends of the intervals, so that what lies between is undecided and without
 * intervals there is no answer.
 */
static int add_knob(struct work *w, const struct families *all, const struct family *f)
{
	struct knob k = knob_of(w);
	double less = NAN, more = NAN;
	bool below = true;
	struct fact *fact;

	for (size_t i = 0; i < f->n_x; i++) {
		struct cost c = family_cost(f, i);

		below = below && c.high < k.ns; /* false for NaN */
		if (below)
			less = f->x[i];
		if (isnan(more) && c.low > k.ns)
			more = f->x[i];
	}
	fact = family_fact(w, all, f, "migration.knob_too_large_to_bytes", "bytes",
			   "largest working set up to which all intervals end below the constant");
	if (!fact)
		return -ENOMEM;
	fact->value = less;
	fact->reason = isnan(less) ? no_bound(w, f, "less") : NULL;
	fact->interval_reason = "by the ends of the intervals of the costs";
	fact->note = k.note;
	fact = family_fact(w, all, f, "migration.knob_too_small_from_bytes", "bytes",
			   "smallest working set whose interval begins above the constant");
	if (!fact)
		return -ENOMEM;
	fact->value = more;
	fact->reason = isnan(more) ? no_bound(w, f, "more") : NULL;
	fact->interval_reason = "by the ends of the intervals of the costs";
	fact->note = k.note;
	return 0;
}

/* --- the historical search --- */

static int add_historical(struct work *w, const struct families *all, const struct family *f)
{
	struct cost c = family_cost(f, f->n_x - 1);
	struct fact *fact = family_fact(w, all, f, "migration.historical_ns", "ns",
					"twice the largest cost of the search of Linux 2.6.18");

	if (!fact)
		return -ENOMEM;
	c.value *= 2;
	c.low *= 2;
	c.high *= 2;
	fact_set_cost(fact, &c);
	if (!outer_is(f->pairs[0].c, "pattern", "kernel-2.6.18"))
		fact->note = "not the kernel's own pattern: pattern=kernel-2.6.18 is";
	return 0;
}

int facts_migration(struct work *w)
{
	struct families all = { 0 };
	int rc = families_make(w, &all);

	for (size_t i = 0; i < all.n && rc == 0; i++) {
		const struct family *f = &all.v[i];
		const char *note = NULL;

		if (f->n_x == 0)
			continue;
		if (is_historical(f->pairs[0].c)) {
			rc = add_historical(w, &all, f);
			continue;
		}
		rc = family_apart(w, &all, f, &note);
		if (rc == 0)
			rc = add_costs(w, &all, f, note);
		if (rc == 0)
			rc = add_maximum(w, &all, f, note);
		if (rc == 0)
			rc = add_knob(w, &all, f);
	}
	return rc < 0 ? rc : facts_migration_groups(w, &all);
}
