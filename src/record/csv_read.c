// SPDX-License-Identifier: MIT
/*
 * Reader of comma-separated values. Source: RFC 4180; comment lines are the custom of published
 * tables. Left out: other separators, and decimal commas, which cannot be told from separators.
 */
#include "record/csv_read.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/str.h"

struct reader {
	struct arena *a;
	const char *p, *end;
	size_t line;
	struct err *e;
};

static bool at_line_end(const struct reader *r)
{
	return r->p == r->end || *r->p == '\n' ||
	       (*r->p == '\r' && (r->p + 1 == r->end || r->p[1] == '\n'));
}

static void skip_blanks(struct reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\t'))
		r->p++;
}

static void skip_line_end(struct reader *r)
{
	if (r->p < r->end && *r->p == '\r')
		r->p++;
	if (r->p < r->end && *r->p == '\n')
		r->p++;
	r->line++;
}

static int read_quoted(struct reader *r, struct str *field)
{
	size_t from = r->line;

	for (r->p++;; r->p++) {
		if (r->p == r->end)
			return err_set(r->e, EBADMSG, "line %zu: the quote is not closed", from);
		if (*r->p == '"' && (r->p + 1 == r->end || r->p[1] != '"'))
			break;
		if (*r->p == '"')
			r->p++;
		r->line += *r->p == '\n';
		str_add_n(field, r->p, 1);
	}
	r->p++;
	skip_blanks(r);
	if (!at_line_end(r) && *r->p != ',')
		return err_set(r->e, EBADMSG, "line %zu: text behind a closing quote", r->line);
	return 0;
}

static int read_plain(struct reader *r, struct str *field)
{
	const char *from = r->p;
	size_t n;

	while (!at_line_end(r) && *r->p != ',') {
		if (*r->p == '"')
			return err_set(r->e, EBADMSG,
				       "line %zu: a quote inside a field that is not quoted",
				       r->line);
		r->p++;
	}
	n = (size_t)(r->p - from);
	while (n && (from[n - 1] == ' ' || from[n - 1] == '\t'))
		n--;
	str_add_n(field, from, n);
	return 0;
}

static int read_row(struct reader *r, struct csv_row *row)
{
	size_t cap = 0;

	for (;;) {
		struct str field = { 0 };
		int rc;

		skip_blanks(r);
		rc = r->p < r->end && *r->p == '"' ? read_quoted(r, &field) : read_plain(r, &field);
		if (rc == 0 && arena_grow(r->a, &row->fields, row->n, &cap, sizeof(*row->fields)))
			rc = err_set(r->e, ENOMEM, "out of memory");
		if (rc == 0)
			row->fields[row->n] = arena_strdup(r->a, str_text(&field));
		if (rc == 0 && (field.failed || !row->fields[row->n++]))
			rc = err_set(r->e, ENOMEM, "out of memory");
		str_done(&field);
		if (rc)
			return rc;
		if (at_line_end(r))
			break;
		r->p++; /* the comma */
	}
	skip_line_end(r);
	return 0;
}

/* A blank line or a comment; the latter only where a row would begin. */
static bool skip_idle_line(struct reader *r)
{
	const char *from = r->p;

	skip_blanks(r);
	if (r->p < r->end && *r->p == '#') {
		while (r->p < r->end && *r->p != '\n')
			r->p++;
	} else if (!at_line_end(r)) {
		r->p = from;
		return false;
	}
	skip_line_end(r);
	return true;
}

int csv_read(struct arena *a, const char *text, size_t n, struct csv_rows *ret, struct err *e)
{
	struct reader r = { .a = a, .p = text, .end = text + n, .line = 1, .e = e };
	struct csv_rows rows = { 0 };
	const char *nul = n ? memchr(text, '\0', n) : NULL;
	int rc = 0;

	for (const char *p = text; nul && p < nul; p++)
		r.line += *p == '\n';
	if (nul)
		return err_set(e, EBADMSG, "line %zu: a NUL byte: this is no text", r.line);
	if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		r.p += 3;
	while (rc == 0 && r.p < r.end) {
		struct csv_row row = { .line = r.line };

		if (skip_idle_line(&r))
			continue;
		row.line = r.line;
		rc = read_row(&r, &row);
		if (rc == 0 && arena_grow(a, &rows.v, rows.n, &rows.cap, sizeof(row)))
			rc = err_set(e, ENOMEM, "out of memory");
		if (rc == 0)
			rows.v[rows.n++] = row;
	}
	if (rc == 0)
		*ret = rows;
	return rc;
}
