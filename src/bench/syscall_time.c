/* SPDX-License-Identifier: MIT */
/*
 * syscall.time - seconds since 1970.
 *
 * Measures:  time of one call, hot in a loop, cold after an eviction.
 * Excludes:  the eviction, the loop, and the reading of the clock.
 * Trust:     entries into the kernel are counted by a tracer.
 * Source:    the test 'time' of J. Steiner's message on linux-ia64, 20 Apr 2006.
 */
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "bench/syscall.h"

struct state {
	struct syscall_run run; /* first: see syscall_sample() */
};

static const struct param params[] = {
	SYSCALL_VIA_PARAM,
	SYSCALL_PARAMS,
	{ .name = NULL },
};

static const char description[] =
	"time(): seconds since 1970.\n"
	"In 2006 every call entered the kernel; today the C library asks the vDSO, code of\n"
	"the kernel that runs in the program. via=kernel forces the entry, via=vdso is what\n"
	"programs get. Its cold time is a lower bound: the clock of the measurement reads\n"
	"the same data, which is warm by then.\n" SYSCALL_DESCRIPTION;

static const char *const examples[] = {
	"pagetoll run syscall.time",
	"pagetoll run syscall.time via=kernel evict=data,code",
	NULL,
};

static void ask_kernel(void *arg)
{
	(void)arg;
#ifdef SYS_time
	syscall(SYS_time, NULL);
#endif
}

static void ask_vdso(void *arg)
{
	(void)arg;
	time(NULL);
}

static const struct syscall_call by_kernel = { .call = ask_kernel, .entries = 1, .faults = -1 };
static const struct syscall_call by_vdso = { .call = ask_vdso, .entries = 0, .faults = -1 };

static int setup(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

#ifndef SYS_time
	if (!syscall_is_vdso(ctx))
		return bench_skip(ctx, "this architecture has no system call \"time\"; "
				       "syscall.gettimeofday has both ways");
#endif
	return syscall_setup(ctx, &s->run, syscall_is_vdso(ctx) ? &by_vdso : &by_kernel, NULL);
}

const struct bench bench_syscall_time = {
	.schema = { .name = "syscall.time",
		    .summary = "time(), by the kernel and by the vDSO",
		    .revision = 1,
		    .params = params,
		    .metrics = syscall_metrics },
	.description = description,
	.examples = examples,
	.smoke = "via=kernel evict=tlb",
	.state_size = sizeof(struct state),
	.cost = syscall_cost,
	.setup = setup,
	.prepare = syscall_prepare,
	.sample = syscall_sample,
	.check = syscall_check,
	.teardown = syscall_teardown,
};
