// SPDX-License-Identifier: MIT
/*
 * Which run of the library a name means. The folder is looked through anew each time (run files are
 * the truth; the index over them is not needed for finding one). Ids sort by time; runs with ids
 * made by hand have their time in the header. Imported tables have a name in place of an id. Labels
 * stand in the files, or in the journal of notes, which has the last word and the baselines.
 */
#include "store/library_parts.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/escape.h"
#include "base/str.h"
#include "base/units.h"
#include "record/runfile.h"
#include "store/library.h"
#include "store/notes.h"

enum { ID_LENGTH = 26, ID_MAX = 64 };

/* Names first, then ids in the order of time. */
struct ids {
	char (*v)[ID_MAX + 1]; /* owned */
	size_t n, cap;
	size_t n_timed;
};

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
	size_t length = strlen(name), suffix = strlen(LIBRARY_SUFFIX);
	char id[ID_MAX + 1] = "";

	if (length <= suffix || length - suffix > ID_MAX ||
	    strcmp(name + length - suffix, LIBRARY_SUFFIX) != 0)
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
	if (asprintf(ret_path, "%s/%s" LIBRARY_SUFFIX, dir, id) < 0)
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
	char **labels;      /* owned; one for each id, NULL: none */
	unsigned *baseline; /* owned; the larger, the later it was made one; 0: is none */
	unsigned n_notes;
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

bool library_is_word(const char *name)
{
	return strcmp(name, "last") == 0 || strncmp(name, "last~", 5) == 0 ||
	       strcmp(name, "baseline") == 0;
}

/* A run and when it began. */
struct dated {
	const char *id;
	int64_t start_unix_ns;
};

static int by_start(const void *x, const void *y)
{
	const struct dated *a = x, *b = y;

	if (a->start_unix_ns != b->start_unix_ns)
		return a->start_unix_ns < b->start_unix_ns ? -1 : 1;
	return strcmp(a->id, b->id);
}

/*
 * All runs but published tables, in the order of time. What an id tells needs no file; only where
 * others lie among them are the headers read.
 */
static size_t dated_runs(const struct search *s, struct dated *to)
{
	size_t named = s->ids.n - s->ids.n_timed, n = 0;

	for (size_t i = 0; i < s->ids.n; i++) {
		struct run *r = named ? header_of(s->dir, s->ids.v[i]) : NULL;
		bool counts = i >= named || (r && r->origin != ORIGIN_PUBLISHED);

		if (counts)
			to[n++] = (struct dated){ s->ids.v[i], r ? r->start_unix_ns : 0 };
		/* What cannot be read is told of when it is the newest: as the one before it. */
		if (counts && !r && n > 1)
			to[n - 1].start_unix_ns = to[n - 2].start_unix_ns;
		run_free(r);
	}
	if (named && n)
		qsort(to, n, sizeof(*to), by_start);
	return n;
}

static int no_runs(const struct search *s, struct err *e)
{
	return err_set(e, ENOENT,
		       "there is no run '%s': the library is empty (%s); 'pagetoll run' "
		       "measures and keeps a run, 'pagetoll import FILE' takes one in",
		       s->name, s->dir);
}

