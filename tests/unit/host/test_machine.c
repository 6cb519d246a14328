/* SPDX-License-Identifier: MIT */
/*
 * machine*.c on invented machines: CPUs, nodes, caches, limits, and what is chosen (page sizes:
 * test_pages.c). On this machine only what holds on any is checked.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sched.h>

#include "host/machine_parts.h"
#include "tree_test.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

enum { NONE = UINT32_MAX };

struct expected {
	const char *tree;
	size_t n_cpus, n_allowed, n_nodes, n_memory_nodes;
	uint32_t cpu, local, remote; /* NONE: refused */
	uint64_t page_bytes, leaf_span;
	uint64_t limit_bytes;
	const char *limit;
	uint64_t llc_bytes, llc_total_bytes;
};

static const struct expected rows[] = {
	{ "plain", 2, 2, 1, 1, 1, 0, NONE, 4096, 2u << 20, 12884901888, "MemAvailable", 32u << 20,
	  32u << 20 },
	{ "two-sockets", 16, 16, 2, 2, 2, 0, 1, 4096, 2u << 20, 61440000000, "MemAvailable",
	  36608u << 10, 2 * (36608u << 10) },
	{ "sparse-nodes", 8, 6, 4, 3, 2, 5, 6, 4096, 2u << 20, 21504000000,
	  "free memory of the allowed nodes", 16u << 20, 64u << 20 },
	{ "memoryless-node", 8, 8, 3, 2, 1, 0, 2, 4096, 2u << 20, 30720000000, "MemAvailable",
	  8u << 20, 16u << 20 },
	{ "cpuless-node", 8, 1, 3, 3, 5, 1, 0, 4096, 2u << 20, 46080000000, "MemAvailable",
	  8u << 20, 16u << 20 },
	{ "offline-cpus", 8, 5, 1, 1, 3, 0, NONE, 4096, 2u << 20, 12884901888, "MemAvailable",
	  8u << 20, 8u << 20 },
	{ "cpus-1536", 1536, 1536, 8, 8, 2, 0, 4, 4096, 2u << 20, 6144000000000, "MemAvailable",
	  32u << 20, 96ull * (32u << 20) },
	{ "no-numa", 4, 4, 1, 1, 1, 0, NONE, 4096, 2u << 20, 3221225472, "MemAvailable", 0, 0 },
	{ "arm64-64k", 4, 4, 2, 2, 1, 0, 1, 65536, 512u << 20, 122880000000, "MemAvailable",
	  1u << 20, 4u << 20 },
	{ "thp-never", 2, 2, 1, 1, 1, 0, NONE, 4096, 2u << 20, 2147483648 - 360 * 1024,
	  "RLIMIT_DATA", 32u << 10, 64u << 10 },
	{ "cgroup-v2", 4, 4, 1, 1, 1, 0, NONE, 4096, 2u << 20, 3221225472,
	  "cgroup v2 /pods/pod1 memory.max", 16u << 20, 16u << 20 },
	{ "cgroup-v1", 4, 4, 1, 1, 1, 0, NONE, 4096, 2u << 20, 1073741824,
	  "cgroup v1 / memory.limit_in_bytes", 16u << 20, 16u << 20 },
	{ "hybrid", 8, 8, 1, 1, 2, 0, NONE, 4096, 2u << 20, 12884901888, "MemAvailable", 12u << 20,
	  12u << 20 },
	/* The other socket is remote, not the other half of one's own. */
	{ "sub-numa", 32, 32, 4, 4, 1, 0, 2, 4096, 2u << 20, 240ull << 30, "MemAvailable",
	  105u << 20, 2 * (105u << 20) },
	/* Two links away. */
	{ "four-sockets", 96, 96, 4, 4, 1, 1, 3, 4096, 2u << 20, 1000ull << 30, "MemAvailable",
	  60u << 20, 4 * (60u << 20) },
	{ "epyc-nps4", 128, 128, 8, 8, 1, 0, 4, 4096, 2u << 20, 480ull << 30, "MemAvailable",
	  32u << 20, 16 * (32u << 20) },
	/* A tier without CPUs is not "remote" while another socket is there. */
	{ "cxl-movable", 8, 8, 3, 3, 1, 0, 1, 4096, 2u << 20, 247ull << 30, "MemAvailable",
	  336u << 20, 2 * (336u << 20) },
	{ "cxl-one-socket", 4, 4, 2, 2, 1, 0, 1, 4096, 2u << 20, 315ull << 30, "MemAvailable",
	  32u << 20, 32u << 20 },
	{ "nodes-36", 16, 16, 36, 8, 1, 0, 1, 65536, 512u << 20, 820ull << 30, "MemAvailable",
	  114u << 20, 4 * (114u << 20) },
	{ "larger-than-memory", 2, 2, 1, 1, 1, 0, NONE, 65536, 512u << 20, 400u << 20,
	  "MemAvailable", 1152u << 20, 1152u << 20 },
	{ "odd-keys", 4, 4, 2, 2, 1, 0, 1, 4096, 2u << 20, 12884901888, "MemAvailable", 0, 0 },
	{ "missing-keys", 2, 2, 2, 1, 1, 0, NONE, 4096, 2u << 20, 4294967296, "MemFree", 0, 0 },
};

