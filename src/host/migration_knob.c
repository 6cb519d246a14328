/* SPDX-License-Identifier: MIT */
/*
 * Where the constant lies: kernel/sched/debug.c (debugfs, an unsigned 32-bit number, since Linux
 * 5.13), kernel/sysctl.c (kernel.sched_migration_cost_ns, a signed one; also
 * kernel.sched_migration_cost until 3.x). Kernel lockdown forbids reading debugfs.
 */
#include "host/migration_knob.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEBUGFS "sys/kernel/debug"
#define IN_DEBUGFS DEBUGFS "/sched/migration_cost_ns"
#define IN_SYSCTL "proc/sys/kernel/sched_migration_cost_ns"
#define IN_OLD_SYSCTL "proc/sys/kernel/sched_migration_cost"

/* All ones is -1 in debugfs, which knows no sign. */
static int parse(const char *line, int64_t *ret_ns)
{
	bool negative = line[0] == '-';
	uint64_t v;

	if (parse_u64(line + negative, &v, NULL) < 0 || v > UINT32_MAX || (negative && v != 1))
		return -EINVAL;
	*ret_ns = negative || v == UINT32_MAX ? -1 : (int64_t)v;
	return 0;
}

static int try_file(const struct sysroot *sr, const char *path, struct migration_knob *k)
{
	char line[64];
	int rc = sysroot_read_line(sr, path, line, sizeof(line), NULL);

	if (rc == 0)
		rc = parse(line, &k->ns);
	if (rc == -EINVAL)
		snprintf(k->reason, sizeof(k->reason), "/%s holds no number", path);
	if (rc == 0 || rc == -EINVAL || rc == -EACCES || rc == -EPERM)
		k->path = path;
	k->known = rc == 0;
	return rc;
}

void migration_knob_read(const struct sysroot *sr, struct migration_knob *ret)
{
	static const char *const sysctls[] = { IN_SYSCTL, IN_OLD_SYSCTL };
	int rc;

	*ret = (struct migration_knob){ .ns = MIGRATION_KNOB_DEFAULT_NS };
	rc = try_file(sr, IN_DEBUGFS, ret);
	if (rc == 0 || rc == -EINVAL)
		return;
	for (size_t i = 0; i < sizeof(sysctls) / sizeof(sysctls[0]); i++) {
		int old = try_file(sr, sysctls[i], ret);

		if (old == 0 || old == -EINVAL)
			return;
	}
	ret->path = IN_DEBUGFS;
	if (rc == -EPERM)
		snprintf(ret->reason, sizeof(ret->reason),
			 "/%s: not permitted: kernel lockdown forbids debugfs, or this is not root",
			 ret->path);
	else if (rc == -EACCES)
		snprintf(ret->reason, sizeof(ret->reason),
			 "/%s: permission denied: only root may read debugfs", ret->path);
	else if (rc == -ENOENT && !sysroot_exists(sr, DEBUGFS "/sched"))
		snprintf(ret->reason, sizeof(ret->reason),
			 "no /%s and no sysctl: debugfs is not mounted, or this kernel has no "
			 "scheduler debugging",
			 ret->path);
	else
		snprintf(ret->reason, sizeof(ret->reason), "/%s: %s", ret->path, strerror(-rc));
}
