// SPDX-License-Identifier: MIT
/*
 * Facts of the data TLB for small pages: entries of both levels, the cost of a hit in the second,
 * the cost of a walk with its tables in the caches and in memory. Larger pages: facts_pages.c.
 * Leaves out: instruction TLBs; stores; structures that one core's threads share while both run.
 */
#include "infer/facts_tlb.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/units.h"

const struct tlb_metric tlb_metrics[TLB_METRICS] = {
	{ "ref_ns", "ns", "tlb.hit_ns", "walk.cached_ns", "walk.memory_ns" },
	{ "ref_cycles", "cycles", "tlb.hit_cycles", "walk.cached_cycles", "walk.memory_cycles" },
};

const struct knee *strongest_knee(const struct knees *k, double above)
{
	const struct knee *best = NULL;

	for (size_t i = 0; i < k->n; i++) {
		const struct knee *now = &k->v[i];

		if (now->capacity > above &&
		    (!best || now->after / now->before > best->after / best->before))
			best = now;
	}
	return best;
}

static double advertised_entries_of(struct work *w, int level, uint64_t page_bytes)
{
	char size[UNITS_TEXT_BYTES];
	const char *name = arena_printf(w->arena, "advertised.dtlb%d.%s", level,
					format_size(size, page_bytes));
	int64_t told = name ? attrs_int(&w->run->fingerprint, name, 0) : 0;

	return told > 0 ? (double)told : NAN;
}

int add_entries(struct work *w, const char *page, int level, const struct curve_points *curve,
		const struct knee *k, const char *reason, const char *note)
{
	static const char *const ids[] = { "tlb.entries", "tlb.reach" };
	static const char *const units[] = { "entries", "bytes" };
	uint64_t bytes = page_word_bytes(w->run, page);

	for (int i = 0; i < 2; i++) {
		struct fact *f = fact_new(w, ids[i], units[i], "knee of the curve");
		double factor = i == 0 ? 1 : (double)bytes;

		if (!f || fact_where_text(w, f, "page", page) ||
		    fact_where_int(w, f, "level", level))
			return -ENOMEM;
		if (k)
			fact_set_knee(f, k, factor);
		if (k && i == 0)
			fact_on_curve(f, curve, k);
		f->reason = k ? NULL : reason;
		f->note = note;
		f->advertised = factor * advertised_entries_of(w, level, bytes);
	}
	return 0;
}

int add_cost(struct work *w, const char *id, const char *unit, const char *page, int level,
	     const struct cost *c, const char *method, const char *note)
{
	struct fact *f = fact_new(w, id, unit, method);

	if (!f || fact_where_text(w, f, "page", page) ||
	    (level > 0 && fact_where_int(w, f, "level", level)))
		return -ENOMEM;
	fact_set_cost(f, c);
	f->note = note;
	return 0;
}

const char *no_knee_text(struct work *w, const struct view *v)
{
	const char *text;

	if (v->n == 0)
		return v->reason;
	if (v->n < 6)
		return "fewer than 6 points: no knee can be told";
	text = arena_printf(w->arena, "no knee up to %.0f pointers", view_end(v));
	return text ? text : "no knee";
}

struct span span_below(double capacity)
{
	/* One or two pointers pay for the end of each round; leave them out where there are more.
	 */
	return (struct span){ .low = capacity > 8 ? 4 : 1, .high = 0.75 * capacity, .q = 0.5 };
}

/* Curves of small pages, read once for the capacities (ns) and once more for each metric. */
struct base_tlb {
	const struct curve_points *hits, *walk, *far;
	const char *page;
	struct view hits_view, walk_view;
	struct knees hits_knees, walk_knees;
	const struct knee *first, *second;
	const char *first_reason, *second_reason, *first_note;
};

