/* SPDX-License-Identifier: MIT */
/*
 * The toll set: what `run` measures when no target is named. It is fixed here, row by row; a new
 * benchmark never joins it by itself. Each row says what it is for; infer/ relies on it.
 */
#include "run/plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { ROW_WORDS = 8 };

struct toll_row {
	const char *bench;
	struct assignment words[ROW_WORDS]; /* ended by name NULL */
	bool few;                           /* dear: fewer invocations, see few_invocations() */
	bool first;                         /* the card's first lines depend on it */
	double share;                       /* of the budget; 0: equal shares */
};

static const struct toll_row toll_rows[] = {
	/* Entries of the first level and what a hit in the second costs; AMD's way predictor is
	 * kept out by addresses of equal tag. */
	{ .bench = "tlb.chase",
	  .words = { { "page", "base" }, { "backing", "zero" }, { "alias", "avoid" } },
	  .first = true },
	/* Entries of the second level, a walk whose tables are in the caches. */
	{ .bench = "tlb.chase",
	  .words = { { "page", "base" }, { "backing", "zero" }, { "stride", "base-page" } },
	  .first = true },
	/* A walk whose tables are in memory: one page-table page a pointer, which is dear to set
	 * up, so that it has a share of its own and few invocations. */
	{ .bench = "tlb.chase",
	  .words = { { "page", "base" },
		     { "backing", "zero" },
		     { "stride", "leaf-table+base-page" } },
	  .few = true,
	  .share = 0.28 },
	/* Offsets inside one huge page: a knee at the base pages' capacity means that the
	 * hypervisor backs huge pages by small ones. */
	{ .bench = "tlb.chase",
	  .words = { { "page", "thp" }, { "backing", "distinct" }, { "stride", "base-page" } } },
	/* Entries and costs for huge pages. */
	{ .bench = "tlb.chase",
	  .words = { { "page", "thp" }, { "backing", "zero" }, { "stride", "page" } } },
	/* Data-cache latencies and capacities. */
	{ .bench = "cache.chase", .words = { { "page", "auto" } } },
	/* The line that people decide by: random reads over 1 GiB, small and huge pages. */
	{ .bench = "cache.chase",
	  .words = { { "page", "base,thp" }, { "working-set", "1g" } },
	  .few = true,
	  .first = true },
	/* Line size: how near a second access must be to come along for free. */
	{ .bench = "cache.chase",
	  .words = { { "working-set", "128k" },
		     { "spacing", "512" },
		     { "pair", "16,32,64,128,256" },
		     { "page", "auto" } },
	  .few = true },
};

static size_t row_length(const struct toll_row *row)
{
	size_t n = 0;

	while (n < ROW_WORDS && row->words[n].name)
		n++;
	return n;
}

/* Words without a target may set what no row fixes (cpu, data); the rest would bend the set. */
int plan_check_toll(const struct target *for_all, struct err *e)
{
	for (size_t i = 0; i < for_all->n_assigns; i++) {
		const struct assignment *as = &for_all->assigns[i];

		for (size_t k = 0; k < sizeof(toll_rows) / sizeof(toll_rows[0]); k++)
			for (size_t w = 0; w < row_length(&toll_rows[k]); w++)
				if (strcmp(toll_rows[k].words[w].name, as->name) == 0)
					return err_set(e, EINVAL,
						       "%s=%s: the toll set fixes %s itself; name "
						       "a target, for example: pagetoll run %s "
						       "%s=%s",
						       as->name, as->value, as->name,
						       toll_rows[k].bench, as->name, as->value);
	}
	return 0;
}

/* Two less than the preset's: six where the default has eight, the least that gives an interval. */
static unsigned few_invocations(const struct plan *plan)
{
	return plan->min_invocations > 3 ? plan->min_invocations - 2 : 1;
}

static int add_row(struct plan *plan, const struct machine *m, const struct toll_row *row,
		   const struct target *for_all, struct err *e)
{
	struct plan_wish w = {
		.bench = bench_find(row->bench),
		.layers = { { row->words, row_length(row) },
			    { for_all->assigns, for_all->n_assigns } },
		.in_toll = true,
		.first = row->first,
		.max_invocations = row->few ? few_invocations(plan) : 0,
		.share = row->share,
	};

	return w.bench ? plan_add_wish(plan, m, &w, e) : 0;
}

/* Page sizes beside base and thp: mTHP that is on, and hugetlb, with the reason if its pool is
 * empty. */
static int add_further_pages(struct plan *plan, const struct machine *m,
			     const struct target *for_all, struct err *e)
{
	for (size_t i = 0; i < m->n_pages; i++) {
		const struct page_size *p = &m->pages[i];
		struct toll_row row = {
			.bench = "tlb.chase",
			.words = { { "page", p->name },
				   { "backing", "distinct" },
				   { "stride", "page" } },
		};
		int r;

		/* An mTHP size that is off is a setting of the machine, not a size that it offers.
		 */
		if (p->kind == PAGE_KIND_BASE || p->kind == PAGE_KIND_THP ||
		    (p->kind == PAGE_KIND_MTHP && !p->usable))
			continue;
		r = add_row(plan, m, &row, for_all, e);
		if (r < 0)
			return r;
	}
	return 0;
}

int plan_add_toll(struct plan *plan, const struct machine *m, const struct target *for_all,
		  struct err *e)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(toll_rows) / sizeof(toll_rows[0]); i++)
		r = add_row(plan, m, &toll_rows[i], for_all, e);
	return r < 0 ? r : add_further_pages(plan, m, for_all, e);
}
