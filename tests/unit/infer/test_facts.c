// SPDX-License-Identifier: MIT
/* Facts of invented runs: the toll set on two machines, what is missing, and other curves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "infer/infer.h"

#include "fact_sim.h"
#include "near.h"

static void check_small_pages(const struct facts *f)
{
	struct fact x = sim_fact(f, "tlb.entries", "page=4k level=1");

	assert_near(x.nominal, 64, 0);
	assert_near(x.value, 64, 0.1);
	assert_near(x.advertised, 64, 0);
	x = sim_fact(f, "tlb.reach", "page=4k level=1");
	assert_near(x.nominal, 64 * 4096, 0);
	assert_near(x.advertised, 64 * 4096, 0);
	x = sim_fact(f, "tlb.entries", "page=4k level=2");
	assert_near(x.nominal, 2048, 0);
	assert_near(x.value, 2048, 0.1);
	assert_true(isnan(x.advertised));
	x = sim_fact(f, "tlb.hit_cycles", "page=4k level=2");
	assert_near(x.value, 7, 0.03);
	assert_true(x.low <= x.value && x.value <= x.high);
	x = sim_fact(f, "tlb.hit_ns", "page=4k level=2");
	assert_near(x.value, 7.0 / 3, 0.03);
	/* The alias cost of the dense curve cancels: 7 to the second level, 32 more to walk. */
	x = sim_fact(f, "walk.cached_cycles", "page=4k");
	assert_near(x.value, 39, 0.04);
	x = sim_fact(f, "walk.cached_ns", "page=4k");
	assert_near(x.value, 13, 0.04);
	x = sim_fact(f, "walk.memory_cycles", "page=4k");
	assert_near(x.value, 7 + 32 + 900, 0.08);
	assert_null(x.note);
}

static void check_caches(const struct facts *f)
{
	static const double cycles[] = { 4, 12, 46 };
	static const double bytes[] = { 32768, 524288, 33554432 };

	for (int level = 1; level <= 3; level++) {
		char where[16] = "level=";
		struct fact x;

		where[6] = (char)('0' + level);
		x = sim_fact(f, "cache.latency_cycles", where);
		assert_near(x.value, cycles[level - 1], 0.06);
		x = sim_fact(f, "cache.latency_ns", where);
		assert_near(x.value, cycles[level - 1] / 3, 0.06);
		x = sim_fact(f, "cache.capacity", where);
		assert_near(x.value / bytes[level - 1], 1, 0.15);
		assert_near(x.advertised, bytes[level - 1], 0);
		assert_near(x.nominal, bytes[level - 1], 0);
	}
	assert_near(sim_fact(f, "cache.line", "").value, 64, 0);
	assert_near(sim_fact(f, "clock.core_hz", "").value, 3e9, 0.001);
}

static void check_toll(const struct facts *f)
{
	double small = sim_fact(f, "toll.random_read_ns", "page=4k working-set=1g").value;
	double huge = sim_fact(f, "toll.random_read_ns", "page=thp working-set=1g").value;
	struct fact x = sim_fact(f, "toll.huge_page_saving", "working-set=1g");

	assert_near(small, 150, 0.1);
	assert_near(huge, 100, 0.1);
	assert_near(x.value, 100.0 / 3, 0.1);
	assert_string_equal(x.unit, "percent");
	assert_near(sim_fact(f, "memory.latency_ns", "page=thp working-set=1g").value, huge, 1e-9);
}

static void toll_set_on_a_guest(void **state)
{
	struct run *r = sim_toll_run(&sim_guest, 8, 0.02);
	struct arena a = { 0 };
	struct facts f;
	struct fact x;

	(void)state;
	sim_facts(r, &a, &f);
	check_small_pages(&f);
	check_caches(&f);
	check_toll(&f);
	x = sim_fact(&f, "tlb.effective_page", "page=thp");
	assert_near(x.value, 4096, 0);
	assert_non_null(strstr(x.note, "2 MiB pages act like 4 KiB entries here"));
	for (int level = 1; level <= 2; level++) {
		x = sim_fact(&f, "tlb.entries",
			     level == 1 ? "page=thp level=1" : "page=thp level=2");
		assert_true(isnan(x.value));
		assert_non_null(strstr(x.reason, "2 MiB pages act like 4 KiB entries here"));
	}
	assert_near(x.advertised, 1536, 0);
	x = sim_fact(&f, "walk.cached_cycles", "page=thp");
	assert_near(x.value, 45, 0.05);
	assert_non_null(strstr(x.note, "act like"));
	/* The cache curve ran in such pages: said from the second level on. */
	assert_null(sim_fact(&f, "cache.latency_ns", "level=1").note);
	assert_non_null(
		strstr(sim_fact(&f, "cache.latency_ns", "level=2").note, "includes translation"));
	arena_done(&a);
	run_free(r);
}

