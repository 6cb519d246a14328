/* SPDX-License-Identifier: MIT */
/*
 * Named values, names of enumerations, schema copies, ids.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record/run.h"
#include "sample.h"

static void test_set_and_find(void **state)
{
	struct arena a = { 0 };
	struct attrs at = { 0 };
	char text[] = "value";
	int i;

	(void)state;
	assert_null(attrs_find(&at, "x"));
	assert_int_equal(attrs_set_text(&a, &at, "t", text), 0);
	text[0] = '!'; /* the value was copied */
	assert_string_equal(attrs_text(&at, "t", NULL), "value");
	assert_int_equal(attrs_set_int(&a, &at, "i", -5), 0);
	assert_int_equal(attrs_set_real(&a, &at, "r", 2.5), 0);
	assert_int_equal(attrs_set_real(&a, &at, "whole", 1e6), 0);
	assert_int_equal(attrs_set_real(&a, &at, "nan", NAN), 0);
	assert_int_equal(attrs_set_real(&a, &at, "inf", -INFINITY), 0);
	assert_int_equal(attrs_set_real(&a, &at, "huge", 0x1p63), 0);
	assert_int_equal(attrs_set_null(&a, &at, "n", "no such file"), 0);
	assert_int_equal(attrs_set_null(&a, &at, "n2", NULL), 0);
	assert_int_equal(attrs_set_text(&a, &at, "t2", NULL), 0);
	assert_int_equal(at.n, 10);

	assert_true(attrs_int(&at, "i", 9) == -5);
	assert_true(attrs_int(&at, "whole", 9) == 1000000);
	assert_true(attrs_int(&at, "r", 9) == 9);
	assert_true(attrs_int(&at, "huge", 9) == 9);
	assert_true(attrs_int(&at, "t", 9) == 9);
	assert_true(attrs_int(&at, "none", 9) == 9);
	assert_string_equal(attrs_text(&at, "i", "other"), "other");
	assert_string_equal(attrs_text(&at, "n", "other"), "other");
	assert_int_equal(attrs_find(&at, "nan")->kind, ATTR_NULL);
	assert_string_equal(attrs_find(&at, "nan")->text, "not finite");
	assert_int_equal(attrs_find(&at, "inf")->kind, ATTR_NULL);
	assert_non_null(attrs_find(&at, "n2")->text);
	assert_int_equal(attrs_find(&at, "t2")->kind, ATTR_NULL);

	/* Setting again replaces, at the same place. */
	assert_int_equal(attrs_set_int(&a, &at, "t", 1), 0);
	assert_int_equal(at.n, 10);
	assert_int_equal(at.v[0].kind, ATTR_INT);
	assert_null(at.v[0].text);
	for (i = 0; i < 100; i++)
		assert_int_equal(attrs_set_int(&a, &at, (char[]){ 'A', (char)(' ' + i), 0 }, i), 0);
	assert_int_equal(at.n, 110);
	arena_done(&a);
}

static void test_equal(void **state)
{
	struct arena a = { 0 };
	struct attrs x = { 0 }, y = { 0 }, z = { 0 };

	(void)state;
	assert_true(attrs_equal(&x, &y));
	attrs_set_int(&a, &x, "a", 1);
	assert_false(attrs_equal(&x, &y));
	attrs_set_text(&a, &x, "b", "t");
	attrs_set_real(&a, &x, "c", 0.0);
	attrs_set_null(&a, &x, "d", "reason");
	attrs_set_null(&a, &y, "d", "another reason");
	attrs_set_real(&a, &y, "c", -0.0);
	attrs_set_text(&a, &y, "b", "t");
	attrs_set_int(&a, &y, "a", 1);
	assert_true(attrs_equal(&x, &y)); /* in any order */
	assert_true(attrs_equal(&y, &x));
	attrs_set_real(&a, &y, "a", 1.0);
	assert_false(attrs_equal(&x, &y)); /* other kind */
	attrs_set_int(&a, &y, "a", 2);
	assert_false(attrs_equal(&x, &y));
	attrs_set_int(&a, &y, "a", 1);
	attrs_set_text(&a, &y, "b", "T");
	assert_false(attrs_equal(&x, &y));
	attrs_set_text(&a, &y, "b", "t");
	attrs_set_text(&a, &y, "e", "more");
	assert_false(attrs_equal(&x, &y));
	assert_false(attrs_equal(&y, &x));

	assert_int_equal(attrs_copy(&a, &z, &x), 0);
	assert_true(attrs_equal(&x, &z));
	assert_ptr_not_equal(z.v[1].text, x.v[1].text);
	arena_done(&a);
}

