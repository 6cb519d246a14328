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
#include <sys/vfs.h>
#include <unistd.h>

#include "bench/syscall.h"

struct state {
	struct syscall_run run; /* first: see syscall_sample() */
	char path[256];         /* "": no file made */
	uint64_t lost;
};

static const struct param params[] = {
	SYSCALL_PARAMS,
	{ .name = NULL },
};

static const char description[] =
	"open (read only) and close of one empty file in the folder of TMPDIR, or /tmp. The\n"
	"file is made by this process, on its node. What it costs depends on the file system\n"
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

/* Magic numbers of linux/magic.h and of the file systems' own headers (Linux 6.18). */
static const char *file_system_name(unsigned long magic)
{
	static const struct {
		unsigned long magic;
		const char *name;
	} known[] = {
		{ 0x01021994, "tmpfs" }, { 0xef53, "ext2, ext3 or ext4" }, { 0x58465342, "xfs" },
		{ 0x9123683e, "btrfs" }, { 0x794c7630, "overlay" },        { 0x2fc12fc1, "zfs" },
		{ 0x6969, "nfs" },       { 0xf2f52010, "f2fs" },           { 0x01021997, "9p" },
		{ 0x858458f6, "ramfs" }, { 0x65735546, "fuse" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].magic == magic)
			return known[i].name;
	return NULL;
}

static int make_file(struct bench_ctx *ctx, struct state *s)
{
	const char *folder = getenv("TMPDIR");
	struct statfs fs;
	const char *name;
	char number[40];
	int fd, n;

	folder = folder && *folder ? folder : "/tmp";
	n = snprintf(s->path, sizeof(s->path), "%s/pagetoll-openclose-XXXXXX", folder);
	if (n < 0 || (size_t)n >= sizeof(s->path)) {
		s->path[0] = '\0';
		return bench_skip(ctx, "the folder of TMPDIR has too long a name");
	}
	fd = mkstemp(s->path);
	if (fd < 0) {
		s->path[0] = '\0';
		return bench_skip(ctx,
				  "no file can be made in %s (%s); set TMPDIR to a folder that "
				  "can be written",
				  folder, strerror(errno));
	}
	bench_proof_text(ctx, "path", s->path);
	if (fstatfs(fd, &fs) == 0) {
		name = file_system_name((unsigned long)fs.f_type);
		snprintf(number, sizeof(number), "type 0x%lx", (unsigned long)fs.f_type);
		bench_proof_text(ctx, "file_system", name ? name : number);
	} else {
		bench_unproven(ctx, "the file system: %s", strerror(errno));
	}
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

	if (s->path[0])
		unlink(s->path);
	s->path[0] = '\0';
	syscall_teardown(ctx, state);
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
