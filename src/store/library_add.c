// SPDX-License-Identifier: MIT
/*
 * Taking a run file into the library. Adding the same run twice changes nothing. A file is written
 * under another name, synced and renamed, so that nobody ever sees half of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "record/runfile.h"
#include "store/library.h"
#include "store/library_parts.h"

/* All bytes of a file, malloc()ed. -ENOENT without a message. */
static int read_whole(const char *path, char **ret, size_t *ret_n, struct err *e)
{
	FILE *f = fopen(path, "re");
	char *data = NULL;
	size_t n = 0, cap = 0;

	if (!f)
		return errno == ENOENT
			       ? -ENOENT
			       : err_set(e, errno, "cannot read %s: %s", path, strerror(errno));
	for (;;) {
		size_t k;

		if (n == cap) {
			char *grown = realloc(data, cap = cap ? 2 * cap : 65536);

			if (!grown)
				break;
			data = grown;
		}
		k = fread(data + n, 1, cap - n, f);
		n += k;
		if (k == 0)
			break;
	}
	if (ferror(f) || !feof(f)) {
		free(data);
		fclose(f);
		return err_set(e, EIO, "cannot read %s", path);
	}
	fclose(f);
	*ret = data;
	*ret_n = n;
	return 0;
}

static int write_and_sync(int fd, const char *data, size_t n)
{
	int rc = io_write_all(fd, data, n);

	return rc == 0 && fsync(fd) && errno != EINVAL && errno != EROFS ? -errno : rc;
}

/* @replace: a file of that name goes; otherwise it stays and -EEXIST is returned. */
static int put_file(const char *path, const char *data, size_t n, bool replace, struct err *e)
{
	char *partial = NULL;
	int rc = 0, fd;

	if (asprintf(&partial, "%s.part-XXXXXX", path) < 0)
		return err_set(e, ENOMEM, "out of memory");
	fd = mkostemp(partial, O_CLOEXEC);
	if (fd < 0) {
		rc = err_set(e, errno, "cannot create %s: %s", partial, strerror(errno));
		free(partial);
		return rc;
	}
	rc = write_and_sync(fd, data, n);
	close(fd);
	/* link() tells when another program was faster; some file systems cannot. */
	if (rc == 0 && !replace && link(partial, path) == 0)
		replace = false;
	else if (rc == 0 && !replace && errno == EEXIST)
		rc = -EEXIST;
	else if (rc == 0)
		rc = rename(partial, path) ? -errno : 0;
	unlink(partial);
	free(partial);
	if (rc)
		err_set(e, -rc, "cannot write %s: %s", path, strerror(-rc));
	return rc;
}

static bool is_prefix(const char *a, size_t n_a, const char *b, size_t n_b)
{
	return n_a <= n_b && memcmp(a, b, n_a) == 0;
}

/* -EALREADY: the program has exactly this one. */
static int check_name(const char *id, const char *data, size_t n_data, struct err *e)
{
	size_t n = strlen(id);

	for (const struct published *p = published_runs; p->name; p++) {
		if (strcmp(p->name, id) != 0)
			continue;
		if (p->n == n_data && memcmp(p->data, data, n_data) == 0)
			return -EALREADY;
		return err_set(e, EEXIST,
			       "'%s' is the name of a published run that comes with "
			       "pagetoll; give another name",
			       id);
	}
	if (library_is_word(id) || (n > 6 && strcmp(id + n - 6, ".jsonl") == 0))
		return err_set(e, EEXIST,
			       "a run cannot be called '%s': that word means something else", id);
	return 0;
}

static int place(const char *path, const struct run *r, const char *data, size_t n,
		 enum library_added *ret, struct err *e)
{
	char *there = NULL;
	size_t n_there = 0;
	int rc = read_whole(path, &there, &n_there, e);

	if (rc == -ENOENT) {
		*ret = LIBRARY_NEW;
		return put_file(path, data, n, false, e);
	}
	if (rc)
		return rc;
	if (is_prefix(data, n, there, n_there)) {
		*ret = LIBRARY_KNOWN;
	} else if (is_prefix(there, n_there, data, n)) {
		*ret = LIBRARY_LONGER;
		rc = put_file(path, data, n, true, e);
	} else {
		rc = err_set(e, EEXIST,
			     "the library has another run '%s': %s; remove that file first, or "
			     "give the new one another name",
			     r->id, path);
	}
	free(there);
	return rc;
}

int library_add(const char *data, size_t n, struct run **ret_run, enum library_added *ret,
		struct err *e)
{
	enum library_added added = LIBRARY_NEW;
	struct run *r = NULL;
	char *path = NULL;
	int rc = runfile_load_buffer(data, n, &r, e);

	if (rc)
		return rc;
	rc = check_name(r->id, data, n, e);
	if (rc == 0)
		rc = library_new_path(r->id, &path, e);
	if (rc == 0)
		rc = place(path, r, data, n, &added, e);
	if (rc == -EALREADY) {
		added = LIBRARY_KNOWN;
		rc = 0;
	}
	free(path);
	if (rc) {
		run_free(r);
		return rc;
	}
	*ret_run = r;
	*ret = added;
	return 0;
}
