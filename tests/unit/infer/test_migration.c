/* SPDX-License-Identifier: MIT */
/* Facts of migration.cost on invented machines: classes, hidden chiplets, the constant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "fact_sim.h"
#include "infer/facts_migration.h"
#include "migration_sim.h"

static const char *one_cache(unsigned from, unsigned to)
{
	(void)from;
	(void)to;
	return "l3";
}

static const char *two_nodes(unsigned from, unsigned to)
{
	return from / 4 == to / 4 ? "l3" : "remote-21";
}

static double near_ns(unsigned from, unsigned to)
{
	(void)from;
	(void)to;
	return 20;
}

/* Fours of CPUs are near each other, whatever is told. */
static double chiplets_ns(unsigned from, unsigned to)
{
	return from / 4 == to / 4 ? 20 : 60;
}

static double core_ns(unsigned from, unsigned to)
{
	(void)from;
	(void)to;
	return 1;
}

static const struct migration_sim plain = { .cpus = 2,
					    .invocations = 8,
					    .noise = 0.05,
					    .class_of = one_cache,
					    .line_ns = near_ns,
					    .knob_ns = 500000,
					    .largest = 16 << 20 };

static void near(double value, double want, double by)
{
	if (!(fabs(value - want) <= by * want))
		fail_msg("%g, wanted %g", value, want);
}

static void costs_and_maximum(void **state)
{
	struct run *r = migration_sim_run(&plain);
	struct arena a = { 0 };
	struct facts f;
	struct fact x;

	(void)state;
	sim_facts(r, &a, &f);
	near(sim_fact(&f, "migration.cost_ns", "class=l3 working-set=16384").value, 256 * 20, 0.1);
	near(sim_fact(&f, "migration.cost_ns", "class=l3 working-set=1048576").value, 16384 * 20,
	     0.1);
	x = sim_fact(&f, "migration.max_cost_ns", "class=l3");
	near(x.value, 8 * 16384 * 20, 0.1);
	assert_true(x.low < x.value && x.high > x.value);
	x = sim_fact(&f, "migration.max_bytes", "class=l3");
	assert_true(x.value == 16 << 20);
	assert_non_null(strstr(x.note, "larger ones may cost more"));
	x = sim_fact(&f, "migration.apart_ratio", "class=l3");
	near(x.value, 10, 0.1);
	assert_non_null(strstr(x.note, "cores of their own"));
	/* one pair of CPUs makes no groups */
	assert_false(sim_has_fact(&f, "migration.groups", ""));
	arena_done(&a);
	run_free(r);
}

