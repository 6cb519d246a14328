/* SPDX-License-Identifier: MIT */
/*
 * The doctor on memory: page sizes, nodes, limits, swap, merging. Left out: fragmentation, which
 * shows only when huge pages are asked for (mem/ proves what it got). Sources:
 * Documentation/admin-guide/mm (transhuge, hugetlbpage, ksm), Documentation/admin-guide/sysctl
 * (vm.rst, kernel.rst) of Linux 6.18.
 */
#include <string.h>

#include "host/doctor_exam.h"
#include "host/paging.h"

#define THP_DIR "/sys/kernel/mm/transparent_hugepage"

static const uint64_t SMALL_BUDGET = 1280ull << 20; /* the 1 GiB line and its page tables */
static const uint64_t TINY_BUDGET = 64ull << 20;

/*
 * Reasons read "why: echo VALUE > FILE", where a command helps. Adds a finding with the one part as
 * what is so, the other as the remedy.
 */
static void add_reason(struct exam *x, const char *id, enum severity severity, const char *effect,
		       const char *subject, const char *reason)
{
	const char *command = strstr(reason, ": echo ");

	if (command)
		exam_add(x, id, severity, effect, command + 2, "%s: %.*s", subject,
			 (int)(command - reason), reason);
	else
		exam_add(x, id, severity, effect, reason, "%s cannot be had", subject);
}

static void check_thp(struct exam *x)
{
	const struct page_size *thp = NULL;
	char mode[16];

	for (size_t i = 0; i < x->m->n_pages; i++)
		if (x->m->pages[i].kind == PAGE_KIND_THP)
			thp = &x->m->pages[i];
	if (!thp)
		return;
	if (!thp->usable) {
		add_reason(x, "thp-never", SEVERITY_WARNING,
			   "what huge pages cost and save stays unknown (page=thp is skipped)",
			   "page=thp", thp->reason);
		return;
	}
	if (!thp->zero_page)
		exam_add(x, "no-huge-zero-page", SEVERITY_NOTE,
			 "page=thp backing=zero cannot be measured; backing=distinct can",
			 "echo 1 > " THP_DIR "/use_zero_page", "the huge zero page is off");
	if (sysroot_read_choice(x->sr, &(THP_DIR "/enabled")[1], mode, sizeof(mode), NULL) == 0 &&
	    !strcmp(mode, "always"))
		exam_add(x, "thp-always", SEVERITY_NOTE,
			 "benchmarks with small pages forbid huge ones for their own memory, but "
			 "khugepaged works beside them and other programs' memory differs from "
			 "machines with madvise",
			 "echo madvise > " THP_DIR "/enabled",
			 "transparent huge pages are on for every program (always)");
}

static void check_mthp(struct exam *x)
{
	const struct page_size *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < x->m->n_pages; i++) {
		const struct page_size *p = &x->m->pages[i];

		if (p->kind != PAGE_KIND_MTHP)
			continue;
		if (p->usable)
			return;
		first = n++ ? first : p;
	}
	if (n)
		exam_add(x, "mthp-off", SEVERITY_NOTE,
			 "page sizes between the base page and thp are not measured",
			 exam_text(x,
				   "for each size wanted: echo madvise > " THP_DIR
				   "/hugepages-%llukB/enabled",
				   (unsigned long long)first->bytes / 1024),
			 n > 1 ? "all %zu sizes of smaller huge pages (mTHP) are off"
			       : "the one size of smaller huge pages (mTHP) is off",
			 n);
}

/* A pool that lies on some of the nodes only: pages asked for on another one are not there. */
static void check_pool_nodes(struct exam *x, const struct page_size *p)
{
	size_t filled = 0, empty = 0;
	uint32_t first_empty = 0;
	uint64_t n_free;

	for (size_t i = 0; i < x->m->n_nodes; i++) {
		const struct node *n = &x->m->nodes[i];

		if (!n->has_memory || !n->mem_allowed ||
		    machine_node_hugetlb_free(x->sr, n->id, p->bytes, &n_free) < 0)
			continue;
		if (!n_free && !empty++)
			first_empty = n->id;
		filled += n_free > 0;
	}
	if (filled && empty)
		exam_add(x, "hugetlb-nodes", SEVERITY_WARNING,
			 "page=hugetlb is skipped where its data belong on such a node",
			 exam_text(x,
				   "echo 512 > /sys/devices/system/node/node%u/hugepages/"
				   "hugepages-%llukB/nr_hugepages",
				   first_empty, (unsigned long long)p->bytes / 1024),
			 "page=%s: no free page on node %u (%zu of %zu nodes are empty)", p->name,
			 first_empty, empty, empty + filled);
}

static void check_hugetlb(struct exam *x)
{
	const struct page_size *p = machine_page(x->m, "hugetlb");

	if (!p)
		return;
	if (p->usable)
		check_pool_nodes(x, p);
	else
		add_reason(x, "no-hugetlb-pool", SEVERITY_NOTE,
			   "page=hugetlb is skipped; page=thp needs no pool",
			   exam_text(x, "page=%s", p->name), p->reason);
}

