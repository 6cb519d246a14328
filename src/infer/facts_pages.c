// SPDX-License-Identifier: MIT
/*
 * Facts of larger pages: whether the TLB really holds them as such, entries of its levels, cost of
 * hits and walks.
 *
 * A hypervisor may back a guest's huge page by small ones; then the TLB holds entries of the small
 * size. Offsets inside one huge page show it: real huge pages need one entry for all of them.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "infer/facts_tlb.h"

struct effective {
	const char *page; /* NULL: not looked at */
	double bytes;     /* NaN: not known */
	double low, high; /* bytes for which the knee's interval stands */
	const char *reason;
	const char *note; /* static or in the arena: what it means, NULL when pages are real */
};

static double round_to_power(double v)
{
	return exp2(round(log2(v)));
}

/* "2 MiB pages act like 4 KiB entries here" */
static const char *small_note(struct work *w, uint64_t page, double bytes)
{
	char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];
	const char *text =
		arena_printf(w->arena,
			     "%s pages act like %s entries here: the hypervisor backs "
			     "them by smaller ones",
			     format_size_human(a, (double)page), format_size_human(b, bytes));

	return text ? text : "huge pages act like smaller ones here";
}

static int find_effective(struct work *w, const struct curve_points *c, const struct knee *first,
			  struct effective *ret)
{
	struct effective e = { .page = attrs_text(&c->outer, "page", "thp"), .bytes = NAN };
	uint64_t page = page_word_bytes(w->run, e.page);
	uint64_t stride = stride_word_bytes(w->run, attrs_text(&c->outer, "stride", ""), e.page);
	const struct knee *k;
	struct knees knees;
	struct view v;
	int rc = view_build(w, c, "ref_ns", &v);

	if (rc == 0)
		rc = view_knees(w, &v, &knees);
	if (rc)
		return rc;
	e.low = e.high = NAN;
	k = strongest_knee(&knees, 0);
	if (v.n < 6) {
		e.reason = no_knee_text(w, &v);
	} else if (!first) {
		e.reason = "the first level's capacity for small pages is not known";
	} else if (k) {
		/* A knee far below the first level is none of the TLB's. */
		e.bytes = k->capacity < first->capacity / 2
				  ? NAN
				  : fmin((double)page, round_to_power((double)stride * k->capacity /
								      first->capacity));
		e.reason = isnan(e.bytes) ? "the knee inside a huge page is below the TLB's "
					    "first level: something else was seen"
					  : NULL;
		e.low = e.high = e.bytes;
	} else if (view_end(&v) < 1.5 * first->high) {
		e.reason = "too few offsets inside a huge page to exceed the first level";
	} else {
		e.bytes = (double)page;
		e.low = (double)stride * view_end(&v) / first->high;
		e.high = e.bytes;
	}
	if (e.bytes < (double)page)
		e.note = small_note(w, page, e.bytes);
	*ret = e;
	return 0;
}

static int add_effective(struct work *w, const struct effective *e)
{
	struct fact *f = fact_new(w, "tlb.effective_page", "bytes",
				  "offsets inside one huge page: knee of the curve against the "
				  "first level's capacity for small pages");

	if (!f || fact_where_text(w, f, "page", e->page))
		return -ENOMEM;
	f->value = e->bytes;
	f->nominal = e->bytes;
	f->reason = e->reason;
	f->interval_reason =
		isnan(e->bytes) ? NULL : "a size by powers of two: found, not estimated";
	f->note = e->note;
	return 0;
}

/* Knees of a curve with one pointer per page: the first is level 1, the next strong one level 2. */
struct levels {
	const struct knee *first, *second;
};

static struct levels levels_of(const struct knees *k)
{
	struct levels l = { .first = k->n > 0 ? &k->v[0] : NULL };

	if (l.first)
		l.second = strongest_knee(k, 4 * l.first->capacity);
	return l;
}

static struct cost page_hit(struct work *w, const struct view *v, struct levels l,
			    const char *reason)
{
	double end = view_end(v);
	struct span above;

	if (!l.first)
		return cost_missing(reason);
	if (l.second)
		end = 0.75 * l.second->capacity;
	above = (struct span){ 1.25 * l.first->capacity, end, 0.5 };
	return cost_between(w, v, above, v, span_below(l.first->capacity));
}

