// SPDX-License-Identifier: MIT
/*
 * Facts of the data caches and of memory: capacities, latencies, line size; and the core clock that
 * was in force. Leaves out: bandwidth, associativity, what other cores see.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "infer/facts.h"
#include "stats/stats.h"

enum { LEVELS_MAX = KNEES_MAX, PAIRS_MAX = 32, LINE_INVOCATIONS = 64 };

struct level {
	double from, to; /* working sets that this level serves and no smaller one can hold */
	const struct knee *knee;
	const char *reason; /* why there is no knee */
	const char *note;   /* on the capacity */
};

enum { TOLD_LEVELS = 3 };
static const char *const told_names[TOLD_LEVELS] = { "cache.l1d_bytes", "cache.l2_bytes",
						     "cache.l3_bytes" };

/* The knee nearest to a known capacity, within a factor of two. */
static const struct knee *knee_near(const struct knees *k, double bytes)
{
	const struct knee *best = NULL;

	for (size_t i = 0; i < k->n; i++) {
		double off = fabs(log2(k->v[i].capacity / bytes));

		if (off <= 1 && (!best || off < fabs(log2(best->capacity / bytes))))
			best = &k->v[i];
	}
	return best;
}

/* The first knee clearly above @bytes; NULL: none. */
static const struct knee *knee_above(const struct knees *k, double bytes)
{
	for (size_t i = 0; i < k->n; i++) {
		if (k->v[i].capacity > 1.25 * bytes)
			return &k->v[i];
	}
	return NULL;
}

/* Why a level's knee is not where the machine says that the level ends. */
static const char *shared_note(struct work *w, const struct knee *k, double told)
{
	char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];
	const char *text =
		arena_printf(w->arena,
			     "%s of the %s that the machine tells serve this CPU: other "
			     "CPUs or guests use the rest, or it is partitioned",
			     format_size_human(a, k->capacity), format_size_human(b, told));

	return text ? text : "less than the machine tells serves this CPU";
}

/* The last level is often shared: what it gives then ends at a smaller knee. */
static void use_shared(struct work *w, const struct knees *k, struct level *l, double told)
{
	const struct knee *end = knee_above(k, l->from);

	if (l->knee || !end || end->capacity > told)
		return;
	l->knee = end;
	l->note = shared_note(w, end, told);
}

/* Levels by the sizes that the machine tells. */
static size_t told_levels(struct work *w, const struct knees *k, struct level *ret)
{
	double below = 0;
	size_t n = 0;

	for (; n < TOLD_LEVELS; n++) {
		double bytes = (double)attrs_int(&w->run->fingerprint, told_names[n], 0);
		struct level *l = &ret[n];
		const struct knee *end;
		char size[UNITS_TEXT_BYTES];

		if (bytes <= 0 || bytes <= below)
			break;
		end = knee_above(k, below);
		*l = (struct level){ .from = below, .to = bytes, .knee = knee_near(k, bytes) };
		/* Whatever rises first ends the plateau, be it this level's end or translation. */
		if (end)
			l->to = fmin(bytes, end->capacity);
		if (!l->knee)
			l->reason =
				arena_printf(w->arena,
					     "no knee within a factor of two of the %s that the "
					     "machine tells",
					     format_size_human(size, bytes));
		below = fmax(bytes, l->knee ? l->knee->capacity : 0);
	}
	if (n > 1)
		use_shared(w, k, &ret[n - 1], below);
	return n;
}

/* Levels by the order of the knees, where the machine tells no sizes. */
static size_t found_levels(const struct knees *k, struct level *ret)
{
	for (size_t i = 0; i < k->n; i++)
		ret[i] = (struct level){ .from = i > 0 ? k->v[i - 1].capacity : 0,
					 .to = k->v[i].capacity,
					 .knee = &k->v[i] };
	return k->n;
}

static struct span plateau(const struct level *l)
{
	double low = 1.25 * l->from;
	double high = 0.8 * l->to;

	/* A level hardly larger than the one below has no plateau: its upper end is nearest. */
	if (low > high)
		low = l->from;
	return (struct span){ low, low > high ? l->to : high, 0.25 };
}

static int add_latency(struct work *w, const struct curve_points *c, const struct level *levels,
		       size_t n, const char *note)
{
	static const char *const ids[] = { "cache.latency_ns", "cache.latency_cycles" };
	static const char *const metrics[] = { "ref_ns", "ref_cycles" };
	static const char *const units[] = { "ns", "cycles" };

	for (size_t m = 0; m < 2; m++) {
		struct view v;
		int rc = view_build(w, c, metrics[m], &v);

		for (size_t i = 0; i < n && rc == 0; i++) {
			struct cost cost =
				cost_between(w, &v, plateau(&levels[i]), NULL, (struct span){ 0 });
			struct fact *f =
				fact_new(w, ids[m], units[m], "lower quartile of the plateau");

			if (!f || fact_where_int(w, f, "level", (int64_t)i + 1))
				return -ENOMEM;
			fact_set_cost(f, &cost);
			f->note = i > 0 ? note : NULL;
		}
		if (rc)
			return rc;
	}
	return 0;
}