static int find_last(struct search *s, struct err *e)
{
	struct dated *runs = calloc(s->ids.n + 1, sizeof(*runs));
	uint64_t back = 0;
	size_t n;
	int rc = 0;

	if (!runs)
		return err_set(e, ENOMEM, "out of memory");
	n = dated_runs(s, runs);
	if (s->name[4] && parse_u64(s->name + 5, &back, e))
		rc = e && e->code ? -e->code : -EINVAL;
	else if (n == 0)
		rc = no_runs(s, e);
	else if (back >= n)
		rc = err_set(e, ENOENT,
			     "there is no run '%s': the library holds %zu run%s, which 'pagetoll "
			     "history' lists",
			     s->name, n, n == 1 ? "" : "s");
	else
		found(s, runs[n - 1 - back].id);
	free(runs);
	return rc;
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

/* What `history` says of a run is said after its file was written, and counts. */
static int apply_note(void *user, const struct note *n)
{
	struct search *s = user;
	char(*id)[ID_MAX + 1];
	char *label = NULL;
	size_t at;

	if (n->kind == NOTE_SPREAD || !s->ids.n || !is_id(n->subject))
		return 0;
	id = bsearch(n->subject, s->ids.v, s->ids.n, sizeof(*s->ids.v), compare_ids);
	if (!id)
		return 0;
	at = (size_t)(id - s->ids.v);
	if (n->kind == NOTE_BASELINE) {
		s->baseline[at] = n->on ? ++s->n_notes : 0;
		return 0;
	}
	if (n->text && !(label = strdup(n->text)))
		return -ENOMEM;
	free(s->labels[at]);
	s->labels[at] = label;
	return 0;
}

static int read_notes(struct search *s, struct err *e)
{
	int rc;

	s->labels = calloc(s->ids.n + 1, sizeof(*s->labels));
	s->baseline = calloc(s->ids.n + 1, sizeof(*s->baseline));
	if (!s->labels || !s->baseline)
		return err_set(e, ENOMEM, "out of memory");
	for (size_t i = 0; i < s->ids.n; i++)
		s->labels[i] = label_of(s->dir, s->ids.v[i]);
	rc = notes_read(s->dir, 0, apply_note, s, NULL, e);
	return rc ? err_set(e, -rc, "cannot read the labels: %s", strerror(-rc)) : 0;
}

static void find_label(struct search *s)
{
	for (size_t i = 0; i < s->ids.n; i++) {
		if (s->labels[i] && strcmp(s->labels[i], s->name) == 0)
			found(s, s->ids.v[i]);
	}
}

/* Of several the one that was made a baseline last. */
static void find_baseline(struct search *s)
{
	size_t best = 0;

	for (size_t i = 1; i < s->ids.n; i++)
		best = s->baseline[i] > s->baseline[best] ? i : best;
	if (s->ids.n && s->baseline[best])
		found(s, s->ids.v[best]);
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
		return err_set(e, ENOENT, "there is no run '%s'; did you mean '%s'?", s->name,
			       near);
	for (const struct published *p = published_runs; p->name; p++)
		str_addf(&names, ", '%s'", p->name);
	rc = err_set(e, ENOENT,
		     "there is no run '%s': a run is a file, an id or the beginning of one, "
		     "'last', 'last~1', 'baseline', a label%s%s; the library %s",
		     s->name, names.len ? ", or published: " : "",
		     names.len ? str_text(&names) + 2 : "",
		     s->ids.n ? "is listed by 'pagetoll history'" : "is empty");
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
	rc = read_notes(s, e);
	if (rc)
		return rc;
	if (strcmp(s->name, "baseline") == 0)
		find_baseline(s);
	/* A run may have had the word as its label before it was one. */
	if (s->n_found == 0)
		find_label(s);
	if (s->n_found == 0 && strcmp(s->name, "baseline") == 0)
		return err_set(e, ENOENT,
			       "no run is a baseline: 'pagetoll history --baseline RUN' makes one");
	if (s->n_found > 1)
		return err_set(e, EEXIST, "the label '%s' names %zu runs: %s; name one by its id",
			       s->name, s->n_found, str_text(&s->candidates));
	if (s->n_found == 0)
		find_prefix(s);
	if (s->n_found > 1)
		return ambiguous(s, e);
	return s->n_found ? 0 : not_found(s, e);
}

int library_find(const char *dir, const char *name, char **ret_path, struct err *e)
{
	struct search s = { .name = name, .dir = dir };
	int rc = ids_read(dir, &s.ids, e);

	if (rc == 0)
		rc = find_id(&s, e);
	if (rc == 0)
		rc = path_of(dir, s.found, ret_path, e);
	for (size_t i = 0; s.labels && i < s.ids.n; i++)
		free(s.labels[i]);
	free(s.labels);
	free(s.baseline);
	free(s.ids.v);
	str_done(&s.candidates);
	return rc;
}
