/* SPDX-License-Identifier: MIT */
/*
 * What disturbs a measurement, by the kernel's own counters: switches, faults, steal time,
 * throttling, pages moved by NUMA balancing. Read before and after; the difference is the taint.
 */
#ifndef PAGETOLL_HOST_COUNTERS_H
#define PAGETOLL_HOST_COUNTERS_H

#include <stdint.h>

#include "host/sysroot.h"

/* Where this process's CPU quota is counted; found once. */
struct counters {
	struct sysroot sr;
	/* cpu.stat of the own cgroup, or of the nearest above it that has a quota to count; "":
	 * none
	 */
	char quota_path[1100];
};
/* @sr is copied. */
void counters_init(struct counters *c, const struct sysroot *sr);

/* Cheap ones, by system calls on the own thread. */
struct thread_counts {
	int64_t involuntary_switches;
	int64_t minor_faults, major_faults;
	int64_t cpu; /* that runs it now */
};
void counters_thread(struct thread_counts *ret);

/* Machine-wide ones, from files; -1: cannot be read. */
struct host_counts {
	int64_t steal_ticks;         /* all CPUs */
	int64_t throttled;           /* periods in which the quota stopped the cgroup */
	int64_t numa_pages_migrated; /* by balancing, all processes */
};
void counters_host(const struct counters *c, struct host_counts *ret);

#endif