static void test_format(void **state)
{
	struct arena a = { 0 };
	struct attrs at = { 0 };
	struct str s = { 0 };

	(void)state;
	attrs_format(&s, &at);
	assert_string_equal(str_text(&s), "");
	attrs_set_int(&a, &at, "pointers", 64);
	attrs_set_text(&a, &at, "page", "4k");
	attrs_set_real(&a, &at, "share", 0.1);
	attrs_set_null(&a, &at, "node", "no NUMA");
	attrs_format(&s, &at);
	assert_string_equal(str_text(&s), "pointers=64 page=4k share=0.1 node=null (no NUMA)");
	str_done(&s);
	arena_done(&a);
}

/* Every value has a name that parses back to it; nothing else parses. */
#define CHECK_NAMES(prefix, type, last)                                   \
	do {                                                              \
		type got = (type)0;                                       \
		int v;                                                    \
                                                                          \
		for (v = 0; v <= (int)(last); v++) {                      \
			const char *name = prefix##_name((type)v);        \
                                                                          \
			assert_non_null(name);                            \
			assert_int_equal(prefix##_parse(name, &got), 0);  \
			assert_int_equal(got, v);                         \
		}                                                         \
		assert_null(prefix##_name((type)v));                      \
		assert_null(prefix##_name((type)-1));                     \
		assert_int_equal(prefix##_parse("bogus", &got), -EINVAL); \
		assert_int_equal(prefix##_parse("", &got), -EINVAL);      \
		assert_int_equal(prefix##_parse(NULL, &got), -EINVAL);    \
		assert_int_equal(got, last);                              \
	} while (0)

static void test_names(void **state)
{
	(void)state;
	CHECK_NAMES(param_type, enum param_type, PARAM_NODE);
	CHECK_NAMES(param_role, enum param_role, ROLE_TO);
	CHECK_NAMES(better, enum better, BETTER_NONE);
	CHECK_NAMES(estimator, enum estimator, EST_MEDIAN);
	CHECK_NAMES(series_form, enum series_form, FORM_TABLE);
	CHECK_NAMES(verdict, enum verdict, VERDICT_KILLED);
	CHECK_NAMES(origin, enum origin, ORIGIN_ADVERTISED);
	CHECK_NAMES(severity, enum severity, SEVERITY_BLOCKER);
}

static void test_schema(void **state)
{
	struct run *r = sample_run();
	const struct bench_schema *s = run_schema(r, "tlb.chase");
	struct bench_schema again = { "tlb.chase", "another", 99, NULL, NULL };

	(void)state;
	assert_non_null(s);
	assert_null(run_schema(r, "tlb"));
	assert_string_equal(schema_param(s, "order")->choices[1], "sequential");
	assert_null(schema_param(s, "orde"));
	assert_string_equal(schema_metric(s, "faults")->unit, "count");
	assert_null(schema_metric(s, "fault"));
	assert_int_equal(run_add_schema(r, &again), 0);
	assert_int_equal(r->n_schemas, 2);
	assert_int_equal(run_schema(r, "tlb.chase")->revision, 3);
	/* Without parameters: an empty list, not none. */
	s = run_schema(r, "other");
	assert_non_null(s->params);
	assert_null(s->params[0].name);
	assert_null(schema_param(s, "order"));
	assert_non_null(measure_series(&r->measures[0], "ref_ns"));
	assert_null(measure_series(&r->measures[0], "ref_ns")->part);
	assert_null(measure_series(&r->measures[0], "none"));
	assert_null(measure_series(&r->measures[1], "ref_ns"));
	run_free(r);
	run_free(NULL);
}

static void test_id(void **state)
{
	char a[27], b[27];
	int64_t t = 1700000000000000000;
	int i;

	(void)state;
	run_make_id(a, t, 0);
	assert_int_equal(strlen(a), 26);
	assert_int_equal(strspn(a, "0123456789abcdefghjkmnpqrstvwxyz"), 26);
	for (i = 0; i < 60; i++) {
		/* Later sorts later, whatever the random part. */
		run_make_id(a, t, UINT64_MAX);
		t += (int64_t)1 << (i % 40);
		run_make_id(b, t, 0);
		assert_true(strcmp(a, b) < 0);
	}
	run_make_id(a, t, 1);
	run_make_id(b, t, 2);
	assert_string_not_equal(a, b);
	run_make_id(a, -1, 0);
	assert_string_equal(a, "00000000000000000000000000");
	run_make_id(a, INT64_MAX, UINT64_MAX);
	assert_int_equal(strlen(a), 26);
}

static void test_facts(void **state)
{
	struct arena a = { 0 };
	struct facts f = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < 20; i++) {
		struct fact *x = facts_add(&a, &f);

		assert_non_null(x);
		assert_null(x->id);
		x->id = "tlb.entries";
	}
	assert_int_equal(f.n, 20);
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set_and_find), cmocka_unit_test(test_equal),
		cmocka_unit_test(test_format),       cmocka_unit_test(test_names),
		cmocka_unit_test(test_schema),       cmocka_unit_test(test_id),
		cmocka_unit_test(test_facts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
