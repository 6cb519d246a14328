/* SPDX-License-Identifier: MIT */
/*
 * What the system-call benchmarks share: parameters, metrics, the hot loop, the cold call after an
 * eviction, and the proof that the kernel was entered. Used by syscall*.c only. Each benchmark
 * gives its call as a struct syscall_call.
 */
#ifndef PAGETOLL_BENCH_SYSCALL_H
#define PAGETOLL_BENCH_SYSCALL_H

#include <stdbool.h>

#include "bench/bench.h"
#include "mem/evict.h"
#include "mem/neighbours.h"

enum { SC_CALL_NS, SC_EMPTY_NS, SC_CLOCK_NS, SC_PROBE_NS, SC_MEMORY_NS };
extern const struct metric syscall_metrics[];

extern const char *const syscall_cache_words[]; /* "hot", "cold" */
extern const char *const syscall_evict_words[]; /* "both", "data", "code", "tlb" */
extern const char *const syscall_via_words[];   /* "kernel", "vdso" */
extern const char *const syscall_none_words[];  /* "none" */

#define SYSCALL_PARAMS                                                                        \
	{ .name = "cache",                                                                    \
	  .summary = "hot: a tight loop; cold: one call after each eviction",                 \
	  .type = PARAM_CHOICE,                                                               \
	  .def = "hot,cold",                                                                  \
	  .choices = syscall_cache_words },                                                   \
		{ .name = "evict",                                                            \
		  .summary = "what a cold call finds evicted: data and instructions (both), " \
			     "one of them, or TLBs alone",                                    \
		  .type = PARAM_CHOICE,                                                       \
		  .def = "both",                                                              \
		  .choices = syscall_evict_words },                                           \
		{ .name = "cpu",                                                              \
		  .summary = "CPU that calls; auto: one of the node",                         \
		  .type = PARAM_CPU,                                                          \
		  .def = "auto" },                                                            \
		{ .name = "node",                                                             \
		  .summary = "node that calls; each: every node with CPUs",                   \
		  .type = PARAM_NODE,                                                         \
		  .def = "local" },                                                           \
		{ .name = "load",                                                             \
		  .summary = "node whose other CPUs make cold calls meanwhile",               \
		  .type = PARAM_NODE,                                                         \
		  .def = "none",                                                              \
		  .choices = syscall_none_words },                                            \
	{                                                                                     \
		.name = "evict-node",                                                         \
		.summary = "node whose other CPUs evict their caches before a cold call too", \
		.type = PARAM_NODE, .def = "none", .choices = syscall_none_words              \
	}
#define SYSCALL_VIA_PARAM                                                                \
	{                                                                                \
		.name = "via", .summary = "through the kernel, or through the vDSO",     \
		.type = PARAM_CHOICE, .def = "kernel,vdso", .choices = syscall_via_words \
	}

struct syscall_run;

/* What one benchmark adds. Functions may be NULL but for `call`. */
struct syscall_call {
	void (*call)(void *arg); /* one call of the test; @arg is run->arg */
	/* Calls that can be made before `renew` is needed; 0: any number. */
	uint64_t most;
	void (*renew)(void *arg); /* untimed */
	/* Kernel entries of one call in the caller, as a tracer sees them; -1: no claim. */
	int entries;
	int faults; /* page faults of one call, as the kernel counts them; -1: no claim */
};

struct syscall_run {
	const struct syscall_call *call;
	void *arg;
	bool cold;
	unsigned kinds; /* of eviction; 0: hot */
	struct evict evict;
	struct neighbours load, evictors;
	uint64_t load_calls; /* made by the load before sampling */
	uint64_t hot_calls;  /* a repetition of the hot loop */
	double resolution_ns;
	double *cold_ns; /* owned: results of cold calls, until the point is finished */
	size_t n_hot, n_cold, cap_cold, n_below;
	double probe_sum;
	size_t n_probe;
	double memory_ns;
	char contrary[256]; /* evidence against what was asked; "": none */
};

/* For the descriptors. */
int syscall_cost(const struct machine *m, const struct bench_setting *s, uint64_t max_inner,
		 struct bench_cost *ret_cost, struct err *e);
/*
 * Maps what evicts, proves entries and faults of @call, names the home node of the kernel's text.
 * The call must work already. 0 or nonzero as bench_fail().
 */
int syscall_setup(struct bench_ctx *ctx, struct syscall_run *run, const struct syscall_call *call,
		  void *arg);
/* These take the struct syscall_run that must stand first in the benchmark's state. */
int syscall_prepare(struct bench_ctx *ctx, void *state);
int syscall_sample(struct bench_ctx *ctx, void *state);
int syscall_check(struct bench_ctx *ctx, void *state);
void syscall_teardown(struct bench_ctx *ctx, void *state);
/* For benchmarks without state of their own: setup() of @call without argument. */
bool syscall_is_vdso(const struct bench_ctx *ctx);

/* Text that every description of the family ends with. */
#define SYSCALL_DESCRIPTION                                                                    \
	"\n"                                                                                   \
	"Hot: calls in a tight loop, less the same loop with an empty function. Cold: one\n"   \
	"timed call after each eviction, which is not timed. evict=both streams over twice\n"  \
	"the caches of this CPU and executes more code than its private caches and\n"          \
	"instruction TLB hold; data, code and tlb do one of these. Caches that hold both\n"    \
	"instructions and data mix the contrasts: none of them is a share of instructions.\n"  \
	"A pair of clock readings right after the eviction warms the clock (clock_ns); a\n"    \
	"second pair is what was subtracted (empty_ns). probe_ns is the time of a load of a\n" \
	"line of our own after the call, memory_ns that of a line flushed by instruction:\n"   \
	"when eviction of data did not reach memory, the result is invalid.\n"                 \
	"\n"                                                                                   \
	"node=each runs it on every node with CPUs. What a node needs longer than the node\n"  \
	"that holds the kernel's text is an upper bound of what a copy of the text there\n"    \
	"could save: the kernel's data of the home node is in it as well. The home node is\n"  \
	"found in /proc/iomem (root), else it is inferred from the order of the costs.\n"      \
	"load=NODE: the node's other CPUs make cold calls of the same kind meanwhile.\n"       \
	"evict-node=NODE: they evict their caches before each cold call too; without it a\n"   \
	"line may come from another CPU's cache instead of from memory.\n"

#endif
