/* SPDX-License-Identifier: MIT */
/* Temporary files. Numbers of file systems: include/uapi/linux/magic.h, Linux 6.12. */
#include "mem/tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/units.h"

void tempfile_filesystem(int fd, char ret[32])
{
	static const struct {
		unsigned long number;
		const char *name;
	} known[] = {
		{ 0xef53, "ext2, ext3 or ext4" },
		{ 0x01021994, "tmpfs" },
		{ 0x58465342, "xfs" },
		{ 0x9123683e, "btrfs" },
		{ 0x794c7630, "overlayfs" },
		{ 0x6969, "nfs" },
		{ 0x2fc12fc1, "zfs" },
		{ 0xf2f52010, "f2fs" },
		{ 0x858458f6, "ramfs" },
		{ 0xca451a4e, "bcachefs" },
		{ 0x01021997, "9p" },
	};
	struct statfs s;

	snprintf(ret, 32, "unknown");
	if (fstatfs(fd, &s) < 0)
		return;
	snprintf(ret, 32, "0x%lx", (unsigned long)s.f_type);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].number == (unsigned long)s.f_type)
			snprintf(ret, 32, "%s", known[i].name);
}

/* O_TMPFILE where the file system has it, else a name that is taken away at once. */
static int open_nameless(struct tempfile *t, struct err *e)
{
	char path[sizeof(t->folder) + 32];

	t->fd = open(t->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (t->fd >= 0)
		return 0;
	snprintf(path, sizeof(path), "%s/pagetoll-XXXXXX", t->folder);
	t->fd = mkostemp(path, O_CLOEXEC);
	if (t->fd < 0)
		return err_set(e, errno,
			       "a file in %s: %s; set TMPDIR to a folder that can be written to",
			       t->folder, strerror(errno));
	unlink(path);
	return 0;
}

static int fill(const struct tempfile *t, uint64_t bytes, uint64_t piece, struct err *e)
{
	char *zeroes = calloc(1, TEMPFILE_PIECE_BYTES), size[UNITS_TEXT_BYTES];
	int result = zeroes ? 0 : err_set(e, ENOMEM, "no memory for a buffer");

	for (uint64_t done = 0; done < bytes && result == 0;) {
		size_t want = bytes - done < piece ? (size_t)(bytes - done) : (size_t)piece;
		ssize_t n = write(t->fd, zeroes, want);

		if (n > 0)
			done += (uint64_t)n;
		else if (errno != EINTR)
			result = err_set(e, n == 0 ? EIO : errno,
					 "writing a file of %s in %s: %s; set TMPDIR to a folder "
					 "with room",
					 format_size(size, bytes), t->folder,
					 strerror(n == 0 ? EIO : errno));
	}
	free(zeroes);
	return result;
}

int tempfile_create(uint64_t bytes, uint64_t piece_bytes, struct tempfile *ret, struct err *e)
{
	const char *folder = getenv("TMPDIR");
	struct tempfile t = TEMPFILE_NONE;
	int result;

	folder = folder && *folder ? folder : "/tmp";
	if (strlen(folder) >= sizeof(t.folder))
		return err_set(e, ENAMETOOLONG, "TMPDIR has more than %zu characters",
			       sizeof(t.folder) - 1);
	snprintf(t.folder, sizeof(t.folder), "%s", folder);
	result = open_nameless(&t, e);
	if (result == 0)
		result = fill(&t, bytes, piece_bytes, e);
	if (result < 0) {
		tempfile_done(&t);
		return result;
	}
	tempfile_filesystem(t.fd, t.filesystem);
	*ret = t;
	return 0;
}

void tempfile_done(struct tempfile *t)
{
	if (t->fd >= 0)
		close(t->fd);
	*t = TEMPFILE_NONE;
}
