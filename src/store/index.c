// SPDX-License-Identifier: MIT
/*
 * The index of runs: opening, making anew, asking. Everything in it can be made again from the run
 * files and the journal of notes, except that it remembers runs whose files are gone.
 *
 * A shared lock on DIR/index.lock is held while the index is open; who makes it anew takes the lock
 * alone, so that no database is pulled from under another program's write-ahead log.
 *
 * Sources: SQLite 3.40 documentation, "Write-Ahead Logging" (not over network file systems) and
 * "How To Corrupt An SQLite Database File".
 */
#include "store/index.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "store/db.h"
#include "store/notes.h"
#include "store/place.h"

enum { TABLES_VERSION = 1, WAIT_MS = 10000, RETRY_MS = 20 };

static const char network_note[] =
	"the library is on a network file system: the index works there, but slowly, and labels "
	"should be set from one machine at a time; PAGETOLL_DATA can name a local folder";
static const char memory_note[] =
	"the folder of runs cannot be written: the index is made anew each time, and labels cannot "
	"be set";
static const char anew_note[] = "the index was damaged and has been made anew from the run files";

/* --- the lock --------------------------------------------------------------------------------- */

static void wait_a_little(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = RETRY_MS * 1000000L }, NULL);
}

/* -EBUSY after WAIT_MS. A file system without locks is taken as locked. */
static int lock(int fd, int operation)
{
	for (int waited = 0; fd >= 0 && flock(fd, operation | LOCK_NB); waited += RETRY_MS) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return 0;
		if (waited >= WAIT_MS)
			return -EBUSY;
		wait_a_little();
	}
	return 0;
}

static int busy(struct err *e)
{
	return err_set(e, EBUSY,
		       "the index of runs is in use: another pagetoll makes it anew or holds it "
		       "open; try again when that has ended");
}

/* --- opening ---------------------------------------------------------------------------------- */

static char *db_path(const struct index *x)
{
	char *path = NULL;

	if (x->in_memory)
		return strdup(":memory:");
	return asprintf(&path, "%s/index.db", x->dir) < 0 ? NULL : path;
}

/* SQLite does not wait by itself when another connection changes the mode at the same moment. */
static int set_journal(struct index *x, bool network, struct err *e)
{
	const char *sql = network ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL";
	int rc = SQLITE_OK;

	for (int waited = 0; waited < WAIT_MS; waited += RETRY_MS) {
		rc = sqlite3_exec(x->db, sql, NULL, NULL, NULL);
		if (rc != SQLITE_BUSY)
			break;
		wait_a_little();
	}
	return rc == SQLITE_OK ? 0 : db_error(x->db, rc, "cannot choose the journal", e);
}

static int check_pages(struct index *x, struct err *e)
{
	sqlite3_stmt *s = NULL;
	int rc = db_prepare(x->db, "PRAGMA quick_check(1)", &s, e);

	if (rc == 0)
		rc = db_step(x->db, s, e);
	if (rc == 1)
		rc = strcmp((const char *)sqlite3_column_text(s, 0), "ok") == 0
			     ? 0
			     : err_set(e, EUCLEAN, "the index of runs is damaged: %s",
				       sqlite3_column_text(s, 0));
	sqlite3_finalize(s);
	return rc;
}

/* Makes the tables in an empty database; -EUCLEAN if it holds something else. */
static int check_tables(struct index *x, struct err *e)
{
	int64_t version = 0, n = 0;
	int rc = db_exec(x->db, "BEGIN IMMEDIATE", "cannot begin to write", e);

	if (rc)
		return rc;
	rc = db_number(x->db, "PRAGMA user_version", &version, e);
	if (rc == 0)
		rc = db_number(x->db, "SELECT count(*) FROM sqlite_master", &n, e);
	if (rc == 0 && version == 0 && n == 0)
		rc = index_create_tables(x->db, e);
	else if (rc == 0 && version != TABLES_VERSION)
		rc = err_set(e, EUCLEAN, "the index of runs is of another version");
	if (rc == 0)
		rc = db_exec(x->db, "COMMIT", "cannot write", e);
	if (rc)
		(void)db_exec(x->db, "ROLLBACK", "cannot go back", NULL);
	return rc;
}

