/* SPDX-License-Identifier: MIT */
/*
 * points.c: grouping of measures, order of curves, settings that could not run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "record/run.h"
#include "sample.h"

static const double one[] = { 1.0 };

/* The sample's schemas without its measures. */
static struct run *bare_run(void)
{
	struct run *r = sample_run();

	r->n_measures = 0;
	return r;
}

static void assemble(struct arena *a, const struct run *r, struct points *p, struct curves *c)
{
	assert_int_equal(points_assemble(a, r, p), 0);
	assert_int_equal(curves_assemble(a, r, p, c), 0);
}

static void test_empty(void **state)
{
	struct run *r = bare_run();
	struct arena a = { 0 };
	struct points p;
	struct curves c;

	(void)state;
	assemble(&a, r, &p, &c);
	assert_int_equal(p.n, 0);
	assert_int_equal(c.n, 0);
	arena_done(&a);
	run_free(r);
}

static void test_grouping(void **state)
{
	static const int64_t pointers[] = { 100, 9, 64, 9, 100, 1000000, 9 };
	static const int64_t sorted[] = { 9, 64, 100, 1000000 };
	struct run *r = bare_run();
	struct arena a = { 0 };
	struct points p;
	struct curves c;
	size_t i;

	(void)state;
	for (i = 0; i < 7; i++)
		sample_measure(r, pointers[i], "4k", one, 1);
	sample_measure(r, 9, "thp", one, 1);
	/* The same setting in another order of names. */
	attrs_set_text(&r->arena, &run_add_measure(r)->setting, "page", "4k");
	r->measures[8].bench = "tlb.chase";
	attrs_set_int(&r->arena, &r->measures[8].setting, "pointers", 9);
	assert_string_equal(r->measures[8].setting.v[0].name, "page");

	assemble(&a, r, &p, &c);
	assert_int_equal(p.n, 5);
	assert_int_equal(p.v[0].n_measures, 2); /* 100 */
	assert_int_equal(p.v[1].n_measures, 4); /* 9 */
	assert_ptr_equal(p.v[1].measures[0], &r->measures[1]);
	assert_ptr_equal(p.v[1].measures[3], &r->measures[8]);
	assert_string_equal(attrs_text(p.v[4].setting, "page", ""), "thp");

	assert_int_equal(c.n, 2);
	assert_string_equal(c.v[0].inner, "pointers");
	assert_string_equal(c.v[0].bench, "tlb.chase");
	assert_int_equal(c.v[0].outer.n, 1);
	assert_string_equal(attrs_text(&c.v[0].outer, "page", ""), "4k");
	assert_int_equal(c.v[0].n, 4);
	for (i = 0; i < 4; i++)
		assert_true(attrs_int(c.v[0].points[i]->setting, "pointers", -1) == sorted[i]);
	assert_int_equal(c.v[1].n, 1);
	assert_null(c.v[0].skipped);
	arena_done(&a);
	run_free(r);
}

/* Values that share a double, reals, and texts all find their place. */
static void test_odd_inner_values(void **state)
{
	struct run *r = bare_run();
	struct arena a = { 0 };
	struct points p;
	struct curves c;
	struct measure *m;

	(void)state;
	m = sample_measure(r, -1, "4k", one, 1);
	attrs_set_text(&r->arena, &m->setting, "pointers", "many");
	sample_measure(r, 9007199254740993, "4k", one, 1);
	sample_measure(r, 9007199254740992, "4k", one, 1);
	m = sample_measure(r, -1, "4k", one, 1);
	attrs_set_real(&r->arena, &m->setting, "pointers", 2.5);
	assemble(&a, r, &p, &c);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.v[0].n, 4);
	assert_ptr_equal(c.v[0].points[0]->measures[0], &r->measures[3]);
	assert_ptr_equal(c.v[0].points[1]->measures[0], &r->measures[2]);
	assert_ptr_equal(c.v[0].points[2]->measures[0], &r->measures[1]);
	assert_ptr_equal(c.v[0].points[3]->measures[0], &r->measures[0]);
	arena_done(&a);
	run_free(r);
}

