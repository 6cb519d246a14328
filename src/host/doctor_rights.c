/* SPDX-License-Identifier: MIT */
/*
 * The doctor on rights: which interfaces this process may use, each asked once, on the live machine
 * only, by calls that change nothing. Timing never needs any of them. Sources: man pages mbind(2),
 * set_mempolicy(2), move_pages(2), perf_event_open(2); Documentation/admin-guide/mm/pagemap.rst;
 * container runtimes' seccomp profiles allow the memory policy calls with CAP_SYS_NICE only.
 */
#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/pagemap.h"
#include "host/doctor_exam.h"

/* --- asking --- */

/*
 * A call that is let through but has nonsense arguments fails with EINVAL: it exists and is
 * allowed. set_mempolicy(MPOL_DEFAULT) would be shorter but would undo the policy we were started
 * with.
 */
static int errno_of(long rc)
{
	return rc >= 0 || errno == EINVAL ? 0 : errno;
}

static int probe_cycles(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

static void probe_pagemap(struct probe_results *p)
{
	volatile char touched = 1;
	uint64_t frame;
	int fd, rc = pagemap_open(&fd, NULL);

	if (rc == 0) {
		rc = pagemap_frame(fd, (const void *)(uintptr_t)&touched, &frame);
		close(fd);
	}
	if (rc == -EPERM)
		p->pagemap_hides = true;
	else if (rc < 0)
		p->pagemap = -rc;
}

void probes_run(struct probe_results *ret)
{
	struct probe_results p = { 0 };

	p.mbind = errno_of(syscall(SYS_mbind, 1ul, 0ul, 0, NULL, 0ul, 0u));
	p.set_mempolicy = errno_of(syscall(SYS_set_mempolicy, 0x7ff, NULL, 0ul));
	p.get_mempolicy = errno_of(syscall(SYS_get_mempolicy, NULL, NULL, 0ul, NULL, 0ul));
	p.move_pages = errno_of(syscall(SYS_move_pages, 0, 0ul, NULL, NULL, NULL, 0));
	p.perf_cycles = probe_cycles();
	probe_pagemap(&p);
	*ret = p;
}

/* --- telling --- */

static const char *policy_remedy(int code)
{
	if (code == ENOSYS)
		return "none here: the kernel is built without NUMA; boot one with CONFIG_NUMA";
	return "a container's seccomp profile denies it: start the container with "
	       "--cap-add SYS_NICE, or --security-opt seccomp=unconfined";
}

static void report_policy(struct exam *x, const struct probe_results *p)
{
	const struct {
		const char *name;
		int code;
	} calls[] = {
		{ "mbind", p->mbind },
		{ "set_mempolicy", p->set_mempolicy },
		{ "get_mempolicy", p->get_mempolicy },
		{ "move_pages", p->move_pages },
	};
	bool several = machine_count_memory_nodes(x->m) > 1;
	char list[128] = "";
	int code = 0;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		size_t n = strlen(list);

		if (!calls[i].code)
			continue;
		code = code ? code : calls[i].code;
		snprintf(list + n, sizeof(list) - n, "%s%s", n ? ", " : "", calls[i].name);
	}
	if (!code)
		return;
	exam_add(x, "mempolicy-denied", several ? SEVERITY_BLOCKER : SEVERITY_NOTE,
		 several ? "data and page tables cannot be placed on a chosen node, or their place "
			   "cannot be proven"
			 : "none with one memory node, except that places of pages stay unproven",
		 policy_remedy(code), "not allowed: %s (%s)", list, strerror(code));
}