static void check_choices(const struct machine *m, const struct expected *x)
{
	uint32_t cpu = NONE, node = NONE;
	struct err e = { 0 };

	assert_int_equal(machine_choose_cpu(m, &cpu, &e), 0);
	assert_int_equal(cpu, x->cpu);
	assert_int_equal(machine_local_node(m, cpu, &node, &e), 0);
	assert_int_equal(node, x->local);
	node = NONE;
	if (x->remote == NONE) {
		assert_int_equal(machine_remote_node(m, cpu, &node, &e), -ENODEV);
		assert_string_equal(e.msg, "not measurable: one memory node");
	} else {
		assert_int_equal(machine_remote_node(m, cpu, &node, &e), 0);
	}
	assert_int_equal(node, x->remote);
	assert_true(machine_llc_bytes(m, cpu) == x->llc_bytes);
	assert_true(machine_llc_total_bytes(m) == x->llc_total_bytes);
}

static void check_order(const struct machine *m)
{
	for (size_t i = 1; i < m->n_cpus; i++)
		assert_true(m->cpus[i - 1].id < m->cpus[i].id);
	for (size_t i = 1; i < m->n_nodes; i++)
		assert_true(m->nodes[i - 1].id < m->nodes[i].id);
	for (size_t i = 1; i < m->n_pages; i++)
		assert_true(m->pages[i - 1].bytes <= m->pages[i].bytes);
	for (size_t i = 1; i < m->n_caches; i++)
		assert_true(m->caches[i - 1].level <= m->caches[i].level);
	for (size_t i = 1; i < m->n_limits; i++)
		assert_true(m->limits[i - 1].bytes <= m->limits[i].bytes);
	assert_int_equal(m->pages[0].kind, PAGE_KIND_BASE);
	assert_true(m->n_nodes >= 1);
	for (size_t i = 0; i < m->n_pages; i++) {
		assert_true(m->pages[i].usable == (m->pages[i].reason[0] == '\0'));
		assert_ptr_equal(machine_page(m, m->pages[i].name), &m->pages[i]);
	}
	for (size_t i = 0; i < m->n_cpus; i++)
		assert_ptr_equal(machine_cpu(m, m->cpus[i].id), &m->cpus[i]);
}

static void test_trees(void **state)
{
	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		const struct expected *x = &rows[i];
		size_t n_allowed = 0;
		struct tree_test t;

		print_message("%s\n", x->tree);
		tree_machine(&t, x->tree);
		for (size_t k = 0; k < t.m.n_cpus; k++)
			n_allowed += t.m.cpus[k].allowed;
		assert_int_equal(t.m.n_cpus, x->n_cpus);
		assert_int_equal(n_allowed, x->n_allowed);
		assert_int_equal(t.m.n_nodes, x->n_nodes);
		assert_int_equal(machine_count_memory_nodes(&t.m), x->n_memory_nodes);
		assert_int_equal(t.m.page_bytes, x->page_bytes);
		assert_true(t.m.leaf_table_span == x->leaf_span);
		assert_true(t.m.n_limits > 0);
		assert_string_equal(t.m.limits[0].name, x->limit);
		assert_true(t.m.limits[0].bytes == x->limit_bytes);
		assert_true(t.m.budget_bytes == x->limit_bytes / 100 * 80);
		check_order(&t.m);
		check_choices(&t.m, x);
		tree_close(&t);
	}
}