static int open_db(struct index *x, bool network, struct err *e)
{
	char *path = db_path(x);
	int64_t version = 0;
	int rc;

	if (!path)
		return err_set(e, ENOMEM, "out of memory");
	rc = sqlite3_open_v2(path, &x->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
	rc = rc == SQLITE_OK ? 0 : db_error(x->db, rc, path, e);
	free(path);
	if (rc)
		return rc;
	sqlite3_busy_timeout(x->db, WAIT_MS);
	rc = x->in_memory ? 0 : set_journal(x, network, e);
	if (rc == 0)
		rc = db_exec(x->db, "PRAGMA synchronous = NORMAL", "cannot choose syncing", e);
	if (rc == 0)
		rc = check_pages(x, e);
	if (rc == 0)
		rc = db_number(x->db, "PRAGMA user_version", &version, e);
	if (rc == 0 && version != TABLES_VERSION)
		rc = check_tables(x, e);
	return rc ? rc : index_sync(x, e);
}

static void close_db(struct index *x)
{
	sqlite3_close_v2(x->db);
	x->db = NULL;
}

static int remove_db(const struct index *x, struct err *e)
{
	static const char *const suffix[] = { "", "-wal", "-shm", "-journal" };

	for (size_t i = 0; i < sizeof(suffix) / sizeof(*suffix); i++) {
		char *path = NULL;
		int rc = 0;

		if (asprintf(&path, "%s/index.db%s", x->dir, suffix[i]) < 0)
			return err_set(e, ENOMEM, "out of memory");
		if (unlink(path) && errno != ENOENT)
			rc = err_set(e, errno, "cannot remove %s: %s", path, strerror(errno));
		free(path);
		if (rc)
			return rc;
	}
	return 0;
}

/* With the lock alone: another program may have done it while we waited. */
static int open_anew(struct index *x, bool network, struct err *e)
{
	struct err again = { 0 };
	int rc;

	close_db(x);
	if (lock(x->lock_fd, LOCK_EX))
		return busy(e);
	rc = open_db(x, network, &again);
	if (rc == -EUCLEAN) {
		close_db(x);
		rc = remove_db(x, e);
		if (rc == 0)
			rc = open_db(x, network, e);
	} else if (rc) {
		err_set(e, again.code, "%s", again.msg);
	}
	(void)lock(x->lock_fd, LOCK_SH);
	return rc;
}

/* The folder, and the lock in it. */
static int open_place(const char *dir, struct index **ret, struct err *e)
{
	struct index *x = calloc(1, sizeof(*x));
	char *path = NULL;
	int rc = 0;

	if (x) {
		x->lock_fd = -1;
		x->dir = strdup(dir);
	}
	if (!x || !x->dir || asprintf(&path, "%s/index.lock", dir) < 0) {
		index_close(x);
		return err_set(e, ENOMEM, "out of memory");
	}
	x->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (x->lock_fd < 0 && (errno == EACCES || errno == EROFS || errno == EPERM))
		x->in_memory = true;
	else if (x->lock_fd < 0)
		rc = err_set(e, errno, "cannot open %s: %s", path, strerror(errno));
	free(path);
	if (rc)
		index_close(x);
	else
		*ret = x;
	return rc;
}

int index_open_asking(const char *library_dir, statfs_fn ask, struct index **ret,
		      const char **ret_note, struct err *e)
{
	bool network = place_is_network(library_dir, ask);
	const char *note = network ? network_note : NULL;
	struct err first = { 0 };
	struct index *x = NULL;
	int rc = open_place(library_dir, &x, e);

	if (rc)
		return rc;
	if (lock(x->lock_fd, LOCK_SH)) {
		index_close(x);
		return busy(e);
	}
	if (x->in_memory)
		note = memory_note;
	rc = open_db(x, network, &first);
	if (rc == -EUCLEAN && !x->in_memory) {
		note = network ? network_note : anew_note;
		rc = open_anew(x, network, e);
	} else if (rc) {
		err_set(e, first.code, "%s", first.msg);
	}
	if (rc) {
		index_close(x);
		return rc;
	}
	*ret = x;
	if (ret_note)
		*ret_note = note;
	return 0;
}

int index_open(const char *library_dir, struct index **ret, const char **ret_note, struct err *e)
{
	return index_open_asking(library_dir, statfs, ret, ret_note, e);
}

int index_remove(const char *library_dir, struct err *e)
{
	struct index *x = NULL;
	int rc = open_place(library_dir, &x, e);

	if (rc)
		return rc;
	if (x->in_memory)
		rc = err_set(e, EROFS, "the folder of runs %s cannot be written", library_dir);
	else
		rc = lock(x->lock_fd, LOCK_EX) ? busy(e) : remove_db(x, e);
	index_close(x);
	return rc;
}

void index_close(struct index *x)
{
	if (!x)
		return;
	close_db(x);
	if (x->lock_fd >= 0)
		close(x->lock_fd);
	free(x->dir);
	free(x);
}

/* --- asking ----------------------------------------------------------------------------------- */

/* An empty filter value is no filter. The bench "tlb" also means every tlb.* */
static const char list_sql[] =
	"SELECT run.id, run.file, CASE WHEN note.has_label THEN note.label ELSE run.label END"
	" AS shown, coalesce(note.baseline, 0), machine, kernel, boot_id, command, preset, origin,"
	" start, measures, complete, gone, unreadable"
	" FROM run LEFT JOIN note ON note.id = run.id"
	" WHERE (?1 IS NULL OR shown = ?1)"
	" AND (?2 IS NULL OR EXISTS(SELECT 1 FROM run_bench b WHERE b.file = run.file"
	"      AND (b.bench = ?2 OR substr(b.bench, 1, length(?2) + 1) = ?2 || '.')))"
	" AND (?3 IS NULL OR instr(lower(machine), lower(?3)))"
	" AND (?4 IS NULL OR instr(lower(kernel), lower(?4)))"
	" AND (?5 = 0 OR start >= ?5)"
	" AND (NOT ?6 OR note.baseline)"
	" ORDER BY start DESC, run.id DESC, run.file LIMIT ?7";

static int read_entry(const struct index *x, sqlite3_stmt *s, struct arena *a,
		      struct index_entry *n)
{
	const char *file = (const char *)sqlite3_column_text(s, 1);

	*n = (struct index_entry){
		.id = db_column_text(s, 0, a),
		.path = arena_printf(a, "%s/%s", x->dir, file ? file : ""),
		.label = db_column_text(s, 2, a),
		.is_baseline = sqlite3_column_int(s, 3),
		.machine = db_column_text(s, 4, a),
		.kernel = db_column_text(s, 5, a),
		.boot_id = db_column_text(s, 6, a),
		.command = db_column_text(s, 7, a),
		.preset = db_column_text(s, 8, a),
		.origin = db_column_text(s, 9, a),
		.start_unix_ns = sqlite3_column_int64(s, 10),
		.n_measures = (uint64_t)sqlite3_column_int64(s, 11),
		.complete = sqlite3_column_int(s, 12),
		.file_is_gone = sqlite3_column_int(s, 13),
		.unreadable = db_column_text(s, 14, a),
	};
	return n->id && n->path && n->machine ? 0 : -ENOMEM;
}

int index_list(struct index *x, const struct index_filter *f, struct arena *a,
	       struct index_entries *ret, struct err *e)
{
	struct index_entries all = { 0 };
	sqlite3_stmt *s = NULL;
	int rc = db_prepare(x->db, list_sql, &s, e);

	if (rc)
		return rc;
	db_bind_text(s, 1, f->label);
	db_bind_text(s, 2, f->bench);
	db_bind_text(s, 3, f->machine);
	db_bind_text(s, 4, f->kernel);
	sqlite3_bind_int64(s, 5, f->since_unix_ns);
	sqlite3_bind_int(s, 6, f->baselines_only);
	sqlite3_bind_int64(s, 7, f->limit && f->limit < INT64_MAX ? (int64_t)f->limit : -1);
	while ((rc = db_step(x->db, s, e)) == 1) {
		if (arena_grow(a, &all.v, all.n, &all.cap, sizeof(*all.v)) ||
		    read_entry(x, s, a, &all.v[all.n++])) {
			rc = err_set(e, ENOMEM, "out of memory");
			break;
		}
	}
	sqlite3_finalize(s);
	if (rc == 0)
		*ret = all;
	return rc;
}

/* --- notes ------------------------------------------------------------------------------------ */

static int check_run(struct index *x, const char *id, struct err *e)
{
	sqlite3_stmt *s = NULL;
	int rc = db_prepare(x->db, "SELECT 1 FROM run WHERE id = ?1", &s, e);

	if (rc)
		return rc;
	db_bind_text(s, 1, id);
	rc = db_step(x->db, s, e);
	sqlite3_finalize(s);
	if (rc == 0)
		return err_set(e, ENOENT, "there is no run '%s' in the library", id);
	return rc == 1 ? 0 : rc;
}

/* The journal first: what it has is kept even when the index is busy or lost. */
static int note(struct index *x, const struct note *n, struct err *e)
{
	int rc = notes_append(x->dir, n, e);

	return rc ? rc : index_sync_notes(x, e);
}

int index_set_label(struct index *x, const char *id, const char *label, struct err *e)
{
	int rc = label && !*label ? err_set(e, EINVAL, "a label cannot be empty") : 0;

	if (rc == 0)
		rc = check_run(x, id, e);
	return rc ? rc
		  : note(x, &(struct note){ .kind = NOTE_LABEL, .subject = id, .text = label }, e);
}

int index_set_baseline(struct index *x, const char *id, bool on, struct err *e)
{
	int rc = check_run(x, id, e);

	return rc ? rc : note(x, &(struct note){ NOTE_BASELINE, id, NULL, on, 0, 0 }, e);
}

int index_set_spread(struct index *x, const char *machine_key, const char *bench, double spread,
		     size_t n_runs, struct err *e)
{
	if (!isfinite(spread) || spread < 0)
		return err_set(e, EINVAL, "a spread between runs is a share from 0 on, not %g",
			       spread);
	return note(x, &(struct note){ NOTE_SPREAD, machine_key, bench, false, spread, n_runs }, e);
}

int index_get_spread(struct index *x, const char *machine_key, const char *bench,
		     double *ret_spread, struct err *e)
{
	sqlite3_stmt *s = NULL;
	double spread = NAN;
	int rc = db_prepare(x->db, "SELECT spread FROM spread WHERE machine = ?1 AND bench = ?2",
			    &s, e);

	if (rc)
		return rc;
	db_bind_text(s, 1, machine_key);
	db_bind_text(s, 2, bench);
	rc = db_step(x->db, s, e);
	if (rc == 1)
		spread = sqlite3_column_double(s, 0);
	sqlite3_finalize(s);
	if (rc < 0)
		return rc;
	*ret_spread = spread;
	return 0;
}