static void toll_set_on_bare_metal(void **state)
{
	struct run *r = sim_toll_run(&sim_host, 8, 0.02);
	struct arena a = { 0 };
	struct facts f;
	struct fact x;

	(void)state;
	sim_facts(r, &a, &f);
	check_small_pages(&f);
	check_caches(&f);
	check_toll(&f);
	x = sim_fact(&f, "tlb.effective_page", "page=thp");
	assert_near(x.value, 2097152, 0);
	assert_null(x.note);
	x = sim_fact(&f, "tlb.entries", "page=thp level=1");
	assert_near(x.nominal, 64, 0);
	assert_true(isnan(x.advertised));
	x = sim_fact(&f, "tlb.entries", "page=thp level=2");
	assert_near(x.nominal, 1536, 0);
	assert_near(x.advertised, 1536, 0);
	assert_near(sim_fact(&f, "tlb.reach", "page=thp level=2").nominal, 1536.0 * 2097152, 0);
	assert_near(sim_fact(&f, "tlb.hit_cycles", "page=thp level=2").value, 7, 0.03);
	assert_near(sim_fact(&f, "walk.cached_cycles", "page=thp").value, 39, 0.05);
	assert_null(sim_fact(&f, "cache.latency_ns", "level=3").note);
	/* What could not run says why. */
	x = sim_fact(&f, "tlb.entries", "page=hugetlb-1g level=1");
	assert_true(isnan(x.value));
	assert_string_equal(x.reason, "no 1 GiB pages in the pool");
	x = sim_fact(&f, "tlb.hit_ns", "page=hugetlb-1g level=2");
	assert_string_equal(x.reason, "no 1 GiB pages in the pool");
	arena_done(&a);
	run_free(r);
}

static void few_invocations_give_values_without_intervals(void **state)
{
	struct run *r = sim_toll_run(&sim_guest, 3, 0.01);
	struct arena a = { 0 };
	struct facts f;
	struct fact x;

	(void)state;
	sim_facts(r, &a, &f);
	x = sim_fact(&f, "tlb.hit_cycles", "page=4k level=2");
	assert_near(x.value, 7, 0.03);
	assert_true(isnan(x.low) && isnan(x.high));
	assert_string_equal(x.interval_reason, "3 invocations; an interval needs 6");
	/* Capacities too: a measured curve must be repeated. */
	x = sim_fact(&f, "tlb.entries", "page=4k level=1");
	assert_true(x.value > 0 && isnan(x.low) && isnan(x.high));
	assert_non_null(strstr(x.interval_reason, "6"));
	arena_done(&a);
	run_free(r);
}

static void skipped_rows_give_reasons(void **state)
{
	struct run *r = sim_run(&sim_guest);
	struct arena a = { 0 };
	struct facts f;

	(void)state;
	for (size_t i = 0; i < SIM_TOLL_ROWS; i++)
		sim_skip(r, &sim_toll[i], "not here");
	sim_facts(r, &a, &f);
	assert_true(f.n > 10);
	for (size_t i = 0; i < f.n; i++)
		assert_true(isnan(f.v[i].value));
	assert_string_equal(sim_fact(&f, "tlb.entries", "page=4k level=1").reason, "not here");
	assert_string_equal(sim_fact(&f, "tlb.hit_ns", "page=4k level=2").reason, "not here");
	assert_string_equal(sim_fact(&f, "walk.memory_ns", "page=4k").reason, "not here");
	assert_string_equal(sim_fact(&f, "tlb.effective_page", "page=thp").reason, "not here");
	assert_string_equal(sim_fact(&f, "cache.line", "").reason, "not here");
	arena_done(&a);
	run_free(r);
}

