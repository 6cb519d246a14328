/* SPDX-License-Identifier: MIT */
/*
 * What a benchmark may map: the smallest of all limits on memory, less a fifth; and how many
 * processes it may start. Left out: huge page pools (machine_pages.c) and the number of mappings
 * (vm.max_map_count: the call that exceeds it says so). Sources:
 * Documentation/filesystems/proc.rst (MemAvailable, CommitLimit),
 * Documentation/admin-guide/cgroup-v1/memory.rst and cgroup-v2.rst of Linux 6.18.
 *
 * Page cache that is charged to a control group can be dropped for us, so its inactive part counts
 * as free, as in MemAvailable.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "host/cgroup.h"
#include "host/kernel_text.h"
#include "host/machine_parts.h"

enum { BUDGET_PERCENT = 80 };

/* Version 1 writes "no limit" as the largest number of whole pages. */
static const uint64_t V1_UNLIMITED = 1ull << 62;

static int __attribute__((format(printf, 4, 5)))
add_limit(struct machine *m, uint64_t bytes, struct err *e, const char *fmt, ...)
{
	struct mem_limit *grown = reallocarray(m->limits, m->n_limits + 1, sizeof(*grown));
	va_list ap;

	if (!grown)
		return err_set(e, ENOMEM, "no memory for the list of limits");
	m->limits = grown;
	m->limits[m->n_limits].bytes = bytes;
	va_start(ap, fmt);
	vsnprintf(m->limits[m->n_limits].name, sizeof(m->limits->name), fmt, ap);
	va_end(ap);
	m->n_limits++;
	return 0;
}

static uint64_t less(uint64_t limit, uint64_t used)
{
	return limit > used ? limit - used : 0;
}

static bool meminfo(const struct sysroot *sr, const char *key, uint64_t *ret_value)
{
	return sysroot_read_key(sr, "proc/meminfo", key, ret_value, NULL) == 0;
}

static int add_free_memory(const struct sysroot *sr, struct machine *m, struct err *e)
{
	uint64_t v;
	struct sysinfo si;

	if (meminfo(sr, "MemAvailable", &v))
		return add_limit(m, v, e, "MemAvailable");
	if (meminfo(sr, "MemFree", &v))
		return add_limit(m, v, e, "MemFree");
	if (sr->is_live && sysinfo(&si) == 0)
		return add_limit(m, (uint64_t)si.freeram * si.mem_unit, e, "free memory");
	return 0;
}

/* With a cpuset, free memory elsewhere does not help. */
static int add_allowed_nodes(struct machine *m, struct err *e)
{
	uint64_t sum = 0;
	bool restricted = false, told = true;

	for (size_t i = 0; i < m->n_nodes; i++) {
		const struct node *n = &m->nodes[i];

		if (!n->has_memory)
			continue;
		told = told && n->total_bytes;
		if (n->mem_allowed)
			sum += n->free_bytes;
		else
			restricted = true;
	}
	if (!restricted || !told)
		return 0;
	return add_limit(m, sum, e, "free memory of the allowed nodes");
}

/* Strict accounting: mappings count before they are touched. */
static int add_commit(const struct sysroot *sr, struct machine *m, struct err *e)
{
	uint64_t mode, limit, used;

	if (sysroot_read_u64(sr, "proc/sys/vm/overcommit_memory", &mode, NULL) < 0 || mode != 2)
		return 0;
	if (!meminfo(sr, "CommitLimit", &limit) || !meminfo(sr, "Committed_AS", &used))
		return 0;
	return add_limit(m, less(limit, used), e, "CommitLimit (overcommit_memory 2)");
}

static bool read_rlimit(const struct sysroot *sr, int which, const char *row, uint64_t *ret_value)
{
	struct rlimit rl;
	char *text;
	bool ok;

	if (sr->is_live) {
		if (getrlimit((__rlimit_resource_t)which, &rl) < 0 || rl.rlim_cur == RLIM_INFINITY)
			return false;
		*ret_value = rl.rlim_cur;
		return true;
	}
	if (sysroot_read(sr, "proc/self/limits", &text, NULL, NULL) < 0)
		return false;
	ok = ktext_rlimit(text, row, ret_value) == 0 && *ret_value != UINT64_MAX;
	free(text);
	return ok;
}

static int add_rlimits(const struct sysroot *sr, struct machine *m, struct err *e)
{
	static const struct {
		int which;
		const char *name, *row, *used;
	} rows[] = {
		{ RLIMIT_AS, "RLIMIT_AS", "Max address space", "VmSize" },
		{ RLIMIT_DATA, "RLIMIT_DATA", "Max data size", "VmData" },
	};
	uint64_t limit, used;
	int rc = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && rc == 0; i++) {
		if (!read_rlimit(sr, rows[i].which, rows[i].row, &limit))
			continue;
		if (sysroot_read_key(sr, "proc/self/status", rows[i].used, &used, NULL) < 0)
			used = 0;
		rc = add_limit(m, less(limit, used), e, "%s", rows[i].name);
	}
	return rc;
}

