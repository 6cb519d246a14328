/* SPDX-License-Identifier: MIT */
/* sampler_explain.c: every errno has its reason and a remedy that fits the machine. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/tree.h"
#include "profile/sampler.h"
#include "profile/walks.h"

struct root {
	char dir[64];
	struct sysroot sr;
};

static void open_root(struct root *r, const char *tree)
{
	char msg[256];

	strcpy(r->dir, "/tmp/pagetoll-sampler-XXXXXX");
	assert_non_null(mkdtemp(r->dir));
	assert_int_equal(tree_unpack_text("t", tree, r->dir, msg, sizeof(msg)), 0);
	assert_int_equal(sysroot_init(&r->sr, r->dir, NULL), 0);
}

static void assert_says(const struct root *r, int code, enum sampler_event event, bool mapping,
			const char *words)
{
	struct err e = { 0 };

	sampler_explain(&r->sr, code, event, mapping, &e);
	assert_int_equal(e.code, code);
	if (!strstr(e.msg, words))
		fail_msg("errno %d: '%s' does not say '%s'", code, e.msg, words);
	/* the kernel's own word for it stands there as well */
	assert_non_null(strstr(e.msg, strerror(code)));
}

static void test_errnos(void **state)
{
	static const struct {
		int code;
		enum sampler_event event;
		bool mapping;
		const char *words;
	} rows[] = {
		{ EACCES, SAMPLER_CLOCK, false, "kernel.perf_event_paranoid=2" },
		{ EACCES, SAMPLER_CLOCK, false, "sysctl -w kernel.perf_event_paranoid=1" },
		{ EPERM, SAMPLER_CYCLES, false, "sysctl -w kernel.perf_event_paranoid=1" },
		{ ENOENT, SAMPLER_CYCLES, false, "virtual PMU" },
		{ ENODEV, SAMPLER_CYCLES, false, "virtual PMU" },
		{ EOPNOTSUPP, SAMPLER_CYCLES, false, "virtual PMU" },
		{ ENOENT, SAMPLER_CLOCK, false, "another kernel" },
		{ EMFILE, SAMPLER_CLOCK, false, "ulimit -n" },
		{ ENFILE, SAMPLER_CLOCK, false, "fs.file-max" },
		{ ENOSYS, SAMPLER_CLOCK, false, "CONFIG_PERF_EVENTS" },
		{ EINVAL, SAMPLER_CLOCK, false, "--frequency" },
		{ EBUSY, SAMPLER_CYCLES, false, "nmi_watchdog" },
		{ EPERM, SAMPLER_CLOCK, true, "kernel.perf_event_mlock_kb=2048 (now 516)" },
		{ ENOMEM, SAMPLER_CLOCK, true, "ulimit -l" },
		{ EIO, SAMPLER_CLOCK, false, "no remedy is known" },
	};
	struct root r;

	(void)state;
	open_root(&r, "= proc/sys/kernel/perf_event_paranoid | 2\n"
		      "= proc/sys/kernel/perf_event_mlock_kb | 516\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_says(&r, rows[i].code, rows[i].event, rows[i].mapping, rows[i].words);
	tree_remove(r.dir);
}

/* The remedy is not the one that is in force already. */
static void test_denied_by_others(void **state)
{
	struct root r;

	(void)state;
	open_root(&r, "= proc/sys/kernel/perf_event_paranoid | 1\n");
	assert_says(&r, EACCES, SAMPLER_CLOCK, false, "--cap-add PERFMON");
	assert_says(&r, EPERM, SAMPLER_CLOCK, false, "although kernel.perf_event_paranoid=1");
	tree_remove(r.dir);
	open_root(&r, "= proc/other | 1\n");
	assert_says(&r, EACCES, SAMPLER_CLOCK, false, "run as root");
	assert_says(&r, EPERM, SAMPLER_CLOCK, true, "now unknown");
	tree_remove(r.dir);
}

static void test_walk_events(void **state)
{
	static const struct {
		const char *cpuinfo;
		uint64_t first; /* 0: none are known */
		size_t n;
	} rows[] = {
		{ "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n", 0x1001008, 3 },
		{ "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 106\n", 0x1001008, 3 },
		{ "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n", 0x1001012, 3 },
		{ "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n", 0xf045, 1 },
		/* two kinds of cores, an Atom, a Haswell, another family, others */
		{ "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 151\n", 0, 0 },
		{ "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 55\n", 0, 0 },
		{ "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 63\n", 0, 0 },
		{ "vendor_id\t: GenuineIntel\ncpu family\t: 15\nmodel\t\t: 85\n", 0, 0 },
		{ "vendor_id\t: AuthenticAMD\ncpu family\t: 21\nmodel\t\t: 1\n", 0, 0 },
		{ "vendor_id\t: HygonGenuine\ncpu family\t: 24\nmodel\t\t: 1\n", 0, 0 },
		{ "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n", 0, 0 },
		{ "", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct walk_events ev = { 0 };
		struct err e = { 0 };
		char tree[256];
		struct root r;
		int rc;

		snprintf(tree, sizeof(tree), "== proc/cpuinfo\n%s", rows[i].cpuinfo);
		open_root(&r, tree);
		rc = walks_choose(&r.sr, &ev, &e);
		if (rc != (rows[i].n ? 0 : -ENOTSUP))
			fail_msg("row %zu: %d %s", i, rc, e.msg);
		assert_int_equal(ev.n, rows[i].n);
		assert_int_equal(ev.config[0], rows[i].first);
		assert_true(rc == 0 || strstr(e.msg, "no events"));
		tree_remove(r.dir);
	}
}

static void test_walk_events_without_cpuinfo(void **state)
{
	struct walk_events ev = { 0 };
	struct err e = { 0 };
	struct root r;

	(void)state;
	open_root(&r, "= proc/other | 1\n");
	assert_int_equal(walks_choose(&r.sr, &ev, &e), -ENOENT);
	assert_int_equal(ev.n, 0);
	tree_remove(r.dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errnos),
		cmocka_unit_test(test_denied_by_others),
		cmocka_unit_test(test_walk_events),
		cmocka_unit_test(test_walk_events_without_cpuinfo),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
