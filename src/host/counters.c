/* SPDX-License-Identifier: MIT */
/*
 * Counters of disturbances. Sources: getrusage(2) RUSAGE_THREAD; proc(5): /proc/stat "cpu" line,
 * 8th value is steal; Documentation/admin-guide/cgroup-v2.rst cpu.stat nr_throttled (the same key
 * under v1).
 */
#include "host/counters.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

void counters_thread(struct thread_counts *ret)
{
	struct rusage u;

	memset(ret, 0, sizeof(*ret));
	if (getrusage(RUSAGE_THREAD, &u) == 0) {
		ret->involuntary_switches = u.ru_nivcsw;
		ret->minor_faults = u.ru_minflt;
		ret->major_faults = u.ru_majflt;
	}
	ret->cpu = sched_getcpu();
}

/* Tries v2's unified mount, then v1's cpu controller, for one line "N:controllers:/path". */
static void try_cgroup_line(struct counters *c, char *line)
{
	static const char *const mounts[] = { "sys/fs/cgroup", "sys/fs/cgroup/unified",
					      "sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct" };
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path)
		return;
	*path++ = '\0';
	if (controllers[1] != '\0' && !strstr(controllers, "cpu"))
		return;
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		char text[512];

		int n = snprintf(text, sizeof(text), "%s%s/cpu.stat", mounts[i],
				 strcmp(path, "/") == 0 ? "" : path);

		if (n > 0 && (size_t)n < sizeof(text) && sysroot_exists(&c->sr, text)) {
			memcpy(c->quota_path, text, (size_t)n + 1);
			return;
		}
	}
}

void counters_init(struct counters *c)
{
	char *text = NULL, *save = NULL;

	memset(c, 0, sizeof(*c));
	if (sysroot_init(&c->sr, NULL, NULL) < 0)
		return;
	if (sysroot_read(&c->sr, "proc/self/cgroup", &text, NULL, NULL) < 0)
		return;
	for (char *line = strtok_r(text, "\n", &save); line && !c->quota_path[0];
	     line = strtok_r(NULL, "\n", &save))
		try_cgroup_line(c, line);
	free(text);
}

/* The number after "key " at the start of a line; -1: absent. */
static int64_t number_after(const char *text, const char *key)
{
	size_t n = strlen(key);

	for (const char *p = text; p; p = strchr(p, '\n')) {
		if (*p == '\n')
			p++;
		if (strncmp(p, key, n) == 0 && p[n] == ' ')
			return (int64_t)strtoll(p + n, NULL, 10);
	}
	return -1;
}

static int64_t steal_of(const char *stat)
{
	long long steal = -1;

	/* user nice system idle iowait irq softirq steal */
	if (sscanf(stat, "cpu %*d %*d %*d %*d %*d %*d %*d %lld", &steal) != 1)
		return -1;
	return steal;
}

void counters_host(const struct counters *c, struct host_counts *ret)
{
	char *text;

	ret->steal_ticks = -1;
	ret->throttled = -1;
	ret->numa_pages_migrated = -1;
	if (sysroot_read(&c->sr, "proc/stat", &text, NULL, NULL) == 0) {
		ret->steal_ticks = steal_of(text);
		free(text);
	}
	if (c->quota_path[0] && sysroot_read(&c->sr, c->quota_path, &text, NULL, NULL) == 0) {
		ret->throttled = number_after(text, "nr_throttled");
		free(text);
	}
	if (sysroot_read(&c->sr, "proc/vmstat", &text, NULL, NULL) == 0) {
		ret->numa_pages_migrated = number_after(text, "numa_pages_migrated");
		free(text);
	}
}
