/* SPDX-License-Identifier: MIT */
/* Programs that are run by the exec family. */
#include "bench/exec_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/clock.h"
#include "host/settings.h"
#include "preload/preload.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U /* since Linux 6.3 */
#endif

const char *const exec_fill_words[] = { "demand", "prefault", NULL };
const char *const exec_around_words[] = { "keep", "4k", "16k", "64k", "256k", "1m", "2m", NULL };

void exec_env_add(struct exec_env *x, const char *text)
{
	if (x->n + 1 < sizeof(x->v) / sizeof(x->v[0]))
		x->v[x->n++] = text;
}

/* Not closed by exec: the programs load it as /proc/self/fd/N. */
static int make_object(struct bench_ctx *ctx, struct exec_env *x)
{
	size_t done = 0;

	x->object_fd = memfd_create("pagetoll-prefault", MFD_EXEC);
	if (x->object_fd < 0 && errno == EINVAL)
		x->object_fd = memfd_create("pagetoll-prefault", 0);
	if (x->object_fd < 0)
		return bench_fail(ctx, errno,
				  "a file in memory for the object to be preloaded "
				  "(vm.memfd_noexec?)");
	while (done < preload_prefault_bytes) {
		ssize_t n =
			write(x->object_fd, preload_prefault + done, preload_prefault_bytes - done);

		if (n <= 0)
			return bench_fail(ctx, n < 0 ? errno : EIO, "writing the object");
		done += (size_t)n;
	}
	snprintf(x->preload, sizeof(x->preload), "LD_PRELOAD=/proc/self/fd/%d", x->object_fd);
	exec_env_add(x, x->preload);
	return 0;
}

int exec_env_init(struct bench_ctx *ctx, struct exec_env *x)
{
	*x = (struct exec_env){ .object_fd = -1 };
	exec_env_add(x, "PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin");
	exec_env_add(x, "LC_ALL=C");
	x->prefault = strcmp(bench_text(ctx, "fill"), "prefault") == 0;
	return x->prefault ? make_object(ctx, x) : 0;
}

void exec_env_done(struct exec_env *x)
{
	if (x->n && x->object_fd >= 0)
		close(x->object_fd);
	*x = (struct exec_env){ .object_fd = -1 };
}

/* --- running ---------------------------------------------------------------------------------- */

__attribute__((noreturn)) static void execute(const struct exec_env *x, const char *path,
					      const char *const argv[], const char *dir)
{
	int null = open("/dev/null", O_RDWR);

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		if (null > STDERR_FILENO)
			close(null);
	}
	/* execve() takes pointers to non-const for old reasons, and changes nothing (POSIX). */
	if (!dir || chdir(dir) == 0)
		execve(path, (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)x->v);
	_exit(127);
}

static int64_t timeval_ns(struct timeval t)
{
	return (int64_t)t.tv_sec * 1000000000 + (int64_t)t.tv_usec * 1000;
}

int exec_run(struct bench_ctx *ctx, const struct exec_env *x, const char *path,
	     const char *const argv[], const char *dir, struct exec_took *ret)
{
	int64_t start = clock_now_ns();
	struct rusage u;
	int status;
	pid_t pid = fork();

	if (pid == 0)
		execute(x, path, argv, dir);
	if (pid < 0)
		return bench_fail(ctx, errno, "starting %s (see ulimit -u and pids.max)", path);
	while (wait4(pid, &status, 0, &u) < 0)
		if (errno != EINTR)
			return bench_fail(ctx, errno, "waiting for %s", path);
	*ret = (struct exec_took){ .elapsed_ns = clock_now_ns() - start,
				   .user_ns = timeval_ns(u.ru_utime),
				   .system_ns = timeval_ns(u.ru_stime),
				   .minor_faults = u.ru_minflt,
				   .major_faults = u.ru_majflt };
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFSIGNALED(status))
		return bench_fail(ctx, 0, "%s was ended by signal %d", path, WTERMSIG(status));
	return bench_fail(ctx, 0, "%s ended with status %d", path, WEXITSTATUS(status));
}

/* --- proof ------------------------------------------------------------------------------------ */

void exec_prove_around(struct bench_ctx *ctx)
{
	const struct setting_kind *k = setting_find("fault-around-bytes");
	char now[SETTING_TEXT_BYTES];
	struct sysroot sr;
	struct err e = { 0 };

	if (k && sysroot_init(&sr, NULL, &e) == 0 && setting_read(&sr, k, now, &e) == 0)
		bench_proof_text(ctx, "fault_around_bytes", now);
	else if (strcmp(bench_text(ctx, "fault-around"), "keep") != 0)
		bench_unproven(ctx, "fault-around of the kernel: %s", e.msg);
}

/* One run in which the object tells how much it populated. */
static int prove_prefault(struct bench_ctx *ctx, struct exec_env *x, const char *program)
{
	const char *const argv[] = { program, NULL };
	struct exec_took took;
	uint64_t bytes = 0;
	char tell[48];
	size_t n = x->n;
	int ends[2], rc;
	ssize_t got;

	if (pipe(ends) < 0)
		return bench_fail(ctx, errno, "a pipe for the object");
	snprintf(tell, sizeof(tell), "PAGETOLL_PREFAULT_TELL=%d", ends[1]);
	exec_env_add(x, tell);
	rc = exec_run(ctx, x, program, argv, NULL, &took);
	x->n = n;
	x->v[n] = NULL;
	close(ends[1]);
	got = read(ends[0], &bytes, sizeof(bytes));
	close(ends[0]);
	if (rc != 0)
		return rc;
	if (got != (ssize_t)sizeof(bytes) || bytes == 0)
		return bench_skip(
			ctx,
			"fill=prefault: %s loads no object (statically linked, or another "
			"C library)",
			program);
	bench_proof_int(ctx, "prefault_bytes", (int64_t)bytes);
	return 0;
}

int exec_env_prove(struct bench_ctx *ctx, struct exec_env *x, const char *program)
{
	exec_prove_around(ctx);
	return x->prefault ? prove_prefault(ctx, x, program) : 0;
}
