/* SPDX-License-Identifier: MIT */
/*
 * syscall.null - the cheapest entry into the kernel.
 *
 * Measures:  time of one call, hot in a loop, cold after an eviction.
 * Excludes:  the eviction, the loop, and the reading of the clock.
 * Trust:     entries into the kernel are counted by a tracer.
 * Source:    the test 'null' of J. Steiner's message on linux-ia64, 20 Apr 2006;
 *            getppid as in lmbench's null.
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
	"An entry into the kernel that does next to nothing: getppid by the system call\n"
	"itself. The published test of this name (2006) took 40 cycles hot: a fast system\n"
	"call of its processor without the full entry, which Linux has on no architecture\n"
	"of today; what getppid does is nearest to it.\n" SYSCALL_DESCRIPTION;

static const char *const examples[] = {
	"pagetoll run syscall.null",
	"pagetoll run syscall.null node=each evict=both,data,code,tlb",
	NULL,
};

static void get_parent(void *arg)
{
	(void)arg;
	syscall(SYS_getppid);
}

static const struct syscall_call call = { .call = get_parent, .entries = 1, .faults = -1 };

static int setup(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	return syscall_setup(ctx, &s->run, &call, NULL);
}

const struct bench bench_syscall_null = {
	.schema = { .name = "syscall.null",
		    .summary = "a system call that does next to nothing (getppid)",
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
