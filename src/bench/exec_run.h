/* SPDX-License-Identifier: MIT */
/*
 * What the exec family shares: the published intervention as parameters (executable file mappings
 * populated at the start of each program; the kernel's fault-around), and running a program with
 * the kernel's account of it. Used by exec_*.c only.
 */
#ifndef PAGETOLL_BENCH_EXEC_RUN_H
#define PAGETOLL_BENCH_EXEC_RUN_H

#include "bench/bench.h"

extern const char *const exec_fill_words[];   /* "demand", "prefault" */
extern const char *const exec_around_words[]; /* "keep", "4k", ... */

struct exec_env {
	bool prefault;
	int object_fd;     /* owned: a memfd with the object to be preloaded; -1: none */
	char preload[64];  /* LD_PRELOAD=... */
	const char *v[16]; /* environment of the programs, NULL-terminated */
	size_t n;
};

/* Takes the parameter "fill". 0 or nonzero as bench_fail(). */
int exec_env_init(struct bench_ctx *ctx, struct exec_env *x);
/* Adds "NAME=VALUE", borrowed; more than there is room for is a programming error and dropped. */
void exec_env_add(struct exec_env *x, const char *text);
/* Accepts one that exec_env_init() has not seen (all zero). */
void exec_env_done(struct exec_env *x);
/*
 * Evidence, once: the object populates bytes in @program (statically linked programs load nothing),
 * and what the kernel's fault-around is.
 */
int exec_env_prove(struct bench_ctx *ctx, struct exec_env *x, const char *program);

/* What the kernel's fault-around is: as evidence, or unproven where it was asked for. */
void exec_prove_around(struct bench_ctx *ctx);

/* What one program and all that it waited for took. */
struct exec_took {
	int64_t elapsed_ns, user_ns, system_ns;
	int64_t minor_faults, major_faults;
};
/*
 * Forks and executes @path in folder @dir (NULL: here), output thrown away, and waits. Nonzero as
 * bench_fail() when it could not run or did not exit with 0.
 */
int exec_run(struct bench_ctx *ctx, const struct exec_env *x, const char *path,
	     const char *const argv[], const char *dir, struct exec_took *ret);

#define EXEC_PARAMS                                                                                \
	{ .name = "fill",                                                                          \
	  .summary = "executable file mappings: filled on demand, or at the start of a program",   \
	  .type = PARAM_CHOICE,                                                                    \
	  .def = "demand",                                                                         \
	  .choices = exec_fill_words },                                                            \
		{ .name = "fault-around",                                                          \
		  .summary =                                                                       \
			  "what a fault on a file maps around it; written to the kernel, as root", \
		  .type = PARAM_CHOICE,                                                            \
		  .def = "keep",                                                                   \
		  .choices = exec_around_words,                                                    \
		  .setting = "fault-around-bytes" },                                               \
	{                                                                                          \
		.name = "cpu", .summary = "CPU of all programs", .type = PARAM_CPU, .def = "auto"  \
	}

#endif
