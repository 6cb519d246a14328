// SPDX-License-Identifier: MIT
/* What `profile` prints of a run: sums over executions, the total, bounds, reasons. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "record/run.h"
#include "report/report.h"

static const struct metric command_metrics[] = {
	{ "elapsed_ns", "time", "ns", BETTER_LOWER, EST_MEDIAN, FORM_SAMPLES },
	{ "user_ns", "time", "ns", BETTER_LOWER, EST_MEDIAN, FORM_SAMPLES },
	{ "system_ns", "time", "ns", BETTER_LOWER, EST_MEDIAN, FORM_SAMPLES },
	{ "walk_ratio", "share", "ratio", BETTER_LOWER, EST_MEDIAN, FORM_SAMPLES },
	{ "page_walks", "walks", "count", BETTER_LOWER, EST_MEDIAN, FORM_COUNT },
	{ 0 },
};
static const struct metric kernel_metrics[] = {
	{ "profile_ticks", "ticks", "ticks", BETTER_LOWER, EST_MEDIAN, FORM_TABLE },
	{ 0 },
};
static const struct param kernel_params[] = {
	{ .name = "event",
	  .summary = "e",
	  .type = PARAM_CHOICE,
	  .role = ROLE_OUTER,
	  .def = "auto" },
	{ 0 },
};
static const struct param no_params[] = { { 0 } };
static const struct bench_schema command_schema = { "profile.command", "c", 1, no_params,
						    command_metrics };
static const struct bench_schema kernel_schema = { "profile.kernel", "k", 1, kernel_params,
						   kernel_metrics };

static struct run *new_run(void)
{
	struct run *r = run_new();

	assert_non_null(r);
	r->id = "00000000000000000000000001";
	r->origin = ORIGIN_MEASURED;
	assert_int_equal(run_add_schema(r, &command_schema), 0);
	assert_int_equal(run_add_schema(r, &kernel_schema), 0);
	return r;
}

static struct measure *add_measure(struct run *r, const char *bench, unsigned invocation)
{
	struct measure *m = run_add_measure(r);

	m->bench = bench;
	m->invocation = invocation;
	return m;
}

static void add_value(struct run *r, struct measure *m, const char *metric, double value)
{
	struct series *s = measure_add_series(r, m);

	s->metric = metric;
	s->form = FORM_SAMPLES;
	s->n = 1;
	s->values = arena_alloc(&r->arena, sizeof(double));
	s->values[0] = value;
}

static void add_count(struct run *r, struct measure *m, const char *metric, int64_t n)
{
	struct series *s = measure_add_series(r, m);

	s->metric = metric;
	s->form = FORM_COUNT;
	s->n = 2;
	s->integers = arena_alloc(&r->arena, 2 * sizeof(int64_t));
	s->integers[0] = n;
	s->integers[1] = 1;
}

static void add_command(struct run *r, unsigned invocation)
{
	struct measure *m = add_measure(r, "profile.command", invocation);

	add_value(r, m, "elapsed_ns", 2e9);
	add_value(r, m, "user_ns", 1.5e9);
	add_value(r, m, "system_ns", 0.5e9);
}

struct row {
	const char *name;
	double address, ticks, load;
};

static void add_table(struct run *r, unsigned invocation, const struct row *rows, size_t n)
{
	static const char *const columns[] = { "address", "ticks", "load" };
	struct measure *m = add_measure(r, "profile.kernel", invocation);
	struct series *s = measure_add_series(r, m);

	attrs_set_text(&r->arena, &m->setting, "event", "cpu-clock");
	s->metric = "profile_ticks";
	s->form = FORM_TABLE;
	s->n = n;
	s->n_columns = 3;
	s->columns = arena_alloc(&r->arena, sizeof(columns));
	memcpy(s->columns, columns, sizeof(columns));
	s->keys = arena_alloc(&r->arena, n * sizeof(*s->keys));
	s->cells = arena_alloc(&r->arena, 3 * n * sizeof(double));
	for (size_t i = 0; i < n; i++) {
		s->keys[i] = rows[i].name;
		s->cells[3 * i] = rows[i].address;
		s->cells[3 * i + 1] = rows[i].ticks;
		s->cells[3 * i + 2] = rows[i].load;
	}
}

static void render(const struct run *r, size_t top, struct str *out)
{
	const struct report_options o = { 0 };
	struct report rep;

	assert_int_equal(report_init(&rep, r, NULL), 0);
	assert_int_equal(report_profile(out, &rep, top, false, &o), 0);
	report_done(&rep);
}

static void assert_says(const struct str *out, const char *words)
{
	if (!strstr(str_text(out), words))
		fail_msg("'%s' is not in:\n%s", words, str_text(out));
}

static void assert_silent(const struct str *out, const char *words)
{
	if (strstr(str_text(out), words))
		fail_msg("'%s' is in:\n%s", words, str_text(out));
}

/* -2116553696 is ffffffff81d7f420 - 2^64: exact, where the address itself is not. */
static const struct row first[] = { { "read_zero", -2116553696, 60, 0.25 },
				    { "fault", -2111438576, 40, 0.5 },
				    { "total", 0, 100, 0.0000125 } };
