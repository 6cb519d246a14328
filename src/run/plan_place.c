/* SPDX-License-Identifier: MIT */
/*
 * The parameter "node" of benchmarks: the node that measures, unlike other node parameters, which
 * mean memory. It chooses the CPU unless the user names one. Leaves out where data go: the kernel
 * takes them from the node of the CPU.
 */
#include "run/plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The CPU of @node that measures: not CPU 0 if there is another, which takes most interrupts. */
static const struct cpu *cpu_of_node(const struct machine *m, uint32_t node)
{
	const struct cpu *best = NULL;

	for (size_t i = 0; i < m->n_cpus; i++) {
		const struct cpu *c = &m->cpus[i];

		if (c->allowed && c->online && c->node == (int32_t)node && (!best || best->id == 0))
			best = c;
	}
	return best;
}

static void list_places(const struct machine *m, char *buf, size_t bytes)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < m->n_nodes; i++)
		if (cpu_of_node(m, m->nodes[i].id) && used < bytes)
			used += (size_t)snprintf(buf + used, bytes - used, "%s%u", used ? "," : "",
						 m->nodes[i].id);
}

int plan_place_each(struct arena *a, const struct machine *m, struct plan_values *out,
		    int (*add)(struct arena *, struct plan_values *, const char *, struct err *),
		    struct err *e)
{
	char text[16];
	int rc = 0;

	for (size_t i = 0; i < m->n_nodes && rc == 0; i++) {
		if (!cpu_of_node(m, m->nodes[i].id))
			continue;
		snprintf(text, sizeof(text), "%u", m->nodes[i].id);
		rc = add(a, out, text, e);
	}
	return rc;
}

/* An explicit CPU must be of the node; "auto" takes one of it. */
static int place_on(const struct machine *m, uint32_t node, bool is_auto, uint32_t *cpu,
		    struct err *e)
{
	const struct cpu *c = machine_cpu(m, *cpu), *best;
	char places[200];

	if (c && c->node == (int32_t)node)
		return 0;
	if (!is_auto)
		return err_set(e, EINVAL,
			       "node=%u: CPU %u is not of that node; leave out cpu=%u, or name a "
			       "CPU of the node",
			       node, *cpu, *cpu);
	best = cpu_of_node(m, node);
	list_places(m, places, sizeof(places));
	if (!best)
		return err_set(e, EINVAL,
			       "node=%u: no CPU there that this process may use; nodes with such "
			       "CPUs: %s",
			       node, places);
	*cpu = best->id;
	return 0;
}

int plan_place(const struct machine *m, const char *word, bool is_auto, uint32_t *cpu,
	       uint32_t *ret_node, struct err *ret_why, struct err *e)
{
	const struct cpu *c = machine_cpu(m, *cpu);
	uint64_t id = c && c->node >= 0 ? (uint64_t)c->node : 0;
	uint32_t node;
	int rc;

	if (strcmp(word, "remote") == 0) {
		rc = machine_remote_node(m, *cpu, &node, ret_why);
		if (rc < 0)
			return rc;
		id = node;
	} else if (strcmp(word, "local") != 0 &&
		   (parse_u64(word, &id, NULL) < 0 || id >= UINT32_MAX)) {
		return err_set(e, EINVAL, "node=%s: there is no such node", word);
	}
	*ret_node = (uint32_t)id;
	if (strcmp(word, "local") == 0 || !m->has_numa)
		return id && !m->has_numa
			       ? err_set(e, EINVAL, "node=%s: there is no such node; nodes here: 0",
					 word)
			       : 0;
	return place_on(m, *ret_node, is_auto, cpu, e);
}
