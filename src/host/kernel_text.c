/* SPDX-License-Identifier: MIT */
/*
 * Parsers of /proc and /sys text. Left out: CPU and node lists (base/units) and cgroup files
 * (host/cgroup). Formats: Documentation/filesystems/proc.rst, lib/bitmap-str.c (masks),
 * mm/huge_memory.c (choices in brackets), fs/proc/base.c (limits) of Linux 6.18.
 */
#include "host/kernel_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static const char *skip_blanks(const char *p)
{
	while (is_blank(*p))
		p++;
	return p;
}

/* Reads decimal digits at *@pp and moves it behind them. */
static int read_digits(const char **pp, uint64_t *ret_value)
{
	const char *p = *pp;
	uint64_t v = 0;

	if (*p < '0' || *p > '9')
		return -EINVAL;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return -ERANGE;
	}
	*pp = p;
	*ret_value = v;
	return 0;
}

static bool is_line_end(char c)
{
	return c == '\0' || c == '\n';
}

/* The start of the line after the one at @p, NULL after the last one. */
static const char *next_line(const char *p)
{
	const char *nl = strchr(p, '\n');

	return nl && nl[1] ? nl + 1 : NULL;
}

int ktext_u64(const char *text, uint64_t *ret_value)
{
	const char *p = skip_blanks(text);
	uint64_t v;
	int rc = read_digits(&p, &v);

	if (rc < 0)
		return rc;
	p = skip_blanks(p);
	if (*p == '\n')
		p++;
	if (*p)
		return -EINVAL;
	*ret_value = v;
	return 0;
}

int ktext_limit(const char *text, uint64_t *ret_value)
{
	const char *p = skip_blanks(text);
	size_t n = strcspn(p, " \t\n");

	if ((n == 3 && !strncmp(p, "max", 3)) || (n == 9 && !strncmp(p, "unlimited", 9))) {
		*ret_value = UINT64_MAX;
		return 0;
	}
	return ktext_u64(text, ret_value);
}

/* Per-node files put "Node 3 " before every key. */
static const char *skip_node_prefix(const char *line)
{
	const char *p;
	uint64_t id;

	if (strncmp(line, "Node ", 5))
		return line;
	p = skip_blanks(line + 5);
	if (read_digits(&p, &id) < 0 || !is_blank(*p))
		return line;
	return skip_blanks(p);
}

/*
 * Where the value of @key begins: behind "key", blanks and the colon. Without a colon ("key 123",
 * if @bare) there has to be a number, as "cpu family : 25" is not a line of "cpu". NULL: none.
 */
static const char *find_key(const char *text, const char *key, bool bare)
{
	size_t n = strlen(key);

	for (const char *line = text; line && *line; line = next_line(line)) {
		const char *p = skip_node_prefix(line);

		if (strncmp(p, key, n) || !(p[n] == ':' || is_blank(p[n])))
			continue;
		p = skip_blanks(p + n);
		if (*p == ':')
			return skip_blanks(p + 1);
		if (bare && *p >= '0' && *p <= '9')
			return p;
	}
	return NULL;
}

int ktext_key(const char *text, const char *key, uint64_t *ret_value)
{
	const char *p = find_key(text, key, true);
	uint64_t v;
	int rc;

	if (!p)
		return -ENODATA;
	rc = read_digits(&p, &v);
	if (rc < 0)
		return rc;
	p = skip_blanks(p);
	if (!strncmp(p, "kB", 2)) {
		if (__builtin_mul_overflow(v, 1024u, &v))
			return -ERANGE;
		p = skip_blanks(p + 2);
	}
	if (!is_line_end(*p))
		return -EINVAL;
	*ret_value = v;
	return 0;
}

int ktext_field(const char *text, const char *key, char *buf, size_t bytes)
{
	const char *p = find_key(text, key, false);
	size_t n;

	if (!p)
		return -ENODATA;
	n = strcspn(p, "\n");
	while (n && is_blank(p[n - 1]))
		n--;
	if (n >= bytes)
		return -EMSGSIZE;
	memcpy(buf, p, n);
	buf[n] = '\0';
	return 0;
}

bool ktext_has_word(const char *text, const char *key, const char *word)
{
	const char *p = find_key(text, key, false);
	size_t n = strlen(word);

	while (p && !is_line_end(*p)) {
		size_t k = strcspn(p, " \t\n");

		if (k == n && !strncmp(p, word, n))
			return true;
		p = skip_blanks(p + k);
	}
	return false;
}

int ktext_choice(const char *text, char *buf, size_t bytes)
{
	size_t line = strcspn(text, "\n");
	const char *open = memchr(text, '[', line);
	const char *close;
	size_t n;

	if (!open)
		return -EINVAL;
	open++;
	close = memchr(open, ']', line - (size_t)(open - text));
	if (!close || close == open)
		return -EINVAL;
	n = (size_t)(close - open);
	if (n >= bytes)
		return -EMSGSIZE;
	memcpy(buf, open, n);
	buf[n] = '\0';
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int ktext_mask(const char *text, struct u32_list *ret_list)
{
	size_t len = strcspn(text, "\n"), n_digits = 0, n_bits = 0, used = 0;
	struct u32_list list = { 0 };
	size_t pos = 0;

	if (text[len] == '\n' && text[len + 1])
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		int d = hex_digit(text[i]);

		if (d < 0 && text[i] != ',')
			return -EINVAL;
		n_digits += d >= 0;
		n_bits += d >= 0 ? (size_t)__builtin_popcount((unsigned)d) : 0;
	}
	if (!n_digits || n_digits > (1u << 18))
		return -EINVAL;
	list.v = calloc(n_bits ? n_bits : 1, sizeof(*list.v));
	if (!list.v)
		return -ENOMEM;
	list.n = n_bits;
	for (size_t i = len; i-- > 0;) {
		int d = hex_digit(text[i]);

		if (d < 0)
			continue;
		for (unsigned b = 0; b < 4; b++)
			if (d >> b & 1)
				list.v[used++] = (uint32_t)(pos * 4 + b);
		pos++;
	}
	*ret_list = list;
	return 0;
}

int ktext_rlimit(const char *text, const char *name, uint64_t *ret_value)
{
	size_t n = strlen(name);

	for (const char *line = text; line && *line; line = next_line(line)) {
		char word[32];
		size_t k;

		if (strncmp(line, name, n) || !is_blank(line[n]))
			continue;
		line = skip_blanks(line + n);
		k = strcspn(line, " \t\n");
		if (k >= sizeof(word))
			return -EINVAL;
		memcpy(word, line, k);
		word[k] = '\0';
		return ktext_limit(word, ret_value);
	}
	return -ENODATA;
}
