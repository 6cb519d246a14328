/* SPDX-License-Identifier: MIT */
/*
 * Memory nodes. Left out: what the nodes' memory costs (measured), memory tiers. Nodes with CPUs
 * and nodes with memory are two different lists, neither is derived from the other; numbers may
 * have gaps. Sources: Documentation/ABI/stable/sysfs-devices-node of Linux 6.18; distances are
 * ACPI's SLIT (10: itself).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/kernel_text.h"
#include "host/machine_parts.h"

#define NODE_DIR "sys/devices/system/node"

static bool node_key(const struct sysroot *sr, uint32_t id, const char *key, uint64_t *ret_value)
{
	char path[96];

	snprintf(path, sizeof(path), NODE_DIR "/node%u/meminfo", id);
	return sysroot_read_key(sr, path, key, ret_value, NULL) == 0;
}

/* One row of distances; they are in the order of the nodes online. */
static int read_distances(const struct sysroot *sr, struct machine *m, struct node *n,
			  struct err *e)
{
	char path[96], *text;
	const char *p;

	n->distance = calloc(m->n_nodes, sizeof(*n->distance));
	if (!n->distance)
		return err_set(e, ENOMEM, "no memory for node distances");
	snprintf(path, sizeof(path), NODE_DIR "/node%u/distance", n->id);
	if (sysroot_read(sr, path, &text, NULL, NULL) < 0)
		return 0;
	p = text;
	for (size_t i = 0; i < m->n_nodes; i++) {
		char *end;
		unsigned long v = strtoul(p, &end, 10);

		if (end == p || v > 1000)
			break;
		n->distance[i] = (uint32_t)v;
		p = end;
	}
	free(text);
	return 0;
}

static int read_node(const struct sysroot *sr, struct machine *m, struct node *n, struct err *e)
{
	char path[96];

	snprintf(path, sizeof(path), NODE_DIR "/node%u/cpulist", n->id);
	if (sysroot_read_list(sr, path, &n->cpus, NULL) < 0)
		n->cpus = (struct u32_list){ 0 };
	for (size_t i = 0; i < n->cpus.n; i++) {
		struct cpu *c = machine_cpu_mut(m, n->cpus.v[i]);

		if (c)
			c->node = (int32_t)n->id;
	}
	if (!node_key(sr, n->id, "MemTotal", &n->total_bytes))
		n->total_bytes = 0;
	if (!node_key(sr, n->id, "MemFree", &n->free_bytes))
		n->free_bytes = 0;
	return read_distances(sr, m, n, e);
}

/* Drops CPUs that do not run from the node's list; older kernels leave them in. */
static void keep_online(struct machine *m, struct u32_list *cpus)
{
	size_t n = 0;

	for (size_t i = 0; i < cpus->n; i++) {
		const struct cpu *c = machine_cpu(m, cpus->v[i]);

		if (c && c->online)
			cpus->v[n++] = cpus->v[i];
	}
	cpus->n = n;
}

/* "Mems_allowed_list:\t0-1"; false where it is not told. */
static bool read_mems_allowed(const struct sysroot *sr, struct u32_list *ret_list)
{
	char *text, *words;
	size_t n;
	bool ok;

	if (sysroot_read(sr, "proc/self/status", &text, &n, NULL) < 0)
		return false;
	words = malloc(n + 1);
	ok = words && ktext_field(text, "Mems_allowed_list", words, n + 1) == 0 &&
	     parse_u32_list(words, ret_list, NULL) == 0;
	free(words);
	free(text);
	return ok;
}

/*
 * Where no node tells its memory, it lies on the nodes with CPUs, or, if none has any, on all:
 * there is memory, since we run.
 */
static void guess_memory(struct machine *m)
{
	bool has_cpus = false;

	for (size_t i = 0; i < m->n_nodes; i++) {
		if (m->nodes[i].has_memory)
			return;
		has_cpus = has_cpus || m->nodes[i].has_cpus;
	}
	for (size_t i = 0; i < m->n_nodes; i++)
		m->nodes[i].has_memory = !has_cpus || m->nodes[i].has_cpus;
}

