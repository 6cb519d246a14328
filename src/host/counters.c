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

#include "host/cgroup.h"

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

static int64_t read_throttled(const struct sysroot *sr, const char *path)
{
	int64_t n = -1;
	char *text;

	if (sysroot_read(sr, path, &text, NULL, NULL) == 0) {
		n = number_after(text, "nr_throttled");
		free(text);
	}
	return n;
}

void counters_init(struct counters *c, const struct sysroot *sr)
{
	static const char *const controllers[] = { "", "cpu" };

	memset(c, 0, sizeof(*c));
	c->sr = *sr;
	for (size_t i = 0; i < sizeof(controllers) / sizeof(controllers[0]); i++) {
		struct cgroup g;

		if (cgroup_find(sr, controllers[i], &g) < 0)
			continue;
		/* A group without the controller is held by the quota of one above it. */
		do {
			int n = snprintf(c->quota_path, sizeof(c->quota_path), "%s/cpu.stat",
					 g.dir);

			if (n > 0 && (size_t)n < sizeof(c->quota_path) &&
			    read_throttled(sr, c->quota_path) >= 0)
				return;
		} while (cgroup_to_parent(&g));
	}
	c->quota_path[0] = '\0';
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
	if (c->quota_path[0])
		ret->throttled = read_throttled(&c->sr, c->quota_path);
	if (sysroot_read(&c->sr, "proc/vmstat", &text, NULL, NULL) == 0) {
		ret->numa_pages_migrated = number_after(text, "numa_pages_migrated");
		free(text);
	}
}
