/* SPDX-License-Identifier: MIT */
/* The toll set with the real benchmarks on invented machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fake_machine.h"
#include "run/run_plan.h"

static int plan_toll(struct plan *plan, const struct fake_machine *f, const char *name,
		     const char *value, const char *preset, struct err *e)
{
	struct assignment as = { .name = name, .value = value };
	struct target all = { .assigns = &as, .n_assigns = name ? 1 : 0 };
	struct request q = { .targets = &all, .n_targets = 1, .preset = preset_find(preset) };

	*plan = (struct plan){ 0 };
	return plan_build(&q, &f->m, plan, e);
}

static const struct planned *find(const struct plan *p, const char *bench, const char *page,
				  const char *name, const char *value)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct attrs *given = &p->v[i].setting.given;

		if (strcmp(p->v[i].bench->schema.name, bench) == 0 &&
		    strcmp(attrs_text(given, "page", ""), page) == 0 &&
		    strcmp(attrs_text(given, name, ""), value) == 0)
			return &p->v[i];
	}
	return NULL;
}

static void roomy(struct fake_machine *f)
{
	fake_machine_init(f);
	f->m.budget_bytes = UINT64_C(16) << 30;
}

static void test_rows(void **state)
{
	struct fake_machine f;
	struct err e = { 0 };
	struct plan p;
	const struct planned *walk;
	size_t deciding = 0, pairs = 0;

	(void)state;
	roomy(&f);
	if (plan_toll(&p, &f, NULL, NULL, "default", &e) != 0)
		fail_msg("%s", e.msg);
	assert_true(p.is_toll);
	assert_non_null(find(&p, "tlb.chase", "4k", "alias", "avoid"));
	assert_non_null(find(&p, "tlb.chase", "4k", "stride", "base-page"));
	assert_non_null(find(&p, "tlb.chase", "4k", "stride", "leaf-table+base-page"));
	assert_non_null(find(&p, "tlb.chase", "thp", "stride", "base-page"));
	assert_non_null(find(&p, "tlb.chase", "thp", "stride", "page"));
	/* a pool of four pages is usable, hugetlb-1g stands there with its reason; 64k is off */
	assert_non_null(find(&p, "tlb.chase", "hugetlb-2m", "stride", "page"));
	assert_null(find(&p, "tlb.chase", "64k", "stride", "page"));
	assert_non_null(find(&p, "tlb.chase", "hugetlb-1g", "stride", "page"));
	/* the dense curve must pass the largest second-level TLBs of today, whatever the budget */
	walk = find(&p, "tlb.chase", "4k", "stride", "base-page");
	assert_int_equal(walk->grid.v[walk->grid.n - 1], 16384);
	for (size_t i = 0; i < p.n; i++) {
		const struct planned *q = &p.v[i];

		assert_true(q->in_toll);
		if (strcmp(attrs_text(&q->setting.given, "page", ""), "hugetlb-1g") == 0) {
			assert_non_null(q->skip_reason);
			continue;
		}
		if (q->skip_reason)
			fail_msg("%s: %s", q->bench->schema.name, q->skip_reason);
		assert_true(q->max_invocations >= 6);
		deciding += q->grid.n == 1 && q->grid.v[0] == 1 << 30;
		pairs += attrs_int(&q->setting.given, "pair", 0) > 0;
	}
	assert_int_equal(deciding, 2);
	assert_int_equal(pairs, 5);
	assert_true(p.estimated_seconds <= p.budget_seconds);
	plan_done(&p);
}

static void test_time_of_the_presets(void **state)
{
	static const char *const names[] = { "quick", "default", "rigorous" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct fake_machine f;
		struct err e = { 0 };
		double once = 0;
		struct plan p;

		roomy(&f);
		assert_int_equal(plan_toll(&p, &f, NULL, NULL, names[i], &e), 0);
		for (size_t k = 0; k < p.n; k++)
			once += plan_invocation_seconds(&p, &p.v[k]);
		/* each setting once must fit, as that is promised to every setting */
		assert_true(once < p.budget_seconds);
		plan_done(&p);
	}
}

static void test_small_machines(void **state)
{
	struct fake_machine f;
	struct err e = { 0 };
	size_t skipped = 0;
	struct plan p;

	(void)state;
	/* 256 MiB: the line over 1 GiB is skipped with its reason, the rest goes on */
	fake_machine_init(&f);
	f.m.budget_bytes = 256 << 20;
	if (plan_toll(&p, &f, NULL, NULL, "default", &e) != 0)
		fail_msg("%s", e.msg);
	for (size_t i = 0; i < p.n; i++) {
		if (!p.v[i].skip_reason ||
		    strcmp(attrs_text(&p.v[i].setting.given, "page", ""), "hugetlb-1g") == 0)
			continue;
		skipped++;
		assert_non_null(strstr(p.v[i].skip_reason, "budget"));
	}
	assert_int_equal(skipped, 2);
	assert_true(p.peak_bytes <= 256 << 20);
	plan_done(&p);
	/* no huge pages at all */
	fake_machine_init(&f);
	f.pages[2].usable = f.pages[3].usable = false;
	strcpy(f.pages[2].reason, "thp is never: echo madvise > .../enabled");
	assert_int_equal(plan_toll(&p, &f, NULL, NULL, "default", &e), 0);
	assert_non_null(find(&p, "tlb.chase", "thp", "stride", "page")->skip_reason);
	assert_null(find(&p, "tlb.chase", "4k", "stride", "base-page")->skip_reason);
	plan_done(&p);
}

static void test_words_for_all(void **state)
{
	struct fake_machine f;
	struct err e = { 0 };
	struct plan p;

	(void)state;
	roomy(&f);
	assert_int_equal(plan_toll(&p, &f, "cpu", "2", "default", &e), 0);
	for (size_t i = 0; i < p.n; i++)
		assert_int_equal(attrs_int(&p.v[i].setting.resolved, "cpu.id", -1), 2);
	plan_done(&p);
	assert_int_equal(plan_toll(&p, &f, "page-tables", "remote", "default", &e), 0);
	assert_int_equal(plan_count_runnable(&p), 0);
	assert_non_null(strstr(p.v[0].skip_reason, "not measurable: one memory node"));
	plan_done(&p);
}

static void test_refused(void **state)
{
	static const struct {
		const char *name, *value, *in_message;
		int code;
	} rows[] = {
		{ "page", "thp", "pagetoll run tlb.chase page=thp", -EINVAL },
		{ "working-set", "1g", "pagetoll run cache.chase working-set=1g", -EINVAL },
		{ "pointers", "10", "cache.chase has no parameter \"pointers\"", -EINVAL },
		{ "cqu", "1", "did you mean \"cpu\"?", -EINVAL },
		{ "cpu", "9", "allowed here: 0-2", -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fake_machine f;
		struct err e = { 0 };
		struct plan p;

		roomy(&f);
		assert_int_equal(plan_toll(&p, &f, rows[i].name, rows[i].value, "default", &e),
				 rows[i].code);
		if (!strstr(e.msg, rows[i].in_message))
			fail_msg("%s=%s: %s", rows[i].name, rows[i].value, e.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),           cmocka_unit_test(test_time_of_the_presets),
		cmocka_unit_test(test_small_machines), cmocka_unit_test(test_words_for_all),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