/* 500 us are 25 000 lines at 20 ns, 1.5 MiB: less than that and more than that. */
static void constant_is_read_by_intervals(void **state)
{
	static const struct {
		int64_t knob;
		unsigned invocations;
		double less, more; /* 0: none */
		const char *reason;
	} rows[] = {
		{ 500000, 8, 1 << 20, 4 << 20, NULL },
		{ 1000, 8, 0, 16 << 10, "surely costs less" },
		{ -1, 8, 16 << 20, 0, "surely costs more" },
		{ 0, 8, 0, 16 << 10, "surely costs less" },
		{ INT64_MIN, 8, 1 << 20, 4 << 20, NULL },
		{ 500000, 3, 0, 0, "an interval needs 6" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct migration_sim s = plain;
		struct arena a = { 0 };
		struct facts f;
		struct fact less, more;
		struct run *r;

		s.knob_ns = rows[i].knob;
		s.invocations = rows[i].invocations;
		r = migration_sim_run(&s);
		sim_facts(r, &a, &f);
		less = sim_fact(&f, "migration.knob_too_large_to_bytes", "class=l3");
		more = sim_fact(&f, "migration.knob_too_small_from_bytes", "class=l3");
		if (rows[i].less > 0)
			assert_true(less.value == rows[i].less);
		else
			assert_non_null(strstr(less.reason, rows[i].reason));
		if (rows[i].more > 0)
			assert_true(more.value == rows[i].more);
		else
			assert_non_null(strstr(more.reason, rows[i].reason));
		if (rows[i].knob == INT64_MIN)
			assert_non_null(strstr(less.note, "kernel's default"));
		else
			assert_null(less.note);
		arena_done(&a);
		run_free(r);
	}
}

static void hidden_chiplets_show(void **state)
{
	struct migration_sim s = plain;
	struct arena a = { 0 };
	struct facts f;
	struct fact x;
	struct run *r;

	(void)state;
	s.cpus = 8;
	s.line_ns = chiplets_ns;
	s.largest = 256 << 10;
	r = migration_sim_run(&s);
	sim_facts(r, &a, &f);
	x = sim_fact(&f, "migration.groups", "");
	assert_true(x.value == 2 && x.nominal == 1);
	assert_non_null(strstr(x.note, "disagrees"));
	assert_non_null(strstr(x.note, "0-3 | 4-7"));
	arena_done(&a);
	run_free(r);

	/* the same costs, truly told */
	a = (struct arena){ 0 };
	s.class_of = two_nodes;
	r = migration_sim_run(&s);
	sim_facts(r, &a, &f);
	x = sim_fact(&f, "migration.groups", "");
	assert_true(x.value == 2 && x.nominal == 2);
	assert_string_equal(x.note, "agrees with what the machine tells");
	near(sim_fact(&f, "migration.cost_ns", "class=remote-21 working-set=16384").value, 256 * 60,
	     0.1);
	arena_done(&a);
	run_free(r);

	/* two classes that cost alike */
	a = (struct arena){ 0 };
	s.line_ns = near_ns;
	r = migration_sim_run(&s);
	sim_facts(r, &a, &f);
	x = sim_fact(&f, "migration.groups", "");
	assert_true(x.value == 1 && x.nominal == 2);
	assert_non_null(strstr(x.note, "cost alike"));
	arena_done(&a);
	run_free(r);

	/* without intervals no groups */
	a = (struct arena){ 0 };
	s.invocations = 3;
	r = migration_sim_run(&s);
	sim_facts(r, &a, &f);
	assert_non_null(strstr(sim_fact(&f, "migration.groups", "").reason, "6 invocations"));
	arena_done(&a);
	run_free(r);
}

static void virtual_cpus_may_share_a_core(void **state)
{
	static const struct {
		const char *hypervisor;
		unsigned together;
		double (*line_ns)(unsigned, unsigned);
		const char *says;
		bool doubt; /* the other facts of the class say it too */
	} rows[] = {
		{ "KVM", 0, near_ns, "cores of their own", false },
		{ "KVM", 4, near_ns, "inconclusive: in 4 of 8", true },
		{ "KVM", 8, near_ns, "a host may run two virtual CPUs on one core", true },
		{ NULL, 0, core_ns, "threads of one core, though l3 is told", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct migration_sim s = plain;
		struct arena a = { 0 };
		struct facts f;
		struct fact x;
		struct run *r;

		s.hypervisor = rows[i].hypervisor;
		s.together = rows[i].together;
		s.line_ns = rows[i].line_ns;
		r = migration_sim_run(&s);
		sim_facts(r, &a, &f);
		x = sim_fact(&f, "migration.apart_ratio", "class=l3");
		if (!strstr(x.note, rows[i].says))
			fail_msg("row %zu: %s", i, x.note);
		x = sim_fact(&f, "migration.cost_ns", "class=l3 working-set=16384");
		assert_int_equal(x.note != NULL, rows[i].doubt);
		arena_done(&a);
		run_free(r);
	}
}

static void historical_costs_are_doubled(void **state)
{
	struct migration_sim s = plain;
	struct arena a = { 0 };
	struct facts f;
	struct fact x;
	struct run *r;

	(void)state;
	s.search = "historical";
	s.largest = 16 << 10;
	r = migration_sim_run(&s);
	sim_facts(r, &a, &f);
	x = sim_fact(&f, "migration.historical_ns", "class=l3");
	near(x.value, 2 * 256 * 20, 0.1);
	assert_non_null(strstr(x.note, "kernel-2.6.18"));
	assert_false(sim_has_fact(&f, "migration.max_cost_ns", "class=l3"));
	arena_done(&a);
	run_free(r);
}

static void gaps_divide(void **state)
{
	static const struct {
		double v[6], ratio, noise;
		size_t n, groups, last; /* group of the last value */
	} rows[] = {
		{ { 10, 11, 30, 31, 90, 95 }, 1.3, 1, 6, 3, 2 },
		{ { 10, 11, 12, 13, 14, 15 }, 1.3, 1, 6, 1, 0 }, /* a slope is no gap */
		{ { 10, 14 }, 1.3, 5, 2, 1, 0 },                 /* within the noise */
		{ { 10, 20 }, 1.3, 5, 2, 2, 1 },
		{ { 7 }, 1.3, 0, 1, 1, 0 },
		{ { -5, 20 }, 1.3, 1, 2, 2, 1 },
		{ { 0 }, 1.3, 0, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t group[6] = { 0 };

		assert_int_equal(
			gap_groups(rows[i].v, rows[i].n, rows[i].ratio, rows[i].noise, group),
			rows[i].groups);
		if (rows[i].n)
			assert_int_equal(group[rows[i].n - 1], rows[i].last);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(costs_and_maximum),
		cmocka_unit_test(constant_is_read_by_intervals),
		cmocka_unit_test(hidden_chiplets_show),
		cmocka_unit_test(virtual_cpus_may_share_a_core),
		cmocka_unit_test(historical_costs_are_doubled),
		cmocka_unit_test(gaps_divide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
