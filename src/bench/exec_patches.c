/* SPDX-License-Identifier: MIT */
/*
 * exec.patches - applying and removing a stack of patches with quilt.
 *
 * Measures:  system, user and elapsed time and page faults of `quilt push -a` or `quilt pop -a`
 * over a generated series, with everything that these shell scripts start. Excludes:  making the
 * series; the opposite direction. Trust:     quilt's own list of applied patches; times and faults
 * are the kernel's account. Source:    A. Morton's message of December 2002 (published run
 * prefault-times-2002) measured a stack of 99 patches with the scripts that quilt grew out of.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.h"
#include "bench/exec_run.h"
#include "mem/tempdir.h"

enum { FILES = 20, LINES = 64, PATCH_DISTANCE = 8, PATH_BYTES = 640 };

static const char *const script_words[] = { "pushpatch", "poppatch", NULL };

struct state {
	struct exec_env env;
	struct tempdir dir;
	char quilt[256];
	char home[sizeof("HOME=") + 512];
	uint64_t patches;
	bool push;
};

enum { M_SYSTEM_NS, M_USER_NS, M_ELAPSED_NS, M_FAULTS };
static const struct metric metrics[] = {
	[M_SYSTEM_NS] = { "system_ns", "time in the kernel", "ns", BETTER_LOWER, EST_MIN,
			  FORM_SAMPLES },
	[M_USER_NS] = { "user_ns", "time in user mode", "ns", BETTER_LOWER, EST_MIN, FORM_SAMPLES },
	[M_ELAPSED_NS] = { "elapsed_ns", "elapsed time", "ns", BETTER_LOWER, EST_MIN,
			   FORM_SAMPLES },
	[M_FAULTS] = { "faults", "page faults, per patch", "faults", BETTER_LOWER, EST_MEDIAN,
		       FORM_COUNT },
	{ .name = NULL },
};

static const struct param params[] = {
	{ .name = "script",
	  .summary = "pushpatch applies the stack of patches, poppatch removes it",
	  .type = PARAM_CHOICE,
	  .def = "pushpatch",
	  .choices = script_words },
	{ .name = "patches",
	  .summary = "patches in the stack",
	  .type = PARAM_COUNT,
	  .def = "99",
	  .min = 1,
	  .max = FILES * (LINES / PATCH_DISTANCE - 1) },
	EXEC_PARAMS,
	{ .name = NULL },
};

static const char description[] =
	"The load of the published message: a stack of 99 patches applied and removed by\n"
	"shell scripts, which fork and execute small programs all the time. quilt is what\n"
	"those scripts became. The series is generated, small, and in a folder of its own in\n"
	"TMPDIR; quilt must be installed (apt-get install quilt).\n"
	"\n"
	"fill and fault-around are those of exec.storm. The published patch saved 36 % of\n"
	"the page faults and cost 18 to 19 % more system time:\n"
	"pagetoll compare prefault-times-2002 --by fill=demand,prefault";

static const char *const examples[] = {
	"pagetoll run exec.patches script=pushpatch,poppatch fill=demand,prefault",
	"sudo pagetoll run exec.patches fault-around=4k,64k,2m",
	NULL,
};

static int cost(const struct machine *m, const struct bench_setting *s, uint64_t max_inner,
		struct bench_cost *ret_cost, struct err *e)
{
	(void)m;
	(void)max_inner;
	(void)e;
	/* both ways, about 60 ms a patch each */
	*ret_cost = (struct bench_cost){
		.processes = 8, /* of a pipe in a shell script */
		.seconds = 2 * 0.06 * (double)attrs_int(&s->given, "patches", 99),
	};
	return 0;
}

/* --- the series ------------------------------------------------------------------------------- */

static FILE *open_in(const struct state *s, const char *name, const char *mode)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", s->dir.path, name);
	return fopen(path, mode);
}

/* Files of numbered lines. */
static bool write_files(const struct state *s)
{
	bool ok = true;

	for (int f = 0; f < FILES && ok; f++) {
		char name[32];
		FILE *out;

		snprintf(name, sizeof(name), "file%02d", f);
		out = open_in(s, name, "w");
		if (!out)
			return false;
		for (int i = 1; i <= LINES; i++)
			fprintf(out, "file %d, line %d\n", f, i);
		ok = fclose(out) == 0;
	}
	return ok;
}

