/* SPDX-License-Identifier: MIT */
/*
 * Inner values and what they cost: the benchmark's automatic grid, its limits by memory, by a
 * hugetlb pool and by time. Only automatic grids are ever shortened, and a note says so; what the
 * user asked for is refused instead.
 */
#include "run/plan.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * Seconds for one page fault or populated page: 2 to 7 us a page were seen in guests with nested
 * paging, 0.1 to 0.5 us on bare metal. Too high only means a shorter automatic grid.
 */
static const double fault_seconds = 5e-6;
/* Of one point, beside its samples: linking, warming up, and the last sample over the cap. */
static const double prepare_seconds = 0.01;
/* fork, exec, reading the plan, exit. */
static const double start_seconds = 0.01;

static uint64_t largest(const struct planned *p)
{
	return p->grid.n ? p->grid.v[p->grid.n - 1] : 0;
}

static const char *inner_text(char buf[UNITS_TEXT_BYTES], const struct planned *p, uint64_t v)
{
	const struct param *param = p->inner ? schema_param(&p->bench->schema, p->inner) : NULL;

	if (param && param->type == PARAM_BYTES)
		return format_size(buf, v);
	snprintf(buf, UNITS_TEXT_BYTES, "%llu", (unsigned long long)v);
	return buf;
}

static int set_skip(struct plan *plan, struct planned *p, const char *why, struct err *e)
{
	p->skip_reason = arena_strdup(&plan->arena, why);
	return p->skip_reason ? 0 : err_set(e, ENOMEM, "out of memory");
}

static int add_note(struct plan *plan, struct planned *p, const char *note, struct err *e)
{
	p->note = p->note ? arena_printf(&plan->arena, "%s; %s", p->note, note)
			  : arena_strdup(&plan->arena, note);
	return p->note ? 0 : err_set(e, ENOMEM, "out of memory");
}

int plan_grid_auto(struct plan *plan, const struct machine *m, struct planned *p, struct err *e)
{
	struct err why = { 0 };
	char note[256] = "";
	int r;

	if (!p->bench->grid)
		return err_set(e, EINVAL, "%s has no automatic values for %s; give %s=VALUE",
			       p->bench->schema.name, p->inner, p->inner);
	r = p->bench->grid(m, &p->setting, &p->grid, note, sizeof(note), &why);
	if (r == -ENODEV)
		return set_skip(plan, p, why.msg, e);
	if (r < 0)
		return err_set(e, -r, "%s: %s", p->bench->schema.name, why.msg);
	p->grid_auto = true;
	if (p->grid.n == 0)
		return set_skip(plan, p, note[0] ? note : "no values fit here", e);
	return note[0] ? add_note(plan, p, note, e) : 0;
}

/* Asks the benchmark. 0; 1 when it cannot be had here (the skip reason is set); negative errno. */
static int ask_cost(struct plan *plan, const struct machine *m, struct planned *p, struct err *e)
{
	struct bench_cost cost = { 0 };
	struct err why = { 0 };
	int r = p->bench->cost(m, &p->setting, largest(p), &cost, &why);

	if (r == -ENODEV) {
		r = set_skip(plan, p, why.msg, e);
		return r < 0 ? r : 1;
	}
	if (r < 0)
		return err_set(e, -r, "%s: %s", p->bench->schema.name, why.msg);
	p->cost = cost;
	return 0;
}

/* The hugetlb page size of the setting, NULL: other pages. */
static const struct page_size *hugetlb_of(const struct machine *m, const struct planned *p)
{
	for (const struct param *q = p->bench->schema.params; q && q->name; q++) {
		const struct page_size *page = NULL;

		if (q->type == PARAM_PAGE)
			page = machine_page(m, attrs_text(&p->setting.given, q->name, ""));
		if (page && page->kind == PAGE_KIND_HUGETLB)
			return page;
	}
	return NULL;
}

static uint64_t pages_needed(const struct page_size *page, const struct planned *p)
{
	return p->cost.arena_bytes / page->bytes + (p->cost.arena_bytes % page->bytes != 0);
}

/* Memory counted against the budget: a hugetlb pool is set aside already, its tables are not. */
static uint64_t bytes_needed(const struct page_size *hugetlb, const struct planned *p)
{
	uint64_t sum;

	if (hugetlb)
		return p->cost.table_bytes;
	if (__builtin_add_overflow(p->cost.arena_bytes, p->cost.table_bytes, &sum))
		return UINT64_MAX;
	return sum;
}

static bool fits(const struct machine *m, const struct page_size *hugetlb, const struct planned *p)
{
	if (hugetlb && pages_needed(hugetlb, p) > hugetlb->pool_free)
		return false;
	return bytes_needed(hugetlb, p) <= m->budget_bytes;
}

static int skip_pool(struct plan *plan, struct planned *p, const struct page_size *page,
		     struct err *e)
{
	uint64_t need = pages_needed(page, p);
	char text[320];

