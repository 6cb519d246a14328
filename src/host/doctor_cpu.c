/* SPDX-License-Identifier: MIT */
/*
 * The doctor on processors: which CPU, what else runs, clocks, quotas, hypervisors, tools around
 * us. Left out: what disturbs during a measurement (host/counters). Sources:
 * Documentation/admin-guide/pm/cpufreq.rst, Documentation/admin-guide/cgroup-v2.rst,
 * Documentation/scheduler/sched-bwc.rst, proc(5).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cgroup.h"
#include "host/doctor_exam.h"
#include "host/kernel_text.h"
#include "host/migration_knob.h"

#define CPU_DIR "sys/devices/system/cpu"
#define CLOCK_DIR "sys/devices/system/clocksource/clocksource0"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BUILT_WITH_SANITIZER true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	__has_feature(memory_sanitizer)
#define BUILT_WITH_SANITIZER true
#endif
#endif
#ifndef BUILT_WITH_SANITIZER
#define BUILT_WITH_SANITIZER false
#endif

static void check_tools(struct exam *x)
{
	char *maps;

	if (!x->sr->is_live)
		return;
	if (BUILT_WITH_SANITIZER)
		exam_add(x, "sanitizer", SEVERITY_BLOCKER, "every number is wrong",
			 "build without it: meson configure BUILD -Db_sanitize=none",
			 "pagetoll is built with a sanitizer");
	/* Valgrind hides itself from most files, but its own mappings stay visible. */
	if (sysroot_read(x->sr, "proc/self/maps", &maps, NULL, NULL) < 0)
		return;
	if (strstr(maps, "/valgrind/"))
		exam_add(x, "valgrind", SEVERITY_BLOCKER, "every number is wrong",
			 "run without valgrind", "runs under valgrind");
	free(maps);
}

static void check_cpus(struct exam *x)
{
	const struct machine *m = x->m;
	size_t allowed = 0, isolated = 0, slower = 0, siblings = 0;
	const struct cpu *sibling = NULL, *quiet = NULL;

	if (!x->cpu) {
		exam_add(x, "no-cpu", SEVERITY_BLOCKER, "nothing can be measured",
			 "taskset -c LIST pagetoll ..., or widen the cpuset",
			 "this process may use no CPU that is online");
		return;
	}
	for (size_t i = 0; i < m->n_cpus; i++) {
		const struct cpu *c = &m->cpus[i];

		allowed += c->allowed;
		isolated += c->isolated && c->online;
		quiet = c->isolated && c->allowed && !quiet ? c : quiet;
		slower += c->online && c->capacity < x->cpu->capacity;
		if (c->online && c->id != x->cpu->id && c->package == x->cpu->package &&
		    c->core == x->cpu->core) {
			siblings++;
			sibling = sibling ? sibling : c;
		}
	}
	if (allowed == 1)
		exam_add(x, "one-cpu", SEVERITY_WARNING,
			 "everything else on this CPU runs in turn with the measurement; load on "
			 "another CPU cannot be made",
			 "allow a second CPU (taskset, cpuset, container)",
			 "only CPU %u may be used", x->cpu->id);
	if (siblings)
		exam_add(x, "smt-sibling", SEVERITY_NOTE,
			 "a busy sibling takes up to half of the core's TLBs and caches",
			 exam_text(x, "keep CPU %u idle, or: echo 0 > /" CPU_DIR "/cpu%u/online",
				   sibling->id, sibling->id),
			 "CPU %u shares its core with CPU %u", x->cpu->id, sibling->id);
	if (slower)
		exam_add(x, "hybrid", SEVERITY_NOTE,
			 "numbers hold for the fastest kind of core only",
			 "measure another kind with cpu=ID",
			 "%zu CPUs are of a slower kind than CPU %u", slower, x->cpu->id);
	if (isolated && !x->cpu->isolated)
		exam_add(x, "isolated-cpus", SEVERITY_NOTE,
			 "isolated CPUs would give quieter numbers than the one that is used",
			 quiet ? exam_text(x, "cpu=%u", quiet->id)
			       : "taskset -c ISOLATED,OTHERS pagetoll ..., and cpu=ISOLATED",
			 isolated == 1 ? "%zu CPU is isolated; CPU %u is not"
				       : "%zu CPUs are isolated; CPU %u is not",
			 isolated, x->cpu->id);
}

