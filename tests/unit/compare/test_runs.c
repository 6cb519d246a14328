// SPDX-License-Identifier: MIT
/* Comparing runs: what is refused, what differs around them, and what separate runs cannot tell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare_sim.h"

#define COUNT(v) (sizeof(v) / sizeof((v)[0]))

static struct run *drawn(const char *id, const char *boot, double centre, uint64_t seed)
{
	struct run *r = sim_new(id, boot);
	struct rng rng;

	rng_seed(&rng, seed);
	sim_draw(r, "4k", 4096, centre, 0.005, 8, &rng);
	return r;
}

static void refused(const struct run *a, const struct run *b, const char *across,
		    const char *message)
{
	struct compare_options o = { .run_spread = NAN, .across = across };
	struct comparison c = { .threshold = 7 };
	struct err e = { 0 };

	assert_int_equal(compare_runs(&a, 1, &b, 1, &o, &c, &e), -EINVAL);
	if (!strstr(e.msg, message))
		fail_msg("'%s' has no '%s'", e.msg, message);
	assert_true(c.threshold == 7);
}

struct machine_row {
	const char *name, *text;
	int64_t number;
	bool is_unlike;
};

static void unlike_machines(void **state)
{
	static const struct machine_row rows[] = {
		{ "cpu", "Invented 2000", 0, true },
		{ "arch", "aarch64", 0, true },
		{ "vendor", "Nobody", 0, false }, /* A does not know its own */
		{ "page_bytes", NULL, 65536, true },
		{ "memory_bytes", NULL, INT64_C(8) << 30, true },
		/* Another kernel keeps a little more for itself. */
		{ "memory_bytes", NULL, (INT64_C(16) << 30) - (INT64_C(256) << 20), false },
		{ "kernel", "6.12", 0, false },
		{ "thp", "never", 0, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct run *a = drawn("a", "x", 100, 1), *b = drawn("b", "y", 150, 2);
		struct compare_options o = { .run_spread = NAN, .across = "machine" };
		struct comparison c;

		if (rows[i].text)
			sim_set_text(b, rows[i].name, rows[i].text);
		else
			sim_set_int(b, rows[i].name, rows[i].number);
		if (rows[i].is_unlike) {
			refused(a, b, NULL, rows[i].name);
			refused(a, b, NULL, "--across machine");
			refused(b, a, NULL, rows[i].name);
			assert_int_equal(compare_runs((const struct run *const *)&a, 1,
						      (const struct run *const *)&b, 1, &o, &c,
						      NULL),
					 0);
			assert_string_equal(c.factor, "machine");
		} else {
			c = sim_compare(a, b, 0.02, NAN);
			assert_null(c.factor);
		}
		/* Said either way, before everything else. */
		assert_int_equal(c.n_environment, 1);
		assert_string_equal(c.environment[0].name, rows[i].name);
		assert_true(c.environment[0].is_fingerprint);
		comparison_done(&c);
		run_free(a);
		run_free(b);
	}
}

/* Two boots of one machine, five levels and no5lvl: no other machine, but the factor. */
static void levels_are_the_factor(void **state)
{
	static const struct {
		int64_t a, b; /* 0: not probed */
		bool is_factor;
	} rows[] = { { 5, 4, true }, { 4, 5, true }, { 4, 4, false }, { 5, 0, false } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct run *a = drawn("a", "x", 100, 1), *b = drawn("b", "y", 150, 2);
		struct comparison c;

		sim_set_text(b, "thp", "never"); /* something else, told before it */
		sim_set_int(a, "paging_levels", rows[i].a);
		if (rows[i].b)
			sim_set_int(b, "paging_levels", rows[i].b);
		c = sim_compare(a, b, 0.02, NAN);
		if (rows[i].is_factor) {
			assert_string_equal(c.factor, "paging_levels");
			assert_int_equal(c.n_environment, 2);
			assert_string_equal(c.environment[0].name, "paging_levels");
			assert_true(c.environment[0].is_factor);
			assert_string_equal(c.environment[0].a, rows[i].a == 5 ? "5" : "4");
			assert_string_equal(c.environment[1].name, "thp");
		} else {
			assert_null(c.factor);
			/* "5" against "not recorded" is told, too. */
			assert_int_equal(c.n_environment, rows[i].b ? 1 : 2);
		}
		comparison_done(&c);
		run_free(a);
		run_free(b);
	}
}

