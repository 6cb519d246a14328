/* SPDX-License-Identifier: MIT */
/*
 * fork.unmap - what giving memory back costs: munmap, and the exit of a process that has it.
 *
 * Measures:  one munmap of resident memory, or the end of a process with it.
 * Excludes:  making the memory.
 * Trust:     resident size and huge entries by smaps before it goes.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "bench/fork_memory.h"
#include "host/clock.h"

static const char *const by_words[] = { "munmap", "exit", NULL };

struct state {
	struct fork_memory memory;
	bool by_exit;
	double gib;
};

enum { M_UNMAP_NS, M_GIB_NS };
static const struct metric metrics[] = {
	[M_UNMAP_NS] = { "unmap_ns", "giving the memory back", "ns", BETTER_LOWER, EST_MIN,
			 FORM_SAMPLES },
	[M_GIB_NS] = { "gib_ns", "the same for each GiB", "ns", BETTER_LOWER, EST_MIN,
		       FORM_SAMPLES },
	{ .name = NULL },
};

static const struct param params[] = {
	FORK_PARAMS("resident memory that is given back"),
	{ .name = "by",
	  .summary = "munmap of the memory, or exit of a process that has it",
	  .type = PARAM_CHOICE,
	  .def = "munmap",
	  .choices = by_words },
	FORK_MEMORY_PARAM,
	{ .name = NULL },
};

static const char description[] =
	"Memory is mapped and populated, untimed, and given back, timed: by munmap, or by the\n"
	"end of a child process that mapped it (from its wake-up until the parent has seen it\n"
	"end, with everything else that a small process has). Anonymous pages are freed;\n"
	"pages of files and of shared memory stay, only their entries go.\n"
	"\n"
	"gib_ns divides by the size: it falls with growing size until fixed costs no longer\n"
	"show. Ends of large processes stop whoever waits for their memory or their lock.";

static const char *const examples[] = {
	"pagetoll run fork.unmap by=munmap,exit",
	"pagetoll run fork.unmap page=base,thp resident=1g",
	"pagetoll run fork.unmap memory=anon,file,shared resident=64m",
	NULL,
};

static int grid(const struct machine *m, const struct bench_setting *s,
		struct u64_array *ret_values, char *ret_note, size_t note_bytes, struct err *e)
{
	(void)m;
	(void)s;
	(void)ret_note;
	(void)note_bytes;
	return fork_memory_grid(ret_values, UINT64_C(256) << 20, e);
}

static int cost(const struct machine *m, const struct bench_setting *s, uint64_t max_inner,
		struct bench_cost *ret_cost, struct err *e)
{
	int result = fork_memory_cost(m, s, max_inner, 1, ret_cost, e);

	if (result == 0) /* made anew for each repetition */
		ret_cost->seconds = 3 * 1e-6 * (double)(max_inner / m->page_bytes);
	return result;
}

static int setup(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	fork_memory_init(&s->memory, ctx);
	s->by_exit = strcmp(bench_text(ctx, "by"), "exit") == 0;
	return 0;
}

static int prepare(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	if (fork_memory_back(ctx, &s->memory, bench_u64(ctx, "resident")) != 0)
		return 1;
	s->gib = (double)s->memory.bytes / (double)(1 << 30);
	return 0;
}

static void note(struct bench_ctx *ctx, const struct state *s, int64_t ns)
{
	bench_value(ctx, M_UNMAP_NS, (double)ns);
	bench_value(ctx, M_GIB_NS, (double)ns / s->gib);
}

/* The child maps memory of its own; that it could not is told by its early end alone. */
static int sample_exit(struct bench_ctx *ctx, struct state *s)
{
	int64_t unused;
	struct fork_child c;
	int ends[2];

	if (fork_child_pipes(ctx, &c, ends) != 0)
		return 1;
	c.pid = fork();
	if (c.pid == 0) {
		if (fork_memory_map(ctx, &s->memory) != 0)
			_exit(1);
		fork_child_wait(ends, 0);
	}
	if (fork_child_greet(ctx, &c, ends, &unused) != 0)
		return 1;
	note(ctx, s, fork_child_end(&c));
	return 0;
}

static int sample(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;
	int64_t start;

	if (s->by_exit)
		return sample_exit(ctx, s);
	if (fork_memory_map(ctx, &s->memory) != 0)
		return 1;
	start = clock_now_ns();
	fork_memory_unmap(&s->memory);
	note(ctx, s, clock_now_ns() - start);
	return 0;
}

/* What was given back is gone: memory mapped in the same way tells what it was. */
static int check(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	if (fork_memory_map(ctx, &s->memory) != 0)
		return 1;
	return fork_memory_prove(ctx, &s->memory);
}

static void teardown(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	(void)ctx;
	fork_memory_done(&s->memory);
}

const struct bench bench_fork_unmap = {
	.schema = { .name = "fork.unmap",
		    .summary = "munmap and exit of resident memory",
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
