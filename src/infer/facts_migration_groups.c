// SPDX-License-Identifier: MIT
/*
 * What measured costs say of the distances that the machine tells: whether two CPUs share a core
 * (virtual CPUs may, whatever the guest is told), and into how many groups all pairs fall. Costs
 * are divided at gaps, as in J. Chatzopoulos and others, "MCTOP" (EuroSys 2017), but by ratio and
 * against the noise of the pairs. Leaves out: how many levels there ought to be.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/units.h"
#include "infer/facts_migration.h"
#include "stats/stats.h"

enum { INVOCATIONS_MAX = 1024, LEAST_PAIRS = 3, CPUS_MAX = 4096 };
static const double TOGETHER = 1.5; /* cost over the touch in place: threads of one core */
static const double APART = 2.5;    /* ... cores of their own */
static const double MOST = 0.9;     /* of the invocations */
static const double GAP_RATIO = 1.3;

/* --- one core or two --- */

static size_t index_at_most(const struct family *f, double bytes)
{
	size_t i = 0;

	while (i + 1 < f->n_x && f->x[i + 1] <= bytes)
		i++;
	return i;
}

static bool is_guest(const struct run *r)
{
	const char *h = attrs_text(&r->fingerprint, "hypervisor", "none");

	return strcmp(h, "none") != 0;
}

struct apart {
	double ratios[INVOCATIONS_MAX];
	size_t n, together, apart;
};

static void count_apart(const struct family *f, size_t at, struct apart *ret)
{
	for (size_t r = 0; r < f->n_reps; r++) {
		double ratio = f->cost[r * f->n_x + at] / f->stayed[r * f->n_x + at];

		if (!isfinite(ratio))
			continue;
		ret->ratios[ret->n++] = ratio;
		ret->together += ratio < TOGETHER;
		ret->apart += ratio > APART;
	}
}

/* What the invocations say, in words; *ret_doubt: whether the other facts must know. */
static const char *apart_words(struct work *w, const struct family *f, const struct apart *a,
			       bool *ret_doubt)
{
	bool smt = strncmp(f->class, "smt", 3) == 0;
	const char *why = is_guest(w->run) ? "; a host may run two virtual CPUs on one core, and "
					     "move them"
					   : "";

	*ret_doubt = true;
	if ((double)a->together >= MOST * (double)a->n) {
		*ret_doubt = !smt;
		return smt ? "as threads of one core do"
			   : arena_printf(w->arena,
					  "these CPUs behave as threads of one core, though %s is "
					  "told%s",
					  f->class, why);
	}
	if ((double)a->apart >= MOST * (double)a->n) {
		*ret_doubt = smt;
		return smt ? "these CPUs behave as cores of their own, though smt is told"
			   : "as cores of their own do";
	}
	return arena_printf(w->arena,
			    "inconclusive: in %zu of %zu invocations these CPUs behaved as threads "
			    "of one core, in %zu as two cores%s",
			    a->together, a->n, a->apart, why);
}

int family_apart(struct work *w, const struct families *all, const struct family *f,
		 const char **ret_note)
{
	int64_t first_cache = attrs_int(&w->run->fingerprint, "cache.l1d_bytes", 32 << 10);
	size_t at = index_at_most(f, (double)first_cache);
	struct apart a = { .n = 0 };
	struct fact *fact;
	struct cost c;
	bool doubt;

	*ret_note = NULL;
	if (f->x[at] > (double)first_cache)
		return 0; /* no working set that fits */
	count_apart(f, at, &a);
	fact = family_fact(w, all, f, "migration.apart_ratio", "ratio",
			   "cost over the touch in place, of a working set in the first cache");
	if (!fact)
		return -ENOMEM;
	c = cost_of_values(a.ratios, a.n, "nothing was measured");
	fact_set_cost(fact, &c);
	if (a.n == 0)
		return 0;
	fact->note = apart_words(w, f, &a, &doubt);
	if (!fact->note)
		return -ENOMEM;
	*ret_note = doubt ? fact->note : NULL;
	return 0;
}