static void check_hypervisor(struct exam *x)
{
	if (x->m->hypervisor[0])
		exam_add(x, "hypervisor", SEVERITY_WARNING,
			 "page walks go through the host's tables too, a TLB entry covers no more "
			 "than the host's page, and other guests take time and cache",
			 "none inside the guest: back its memory with huge pages on the host, or "
			 "measure on the host",
			 "runs in a virtual machine (%s)", x->m->hypervisor);
}

static void check_governor(struct exam *x)
{
	char path[128], governor[32], driver[32] = "";
	uint32_t id = x->cpu ? x->cpu->id : 0;
	bool in_hardware;

	snprintf(path, sizeof(path), CPU_DIR "/cpu%u/cpufreq/scaling_driver", id);
	if (!exam_line(x, path, driver, sizeof(driver)))
		driver[0] = '\0';
	snprintf(path, sizeof(path), CPU_DIR "/cpu%u/cpufreq/scaling_governor", id);
	if (!exam_line(x, path, governor, sizeof(governor)) || !strcmp(governor, "performance"))
		return;
	/* There "powersave" lets the processor choose, up to full speed. */
	in_hardware = !strcmp(driver, "intel_pstate") || !strcmp(driver, "amd-pstate-epp");
	exam_add(x, "governor", in_hardware ? SEVERITY_NOTE : SEVERITY_WARNING,
		 "the clock changes while it is measured; each repetition is timed against "
		 "dependent additions, so cycles stay right and ns drift",
		 exam_text(x, "echo performance > /%s", path), "CPU %u: governor %s%s%s", id,
		 governor, driver[0] ? ", driver " : "", driver);
}

static void check_clocksource(struct exam *x)
{
	static const char *const good[] = {
		"tsc", "arch_sys_counter", "riscv_clocksource", "timebase", "tod", "Constant"
	};
	/* Read without a system call too, but through the hypervisor's page. */
	static const char *const fair[] = { "kvm-clock", "hyperv_clocksource_tsc_page" };
	char now[64], available[256] = "";
	bool is_fair = false;

	if (!exam_line(x, CLOCK_DIR "/current_clocksource", now, sizeof(now)))
		return;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!strcmp(now, good[i]))
			return;
	for (size_t i = 0; i < sizeof(fair) / sizeof(fair[0]); i++)
		is_fair = is_fair || !strcmp(now, fair[i]);
	if (!exam_line(x, CLOCK_DIR "/available_clocksource", available, sizeof(available)))
		available[0] = '\0';
	exam_add(x, "clocksource", is_fair ? SEVERITY_NOTE : SEVERITY_WARNING,
		 is_fair ? "reading the time costs a little more than with the processor's counter"
			 : "reading the time is a system call: samples get longer and fewer",
		 strstr(available, "tsc")
			 ? "echo tsc > /" CLOCK_DIR "/current_clocksource"
			 : "none: the kernel offers no counter of the processor here",
		 "clock source %s", now);
}

static void check_steal(struct exam *x)
{
	char *text;
	unsigned long long v[8] = { 0 }, sum = 0;

	if (sysroot_read(x->sr, "proc/stat", &text, NULL, NULL) < 0)
		return;
	if (sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3],
		   &v[4], &v[5], &v[6], &v[7]) == 8) {
		for (int i = 0; i < 8; i++)
			sum += v[i];
		/* A tenth of a percent since boot; measures carry what they suffered themselves. */
		if (sum && v[7] * 1000 > sum)
			exam_add(x, "steal", SEVERITY_WARNING,
				 "the hypervisor gave our CPUs to others: single samples come out "
				 "far "
				 "too long; minima bear it, means do not",
				 "none inside the guest: ask for dedicated CPUs",
				 "%llu.%llu %% of CPU time was stolen since boot", v[7] * 100 / sum,
				 v[7] * 1000 / sum % 10);
	}
	free(text);
}