static int add_capacity(struct work *w, const struct curve_points *c, const struct level *levels,
			size_t n, const char *note)
{
	for (size_t i = 0; i < n; i++) {
		struct fact *f = fact_new(w, "cache.capacity", "bytes", "knee of the curve");
		int64_t bytes =
			i < TOLD_LEVELS ? attrs_int(&w->run->fingerprint, told_names[i], 0) : 0;

		if (!f || fact_where_int(w, f, "level", (int64_t)i + 1))
			return -ENOMEM;
		if (levels[i].knee) {
			fact_set_knee(f, levels[i].knee, 1);
			fact_on_curve(f, c, levels[i].knee);
		}
		f->reason = levels[i].knee ? NULL : levels[i].reason;
		f->advertised = bytes > 0 ? (double)bytes : NAN;
		f->note = levels[i].note ? levels[i].note : i > 0 ? note : NULL;
	}
	return 0;
}

/* The curve with the most points, and of these that with the largest pages. */
static const struct curve_points *main_curve(struct work *w)
{
	const struct curve_points *best = NULL;

	for (size_t i = 0; i < w->curves->n; i++) {
		const struct curve_points *c = &w->curves->v[i];

		if (curve_role(w->run, c) == CURVE_CACHE && (!best || c->n > best->n))
			best = c;
	}
	return best && best->n >= 6 ? best : NULL;
}

static bool run_is_guest(const struct run *r)
{
	return r->origin == ORIGIN_MEASURED && attrs_text(&r->fingerprint, "hypervisor", "")[0];
}

/* What the sets beyond the first level also contain. */
static const char *translation_note(struct work *w, const struct curve_points *c)
{
	const char *page = attrs_text(&c->outer, "page", "");
	const struct fact *f = facts_find(w->facts, "tlb.effective_page", "page", page);

	if (page_word_is_base(w->run, page))
		return "small pages: includes translation beyond the TLB's reach";
	if (f && f->value < (double)page_word_bytes(w->run, page))
		return "huge pages act like small ones here: includes translation beyond the TLB's "
		       "reach, and page colours";
	if (!f && run_is_guest(w->run))
		return "a guest: whether its huge pages are real was not measured in this run "
		       "(pagetoll run does)";
	return NULL;
}

static int add_memory(struct work *w, const struct curve_points *c)
{
	double llc = (double)attrs_int(&w->run->fingerprint, "llc_bytes", 0);
	char size[UNITS_TEXT_BYTES];
	struct fact *f;
	struct cost cost;
	struct view v;
	double end;
	int rc = view_build(w, c, "ref_ns", &v);

	if (rc || v.n == 0)
		return rc;
	end = view_end(&v);
	/* Sets that caches hold say nothing of memory. */
	if (llc > 0 ? end < 2 * llc : end < 256e6)
		return 0;
	cost = cost_between(w, &v, (struct span){ end, end, 0.5 }, NULL, (struct span){ 0 });
	f = fact_new(w, "memory.latency_ns", "ns", "largest working set");
	if (!f || fact_where_text(w, f, "page", attrs_text(&c->outer, "page", "")) ||
	    fact_where_text(w, f, "working-set", format_size(size, (uint64_t)end)))
		return -ENOMEM;
	fact_set_cost(f, &cost);
	f->note = translation_note(w, c);
	if (llc > 0 && end < 4 * llc)
		f->note = "less than four times the last-level cache: partly served by it";
	return 0;
}

struct pair_curve {
	double pair; /* distance of the second access */
	struct view view;
};

static int by_pair(const void *a, const void *b)
{
	const struct pair_curve *x = a;
	const struct pair_curve *y = b;

	return (x->pair > y->pair) - (x->pair < y->pair);
}

static double pair_value(const struct pair_curve *v, long invocation)
{
	const struct view *c = &v->view;
	double least = c->y[c->n - 1];

	if (invocation >= 0)
		return (size_t)invocation < c->n_reps
			       ? c->reps[(size_t)invocation * c->n + c->n - 1]
			       : NAN;
	for (size_t r = 0; r < c->n_reps; r++)
		least = fmin(least, c->reps[r * c->n + c->n - 1]);
	return least;
}

/*
 * The smallest distance at which the second access costs like the first: the logs of the costs,
 * by distance, are cut in two where they fall apart best. NaN when the parts differ by less than
 * 15 %, or by less than three times what they differ within. @invocation < 0: of the least values.
 */
