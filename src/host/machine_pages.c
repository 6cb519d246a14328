/* SPDX-License-Identifier: MIT */
/*
 * Page sizes and what one page-table page of each level maps. Left out: whether memory really got
 * pages of a size (mem/, for every measurement). Sources: Documentation/admin-guide/mm/
 * transhuge.rst and hugetlbpage.rst of Linux 6.18; for table sizes
 * arch/<name>/include/asm/pgtable*.
 *
 * A recorded tree has no sysconf(): its base page size is KernelPageSize of the first mapping in
 * proc/self/smaps, which is a mapping of a program and so has base pages.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/cgroup.h"
#include "host/machine_parts.h"
#include "host/paging.h"

#define THP_DIR "sys/kernel/mm/transparent_hugepage"
#define HUGETLB_DIR "sys/kernel/mm/hugepages"

static int read_base_page(const struct sysroot *sr, uint64_t *ret_bytes, struct err *e)
{
	uint64_t v = 0;

	if (sr->is_live) {
		long n = sysconf(_SC_PAGESIZE);

		v = n > 0 ? (uint64_t)n : 0;
	} else if (sysroot_read_key(sr, "proc/self/smaps", "KernelPageSize", &v, NULL) < 0) {
		return err_set(e, ENODATA,
			       "%s/proc/self/smaps: no KernelPageSize, so the page size of this "
			       "machine is unknown; record the file on that machine: cat "
			       "/proc/self/smaps > DIR/proc/self/smaps",
			       sr->dir);
	}
	if (v < 4096 || v > 1u << 20 || (v & (v - 1)))
		return err_set(e, EINVAL,
			       "base page size %llu: a power of two from 4096 to 1048576 is "
			       "accepted",
			       (unsigned long long)v);
	*ret_bytes = v;
	return 0;
}

/*
 * The huge page that the kernel calls PMD-sized is what one leaf table maps, on every architecture;
 * without it, a table that fills a page with entries of 8 bytes. Above, tables fill a page too,
 * but for POWER's radix tables (4 KiB for 64 KiB pages) and s390's (16 KiB for 4 KiB pages).
 */
static void read_spans(struct machine *m, uint64_t thp_bytes)
{
	uint64_t entries = m->page_bytes / 8;

	m->leaf_table_span = thp_bytes ? thp_bytes : m->page_bytes * entries;
	if (!strncmp(m->arch, "ppc64", 5))
		entries = 512;
	else if (!strncmp(m->arch, "s390", 4))
		entries = 2048;
	m->pmd_table_span = m->leaf_table_span * entries;
	m->pud_table_span = m->pmd_table_span * entries;
	if (__builtin_mul_overflow(m->pud_table_span, entries, &m->p4d_table_span))
		m->p4d_table_span = 0;
}

/* A usable page size to be judged by the caller; NULL when memory ran out. */
static struct page_size *add_page(struct machine *m, enum page_kind kind, uint64_t bytes,
				  struct err *e)
{
	struct page_size *grown = reallocarray(m->pages, m->n_pages + 1, sizeof(*grown));
	struct page_size *p;
	char size[UNITS_TEXT_BYTES];

	if (!grown) {
		err_set(e, ENOMEM, "no memory for the list of page sizes");
		return NULL;
	}
	m->pages = grown;
	p = &m->pages[m->n_pages++];
	*p = (struct page_size){ .kind = kind, .bytes = bytes, .usable = true };
	format_size(size, bytes);
	if (kind == PAGE_KIND_THP)
		snprintf(p->name, sizeof(p->name), "thp");
	else
		snprintf(p->name, sizeof(p->name), "%s%.15s",
			 kind == PAGE_KIND_HUGETLB ? "hugetlb-" : "", size);
	return p;
}

static void __attribute__((format(printf, 2, 3))) refuse(struct page_size *p, const char *fmt, ...)
{
	va_list ap;

	if (!p->usable)
		return;
	p->usable = false;
	p->zero_page = false;
	va_start(ap, fmt);
	vsnprintf(p->reason, sizeof(p->reason), fmt, ap);
	va_end(ap);
}

