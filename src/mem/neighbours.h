/* SPDX-License-Identifier: MIT */
/*
 * Processes on the other CPUs of a node, beside what is measured on this one: they make cold calls
 * all the time (load), or throw out their caches when asked (evict). They die with this process.
 */
#ifndef PAGETOLL_MEM_NEIGHBOURS_H
#define PAGETOLL_MEM_NEIGHBOURS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "host/sysroot.h"
#include "mem/evict.h"

enum { NEIGHBOURS_MAX = 64 };

struct neighbours {
	pid_t pids[NEIGHBOURS_MAX];
	unsigned n;
	struct neighbours_page *page; /* shared with them; NULL: none */
};

/*
 * Starts one process on every CPU of @node but @cpu that may be used, up to NEIGHBOURS_MAX. They
 * read this process's eviction buffers @v, which costs no memory but page tables. @call NULL: they
 * wait for neighbours_evict(); else they evict and @call(@arg) in turn. -ENODEV: no other CPU
 * there.
 */
int neighbours_start(const struct sysroot *sr, uint32_t node, uint32_t cpu, const struct evict *v,
		     void (*call)(void *arg), void *arg, struct neighbours *ret, struct err *e);
/* Every neighbour evicts once; returns when all have. -ECHILD: one is gone. */
int neighbours_evict(struct neighbours *g);
/* Cold calls that all of them have made; evictions when asked for those. */
uint64_t neighbours_count(const struct neighbours *g);
/* Accepts an all-zero one. */
void neighbours_stop(struct neighbours *g);

#endif
