/* SPDX-License-Identifier: MIT */
/*
 * Reading a machine part by part, and looking things up in it. Left out: which CPU and node to use
 * (machine_choose.c).
 */
#include "host/machine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/machine_parts.h"

int machine_read(const struct sysroot *sr, struct machine *ret, struct err *e)
{
	struct machine m = { 0 };
	int rc;

	rc = machine_read_identity(sr, &m, e);
	if (rc == 0)
		rc = machine_read_pages(sr, &m, e);
	if (rc == 0)
		rc = machine_read_cpus(sr, &m, e);
	if (rc == 0)
		rc = machine_read_nodes(sr, &m, e);
	if (rc == 0) {
		machine_check_pools(sr, &m);
		rc = machine_read_hwloc(sr, &m, e);
		if (rc == -ENODATA)
			rc = machine_read_sysfs(sr, &m, e);
	}
	if (rc == 0)
		rc = machine_read_limits(sr, &m, e);
	if (rc == 0)
		machine_check_sizes(&m);
	if (rc < 0) {
		machine_done(&m);
		return rc;
	}
	*ret = m;
	return 0;
}

void machine_done(struct machine *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n_nodes; i++) {
		u32_list_done(&m->nodes[i].cpus);
		free(m->nodes[i].distance);
	}
	for (size_t i = 0; i < m->n_caches; i++)
		u32_list_done(&m->caches[i].cpus);
	free(m->pages);
	free(m->cpus);
	free(m->nodes);
	free(m->caches);
	free(m->limits);
	*m = (struct machine){ 0 };
}

struct cpu *machine_cpu_mut(struct machine *m, uint32_t id)
{
	size_t low = 0, high = m->n_cpus;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->cpus[mid].id == id)
			return &m->cpus[mid];
		if (m->cpus[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

const struct cpu *machine_cpu(const struct machine *m, uint32_t id)
{
	struct machine view = { .cpus = m->cpus, .n_cpus = m->n_cpus };

	return machine_cpu_mut(&view, id);
}

const struct node *machine_node(const struct machine *m, uint32_t id)
{
	for (size_t i = 0; i < m->n_nodes; i++)
		if (m->nodes[i].id == id)
			return &m->nodes[i];
	return NULL;
}

static const struct page_size *page_of(const struct machine *m, enum page_kind kind, uint64_t bytes)
{
	for (size_t i = 0; i < m->n_pages; i++)
		if (m->pages[i].kind == kind && (!bytes || m->pages[i].bytes == bytes))
			return &m->pages[i];
	return NULL;
}

const struct page_size *machine_page(const struct machine *m, const char *name)
{
	if (!strcmp(name, "base"))
		return page_of(m, PAGE_KIND_BASE, 0);
	if (!strcmp(name, "auto")) {
		const struct page_size *thp = page_of(m, PAGE_KIND_THP, 0);

		return thp && thp->usable ? thp : page_of(m, PAGE_KIND_BASE, 0);
	}
	if (!strcmp(name, "hugetlb"))
		return m->hugetlb_bytes ? page_of(m, PAGE_KIND_HUGETLB, m->hugetlb_bytes) : NULL;
	for (size_t i = 0; i < m->n_pages; i++)
		if (!strcmp(m->pages[i].name, name))
			return &m->pages[i];
	return NULL;
}

size_t machine_count_memory_nodes(const struct machine *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_nodes; i++)
		n += m->nodes[i].has_memory && m->nodes[i].mem_allowed;
	return n;
}

int machine_add_cache(struct machine *m, struct cache *c, struct err *e)
{
	struct cache *grown = m->caches;

	/* Room doubles at powers of two, so that no capacity has to be kept. */
	if (!(m->n_caches & (m->n_caches - 1))) {
		size_t cap = m->n_caches ? m->n_caches * 2 : 1;

		grown = reallocarray(m->caches, cap, sizeof(*grown));
	}
	if (!grown) {
		u32_list_done(&c->cpus);
		return err_set(e, ENOMEM, "no memory for the list of caches");
	}
	m->caches = grown;
	m->caches[m->n_caches++] = *c;
	return 0;
}

static int compare_caches(const void *a, const void *b)
{
	const struct cache *x = a, *y = b;
	uint32_t first_x = x->cpus.n ? x->cpus.v[0] : 0, first_y = y->cpus.n ? y->cpus.v[0] : 0;

	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	return (first_x > first_y) - (first_x < first_y);
}

void machine_sort_caches(struct machine *m)
{
	if (m->n_caches)
		qsort(m->caches, m->n_caches, sizeof(*m->caches), compare_caches);
}

const struct cache *machine_cache(const struct machine *m, uint32_t cpu, unsigned level)
{
	for (size_t i = 0; i < m->n_caches; i++)
		if (m->caches[i].level == level && u32_list_contains(&m->caches[i].cpus, cpu))
			return &m->caches[i];
	return NULL;
}

uint64_t machine_llc_bytes(const struct machine *m, uint32_t cpu)
{
	/* The list ascends by level: the last hit is the last level. */
	for (size_t i = m->n_caches; i-- > 0;)
		if (u32_list_contains(&m->caches[i].cpus, cpu))
			return m->caches[i].size_bytes;
	return 0;
}

uint64_t machine_llc_total_bytes(const struct machine *m)
{
	uint64_t sum = 0;

	/*
	 * A cache is a last level if no higher one serves its first CPU: kinds of cores may have
	 * different numbers of levels.
	 */
	for (size_t i = 0; i < m->n_caches; i++) {
		const struct cache *c = &m->caches[i];
		bool is_last = true;

		for (size_t k = m->n_caches; k-- > i + 1 && is_last;)
			is_last = m->caches[k].level <= c->level ||
				  !u32_list_contains(&m->caches[k].cpus, c->cpus.v[0]);
		if (is_last)
			sum += c->size_bytes;
	}
	return sum;
}

void machine_budget_text(const struct machine *m, char *buf, size_t bytes)
{
	char size[UNITS_TEXT_BYTES];

	if (!m->n_limits)
		snprintf(buf, bytes, "0 B (free memory cannot be read: /proc/meminfo is missing)");
	else
		snprintf(buf, bytes, "%s (80 %% of %s)",
			 format_size_human(size, (double)m->budget_bytes), m->limits[0].name);
}
