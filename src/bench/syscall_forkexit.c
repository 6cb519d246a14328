/* SPDX-License-Identifier: MIT */
/*
 * syscall.forkexit - fork, exit of the child, wait.
 *
 * Measures:  time from the call that forks until the parent has the child's status.
 * Excludes:  the eviction and its buffers, which no child inherits.
 * Trust:     entries of the parent are counted by a tracer; every child's status is read.
 * Source:    the test 'forkexit' of J. Steiner's message on linux-ia64, 20 Apr 2006.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/syscall.h"

struct state {
	struct syscall_run run; /* first: see syscall_sample() */
	uint64_t lost;          /* forks that failed, children with another status */
};

static const struct param params[] = {
	SYSCALL_PARAMS,
	{ .name = NULL },
};

static const char description[] =
	"A process forks, the child exits at once, the parent waits: by system calls without\n"
	"what the C library does around them. All on one CPU. What is copied is this small\n"
	"process: its size is in the proof (fork_anon_bytes, fork_page_table_bytes); a large\n"
	"process pays for its page tables on top.\n" SYSCALL_DESCRIPTION;

static const char *const examples[] = {
	"pagetoll run syscall.forkexit",
	"pagetoll run syscall.forkexit node=each cache=cold",
	NULL,
};

static void fork_exit_wait(void *arg)
{
	struct state *s = arg;
	int status = -1;
	long pid = syscall(SYS_clone, (long)SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		for (;;)
			syscall(SYS_exit_group, 0);
	if (pid < 0 || syscall(SYS_wait4, pid, &status, 0, NULL) != pid || status != 0)
		s->lost++;
}

static const struct syscall_call call = { .call = fork_exit_wait, .entries = 2, .faults = -1 };

/* What a fork copies: private pages of this process without the eviction's, and page tables. */
static void prove_copied(struct bench_ctx *ctx, const struct state *s)
{
	struct sysroot sr;
	uint64_t anon, tables, skipped, evict = 0;

	if (s->run.cold)
		evict = evict_bytes(&s->run.evict.sizes, s->run.kinds);
	if (sysroot_init(&sr, NULL, NULL) < 0 ||
	    sysroot_read_key(&sr, "proc/self/status", "RssAnon", &anon, NULL) < 0 ||
	    sysroot_read_key(&sr, "proc/self/status", "VmPTE", &tables, NULL) < 0) {
		bench_unproven(ctx, "what fork copies: /proc/self/status does not tell");
		return;
	}
	bench_proof_int(ctx, "fork_anon_bytes", (int64_t)(anon > evict ? anon - evict : 0));
	/* the tables of what is not inherited are not copied either */
	skipped = evict / (uint64_t)sysconf(_SC_PAGESIZE) * sizeof(uint64_t);
	bench_proof_int(ctx, "fork_page_table_bytes",
			(int64_t)(tables > skipped ? tables - skipped : 0));
	bench_proof_int(ctx, "not_inherited_bytes", (int64_t)evict);
}

static int setup(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	if (syscall_setup(ctx, &s->run, &call, s) != 0)
		return 1;
	prove_copied(ctx, s);
	return 0;
}

static int check(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	if (s->lost > 0)
		return bench_invalid(ctx,
				     "%ju forks failed or children ended otherwise than by exit "
				     "(limit of processes: ulimit -u, pids.max)",
				     (uintmax_t)s->lost);
	return syscall_check(ctx, state);
}

const struct bench bench_syscall_forkexit = {
	.schema = { .name = "syscall.forkexit",
		    .summary = "fork, exit of the child, wait",
		    .revision = 1,
		    .params = params,
		    .metrics = syscall_metrics },
	.description = description,
	.examples = examples,
	.smoke = "evict=tlb",
	.faults_are_measured = true,
	.state_size = sizeof(struct state),
	.cost = syscall_cost,
	.setup = setup,
	.prepare = syscall_prepare,
	.sample = syscall_sample,
	.check = check,
	.teardown = syscall_teardown,
};
