/* SPDX-License-Identifier: MIT */
/*
 * The parts of machine_read(), for use inside host only. Each fills its fields of a machine and
 * returns 0 or a negative errno (memory ran out; the base page size cannot be told). Order: pages
 * need the geometry, nodes and topology the CPUs, limits the nodes.
 */
#ifndef PAGETOLL_HOST_MACHINE_PARTS_H
#define PAGETOLL_HOST_MACHINE_PARTS_H

#include "host/machine.h"

/* model, vendor, arch, kernel, hypervisor */
int machine_read_identity(const struct sysroot *sr, struct machine *m, struct err *e);
/* page_bytes, spans, levels, pages */
int machine_read_pages(const struct sysroot *sr, struct machine *m, struct err *e);
/* cpus with online, allowed, isolated, capacity */
int machine_read_cpus(const struct sysroot *sr, struct machine *m, struct err *e);
/* nodes, has_numa, and each CPU's node */
int machine_read_nodes(const struct sysroot *sr, struct machine *m, struct err *e);
/* Takes back `usable` from hugetlb sizes whose free pages all lie on nodes that we may not use. */
void machine_check_pools(const struct sysroot *sr, struct machine *m);
/* ... and from transparent huge pages of which not even one fits the budget: 512 MiB on a board. */
void machine_check_sizes(struct machine *m);
/* limits, budget */
int machine_read_limits(const struct sysroot *sr, struct machine *m, struct err *e);

/*
 * Packages, cores and caches by hwloc. -ENODATA when hwloc does not tell all online CPUs: then the
 * machine is as before.
 */
int machine_read_hwloc(const struct sysroot *sr, struct machine *m, struct err *e);
/* The same from sysfs. What is not told stays unknown. */
int machine_read_sysfs(const struct sysroot *sr, struct machine *m, struct err *e);

/* The machine's CPU @id, to be filled; NULL: none. */
struct cpu *machine_cpu_mut(struct machine *m, uint32_t id);
/* Appends a cache (takes over c->cpus also on failure); sorting is for the caller. */
int machine_add_cache(struct machine *m, struct cache *c, struct err *e);
/* Puts caches in the order of machine.h. */
void machine_sort_caches(struct machine *m);

#endif
