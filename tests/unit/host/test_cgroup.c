/* SPDX-License-Identifier: MIT */
/* cgroup.c: where this process stands, for what containers and distributions set up. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/cgroup.h"
#include "host/counters.h"
#include "tree_test.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define V2_MOUNT "30 25 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define V1_MOUNT "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"

static void test_locate(void **state)
{
	static const struct {
		const char *self, *mounts, *controller;
		const char *dir; /* NULL: not found */
		const char *name;
	} rows[] = {
		{ "0::/user.slice/a\n", V2_MOUNT, "", "sys/fs/cgroup/user.slice/a",
		  "/user.slice/a" },
		{ "0::/\n", V2_MOUNT, "", "sys/fs/cgroup", "/" },
		{ "5:cpu,memory:/x\n0::/y\n", V1_MOUNT V2_MOUNT, "memory", "sys/fs/cgroup/memory/x",
		  "/x" },
		{ "5:cpu,memory:/x\n0::/y\n", V1_MOUNT V2_MOUNT, "", "sys/fs/cgroup/y", "/y" },
		/* Optional fields may be missing or many. */
		{ "0::/y", "30 25 0:26 / /c rw - cgroup2 none rw", "", "c/y", "/y" },
		{ "0::/y", "30 25 0:26 / /c rw a:1 b:2 c:3 - cgroup2 none rw", "", "c/y", "/y" },
		/* A container sees its own group as the root of the mount. */
		{ "4:memory:/docker/abc/in\n",
		  "35 31 0:32 /docker/abc /m rw - cgroup cgroup rw,memory\n", "memory", "m/in",
		  "/in" },
		{ "4:memory:/docker/abc\n",
		  "35 31 0:32 /docker/abc /m rw - cgroup cgroup rw,memory\n", "memory", "m", "/" },
		/* Outside of what is mounted: the mount point stands for it. */
		{ "4:memory:/other\n", "35 31 0:32 /docker/abc /m rw - cgroup cgroup rw,memory\n",
		  "memory", "m", "/" },
		{ "4:memory:/docker/abcde\n",
		  "35 31 0:32 /docker/abc /m rw - cgroup cgroup rw,memory\n", "memory", "m", "/" },
		{ "0::/../../x\n", V2_MOUNT, "", "sys/fs/cgroup", "/" },
		/* Escapes in mount points. */
		{ "0::/y", "30 25 0:26 / /a\\040b rw - cgroup2 none rw", "", "a b/y", "/y" },
		{ "0::/y", "30 25 0:26 / //c rw - cgroup2 none rw", "", "c/y", "/y" },
		/* The later mount covers the earlier one. */
		{ "0::/y", V2_MOUNT "31 25 0:26 / /new rw - cgroup2 cgroup2 rw\n", "", "new/y",
		  "/y" },
		/* A path with a colon. */
		{ "0::/a:b\n", V2_MOUNT, "", "sys/fs/cgroup/a:b", "/a:b" },
		/* Refused. */
		{ "", V2_MOUNT, "", NULL, NULL },
		{ "0::/y", "", "", NULL, NULL },
		{ "0::/y", V1_MOUNT, "", NULL, NULL },
		{ "5:mem:/x", V1_MOUNT, "memory", NULL, NULL },
		{ "5:memory:/x", "35 31 0:32 / /m rw - cgroup cgroup rw,memoryx\n", "memory", NULL,
		  NULL },
		{ "0::relative", V2_MOUNT, "", NULL, NULL },
		{ "nonsense", V2_MOUNT, "", NULL, NULL },
		{ "0::/y", "30 25 0:26 / / rw - cgroup2 none rw", "", NULL, NULL },
		{ "0::/y", "30 25 0:26 / /// rw - cgroup2 none rw", "", NULL, NULL },
		{ "0::/y", "30 25 0:26 / /c/../../etc rw - cgroup2 none rw", "", NULL, NULL },
		{ "0::/y", "30 25 0:26 /", "", NULL, NULL },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct cgroup g = { 0 };
		int rc = cgroup_locate(rows[i].self, rows[i].mounts, rows[i].controller, &g);

		if (!rows[i].dir) {
			assert_true(rc < 0);
			assert_int_equal(g.version, 0);
			continue;
		}
		assert_int_equal(rc, 0);
		assert_string_equal(g.dir, rows[i].dir);
		assert_string_equal(cgroup_name(&g), rows[i].name);
		assert_int_equal(g.version, *rows[i].controller ? 1 : 2);
	}
}

static void test_too_long(void **state)
{
	char self[2048];
	struct cgroup g = { 0 };

	(void)state;
	memset(self, 'a', sizeof(self));
	memcpy(self, "0::/", 4);
	self[sizeof(self) - 1] = '\0';
	assert_int_equal(cgroup_locate(self, V2_MOUNT, "", &g), -EMSGSIZE);
}

static void test_parents(void **state)
{
	struct cgroup g;

	(void)state;
	assert_int_equal(cgroup_locate("0::/a/b\n", V2_MOUNT, "", &g), 0);
	assert_true(cgroup_to_parent(&g));
	assert_string_equal(g.dir, "sys/fs/cgroup/a");
	assert_true(cgroup_to_parent(&g));
	assert_string_equal(g.dir, "sys/fs/cgroup");
	assert_false(cgroup_to_parent(&g));
	assert_string_equal(g.dir, "sys/fs/cgroup");
}

/* Throttling is counted where the quota is: in the own group or the nearest above it. */
static void test_quota_group(void **state)
{
	static const struct {
		const char *file, *text, *found;
	} rows[] = {
		{ "c/a/b/cpu.stat", "nr_periods 5\nnr_throttled 3\n", "c/a/b/cpu.stat" },
		{ "c/a/cpu.stat", "usage_usec 1\nnr_throttled 3\n", "c/a/cpu.stat" },
		{ "c/a/b/cpu.stat", "usage_usec 1\n", "" },
		{ "c/x/cpu.stat", "nr_throttled 3\n", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct counters c;
		struct host_counts n;
		struct tree_test t;

		tree_open(&t, "plain");
		tree_write(&t, "proc/self/cgroup", "0::/a/b\n");
		tree_write(&t, "proc/self/mountinfo", "1 1 0:1 / /c rw - cgroup2 cgroup2 rw\n");
		tree_write(&t, rows[i].file, rows[i].text);
		counters_init(&c, &t.sr);
		assert_string_equal(c.quota_path, rows[i].found);
		counters_host(&c, &n);
		assert_int_equal(n.throttled, *rows[i].found ? 3 : -1);
		tree_close(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locate),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_parents),
		cmocka_unit_test(test_quota_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
