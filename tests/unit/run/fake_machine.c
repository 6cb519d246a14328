/* SPDX-License-Identifier: MIT */
/* Invented machines for the planner's tests. */
#include "fake_machine.h"

#include <string.h>

static void add_page(struct fake_machine *f, enum page_kind kind, uint64_t bytes, const char *name,
		     const char *reason)
{
	struct page_size *p = &f->pages[f->m.n_pages++];

	p->kind = kind;
	p->bytes = bytes;
	strcpy(p->name, name);
	p->usable = reason == NULL;
	p->zero_page = kind == PAGE_KIND_BASE || kind == PAGE_KIND_THP;
	strcpy(p->reason, reason ? reason : "");
}

static void add_pages(struct fake_machine *f)
{
	add_page(f, PAGE_KIND_BASE, 4096, "4k", NULL);
	add_page(f, PAGE_KIND_MTHP, 65536, "64k", "64k is never: echo madvise > .../enabled");
	add_page(f, PAGE_KIND_THP, 2 << 20, "thp", NULL);
	add_page(f, PAGE_KIND_HUGETLB, 2 << 20, "hugetlb-2m", NULL);
	f->pages[3].pool_pages = 8;
	f->pages[3].pool_free = 4;
	add_page(f, PAGE_KIND_HUGETLB, 1 << 30, "hugetlb-1g", "pool is empty: echo 1 > .../1g");
}

static void add_node(struct fake_machine *f, uint32_t id, uint32_t first_cpu, size_t n_cpus,
		     bool has_memory)
{
	size_t i = f->m.n_nodes++;
	struct node *n = &f->nodes[i];

	n->id = id;
	n->has_cpus = n_cpus > 0;
	n->has_memory = n->mem_allowed = has_memory;
	n->total_bytes = n->free_bytes = has_memory ? UINT64_C(2) << 30 : 0;
	for (size_t k = 0; k < n_cpus; k++) {
		f->node_cpus[i][k] = first_cpu + (uint32_t)k;
		f->cpus[first_cpu + k].node = (int32_t)id;
	}
	n->cpus = (struct u32_list){ .v = f->node_cpus[i], .n = n_cpus };
	for (size_t k = 0; k < 4; k++)
		f->distances[i][k] = i == k ? 10 : 20;
	n->distance = f->distances[i];
}

void fake_machine_init(struct fake_machine *f)
{
	memset(f, 0, sizeof(*f));
	strcpy(f->m.arch, "x86_64");
	f->m.page_bytes = 4096;
	f->m.leaf_table_span = UINT64_C(2) << 20;
	f->m.pmd_table_span = UINT64_C(1) << 30;
	f->m.pud_table_span = UINT64_C(512) << 30;
	f->m.hugetlb_bytes = 2 << 20;
	f->m.pages = f->pages;
	f->m.cpus = f->cpus;
	f->m.nodes = f->nodes;
	f->m.limits = f->limits;
	f->m.n_limits = 1;
	f->m.n_cpus = 4;
	strcpy(f->limits[0].name, "MemAvailable");
	f->limits[0].bytes = UINT64_C(5) << 28;
	f->m.budget_bytes = UINT64_C(1) << 30;
	for (uint32_t i = 0; i < 4; i++)
		f->cpus[i] = (struct cpu){ .id = i,
					   .node = -1,
					   .online = i != 3,
					   .allowed = i != 3,
					   .core = i,
					   .capacity = 1024 };
	add_pages(f);
	add_node(f, 0, 0, 3, true);
	f->m.has_numa = true;
}

void fake_machine_make_numa(struct fake_machine *f)
{
	f->m.n_nodes = 0;
	add_node(f, 0, 0, 1, true);
	add_node(f, 8, 1, 1, true);
	add_node(f, 9, 2, 1, false);
}
