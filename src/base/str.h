/* SPDX-License-Identifier: MIT */
/*
 * A string that grows. Appending never fails visibly: after running out of memory `failed` is set,
 * further appends do nothing, and the text so far stays valid; check once at the end.
 */
#ifndef PAGETOLL_BASE_STR_H
#define PAGETOLL_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>

struct str {
	char *data; /* owned; NUL-terminated once anything was added, else NULL */
	size_t len; /* bytes without the NUL */
	size_t cap;
	bool failed;
};

/* All-zero is an empty string: `struct str s = { 0 };`. */
void str_done(struct str *s);
void str_clear(struct str *s);

void str_add(struct str *s, const char *text);
void str_add_n(struct str *s, const char *text, size_t n);
void str_addf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Appends @name, which holds no blank or comma, to a list "a, b" unless it is in it. */
void str_add_listed(struct str *list, const char *name);

/* Pads with blanks up to column @width of the current line (columns are code points of UTF-8). */
void str_pad(struct str *s, size_t line_start, size_t width);

/* The text, "" when nothing was added. Borrowed. */
const char *str_text(const struct str *s);

/* Number of code points (display columns for our purposes) of a UTF-8 text. */
size_t str_columns(const char *text);

#endif
