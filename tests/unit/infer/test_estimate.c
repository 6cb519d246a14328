// SPDX-License-Identifier: MIT
/* A point's headline: what counts, by which estimator, and why there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "infer/infer.h"

#include "fact_sim.h"
#include "near.h"

static struct series *add(struct run *r, enum verdict v, const char *reason, enum series_form form)
{
	struct measure *m = run_add_measure(r);
	struct series *s;

	assert_non_null(m);
	m->bench = "tlb.chase";
	m->verdict = v;
	m->reason = reason;
	m->invocation = (unsigned)r->n_measures - 1;
	attrs_set_int(&r->arena, &m->setting, "pointers", 5);
	s = measure_add_series(r, m);
	assert_non_null(s);
	s->metric = "ref_ns";
	s->form = form;
	s->values = arena_alloc(&r->arena, 4 * sizeof(double));
	s->integers = arena_alloc(&r->arena, 4 * sizeof(int64_t));
	return s;
}

static struct estimate estimate(const struct run *r, const char *metric)
{
	struct arena a = { 0 };
	struct points p;
	struct estimate e;

	assert_int_equal(points_assemble(&a, r, &p), 0);
	assert_int_equal(p.n, 1);
	estimate_point(r, &p.v[0], metric, &e);
	arena_done(&a);
	return e;
}

static void samples(struct series *s, double a, double b, double c)
{
	s->n = 3;
	s->values[0] = a;
	s->values[1] = b;
	s->values[2] = c;
}

static void median_over_invocations_of_minima(void **state)
{
	struct run *r = sim_run(&sim_guest);
	struct estimate e;

	(void)state;
	for (int i = 0; i < 7; i++)
		samples(add(r, VERDICT_OK, NULL, FORM_SAMPLES), 50, 10 + i, 90);
	samples(add(r, VERDICT_INVALID, "huge pages", FORM_SAMPLES), 1, 1, 1);
	samples(add(r, VERDICT_FAILED, "killed", FORM_SAMPLES), 1, 1, 1);
	e = estimate(r, "ref_ns");
	assert_int_equal(e.n_invocations, 7);
	assert_near(e.value, 13, 0);
	assert_near(e.min, 10, 0);
	assert_near(e.low, 10, 0);
	assert_near(e.high, 16, 0);
	assert_near(e.q25, 11.5, 0);
	assert_near(e.q75, 14.5, 0);
	assert_null(e.reason);
	assert_null(e.interval_reason);
	run_free(r);
}

static void five_invocations_have_no_interval(void **state)
{
	struct run *r = sim_run(&sim_guest);
	struct estimate e;

	(void)state;
	for (int i = 0; i < 5; i++)
		samples(add(r, VERDICT_OK, NULL, FORM_SAMPLES), 5, 4, 3);
	e = estimate(r, "ref_ns");
	assert_near(e.value, 3, 0);
	assert_true(isnan(e.low) && isnan(e.high));
	assert_string_equal(e.interval_reason, "5 invocations; an interval needs 6");
	run_free(r);
}

static void other_forms(void **state)
{
	struct run *r = sim_run(&sim_guest);
	struct estimate e;
	struct series *s = add(r, VERDICT_OK, NULL, FORM_SUMMARY);

	(void)state;
	s->n = 3;
	s->values[0] = 42;
	s->values[1] = 40;
	s->values[2] = 45;
	e = estimate(r, "ref_ns");
	assert_near(e.value, 42, 0);
	assert_near(e.low, 40, 0);
	assert_near(e.high, 45, 0);
	assert_null(e.interval_reason);
	s->form = FORM_COUNT;
	s->n = 2;
	s->integers[0] = 30;
	s->integers[1] = 60;
	e = estimate(r, "ref_ns");
	assert_near(e.value, 0.5, 0);
	assert_near(e.min, 0.5, 0);
	assert_int_equal(e.events, 30);
	assert_int_equal(e.exposure, 60);
	s->integers[1] = 0; /* nothing was exposed */
	e = estimate(r, "ref_ns");
	assert_true(isnan(e.value));
	assert_non_null(e.reason);
	assert_int_equal(e.exposure, 0);
	s->form = FORM_EXACT;
	s->n = 1;
	e = estimate(r, "ref_ns");
	assert_near(e.value, 30, 0);
	s->form = FORM_TABLE;
	e = estimate(r, "ref_ns");
	assert_true(isnan(e.value));
	run_free(r);
}

