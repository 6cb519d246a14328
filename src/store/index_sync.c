// SPDX-License-Identifier: MIT
/*
 * Bringing the index up to date. Changed files are read before the transaction begins, so that
 * nobody waits for that; who writes an older state over a newer one is put right by the next
 * opening, because size, time and inode of the file then differ from what the row says.
 *
 * Left out: queries (index.c).
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "base/units.h"
#include "record/runfile.h"
#include "store/db.h"
#include "store/notes.h"

#define SUFFIX ".pagetoll.jsonl"

int index_create_tables(sqlite3 *db, struct err *e)
{
	return db_exec(
		db,
		"CREATE TABLE run(file TEXT PRIMARY KEY, size INTEGER, mtime INTEGER,"
		" inode INTEGER, gone INTEGER NOT NULL DEFAULT 0, unreadable TEXT,"
		" id TEXT NOT NULL, label TEXT, machine TEXT, kernel TEXT, boot_id TEXT,"
		" command TEXT, preset TEXT, origin TEXT, start INTEGER, measures INTEGER,"
		" complete INTEGER);"
		"CREATE INDEX run_id ON run(id);"
		"CREATE INDEX run_start ON run(start);"
		"CREATE TABLE run_bench(file TEXT, bench TEXT, PRIMARY KEY(file, bench))"
		" WITHOUT ROWID;"
		"CREATE TABLE note(id TEXT PRIMARY KEY, has_label INTEGER NOT NULL DEFAULT 0,"
		" label TEXT, baseline INTEGER NOT NULL DEFAULT 0);"
		"CREATE TABLE spread(machine TEXT, bench TEXT, spread REAL, runs INTEGER,"
		" PRIMARY KEY(machine, bench)) WITHOUT ROWID;"
		"CREATE TABLE journal(inode INTEGER, bytes INTEGER);"
		"INSERT INTO journal VALUES(0, 0);"
		"PRAGMA user_version = 1;",
		"cannot make the tables", e);
}

/* --- what a row says of a file ---------------------------------------------------------------- */

struct summary {
	const char *file;
	struct stat st;
	const char *unreadable; /* why, else NULL */
	const char *id, *label, *machine, *kernel, *boot_id, *command, *preset, *origin;
	int64_t start_unix_ns;
	size_t n_measures;
	bool complete;
	const char **benches;
	size_t n_benches;
};

struct changes {
	struct arena arena;
	struct summary *changed;
	size_t n_changed, cap_changed;
	const char **gone;
	size_t n_gone, cap_gone;
};

static const char *fact_text(const struct run *r, const char *name)
{
	return attrs_text(&r->fingerprint, name, attrs_text(&r->context, name, NULL));
}

/* The machine in one line: model, CPUs, memory, hypervisor. */
static const char *machine_line(struct arena *a, const struct run *r)
{
	const char *model = fact_text(r, "cpu"), *hypervisor = fact_text(r, "hypervisor");
	int64_t cpus =
		attrs_int(&r->fingerprint, "cpus", attrs_int(&r->fingerprint, "cpus_online", 0));
	int64_t memory = attrs_int(&r->fingerprint, "memory_bytes", 0);
	char size[UNITS_TEXT_BYTES];
	struct str s = { 0 };
	const char *ret;

	model = model ? model : fact_text(r, "model");
	model = model ? model : fact_text(r, "machine");
	model = model ? model : fact_text(r, "arch");
	str_add(&s, model ? model : "");
	if (cpus > 0)
		str_addf(&s, "%s%lld CPU%s", s.len ? ", " : "", (long long)cpus,
			 cpus == 1 ? "" : "s");
	if (memory > 0)
		str_addf(&s, "%s%s", s.len ? ", " : "", format_size_human(size, (double)memory));
	if (hypervisor && strcmp(hypervisor, "none") != 0)
		str_addf(&s, "%s%s", s.len ? ", " : "", hypervisor);
	ret = s.failed ? NULL : arena_strdup(a, str_text(&s));
	str_done(&s);
	return ret;
}

