/* SPDX-License-Identifier: MIT */
/* Runs of migration.cost on invented machines, for the tests of its facts and its renderers. */
#ifndef PAGETOLL_TESTS_MIGRATION_SIM_H
#define PAGETOLL_TESTS_MIGRATION_SIM_H

#include "record/run.h"

struct migration_sim {
	unsigned cpus;
	unsigned invocations;
	double noise; /* relative */
	/* What the machine tells of a pair, and what a line really costs more, in ns. */
	const char *(*class_of)(unsigned from, unsigned to);
	double (*line_ns)(unsigned from, unsigned to);
	const char *hypervisor; /* NULL: none */
	unsigned together;      /* invocations in which all pairs are one core */
	int64_t knob_ns;        /* INT64_MIN: not known */
	const char *page;
	double largest; /* working set in bytes, from 16 KiB in steps of 4 */
	const char *search;
};

/*
 * Owned run. A working set of S bytes costs S / 64 lines at line_ns() as long as it fits into 8
 * MiB, and nothing more behind that.
 */
struct run *migration_sim_run(const struct migration_sim *s);
/* Measures it into a run that there is (other pages, say). */
void migration_sim_add(struct run *r, const struct migration_sim *s);

#endif
