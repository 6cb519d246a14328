// SPDX-License-Identifier: MIT
/*
 * Accuracy of the knee finder on 500 seeds: capacities within the stated bounds for random and for
 * least-recently-used replacement, no knee in slow rises. Run by `meson benchmark` or by hand;
 * takes about a minute. Prints every figure; exit status 1 when a bound is missed.
 */
#include <stdbool.h>
#include <stdio.h>

#include "knee_sim.h"

enum { SEEDS = 500 };

static const char *verdict(bool ok)
{
	return ok ? "ok" : "MISSED";
}

static unsigned check_two(enum sim_shape shape, const char *name)
{
	unsigned missed = 0;

	for (int i = 0; i < SIM_NOISES; i++) {
		const struct sim_bounds *b = &sim_bounds[i];

		for (int m = 0; m < (shape == SIM_RANDOM ? SIM_MACHINES : 1); m++) {
			struct sim_result s;

			sim_two_knees(shape, &sim_machines[m], b->noise, SEEDS, &s);
			for (int q = 0; q < 2; q++) {
				bool ok = s.median[q] <= b->median && s.p95[q] <= b->p95;

				missed += !ok;
				printf("%-7s noise %.2f, %-28s capacity %d: median %.4f (%.2f) "
				       "p95 %.4f (%.2f) octaves: %s\n",
				       name, b->noise, sim_machines[m].name, q + 1, s.median[q],
				       b->median, s.p95[q], b->p95, verdict(ok));
			}
			printf("%-7s noise %.2f, other than two knees: %.1f %%\n", name, b->noise,
			       100.0 * s.wrong_number / SEEDS);
		}
	}
	return missed;
}

static unsigned check_none(enum sim_shape shape, const char *name)
{
	unsigned missed = 0;

	for (int i = 0; i < SIM_NOISES; i++) {
		double share = (double)sim_false_knees(shape, sim_bounds[i].noise, SEEDS) / SEEDS;

		missed += share > 0.05;
		printf("%-24s noise %.2f: knees in %.1f %% (5 %%): %s\n", name, sim_bounds[i].noise,
		       100 * share, verdict(share <= 0.05));
	}
	return missed;
}

int main(void)
{
	unsigned missed = 0;

	missed += check_two(SIM_RANDOM, "random");
	missed += check_two(SIM_LRU, "lru");
	missed += check_none(SIM_OVERFLOW, "overfull sets");
	missed += check_none(SIM_LOG, "logarithmic drift");
	missed += check_none(SIM_POWER, "power drift");
	missed += check_none(SIM_LEVEL, "level");
	printf("%u bounds missed\n", missed);
	return missed > 0;
}
