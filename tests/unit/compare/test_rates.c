// SPDX-License-Identifier: MIT
/*
 * How often a comparison is wrong, on invented runs whose truth is known: with and without effects
 * of whole runs. The number of repetitions is an argument: 200 in the unit suite, 1000 in the
 * acceptance suite; what is allowed is the stated rate and three standard errors of the count.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare_sim.h"

/* Practically no margin, so that it does not hide false findings. */
static const double NO_MARGIN = 1e-9;
static const double PROCESS_SD = 0.01;
static const double RUN_SD = 0.02;

static unsigned repetitions;

/* Fails when @k of @n is more than chance allows at @rate. */
static void at_most(const char *what, double k, double n, double rate)
{
	double limit = n * rate + 3 * sqrt(n * rate * (1 - rate));

	printf("  %-44s %5.1f %% (at most %.1f %% is meant)\n", what, 100 * k / n, 100 * rate);
	if (k > limit)
		fail_msg("%s: %g of %g, more than %g", what, k, n, limit);
}

/* The interval of 95 % holds the truth in 93 to 97 %, as far as this many repetitions tell. */
static void covers(const char *what, double k, double n)
{
	double slack = n >= 1000 ? 0 : 3 * sqrt(n * 0.05 * 0.95);

	printf("  %-44s %5.1f %% (93 to 97 %%)\n", what, 100 * k / n);
	if (k < 0.93 * n - slack || k > 0.97 * n + slack)
		fail_msg("%s: %g of %g", what, k, n);
}

struct tally {
	double better, worse; /* comparisons with any such finding */
	double found, wrong;  /* findings, and those of points that do not differ */
};

static void count(struct tally *t, const struct compared *v, size_t n)
{
	bool better = false, worse = false;

	for (size_t i = 0; i < n; i++) {
		better = better || v[i].outcome == OUTCOME_BETTER;
		worse = worse || v[i].outcome == OUTCOME_WORSE;
	}
	t->better += better;
	t->worse += worse;
}

static void no_more_than_5_percent(const char *what, const struct tally *t)
{
	char line[64];

	snprintf(line, sizeof(line), "%s: better", what);
	at_most(line, t->better, repetitions, 0.025);
	snprintf(line, sizeof(line), "%s: worse", what);
	at_most(line, t->worse, repetitions, 0.025);
}

static bool holds(const struct compared *c, double percent)
{
	return c->low <= percent && percent <= c->high;
}

/* Eight processes each of two pages, all alike. */
static void one_run(void **state)
{
	struct tally facts = { 0 }, points = { 0 };
	double held = 0;

	(void)state;
	for (unsigned k = 0; k < repetitions; k++) {
		struct run *r = sim_new("r", "boot");
		struct comparison c;
		struct rng rng;

		rng_seed(&rng, 1000 + k);
		for (int node = 0; node < 2; node++) {
			size_t first = r->n_measures;

			sim_draw_reads(r, "4k", 100, PROCESS_SD, 8, &rng);
			sim_draw_reads(r, "thp", 60, PROCESS_SD, 8, &rng);
			for (size_t i = first; i < r->n_measures; i++)
				attrs_set_text(&r->arena, &r->measures[i].setting, "node",
					       node ? "far" : "near");
		}
		c = sim_by(r, "node", "near", "far", NO_MARGIN);
		count(&facts, c.facts, c.n_facts);
		count(&points, c.points, c.n_points);
		held += holds(&c.points[0], 0);
		assert_true(c.n_facts >= 3 && c.n_points == 2);
		comparison_done(&c);
		run_free(r);
	}
	no_more_than_5_percent("one run, facts", &facts);
	no_more_than_5_percent("one run, points", &points);
	covers("one run, interval holds the truth", held, repetitions);
}

/* Two runs, each with an effect of its own on all its processes. */
static struct comparison two_runs(uint64_t seed, double truth, double run_sd, double threshold,
				  double told_spread)
{
	struct run *a = sim_new("a", "boot"), *b = sim_new("b", "boot");
	struct comparison c;
	struct rng rng;

	rng_seed(&rng, seed);
	sim_draw(a, "4k", 4096, 100 * exp(run_sd * rng_normal(&rng)), PROCESS_SD, 8, &rng);
	sim_draw(b, "4k", 4096, 100 * truth * exp(run_sd * rng_normal(&rng)), PROCESS_SD, 8, &rng);
	c = sim_compare(a, b, threshold, told_spread);
	run_free(a);
	run_free(b);
	return c;
}

static void runs_of_known_spread(void **state)
{
	struct tally t = { 0 };
	double held = 0;

	(void)state;
	for (unsigned k = 0; k < repetitions; k++) {
		struct comparison c = two_runs(20000 + k, 1, RUN_SD, NO_MARGIN, RUN_SD);
		struct comparison moved = two_runs(30000 + k, 1.07, RUN_SD, NO_MARGIN, RUN_SD);

		count(&t, c.points, c.n_points);
		held += holds(&moved.points[0], 7);
		comparison_done(&c);
		comparison_done(&moved);
	}
	no_more_than_5_percent("runs, known spread", &t);
	covers("runs, known spread, interval", held, repetitions);
}

