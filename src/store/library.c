// SPDX-License-Identifier: MIT
/*
 * The library of runs: a folder of run files, looked through anew each time (run files are the
 * truth; the index over them is not needed for finding one). Ids sort by time, so that the newest
 * run is the last name. Imported tables have a name in place of an id. Labels stand in the files,
 * or in the journal of notes, which has the last word.
 *
 * Left out: writing run files (record/runfile.h), history and queries (store/index.h).
 * Source of the place: XDG Base Directory Specification 0.8, "XDG_DATA_HOME".
 */
#include "store/library.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/escape.h"
#include "base/str.h"
#include "base/units.h"
#include "record/runfile.h"
#include "store/notes.h"

#define SUFFIX ".pagetoll.jsonl"
enum { ID_LENGTH = 26, ID_MAX = 64 };

/* Names of imported tables first, then ids in the order of time. */
struct ids {
	char (*v)[ID_MAX + 1]; /* owned */
	size_t n, cap;
	size_t n_timed;
};

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
	if (rc == 0 && asprintf(&path, "%s/%s" SUFFIX, dir, run_id) < 0)
		rc = err_set(e, ENOMEM, "out of memory");
	free(dir);
	if (rc == 0)
		*ret_path = path;
	return rc;
}

/* --- the ids in the folder --- */

static bool is_timed(const char *id)
{
	size_t n = 0;

	while (n < ID_LENGTH && isalnum((unsigned char)id[n]))
		n++;
	return n == ID_LENGTH && id[n] == '\0';
}

/* The characters that the id of a run may have (docs/run-file.md). */
static bool is_id(const char *id)
{
	size_t n = strlen(id);

	return n >= 1 && n <= ID_MAX && id[0] != '.' && id[0] != '-' &&
	       strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == n;
}

static int compare_ids(const void *a, const void *b)
{
	int timed = (int)is_timed(a) - (int)is_timed(b);

	return timed ? timed : strcmp(a, b);
}

/* Adds the run whose file is called @name, if it is one. */
static int ids_add(struct ids *ids, const char *name, struct err *e)
{
	size_t length = strlen(name), suffix = strlen(SUFFIX);
	char id[ID_MAX + 1] = "";

	if (length <= suffix || length - suffix > ID_MAX ||
	    strcmp(name + length - suffix, SUFFIX) != 0)
		return 0;
	memcpy(id, name, length - suffix);
	if (!is_id(id))
		return 0;
	if (ids->n == ids->cap) {
		size_t cap = ids->cap ? 2 * ids->cap : 64;
		void *grown = realloc(ids->v, cap * sizeof(*ids->v));

		if (!grown)
			return err_set(e, ENOMEM, "out of memory");
		ids->v = grown;
		ids->cap = cap;
	}
	memcpy(ids->v[ids->n++], id, sizeof(id));
	ids->n_timed += is_timed(id);
	return 0;
}

/* An absent folder is an empty library. */
static int ids_read(const char *dir, struct ids *ret, struct err *e)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	int rc = 0;

	if (!d && errno == ENOENT)
		return 0;
	if (!d)
		return err_set(e, errno, "cannot read the folder of runs %s: %s", dir,
			       strerror(errno));
	while (rc == 0 && (entry = readdir(d)))
		rc = ids_add(ret, entry->d_name, e);
	closedir(d);
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), compare_ids);
	return rc;
}

/* --- labels --- */

static int path_of(const char *dir, const char *id, char **ret_path, struct err *e)
{
	if (asprintf(ret_path, "%s/%s" SUFFIX, dir, id) < 0)
		return err_set(e, ENOMEM, "out of memory");
	return 0;
}

/* A run of the header line of its file only; NULL: cannot be read. */
static struct run *header_of(const char *dir, const char *id)
{
	char *path = NULL, *line = NULL;
	struct run *r = NULL;
	size_t cap = 0;
	ssize_t n = -1;
	FILE *f = NULL;

	if (path_of(dir, id, &path, NULL) == 0)
		f = fopen(path, "re");
	if (f)
		n = getline(&line, &cap, f);
	if (n > 0 && runfile_load_buffer(line, (size_t)n, &r, NULL))
		r = NULL;
	free(line);
	if (f)
		fclose(f);
	free(path);
	return r;
}

