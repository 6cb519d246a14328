/* SPDX-License-Identifier: MIT */
/* Temporary folders and their keeper. */
#include "mem/tempdir.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path) < 0 && errno != ENOENT ? -1 : 0;
}

/*
 * What a killed process had started may write for a moment longer: files that come while the folder
 * is being emptied would keep it.
 */
static void remove_folder(const char *path)
{
	const struct timespec pause = { .tv_nsec = 20000000 };

	for (int tries = 0; tries < 500; tries++) {
		nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
		if (access(path, F_OK) < 0 && errno == ENOENT)
			return;
		nanosleep(&pause, NULL);
	}
}

/* In a session of its own, so that what ends the measuring processes does not end it. */
__attribute__((noreturn)) static void keep(const char *path, int alive)
{
	char c;

	setsid();
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	while (read(alive, &c, 1) < 0 && errno == EINTR)
		;
	remove_folder(path);
	_exit(0);
}

static int start_keeper(struct tempdir *t)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	t->keeper = fork();
	if (t->keeper == 0) {
		close(ends[1]);
		keep(t->path, ends[0]);
	}
	close(ends[0]);
	if (t->keeper < 0) {
		int code = errno;

		close(ends[1]);
		return -code;
	}
	t->alive = ends[1];
	return 0;
}

int tempdir_create(struct tempdir *ret, struct err *e)
{
	const char *folder = getenv("TMPDIR");
	struct tempdir t = { 0 };
	int n, rc;

	folder = folder && *folder ? folder : "/tmp";
	n = snprintf(t.path, sizeof(t.path), "%s/pagetoll-XXXXXX", folder);
	if (n < 0 || (size_t)n >= sizeof(t.path))
		return err_set(e, ENAMETOOLONG, "TMPDIR has more than %zu characters",
			       sizeof(t.path) - 17);
	if (!mkdtemp(t.path))
		return err_set(e, errno,
			       "a folder in %s: %s; set TMPDIR to a folder that can be written to",
			       folder, strerror(errno));
	rc = start_keeper(&t);
	if (rc < 0) {
		rmdir(t.path);
		return err_set(e, -rc, "a process that keeps %s: %s", t.path, strerror(-rc));
	}
	*ret = t;
	return 0;
}

void tempdir_done(struct tempdir *t)
{
	if (!t->path[0])
		return;
	close(t->alive);
	while (waitpid(t->keeper, NULL, 0) < 0 && errno == EINTR)
		;
	*t = (struct tempdir){ 0 };
}