	snprintf(text, sizeof(text),
		 "needs %llu free %s pages, the pool has %llu; as root: echo %llu > "
		 "/sys/kernel/mm/hugepages/hugepages-%llukB/nr_hugepages",
		 (unsigned long long)need, page->name, (unsigned long long)page->pool_free,
		 (unsigned long long)(need + (page->pool_pages > page->pool_free
						      ? page->pool_pages - page->pool_free
						      : 0)),
		 (unsigned long long)(page->bytes / 1024));
	return set_skip(plan, p, text, e);
}

static int refuse_memory(const struct machine *m, const struct page_size *hugetlb,
			 const struct planned *p, struct err *e)
{
	char need[UNITS_TEXT_BYTES], arena[UNITS_TEXT_BYTES], tables[UNITS_TEXT_BYTES];
	char budget[200], at[UNITS_TEXT_BYTES];

	machine_budget_text(m, budget, sizeof(budget));
	return err_set(e, ENOMEM,
		       "%s%s%s%s%s needs %s of memory (%s data, %s page tables), but the budget is "
		       "%s; ask for less, or %s",
		       p->bench->schema.name, p->inner ? " " : "", p->inner ? p->inner : "",
		       p->inner ? "=" : "", p->inner ? inner_text(at, p, largest(p)) : "",
		       format_size_human(need, (double)bytes_needed(hugetlb, p)),
		       format_size_human(arena, hugetlb ? 0 : (double)p->cost.arena_bytes),
		       format_size_human(tables, (double)p->cost.table_bytes), budget,
		       strstr(budget, "MemAvailable") ? "free memory" : "raise that limit");
}

static int note_memory(struct plan *plan, const struct machine *m, struct planned *p,
		       const struct page_size *hugetlb, uint64_t wanted, struct err *e)
{
	char text[512], budget[200], now[UNITS_TEXT_BYTES], was[UNITS_TEXT_BYTES];

	if (hugetlb)
		snprintf(budget, sizeof(budget), "%llu free pages in the %s pool",
			 (unsigned long long)hugetlb->pool_free, hugetlb->name);
	else
		machine_budget_text(m, budget, sizeof(budget));
	snprintf(text, sizeof(text), "%s up to %s instead of %s: memory budget %s", p->inner,
		 inner_text(now, p, largest(p)), inner_text(was, p, wanted), budget);
	return add_note(plan, p, text, e);
}

/* 0: there is room; 1: skipped, with the limit's name. */
static int fit_processes(struct plan *plan, const struct machine *m, struct planned *p,
			 struct err *e)
{
	char text[420];
	int r;

	/* the worker is one more */
	if (!m->processes.name[0] || !p->cost.processes || p->cost.processes < m->processes.left)
		return 0;
	snprintf(text, sizeof(text),
		 "needs %llu processes beside its own, %s leaves %llu; raise it: %s",
		 (unsigned long long)p->cost.processes, m->processes.name,
		 (unsigned long long)m->processes.left, m->processes.raise);
	r = set_skip(plan, p, text, e);
	return r < 0 ? r : 1;
}

int plan_fit_memory(struct plan *plan, const struct machine *m, struct planned *p, struct err *e)
{
	const struct page_size *hugetlb = hugetlb_of(m, p);
	uint64_t wanted = largest(p);
	int r;

	for (;;) {
		r = ask_cost(plan, m, p, e);
		if (r != 0)
			return r < 0 ? r : 0;
		if (fits(m, hugetlb, p)) {
			r = fit_processes(plan, m, p, e);
			if (r != 0)
				return r < 0 ? r : 0;
			break;
		}
		if (!p->grid_auto || p->grid.n <= 1)
			return hugetlb && pages_needed(hugetlb, p) > hugetlb->pool_free
				       ? skip_pool(plan, p, hugetlb, e)
				       : refuse_memory(m, hugetlb, p, e);
		p->grid.n--;
	}
	return largest(p) < wanted ? note_memory(plan, m, p, hugetlb, wanted, e) : 0;
}

/* What grows with the largest inner value: populating and linking. */
static double setup_seconds(const struct planned *p)
{
	return start_seconds + (double)p->cost.faults * fault_seconds + p->cost.seconds;
}

double plan_invocation_seconds(const struct plan *plan, const struct planned *p)
{
	double n = p->grid.n ? (double)p->grid.n : 1;

	return setup_seconds(p) + n * (plan->preset->point_seconds + prepare_seconds);
}

int plan_fit_time(struct plan *plan, const struct machine *m, struct planned *p, double seconds,
		  struct err *e)
{
	char text[256], now[UNITS_TEXT_BYTES], was[UNITS_TEXT_BYTES];
	uint64_t wanted = largest(p);

	while (p->grid_auto && p->grid.n > 1 && setup_seconds(p) > seconds) {
		int r;

		p->grid.n--;
		r = ask_cost(plan, m, p, e);
		if (r != 0)
			return r < 0 ? r : 0;
	}
	if (largest(p) == wanted)
		return 0;
	snprintf(text, sizeof(text),
		 "%s up to %s instead of %s: time budget; %s=... or a longer preset goes on",
		 p->inner, inner_text(now, p, largest(p)), inner_text(was, p, wanted), p->inner);
	return add_note(plan, p, text, e);
}
