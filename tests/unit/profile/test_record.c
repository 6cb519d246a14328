/* SPDX-License-Identifier: MIT */
/*
 * profile.c and command.c: what ends up in a run. Real commands are run; where sampling is not
 * permitted the kernel's part is a reason, and everything else holds.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/wait.h>

#include "data/tree.h"
#include "profile/profile.h"
#include "profile/tree.h"

static const struct sampler_options options = { .frequency = 997 };

/* --- invented results --- */

static struct command_result invented(void)
{
	struct command_result c = { .sampled = true };
	const uint64_t place = 0xffffffff81000110;

	c.usage = (struct usage){ .user_ns = 1000000,
				  .system_ns = 400000000,
				  .elapsed_ns = 500000000,
				  .minor_faults = 12345,
				  .looks = 3,
				  .processes = 2,
				  .reaped = 2,
				  .resident_bytes = 8 << 20,
				  .page_table_bytes = 40960,
				  .largest_bytes = 6 << 20 };
	c.sampler.event = SAMPLER_CLOCK;
	c.sampler.frequency = 997;
	c.sampler.counts.samples = 390;
	stacks_add(&c.stacks, &place, 1, 390);
	return c;
}

static void symbols_of(const char *tree, struct profile_symbols *ret)
{
	char dir[] = "/tmp/pagetoll-record-XXXXXX", msg[256];
	struct sysroot sr;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(tree_unpack_text("t", tree, dir, msg, sizeof(msg)), 0);
	assert_int_equal(sysroot_init(&sr, dir, NULL), 0);
	profile_symbols_read(&sr, ret);
	tree_remove(dir);
}

static const char shown[] = "== proc/kallsyms\n"
			    "ffffffff81000000 T _stext\n"
			    "ffffffff81000100 T clear_page_erms\n"
			    "ffffffff81000200 T next\n"
			    "ffffffff81010000 T _etext\n";

static const struct measure *kernel_of(const struct run *r)
{
	assert_int_equal(r->n_measures, 2);
	assert_string_equal(r->measures[0].bench, "profile.command");
	assert_string_equal(r->measures[1].bench, "profile.kernel");
	return &r->measures[1];
}

static void record(struct run *r, struct command_result *c, const char *tree)
{
	struct profile_symbols s;

	symbols_of(tree, &s);
	assert_int_equal(profile_record(r, 0, c, &options, &s), 0);
	profile_symbols_done(&s);
	stacks_done(&c->stacks);
}

static void test_table(void **state)
{
	struct command_result c = invented();
	struct run *r = run_new();
	const struct measure *m;
	const struct series *s;

	(void)state;
	record(r, &c, shown);
	m = kernel_of(r);
	assert_int_equal(m->verdict, VERDICT_OK);
	assert_null(m->unproven);
	assert_string_equal(attrs_text(&m->setting, "event", ""), "cpu-clock");
	assert_int_equal(attrs_int(&m->proof, "samples_by_system_time", 0), 399);
	s = measure_series(m, "profile_ticks");
	assert_int_equal(s->n, 2);
	assert_string_equal(s->keys[0], "clear_page_erms");
	assert_string_equal(s->columns[0], "address");
	assert_true((uint64_t)(int64_t)s->cells[0] == 0xffffffff81000100);
	assert_true(s->cells[1] == 390);
	assert_true(fabs(s->cells[2] - 390.0 / 256) < 1e-12);
	assert_string_equal(s->keys[1], "total");
	assert_true(s->cells[4] == 390);
	assert_true(fabs(s->cells[5] - 390.0 / 0x10000) < 1e-12);
	assert_null(measure_series(m, "caller_ticks"));
	run_free(r);
}