static int add_benches(struct arena *a, struct summary *s, const struct run *r)
{
	s->benches = arena_alloc(a, (r->n_schemas + 1) * sizeof(*s->benches));
	if (!s->benches)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_schemas; i++) {
		s->benches[s->n_benches] = arena_strdup(a, r->schemas[i].name);
		if (!s->benches[s->n_benches++])
			return -ENOMEM;
	}
	return 0;
}

static int summarise(struct arena *a, struct summary *s, const struct run *r)
{
	s->id = arena_strdup(a, r->id);
	s->label = arena_strdup(a, r->label);
	s->machine = machine_line(a, r);
	s->kernel = arena_strdup(a, fact_text(r, "kernel"));
	s->boot_id = arena_strdup(a, r->boot_id);
	s->command = arena_strdup(a, r->command);
	s->preset = arena_strdup(a, r->preset);
	s->origin = origin_name(r->origin);
	s->start_unix_ns = r->start_unix_ns;
	s->n_measures = r->n_measures;
	s->complete = r->has_footer && r->complete;
	return s->id && s->machine ? add_benches(a, s, r) : -ENOMEM;
}

/* "'PATH': what is wrong": the entry has the path already. */
static const char *without_path(const char *msg)
{
	const char *behind = msg[0] == '\'' ? strstr(msg, "': ") : NULL;

	return behind ? behind + 3 : msg;
}

static int add_changed(struct changes *c, const char *dir, const char *file, const struct stat *st)
{
	struct summary *s;
	struct run *r = NULL;
	struct err why = { 0 };
	char *path = NULL;
	int rc;

	if (arena_grow(&c->arena, &c->changed, c->n_changed, &c->cap_changed, sizeof(*s)))
		return -ENOMEM;
	s = &c->changed[c->n_changed++];
	*s = (struct summary){ .st = *st, .file = arena_strdup(&c->arena, file) };
	if (!s->file || asprintf(&path, "%s/%s", dir, file) < 0)
		return -ENOMEM;
	rc = runfile_load(path, &r, &why);
	free(path);
	if (rc == 0) {
		rc = summarise(&c->arena, s, r);
	} else if (rc != -ENOMEM) {
		char *id = arena_strdup(&c->arena, file);

		rc = id ? 0 : -ENOMEM;
		if (id)
			id[strlen(id) - strlen(SUFFIX)] = '\0';
		s->id = id;
		s->unreadable = arena_strdup(&c->arena, without_path(why.msg));
		s->machine = "";
	}
	run_free(r);
	return rc;
}

/* --- which files changed ---------------------------------------------------------------------- */

static bool is_run_file(const char *name)
{
	size_t n = strlen(name), k = strlen(SUFFIX);

	return name[0] != '.' && n > k && strcmp(name + n - k, SUFFIX) == 0;
}