/* hwloc and our own reading have to tell the same. */
static void test_hwloc_and_sysfs_agree(void **state)
{
	static const char *const trees[] = { "plain",        "two-sockets", "sparse-nodes",
					     "offline-cpus", "hybrid",      "cpus-1536",
					     "sub-numa",     "epyc-nps4",   "four-sockets",
					     "nodes-36",     "cxl-movable" };

	(void)state;
	for (size_t i = 0; i < LENGTH(trees); i++) {
		struct machine other = { 0 };
		struct tree_test t;

		tree_machine(&t, trees[i]);
		other.cpus = calloc(t.m.n_cpus, sizeof(*other.cpus));
		assert_non_null(other.cpus);
		other.n_cpus = t.m.n_cpus;
		for (size_t k = 0; k < t.m.n_cpus; k++)
			other.cpus[k] = (struct cpu){ .id = t.m.cpus[k].id,
						      .core = t.m.cpus[k].id,
						      .online = t.m.cpus[k].online };
		assert_int_equal(machine_read_sysfs(&t.sr, &other, NULL), 0);
		for (size_t k = 0; k < t.m.n_cpus; k++) {
			assert_int_equal(other.cpus[k].core, t.m.cpus[k].core);
			assert_int_equal(other.cpus[k].package, t.m.cpus[k].package);
		}
		assert_int_equal(other.n_caches, t.m.n_caches);
		for (size_t k = 0; k < t.m.n_caches; k++) {
			const struct cache *a = &t.m.caches[k], *b = &other.caches[k];

			assert_int_equal(a->level, b->level);
			assert_true(a->size_bytes == b->size_bytes);
			assert_int_equal(a->line_bytes, b->line_bytes);
			assert_int_equal(a->cpus.n, b->cpus.n);
			assert_memory_equal(a->cpus.v, b->cpus.v, a->cpus.n * sizeof(*a->cpus.v));
			/* hwloc works it out from the number of sets, where that is told. */
			if (!strcmp(trees[i], "plain"))
				assert_int_equal(a->ways, b->ways);
		}
		machine_done(&other);
		tree_close(&t);
	}
}

/* An empty root is no machine, but one with a page size is: everything else stays unknown. */
static void test_nearly_empty(void **state)
{
	static const char smaps[] = "KernelPageSize:        4 kB\n";
	struct tree_test t;
	struct sysroot empty;
	struct machine m;
	char dir[600], text[128];
	uint32_t v;

	(void)state;
	tree_open(&t, "plain");
	tree_write(&t, "empty/proc/self/smaps", smaps);
	snprintf(dir, sizeof(dir), "%s/empty", t.dir);
	assert_int_equal(sysroot_init(&empty, dir, NULL), 0);
	assert_int_equal(machine_read(&empty, &m, NULL), 0);
	assert_int_equal(m.n_cpus, 1);
	assert_int_equal(m.n_nodes, 1);
	assert_false(m.has_numa);
	assert_string_equal(m.model, "");
	assert_string_equal(m.arch, "");
	assert_int_equal(m.n_caches, 0);
	assert_int_equal(m.n_limits, 0);
	assert_int_equal(m.budget_bytes, 0);
	machine_budget_text(&m, text, sizeof(text));
	assert_non_null(strstr(text, "/proc/meminfo"));
	assert_int_equal(machine_choose_cpu(&m, &v, NULL), 0);
	assert_int_equal(machine_choose_load_cpu(&m, 0, v, &v, NULL), -ENODEV);
	machine_done(&m);
	tree_close(&t);
}

