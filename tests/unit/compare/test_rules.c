// SPDX-License-Identifier: MIT
/* The rules of verdicts, row by row, inside one run: page=a against page=b. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "compare_sim.h"
#include "stats/two_sample.h"

#define COUNT(v) (sizeof(v) / sizeof((v)[0]))

struct rule {
	const char *what;
	const char *metric;
	size_t n_a, n_b;
	double a[12], b[12];
	enum outcome outcome;
	const char *reason; /* part of it; NULL: none */
	double percent;
};

static const struct rule rules[] = {
	{ "lower by 31.5 %, with ties",
	  "t_ns",
	  5,
	  5,
	  { 115, 114, 115, 115, 115 },
	  { 78.8, 78.8, 78.8, 78.8, 78.8 },
	  OUTCOME_BETTER,
	  NULL,
	  -31.478 },
	{ "the same for what should be high",
	  "rate",
	  5,
	  5,
	  { 115, 114, 115, 115, 115 },
	  { 78.8, 78.8, 78.8, 78.8, 78.8 },
	  OUTCOME_WORSE,
	  NULL,
	  -31.478 },
	{ "higher is better",
	  "rate",
	  5,
	  5,
	  { 10, 10.1, 10.2, 9.9, 9.8 },
	  { 20, 20.1, 20.2, 19.9, 19.8 },
	  OUTCOME_BETTER,
	  NULL,
	  100 },
	{ "the same constant",
	  "t_ns",
	  5,
	  5,
	  { 3, 3, 3, 3, 3 },
	  { 3, 3, 3, 3, 3 },
	  OUTCOME_EQUIVALENT,
	  NULL,
	  0 },
	{ "constants within the margin",
	  "t_ns",
	  4,
	  4,
	  { 100, 100, 100, 100 },
	  { 101, 101, 101, 101 },
	  OUTCOME_EQUIVALENT,
	  NULL,
	  1 },
	{ "constants beyond the margin",
	  "t_ns",
	  4,
	  4,
	  { 100, 100, 100, 100 },
	  { 103, 103, 103, 103 },
	  OUTCOME_WORSE,
	  NULL,
	  3 },
	{ "close",
	  "t_ns",
	  6,
	  6,
	  { 100, 100.2, 99.9, 100.1, 99.8, 100.3 },
	  { 100.1, 100.3, 99.7, 100, 99.9, 100.2 },
	  OUTCOME_EQUIVALENT,
	  NULL,
	  0 },
	{ "three values cannot tell",
	  "t_ns",
	  3,
	  3,
	  { 100, 101, 102 },
	  { 50, 51, 52 },
	  OUTCOME_INCONCLUSIVE,
	  "about 1 more invocation a side",
	  -49.5 },
	{ "one value cannot tell",
	  "t_ns",
	  1,
	  1,
	  { 100 },
	  { 50 },
	  OUTCOME_INCONCLUSIVE,
	  "about 3 more invocations a side",
	  -50 },
	{ "one side has a single value",
	  "t_ns",
	  8,
	  1,
	  { 100, 101, 99, 100, 102, 98, 97, 103 },
	  { 50 },
	  OUTCOME_INCONCLUSIVE,
	  "about 3 more invocations a side",
	  -50 },
	{ "scattered",
	  "t_ns",
	  6,
	  6,
	  { 90, 95, 100, 105, 110, 115 },
	  { 91, 96, 101, 106, 111, 117 },
	  OUTCOME_INCONCLUSIVE,
	  "more invocations a side",
	  1 },
	{ "a difference on the margin",
	  "t_ns",
	  4,
	  4,
	  { 100, 100, 100, 100 },
	  { 101, 102, 102, 103 },
	  OUTCOME_INCONCLUSIVE,
	  "more than 1000 more",
	  2 },
	{ "no ratio",
	  "t_ns",
	  5,
	  5,
	  { -1, 1, 2, 0, 1 },
	  { 1, 0, 2, 1, -1 },
	  OUTCOME_INCONCLUSIVE,
	  "no ratio",
	  NAN },
	{ "no ratio, but apart",
	  "t_ns",
	  5,
	  5,
	  { -1, -1, -2, -3, 0 },
	  { 10, 11, 12, 13, 14 },
	  OUTCOME_DIFFERENCE,
	  "the difference is 13 ns",
	  NAN },
};

