/* SPDX-License-Identifier: MIT */
/*
 * syscall.openclose - open and close of a file.
 *
 * Measures:  time of open and close of one existing file, read only.
 * Excludes:  making the file, which this process does on the same CPU beforehand.
 * Trust:     entries are counted by a tracer, every descriptor is checked; file system and path
 *            are told.
 * Source:    the test 'openclose' of J. Steiner's message on linux-ia64, 20 Apr 2006.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/syscall.h"
#include "mem/tempdir.h"
#include "mem/tempfile.h"

struct state {
	struct syscall_run run; /* first: see syscall_sample() */
	struct tempdir dir;     /* goes with this process, whatever ends it */
	char path[sizeof(((struct tempdir *)0)->path) + 8];
	uint64_t lost;
};

static const struct param params[] = {
	SYSCALL_PARAMS,
	{ .name = NULL },
};

static const char description[] =
	"open (read only) and close of one empty file, in a folder of its own below that of\n"
	"TMPDIR, or /tmp. The file is made by this process, on its node. What it costs depends on the file system\n"
	"and on how many folders the path has: both are in the proof (file_system, path).\n" SYSCALL_DESCRIPTION;

static const char *const examples[] = {
	"pagetoll run syscall.openclose",
	"pagetoll run syscall.openclose node=each",
	NULL,
};

static void open_close(void *arg)
{
	struct state *s = arg;
	long fd = syscall(SYS_openat, AT_FDCWD, s->path, O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0 || syscall(SYS_close, fd) < 0)
		s->lost++;
}

static const struct syscall_call call = { .call = open_close, .entries = 2, .faults = -1 };

static int make_file(struct bench_ctx *ctx, struct state *s)
{
	struct err e = { 0 };
	char name[32];
	int fd;

	if (tempdir_create(&s->dir, &e) < 0)
		return bench_skip(ctx, "%s", e.msg);
	snprintf(s->path, sizeof(s->path), "%s/file", s->dir.path);
	fd = open(s->path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return bench_skip(ctx, "no file can be made in %s (%s)", s->dir.path,
				  strerror(errno));
	tempfile_filesystem(fd, name);
	bench_proof_text(ctx, "path", s->path);
	bench_proof_text(ctx, "file_system", name);
	close(fd);
	return 0;
}

static int setup(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	if (make_file(ctx, s) != 0)
		return 1;
	return syscall_setup(ctx, &s->run, &call, s);
}

static int check(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	if (s->lost > 0)
		return bench_invalid(ctx, "%ju times the file could not be opened or closed",
				     (uintmax_t)s->lost);
	return syscall_check(ctx, state);
}

static void teardown(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	syscall_teardown(ctx, state);
	tempdir_done(&s->dir);
}

const struct bench bench_syscall_openclose = {
	.schema = { .name = "syscall.openclose",
		    .summary = "open and close of a file",
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
	.check = check,
	.teardown = teardown,
};