static void reasons_come_from_the_run(void **state)
{
	struct run *r = sim_run(&sim_guest);
	struct estimate e;
	struct series *s;

	(void)state;
	samples(add(r, VERDICT_SKIPPED, "one memory node", FORM_SAMPLES), 1, 2, 3);
	e = estimate(r, "ref_ns");
	assert_true(isnan(e.value) && isnan(e.min) && isnan(e.low));
	assert_int_equal(e.n_invocations, 0);
	assert_string_equal(e.reason, "one memory node");
	assert_non_null(e.interval_reason);
	run_free(r);

	r = sim_run(&sim_guest);
	s = add(r, VERDICT_OK, NULL, FORM_SAMPLES);
	s->null_reason = "below resolution";
	e = estimate(r, "ref_ns");
	assert_string_equal(e.reason, "below resolution");
	e = estimate(r, "no_such_metric");
	assert_true(isnan(e.value));
	assert_non_null(e.reason);
	run_free(r);
}

/* A metric whose estimator is the median is not reduced to its least sample. */
static void the_metric_names_its_estimator(void **state)
{
	static const struct param params[] = {
		{ .name = "pointers", .type = PARAM_COUNT, .role = ROLE_INNER },
		{ .name = NULL },
	};
	static const struct metric metrics[] = {
		{ "ref_ns", "", "ns", BETTER_LOWER, EST_MEDIAN, FORM_SAMPLES },
		{ .name = NULL },
	};
	static const struct bench_schema schema = { "tlb.chase", "", 1, params, metrics };
	struct run *r = run_new();
	struct estimate e;

	(void)state;
	assert_non_null(r);
	assert_int_equal(run_add_schema(r, &schema), 0);
	samples(add(r, VERDICT_OK, NULL, FORM_SAMPLES), 9, 2, 3);
	e = estimate(r, "ref_ns");
	assert_near(e.value, 3, 0);
	assert_near(e.min, 2, 0);
	run_free(r);
}

static void integers(struct run *r, unsigned invocation, int64_t v)
{
	struct series *s = add(r, VERDICT_OK, NULL, FORM_EXACT);

	s->n = 1;
	s->integers[0] = v;
	r->measures[r->n_measures - 1].invocation = invocation;
}

/* Whole numbers that reals do not hold. */
static void exact_stays_exact(void **state)
{
	struct run *r = sim_run(&sim_guest);
	struct estimate e;

	(void)state;
	integers(r, 0, 9007199254740993);
	integers(r, 1, 9007199254740993);
	e = estimate(r, "ref_ns");
	assert_true(e.is_exact);
	assert_true(e.exact == 9007199254740993);
	assert_int_equal(e.n_invocations, 2);
	integers(r, 2, 9007199254740992); /* equal as reals */
	assert_false(estimate(r, "ref_ns").is_exact);
	integers(r, 3, 9007199254740993);
	assert_false(estimate(r, "ref_ns").is_exact);
	run_free(r);
	r = sim_run(&sim_guest);
	samples(add(r, VERDICT_OK, NULL, FORM_SAMPLES), 9, 9, 9);
	integers(r, 1, 9);
	assert_false(estimate(r, "ref_ns").is_exact);
	run_free(r);
}

/* A number that stands twice is one process, whose values are no replicates. */
static void invocations_count_once(void **state)
{
	struct run *r = sim_run(&sim_guest);
	struct estimate e;

	(void)state;
	for (unsigned i = 0; i < 12; i++) {
		samples(add(r, VERDICT_OK, NULL, FORM_SAMPLES), 10 + i, 20 + i, 30 + i);
		r->measures[i].invocation = i / 4;
	}
	e = estimate(r, "ref_ns");
	assert_int_equal(e.n_invocations, 3);
	assert_true(isnan(e.low));
	assert_near(e.value, 15.5, 0); /* the middle of 11.5, 15.5 and 19.5 */
	assert_near(e.min, 10, 0);
	/* the same numbers in another boot are other processes */
	for (unsigned i = 6; i < 12; i++)
		r->measures[i].boot_id = "b";
	assert_int_equal(estimate(r, "ref_ns").n_invocations, 4);
	run_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(median_over_invocations_of_minima),
		cmocka_unit_test(five_invocations_have_no_interval),
		cmocka_unit_test(other_forms),
		cmocka_unit_test(reasons_come_from_the_run),
		cmocka_unit_test(the_metric_names_its_estimator),
		cmocka_unit_test(exact_stays_exact),
		cmocka_unit_test(invocations_count_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
