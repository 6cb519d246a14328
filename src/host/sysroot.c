/* SPDX-License-Identifier: MIT */
/*
 * Reading below a root. Left out: writing (nothing here changes a machine) and what the texts mean
 * (host/kernel_text). Symbolic links are followed, as the kernel's own trees need them; a recorded
 * tree has to hold relative ones.
 */
#include "host/sysroot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/kernel_text.h"

enum { MAX_FILE_BYTES = 16 << 20 };

int sysroot_init(struct sysroot *sr, const char *dir, struct err *e)
{
	struct stat st;

	if (!dir || !strcmp(dir, "/")) {
		*sr = (struct sysroot){ .dir = "/", .is_live = true };
		return 0;
	}
	if (stat(dir, &st) < 0)
		return err_set(e, errno, "system root %s: %s", dir, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ENOTDIR,
			       "system root %s: not a folder (a folder with proc/ and sys/ of a "
			       "recorded machine is accepted)",
			       dir);
	*sr = (struct sysroot){ .dir = dir, .is_live = false };
	return 0;
}

/* The whole path into @buf. */
static int full_path(const struct sysroot *sr, const char *path, char buf[PATH_MAX], struct err *e)
{
	int n = snprintf(buf, PATH_MAX, "%s/%s", sr->is_live ? "" : sr->dir, path);

	if (n < 0 || n >= PATH_MAX)
		return err_set(e, ENAMETOOLONG, "%s/%s: the path is too long", sr->dir, path);
	return 0;
}

static int read_fd(int fd, char **ret_text, size_t *ret_n)
{
	size_t cap = 4096, n = 0;
	char *text = malloc(cap), *grown;
	int rc = 0;

	while (text) {
		ssize_t k;

		if (cap - n < 2) {
			if (cap >= MAX_FILE_BYTES) {
				rc = -EFBIG;
				break;
			}
			cap *= 2;
			grown = realloc(text, cap);
			if (!grown)
				break;
			text = grown;
		}
		k = read(fd, text + n, cap - n - 1);
		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			rc = -errno;
		if (k <= 0) {
			if (rc < 0)
				break;
			text[n] = '\0';
			*ret_text = text;
			*ret_n = n;
			return 0;
		}
		n += (size_t)k;
	}
	free(text);
	return rc < 0 ? rc : -ENOMEM;
}