/* "always", "madvise", "inherit", "never"; "" when there is no such file. */
static void read_mode(const struct sysroot *sr, const char *path, char mode[16])
{
	if (sysroot_read_choice(sr, path, mode, 16, NULL) < 0)
		mode[0] = '\0';
}

static bool lets_madvise(const char *mode)
{
	return !strcmp(mode, "always") || !strcmp(mode, "madvise");
}

static bool process_may_thp(const struct sysroot *sr)
{
	uint64_t v;

	return sysroot_read_key(sr, "proc/self/status", "THP_enabled", &v, NULL) < 0 || v != 0;
}

static int read_thp(const struct sysroot *sr, struct machine *m, uint64_t bytes, struct err *e)
{
	char top[16], own[16], path[128];
	struct page_size *p;
	uint64_t zero;

	p = add_page(m, PAGE_KIND_THP, bytes ? bytes : m->leaf_table_span, e);
	if (!p)
		return -ENOMEM;
	read_mode(sr, THP_DIR "/enabled", top);
	snprintf(path, sizeof(path), THP_DIR "/hugepages-%llukB/enabled",
		 (unsigned long long)p->bytes / 1024);
	read_mode(sr, path, own);
	if (!top[0])
		refuse(p, "this kernel has no transparent huge pages; boot one that is built with "
			  "CONFIG_TRANSPARENT_HUGEPAGE");
	else if (!bytes)
		refuse(p, "the kernel does not tell the size (no /" THP_DIR
			  "/hpage_pmd_size); boot Linux 4.10 or later");
	/* Kernels before 6.8 have one switch; later ones also one for each size. */
	else if (!own[0] || !strcmp(own, "inherit")) {
		if (!lets_madvise(top))
			refuse(p,
			       "transparent huge pages are off (%s): echo madvise > /" THP_DIR
			       "/enabled",
			       top);
	} else if (!lets_madvise(own)) {
		refuse(p, "transparent huge pages of this size are off (%s): echo inherit > /%s",
		       own, path);
	}
	if (!process_may_thp(sr))
		refuse(p, "transparent huge pages are switched off for this process "
			  "(PR_SET_THP_DISABLE); start it without that");
	p->zero_page = p->usable &&
		       sysroot_read_u64(sr, THP_DIR "/use_zero_page", &zero, NULL) == 0 && zero;
	return 0;
}

static int read_mthp(const struct sysroot *sr, struct machine *m, uint64_t thp_bytes, struct err *e)
{
	struct u32_list kb;
	char top[16], own[16], path[128];
	int rc;

	if (sysroot_list_ids(sr, THP_DIR, "hugepages-", &kb, NULL) == -ENOMEM)
		return err_set(e, ENOMEM, "no memory for the list of page sizes");
	read_mode(sr, THP_DIR "/enabled", top);
	rc = 0;
	for (size_t i = 0; i < kb.n && rc == 0; i++) {
		uint64_t bytes = (uint64_t)kb.v[i] * 1024;
		struct page_size *p;

		snprintf(path, sizeof(path), THP_DIR "/hugepages-%ukB/enabled", kb.v[i]);
		read_mode(sr, path, own);
		/* Sizes without that file are for shared memory only. */
		if (bytes == thp_bytes || bytes <= m->page_bytes || !own[0])
			continue;
		p = add_page(m, PAGE_KIND_MTHP, bytes, e);
		if (!p) {
			rc = -ENOMEM;
			break;
		}
		if (!strcmp(own, "inherit")) {
			if (!lets_madvise(top))
				refuse(p,
				       "follows the main switch, which is off (%s): echo "
				       "madvise > /" THP_DIR "/enabled",
				       top);
		} else if (!lets_madvise(own)) {
			refuse(p, "off (%s): echo madvise > /%s", own, path);
		}
		if (!process_may_thp(sr))
			refuse(p, "transparent huge pages are switched off for this process "
				  "(PR_SET_THP_DISABLE); start it without that");
	}
	u32_list_done(&kb);
	return rc;
}

