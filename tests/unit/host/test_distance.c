/* SPDX-License-Identifier: MIT */
/* Distances between CPUs and the scheduler's constant, on invented machines. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "host/machine_distance.h"
#include "host/migration_knob.h"
#include "tree_test.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static void pairs_text(const struct cpu_pairs *p, char *buf, size_t bytes)
{
	struct str s = { 0 };

	for (size_t i = 0; i < p->n; i++)
		str_addf(&s, "%s%u>%u %s", i ? ", " : "", p->v[i].from, p->v[i].to, p->v[i].name);
	snprintf(buf, bytes, "%s", str_text(&s));
	str_done(&s);
}

/* One pair a class, both directions; or the refusal. */
static void classes_of_machines(void **state)
{
	static const struct {
		const char *tree, *pairs; /* NULL: refused */
	} rows[] = {
		{ "plain", "0>1 l3, 1>0 l3" },
		{ "two-sockets", "2>3 smt, 3>2 smt, 1>2 l3, 2>1 l3, 1>8 remote-21, 8>1 remote-21" },
		{ "hybrid", "2>3 smt, 3>2 smt, 4>5 l2:752>752, 5>4 l2:752>752, 1>2 l3, 2>1 l3, "
			    "1>4 l3:1024>752, 4>1 l3:752>1024" },
		/* one CPU is allowed, the others are not */
		{ "cpuless-node", NULL },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct cpu_pairs p = { 0 };
		struct err e = { 0 };
		struct tree_test t;
		char text[512];
		int rc;

		tree_machine(&t, rows[i].tree);
		rc = machine_pairs(&t.m, PAIRS_CLASSES, NULL, NULL, &p, &e);
		if (rows[i].pairs) {
			assert_int_equal(rc, 0);
			pairs_text(&p, text, sizeof(text));
			if (strcmp(text, rows[i].pairs) != 0)
				fail_msg("%s: %s", rows[i].tree, text);
		} else {
			assert_int_equal(rc, -ENODEV);
			assert_non_null(strstr(e.msg, "needs two CPUs"));
		}
		cpu_pairs_done(&p);
		tree_close(&t);
	}
}

static void pairs_keep_off_what_is_offline(void **state)
{
	struct cpu_pairs p = { 0 };
	struct err e = { 0 };
	struct tree_test t;

	(void)state;
	tree_machine(&t, "offline-cpus");
	assert_int_equal(machine_pairs(&t.m, PAIRS_ALL, NULL, NULL, &p, &e), 0);
	for (size_t i = 0; i < p.n; i++) {
		assert_true(machine_cpu(&t.m, p.v[i].from)->allowed);
		assert_true(machine_cpu(&t.m, p.v[i].to)->allowed);
	}
	assert_int_equal(p.n, 5 * 4);
	cpu_pairs_done(&p);
	/* isolated CPUs and CPU 0 stand for a class only where there is no other */
	assert_int_equal(machine_pairs(&t.m, PAIRS_CLASSES, NULL, NULL, &p, &e), 0);
	for (size_t i = 0; i < p.n; i++)
		assert_false(machine_cpu(&t.m, p.v[i].from)->isolated);
	cpu_pairs_done(&p);
	tree_close(&t);
}

static void ends_limit_pairs(void **state)
{
	const uint32_t eight = 8, none = 99;
	struct cpu_pairs p = { 0 };
	struct cpu_pair one;
	struct err e = { 0 };
	struct tree_test t;
	char text[512];

	(void)state;
	tree_machine(&t, "two-sockets");
	assert_int_equal(machine_pairs(&t.m, PAIRS_CLASSES, &eight, NULL, &p, &e), 0);
	pairs_text(&p, text, sizeof(text));
	assert_string_equal(text, "8>9 smt, 8>10 l3, 8>1 remote-21");
	cpu_pairs_done(&p);
	assert_int_equal(machine_pairs(&t.m, PAIRS_ALL, NULL, &eight, &p, &e), 0);
	assert_int_equal(p.n, 15);
	cpu_pairs_done(&p);
	assert_int_equal(machine_pairs(&t.m, PAIRS_ALL, &eight, &eight, &p, &e), -ENODEV);
	assert_int_equal(machine_pairs(&t.m, PAIRS_ALL, &none, NULL, &p, NULL), -ENODEV);
	err_clear(&e);
	assert_int_equal(machine_pair(&t.m, 3, 3, &one, &e), -EINVAL);
	assert_non_null(strstr(e.msg, "two different CPUs"));
	assert_int_equal(machine_pair(&t.m, 3, 99, &one, NULL), -EINVAL);
	assert_int_equal(machine_pair(&t.m, 0, 8, &one, NULL), 0);
	assert_string_equal(one.name, "remote-21");
	tree_close(&t);
}

static void large_machines(void **state)
{
	struct cpu_pairs p = { 0 };
	struct err e = { 0 };
	struct tree_test t;

	(void)state;
	tree_machine(&t, "cpus-1536");
	assert_int_equal(machine_pairs(&t.m, PAIRS_CLASSES, NULL, NULL, &p, &e), 0);
	assert_true(p.n >= 6 && p.n < 40);
	cpu_pairs_done(&p);
	assert_int_equal(machine_pairs(&t.m, PAIRS_ALL, NULL, NULL, &p, &e), -EINVAL);
	assert_non_null(strstr(e.msg, "from="));
	tree_close(&t);
}

/* --- the constant --- */

static void knob_is_found_where_it_is(void **state)
{
	static const struct {
		const char *path, *text;
		bool known;
		int64_t ns;
		const char *reason;
	} rows[] = {
		{ "sys/kernel/debug/sched/migration_cost_ns", "250000\n", true, 250000, "" },
		{ "sys/kernel/debug/sched/migration_cost_ns", "4294967295\n", true, -1, "" },
		{ "proc/sys/kernel/sched_migration_cost_ns", "5000000\n", true, 5000000, "" },
		{ "proc/sys/kernel/sched_migration_cost_ns", "-1\n", true, -1, "" },
		{ "proc/sys/kernel/sched_migration_cost", "0\n", true, 0, "" },
		{ "proc/sys/kernel/sched_migration_cost_ns", "-7\n", false, 0, "no number" },
		{ "sys/kernel/debug/sched/migration_cost_ns", "fast\n", false, 0, "no number" },
		{ "sys/kernel/debug/sched/migration_cost_ns", "4294967296\n", false, 0,
		  "no number" },
		{ "sys/kernel/debug/other", "1\n", false, 0, "not mounted" },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct migration_knob k;
		struct tree_test t;

		tree_open(&t, "plain");
		tree_write(&t, rows[i].path, rows[i].text);
		migration_knob_read(&t.sr, &k);
		assert_int_equal(k.known, rows[i].known);
		if (rows[i].known) {
			assert_int_equal(k.ns, rows[i].ns);
			assert_string_equal(k.path, rows[i].path);
		}
		if (!strstr(k.reason, rows[i].reason))
			fail_msg("row %zu: %s", i, k.reason);
		tree_close(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_of_machines),
		cmocka_unit_test(pairs_keep_off_what_is_offline),
		cmocka_unit_test(ends_limit_pairs),
		cmocka_unit_test(large_machines),
		cmocka_unit_test(knob_is_found_where_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
