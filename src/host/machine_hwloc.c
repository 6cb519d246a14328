/* SPDX-License-Identifier: MIT */
/*
 * Packages, cores and caches by hwloc; the only file that knows hwloc. Left out: nodes and sets of
 * allowed CPUs (read by ourselves, since hwloc leaves out nodes and CPUs that it does not like),
 * binding. Only what hwloc 2.4 to 3.0 have in common is used.
 *
 * hwloc takes another root by no function, only by HWLOC_FSROOT in the environment; and other
 * variables of a user (HWLOC_XMLFILE, HWLOC_SYNTHETIC) would replace the machine. So they are put
 * aside while it loads. Its x86 component is left out: it visits every CPU to ask CPUID, also
 * isolated ones. Loading is for the start of a program, when there is one thread.
 */
#include <errno.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

#include "host/machine_parts.h"

enum { N_VARIABLES = 7, FSROOT = 0, HIDE = 1, HWDATA = 2 };

static const char *const variables[N_VARIABLES] = {
	[FSROOT] = "HWLOC_FSROOT",
	[HIDE] = "HWLOC_HIDE_ERRORS",
	[HWDATA] = "HWLOC_DUMPED_HWDATA_DIR",
	"HWLOC_XMLFILE",
	"HWLOC_SYNTHETIC",
	"HWLOC_COMPONENTS",
	"HWLOC_THISSYSTEM",
};

/* Remembers the variables (owned copies; NULL: not set) and sets them for @sr. */
static int put_aside(const struct sysroot *sr, char *saved[N_VARIABLES])
{
	for (size_t i = 0; i < N_VARIABLES; i++) {
		const char *v = getenv(variables[i]);

		saved[i] = v ? strdup(v) : NULL;
		if (v && !saved[i])
			return -ENOMEM;
	}
	for (size_t i = 0; i < N_VARIABLES; i++)
		unsetenv(variables[i]);
	/* Its complaints about odd trees would go to stderr. */
	if (setenv(variables[HIDE], "2", 1) < 0)
		return -ENOMEM;
	if (!sr->is_live && (setenv(variables[FSROOT], sr->dir, 1) < 0 ||
			     setenv(variables[HWDATA], "/nonexistent", 1) < 0))
		return -ENOMEM;
	return 0;
}

static void put_back(char *saved[N_VARIABLES])
{
	for (size_t i = 0; i < N_VARIABLES; i++) {
		if (saved[i])
			setenv(variables[i], saved[i], 1);
		else
			unsetenv(variables[i]);
		free(saved[i]);
	}
}

static int load(const struct sysroot *sr, hwloc_topology_t *ret_topology)
{
	char *saved[N_VARIABLES] = { NULL };
	hwloc_topology_t t;
	int rc;

	rc = put_aside(sr, saved);
	if (rc == 0 && hwloc_topology_init(&t) < 0)
		rc = -ENODATA;
	if (rc == 0) {
		hwloc_topology_set_components(t, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
		hwloc_topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_NONE);
		if (hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) < 0 ||
		    hwloc_topology_load(t) < 0 ||
		    hwloc_topology_is_thissystem(t) != (int)sr->is_live) {
			hwloc_topology_destroy(t);
			rc = -ENODATA;
		}
	}
	put_back(saved);
	if (rc == 0)
		*ret_topology = t;
	return rc;
}

static bool tells_online_cpus(hwloc_topology_t t, const struct machine *m)
{
	hwloc_const_bitmap_t set = hwloc_topology_get_topology_cpuset(t);

	for (size_t i = 0; i < m->n_cpus; i++)
		if (m->cpus[i].online && !hwloc_bitmap_isset(set, m->cpus[i].id))
			return false;
	return true;
}

static void take_cores(hwloc_topology_t t, struct machine *m)
{
	for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_PU, o));) {
		struct cpu *c = machine_cpu_mut(m, o->os_index);
		hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_CORE, o);
		hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_PACKAGE, o);
		int first;

		if (!c)
			continue;
		if (core) {
			first = hwloc_bitmap_first(core->cpuset);
			c->core = first >= 0 ? (uint32_t)first : c->id;
		}
		if (package && package->os_index != HWLOC_UNKNOWN_INDEX)
			c->package = package->os_index;
	}
}

static int take_cpus(hwloc_const_bitmap_t set, struct u32_list *ret_list, struct err *e)
{
	int n = hwloc_bitmap_weight(set);
	struct u32_list l = { 0 };

	if (n <= 0)
		return 0;
	l.v = calloc((size_t)n, sizeof(*l.v));
	if (!l.v)
		return err_set(e, ENOMEM, "no memory for a list of %d CPUs", n);
	for (int id = hwloc_bitmap_first(set); id >= 0; id = hwloc_bitmap_next(set, id))
		l.v[l.n++] = (uint32_t)id;
	*ret_list = l;
	return 0;
}

static int take_caches(hwloc_topology_t t, struct machine *m, struct err *e)
{
	static const hwloc_obj_type_t types[] = { HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE,
						  HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE,
						  HWLOC_OBJ_L5CACHE };
	int rc = 0;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		hwloc_obj_t o = NULL;

		while (rc == 0 && (o = hwloc_get_next_obj_by_type(t, types[i], o))) {
			const struct hwloc_cache_attr_s *a = &o->attr->cache;
			struct cache c = { .level = a->depth,
					   .size_bytes = a->size,
					   .line_bytes = a->linesize,
					   .ways = a->associativity > 0 ? (unsigned)a->associativity
									: 0 };

			if (!a->size)
				continue;
			rc = take_cpus(o->cpuset, &c.cpus, e);
			if (rc == 0 && c.cpus.n)
				rc = machine_add_cache(m, &c, e);
		}
	}
	return rc;
}

int machine_read_hwloc(const struct sysroot *sr, struct machine *m, struct err *e)
{
	hwloc_topology_t t;
	int rc = load(sr, &t);

	if (rc == -ENOMEM)
		return err_set(e, ENOMEM, "no memory for the topology");
	if (rc < 0)
		return rc;
	if (tells_online_cpus(t, m)) {
		take_cores(t, m);
		rc = take_caches(t, m, e);
		machine_sort_caches(m);
	} else {
		rc = -ENODATA;
	}
	hwloc_topology_destroy(t);
	return rc;
}
