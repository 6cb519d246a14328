// SPDX-License-Identifier: MIT
/* Facts of faults, forks and shared segments, from invented runs whose truth is known. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "fact_sim.h"

enum { INVOCATIONS = 8 };
static const char fault_where[] = "of=file fill=populate-read access=read";

static const struct param fault_params[] = {
	{ .name = "used", .type = PARAM_COUNT, .role = ROLE_INNER },
	{ .name = "fill", .type = PARAM_CHOICE },
	{ .name = "access", .type = PARAM_CHOICE },
	{ 0 }
};
static const struct metric fault_metrics[] = {
	{ "page_ns", "", "ns", BETTER_LOWER, EST_MIN, FORM_SAMPLES }, { 0 }
};
static const struct bench_schema fault_schema = { "fault.file", "", 1, fault_params,
						  fault_metrics };

static const struct param fork_params[] = {
	{ .name = "resident", .type = PARAM_BYTES, .role = ROLE_INNER },
	{ .name = "how", .type = PARAM_CHOICE },
	{ 0 }
};
static const struct metric fork_metrics[] = {
	{ "pause_ns", "", "ns", BETTER_LOWER, EST_MIN, FORM_SAMPLES }, { 0 }
};
static const struct bench_schema fork_schema = { "fork.call", "", 1, fork_params, fork_metrics };

static const struct param tables_params[] = {
	{ .name = "processes", .type = PARAM_COUNT, .role = ROLE_INNER },
	{ .name = "segment", .type = PARAM_BYTES },
	{ .name = "page", .type = PARAM_PAGE },
	{ 0 }
};
static const struct metric tables_metrics[] = {
	{ "process_table_bytes", "", "bytes", BETTER_NONE, EST_MEDIAN, FORM_EXACT },
	{ "predicted_table_bytes", "", "bytes", BETTER_NONE, EST_MEDIAN, FORM_EXACT },
	{ "faults", "", "faults", BETTER_LOWER, EST_MEDIAN, FORM_COUNT },
	{ 0 }
};
static const struct bench_schema tables_schema = { "tables.shared", "", 1, tables_params,
						   tables_metrics };

static struct measure *add(struct run *r, const struct bench_schema *s, unsigned invocation,
			   int64_t inner)
{
	struct measure *m = run_add_measure(r);

	assert_non_null(m);
	m->bench = s->name;
	m->invocation = invocation;
	attrs_set_int(&r->arena, &m->setting, s->params[0].name, inner);
	return m;
}

static void sample(struct run *r, struct measure *m, const char *metric, double value)
{
	struct series *s = measure_add_series(r, m);

	assert_non_null(s);
	s->metric = metric;
	s->form = FORM_SAMPLES;
	s->n = 1;
	s->values = arena_alloc(&r->arena, sizeof(double));
	assert_non_null(s->values);
	s->values[0] = value;
}

static void count(struct run *r, struct measure *m, const char *metric, int64_t events,
		  int64_t exposure)
{
	struct series *s = measure_add_series(r, m);

	assert_non_null(s);
	s->metric = metric;
	s->form = FORM_COUNT;
	s->n = 2;
	s->integers = arena_alloc(&r->arena, 2 * sizeof(int64_t));
	assert_non_null(s->integers);
	s->integers[0] = events;
	s->integers[1] = exposure;
}

static void exact(struct run *r, struct measure *m, const char *metric, int64_t value)
{
	struct series *s = measure_add_series(r, m);

	assert_non_null(s);
	s->metric = metric;
	s->form = FORM_EXACT;
	s->n = 1;
	s->integers = arena_alloc(&r->arena, sizeof(int64_t));
	assert_non_null(s->integers);
	s->integers[0] = value;
}

/* Faulting costs @fault for each percent used, filling a constant @fill; both with some noise. */
static struct run *fault_run(double fault, double fill, const char *access_of_fill)
{
	static const int64_t used[] = { 0, 10, 25, 50, 75, 100 };
	struct run *r = sim_run(&sim_host);

	assert_int_equal(run_add_schema(r, &fault_schema), 0);
	for (unsigned i = 0; i < INVOCATIONS; i++) {
		double noise = 1 + 0.002 * (i % 4);

		for (size_t k = 0; k < 6; k++) {
			struct measure *m = add(r, &fault_schema, i, used[k]);

			attrs_set_text(&r->arena, &m->setting, "fill", "demand");
			attrs_set_text(&r->arena, &m->setting, "access", "read");
			sample(r, m, "page_ns", (1 + fault * (double)used[k]) * noise);
			m = add(r, &fault_schema, i, used[k]);
			attrs_set_text(&r->arena, &m->setting, "fill", "populate-read");
			attrs_set_text(&r->arena, &m->setting, "access", access_of_fill);
			sample(r, m, "page_ns", fill);
		}
	}
	return r;
}

