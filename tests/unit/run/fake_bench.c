/* SPDX-License-Identifier: MIT */
/* The benchmarks of fake_bench.h: well-behaved ones and every kind of ill-behaved one. */
#include "fake_bench.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "host/affinity.h"

static const char *const what_words[] = { "ok",      "knee",     "fail", "skip",     "invalid",
					  "segv",    "bus",      "kill", "hang",     "slow",
					  "garbage", "exit",     "nan",  "foreign",  "twice",
					  "closed",  "children", "half", "stubborn", NULL };
static const char *const order_words[] = { "random", "sequential", NULL };
static const char *const load_words[] = { "none", NULL };

static const struct param sweep_params[] = {
	{ .name = "n",
	  .type = PARAM_COUNT,
	  .role = ROLE_INNER,
	  .def = "auto",
	  .min = 1,
	  .max = 1000000 },
	{ .name = "what", .type = PARAM_CHOICE, .def = "ok", .choices = what_words },
	{ .name = "size", .type = PARAM_BYTES, .def = "4k", .min = 64, .max = UINT64_C(1) << 40 },
	{ .name = "stride",
	  .type = PARAM_STRIDE,
	  .def = "page",
	  .min = 8,
	  .max = UINT64_C(1) << 46 },
	{ .name = "page", .type = PARAM_PAGE, .def = "base" },
	{ .name = "order", .type = PARAM_CHOICE, .def = "random", .choices = order_words },
	{ .name = "cpu", .type = PARAM_CPU, .def = "auto" },
	{ .name = "data", .type = PARAM_NODE, .def = "local" },
	{ .name = "load", .type = PARAM_NODE, .def = "none", .choices = load_words },
	{ .name = NULL },
};
static const struct param plain_params[] = {
	{ .name = "times", .type = PARAM_COUNT, .def = "1", .min = 1, .max = 9 },
	{ .name = "cpu", .type = PARAM_CPU, .def = "auto" },
	{ .name = NULL },
};
static const struct metric metrics[] = {
	{ .name = "ref_ns",
	  .unit = "ns",
	  .better = BETTER_LOWER,
	  .estimator = EST_MIN,
	  .form = FORM_SAMPLES },
	{ .name = "table_bytes",
	  .unit = "bytes",
	  .better = BETTER_NONE,
	  .estimator = EST_MIN,
	  .form = FORM_EXACT },
	{ .name = "rare",
	  .unit = "ns",
	  .better = BETTER_NONE,
	  .estimator = EST_MIN,
	  .form = FORM_SAMPLES },
	{ .name = NULL },
};

static int sweep_grid(const struct machine *m, const struct bench_setting *s,
		      struct u64_array *values, char *note, size_t note_bytes, struct err *e)
{
	(void)m;
	if (attrs_int(&s->given, "size", 0) == 77)
		return err_set(e, ENODEV, "77 is not available here");
	if (attrs_int(&s->given, "size", 0) == 78)
		snprintf(note, note_bytes, "a note of the grid");
	for (uint64_t n = 1; n <= 1024; n *= 2)
		if (u64_array_add(values, n) < 0)
			return -ENOMEM;
	return 0;
}

static int sweep_cost(const struct machine *m, const struct bench_setting *s, uint64_t max_inner,
		      struct bench_cost *ret, struct err *e)
{
	uint64_t size = (uint64_t)attrs_int(&s->given, "size", 0);

	(void)m;
	if (size == 79)
		return err_set(e, EINVAL, "79 makes no sense with this order");
	ret->processes = size == 81 ? max_inner : 0;
	if (size == 80)
		return err_set(e, ENODEV, "80 cannot be had here");
	if (__builtin_mul_overflow(size, max_inner, &ret->arena_bytes))
		return err_set(e, ERANGE, "too large");
	ret->table_bytes = ret->arena_bytes / 512;
	ret->faults = ret->arena_bytes / 4096;
	ret->seconds = 0.001;
	return 0;
}