static void test_cpus(void **state)
{
	struct tree_test t;
	uint32_t v = NONE;
	struct err e = { 0 };

	(void)state;
	tree_machine(&t, "offline-cpus");
	assert_false(machine_cpu(&t.m, 1)->online);
	assert_false(machine_cpu(&t.m, 1)->allowed);
	assert_true(machine_cpu(&t.m, 6)->isolated);
	assert_int_equal(machine_cpu(&t.m, 1)->node, -1);
	assert_int_equal(machine_cpu(&t.m, 5)->core, 4);
	assert_null(machine_cpu(&t.m, 8));
	/* Not the sibling if another core is free; never an offline one or itself. */
	assert_int_equal(machine_choose_load_cpu(&t.m, 0, 4, &v, &e), 0);
	assert_int_equal(v, 0);
	assert_int_equal(machine_choose_load_cpu(&t.m, 3, 4, &v, &e), -ENODEV);
	tree_close(&t);

	tree_machine(&t, "hybrid");
	assert_int_equal(machine_cpu(&t.m, 0)->capacity, 1024); /* 2 % slower: the same kind */
	assert_int_equal(machine_cpu(&t.m, 2)->capacity, 1024);
	assert_int_equal(machine_cpu(&t.m, 4)->capacity, 752);
	assert_int_equal(machine_cpu(&t.m, 3)->core, 2);
	assert_int_equal(machine_cache(&t.m, 0, 1)->size_bytes, 48 << 10);
	assert_int_equal(machine_cache(&t.m, 7, 1)->size_bytes, 32 << 10);
	assert_int_equal(machine_cache(&t.m, 7, 2)->cpus.n, 4);
	assert_null(machine_cache(&t.m, 7, 4));
	assert_null(machine_cache(&t.m, 8, 1));
	tree_close(&t);

	tree_machine(&t, "cpuless-node");
	assert_false(machine_node(&t.m, 2)->has_cpus);
	assert_true(machine_node(&t.m, 2)->has_memory);
	assert_int_equal(machine_choose_load_cpu(&t.m, 2, 5, &v, NULL), -ENODEV);
	assert_int_equal(machine_choose_load_cpu(&t.m, 0, 5, &v, NULL), -ENODEV); /* cpuset */
	assert_null(machine_node(&t.m, 3));
	tree_close(&t);

	tree_machine(&t, "memoryless-node");
	assert_false(machine_node(&t.m, 1)->has_memory);
	assert_true(machine_node(&t.m, 1)->has_cpus);
	assert_int_equal(machine_local_node(&t.m, 3, &v, NULL), 0);
	assert_int_equal(v, 2); /* the nearest with memory */
	assert_int_equal(machine_remote_node(&t.m, 3, &v, NULL), 0);
	assert_int_equal(v, 0);
	tree_close(&t);

	tree_machine(&t, "four-sockets");
	assert_int_equal(machine_cpu(&t.m, 50)->node, 2);
	assert_int_equal(machine_cpu(&t.m, 50)->core, 2);
	assert_int_equal(machine_cpu(&t.m, 50)->package, 2);
	tree_close(&t);

	tree_machine(&t, "nodes-36");
	assert_true(machine_node(&t.m, 28)->movable_only);
	assert_false(machine_node(&t.m, 3)->movable_only);
	assert_false(machine_node(&t.m, 29)->movable_only); /* it has none at all */
	assert_false(machine_node(&t.m, 29)->has_memory);
	assert_int_equal(machine_node(&t.m, 3)->distance[28], 80);
	assert_int_equal(machine_choose_load_cpu(&t.m, 28, 1, &v, NULL), -ENODEV);
	tree_close(&t);

	tree_machine(&t, "odd-keys");
	assert_int_equal(machine_node(&t.m, 0)->distance[1], 21);
	assert_int_equal(machine_node(&t.m, 1)->distance[1], 0); /* not told */
	assert_true(machine_node(&t.m, 0)->total_bytes == 8ull << 30);
	assert_string_equal(t.m.model, "Unlisted CPU 9000");
	tree_close(&t);

	tree_machine(&t, "sparse-nodes");
	assert_null(machine_node(&t.m, 0));
	assert_false(machine_node(&t.m, 4)->mem_allowed);
	assert_int_equal(machine_node(&t.m, 7)->distance[0], 22);
	tree_close(&t);
}

