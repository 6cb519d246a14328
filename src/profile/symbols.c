// SPDX-License-Identifier: MIT
/*
 * /proc/kallsyms: "ADDRESS TYPE NAME[\t[MODULE]]", types as nm(1) has them. Text symbols are
 * functions; all others only end the function before them. Leaves out: lines of source, inlined
 * functions, symbols of programs.
 * Sources: kernel/kallsyms.c of Linux 6.1 (s_show(), kallsyms_show_value(): all addresses are zero
 * without the right to see them); Documentation/admin-guide/sysctl/kernel.rst, kptr_restrict.
 */
#include "profile/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_NAME = 512 }; /* KSYM_NAME_LEN */

/* One line of the file, before sorting. */
struct entry {
	uint64_t address;
	const char *name, *module;
	char type;
};

struct parser {
	struct symbols *s;
	struct entry *v; /* owned */
	size_t n, cap;
	bool any_address;
	const char *last_module; /* in the arena; modules come in a row */
};

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_word(const char *p, size_t n)
{
	if (n == 0 || n >= MAX_NAME)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (p[i] <= ' ' || p[i] > '~')
			return false;
	}
	return true;
}

static const char *copy(struct parser *p, const char *text, size_t n)
{
	char *s = arena_alloc(&p->s->arena, n + 1);

	if (s)
		memcpy(s, text, n);
	return s;
}

static bool is_function(char type)
{
	return type && strchr("tTwW", type);
}

/* "[module]" or nothing at all; false: neither. */
static bool take_module(struct parser *p, const char *at, const char *end, struct entry *e,
			bool *no_memory)
{
	size_t n = (size_t)(end - at);

	if (n == 0)
		return true;
	if (n < 4 || at[0] != '\t' || at[1] != '[' || end[-1] != ']' || !is_word(at + 2, n - 3))
		return false;
	if (!p->last_module || strlen(p->last_module) != n - 3 ||
	    memcmp(p->last_module, at + 2, n - 3) != 0)
		p->last_module = copy(p, at + 2, n - 3);
	e->module = p->last_module;
	*no_memory = !e->module;
	return true;
}

