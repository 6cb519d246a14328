/* SPDX-License-Identifier: MIT */
/* Interference: a process that streams through memory of one node while something else is measured.
 */
#ifndef PAGETOLL_MEM_LOAD_H
#define PAGETOLL_MEM_LOAD_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct load {
	pid_t pid; /* 0: none */
};

/*
 * Starts the load on @cpu over @bytes of memory on @node (-1: anywhere) and waits until it streams.
 * It dies with this process. -EAGAIN and other errno of fork, -ENOMEM when its memory could not be
 * had.
 */
int load_start(uint32_t cpu, int node, uint64_t bytes, struct load *ret, struct err *e);
void load_stop(struct load *l);

#endif