/* Why the second level was not found: points that end too early, or a curve without a knee. */
static const char *no_second_text(struct work *w, const struct base_tlb *b)
{
	double told = advertised_entries_of(w, 2, page_word_bytes(w->run, b->page));
	double from = 4 * b->first->capacity, end = view_end(&b->walk_view);
	/* A knee needs points behind it. */
	bool early = end <= from || end < 1.25 * told;
	const char *text;

	if (!early)
		text = arena_printf(w->arena, "no knee between %.0f and %.0f pointers", from, end);
	else if (isnan(told))
		text = arena_printf(w->arena,
				    "the points end at %.0f pointers, too early for a second "
				    "level: a longer --budget goes on",
				    end);
	else
		text = arena_printf(w->arena,
				    "the points end at %.0f pointers, too early for the %.0f "
				    "entries that the processor tells: a longer --budget goes on",
				    end, told);
	return text ? text : "no second knee";
}

static int read_base(struct work *w, struct base_tlb *b)
{
	static const struct curve_points none;
	int rc = view_build(w, b->hits ? b->hits : &none, "ref_ns", &b->hits_view);

	if (rc == 0)
		rc = view_build(w, b->walk ? b->walk : &none, "ref_ns", &b->walk_view);
	if (rc == 0)
		rc = view_knees(w, &b->hits_view, &b->hits_knees);
	if (rc == 0)
		rc = view_knees(w, &b->walk_view, &b->walk_knees);
	if (rc)
		return rc;
	b->first = strongest_knee(&b->hits_knees, 0);
	b->first_reason = no_knee_text(w, &b->hits_view);
	if (!b->hits && b->walk_knees.n > 0) {
		b->first = &b->walk_knees.v[0];
		b->first_note = "from the dense curve: way-predictor aliases may blur it";
	}
	/*
	 * The dense curve's rise just above the first level is not the second one's end: on some
	 * processors one line read through many addresses also misses the way predictor.
	 */
	b->second = strongest_knee(&b->walk_knees, b->first ? 4 * b->first->capacity : 0);
	b->second_reason = no_knee_text(w, &b->walk_view);
	if (!b->first) {
		b->second = NULL;
		if (b->walk_view.n > 0)
			b->second_reason = "the first level's capacity is not known";
	} else if (!b->second && b->walk_view.n >= 6) {
		b->second_reason = no_second_text(w, b);
	}
	return 0;
}

/* What each reference pays once the first level no longer suffices: plateau less plateau. */
static struct cost hit_cost(struct work *w, const struct base_tlb *b, const char *metric)
{
	struct span above;
	struct view v;

	if (!b->hits)
		return cost_missing("needs the curve with alias=avoid");
	if (!b->first)
		return cost_missing(b->first_reason);
	if (view_build(w, b->hits, metric, &v))
		return cost_missing("out of memory");
	above = (struct span){ .low = 1.25 * b->first->capacity, .high = INFINITY, .q = 0.5 };
	return cost_between(w, &v, above, &v, span_below(b->first->capacity));
}

/*
 * A walk over a hit in the first level: rise of the dense curve at the second level's end, plus
 * what a hit in the second level costs over one in the first. Between 1.5 and 2 capacities nearly
 * every reference walks under any replacement, and the table lines still fit the first data cache.
 */
static struct cost walk_cost(struct work *w, const struct base_tlb *b, const char *metric)
{
	struct view hits, walk;
	struct span before, after;
	double *rise, *saved;
	double c1, c2;

	if (!b->hits)
		return cost_missing("needs the curve with alias=avoid");
	if (!b->second)
		return cost_missing(b->second_reason);
	if (view_build(w, b->hits, metric, &hits) || view_build(w, b->walk, metric, &walk))
		return cost_missing("out of memory");
	if (hits.n == 0 || walk.n == 0)
		return cost_missing(hits.n == 0 ? hits.reason : walk.reason);
	c1 = b->first->capacity;
	c2 = b->second->capacity;
	before = (struct span){ fmax(3 * c1, c2 / 4), 0.9 * c2, 0.5 };
	after = (struct span){ 1.5 * c2, 2.05 * c2, 0.5 };
	rise = arena_alloc(w->arena, 2 * (walk.n_reps + 1) * sizeof(*rise));
	saved = arena_alloc(w->arena, 2 * (hits.n_reps + 1) * sizeof(*saved));
	if (!rise || !saved)
		return cost_missing("out of memory");
	span_values(&walk, after, rise);
	span_values(&walk, before, rise + walk.n_reps);
	span_values(&hits, (struct span){ 1.25 * c1, INFINITY, 0.5 }, saved);
	span_values(&hits, span_below(c1), saved + hits.n_reps);
	for (size_t r = 0; r < walk.n_reps; r++) {
		rise[r] -= rise[walk.n_reps + r];
		rise[r] += r < hits.n_reps ? saved[r] - saved[hits.n_reps + r] : NAN;
	}
	return cost_of_values(rise, walk.n_reps,
			      "no points between 1.5 and 2 times the second level's capacity");
}