/* The label of a run file, malloc()ed; NULL: none. */
static char *label_of(const char *dir, const char *id)
{
	struct run *r = header_of(dir, id);
	char *label = r && r->label ? strdup(r->label) : NULL;

	run_free(r);
	return label;
}

static void add_when_and_what(struct str *s, const struct run *r, int columns)
{
	time_t t = (time_t)(r->start_unix_ns / 1000000000);
	struct str command = { 0 };
	struct tm tm;

	if (r->start_unix_ns > 0 && gmtime_r(&t, &tm))
		str_addf(s, " %04d-%02d-%02d %02d:%02d UTC", tm.tm_year + 1900, tm.tm_mon + 1,
			 tm.tm_mday, tm.tm_hour, tm.tm_min);
	if (r->command)
		escape_terminal(&command, r->command);
	if (command.len)
		str_addf(s, " %.*s%s", columns, str_text(&command),
			 command.len > (size_t)columns ? "..." : "");
	str_done(&command);
}

/* --- finding --- */

struct search {
	const char *name;
	const char *dir;
	struct ids ids;
	char **labels; /* owned; one for each id, NULL: none */
	const char *found;
	size_t n_found;
	struct str candidates;
};

static void found(struct search *s, const char *id)
{
	s->found = id;
	if (s->n_found++ < 8)
		str_addf(&s->candidates, "%s%s", s->candidates.len ? ", " : "", id);
	else if (s->n_found == 9)
		str_add(&s->candidates, ", ...");
}

static bool is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789")] == '\0';
}

/* Is it "last" or "last~N"? */
static bool is_last(const char *name)
{
	return strncmp(name, "last", 4) == 0 &&
	       (name[4] == '\0' || (name[4] == '~' && is_number(name + 5)));
}

static int find_last(struct search *s, struct err *e)
{
	uint64_t back = 0;

	if (s->name[4] && parse_u64(s->name + 5, &back, e))
		return e && e->code ? -e->code : -EINVAL;
	if (back >= s->ids.n_timed)
		return err_set(e, ENOENT, "there is no run '%s': the library holds %zu run%s",
			       s->name, s->ids.n_timed, s->ids.n_timed == 1 ? "" : "s");
	found(s, s->ids.v[s->ids.n - 1 - back]);
	return 0;
}

static void find_prefix(struct search *s)
{
	size_t n = strlen(s->name);

	for (size_t i = 0; i < s->ids.n; i++) {
		if (strcmp(s->ids.v[i], s->name) == 0) {
			s->n_found = 0; /* a whole name is no prefix */
			found(s, s->ids.v[i]);
			return;
		}
		if (strncasecmp(s->ids.v[i], s->name, n) == 0)
			found(s, s->ids.v[i]);
	}
}

/* What `history` says of a label is said after the file was written, and counts. */
static int apply_label(void *user, const struct note *n)
{
	struct search *s = user;
	char(*id)[ID_MAX + 1];
	char *label = NULL;

	if (n->kind != NOTE_LABEL || !s->ids.n || !is_id(n->subject))
		return 0;
	id = bsearch(n->subject, s->ids.v, s->ids.n, sizeof(*s->ids.v), compare_ids);
	if (!id)
		return 0;
	if (n->text && !(label = strdup(n->text)))
		return -ENOMEM;
	free(s->labels[id - s->ids.v]);
	s->labels[id - s->ids.v] = label;
	return 0;
}

static int find_label(struct search *s, struct err *e)
{
	int rc;

	s->labels = calloc(s->ids.n + 1, sizeof(*s->labels));
	if (!s->labels)
		return err_set(e, ENOMEM, "out of memory");
	for (size_t i = 0; i < s->ids.n; i++)
		s->labels[i] = label_of(s->dir, s->ids.v[i]);
	rc = notes_read(s->dir, 0, apply_label, s, NULL, e);
	if (rc)
		return err_set(e, -rc, "cannot read the labels: %s", strerror(-rc));
	for (size_t i = 0; i < s->ids.n; i++) {
		if (s->labels[i] && strcmp(s->labels[i], s->name) == 0)
			found(s, s->ids.v[i]);
	}
	return 0;
}