static struct comparison compare_values(const struct rule *x, bool swapped)
{
	struct run *r = sim_new("r", "boot");
	struct comparison c;

	sim_values(r, x->metric, "a", 4096, swapped ? x->b : x->a, swapped ? x->n_b : x->n_a);
	sim_values(r, x->metric, "b", 4096, swapped ? x->a : x->b, swapped ? x->n_a : x->n_b);
	c = sim_by(r, "page", "a", "b", 0.02);
	run_free(r);
	return c;
}

static enum outcome mirrored(enum outcome o)
{
	return o == OUTCOME_BETTER ? OUTCOME_WORSE : o == OUTCOME_WORSE ? OUTCOME_BETTER : o;
}

static void rule_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rules); i++) {
		const struct rule *x = &rules[i];
		struct comparison c = compare_values(x, false);
		struct comparison turned = compare_values(x, true);
		const struct compared *row = sim_row(&c, x->metric);

		if (row->outcome != x->outcome)
			fail_msg("%s: %s (%s), not %s", x->what, outcome_name(row->outcome),
				 row->reason ? row->reason : "-", outcome_name(x->outcome));
		if (!x->reason != !row->reason || (x->reason && !strstr(row->reason, x->reason)))
			fail_msg("%s: '%s'", x->what, row->reason ? row->reason : "-");
		if (isnan(x->percent) ? !isnan(row->percent)
				      : !(fabs(row->percent - x->percent) < 0.6))
			fail_msg("%s: %g %%", x->what, row->percent);
		assert_int_equal(row->n_a, x->n_a);
		assert_int_equal(row->n_b, x->n_b);
		/* Changing sides changes the direction and nothing else. */
		assert_int_equal(sim_row(&turned, x->metric)->outcome, mirrored(x->outcome));
		assert_false(c.between_runs);
		comparison_done(&c);
		comparison_done(&turned);
	}
}

static void numbers_of_the_first_rule(void **state)
{
	struct comparison c = compare_values(&rules[0], false);
	const struct compared *row = sim_row(&c, "t_ns");

	(void)state;
	assert_true(row->a == 115 && row->b == 78.8);
	assert_true(fabs(row->p - 2.0 / 252) < 1e-12 && row->p_adjusted == row->p);
	assert_true(fabs(row->percent - 100 * (78.8 / 115 - 1)) < 1e-9);
	assert_true(fabs(row->low - row->percent) < 1e-9);
	assert_true(fabs(row->high - 100 * (78.8 / 114 - 1)) < 1e-9);
	assert_string_equal(row->unit, "ns");
	assert_string_equal(row->bench, "syn.read");
	assert_int_equal(row->where.n, 1); /* the inner parameter; the rest does not differ */
	assert_string_equal(c.factor, "page");
	assert_string_equal(c.name_b, "page=b");
	comparison_done(&c);
}

static void clusters_are_flagged(void **state)
{
	struct run *r = sim_new("r", "boot");
	struct comparison c;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 60);
	for (unsigned i = 0; i < 20; i++) {
		double noise = 1 + 0.005 * rng_normal(&rng);

		sim_samples(r, sim_measure(r, i, "a", 4096), "t_ns", 100 * noise);
		sim_samples(r, sim_measure(r, i, "b", 4096), "t_ns",
			    (i % 5 < 3 ? 100 : 130) * noise);
	}
	c = sim_by(r, "page", "a", "b", 0.02);
	assert_false(sim_row(&c, "t_ns")->bimodal_a);
	assert_true(sim_row(&c, "t_ns")->bimodal_b);
	assert_int_equal(sim_row(&c, "t_ns")->n_b, 20); /* nothing is dropped */
	comparison_done(&c);
	run_free(r);
}

static void spikes_do_not_count(void **state)
{
	struct run *r = sim_new("r", "boot");
	struct comparison c;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 33);
	for (unsigned i = 0; i < 66; i++) {
		sim_samples(r, sim_measure(r, i, "a", 4096), "t_ns",
			    100 * (1 + 0.005 * rng_normal(&rng)));
		sim_samples(r, sim_measure(r, i, "b", 4096), "t_ns",
			    i % 33 == 5 ? 9000 : 100 * (1 + 0.005 * rng_normal(&rng)));
	}
	c = sim_by(r, "page", "a", "b", 0.02);
	assert_int_equal(sim_row(&c, "t_ns")->outcome, OUTCOME_EQUIVALENT);
	assert_true(fabs(sim_row(&c, "t_ns")->percent) < 0.3);
	assert_false(sim_row(&c, "t_ns")->bimodal_b);
	comparison_done(&c);
	run_free(r);
}

