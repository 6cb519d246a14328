// SPDX-License-Identifier: MIT
/*
 * The events. Intel: DTLB_LOAD_MISSES.WALK_ACTIVE, DTLB_STORE_MISSES.WALK_ACTIVE and
 * ITLB_MISSES.WALK_ACTIVE (cycles in which at least one walk of that kind is under way; walks of
 * different kinds can overlap, so their sum bounds from above). AMD has no such cycles:
 * ls_l1_d_tlb_miss.all_l2_miss counts the walks for data. Leaves out: processors with two kinds of
 * cores (their counters have two encodings), and everything whose encoding is not public.
 * Sources: Intel's event files (github.com/intel/perfmon): SKL, SKX, CLX, ICL, ICX, TGL, RKL and
 * SPR, EMR, GNR core events; Linux tools/perf/pmu-events/arch/x86, amdzen1 to amdzen5
 * (PMCx045); model numbers from arch/x86/include/asm/intel-family.h; perf_event_open(2).
 */
#include "profile/walks.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/kernel_text.h"
#include "profile/sampler.h"

/* Event, unit mask and counter mask as the x86 PMU takes them. */
#define X86_RAW(event, umask, cmask) \
	((uint64_t)(event) | (uint64_t)(umask) << 8 | (uint64_t)(cmask) << 24)

static const struct walk_events intel_skylake = {
	.name = "Intel, Skylake to Rocket Lake",
	.is_cycles = true,
	.type = PERF_TYPE_RAW,
	.cycles_type = PERF_TYPE_HARDWARE,
	.cycles = PERF_COUNT_HW_CPU_CYCLES,
	.config = { X86_RAW(0x08, 0x10, 1), X86_RAW(0x49, 0x10, 1), X86_RAW(0x85, 0x10, 1) },
	.n = 3,
};

static const struct walk_events intel_sapphire_rapids = {
	.name = "Intel, Sapphire Rapids to Granite Rapids",
	.is_cycles = true,
	.type = PERF_TYPE_RAW,
	.cycles_type = PERF_TYPE_HARDWARE,
	.cycles = PERF_COUNT_HW_CPU_CYCLES,
	.config = { X86_RAW(0x12, 0x10, 1), X86_RAW(0x13, 0x10, 1), X86_RAW(0x11, 0x10, 1) },
	.n = 3,
};

static const struct walk_events amd_zen = {
	.name = "AMD, Zen",
	.is_cycles = false,
	.type = PERF_TYPE_RAW,
	.cycles_type = PERF_TYPE_HARDWARE,
	.cycles = PERF_COUNT_HW_CPU_CYCLES,
	.config = { X86_RAW(0x45, 0xf0, 0) },
	.n = 1,
};

static bool has_model(const uint8_t *models, size_t n, uint64_t model)
{
	for (size_t i = 0; i < n; i++) {
		if (models[i] == model)
			return true;
	}
	return false;
}

static const struct walk_events *find(const char *vendor, uint64_t family, uint64_t model)
{
	static const uint8_t skylake[] = { 0x4e, 0x5e, 0x55, 0x8e, 0x9e, 0xa5, 0xa6, 0x66,
					   0x7d, 0x7e, 0x6a, 0x6c, 0x8c, 0x8d, 0xa7 };
	static const uint8_t sapphire_rapids[] = { 0x8f, 0xcf, 0xad, 0xae };

	if (strcmp(vendor, "AuthenticAMD") == 0)
		return family == 0x17 || family == 0x19 || family == 0x1a ? &amd_zen : NULL;
	if (strcmp(vendor, "GenuineIntel") != 0 || family != 6)
		return NULL;
	if (has_model(skylake, sizeof(skylake), model))
		return &intel_skylake;
	if (has_model(sapphire_rapids, sizeof(sapphire_rapids), model))
		return &intel_sapphire_rapids;
	return NULL;
}

int walks_choose(const struct sysroot *sr, struct walk_events *ret_events, struct err *e)
{
	char vendor[32] = "?";
	uint64_t family = 0, model = 0;
	const struct walk_events *found;
	char *text;
	int rc = sysroot_read(sr, "proc/cpuinfo", &text, NULL, e);

	if (rc < 0)
		return rc;
	(void)ktext_field(text, "vendor_id", vendor, sizeof(vendor));
	(void)ktext_key(text, "cpu family", &family);
	(void)ktext_key(text, "model", &model);
	free(text);
	found = find(vendor, family, model);
	if (!found)
		return err_set(e, ENOTSUP,
			       "no events that count page walks are known for this processor (%s, "
			       "family %llu, model %llu)",
			       vendor, (unsigned long long)family, (unsigned long long)model);
	*ret_events = *found;
	return 0;
}

/* A descriptor, or -errno. */
static int open_event(pid_t pid, uint32_t type, uint64_t config, bool user_only)
{
	struct perf_event_attr a = {
		.size = sizeof(a),
		.type = type,
		.config = config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
		.exclude_kernel = user_only,
		.exclude_hv = 1,
	};
	long fd = syscall(SYS_perf_event_open, &a, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int open_all(pid_t pid, const struct walk_events *ev, struct walk_counter *c)
{
	c->n = 0;
	for (size_t i = 0; i < 1 + ev->n; i++) {
		int fd = i == 0 ? open_event(pid, ev->cycles_type, ev->cycles, c->user_only)
				: open_event(pid, ev->type, ev->config[i - 1], c->user_only);

		if (fd < 0) {
			walks_close(c);
			return fd;
		}
		c->fds[c->n++] = fd;
	}
	return 0;
}

int walks_open(const struct sysroot *sr, pid_t pid, const struct walk_events *events,
	       struct walk_counter *ret_counter, struct err *e)
{
	struct walk_counter c = { 0 };
	int rc = open_all(pid, events, &c);

	if (rc == -EACCES || rc == -EPERM) {
		c.user_only = true;
		rc = open_all(pid, events, &c);
	}
	if (rc < 0) {
		sampler_explain(sr, -rc, SAMPLER_CYCLES, false, e);
		return rc;
	}
	*ret_counter = c;
	return 0;
}

int walks_read(const struct walk_counter *c, const struct walk_events *events,
	       struct walk_counts *ret_counts, struct err *e)
{
	struct walk_counts w = { .running_ratio = 1,
				 .is_cycles = events->is_cycles,
				 .user_only = c->user_only };

	for (size_t i = 0; i < c->n; i++) {
		uint64_t v[3]; /* count, time enabled, time running */
		double share;

		if (read(c->fds[i], v, sizeof(v)) != (ssize_t)sizeof(v) || v[1] == 0 || v[2] == 0)
			return err_set(e, ENODATA,
				       "the counters never ran: others hold them, such as the NMI "
				       "watchdog; sysctl -w kernel.nmi_watchdog=0");
		share = (double)v[2] / (double)v[1];
		w.running_ratio = share < w.running_ratio ? share : w.running_ratio;
		if (i == 0)
			w.cycles = (double)v[0] / share;
		else
			w.walks += (double)v[0] / share;
	}
	*ret_counts = w;
	return 0;
}

void walks_close(struct walk_counter *c)
{
	for (size_t i = 0; i < c->n; i++)
		close(c->fds[i]);
	c->n = 0;
}