static void test_skipped(void **state)
{
	struct run *r = bare_run();
	struct arena a = { 0 };
	struct points p;
	struct curves c;
	struct measure *m;

	(void)state;
	m = sample_measure(r, -1, "hugetlb-2m", NULL, 0);
	m->verdict = VERDICT_SKIPPED;
	m->reason = "no pool";
	sample_measure(r, -1, "4k", NULL, 0)->verdict = VERDICT_FAILED;
	sample_measure(r, 5, "4k", one, 1);
	sample_measure(r, 5, "thp", one, 1);
	sample_measure(r, -1, "thp", NULL, 0)->verdict = VERDICT_FAILED;
	assemble(&a, r, &p, &c);
	assert_int_equal(c.n, 3);
	assert_int_equal(c.v[0].n, 0);
	assert_string_equal(c.v[0].skipped->reason, "no pool");
	/* One invocation that failed does not make the setting one that could not run. */
	assert_int_equal(c.v[1].n, 1);
	assert_null(c.v[1].skipped);
	assert_int_equal(c.v[2].n, 1);
	assert_null(c.v[2].skipped);
	arena_done(&a);
	run_free(r);
}

/* Without an inner parameter every point is its own curve. */
static void test_no_inner(void **state)
{
	struct run *r = bare_run();
	struct arena a = { 0 };
	struct points p;
	struct curves c;
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		sample_measure(r, (int64_t)(i % 2), "4k", one, 1);
		r->measures[i].bench = i == 3 ? "undeclared" : "other";
	}
	assemble(&a, r, &p, &c);
	assert_int_equal(p.n, 3);
	assert_int_equal(c.n, 3);
	for (i = 0; i < 3; i++) {
		assert_null(c.v[i].inner);
		assert_int_equal(c.v[i].n, 1);
		assert_int_equal(c.v[i].outer.n, 2);
	}
	arena_done(&a);
	run_free(r);
}

/* Thousands of measures in random order, against plain counting. */
static void test_many(void **state)
{
	enum { PAGES = 3, POINTERS = 200, TIMES = 5, ALL = PAGES * POINTERS * TIMES };
	static const char *const pages[PAGES] = { "4k", "64k", "thp" };
	struct run *r = bare_run();
	struct arena a = { 0 };
	struct points p;
	struct curves c;
	struct rng rng;
	uint64_t order[ALL];
	size_t i, j;

	(void)state;
	rng_seed(&rng, 11);
	for (i = 0; i < ALL; i++)
		order[i] = i;
	rng_shuffle_u64(&rng, order, ALL);
	for (i = 0; i < ALL; i++)
		sample_measure(r, (int64_t)(order[i] / PAGES % POINTERS), pages[order[i] % PAGES],
			       one, 1);
	assemble(&a, r, &p, &c);
	assert_int_equal(p.n, PAGES * POINTERS);
	for (i = 0; i < p.n; i++)
		assert_int_equal(p.v[i].n_measures, TIMES);
	assert_int_equal(c.n, PAGES);
	for (i = 0; i < c.n; i++) {
		assert_int_equal(c.v[i].n, POINTERS);
		for (j = 0; j < POINTERS; j++)
			assert_true(attrs_int(c.v[i].points[j]->setting, "pointers", -1) ==
				    (int64_t)j);
	}
	arena_done(&a);
	run_free(r);
}

/* Arms of an experiment are never pooled, and the curves say whose they are. */
static void test_arms(void **state)
{
	static const char *const arms[] = { "A", "B", NULL, "B", "A", "B" };
	struct run *r = bare_run();
	struct arena a = { 0 };
	struct points p;
	struct curves c;
	size_t i;

	(void)state;
	for (i = 0; i < 6; i++)
		sample_measure(r, i < 5 ? 9 : 64, "4k", one, 1)->arm = arms[i];
	assemble(&a, r, &p, &c);
	assert_int_equal(p.n, 4);
	assert_string_equal(p.v[0].arm, "A");
	assert_int_equal(p.v[0].n_measures, 2);
	assert_ptr_equal(p.v[0].measures[1], &r->measures[4]);
	assert_string_equal(p.v[1].arm, "B");
	assert_int_equal(p.v[1].n_measures, 2);
	assert_null(p.v[2].arm);
	assert_int_equal(p.v[2].n_measures, 1);
	assert_int_equal(c.n, 3);
	assert_string_equal(c.v[1].arm, "B");
	assert_int_equal(c.v[1].n, 2);
	assert_string_equal(attrs_text(&c.v[1].outer, "arm", ""), "B");
	assert_null(attrs_find(&c.v[2].outer, "arm"));
	arena_done(&a);
	run_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_grouping),
		cmocka_unit_test(test_odd_inner_values),
		cmocka_unit_test(test_skipped),
		cmocka_unit_test(test_no_inner),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_arms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
