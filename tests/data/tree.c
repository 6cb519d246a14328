/* SPDX-License-Identifier: MIT */
/* Unpacks invented machines. Left out: links, permissions; nothing read from a tree needs them. */
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LINE = 4096, MAX_NUMBER = 65535 };

struct unpack {
	const char *name;
	int dir_fd;
	unsigned line;
	char *msg;
	size_t msg_bytes;
};

static int fail(struct unpack *u, int code, const char *what, const char *text)
{
	snprintf(u->msg, u->msg_bytes, "%s:%u: %s: %.200s", u->name, u->line, what, text);
	return -code;
}

static int make_parents(struct unpack *u, char *path)
{
	for (char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
		int rc;

		*p = '\0';
		rc = mkdirat(u->dir_fd, path, 0777);
		*p = '/';
		if (rc < 0 && errno != EEXIST)
			return fail(u, errno, strerror(errno), path);
	}
	return 0;
}

static bool bad_path(const char *path)
{
	return !*path || *path == '/' || strstr(path, "..") || strpbrk(path, "{} ");
}

/* A file with @n bytes, or a folder where @text is NULL. */
static int create(struct unpack *u, char *path, const char *text, size_t n)
{
	int fd, rc;

	if (bad_path(path))
		return fail(u, EINVAL, "bad path", path);
	if (!text) {
		rc = make_parents(u, path);
		if (rc == 0 && mkdirat(u->dir_fd, path, 0777) < 0 && errno != EEXIST)
			rc = fail(u, errno, strerror(errno), path);
		return rc;
	}
	fd = openat(u->dir_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0 && errno == ENOENT) {
		rc = make_parents(u, path);
		if (rc < 0)
			return rc;
		fd = openat(u->dir_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	}
	if (fd < 0)
		return fail(u, errno, strerror(errno), path);
	rc = write(fd, text, n) == (ssize_t)n ? 0 : fail(u, EIO, "cannot write", path);
	close(fd);
	return rc;
}

/* The group of @k CPUs that n % step is in, @times times, each @step further. */
static int add_mask(char *out, size_t bytes, unsigned n, unsigned k, unsigned step, unsigned times)
{
	unsigned first = (n % step) / k * k, top = (first + k - 1 + step * (times - 1)) / 32;
	unsigned *bits = calloc(top + 1, sizeof(*bits));
	int used = 0;

	for (unsigned t = 0; bits && t < times; t++)
		for (unsigned i = 0; i < k; i++) {
			unsigned cpu = first + i + step * t;

			bits[cpu / 32] |= 1u << cpu % 32;
		}
	for (int group = (int)top; bits && group >= 0 && used < (int)bytes; group--)
		used += snprintf(out + used, bytes - (size_t)used, "%s%08x", used ? "," : "",
				 bits[group]);
	free(bits);
	return bits && used < (int)bytes ? used : -1;
}

static bool is_mask(unsigned k, unsigned step, unsigned times)
{
	return k && step && times && k <= MAX_NUMBER && step <= MAX_NUMBER && times <= 256;
}

/* Replaces {n}, {n/K}, {n%K}, {mask:K}, {mask:K+S*T}. */
static int expand(struct unpack *u, const char *in, unsigned n, char *out, size_t bytes)
{
	size_t used = 0;

	while (*in && used + 1 < bytes) {
		unsigned k = 0, step = 0, times = 0;
		int eat = 0, put = -1;
		size_t left = bytes - used;

		if (*in != '{') {
			out[used++] = *in++;
			continue;
		}
		if (!strncmp(in, "{n}", 3)) {
			eat = 3;
			put = snprintf(out + used, left, "%u", n);
		} else if (sscanf(in, "{n/%u}%n", &k, &eat) == 1 && eat && k) {
			put = snprintf(out + used, left, "%u", n / k);
		} else if (sscanf(in, "{n%%%u}%n", &k, &eat) == 1 && eat && k) {
			put = snprintf(out + used, left, "%u", n % k);
		} else if (sscanf(in, "{mask:%u}%n", &k, &eat) == 1 && eat && is_mask(k, 1, 1)) {
			put = add_mask(out + used, left, n, k, MAX_NUMBER + 1, 1);
		} else if (sscanf(in, "{mask:%u+%u*%u}%n", &k, &step, &times, &eat) == 3 && eat &&
			   is_mask(k, step, times)) {
			put = add_mask(out + used, left, n, k, step, times);
		}
		if (put < 0 || (size_t)put >= left)
			return fail(u, EINVAL, "cannot expand", in);
		used += (size_t)put;
		in += eat;
	}
	if (*in)
		return fail(u, E2BIG, "too long", in);
	out[used] = '\0';
	return 0;
}

/* Where "{A-B}" stands in @path; NULL: nowhere. */
static const char *find_range(const char *path, unsigned *ret_a, unsigned *ret_b, int *ret_n)
{
	for (const char *p = strchr(path, '{'); p; p = strchr(p + 1, '{'))
		if (*ret_n = 0, sscanf(p, "{%u-%u}%n", ret_a, ret_b, ret_n) == 2 && *ret_n)
			return p;
	return NULL;
}

/* The files of one entry; @text NULL: folders. @is_line: expand @text and end it with a newline. */
static int create_all(struct unpack *u, const char *path, const char *text, size_t n, bool is_line)
{
	char pattern[MAX_LINE], full[MAX_LINE], line[MAX_LINE];
	unsigned a = 0, b = 0;
	int range_n = 0, rc = 0;
	const char *range = find_range(path, &a, &b, &range_n);

	if (range && (b < a || b > MAX_NUMBER))
		return fail(u, EINVAL, "bad range", path);
	if (range)
		snprintf(pattern, sizeof(pattern), "%.*s{n}%s", (int)(range - path), path,
			 range + range_n);
	else
		snprintf(pattern, sizeof(pattern), "%s", path);
	for (unsigned i = a; i <= b && rc == 0; i++) {
		rc = expand(u, pattern, i, full, sizeof(full));
		if (rc == 0 && is_line) {
			rc = expand(u, text, i, line, sizeof(line) - 1);
			if (rc == 0) {
				strcat(line, "\n");
				rc = create(u, full, line, strlen(line));
			}
		} else if (rc == 0) {
			rc = create(u, full, text, n);
		}
	}
	return rc;
}

static bool is_entry(const char *p)
{
	return !strncmp(p, "= ", 2) || !strncmp(p, "== ", 3) || !strncmp(p, "-- ", 3);
}

/* Copies the line at @p without its end; returns the start of the next one. */
static const char *take_line(const char *p, char line[MAX_LINE])
{
	size_t n = strcspn(p, "\n");

	snprintf(line, MAX_LINE, "%.*s", (int)n, p);
	return p + n + (p[n] == '\n');
}

static int unpack_entry(struct unpack *u, const char **pp)
{
	char line[MAX_LINE], *bar;
	const char *body;

	if (strcspn(*pp, "\n") >= MAX_LINE)
		return fail(u, E2BIG, "line too long", "");
	*pp = take_line(*pp, line);
	u->line++;
	if (!*line || *line == '#')
		return 0;
	if (!is_entry(line))
		return fail(u, EINVAL, "expected = PATH | LINE, == PATH, -- PATH or #", line);
	if (!strncmp(line, "-- ", 3))
		return create_all(u, line + 3, NULL, 0, false);
	if (!strncmp(line, "= ", 2)) {
		bar = strstr(line, " | ");
		if (!bar) /* "= PATH |": an empty line */
			bar = strstr(line, " |");
		if (!bar || (bar[2] && bar[2] != ' '))
			return fail(u, EINVAL, "expected = PATH | LINE", line);
		*bar = '\0';
		return create_all(u, line + 2, bar[2] ? bar + 3 : "", 0, true);
	}
	body = *pp;
	while (**pp && !is_entry(*pp)) {
		*pp += strcspn(*pp, "\n");
		*pp += **pp == '\n';
		u->line++;
	}
	return create_all(u, line + 3, body, (size_t)(*pp - body), false);
}

int tree_unpack_text(const char *name, const char *text, const char *dir, char *msg,
		     size_t msg_bytes)
{
	struct unpack u = { .name = name, .msg = msg, .msg_bytes = msg_bytes };
	int rc = 0;

	u.dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (u.dir_fd < 0)
		return fail(&u, errno, strerror(errno), dir);
	for (const char *p = text; *p && rc == 0;)
		rc = unpack_entry(&u, &p);
	close(u.dir_fd);
	return rc;
}

static char *read_text(const char *file)
{
	FILE *f = fopen(file, "re");
	char *text = NULL;
	size_t cap = 0;
	ssize_t n;

	if (!f)
		return NULL;
	n = getdelim(&text, &cap, '\0', f);
	fclose(f);
	if (n < 0) {
		free(text);
		return NULL;
	}
	return text;
}

int tree_unpack(const char *file, const char *dir, char *msg, size_t msg_bytes)
{
	char *text = read_text(file);
	int rc;

	if (!text) {
		snprintf(msg, msg_bytes, "%s: cannot be read", file);
		return -ENOENT;
	}
	rc = tree_unpack_text(file, text, dir, msg, msg_bytes);
	free(text);
	return rc;
}

char *tree_unpack_temp(const char *file, char *msg, size_t msg_bytes)
{
	const char *base = getenv("TMPDIR");
	char *dir = NULL;

	/* Thousands of small files: memory is faster than any disk. */
	if (!base || !*base)
		base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	if (asprintf(&dir, "%s/pagetoll-tree-XXXXXX", base) < 0)
		return NULL;
	if (!mkdtemp(dir)) {
		snprintf(msg, msg_bytes, "%s: %s", dir, strerror(errno));
		free(dir);
		return NULL;
	}
	if (tree_unpack(file, dir, msg, msg_bytes) < 0) {
		tree_remove(dir);
		free(dir);
		return NULL;
	}
	return dir;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void tree_remove(const char *dir)
{
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
