// SPDX-License-Identifier: MIT
/*
 * Lines of Valgrind's lackey: "I  04001510,3" a fetch, " L 1ffeffe7e8,8" a load, " S" a store, " M"
 * a load and a store of one instruction at one place; addresses hexadecimal, sizes decimal. Lines
 * of "==PID==" are Valgrind's own words. There are no threads in it: all are one.
 * Source: Valgrind 3.19, lackey/lk_main.c (trace_load() and the like), output of --trace-mem=yes.
 */
#include <errno.h>
#include <string.h>

#include "trace/parts.h"

enum { SHOWN = 40, SIZE_MAX_BYTES = 65535 };

static int hex_value(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The kind that a line's first three bytes name; TRACE_KINDS: none. */
static enum trace_kind kind_of(const uint8_t *p)
{
	if (p[0] == 'I' && p[1] == ' ' && p[2] == ' ')
		return TRACE_FETCH;
	if (p[0] != ' ' || p[2] != ' ')
		return TRACE_KINDS;
	return p[1] == 'L'   ? TRACE_LOAD
	       : p[1] == 'S' ? TRACE_STORE
	       : p[1] == 'M' ? TRACE_MODIFY
			     : TRACE_KINDS;
}

/* A line of @n bytes, without its end, as a reference. */
static bool parse_ref(const uint8_t *p, size_t n, struct trace_ref *ret)
{
	struct trace_ref r = { 0 };
	size_t i = 3, digits;

	if (n < 6 || (r.kind = kind_of(p)) == TRACE_KINDS)
		return false;
	for (; i < n && hex_value(p[i]) >= 0 && i < 3 + 16; i++)
		r.address = r.address << 4 | (uint64_t)hex_value(p[i]);
	if (i == 3 || i + 1 >= n || p[i] != ',')
		return false;
	for (digits = 0, i++; i < n && p[i] >= '0' && p[i] <= '9' && digits < 6; i++, digits++)
		r.bytes = r.bytes * 10 + (uint32_t)(p[i] - '0');
	if (i < n || digits == 0 || r.bytes == 0 || r.bytes > SIZE_MAX_BYTES)
		return false;
	*ret = r;
	return true;
}

/* "==1234== ..." or "--1234-- ...": the number; 0: not such a line. */
static uint64_t parse_words(const uint8_t *p, size_t n)
{
	uint64_t pid = 0;
	size_t i = 2;

	if (n < 5 || p[0] != p[1] || (p[0] != '=' && p[0] != '-' && p[0] != '*'))
		return 0;
	for (; i < n && p[i] >= '0' && p[i] <= '9' && i < 12; i++)
		pid = pid * 10 + (uint64_t)(p[i] - '0');
	return i > 2 && i + 1 < n && p[i] == p[0] && p[i + 1] == p[0] ? pid : 0;
}

static bool has_word(const uint8_t *p, size_t n, const char *word)
{
	return memmem(p, n, word, strlen(word)) != NULL;
}

static int take_words(struct trace *t, uint64_t pid, const uint8_t *p, size_t n, struct err *e)
{
	if (t->process && pid != t->process)
		return err_set(e, EBADMSG,
			       "process %ju after process %ju: their references cannot be told "
			       "apart; trace one process (--trace-children=no)",
			       (uintmax_t)pid, (uintmax_t)t->process);
	t->process = pid;
	if (has_word(p, n, "== Lackey"))
		t->has_begin = true;
	if (has_word(p, n, "== Exit code:"))
		t->has_end = true;
	return 0;
}

static int refuse(const uint8_t *p, size_t n, struct err *e)
{
	char shown[SHOWN + 1];
	size_t k = 0;

	for (; k < n && k < SHOWN; k++)
		shown[k] = p[k] >= ' ' && p[k] < 127 ? (char)p[k] : '?';
	shown[k] = '\0';
	return err_set(e, EBADMSG,
		       "'%s%s' is no reference ('I  ADDRESS,SIZE', ' L', ' S', ' M'); the traced "
		       "program's own output? (valgrind --log-file=FILE keeps it out)",
		       shown, n > SHOWN ? "..." : "");
}

/* Files that came over other systems end lines with a carriage return as well. */
static size_t line_length(const uint8_t *p, const uint8_t *end)
{
	const size_t n = (size_t)(end - p);

	return n > 0 && p[n - 1] == '\r' ? n - 1 : n;
}

int trace_decode_lackey(struct trace *t, const uint8_t *p, size_t n, struct trace_out *out,
			struct err *e)
{
	const uint8_t *end = n ? memchr(p, '\n', n) : NULL;
	const size_t len = end ? line_length(p, end) : 0;
	struct trace_ref r;
	uint64_t pid;

	if (!end)
		return 0;
	if (parse_ref(p, len, &r)) {
		out->v[out->n++] = r;
	} else if ((pid = parse_words(p, len))) {
		int rc = take_words(t, pid, p, len, e);

		if (rc < 0)
			return rc;
	} else if (len > 0 && !(len > 3 && memcmp(p, "SB ", 3) == 0)) {
		return refuse(p, len, e);
	}
	t->line++;
	return (int)(end - p) + 1;
}

bool trace_is_lackey(const uint8_t *p, size_t n)
{
	struct trace_ref r;

	while (n > 0) {
		const uint8_t *end = memchr(p, '\n', n);
		const size_t len = end ? line_length(p, end) : n;

		if (len > 0)
			return parse_words(p, len) || (end && parse_ref(p, len, &r));
		p += 1;
		n -= 1;
	}
	return false;
}