/* Whether the page-table lines of @pointers exceed the caches; NULL: they do by far. */
static const char *far_note(struct work *w, double pointers)
{
	double lines = 64 * pointers;
	double llc = (double)attrs_int(&w->run->fingerprint, "llc_bytes", 0);
	char have[UNITS_TEXT_BYTES], cache[UNITS_TEXT_BYTES];
	const char *text;

	if (llc <= 0)
		return "size of the last-level cache unknown: the tables may still fit";
	if (lines >= 0.99 * 4 * llc)
		return NULL;
	text = arena_printf(
		w->arena,
		"the page tables read here (lines of %s) partly stay in the caches (%s): "
		"a walk can cost more; the whole curve: pagetoll run tlb.chase "
		"stride=leaf-table+base-page backing=zero",
		format_size_human(have, lines), format_size_human(cache, llc));
	return text ? text : "the tables partly stay in the caches";
}

static int add_far(struct work *w, const struct base_tlb *b, const struct tlb_metric *m)
{
	struct cost c = cost_missing("needs the curve with alias=avoid");
	const char *note = NULL;
	struct view far, hits;
	int rc = view_build(w, b->far, m->metric, &far);

	if (rc)
		return rc;
	if (far.n == 0) {
		c = cost_missing(far.reason);
	} else if (b->hits) {
		double end = view_end(&far);
		/* Without a knee all small sets hit: the lowest eighth of the curve will do. */
		double c1 = b->first ? b->first->capacity : 64;

		rc = view_build(w, b->hits, m->metric, &hits);
		if (rc)
			return rc;
		c = cost_between(w, &far, (struct span){ end, end, 0.5 }, &hits, span_below(c1));
		note = far_note(w, end);
	}
	return add_cost(w, m->walk_memory, m->unit, b->page, 0, &c,
			"largest set of one page per leaf table, less a first-level hit", note);
}

static int add_base_costs(struct work *w, const struct base_tlb *b)
{
	for (size_t i = 0; i < TLB_METRICS; i++) {
		const struct tlb_metric *m = &tlb_metrics[i];
		struct cost hit = hit_cost(w, b, m->metric);
		struct cost walk = walk_cost(w, b, m->metric);
		int rc = 0;

		if (b->hits)
			rc = add_cost(w, m->hit, m->unit, b->page, 2, &hit,
				      "plateau above the first level less plateau below", NULL);
		if (rc == 0 && b->walk)
			rc = add_cost(w, m->walk_cached, m->unit, b->page, 0, &walk,
				      "rise behind the second level plus its hit cost", NULL);
		if (rc == 0 && b->far)
			rc = add_far(w, b, m);
		if (rc)
			return rc;
	}
	return 0;
}

int facts_tlb(struct work *w)
{
	struct base_tlb b = { .hits = curve_of_role(w, CURVE_BASE_HITS),
			      .walk = curve_of_role(w, CURVE_BASE_WALK),
			      .far = curve_of_role(w, CURVE_BASE_FAR) };
	const struct curve_points *any = b.hits ? b.hits : b.walk ? b.walk : b.far;
	int rc = 0;

	if (any) {
		b.page = attrs_text(&any->outer, "page", "base");
		rc = read_base(w, &b);
		if (rc == 0 && (b.hits || b.walk))
			rc = add_entries(w, b.page, 1, b.hits ? b.hits : b.walk, b.first,
					 b.first_reason, b.first_note);
		if (rc == 0 && b.walk)
			rc = add_entries(w, b.page, 2, b.walk, b.second, b.second_reason, NULL);
		if (rc == 0)
			rc = add_base_costs(w, &b);
	}
	return rc ? rc : facts_pages(w, b.first);
}
