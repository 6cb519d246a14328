/* SPDX-License-Identifier: MIT */
/*
 * How far two CPUs are from each other, by what they share: a core, a level-2 or level-3 cache, a
 * package, a memory node; and which pairs of CPUs to measure. What the machine (or, in a virtual
 * machine, its hypervisor) tells; whether it is true, the measured costs say (infer/).
 */
#ifndef PAGETOLL_HOST_MACHINE_DISTANCE_H
#define PAGETOLL_HOST_MACHINE_DISTANCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "host/machine.h"

enum cpu_distance {
	DISTANCE_SMT,     /* threads of one core */
	DISTANCE_L2,      /* cores that share a level-2 cache */
	DISTANCE_L3,      /* ... a level-3 cache */
	DISTANCE_PACKAGE, /* one package and node, no cache shared or none told */
	DISTANCE_NODE,    /* one memory node, different packages */
	DISTANCE_REMOTE,  /* different memory nodes */
};

/* One ordered pair of CPUs. */
struct cpu_pair {
	uint32_t from, to;
	enum cpu_distance distance;
	/*
	 * "smt", "l2", "l3", "package", "node", "remote-21" (the kernel's distance between the
	 * nodes; "remote" where it tells none). CPUs of different speed are classes of their own:
	 * "l3:1024>446" (relative capacities, from and to).
	 */
	char name[48];
};

struct cpu_pairs {
	struct cpu_pair *v; /* owned; by distance, then name, then ids */
	size_t n;
};
void cpu_pairs_done(struct cpu_pairs *p);

enum pairs_wanted {
	PAIRS_CLASSES, /* one pair of each class, in both directions */
	PAIRS_ALL,     /* every ordered pair */
};

/*
 * Pairs of CPUs that are online and allowed; @from and @to (NULL: any) limit the ends. Isolated
 * CPUs and CPU 0 (which takes most interrupts) stand for a class only where it has no others.
 * -ENODEV with the reason where there is no pair: one CPU, all others offline or outside the
 * cpuset. -EINVAL for more than 20 000 pairs, -ENOMEM. With PAIRS_CLASSES and limits, a class has
 * one pair for each limit given.
 */
int machine_pairs(const struct machine *m, enum pairs_wanted wanted, const uint32_t *from,
		  const uint32_t *to, struct cpu_pairs *ret, struct err *e);

/* Distance and class of one pair; -EINVAL for CPUs that there are not, or one with itself. */
int machine_pair(const struct machine *m, uint32_t from, uint32_t to, struct cpu_pair *ret,
		 struct err *e);

#endif
