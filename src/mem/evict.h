/* SPDX-License-Identifier: MIT */
/*
 * Eviction without privilege: the caches and TLBs of the CPU that runs this are filled with other
 * things, so that what comes next starts cold. Data: two passes of reads over twice the caches that
 * this CPU uses. Code: a chain of jumps, one a cache line, longer than the private caches and over
 * more pages than instruction TLBs hold. TLB: one word of each of more pages than the second-level
 * TLB has entries, all of them the zero page. A probe of a few lines of its own tells by its
 * latency how far eviction reached.
 *
 * What it cannot do: caches of other CPUs (a line that another socket's cache holds is fetched from
 * there), and entries of the kernel alone. Nothing here is timed but the probe.
 */
#ifndef PAGETOLL_MEM_EVICT_H
#define PAGETOLL_MEM_EVICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "host/machine.h"
#include "host/sysroot.h"

enum evict_kind { EVICT_DATA = 1, EVICT_CODE = 2, EVICT_TLB = 4 };

struct evict_sizes {
	uint64_t llc_bytes;     /* last-level cache of the CPU; 0: not told, 32 MiB are taken */
	uint64_t private_bytes; /* its data and unified caches below that */
	uint64_t data_bytes;    /* 2 * (llc + private), whole pages */
	uint64_t code_bytes;    /* 4 * private, at least 8 MiB */
	uint64_t tlb_pages;     /* twice the advertised second-level TLB, 4096 where not told */
};

/* From the machine's description: what the planner asks. */
void evict_sizes_of(const struct machine *m, uint32_t cpu, struct evict_sizes *ret);
/* From sysfs alone: what a worker has. */
void evict_sizes_read(const struct sysroot *sr, uint32_t cpu, struct evict_sizes *ret);
/* Memory that evict_map() will take for @kinds, without page tables. */
uint64_t evict_bytes(const struct evict_sizes *s, unsigned kinds);

struct evict {
	struct evict_sizes sizes;
	unsigned kinds;
	char *data, *code, *pages; /* mappings; NULL: not of these kinds. No child inherits them. */
	char *probe;
	void *probe_first;
	uint64_t page_bytes;
};

/*
 * Maps and populates for @kinds. -ENOMEM with the size, -ENOTSUP where this program cannot write
 * code for the architecture, -EACCES and -EPERM where the system forbids executable memory.
 */
int evict_map(const struct evict_sizes *s, unsigned kinds, struct evict *ret, struct err *e);
/* Accepts an all-zero one. */
void evict_done(struct evict *v);

/* Whether children get the buffers (to read them); not unless asked. */
void evict_inherit(const struct evict *v, bool yes);

/* Everything of the kinds that it was mapped for: TLB, code, then data. */
void evict_now(const struct evict *v);
void evict_data(const struct evict *v);
void evict_code(const struct evict *v);
void evict_tlb(const struct evict *v);
/* Two passes of reads over @bytes (a multiple of 512) of other memory of the caller's. */
void evict_stream(const void *base, size_t bytes);

enum { EVICT_PROBE_LINES = 16 };
/*
 * Time per dependent load over the probe's lines as they are now, in ns; they are warm afterwards.
 * Their pages are in the TLB before it starts. The two reads of the clock are in it: a few ns.
 */
double evict_probe_ns(const struct evict *v);
/*
 * The same after each line was flushed by the CPU's own instruction: the latency of memory (least
 * of a few). NaN where the architecture has none for user space.
 */
double evict_memory_ns(const struct evict *v);

#endif