/* A side of both kinds of boots has no level count of its own. */
static void mixed_levels_are_no_factor(void **state)
{
	struct run *a = drawn("a", "x", 100, 1), *b = drawn("b", "y", 150, 2);
	struct run *mixed = drawn("c", "z", 150, 3);
	const struct run *side[] = { b, mixed };
	struct compare_options o = { .run_spread = NAN };
	struct comparison c;

	(void)state;
	sim_set_int(a, "paging_levels", 5);
	sim_set_int(b, "paging_levels", 4);
	sim_set_int(mixed, "paging_levels", 5);
	assert_int_equal(compare_runs((const struct run *const *)&a, 1, side, 2, &o, &c, NULL), 0);
	assert_null(c.factor);
	assert_int_equal(c.n_environment, 1);
	assert_string_equal(c.environment[0].b, "4 | 5");
	comparison_done(&c);
	run_free(a);
	run_free(b);
	run_free(mixed);
}

static void refusals(void **state)
{
	struct run *a = drawn("a", "x", 100, 1), *b = drawn("b", "y", 100, 2);
	struct run *reads = sim_new("reads", "z"), *none = sim_new("none", "z");
	struct rng rng;

	(void)state;
	rng_seed(&rng, 1);
	sim_draw_reads(reads, "4k", 100, 0.01, 3, &rng);
	refused(a, reads, NULL, "no benchmark in common (syn.read against cache.chase)");
	refused(a, none, NULL, "no benchmark in common");
	refused(none, a, NULL, "no benchmark in common");
	refused(a, b, "kernel", "'kernel'");
	b->schemas[0].revision = 2;
	refused(a, b, NULL, "revision 1");
	refused(a, b, "machine", "revision 2");
	refused(a, b, NULL, "Measure both with one version");
	b->origin = ORIGIN_PUBLISHED;
	refused(a, b, "machine", "A published table (revision 0) can be read beside it");
	run_free(a);
	run_free(b);
	run_free(reads);
	run_free(none);
}

static void each_side_needs_a_run(void **state)
{
	struct run *a = drawn("a", "x", 100, 1);
	struct compare_options o = { .run_spread = NAN };
	struct comparison c;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(compare_runs((const struct run *const *)&a, 1, NULL, 0, &o, &c, &e),
			 -EINVAL);
	assert_non_null(strstr(e.msg, "each side needs a run"));
	run_free(a);
}

/* Across machines the sides differ, but not the runs within one. */
static void one_side_is_one_machine(void **state)
{
	struct run *a = drawn("a", "x", 100, 1), *b = drawn("b", "y", 100, 2);
	struct run *other = drawn("other", "z", 100, 3);
	const struct run *pair[] = { b, other };
	const struct run *single[] = { a };
	struct compare_options o = { .run_spread = NAN, .across = "machine" };
	struct comparison c;
	struct err e = { 0 };

	(void)state;
	sim_set_text(other, "cpu", "Invented 3000");
	assert_int_equal(compare_runs(single, 1, pair, 2, &o, &c, &e), -EINVAL);
	assert_non_null(strstr(e.msg, "Invented 3000"));
	err_clear(&e);
	assert_int_equal(compare_runs(pair, 2, single, 1, &o, &c, &e), -EINVAL);
	run_free(a);
	run_free(b);
	run_free(other);
}

static bool says(const struct comparison *c, const char *words)
{
	for (size_t i = 0; c->how[i]; i++) {
		if (strstr(c->how[i], words))
			return true;
	}
	return false;
}

