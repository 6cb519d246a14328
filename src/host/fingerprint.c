/* SPDX-License-Identifier: MIT */
/*
 * Which machine in which state: the fingerprint (hardware, kernel and the switches that numbers
 * depend on; must match between A and B unless it is what differs on purpose) and the context (what
 * may differ). Left out on purpose: host names, serial numbers, addresses, and every word of the
 * kernel command line that is not on a list of memory and processor options.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/advertised.h"
#include "host/doctor.h"
#include "host/kernel_text.h"
#include "host/migration_knob.h"
#include "host/paging.h"

#define CPU_DIR "sys/devices/system/cpu"
#define THP_DIR "sys/kernel/mm/transparent_hugepage"

enum { MEMORY_STEP = 64 << 20 };

/* The first failure sticks, so that callers need no check of their own. */
struct sheet {
	const struct sysroot *sr;
	const struct machine *m;
	struct arena *arena;
	struct attrs *at;
	int rc;
};

static void set_text(struct sheet *s, const char *name, const char *value)
{
	if (s->rc == 0)
		s->rc = attrs_set_text(s->arena, s->at, name, value);
}

static void set_int(struct sheet *s, const char *name, uint64_t value)
{
	if (s->rc == 0)
		s->rc = attrs_set_int(s->arena, s->at, name,
				      value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

static void set_null(struct sheet *s, const char *name, const char *reason)
{
	if (s->rc == 0)
		s->rc = attrs_set_null(s->arena, s->at, name, reason);
}

/* The text, or null where it is empty. */
static void set_known(struct sheet *s, const char *name, const char *value, const char *reason)
{
	if (value[0])
		set_text(s, name, value);
	else
		set_null(s, name, reason);
}

static void set_null_errno(struct sheet *s, const char *name, const char *path, int rc)
{
	char reason[192];

	if (rc == -ENOENT)
		snprintf(reason, sizeof(reason), "no /%s", path);
	else
		snprintf(reason, sizeof(reason), "/%s: %s", path, strerror(-rc));
	set_null(s, name, reason);
}

static void file_line(struct sheet *s, const char *name, const char *path)
{
	char line[256];
	int rc = sysroot_read_line(s->sr, path, line, sizeof(line), NULL);

	if (rc < 0)
		set_null_errno(s, name, path, rc);
	else
		set_text(s, name, line);
}

static void file_choice(struct sheet *s, const char *name, const char *path)
{
	char word[64];
	int rc = sysroot_read_choice(s->sr, path, word, sizeof(word), NULL);

	if (rc < 0)
		set_null_errno(s, name, path, rc);
	else
		set_text(s, name, word);
}

static void file_number(struct sheet *s, const char *name, const char *path)
{
	uint64_t v;
	int rc = sysroot_read_u64(s->sr, path, &v, NULL);

	if (rc < 0)
		set_null_errno(s, name, path, rc);
	else
		set_int(s, name, v);
}

static void file_key(struct sheet *s, const char *name, const char *path, const char *key)
{
	uint64_t v;
	int rc = sysroot_read_key(s->sr, path, key, &v, NULL);

	if (rc < 0)
		set_null_errno(s, name, path, rc);
	else
		set_int(s, name, v);
}

/* --- fingerprint --- */

static void put_identity(struct sheet *s)
{
	char *cpuinfo, microcode[64] = "";

	set_known(s, "cpu", s->m->model, "/proc/cpuinfo does not name it");
	set_known(s, "vendor", s->m->vendor, "/proc/cpuinfo does not name it");
	set_known(s, "arch", s->m->arch, "not recorded");
	set_text(s, "hypervisor", s->m->hypervisor[0] ? s->m->hypervisor : "none");
	set_known(s, "kernel", s->m->kernel, "not recorded");
	if (sysroot_read(s->sr, "proc/cpuinfo", &cpuinfo, NULL, NULL) == 0) {
		if (ktext_field(cpuinfo, "microcode", microcode, sizeof(microcode)) < 0)
			microcode[0] = '\0';
		free(cpuinfo);
	}
	set_known(s, "microcode", microcode, "/proc/cpuinfo does not tell it");
}

static void put_size(struct sheet *s)
{
	uint64_t online = 0, total;

	for (size_t i = 0; i < s->m->n_cpus; i++)
		online += s->m->cpus[i].online;
	set_int(s, "cpus", online);
	set_int(s, "nodes", s->m->n_nodes);
	/*
	 * In steps, because what the kernel keeps for itself differs by some pages from boot to
	 * boot, and this has to be equal for the same machine.
	 */
	if (sysroot_read_key(s->sr, "proc/meminfo", "MemTotal", &total, NULL) == 0)
		set_int(s, "memory_bytes", (total + MEMORY_STEP / 2) / MEMORY_STEP * MEMORY_STEP);
	else
		set_null(s, "memory_bytes", "/proc/meminfo has no MemTotal");
}

static void put_pages(struct sheet *s)
{
	uint64_t thp = 0;

	for (size_t i = 0; i < s->m->n_pages; i++)
		if (s->m->pages[i].kind == PAGE_KIND_THP)
			thp = s->m->pages[i].bytes;
	set_int(s, "page_bytes", s->m->page_bytes);
	/* Also where the mode forbids them: the mode is an attribute of its own. */
	if (thp && sysroot_exists(s->sr, THP_DIR "/hpage_pmd_size"))
		set_int(s, "thp_bytes", thp);
	else
		set_null(s, "thp_bytes", "this kernel has no transparent huge pages");
}

/* Walked in this boot, what the processor could walk, and what the boot line says of it. */
static void put_paging(struct sheet *s)
{
	char text[128];
	unsigned could = paging_cpu_levels(s->sr, s->m->arch, text, sizeof(text));
	int rc;

	if (s->m->paging_levels) {
		set_int(s, "paging_levels", s->m->paging_levels);
		set_int(s, "address_bits", s->m->address_bits);
	} else {
		set_null(s, "paging_levels", s->m->paging_reason);
	}
	if (could)
		set_int(s, "paging_levels.cpu", could);
	else
		set_null(s, "paging_levels.cpu", text);
	rc = paging_boot_words(s->sr, text, sizeof(text));
	if (rc < 0)
		set_null_errno(s, "paging_levels.boot", "proc/cmdline", rc);
	else
		set_text(s, "paging_levels.boot", text);
}

static void put_caches(struct sheet *s, uint32_t cpu)
{
	static const char *const names[] = { NULL, "cache.l1d_bytes", "cache.l2_bytes",
					     "cache.l3_bytes" };
	uint64_t llc = machine_llc_bytes(s->m, cpu);
	unsigned line = 0;

	if (llc)
		set_int(s, "llc_bytes", llc);
	else
		set_null(s, "llc_bytes", "the kernel does not tell the caches");
	for (unsigned level = 1; level <= 3; level++) {
		const struct cache *c = machine_cache(s->m, cpu, level);

		if (!c)
			continue;
		set_int(s, names[level], c->size_bytes);
		line = line ? line : c->line_bytes;
	}
	if (line)
		set_int(s, "cache.line_bytes", line);
}

static void put_advertised(struct sheet *s)
{
	static const struct {
		uint64_t bytes;
		const char *name;
	} pages[] = { { 4096, "4k" }, { 2u << 20, "2m" }, { 1u << 30, "1g" } };
	struct cpuid_leaf leaves[64];
	struct advertised a;
	char name[32];

	if (!s->sr->is_live) {
		set_null(s, "advertised.source", "CPUID is not recorded");
		return;
	}
	advertised_decode(leaves, advertised_read_leaves(leaves, 64), &a);
	set_known(s, "advertised.source", a.source, "this processor tells no TLB sizes");
	for (unsigned level = 1; level <= 2; level++) {
		for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
			unsigned entries = advertised_entries(&a, level, pages[i].bytes);

			snprintf(name, sizeof(name), "advertised.dtlb%u.%s", level, pages[i].name);
			if (entries)
				set_int(s, name, entries);
		}
	}
}

static void put_boost(struct sheet *s)
{
	uint64_t v;

	/* intel_pstate says the opposite of what the generic file says. */
	if (sysroot_read_u64(s->sr, CPU_DIR "/intel_pstate/no_turbo", &v, NULL) == 0)
		set_int(s, "boost", !v);
	else
		file_number(s, "boost", CPU_DIR "/cpufreq/boost");
}

static void put_switches(struct sheet *s, uint32_t cpu)
{
	char path[96];

	file_choice(s, "thp", THP_DIR "/enabled");
	file_choice(s, "thp.defrag", THP_DIR "/defrag");
	file_number(s, "numa_balancing", "proc/sys/kernel/numa_balancing");
	file_number(s, "ksm", "sys/kernel/mm/ksm/run");
	file_number(s, "overcommit", "proc/sys/vm/overcommit_memory");
	file_line(s, "clocksource",
		  "sys/devices/system/clocksource/clocksource0/current_clocksource");
	snprintf(path, sizeof(path), CPU_DIR "/cpu%u/cpufreq/scaling_governor", cpu);
	file_line(s, "governor", path);
	put_boost(s);
	file_line(s, "smt", CPU_DIR "/smt/control");
}

/* --- context --- */

/* Options of the kernel that memory and processor numbers depend on. */
static const char *const told[] = {
	"mitigations",
	"isolcpus",
	"nohz_full",
	"nohz",
	"rcu_nocbs",
	"hugepages",
	"hugepagesz",
	"default_hugepagesz",
	"hugetlb_cma",
	"transparent_hugepage",
	"thp_anon",
	"no5lvl",
	"no4lvl",
	"arm64.nolva",
	"nopti",
	"pti",
	"kpti",
	"nokaslr",
	"norandmaps",
	"init_on_alloc",
	"init_on_free",
	"page_poison",
	"slub_debug",
	"page_owner",
	"numa_balancing",
	"numa",
	"numa_fake",
	"nosmt",
	"maxcpus",
	"nr_cpus",
	"mem",
	"memmap",
	"movable_node",
	"kernelcore",
	"movablecore",
	"preempt",
	"lockdown",
	"intel_pstate",
	"amd_pstate",
	"intel_idle.max_cstate",
	"processor.max_cstate",
	"idle",
	"tsc",
	"clocksource",
	"nopcid",
	"noinvpcid",
	"iommu",
	"intel_iommu",
	"amd_iommu",
	"mem_encrypt",
	"kvm.nx_huge_pages",
	"spectre_v2",
	"spec_store_bypass",
	"spec_rstack_overflow",
	"retbleed",
	"mds",
	"tsx",
	"l1tf",
	"vsyscall",
	"quiet_vmstat",
	"skew_tick",
	"irqaffinity",
	"threadirqs",
	"nosmap",
	"nosmep",
	"cgroup_disable",
	"nospectre_v1",
	"nospectre_v2",
};

/* Whether a word of the command line, up to "=", is one of them. */
static bool is_told_option(const char *word, size_t n)
{
	size_t k = 0;

	while (k < n && word[k] != '=')
		k++;
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		if (strlen(told[i]) == k && !strncmp(told[i], word, k))
			return true;
	return false;
}

static void put_cmdline(struct sheet *s)
{
	struct str out = { 0 };
	char *text;
	int rc = sysroot_read(s->sr, "proc/cmdline", &text, NULL, NULL);

	if (rc < 0) {
		set_null_errno(s, "kernel_cmdline", "proc/cmdline", rc);
		return;
	}
	for (const char *p = text; *p;) {
		size_t n = strcspn(p, " \t\n");

		/* What follows is for init. */
		if (n == 2 && !strncmp(p, "--", 2))
			break;
		if (is_told_option(p, n)) {
			str_add(&out, out.len ? " " : "");
			str_add_n(&out, p, n);
		}
		p += n + (p[n] != '\0');
	}
	free(text);
	if (out.failed && s->rc == 0)
		s->rc = -ENOMEM;
	set_text(s, "kernel_cmdline", str_text(&out));
	str_done(&out);
}

static void put_mitigations(struct sheet *s)
{
	static const char *const names[] = {
		"meltdown",
		"spectre_v1",
		"spectre_v2",
		"spec_store_bypass",
		"l1tf",
		"mds",
		"retbleed",
		"spec_rstack_overflow",
		"gather_data_sampling",
		"itlb_multihit",
		"tsx_async_abort",
		"mmio_stale_data",
		"srbds",
		"indirect_target_selection",
		"tsa",
		"vmscape",
	};
	char path[96], name[64], line[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), CPU_DIR "/vulnerabilities/%s", names[i]);
		/* "Not affected" says nothing; the list is long. */
		if (sysroot_read_line(s->sr, path, line, sizeof(line), NULL) < 0 ||
		    !strcmp(line, "Not affected"))
			continue;
		snprintf(name, sizeof(name), "mitigation.%s", names[i]);
		set_text(s, name, line);
	}
}

