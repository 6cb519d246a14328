// SPDX-License-Identifier: MIT
/*
 * What difference, interval and p mean: the rules of verdicts, which docs/statistics.md states. The
 * margin is symmetrical as a ratio, so that changing sides turns better into worse and nothing
 * else.
 */
#include "compare/parts.h"

#include <errno.h>
#include <math.h>

#include "stats/two_sample.h"

/* Below that many margins a difference between runs may be one of runs only. */
static const double RUN_MARGINS = 5;
/* Further invocations that nobody will make. */
enum { MORE_MAX = 1000 };

static const char *const unit_words[] = { "invocation", "run", "boot" };

static void decide(struct row *row, enum outcome o, const char *reason)
{
	row->c.outcome = o;
	row->c.reason = reason ? reason : row->c.reason;
}

static int undecided(struct row *row, const char *reason)
{
	decide(row, OUTCOME_INCONCLUSIVE, reason);
	return reason ? 0 : -ENOMEM;
}

static enum outcome direction(const struct row *row, bool is_higher)
{
	return (row->better == BETTER_HIGHER) == is_higher ? OUTCOME_BETTER : OUTCOME_WORSE;
}

static const char *more(const struct rules *r, size_t n)
{
	if (n > MORE_MAX)
		return arena_printf(r->arena, "more than %d more %ss a side", MORE_MAX,
				    unit_words[r->unit]);
	return arena_printf(r->arena, "about %zu more %s%s a side", n, unit_words[r->unit],
			    n == 1 ? "" : "s");
}

static size_t smaller_group(const struct row *row)
{
	return row->c.n_a < row->c.n_b ? row->c.n_a : row->c.n_b;
}

/* The least size of two equal groups at which the rank test can tell anything after correction. */
static size_t least_group(const struct rules *r, size_t n_tests)
{
	double p = 2;
	size_t n = 0;

	/* p = 2 / C(2n, n), and C(2n, n) = C(2n - 2, n - 1) * 2 (2n - 1) / n. */
	do {
		n++;
		p *= (double)n / (2 * (2 * (double)n - 1));
	} while (p * (double)(n_tests ? n_tests : 1) > 1 - r->c->level);
	return n;
}

static int too_few(const struct rules *r, struct row *row, size_t n_tests)
{
	size_t least = least_group(r, n_tests);
	size_t n = smaller_group(row);

	return undecided(row, more(r, least > n ? least - n : 1));
}

/* Half width on logarithms that would settle it one way or the other. */
static double wanted_half_width(const struct compared *c, double margin)
{
	double middle = fabs(log1p(c->percent / 100));

	return fabs(middle - margin);
}

static double half_width(const struct compared *c)
{
	return (log1p(c->high / 100) - log1p(c->low / 100)) / 2;
}

/* Part of the half width that further invocations of the same runs cannot take away. */
static double fixed_half_width(const struct rules *r)
{
	double s = r->c->run_spread;

	if (!r->c->between_runs || isnan(s))
		return 0;
	return stats_normal_quantile((1 + r->c->level) / 2) * s *
	       sqrt(1 / (double)r->runs_a + 1 / (double)r->runs_b);
}

static int needs_runs(const struct rules *r, struct row *row)
{
	return undecided(row,
			 arena_printf(r->arena,
				      "runs of this machine differ by %.2g %%: more invocations "
				      "cannot tell, pagetoll ab would, or more runs a side",
				      100 * r->c->run_spread));
}

/*
 * The interval lies outside the margin, but p, as adjusted, is too large: how many values would
 * bring the error down to what the adjusted level asks for. What lies between runs stays.
 */
