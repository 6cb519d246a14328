/* SPDX-License-Identifier: MIT */
/*
 * syscall.pid - getpid.
 *
 * Measures:  time of one call, hot in a loop, cold after an eviction.
 * Excludes:  the eviction, the loop, and the reading of the clock.
 * Trust:     entries into the kernel are counted by a tracer.
 * Source:    the test 'pid' of J. Steiner's message on linux-ia64, 20 Apr 2006.
 */
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/syscall.h"

struct state {
	struct syscall_run run; /* first: see syscall_sample() */
};

static const struct param params[] = {
	SYSCALL_PARAMS,
	{ .name = NULL },
};

static const char description[] =
	"getpid by the system call itself, so that no C library can keep the answer.\n" SYSCALL_DESCRIPTION;

static const char *const examples[] = {
	"pagetoll run syscall.pid",
	NULL,
};

static void get_pid(void *arg)
{
	(void)arg;
	syscall(SYS_getpid);
}

static const struct syscall_call call = { .call = get_pid, .entries = 1, .faults = -1 };

static int setup(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	return syscall_setup(ctx, &s->run, &call, NULL);
}

const struct bench bench_syscall_pid = {
	.schema = { .name = "syscall.pid",
		    .summary = "system call getpid",
		    .revision = 1,
		    .params = params,
		    .metrics = syscall_metrics },
	.description = description,
	.examples = examples,
	.smoke = "evict=tlb",
	.state_size = sizeof(struct state),
	.cost = syscall_cost,
	.setup = setup,
	.prepare = syscall_prepare,
	.sample = syscall_sample,
	.check = syscall_check,
	.teardown = syscall_teardown,
};
