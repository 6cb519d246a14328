/* SPDX-License-Identifier: MIT */
/*
 * Page walks of a process and all that it starts, by hardware counters: the share of cycles in
 * which a walk was under way is a bound on what larger pages could gain. Only for processors whose
 * events are known; everywhere else there is a reason.
 */
#ifndef PAGETOLL_PROFILE_WALKS_H
#define PAGETOLL_PROFILE_WALKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "host/sysroot.h"

enum { WALKS_MAX_EVENTS = 3 };

/* What to count. Types and configurations are those of perf_event_open(2). */
struct walk_events {
	const char *name; /* of the processor family */
	bool is_cycles;   /* the sum is cycles with a walk; false: the number of walks */
	uint32_t type, cycles_type;
	uint64_t cycles; /* core cycles */
	uint64_t config[WALKS_MAX_EVENTS];
	size_t n;
};

/* By the processor that /proc/cpuinfo below @sr names. -ENOTSUP with the reason: not known. */
int walks_choose(const struct sysroot *sr, struct walk_events *ret_events, struct err *e);

struct walk_counter {
	int fds[1 + WALKS_MAX_EVENTS]; /* cycles first */
	size_t n;
	bool user_only; /* the kernel's part may not be counted */
};

struct walk_counts {
	double cycles, walks; /* extrapolated where counters took turns; walks: see is_cycles */
	double running_ratio; /* least share of the time in which a counter counted, 0 to 1 */
	bool is_cycles, user_only;
};

/* Counts from the next exec of @pid. -errno, with the reason and the remedy; nothing is open then.
 */
int walks_open(const struct sysroot *sr, pid_t pid, const struct walk_events *events,
	       struct walk_counter *ret_counter, struct err *e);
/* -ENODATA: a counter never counted. */
int walks_read(const struct walk_counter *c, const struct walk_events *events,
	       struct walk_counts *ret_counts, struct err *e);
void walks_close(struct walk_counter *c); /* accepts a zeroed one */

#endif
