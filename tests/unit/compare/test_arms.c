/* SPDX-License-Identifier: MIT */
/*
 * compare_arms.c and arms_alike.c: arms by name, false findings counted, and the spread found that
 * was put in. The runs here have one metric and are made by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "compare/compare_arms.h"

static const struct param params[] = {
	{ .name = "n",
	  .type = PARAM_COUNT,
	  .role = ROLE_INNER,
	  .def = "auto",
	  .min = 1,
	  .max = 99 },
	{ .name = "order", .type = PARAM_CHOICE, .def = "random" },
	{ .name = NULL },
};
static const struct metric metrics[] = {
	{ "ref_ns", "time", "ns", BETTER_LOWER, EST_MIN, FORM_SAMPLES },
	{ 0 },
};
static const struct bench_schema schema = { "syn.read", "s", 1, params, metrics };

static struct run *new_run(const char *mode)
{
	struct run *r = run_new();

	assert_non_null(r);
	r->id = "RUN";
	r->boot_id = "boot-1";
	assert_int_equal(run_add_schema(r, &schema), 0);
	assert_int_equal(attrs_set_text(&r->arena, &r->context, "ab.mode", mode), 0);
	assert_int_equal(attrs_set_text(&r->arena, &r->context, "ab.a", "order=random"), 0);
	assert_int_equal(attrs_set_text(&r->arena, &r->context, "ab.b", "X=a%20b"), 0);
	return r;
}

static struct measure *add(struct run *r, const char *arm, const char *order, int64_t n,
			   unsigned invocation, double value)
{
	struct measure *m = run_add_measure(r);
	struct series *s;

	assert_non_null(m);
	m->bench = "syn.read";
	m->arm = arm;
	m->invocation = invocation;
	assert_int_equal(attrs_set_int(&r->arena, &m->setting, "n", n), 0);
	assert_int_equal(attrs_set_text(&r->arena, &m->setting, "order", order), 0);
	s = measure_add_series(r, m);
	assert_non_null(s);
	*s = (struct series){ .metric = "ref_ns", .form = FORM_SAMPLES, .n = 1 };
	s->values = arena_alloc(&r->arena, sizeof(double));
	assert_non_null(s->values);
	s->values[0] = value;
	return m;
}

static void test_names_and_pairs(void **state)
{
	struct run *r = new_run("ab");
	struct comparison c;
	struct err e = { 0 };

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		add(r, "A", "random", 1, i, 100 + i % 3);
		add(r, "B", "sequential", 1, i, 150 + i % 3);
		add(r, NULL, "random", 1, i, 1); /* belongs to no arm */
	}
	assert_int_equal(compare_arms(r, NULL, &c, &e), 0);
	assert_string_equal(c.name_a, "order=random");
	assert_string_equal(c.name_b, "X=a b");
	assert_false(c.between_runs);
	assert_int_equal(c.n_points, 1); /* the order is what the arms differ in */
	assert_int_equal(c.points[0].n_a, 8);
	assert_int_equal(c.points[0].n_b, 8);
	assert_int_equal(c.points[0].outcome, OUTCOME_WORSE);
	assert_true(fabs(c.points[0].percent - 50) < 1);
	comparison_done(&c);
	run_free(r);
}

static void test_one_arm(void **state)
{
	struct run *r = new_run("ab");
	struct comparison c;
	struct err e = { 0 };

	(void)state;
	assert_true(compare_arms(r, NULL, &c, &e) < 0);
	err_clear(&e);
	add(r, "A", "random", 1, 0, 1);
	assert_true(compare_arms(r, NULL, &c, &e) < 0);
	assert_true(e.msg[0] != '\0');
	run_free(r);
}

/* Six boots a side with many processes each: six values, not sixty. */
static void test_boots_are_the_unit(void **state)
{
	static const char *const boots[] = { "b0", "b1", "b2", "b3", "b4",  "b5",
					     "b6", "b7", "b8", "b9", "b10", "b11" };
	struct run *r = new_run("boots");
	struct comparison c;
	struct err e = { 0 };

	(void)state;
	for (unsigned b = 0; b < 12; b++) {
		for (unsigned i = 0; i < 10; i++) {
			/* Each boot draws its own level: +-5 %, far more than within it. */
			double level = 100 + 5 * ((b * 7 % 12) / 5.5 - 1);
			struct measure *m = add(r, b % 2 ? "B" : "A", "random", 1, b * 10 + i,
						level + 0.01 * i);

			m->boot_id = boots[b];
			assert_int_equal(attrs_set_text(&r->arena, &m->proof, "kernel",
							b % 2 ? "6.9" : "6.1"),
					 0);
		}
	}
	assert_int_equal(compare_arms(r, NULL, &c, &e), 0);
	assert_string_equal(c.name_a, "6.1");
	assert_string_equal(c.name_b, "6.9");
	assert_int_equal(c.points[0].n_a, 6);
	assert_int_equal(c.points[0].n_b, 6);
	assert_int_not_equal(c.points[0].outcome, OUTCOME_WORSE);
	assert_int_not_equal(c.points[0].outcome, OUTCOME_BETTER);
	comparison_done(&c);
	run_free(r);
}

