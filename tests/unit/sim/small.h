/* SPDX-License-Identifier: MIT */
/* Machines for tests, put together in memory. */
#ifndef PAGETOLL_TEST_SMALL_H
#define PAGETOLL_TEST_SMALL_H

#include "sim/sim.h"

/*
 * 4 KiB pages, @levels levels, three caches, one node; no TLB, and walk caches of 16 entries for
 * all levels. To be freed by sim_machine_free().
 */
struct sim_machine *small_machine(unsigned levels);
/* Adds a fully associative TLB for 4 KiB and 2 MiB pages. */
void small_add_tlb(struct sim_machine *m, unsigned level, uint32_t entries, uint32_t ways,
		   enum sim_policy policy);
/* A new model with @page_bytes and the host's levels (0: not nested); it cannot fail. */
struct sim *small_sim(const struct sim_machine *m, uint64_t page_bytes, unsigned host_levels);
/* One reference; how many reads its walk took. */
uint64_t small_steps(struct sim *s, uint64_t va);

#endif