static void separate_runs(void **state)
{
	static const struct {
		double centre, spread;
		enum outcome outcome;
		const char *reason;
	} rows[] = {
		/* 5 margins of 2 % are 10 %. */
		{ 100, NAN, OUTCOME_INCONCLUSIVE,
		  "run-to-run variation unknown: pagetoll ab --aa" },
		{ 106, NAN, OUTCOME_INCONCLUSIVE, "run-to-run variation unknown" },
		{ 94, NAN, OUTCOME_INCONCLUSIVE, "run-to-run variation unknown" },
		{ 115, NAN, OUTCOME_WORSE, NULL },
		{ 85, NAN, OUTCOME_BETTER, NULL },
		/* Known: as wide as it is. */
		{ 106, 0.005, OUTCOME_WORSE, NULL },
		{ 94, 0.005, OUTCOME_BETTER, NULL },
		{ 106, 0.03, OUTCOME_INCONCLUSIVE, "runs of this machine differ by 3 %" },
		{ 100, 0.002, OUTCOME_EQUIVALENT, NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct run *a = drawn("a", "x", 100, 11), *b = drawn("b", "x", rows[i].centre, 12);
		struct comparison c = sim_compare(a, b, 0, rows[i].spread);
		const struct compared *row = sim_row(&c, "t_ns");

		assert_true(c.between_runs && c.threshold == 0.02 && c.level == 0.95);
		if (row->outcome != rows[i].outcome)
			fail_msg("row %zu: %s", i, outcome_name(row->outcome));
		if (rows[i].reason)
			assert_non_null(strstr(row->reason, rows[i].reason));
		else
			assert_null(row->reason);
		assert_true(says(&c, isnan(rows[i].spread) ? "unknown" : "widened"));
		assert_true(says(&c, "boot-to-boot variation not covered"));
		comparison_done(&c);
		run_free(a);
		run_free(b);
	}
}

static void a_known_spread_widens(void **state)
{
	struct run *a = drawn("a", "x", 100, 11), *b = drawn("b", "x", 100, 12);
	struct comparison plain = sim_compare(a, b, 0, NAN);
	struct comparison wide = sim_compare(a, b, 0, 0.02);
	const struct compared *p = sim_row(&plain, "t_ns"), *w = sim_row(&wide, "t_ns");
	double add = 1.959964 * 0.02 * sqrt(2);
	double down = log1p(p->percent / 100) - log1p(p->low / 100);

	(void)state;
	assert_true(p->percent == w->percent);
	assert_true(fabs(log1p(w->percent / 100) - log1p(w->low / 100) - hypot(down, add)) < 1e-6);
	assert_true(w->p >= p->p && w->high > p->high);
	comparison_done(&plain);
	comparison_done(&wide);
	/* The same file on both sides: nothing lies between. */
	plain = sim_compare(a, a, 0, NAN);
	assert_false(plain.between_runs);
	assert_true(sim_row(&plain, "t_ns")->percent == 0);
	comparison_done(&plain);
	run_free(a);
	run_free(b);
}

/* Several boots a side, each with a value of its own. */
static struct comparison boots(const double *a, size_t n_a, const double *b, size_t n_b,
			       bool one_boot)
{
	static const char *const ids[] = { "b0", "b1", "b2", "b3", "b4",  "b5",
					   "b6", "b7", "b8", "b9", "b10", "b11" };
	struct run *runs[12];
	struct compare_options o = { .run_spread = NAN };
	struct comparison c;
	struct err e = { 0 };

	assert_true(n_a + n_b <= 12);
	for (size_t i = 0; i < n_a + n_b; i++)
		runs[i] = drawn(ids[i], ids[one_boot ? 0 : i], i < n_a ? a[i] : b[i - n_a], i + 50);
	if (compare_runs((const struct run *const *)runs, n_a,
			 (const struct run *const *)runs + n_a, n_b, &o, &c, &e))
		fail_msg("%s", e.msg);
	for (size_t i = 0; i < n_a + n_b; i++)
		run_free(runs[i]);
	return c;
}

static void boots_are_the_unit(void **state)
{
	static const double a[] = { 100, 102, 98, 101, 99 }, b[] = { 110, 108, 112, 109, 111 };
	struct comparison c = boots(a, 5, b, 5, false);
	const struct compared *row = sim_row(&c, "t_ns");

	(void)state;
	assert_int_equal(row->n_a, 5);
	assert_int_equal(row->outcome, OUTCOME_WORSE);
	assert_true(fabs(row->p - 2.0 / 252) < 1e-12);
	assert_false(c.between_runs || c.one_boot_a || c.one_boot_b);
	assert_true(says(&c, "one value per boot"));
	assert_string_equal(c.name_a, "b0 (5 runs)");
	comparison_done(&c);
	/* Runs of one boot: they are the unit, and boots are not covered. */
	c = boots(a, 5, b, 5, true);
	assert_int_equal(sim_row(&c, "t_ns")->n_a, 5);
	assert_true(c.one_boot_a && c.one_boot_b && !c.between_runs);
	assert_true(says(&c, "one value per run") && says(&c, "not covered"));
	comparison_done(&c);
}

/* What differs between runs dwarfs what more processes of the same runs could tell. */
static void more_invocations_cannot_tell(void **state)
{
	static const double sizes[] = { 101.5, 103, 104, 106 };

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct run *a = drawn("a", "x", 100, 1), *b = drawn("b", "y", sizes[i], 2);
		struct comparison c = sim_compare(a, b, 0.02, 0.05);

		assert_int_equal(sim_row(&c, "t_ns")->outcome, OUTCOME_INCONCLUSIVE);
		assert_non_null(
			strstr(sim_row(&c, "t_ns")->reason, "more invocations cannot tell"));
		comparison_done(&c);
		run_free(a);
		run_free(b);
	}
}