static void check_nodes(struct exam *x)
{
	size_t usable = machine_count_memory_nodes(x->m), with_memory = 0;
	uint64_t on;

	for (size_t i = 0; i < x->m->n_nodes; i++)
		with_memory += x->m->nodes[i].has_memory;
	if (usable < 2 && with_memory > usable)
		exam_add(x, "one-memory-node", SEVERITY_WARNING,
			 "remote memory and remote page tables cannot be measured",
			 "run outside of the cpuset or container, or widen its cpuset.mems",
			 "this process may use %zu of %zu memory nodes", usable, with_memory);
	else if (usable < 2)
		exam_add(x, "one-memory-node", SEVERITY_NOTE,
			 "remote memory and remote page tables cannot be measured",
			 "none here: measure on a machine with several nodes",
			 x->m->has_numa ? "one memory node" : "the kernel tells no memory nodes");
	if (usable > 1 && exam_u64(x, "proc/sys/kernel/numa_balancing", &on) && on)
		exam_add(x, "numa-balancing", SEVERITY_WARNING,
			 "pages move between nodes while they are measured, and hinting faults "
			 "fall into timed regions",
			 "sysctl -w kernel.numa_balancing=0",
			 "automatic NUMA balancing is on (%llu)", (unsigned long long)on);
}

static void check_budget(struct exam *x)
{
	char text[160];
	bool tiny = x->m->budget_bytes < TINY_BUDGET;

	machine_budget_text(x->m, text, sizeof(text));
	if (x->m->budget_bytes < SMALL_BUDGET)
		exam_add(x, "memory-small", tiny ? SEVERITY_BLOCKER : SEVERITY_WARNING,
			 tiny ? "most benchmarks cannot run"
			      : "working sets of 1 GiB and the largest curves are cut short",
			 x->m->n_limits ? exam_text(x, "raise this limit or free memory: %s",
						    x->m->limits[0].name)
					: "mount /proc",
			 "benchmarks may map only %s", text);
}

static void check_limits(struct exam *x)
{
	uint64_t v;

	for (size_t i = 0; i < x->m->n_limits; i++) {
		const char *name = x->m->limits[i].name;

		if (strncmp(name, "RLIMIT_", 7))
			continue;
		exam_add(x, "rlimit", SEVERITY_WARNING,
			 "large mappings fail although memory is free; the budget counts it",
			 !strcmp(name, "RLIMIT_AS") ? "ulimit -v unlimited" : "ulimit -d unlimited",
			 "%s leaves %llu MiB", name,
			 (unsigned long long)x->m->limits[i].bytes >> 20);
	}
	if (exam_u64(x, "proc/sys/vm/overcommit_memory", &v) && v == 2)
		exam_add(x, "overcommit-strict", SEVERITY_WARNING,
			 "mappings count in full before they are touched, so sparse ones (one page "
			 "for each leaf table) may be refused",
			 "sysctl -w vm.overcommit_memory=0", "strict overcommit (2)");
	if (exam_u64(x, "proc/sys/vm/max_map_count", &v) && v < 65530)
		exam_add(x, "max-map-count", SEVERITY_WARNING,
			 "backings made of many mappings (contiguous, memfd) end early",
			 "sysctl -w vm.max_map_count=65530",
			 "only %llu mappings for each process (vm.max_map_count)",
			 (unsigned long long)v);
}

static void check_swap(struct exam *x)
{
	uint64_t total, unused, memory;

	if (sysroot_read_key(x->sr, "proc/meminfo", "SwapTotal", &total, NULL) < 0 ||
	    sysroot_read_key(x->sr, "proc/meminfo", "SwapFree", &unused, NULL) < 0 ||
	    sysroot_read_key(x->sr, "proc/meminfo", "MemTotal", &memory, NULL) < 0)
		return;
	/* A little stays swapped out for ever on any machine that once was full. */
	if (total > unused && total - unused > memory / 50)
		exam_add(x, "swap-used", SEVERITY_WARNING,
			 "memory is or was short: page faults may wait for the disk",
			 "free memory, then: swapoff -a && swapon -a", "%llu MiB are swapped out",
			 (unsigned long long)(total - unused) >> 20);
}

static void check_ksm(struct exam *x)
{
	uint64_t run;

	if (exam_u64(x, "sys/kernel/mm/ksm/run", &run) && run == 1)
		exam_add(x, "ksm", SEVERITY_WARNING,
			 "ksmd reads memory in the background and evicts caches and TLBs",
			 "echo 0 > /sys/kernel/mm/ksm/run", "same-page merging is on");
}

/* A note where the number of levels could have been another one. */
static void check_levels(struct exam *x)
{
	char reason[96], boot[64];
	unsigned could = paging_cpu_levels(x->sr, x->m->arch, reason, sizeof(reason));
	unsigned levels = x->m->paging_levels;

	if (strcmp(x->m->arch, "x86_64") != 0 || levels < 4)
		return;
	if (levels == 5)
		exam_add(x, "five-levels", SEVERITY_NOTE,
			 "a page walk that finds nothing in the walk caches reads one table more "
			 "than with four; numbers are not those of a boot with four",
			 "to compare: measure tlb.walk, boot with no5lvl, measure again",
			 "five levels of page tables are in use");
	else if (could == 5 && paging_boot_words(x->sr, boot, sizeof(boot)) == 0)
		exam_add(x, "four-levels", SEVERITY_NOTE,
			 "numbers are not those of a boot with five",
			 strstr(boot, "no5lvl")
				 ? "to compare: measure tlb.walk, boot without no5lvl, measure "
				   "again"
				 : "none: this kernel is built or was started without five levels",
			 "four levels of page tables are in use, the processor could walk five%s",
			 strstr(boot, "no5lvl") ? " (no5lvl)" : "");
}

void doctor_check_memory(struct exam *x)
{
	check_budget(x);
	check_thp(x);
	check_nodes(x);
	check_limits(x);
	check_swap(x);
	check_ksm(x);
	check_hugetlb(x);
	check_mthp(x);
	check_levels(x);
}
