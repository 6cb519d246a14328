/* SPDX-License-Identifier: MIT */
/*
 * exec.storm - a storm of small programs: fork, exec, exit.
 *
 * Measures:  elapsed, system and user time and page faults of a small dynamically linked program,
 *            one after the other.
 * Excludes:  reading its files: they are in the page cache after the first.
 * Trust:     times and faults are the kernel's account of each process; the preloaded object tells
 *            what it populated.
 * Source:    the load of A. Morton's message of December 2002 is of this kind; exec.patches is it.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "bench/exec_run.h"

static const char program[] = "/bin/true";

struct state {
	struct exec_env env;
};

enum { M_EXEC_NS, M_SYSTEM_NS, M_USER_NS, M_FAULTS, M_MAJOR };
static const struct metric metrics[] = {
	[M_EXEC_NS] = { "exec_ns", "fork, exec and exit of one program", "ns", BETTER_LOWER,
			EST_MIN, FORM_SAMPLES },
	[M_SYSTEM_NS] = { "system_ns", "of these in the kernel", "ns", BETTER_LOWER, EST_MIN,
			  FORM_SAMPLES },
	[M_USER_NS] = { "user_ns", "of these in user mode", "ns", BETTER_LOWER, EST_MIN,
			FORM_SAMPLES },
	[M_FAULTS] = { "faults", "page faults, per program", "faults", BETTER_LOWER, EST_MEDIAN,
		       FORM_COUNT },
	[M_MAJOR] = { "major_faults", "page faults that waited for a disk, per program", "faults",
		      BETTER_NONE, EST_MEDIAN, FORM_COUNT },
	{ .name = NULL },
};

static const struct param params[] = {
	{ .name = "programs",
	  .summary = "programs in one repetition",
	  .type = PARAM_COUNT,
	  .def = "50",
	  .min = 1,
	  .max = 100000 },
	EXEC_PARAMS,
	{ .name = NULL },
};

static const char description[] =
	"/bin/true is forked, executed and waited for, again and again: what scripts, builds\n"
	"and configure runs spend their time on. Most of it is page faults on files that are\n"
	"in memory already: the program, the dynamic linker, the C library.\n"
	"\n"
	"fill=prefault loads an object into each program that populates all executable file\n"
	"mappings before main(): fewer faults, for the price of mapping pages that are never\n"
	"used, and of unmapping them again. fault-around=... does so in the kernel, in a window\n"
	"around each fault (4k: off; 64k is the kernel's default), as root; the setting is put\n"
	"back afterwards. Fewer faults are not always less time: compare faults and system_ns,\n"
	"and let pagetoll profile tell where the time went.\n"
	"\n"
	"The object does not see what the dynamic linker touched before it, and its own\n"
	"loading is in the time; times of user and kernel mode are the kernel's account.";

static const char *const examples[] = {
	"pagetoll run exec.storm fill=demand,prefault",
	"sudo pagetoll run exec.storm fault-around=4k,64k,2m",
	"pagetoll profile -- pagetoll run --no-save exec.storm fill=prefault",
	NULL,
};

static int cost(const struct machine *m, const struct bench_setting *s, uint64_t max_inner,
		struct bench_cost *ret_cost, struct err *e)
{
	(void)m;
	(void)max_inner;
	(void)e;
	*ret_cost = (struct bench_cost){
		.processes = 1,
		.seconds = 3e-3 * (double)attrs_int(&s->given, "programs", 50),
	};
	return 0;
}

static int setup(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	if (access(program, X_OK) < 0)
		return bench_skip(ctx, "%s is not there", program);
	if (exec_env_init(ctx, &s->env) != 0)
		return 1;
	return exec_env_prove(ctx, &s->env, program);
}

static int sample(struct bench_ctx *ctx, void *state)
{
	const char *const argv[] = { program, NULL };
	struct state *s = state;
	uint64_t n = bench_u64(ctx, "programs");
	struct exec_took all = { 0 }, one;

	for (uint64_t i = 0; i < n; i++) {
		if (exec_run(ctx, &s->env, program, argv, NULL, &one) != 0)
			return 1;
		all.elapsed_ns += one.elapsed_ns;
		all.system_ns += one.system_ns;
		all.user_ns += one.user_ns;
		all.minor_faults += one.minor_faults;
		all.major_faults += one.major_faults;
	}
	bench_value(ctx, M_EXEC_NS, (double)all.elapsed_ns / (double)n);
	bench_value(ctx, M_SYSTEM_NS, (double)all.system_ns / (double)n);
	bench_value(ctx, M_USER_NS, (double)all.user_ns / (double)n);
	bench_count(ctx, M_FAULTS, all.minor_faults, (int64_t)n);
	bench_count(ctx, M_MAJOR, all.major_faults, (int64_t)n);
	return 0;
}

static void teardown(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	(void)ctx;
	exec_env_done(&s->env);
}

const struct bench bench_exec_storm = {
	.schema = { .name = "exec.storm",
		    .summary = "a storm of small programs: fork, exec, exit",
		    .revision = 1,
		    .params = params,
		    .metrics = metrics },
	.description = description,
	.examples = examples,
	.smoke = "programs=2",
	.faults_are_measured = true,
	.state_size = sizeof(struct state),
	.cost = cost,
	.setup = setup,
	.sample = sample,
	.teardown = teardown,
};