static const struct row second[] = { { "fault", -2111438576, 70, 0.875 },
				     { "other", NAN, 5, NAN },
				     { "total", 0, 75, 0.00001 } };

static void test_one(void **state)
{
	struct run *r = new_run();
	struct str out = { 0 };

	(void)state;
	add_command(r, 0);
	add_table(r, 0, first, 3);
	render(r, 0, &out);
	assert_says(&out, "1 execution\n");
	assert_says(&out, "ffffffff81d7f420  read_zero     60    0.2500");
	assert_says(&out, "0000000000000000  total        100  0.000013");
	assert_silent(&out, "page walks");
	str_done(&out);
	run_free(r);
}

static void test_sum(void **state)
{
	struct run *r = new_run();
	struct str out = { 0 };

	(void)state;
	add_command(r, 0);
	add_table(r, 0, first, 3);
	add_command(r, 1);
	add_table(r, 1, second, 3);
	render(r, 2, &out);
	assert_says(&out, "2 executions\n");
	assert_says(&out, "fault        110    1.3750");
	assert_says(&out, "total        175");
	assert_true(strstr(str_text(&out), "fault ") < strstr(str_text(&out), "read_zero "));
	assert_silent(&out, "other");
	assert_says(&out, "1 more row\n");
	str_done(&out);
	run_free(r);
}

static void test_skipped(void **state)
{
	struct run *r = new_run();
	struct str out = { 0 };
	struct measure *m;

	(void)state;
	add_command(r, 0);
	m = add_measure(r, "profile.kernel", 0);
	attrs_set_text(&r->arena, &m->setting, "event", "cpu-clock");
	m->verdict = VERDICT_SKIPPED;
	m->reason = "denied; run as root";
	render(r, 0, &out);
	assert_says(&out, "denied; run as root");
	assert_silent(&out, "total");
	str_done(&out);
	run_free(r);
}

static void test_bound_by_cycles(void **state)
{
	struct run *r = new_run();
	struct str out = { 0 };

	(void)state;
	add_command(r, 0);
	add_value(r, &r->measures[0], "walk_ratio", 0.125);
	render(r, 0, &out);
	assert_says(&out, "at most 12.5 % of the CPU time");
	assert_silent(&out, "toll");
	str_done(&out);
	attrs_set_text(&r->arena, &r->context, "toll.run", "01abc");
	attrs_set_real(&r->arena, &r->context, "toll.huge_page_saving_percent", 37.4);
	render(r, 0, &out);
	assert_says(&out, "37 % here");
	assert_says(&out, "01abc");
	str_done(&out);
	run_free(r);
}

/* 10 million walks of 20 ns in 2 s of CPU time: a tenth. */
static void test_bound_by_walks(void **state)
{
	struct run *r = new_run();
	struct str out = { 0 };

	(void)state;
	add_command(r, 0);
	add_count(r, &r->measures[0], "page_walks", 10000000);
	render(r, 0, &out);
	assert_silent(&out, "at most"); /* without the cost of one there is no bound */
	str_done(&out);
	attrs_set_text(&r->arena, &r->context, "toll.run", "01abc");
	attrs_set_real(&r->arena, &r->context, "toll.walk_ns", 20);
	render(r, 0, &out);
	assert_says(&out, "at most 10.0 % of the CPU time");
	str_done(&out);
	attrs_set_real(&r->arena, &r->context, "toll.walk_ns", 2000);
	render(r, 0, &out);
	assert_says(&out, "at most 100 % of the CPU time");
	str_done(&out);
	run_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_sum),
		cmocka_unit_test(test_skipped),
		cmocka_unit_test(test_bound_by_cycles),
		cmocka_unit_test(test_bound_by_walks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
