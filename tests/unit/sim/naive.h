/* SPDX-License-Identifier: MIT */
/*
 * The rules of the model once more, as plainly as they can be written: every set is a list of
 * entries with the time of their last use, everything is searched from end to end. Radix walks,
 * policies lru and fifo, caches without a victim relation; shared frames, so that no place has to
 * be agreed upon but those of tables, which are asked of the model's own rule by alignment.
 */
#ifndef PAGETOLL_TEST_NAIVE_H
#define PAGETOLL_TEST_NAIVE_H

#include "sim/sim.h"

struct naive;
/* @wrong: 0: as documented; 1: a walk keeps the leaf entries, too, in the cache of level 2. */
struct naive *naive_new(const struct sim_machine *m, uint64_t align, int wrong);
void naive_free(struct naive *n);
void naive_run(struct naive *n, uint64_t va);
const struct sim_counts *naive_counts(const struct naive *n);

#endif
