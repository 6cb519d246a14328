/* SPDX-License-Identifier: MIT */
/* doctor*.c: which findings invented machines and answers of the kernel give, and in what order. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/doctor_exam.h"
#include "tree_test.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const struct finding *find(const struct run *r, const char *id)
{
	for (size_t i = 0; i < r->n_findings; i++)
		if (!strcmp(r->findings[i].id, id))
			return &r->findings[i];
	return NULL;
}

/* The same, and the test fails where there is none. */
static struct finding must(const struct run *r, const char *id)
{
	const struct finding *f = find(r, id);

	if (!f)
		fail_msg("no finding %s", id);
	return f ? *f : (struct finding){ 0 };
}

static struct run *examine(struct tree_test *t)
{
	struct run *r = run_new();
	struct err e = { 0 };

	assert_non_null(r);
	assert_int_equal(doctor_examine(&t->sr, &t->m, r, &e), 0);
	for (size_t i = 0; i < r->n_findings; i++) {
		const struct finding *f = &r->findings[i];

		assert_true(f->id[0] && f->what[0] && f->effect[0] && f->remedy[0]);
		if (i)
			assert_true(f[-1].severity >= f->severity);
		/* One finding an area: ids are unique but for limits. */
		for (size_t k = 0; k < i; k++)
			if (strcmp(f->id, "rlimit"))
				assert_string_not_equal(r->findings[k].id, f->id);
	}
	return r;
}

/* All findings of a machine, "id id ..." in their order. */
static void test_trees(void **state)
{
	static const struct {
		const char *tree, *ids;
	} rows[] = {
		{ "plain", "hypervisor migration-cost one-memory-node no-hugetlb-pool" },
		{ "two-sockets", "load steal governor clocksource numa-balancing swap-used ksm "
				 "hugetlb-nodes smt-sibling thp-always" },
		{ "sparse-nodes", "no-hugetlb-pool" },
		{ "memoryless-node", "" },
		{ "cpuless-node", "one-cpu" },
		{ "offline-cpus", "isolated-cpus one-memory-node" },
		{ "cpus-1536", "smt-sibling" },
		{ "no-numa", "hypervisor thp-never one-memory-node" },
		{ "arm64-64k", "thp-never" },
		{ "thp-never", "thp-never rlimit overcommit-strict max-map-count one-memory-node" },
		{ "cgroup-v2", "cpu-quota one-memory-node no-hugetlb-pool" },
		{ "cgroup-v1", "memory-small one-memory-node" },
		{ "hybrid", "smt-sibling hybrid governor one-memory-node" },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		char ids[512] = "";
		struct tree_test t;
		struct run *r;

		tree_machine(&t, rows[i].tree);
		r = examine(&t);
		for (size_t k = 0; k < r->n_findings; k++) {
			strncat(ids, k ? " " : "", sizeof(ids) - strlen(ids) - 1);
			strncat(ids, r->findings[k].id, sizeof(ids) - strlen(ids) - 1);
		}
		print_message("%s\n", rows[i].tree);
		assert_string_equal(ids, rows[i].ids);
		run_free(r);
		tree_close(&t);
	}
}