struct count_rule {
	const char *what;
	size_t n;
	int64_t a[6], b[6];
	enum outcome outcome;
	double percent;
};

static const struct count_rule count_rules[] = {
	{ "many more", 2, { 500, 510 }, { 800, 790 }, OUTCOME_WORSE, 57.4 },
	{ "fewer", 1, { 1000 }, { 500 }, OUTCOME_BETTER, -50 },
	{ "about as many", 2, { 500000, 500500 }, { 500400, 499800 }, OUTCOME_EQUIVALENT, 0 },
	{ "too few to tell", 2, { 5, 6 }, { 7, 6 }, OUTCOME_INCONCLUSIVE, 18.2 },
	{ "none", 2, { 0, 0 }, { 0, 0 }, OUTCOME_EQUIVALENT, 0 },
	{ "from nothing", 1, { 0 }, { 50 }, OUTCOME_WORSE, NAN },
	{ "to nothing", 1, { 50 }, { 0 }, OUTCOME_BETTER, -100 },
	{ "one event is nothing", 1, { 0 }, { 1 }, OUTCOME_INCONCLUSIVE, NAN },
	/* As a Poisson ratio this would be certain; the processes scatter much more than that. */
	{ "overdispersed",
	  3,
	  { 1000, 3000, 2000 },
	  { 2000, 4000, 3300 },
	  OUTCOME_INCONCLUSIVE,
	  55 },
};

static void counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(count_rules); i++) {
		const struct count_rule *x = &count_rules[i];
		struct run *r = sim_new("r", "boot");
		const struct compared *row;
		struct comparison c;

		for (unsigned k = 0; k < x->n; k++) {
			sim_count(r, sim_measure(r, k, "a", 4096), x->a[k], 100000);
			sim_count(r, sim_measure(r, k, "b", 4096), x->b[k], 100000);
		}
		c = sim_by(r, "page", "a", "b", 0.02);
		row = sim_row(&c, "faults");
		if (row->outcome != x->outcome)
			fail_msg("%s: %s (%s)", x->what, outcome_name(row->outcome),
				 row->reason ? row->reason : "-");
		if (isnan(x->percent) ? !isnan(row->percent)
				      : !(fabs(row->percent - x->percent) < 0.5))
			fail_msg("%s: %g %%", x->what, row->percent);
		comparison_done(&c);
		run_free(r);
	}
}

