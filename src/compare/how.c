// SPDX-License-Identifier: MIT
/*
 * The box below a comparison: how its numbers were obtained, in sentences. Leaves out: formulas and
 * sources (docs/statistics.md).
 */
#include "compare/parts.h"

#include <errno.h>
#include <math.h>

/* Where lines are collected; a line that could not be made is out of memory. */
struct box {
	struct comparison *c;
	size_t n;
	bool failed;
};

static void line(struct box *b, const char *text)
{
	enum { MOST = sizeof(b->c->how) / sizeof(b->c->how[0]) - 1 };

	b->failed = b->failed || !text || b->n >= MOST;
	if (!b->failed)
		b->c->how[b->n++] = text;
}

static const char *unit_line(const struct rules *r)
{
	switch (r->unit) {
	case UNIT_BOOT:
		return "one value per boot (median over its processes): what differs between boots "
		       "is in the intervals";
	case UNIT_RUN:
		return "one value per run (median over its processes): what differs between runs "
		       "is in the intervals";
	case UNIT_INVOCATION:
		break;
	}
	return "one value per invocation (a fresh process); repetitions inside one are never "
	       "pooled";
}

static const char *spread_line(const struct rules *r)
{
	const struct comparison *c = r->c;

	if (r->unit != UNIT_INVOCATION)
		return NULL;
	if (!c->between_runs)
		return "both sides were measured in the same run (or boots): no variation between "
		       "runs lies between them";
	if (isnan(c->run_spread))
		return arena_printf(r->arena,
				    "A and B are separate runs and their variation is unknown: "
				    "differences below 5 margins (%.3g %%) get no verdict",
				    500 * c->threshold);
	return arena_printf(r->arena,
			    "intervals are widened by what runs of this machine differ: standard "
			    "deviation %.2g %%",
			    100 * c->run_spread);
}

static const char *boots_line(const struct rules *r)
{
	const struct comparison *c = r->c;

	if (c->one_boot_a && c->one_boot_b)
		return "one boot a side: boot-to-boot variation not covered";
	if (c->one_boot_a || c->one_boot_b)
		return arena_printf(r->arena,
				    "one boot on side %s: boot-to-boot variation not covered",
				    c->one_boot_a ? "A" : "B");
	return NULL;
}

static bool has_alone(const struct comparison *c)
{
	for (size_t i = 0; i < c->n_points; i++) {
		if (c->points[i].outcome == OUTCOME_DIFFERENCE && isnan(c->points[i].p) &&
		    isnan(c->points[i].low))
			return true;
	}
	return false;
}

static bool has_counted_symbols(const struct comparison *c)
{
	for (size_t i = 0; i < c->n_points; i++) {
		if (!isnan(c->points[i].p) && attrs_find(&c->points[i].where, "symbol"))
			return true;
	}
	return false;
}

int how_fill(const struct rules *r, struct comparison *c, size_t n_fact_tests, size_t n_point_tests)
{
	struct box b = { .c = c };
	const char *spread = spread_line(r), *boots = boots_line(r);

	if (has_alone(c))
		line(&b, "single values: the difference alone, no test");
	if (has_counted_symbols(c))
		line(&b,
		     "profiles: ticks are counts of samples over the same work; the interval of "
		     "a ratio has the chance of sampling in it, and from several processes what "
		     "differs between them; the total is not one of the tested family");
	if (n_fact_tests + n_point_tests > 0) {
		line(&b, unit_line(r));
		line(&b, arena_printf(r->arena,
				      "difference: Hodges-Lehmann estimate of B / A, with the "
				      "%.3g %% interval that inverts the rank test",
				      100 * c->level));
		line(&b, "tests: two-sided Mann-Whitney, exact also with ties; counts of events: "
			 "exact ratio of Poisson rates");
		line(&b, arena_printf(r->arena,
				      "many tests: p of %zu fact%s by Holm, p of %zu point%s by "
				      "Benjamini-Hochberg (false-discovery rate %.2g %%)",
				      n_fact_tests, n_fact_tests == 1 ? "" : "s", n_point_tests,
				      n_point_tests == 1 ? "" : "s", 100 * (1 - c->level)));
		line(&b, arena_printf(r->arena,
				      "margin: differences up to %.3g %% either way do not matter "
				      "(--threshold)",
				      100 * c->threshold));
		if (spread)
			line(&b, spread);
		if (boots)
			line(&b, boots);
	}
	line(&b, "docs/statistics.md has each formula with its source, and the rules of verdicts");
	return b.failed ? -ENOMEM : 0;
}