static int64_t mtime_ns(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

/* Whether the row of @file says what @st says. 1, 0 or an error. */
static int is_known(struct index *x, sqlite3_stmt *s, const char *file, const struct stat *st,
		    struct err *e)
{
	int rc;

	db_bind_text(s, 1, file);
	sqlite3_bind_int64(s, 2, st->st_size);
	sqlite3_bind_int64(s, 3, mtime_ns(st));
	sqlite3_bind_int64(s, 4, (int64_t)st->st_ino);
	rc = db_step(x->db, s, e);
	sqlite3_reset(s);
	return rc;
}

static int find_changed(struct index *x, struct changes *c, struct err *e)
{
	sqlite3_stmt *s = NULL;
	DIR *d = opendir(x->dir);
	struct dirent *entry;
	struct stat st;
	int rc;

	if (!d)
		return err_set(e, errno, "cannot read the folder of runs %s: %s", x->dir,
			       strerror(errno));
	rc = db_prepare(x->db,
			"SELECT 1 FROM run WHERE file = ?1 AND size = ?2 AND mtime = ?3"
			" AND inode = ?4 AND NOT gone",
			&s, e);
	while (rc == 0 && (entry = readdir(d))) {
		if (!is_run_file(entry->d_name) || fstatat(dirfd(d), entry->d_name, &st, 0) ||
		    !S_ISREG(st.st_mode))
			continue;
		rc = is_known(x, s, entry->d_name, &st, e);
		if (rc == 0 && add_changed(c, x->dir, entry->d_name, &st))
			rc = err_set(e, ENOMEM, "out of memory");
		else if (rc == 1)
			rc = 0;
	}
	sqlite3_finalize(s);
	closedir(d);
	return rc;
}

static int find_gone(struct index *x, struct changes *c, struct err *e)
{
	sqlite3_stmt *s = NULL;
	int rc = db_prepare(x->db, "SELECT file FROM run WHERE NOT gone", &s, e);

	while (rc == 0 && (rc = db_step(x->db, s, e)) == 1) {
		const char *file = db_column_text(s, 0, &c->arena);
		char *path = NULL;
		struct stat st;

		rc = 0;
		if (!file || asprintf(&path, "%s/%s", x->dir, file) < 0)
			rc = err_set(e, ENOMEM, "out of memory");
		else if (stat(path, &st) == 0 || errno != ENOENT)
			; /* there, or nobody can tell */
		else if (arena_grow(&c->arena, &c->gone, c->n_gone, &c->cap_gone, sizeof(*c->gone)))
			rc = err_set(e, ENOMEM, "out of memory");
		else
			c->gone[c->n_gone++] = file;
		free(path);
	}
	sqlite3_finalize(s);
	return rc;
}

/* --- writing it down -------------------------------------------------------------------------- */

static int write_benches(struct index *x, const struct summary *s, struct err *e)
{
	sqlite3_stmt *q = NULL;
	int rc = db_prepare(x->db, "DELETE FROM run_bench WHERE file = ?1", &q, e);

	if (rc == 0) {
		db_bind_text(q, 1, s->file);
		rc = db_run(x->db, q, e);
	}
	sqlite3_finalize(q);
	q = NULL;
	if (rc == 0)
		rc = db_prepare(x->db, "INSERT OR IGNORE INTO run_bench VALUES(?1, ?2)", &q, e);
	for (size_t i = 0; rc == 0 && i < s->n_benches; i++) {
		db_bind_text(q, 1, s->file);
		db_bind_text(q, 2, s->benches[i]);
		rc = db_run(x->db, q, e);
	}
	sqlite3_finalize(q);
	return rc;
}

static int write_summary(struct index *x, const struct summary *s, struct err *e)
{
	const char *texts[] = { s->unreadable, s->id,      s->label,  s->machine, s->kernel,
				s->boot_id,    s->command, s->preset, s->origin };
	sqlite3_stmt *q = NULL;
	int rc = db_prepare(x->db,
			    "INSERT OR REPLACE INTO run(file, size, mtime, inode, unreadable, id,"
			    " label, machine, kernel, boot_id, command, preset, origin, start,"
			    " measures, complete)"
			    " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16)",
			    &q, e);

	if (rc == 0) {
		db_bind_text(q, 1, s->file);
		sqlite3_bind_int64(q, 2, s->st.st_size);
		sqlite3_bind_int64(q, 3, mtime_ns(&s->st));
		sqlite3_bind_int64(q, 4, (int64_t)s->st.st_ino);
		for (int i = 0; i < 9; i++)
			db_bind_text(q, 5 + i, texts[i]);
		sqlite3_bind_int64(q, 14, s->start_unix_ns);
		sqlite3_bind_int64(q, 15, (int64_t)s->n_measures);
		sqlite3_bind_int(q, 16, s->complete);
		rc = db_run(x->db, q, e);
	}
	sqlite3_finalize(q);
	return rc ? rc : write_benches(x, s, e);
}

static int write_gone(struct index *x, const struct changes *c, struct err *e)
{
	sqlite3_stmt *q = NULL;
	int rc = db_prepare(x->db, "UPDATE run SET gone = 1 WHERE file = ?1", &q, e);

	for (size_t i = 0; rc == 0 && i < c->n_gone; i++) {
		db_bind_text(q, 1, c->gone[i]);
		rc = db_run(x->db, q, e);
	}
	sqlite3_finalize(q);
	return rc;
}

/* Takes the lock for writing at once: two readers that both want to write would deadlock. */
static int begin(struct index *x, struct err *e)
{
	return db_exec(x->db, "BEGIN IMMEDIATE", "cannot begin to write", e);
}

static int finish(struct index *x, int rc, struct err *e)
{
	if (rc == 0)
		rc = db_exec(x->db, "COMMIT", "cannot write", e);
	if (rc)
		(void)db_exec(x->db, "ROLLBACK", "cannot go back", NULL);
	return rc;
}

static int write_changes(struct index *x, const struct changes *c, struct err *e)
{
	int rc;

	if (!c->n_changed && !c->n_gone)
		return 0;
	rc = begin(x, e);
	if (rc)
		return rc;
	for (size_t i = 0; rc == 0 && i < c->n_changed; i++)
		rc = write_summary(x, &c->changed[i], e);
	if (rc == 0)
		rc = write_gone(x, c, e);
	return finish(x, rc, e);
}

/* --- the journal ------------------------------------------------------------------------------ */

struct applying {
	struct index *x;
	struct err *e;
};

static int apply_note(void *user, const struct note *n)
{
	static const char *const sql[] = {
		[NOTE_LABEL] = "INSERT INTO note(id, has_label, label) VALUES(?1, 1, ?2)"
			       " ON CONFLICT(id) DO UPDATE SET has_label = 1, label = ?2",
		[NOTE_BASELINE] = "INSERT INTO note(id, baseline) VALUES(?1, ?3)"
				  " ON CONFLICT(id) DO UPDATE SET baseline = ?3",
		[NOTE_SPREAD] = "INSERT OR REPLACE INTO spread VALUES(?1, ?2, ?4, ?5)",
	};
	struct applying *a = user;
	sqlite3_stmt *q = NULL;
	int rc = db_prepare(a->x->db, sql[n->kind], &q, a->e);

	if (rc == 0) {
		/* Binding a number that the statement does not have is refused without harm. */
		db_bind_text(q, 1, n->subject);
		db_bind_text(q, 2, n->text);
		sqlite3_bind_int(q, 3, n->on);
		sqlite3_bind_double(q, 4, n->spread);
		sqlite3_bind_int64(q, 5, (int64_t)n->n_runs);
		rc = db_run(a->x->db, q, a->e);
	}
	sqlite3_finalize(q);
	return rc;
}

static int apply_journal(struct index *x, uint64_t inode, uint64_t bytes, struct err *e)
{
	struct applying a = { x, e };
	int64_t known_inode = 0, known_bytes = 0;
	uint64_t end = 0;
	char *sql;
	int rc;

	rc = db_number(x->db, "SELECT inode FROM journal", &known_inode, e);
	if (rc == 0)
		rc = db_number(x->db, "SELECT bytes FROM journal", &known_bytes, e);
	if (rc == 0 && ((uint64_t)known_inode != inode || (uint64_t)known_bytes > bytes)) {
		known_bytes = 0; /* another journal than the one that we know */
		rc = db_exec(x->db, "DELETE FROM note; DELETE FROM spread", "cannot write", e);
	}
	if (rc == 0)
		rc = notes_read(x->dir, (uint64_t)known_bytes, apply_note, &a, &end, e);
	if (rc)
		return rc;
	sql = sqlite3_mprintf("UPDATE journal SET inode = %lld, bytes = %lld", (long long)inode,
			      (long long)end);
	rc = sql ? db_exec(x->db, sql, "cannot write", e) : err_set(e, ENOMEM, "out of memory");
	sqlite3_free(sql);
	return rc;
}

int index_sync_notes(struct index *x, struct err *e)
{
	int64_t known_inode = 0, known_bytes = 0;
	uint64_t inode, bytes;
	int rc;

	notes_state(x->dir, &inode, &bytes);
	rc = db_number(x->db, "SELECT inode FROM journal", &known_inode, e);
	if (rc == 0)
		rc = db_number(x->db, "SELECT bytes FROM journal", &known_bytes, e);
	if (rc || ((uint64_t)known_inode == inode && (uint64_t)known_bytes == bytes))
		return rc;
	rc = begin(x, e);
	return rc ? rc : finish(x, apply_journal(x, inode, bytes, e), e);
}

int index_sync(struct index *x, struct err *e)
{
	struct changes c = { 0 };
	int rc = find_changed(x, &c, e);

	if (rc == 0)
		rc = find_gone(x, &c, e);
	if (rc == 0)
		rc = write_changes(x, &c, e);
	if (rc == 0)
		rc = index_sync_notes(x, e);
	arena_done(&c.arena);
	return rc;
}