static uint64_t pool_number(const struct sysroot *sr, uint32_t kb, const char *name)
{
	char path[128];
	uint64_t v;

	snprintf(path, sizeof(path), HUGETLB_DIR "/hugepages-%ukB/%s", kb, name);
	return sysroot_read_u64(sr, path, &v, NULL) < 0 ? 0 : v;
}

/* The size as hugetlb control group files have it in their names. */
static void cgroup_size_name(uint64_t bytes, char buf[24])
{
	unsigned long long kb = bytes / 1024;

	if (kb >= 1 << 20)
		snprintf(buf, 24, "%lluGB", kb >> 20);
	else if (kb >= 1 << 10)
		snprintf(buf, 24, "%lluMB", kb >> 10);
	else
		snprintf(buf, 24, "%lluKB", kb);
}

/*
 * A group's huge page limit is charged when a page is touched: beyond it comes SIGBUS, not an
 * error. So a group that does not even leave one page makes the size unusable.
 */
static void check_hugetlb_group(const struct sysroot *sr, struct page_size *p)
{
	static const struct {
		const char *controller, *limit, *used;
	} files[] = {
		{ "", "max", "current" },
		{ "", "rsvd.max", "rsvd.current" },
		{ "hugetlb", "limit_in_bytes", "usage_in_bytes" },
		{ "hugetlb", "rsvd.limit_in_bytes", "rsvd.usage_in_bytes" },
	};
	char size[24], limit_name[64], used_name[64];
	struct cgroup g;

	cgroup_size_name(p->bytes, size);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (cgroup_find(sr, files[i].controller, &g) < 0)
			continue;
		snprintf(limit_name, sizeof(limit_name), "hugetlb.%s.%s", size, files[i].limit);
		snprintf(used_name, sizeof(used_name), "hugetlb.%s.%s", size, files[i].used);
		do {
			uint64_t limit, used;

			if (cgroup_read_limit(sr, &g, limit_name, &limit) < 0)
				continue;
			if (cgroup_read_limit(sr, &g, used_name, &used) < 0)
				used = 0;
			if (limit < used || limit - used < p->bytes)
				refuse(p,
				       "control group %.60s leaves no huge page (%s %llu): raise "
				       "%s of that group",
				       cgroup_name(&g), limit_name, (unsigned long long)limit,
				       limit_name);
		} while (cgroup_to_parent(&g));
	}
}

static int read_hugetlb(const struct sysroot *sr, struct machine *m, struct err *e)
{
	struct u32_list kb;
	int rc = 0;

	if (sysroot_list_ids(sr, HUGETLB_DIR, "hugepages-", &kb, NULL) == -ENOMEM)
		return err_set(e, ENOMEM, "no memory for the list of page sizes");
	for (size_t i = 0; i < kb.n && rc == 0; i++) {
		uint64_t bytes = (uint64_t)kb.v[i] * 1024, free_pages, reserved;
		uint64_t want = bytes < 1u << 30 ? (1u << 30) / bytes : 1;
		struct page_size *p;

		p = add_page(m, PAGE_KIND_HUGETLB, bytes, e);
		if (!p) {
			rc = -ENOMEM;
			break;
		}
		p->pool_pages = pool_number(sr, kb.v[i], "nr_hugepages");
		free_pages = pool_number(sr, kb.v[i], "free_hugepages");
		reserved = pool_number(sr, kb.v[i], "resv_hugepages");
		p->pool_free = free_pages > reserved ? free_pages - reserved : 0;
		if (!p->pool_free && !pool_number(sr, kb.v[i], "nr_overcommit_hugepages"))
			refuse(p, "%s: echo %llu > /" HUGETLB_DIR "/hugepages-%ukB/nr_hugepages",
			       p->pool_pages ? "all pages of the pool are in use"
					     : "the pool is empty",
			       (unsigned long long)(p->pool_pages + want), kb.v[i]);
		check_hugetlb_group(sr, p);
	}
	u32_list_done(&kb);
	if (rc == 0 &&
	    sysroot_read_key(sr, "proc/meminfo", "Hugepagesize", &m->hugetlb_bytes, NULL) < 0)
		m->hugetlb_bytes = 0;
	return rc;
}

