/* SPDX-License-Identifier: MIT */
/*
 * Synthetic curves with known truth for testing the knee finder, shared by the unit tests (60
 * seeds) and tests/acceptance/knees.c (500 seeds). 45 points, four an octave from 4, noise
 * multiplies.
 */
#ifndef PAGETOLL_TESTS_KNEE_SIM_H
#define PAGETOLL_TESTS_KNEE_SIM_H

#include <stddef.h>
#include <stdint.h>

enum sim_shape {
	SIM_RANDOM,   /* cost 1 - C/x behind a capacity: random replacement */
	SIM_LRU,      /* a cliff; found by measuring again around it, three rounds of 8 points */
	SIM_OVERFLOW, /* no knee: sets overfilled by random page colours (exact binomial) */
	SIM_LOG,      /* no knee: cost grows with log x */
	SIM_POWER,    /* no knee: cost grows as a small power of x */
	SIM_LEVEL,    /* no knee: noise only */
};

/* Costs of one machine; capacities are drawn log-uniformly between the bounds, seed by seed. */
struct sim_machine {
	const char *name;
	double base, first_cost, second_cost;
	double first_low, first_high, second_low, second_high;
};
extern const struct sim_machine sim_machines[];
enum { SIM_MACHINES = 3 };

/* What is to be met. Of |log2(found / true)| of both capacities: the median and the 95 % point. */
struct sim_bounds {
	double noise, median, p95;
};
enum { SIM_NOISES = 3 };
extern const struct sim_bounds sim_bounds[SIM_NOISES];
const struct sim_bounds *sim_bounds_of(double noise);

struct sim_result {
	double median[2], p95[2]; /* of both capacities; a missed one counts as 9 octaves */
	unsigned beyond_median[2], beyond_p95[2]; /* seeds with errors above these bounds */
	unsigned wrong_number;                    /* seeds with other than two knees */
};
/* SIM_RANDOM and SIM_LRU. */
void sim_two_knees(enum sim_shape shape, const struct sim_machine *m, double noise, unsigned seeds,
		   struct sim_result *ret);
/* Number of seeds in which a knee is found, for the shapes without one. */
unsigned sim_false_knees(enum sim_shape shape, double noise, unsigned seeds);

#endif