static const char *nearest(const struct search *s)
{
	const char *best = NULL;
	unsigned limit = (unsigned)strlen(s->name) / 3 + 1;

	for (size_t i = 0; i < s->ids.n; i++) {
		const char *label = s->labels ? s->labels[i] : NULL;

		if (label && text_distance(label, s->name) <= limit)
			best = label;
		else if (!is_timed(s->ids.v[i]) && text_distance(s->ids.v[i], s->name) <= limit)
			best = s->ids.v[i];
	}
	for (const struct published *p = published_runs; !best && p->name; p++) {
		if (text_distance(p->name, s->name) <= limit)
			best = p->name;
	}
	return best;
}

static int not_found(const struct search *s, struct err *e)
{
	const char *near = nearest(s);
	struct str names = { 0 };
	int rc;

	if (near)
		rc = err_set(e, ENOENT, "there is no run '%s'; did you mean '%s'?", s->name, near);
	else {
		for (const struct published *p = published_runs; p->name; p++)
			str_addf(&names, ", '%s'", p->name);
		rc = err_set(
			e, ENOENT,
			"there is no run '%s': a run is a file, an id or the beginning of one, "
			"'last', 'last~1', a label%s%s; the library holds %zu run%s",
			s->name, names.len ? ", or published: " : "",
			names.len ? str_text(&names) + 2 : "", s->ids.n, s->ids.n == 1 ? "" : "s");
	}
	str_done(&names);
	return rc;
}

/* "id (2026-01-01 12:00 UTC, pagetoll run ...)" for as many as a message holds. */
static int ambiguous(const struct search *s, struct err *e)
{
	enum { SHOWN = 4, COMMAND_COLUMNS = 40 };
	struct str list = { 0 };
	size_t length = strlen(s->name), n = 0;
	int rc;

	/* The newest first: these are sought more often. */
	for (size_t i = s->ids.n; i-- > 0 && n < SHOWN;) {
		struct run *r = NULL;

		if (strncasecmp(s->ids.v[i], s->name, length) != 0)
			continue;
		str_addf(&list, "%s%s", n++ ? "; " : "", s->ids.v[i]);
		r = header_of(s->dir, s->ids.v[i]);
		if (r)
			add_when_and_what(&list, r, COMMAND_COLUMNS);
		run_free(r);
	}
	rc = err_set(e, EEXIST, "'%s' begins the ids of %zu runs: %s%s", s->name, s->n_found,
		     str_text(&list), s->n_found > n ? "; ..." : "");
	str_done(&list);
	return rc;
}

/* Finds the one id that s->name means; 0, -ENOENT or -EEXIST. */
static int find_id(struct search *s, struct err *e)
{
	int rc;

	if (is_last(s->name))
		return find_last(s, e);
	rc = find_label(s, e);
	if (rc)
		return rc;
	if (s->n_found > 1)
		return err_set(e, EEXIST, "the label '%s' names %zu runs: %s; name one by its id",
			       s->name, s->n_found, str_text(&s->candidates));
	if (s->n_found == 0)
		find_prefix(s);
	if (s->n_found > 1)
		return ambiguous(s, e);
	return s->n_found ? 0 : not_found(s, e);
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
	struct search s = { .name = name };
	char *dir = library_dir(e);
	char *path = NULL;
	int rc;

	if (!dir)
		return e && e->code ? -e->code : -ENOENT;
	s.dir = dir;
	rc = ids_read(dir, &s.ids, e);
	if (rc == 0)
		rc = find_id(&s, e);
	if (rc == 0)
		rc = path_of(dir, s.found, &path, e);
	if (rc == 0)
		rc = load_path(path, ret_run, ret_path, e);
	for (size_t i = 0; s.labels && i < s.ids.n; i++)
		free(s.labels[i]);
	free(s.labels);
	free(s.ids.v);
	str_done(&s.candidates);
	free(dir);
	return rc;
}

static bool is_path(const char *name)
{
	size_t n = strlen(name);

	return strchr(name, '/') || (n > 6 && strcmp(name + n - 6, ".jsonl") == 0);
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
