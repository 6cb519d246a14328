// SPDX-License-Identifier: MIT
/*
 * Accuracy of the knee finder on 60 seeds: the bounds of tests/acceptance/knees.c (500 seeds),
 * widened by sampling error only. A method that just meets them has half of its errors above the
 * median bound and one in twenty above the other: among 60 seeds more than 40, or more than 8, come
 * about with a probability below 0.5 %. The same holds for a false-knee rate of 5 %.
 * One part a run, by the first argument, so that each stays short.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "knee_sim.h"

enum { SEEDS = 60, MOST_ABOVE_MEDIAN = 40, MOST_ABOVE_P95 = 8, MOST_FALSE = 8 };

static void check_two(enum sim_shape shape)
{
	for (int i = 0; i < SIM_NOISES; i++) {
		struct sim_result s;

		sim_two_knees(shape, &sim_machines[0], sim_bounds[i].noise, SEEDS, &s);
		for (int q = 0; q < 2; q++) {
			assert_in_range(s.beyond_median[q], 0, MOST_ABOVE_MEDIAN);
			assert_in_range(s.beyond_p95[q], 0, MOST_ABOVE_P95);
		}
		assert_in_range(s.wrong_number, 0, MOST_FALSE);
	}
}

static void random_replacement(void **state)
{
	(void)state;
	check_two(SIM_RANDOM);
}

static void cliffs_after_measuring_again(void **state)
{
	(void)state;
	check_two(SIM_LRU);
}

static void slow_rises_have_no_knee(void **state)
{
	static const enum sim_shape shapes[] = { SIM_OVERFLOW, SIM_LOG, SIM_POWER, SIM_LEVEL };

	(void)state;
	for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
		for (int i = 0; i < SIM_NOISES; i++)
			assert_in_range(sim_false_knees(shapes[k], sim_bounds[i].noise, SEEDS), 0,
					MOST_FALSE);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_replacement),
		cmocka_unit_test(cliffs_after_measuring_again),
		cmocka_unit_test(slow_rises_have_no_knee),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
