/* SPDX-License-Identifier: MIT */
/*
 * Comma-separated values from anybody, as rows of fields with their line numbers.
 */
#ifndef PAGETOLL_RECORD_CSV_READ_H
#define PAGETOLL_RECORD_CSV_READ_H

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

struct csv_row {
	const char **fields; /* unquoted, without outer blanks unless they were quoted */
	size_t n;
	size_t line; /* the first line of the row, from 1 */
};

struct csv_rows {
	struct csv_row *v;
	size_t n, cap;
};

/*
 * RFC 4180, with LF or CRLF, quoted fields that may hold line breaks, and a UTF-8 byte order mark
 * skipped. Blank lines, and lines that begin with '#', are left out. Everything is in @a. -EBADMSG
 * names the line: a quote inside an unquoted field, text behind a closing quote, a quote that is
 * not closed, a NUL byte.
 */
int csv_read(struct arena *a, const char *text, size_t n, struct csv_rows *ret, struct err *e);

#endif