/* --- groups of pairs --- */

size_t gap_groups(const double *sorted, size_t n, double ratio, double noise, size_t *ret_group)
{
	size_t group = 0;

	for (size_t i = 0; i < n; i++) {
		if (i > 0 && sorted[i] > ratio * sorted[i - 1] && sorted[i] - sorted[i - 1] > noise)
			group++;
		ret_group[i] = group;
	}
	return n ? group + 1 : 0;
}

/* Both directions of one pair. */
struct link {
	uint32_t a, b;
	const char *class;
	double cost, noise; /* mean of the directions; half the width of the interval */
	size_t group;
};

struct links {
	struct link *v;
	size_t n, cap;
};

static struct cost point_cost(struct work *w, const struct pair_curve *p, double x)
{
	for (size_t i = 0; i < p->c->n; i++) {
		struct estimate e;

		if ((double)attrs_int(p->c->points[i]->setting, p->c->inner, 0) != x)
			continue;
		estimate_point(w->run, p->c->points[i], "cost_ns", &e);
		return (struct cost){ .value = e.value, .low = e.low, .high = e.high };
	}
	return cost_missing("not measured");
}

static int add_link(struct work *w, struct links *l, const struct pair_curve *p, double x)
{
	uint32_t a = p->from < p->to ? p->from : p->to, b = p->from < p->to ? p->to : p->from;
	struct cost c = point_cost(w, p, x);
	double noise = isnan(c.low) ? INFINITY : (c.high - c.low) / 2;

	if (isnan(c.value))
		return 0;
	for (size_t i = 0; i < l->n; i++) {
		if (l->v[i].a != a || l->v[i].b != b)
			continue;
		l->v[i].cost = (l->v[i].cost + c.value) / 2;
		l->v[i].noise = fmax(l->v[i].noise, noise);
		return 0;
	}
	if (arena_grow(w->arena, &l->v, l->n, &l->cap, sizeof(*l->v)) < 0)
		return -ENOMEM;
	l->v[l->n++] = (struct link){ a, b, p->class, c.value, noise, 0 };
	return 0;
}

static int by_cost(const void *p, const void *q)
{
	const struct link *x = p, *y = q;

	return x->cost < y->cost ? -1 : x->cost > y->cost;
}

/* CPUs that are joined by links of @class in group @group, as lists: "0-3 | 4-7". */
static void islands(const struct links *l, const char *class, size_t group, struct str *out)
{
	uint32_t *island = calloc(CPUS_MAX, sizeof(*island));
	struct u32_list list = { .v = calloc(CPUS_MAX, sizeof(*list.v)) };

	for (uint32_t i = 0; island && i < CPUS_MAX; i++)
		island[i] = i;
	for (bool changed = true; island && changed;) {
		changed = false;
		for (size_t i = 0; i < l->n; i++) {
			const struct link *k = &l->v[i];
			uint32_t least;

			if (k->group > group || k->b >= CPUS_MAX)
				continue;
			least = island[k->a] < island[k->b] ? island[k->a] : island[k->b];
			changed = changed || island[k->a] != island[k->b];
			island[k->a] = island[k->b] = least;
		}
	}
	for (uint32_t first = 0; island && list.v && first < CPUS_MAX; first++) {
		char *text;

		list.n = 0;
		for (uint32_t c = 0; c < CPUS_MAX; c++) {
			bool in_class = false;

			for (size_t i = 0; island[c] == first && i < l->n && !in_class; i++)
				in_class = (l->v[i].a == c || l->v[i].b == c) &&
					   strcmp(l->v[i].class, class) == 0;
			if (in_class)
				list.v[list.n++] = c;
		}
		text = list.n ? format_u32_list(&list) : NULL;
		if (text)
			str_addf(out, "%s%s", out->len ? " | " : "", text);
		free(text);
	}
	free(island);
	free(list.v);
}

