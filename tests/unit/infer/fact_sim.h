/* SPDX-License-Identifier: MIT */
/*
 * Runs of an invented machine, built in memory: a model of its TLBs and caches gives the time of
 * every point, noise is added per invocation. For the tests of facts.
 */
#ifndef PAGETOLL_TESTS_FACT_SIM_H
#define PAGETOLL_TESTS_FACT_SIM_H

#include "infer/infer.h"

/* Costs in cycles; a cycle is 1/3 ns. */
struct sim_cpu {
	double l1_entries, l2_entries; /* of small pages */
	double hit, second, walk, alias;
	bool huge_is_small; /* the hypervisor backs huge pages by small ones */
	double huge_l1, huge_l2;
	double cache[3]; /* bytes */
	double latency[4];
};
extern const struct sim_cpu sim_guest; /* 64 and 2048 entries, huge pages act as small ones */
extern const struct sim_cpu sim_host;  /* the same with real huge pages: 64 and 1536 */

/* Owned run with fingerprint and schemas, no measures. */
struct run *sim_run(const struct sim_cpu *cpu);

struct sim_row {
	const char *bench;
	const char *page, *stride, *backing, *alias; /* tlb.chase; page also for cache.chase */
	long spacing, pair;                          /* cache.chase */
	const char *page_tables;                     /* NULL: local */
	double low, high;                            /* of the inner parameter */
};
/* The rows of the toll set. */
extern const struct sim_row sim_toll[];
enum { SIM_TOLL_ROWS = 14 };

/* Measures one row; @noise is relative, @disturbed the share of values that are far too high. */
void sim_measure(struct run *r, const struct sim_cpu *cpu, const struct sim_row *row,
		 unsigned invocations, double noise, double disturbed);
/* The row could not run: one measure without the inner parameter. */
void sim_skip(struct run *r, const struct sim_row *row, const char *reason);
/* All rows of the toll set. */
struct run *sim_toll_run(const struct sim_cpu *cpu, unsigned invocations, double noise);

/* Facts of a run; the arena is to be ended by the caller. */
void sim_facts(const struct run *r, struct arena *a, struct facts *ret);
/* The fact with this id and all of "name=value name=value"; fails the test when absent. */
struct fact sim_fact(const struct facts *f, const char *id, const char *where);
bool sim_has_fact(const struct facts *f, const char *id, const char *where);

#endif