static void add_environment(struct run *r, const char *arm, const char *boot, const char *const *at)
{
	struct environment *v = run_add_environment(r);

	assert_non_null(v);
	v->arm = arm;
	v->boot_id = boot;
	for (; *at; at += 3)
		assert_int_equal(attrs_set_text(&r->arena,
						**at == 'f' ? &v->fingerprint : &v->context, at[1],
						at[2]),
				 0);
}

static struct environment_difference row_of(const struct comparison *c, const char *name)
{
	for (size_t i = 0; i < c->n_environment; i++)
		if (strcmp(c->environment[i].name, name) == 0)
			return c->environment[i];
	fail_msg("no row %s", name);
	return (struct environment_difference){ .a = "", .b = "" };
}

#define F(name, value) "f", name, value
#define C(name, value) "c", name, value
#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* What was set on purpose is the factor, once; what else differs is told beside it. */
static void test_settings_are_the_factor(void **state)
{
	struct run *r = new_run("ab");
	struct comparison c;
	struct err e = { 0 };

	(void)state;
	attrs_set_text(&r->arena, &r->context, "ab.a", "thp=always X=1%20y=2");
	attrs_set_text(&r->arena, &r->context, "ab.b", "thp=never%20order=random");
	add_environment(r, "A", "boot-1",
			LIST(F("thp", "always"), F("ksm", "0"), C("load_average", "0.1"),
			     C("seed", "1"), C("mthp.64k", "always")));
	add_environment(r, "B", "boot-1",
			LIST(F("thp", "never"), F("ksm", "1"), C("load_average", "0.3"),
			     C("seed", "2"), C("mthp.64k", "never")));
	for (unsigned i = 0; i < 8; i++) {
		add(r, "A", "random", 1, i, 100 + i % 3);
		add(r, "B", "random", 1, i, 100 + i % 3);
	}
	assert_int_equal(compare_arms(r, NULL, &c, &e), 0);
	assert_true(row_of(&c, "thp").is_factor);
	assert_string_equal(row_of(&c, "thp").a, "always");
	assert_string_equal(row_of(&c, "thp").b, "never");
	assert_string_equal(row_of(&c, "X").a, "1 y=2");
	assert_string_equal(row_of(&c, "X").b, "not set");
	assert_true(row_of(&c, "order").is_factor);
	assert_false(row_of(&c, "ksm").is_factor);
	assert_true(row_of(&c, "ksm").is_fingerprint);
	assert_string_equal(row_of(&c, "mthp.64k").b, "never");
	assert_int_equal(c.n_environment, 5);
	assert_null(c.environment_note);
	comparison_done(&c);
	/* the same from the other side, by the words of compare */
	assert_int_equal(compare_by(r, "arm", "B", "A", NULL, &c, &e), 0);
	assert_string_equal(row_of(&c, "thp").a, "never");
	assert_string_equal(row_of(&c, "ksm").a, "1");
	comparison_done(&c);
	/* a machine that was not set as the words say is told as such */
	r->environments[1].fingerprint.v[0].text = "always";
	r->environments[0].fingerprint.v[0].text = "never";
	assert_int_equal(compare_arms(r, NULL, &c, &e), 0);
	assert_int_equal(c.n_environment, 6);
	comparison_done(&c);
	run_free(r);
}

/* The same kernel with and without an option: named with the levels that it uses. */
static void test_kernels_are_the_factor(void **state)
{
	static const char *const boots[] = { "b0", "b1", "b2", "b3" };
	static const char *const memory[] = { "100", "120", "110", "90" };
	struct run *r = new_run("boots");
	struct comparison c;
	struct err e = { 0 };

	(void)state;
	for (unsigned b = 0; b < 4; b++) {
		bool is_b = b % 2;

		add_environment(r, is_b ? "B" : "A", boots[b],
				LIST(F("kernel", "6.9"), F("paging_levels", is_b ? "4" : "5"),
				     F("thp", is_b ? "never" : "always"),
				     C("kernel_cmdline", is_b ? "no5lvl" : ""),
				     C("memory_available_bytes", memory[b])));
		for (unsigned i = 0; i < 4; i++) {
			struct measure *m =
				add(r, is_b ? "B" : "A", "random", 1, b * 4 + i, 100 + i);

			m->boot_id = boots[b];
			attrs_set_text(&r->arena, &m->proof, "kernel",
				       is_b ? "6.9 #1, with no5lvl" : "6.9 #1");
		}
	}
	assert_int_equal(compare_arms(r, NULL, &c, &e), 0);
	assert_true(row_of(&c, "kernel").is_factor);
	assert_string_equal(row_of(&c, "kernel").b, "6.9 #1, with no5lvl");
	assert_true(row_of(&c, "paging_levels").is_factor);
	assert_string_equal(row_of(&c, "paging_levels").a, "5");
	assert_false(row_of(&c, "thp").is_factor);
	assert_int_equal(c.n_environment, 3);
	assert_null(c.environment_note);
	comparison_done(&c);
	/* as older files are: only the header tells of a machine */
	r->n_environments = 0;
	assert_int_equal(compare_arms(r, NULL, &c, &e), 0);
	assert_non_null(strstr(c.environment_note, "not recorded"));
	comparison_done(&c);
	run_free(r);
}