/* 0 also for a bad line, which is counted. */
static int take_line(struct parser *p, const char *line, size_t n)
{
	const char *at = line, *end = line + n, *name;
	struct entry e = { 0 };
	bool no_memory = false;

	p->s->n_lines++;
	while (at < end && at - line < 16 && hex_digit(*at) >= 0)
		e.address = e.address << 4 | (unsigned)hex_digit(*at++);
	if (at == line || end - at < 4 || at[0] != ' ' || at[2] != ' ' || !is_word(at + 1, 1)) {
		p->s->n_bad_lines++;
		return 0;
	}
	e.type = at[1];
	name = at + 3;
	for (at = name; at < end && *at != '\t'; at++)
		;
	if (!is_word(name, (size_t)(at - name)) || !take_module(p, at, end, &e, &no_memory)) {
		p->s->n_bad_lines++;
		return 0;
	}
	/* Absolute symbols are numbers, not places. */
	if (e.type == 'a' || e.type == 'A')
		return 0;
	p->any_address = p->any_address || e.address;
	/* Nothing can lie behind the very last address. */
	if (!e.address || e.address == UINT64_MAX)
		return 0;
	e.name = copy(p, name, (size_t)(at - name));
	if (no_memory || !e.name)
		return -ENOMEM;
	if (p->n == p->cap) {
		size_t cap = p->cap ? 2 * p->cap : 4096;
		struct entry *grown = reallocarray(p->v, cap, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		p->v = grown;
		p->cap = cap;
	}
	p->v[p->n++] = e;
	return 0;
}

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/* By address; of several names for one address the one to show comes first. */
static int compare_entries(const void *a, const void *b)
{
	static const char rank[] = "TWtw";
	const struct entry *x = a, *y = b;
	size_t u, v;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (is_function(x->type) != is_function(y->type))
		return is_function(x->type) ? -1 : 1;
	if (x->type != y->type && is_function(x->type))
		return strchr(rank, x->type) < strchr(rank, y->type) ? -1 : 1;
	u = underscores(x->name);
	v = underscores(y->name);
	if (u != v)
		return u < v ? -1 : 1;
	return strcmp(x->name, y->name);
}

static bool same_module(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static void note_text(struct symbols *s, const struct entry *e)
{
	if (e->module)
		return;
	if (!s->text_start && strcmp(e->name, "_stext") == 0)
		s->text_start = e->address;
	if (!s->text_end && strcmp(e->name, "_etext") == 0)
		s->text_end = e->address;
}

/* One symbol for each address that is a function's. */
static int fold(struct parser *p)
{
	struct symbols *s = p->s;

	if (!p->n)
		return 0;
	qsort(p->v, p->n, sizeof(*p->v), compare_entries);
	s->v = arena_alloc(&s->arena, p->n * sizeof(*s->v));
	if (!s->v)
		return -ENOMEM;
	for (size_t i = 0; i < p->n;) {
		const struct entry *e = &p->v[i];
		size_t next = i;

		for (; next < p->n && p->v[next].address == e->address; next++)
			note_text(s, &p->v[next]);
		if (is_function(e->type)) {
			s->v[s->n++] = (struct symbol){
				.address = e->address,
				.end = next < p->n ? p->v[next].address : UINT64_MAX,
				.name = e->name,
				.module = e->module,
				.has_size =
					next < p->n && same_module(e->module, p->v[next].module),
			};
		}
		i = next;
	}
	return 0;
}

static int finish(struct parser *p, int rc)
{
	if (rc == 0)
		rc = fold(p);
	p->s->hidden = p->s->n_lines > p->s->n_bad_lines && !p->any_address;
	free(p->v);
	return rc;
}

int symbols_parse(const char *text, size_t n, struct symbols *ret_symbols)
{
	struct parser p = { .s = ret_symbols };
	int rc = 0;

	*ret_symbols = (struct symbols){ 0 };
	for (size_t at = 0; rc == 0 && at < n;) {
		const char *newline = memchr(text + at, '\n', n - at);
		size_t len = newline ? (size_t)(newline - (text + at)) : n - at;

		rc = take_line(&p, text + at, len);
		at += len + 1;
	}
	return finish(&p, rc);
}

/* Whole lines of @buf; what is left of the last one moves to the front. */
static int take_chunk(struct parser *p, char *buf, size_t *n)
{
	size_t at = 0;

	for (;;) {
		const char *newline = memchr(buf + at, '\n', *n - at);
		int rc;

		if (!newline)
			break;
		rc = take_line(p, buf + at, (size_t)(newline - (buf + at)));
		if (rc)
			return rc;
		at = (size_t)(newline - buf) + 1;
	}
	memmove(buf, buf + at, *n - at);
	*n -= at;
	return 0;
}

/* The file has tens of megabytes on large kernels, so it is never in memory as a whole. */
static int read_lines(struct parser *p, int fd)
{
	enum { CHUNK = 1 << 16 };
	char *buf = malloc(CHUNK);
	size_t n = 0;
	int rc = buf ? 0 : -ENOMEM;

	while (rc == 0) {
		ssize_t k = read(fd, buf + n, CHUNK - n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			rc = -errno;
		if (k <= 0)
			break;
		n += (size_t)k;
		rc = take_chunk(p, buf, &n);
		if (rc == 0 && n == CHUNK) {
			p->s->n_bad_lines++;
			p->s->n_lines++;
			n = 0; /* a line without end */
		}
	}
	if (rc == 0 && n)
		rc = take_line(p, buf, n);
	free(buf);
	return rc;
}

int symbols_read(const struct sysroot *sr, struct symbols *ret_symbols, struct err *e)
{
	struct parser p = { .s = ret_symbols };
	int fd, rc;

	*ret_symbols = (struct symbols){ 0 };
	rc = sysroot_open(sr, "proc/kallsyms", &fd, e);
	if (rc < 0)
		return rc;
	rc = finish(&p, read_lines(&p, fd));
	close(fd);
	return rc ? err_set(e, -rc, "/proc/kallsyms: %s", strerror(-rc)) : 0;
}

void symbols_done(struct symbols *s)
{
	arena_done(&s->arena);
	*s = (struct symbols){ 0 };
}

const struct symbol *symbols_find(const struct symbols *s, uint64_t address)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->v[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low > 0 && address < s->v[low - 1].end ? &s->v[low - 1] : NULL;
}

const char *symbols_unique_name(const struct symbols *s, const struct symbol *sym, struct arena *a)
{
	size_t ordinal = 1;

	for (const struct symbol *o = s->v; o < sym; o++) {
		if (strcmp(o->name, sym->name) == 0 && same_module(o->module, sym->module))
			ordinal++;
	}
	if (ordinal > 1)
		return arena_printf(a, "%s#%zu%s%s%s", sym->name, ordinal, sym->module ? " [" : "",
				    sym->module ? sym->module : "", sym->module ? "]" : "");
	return arena_printf(a, "%s%s%s%s", sym->name, sym->module ? " [" : "",
			    sym->module ? sym->module : "", sym->module ? "]" : "");
}
