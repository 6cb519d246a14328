/* SPDX-License-Identifier: MIT */
/*
 * Writing of run files. A line is one write() and one fdatasync(); a line that could not be written
 * whole is taken back, so that later lines never continue a torn one. Reading: runfile_read.c.
 */
#include "record/runfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "record/json.h"

struct runfile {
	int fd;
	char *path;          /* owned */
	struct run *schemas; /* owned: what the header declared, to check measures against */
	off_t end;           /* length of all whole lines */
};

void runfile_close(struct runfile *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	run_free(f->schemas);
	free(f->path);
	free(f);
}

/* Somebody else wrote to the file, cut it, or removed it: nothing is to be added to such a file. */
static int check_untouched(const struct runfile *f, struct err *e)
{
	struct stat st;

	if (fstat(f->fd, &st) < 0 || !S_ISREG(st.st_mode) || (st.st_nlink && st.st_size == f->end))
		return 0;
	if (!st.st_nlink)
		return err_set(e, ESTALE, "'%.200s' was removed while it was being written",
			       f->path);
	return err_set(e, ESTALE,
		       "'%.200s' was changed by another program while it was being written: it has "
		       "%lld bytes, %lld were written",
		       f->path, (long long)st.st_size, (long long)f->end);
}

static int append_line(struct runfile *f, const char *line, size_t n, struct err *e)
{
	int rc = check_untouched(f, e), torn;

	if (rc < 0)
		return rc;
	rc = io_write_all(f->fd, line, n);
	if (rc == 0 && fdatasync(f->fd) < 0 && errno != EINVAL && errno != EROFS)
		rc = -errno; /* EINVAL: a file system that cannot sync */
	if (rc == 0) {
		f->end += (off_t)n;
		return 0;
	}
	torn = ftruncate(f->fd, f->end) < 0;
	return err_set(e, -rc, "cannot write to '%.200s': %s; everything before is kept%s%s",
		       f->path, strerror(-rc), torn ? " (the torn line could not be removed)" : "",
		       rc == -ENOSPC || rc == -EDQUOT ? "; free some space there" : "");
}

/* Appends {"type": @type, ...@body}; takes the reference to @body, which may be NULL: no memory. */
static int append_object(struct runfile *f, const char *type, json_t *body, struct err *e)
{
	json_t *line = json_object();
	char *text = NULL;
	size_t n;
	int rc;

	if (body && json_object_set_new(line, "type", json_string(type)) == 0 &&
	    json_object_update(line, body) == 0)
		text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(17));
	json_decref(line);
	json_decref(body);
	if (!text)
		return err_set(e, ENOMEM, "out of memory while writing '%.200s'", f->path);
	n = strlen(text);
	text[n] = '\n'; /* in place of the NUL: line and newline in one write */
	rc = append_line(f, text, n + 1, e);
	free(text);
	return rc;
}

/* Makes the new name itself durable; best effort, not every file system can. */
static void sync_parent(const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];
	int fd;

	if (!slash)
		strcpy(dir, ".");
	else if (slash == path)
		strcpy(dir, "/");
	else if ((size_t)(slash - path) < sizeof(dir))
		*(char *)mempcpy(dir, path, (size_t)(slash - path)) = '\0';
	else
		return;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)fsync(fd);
	close(fd);
}

static int check_header(const struct run *r, struct err *e)
{
	if (!r->id || !r->source || !origin_name(r->origin))
		return err_set(e, EINVAL, "a run needs an id, a source and an origin");
	if (r->schema_version != RUN_SCHEMA_VERSION)
		return err_set(e, EINVAL, "only schema version %d can be written, not %d",
			       RUN_SCHEMA_VERSION, r->schema_version);
	return 0;
}

