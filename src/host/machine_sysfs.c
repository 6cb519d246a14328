/* SPDX-License-Identifier: MIT */
/*
 * Packages, cores and caches from sysfs, for where hwloc tells too little. Left out: clusters and
 * dies, which nothing here uses. Source: Documentation/admin-guide/cputopology.rst and
 * Documentation/ABI/testing/sysfs-devices-system-cpu (cache) of Linux 6.18. Masks are read, not
 * lists: both are always there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/kernel_text.h"
#include "host/machine_parts.h"

#define CPU_DIR "sys/devices/system/cpu"

enum { MAX_CACHE_INDEX = 8 };

static int read_mask(const struct sysroot *sr, const char *path, struct u32_list *ret_list)
{
	char *text;
	int rc = sysroot_read(sr, path, &text, NULL, NULL);

	if (rc < 0)
		return rc;
	rc = ktext_mask(text, ret_list);
	free(text);
	return rc;
}

static int read_core(const struct sysroot *sr, struct cpu *c)
{
	/* The second name is the one before Linux 5.3. */
	static const char *const masks[] = { "core_cpus", "thread_siblings" };
	char path[128];
	uint64_t v;

	snprintf(path, sizeof(path), CPU_DIR "/cpu%u/topology/physical_package_id", c->id);
	if (sysroot_read_u64(sr, path, &v, NULL) == 0 && v < UINT32_MAX)
		c->package = (uint32_t)v;
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		struct u32_list l = { 0 };
		bool found;
		int rc;

		snprintf(path, sizeof(path), CPU_DIR "/cpu%u/topology/%s", c->id, masks[i]);
		rc = read_mask(sr, path, &l);
		if (rc == -ENOMEM)
			return rc;
		found = rc == 0 && u32_list_contains(&l, c->id);
		if (found)
			c->core = l.v[0];
		u32_list_done(&l);
		if (found)
			break;
	}
	return 0;
}

/* "32K", as the kernel writes cache sizes. */
static uint64_t read_cache_size(const struct sysroot *sr, const char *path)
{
	char line[32];
	uint64_t v;

	if (sysroot_read_line(sr, path, line, sizeof(line), NULL) < 0 ||
	    parse_size(line, &v, NULL) < 0)
		return 0;
	return v;
}

static unsigned read_small(const struct sysroot *sr, const char *dir, const char *name)
{
	char path[160];
	uint64_t v;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (sysroot_read_u64(sr, path, &v, NULL) < 0 || v > 1u << 20)
		return 0;
	return (unsigned)v;
}

/* One index folder. Adds the cache only when @cpu is its first CPU that runs. */
static int read_cache(const struct sysroot *sr, struct machine *m, const char *dir, uint32_t cpu,
		      struct err *e)
{
	struct cache c = { 0 };
	char path[160], type[32];
	int rc;

	snprintf(path, sizeof(path), "%s/type", dir);
	if (sysroot_read_line(sr, path, type, sizeof(type), NULL) < 0 ||
	    !strcmp(type, "Instruction"))
		return 0;
	snprintf(path, sizeof(path), "%s/shared_cpu_map", dir);
	rc = read_mask(sr, path, &c.cpus);
	if (rc == -ENOMEM)
		return err_set(e, ENOMEM, "no memory for a cache");
	c.level = read_small(sr, dir, "level");
	if (rc < 0 || !c.cpus.n || c.cpus.v[0] != cpu || !c.level) {
		u32_list_done(&c.cpus);
		return 0;
	}
	snprintf(path, sizeof(path), "%s/size", dir);
	c.size_bytes = read_cache_size(sr, path);
	c.line_bytes = read_small(sr, dir, "coherency_line_size");
	c.ways = read_small(sr, dir, "ways_of_associativity");
	if (!c.size_bytes) {
		u32_list_done(&c.cpus);
		return 0;
	}
	return machine_add_cache(m, &c, e);
}

int machine_read_sysfs(const struct sysroot *sr, struct machine *m, struct err *e)
{
	char dir[128];

	for (size_t i = 0; i < m->n_cpus; i++) {
		struct cpu *c = &m->cpus[i];

		if (!c->online)
			continue;
		if (read_core(sr, c) < 0)
			return err_set(e, ENOMEM, "no memory for the topology");
		for (int k = 0; k < MAX_CACHE_INDEX; k++) {
			int rc;

			snprintf(dir, sizeof(dir), CPU_DIR "/cpu%u/cache/index%d", c->id, k);
			/* Numbers may have gaps where a recording left out code caches. */
			if (!sysroot_exists(sr, dir))
				continue;
			rc = read_cache(sr, m, dir, c->id, e);
			if (rc < 0)
				return rc;
		}
	}
	machine_sort_caches(m);
	return 0;
}