/* A run of four points whose level is drawn anew for each run, or for each block. */
static struct run *draw(struct rng *rng, double run_sd, double block_sd, unsigned blocks)
{
	struct run *r = new_run("aa");

	for (int64_t n = 1; n <= 40; n++) {
		double level = 10 * (double)n * exp(run_sd * rng_normal(rng));

		for (unsigned b = 0; b < blocks; b++) {
			double here = level * exp(block_sd * rng_normal(rng));

			for (unsigned i = 0; i < 2; i++) {
				add(r, "A", "random", n, 2 * b + i, here);
				add(r, "B", "random", n, 2 * b + i, here);
			}
		}
	}
	return r;
}

static void test_spread_between_runs(void **state)
{
	static const size_t counts[] = { 3, 4, 10 };
	struct rng rng;

	(void)state;
	rng_seed(&rng, 4);
	for (size_t k = 0; k < 3; k++) {
		struct run *owned[10];
		const struct run *runs[10];
		bool from_blocks = true;
		double sum = 0;

		for (unsigned t = 0; t < 20; t++) {
			for (size_t i = 0; i < counts[k]; i++)
				runs[i] = owned[i] = draw(&rng, 0.03, 0, 2);
			sum += compare_arms_spread(runs, counts[k], "syn.read", &from_blocks);
			for (size_t i = 0; i < counts[k]; i++)
				run_free(owned[i]);
		}
		assert_false(from_blocks);
		/* also from three runs: the median of so few is corrected */
		assert_true(fabs(sum / 20 - 0.03) < 0.002);
	}
}

static void test_spread_from_blocks(void **state)
{
	const struct run *runs[2];
	struct run *a, *b;
	bool from_blocks = false;
	struct rng rng;
	double v;

	(void)state;
	rng_seed(&rng, 5);
	a = draw(&rng, 0.5, 0.2, 6); /* only the last counts: runs are not blocks */
	b = draw(&rng, 0.5, 0.02, 6);
	runs[0] = a;
	runs[1] = b;
	v = compare_arms_spread(runs, 2, "syn.read", &from_blocks);
	assert_true(from_blocks);
	assert_true(fabs(v - 0.02) < 0.004);
	assert_true(isnan(compare_arms_spread(runs, 2, "other", &from_blocks)));
	run_free(b);
	b = draw(&rng, 0.5, 0.02, 2); /* two values give no spread */
	runs[1] = b;
	assert_true(isnan(compare_arms_spread(runs, 2, "syn.read", &from_blocks)));
	assert_true(isnan(compare_arms_spread(runs, 0, "syn.read", &from_blocks)));
	run_free(a);
	run_free(b);
}

/* 400 experiments without a difference: those with a finding are within the rate, 5 %. */
static void test_alike_within_the_rate(void **state)
{
	enum { TRIES = 400 };
	unsigned with = 0;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 6);
	for (unsigned t = 0; t < TRIES; t++) {
		struct run *r = new_run("aa");
		struct arms_alike n;
		struct comparison c;
		struct err e = { 0 };

		for (int64_t x = 1; x <= 5; x++)
			for (unsigned i = 0; i < 12; i++)
				for (int k = 0; k < 2; k++)
					add(r, k ? "B" : "A", "random", x, i,
					    100 * exp(0.02 * rng_normal(&rng)));
		assert_int_equal(compare_arms(r, NULL, &c, &e), 0);
		compare_arms_alike(&c, &n);
		assert_int_equal(n.n_point_tests, 5);
		with += n.n_point_findings + n.n_fact_findings > 0;
		comparison_done(&c);
		run_free(r);
	}
	/* 20 expected at most (the margin makes it fewer); 35 is 3.5 standard deviations above */
	assert_in_range(with, 0, 35);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_pairs),
		cmocka_unit_test(test_one_arm),
		cmocka_unit_test(test_settings_are_the_factor),
		cmocka_unit_test(test_kernels_are_the_factor),
		cmocka_unit_test(test_boots_are_the_unit),
		cmocka_unit_test(test_spread_between_runs),
		cmocka_unit_test(test_spread_from_blocks),
		cmocka_unit_test(test_alike_within_the_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
