// SPDX-License-Identifier: MIT
/*
 * Why the kernel refuses to sample, and what helps, by errno.
 * Sources: perf_event_open(2), "ERRORS"; Documentation/admin-guide/sysctl/kernel.rst,
 * perf_event_paranoid, perf_event_mlock_kb; Documentation/admin-guide/perf-security.rst.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/sampler.h"

static const char *event_words(enum sampler_event event)
{
	return event == SAMPLER_CYCLES ? "the processor's cycles" : "the CPU clock";
}

/* The level of perf_event_paranoid decides whether it was that or something in between. */
static void explain_denied(const struct sysroot *sr, int code, const char *what, struct err *e)
{
	char level[16];

	if (sysroot_read_line(sr, "proc/sys/kernel/perf_event_paranoid", level, sizeof(level),
			      NULL) < 0)
		err_set(e, code, "the kernel denies sampling %s (%s); run as root", what,
			strerror(code));
	else if (strtol(level, NULL, 10) > 1)
		err_set(e, code,
			"sampling %s in the kernel is denied (%s, kernel.perf_event_paranoid=%s); "
			"run as root, or: sysctl -w kernel.perf_event_paranoid=1; in a container "
			"also --cap-add PERFMON",
			what, strerror(code), level);
	else
		err_set(e, code,
			"sampling %s in the kernel is denied (%s) although "
			"kernel.perf_event_paranoid=%s allows it: a container's seccomp profile or "
			"a security module; start the container with --cap-add PERFMON or "
			"--security-opt seccomp=unconfined",
			what, strerror(code), level);
}

static void explain_absent(int code, enum sampler_event event, struct err *e)
{
	if (event == SAMPLER_CYCLES)
		err_set(e, code,
			"no cycle counter here (%s): a kernel without a driver for it, or a "
			"virtual machine, which needs a virtual PMU from its host",
			strerror(code));
	else
		err_set(e, code,
			"this kernel does not sample the CPU clock (%s); there is no remedy but "
			"another kernel",
			strerror(code));
}

static void explain_mapping(const struct sysroot *sr, int code, struct err *e)
{
	char limit[24];

	if (sysroot_read_line(sr, "proc/sys/kernel/perf_event_mlock_kb", limit, sizeof(limit),
			      NULL) < 0)
		strcpy(limit, "unknown");
	err_set(e, code,
		"the buffers for samples cannot be mapped (%s); run as root, or: sysctl -w "
		"kernel.perf_event_mlock_kb=2048 (now %s), or ulimit -l unlimited",
		strerror(code), limit);
}

void sampler_explain(const struct sysroot *sr, int code, enum sampler_event event, bool mapping,
		     struct err *e)
{
	const char *what = event_words(event);

	if (mapping) {
		explain_mapping(sr, code, e);
		return;
	}
	switch (code) {
	case EACCES:
	case EPERM:
		explain_denied(sr, code, what, e);
		break;
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP:
		explain_absent(code, event, e);
		break;
	case EMFILE:
		err_set(e, code,
			"sampling needs a descriptor for each CPU, and that is more than the limit "
			"of open files (%s); ulimit -n 4096",
			strerror(code));
		break;
	case ENFILE:
		err_set(e, code, "the system has too many files open (%s); sysctl -w fs.file-max",
			strerror(code));
		break;
	case ENOSYS:
		err_set(e, code,
			"there is no perf_event_open here (%s): a kernel without "
			"CONFIG_PERF_EVENTS, or a sandbox; boot another kernel or leave the sandbox",
			strerror(code));
		break;
	case EINVAL:
		err_set(e, code,
			"the kernel does not take the request to sample %s (%s): an old kernel, or "
			"a sandbox that stands in for one; try a lower --frequency",
			what, strerror(code));
		break;
	case EBUSY:
		err_set(e, code,
			"another program holds the counters (%s); stop it, or: sysctl -w "
			"kernel.nmi_watchdog=0",
			strerror(code));
		break;
	default:
		err_set(e, code, "sampling %s cannot begin (%s); no remedy is known", what,
			strerror(code));
	}
}
