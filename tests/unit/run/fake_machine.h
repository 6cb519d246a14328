/* SPDX-License-Identifier: MIT */
/* Invented machines for the planner's tests; nothing is read from this one. */
#ifndef TESTS_UNIT_RUN_FAKE_MACHINE_H
#define TESTS_UNIT_RUN_FAKE_MACHINE_H

#include "host/machine.h"

struct fake_machine {
	struct machine m;
	struct page_size pages[6];
	struct cpu cpus[4];
	struct node nodes[4];
	uint32_t node_cpus[4][4];
	uint32_t distances[4][4];
	struct mem_limit limits[1];
};

/*
 * x86-64, CPUs 0 to 3 (3 offline), 4k, 64k (unusable), thp, hugetlb-2m (pool of 8, 4 free),
 * hugetlb-1g (unusable), budget 1 GiB. One node, number 0.
 */
void fake_machine_init(struct fake_machine *f);
/* Two memory nodes 0 and 8, and node 9 with CPUs but no memory. */
void fake_machine_make_numa(struct fake_machine *f);

#endif