static void report_perf(struct exam *x, int code)
{
	const char *remedy;
	char paranoid[16];

	if (!code)
		return;
	switch (code) {
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
	case ENXIO:
		remedy = x->m->hypervisor[0]
				 ? "none inside the guest: give it a virtual PMU on the host"
				 : "none: the kernel has no driver for this processor's counters";
		break;
	case EACCES:
	case EPERM:
		/* 3 and 4 are distributions' own, above what the kernel has. */
		if (exam_line(x, "proc/sys/kernel/perf_event_paranoid", paranoid,
			      sizeof(paranoid)) &&
		    strtol(paranoid, NULL, 10) > 2)
			remedy = exam_text(x, "sysctl -w kernel.perf_event_paranoid=2 (now %s)",
					   paranoid);
		else
			remedy = "a container's seccomp profile denies it: start the container "
				 "with --cap-add PERFMON";
		break;
	case ENOSYS:
		remedy = "none here: boot a kernel with CONFIG_PERF_EVENTS, or leave the sandbox";
		break;
	case EMFILE:
		remedy = "ulimit -n 4096";
		break;
	case EBUSY:
		remedy = "another program holds the counters (perf, NMI watchdog): sysctl -w "
			 "kernel.nmi_watchdog=0";
		break;
	default:
		remedy = "none known";
	}
	exam_add(x, "no-pmu", SEVERITY_NOTE,
		 "no hardware counters beside the times; times and all results do without", remedy,
		 "hardware counters cannot be opened (%s)", strerror(code));
}

/* The remedy names the program that runs: it need not be the one that a shell would find. */
static void report_hidden_frames(struct exam *x)
{
	char path[PATH_MAX], remedy[PATH_MAX + 64] = "run as root";

	if (sysroot_read_link(x->sr, "proc/self/exe", path, sizeof(path), NULL) == 0)
		snprintf(remedy, sizeof(remedy), "run as root, or: setcap cap_sys_admin+ep '%s'",
			 path);
	exam_add(x, "pagemap-hidden", SEVERITY_NOTE,
		 "physically contiguous backing cannot be proven", remedy,
		 "page frame numbers are hidden from this user");
}

static void report_pagemap(struct exam *x, const struct probe_results *p)
{
	if (p->pagemap)
		exam_add(x, "pagemap-unreadable", SEVERITY_NOTE,
			 "which physical pages back the memory cannot be proven",
			 "mount -o remount,rw /proc, or run as root",
			 "/proc/self/pagemap cannot be read (%s)", strerror(p->pagemap));
	else if (p->pagemap_hides)
		report_hidden_frames(x);
}

void doctor_report_probes(struct exam *x, const struct probe_results *p)
{
	report_policy(x, p);
	report_perf(x, p->perf_cycles);
	report_pagemap(x, p);
}

static int try_open(const struct sysroot *sr, const char *path)
{
	int fd, rc = sysroot_open(sr, path, &fd, NULL);

	if (rc == 0)
		close(fd);
	return rc;
}

/* Files that the proofs need. The counters matter only where page tables can be elsewhere. */
static void check_files(struct exam *x)
{
	static const char *const needed[] = { "proc/self/smaps", "proc/self/status", "proc/meminfo",
					      "proc/stat" };
	bool several = machine_count_memory_nodes(x->m) > 1;
	char path[96];
	uint64_t v;
	int rc;

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		rc = try_open(x->sr, needed[i]);

		if (rc == 0)
			continue;
		exam_add(x, "proc-locked", SEVERITY_WARNING,
			 "evidence for what backs the memory is missing: results stay unproven",
			 "mount -t proc proc /proc, or run outside of the sandbox",
			 "/%s cannot be read (%s)", needed[i], strerror(-rc));
	}
	if (!several)
		return;
	snprintf(path, sizeof(path), "sys/devices/system/node/node%u/meminfo", x->m->nodes[0].id);
	if (sysroot_read_key(x->sr, path, "PageTables", &v, NULL) < 0)
		exam_add(x, "no-table-counters", SEVERITY_WARNING,
			 "on which node page tables lie cannot be proven",
			 "none here: the kernel does not count page tables for each node",
			 "/%s has no PageTables", path);
	rc = try_open(x->sr, "proc/sys/vm/stat_refresh");
	if (rc < 0)
		exam_add(x, "no-stat-refresh", SEVERITY_NOTE,
			 "page-table counters lag behind by a few pages for each CPU, so proofs of "
			 "placement need more tables",
			 "run as root", "/proc/sys/vm/stat_refresh cannot be read (%s)",
			 strerror(-rc));
}

void doctor_check_rights(struct exam *x)
{
	struct probe_results p;

	if (!x->sr->is_live)
		return;
	probes_run(&p);
	doctor_report_probes(x, &p);
	check_files(x);
}