static void runs_of_unknown_spread(void **state)
{
	struct tally t = { 0 };

	(void)state;
	/* At the margin of 2 %, 10 % is the least difference that gets a verdict. */
	for (unsigned k = 0; k < repetitions; k++) {
		struct comparison c = two_runs(40000 + k, 1, RUN_SD, 0.02, NAN);

		count(&t, c.points, c.n_points);
		comparison_done(&c);
	}
	no_more_than_5_percent("runs, unknown spread", &t);
}

/* What the rules are there for: without them most comparisons of equal runs find something. */
static void a_spread_that_is_too_small_misleads(void **state)
{
	struct tally t = { 0 };

	(void)state;
	for (unsigned k = 0; k < repetitions; k++) {
		struct comparison c = two_runs(50000 + k, 1, RUN_SD, NO_MARGIN, 1e-9);

		count(&t, c.points, c.n_points);
		comparison_done(&c);
	}
	printf("  %-44s %5.1f %%\n", "runs, spread taken for nothing: findings",
	       100 * (t.better + t.worse) / repetitions);
	assert_true(t.better + t.worse > 0.4 * repetitions);
}

/* Eight boots a side of three processes each. */
static void boots(void **state)
{
	enum { BOOTS = 8 };
	struct tally t = { 0 };
	double held = 0;

	(void)state;
	for (unsigned k = 0; k < repetitions; k++) {
		static const char *const ids[2 * BOOTS] = {
			"0", "1", "2", "3", "4", "5", "6", "7",
			"8", "9", "a", "b", "c", "d", "e", "f"
		};
		struct compare_options o = { .threshold = NO_MARGIN, .run_spread = NAN };
		struct run *runs[2 * BOOTS];
		struct comparison c;
		struct rng rng;

		rng_seed(&rng, 60000 + k);
		for (int i = 0; i < 2 * BOOTS; i++) {
			runs[i] = sim_new(ids[i], ids[i]);
			sim_draw(runs[i], "4k", 4096, 100 * exp(RUN_SD * rng_normal(&rng)),
				 PROCESS_SD, 3, &rng);
		}
		assert_int_equal(compare_runs((const struct run *const *)runs, BOOTS,
					      (const struct run *const *)runs + BOOTS, BOOTS, &o,
					      &c, NULL),
				 0);
		assert_int_equal(c.points[0].n_a, BOOTS);
		count(&t, c.points, c.n_points);
		held += holds(&c.points[0], 0);
		comparison_done(&c);
		for (int i = 0; i < 2 * BOOTS; i++)
			run_free(runs[i]);
	}
	no_more_than_5_percent("boots", &t);
	covers("boots, interval holds the truth", held, repetitions);
}

/* Half of twenty points are 5 % slower: the share of wrong findings among all. */
static void false_discoveries(void **state)
{
	enum { POINTS = 20 };
	unsigned n = repetitions / 4;
	double share = 0, missed = 0;

	(void)state;
	for (unsigned k = 0; k < n; k++) {
		struct run *r = sim_new("r", "boot");
		struct comparison c;
		struct rng rng;
		double found = 0, wrong = 0;

		rng_seed(&rng, 70000 + k);
		for (int i = 0; i < POINTS; i++) {
			sim_draw(r, "a", 4096 + i, 100, PROCESS_SD, 8, &rng);
			sim_draw(r, "b", 4096 + i, i % 2 ? 105 : 100, PROCESS_SD, 8, &rng);
		}
		c = sim_by(r, "page", "a", "b", NO_MARGIN);
		assert_int_equal(c.n_points, POINTS);
		for (size_t i = 0; i < POINTS; i++) {
			bool differs = attrs_int(&c.points[i].where, "size", 0) % 2;

			if (c.points[i].outcome == OUTCOME_WORSE ||
			    c.points[i].outcome == OUTCOME_BETTER) {
				found++;
				wrong += !differs;
			} else {
				missed += differs;
			}
		}
		share += found > 0 ? wrong / found : 0;
		comparison_done(&c);
		run_free(r);
	}
	at_most("many points: wrong among findings", share, n, 0.05);
	/* And it is not bought by finding nothing. */
	assert_true(missed < 0.1 * n * POINTS / 2);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_run),
		cmocka_unit_test(runs_of_known_spread),
		cmocka_unit_test(runs_of_unknown_spread),
		cmocka_unit_test(a_spread_that_is_too_small_misleads),
		cmocka_unit_test(boots),
		cmocka_unit_test(false_discoveries),
	};

	repetitions = argc == 2 ? (unsigned)strtoul(argv[1], NULL, 10) : 0;
	if (repetitions < 100)
		return 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
