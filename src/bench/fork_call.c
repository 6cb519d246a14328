/* SPDX-License-Identifier: MIT */
/*
 * fork.call - the parent's pause while it makes a child, by resident size.
 *
 * Measures:  the call of fork, vfork, posix_spawn, or clone with a shared address space, and the
 *            end of a child that has done nothing.
 * Excludes:  making the memory; what both pay afterwards (fork.cow).
 * Trust:     resident size and huge entries by smaps; the child's own VmPTE tells whether page
 *            tables were copied.
 */
#include <errno.h>
#include <sched.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/fork_memory.h"
#include "host/clock.h"
#include "mem/proof.h"

enum { STACK_BYTES = 64 << 10 };

enum how { HOW_FORK, HOW_VFORK, HOW_SPAWN, HOW_CLONE_VM };
static const char *const how_words[] = { "fork", "vfork", "spawn", "clone-vm", NULL };

struct state {
	struct fork_memory memory;
	enum how how;
	char *stack;               /* owned; of a child in our address space */
	int64_t child_table_bytes; /* -1: unknown */
};

enum { M_PAUSE_NS, M_EXIT_NS, M_CHILD_TABLES };
static const struct metric metrics[] = {
	[M_PAUSE_NS] = { "pause_ns", "time that the parent spends in the call", "ns", BETTER_LOWER,
			 EST_MIN, FORM_SAMPLES },
	[M_EXIT_NS] = { "exit_ns", "end of the idle child, from its wake-up until it is gone", "ns",
			BETTER_LOWER, EST_MIN, FORM_SAMPLES },
	[M_CHILD_TABLES] = { "child_table_bytes", "page tables of the child (VmPTE)", "bytes",
			     BETTER_LOWER, EST_MEDIAN, FORM_EXACT },
	{ .name = NULL },
};

static const struct param params[] = {
	FORK_PARAMS("resident memory of the parent"),
	{ .name = "how",
	  .summary = "the call that makes the child",
	  .type = PARAM_CHOICE,
	  .def = "fork",
	  .choices = how_words },
	FORK_MEMORY_PARAM,
	{ .name = NULL },
};

static const char description[] =
	"A process with so much resident memory makes a child. fork copies the page tables of\n"
	"anonymous memory, write-protects the parent's own, and so stops the parent for a time\n"
	"that grows with its size: the snapshot of a database is this. Huge pages have few\n"
	"entries to copy. Mappings of files and of shared memory are not copied: the child\n"
	"faults them in anew. vfork, posix_spawn and clone with CLONE_VM (how=clone-vm) share\n"
	"the address space until the child executes or ends, and copy nothing.\n"
	"\n"
	"pause_ns of how=vfork includes the end of its child, that of how=spawn the start of\n"
	"/bin/true up to its first instruction: the parent waits for both.\n"
	"Not shown: what the parent pays when it writes afterwards (fork.cow).";

static const char *const examples[] = {
	"pagetoll run fork.call how=fork,vfork,spawn,clone-vm",
	"pagetoll run fork.call page=base,thp resident=1g",
	"pagetoll run fork.call memory=anon,file,shared resident=256m",
	NULL,
};

static int grid(const struct machine *m, const struct bench_setting *s,
		struct u64_array *ret_values, char *ret_note, size_t note_bytes, struct err *e)
{
	(void)m;
	(void)s;
	(void)ret_note;
	(void)note_bytes;
	return fork_memory_grid(ret_values, UINT64_C(1) << 30, e);
}

static int cost(const struct machine *m, const struct bench_setting *s, uint64_t max_inner,
		struct bench_cost *ret_cost, struct err *e)
{
	int result = fork_memory_cost(m, s, max_inner, 1, ret_cost, e);

	if (result == 0)
		ret_cost->table_bytes *= 2; /* the child's */
	return result;
}

static int setup(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;
	const char *how = bench_text(ctx, "how");

	fork_memory_init(&s->memory, ctx);
	for (int i = 0; how_words[i]; i++)
		if (strcmp(how, how_words[i]) == 0)
			s->how = (enum how)i;
	if (s->how == HOW_SPAWN && access("/bin/true", X_OK) < 0)
		return bench_skip(ctx, "how=spawn starts /bin/true, which is not there");
	s->stack = malloc(STACK_BYTES);
	return s->stack ? 0 : bench_fail(ctx, ENOMEM, "no memory for a stack");
}

