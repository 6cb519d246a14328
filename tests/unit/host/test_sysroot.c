/* SPDX-License-Identifier: MIT */
/* sysroot.c: reading below a root, and what the messages of failures name. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include "tree_test.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static struct tree_test tree;

static int setup(void **state)
{
	(void)state;
	tree_open(&tree, "plain");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tree_close(&tree);
	return 0;
}

static void test_init(void **state)
{
	struct sysroot sr;
	struct err e = { 0 };
	char file[512];

	(void)state;
	assert_int_equal(sysroot_init(&sr, NULL, &e), 0);
	assert_true(sr.is_live);
	assert_string_equal(sr.dir, "/");
	assert_int_equal(sysroot_init(&sr, "/", &e), 0);
	assert_true(sr.is_live);
	assert_int_equal(sysroot_init(&sr, tree.dir, &e), 0);
	assert_false(sr.is_live);
	assert_int_equal(sysroot_init(&sr, "/nonexistent-root", &e), -ENOENT);
	assert_non_null(strstr(e.msg, "/nonexistent-root"));
	err_clear(&e);
	snprintf(file, sizeof(file), "%s/proc/meminfo", tree.dir);
	assert_int_equal(sysroot_init(&sr, file, &e), -ENOTDIR);
	assert_non_null(strstr(e.msg, file));
}

static void test_read(void **state)
{
	struct err e = { 0 };
	char *text = NULL;
	size_t n = 0;

	(void)state;
	assert_int_equal(sysroot_read(&tree.sr, "proc/loadavg", &text, &n, &e), 0);
	assert_string_equal(text, "0.00 0.01 0.00 1/90 100\n");
	assert_int_equal(n, strlen(text));
	free(text);
	text = NULL;
	assert_int_equal(sysroot_read(&tree.sr, "proc/none", &text, &n, &e), -ENOENT);
	assert_null(text);
	assert_non_null(strstr(e.msg, "/proc/none"));
	assert_int_equal(sysroot_read(&tree.sr, "proc", &text, &n, NULL), -EISDIR);
	assert_null(text);
}

/* /proc files have size 0 and may be longer than any first guess. */
static void test_read_live(void **state)
{
	struct sysroot sr;
	char *text;
	size_t n;

	(void)state;
	assert_int_equal(sysroot_init(&sr, NULL, NULL), 0);
	if (!sysroot_exists(&sr, "proc/self/maps"))
		skip();
	assert_int_equal(sysroot_read(&sr, "proc/self/maps", &text, &n, NULL), 0);
	assert_int_equal(strlen(text), n);
	assert_true(n > 100);
	free(text);
}

static void test_large(void **state)
{
	char path[600], *text = NULL;
	FILE *f;
	size_t n = 0;

	(void)state;
	snprintf(path, sizeof(path), "%s/large", tree.dir);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(ftruncate(fileno(f), 100000), 0);
	assert_int_equal(sysroot_read(&tree.sr, "large", &text, &n, NULL), 0);
	assert_int_equal(n, 100000);
	free(text);
	text = NULL;
	assert_int_equal(ftruncate(fileno(f), 17 << 20), 0);
	fclose(f);
	assert_int_equal(sysroot_read(&tree.sr, "large", &text, &n, NULL), -EFBIG);
	assert_null(text);
	unlink(path);
}

static void test_lines(void **state)
{
	char buf[16] = "old";

	(void)state;
	assert_int_equal(sysroot_read_line(&tree.sr, "proc/sys/kernel/osrelease", buf, 7, NULL), 0);
	assert_string_equal(buf, "6.12.0");
	assert_int_equal(sysroot_read_line(&tree.sr, "proc/sys/kernel/osrelease", buf, 6, NULL),
			 -EMSGSIZE);
	assert_string_equal(buf, "6.12.0");
	assert_int_equal(sysroot_read_line(&tree.sr, "sys/devices/system/cpu/isolated", buf,
					   sizeof(buf), NULL),
			 0);
	assert_string_equal(buf, "");
	assert_int_equal(sysroot_read_line(&tree.sr, "none", buf, sizeof(buf), NULL), -ENOENT);
}

