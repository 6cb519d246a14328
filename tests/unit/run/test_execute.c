/* SPDX-License-Identifier: MIT */
/* Rounds of real workers: what comes back, refinement, stopping, budget. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "execute_fixture.h"
#include "fake_bench.h"
#include "host/affinity.h"
#include "host/clock.h"

static void test_ok_points(void **state)
{
	struct preset p = fixture_preset(2, 2, 60);
	const struct measure *m;
	struct fixture f;

	(void)state;
	fixture_init(&f, "fake.sweep n=1,2,4", &p);
	assert_int_equal(fixture_execute(&f, NULL, NULL), 0);
	assert_int_equal(f.run->n_measures, 6);
	assert_int_equal(fixture_count(&f, VERDICT_OK), 6);
	assert_true(f.run->complete);
	assert_true(f.run->end_unix_ns > 0);
	assert_string_equal(f.last_why, "invocation limit");
	assert_non_null(strstr(f.run->stop_reason, "invocation limit"));
	assert_int_equal(f.n_done, 1);
	assert_int_equal(f.n_status, 8); /* two starts, six measures */
	m = fixture_measure(&f, 4, 1);
	assert_non_null(m);
	assert_string_equal(m->bench, "fake.sweep");
	assert_int_equal(measure_series(m, "ref_ns")->n, 3);
	assert_true(measure_series(m, "ref_ns")->values[0] == 1);
	assert_int_equal(measure_series(m, "table_bytes")->integers[0], 4);
	assert_non_null(measure_series(m, "rare")->null_reason);
	assert_int_equal(attrs_int(&m->proof, "max_inner", 0), 4);
	assert_string_equal(attrs_text(&m->setting, "page", ""), f.m.pages[0].name);
	/* a fresh process each time */
	assert_int_not_equal(attrs_int(&m->proof, "pid", 0),
			     attrs_int(&fixture_measure(&f, 4, 0)->proof, "pid", 0));
	m = fixture_measure(&f, 2, 0);
	assert_string_equal(m->unproven, "a thing 100% unknown");
	assert_string_equal(measure_series(m, "rare")->null_reason, "two has none");
	fixture_done(&f);
}

static void test_surroundings_of_a_worker(void **state)
{
	struct preset p = fixture_preset(1, 1, 60);
	int leaked = fcntl(1, F_DUPFD, 20); /* without close-on-exec */
	struct u32_list before = { 0 }, after = { 0 };
	const struct attrs *proof;
	struct fixture f;

	(void)state;
	fixture_init(&f, "fake.sweep n=1", &p);
	assert_int_equal(affinity_allowed(&before, NULL), 0);
	assert_int_equal(fixture_execute(&f, NULL, NULL), 0);
	assert_int_equal(affinity_allowed(&after, NULL), 0);
	proof = &f.run->measures[0].proof;
	assert_int_equal(attrs_int(proof, "own_group", -1), 1);
	assert_int_equal(attrs_int(proof, "bound", -1), 1);
	assert_int_equal(attrs_int(proof, "oom_score_adj", -1), 1000);
	assert_int_equal(attrs_int(proof, "open_above", -1), 0);
	assert_int_equal(attrs_int(proof, "stdin_ends", -1), 1);
	/* this process is where it was */
	assert_int_equal(before.n, after.n);
	assert_memory_equal(before.v, after.v, before.n * sizeof(*before.v));
	u32_list_done(&before);
	u32_list_done(&after);
	close(leaked);
	fixture_done(&f);
}

static void test_without_inner(void **state)
{
	struct preset p = fixture_preset(1, 1, 60);
	struct fixture f;

	(void)state;
	fixture_init(&f, "fake.plain times=2,3", &p);
	assert_int_equal(fixture_execute(&f, NULL, NULL), 0);
	assert_int_equal(f.run->n_measures, 2);
	assert_int_equal(f.n_done, 2);
	for (size_t i = 0; i < 2; i++)
		assert_true(measure_series(&f.run->measures[i], "ref_ns")->values[0] ==
			    (double)attrs_int(&f.run->measures[i].setting, "times", 0));
	fixture_done(&f);
}

