/* SPDX-License-Identifier: MIT */
/*
 * Time. Nanoseconds of CLOCK_MONOTONIC are the unit of every measurement; core cycles come from a
 * loop of dependent additions beside it, never from a cycle counter (TSC and the ARM counter tick
 * at rates of their own).
 */
#ifndef PAGETOLL_HOST_CLOCK_H
#define PAGETOLL_HOST_CLOCK_H

#include <stdint.h>

int64_t clock_now_ns(void);  /* CLOCK_MONOTONIC */
int64_t clock_unix_ns(void); /* CLOCK_REALTIME */

struct clock_quality {
	double cost_ns;       /* least time of one reading */
	double resolution_ns; /* smallest difference above zero seen between two readings */
};
/* Takes about a millisecond. */
void clock_measure(struct clock_quality *ret);
/*
 * The smallest step in ns that the clock is seen to make after readings that were equal; 0 where it
 * moves from reading to reading, however long these take (emulators). Coarse steps are waited for,
 * up to a million readings. INFINITY: it stood still.
 */
double clock_step_ns(void);

/*
 * Time per dependent addition right now, one core cycle: the smallest of a few loops of about 10
 * us. @adds: the loop to time (mem/chase_loops.h has it), @count its additions, a multiple of 16.
 */
double clock_add_ns(uint64_t (*adds)(uint64_t), uint64_t count);

#endif