static void test_texts(void **state)
{
	struct tree_test t;
	struct run *r;

	(void)state;
	tree_machine(&t, "two-sockets");
	r = examine(&t);
	assert_string_equal(must(r, "numa-balancing").remedy, "sysctl -w kernel.numa_balancing=0");
	assert_string_equal(must(r, "governor").remedy,
			    "echo performance > "
			    "/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor");
	assert_string_equal(
		must(r, "clocksource").remedy,
		"echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource");
	assert_non_null(strstr(must(r, "clocksource").what, "hpet"));
	assert_non_null(strstr(must(r, "steal").what, "10.0 %"));
	assert_string_equal(must(r, "hugetlb-nodes").remedy,
			    "echo 512 > /sys/devices/system/node/node1/hugepages/"
			    "hugepages-2048kB/nr_hugepages");
	assert_non_null(strstr(must(r, "load").what, "12.50"));
	assert_non_null(strstr(must(r, "swap-used").what, "4096 MiB"));
	assert_non_null(strstr(must(r, "smt-sibling").remedy, "cpu3/online"));
	run_free(r);
	tree_close(&t);

	tree_machine(&t, "cgroup-v2");
	r = examine(&t);
	assert_non_null(strstr(must(r, "cpu-quota").what, "150 %"));
	assert_non_null(strstr(must(r, "cpu-quota").what, "/pods/pod1"));
	run_free(r);
	tree_close(&t);

	tree_machine(&t, "thp-never");
	r = examine(&t);
	assert_string_equal(must(r, "thp-never").remedy,
			    "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
	assert_string_equal(must(r, "rlimit").remedy, "ulimit -d unlimited");
	run_free(r);
	tree_close(&t);

	/* intel_pstate's powersave is no fixed low clock. */
	tree_machine(&t, "hybrid");
	r = examine(&t);
	assert_int_equal(must(r, "governor").severity, SEVERITY_NOTE);
	run_free(r);
	tree_close(&t);
}

/* What is fine on a quiet machine is not reported; small changes bring it up. */
static void test_thresholds(void **state)
{
	static const struct {
		const char *path, *text, *id;
		bool expected;
	} cases[] = {
		{ "proc/loadavg", "0.99 0 0 1/1 1\n", "load", false },
		{ "proc/loadavg", "1.01 0 0 1/1 1\n", "load", true },
		{ "proc/loadavg", "nonsense\n", "load", false },
		{ "proc/stat", "cpu 1 1 1 9990 1 1 1 5\n", "steal", false },
		{ "proc/stat", "cpu 1 1 1 9990 1 1 1 50\n", "steal", true },
		{ "proc/stat", "cpu 1 1\n", "steal", false },
		{ "proc/stat", "cpu 0 0 0 0 0 0 0 0\n", "steal", false },
		{ "sys/kernel/mm/ksm/run", "0\n", "ksm", false },
		{ "sys/kernel/mm/ksm/run", "2\n", "ksm", false }, /* unmerged and stopped */
		{ "sys/kernel/mm/ksm/run", "1\n", "ksm", true },
		{ "proc/sys/kernel/numa_balancing", "1\n", "numa-balancing", false }, /* 1 node */
		{ "sys/devices/system/clocksource/clocksource0/current_clocksource", "kvm-clock\n",
		  "clocksource", true },
		{ "sys/devices/system/clocksource/clocksource0/current_clocksource", "acpi_pm\n",
		  "clocksource", true },
		{ "sys/kernel/mm/transparent_hugepage/use_zero_page", "0\n", "no-huge-zero-page",
		  true },
		{ "sys/kernel/mm/transparent_hugepage/hugepages-64kB/enabled",
		  "always inherit madvise [never]\n", "mthp-off", true },
		{ "proc/sys/vm/max_map_count", "65529\n", "max-map-count", true },
		{ "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n",
		  "governor", false },
		{ "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "schedutil\n", "governor",
		  true },
		/* Only the CPU that measures matters. */
		{ "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "schedutil\n", "governor",
		  false },
		{ "proc/self/status", "Cpus_allowed_list:\t5\n", "no-cpu", true },
		{ "proc/self/status", "Cpus_allowed_list:\t0\n", "one-cpu", true },
		{ "proc/meminfo", "MemAvailable: 1000 kB\n", "memory-small", true },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		struct tree_test t;
		struct run *r;

		tree_open(&t, "plain");
		tree_write(&t, cases[i].path, cases[i].text);
		assert_int_equal(machine_read(&t.sr, &t.m, NULL), 0);
		t.has_machine = true;
		r = examine(&t);
		print_message("%s in %s", cases[i].id, cases[i].text);
		assert_true((find(r, cases[i].id) != NULL) == cases[i].expected);
		run_free(r);
		tree_close(&t);
	}
}

static void report(struct tree_test *t, struct run *r, const struct probe_results *p)
{
	struct exam x = { .sr = &t->sr, .m = &t->m, .r = r };

	doctor_report_probes(&x, p);
	assert_false(x.no_memory);
}

static void test_probe_answers(void **state)
{
	static const struct {
		const char *tree;
		struct probe_results p;
		const char *id; /* NULL: nothing is reported */
		enum severity severity;
		const char *what, *remedy;
	} rows[] = {
		{ "plain", { 0 }, NULL, SEVERITY_NOTE, "", "" },
		{ "plain",
		  { .mbind = EPERM },
		  "mempolicy-denied",
		  SEVERITY_NOTE,
		  "mbind",
		  "--cap-add SYS_NICE" },
		{ "two-sockets",
		  { .mbind = EPERM, .move_pages = EPERM },
		  "mempolicy-denied",
		  SEVERITY_BLOCKER,
		  "mbind, move_pages",
		  "--cap-add SYS_NICE" },
		{ "two-sockets",
		  { .set_mempolicy = ENOSYS },
		  "mempolicy-denied",
		  SEVERITY_BLOCKER,
		  "set_mempolicy",
		  "CONFIG_NUMA" },
		{ "two-sockets",
		  { .get_mempolicy = EPERM },
		  "mempolicy-denied",
		  SEVERITY_BLOCKER,
		  "get_mempolicy",
		  "--cap-add SYS_NICE" },
		{ "two-sockets",
		  { .perf_cycles = ENOENT },
		  "no-pmu",
		  SEVERITY_NOTE,
		  "No such",
		  "no driver" },
		{ "plain", { .perf_cycles = ENOENT }, "no-pmu", SEVERITY_NOTE, "", "virtual PMU" },
		{ "plain",
		  { .perf_cycles = EOPNOTSUPP },
		  "no-pmu",
		  SEVERITY_NOTE,
		  "",
		  "virtual PMU" },
		{ "plain",
		  { .perf_cycles = EACCES },
		  "no-pmu",
		  SEVERITY_NOTE,
		  "",
		  "sysctl -w kernel.perf_event_paranoid=2 (now 4)" },
		{ "plain", { .perf_cycles = EPERM }, "no-pmu", SEVERITY_NOTE, "", "=2 (now 4)" },
		/* The switch is open: something else denies it. */
		{ "thp-never",
		  { .perf_cycles = EPERM },
		  "no-pmu",
		  SEVERITY_NOTE,
		  "",
		  "--cap-add PERFMON" },
		{ "plain",
		  { .perf_cycles = ENOSYS },
		  "no-pmu",
		  SEVERITY_NOTE,
		  "",
		  "CONFIG_PERF_EVENTS" },
		{ "plain", { .perf_cycles = EMFILE }, "no-pmu", SEVERITY_NOTE, "", "ulimit -n" },
		{ "plain", { .perf_cycles = EBUSY }, "no-pmu", SEVERITY_NOTE, "", "nmi_watchdog" },
		{ "plain",
		  { .pagemap = EACCES },
		  "pagemap-unreadable",
		  SEVERITY_NOTE,
		  "pagemap",
		  "root" },
		{ "plain",
		  { .pagemap_hides = true },
		  "pagemap-hidden",
		  SEVERITY_NOTE,
		  "",
		  "setcap cap_sys_admin+ep '/opt/pagetoll'" },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct tree_test t;
		struct run *r = run_new();
		char link[600];

		tree_machine(&t, rows[i].tree);
		tree_write(&t, "proc/sys/kernel/perf_event_paranoid",
			   strcmp(rows[i].tree, "plain") ? "2\n" : "4\n");
		snprintf(link, sizeof(link), "%s/proc/self/exe", t.dir);
		assert_int_equal(symlink("/opt/pagetoll", link), 0);
		report(&t, r, &rows[i].p);
		assert_int_equal(r->n_findings, rows[i].id != NULL);
		if (rows[i].id) {
			assert_string_equal(r->findings[0].id, rows[i].id);
			assert_int_equal(r->findings[0].severity, rows[i].severity);
			assert_non_null(strstr(r->findings[0].what, rows[i].what));
			assert_non_null(strstr(r->findings[0].remedy, rows[i].remedy));
		}
		run_free(r);
		tree_close(&t);
	}
}

/* The probes change nothing and leave nothing open; asking twice gives the same answer. */
static void test_live_probes(void **state)
{
	struct probe_results a, b;

	(void)state;
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	probes_run(&a);
	probes_run(&b);
	assert_memory_equal(&a, &b, sizeof(a));
}

static void test_live(void **state)
{
	struct tree_test t = { 0 };
	struct run *r;

	(void)state;
	assert_int_equal(sysroot_init(&t.sr, NULL, NULL), 0);
	assert_int_equal(machine_read(&t.sr, &t.m, NULL), 0);
	t.has_machine = true;
	r = examine(&t);
	run_free(r);
	tree_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trees),       cmocka_unit_test(test_texts),
		cmocka_unit_test(test_thresholds),  cmocka_unit_test(test_probe_answers),
		cmocka_unit_test(test_live_probes), cmocka_unit_test(test_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