/* One writer at a time; where a file system has no locks, none is promised. */
static int take_lock(const struct runfile *f, struct err *e)
{
	if (flock(f->fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return 0;
	return err_set(e, EBUSY,
		       "'%.200s' is being written by another process; wait until that has ended",
		       f->path);
}

static struct runfile *file_new(const char *path, const struct run *r)
{
	struct runfile *f = calloc(1, sizeof(*f));
	size_t i;
	int rc;

	if (!f)
		return NULL;
	f->fd = -1;
	f->path = strdup(path);
	f->schemas = run_new();
	rc = f->path && f->schemas ? 0 : -ENOMEM;
	for (i = 0; rc == 0 && i < r->n_schemas; i++)
		rc = run_add_schema(f->schemas, &r->schemas[i]);
	if (rc == 0)
		return f;
	runfile_close(f);
	return NULL;
}

int runfile_create(const char *path, const struct run *r, struct runfile **ret_file, struct err *e)
{
	struct runfile *f;
	int rc = check_header(r, e);

	if (rc)
		return rc;
	f = file_new(path, r);
	if (!f)
		return err_set(e, ENOMEM, "out of memory");
	f->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
	if (f->fd < 0) {
		rc = err_set(e, errno, "cannot create run file '%.200s': %s", path,
			     strerror(errno));
		runfile_close(f);
		return rc;
	}
	rc = take_lock(f, e);
	if (rc == 0)
		rc = append_object(f, "header", json_from_header(r), e);
	if (rc) {
		unlink(path);
		runfile_close(f);
		return rc;
	}
	sync_parent(path);
	*ret_file = f;
	return 0;
}

static bool is_footer(const char *line, size_t n)
{
	json_t *o = json_loadb(line, n, 0, NULL);
	const char *type = json_string_value(json_object_get(o, "type"));
	bool yes = type && !strcmp(type, "footer");

	json_decref(o);
	return yes;
}

/* Where the next measure belongs: behind the last whole line that is no footer. */
static int find_end(const char *path, off_t *ret_end, struct err *e)
{
	FILE *in = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;
	off_t at = 0, end = 0;
	ssize_t n;
	int rc = 0;

	if (!in)
		return err_set(e, errno, "cannot read '%.200s': %s", path, strerror(errno));
	while ((n = getline(&line, &cap, in)) > 0) {
		at += n;
		if (line[n - 1] == '\n' && !is_footer(line, (size_t)n))
			end = at;
	}
	if (ferror(in))
		rc = err_set(e, EIO, "cannot read '%.200s'", path);
	free(line);
	fclose(in);
	if (rc == 0)
		*ret_end = end;
	return rc;
}

static int open_again(const char *path, const struct run *r, struct runfile **ret_file,
		      struct err *e)
{
	struct runfile *f = file_new(path, r);
	int rc;

	if (!f)
		return err_set(e, ENOMEM, "out of memory");
	f->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (f->fd < 0)
		rc = err_set(e, errno, "cannot continue run file '%.200s': %s", path,
			     strerror(errno));
	else
		rc = take_lock(f, e);
	if (rc == 0)
		*ret_file = f;
	else
		runfile_close(f);
	return rc;
}

int runfile_resume(const char *path, struct run **ret_run, struct runfile **ret_file, struct err *e)
{
	struct runfile *f = NULL;
	struct run *r = NULL, *now = NULL;
	int rc = runfile_load(path, &r, e);

	if (rc)
		return rc;
	rc = open_again(path, r, &f, e);
	if (rc == 0)
		rc = find_end(path, &f->end, e);
	if (rc == 0 && ftruncate(f->fd, f->end) < 0)
		rc = err_set(e, errno, "cannot continue run file '%.200s': %s", path,
			     strerror(errno));
	/* Once more: what counts is what stays, and another writer may have come and gone. */
	if (rc == 0)
		rc = runfile_load(path, &now, e);
	run_free(r);
	if (rc) {
		run_free(now);
		runfile_close(f);
		return rc;
	}
	now->has_footer = now->complete = false;
	now->stop_reason = NULL;
	now->end_unix_ns = 0;
	*ret_run = now;
	*ret_file = f;
	return 0;
}

/* A line that the reader would refuse must not be written: the run would lose it silently. */
static int check_measure(const struct runfile *f, const struct measure *m, struct err *e)
{
	const struct bench_schema *s = m->bench ? run_schema(f->schemas, m->bench) : NULL;
	size_t i;

	if (!s)
		return err_set(e, EINVAL,
			       "measure of '%.80s', which the run's header does not declare",
			       m->bench ? m->bench : "(none)");
	if (!verdict_name(m->verdict))
		return err_set(e, EINVAL, "measure of '%.80s' with unknown verdict %d", m->bench,
			       (int)m->verdict);
	if (!measure_arm_is_valid(m->arm))
		return err_set(e, EINVAL,
			       "measure of '%.80s' of arm '%.20s', which is neither A nor B",
			       m->bench, m->arm);
	for (i = 0; i < m->n_series; i++) {
		const struct series *x = &m->series[i];
		bool good = x->metric && schema_metric(s, x->metric);

		if (!good)
			return err_set(e, EINVAL, "series '%.80s', which '%.80s' does not declare",
				       x->metric ? x->metric : "(none)", m->bench);
		if (x->null_reason || x->n == 0)
			continue;
		if ((x->form == FORM_EXACT && x->n != 1) || (x->form == FORM_COUNT && x->n != 2) ||
		    (x->form == FORM_SUMMARY && x->n != 1 && x->n != 3))
			return err_set(e, EINVAL,
				       "series '%.80s' of '%.80s' has %zu values, "
				       "which its form does not allow",
				       x->metric, m->bench, x->n);
	}
	return 0;
}

int runfile_append(struct runfile *f, const struct measure *m, struct err *e)
{
	int rc = check_measure(f, m, e);

	return rc ? rc : append_object(f, "measure", json_from_measure(m), e);
}

int runfile_append_environment(struct runfile *f, const struct environment *v, struct err *e)
{
	if (!measure_arm_is_valid(v->arm))
		return err_set(e, EINVAL, "environment of arm '%.20s', which is neither A nor B",
			       v->arm);
	return append_object(f, "environment", json_from_environment(v), e);
}

int runfile_finish(struct runfile *f, const struct run *r, struct err *e)
{
	return append_object(f, "footer", json_from_footer(r), e);
}