/* Nothing is sampled: exact numbers and counts go through, and values without spread are enough. */
static void test_exact_and_counts_only(void **state)
{
	struct preset p = fixture_preset(6, 50, 60);
	struct fixture f;

	(void)state;
	fixture_init(&f, "tally.events times=1,3 tally.bytes times=1,2", &p);
	assert_int_equal(fixture_execute(&f, NULL, NULL), 0);
	assert_int_equal(f.run->n_measures, 4 * 6);
	assert_string_equal(f.run->stop_reason, "interval target met");
	for (size_t i = 0; i < f.run->n_measures; i++) {
		const struct measure *m = &f.run->measures[i];
		int64_t times = attrs_int(&m->setting, "times", 0);
		const struct series *s = measure_series(m, "errors");

		assert_int_equal(m->verdict, VERDICT_OK);
		if (!s) {
			s = measure_series(m, "table_bytes");
			assert_int_equal(s->form, FORM_EXACT);
			assert_int_equal(s->integers[0], 4096 * (times - 1));
			continue;
		}
		assert_int_equal(s->form, FORM_COUNT);
		assert_int_equal(s->n, 2);
		/* three repetitions are summed */
		assert_int_equal(s->integers[0], 3 * (times - 1));
		assert_int_equal(s->integers[1], 3 * 1000);
		s = measure_series(m, "wrong");
		assert_int_equal(s->n, 0);
		assert_non_null(strstr(s->null_reason, "negative"));
	}
	fixture_done(&f);
}

static void test_stops_when_exact(void **state)
{
	struct preset p = fixture_preset(6, 50, 60);
	struct fixture f;

	(void)state;
	fixture_init(&f, "fake.sweep n=1,2,4", &p);
	assert_int_equal(fixture_execute(&f, NULL, NULL), 0);
	assert_int_equal(f.run->n_measures, 18);
	assert_string_equal(f.last_why, "interval target met");
	assert_string_equal(f.run->stop_reason, "interval target met");
	fixture_done(&f);
}

static void test_time_budget(void **state)
{
	struct preset p = fixture_preset(6, 50, 1e-6);
	struct fixture f;

	(void)state;
	/* every setting once, then no time is left */
	fixture_init(&f, "fake.plain times=1,2,3", &p);
	assert_int_equal(fixture_execute(&f, NULL, NULL), 0);
	assert_int_equal(f.run->n_measures, 3);
	assert_string_equal(f.last_why, "time budget");
	assert_non_null(strstr(f.run->stop_reason, "time budget"));
	assert_true(f.run->complete);
	fixture_done(&f);
}

/* An invocation far longer than the budget is cut; its finished points are kept, and the run says
 * so. */
static void test_budget_inside_an_invocation(void **state)
{
	struct preset p = fixture_preset(1, 1, 1e-6);
	struct fixture f;
	int64_t start = clock_now_ns();

	(void)state;
	fixture_init(&f, "fake.sweep what=slow n=1..1000", &p);
	assert_int_equal(fixture_execute(&f, NULL, NULL), 0);
	assert_true(clock_now_ns() - start < INT64_C(20000000000));
	assert_true(f.run->n_measures > 0 && f.run->n_measures < 1000);
	assert_false(f.run->complete);
	assert_non_null(strstr(f.run->stop_reason, "not finished"));
	fixture_done(&f);
}

static void test_refines_around_the_knee(void **state)
{
	struct preset p = fixture_preset(4, 4, 60);
	unsigned between = 0;
	struct fixture f;

	(void)state;
	fixture_init(&f, "fake.sweep what=knee", &p);
	assert_int_equal(f.plan.v[0].grid.n, 11);
	assert_int_equal(fixture_execute(&f, NULL, NULL), 0);
	assert_true(f.plan.v[0].grid.n > 11);
	for (size_t i = 0; i < f.plan.v[0].grid.n; i++) {
		uint64_t n = f.plan.v[0].grid.v[i];

		between += n > 32 && n < 64;
		assert_true(i == 0 || f.plan.v[0].grid.v[i - 1] < n);
		/* there from the first round on, or from the second or third */
		assert_non_null(fixture_measure(&f, (int64_t)n, 3));
	}
	assert_true(between >= 2);
	fixture_done(&f);
	/* what the user named stays as it is */
	fixture_init(&f, "fake.sweep what=knee n=1..1024:x2", &p);
	assert_int_equal(fixture_execute(&f, NULL, NULL), 0);
	assert_int_equal(f.plan.v[0].grid.n, 11);
	fixture_done(&f);
}