static void exact_values(void **state)
{
	static const struct {
		int64_t a, b;
		enum outcome outcome;
	} rows[] = {
		{ 8192, 4096, OUTCOME_BETTER },     { 4096, 8192, OUTCOME_WORSE },
		{ 4096, 4096, OUTCOME_EQUIVALENT }, { 0, 0, OUTCOME_EQUIVALENT },
		{ 0, 4096, OUTCOME_DIFFERENCE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct run *a = sim_new("a", "boot"), *b = sim_new("b", "boot");
		struct comparison c;

		for (unsigned k = 0; k < 2; k++) {
			sim_exact(a, sim_measure(a, k, "4k", 4096), rows[i].a);
			sim_exact(b, sim_measure(b, k, "4k", 4096), rows[i].b);
		}
		/* Also between runs: what has no spread has none there either. */
		c = sim_compare(a, b, 0.02, NAN);
		assert_true(c.between_runs);
		assert_int_equal(sim_row(&c, "tables_bytes")->outcome, rows[i].outcome);
		assert_true(isnan(sim_row(&c, "tables_bytes")->p));
		comparison_done(&c);
		run_free(a);
		run_free(b);
	}
}

/* Without an id where there is none. */
static struct compared symbol_row(const struct comparison *c, const char *metric,
				  const char *symbol)
{
	for (size_t i = 0; i < c->n_points; i++) {
		if (strcmp(c->points[i].id, metric) == 0 &&
		    strcmp(attrs_text(&c->points[i].where, "symbol", ""), symbol) == 0)
			return c->points[i];
	}
	return (struct compared){ .a = NAN, .b = NAN, .percent = NAN };
}

static void tables_by_symbol(void **state)
{
	static const char *const keys_a[] = { "clear_page", "fault", "only_a" };
	static const char *const keys_b[] = { "fault", "clear_page", "only_b" };
	static const double cells_a[] = { 40, 400, 10, 100, 1, 10 };
	static const double cells_b[] = { 20, 90, 10, 40, 3, NAN };
	struct run *r = sim_new("r", "boot");
	struct comparison c;

	(void)state;
	sim_table(r, sim_measure(r, 0, "a", 4096), keys_a, cells_a, 3);
	sim_table(r, sim_measure(r, 0, "b", 4096), keys_b, cells_b, 3);
	c = sim_by(r, "page", "a", "b", 0.02);
	assert_int_equal(c.n_points, 7);
	assert_int_equal(symbol_row(&c, "profile.ticks", "fault").outcome, OUTCOME_INCONCLUSIVE);
	assert_int_equal(symbol_row(&c, "profile.share", "fault").outcome, OUTCOME_DIFFERENCE);
	assert_true(fabs(symbol_row(&c, "profile.ticks", "fault").percent + 10) < 1e-9);
	assert_true(symbol_row(&c, "profile.share", "clear_page").a == 40);
	assert_true(symbol_row(&c, "profile.share", "clear_page").b == 10);
	assert_int_equal(symbol_row(&c, "profile.share", "only_a").outcome, OUTCOME_MISSING);
	assert_true(isnan(symbol_row(&c, "profile.share", "only_b").a));
	assert_null(symbol_row(&c, "profile.ticks", "only_b").id); /* empty on both sides */
	comparison_done(&c);
	run_free(r);
}

/* Counts of a profile: the published ones have intervals but no verdict, measured ones have both.
 */
static void ticks_are_counts(void **state)
{
	static const char *columns[] = { "address", "ticks", "load" };
	static const char *keys[] = { "total", "page_add_rmap", "zap_pte_range", "small" };
	static double cells[2][12] = {
		{ 0, 6812, 0.0042, 3222485644, 322, 1.1838, 3222468376, 265, 0.637, 7, 3, 0.5 },
		{ 0, 8072, 0.005, 3222485999, 563, 2.0699, 3222468377, 417, 1.0024, 8, 4, 0.5 },
	};
	/* poisson.test(c(b, a)) of R */
	static const struct {
		const char *symbol;
		double ratio, low, high;
	} rows[] = {
		{ "page_add_rmap", 1.748447, 1.521971, 2.011338 },
		{ "zap_pte_range", 1.573585, 1.345788, 1.842534 },
		{ "total", 1.184968, 1.147224, 1.223981 },
	};
	(void)state;
	for (int published = 0; published < 2; published++) {
		struct run *r = sim_new("r", "boot");
		struct comparison c;

		for (int k = 0; k < 2; k++) {
			struct measure *m = sim_measure(r, 0, k ? "b" : "a", 4096);
			struct series *s = measure_add_series(r, m);

			assert_non_null(s);
			*s = (struct series){ .metric = "profile",
					      .form = FORM_TABLE,
					      .origin = published ? ORIGIN_PUBLISHED
								  : ORIGIN_MEASURED,
					      .n = 4,
					      .keys = keys,
					      .columns = columns,
					      .n_columns = 3,
					      .cells = cells[k] };
		}
		if (published)
			r->origin = ORIGIN_PUBLISHED;
		c = sim_by(r, "page", "a", "b", 0.02);
		assert_int_equal(c.n_points, 8); /* no address */
		for (size_t i = 0; i < 3; i++) {
			struct compared x = symbol_row(&c, "profile.ticks", rows[i].symbol);

			assert_true(fabs(x.percent - 100 * (rows[i].ratio - 1)) < 1e-4);
			assert_true(fabs(x.low - 100 * (rows[i].low - 1)) < 1e-4);
			assert_true(fabs(x.high - 100 * (rows[i].high - 1)) < 1e-4);
			assert_int_equal(x.outcome, published ? OUTCOME_DIFFERENCE : OUTCOME_WORSE);
		}
		/* three symbols are the family, the total stands beside it */
		assert_true(symbol_row(&c, "profile.ticks", "total").p_adjusted ==
			    symbol_row(&c, "profile.ticks", "total").p);
		assert_true(symbol_row(&c, "profile.ticks", "small").p_adjusted <= 1);
		assert_true(symbol_row(&c, "profile.ticks", "zap_pte_range").p_adjusted >
			    symbol_row(&c, "profile.ticks", "zap_pte_range").p);
		assert_true(isnan(symbol_row(&c, "profile.load", "small").p));
		assert_string_equal(attrs_text(&c.points[7].where, "symbol", ""), "total");
		comparison_done(&c);
		run_free(r);
	}
}

/* A table whose rows sum to its total lists all: what is not in it has no tick. */
static void complete_tables_have_zeros(void **state)
{
	static const char *columns[] = { "ticks", "load" };
	static const char *keys_a[] = { "both", "only_a", "total" };
	static const char *keys_b[] = { "both", "total" };
	static double cells_a[] = { 600, 1, 400, 2, 1000, 0.1 };
	/* the second time more ticks than the rows have */
	static double cells_b[2][4] = { { 1000, 1, 1000, 0.1 }, { 1000, 1, 1100, 0.1 } };

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct run *r = sim_new("r", "boot");
		struct series *a = measure_add_series(r, sim_measure(r, 0, "a", 4096));
		struct series *b = measure_add_series(r, sim_measure(r, 0, "b", 4096));
		struct comparison c;
		struct compared x;

		*a = (struct series){ .metric = "profile",
				      .form = FORM_TABLE,
				      .n = 3,
				      .keys = keys_a,
				      .columns = columns,
				      .n_columns = 2,
				      .cells = cells_a };
		*b = (struct series){ .metric = "profile",
				      .form = FORM_TABLE,
				      .n = 2,
				      .keys = keys_b,
				      .columns = columns,
				      .n_columns = 2,
				      .cells = cells_b[k] };
		c = sim_by(r, "page", "a", "b", 0.02);
		x = symbol_row(&c, "profile.ticks", "only_a");
		assert_true(x.a == 400);
		if (k == 0) {
			assert_true(x.b == 0 && x.percent == -100);
			assert_int_equal(x.outcome, OUTCOME_BETTER);
		} else {
			assert_true(isnan(x.b));
			assert_int_equal(x.outcome, OUTCOME_MISSING);
		}
		/* Of a column that does not count nothing is known. */
		assert_int_equal(symbol_row(&c, "profile.load", "only_a").outcome, OUTCOME_MISSING);
		comparison_done(&c);
		run_free(r);
	}
}