static int prepare(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	s->child_table_bytes = -1;
	return fork_memory_make(ctx, &s->memory, bench_u64(ctx, "resident"));
}

/* --- children that wait ----------------------------------------------------------------------- */

static int waiting_child(void *ends)
{
	fork_child_wait(ends, proof_table_bytes());
}

static int sample_waiting(struct bench_ctx *ctx, struct state *s)
{
	struct fork_child c;
	int64_t start, ns;
	int ends[2];

	if (fork_child_pipes(ctx, &c, ends) != 0)
		return 1;
	start = clock_now_ns();
	if (s->how == HOW_CLONE_VM)
		c.pid = clone(waiting_child, s->stack + STACK_BYTES, CLONE_VM | SIGCHLD, ends);
	else
		c.pid = fork();
	ns = clock_now_ns() - start;
	if (c.pid == 0)
		waiting_child(ends);
	if (fork_child_greet(ctx, &c, ends, &s->child_table_bytes) != 0)
		return 1;
	bench_value(ctx, M_PAUSE_NS, (double)ns);
	bench_value(ctx, M_EXIT_NS, (double)fork_child_end(&c));
	return 0;
}

/* --- children for which the parent waits ------------------------------------------------------ */

static int spawn_true(pid_t *ret)
{
	static char name[] = "true";
	char *const argv[] = { name, NULL }, *const envp[] = { NULL };

	return posix_spawn(ret, "/bin/true", NULL, NULL, argv, envp);
}

static int sample_quick(struct bench_ctx *ctx, struct state *s)
{
	int64_t start = clock_now_ns(), ns;
	pid_t pid = -1;
	int code = 0, status;

	if (s->how == HOW_SPAWN) {
		code = spawn_true(&pid);
	} else {
		pid = vfork();
		if (pid == 0)
			_exit(0);
		code = pid < 0 ? errno : 0;
	}
	ns = clock_now_ns() - start;
	if (code != 0)
		return bench_fail(ctx, code, "starting a child (see ulimit -u and pids.max)");
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return bench_fail(ctx, 0, "the child did not end well (status %d)", status);
	bench_value(ctx, M_PAUSE_NS, (double)ns);
	return 0;
}

static int sample(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	return s->how == HOW_FORK || s->how == HOW_CLONE_VM ? sample_waiting(ctx, s)
							    : sample_quick(ctx, s);
}

/* Copied tables are there: a child of fork has those of the parent's anonymous memory. */
static int prove_copy(struct bench_ctx *ctx, const struct state *s)
{
	int64_t own = proof_table_bytes(), child = s->child_table_bytes;
	bool copies = s->how == HOW_FORK && s->memory.kind == FORK_ANON;

	bench_proof_int(ctx, "parent_table_bytes", own);
	if (child < 0 || own < 0) {
		bench_unproven(ctx, "page tables of the child: VmPTE cannot be read");
		return 0;
	}
	bench_exact(ctx, M_CHILD_TABLES, child);
	if (copies && 2 * child < own)
		return bench_invalid(ctx,
				     "the child has %jd bytes of page tables, the parent %jd: they "
				     "were not copied",
				     (intmax_t)child, (intmax_t)own);
	return 0;
}

static int check(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	if (fork_memory_prove(ctx, &s->memory) != 0)
		return 1;
	if (s->how == HOW_FORK || s->how == HOW_CLONE_VM)
		return prove_copy(ctx, s);
	bench_null(ctx, M_EXIT_NS, "the call itself waits for the child");
	bench_null(ctx, M_CHILD_TABLES,
		   "the child has no address space of its own until it "
		   "executes");
	return 0;
}

static void teardown(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	(void)ctx;
	fork_memory_done(&s->memory);
	free(s->stack);
}

const struct bench bench_fork_call = {
	.schema = { .name = "fork.call",
		    .summary = "the parent's pause while it makes a child",
		    .revision = 1,
		    .params = params,
		    .metrics = metrics },
	.description = description,
	.examples = examples,
	.smoke = "resident=1m",
	.faults_are_measured = true,
	.state_size = sizeof(struct state),
	.grid = grid,
	.cost = cost,
	.setup = setup,
	.prepare = prepare,
	.sample = sample,
	.check = check,
	.teardown = teardown,
};