static void test_no_cpu_allowed(void **state)
{
	struct tree_test t;
	struct err e = { 0 };
	uint32_t v = NONE;

	(void)state;
	tree_open(&t, "plain");
	tree_write(&t, "proc/self/status", "Cpus_allowed_list:\t6-7\n");
	assert_int_equal(machine_read(&t.sr, &t.m, NULL), 0);
	t.has_machine = true;
	assert_int_equal(machine_choose_cpu(&t.m, &v, &e), -ENODEV);
	assert_int_equal(v, NONE);
	tree_close(&t);
}

static void test_identity(void **state)
{
	static const struct {
		const char *tree, *model, *vendor, *arch, *hypervisor;
	} known[] = {
		{ "plain", "AMD EPYC", "AuthenticAMD", "x86_64", "guest" },
		{ "two-sockets", "Intel(R) Xeon(R) Gold 6252 CPU @ 2.10GHz", "GenuineIntel",
		  "x86_64", "" },
		{ "arm64-64k", "Arm Neoverse N1", "Arm", "aarch64", "" },
	};
	struct tree_test t;

	(void)state;
	for (size_t i = 0; i < LENGTH(known); i++) {
		tree_machine(&t, known[i].tree);
		assert_string_equal(t.m.model, known[i].model);
		assert_string_equal(t.m.vendor, known[i].vendor);
		assert_string_equal(t.m.arch, known[i].arch);
		assert_string_equal(t.m.hypervisor, known[i].hypervisor);
		assert_string_equal(t.m.kernel, "6.12.0");
		tree_close(&t);
	}
}

/* Limits that come and go: the smallest decides, "no limit" in any spelling is none. */
static void test_limits(void **state)
{
	static const char group[] = "0::/g\n";
	static const char mount[] = "1 1 0:1 / /c rw - cgroup2 cgroup2 rw\n";
	static const struct {
		const char *file, *text;
		uint64_t limit; /* 0: MemAvailable stays the smallest */
	} cases[] = {
		{ "c/g/memory.max", "1073741824\n", 1073741824 },
		{ "c/g/memory.max", "max\n", 0 },
		{ "c/g/memory.max", "garbage\n", 0 },
		{ "c/g/memory.max", "-1\n", 0 },
		{ "c/g/memory.max", "0\n", 0 },
		{ "c/memory.high", "2147483648\n", 2147483648 },
	};
	struct tree_test t;

	(void)state;
	for (size_t i = 0; i < LENGTH(cases); i++) {
		tree_open(&t, "plain");
		tree_write(&t, "proc/self/cgroup", group);
		tree_write(&t, "proc/self/mountinfo", mount);
		tree_write(&t, cases[i].file, cases[i].text);
		assert_int_equal(machine_read(&t.sr, &t.m, NULL), 0);
		t.has_machine = true;
		if (!strcmp(cases[i].text, "0\n")) {
			assert_int_equal(t.m.limits[0].bytes, 0);
			assert_int_equal(t.m.budget_bytes, 0);
		} else if (cases[i].limit) {
			assert_int_equal(t.m.limits[0].bytes, cases[i].limit);
		} else {
			assert_string_equal(t.m.limits[0].name, "MemAvailable");
		}
		tree_close(&t);
	}
}

/* Version 1: the limit of a parent counts only if the hierarchy is accounted. */
static void test_v1_hierarchy(void **state)
{
	struct tree_test t;
	struct machine m;

	(void)state;
	tree_open(&t, "cgroup-v1");
	tree_write(&t, "sys/fs/cgroup/memory/memory.use_hierarchy", "0\n");
	assert_int_equal(machine_read(&t.sr, &m, NULL), 0);
	assert_string_equal(m.limits[0].name, "MemAvailable");
	machine_done(&m);
	tree_close(&t);
}

