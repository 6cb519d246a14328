/* SPDX-License-Identifier: MIT */
/*
 * The CPUs: which there are, which run, which this process may use, which the scheduler leaves
 * alone, and how fast they are compared with each other. Left out: packages, cores and caches
 * (machine_hwloc.c, machine_sysfs.c), nodes (machine_nodes.c). Source:
 * Documentation/admin-guide/cputopology.rst and Documentation/ABI/testing/sysfs-devices-system-cpu
 * of Linux 6.18.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/affinity.h"
#include "host/kernel_text.h"
#include "host/machine_parts.h"

#define CPU_DIR "sys/devices/system/cpu"

enum {
	SAME_KIND_PERCENT =
		10, /* preferred cores of one kind differ by some percent in top speed */
	MAX_MASK_CPUS = 1 << 20,
};

/* Ids of "processor : 3" lines, for machines without sysfs (gVisor). */
static int list_from_cpuinfo(const struct sysroot *sr, struct u32_list *ret_list)
{
	struct u32_list l = { 0 };
	char *text;
	int rc = sysroot_read(sr, "proc/cpuinfo", &text, NULL, NULL);

	if (rc < 0)
		return rc;
	for (const char *line = text; line; line = strchr(line, '\n')) {
		uint64_t id;
		uint32_t *grown;

		line += *line == '\n';
		if (strncmp(line, "processor", 9) || ktext_key(line, "processor", &id) < 0)
			continue;
		if (id >= MAX_MASK_CPUS || (l.n && id <= l.v[l.n - 1]))
			continue;
		grown = reallocarray(l.v, l.n + 1, sizeof(*grown));
		if (!grown) {
			rc = -ENOMEM;
			break;
		}
		l.v = grown;
		l.v[l.n++] = (uint32_t)id;
	}
	free(text);
	if (rc == 0 && !l.n)
		rc = -ENODATA;
	if (rc < 0)
		u32_list_done(&l);
	else
		*ret_list = l;
	return rc;
}

/* The first source that tells any CPU. Possible but not present ones are slots, not CPUs. */
static int list_cpus(const struct sysroot *sr, struct u32_list *ret_list, struct err *e)
{
	static const char *const files[] = { CPU_DIR "/present", CPU_DIR "/possible",
					     CPU_DIR "/online" };
	struct u32_list l = { 0 };
	int rc = -ENOENT;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !l.n; i++)
		rc = sysroot_read_list(sr, files[i], &l, NULL);
	if (!l.n && rc != -ENOMEM)
		rc = sysroot_list_ids(sr, CPU_DIR, "cpu", &l, NULL);
	if (!l.n && rc != -ENOMEM)
		rc = list_from_cpuinfo(sr, &l);
	if (!l.n && rc != -ENOMEM) {
		/* Somebody runs this. */
		l.v = calloc(1, sizeof(*l.v));
		l.n = 1;
		rc = l.v ? 0 : -ENOMEM;
	}
	if (rc == -ENOMEM) {
		u32_list_done(&l);
		return err_set(e, ENOMEM, "no memory for the list of CPUs");
	}
	*ret_list = l;
	return 0;
}

/* "Cpus_allowed_list:\t0-1" of this process, recorded. */
static int read_allowed_list(const struct sysroot *sr, struct u32_list *ret_list)
{
	char *text, *words;
	size_t n;
	int rc = sysroot_read(sr, "proc/self/status", &text, &n, NULL);

	if (rc < 0)
		return rc;
	words = malloc(n + 1);
	rc = words ? ktext_field(text, "Cpus_allowed_list", words, n + 1) : -ENOMEM;
	if (rc == 0)
		rc = parse_u32_list(words, ret_list, NULL);
	free(words);
	free(text);
	return rc;
}

static int read_allowed(const struct sysroot *sr, struct machine *m, struct err *e)
{
	struct u32_list l = { 0 };
	int rc = -ENODATA;

	if (sr->is_live)
		rc = affinity_allowed(&l, NULL);
	if (rc < 0 && rc != -ENOMEM)
		rc = read_allowed_list(sr, &l);
	if (rc == -ENOMEM)
		return err_set(e, ENOMEM, "no memory for the list of allowed CPUs");
	for (size_t i = 0; i < m->n_cpus; i++)
		m->cpus[i].allowed = rc < 0 || u32_list_contains(&l, m->cpus[i].id);
	u32_list_done(&l);
	return 0;
}

static bool read_cpu_number(const struct sysroot *sr, uint32_t id, const char *name,
			    uint64_t *ret_value)
{
	char path[128];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%u/%s", id, name);
	return sysroot_read_u64(sr, path, ret_value, NULL) == 0 && *ret_value > 0;
}

/*
 * Capacity from the kernel where it differs; else from the highest frequency, if it differs by more
 * than cores of one kind do.
 */
static int read_capacities(const struct sysroot *sr, struct machine *m, struct err *e)
{
	uint64_t *speed = calloc(m->n_cpus, sizeof(*speed));
	static const char *const files[] = { "cpu_capacity", "cpufreq/cpuinfo_max_freq" };

	if (!speed)
		return err_set(e, ENOMEM, "no memory for the speeds of CPUs");
	for (size_t f = 0; f < sizeof(files) / sizeof(files[0]); f++) {
		uint64_t min = UINT64_MAX, max = 0;

		for (size_t i = 0; i < m->n_cpus; i++) {
			if (!read_cpu_number(sr, m->cpus[i].id, files[f], &speed[i]) ||
			    speed[i] > UINT32_MAX) {
				speed[i] = 0;
				continue;
			}
			min = speed[i] < min ? speed[i] : min;
			max = speed[i] > max ? speed[i] : max;
		}
		if (!max || max - min <= max * SAME_KIND_PERCENT / 100)
			continue;
		for (size_t i = 0; i < m->n_cpus; i++)
			if (speed[i] && max - speed[i] > max * SAME_KIND_PERCENT / 100)
				m->cpus[i].capacity = (unsigned)(speed[i] * 1024 / max);
		break;
	}
	free(speed);
	return 0;
}

int machine_read_cpus(const struct sysroot *sr, struct machine *m, struct err *e)
{
	struct u32_list present, online = { 0 }, isolated = { 0 };
	bool tells_online;
	int rc;

	rc = list_cpus(sr, &present, e);
	if (rc < 0)
		return rc;
	m->cpus = calloc(present.n, sizeof(*m->cpus));
	if (!m->cpus) {
		u32_list_done(&present);
		return err_set(e, ENOMEM, "no memory for %zu CPUs", present.n);
	}
	m->n_cpus = present.n;
	tells_online = sysroot_read_list(sr, CPU_DIR "/online", &online, NULL) == 0 && online.n;
	if (sysroot_read_list(sr, CPU_DIR "/isolated", &isolated, NULL) < 0)
		isolated = (struct u32_list){ 0 };
	for (size_t i = 0; i < m->n_cpus; i++) {
		uint32_t id = present.v[i];

		m->cpus[i] = (struct cpu){ .id = id, .core = id, .node = -1, .capacity = 1024 };
		m->cpus[i].online = !tells_online || u32_list_contains(&online, id);
		m->cpus[i].isolated = u32_list_contains(&isolated, id);
	}
	u32_list_done(&present);
	u32_list_done(&online);
	u32_list_done(&isolated);
	rc = read_allowed(sr, m, e);
	for (size_t i = 0; i < m->n_cpus; i++)
		m->cpus[i].allowed = m->cpus[i].allowed && m->cpus[i].online;
	return rc < 0 ? rc : read_capacities(sr, m, e);
}
