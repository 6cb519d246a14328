/* SPDX-License-Identifier: MIT */
/*
 * Where this process stands in the control group hierarchies, and the walk to their roots. Version
 * 1 (a hierarchy for each controller), version 2, and both mounted side by side.
 */
#ifndef PAGETOLL_HOST_CGROUP_H
#define PAGETOLL_HOST_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/sysroot.h"

struct cgroup {
	unsigned version; /* 1 or 2 */
	char dir[1024];   /* sysroot path of the group's folder: "sys/fs/cgroup/memory/a/b" */
	size_t mount_len; /* length of the part of `dir` that is the mount point */
};

/*
 * The group of this process for @controller ("memory", "cpu"; "" for version 2). @self_cgroup is
 * the text of /proc/self/cgroup, @mountinfo that of /proc/self/mountinfo. Where the group lies
 * outside of what is mounted here (containers), the mount point itself stands for it. 0, -ENOENT
 * (no such hierarchy), -EMSGSIZE.
 */
int cgroup_locate(const char *self_cgroup, const char *mountinfo, const char *controller,
		  struct cgroup *ret);
/* Reads both files; otherwise as above. */
int cgroup_find(const struct sysroot *sr, const char *controller, struct cgroup *ret);
/* Moves @g to its parent; false (and nothing done) at the mount point. */
bool cgroup_to_parent(struct cgroup *g);
/* The group's name for messages: "/a/b"; "/" at the mount point. Borrowed from @g. */
const char *cgroup_name(const struct cgroup *g);
/* A number, "max" and "unlimited" as UINT64_MAX, from the file @name of the group. */
int cgroup_read_limit(const struct sysroot *sr, const struct cgroup *g, const char *name,
		      uint64_t *ret_value);
/* The value of @key in a file of lines "key 123" of the group. */
int cgroup_read_key(const struct sysroot *sr, const struct cgroup *g, const char *name,
		    const char *key, uint64_t *ret_value);
/* The first line of a file of the group. */
int cgroup_read_line(const struct sysroot *sr, const struct cgroup *g, const char *name, char *buf,
		     size_t bytes);

#endif
