/* SPDX-License-Identifier: MIT */
/*
 * Escaping of foreign text: percent-escaping for the worker's line protocol (blank, '%', control
 * bytes and an empty text), CSV quoting (RFC 4180), and cleaning of control characters for
 * terminals.
 */
#ifndef PAGETOLL_BASE_ESCAPE_H
#define PAGETOLL_BASE_ESCAPE_H

#include "base/err.h"
#include "base/str.h"

/* "a b%\n" -> "a%20b%25%0A"; "" -> "%". Appends to @out. */
void escape_word(struct str *out, const char *text);
/* The inverse, in place. -EINVAL on a bad escape. */
int unescape_word(char *text, struct err *e);

/* Appends one CSV field: quoted only if it holds a comma, a quote, CR, LF or outer blanks. */
void escape_csv(struct str *out, const char *text);

/* Appends text with control characters (also C1 and invalid UTF-8) replaced by '?'. */
void escape_terminal(struct str *out, const char *text);

/* Appends text with every byte that is not part of valid UTF-8 replaced by '?' (for JSON). */
void escape_utf8(struct str *out, const char *text);

/* Edit distance for "did you mean" (insert, delete, replace, swap cost 1 each).
 * For texts over 63 bytes only 0 (alike) or the longer length. */
unsigned text_distance(const char *a, const char *b);

#endif
