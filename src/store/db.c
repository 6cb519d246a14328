// SPDX-License-Identifier: MIT
/*
 * Thin wrappers around SQLite. Source: the C-language interface of SQLite 3.40, result codes.
 */
#include "store/db.h"

#include <errno.h>

static int errno_of(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_NOMEM:
		return ENOMEM;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return EBUSY;
	case SQLITE_FULL:
		return ENOSPC;
	case SQLITE_READONLY:
		return EROFS;
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return EACCES;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_ERROR: /* our statements are right, so the tables are not ours */
	case SQLITE_CONSTRAINT:
	case SQLITE_MISMATCH:
		return EUCLEAN;
	case SQLITE_IOERR:
		return rc == SQLITE_IOERR_SHORT_READ ? EUCLEAN : EIO;
	default:
		return EIO;
	}
}

int db_error(sqlite3 *db, int rc, const char *doing, struct err *e)
{
	int extended = db ? sqlite3_extended_errcode(db) : rc;

	if ((extended & 0xff) != (rc & 0xff))
		extended = rc;
	return err_set(e, errno_of(extended), "the index of runs: %s: %s", doing,
		       db ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
}

int db_exec(sqlite3 *db, const char *sql, const char *doing, struct err *e)
{
	int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : db_error(db, rc, doing, e);
}

int db_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret, struct err *e)
{
	int rc = sqlite3_prepare_v2(db, sql, -1, ret, NULL);

	return rc == SQLITE_OK ? 0 : db_error(db, rc, "cannot prepare a statement", e);
}

int db_step(sqlite3 *db, sqlite3_stmt *s, struct err *e)
{
	int rc = sqlite3_step(s);

	if (rc == SQLITE_ROW)
		return 1;
	if (rc == SQLITE_DONE) {
		sqlite3_reset(s);
		return 0;
	}
	rc = db_error(db, rc, "cannot read or write", e);
	sqlite3_reset(s);
	return rc;
}

int db_run(sqlite3 *db, sqlite3_stmt *s, struct err *e)
{
	int rc = db_step(db, s, e);

	sqlite3_reset(s);
	return rc < 0 ? rc : 0;
}

void db_bind_text(sqlite3_stmt *s, int column, const char *text)
{
	if (text)
		sqlite3_bind_text(s, column, text, -1, SQLITE_TRANSIENT);
	else
		sqlite3_bind_null(s, column);
}

const char *db_column_text(sqlite3_stmt *s, int column, struct arena *a)
{
	return arena_strdup(a, (const char *)sqlite3_column_text(s, column));
}

int db_number(sqlite3 *db, const char *sql, int64_t *ret, struct err *e)
{
	sqlite3_stmt *s = NULL;
	int rc = db_prepare(db, sql, &s, e);

	if (rc == 0)
		rc = db_step(db, s, e);
	if (rc == 1) {
		*ret = sqlite3_column_int64(s, 0);
		rc = 0;
	}
	sqlite3_finalize(s);
	return rc;
}
