// SPDX-License-Identifier: MIT
#include "small.h"

#include <stdlib.h>
#include <string.h>

static void add_cache(struct sim_machine *m, uint64_t bytes, uint32_t ways, double cycles)
{
	m->caches[m->n_caches++] = (struct sim_cache){ .name = "cache",
						       .size_bytes = bytes,
						       .ways = ways,
						       .line_bytes = 64,
						       .hit_cycles = cycles };
}

struct sim_machine *small_machine(unsigned levels)
{
	struct sim_machine *m = calloc(1, sizeof(*m));

	if (!m)
		abort();
	m->name = m->summary = "small";
	m->core = (struct sim_core){ .clock_hz = 1e9,
				     .page_bytes = 4096,
				     .levels = levels,
				     .parallel_misses = 4,
				     .host_levels = 4 };
	m->walker = (struct sim_walker){ .first_cache = 1, .parallel = 2, .start_cycles = 10 };
	m->memory = (struct sim_memory){ .nodes = 1, .local_ns = 100, .remote_ns = 200 };
	for (unsigned k = 2; k <= levels; k++)
		m->walk_caches[m->n_walk_caches++] =
			(struct sim_walk_cache){ .level = k, .shape = { .entries = 16 } };
	add_cache(m, 32 << 10, 8, 4);
	add_cache(m, 512 << 10, 8, 12);
	add_cache(m, 8 << 20, 16, 40);
	return m;
}

void small_add_tlb(struct sim_machine *m, unsigned level, uint32_t entries, uint32_t ways,
		   enum sim_policy policy)
{
	m->tlbs[m->n_tlbs++] = (struct sim_tlb){
		.name = "TLB",
		.level = level,
		.shape = { .entries = entries, .ways = ways, .policy = policy },
		.pages = { 4096, 2 << 20 },
		.n_pages = 2,
		.hit_cycles = level > 1 ? 7 : 0,
	};
}

struct sim *small_sim(const struct sim_machine *m, uint64_t page_bytes, unsigned host_levels)
{
	struct sim_space space = { .page_bytes = page_bytes, .host_levels = host_levels };
	struct err e = { 0 };
	struct sim *s;

	if (sim_machine_check(m, &e) < 0 || sim_new(m, &space, 1, &s, &e) < 0)
		abort();
	return s;
}

uint64_t small_steps(struct sim *s, uint64_t va)
{
	const uint64_t before = sim_counts(s)->steps;

	sim_run(s, &va, 1);
	return sim_counts(s)->steps - before;
}
