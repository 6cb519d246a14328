/* SPDX-License-Identifier: MIT */
/*
 * The system-call benchmarks for real, small: every one proves its entries, hot and cold, and the
 * proofs fail when a call does something else than its name says.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "bench/syscall.h"
#include "record/run.h"
#include "run_words.h"

struct found {
	double entries, faults;
	int64_t cold_calls, hot_calls, node, load_calls;
	size_t n_call, n_empty, n_clock, n_probe;
	double least;
	char path[300], file_system[64];
	int64_t copied;
};

static double real_of(const struct bench_result *r, const char *name)
{
	const struct attr *a = attrs_find(&r->proof, name);

	return a && a->kind == ATTR_REAL ? a->real : -1;
}

static void look(void *user, const struct bench_result *r)
{
	struct found *f = user;
	const struct metric_values *v = &r->values[SC_CALL_NS];

	f->entries = real_of(r, "kernel_entries_per_call");
	f->faults = real_of(r, "page_faults_per_call");
	f->cold_calls = attrs_int(&r->proof, "cold_calls", -1);
	f->hot_calls = attrs_int(&r->proof, "hot_calls", -1);
	f->load_calls = attrs_int(&r->proof, "load_calls", -1);
	f->node = attrs_int(&r->proof, "node", -1);
	f->copied = attrs_int(&r->proof, "fork_anon_bytes", -1);
	snprintf(f->path, sizeof(f->path), "%s", attrs_text(&r->proof, "path", ""));
	snprintf(f->file_system, sizeof(f->file_system), "%s",
		 attrs_text(&r->proof, "file_system", ""));
	f->n_call = v->n;
	f->n_empty = r->values[SC_EMPTY_NS].n;
	f->n_clock = r->values[SC_CLOCK_NS].n;
	f->n_probe = r->values[SC_PROBE_NS].n;
	f->least = 1e300;
	for (size_t i = 0; i < v->n; i++)
		f->least = v->samples[i] < f->least ? v->samples[i] : f->least;
}

static void run_call(const char *bench, const char *words, struct found *f, struct seen *s)
{
	char all[300];

	memset(f, 0, sizeof(*f));
	snprintf(all, sizeof(all), "node=local node.node=0 %s", words);
	run_words(bench, all, NULL, 0, look, f, s);
	if (s->ok != 1)
		fail_msg("%s %s: %s", bench, words, s->reason);
}

/* Where a child may be traced; elsewhere the proof says that it is missing. */
static void check_entries(const struct found *f, const struct seen *s, double expected)
{
	if (strstr(s->unproven, "traced"))
		return;
	assert_true(f->entries == expected);
}

static void each_proves_its_entries(void **state)
{
	static const struct {
		const char *bench, *words;
		double entries;
	} rows[] = {
		{ "syscall.null", "", 1 },
		{ "syscall.pid", "", 1 },
		{ "syscall.openclose", "", 2 },
		{ "syscall.forkexit", "", 2 },
		{ "syscall.gettimeofday", "via=kernel ", 1 },
#ifdef SYS_time
		{ "syscall.time", "via=kernel ", 1 },
#endif
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char words[100];
		struct found f;
		struct seen s;

		snprintf(words, sizeof(words), "%scache=hot evict=both", rows[i].words);
		run_call(rows[i].bench, words, &f, &s);
		check_entries(&f, &s, rows[i].entries);
		assert_true(f.hot_calls >= 1);
		assert_int_equal(f.cold_calls, -1);
		assert_true(f.n_call > 0 && f.least > 0);
		assert_int_equal(f.n_probe, 0);
		snprintf(words, sizeof(words), "%scache=cold evict=tlb", rows[i].words);
		run_call(rows[i].bench, words, &f, &s);
		check_entries(&f, &s, rows[i].entries);
		assert_true(f.cold_calls >= 3);
		assert_int_equal(f.n_call, f.cold_calls);
		assert_int_equal(f.n_clock, f.cold_calls);
		assert_true(f.least >= 0);
	}
}

static void fault_proves_one_fault(void **state)
{
	struct found f;
	struct seen s;

	(void)state;
	run_call("syscall.fault", "cache=hot evict=both", &f, &s);
	assert_true(f.faults == 1);
	run_call("syscall.fault", "cache=cold evict=tlb", &f, &s);
	assert_true(f.faults == 1);
	assert_true(f.least > 0);
}

/* Some hypervisors have no clock for the vDSO: then the verdict must say so, and not be ok. */
static void vdso_enters_nothing(void **state)
{
	struct found f = { 0 };
	struct seen s;

	(void)state;
	run_words("syscall.gettimeofday", "node=local node.node=0 via=vdso cache=hot evict=both",
		  NULL, 0, look, &f, &s);
	if (s.ok == 1) {
		check_entries(&f, &s, 0);
	} else {
		assert_int_equal(s.verdict, VERDICT_INVALID);
		assert_non_null(strstr(s.reason, "vDSO"));
	}
}

static void objects_are_told(void **state)
{
	struct stat st;
	struct found f;
	struct seen s;

	(void)state;
	run_call("syscall.openclose", "cache=hot evict=both", &f, &s);
	assert_true(f.path[0] == '/');
	assert_true(f.file_system[0] != '\0');
	assert_int_equal(stat(f.path, &st), -1); /* cleared away */
	run_call("syscall.forkexit", "cache=hot evict=both", &f, &s);
	assert_true(f.copied > 0);
}

