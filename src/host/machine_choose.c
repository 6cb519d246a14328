/* SPDX-License-Identifier: MIT */
/*
 * Which CPU measures, which one makes load, which nodes are local and remote. Left out: binding
 * (mem/, run/).
 */
#include <errno.h>
#include <string.h>

#include "host/machine.h"

static bool usable_memory(const struct node *n)
{
	return n && n->has_memory && n->mem_allowed;
}

static bool same_core(const struct cpu *a, const struct cpu *b)
{
	return a->package == b->package && a->core == b->core;
}

/* Higher is better; the order of the tests is the order of importance. */
static unsigned cpu_score(const struct machine *m, const struct cpu *c, unsigned fastest)
{
	const struct cpu *zero = machine_cpu(m, 0);
	unsigned score = c->capacity == fastest;

	score = score << 1 | (c->node >= 0 && usable_memory(machine_node(m, (uint32_t)c->node)));
	/* Interrupts and housekeeping prefer CPU 0; its sibling feels them too. */
	score = score << 1 | (c->id != 0);
	score = score << 1 | !(zero && same_core(c, zero));
	return score;
}

int machine_choose_cpu(const struct machine *m, uint32_t *ret_cpu, struct err *e)
{
	unsigned fastest = 0, best_score = 0;
	const struct cpu *best = NULL;

	for (size_t i = 0; i < m->n_cpus; i++)
		if (m->cpus[i].allowed && m->cpus[i].capacity > fastest)
			fastest = m->cpus[i].capacity;
	for (size_t i = 0; i < m->n_cpus; i++) {
		const struct cpu *c = &m->cpus[i];
		unsigned score;

		if (!c->allowed || !c->online)
			continue;
		score = cpu_score(m, c, fastest);
		if (!best || score > best_score) {
			best = c;
			best_score = score;
		}
	}
	if (!best)
		return err_set(e, ENODEV,
			       "no CPU: this process may use none that is online (taskset -p, "
			       "cpuset)");
	*ret_cpu = best->id;
	return 0;
}

int machine_choose_load_cpu(const struct machine *m, uint32_t node, uint32_t cpu, uint32_t *ret_cpu,
			    struct err *e)
{
	const struct node *n = machine_node(m, node);
	const struct cpu *self = machine_cpu(m, cpu), *best = NULL;

	if (!n)
		return err_set(e, ENODEV, "node %u: there is no such node", node);
	for (size_t i = 0; i < n->cpus.n; i++) {
		const struct cpu *c = machine_cpu(m, n->cpus.v[i]);

		if (!c || !c->allowed || !c->online || c->id == cpu)
			continue;
		if (!best || (self && same_core(best, self) && !same_core(c, self)))
			best = c;
	}
	if (!best)
		return err_set(e, ENODEV, "node %u has no CPU left for a load beside CPU %u", node,
			       cpu);
	*ret_cpu = best->id;
	return 0;
}

/* Distance from node @from to nodes[i]; where the kernel does not tell, 10 at home and 20 away. */
static uint32_t distance(const struct machine *m, const struct node *from, size_t i)
{
	if (from && from->distance && from->distance[i])
		return from->distance[i];
	return from == &m->nodes[i] ? 10 : 20;
}

static const struct node *home_of(const struct machine *m, uint32_t cpu)
{
	const struct cpu *c = machine_cpu(m, cpu);

	return c && c->node >= 0 ? machine_node(m, (uint32_t)c->node) : NULL;
}

int machine_local_node(const struct machine *m, uint32_t cpu, uint32_t *ret_node, struct err *e)
{
	const struct node *home = home_of(m, cpu), *best = NULL;
	uint32_t best_distance = 0;

	for (size_t i = 0; i < m->n_nodes; i++) {
		const struct node *n = &m->nodes[i];

		if (!usable_memory(n))
			continue;
		if (n == home) {
			*ret_node = n->id;
			return 0;
		}
		if (!best || distance(m, home, i) < best_distance) {
			best = n;
			best_distance = distance(m, home, i);
		}
	}
	if (!best)
		return err_set(e, ENODEV, "no memory node that this process may use (cpuset)");
	*ret_node = best->id;
	return 0;
}

int machine_remote_node(const struct machine *m, uint32_t cpu, uint32_t *ret_node, struct err *e)
{
	const struct node *home = home_of(m, cpu), *best = NULL;
	uint32_t local, best_distance = 0;
	int rc = machine_local_node(m, cpu, &local, e);

	if (rc < 0)
		return rc;
	if (!home)
		home = machine_node(m, local);
	for (size_t i = 0; i < m->n_nodes; i++) {
		const struct node *n = &m->nodes[i];

		if (!usable_memory(n) || n->id == local || (best && best->has_cpus && !n->has_cpus))
			continue;
		if (!best || (n->has_cpus && !best->has_cpus) ||
		    distance(m, home, i) > best_distance) {
			best = n;
			best_distance = distance(m, home, i);
		}
	}
	if (!best)
		return err_set(e, ENODEV, "not measurable: one memory node");
	*ret_node = best->id;
	return 0;
}
