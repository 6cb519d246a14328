/* SPDX-License-Identifier: MIT */
/*
 * A growing string. Columns are code points: wide and combining characters are not told apart,
 * which is enough for the ASCII tables and few symbols that we print.
 */
#include "base/str.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void str_done(struct str *s)
{
	if (!s)
		return;
	free(s->data);
	*s = (struct str){ 0 };
}

void str_clear(struct str *s)
{
	s->len = 0;
	s->failed = false;
	if (s->data)
		s->data[0] = '\0';
}

/* Room for @n bytes more and a NUL. */
static bool reserve(struct str *s, size_t n)
{
	size_t cap = s->cap ? s->cap : 64;
	char *p;

	if (s->failed)
		return false;
	if (n >= SIZE_MAX / 4 - s->len) {
		s->failed = true;
		return false;
	}
	while (cap < s->len + n + 1)
		cap *= 2;
	if (cap == s->cap)
		return true;
	p = realloc(s->data, cap);
	if (!p) {
		s->failed = true;
		return false;
	}
	if (!s->data)
		p[0] = '\0';
	s->data = p;
	s->cap = cap;
	return true;
}

void str_add_n(struct str *s, const char *text, size_t n)
{
	if (!reserve(s, n))
		return;
	if (n)
		memcpy(s->data + s->len, text, n);
	s->len += n;
	s->data[s->len] = '\0';
}

void str_add(struct str *s, const char *text)
{
	str_add_n(s, text, strlen(text));
}

void str_addf(struct str *s, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0) {
		s->failed = true;
		return;
	}
	if (!reserve(s, (size_t)n))
		return;
	va_start(ap, fmt);
	(void)vsnprintf(s->data + s->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	s->len += (size_t)n;
}

void str_add_listed(struct str *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = str_text(list); (at = strstr(at, name)); at += n)
		if ((at == str_text(list) || at[-1] == ' ') && (at[n] == ',' || !at[n]))
			return;
	str_addf(list, "%s%s", list->len ? ", " : "", name);
}

static size_t columns(const char *p, size_t n)
{
	size_t i, count = 0;

	for (i = 0; i < n; i++)
		count += ((unsigned char)p[i] & 0xc0) != 0x80;
	return count;
}

void str_pad(struct str *s, size_t line_start, size_t width)
{
	size_t have = line_start < s->len ? columns(s->data + line_start, s->len - line_start) : 0;

	if (have >= width || !reserve(s, width - have))
		return;
	memset(s->data + s->len, ' ', width - have);
	s->len += width - have;
	s->data[s->len] = '\0';
}

const char *str_text(const struct str *s)
{
	return s->data ? s->data : "";
}

size_t str_columns(const char *text)
{
	return columns(text, strlen(text));
}
