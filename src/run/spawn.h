/* SPDX-License-Identifier: MIT */
/*
 * One worker process: fork and exec of this very program, a socket for its plan, a pipe for its
 * results, a process group of its own. The group never outlives the parent (PR_SET_PDEATHSIG) nor
 * spawn_end().
 */
#ifndef PAGETOLL_RUN_SPAWN_H
#define PAGETOLL_RUN_SPAWN_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "bench/ctx.h"

enum { WORKER_SPEC_FD = 3, WORKER_RESULT_FD = 4 };

/* Exit statuses of a child that never became a worker. */
enum { WORKER_NO_EXEC = 127, WORKER_NO_PARENT = 126 };

struct worker {
	pid_t pid;     /* also the process group's id */
	int spec_fd;   /* a non-blocking socket; -1 once closed */
	int result_fd; /* a non-blocking pipe; -1 once closed */
};

/*
 * Starts a worker that is bound to @cpu from its first instruction on (-1: not bound), with the
 * NULL-terminated "NAME=VALUE"s of @env (may be NULL) set in its environment over the inherited
 * ones. 0, -ENOMEM, or the negative errno of pipe, socketpair or fork.
 */
int spawn_worker(int64_t cpu, const char *const *env, struct worker *ret, struct err *e);
void spawn_close_spec(struct worker *w);

/*
 * Waits up to @patience_seconds for the worker to end by itself, then SIGTERM, after
 * @grace_seconds SIGKILL; kills what is left of its group and reaps all of it. Returns the wait
 * status.
 */
int spawn_end(struct worker *w, double patience_seconds, double grace_seconds);

/* The CPU that the invocation is to be bound to, -1: the benchmark has no such parameter. */
int64_t spawn_cpu(const struct invocation_spec *s);

/* Monotonic seconds. */
double spawn_now(void);

#endif