static void what_only_describes_is_left_out(void **state)
{
	static const double v[] = { 1, 2, 3, 4, 5 }, w[] = { 11, 12, 13, 14, 15 };
	struct run *r = sim_new("r", "boot");
	struct comparison c;

	(void)state;
	sim_values(r, "t_ns", "a", 4096, v, 5);
	sim_values(r, "t_ns", "b", 4096, v, 5);
	sim_values(r, "note_ns", "a", 4096, v, 5);
	sim_values(r, "note_ns", "b", 4096, w, 5);
	c = sim_by(r, "page", "a", "b", 0.02);
	assert_int_equal(c.n_points, 1);
	comparison_done(&c);
	run_free(r);
}

static void facts_have_their_own_verdicts(void **state)
{
	struct run *r = sim_new("r", "boot");
	struct comparison c;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 7);
	sim_draw_reads(r, "4k", 100, 0.01, 8, &rng);
	sim_draw_reads(r, "thp", 50, 0.01, 8, &rng);
	for (size_t i = 0; i < r->n_measures; i++)
		attrs_set_text(&r->arena, &r->measures[i].setting, "node", i % 2 ? "near" : "far");
	/* Every second process is far; the halves are alike. */
	c = sim_by(r, "node", "near", "far", 0.1);
	assert_int_equal(sim_fact_row(&c, "toll.random_read_ns", "4k")->outcome,
			 OUTCOME_EQUIVALENT);
	assert_int_equal(sim_fact_row(&c, "toll.random_read_ns", "thp")->n_a, 4);
	/* A saving in percent is neither good nor bad as such. */
	assert_true(sim_fact_row(&c, "toll.huge_page_saving", NULL)->a > 40);
	assert_int_equal(sim_fact_row(&c, "toll.huge_page_saving", NULL)->outcome,
			 OUTCOME_DIFFERENCE);
	assert_true(isnan(sim_fact_row(&c, "toll.huge_page_saving", NULL)->percent));
	assert_non_null(strstr(sim_fact_row(&c, "toll.huge_page_saving", NULL)->reason,
			       "percentage points"));
	assert_int_not_equal(comparison_overall(&c), OUTCOME_WORSE);
	comparison_done(&c);
	run_free(r);
}

