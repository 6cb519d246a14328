// SPDX-License-Identifier: MIT
/*
 * The library of runs: a folder of run files, and what a name of a run may be: a file, a published
 * run, or one of the library (library_find.c).
 *
 * Left out: writing run files (record/runfile.h), history and queries (store/index.h).
 * Source of the place: XDG Base Directory Specification 0.8, "XDG_DATA_HOME".
 */
#include "store/library.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "record/runfile.h"
#include "store/library_parts.h"

char *library_dir(struct err *e)
{
	const char *data = getenv("PAGETOLL_DATA");
	const char *xdg = getenv("XDG_DATA_HOME");
	const char *home = getenv("HOME");
	char *dir = NULL;
	int n;

	if (data && *data)
		n = asprintf(&dir, "%s/runs", data);
	else if (xdg && *xdg == '/') /* the specification: a relative one is to be ignored */
		n = asprintf(&dir, "%s/pagetoll/runs", xdg);
	else if (home && *home)
		n = asprintf(&dir, "%s/.local/share/pagetoll/runs", home);
	else {
		err_set(e, ENOENT,
			"no folder for runs: neither PAGETOLL_DATA, XDG_DATA_HOME nor "
			"HOME is set; set PAGETOLL_DATA to a folder");
		return NULL;
	}
	if (n < 0) {
		err_set(e, ENOMEM, "out of memory");
		return NULL;
	}
	return dir;
}

static int make_dirs(char *path, struct err *e)
{
	for (char *p = path + 1;; p++) {
		char saved = *p;

		if (saved != '/' && saved != '\0')
			continue;
		*p = '\0';
		if (mkdir(path, 0700) && errno != EEXIST) {
			int code = errno;
			struct stat st;

			/* An existing folder in a read-only place may say EROFS or EACCES. */
			if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
				err_set(e, code, "cannot create the folder %s: %s", path,
					strerror(code));
				return -code;
			}
		}
		*p = saved;
		if (!saved)
			return 0;
	}
}

int library_new_path(const char *run_id, char **ret_path, struct err *e)
{
	char *dir = library_dir(e);
	char *path = NULL;
	int rc;

	if (!dir)
		return e && e->code ? -e->code : -ENOENT;
	rc = make_dirs(dir, e);
	if (rc == 0 && asprintf(&path, "%s/%s" LIBRARY_SUFFIX, dir, run_id) < 0)
		rc = err_set(e, ENOMEM, "out of memory");
	free(dir);
	if (rc == 0)
		*ret_path = path;
	return rc;
}

static int load_path(char *path, struct run **ret_run, char **ret_path, struct err *e)
{
	int rc = runfile_load(path, ret_run, e);

	if (rc == 0 && ret_path)
		*ret_path = path;
	else
		free(path);
	return rc;
}

static int load_from_library(const char *name, struct run **ret_run, char **ret_path, struct err *e)
{
	char *dir = library_dir(e);
	char *path = NULL;
	int rc;

	if (!dir)
		return e && e->code ? -e->code : -ENOENT;
	rc = library_find(dir, name, &path, e);
	if (rc == 0)
		rc = load_path(path, ret_run, ret_path, e);
	free(dir);
	return rc;
}

static bool is_path(const char *name)
{
	size_t n = strlen(name);

	return strchr(name, '/') || (n > 6 && strcmp(name + n - 6, ".jsonl") == 0);
}

static int refuse_label(struct err *e, const char *text, const char *why)
{
	return err_set(e, EINVAL, "'%.120s' cannot be a label: %s", text, why);
}

int library_check_label(const char *text, struct err *e)
{
	size_t n = strlen(text);

	if (n == 0 || n > LIBRARY_LABEL_BYTES)
		return err_set(e, EINVAL, "a label has 1 to %d bytes, this one %zu",
			       (int)LIBRARY_LABEL_BYTES, n);
	for (const char *p = text; *p; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return err_set(e, EINVAL, "a label is one line of text");
	}
	if (library_is_word(text))
		return refuse_label(e, text, "as the name of a run that means something else");
	if (is_path(text))
		return refuse_label(e, text, "as the name of a run that is a file");
	if (strchr(text, ','))
		return refuse_label(e, text, "commas divide the names of runs");
	if (text[0] == ' ' || text[n - 1] == ' ')
		return refuse_label(e, text, "it begins or ends with a blank");
	for (const struct published *p = published_runs; p->name; p++) {
		if (strcmp(p->name, text) == 0)
			return refuse_label(e, text, "it is the name of a published run");
	}
	return 0;
}

static int load_file(const char *name, struct run **ret_run, char **ret_path, struct err *e)
{
	char *path = strdup(name);

	return path ? load_path(path, ret_run, ret_path, e) : err_set(e, ENOMEM, "out of memory");
}

int library_load(const char *name, struct run **ret_run, char **ret_path, struct err *e)
{
	struct stat st;

	if (!*name)
		return err_set(e, EINVAL, "the name of a run is empty");
	if (is_path(name))
		return load_file(name, ret_run, ret_path, e);
	for (const struct published *p = published_runs; p->name; p++) {
		int rc;

		if (strcmp(p->name, name) != 0)
			continue;
		rc = runfile_load_buffer(p->data, p->n, ret_run, e);
		if (rc == 0 && ret_path)
			*ret_path = NULL;
		return rc;
	}
	/* A file of that name here, unless the library knows the name. */
	if (stat(name, &st) == 0 && S_ISREG(st.st_mode)) {
		struct err ignored = { 0 };
		int rc = load_from_library(name, ret_run, ret_path, &ignored);

		return rc == -ENOENT ? load_file(name, ret_run, ret_path, e)
		       : rc          ? err_set(e, ignored.code, "%s", ignored.msg)
				     : 0;
	}
	return load_from_library(name, ret_run, ret_path, e);
}
