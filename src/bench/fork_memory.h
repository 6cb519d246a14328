/* SPDX-License-Identifier: MIT */
/*
 * What the fork family shares: resident memory of a kind (anonymous, a file's, shared) and page
 * size, made anew for each point, and a child that waits. Used by fork_*.c only.
 */
#ifndef PAGETOLL_BENCH_FORK_MEMORY_H
#define PAGETOLL_BENCH_FORK_MEMORY_H

#include <sys/types.h>

#include "bench/bench.h"
#include "mem/region.h"
#include "mem/segment.h"
#include "mem/tempfile.h"

enum fork_kind { FORK_ANON, FORK_FILE, FORK_SHARED };
extern const char *const fork_memory_words[]; /* "anon", "file", "shared" */

struct fork_memory {
	enum fork_kind kind;
	uint64_t bytes, page_bytes;
	char *base;           /* where it is mapped; NULL: nothing is */
	struct region region; /* anonymous */
	struct tempfile file;
	struct segment segment;
	struct segment_map map; /* shared */
};

/* Before first use; all-zero state is accepted by fork_memory_done() too. */
void fork_memory_init(struct fork_memory *f, const struct bench_ctx *ctx);
/* The file or the segment of @bytes (rounded up to whole pages). 0 or nonzero as bench_fail(). */
int fork_memory_back(struct bench_ctx *ctx, struct fork_memory *f, uint64_t bytes);
/* Maps it, or anonymous memory of that size, and populates the mapping. */
int fork_memory_map(struct bench_ctx *ctx, struct fork_memory *f);
/* Both. */
int fork_memory_make(struct bench_ctx *ctx, struct fork_memory *f, uint64_t bytes);
/* The mapping alone goes away. */
void fork_memory_unmap(struct fork_memory *f);
void fork_memory_done(struct fork_memory *f);
/*
 * Evidence that it is resident, by smaps: "rss_bytes" and "huge_bytes". Contrary: nonzero as
 * bench_invalid().
 */
int fork_memory_prove(struct bench_ctx *ctx, const struct fork_memory *f);

/*
 * Refuses page sizes that the kind of memory does not have; fills @ret_cost for @copies of @bytes.
 */
int fork_memory_cost(const struct machine *m, const struct bench_setting *s, uint64_t bytes,
		     unsigned copies, struct bench_cost *ret_cost, struct err *e);
/* 1 MiB, 4 MiB, 16 MiB ... up to @max. */
int fork_memory_grid(struct u64_array *ret_values, uint64_t max, struct err *e);

/* A child that tells that it runs, then waits for a byte and ends. */
struct fork_child {
	pid_t pid; /* 0: none */
	int go;    /* written to by the parent */
	int told;  /* read by the parent */
};
/* Its pipes; the ends for the child are in @child_ends (told, go). */
int fork_child_pipes(struct bench_ctx *ctx, struct fork_child *c, int child_ends[2]);
/* The child's part: writes @tells, waits for the byte, ends. */
__attribute__((noreturn)) void fork_child_wait(const int child_ends[2], int64_t tells);
/* The parent's part, once c->pid is set: reads what the child tells. */
int fork_child_greet(struct bench_ctx *ctx, struct fork_child *c, const int child_ends[2],
		     int64_t *ret_tells);
/* Wakes the child; returns the time until it has been seen to end, ns. */
int64_t fork_child_end(struct fork_child *c);

/* Words of all three: memory, page, cpu. */
#define FORK_PARAMS(resident_summary)                                                   \
	{ .name = "resident",                                                           \
	  .summary = resident_summary,                                                  \
	  .type = PARAM_BYTES,                                                          \
	  .role = ROLE_INNER,                                                           \
	  .def = "auto",                                                                \
	  .min = 4096,                                                                  \
	  .max = UINT64_C(1) << 46 },                                                   \
		{ .name = "page",                                                       \
		  .summary = "page size of the memory",                                 \
		  .type = PARAM_PAGE,                                                   \
		  .def = "base" },                                                      \
	{                                                                               \
		.name = "cpu", .summary = "CPU of parent and child", .type = PARAM_CPU, \
		.def = "auto"                                                           \
	}
#define FORK_MEMORY_PARAM                                                                \
	{                                                                                \
		.name = "memory",                                                        \
		.summary = "what is mapped: anonymous memory, a file, or shared memory", \
		.type = PARAM_CHOICE, .def = "anon", .choices = fork_memory_words        \
	}

#endif