static int needs_smaller_p(const struct rules *r, struct row *row, size_t n_tests)
{
	const struct compared *c = &row->c;
	double factor = c->p > 0 ? fmax(1, c->p_adjusted / c->p) : 1;
	double middle = fabs(log1p(c->percent / 100));
	double now = middle / stats_normal_quantile(1 - c->p / 2);
	double wanted = middle / stats_normal_quantile(1 - (1 - r->c->level) / (2 * factor));
	double fixed = fixed_half_width(r) / stats_normal_quantile((1 + r->c->level) / 2);
	size_t n = smaller_group(row), needed;

	if (least_group(r, n_tests) > n)
		return too_few(r, row, n_tests);
	if (fixed > 0 && fixed >= wanted)
		return needs_runs(r, row);
	if (!isfinite(now) || !(wanted > 0))
		return undecided(row, more(r, MORE_MAX + 1));
	now = sqrt(fmax(0, now * now - fixed * fixed));
	needed = stats_needed(n, now, sqrt(wanted * wanted - fixed * fixed));
	if (needed <= n && fixed > 0)
		return needs_runs(r, row);
	return undecided(row, more(r, needed > n ? needed - n : 1));
}

static int needs_more(const struct rules *r, struct row *row, double margin)
{
	double wanted = wanted_half_width(&row->c, margin);
	double fixed = fixed_half_width(r);
	double now = half_width(&row->c);
	size_t n = smaller_group(row), needed;

	if (fixed >= wanted && fixed > 0)
		return needs_runs(r, row);
	if (!isfinite(now) || !(wanted > 0))
		return undecided(row, more(r, MORE_MAX + 1));
	/* What varies inside the runs shrinks, the rest stays. */
	now = sqrt(fmax(0, now * now - fixed * fixed));
	needed = stats_needed(n, now, sqrt(wanted * wanted - fixed * fixed));
	/* The interval is as good as it gets, and still crosses the margin. */
	if (needed <= n && fixed > 0)
		return needs_runs(r, row);
	return undecided(row, more(r, needed > n ? needed - n : 1));
}

/* Differences that separate runs may show without any cause. */
static bool may_be_run_to_run(const struct rules *r, const struct row *row)
{
	if (!r->c->between_runs || !isnan(r->c->run_spread) || row->is_exact)
		return false;
	return fabs(log1p(row->c.percent / 100)) < log1p(RUN_MARGINS * r->c->threshold);
}

static int decide_tested(const struct rules *r, struct row *row, size_t n_tests)
{
	double margin = log1p(r->c->threshold);
	double low = log1p(row->c.low / 100);
	double high = log1p(row->c.high / 100);
	bool outside = low > margin || high < -margin;

	if (may_be_run_to_run(r, row))
		return undecided(row, "run-to-run variation unknown: pagetoll ab --aa would tell");
	if (isnan(low))
		return too_few(r, row, n_tests);
	if (low >= -margin && high <= margin) {
		decide(row, OUTCOME_EQUIVALENT, NULL);
		return 0;
	}
	/* Exact values have no p and need none. */
	if (outside && (row->is_exact || row->c.p_adjusted <= 1 - r->c->level)) {
		decide(row, direction(row, low > margin), NULL);
		return 0;
	}
	if (outside)
		return needs_smaller_p(r, row, n_tests);
	return needs_more(r, row, margin);
}

int row_decide(const struct rules *r, struct row *row, size_t n_tests)
{
	int rc;

	if (isnan(row->c.a) || isnan(row->c.b)) {
		decide(row, OUTCOME_MISSING, NULL);
		return 0;
	}
	if (row->is_alone) {
		decide(row, OUTCOME_DIFFERENCE, NULL);
		return 0;
	}
	if (row->nominal) {
		decide(row, OUTCOME_EQUIVALENT, row->nominal);
		return 0;
	}
	/* No ratio, and that is said already. */
	if (isnan(row->c.percent) && isnan(row->c.low)) {
		bool told = row->is_exact || row->better == BETTER_NONE ||
			    row->c.p_adjusted <= 1 - r->c->level;

		decide(row, told ? OUTCOME_DIFFERENCE : OUTCOME_INCONCLUSIVE,
		       row->c.reason || told ? NULL : "no single unit of replication has it");
		return 0;
	}
	rc = decide_tested(r, row, n_tests);
	/* Where nothing is good or bad only equality is a verdict. */
	if (rc == 0 && row->better == BETTER_NONE && row->c.outcome != OUTCOME_EQUIVALENT) {
		row->c.outcome = OUTCOME_DIFFERENCE;
		row->c.reason = NULL;
	}
	return rc;
}