/* Capacities are known to the spacing of points: the round size decides. */
static void capacities_by_their_round_size(void **state)
{
	struct run *a = sim_new("a", "x"), *b = sim_new("b", "x"), *wide = sim_new("wide", "x");
	struct comparison c;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 64);
	sim_draw_curve(a, 64, 5, &rng);
	sim_draw_curve(b, 64, 5, &rng);
	sim_draw_curve(wide, 128, 5, &rng);
	/* Also between runs of unknown variation. */
	c = sim_compare(a, b, 0.02, NAN);
	assert_int_equal(sim_fact_row(&c, "curve.knee", NULL)->outcome, OUTCOME_EQUIVALENT);
	assert_string_equal(sim_fact_row(&c, "curve.knee", NULL)->reason,
			    "both stand for 64 pointers");
	comparison_done(&c);
	c = sim_compare(a, wide, 0.02, NAN);
	assert_int_equal(sim_fact_row(&c, "curve.knee", NULL)->outcome, OUTCOME_BETTER);
	comparison_done(&c);
	run_free(a);
	run_free(b);
	run_free(wide);
}

/* Facts are one family, points are not. */
static void corrections(void **state)
{
	struct run *r = sim_new("r", "boot");
	struct comparison c;
	double p[32], holm[32];
	struct rng rng;

	(void)state;
	rng_seed(&rng, 8);
	for (size_t side = 0; side < 2; side++) {
		size_t first = r->n_measures;

		sim_draw_reads(r, "4k", 100, 0.01, 8, &rng);
		sim_draw_reads(r, "thp", 60, 0.01, 8, &rng);
		for (size_t i = first; i < r->n_measures; i++)
			attrs_set_text(&r->arena, &r->measures[i].setting, "node",
				       side ? "far" : "near");
	}
	c = sim_by(r, "node", "near", "far", 0.02);
	assert_in_range(c.n_facts, 3, 32);
	for (size_t i = 0; i < c.n_facts; i++)
		p[i] = c.facts[i].p;
	assert_int_equal(stats_holm(p, c.n_facts, holm), 0);
	for (size_t i = 0; i < c.n_facts; i++)
		assert_true(c.facts[i].p_adjusted == holm[i] || isnan(holm[i]));
	assert_int_equal(c.n_points, 2);
	p[0] = c.points[0].p;
	p[1] = c.points[1].p;
	assert_int_equal(stats_benjamini_hochberg(p, 2, holm), 0);
	assert_true(c.points[0].p_adjusted == holm[0] && c.points[1].p_adjusted == holm[1]);
	comparison_done(&c);
	run_free(r);
}

static void names(void **state)
{
	(void)state;
	assert_string_equal(outcome_name(OUTCOME_BETTER), "better");
	assert_string_equal(outcome_name(OUTCOME_MISSING), "missing");
	assert_null(outcome_name((enum outcome)99));
	comparison_done(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rule_table),
		cmocka_unit_test(numbers_of_the_first_rule),
		cmocka_unit_test(clusters_are_flagged),
		cmocka_unit_test(spikes_do_not_count),
		cmocka_unit_test(counts),
		cmocka_unit_test(exact_values),
		cmocka_unit_test(tables_by_symbol),
		cmocka_unit_test(complete_tables_have_zeros),
		cmocka_unit_test(ticks_are_counts),
		cmocka_unit_test(what_only_describes_is_left_out),
		cmocka_unit_test(facts_have_their_own_verdicts),
		cmocka_unit_test(capacities_by_their_round_size),
		cmocka_unit_test(corrections),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
