/* SPDX-License-Identifier: MIT */
/*
 * Control groups of this process. Left out: what the files in a group mean (limits, quotas), and
 * groups of other processes. Formats: Documentation/admin-guide/cgroup-v1/cgroups.rst,
 * cgroup-v2.rst and Documentation/filesystems/proc.rst (mountinfo) of Linux 6.18.
 */
#include "host/cgroup.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/kernel_text.h"

/* A piece of text that is not ended by NUL. */
struct span {
	const char *p;
	size_t n;
};

static bool span_is(struct span s, const char *word)
{
	return s.n == strlen(word) && !strncmp(s.p, word, s.n);
}

/* The part of @s before the first @sep, which is taken off @s with it. */
static struct span span_split(struct span *s, char sep)
{
	const char *hit = memchr(s->p, sep, s->n);
	struct span head = { s->p, hit ? (size_t)(hit - s->p) : s->n };
	size_t eat = hit ? head.n + 1 : s->n;

	s->p += eat;
	s->n -= eat;
	return head;
}

/* Whether the comma list @list has @word. */
static bool span_list_has(struct span list, const char *word)
{
	while (list.n)
		if (span_is(span_split(&list, ','), word))
			return true;
	return false;
}

/* "4:memory:/a/b" for a controller, "0::/a/b" for version 2: the path. */
static bool find_self_path(const char *self_cgroup, const char *controller, struct span *ret_path)
{
	struct span text = { self_cgroup, strlen(self_cgroup) };

	while (text.n) {
		struct span line = span_split(&text, '\n');
		struct span id = span_split(&line, ':');
		struct span controllers = span_split(&line, ':');

		if (!id.n || !line.n || line.p[0] != '/')
			continue;
		if (*controller ? span_list_has(controllers, controller) : !controllers.n) {
			*ret_path = line;
			return true;
		}
	}
	return false;
}

struct mount {
	struct span root, point;
};

/*
 * "31 23 0:28 /root /mount/point rw,relatime shared:9 - cgroup2 cgroup2 rw": of the hierarchy of
 * @controller. The last line wins: later mounts cover earlier ones.
 */
static bool find_mount(const char *mountinfo, const char *controller, struct mount *ret)
{
	struct span text = { mountinfo, strlen(mountinfo) };
	bool found = false;

	while (text.n) {
		struct span line = span_split(&text, '\n');
		struct mount m;
		struct span word, type, options;

		for (int i = 0; i < 3; i++)
			span_split(&line, ' ');
		m.root = span_split(&line, ' ');
		m.point = span_split(&line, ' ');
		do {
			word = span_split(&line, ' ');
		} while (line.n && !span_is(word, "-"));
		type = span_split(&line, ' ');
		span_split(&line, ' ');
		options = line;
		if (!m.root.n || m.point.n < 2 || m.point.p[0] != '/')
			continue;
		if (*controller ? span_is(type, "cgroup") && span_list_has(options, controller)
				: span_is(type, "cgroup2")) {
			*ret = m;
			found = true;
		}
	}
	return found;
}

/* Appends @s, with the kernel's \ooo escapes decoded. */
static int append(char *buf, size_t bytes, size_t *n, struct span s, bool escaped)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (escaped && c == '\\' && s.n - i > 3) {
			const char *d = s.p + i + 1;

			if (d[0] >= '0' && d[0] <= '3' && d[1] >= '0' && d[1] <= '7' &&
			    d[2] >= '0' && d[2] <= '7') {
				c = (char)((d[0] - '0') << 6 | (d[1] - '0') << 3 | (d[2] - '0'));
				i += 3;
			}
		}
		if (!c)
			return -EINVAL;
		if (*n + 1 >= bytes)
			return -EMSGSIZE;
		buf[(*n)++] = c;
	}
	buf[*n] = '\0';
	return 0;
}

static bool has_dotdot(struct span path)
{
	while (path.n)
		if (span_is(span_split(&path, '/'), ".."))
			return true;
	return false;
}

/* What of the group's own path lies below the mount's root; empty when it lies elsewhere. */
static struct span path_below(struct span path, struct span root)
{
	const struct span none = { "", 0 };

	if (has_dotdot(path) || has_dotdot(root))
		return none;
	if (root.n == 1) /* "/" */
		return path.n == 1 ? none : path;
	if (path.n < root.n || strncmp(path.p, root.p, root.n))
		return none;
	path.p += root.n;
	path.n -= root.n;
	if (path.n && path.p[0] != '/')
		return none;
	return path;
}

int cgroup_locate(const char *self_cgroup, const char *mountinfo, const char *controller,
		  struct cgroup *ret)
{
	struct cgroup g = { .version = *controller ? 1 : 2 };
	struct span path, point;
	struct mount m = { 0 };
	size_t n = 0;
	int rc;

	if (!find_self_path(self_cgroup, controller, &path) ||
	    !find_mount(mountinfo, controller, &m))
		return -ENOENT;
	point = m.point;
	while (point.n && point.p[0] == '/') {
		point.p++;
		point.n--;
	}
	if (!point.n || has_dotdot(point))
		return -EINVAL;
	rc = append(g.dir, sizeof(g.dir), &n, point, true);
	if (rc < 0)
		return rc;
	g.mount_len = n;
	rc = append(g.dir, sizeof(g.dir), &n, path_below(path, m.root), false);
	if (rc < 0)
		return rc;
	*ret = g;
	return 0;
}

int cgroup_find(const struct sysroot *sr, const char *controller, struct cgroup *ret)
{
	char *self_cgroup = NULL, *mountinfo = NULL;
	int rc;

	rc = sysroot_read(sr, "proc/self/cgroup", &self_cgroup, NULL, NULL);
	if (rc == 0)
		rc = sysroot_read(sr, "proc/self/mountinfo", &mountinfo, NULL, NULL);
	if (rc == 0)
		rc = cgroup_locate(self_cgroup, mountinfo, controller, ret);
	free(self_cgroup);
	free(mountinfo);
	return rc;
}

bool cgroup_to_parent(struct cgroup *g)
{
	char *slash;

	if (!g->dir[g->mount_len])
		return false;
	slash = strrchr(g->dir + g->mount_len, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

const char *cgroup_name(const struct cgroup *g)
{
	return g->dir[g->mount_len] ? g->dir + g->mount_len : "/";
}

static int file_path(const struct cgroup *g, const char *name, char path[PATH_MAX])
{
	int n = snprintf(path, PATH_MAX, "%s/%s", g->dir, name);

	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

int cgroup_read_limit(const struct sysroot *sr, const struct cgroup *g, const char *name,
		      uint64_t *ret_value)
{
	char path[PATH_MAX], line[64];
	int rc = file_path(g, name, path);

	if (rc == 0)
		rc = sysroot_read_line(sr, path, line, sizeof(line), NULL);
	return rc < 0 ? rc : ktext_limit(line, ret_value);
}

int cgroup_read_key(const struct sysroot *sr, const struct cgroup *g, const char *name,
		    const char *key, uint64_t *ret_value)
{
	char path[PATH_MAX];
	int rc = file_path(g, name, path);

	return rc < 0 ? rc : sysroot_read_key(sr, path, key, ret_value, NULL);
}

int cgroup_read_line(const struct sysroot *sr, const struct cgroup *g, const char *name, char *buf,
		     size_t bytes)
{
	char path[PATH_MAX];
	int rc = file_path(g, name, path);

	return rc < 0 ? rc : sysroot_read_line(sr, path, buf, bytes, NULL);
}
