/* SPDX-License-Identifier: MIT */
/* Binding to CPUs, also on machines with more CPUs than a fixed cpu_set_t holds. */
#ifndef PAGETOLL_HOST_AFFINITY_H
#define PAGETOLL_HOST_AFFINITY_H

#include <stdint.h>

#include "base/err.h"
#include "base/units.h"

/* Binds the calling thread to one CPU. -EINVAL: offline or outside the allowed set. */
int affinity_pin(uint32_t cpu, struct err *e);
/* The CPUs that the calling thread may use; the mask grows until the kernel takes it. */
int affinity_allowed(struct u32_list *ret_cpus, struct err *e);

/*
 * Keeps the calling thread off @cpu, on the rest of @cpus; on all of them where nothing would be
 * left, or for -1. Best effort: without it there is more noise, and nothing wrong.
 */
void affinity_avoid(const struct u32_list *cpus, int64_t cpu);

#endif
