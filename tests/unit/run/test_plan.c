/* SPDX-License-Identifier: MIT */
/* The planner on invented machines, with invented benchmarks. */
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

enum { WORDS_MAX = 8 };

struct planning {
	struct arena arena;
	char copies[WORDS_MAX][128];
	struct plan plan;
	struct err e;
};

/* Plans the words of @line (separated by blanks) and returns what plan_build() returned. */
static int plan_line(struct planning *p, const struct fake_machine *f, const char *line,
		     const char *preset, unsigned invocations)
{
	char text[512], *words[WORDS_MAX], *rest = text, *word;
	struct request q = { .preset = preset_find(preset), .invocations = invocations };
	size_t n = 0;
	int r;

	memset(p, 0, sizeof(*p));
	snprintf(text, sizeof(text), "%s", line);
	while ((word = strsep(&rest, " ")) != NULL && n < WORDS_MAX)
		words[n] = strcpy(p->copies[n], word), n++;
	r = request_parse(&p->arena, words, n, &q, &p->e);
	assert_int_equal(r, 0);
	return plan_build(&q, &f->m, &p->plan, &p->e);
}

static void planning_done(struct planning *p)
{
	plan_done(&p->plan);
	arena_done(&p->arena);
}

static void check_setting(const struct planned *p, const char *given, const char *resolved)
{
	struct str s = { 0 };

	attrs_format(&s, &p->setting.given);
	assert_string_equal(str_text(&s), given);
	str_clear(&s);
	attrs_format(&s, &p->setting.resolved);
	assert_string_equal(str_text(&s), resolved);
	str_done(&s);
}

static void check_grid(const struct planned *p, const char *values)
{
	struct str s = { 0 };

	for (size_t i = 0; i < p->grid.n; i++)
		str_addf(&s, "%s%llu", i ? "," : "", (unsigned long long)p->grid.v[i]);
	assert_string_equal(str_text(&s), values);
	str_done(&s);
}

static void test_defaults(void **state)
{
	struct fake_machine f;
	struct planning p;

	(void)state;
	fake_machine_init(&f);
	assert_int_equal(plan_line(&p, &f, "fake.sweep", "default", 0), 0);
	assert_int_equal(p.plan.n, 1);
	assert_false(p.plan.is_toll);
	check_setting(&p.plan.v[0],
		      "what=ok size=4096 stride=page page=4k order=random cpu=auto data=local "
		      "load=none",
		      "page.kind=base page.bytes=4096 cpu.id=1 cpu.allowed=0-2 stride.bytes=4096 "
		      "stride.base_bytes=4096 data.node=0 load.node=-1 load.cpu=-1");
	check_grid(&p.plan.v[0], "1,2,4,8,16,32,64,128,256,512,1024");
	assert_true(p.plan.v[0].grid_auto);
	assert_string_equal(p.plan.v[0].inner, "n");
	assert_null(p.plan.v[0].skip_reason);
	assert_int_equal(p.plan.v[0].samples, preset_find("default")->samples);
	assert_int_equal(p.plan.peak_bytes, 4096 * 1024 + 4096 * 1024 / 512);
	assert_true(p.plan.estimated_seconds > 0);
	planning_done(&p);
}