static void check_load(struct exam *x)
{
	char line[128];
	size_t n = 0;
	unsigned whole, cents;

	for (size_t i = 0; i < x->m->n_cpus; i++)
		n += x->m->cpus[i].online;
	if (!exam_line(x, "proc/loadavg", line, sizeof(line)) ||
	    sscanf(line, "%u.%2u", &whole, &cents) != 2)
		return;
	if ((whole * 100ull + cents) * 2 > 100ull * n)
		exam_add(x, "load", SEVERITY_WARNING,
			 "other programs share caches, memory bandwidth and power",
			 "stop them, or wait", "load average %u.%02u on %zu CPUs", whole, cents, n);
}

/* The tightest quota of our group and its ancestors, in percent of one CPU; 0: none. */
static uint64_t read_quota(const struct sysroot *sr, const char *controller, char name[128])
{
	uint64_t least = 0, quota, period;
	struct cgroup g;
	char line[64];

	if (cgroup_find(sr, controller, &g) < 0)
		return 0;
	do {
		unsigned long long q, p;

		if (!*controller) {
			if (cgroup_read_line(sr, &g, "cpu.max", line, sizeof(line)) < 0 ||
			    sscanf(line, "%llu %llu", &q, &p) != 2)
				continue;
			quota = q;
			period = p;
		} else if (cgroup_read_limit(sr, &g, "cpu.cfs_quota_us", &quota) < 0 ||
			   cgroup_read_limit(sr, &g, "cpu.cfs_period_us", &period) < 0) {
			continue; /* "-1" is no number: no quota */
		}
		if (!period || !quota || quota > UINT64_MAX / 100)
			continue;
		if (!least || quota * 100 / period < least) {
			least = quota * 100 / period ? quota * 100 / period : 1;
			snprintf(name, 128, "%.120s", cgroup_name(&g));
		}
	} while (cgroup_to_parent(&g));
	return least;
}

static void check_quota(struct exam *x)
{
	static const char *const controllers[] = { "", "cpu" };
	char name[128];

	for (size_t i = 0; i < 2; i++) {
		uint64_t percent = read_quota(x->sr, controllers[i], name);

		if (percent)
			exam_add(x, "cpu-quota", SEVERITY_WARNING,
				 "when the quota is used up, everything stops for the rest of the "
				 "period: single samples come out far too long",
				 i ? exam_text(x, "echo -1 > cpu.cfs_quota_us of group %s", name)
				   : exam_text(x, "echo max > cpu.max of group %s", name),
				 "CPU quota of %llu %% of one CPU (control group %s)",
				 (unsigned long long)percent, name);
	}
}

static void check_migration_knob(struct exam *x)
{
	struct migration_knob k;

	migration_knob_read(x->sr, &k);
	if (!k.known)
		exam_add(
			x, "migration-cost", SEVERITY_NOTE,
			"migration.cost compares with the kernel's default, 500 us, and says so",
			"as root: mount -t debugfs none /sys/kernel/debug; under lockdown there is "
			"none",
			"the scheduler's migration cost cannot be read: %s", k.reason);
	else if (k.ns != MIGRATION_KNOB_DEFAULT_NS)
		exam_add(x, "migration-cost", SEVERITY_NOTE,
			 "tasks stay with their CPU for another time than on other machines",
			 "echo 500000 > the file, as root, unless it was meant",
			 "the scheduler's migration cost is %lld ns instead of 500000 (/%s)",
			 (long long)k.ns, k.path);
}

void doctor_check_cpu(struct exam *x)
{
	check_tools(x);
	check_cpus(x);
	check_hypervisor(x);
	check_quota(x);
	check_load(x);
	check_steal(x);
	check_governor(x);
	check_clocksource(x);
	check_migration_knob(x);
}