/* Patch @k changes one line, far enough from the lines that others change. */
static bool write_patch(const struct state *s, int k, FILE *series)
{
	int f = k % FILES, line = (k / FILES + 1) * PATCH_DISTANCE;
	char name[48];
	FILE *out;

	snprintf(name, sizeof(name), "patches/p%03d.patch", k);
	out = open_in(s, name, "w");
	if (!out)
		return false;
	fprintf(out, "--- a/file%02d\n+++ b/file%02d\n@@ -%d,7 +%d,7 @@\n", f, f, line - 3,
		line - 3);
	for (int i = line - 3; i <= line + 3; i++) {
		fprintf(out, "%cfile %d, line %d\n", i == line ? '-' : ' ', f, i);
		if (i == line)
			fprintf(out, "+file %d, line %d, patch %d\n", f, i, k);
	}
	fprintf(series, "p%03d.patch\n", k);
	return fclose(out) == 0;
}

static bool write_series(const struct state *s)
{
	char path[PATH_BYTES];
	FILE *series;
	bool ok = true;

	snprintf(path, sizeof(path), "%s/patches", s->dir.path);
	if (mkdir(path, 0700) < 0)
		return false;
	series = open_in(s, "patches/series", "w");
	if (!series)
		return false;
	for (int k = 0; k < (int)s->patches && ok; k++)
		ok = write_patch(s, k, series);
	return fclose(series) == 0 && ok;
}

/* --- quilt ------------------------------------------------------------------------------------ */

static int find_quilt(struct bench_ctx *ctx, struct state *s)
{
	static const char *const folders[] = { "/usr/local/bin", "/usr/bin", "/bin" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(s->quilt, sizeof(s->quilt), "%s/quilt", folders[i]);
		if (access(s->quilt, X_OK) == 0)
			return 0;
	}
	return bench_skip(ctx, "quilt is not installed (as root: apt-get install quilt)");
}

static int64_t count_applied(const struct state *s)
{
	FILE *in = open_in(s, ".pc/applied-patches", "r");
	int64_t lines = 0;

	for (int c = in ? getc(in) : EOF; c != EOF; c = getc(in))
		lines += c == '\n';
	if (in)
		fclose(in);
	return lines;
}

static int run_quilt(struct bench_ctx *ctx, struct state *s, bool push, struct exec_took *ret)
{
	const char *const argv[] = { "quilt", "--quiltrc", "-", push ? "push" : "pop",
				     "-a",    "-q",        NULL };
	int64_t applied;

	if (exec_run(ctx, &s->env, s->quilt, argv, s->dir.path, ret) != 0)
		return 1;
	applied = count_applied(s);
	if (applied != (push ? (int64_t)s->patches : 0))
		return bench_invalid(ctx, "%jd of %ju patches are applied after quilt %s -a",
				     (intmax_t)applied, (uintmax_t)s->patches,
				     push ? "push" : "pop");
	return 0;
}

static int setup(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;
	struct err e = { 0 };

	s->patches = bench_u64(ctx, "patches");
	s->push = strcmp(bench_text(ctx, "script"), "pushpatch") == 0;
	if (find_quilt(ctx, s) != 0 || exec_env_init(ctx, &s->env) != 0 ||
	    exec_env_prove(ctx, &s->env, "/bin/true") != 0)
		return 1;
	if (tempdir_create(&s->dir, &e) < 0)
		return bench_fail(ctx, e.code, "%s", e.msg);
	if (!write_files(s) || !write_series(s))
		return bench_fail(ctx, errno, "writing a series of patches in %s", s->dir.path);
	snprintf(s->home, sizeof(s->home), "HOME=%s", s->dir.path);
	exec_env_add(&s->env, s->home);
	exec_env_add(&s->env, "QUILT_PATCHES=patches");
	return 0;
}

static int sample(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;
	struct exec_took push, pop;
	const struct exec_took *t = s->push ? &push : &pop;

	if (run_quilt(ctx, s, true, &push) != 0 || run_quilt(ctx, s, false, &pop) != 0)
		return 1;
	bench_value(ctx, M_SYSTEM_NS, (double)t->system_ns);
	bench_value(ctx, M_USER_NS, (double)t->user_ns);
	bench_value(ctx, M_ELAPSED_NS, (double)t->elapsed_ns);
	bench_count(ctx, M_FAULTS, t->minor_faults, (int64_t)s->patches);
	bench_enough(ctx); /* thousands of programs each: another process says more */
	return 0;
}

static void teardown(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	(void)ctx;
	exec_env_done(&s->env);
	tempdir_done(&s->dir);
}

const struct bench bench_exec_patches = {
	.schema = { .name = "exec.patches",
		    .summary = "a stack of patches applied and removed by shell scripts",
		    .revision = 1,
		    .params = params,
		    .metrics = metrics },
	.description = description,
	.examples = examples,
	.smoke = "patches=2",
	.faults_are_measured = true,
	.state_size = sizeof(struct state),
	.cost = cost,
	.setup = setup,
	.sample = sample,
	.teardown = teardown,
};