int machine_node_hugetlb_free(const struct sysroot *sr, uint32_t node, uint64_t bytes,
			      uint64_t *ret_pages)
{
	char path[160];

	snprintf(path, sizeof(path),
		 "sys/devices/system/node/node%u/hugepages/hugepages-%llukB/free_hugepages", node,
		 (unsigned long long)bytes / 1024);
	return sysroot_read_u64(sr, path, ret_pages, NULL);
}

void machine_check_pools(const struct sysroot *sr, struct machine *m)
{
	for (size_t i = 0; i < m->n_pages; i++) {
		struct page_size *p = &m->pages[i];
		const struct node *first = NULL;
		uint64_t here = 0, elsewhere = 0, v;

		if (p->kind != PAGE_KIND_HUGETLB || !p->usable)
			continue;
		for (size_t k = 0; k < m->n_nodes; k++) {
			const struct node *n = &m->nodes[k];

			if (n->has_memory && n->mem_allowed && !first)
				first = n;
			if (machine_node_hugetlb_free(sr, n->id, p->bytes, &v) == 0)
				*(n->mem_allowed ? &here : &elsewhere) += v;
		}
		if (elsewhere && !here && first)
			refuse(p,
			       "all free pages of the pool lie on nodes that this process may not "
			       "use: echo %llu > /sys/devices/system/node/node%u/hugepages/"
			       "hugepages-%llukB/nr_hugepages",
			       p->bytes < 1u << 30 ? (1ull << 30) / p->bytes : 1ull, first->id,
			       (unsigned long long)p->bytes / 1024);
	}
}

void machine_check_sizes(struct machine *m)
{
	char budget[160];

	if (!m->n_limits)
		return;
	machine_budget_text(m, budget, sizeof(budget));
	for (size_t i = 0; i < m->n_pages; i++) {
		struct page_size *p = &m->pages[i];

		/* The pages of a pool are taken from memory already. */
		if (p->kind != PAGE_KIND_HUGETLB && p->kind != PAGE_KIND_BASE &&
		    p->bytes > m->budget_bytes)
			refuse(p,
			       "one page is larger than what benchmarks may map, %s; free memory "
			       "or raise that limit",
			       budget);
	}
}

static int compare_pages(const void *a, const void *b)
{
	const struct page_size *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

static void read_levels(const struct sysroot *sr, struct machine *m)
{
	struct paging p = { .reason = "not probed: a recorded machine maps nothing" };

	if (sr->is_live)
		paging_probe_live(m->arch, m->page_bytes, &p);
	m->paging_levels = p.levels;
	m->address_bits = p.address_bits;
	memcpy(m->paging_reason, p.reason, sizeof(m->paging_reason));
}

int machine_read_pages(const struct sysroot *sr, struct machine *m, struct err *e)
{
	uint64_t thp_bytes = 0;
	struct page_size *base;
	int rc;

	rc = read_base_page(sr, &m->page_bytes, e);
	if (rc < 0)
		return rc;
	if (sysroot_read_u64(sr, THP_DIR "/hpage_pmd_size", &thp_bytes, NULL) < 0 ||
	    thp_bytes <= m->page_bytes || (thp_bytes & (thp_bytes - 1)) || thp_bytes > 1ull << 40)
		thp_bytes = 0;
	read_spans(m, thp_bytes);
	read_levels(sr, m);
	base = add_page(m, PAGE_KIND_BASE, m->page_bytes, e);
	if (!base)
		return -ENOMEM;
	base->zero_page = true;
	rc = read_mthp(sr, m, thp_bytes, e);
	if (rc == 0)
		rc = read_thp(sr, m, thp_bytes, e);
	if (rc == 0)
		rc = read_hugetlb(sr, m, e);
	if (rc == 0)
		qsort(m->pages, m->n_pages, sizeof(*m->pages), compare_pages);
	return rc;
}
