/* SPDX-License-Identifier: MIT */
/* sched_setaffinity(2) and sched_getaffinity(2) with masks of any size. */
#include "host/affinity.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { CPUS_MAX = 1 << 20 };

int affinity_pin(uint32_t cpu, struct err *e)
{
	size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set;
	int result = 0;

	if (cpu >= CPUS_MAX)
		return err_set(e, EINVAL, "CPU %u: there is no such CPU", cpu);
	set = calloc(1, bytes);
	if (!set)
		return err_set(e, ENOMEM, "no memory for a CPU mask");
	CPU_SET_S(cpu, bytes, set);
	if (sched_setaffinity(0, bytes, set) < 0)
		result = err_set(
			e, errno,
			"binding to CPU %u: %s (EINVAL: offline or outside the allowed set; EPERM: a "
			"seccomp filter denies it)",
			cpu, strerror(errno));
	free(set);
	return result;
}

int affinity_allowed(struct u32_list *ret_cpus, struct err *e)
{
	for (uint32_t cpus = 1024; cpus <= CPUS_MAX; cpus *= 2) {
		size_t bytes = CPU_ALLOC_SIZE(cpus);
		cpu_set_t *set = calloc(1, bytes);
		struct u32_list l = { .v = calloc(cpus, sizeof(*l.v)) };
		int failed = !set || !l.v ? ENOMEM : 0;

		if (!failed && sched_getaffinity(0, bytes, set) < 0)
			failed = errno;
		for (uint32_t i = 0; !failed && i < cpus; i++)
			if (CPU_ISSET_S(i, bytes, set))
				l.v[l.n++] = i;
		free(set);
		if (!failed) {
			*ret_cpus = l;
			return 0;
		}
		free(l.v);
		if (failed != EINVAL)
			return err_set(e, failed, "reading the allowed CPUs: %s", strerror(failed));
	}
	return err_set(e, EINVAL, "reading the allowed CPUs: more than %d", CPUS_MAX);
}

void affinity_avoid(const struct u32_list *cpus, int64_t cpu)
{
	uint32_t highest = cpus->n ? cpus->v[cpus->n - 1] : 0;
	cpu_set_t *set = CPU_ALLOC(highest + 1);
	size_t bytes = CPU_ALLOC_SIZE(highest + 1), n = 0;

	if (!set)
		return;
	CPU_ZERO_S(bytes, set);
	for (size_t i = 0; i < cpus->n; i++) {
		if ((int64_t)cpus->v[i] == cpu)
			continue;
		CPU_SET_S(cpus->v[i], bytes, set);
		n++;
	}
	if (n)
		sched_setaffinity(0, bytes, set);
	CPU_FREE(set);
}
