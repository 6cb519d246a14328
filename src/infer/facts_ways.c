// SPDX-License-Identifier: MIT
/*
 * Associativity of the first-level data TLB, where curves at doubled strides show it: a structure
 * of s sets indexed by the low bits of the page number holds w * s / u pages that lie u pages
 * apart, so its capacity halves with every doubling until only one set is left; what then stays are
 * the ways. A capacity that never halves means full associativity, as far as the strides go. Leaves
 * out: hashed indexes (the capacity then does not halve either) and levels whose ways the level
 * before them hides. Source: K. Yotov, K. Pingali, P. Stodghill, "Automatic measurement of memory
 * hierarchy parameters", SIGMETRICS 2005.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/facts_tlb.h"

enum { STRIDES_MAX = 24, LEAST_STRIDES = 3 };

struct strided {
	double pages;    /* stride in pages: a power of two */
	double capacity; /* NaN: no knee */
	const struct curve_points *curve;
};

static int by_stride(const void *a, const void *b)
{
	const struct strided *x = a;
	const struct strided *y = b;

	return (x->pages > y->pages) - (x->pages < y->pages);
}

/* Pages of the stride if it is a power of two of small pages and nothing else is unusual; else 0.
 */
static double pages_of(struct work *w, const struct curve_points *c, const char *backing)
{
	uint64_t base = base_page_bytes(w->run);
	const char *page = attrs_text(&c->outer, "page", "");
	uint64_t stride = stride_word_bytes(w->run, attrs_text(&c->outer, "stride", ""), page);
	uint64_t pages = base ? stride / base : 0;

	if (strcmp(c->bench, "tlb.chase") != 0 || !page_word_is_base(w->run, page) ||
	    !outer_is(c, "backing", backing) || !outer_is(c, "alias", "plain") ||
	    !outer_is(c, "order", "random") || !outer_is(c, "page-tables", "local"))
		return 0;
	return pages && pages * base == stride && (pages & (pages - 1)) == 0 ? (double)pages : 0;
}

/* The curves of one backing, by stride; one a stride. */
static int collect(struct work *w, const char *backing, struct strided *v, size_t *ret_n)
{
	size_t n = 0;

	for (size_t i = 0; i < w->curves->n && n < STRIDES_MAX; i++) {
		const struct curve_points *c = &w->curves->v[i];
		struct strided s = { .pages = pages_of(w, c, backing), .curve = c };
		struct knees knees;
		struct view view;
		int rc;

		for (size_t k = 0; k < n; k++)
			s.pages = v[k].pages == s.pages ? 0 : s.pages;
		if (s.pages == 0 || c->n < 6)
			continue;
		rc = view_build(w, c, "ref_ns", &view);
		if (rc == 0)
			rc = view_knees(w, &view, &knees);
		if (rc)
			return rc;
		s.capacity = knees.n > 0 ? knees.v[0].capacity : NAN;
		v[n++] = s;
	}
	qsort(v, n, sizeof(*v), by_stride);
	*ret_n = n;
	return 0;
}

/* Whether the capacity halves from one stride to the next, doubled one: 1; stays: 0; neither: -1.
 */
static int halves(const struct strided *a, const struct strided *b)
{
	double off = log2(a->capacity / b->capacity);

	if (b->pages != 2 * a->pages || isnan(off) || fabs(off) > 1.35 ||
	    (off > 0.35 && off < 0.65))
		return -1;
	return off >= 0.65;
}

static int add_ways(struct work *w, const struct strided *v, size_t n)
{
	const char *page = attrs_text(&v[0].curve->outer, "page", "base");
	struct fact *f = fact_new(w, "tlb.ways", "ways", "capacities at doubled strides");
	size_t at = 1;

	if (!f || fact_where_text(w, f, "page", page) || fact_where_int(w, f, "level", 1))
		return -ENOMEM;
	while (at < n && halves(&v[at - 1], &v[at]) == 1)
		at++;
	if (at < n && halves(&v[at - 1], &v[at]) == 0) {
		f->value = round(v[at - 1].capacity);
		f->nominal = knee_nominal(f->value, f->value, f->value);
		f->interval_reason = "a whole number found, not estimated";
		f->note = at == 1 ? "the capacity does not fall with the stride: fully "
				    "associative, or "
				    "a hashed index"
				  : NULL;
	} else if (at == n) {
		f->reason = arena_printf(
			w->arena,
			"the capacity still halves at the largest stride: at most %.0f "
			"ways",
			v[n - 1].capacity);
	} else {
		f->reason = "the capacities neither halve nor stay from stride to stride";
	}
	return f->reason || !isnan(f->value) ? 0 : -ENOMEM;
}

int facts_ways(struct work *w)
{
	static const char *const backings[] = { "zero", "distinct", "contiguous", "memfd" };

	for (size_t i = 0; i < sizeof(backings) / sizeof(backings[0]); i++) {
		struct strided v[STRIDES_MAX];
		size_t n;
		int rc = collect(w, backings[i], v, &n);

		if (rc)
			return rc;
		if (n >= LEAST_STRIDES)
			return add_ways(w, v, n);
	}
	return 0;
}