static void too_few_boots(void **state)
{
	static const double a[] = { 100, 102, 98 }, b[] = { 103, 104, 105 };
	struct comparison c = boots(a, 3, b, 3, false);

	(void)state;
	/* Three of three are the most extreme there is, and 1 in 10 by chance. */
	assert_int_equal(sim_row(&c, "t_ns")->outcome, OUTCOME_INCONCLUSIVE);
	assert_non_null(strstr(sim_row(&c, "t_ns")->reason, "about 1 more boot a side"));
	comparison_done(&c);
	/* Two boots are no sample of boots: processes are the values, and the rule of runs holds.
	 */
	c = boots(a, 2, b, 3, false);
	assert_int_equal(sim_row(&c, "t_ns")->n_a, 16);
	assert_true(c.between_runs);
	assert_non_null(strstr(sim_row(&c, "t_ns")->reason, "unknown"));
	comparison_done(&c);
}

/* Without a name where there is none. */
static struct environment_difference difference(const struct comparison *c, const char *name)
{
	for (size_t i = 0; i < c->n_environment; i++) {
		if (strcmp(c->environment[i].name, name) == 0)
			return c->environment[i];
	}
	return (struct environment_difference){ .a = "", .b = "" };
}

static void add_finding(struct run *r, const char *id, const char *what)
{
	struct finding *f = run_add_finding(r);

	assert_non_null(f);
	f->id = id;
	f->what = what;
}

