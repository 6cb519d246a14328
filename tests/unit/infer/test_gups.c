// SPDX-License-Identifier: MIT
/* Facts of RandomAccess from invented runs. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <math.h>
#include <string.h>
#include <cmocka.h>

#include "fact_sim.h"

static const struct param params[] = { { .name = "table", .type = PARAM_BYTES, .role = ROLE_INNER },
				       { .name = "page", .type = PARAM_PAGE },
				       { .name = "form", .type = PARAM_CHOICE },
				       { .name = "kernel", .type = PARAM_CHOICE },
				       { .name = "limit", .type = PARAM_COUNT },
				       { .name = "data", .type = PARAM_NODE },
				       { .name = "page-tables", .type = PARAM_NODE },
				       { 0 } };
static const struct metric metrics[] = {
	{ "gups", "", "GUP/s", BETTER_HIGHER, EST_MEDIAN, FORM_SAMPLES },
	{ "update_ns", "", "ns", BETTER_LOWER, EST_MEDIAN, FORM_SAMPLES },
	{ 0 }
};
static const struct bench_schema schema = { "mem.gups", "", 1, params, metrics };

struct row {
	const char *page, *kernel, *data;
	int64_t limit, table; /* table 0: the setting could not run */
	double ns;
};

static void add(struct run *r, struct row w, unsigned invocations)
{
	for (unsigned i = 0; i < invocations; i++) {
		struct measure *m = run_add_measure(r);
		struct series *s;

		assert_non_null(m);
		m->bench = schema.name;
		m->invocation = i;
		attrs_set_text(&r->arena, &m->setting, "page", w.page);
		attrs_set_text(&r->arena, &m->setting, "form", "single");
		attrs_set_text(&r->arena, &m->setting, "kernel", w.kernel);
		attrs_set_int(&r->arena, &m->setting, "limit", w.limit);
		attrs_set_text(&r->arena, &m->setting, "data", w.data);
		attrs_set_text(&r->arena, &m->setting, "page-tables", "local");
		if (w.table == 0) {
			m->verdict = VERDICT_SKIPPED;
			m->reason = "no pool";
			continue;
		}
		attrs_set_int(&r->arena, &m->setting, "table", w.table);
		s = measure_add_series(r, m);
		assert_non_null(s);
		s->metric = "update_ns";
		s->form = FORM_SAMPLES;
		s->n = 1;
		s->values = arena_alloc(&r->arena, sizeof(double));
		assert_non_null(s->values);
		s->values[0] = w.ns * (1 + 0.001 * (i % 3)); /* medians at 1.001 */
	}
}

static struct run *run_of(const struct row *rows, size_t n, unsigned invocations)
{
	struct run *r = sim_run(&sim_host);

	assert_int_equal(run_add_schema(r, &schema), 0);
	for (size_t i = 0; i < n; i++)
		add(r, rows[i], invocations);
	return r;
}

static unsigned count(const struct facts *f, const char *id)
{
	unsigned n = 0;

	for (size_t i = 0; i < f->n; i++)
		n += strcmp(f->v[i].id, id) == 0;
	return n;
}

static void the_largest_table_counts(void **state)
{
	static const struct row rows[] = {
		{ "4k", "literal", "local", 2, 1 << 20, 5 },
		{ "4k", "literal", "local", 2, 1 << 30, 40 },
		{ "thp", "literal", "local", 2, 1 << 20, 4 },
		{ "thp", "literal", "local", 2, 1 << 30, 30 },
		{ "thp", "literal", "local", 2, INT64_C(1) << 31, 33 },
	};
	struct run *r = run_of(rows, 5, 8);
	struct arena a = { 0 };
	struct facts facts;
	struct fact f;

	(void)state;
	sim_facts(r, &a, &facts);
	f = sim_fact(&facts, "gups.update_ns", "page=4k form=single kernel=literal table=1g");
	assert_true(fabs(f.value - 40.04) < 1e-9);
	assert_true(f.low >= 40 && f.high <= 40.08);
	f = sim_fact(&facts, "gups.update_ns", "page=thp form=single kernel=literal table=2g");
	assert_true(fabs(f.value - 33.033) < 1e-9);
	/* in the largest that both have */
	f = sim_fact(&facts, "gups.page_saving", "page=thp form=single kernel=literal table=1g");
	assert_true(fabs(f.value - 25) < 1e-6);
	assert_true(f.low <= f.value && f.value <= f.high && f.high < 25.3);
	/* nothing saves against itself */
	assert_int_equal(count(&facts, "gups.page_saving"), 1);
	assert_int_equal(count(&facts, "gups.update_ns"), 2);
	arena_done(&a);
	run_free(r);
}