static void test_values(void **state)
{
	static const struct {
		const char *word, *name, *want; /* canonical values, in order */
	} rows[] = {
		{ "size=4096,8k,4KiB", "size", "4096 8192" },
		{ "size=4k..16k:x2", "size", "4096 8192 16384" },
		{ "page=base,4096,4K", "page", "4k" },
		{ "page=auto,thp", "page", "thp" },
		{ "page=hugetlb,hugetlb-2M", "page", "hugetlb-2m" },
		{ "stride=32768k+128", "stride", "32m+128" },
		{ "stride=leaf-table+base-page", "stride", "leaf-table+base-page" },
		{ "stride=4096,leaf-table+4096", "stride", "4k leaf-table+4k" },
		{ "stride=4k..16k:x2", "stride", "4k 8k 16k" },
		{ "order=sequential,random", "order", "sequential random" },
		{ "cpu=0..2", "cpu", "0 1 2" },
		{ "cpu=01", "cpu", "1" },
		{ "data=local,0", "data", "local 0" },
		{ "load=none,local", "load", "none local" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str s = { 0 };
		struct fake_machine f;
		struct planning p;
		char line[128];

		fake_machine_init(&f);
		snprintf(line, sizeof(line), "fake.sweep n=1 %s", rows[i].word);
		if (plan_line(&p, &f, line, "default", 0) != 0)
			fail_msg("%s: %s", line, p.e.msg);
		for (size_t k = 0; k < p.plan.n; k++) {
			const struct attr *a = attrs_find(&p.plan.v[k].setting.given, rows[i].name);

			str_add(&s, k ? " " : "");
			attr_format(&s, a);
		}
		assert_string_equal(str_text(&s), rows[i].want);
		str_done(&s);
		planning_done(&p);
	}
}

static void test_strides_follow_the_page(void **state)
{
	struct fake_machine f;
	struct planning p;

	(void)state;
	fake_machine_init(&f);
	assert_int_equal(
		plan_line(&p, &f, "fake.sweep n=1 page=4k,thp stride=page+128", "default", 0), 0);
	assert_int_equal(p.plan.n, 2);
	assert_int_equal(attrs_int(&p.plan.v[0].setting.resolved, "stride.bytes", 0), 4096 + 128);
	assert_int_equal(attrs_int(&p.plan.v[1].setting.resolved, "stride.bytes", 0),
			 (2 << 20) + 128);
	assert_int_equal(attrs_int(&p.plan.v[1].setting.resolved, "stride.base_bytes", 0), 2 << 20);
	planning_done(&p);
	assert_int_equal(
		plan_line(&p, &f, "fake.sweep n=1 stride=leaf-table+base-page", "default", 0), 0);
	assert_int_equal(attrs_int(&p.plan.v[0].setting.resolved, "stride.bytes", 0),
			 (2 << 20) + 4096);
	planning_done(&p);
}

static void test_targets(void **state)
{
	struct fake_machine f;
	struct planning p;

	(void)state;
	fake_machine_init(&f);
	assert_int_equal(plan_line(&p, &f, "fake", "default", 0), 0);
	assert_int_equal(p.plan.n, 2);
	planning_done(&p);
	assert_int_equal(plan_line(&p, &f, "all", "default", 0), 0);
	assert_int_equal(p.plan.n, 5);
	planning_done(&p);
	/* a family needs one member that has the parameter; the others ignore it */
	assert_int_equal(plan_line(&p, &f, "fake times=2,3", "default", 0), 0);
	assert_int_equal(p.plan.n, 3);
	assert_int_equal(attrs_int(&p.plan.v[1].setting.given, "times", 0), 3);
	assert_null(p.plan.v[0].inner);
	assert_int_equal(p.plan.v[0].grid.n, 0);
	planning_done(&p);
	/* the target's own word beats the one for all */
	assert_int_equal(plan_line(&p, &f, "cpu=0 fake.plain other.one cpu=2", "default", 0), 0);
	assert_int_equal(attrs_int(&p.plan.v[0].setting.resolved, "cpu.id", -1), 0);
	assert_int_equal(attrs_int(&p.plan.v[1].setting.resolved, "cpu.id", -1), 2);
	planning_done(&p);
}

static void test_inner_values(void **state)
{
	struct fake_machine f;
	struct planning p;

	(void)state;
	fake_machine_init(&f);
	assert_int_equal(plan_line(&p, &f, "fake.sweep n=300,1,10..30:10,20", "default", 0), 0);
	check_grid(&p.plan.v[0], "1,10,20,30,300");
	assert_false(p.plan.v[0].grid_auto);
	planning_done(&p);
	/* the same outer setting twice: each inner value once */
	assert_int_equal(plan_line(&p, &f, "fake.sweep n=1,2,3 fake.sweep n=3,4 fake.sweep n=2",
				   "default", 0),
			 0);
	assert_int_equal(p.plan.n, 2);
	check_grid(&p.plan.v[0], "1,2,3");
	check_grid(&p.plan.v[1], "4");
	planning_done(&p);
	assert_int_equal(plan_line(&p, &f, "fake.plain fake.plain", "default", 0), 0);
	assert_int_equal(p.plan.n, 1);
	planning_done(&p);
}

static void test_refused(void **state)
{
	static const struct {
		const char *line;
		int code;
		const char *in_message;
	} rows[] = {
		{ "fake.swep", -EINVAL, "did you mean \"fake.sweep\"?" },
		{ "FAKE.sweep", -EINVAL, "fake.plain, fake.sweep, other.one" },
		{ "fak", -EINVAL, "there is no benchmark \"fak\"" },
		{ "fake.sweep pag=4k", -EINVAL, "did you mean \"page\"?" },
		{ "fake.sweep zzzz=1", -EINVAL, "accepted: n, what, size" },
		{ "times=2 fake.sweep", -EINVAL, "fake.sweep has no parameter \"times\"" },
		{ "size=4k fake other.one", -EINVAL, "other.one has no parameter \"size\"" },
		{ "zzzz=2 fake", -EINVAL, "no parameter \"zzzz\"" },
		{ "fake.sweep n=0", -ERANGE, "1 to 1000000" },
		{ "fake.sweep n=1000001", -ERANGE, "1 to 1000000" },
		{ "fake.sweep n=0x10", -EINVAL, "0x10" },
		{ "fake.sweep n=-1", -EINVAL, "-1" },
		{ "fake.sweep n=1e9", -EINVAL, "1e9" },
		{ "fake.sweep n=18446744073709551615", -ERANGE, "18446744073709551615" },
		{ "fake.sweep n=18446744073709551616", -ERANGE, "18446744073709551616" },
		{ "fake.sweep n=1,,2", -EINVAL, "empty item" },
		{ "fake.sweep n=1,", -EINVAL, "empty item" },
		{ "fake.sweep n=1,auto", -EINVAL, "stands alone" },
		{ "fake.sweep size=auto", -EINVAL, "auto" },
		{ "fake.sweep size=63", -ERANGE, "64 to 1t" },
		{ "fake.sweep order=Random", -EINVAL, "did you mean \"random\"?" },
		{ "fake.sweep order=1", -EINVAL, "accepted: random, sequential" },
		{ "fake.sweep stride=0", -EINVAL, "zero" },
		{ "fake.sweep stride=4", -ERANGE, "8 to 64t" },
		{ "fake.sweep stride=pages", -EINVAL, "did you mean \"page\"?" },
		{ "fake.sweep stride=4k+", -EINVAL, "no stride" },
		{ "fake.sweep stride=4k+128+1", -EINVAL, "128+1" },
		{ "fake.sweep stride=pud-table+16383p", -EINVAL, "16383p" },
		{ "fake.sweep stride=18446744073709551615+1", -ERANGE, "address space" },
		{ "fake.sweep page=8k", -EINVAL, "accepted: 4k, 64k, thp, hugetlb-2m" },
		{ "fake.sweep page=2m", -EINVAL, "no \"2m\" pages" },
		{ "fake.sweep page=hugetlb-4m", -EINVAL, "hugetlb-4m" },
		{ "fake.sweep cpu=7", -EINVAL, "allowed here: 0-2" },
		{ "fake.sweep cpu=3", -EINVAL, "offline" },
		{ "fake.sweep cpu=first", -EINVAL, "auto" },
		{ "fake.sweep cpu=4294967296", -EINVAL, "no such CPU" },
		{ "fake.sweep data=1", -EINVAL, "nodes here: 0" },
		{ "fake.sweep data=none", -EINVAL, "local, remote" },
		{ "fake.sweep data=far", -EINVAL, "local, remote" },
		{ "fake.sweep size=79 n=1", -EINVAL, "makes no sense" },
		{ "fake.sweep n=1000000 size=4k", -ENOMEM, "1 GiB (80 % of MemAvailable" },
		{ "fake.sweep size=1t", -ENOMEM, "budget" },
		{ "fake.sweep n=1 size=64..100000", -EINVAL, "more than 2000 values" },
		{ "fake.sweep n=1 size=64..1000 cpu=0..2", -EINVAL, "more than 2000 settings" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fake_machine f;
		struct planning p;
		int r;

		fake_machine_init(&f);
		r = plan_line(&p, &f, rows[i].line, "default", 0);
		if (r != rows[i].code || !strstr(p.e.msg, rows[i].in_message))
			fail_msg("%s: %d, \"%s\"", rows[i].line, r, p.e.msg);
		assert_null(p.plan.v);
		planning_done(&p);
	}
}

static void test_numa(void **state)
{
	struct fake_machine f;
	struct planning p;

	(void)state;
	fake_machine_init(&f);
	fake_machine_make_numa(&f);
	assert_int_equal(plan_line(&p, &f, "fake.sweep n=1 cpu=0 data=local,remote,8 load=none,8",
				   "default", 0),
			 0);
	assert_int_equal(p.plan.n, 6);
	assert_int_equal(plan_count_runnable(&p.plan), 6);
	assert_string_equal(attrs_text(&p.plan.v[2].setting.given, "data", ""), "remote");
	assert_int_equal(attrs_int(&p.plan.v[2].setting.resolved, "data.node", -1), 8);
	assert_int_equal(attrs_int(&p.plan.v[0].setting.resolved, "data.node", -1), 0);
	assert_int_equal(attrs_int(&p.plan.v[1].setting.resolved, "load.node", -2), 8);
	assert_int_equal(attrs_int(&p.plan.v[1].setting.resolved, "load.cpu", -2), 1);
	planning_done(&p);
	/* a node without memory */
	assert_int_equal(plan_line(&p, &f, "fake.sweep n=1 data=9", "default", 0), -EINVAL);
	assert_non_null(strstr(p.e.msg, "no memory; nodes with memory here: 0,8"));
	planning_done(&p);
	f.nodes[1].mem_allowed = false;
	assert_int_equal(plan_line(&p, &f, "fake.sweep n=1 data=8", "default", 0), -EINVAL);
	assert_non_null(strstr(p.e.msg, "allowed here: 0"));
	planning_done(&p);
}

static void test_skips(void **state)
{
	static const struct {
		const char *line, *reason;
	} rows[] = {
		{ "fake.sweep data=remote", "not measurable: one memory node" },
		{ "fake.sweep page=64k", "echo madvise > .../enabled" },
		{ "fake.sweep page=hugetlb-1g", "echo 1 > .../1g" },
		{ "fake.sweep page=hugetlb n=5 size=2m",
		  "needs 5 free hugetlb-2m pages, the pool has 4; as root: echo 9 > "
		  "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages" },
		{ "fake.sweep size=77", "77 is not available here" },
		{ "fake.sweep size=80 n=1", "80 cannot be had here" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fake_machine f;
		struct planning p;

		fake_machine_init(&f);
		if (plan_line(&p, &f, rows[i].line, "default", 0) != 0)
			fail_msg("%s: %s", rows[i].line, p.e.msg);
		assert_int_equal(p.plan.n, 1);
		assert_int_equal(plan_count_runnable(&p.plan), 0);
		if (!strstr(p.plan.v[0].skip_reason, rows[i].reason))
			fail_msg("%s: \"%s\"", rows[i].line, p.plan.v[0].skip_reason);
		planning_done(&p);
	}
}

static void test_no_cpu_for_a_load(void **state)
{
	struct fake_machine f;
	struct planning p;

	(void)state;
	fake_machine_init(&f);
	f.cpus[0].allowed = f.cpus[2].allowed = false;
	assert_int_equal(plan_line(&p, &f, "fake.sweep n=1 load=local", "default", 0), 0);
	assert_non_null(p.plan.v[0].skip_reason);
	planning_done(&p);
	f.cpus[1].allowed = false;
	assert_int_equal(plan_line(&p, &f, "fake.sweep n=1", "default", 0), -ENODEV);
	planning_done(&p);
}

static void test_automatic_grids_are_capped(void **state)
{
	struct fake_machine f;
	struct planning p;

	(void)state;
	/* memory: 512 x 2m + tables is over 1 GiB; 256 fits */
	fake_machine_init(&f);
	assert_int_equal(plan_line(&p, &f, "fake.sweep size=2m", "rigorous", 0), 0);
	check_grid(&p.plan.v[0], "1,2,4,8,16,32,64,128,256");
	assert_non_null(strstr(p.plan.v[0].note, "n up to 256 instead of 1024"));
	assert_non_null(strstr(p.plan.v[0].note, "80 % of MemAvailable"));
	assert_int_equal(p.plan.v[0].cost.arena_bytes, 512 << 20);
	planning_done(&p);
	/* a hugetlb pool of 4 free pages; the pool does not count against the budget */
	f.m.budget_bytes = 1 << 20;
	assert_int_equal(plan_line(&p, &f, "fake.sweep size=2m page=hugetlb", "default", 0), 0);
	check_grid(&p.plan.v[0], "1,2,4");
	assert_non_null(strstr(p.plan.v[0].note, "4 free pages in the hugetlb-2m pool"));
	planning_done(&p);
	/* not even the smallest */
	assert_int_equal(plan_line(&p, &f, "fake.sweep size=2m", "default", 0), -ENOMEM);
	planning_done(&p);
	/* the benchmark's own note comes first */
	assert_int_equal(plan_line(&p, &f, "fake.sweep size=78", "default", 0), 0);
	assert_string_equal(p.plan.v[0].note, "a note of the grid");
	planning_done(&p);
}

static void test_processes(void **state)
{
	struct fake_machine f;
	struct planning p;

	(void)state;
	fake_machine_init(&f);
	assert_int_equal(plan_line(&p, &f, "fake.sweep size=81 n=4", "default", 0), 0);
	assert_null(p.plan.v[0].skip_reason);
	planning_done(&p);
	f.m.processes = (struct process_limit){ "RLIMIT_NPROC", 5, "ulimit -u" };
	assert_int_equal(plan_line(&p, &f, "fake.sweep size=81 n=4", "default", 0), 0);
	assert_null(p.plan.v[0].skip_reason); /* with the worker just as many */
	planning_done(&p);
	assert_int_equal(plan_line(&p, &f, "fake.sweep size=81 n=5", "default", 0), 0);
	assert_non_null(strstr(p.plan.v[0].skip_reason, "RLIMIT_NPROC leaves 5"));
	assert_non_null(strstr(p.plan.v[0].skip_reason, "ulimit -u"));
	planning_done(&p);
	assert_int_equal(plan_line(&p, &f, "fake.sweep size=82 n=5", "default", 0), 0);
	assert_null(p.plan.v[0].skip_reason); /* it starts none */
	planning_done(&p);
}

static void test_time(void **state)
{
	struct fake_machine f;
	struct planning p, exact;

	(void)state;
	fake_machine_init(&f);
	f.m.budget_bytes = UINT64_C(1) << 50;
	/* 1024 x 1 GiB of small pages take 22 minutes a time: shortened, with a note */
	assert_int_equal(plan_line(&p, &f, "fake.sweep size=1g", "quick", 0), 0);
	assert_true(p.plan.v[0].grid.n < 11);
	assert_non_null(strstr(p.plan.v[0].note, "time budget"));
	assert_true(plan_invocation_seconds(&p.plan, &p.plan.v[0]) <= 2 * 25.0 / 3);
	assert_true(p.plan.estimated_seconds <= 2 * 25.0);
	planning_done(&p);
	/* what the user names stays */
	assert_int_equal(plan_line(&p, &f, "fake.sweep size=1g n=1024", "quick", 0), 0);
	check_grid(&p.plan.v[0], "1024");
	assert_null(p.plan.v[0].note);
	planning_done(&p);
	/* an exact number of invocations knows no budget */
	assert_int_equal(plan_line(&exact, &f, "fake.sweep size=1g", "quick", 5), 0);
	assert_int_equal(exact.plan.v[0].grid.n, 11);
	assert_true(exact.plan.budget_seconds == 0);
	assert_int_equal(exact.plan.min_invocations, 5);
	assert_int_equal(exact.plan.max_invocations, 5);
	assert_int_equal(exact.plan.v[0].max_invocations, 5);
	planning_done(&exact);
}

static void test_quick_limits(void **state)
{
	struct fake_machine f;
	struct planning p;

	(void)state;
	fake_machine_init(&f);
	assert_int_equal(plan_line(&p, &f, "fake.plain", "quick", 0), 0);
	assert_int_equal(p.plan.v[0].max_invocations, 3);
	assert_int_equal(p.plan.min_invocations, 3);
	assert_true(p.plan.budget_seconds == 25);
	planning_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_strides_follow_the_page),
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_inner_values),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_numa),
		cmocka_unit_test(test_skips),
		cmocka_unit_test(test_no_cpu_for_a_load),
		cmocka_unit_test(test_automatic_grids_are_capped),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_quick_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