int sysroot_open(const struct sysroot *sr, const char *path, int *ret_fd, struct err *e)
{
	char full[PATH_MAX];
	int fd, rc = full_path(sr, path, full, e);

	if (rc < 0)
		return rc;
	fd = open(full, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return err_set(e, errno, "%s: %s", full, strerror(errno));
	*ret_fd = fd;
	return 0;
}

int sysroot_read(const struct sysroot *sr, const char *path, char **ret_text, size_t *ret_n,
		 struct err *e)
{
	char *text;
	size_t n;
	int fd, rc = sysroot_open(sr, path, &fd, e);

	if (rc < 0)
		return rc;
	rc = read_fd(fd, &text, &n);
	close(fd);
	if (rc < 0)
		return err_set(e, -rc, "%s/%s: %s", sr->is_live ? "" : sr->dir, path,
			       strerror(-rc));
	*ret_text = text;
	if (ret_n)
		*ret_n = n;
	return 0;
}

int sysroot_read_line(const struct sysroot *sr, const char *path, char *buf, size_t bytes,
		      struct err *e)
{
	char *text;
	size_t n;
	int rc = sysroot_read(sr, path, &text, NULL, e);

	if (rc < 0)
		return rc;
	n = strcspn(text, "\n");
	if (n < bytes) {
		memcpy(buf, text, n);
		buf[n] = '\0';
	} else {
		rc = err_set(e, EMSGSIZE,
			     "%s/%s: the first line has %zu characters, at most %zu fit",
			     sr->is_live ? "" : sr->dir, path, n, bytes - 1);
	}
	free(text);
	return rc;
}

/* Message for a text that was read but not understood. */
static int bad_text(const struct sysroot *sr, const char *path, const char *text, int rc,
		    const char *want, struct err *e)
{
	return err_set(e, -rc, "%s/%s: \"%.40s\" is not %s", sr->is_live ? "" : sr->dir, path, text,
		       want);
}

int sysroot_read_u64(const struct sysroot *sr, const char *path, uint64_t *ret_value, struct err *e)
{
	char *text;
	int rc = sysroot_read(sr, path, &text, NULL, e);

	if (rc < 0)
		return rc;
	rc = ktext_u64(text, ret_value);
	if (rc < 0)
		rc = bad_text(sr, path, text, rc, "an unsigned number of 64 bits", e);
	free(text);
	return rc;
}

int sysroot_read_list(const struct sysroot *sr, const char *path, struct u32_list *ret_list,
		      struct err *e)
{
	char *text;
	int rc = sysroot_read(sr, path, &text, NULL, e);

	if (rc < 0)
		return rc;
	text[strcspn(text, "\n")] = '\0';
	rc = parse_u32_list(text, ret_list, NULL);
	if (rc < 0)
		rc = bad_text(sr, path, text, rc, "a list such as 0-3,8", e);
	free(text);
	return rc;
}

int sysroot_read_key(const struct sysroot *sr, const char *path, const char *key,
		     uint64_t *ret_value, struct err *e)
{
	char *text;
	int rc = sysroot_read(sr, path, &text, NULL, e);

	if (rc < 0)
		return rc;
	rc = ktext_key(text, key, ret_value);
	if (rc < 0)
		rc = err_set(e, -rc, "%s/%s: %s %s", sr->is_live ? "" : sr->dir, path,
			     rc == -ENODATA ? "has no line" : "has no number in the line", key);
	free(text);
	return rc;
}

int sysroot_read_choice(const struct sysroot *sr, const char *path, char *buf, size_t bytes,
			struct err *e)
{
	char *text;
	int rc = sysroot_read(sr, path, &text, NULL, e);

	if (rc < 0)
		return rc;
	rc = ktext_choice(text, buf, bytes);
	if (rc < 0)
		rc = bad_text(sr, path, text, rc, "a list of words with one in brackets", e);
	free(text);
	return rc;
}

int sysroot_read_link(const struct sysroot *sr, const char *path, char *buf, size_t bytes,
		      struct err *e)
{
	char full[PATH_MAX];
	ssize_t n;
	int rc = full_path(sr, path, full, e);

	if (rc < 0)
		return rc;
	n = readlink(full, buf, bytes);
	if (n < 0)
		return err_set(e, errno, "%s: %s", full, strerror(errno));
	if ((size_t)n >= bytes)
		return err_set(e, EMSGSIZE, "%s leads to a path that is too long", full);
	buf[n] = '\0';
	return 0;
}

bool sysroot_exists(const struct sysroot *sr, const char *path)
{
	char full[PATH_MAX];

	return full_path(sr, path, full, NULL) == 0 && access(full, F_OK) == 0;
}

/* The number in "cpu12" or "hugepages-2048kB" behind @prefix. */
static bool name_id(const char *name, const char *prefix, uint32_t *ret_id)
{
	size_t n = strlen(prefix);
	uint64_t v = 0;
	const char *p;

	if (strncmp(name, prefix, n))
		return false;
	p = name + n;
	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++) {
		v = v * 10 + (uint64_t)(*p - '0');
		if (v > UINT32_MAX)
			return false;
	}
	if (*p && strcmp(p, "kB"))
		return false;
	*ret_id = (uint32_t)v;
	return true;
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int collect_ids(DIR *d, const char *prefix, struct u32_list *list)
{
	const struct dirent *ent;
	size_t cap = 0;
	uint32_t id;

	while ((ent = readdir(d))) {
		if (!name_id(ent->d_name, prefix, &id))
			continue;
		if (list->n == cap) {
			size_t want = cap ? cap * 2 : 64;
			uint32_t *grown = reallocarray(list->v, want, sizeof(*grown));

			if (!grown)
				return -ENOMEM;
			list->v = grown;
			cap = want;
		}
		list->v[list->n++] = id;
	}
	if (list->n)
		qsort(list->v, list->n, sizeof(*list->v), compare_u32);
	return 0;
}

int sysroot_list_ids(const struct sysroot *sr, const char *dir, const char *prefix,
		     struct u32_list *ret_ids, struct err *e)
{
	struct u32_list list = { 0 };
	char full[PATH_MAX];
	DIR *d;
	int rc;

	rc = full_path(sr, dir, full, e);
	if (rc < 0)
		return rc;
	d = opendir(full);
	if (!d) {
		rc = errno;
		*ret_ids = list;
		return err_set(e, rc, "%s: %s", full, strerror(rc));
	}
	rc = collect_ids(d, prefix, &list);
	closedir(d);
	if (rc < 0) {
		u32_list_done(&list);
		return err_set(e, -rc, "%s: no memory", full);
	}
	*ret_ids = list;
	return 0;
}