/* Classes that fall into several groups, and classes that cost alike. */
static const char *disagreement(struct work *w, const struct links *l)
{
	struct str text = { 0 };
	const char *ret;

	for (size_t i = 0; i < l->n; i++) {
		const struct link *first = &l->v[i];
		size_t last = first->group;
		bool seen = false;

		for (size_t k = 0; k < l->n; k++) {
			bool same = strcmp(l->v[k].class, first->class) == 0;

			seen = seen || (k < i && same);
			if (same && l->v[k].group > last)
				last = l->v[k].group;
			if (k > i && !same && l->v[k].group == first->group && !seen &&
			    l->v[k - 1].group == first->group &&
			    strcmp(l->v[k - 1].class, first->class) == 0)
				str_addf(&text, "%s%s and %s cost alike", text.len ? "; " : "",
					 first->class, l->v[k].class);
		}
		if (seen || last == first->group)
			continue;
		struct str cpus = { 0 };

		islands(l, first->class, first->group, &cpus);
		str_addf(&text,
			 "%spairs of class %s fall into %zu groups by cost, as if some "
			 "caches were apart: CPUs %s",
			 text.len ? "; " : "", first->class, last - first->group + 1,
			 str_text(&cpus));
		str_done(&cpus);
	}
	ret = text.len ? arena_printf(w->arena, "disagrees with what the machine tells: %s",
				      str_text(&text))
		       : "agrees with what the machine tells";
	str_done(&text);
	return ret;
}

/* A working set that fits the second cache: there every line comes from the other core. */
static double telling_size(struct work *w, const struct family *f)
{
	int64_t second = attrs_int(&w->run->fingerprint, "cache.l2_bytes", 512 << 10);

	return f->x[index_at_most(f, (double)second / 2)];
}

static size_t count_classes(const struct links *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		size_t k = 0;

		while (k < i && strcmp(l->v[k].class, l->v[i].class) != 0)
			k++;
		n += k == i;
	}
	return n;
}

int facts_migration_groups(struct work *w, const struct families *all)
{
	struct links l = { 0 };
	double *sorted, noise = 0;
	size_t *group, n;
	struct fact *f;

	for (size_t i = 0; i < all->n; i++) {
		if (strcmp(attrs_text(&all->v[i].pairs[0].c->outer, "search", "curve"), "curve"))
			continue;
		for (size_t k = 0; k < all->v[i].n; k++)
			if (add_link(w, &l, &all->v[i].pairs[k], telling_size(w, &all->v[i])) < 0)
				return -ENOMEM;
	}
	if (l.n < LEAST_PAIRS)
		return 0;
	sorted = arena_alloc(w->arena, l.n * sizeof(*sorted));
	group = arena_alloc(w->arena, l.n * sizeof(*group));
	f = fact_new(w, "migration.groups", "groups", "gaps between the costs of pairs");
	if (!sorted || !group || !f)
		return -ENOMEM;
	qsort(l.v, l.n, sizeof(*l.v), by_cost);
	for (size_t i = 0; i < l.n; i++)
		sorted[i] = l.v[i].noise;
	noise = stats_median(sorted, l.n);
	if (!isfinite(noise)) {
		f->reason = "no intervals; they need 6 invocations";
		return 0;
	}
	for (size_t i = 0; i < l.n; i++)
		sorted[i] = l.v[i].cost;
	n = gap_groups(sorted, l.n, GAP_RATIO, 2 * noise, group);
	for (size_t i = 0; i < l.n; i++)
		l.v[i].group = group[i];
	f->value = (double)n;
	f->nominal = (double)count_classes(&l);
	f->interval_reason = "a count";
	f->note = disagreement(w, &l);
	return f->note ? 0 : -ENOMEM;
}
