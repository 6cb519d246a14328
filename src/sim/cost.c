// SPDX-License-Identifier: MIT
/*
 * From counts to time: each count times the machine's figure for it. Nothing else makes time, so
 * the parts add up to the whole.
 */
#include "sim/sim.h"

#include <stdio.h>
#include <string.h>

static const char *const level_names[] = { "leaf", "pmd", "pud", "p4d", "pgd" };

const char *sim_level_name(unsigned level)
{
	return level >= 1 && level <= SIM_LEVELS_MAX ? level_names[level - 1] : "?";
}

double sim_latency_ns(const struct sim_machine *m, uint32_t from, uint32_t to)
{
	if (m->memory.latency_ns)
		return m->memory.latency_ns[(size_t)from * m->memory.nodes + to];
	return from == to ? m->memory.local_ns : m->memory.remote_ns;
}

struct costing {
	const struct sim_machine *m;
	double cycle_ns;
	struct sim_parts *parts;
};

static void add(struct costing *c, const char *name, uint64_t count, double ns)
{
	struct sim_part *p = c->parts->v;
	size_t i;

	if (count == 0)
		return;
	for (i = 0; i < c->parts->n && strcmp(p[i].name, name) != 0; i++)
		;
	if (i == SIM_PARTS_MAX)
		return;
	if (i == c->parts->n) {
		memset(&p[i], 0, sizeof(p[i]));
		snprintf(p[i].name, sizeof(p[i].name), "%s", name);
		c->parts->n++;
	}
	p[i].count += count;
	p[i].ns += ns;
}

static void add_cycles(struct costing *c, const char *name, uint64_t count, double cycles,
		       double share)
{
	if (cycles > 0)
		add(c, name, count, (double)count * cycles * c->cycle_ns * share);
}

static void name_of(unsigned what, char *buf, size_t bytes)
{
	if (what == SIM_DATA)
		snprintf(buf, bytes, "data");
	else if (what == SIM_CODE)
		snprintf(buf, bytes, "code");
	else if (what >= SIM_HOST)
		snprintf(buf, bytes, "host.%s", sim_level_name(what - SIM_HOST + 1));
	else
		snprintf(buf, bytes, "walk.%s", sim_level_name(what - SIM_WALK + 1));
}

static void add_found(struct costing *c, unsigned what, const uint64_t *found, uint32_t cpu_node,
		      double share)
{
	char base[24], name[48];

	name_of(what, base, sizeof(base));
	for (size_t i = 0; i < c->m->n_caches; i++) {
		snprintf(name, sizeof(name), "%s.l%zu", base, i + 1);
		add_cycles(c, name, found[i], c->m->caches[i].hit_cycles, i ? share : 1);
	}
	for (uint32_t node = 0; node < c->m->memory.nodes; node++) {
		const uint64_t n = found[SIM_IN_MEMORY + node];

		snprintf(name, sizeof(name), "%s.memory.%s", base,
			 node == cpu_node ? "local" : "remote");
		add(c, name, n, (double)n * sim_latency_ns(c->m, cpu_node, node) * share);
	}
}

static void add_tlbs(struct costing *c, const struct sim_counts *n, double walk_share)
{
	const struct sim_walker *w = &c->m->walker;
	char name[24];

	for (unsigned level = 1; level <= SIM_TLB_LEVELS; level++) {
		double cycles = 0;

		for (size_t i = 0; i < c->m->n_tlbs; i++)
			if (c->m->tlbs[i].level == level)
				cycles = c->m->tlbs[i].hit_cycles;
		snprintf(name, sizeof(name), "tlb.l%u", level);
		add_cycles(c, name, n->tlb_hit[level - 1], cycles, 1);
	}
	add_cycles(c, "walk.start", n->walks, w->start_cycles, walk_share);
	add_cycles(c, "walk.steps", n->steps, w->step_cycles, walk_share);
	add_cycles(c, "walk.handler", n->handlers, w->handler_cycles, 1);
}

void sim_cost(const struct sim_machine *m, uint32_t cpu_node, const struct sim_counts *n,
	      bool overlap, struct sim_parts *ret)
{
	struct costing c = { .m = m, .cycle_ns = 1e9 / m->core.clock_hz, .parts = ret };
	const double data_share = overlap ? 1.0 / m->core.parallel_misses : 1;
	const double walk_share = overlap ? 1.0 / m->walker.parallel : 1;

	ret->n = 0;
	for (unsigned what = 0; what < SIM_WHATS; what++)
		add_found(&c, what, n->found[what], cpu_node,
			  what == SIM_DATA || what == SIM_CODE ? data_share : walk_share);
	add_tlbs(&c, n, walk_share);
	add_cycles(&c, "alias", n->alias_misses, m->alias.miss_cycles, 1);
	for (unsigned what = 0; m->far_side.present && what < SIM_WHATS; what++) {
		char base[24], name[48];
		const uint64_t k = n->far_miss_of[what];

		name_of(what, base, sizeof(base));
		snprintf(name, sizeof(name), "%s.far", base);
		add(&c, name, k,
		    (double)k * m->far_side.miss_ns * (what == SIM_DATA ? data_share : walk_share));
	}
	add_cycles(&c, "round", n->rounds, m->core.round_cycles, 1);
}

double sim_parts_ns(const struct sim_parts *p)
{
	double sum = 0;

	for (size_t i = 0; i < p->n; i++)
		sum += p->v[i].ns;
	return sum;
}