static int add_group_limit(const struct sysroot *sr, struct machine *m, const struct cgroup *g,
			   const char *file, struct err *e)
{
	bool v2 = g->version == 2;
	uint64_t limit, used, reclaimable;

	if (cgroup_read_limit(sr, g, file, &limit) < 0 || limit >= (v2 ? UINT64_MAX : V1_UNLIMITED))
		return 0;
	if (cgroup_read_limit(sr, g, v2 ? "memory.current" : "memory.usage_in_bytes", &used) < 0)
		used = 0;
	if (cgroup_read_key(sr, g, "memory.stat", v2 ? "inactive_file" : "total_inactive_file",
			    &reclaimable) < 0)
		reclaimable = 0;
	return add_limit(m, less(limit, less(used, reclaimable)), e, "cgroup v%u %.48s %s",
			 g->version, cgroup_name(g), file);
}

/* A limit of any ancestor holds, in version 1 only as far up as accounting is hierarchical. */
static int add_groups(const struct sysroot *sr, struct machine *m, const char *controller,
		      struct err *e)
{
	struct cgroup g;
	uint64_t hierarchical;
	bool v2 = !*controller;
	int rc;

	if (cgroup_find(sr, controller, &g) < 0)
		return 0;
	do {
		rc = add_group_limit(sr, m, &g, v2 ? "memory.max" : "memory.limit_in_bytes", e);
		if (rc == 0 && v2)
			rc = add_group_limit(sr, m, &g, "memory.high", e);
		if (rc < 0 || !cgroup_to_parent(&g))
			return rc;
		if (!v2 && cgroup_read_limit(sr, &g, "memory.use_hierarchy", &hierarchical) == 0 &&
		    !hierarchical)
			return 0;
	} while (true);
}

/* --- processes --- */

static void __attribute__((format(printf, 4, 5)))
lower_processes(struct machine *m, uint64_t left, const char *raise, const char *fmt, ...)
{
	va_list ap;

	if (m->processes.name[0] && m->processes.left <= left)
		return;
	m->processes.left = left;
	snprintf(m->processes.raise, sizeof(m->processes.raise), "%s", raise);
	va_start(ap, fmt);
	vsnprintf(m->processes.name, sizeof(m->processes.name), fmt, ap);
	va_end(ap);
}

/* The pids controller of every ancestor; in version 2 the one hierarchy has it. */
static void read_group_processes(const struct sysroot *sr, struct machine *m,
				 const char *controller)
{
	struct cgroup g;
	uint64_t max, now;

	if (cgroup_find(sr, controller, &g) < 0)
		return;
	do {
		if (cgroup_read_limit(sr, &g, "pids.max", &max) < 0 || max == UINT64_MAX)
			continue;
		if (cgroup_read_limit(sr, &g, "pids.current", &now) < 0)
			now = 0;
		lower_processes(m, less(max, now), "as root, write more or max to that file",
				"cgroup v%u %.48s pids.max", g.version, cgroup_name(&g));
	} while (cgroup_to_parent(&g));
}

static void read_process_limits(const struct sysroot *sr, struct machine *m)
{
	uint64_t limit;

	/* root may exceed it (CAP_SYS_RESOURCE) */
	if (!(sr->is_live && geteuid() == 0) &&
	    read_rlimit(sr, RLIMIT_NPROC, "Max processes", &limit))
		lower_processes(m, limit, "ulimit -u", "RLIMIT_NPROC");
	read_group_processes(sr, m, "pids");
	read_group_processes(sr, m, "");
}

static int compare_limits(const void *a, const void *b)
{
	const struct mem_limit *x = a, *y = b;

	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

int machine_read_limits(const struct sysroot *sr, struct machine *m, struct err *e)
{
	int rc;

	rc = add_free_memory(sr, m, e);
	if (rc == 0)
		rc = add_allowed_nodes(m, e);
	if (rc == 0)
		rc = add_commit(sr, m, e);
	if (rc == 0)
		rc = add_rlimits(sr, m, e);
	if (rc == 0)
		rc = add_groups(sr, m, "memory", e);
	if (rc == 0)
		rc = add_groups(sr, m, "", e);
	read_process_limits(sr, m);
	if (rc < 0 || !m->n_limits)
		return rc;
	qsort(m->limits, m->n_limits, sizeof(*m->limits), compare_limits);
	m->budget_bytes = m->limits[0].bytes / 100 * BUDGET_PERCENT;
	return 0;
}
