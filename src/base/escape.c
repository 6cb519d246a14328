/* SPDX-License-Identifier: MIT */
/*
 * Escaping of foreign text. CSV quoting follows RFC 4180; UTF-8 validity follows RFC 3629 (no
 * overlong forms, no surrogates, nothing above U+10FFFF). Not here: JSON (jansson), HTML (report).
 */
#include "base/escape.h"

#include <errno.h>
#include <string.h>

void escape_word(struct str *out, const char *text)
{
	static const char hex[] = "0123456789ABCDEF";
	const char *p;

	if (!*text)
		str_add(out, "%");
	for (p = text; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c <= ' ' || c == '%' || c == 0x7f)
			str_add_n(out, (char[]){ '%', hex[c >> 4], hex[c & 15] }, 3);
		else
			str_add_n(out, p, 1);
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

int unescape_word(char *text, struct err *e)
{
	const char *in;
	char *out = text;

	if (!strcmp(text, "%")) {
		text[0] = '\0';
		return 0;
	}
	/* Checked as a whole first: a bad text is left untouched. */
	for (in = text; *in; in++) {
		if (*in != '%')
			continue;
		if (hex_digit(in[1]) < 0 || hex_digit(in[2]) < 0 || !strncmp(in + 1, "00", 2))
			return err_set(e, EINVAL,
				       "bad escape in word '%.80s': '%%' must be followed by two "
				       "hexadecimal digits other than 00",
				       text);
		in += 2;
	}
	for (in = text; *in; in++) {
		if (*in == '%') {
			*out++ = (char)(hex_digit(in[1]) * 16 + hex_digit(in[2]));
			in += 2;
		} else {
			*out++ = *in;
		}
	}
	*out = '\0';
	return 0;
}

static int is_blank(char c)
{
	return c == ' ' || c == '\t';
}

void escape_csv(struct str *out, const char *text)
{
	size_t n = strlen(text);
	const char *p;

	if (!strpbrk(text, ",\"\r\n") && !(n && (is_blank(text[0]) || is_blank(text[n - 1])))) {
		str_add_n(out, text, n);
		return;
	}
	str_add(out, "\"");
	for (p = text; *p; p++) {
		if (*p == '"')
			str_add(out, "\"\"");
		else
			str_add_n(out, p, 1);
	}
	str_add(out, "\"");
}

/* Bytes of the well-formed UTF-8 sequence at @p, 0 if there is none; *ret_code: its code point. */
static size_t utf8_sequence(const unsigned char *p, unsigned long *ret_code)
{
	static const unsigned long smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned long code;
	size_t n, i;

	if (p[0] < 0x80) {
		*ret_code = p[0];
		return 1;
	}
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		n = 2;
	else if (p[0] >= 0xe0 && p[0] <= 0xef)
		n = 3;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		n = 4;
	else
		return 0;
	code = p[0] & (0xffu >> (n + 1));
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3fu);
	}
	if (code < smallest[n] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*ret_code = code;
	return n;
}

void escape_terminal(struct str *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	unsigned long code = 0;
	size_t n;

	while (*p) {
		n = utf8_sequence(p, &code);
		if (n == 0 || code < 0x20 || (code >= 0x7f && code <= 0x9f))
			str_add(out, "?");
		else
			str_add_n(out, (const char *)p, n);
		p += n ? n : 1;
	}
}

void escape_utf8(struct str *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	unsigned long code = 0;
	size_t n;

	while (*p) {
		n = utf8_sequence(p, &code);
		if (n == 0)
			str_add(out, "?");
		else
			str_add_n(out, (const char *)p, n);
		p += n ? n : 1;
	}
}

unsigned text_distance(const char *a, const char *b)
{
	enum { LONGEST = 63 };
	unsigned row[3][LONGEST + 1]; /* rows i, i-1, i-2 of the table, by i modulo 3 */
	size_t na = strlen(a), nb = strlen(b), i, j;

	/* No name of ours is that long; the bound is enough for "not near". */
	if (na > LONGEST || nb > LONGEST)
		return (unsigned)(!strcmp(a, b) ? 0 : na > nb ? na : nb);
	for (j = 0; j <= nb; j++)
		row[0][j] = (unsigned)j;
	for (i = 1; i <= na; i++) {
		unsigned *now = row[i % 3];
		const unsigned *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (j = 1; j <= nb; j++) {
			unsigned best = up[j - 1] + (a[i - 1] != b[j - 1]);

			if (up[j] + 1 < best)
				best = up[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    up2[j - 2] + 1 < best)
				best = up2[j - 2] + 1;
			now[j] = best;
		}
	}
	return row[na % 3][nb];
}
