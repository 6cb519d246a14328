// SPDX-License-Identifier: MIT
/*
 * A result as a file: written whole or not at all. What is no regular file is written to in place:
 * devices and pipes cannot be replaced, and behind a link (/dev/stdout is one) may stand anything.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

enum { PARTIAL_NAMES = 100 };

/* A new file beside @f->path: files that others have there are not ours to overwrite. */
static int open_partial(struct cli_file *f)
{
	for (int i = 0; i < PARTIAL_NAMES; i++) {
		if (asprintf(&f->partial, i ? "%s.part%d" : "%s.part", f->path, i) < 0) {
			f->partial = NULL;
			return -ENOMEM;
		}
		f->fd = open(f->partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (f->fd >= 0)
			return 0;
		free(f->partial);
		f->partial = NULL;
		if (errno != EEXIST)
			break;
	}
	return -errno;
}

int cli_file_open(struct cli_file *f, const char *path)
{
	struct stat st;
	int rc;

	*f = (struct cli_file){ .path = path, .fd = -1 };
	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		return f->fd < 0 ? -errno : 0;
	}
	rc = open_partial(f);
	if (rc == 0 && lstat(path, &st) == 0)
		(void)fchmod(f->fd, st.st_mode & 0777); /* as private as the old one */
	return rc;
}

int cli_file_close(struct cli_file *f, bool keep)
{
	int rc = close(f->fd) ? -errno : 0;

	if (f->partial && keep && rc == 0 && rename(f->partial, f->path))
		rc = -errno;
	if (f->partial && (!keep || rc < 0))
		unlink(f->partial);
	free(f->partial);
	f->partial = NULL;
	return rc;
}

int cli_file_write(const struct cli_file *f, const char *text, size_t n)
{
	return io_write_all(f->fd, text, n);
}

int cli_write_file(const struct common *c, const char *path, const struct str *s)
{
	struct cli_file f;
	int rc = cli_file_open(&f, path), closed;

	if (rc == 0) {
		rc = cli_file_write(&f, str_text(s), s->len);
		closed = cli_file_close(&f, rc == 0);
		rc = rc ? rc : closed;
	}
	return rc < 0 ? cli_fail(c, CLI_FATAL, "cannot write %s: %s", path, strerror(-rc))
		      : CLI_DONE;
}