static double line_of(const struct pair_curve *v, size_t n, long invocation)
{
	double best = INFINITY;
	double line = NAN;
	double y[PAIRS_MAX];

	for (size_t i = 0; i < n; i++) {
		y[i] = log(pair_value(&v[i], invocation));
		if (!isfinite(y[i]))
			return NAN;
	}
	if (n < 3)
		return NAN;
	for (size_t cut = 1; cut < n; cut++) {
		double low = stats_mean(y, cut);
		double high = stats_mean(y + cut, n - cut);
		double within = 0;

		for (size_t i = 0; i < n; i++)
			within += pow(y[i] - (i < cut ? low : high), 2);
		if (within >= best)
			continue;
		best = within;
		within = sqrt(within / (double)(n - 2 > 0 ? n - 2 : 1));
		line = high - low > fmax(log(1.15), 3 * within) ? v[cut].pair : NAN;
	}
	return line;
}

static int read_pairs(struct work *w, struct pair_curve *v, size_t *ret_n)
{
	size_t n = 0;

	for (size_t i = 0; i < w->curves->n && n < PAIRS_MAX; i++) {
		const struct curve_points *c = &w->curves->v[i];
		int rc;

		if (curve_role(w->run, c) != CURVE_LINE)
			continue;
		rc = view_build(w, c, "ref_ns", &v[n].view);
		if (rc)
			return rc;
		v[n].pair = (double)outer_int(c, "pair", 0);
		n += v[n].view.n > 0;
	}
	qsort(v, n, sizeof(*v), by_pair);
	*ret_n = n;
	return 0;
}

static int add_line(struct work *w)
{
	const struct curve_points *any = curve_of_role(w, CURVE_LINE);
	struct pair_curve v[PAIRS_MAX];
	double each[LINE_INVOCATIONS];
	struct cost c;
	struct fact *f;
	size_t n;
	int rc;

	if (!any)
		return 0;
	rc = read_pairs(w, v, &n);
	if (rc)
		return rc;
	f = fact_new(w, "cache.line", "bytes",
		     "smallest distance at which a second access costs like the first");
	if (!f)
		return -ENOMEM;
	for (long r = 0; r < LINE_INVOCATIONS; r++)
		each[r] = line_of(v, n, r);
	c = cost_of_values(each, LINE_INVOCATIONS, NULL);
	c.value = line_of(v, n, -1);
	if (isnan(c.value)) {
		c = cost_missing("the second access costs alike at all distances");
		if (n < 3)
			c.reason = any->skipped && any->skipped->reason ? any->skipped->reason
									: "fewer than 3 distances";
	}
	fact_set_cost(f, &c);
	f->nominal = c.value;
	f->advertised = (double)attrs_int(&w->run->fingerprint, "cache.line_bytes", 0);
	if (f->advertised <= 0)
		f->advertised = NAN;
	f->note = "an adjacent-line prefetcher can double what is seen";
	return 0;
}

/* One core cycle is one dependent addition; the median over all points of each invocation. */
int facts_clock(struct work *w)
{
	enum { INVOCATIONS = 64 };
	double hz[INVOCATIONS];
	double *adds = arena_alloc(w->arena, (w->run->n_measures + 1) * sizeof(*adds));
	struct cost c;
	struct fact *f;
	bool any = false;

	if (!adds)
		return -ENOMEM;
	for (unsigned r = 0; r < INVOCATIONS; r++) {
		size_t n = 0;

		for (size_t i = 0; i < w->run->n_measures; i++) {
			const struct measure *m = &w->run->measures[i];
			const struct series *s = measure_series(m, "add_ns");

			if (m->invocation != r || m->verdict != VERDICT_OK || !s || !s->values)
				continue;
			adds[n++] = stats_median(s->values, s->n);
		}
		any |= n > 0;
		hz[r] = 1e9 / stats_median(adds, n);
	}
	if (!any)
		return 0;
	c = cost_of_values(hz, INVOCATIONS, "no dependent additions were timed");
	f = fact_new(w, "clock.core_hz", "Hz", "median over invocations of one dependent addition");
	if (!f)
		return -ENOMEM;
	fact_set_cost(f, &c);
	return 0;
}

int facts_cache(struct work *w)
{
	const struct curve_points *c = main_curve(w);
	struct level levels[LEVELS_MAX];
	struct knees knees;
	struct view v;
	int rc = 0;

	if (c) {
		const char *note = translation_note(w, c);
		size_t n;

		rc = view_build(w, c, "ref_ns", &v);
		if (rc == 0)
			rc = view_knees(w, &v, &knees);
		if (rc)
			return rc;
		n = told_levels(w, &knees, levels);
		if (n == 0)
			n = found_levels(&knees, levels);
		rc = add_latency(w, c, levels, n, note);
		if (rc == 0)
			rc = add_capacity(w, c, levels, n, note);
	}
	for (size_t i = 0; i < w->curves->n && rc == 0; i++) {
		if (curve_role(w->run, &w->curves->v[i]) == CURVE_CACHE)
			rc = add_memory(w, &w->curves->v[i]);
	}
	return rc ? rc : add_line(w);
}
