/* SPDX-License-Identifier: MIT */
/*
 * One move of a working set between two CPUs, timed: the working set is thrown out of all caches,
 * touched on the source, and touched again on the target. The move itself lies between the two
 * times. Used by migration_cost.c only; apart from it, so that a CPU that vanishes can be tested.
 */
#ifndef PAGETOLL_BENCH_MOVER_H
#define PAGETOLL_BENCH_MOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "access/touch.h"
#include "base/err.h"
#include "base/units.h"
#include "mem/evict.h"

struct mover {
	uint64_t *base;      /* borrowed; zero before the first pass */
	struct touch touch;  /* the working set in work */
	uint64_t passes;     /* of it since mover_begin() */
	uint64_t increments; /* that they should have made, also of others since then */
	uint64_t repeats; /* measures made again, because the thread was switched out in a touch */
	/* A touch that did not begin and end on its CPU: the CPU that it was seen on; -1: none. */
	int64_t strayed_to;
	uint32_t strayed_from;
	/* Binds the calling thread; affinity_pin(), but for tests. */
	int (*pin)(uint32_t cpu, struct err *e);
	struct evict evict;      /* where there is no instruction that flushes a line */
	struct u32_list allowed; /* owned; affinity to be restored; n = 0: nothing to restore */
};

struct mover_times {
	double first_ns;  /* on the source, caches cold */
	double second_ns; /* on the target */
};

/*
 * Remembers the affinity and sees how caches are flushed on CPUs @a and @b. -ENOMEM, and what
 * sched_getaffinity() says.
 */
int mover_init(struct mover *m, uint64_t *base, uint32_t a, uint32_t b, struct err *e);
/* Puts the affinity back. Accepts an all-zero one. */
void mover_done(struct mover *m);

/* Another working set, from the start of the same memory, which is zeroed. */
void mover_begin(struct mover *m, enum touch_pattern pattern, uint64_t bytes, uint64_t seed);

/*
 * One measure; @source and @target may be the same, and the same system calls are made then. Is
 * made again, three times at most, when the kernel's count says that the thread was switched out
 * during a touch. -EINVAL and others of the binding, with "the CPU has gone" where
 * it was there before.
 */
int mover_measure(struct mover *m, uint32_t source, uint32_t target, struct mover_times *ret,
		  struct err *e);

#endif