static void test_hidden_symbols(void **state)
{
	static const struct {
		const char *tree, *words;
	} rows[] = {
		{ "= proc/kallsyms | 0000000000000000 T _stext\n"
		  "= proc/sys/kernel/kptr_restrict | 2\n",
		  "kernel.kptr_restrict=2); sysctl -w kernel.kptr_restrict=0" },
		{ "= proc/kallsyms | 0000000000000000 T _stext\n"
		  "= proc/sys/kernel/kptr_restrict | 1\n",
		  "sysctl -w kernel.kptr_restrict=0, or run as root" },
		{ "= proc/kallsyms | 0000000000000000 T _stext\n"
		  "= proc/sys/kernel/kptr_restrict | 0\n",
		  "kernel.perf_event_paranoid=1" },
		{ "= proc/kallsyms | 0000000000000000 T _stext\n", "run as root" },
		{ "-- proc/kallsyms\n", "CONFIG_KALLSYMS" },
		{ "= proc/other | x\n", "CONFIG_KALLSYMS" },
		{ "= proc/kallsyms | nothing of the kind\n", "CONFIG_KALLSYMS" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct command_result c = invented();
		struct run *r = run_new();
		const struct measure *m;
		const struct series *s;

		record(r, &c, rows[i].tree);
		m = kernel_of(r);
		assert_int_equal(m->verdict, VERDICT_OK);
		if (!m->unproven || !strstr(m->unproven, rows[i].words))
			fail_msg("row %zu: '%s' does not say '%s'", i, m->unproven, rows[i].words);
		/* What is still known: how many. */
		s = measure_series(m, "profile_ticks");
		assert_int_equal(s->n, 1);
		assert_string_equal(s->keys[0], "total");
		assert_true(s->cells[1] == 390);
		assert_true(isnan(s->cells[2]));
		run_free(r);
	}
}

static void assert_doubt(struct command_result *c, const char *words)
{
	struct run *r = run_new();
	const struct measure *m;

	record(r, c, shown);
	m = kernel_of(r);
	if (!words)
		assert_null(m->unproven);
	else if (!m->unproven || !strstr(m->unproven, words))
		fail_msg("'%s' does not say '%s'", m->unproven ? m->unproven : "(none)", words);
	run_free(r);
}

static void test_doubts(void **state)
{
	struct command_result c = invented();

	(void)state;
	c.sampler.counts.lost = 19; /* less than a twentieth: told, no doubt */
	assert_doubt(&c, NULL);
	c = invented();
	c.sampler.counts.lost = 40;
	assert_doubt(&c, "40 samples are lost");
	c = invented();
	c.sampler.counts.malformed = 1;
	assert_doubt(&c, "records that are none");
	c = invented();
	c.stacks.dropped = 5;
	assert_doubt(&c, "out of memory");
	/* Five times the system time that the samples stand for. */
	c = invented();
	c.usage.system_ns *= 5;
	assert_doubt(&c, "samples are missing");
	/* Too little time for a judgement. */
	c = invented();
	stacks_done(&c.stacks);
	c.usage.system_ns = 100000000;
	assert_doubt(&c, NULL);
}

static void test_not_sampled(void **state)
{
	struct command_result c = invented();
	struct run *r = run_new();
	const struct measure *m;

	(void)state;
	stacks_done(&c.stacks);
	c.sampled = false;
	err_set(&c.why_not, EACCES, "denied, and the remedy");
	record(r, &c, shown);
	m = kernel_of(r);
	assert_int_equal(m->verdict, VERDICT_SKIPPED);
	assert_string_equal(m->reason, "denied, and the remedy");
	assert_null(measure_series(m, "profile_ticks"));
	assert_int_equal(r->measures[0].verdict, VERDICT_OK);
	assert_int_equal(measure_series(&r->measures[0], "minor_faults")->integers[0], 12345);
	run_free(r);
}

static void test_unseen_memory(void **state)
{
	struct command_result c = invented();
	struct run *r = run_new();

	(void)state;
	c.usage.looks = 0;
	c.usage.largest_bytes = 0;
	c.usage.left = 2;
	record(r, &c, shown);
	assert_non_null(measure_series(&r->measures[0], "page_table_bytes")->null_reason);
	assert_non_null(measure_series(&r->measures[0], "largest_bytes")->null_reason);
	assert_non_null(strstr(r->measures[0].unproven, "2 processes were still running"));
	run_free(r);
}

/* --- real commands --- */

static struct u32_list online;

/* Software events in the place of a PMU's: what counts is that all of the tree is counted. */
static const struct walk_events faults_by_time = {
	.name = "page faults against CPU time",
	.is_cycles = true,
	.type = 1, /* PERF_TYPE_SOFTWARE */
	.cycles_type = 1,
	.cycles = 1,        /* PERF_COUNT_SW_TASK_CLOCK */
	.config = { 5, 6 }, /* PERF_COUNT_SW_PAGE_FAULTS_MIN and _MAJ */
	.n = 2,
};
static const struct walk_events no_such_event = {
	.name = "none", .type = 1, .cycles_type = 1, .cycles = 9999, .config = { 9999 }, .n = 1
};
static const struct walk_events *walks;

static int run_it(char *const *argv, struct command_result *ret, bool *ret_no_exec, struct err *e)
{
	struct sysroot sr;
	struct command c = { .argv = argv,
			     .live = &sr,
			     .sr = &sr,
			     .online = &online,
			     .o = &options,
			     .walks = walks };

	assert_int_equal(sysroot_init(&sr, NULL, NULL), 0);
	if (!online.n)
		assert_int_equal(
			sysroot_read_list(&sr, "sys/devices/system/cpu/online", &online, e), 0);
	return command_run(&c, ret, ret_no_exec, e);
}

static void test_endings(void **state)
{
	static const struct {
		const char *script;
		int exit_status, sig;
	} rows[] = {
		{ "exit 0", 0, 0 },
		{ "exit 3", 3, 0 },
		{ "exit 255", 255, 0 },
		{ "kill -KILL $$", 0, SIGKILL },
		{ "kill -TERM $$", 0, SIGTERM },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char script[64];
		char sh[] = "sh", c[] = "-c";
		char *argv[] = { sh, c, script, NULL };
		struct command_result r;
		struct err e = { 0 };
		bool no_exec;

		strcpy(script, rows[i].script);
		assert_int_equal(run_it(argv, &r, &no_exec, &e), 0);
		assert_false(no_exec);
		if (rows[i].sig)
			assert_int_equal(WTERMSIG(r.wait_status), rows[i].sig);
		else
			assert_int_equal(WEXITSTATUS(r.wait_status), rows[i].exit_status);
		assert_true(r.usage.elapsed_ns > 0);
		assert_true(r.usage.minor_faults > 0);
		if (!r.sampled)
			assert_true(r.why_not.code != 0);
		stacks_done(&r.stacks);
	}
}

static void test_no_exec(void **state)
{
	static const struct {
		const char *word;
		int rc;
	} rows[] = {
		{ "/nonexistent/program", -ENOENT },
		{ "no-such-program-in-the-path", -ENOENT },
		{ "", -ENOENT },
		{ "/", -EACCES },
		{ "/proc/self/status", -EACCES },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char word[64];
		char *argv[] = { word, NULL };
		struct command_result r;
		struct err e = { 0 };
		bool no_exec = false;

		strcpy(word, rows[i].word);
		assert_int_equal(run_it(argv, &r, &no_exec, &e), rows[i].rc);
		assert_true(no_exec);
		assert_non_null(strstr(e.msg, "cannot run"));
	}
}

/* An orphan's faults are ours to count; a parent that waits has counted its child's already. */
static void test_orphans(void **state)
{
	char sh[] = "sh", c[] = "-c";
	char waits[] = "sh -c 'dd if=/dev/zero of=/dev/null bs=16M count=1 2>/dev/null'; true";
	char orphan[] = "pid=$( (sh -c 'echo $$; exec >/dev/null; "
			"dd if=/dev/zero of=/dev/null bs=16M count=1 2>/dev/null; true') & ); "
			"while kill -0 $pid 2>/dev/null; do sleep 0.01; done";
	char *with_wait[] = { sh, c, waits, NULL }, *with_orphan[] = { sh, c, orphan, NULL };
	struct command_result r;
	struct err e = { 0 };
	bool no_exec;

	(void)state;
	assert_int_equal(run_it(with_wait, &r, &no_exec, &e), 0);
	assert_true(r.usage.largest_bytes >= 16 << 20);
	stacks_done(&r.stacks);
	assert_int_equal(run_it(with_orphan, &r, &no_exec, &e), 0);
	assert_true(r.usage.reaped >= 2);
	assert_true(r.usage.largest_bytes >= 16 << 20);
	assert_int_equal(r.usage.left, 0);
	stacks_done(&r.stacks);
}

static void test_left_behind(void **state)
{
	char sh[] = "sh", c[] = "-c", script[] = "sleep 2 >/dev/null 2>&1 & exit 5";
	char *argv[] = { sh, c, script, NULL };
	struct command_result r;
	struct err e = { 0 };
	bool no_exec;

	(void)state;
	assert_int_equal(run_it(argv, &r, &no_exec, &e), 0);
	assert_int_equal(WEXITSTATUS(r.wait_status), 5);
	assert_int_equal(r.usage.left, 1);
	assert_true(r.usage.elapsed_ns < 1900000000);
	stacks_done(&r.stacks);
	assert_true(waitpid(-1, NULL, 0) > 0); /* it is ours: nothing of this test stays */
}

static void test_walks_are_counted_in_the_tree(void **state)
{
	char sh[] = "sh", c[] = "-c";
	char script[] = "sh -c 'dd if=/dev/zero of=/dev/null bs=16M count=1 2>/dev/null; true'";
	char *argv[] = { sh, c, script, NULL };
	struct command_result r;
	struct err e = { 0 };
	bool no_exec;

	(void)state;
	walks = &faults_by_time;
	assert_int_equal(run_it(argv, &r, &no_exec, &e), 0);
	walks = NULL;
	stacks_done(&r.stacks);
	if (!r.walked) {
		assert_true(r.no_walks.code != 0 && r.no_walks.msg[0]);
		return; /* not permitted here */
	}
	assert_true(r.walks.running_ratio > 0 && r.walks.running_ratio <= 1);
	assert_true(r.walks.cycles > 0);
	/* The kernel's own account has some more: those of the child before its exec. */
	if (!r.walks.user_only) {
		double faults = (double)(r.usage.minor_faults + r.usage.major_faults);

		assert_true(r.walks.walks > 100 && r.walks.walks <= faults);
		assert_true(r.walks.walks >= faults - 400);
	}
}

static void test_walks_that_are_none(void **state)
{
	char word[] = "true", *argv[] = { word, NULL };
	struct command_result r;
	struct err e = { 0 };
	struct run *run = run_new();
	const struct series *s;
	bool no_exec;

	(void)state;
	walks = &no_such_event;
	assert_int_equal(run_it(argv, &r, &no_exec, &e), 0);
	walks = NULL;
	assert_false(r.walked);
	assert_true(r.no_walks.code != 0);
	record(run, &r, shown);
	s = measure_series(&run->measures[0], "walk_ratio");
	assert_int_equal(s->n, 0);
	assert_string_equal(s->null_reason, r.no_walks.msg);
	run_free(run);
}

static void test_walks_recorded(void **state)
{
	struct command_result c = invented();
	struct run *r = run_new();

	(void)state;
	c.walked = true;
	c.walks = (struct walk_counts){
		.cycles = 1e9, .walks = 1.25e8, .running_ratio = 0.5, .is_cycles = true
	};
	record(r, &c, shown);
	assert_true(measure_series(&r->measures[0], "walk_ratio")->values[0] == 0.125);
	assert_null(measure_series(&r->measures[0], "page_walks"));
	run_free(r);
	c = invented();
	c.walked = true;
	c.walks = (struct walk_counts){ .cycles = 1e9, .walks = 7, .running_ratio = 1 };
	r = run_new();
	record(r, &c, shown);
	assert_null(measure_series(&r->measures[0], "walk_ratio"));
	assert_int_equal(measure_series(&r->measures[0], "page_walks")->integers[0], 7);
	run_free(r);
}

/* --- the tree of an invented machine --- */

static void test_tree(void **state)
{
	static const char with_children[] =
		"= proc/10/task/10/children | 11 12 \n"
		"= proc/11/task/11/children | 13\n"
		"= proc/11/task/15/children | 14 \n"
		"= proc/12/task/12/children | \n"
		"= proc/13/task/13/children | \n"
		"= proc/14/task/14/children | \n"
		"== proc/11/status\nVmHWM: 900 kB\nVmRSS: 400 kB\n"
		"VmPTE: 40 kB\n"
		"== proc/13/status\nVmHWM: 300 kB\nVmRSS: 200 kB\n"
		"VmPTE: 20 kB\n"
		"== proc/14/status\nVmHWM: 1 kB\nVmRSS: 1 kB\nVmPTE: 1 kB\n"
		"== proc/12/status\nName: zombie\n";
	static const char by_parents[] =
		"= proc/10/stat | 10 (a) S 1 10\n= proc/11/stat | 11 (b) c) S 10 10\n"
		"= proc/13/stat | 13 (x) S 11 10\n= proc/14/stat | 14 () R 13 1\n"
		"= proc/99/stat | 99 (other) S 1 1\n-- proc/10/task/10\n"
		"== proc/11/status\nVmHWM: 900 kB\nVmRSS: 400 kB\nVmPTE: 40 kB\n"
		"== proc/13/status\nVmHWM: 300 kB\nVmRSS: 200 kB\nVmPTE: 20 kB\n"
		"== proc/14/status\nVmHWM: 1 kB\nVmRSS: 1 kB\nVmPTE: 1 kB\n"
		"== proc/99/status\nVmHWM: 7 kB\nVmRSS: 7 kB\nVmPTE: 7 kB\n";
	static const char *const trees[] = { with_children, by_parents };
	uint32_t eleven[] = { 11 };
	const struct u32_list strangers = { eleven, 1 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char dir[] = "/tmp/pagetoll-tree-XXXXXX", msg[256];
		struct u32_list children;
		struct tree_look t;
		struct sysroot sr;

		assert_non_null(mkdtemp(dir));
		if (tree_unpack_text("t", trees[i], dir, msg, sizeof(msg)))
			fail_msg("%s", msg);
		assert_int_equal(sysroot_init(&sr, dir, NULL), 0);
		assert_int_equal(tree_look(&sr, 10, NULL, &t), 0);
		assert_int_equal(t.n, 3);
		assert_int_equal(t.resident_bytes, 601 << 10);
		assert_int_equal(t.page_table_bytes, 61 << 10);
		assert_int_equal(t.largest_bytes, 900 << 10);
		/* nobody below it, and no such process */
		assert_int_equal(tree_look(&sr, 14, NULL, &t), 0);
		assert_int_equal(t.n, 0);
		assert_int_equal(tree_look(&sr, 4000, NULL, &t), 0);
		assert_int_equal(t.n, 0);
		assert_int_equal(tree_children(&sr, 10, &children), 0);
		assert_true(u32_list_contains(&children, 11));
		assert_false(u32_list_contains(&children, 10));
		u32_list_done(&children);
		/* without one child, and so without what is below it */
		assert_int_equal(tree_look(&sr, 10, &strangers, &t), 0);
		assert_int_equal(t.n, 0);
		tree_remove(dir);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_hidden_symbols),
		cmocka_unit_test(test_doubts),
		cmocka_unit_test(test_not_sampled),
		cmocka_unit_test(test_unseen_memory),
		cmocka_unit_test(test_endings),
		cmocka_unit_test(test_no_exec),
		cmocka_unit_test(test_orphans),
		cmocka_unit_test(test_left_behind),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_walks_are_counted_in_the_tree),
		cmocka_unit_test(test_walks_that_are_none),
		cmocka_unit_test(test_walks_recorded),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	u32_list_done(&online);
	return failed;
}