/* The smallest of the group's ancestors and of the user's own limit. */
static void test_processes(void **state)
{
	static const struct {
		const char *path, *text, *name;
		uint64_t left;
	} cases[] = {
		{ "sys/fs/cgroup/pods/pod1/app/pids.max", "max\n", "cgroup v2 /pods/pod1 pids.max",
		  12 },
		{ "sys/fs/cgroup/pods/pod1/app/pids.max", "7\n",
		  "cgroup v2 /pods/pod1/app pids.max", 7 },
		{ "sys/fs/cgroup/pods/pod1/pids.current", "600\n", "cgroup v2 /pods/pod1 pids.max",
		  0 },
		{ "proc/self/limits",
		  "Limit  Soft Limit  Hard Limit  Units\n"
		  "Max processes             5                    9                    processes\n",
		  "RLIMIT_NPROC", 5 },
		{ "sys/fs/cgroup/pods/pod1/pids.max", "nonsense\n", "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tree_test t;
		struct machine m;

		tree_open(&t, "cgroup-v2");
		tree_write(&t, cases[i].path, cases[i].text);
		assert_int_equal(machine_read(&t.sr, &m, NULL), 0);
		assert_string_equal(m.processes.name, cases[i].name);
		if (cases[i].name[0])
			assert_int_equal(m.processes.left, cases[i].left);
		machine_done(&m);
		tree_close(&t);
	}
}

static void test_budget_text(void **state)
{
	struct tree_test t;
	char text[128];

	(void)state;
	tree_machine(&t, "cgroup-v2");
	machine_budget_text(&t.m, text, sizeof(text));
	assert_string_equal(text, "2.4 GiB (80 % of cgroup v2 /pods/pod1 memory.max)");
	machine_budget_text(&t.m, text, 8);
	assert_int_equal(strlen(text), 7);
	tree_close(&t);
}

/* A user's hwloc variables must neither replace the machine nor be lost. */
static void test_hwloc_environment(void **state)
{
	struct tree_test t;

	(void)state;
	setenv("HWLOC_SYNTHETIC", "pack:4 core:4 pu:1", 1);
	setenv("HWLOC_FSROOT", "/nonexistent", 1);
	tree_machine(&t, "two-sockets");
	assert_string_equal(getenv("HWLOC_SYNTHETIC"), "pack:4 core:4 pu:1");
	assert_string_equal(getenv("HWLOC_FSROOT"), "/nonexistent");
	assert_null(getenv("HWLOC_HIDE_ERRORS"));
	assert_int_equal(machine_cpu(&t.m, 9)->core, 8);
	assert_int_equal(machine_cpu(&t.m, 9)->package, 1);
	unsetenv("HWLOC_SYNTHETIC");
	unsetenv("HWLOC_FSROOT");
	tree_close(&t);
}

static void test_live(void **state)
{
	struct sysroot sr;
	struct machine m;
	struct err e = { 0 };
	uint32_t cpu, node;
	cpu_set_t before, after;

	(void)state;
	assert_int_equal(sysroot_init(&sr, NULL, &e), 0);
	CPU_ZERO(&before);
	CPU_ZERO(&after);
	sched_getaffinity(0, sizeof(before), &before);
	if (machine_read(&sr, &m, &e) < 0)
		fail_msg("%s", e.msg);
	sched_getaffinity(0, sizeof(after), &after);
	assert_true(CPU_EQUAL(&before, &after));
	check_order(&m);
	assert_int_equal(machine_choose_cpu(&m, &cpu, &e), 0);
	assert_true(machine_cpu(&m, cpu)->allowed);
	assert_int_equal(machine_local_node(&m, cpu, &node, &e), 0);
	assert_true(machine_node(&m, node)->has_memory);
	assert_true(m.arch[0] && m.kernel[0]);
	machine_done(&m);
	machine_done(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trees),
		cmocka_unit_test(test_hwloc_and_sysfs_agree),
		cmocka_unit_test(test_nearly_empty),
		cmocka_unit_test(test_cpus),
		cmocka_unit_test(test_no_cpu_allowed),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_v1_hierarchy),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_budget_text),
		cmocka_unit_test(test_hwloc_environment),
		cmocka_unit_test(test_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