static void test_values(void **state)
{
	struct u32_list l = { 0 };
	struct err e = { 0 };
	uint64_t v = 0;
	char word[16];

	(void)state;
	assert_int_equal(sysroot_read_u64(&tree.sr, "proc/sys/vm/max_map_count", &v, &e), 0);
	assert_int_equal(v, 65530);
	assert_int_equal(sysroot_read_key(&tree.sr, "proc/meminfo", "MemTotal", &v, &e), 0);
	assert_true(v == 16ull << 30);
	assert_int_equal(sysroot_read_choice(&tree.sr, "sys/kernel/mm/transparent_hugepage/enabled",
					     word, sizeof(word), &e),
			 0);
	assert_string_equal(word, "madvise");
	assert_int_equal(sysroot_read_list(&tree.sr, "sys/devices/system/cpu/online", &l, &e), 0);
	assert_int_equal(l.n, 2);
	u32_list_done(&l);
	assert_int_equal(sysroot_read_list(&tree.sr, "sys/devices/system/cpu/isolated", &l, &e), 0);
	assert_int_equal(l.n, 0);
	assert_int_equal(e.code, 0);
}

static void test_bad_values(void **state)
{
	struct u32_list l = { 0 };
	uint64_t v = 7;
	char word[16] = "old";
	struct err e = { 0 };

	(void)state;
	assert_int_equal(sysroot_read_u64(&tree.sr, "proc/loadavg", &v, &e), -EINVAL);
	assert_non_null(strstr(e.msg, "proc/loadavg"));
	err_clear(&e);
	assert_int_equal(sysroot_read_key(&tree.sr, "proc/meminfo", "MemNone", &v, &e), -ENODATA);
	assert_non_null(strstr(e.msg, "MemNone"));
	assert_int_equal(v, 7);
	assert_int_equal(sysroot_read_choice(&tree.sr, "proc/loadavg", word, sizeof(word), NULL),
			 -EINVAL);
	assert_string_equal(word, "old");
	assert_int_equal(sysroot_read_list(&tree.sr, "proc/loadavg", &l, NULL), -EINVAL);
	assert_null(l.v);
	assert_int_equal(sysroot_read_u64(&tree.sr, "none", &v, NULL), -ENOENT);
	assert_int_equal(sysroot_read_key(&tree.sr, "none", "x", &v, NULL), -ENOENT);
	assert_int_equal(sysroot_read_choice(&tree.sr, "none", word, sizeof(word), NULL), -ENOENT);
	assert_int_equal(sysroot_read_list(&tree.sr, "none", &l, NULL), -ENOENT);
}

static void test_ids(void **state)
{
	static const char *const names[] = { "x/node10",         "x/node8",           "x/node",
					     "x/node8a",         "x/anode1",          "x/node-1",
					     "x/node0",          "x/node99999999999", "x/page-64kB",
					     "x/page-1048576kB", "x/page-8MB" };
	struct u32_list l = { 0 };
	char *text;

	(void)state;
	for (size_t i = 0; i < LENGTH(names); i++)
		tree_write(&tree, names[i], "");
	assert_int_equal(sysroot_list_ids(&tree.sr, "x", "node", &l, NULL), 0);
	text = format_u32_list(&l);
	assert_string_equal(text, "0,8,10");
	free(text);
	u32_list_done(&l);
	assert_int_equal(sysroot_list_ids(&tree.sr, "x", "page-", &l, NULL), 0);
	assert_int_equal(l.n, 2);
	assert_int_equal(l.v[0], 64);
	assert_int_equal(l.v[1], 1048576);
	u32_list_done(&l);
	l.n = 5;
	assert_int_equal(sysroot_list_ids(&tree.sr, "none", "node", &l, NULL), -ENOENT);
	assert_int_equal(l.n, 0);
	assert_null(l.v);
}

static void test_long_path(void **state)
{
	char path[8192], *text;

	(void)state;
	memset(path, 'a', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(sysroot_read(&tree.sr, path, &text, NULL, NULL), -ENAMETOOLONG);
	assert_false(sysroot_exists(&tree.sr, path));
	assert_false(sysroot_exists(&tree.sr, "none"));
	assert_true(sysroot_exists(&tree.sr, "proc"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_init),       cmocka_unit_test(test_read),
		cmocka_unit_test(test_read_live),  cmocka_unit_test(test_large),
		cmocka_unit_test(test_lines),      cmocka_unit_test(test_values),
		cmocka_unit_test(test_bad_values), cmocka_unit_test(test_ids),
		cmocka_unit_test(test_long_path),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
