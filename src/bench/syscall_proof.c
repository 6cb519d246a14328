/* SPDX-License-Identifier: MIT */
/*
 * Entries into the kernel as a tracer sees them: a child is stopped at every entry and exit, once
 * without calls and once with a known number; the difference over that number is what one call
 * does. No privilege is needed, and a call that the C library or the vDSO answers by itself shows
 * as none. Leaves out entries of grandchildren. Source: ptrace(2), PTRACE_O_TRACESYSGOOD.
 */
#include "bench/syscall_proof.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/kernel_home.h"

enum { TRACED_CALLS = 16, FAULT_ROUNDS = 4, SYSCALL_STOP = SIGTRAP | 0x80 };

static void traced_child(const struct syscall_run *run, int calls)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit(1);
	raise(SIGSTOP);
	for (int i = 0; i < calls; i++)
		run->call->call(run->arg);
	_exit(0);
}

/* Stops at entries and exits of a child that makes @calls calls; negative errno. */
static long count_stops(const struct syscall_run *run, int calls)
{
	int status, signal = 0;
	long stops = 0;
	pid_t pid = fork();

	if (pid == 0)
		traced_child(run, calls);
	if (pid < 0)
		return -errno;
	if (waitpid(pid, &status, 0) != pid)
		return -errno;
	if (!WIFSTOPPED(status))
		return -EPERM; /* may not be traced, and has ended */
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL,
		   (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)) < 0) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		return -EPERM;
	}
	for (;;) {
		if (ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(intptr_t)signal) < 0 ||
		    waitpid(pid, &status, 0) != pid)
			return -errno;
		if (!WIFSTOPPED(status))
			return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? stops : -ECHILD;
		signal = WSTOPSIG(status) == SYSCALL_STOP ? 0 : WSTOPSIG(status);
		stops += signal == 0;
	}
}

/* The least of a few: pages of this process itself fault too (after a fork, by NUMA balancing). */
static long count_faults(const struct syscall_run *run, int calls)
{
	struct rusage before, after;
	long least = -1;

	for (int round = 0; round < FAULT_ROUNDS; round++) {
		long faults;

		if (run->call->renew)
			run->call->renew(run->arg);
		getrusage(RUSAGE_SELF, &before);
		for (int i = 0; i < calls; i++)
			run->call->call(run->arg);
		getrusage(RUSAGE_SELF, &after);
		faults = after.ru_minflt - before.ru_minflt;
		if (least < 0 || faults < least)
			least = faults;
	}
	return least;
}

static void judge(struct bench_ctx *ctx, struct syscall_run *run, const char *what, double found,
		  int expected)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_per_call", what);
	bench_proof_real(ctx, name, found);
	if (found != expected)
		snprintf(run->contrary, sizeof(run->contrary),
			 "%g %s a call were counted, %d are what the name says%s", found, what,
			 expected,
			 expected == 0 ? " (the vDSO has no clock here that it can read without "
					 "the kernel: see clocksource)"
				       : "");
}

int syscall_prove_entries(struct bench_ctx *ctx, struct syscall_run *run)
{
	run->call->call(run->arg); /* whatever the first call does once */
	if (run->call->entries >= 0) {
		long without = count_stops(run, 0);
		long with = without < 0 ? without : count_stops(run, TRACED_CALLS);

		if (with < 0)
			bench_unproven(ctx,
				       "entries into the kernel: a child cannot be traced "
				       "here (%s)",
				       strerror((int)-with));
		else
			judge(ctx, run, "kernel_entries",
			      (double)(with - without) / (2 * TRACED_CALLS), run->call->entries);
	}
	if (run->call->faults >= 0)
		judge(ctx, run, "page_faults",
		      (double)count_faults(run, TRACED_CALLS) / TRACED_CALLS, run->call->faults);
	if (run->call->renew)
		run->call->renew(run->arg);
	return 0;
}

void syscall_prove_home(struct bench_ctx *ctx, const struct sysroot *sr)
{
	struct kernel_home home;
	struct err e = { 0 };

	if (kernel_home_read(sr, &home, &e) < 0) {
		bench_proof_text(ctx, "home_unknown", e.msg);
		return;
	}
	bench_proof_int(ctx, "home_node", home.node);
	bench_proof_text(ctx, "home_source", home.source);
}