/* Nodes that can hold memory for us; "has_memory" is newer than the nodes' own meminfo. */
static int mark_memory(const struct sysroot *sr, struct machine *m)
{
	struct u32_list with_memory = { 0 }, normal = { 0 }, allowed = { 0 };
	bool tells_memory, tells_normal, tells_allowed;

	tells_memory =
		sysroot_read_list(sr, NODE_DIR "/has_memory", &with_memory, NULL) == 0 ||
		sysroot_read_list(sr, NODE_DIR "/has_normal_memory", &with_memory, NULL) == 0;
	tells_normal = sysroot_read_list(sr, NODE_DIR "/has_normal_memory", &normal, NULL) == 0;
	tells_allowed = read_mems_allowed(sr, &allowed);
	for (size_t i = 0; i < m->n_nodes; i++) {
		struct node *n = &m->nodes[i];

		n->has_cpus = n->cpus.n > 0;
		n->has_memory =
			tells_memory ? u32_list_contains(&with_memory, n->id) : n->total_bytes > 0;
		n->movable_only =
			n->has_memory && tells_normal && !u32_list_contains(&normal, n->id);
		n->mem_allowed = !tells_allowed || u32_list_contains(&allowed, n->id);
	}
	guess_memory(m);
	u32_list_done(&with_memory);
	u32_list_done(&normal);
	u32_list_done(&allowed);
	return 0;
}

/* Without nodes the whole machine is node 0. */
static int pretend_node(const struct sysroot *sr, struct machine *m, struct err *e)
{
	struct node *n = &m->nodes[0];

	n->distance = calloc(1, sizeof(*n->distance));
	n->cpus.v = calloc(m->n_cpus, sizeof(*n->cpus.v));
	if (!n->distance || !n->cpus.v)
		return err_set(e, ENOMEM, "no memory for a node");
	n->distance[0] = 10;
	for (size_t i = 0; i < m->n_cpus; i++) {
		m->cpus[i].node = 0;
		if (m->cpus[i].online)
			n->cpus.v[n->cpus.n++] = m->cpus[i].id;
	}
	n->has_cpus = n->has_memory = n->mem_allowed = true;
	if (sysroot_read_key(sr, "proc/meminfo", "MemTotal", &n->total_bytes, NULL) < 0)
		n->total_bytes = 0;
	if (sysroot_read_key(sr, "proc/meminfo", "MemFree", &n->free_bytes, NULL) < 0)
		n->free_bytes = 0;
	return 0;
}

int machine_read_nodes(const struct sysroot *sr, struct machine *m, struct err *e)
{
	struct u32_list ids = { 0 };
	int rc;

	rc = sysroot_read_list(sr, NODE_DIR "/online", &ids, NULL);
	if (!ids.n && rc != -ENOMEM)
		rc = sysroot_list_ids(sr, NODE_DIR, "node", &ids, NULL);
	if (rc == -ENOMEM)
		return err_set(e, ENOMEM, "no memory for the list of nodes");
	m->has_numa = ids.n > 0;
	m->nodes = calloc(ids.n ? ids.n : 1, sizeof(*m->nodes));
	if (!m->nodes) {
		u32_list_done(&ids);
		return err_set(e, ENOMEM, "no memory for nodes");
	}
	m->n_nodes = ids.n ? ids.n : 1;
	for (size_t i = 0; i < ids.n; i++)
		m->nodes[i].id = ids.v[i];
	rc = 0;
	for (size_t i = 0; i < ids.n && rc == 0; i++)
		rc = read_node(sr, m, &m->nodes[i], e);
	u32_list_done(&ids);
	if (rc < 0)
		return rc;
	if (!m->has_numa)
		return pretend_node(sr, m, e);
	for (size_t i = 0; i < m->n_nodes; i++)
		keep_online(m, &m->nodes[i].cpus);
	return mark_memory(sr, m);
}
