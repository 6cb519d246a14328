// SPDX-License-Identifier: MIT
/* One run against itself: the published Altix table (first argument), arms, refusals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "compare_sim.h"
#include "record/runfile.h"

#define COUNT(v) (sizeof(v) / sizeof((v)[0]))

static const char *altix_path;

static struct run *altix(void)
{
	struct run *r = NULL;
	struct err e = { 0 };

	if (runfile_load(altix_path, &r, &e))
		fail_msg("%s", e.msg);
	return r;
}

static double altix_percent(const struct comparison *c, int64_t pointers)
{
	for (size_t i = 0; i < c->n_points; i++) {
		if (attrs_int(&c->points[i].where, "pointers", 0) == pointers)
			return c->points[i].percent;
	}
	return NAN;
}

/* What the message of 2005 says of its own table: remote page tables cost 144 to 228 %. */
static void altix_local_against_remote(void **state)
{
	struct run *r = altix();
	struct comparison c = sim_by(r, "page-tables", "local", "remote", 0.02);

	(void)state;
	assert_int_equal(c.n_points, 27);
	for (size_t i = 0; i < c.n_points; i++) {
		assert_int_equal(c.points[i].outcome, OUTCOME_DIFFERENCE);
		assert_true(isnan(c.points[i].p) && isnan(c.points[i].low));
		assert_int_equal(c.points[i].where.n, 1);
	}
	assert_true(altix_percent(&c, 1) == 0);
	assert_true(fabs(altix_percent(&c, 300) - 100 * (632.5 / 192.8 - 1)) < 0.1);
	assert_true(altix_percent(&c, 900) > 143 && altix_percent(&c, 900) < 145);
	assert_int_equal(c.n_facts, 4);
	assert_true(sim_fact_row(&c, "curve.step_ns", NULL)->outcome == OUTCOME_DIFFERENCE);
	assert_int_equal(c.n_environment, 0);
	assert_false(c.between_runs || c.one_boot_a);
	assert_int_equal(comparison_overall(&c), OUTCOME_DIFFERENCE);
	comparison_done(&c);
	run_free(r);
}

static void refusals(void **state)
{
	static const struct {
		const char *parameter, *a, *b, *message;
	} rows[] = {
		{ "page-table", "local", "remote", "no parameter 'page-table'; it has: pointers" },
		{ "page-tables", "near", "remote", "measured with: local, remote" },
		{ "page-tables", "local", "far", "no value 'far'" },
		{ "page-tables", "local", "local", "both values are 'local'" },
		{ "pointers", "10", "11", "no value '11'" },
		{ "pointers", "ten", "10", "no value 'ten'" },
		{ "arm", "A", "B", "no parameter 'arm'" },
		{ "page", "16k", "4k", "page: this run has no value '4k'" },
	};
	struct run *r = altix();

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct compare_options o = { .run_spread = NAN };
		struct comparison c = { .threshold = 7 };
		struct err e = { 0 };

		assert_int_equal(compare_by(r, rows[i].parameter, rows[i].a, rows[i].b, &o, &c, &e),
				 -EINVAL);
		if (!strstr(e.msg, rows[i].message))
			fail_msg("'%s' has no '%s'", e.msg, rows[i].message);
		assert_true(c.threshold == 7);
	}
	run_free(r);
}

static void values_as_words(void **state)
{
	static const double v[] = { 1, 2, 3, 4 };
	struct run *r = sim_new("r", "x");
	struct comparison c;

	(void)state;
	sim_values(r, "t_ns", "4k", 4096, v, 4);
	sim_values(r, "t_ns", "4k", 1 << 20, v, 4);
	sim_values(r, "t_ns", "thp", 4096, v, 4);
	/* Sizes as people write them; also of the inner parameter. */
	c = sim_by(r, "size", "4k", "1MiB", 0.02);
	assert_int_equal(c.n_points, 2);
	assert_string_equal(c.name_b, "size=1MiB");
	comparison_done(&c);
	/* The base page is stored as its size; one point has no partner. */
	c = sim_by(r, "page", "base", "thp", 0.02);
	assert_int_equal(c.n_points, 2);
	assert_int_equal(c.points[1].outcome, OUTCOME_MISSING);
	comparison_done(&c);
	run_free(r);
}

static void draw_arm(struct run *r, const char *arm, const char *page, double centre,
		     struct rng *rng)
{
	size_t first = r->n_measures;

	sim_draw(r, page, 4096, centre, 0.005, 8, rng);
	for (size_t i = first; i < r->n_measures; i++)
		r->measures[i].arm = arm;
}

static void arms(void **state)
{
	struct run *r = sim_new("r", "x");
	struct comparison c;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 9);
	draw_arm(r, "A", "4k", 100, &rng);
	draw_arm(r, "B", "thp", 80, &rng);
	/* The arms differ in the page on purpose: points match without it. */
	c = sim_by(r, "arm", "A", "B", 0.02);
	assert_int_equal(c.n_points, 1);
	assert_int_equal(c.points[0].outcome, OUTCOME_BETTER);
	assert_false(c.between_runs);
	assert_true(c.one_boot_a && c.one_boot_b);
	comparison_done(&c);
	run_free(r);
}

/* Arms that never shared a boot are as far apart as two runs. */
static void arms_in_boots_of_their_own(void **state)
{
	static const char *const boots[] = { "p", "q" };
	struct run *r = sim_new("r", "x");
	struct comparison c;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 10);
	draw_arm(r, "A", "4k", 100, &rng);
	draw_arm(r, "B", "4k", 105, &rng);
	for (size_t i = 0; i < r->n_measures; i++)
		r->measures[i].boot_id = boots[i / 8];
	c = sim_by(r, "arm", "A", "B", 0.02);
	assert_true(c.between_runs);
	assert_int_equal(c.points[0].outcome, OUTCOME_INCONCLUSIVE);
	assert_non_null(strstr(c.points[0].reason, "run-to-run variation unknown"));
	comparison_done(&c);
	/* With four boots each, boots are the values. */
	for (size_t i = 0; i < r->n_measures; i++) {
		static const char *const eight[] = { "a", "b", "c", "d", "e", "f", "g", "h" };

		r->measures[i].boot_id = eight[i / 2];
	}
	c = sim_by(r, "arm", "A", "B", 0.02);
	assert_false(c.between_runs);
	assert_int_equal(c.points[0].n_a, 4);
	assert_int_equal(c.points[0].outcome, OUTCOME_WORSE);
	comparison_done(&c);
	run_free(r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(altix_local_against_remote),
		cmocka_unit_test(refusals),
		cmocka_unit_test(values_as_words),
		cmocka_unit_test(arms),
		cmocka_unit_test(arms_in_boots_of_their_own),
	};

	if (argc != 2)
		return 2;
	altix_path = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