static int plain_cost(const struct machine *m, const struct bench_setting *s, uint64_t max_inner,
		      struct bench_cost *ret, struct err *e)
{
	(void)m;
	(void)s;
	(void)max_inner;
	(void)e;
	ret->arena_bytes = 4096;
	return 0;
}

static void write_pid(void)
{
	const char *path = getenv(FAKE_PID_FILE);
	FILE *f = path ? fopen(path, "w") : NULL;

	if (!f)
		abort();
	fprintf(f, "%d\n", (int)getpid());
	fclose(f);
}

static void send_raw(const char *text)
{
	if (write(4, text, strlen(text)) < 0)
		abort();
}

static void die_by(int sig)
{
	/* Sanitizers catch some of these. */
	signal(sig, SIG_DFL);
	raise(sig);
}

static bool is(const struct bench_ctx *ctx, const char *word)
{
	return strcmp(bench_text(ctx, "what"), word) == 0;
}

/* Returns once the child has written its pid: this worker's end may be its end at once. */
static void become_parent(void)
{
	int ready[2];
	char c;

	if (pipe(ready) < 0)
		abort();
	if (fork() == 0) {
		signal(SIGTERM, SIG_IGN);
		write_pid();
		close(ready[0]);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	while (read(ready[0], &c, 1) < 0 && errno == EINTR)
		;
	close(ready[0]);
}

/* What a worker finds around itself. */
static void prove_surroundings(struct bench_ctx *ctx)
{
	const char *env = getenv("PAGETOLL_TEST_ENV");
	struct u32_list cpus = { 0 };
	int open_above = 0, oom = -1;
	FILE *f = fopen("/proc/self/oom_score_adj", "r");

	if (f && fscanf(f, "%d", &oom) != 1)
		oom = -1;
	if (f)
		fclose(f);
	for (int fd = 5; fd < 64; fd++)
		open_above += fcntl(fd, F_GETFD) >= 0;
	if (affinity_allowed(&cpus, NULL) < 0)
		abort();
	bench_proof_int(ctx, "own_group", getpgrp() == getpid());
	bench_proof_int(ctx, "bound", cpus.n == 1 && cpus.v[0] == bench_u64(ctx, "cpu.id"));
	bench_proof_int(ctx, "oom_score_adj", oom);
	bench_proof_int(ctx, "open_above", open_above);
	bench_proof_int(ctx, "stdin_ends", read(0, &open_above, 1) == 0);
	bench_proof_int(ctx, "pid", (int64_t)getpid());
	bench_proof_text(ctx, "env", env ? env : "(none)");
	u32_list_done(&cpus);
}

static int sweep_setup(struct bench_ctx *ctx, void *state)
{
	(void)state;
	if (is(ctx, "skip"))
		return bench_skip(ctx, "no such memory here");
	if (is(ctx, "bus"))
		die_by(SIGBUS);
	if (is(ctx, "garbage"))
		send_raw("\x01what is this\n");
	if (is(ctx, "closed")) {
		close(4);
		pause();
	}
	if (is(ctx, "children"))
		become_parent();
	bench_proof_int(ctx, "max_inner", (int64_t)bench_max_inner(ctx));
	prove_surroundings(ctx);
	return 0;
}

static void hang(bool stubborn)
{
	if (stubborn)
		signal(SIGTERM, SIG_IGN);
	write_pid();
	for (;;)
		pause();
}

static int sweep_sample(struct bench_ctx *ctx, void *state)
{
	uint64_t n = bench_u64(ctx, "n");

	(void)state;
	if (is(ctx, "fail") && n == 4)
		return bench_fail(ctx, EIO, "four is broken");
	if (is(ctx, "segv") && n == 4)
		die_by(SIGSEGV);
	if (is(ctx, "kill") && n == 4)
		die_by(SIGKILL);
	if (is(ctx, "exit") && n == 4)
		_exit(3);
	if (is(ctx, "slow"))
		usleep(50000);
	if ((is(ctx, "hang") || is(ctx, "stubborn")) && n == 4)
		hang(is(ctx, "stubborn"));
	if (is(ctx, "foreign") && n == 4)
		send_raw("result 5000 ok 1 1\nend\n");
	if (is(ctx, "twice") && n == 4)
		send_raw("result 4 ok 1 1\nend\n");
	if (is(ctx, "half") && n == 4) {
		send_raw("result 4 ok 1 1\nsamples ref_ns 3 1 ");
		die_by(SIGKILL);
	}
	bench_value(ctx, 0,
		    is(ctx, "nan") && n == 4           ? NAN
		    : is(ctx, "knee") && n > FAKE_KNEE ? 5
						       : 1);
	bench_exact(ctx, 1, (int64_t)n);
	return 0;
}

static int sweep_check(struct bench_ctx *ctx, void *state)
{
	(void)state;
	if (bench_u64(ctx, "n") == 2) {
		bench_unproven(ctx, "a thing 100%% %s", "unknown");
		bench_null(ctx, 2, "two has none");
	}
	if (is(ctx, "invalid"))
		return bench_invalid(ctx, "huge pages were found");
	return 0;
}

static int plain_sample(struct bench_ctx *ctx, void *state)
{
	(void)state;
	bench_value(ctx, 0, (double)bench_u64(ctx, "times"));
	return 0;
}

/* Counts only, and exact numbers only: nothing that is sampled. */
static int events_sample(struct bench_ctx *ctx, void *state)
{
	(void)state;
	bench_count(ctx, 0, (int64_t)bench_u64(ctx, "times") - 1, 1000);
	bench_count(ctx, 1, -1, 5);
	return 0;
}

static int bytes_sample(struct bench_ctx *ctx, void *state)
{
	(void)state;
	bench_exact(ctx, 0, (int64_t)bench_u64(ctx, "times") * 4096 - 4096);
	return 0;
}

static const struct metric events_metrics[] = {
	{ "errors", "wrong words", "ratio", BETTER_LOWER, EST_MEDIAN, FORM_COUNT },
	{ "wrong", "", "ratio", BETTER_LOWER, EST_MEDIAN, FORM_COUNT },
	{ .name = NULL },
};
static const struct metric bytes_metrics[] = {
	{ "table_bytes", "page tables", "bytes", BETTER_LOWER, EST_MEDIAN, FORM_EXACT },
	{ .name = NULL },
};

static const struct bench bytes = {
	.schema = { .name = "tally.bytes",
		    .summary = "b",
		    .revision = 1,
		    .params = plain_params,
		    .metrics = bytes_metrics },
	.cost = plain_cost,
	.sample = bytes_sample,
};
static const struct bench events = {
	.schema = { .name = "tally.events",
		    .summary = "e",
		    .revision = 1,
		    .params = plain_params,
		    .metrics = events_metrics },
	.cost = plain_cost,
	.sample = events_sample,
};
static const struct bench plain = {
	.schema = { .name = "fake.plain",
		    .summary = "p",
		    .revision = 1,
		    .params = plain_params,
		    .metrics = metrics },
	.cost = plain_cost,
	.sample = plain_sample,
};
static const struct bench sweep = {
	.schema = { .name = "fake.sweep",
		    .summary = "s",
		    .revision = 1,
		    .params = sweep_params,
		    .metrics = metrics },
	.grid = sweep_grid,
	.cost = sweep_cost,
	.setup = sweep_setup,
	.sample = sweep_sample,
	.check = sweep_check,
};
static const struct bench other = {
	.schema = { .name = "other.one",
		    .summary = "o",
		    .revision = 1,
		    .params = plain_params,
		    .metrics = metrics },
	.cost = plain_cost,
	.sample = plain_sample,
};

const struct bench *const bench_table[] = { &plain, &sweep, &other, &bytes, &events, NULL };