static void test_skipped_settings(void **state)
{
	struct preset p = fixture_preset(1, 1, 60);
	struct fixture f;

	(void)state;
	/* one cannot run by plan, one says so in the worker, one runs */
	fixture_init(&f, "fake.sweep size=80,128 n=1 fake.sweep what=skip n=1,2", &p);
	assert_int_equal(fixture_execute(&f, NULL, NULL), 0);
	assert_int_equal(f.run->n_measures, 3);
	assert_int_equal(fixture_count(&f, VERDICT_SKIPPED), 2);
	assert_string_equal(f.run->measures[0].reason, "80 cannot be had here");
	assert_null(attrs_find(&f.run->measures[0].setting, "n"));
	assert_int_equal(attrs_int(&f.run->measures[0].setting, "size", 0), 80);
	assert_int_equal(f.n_done, 3);
	fixture_done(&f);
	fixture_init(&f, "fake.sweep what=skip n=1,2", &p);
	assert_int_equal(fixture_execute(&f, NULL, NULL), 0);
	assert_int_equal(f.run->n_measures, 1);
	assert_string_equal(f.last_why, "cannot be measured here: no such memory here");
	fixture_done(&f);
}

static void test_nothing_runs(void **state)
{
	struct preset p = fixture_preset(1, 1, 60);
	struct fixture f;

	(void)state;
	fixture_init(&f, "fake.sweep size=80,77", &p);
	assert_int_equal(fixture_execute(&f, NULL, NULL), -ENODEV);
	assert_non_null(strstr(f.e.msg, "80 cannot be had here"));
	assert_non_null(strstr(f.e.msg, "77 is not available here"));
	assert_int_equal(f.run->n_measures, 2);
	assert_false(f.run->complete);
	fixture_done(&f);
}

static void test_run_file(void **state)
{
	struct preset p = fixture_preset(1, 1, 60);
	struct runfile *file = NULL;
	struct run *back = NULL;
	struct fixture f;

	(void)state;
	fixture_init(&f, "fake.sweep n=1,2,4 what=ok,fail", &p);
	assert_int_equal(runfile_create(f.run_file, f.run, &file, &f.e), 0);
	assert_int_equal(fixture_execute(&f, file, NULL), 0);
	/* no footer yet: all measures are there all the same */
	assert_int_equal(runfile_load(f.run_file, &back, &f.e), 0);
	assert_int_equal(back->n_measures, 6);
	assert_int_equal(back->n_bad_lines, 0);
	assert_false(back->has_footer);
	for (size_t i = 0; i < 6; i++) {
		assert_true(attrs_equal(&back->measures[i].setting, &f.run->measures[i].setting));
		assert_int_equal(back->measures[i].verdict, f.run->measures[i].verdict);
	}
	run_free(back);
	runfile_close(file);
	fixture_done(&f);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ok_points),
		cmocka_unit_test(test_surroundings_of_a_worker),
		cmocka_unit_test(test_without_inner),
		cmocka_unit_test(test_exact_and_counts_only),
		cmocka_unit_test(test_stops_when_exact),
		cmocka_unit_test(test_time_budget),
		cmocka_unit_test(test_budget_inside_an_invocation),
		cmocka_unit_test(test_refines_around_the_knee),
		cmocka_unit_test(test_skipped_settings),
		cmocka_unit_test(test_nothing_runs),
		cmocka_unit_test(test_run_file),
	};

	if (argc > 1 && strcmp(argv[1], WORKER_VERB) == 0)
		return worker_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