static void break_even_of(double fault, double fill, const char *access, struct fact *ret,
			  bool *ret_there)
{
	struct run *r = fault_run(fault, fill, access);
	char where[100];
	struct facts f;
	struct arena a = { 0 };

	sim_facts(r, &a, &f);
	snprintf(where, sizeof(where), "of=file fill=populate-read access=%s", access);
	*ret_there = sim_has_fact(&f, "fault.break_even", where);
	if (*ret_there)
		*ret = sim_fact(&f, "fault.break_even", where);
	arena_done(&a);
	run_free(r);
}

static void test_break_even(void **state)
{
	struct fact f = { 0 };
	bool there;

	(void)state;
	/* 1 + 2 u = 121 at u = 60 */
	break_even_of(2, 121, "read", &f, &there);
	assert_true(there);
	assert_true(fabs(f.value - 60) < 0.5);
	assert_true(f.low <= 60 && 60 <= f.high + 0.5 && f.high - f.low < 2);
	/* never, and always */
	break_even_of(1, 500, "read", &f, &there);
	assert_true(there && isnan(f.value));
	break_even_of(2, 0.5, "read", &f, &there);
	assert_true(there && isnan(f.value));
	/* curves of another access are no pair */
	break_even_of(2, 121, "write", &f, &there);
	assert_false(there);
}

static void test_fill_saving(void **state)
{
	struct run *r = fault_run(2, 121, "read");
	struct facts f;
	struct arena a = { 0 };
	struct fact saving;

	(void)state;
	sim_facts(r, &a, &f);
	saving = sim_fact(&f, "fault.fill_saving", fault_where);
	assert_true(fabs(saving.value - 100 * (201 - 121) / 201.0) < 0.5);
	arena_done(&a);
	run_free(r);
}

/* 5 ms fixed, 40 ms for each GiB; the fixed part cancels. */
static void test_slope(void **state)
{
	struct run *r = sim_run(&sim_host);
	struct facts f;
	struct arena a = { 0 };
	struct fact slope;

	(void)state;
	assert_int_equal(run_add_schema(r, &fork_schema), 0);
	for (unsigned i = 0; i < INVOCATIONS; i++) {
		for (int64_t bytes = 64 << 20; bytes <= 1 << 30; bytes *= 4) {
			struct measure *m = add(r, &fork_schema, i, bytes);

			attrs_set_text(&r->arena, &m->setting, "how", "fork");
			sample(r, m, "pause_ns", 5e6 + 40e6 * (double)bytes / (1 << 30));
		}
		/* a single point has no slope */
		struct measure *m = add(r, &fork_schema, i, 1 << 20);

		attrs_set_text(&r->arena, &m->setting, "how", "vfork");
		sample(r, m, "pause_ns", 1e4);
	}
	sim_facts(r, &a, &f);
	slope = sim_fact(&f, "fork.pause_ns_gib", "how=fork");
	assert_true(fabs(slope.value - 40e6) < 1);
	assert_false(sim_has_fact(&f, "fork.pause_ns_gib", "how=vfork"));
	arena_done(&a);
	run_free(r);
}

static void tables_note(const char *page, int64_t measured, int64_t predicted, int64_t faults,
			const char *note)
{
	struct run *r = sim_run(&sim_host);
	struct facts f;
	struct arena a = { 0 };
	struct fact fact;
	char where[64];

	assert_int_equal(run_add_schema(r, &tables_schema), 0);
	for (unsigned i = 0; i < INVOCATIONS; i++) {
		for (int64_t n = 1; n <= 4; n *= 2) {
			struct measure *m = add(r, &tables_schema, i, n);

			attrs_set_int(&r->arena, &m->setting, "segment", 256 << 20);
			attrs_set_text(&r->arena, &m->setting, "page", page);
			count(r, m, "faults", n == 1 ? 512 : faults, 512 * n);
			exact(r, m, "process_table_bytes", measured);
			exact(r, m, "predicted_table_bytes", n * predicted);
		}
	}
	sim_facts(r, &a, &f);
	snprintf(where, sizeof(where), "page=%s segment=268435456", page);
	fact = sim_fact(&f, "tables.process_bytes", where);
	assert_true(fact.value == (double)measured);
	assert_string_equal(fact.note, note);
	arena_done(&a);
	run_free(r);
}

static void test_tables(void **state)
{
	(void)state;
	tables_note("4k", 528384, 528384, 2048, "as geometry predicts");
	tables_note("4k", 540000, 528384, 128, "as geometry predicts");
	tables_note("4k", 8192, 528384, 2048, "geometry predicts 516 KiB");
	tables_note(
		"hugetlb-2m", 4096, 4096, 523,
		"as geometry predicts; processes share them: 0.255 faults a page by 4 processes");
	tables_note(
		"hugetlb-2m", 4096, 4096, 2048,
		"as geometry predicts; each process has its own: 1 faults a page by 4 processes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_break_even),
		cmocka_unit_test(test_fill_saving),
		cmocka_unit_test(test_slope),
		cmocka_unit_test(test_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