static void put_mthp(struct sheet *s)
{
	char path[128], name[48];

	for (size_t i = 0; i < s->m->n_pages; i++) {
		const struct page_size *p = &s->m->pages[i];

		if (p->kind == PAGE_KIND_MTHP && p->usable) {
			snprintf(path, sizeof(path), THP_DIR "/hugepages-%llukB/enabled",
				 (unsigned long long)p->bytes / 1024);
			snprintf(name, sizeof(name), "mthp.%s", p->name);
			file_choice(s, name, path);
		} else if (p->kind == PAGE_KIND_HUGETLB && p->pool_pages) {
			snprintf(name, sizeof(name), "pool.%s", p->name);
			set_int(s, name, p->pool_pages);
		}
	}
}

/* A scheduler's constant that may be changed at any time. */
static void put_migration_knob(struct sheet *s)
{
	struct migration_knob k;

	migration_knob_read(s->sr, &k);
	if (!k.known) {
		set_null(s, "sched_migration_cost_ns", k.reason);
		return;
	}
	if (s->rc == 0)
		s->rc = attrs_set_int(s->arena, s->at, "sched_migration_cost_ns", k.ns);
	set_text(s, "sched_migration_cost.path", k.path);
}

static void put_state(struct sheet *s)
{
	uint64_t total, unused;
	char line[128];

	file_key(s, "memory_available_bytes", "proc/meminfo", "MemAvailable");
	set_int(s, "budget_bytes", s->m->budget_bytes);
	if (sysroot_read_key(s->sr, "proc/meminfo", "SwapTotal", &total, NULL) == 0 &&
	    sysroot_read_key(s->sr, "proc/meminfo", "SwapFree", &unused, NULL) == 0 &&
	    total >= unused) {
		set_int(s, "swap_bytes", total);
		set_int(s, "swap_used_bytes", total - unused);
	}
	file_number(s, "max_map_count", "proc/sys/vm/max_map_count");
	file_line(s, "isolated_cpus", CPU_DIR "/isolated");
	if (sysroot_read_line(s->sr, "proc/loadavg", line, sizeof(line), NULL) == 0) {
		line[strcspn(line, " ")] = '\0';
		set_text(s, "load_average", line);
	}
	put_migration_knob(s);
	set_text(s, "compiler", __VERSION__);
}

int fingerprint_read(const struct sysroot *sr, const struct machine *m, struct run *r,
		     struct err *e)
{
	struct sheet s = { .sr = sr, .m = m, .arena = &r->arena, .at = &r->fingerprint };
	char boot_id[64];
	uint32_t cpu;

	if (machine_choose_cpu(m, &cpu, NULL) < 0)
		cpu = m->cpus[0].id;
	put_identity(&s);
	put_size(&s);
	put_pages(&s);
	put_paging(&s);
	put_caches(&s, cpu);
	put_advertised(&s);
	put_switches(&s, cpu);
	s.at = &r->context;
	put_cmdline(&s);
	put_mitigations(&s);
	put_mthp(&s);
	put_state(&s);
	if (sysroot_read_line(sr, "proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id),
			      NULL) == 0) {
		r->boot_id = arena_strdup(&r->arena, boot_id);
		if (!r->boot_id)
			s.rc = -ENOMEM;
	}
	if (s.rc < 0)
		return err_set(e, ENOMEM, "no memory for the machine's fingerprint");
	return 0;
}
