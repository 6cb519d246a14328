/* SPDX-License-Identifier: MIT */
/*
 * The state of each setting while a run goes on: what it has taken, whether it is exact enough,
 * where its grid should become denser. Used by execute.c only; starts no processes, reads no clock.
 */
#ifndef PAGETOLL_RUN_SCHEDULE_H
#define PAGETOLL_RUN_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "record/run.h"
#include "run/run_plan.h"

struct slot {
	struct planned *p;
	size_t index;        /* in the plan */
	unsigned n;          /* invocations ended */
	unsigned bad_streak; /* last invocations without a single ok point */
	double seconds;      /* longest invocation so far */
	size_t points_timed; /* inner points of that invocation */
	size_t *measures;    /* owned; indexes into run.measures */
	size_t n_measures, cap;
	bool ended;
	const char *why; /* once ended */
};

void slot_done(struct slot *s);
/* Notes an ended invocation whose measures are run.measures[first .. end). -ENOMEM. */
int slot_add(struct slot *s, size_t first, size_t end, double seconds, bool any_ok);

/* Expected seconds of the next invocation: what was measured, else what the plan says. */
double slot_seconds(const struct slot *s, const struct plan *plan);
/* Invocations before the setting may stop: a toll row may want fewer than the preset. */
unsigned slot_min(const struct slot *s, const struct plan *plan);

/*
 * Median over the points of the relative half width of the headline metric's interval; infinite
 * while most points have none.
 */
double slot_width(const struct slot *s, const struct run *r);

/*
 * Adds up to @max inner values between the neighbours of the knees found so far to the grid.
 * Returns how many, or -ENOMEM.
 */
int slot_refine(struct slot *s, const struct run *r, size_t max);

#endif
