/* SPDX-License-Identifier: MIT */
/*
 * The scheduler's constant for what moving a task costs (sched_migration_cost): a task that ran
 * less than this ago counts as cache-hot, and an idle CPU that expects to be idle for less does not
 * look for work elsewhere. 500 us by default since Linux 2.6.23.
 */
#ifndef PAGETOLL_HOST_MIGRATION_KNOB_H
#define PAGETOLL_HOST_MIGRATION_KNOB_H

#include <stdbool.h>
#include <stdint.h>

#include "host/sysroot.h"

enum { MIGRATION_KNOB_DEFAULT_NS = 500000 };

struct migration_knob {
	bool known;
	int64_t ns;       /* -1: a task is always hot; 0: never */
	const char *path; /* where this kernel keeps it, without the leading slash; static */
	char reason[224]; /* why it is not known, with the remedy; "" */
};

/* debugfs (Linux 5.13 and later), then sysctl (before). Never fails. */
void migration_knob_read(const struct sysroot *sr, struct migration_knob *ret);

#endif