static void environment(void **state)
{
	struct run *a = drawn("a", "x", 100, 1), *b = drawn("b", "y", 100, 2);
	struct comparison c;

	(void)state;
	a->version = "1";
	b->version = "2";
	attrs_set_text(&a->arena, &a->context, "load_average", "0.10");
	attrs_set_text(&b->arena, &b->context, "load_average", "0.40");
	attrs_set_int(&a->arena, &a->context, "memory_available_bytes", 1000000);
	attrs_set_int(&b->arena, &b->context, "memory_available_bytes", 900000);
	attrs_set_int(&a->arena, &a->context, "swap_used_bytes", 0);
	attrs_set_int(&b->arena, &b->context, "swap_used_bytes", 900000);
	attrs_set_text(&b->arena, &b->context, "mitigation.mds", "none");
	attrs_set_int(&a->arena, &a->context, "seed", 5);
	attrs_set_int(&b->arena, &b->context, "seed", 50);
	add_finding(a, "governor", "powersave");
	add_finding(a, "steal", "5 %");
	add_finding(b, "steal", "6 %");
	c = sim_compare(a, b, 0.02, NAN);
	assert_string_equal(difference(&c, "pagetoll").b, "2");
	assert_null(difference(&c, "load_average").name);
	assert_null(difference(&c, "memory_available_bytes").name);
	assert_null(difference(&c, "seed").name);
	assert_non_null(difference(&c, "swap_used_bytes").name);
	assert_string_equal(difference(&c, "mitigation.mds").a, "not recorded");
	assert_string_equal(difference(&c, "doctor: governor").a, "powersave");
	assert_null(difference(&c, "doctor: steal").name);
	assert_int_equal(c.n_environment, 4);
	comparison_done(&c);
	run_free(a);
	run_free(b);
}

static void what_only_one_side_has(void **state)
{
	struct run *a = drawn("a", "x", 100, 1), *b = drawn("b", "y", 100, 2);
	struct measure *m = sim_measure(b, 0, "4k", 8192);
	struct comparison c;
	size_t missing = 0;

	(void)state;
	sim_samples(b, m, "t_ns", 5);
	m = sim_measure(a, 0, "4k", 16384);
	m->verdict = VERDICT_INVALID;
	m->reason = "the pages were small";
	sim_samples(b, sim_measure(b, 0, "4k", 16384), "t_ns", 6);
	c = sim_compare(a, b, 0.02, NAN);
	assert_int_equal(c.n_points, 3);
	for (size_t i = 0; i < 3; i++) {
		if (c.points[i].outcome != OUTCOME_MISSING)
			continue;
		missing++;
		assert_true(isnan(c.points[i].a) && c.points[i].b > 0);
		assert_non_null(strstr(c.points[i].reason, c.points[i].b == 5
								   ? "A has no such point"
								   : "A: the pages were small"));
	}
	assert_int_equal(missing, 2);
	assert_int_equal(comparison_overall(&c), OUTCOME_INCONCLUSIVE);
	comparison_done(&c);
	run_free(a);
	run_free(b);
}

/* A published value against a measured one: no test, whatever the measured one has. */
static void published_against_measured(void **state)
{
	struct run *a = sim_new("book", NULL), *b = drawn("b", "y", 150, 2);
	struct comparison c;

	(void)state;
	a->origin = ORIGIN_PUBLISHED;
	sim_summary(a, sim_measure(a, 0, "4k", 4096), "t_ns", 100);
	c = sim_compare(a, b, 0.02, NAN);
	assert_int_equal(sim_row(&c, "t_ns")->outcome, OUTCOME_DIFFERENCE);
	assert_true(fabs(sim_row(&c, "t_ns")->percent - 50) < 2);
	assert_true(isnan(sim_row(&c, "t_ns")->p) && isnan(sim_row(&c, "t_ns")->low));
	assert_false(c.one_boot_a);
	assert_true(says(&c, "no test"));
	comparison_done(&c);
	run_free(a);
	run_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unlike_machines),
		cmocka_unit_test(levels_are_the_factor),
		cmocka_unit_test(mixed_levels_are_no_factor),
		cmocka_unit_test(refusals),
		cmocka_unit_test(each_side_needs_a_run),
		cmocka_unit_test(one_side_is_one_machine),
		cmocka_unit_test(separate_runs),
		cmocka_unit_test(a_known_spread_widens),
		cmocka_unit_test(boots_are_the_unit),
		cmocka_unit_test(too_few_boots),
		cmocka_unit_test(more_invocations_cannot_tell),
		cmocka_unit_test(environment),
		cmocka_unit_test(what_only_one_side_has),
		cmocka_unit_test(published_against_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
