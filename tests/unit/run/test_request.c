/* SPDX-License-Identifier: MIT */
/* The form of targets and assignments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "run/run_plan.h"

static void test_accepted(void **state)
{
	char *words[] = { (char[]){ "cpu=1" },          (char[]){ "tlb.chase" },
			  (char[]){ "stride=32m+128" }, (char[]){ "pointers=1,10..200:10" },
			  (char[]){ "cache" },          (char[]){ "note=a=b" },
			  (char[]){ "tlb.chase" } };
	struct request q = { .seed = 7, .invocations = 3 };
	struct arena a = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(request_parse(&a, words, 7, &q, &e), 0);
	assert_int_equal(q.n_targets, 4);
	assert_null(q.targets[0].name);
	assert_int_equal(q.targets[0].n_assigns, 1);
	assert_string_equal(q.targets[0].assigns[0].name, "cpu");
	assert_string_equal(q.targets[0].assigns[0].value, "1");
	assert_string_equal(q.targets[1].name, "tlb.chase");
	assert_int_equal(q.targets[1].n_assigns, 2);
	assert_string_equal(q.targets[1].assigns[1].value, "1,10..200:10");
	assert_string_equal(q.targets[2].assigns[0].value, "a=b");
	assert_int_equal(q.targets[3].n_assigns, 0);
	assert_int_equal(q.seed, 7);
	assert_int_equal(q.invocations, 3);
	arena_done(&a);
}

static void test_nothing(void **state)
{
	struct request q = { 0 };
	struct arena a = { 0 };

	(void)state;
	assert_int_equal(request_parse(&a, NULL, 0, &q, NULL), 0);
	assert_int_equal(q.n_targets, 1);
	assert_int_equal(q.targets[0].n_assigns, 0);
	arena_done(&a);
}

static void test_refused(void **state)
{
	static const struct {
		const char *words[3];
		size_t n;
		const char *in_message;
	} rows[] = {
		{ { "=4k" }, 1, "no name" },
		{ { "page=" }, 1, "no value" },
		{ { "tlb.chase", "page=4k", "page=thp" }, 3, "page=4k,thp" },
		{ { "" }, 1, "neither" },
		{ { "tlb chase" }, 1, "neither" },
		{ { "tlb/chase" }, 1, "neither" },
		{ { "pa ge=4k" }, 1, "neither" },
		{ { "\xc3\xa4=1" }, 1, "neither" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char copies[3][64], *words[3];
		struct request q = { .n_targets = 42 };
		struct arena a = { 0 };
		struct err e = { 0 };

		for (size_t k = 0; k < rows[i].n; k++)
			words[k] = strcpy(copies[k], rows[i].words[k]);
		assert_int_equal(request_parse(&a, words, rows[i].n, &q, &e), -EINVAL);
		assert_non_null(strstr(e.msg, rows[i].in_message));
		assert_int_equal(q.n_targets, 42);
		arena_done(&a);
	}
}

static void test_presets(void **state)
{
	(void)state;
	assert_non_null(preset_find("quick"));
	assert_non_null(preset_find("default"));
	assert_non_null(preset_find("rigorous"));
	assert_null(preset_find("Quick"));
	assert_null(preset_find(""));
	for (const struct preset *p = presets; p->name; p++) {
		assert_true(p->min_invocations <= p->max_invocations);
		assert_true(p->budget_seconds > 0 && p->samples > 0 && p->point_seconds > 0);
		/* below six invocations there is no interval, which only quick may lack */
		assert_true(p->min_invocations >= 6 || strcmp(p->name, "quick") == 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accepted),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_presets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
