/* SPDX-License-Identifier: MIT */
/* fingerprint.c: what of invented machines is told, and what must never be. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/doctor.h"
#include "tree_test.h"

static struct run *read_run(struct tree_test *t)
{
	struct run *r = run_new();
	struct err e = { 0 };

	assert_non_null(r);
	assert_int_equal(fingerprint_read(&t->sr, &t->m, r, &e), 0);
	return r;
}

static void is_null(const struct attrs *at, const char *name, const char *reason)
{
	const struct attr *a = attrs_find(at, name);

	assert_non_null(a);
	assert_int_equal(a->kind, ATTR_NULL);
	assert_non_null(strstr(a->text, reason));
}

static void test_plain(void **state)
{
	struct tree_test t;
	struct run *r;
	const struct attrs *f;

	(void)state;
	tree_machine(&t, "plain");
	r = read_run(&t);
	f = &r->fingerprint;
	assert_string_equal(attrs_text(f, "cpu", ""), "AMD EPYC");
	assert_string_equal(attrs_text(f, "vendor", ""), "AuthenticAMD");
	assert_string_equal(attrs_text(f, "arch", ""), "x86_64");
	assert_string_equal(attrs_text(f, "hypervisor", ""), "guest");
	assert_string_equal(attrs_text(f, "kernel", ""), "6.12.0");
	assert_string_equal(attrs_text(f, "microcode", ""), "0x1000065");
	assert_int_equal(attrs_int(f, "page_bytes", 0), 4096);
	assert_int_equal(attrs_int(f, "thp_bytes", 0), 2 << 20);
	assert_int_equal(attrs_int(f, "llc_bytes", 0), 32 << 20);
	assert_int_equal(attrs_int(f, "cache.l1d_bytes", 0), 32 << 10);
	assert_int_equal(attrs_int(f, "cache.l2_bytes", 0), 512 << 10);
	assert_int_equal(attrs_int(f, "cache.l3_bytes", 0), 32 << 20);
	assert_int_equal(attrs_int(f, "cache.line_bytes", 0), 64);
	assert_int_equal(attrs_int(f, "cpus", 0), 2);
	assert_int_equal(attrs_int(f, "nodes", 0), 1);
	assert_int_equal(attrs_int(f, "memory_bytes", 0), 16ll << 30);
	assert_string_equal(attrs_text(f, "thp", ""), "madvise");
	assert_string_equal(attrs_text(f, "clocksource", ""), "tsc");
	is_null(f, "paging_levels", "not probed");
	is_null(f, "paging_levels.cpu", "la57");
	assert_string_equal(attrs_text(f, "paging_levels.boot", ""), "none");
	is_null(f, "advertised.source", "not recorded");
	is_null(f, "governor", "scaling_governor");
	assert_null(attrs_find(f, "advertised.dtlb1.4k")); /* never the live machine's */
	assert_string_equal(r->boot_id, "11111111-2222-3333-4444-555555555555");
	assert_int_equal(attrs_int(&r->context, "swap_used_bytes", -1), 0);
	assert_string_equal(attrs_text(&r->context, "load_average", ""), "0.00");
	run_free(r);
	tree_close(&t);
}

/* Root devices, addresses and what is meant for init stay out. */
static void test_command_line(void **state)
{
	struct tree_test t;
	struct run *r;

	(void)state;
	tree_machine(&t, "plain");
	r = read_run(&t);
	assert_string_equal(attrs_text(&r->context, "kernel_cmdline", "?"), "mitigations=off");
	run_free(r);
	tree_write(&t, "proc/cmdline",
		   "nopti root=/dev/sda1 hostname=secret isolcpus=2-3 memfd=1 hugepages\n");
	r = read_run(&t);
	assert_string_equal(attrs_text(&r->context, "kernel_cmdline", "?"),
			    "nopti isolcpus=2-3 hugepages");
	run_free(r);
	tree_close(&t);
}

/* The same machine after another boot: some pages more or less are no other machine. */
static void test_memory_in_steps(void **state)
{
	struct tree_test t;
	struct run *a, *b;

	(void)state;
	tree_machine(&t, "plain");
	tree_write(&t, "proc/meminfo", "MemTotal: 24683656 kB\n");
	a = read_run(&t);
	tree_write(&t, "proc/meminfo", "MemTotal: 24683000 kB\n");
	b = read_run(&t);
	assert_int_equal(attrs_int(&a->fingerprint, "memory_bytes", 0),
			 attrs_int(&b->fingerprint, "memory_bytes", 1));
	assert_true(attrs_equal(&a->fingerprint, &b->fingerprint));
	run_free(a);
	run_free(b);
	tree_close(&t);
}

static void test_others(void **state)
{
	struct tree_test t;
	struct run *r;

	(void)state;
	tree_machine(&t, "no-numa");
	r = read_run(&t);
	is_null(&r->fingerprint, "thp_bytes", "no transparent huge pages");
	is_null(&r->fingerprint, "llc_bytes", "does not tell");
	is_null(&r->fingerprint, "thp", "no /sys/kernel/mm/transparent_hugepage/enabled");
	assert_null(attrs_find(&r->fingerprint, "cache.l1d_bytes"));
	run_free(r);
	tree_close(&t);

	tree_machine(&t, "thp-never");
	r = read_run(&t);
	/* The size is a fact of the machine, the mode is another one. */
	assert_int_equal(attrs_int(&r->fingerprint, "thp_bytes", 0), 2 << 20);
	assert_string_equal(attrs_text(&r->fingerprint, "thp", ""), "never");
	run_free(r);
	tree_close(&t);

	tree_machine(&t, "hybrid");
	r = read_run(&t);
	assert_int_equal(attrs_int(&r->fingerprint, "boost", -1), 1);
	assert_int_equal(attrs_int(&r->fingerprint, "cache.l1d_bytes", 0), 48 << 10);
	run_free(r);
	tree_close(&t);

	tree_machine(&t, "two-sockets");
	r = read_run(&t);
	assert_int_equal(attrs_int(&r->context, "pool.hugetlb-2m", 0), 1024);
	assert_int_equal(attrs_int(&r->context, "swap_used_bytes", 0), 4ll << 30);
	run_free(r);
	tree_close(&t);
}

static void test_live(void **state)
{
	struct tree_test t = { 0 };
	struct run *r;
	char host[256] = "";

	(void)state;
	assert_int_equal(sysroot_init(&t.sr, NULL, NULL), 0);
	assert_int_equal(machine_read(&t.sr, &t.m, NULL), 0);
	t.has_machine = true;
	r = read_run(&t);
	assert_non_null(attrs_find(&r->fingerprint, "advertised.source"));
	assert_true(attrs_int(&r->fingerprint, "cpus", 0) > 0);
	/* No value is the host's name. */
	if (sysroot_read_line(&t.sr, "proc/sys/kernel/hostname", host, sizeof(host), NULL) == 0 &&
	    host[0])
		for (size_t i = 0; i < r->fingerprint.n; i++)
			if (r->fingerprint.v[i].kind == ATTR_TEXT)
				assert_string_not_equal(r->fingerprint.v[i].text, host);
	run_free(r);
	tree_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_command_line),
		cmocka_unit_test(test_memory_in_steps),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