static struct cost page_walk(struct work *w, const struct view *v, struct levels l,
			     const char *reason)
{
	struct span after;

	if (!l.second)
		return cost_missing(reason);
	after = (struct span){ 1.5 * l.second->capacity, 2.05 * l.second->capacity, 0.5 };
	return cost_between(w, v, after, v, span_below(l.first->capacity));
}

/*
 * Pages that act as small ones: every pointer needs its own entry of a small page, all in few sets
 * at this stride, so that behind the first level each reference walks.
 */
static struct cost small_walk(struct work *w, const struct view *v, struct levels l,
			      const char *reason)
{
	struct span after;

	if (!l.first)
		return cost_missing(reason);
	after = (struct span){ 1.5 * l.first->capacity, 4 * l.first->capacity, 0.5 };
	return cost_between(w, v, after, v, span_below(l.first->capacity));
}

/* One huge page takes one entry of 8 bytes, where a small page can be given a whole table. */
static const char no_far[] =
	"the tables of huge pages are too small to leave the caches: thousands of GiB would have "
	"to be mapped";

static int add_page_costs(struct work *w, const struct curve_points *c, const char *page,
			  struct levels l, bool small, const char *reason, const char *note)
{
	for (size_t i = 0; i < TLB_METRICS; i++) {
		const struct tlb_metric *m = &tlb_metrics[i];
		struct cost hit, walk, far = cost_missing(no_far);
		struct view v;
		int rc = view_build(w, c, m->metric, &v);

		if (rc)
			return rc;
		if (v.n == 0 && !reason)
			reason = v.reason;
		hit = small ? cost_missing(note) : page_hit(w, &v, l, reason);
		walk = small ? small_walk(w, &v, l, reason) : page_walk(w, &v, l, reason);
		rc = add_cost(w, m->hit, m->unit, page, 2, &hit,
			      "plateau above the first level less plateau below", NULL);
		if (rc == 0)
			rc = add_cost(
				w, m->walk_cached, m->unit, page, 0, &walk,
				small ? "plateau above the first level less plateau below"
				      : "plateau above the second level less a first-level hit",
				small ? note : NULL);
		if (rc == 0)
			rc = add_cost(w, m->walk_memory, m->unit, page, 0, &far, "not measured",
				      NULL);
		if (rc)
			return rc;
	}
	return 0;
}

static int add_large(struct work *w, const struct curve_points *c, const struct effective *e)
{
	const char *page = attrs_text(&c->outer, "page", "");
	bool small = e->note && strcmp(e->page, page) == 0;
	const char *reason, *second_reason;
	struct knees knees;
	struct levels l;
	struct view v;
	int rc = view_build(w, c, "ref_ns", &v);

	if (rc == 0)
		rc = view_knees(w, &v, &knees);
	if (rc)
		return rc;
	l = levels_of(&knees);
	reason = no_knee_text(w, &v);
	second_reason = reason;
	if (l.first && !l.second)
		second_reason =
			arena_printf(w->arena, "no second knee up to %.0f pointers", view_end(&v));
	rc = add_entries(w, page, 1, c, small ? NULL : l.first, small ? e->note : reason, NULL);
	if (rc == 0)
		rc = add_entries(w, page, 2, c, small ? NULL : l.second,
				 small ? e->note : second_reason, NULL);
	if (rc)
		return rc;
	return add_page_costs(w, c, page, l, small, l.first ? second_reason : reason, e->note);
}

int facts_pages(struct work *w, const struct knee *first)
{
	const struct curve_points *inside = curve_of_role(w, CURVE_INSIDE);
	struct effective e = { .bytes = NAN };
	int rc = 0;

	if (inside) {
		rc = find_effective(w, inside, first, &e);
		if (rc == 0)
			rc = add_effective(w, &e);
	}
	for (size_t i = 0; i < w->curves->n && rc == 0; i++) {
		const struct curve_points *c = &w->curves->v[i];

		if (curve_role(w->run, c) == CURVE_LARGE)
			rc = add_large(w, c, &e);
	}
	return rc;
}
