// SPDX-License-Identifier: MIT
/*
 * The line that people decide by: random reads over a large working set with small and with huge
 * pages, and what huge pages save. Leaves out: writes, parallel references.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "infer/facts.h"

/* Smaller sets lie in the caches of some machine: no basis for a decision. */
static const double LEAST_BYTES = 1 << 30;

static bool is_cache_curve(struct work *w, const struct curve_points *c, bool base)
{
	return curve_role(w->run, c) == CURVE_CACHE &&
	       page_word_is_base(w->run, attrs_text(&c->outer, "page", "")) == base;
}

/* The first curve of small or of larger pages that has, or was to have, the deciding set. */
static const struct curve_points *toll_curve(struct work *w, bool base, double *ret_end)
{
	const struct curve_points *skipped = NULL;

	for (size_t i = 0; i < w->curves->n; i++) {
		const struct curve_points *c = &w->curves->v[i];
		int64_t end;

		if (!is_cache_curve(w, c, base))
			continue;
		if (c->n == 0) {
			skipped = c;
			continue;
		}
		end = attrs_int(c->points[c->n - 1]->setting, "working-set", 0);
		if ((double)end >= LEAST_BYTES) {
			*ret_end = (double)end;
			return c;
		}
	}
	return skipped;
}

static int add_read(struct work *w, const char *page, const char *size, const struct cost *c)
{
	struct fact *f =
		fact_new(w, "toll.random_read_ns", "ns", "median over invocations of minima");

	if (!f || fact_where_text(w, f, "page", page) || fact_where_text(w, f, "working-set", size))
		return -ENOMEM;
	fact_set_cost(f, c);
	return 0;
}

static int add_saving(struct work *w, const char *size, const struct view *base,
		      const struct view *huge, double bytes)
{
	static const char missing[] = "not both page sizes were measured at this size";
	struct span at = { bytes, bytes, 0.5 };
	size_t n = base->n_reps < huge->n_reps ? base->n_reps : huge->n_reps;
	size_t cap = base->n_reps > huge->n_reps ? base->n_reps : huge->n_reps;
	double *small_ns = arena_alloc(w->arena, (cap + 1) * sizeof(*small_ns));
	double *huge_ns = arena_alloc(w->arena, (cap + 1) * sizeof(*huge_ns));
	struct fact *f =
		fact_new(w, "toll.huge_page_saving", "percent",
			 "1 - huge / small of the medians; interval from invocations in pairs");
	struct cost c;

	if (!f || !small_ns || !huge_ns || fact_where_text(w, f, "working-set", size))
		return -ENOMEM;
	if (base->n == 0 || huge->n == 0) {
		c = cost_missing(base->n == 0 ? base->reason : huge->reason);
	} else {
		span_values(base, at, small_ns);
		span_values(huge, at, huge_ns);
		struct cost small_median = cost_of_values(small_ns, base->n_reps, missing);
		struct cost huge_median = cost_of_values(huge_ns, huge->n_reps, missing);

		for (size_t r = 0; r < n; r++)
			small_ns[r] = 100 * (1 - huge_ns[r] / small_ns[r]);
		c = cost_of_values(small_ns, n, missing);
		/* The figure must be what a reader gets from the two that stand beside it. */
		c.value = 100 * (1 - huge_median.value / small_median.value);
		if (!isnan(c.low)) {
			c.low = fmin(c.low, c.value);
			c.high = fmax(c.high, c.value);
		}
	}
	fact_set_cost(f, &c);
	return 0;
}

int facts_toll(struct work *w)
{
	double base_end = 0, huge_end = 0;
	const struct curve_points *base = toll_curve(w, true, &base_end);
	const struct curve_points *huge = toll_curve(w, false, &huge_end);
	const struct curve_points *both[2] = { base, huge };
	double bytes = base_end > 0 && huge_end > 0 ? fmin(base_end, huge_end) : 0;
	struct view views[2];
	char text[UNITS_TEXT_BYTES];
	int rc = 0;

	/* One that could not run beside one that did: the reason is what there is to tell. */
	if (bytes == 0 && base && huge)
		bytes = fmax(base_end, huge_end);
	if (bytes == 0)
		return 0;
	format_size(text, (uint64_t)bytes);
	for (size_t i = 0; i < 2 && rc == 0; i++) {
		struct cost c;

		rc = view_build(w, both[i], "ref_ns", &views[i]);
		if (rc)
			break;
		c = cost_between(w, &views[i], (struct span){ bytes, bytes, 0.5 }, NULL,
				 (struct span){ 0 });
		rc = add_read(w, attrs_text(&both[i]->outer, "page", ""), text, &c);
	}
	return rc ? rc : add_saving(w, text, &views[0], &views[1], bytes);
}