/* Arms beside the measurement; where there is no other CPU they are skipped, with the reason. */
static void neighbours_are_proven(void **state)
{
	struct found f = { 0 };
	struct seen s;

	(void)state;
	run_words("syscall.null", "node.node=0 cache=hot evict=tlb load=here load.node=0", NULL, 0,
		  look, &f, &s);
	if (s.ok == 1)
		assert_true(f.load_calls > 0);
	else
		/* no other CPU; or a busy one, on which the load never ran */
		assert_true(
			strstr(s.reason, "load=0: node 0: ") ||
			(s.verdict == VERDICT_INVALID && strstr(s.reason, "no call meanwhile")));
	run_words("syscall.null",
		  "node.node=0 cache=cold evict=tlb evict-node=here evict-node.node=0", NULL, 0,
		  look, &f, &s);
	if (s.ok == 1)
		assert_true(f.cold_calls >= 3);
	else
		assert_non_null(strstr(s.reason, "evict-node=0: node 0: "));
}

static void no_folder_no_measurement(void **state)
{
	char *was = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
	struct found f;
	struct seen s;

	(void)state;
	setenv("TMPDIR", "/nonexistent-folder", 1);
	run_words("syscall.openclose", "node=local node.node=0 cache=hot evict=both", NULL, 0, look,
		  &f, &s);
	if (was)
		setenv("TMPDIR", was, 1);
	else
		unsetenv("TMPDIR");
	free(was);
	assert_int_equal(s.ok, 0);
	assert_int_equal(s.verdict, VERDICT_SKIPPED);
	assert_non_null(strstr(s.reason, "set TMPDIR"));
}

/* Calls that do something else: a benchmark of this test's own, through the same setup. */
static void twice(void *arg)
{
	(void)arg;
	syscall(SYS_getppid);
	syscall(SYS_getppid);
}

static void nothing(void *arg)
{
	(void)arg;
}

static const struct syscall_call wrong_calls[] = {
	{ .call = twice, .entries = 1, .faults = -1 },
	{ .call = nothing, .entries = 1, .faults = -1 },
	{ .call = nothing, .entries = -1, .faults = 1 },
};
static size_t wrong_call;

static int wrong_setup(struct bench_ctx *ctx, void *state)
{
	return syscall_setup(ctx, state, &wrong_calls[wrong_call], NULL);
}

static int collect(void *user, const struct bench_result *r)
{
	struct seen *s = user;

	s->verdict = r->verdict;
	snprintf(s->reason, sizeof(s->reason), "%s", r->reason ? r->reason : "");
	snprintf(s->unproven, sizeof(s->unproven), "%s", r->unproven ? r->unproven : "");
	return 0;
}

static void another_count_is_contrary(void **state)
{
	static const char *const says[] = { "2 kernel_entries", "0 kernel_entries",
					    "0 page_faults" };
	static const struct param params[] = { { .name = NULL } };
	static const struct bench wrong = {
		.schema = { .name = "wrong", .params = params, .metrics = syscall_metrics },
		.state_size = sizeof(struct syscall_run),
		.setup = wrong_setup,
		.prepare = syscall_prepare,
		.sample = syscall_sample,
		.check = syscall_check,
		.teardown = syscall_teardown,
	};

	(void)state;
	for (wrong_call = 0; wrong_call < 3; wrong_call++) {
		struct invocation_spec spec = { .bench = &wrong, .samples = 1 };
		struct arena a = { 0 };
		struct seen s = { 0 };
		struct err e = { 0 };

		set_words(&a, &spec.setting, "cache=hot evict=both node.node=0");
		assert_int_equal(bench_run_invocation(&spec, collect, &s, &e), 0);
		arena_done(&a);
		if (strstr(s.unproven, "traced"))
			continue;
		assert_int_equal(s.verdict, VERDICT_INVALID);
		if (!strstr(s.reason, says[wrong_call]))
			fail_msg("%s", s.reason);
	}
}

static void sizes_are_planned(void **state)
{
	const struct bench *b = bench_find("syscall.null");
	struct machine m = { .page_bytes = 4096 };
	struct bench_setting s = { 0 };
	struct bench_cost c = { 0 };
	struct arena a = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_non_null(b);
	set_words(&a, &s, "cache=hot evict=both load=none evict-node=none");
	assert_int_equal(b->cost(&m, &s, 0, &c, &e), 0);
	assert_int_equal(c.arena_bytes, 0);
	set_words(&a, &s, "cache=cold");
	assert_int_equal(b->cost(&m, &s, 0, &c, &e), 0);
	assert_true(c.arena_bytes >= UINT64_C(64)
					     << 20); /* 32 MiB are taken where nothing is told */
	assert_true(c.seconds > 0);
	set_words(&a, &s, "evict=tlb");
	assert_int_equal(b->cost(&m, &s, 0, &c, &e), 0);
	assert_true(c.arena_bytes < UINT64_C(1) << 20);
	set_words(&a, &s, "load=here evict-node=here");
	assert_int_equal(b->cost(&m, &s, 0, &c, &e), -EINVAL);
	assert_non_null(strstr(e.msg, "cannot do both"));
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_proves_its_entries),
		cmocka_unit_test(fault_proves_one_fault),
		cmocka_unit_test(vdso_enters_nothing),
		cmocka_unit_test(objects_are_told),
		cmocka_unit_test(neighbours_are_proven),
		cmocka_unit_test(no_folder_no_measurement),
		cmocka_unit_test(another_count_is_contrary),
		cmocka_unit_test(sizes_are_planned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