/* A saving needs settings that differ in the page size alone. */
static void only_twins_are_compared(void **state)
{
	static const struct row rows[][2] = {
		{ { "4k", "tuned", "local", 2, 1 << 30, 40 },
		  { "thp", "literal", "local", 2, 1 << 30, 30 } },
		{ { "4k", "literal", "remote", 2, 1 << 30, 40 },
		  { "thp", "literal", "local", 2, 1 << 30, 30 } },
		{ { "4k", "literal", "local", 60, 1 << 30, 40 },
		  { "thp", "literal", "local", 2, 1 << 30, 30 } },
		{ { "4k", "literal", "local", 2, 1 << 30, 40 },
		  { "4k", "tuned", "local", 2, 1 << 30, 30 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct run *r = run_of(rows[i], 2, 6);
		struct arena a = { 0 };
		struct facts facts;

		sim_facts(r, &a, &facts);
		assert_int_equal(count(&facts, "gups.update_ns"), 2);
		assert_int_equal(count(&facts, "gups.page_saving"), 0);
		if (i == 1)
			sim_fact(&facts, "gups.update_ns",
				 "page=4k form=single kernel=literal data=remote table=1g");
		arena_done(&a);
		run_free(r);
	}
}

static void what_is_missing_has_its_reason(void **state)
{
	static const struct row apart[] = { { "4k", "literal", "local", 2, 1 << 30, 40 },
					    { "thp", "literal", "local", 2, 1 << 29, 30 } };
	static const struct row skipped[] = { { "4k", "literal", "local", 2, 1 << 30, 40 },
					      { "hugetlb-2m", "literal", "local", 2, 0, 0 } };
	struct run *r = run_of(apart, 2, 8);
	struct arena a = { 0 };
	struct facts facts;
	struct fact f;

	(void)state;
	sim_facts(r, &a, &facts);
	f = sim_fact(&facts, "gups.page_saving", "page=thp form=single kernel=literal");
	assert_true(isnan(f.value));
	assert_non_null(strstr(f.reason, "both page sizes"));
	arena_done(&a);
	run_free(r);
	r = run_of(skipped, 2, 3);
	a = (struct arena){ 0 };
	sim_facts(r, &a, &facts);
	f = sim_fact(&facts, "gups.update_ns", "page=hugetlb-2m form=single kernel=literal");
	assert_true(isnan(f.value));
	assert_string_equal(f.reason, "no pool");
	f = sim_fact(&facts, "gups.page_saving", "page=hugetlb-2m form=single kernel=literal");
	assert_true(isnan(f.value));
	assert_string_equal(f.reason, "no pool");
	/* a value from too few processes has no interval */
	f = sim_fact(&facts, "gups.update_ns", "page=4k form=single kernel=literal table=1g");
	assert_true(f.value > 0 && isnan(f.low));
	assert_non_null(f.interval_reason);
	arena_done(&a);
	run_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_table_counts),
		cmocka_unit_test(only_twins_are_compared),
		cmocka_unit_test(what_is_missing_has_its_reason),
	};

	return cmocka_run_group_tests_name("gups facts", tests, NULL, NULL);
}
