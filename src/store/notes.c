// SPDX-License-Identifier: MIT
/*
 * The journal of notes, DIR/notes: lines of percent-escaped words. The last note of a kind on a
 * subject counts. Two programs may append at once: a lock on the journal itself keeps lines whole,
 * and a line that a killed writer left torn is ended by the next one.
 *
 *	label RUN [=TEXT]          without =TEXT the run has no label
 *	baseline RUN on|off
 *	spread MACHINE BENCH VALUE RUNS
 */
#include "store/notes.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/str.h"
#include "base/units.h"

enum { MAX_WORDS = 6 };

static char *journal_path(const char *dir)
{
	char *path = NULL;

	return asprintf(&path, "%s/notes", dir) < 0 ? NULL : path;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void add_word(struct str *line, const char *text)
{
	str_add(line, " ");
	escape_word(line, text);
}

static void format_note(struct str *line, const struct note *n)
{
	char buf[UNITS_TEXT_BYTES];

	switch (n->kind) {
	case NOTE_LABEL:
		str_add(line, "label");
		add_word(line, n->subject);
		if (n->text) {
			str_add(line, " =");
			escape_word(line, n->text);
		}
		break;
	case NOTE_BASELINE:
		str_add(line, "baseline");
		add_word(line, n->subject);
		str_add(line, n->on ? " on" : " off");
		break;
	case NOTE_SPREAD:
		str_add(line, "spread");
		add_word(line, n->subject);
		add_word(line, n->text);
		str_addf(line, " %s %llu", format_real(buf, n->spread),
			 (unsigned long long)n->n_runs);
		break;
	}
	str_add(line, "\n");
}

static bool ends_torn(int fd)
{
	off_t end = lseek(fd, 0, SEEK_END);
	char last = '\n';

	return end > 0 && pread(fd, &last, 1, end - 1) == 1 && last != '\n';
}

static int write_line(int fd, const struct str *line)
{
	const char *p = str_text(line);
	size_t n = line->len;

	while (n) {
		ssize_t k = write(fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return k < 0 ? -errno : -EIO;
		p += k;
		n -= (size_t)k;
	}
	return fdatasync(fd) && errno != EINVAL && errno != EROFS ? -errno : 0;
}

static int lock_journal(int fd)
{
	while (flock(fd, LOCK_EX)) {
		if (errno == EINTR)
			continue;
		/* A file system without locks: O_APPEND still keeps short lines whole. */
		return errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS ? 0 : -errno;
	}
	return 0;
}

int notes_append(const char *dir, const struct note *n, struct err *e)
{
	char *path = journal_path(dir);
	struct str line = { 0 };
	int fd = -1;
	int rc;

	if (!path)
		return err_set(e, ENOMEM, "out of memory");
	fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	rc = fd < 0 ? -errno : lock_journal(fd);
	if (rc == 0 && ends_torn(fd))
		str_add(&line, "\n");
	format_note(&line, n);
	if (rc == 0)
		rc = line.failed ? -ENOMEM : write_line(fd, &line);
	if (fd >= 0)
		close(fd);
	if (rc)
		err_set(e, -rc, "cannot write %s: %s", path, strerror(-rc));
	str_done(&line);
	free(path);
	return rc;
}

/* --- reading ---------------------------------------------------------------------------------- */

static size_t split(char *line, char **words)
{
	char *save = NULL;
	size_t n = 0;

	for (char *w = strtok_r(line, " ", &save); w && n < MAX_WORDS;
	     w = strtok_r(NULL, " ", &save))
		words[n++] = w;
	return n;
}

static int parse_label(char **w, size_t n, struct note *ret)
{
	if (n != 2 && n != 3)
		return -EBADMSG;
	ret->kind = NOTE_LABEL;
	if (n == 2)
		return 0;
	if (w[2][0] != '=' || unescape_word(w[2] + 1, NULL))
		return -EBADMSG;
	ret->text = w[2] + 1;
	return 0;
}

static int parse_baseline(char **w, size_t n, struct note *ret)
{
	if (n != 3 || (strcmp(w[2], "on") != 0 && strcmp(w[2], "off") != 0))
		return -EBADMSG;
	ret->kind = NOTE_BASELINE;
	ret->on = strcmp(w[2], "on") == 0;
	return 0;
}

static int parse_spread(char **w, size_t n, struct note *ret)
{
	if (n != 5 || unescape_word(w[2], NULL) || parse_real(w[3], &ret->spread, NULL) ||
	    ret->spread < 0 || parse_u64(w[4], &ret->n_runs, NULL))
		return -EBADMSG;
	ret->kind = NOTE_SPREAD;
	ret->text = w[2];
	return 0;
}

static int parse_note(char *line, struct note *ret)
{
	char *w[MAX_WORDS];
	size_t n = split(line, w);

	if (n < 2 || unescape_word(w[1], NULL))
		return -EBADMSG;
	ret->subject = w[1];
	if (strcmp(w[0], "label") == 0)
		return parse_label(w, n, ret);
	if (strcmp(w[0], "baseline") == 0)
		return parse_baseline(w, n, ret);
	if (strcmp(w[0], "spread") == 0)
		return parse_spread(w, n, ret);
	return -EBADMSG;
}

static int read_lines(FILE *f, uint64_t *end, int (*each)(void *user, const struct note *n),
		      void *user)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	int rc = 0;

	while (rc == 0 && (n = getline(&line, &cap, f)) > 0) {
		struct note note = { 0 };

		if (line[n - 1] != '\n')
			break;
		*end += (uint64_t)n;
		line[n - 1] = '\0';
		if (strlen(line) == (size_t)n - 1 && parse_note(line, &note) == 0)
			rc = each(user, &note);
	}
	free(line);
	return rc;
}

int notes_read(const char *dir, uint64_t offset, int (*each)(void *user, const struct note *n),
	       void *user, uint64_t *ret_end, struct err *e)
{
	char *path = journal_path(dir);
	FILE *f = path ? fopen(path, "re") : NULL;
	uint64_t end = offset;
	int rc = 0;

	if (!path)
		rc = err_set(e, ENOMEM, "out of memory");
	else if (!f && errno != ENOENT && errno != ENOTDIR)
		rc = err_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	else if (f && fseeko(f, (off_t)offset, SEEK_SET) == 0)
		rc = read_lines(f, &end, each, user);
	if (f)
		fclose(f);
	free(path);
	if (rc == 0 && ret_end)
		*ret_end = end;
	return rc;
}

void notes_state(const char *dir, uint64_t *ret_inode, uint64_t *ret_bytes)
{
	char *path = journal_path(dir);
	struct stat st;

	*ret_inode = *ret_bytes = 0;
	if (path && stat(path, &st) == 0) {
		*ret_inode = st.st_ino;
		*ret_bytes = (uint64_t)st.st_size;
	}
	free(path);
}
