/* SPDX-License-Identifier: MIT */
/*
 * SQLite in the manner of this project: 0 or a negative errno, and messages. -EUCLEAN means that
 * the database is damaged or not ours, and must be made anew. Inside store/ only.
 */
#ifndef PAGETOLL_STORE_DB_H
#define PAGETOLL_STORE_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

struct index {
	sqlite3 *db;    /* owned */
	char *dir;      /* owned; the library */
	int lock_fd;    /* held shared as long as the index is open; -1: none */
	bool in_memory; /* the folder cannot be written */
};

/* Records what went wrong last in @db; returns the negative errno for SQLite's @rc. */
int db_error(sqlite3 *db, int rc, const char *doing, struct err *e);
/* Statements without parameters and results. */
int db_exec(sqlite3 *db, const char *sql, const char *doing, struct err *e);
int db_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret, struct err *e);
/* Runs a statement that has no rows and makes it ready for the next time. */
int db_run(sqlite3 *db, sqlite3_stmt *s, struct err *e);
/* 1: a row, 0: no more (the statement is reset), negative: an error. */
int db_step(sqlite3 *db, sqlite3_stmt *s, struct err *e);
/* Binds a copy; NULL is NULL. Errors come out when the statement runs. */
void db_bind_text(sqlite3_stmt *s, int column, const char *text);
/* A copy in the arena, NULL for NULL (or without memory). */
const char *db_column_text(sqlite3_stmt *s, int column, struct arena *a);
/* The number in the first column of the first row. */
int db_number(sqlite3 *db, const char *sql, int64_t *ret, struct err *e);

/* Tables of an empty database. */
int index_create_tables(sqlite3 *db, struct err *e);
/* Brings the tables up to date with the files and the journal of notes. */
int index_sync(struct index *x, struct err *e);
/* The journal alone. */
int index_sync_notes(struct index *x, struct err *e);

#endif