/* Points that a short budget cut off below the second level: told with what would help. */
static void points_that_end_early_are_named(void **state)
{
	static const struct {
		double high;
		int64_t told;
		const char *reason;
	} rows[] = {
		{ 160, 0, "too early for a second level: a longer --budget goes on" },
		{ 160, 2048, "too early for the 2048 entries that the processor tells" },
		{ 1500, 2048, "too early for the 2048 entries that the processor tells" },
		{ 1500, 0, "no knee between " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct run *r = sim_run(&sim_guest);
		struct sim_row walk = sim_toll[1];
		struct arena a = { 0 };
		struct facts f;

		walk.high = rows[i].high;
		if (rows[i].told)
			attrs_set_int(&r->arena, &r->fingerprint, "advertised.dtlb2.4k",
				      rows[i].told);
		sim_measure(r, &sim_guest, &sim_toll[0], 6, 0.01, 0);
		sim_measure(r, &sim_guest, &walk, 6, 0.01, 0);
		sim_facts(r, &a, &f);
		const char *reason = sim_fact(&f, "tlb.entries", "page=4k level=2").reason;
		assert_non_null(reason);
		if (!strstr(reason, rows[i].reason))
			fail_msg("row %zu: %s", i, reason);
		arena_done(&a);
		run_free(r);
	}
}

static void an_empty_run_has_no_facts(void **state)
{
	struct run *r = sim_run(&sim_guest);
	struct arena a = { 0 };
	struct facts f = { .n = 77 };

	(void)state;
	sim_facts(r, &a, &f);
	assert_int_equal(f.n, 0);
	assert_null(facts_find(&f, "tlb.entries", NULL, NULL));
	arena_done(&a);
	run_free(r);
}

static void one_row_alone_tells_what_it_can(void **state)
{
	struct run *r = sim_run(&sim_guest);
	struct arena a = { 0 };
	struct facts f;
	struct fact x;

	(void)state;
	sim_measure(r, &sim_guest, &sim_toll[1], 6, 0.01, 0);
	sim_facts(r, &a, &f);
	x = sim_fact(&f, "tlb.entries", "page=4k level=2");
	assert_near(x.nominal, 2048, 0);
	x = sim_fact(&f, "tlb.entries", "page=4k level=1");
	assert_non_null(x.note);
	x = sim_fact(&f, "walk.cached_ns", "page=4k");
	assert_true(isnan(x.value));
	assert_string_equal(x.reason, "needs the curve with alias=avoid");
	assert_false(sim_has_fact(&f, "tlb.hit_ns", "page=4k level=2"));
	assert_false(sim_has_fact(&f, "cache.line", ""));
	arena_done(&a);
	run_free(r);
}

static void huge_pages_need_the_first_level(void **state)
{
	struct run *r = sim_run(&sim_guest);
	struct arena a = { 0 };
	struct facts f;

	(void)state;
	sim_measure(r, &sim_guest, &sim_toll[3], 6, 0.01, 0);
	sim_facts(r, &a, &f);
	assert_string_equal(sim_fact(&f, "tlb.effective_page", "page=thp").reason,
			    "the first level's capacity for small pages is not known");
	arena_done(&a);
	run_free(r);
}

static void tables_that_fit_the_caches_are_noted(void **state)
{
	struct run *r = sim_run(&sim_guest);
	struct sim_row far = sim_toll[2];
	struct arena a = { 0 };
	struct facts f;
	struct fact x;

	(void)state;
	far.high = 65536;
	sim_measure(r, &sim_guest, &sim_toll[0], 6, 0.01, 0);
	sim_measure(r, &sim_guest, &far, 6, 0.01, 0);
	sim_facts(r, &a, &f);
	x = sim_fact(&f, "walk.memory_ns", "page=4k");
	assert_true(!isnan(x.value));
	assert_non_null(strstr(x.note, "lines of 4 MiB) partly stay in the caches (32 MiB)"));
	arena_done(&a);
	run_free(r);
}

static void invalid_measures_do_not_count(void **state)
{
	struct run *r = sim_toll_run(&sim_guest, 6, 0.01);
	struct arena a = { 0 };
	struct facts f;
	struct fact x;

	(void)state;
	for (size_t i = 0; i < r->n_measures; i++) {
		struct measure *m = &r->measures[i];

		if (strcmp(attrs_text(&m->setting, "alias", ""), "avoid") != 0)
			continue;
		m->verdict = VERDICT_INVALID;
		m->reason = "more than one frame lies behind the zero page";
	}
	sim_facts(r, &a, &f);
	x = sim_fact(&f, "tlb.hit_ns", "page=4k level=2");
	assert_true(isnan(x.value));
	assert_string_equal(x.reason, "more than one frame lies behind the zero page");
	x = sim_fact(&f, "tlb.entries", "page=4k level=1");
	assert_string_equal(x.reason, "more than one frame lies behind the zero page");
	arena_done(&a);
	run_free(r);
}

/* Curves of no role are told apart by what differs between them. */
static void other_curves_are_told_apart(void **state)
{
	static const struct sim_row rows[] = {
		{ "tlb.chase", "4k", "page", "distinct", "plain", 0, 0, "local", 1, 1024 },
		{ "tlb.chase", "4k", "page", "distinct", "plain", 0, 0, "remote", 1, 1024 },
	};
	struct run *r = sim_run(&sim_guest);
	struct arena a = { 0 };
	struct facts f;
	struct fact x;

	(void)state;
	for (size_t i = 0; i < 2; i++)
		sim_measure(r, &sim_guest, &rows[i], 6, 0.01, 0);
	sim_facts(r, &a, &f);
	x = sim_fact(&f, "curve.knee", "page-tables=local level=1");
	assert_near(x.nominal, 64, 0);
	x = sim_fact(&f, "curve.step_ns", "page-tables=remote level=1");
	assert_true(x.value > 2 && x.value < 9);
	assert_true(!isnan(x.low));
	assert_non_null(facts_find(&f, "curve.knee", "page-tables", "remote"));
	assert_null(facts_find(&f, "curve.knee", "page-tables", "3"));
	assert_null(facts_find(&f, "curve.knee", "no-such", "3"));
	assert_non_null(facts_find(&f, "curve.knee", "level", "1"));
	arena_done(&a);
	run_free(r);
}

static void curves_without_a_knee_say_so(void **state)
{
	static const struct sim_row row = { "tlb.chase", "4k", "page", "distinct", "plain",
					    0,           0,    NULL,   1,          40 };
	struct run *r = sim_run(&sim_guest);
	struct arena a = { 0 };
	struct facts f;

	(void)state;
	sim_measure(r, &sim_guest, &row, 6, 0.01, 0);
	sim_facts(r, &a, &f);
	assert_int_equal(f.n, 2); /* and the clock */
	assert_string_equal(sim_fact(&f, "curve.knee", "level=1").reason,
			    "no knee up to 36 pointers");
	arena_done(&a);
	run_free(r);
}

static struct measure *published(struct run *r, int64_t pointers, const char *tables, double ns)
{
	struct measure *m = run_add_measure(r);
	struct series *s;

	assert_non_null(m);
	m->bench = "tlb.chase";
	attrs_set_int(&r->arena, &m->setting, "pointers", pointers);
	attrs_set_text(&r->arena, &m->setting, "stride", "32m+128");
	attrs_set_text(&r->arena, &m->setting, "page", "16k");
	attrs_set_text(&r->arena, &m->setting, "page-tables", tables);
	s = measure_add_series(r, m);
	assert_non_null(s);
	s->metric = "ref_ns";
	s->form = FORM_SUMMARY;
	s->origin = ORIGIN_PUBLISHED;
	s->n = 1;
	s->values = arena_alloc(&r->arena, sizeof(double));
	assert_non_null(s->values);
	s->values[0] = ns;
	return m;
}

/* The published table of 2005, as single values without replicates. */
static void altix_2005(void **state)
{
	FILE *file = fopen(ALTIX_CSV, "re");
	struct run *r = sim_run(&sim_guest);
	struct arena a = { 0 };
	char line[256];
	struct facts f;
	struct fact x;

	(void)state;
	assert_non_null(file);
	attrs_set_int(&r->arena, &r->fingerprint, "page_bytes", 16384);
	while (fgets(line, sizeof(line), file)) {
		char *at = line;
		double v[3];

		if (line[0] < '0' || line[0] > '9')
			continue;
		for (int i = 0; i < 3; i++) {
			v[i] = strtod(at, &at);
			at += *at == ',';
		}
		published(r, (int64_t)v[0], "local", v[1]);
		published(r, (int64_t)v[0], "remote", v[2]);
	}
	fclose(file);
	sim_facts(r, &a, &f);
	for (int i = 0; i < 2; i++) {
		const char *const where[2][2] = {
			{ "page-tables=local level=1", "page-tables=local level=2" },
			{ "page-tables=remote level=1", "page-tables=remote level=2" },
		};

		x = sim_fact(&f, "curve.knee", where[i][0]);
		assert_near(x.nominal, 32, 0);
		assert_true(x.value >= 30 && x.value < 40);
		x = sim_fact(&f, "curve.knee", where[i][1]);
		assert_near(x.nominal, 128, 0);
		assert_true(x.value >= 110 && x.value < 120);
		x = sim_fact(&f, "curve.step_ns", where[i][0]);
		assert_near(x.value, 8.2, 0.1);
		assert_string_equal(x.interval_reason, "1 invocation; an interval needs 6");
	}
	assert_int_equal(f.n, 8);
	arena_done(&a);
	run_free(r);
}

/* A first level of @sets sets and @ways ways (0 sets: fully associative), at doubled strides. */
static struct fact ways_of(double sets, double ways, int strides, struct arena *a)
{
	static const char *const words[] = { "4k", "8k", "16k", "32k", "64k", "128k", "256k" };
	struct run *r = sim_run(&sim_guest);
	struct facts f;
	struct fact x;

	for (int i = 0; i < strides; i++) {
		struct sim_row row = { "tlb.chase", "4k", words[i], "distinct", "plain",
				       0,           0,    NULL,     1,          256 };
		struct sim_cpu cpu = sim_guest;

		cpu.l1_entries = sets > 0 ? fmax(1, sets / exp2(i)) * ways : ways;
		cpu.l2_entries = 1e9;
		sim_measure(r, &cpu, &row, 3, 0.01, 0);
	}
	sim_facts(r, a, &f);
	x = strides < 3 ? (struct fact){ 0 } : sim_fact(&f, "tlb.ways", "page=4k level=1");
	if (strides < 3)
		assert_false(sim_has_fact(&f, "tlb.ways", "page=4k level=1"));
	run_free(r);
	return x;
}

static void ways_show_at_doubled_strides(void **state)
{
	struct arena a = { 0 };
	struct fact x;

	(void)state;
	x = ways_of(16, 5, 6, &a);
	assert_near(x.value, 5, 0);
	assert_null(x.note);
	x = ways_of(0, 64, 4, &a);
	assert_near(x.value, 64, 0.1);
	assert_non_null(strstr(x.note, "fully associative"));
	x = ways_of(16, 8, 4, &a);
	assert_true(isnan(x.value));
	assert_non_null(strstr(x.reason, "at most"));
	ways_of(16, 8, 2, &a);
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(toll_set_on_a_guest),
		cmocka_unit_test(toll_set_on_bare_metal),
		cmocka_unit_test(few_invocations_give_values_without_intervals),
		cmocka_unit_test(skipped_rows_give_reasons),
		cmocka_unit_test(points_that_end_early_are_named),
		cmocka_unit_test(an_empty_run_has_no_facts),
		cmocka_unit_test(one_row_alone_tells_what_it_can),
		cmocka_unit_test(huge_pages_need_the_first_level),
		cmocka_unit_test(tables_that_fit_the_caches_are_noted),
		cmocka_unit_test(invalid_measures_do_not_count),
		cmocka_unit_test(other_curves_are_told_apart),
		cmocka_unit_test(curves_without_a_knee_say_so),
		cmocka_unit_test(altix_2005),
		cmocka_unit_test(ways_show_at_doubled_strides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
