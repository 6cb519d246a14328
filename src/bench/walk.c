/* SPDX-License-Identifier: MIT */
/*
 * Maps pages in regions anew for each point, proves what lies behind them, and times them: hot as
 * any chase, or group by group after wiping the caches. Leaves out plans and refusals (tlb_walk.c).
 */
#include "bench/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "access/tables.h"
#include "host/clock.h"
#include "host/paging.h"

void walk_tables(uint64_t base_page, uint64_t ret[REGIONS_LEVELS])
{
	for (unsigned i = 0; i < REGIONS_LEVELS; i++) {
		uint64_t span = tables_span(base_page, i);

		ret[i] = span == UINT64_MAX ? 0 : span;
	}
}

static bool is_word(const struct bench_ctx *ctx, const char *name, const char *word)
{
	return strcmp(bench_text(ctx, name), word) == 0;
}

static enum backing backing_of(const struct bench_ctx *ctx)
{
	return is_word(ctx, "backing", "zero") ? BACKING_ZERO : BACKING_DISTINCT;
}

/* The levels that are walked, by probing in this very process. */
static int prove_levels(struct bench_ctx *ctx, struct walk *s)
{
	const char *wanted = bench_text(ctx, "levels");
	struct paging p;
	struct utsname u;

	if (uname(&u) < 0)
		return bench_fail(ctx, errno, "uname: %s", strerror(errno));
	paging_probe_live(u.machine, (uint64_t)sysconf(_SC_PAGESIZE), &p);
	s->levels = p.levels;
	if (p.levels)
		bench_proof_int(ctx, "paging_levels", p.levels);
	else
		bench_unproven(ctx, "levels of page tables: %s", p.reason);
	if (strcmp(wanted, "auto") != 0 && p.levels && p.levels != (unsigned)(wanted[0] - '0'))
		return bench_invalid(ctx, "%u levels are in use, %s were asked for", p.levels,
				     wanted);
	return 0;
}

static void set_regions(struct walk *s, uint64_t regions)
{
	s->at.regions = regions;
	s->at.n = s->pointers ? s->pointers : regions;
	s->at.line_room = s->at.spread ? (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static int map_regions(struct bench_ctx *ctx, struct walk *s)
{
	struct region_spec spec = { .align_bytes = UINT64_C(1) << 30,
				    .data_node = (int)bench_u64(ctx, "data.node"),
				    .table_node = (int)bench_u64(ctx, "page-tables.node") };
	uint64_t unit = s->at.table_bytes[0];
	const uint64_t common = UINT64_C(1) << 46;

	if (s->at.page_bytes > unit)
		unit = s->at.page_bytes;
	spec.span_bytes = (regions_span(&s->at) + unit - 1) / unit * unit;
	/* A region must not lie across two entries of its level. */
	for (size_t k = 0; k < REGIONS_LEVELS && s->at.table_bytes[k]; k++)
		if (s->at.stride_bytes % s->at.table_bytes[k] == 0 &&
		    s->at.table_bytes[k] > spec.align_bytes)
			spec.align_bytes = s->at.table_bytes[k];
	if (spec.align_bytes < s->at.page_bytes)
		spec.align_bytes = s->at.page_bytes;
	/* More than four levels reach has to be asked for by an address of its own. */
	spec.hint = spec.span_bytes > common ? UINT64_C(1) << 48 : 0;
	return chase_map_spec(ctx, &s->run, backing_of(ctx), &spec);
}

static int place(struct bench_ctx *ctx, struct walk *s, struct regions_count *ret)
{
	struct chase_run *run = &s->run;
	uint64_t *sorted = malloc(s->at.n * sizeof(*sorted));

	free(run->offsets);
	run->offsets = malloc(s->at.n * sizeof(*run->offsets));
	if (!sorted || !run->offsets) {
		free(sorted);
		return bench_fail(ctx, ENOMEM, "no memory for %ju offsets", (uintmax_t)s->at.n);
	}
	run->n_offsets = s->at.n;
	for (uint64_t i = 0; i < s->at.n; i++)
		sorted[i] = run->offsets[i] = regions_offset(&s->at, i);
	run->sample = run->offsets;
	run->n_sample = run->n_offsets;
	regions_count(&s->at, sorted, s->at.n, ret);
	free(sorted);
	return 0;
}

/*
 * Bytes of tables that VmPTE must show: leaf, middle and upper tables as far as there are levels
 * (what is folded has none; p4d and top tables are not counted by the kernel). Huge pages keep a
 * leaf table each in reserve (thp), or none (hugetlb).
 */
struct planned_tables {
	uint64_t bytes;
	uint64_t least_bytes; /* the upper ones at both ends may be there for neighbours already */
};

static struct planned_tables planned_tables(const struct walk *s, const struct regions_count *c)
{
	bool hugetlb = s->run.region.spec.kind == PAGE_KIND_HUGETLB;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct planned_tables p = { 0 };

	p.bytes = p.least_bytes = hugetlb ? 0 : c->tables[0] * page;
	for (unsigned k = 1; k < REGIONS_LEVELS - 1; k++) {
		if (s->levels < k + 2 || s->at.page_bytes >= s->at.table_bytes[k])
			continue;
		p.bytes += c->tables[k] * page;
		p.least_bytes += c->tables[k] > 2 ? (c->tables[k] - 2) * page : 0;
	}
	return p;
}

/* Maps and populates for the regions that are set. */
static int make_regions(struct bench_ctx *ctx, struct walk *s, struct regions_count *ret)
{
	struct chase_run *run = &s->run;
	struct err e = { 0 };

	region_done(&run->region);
	if (place(ctx, s, ret) != 0 || map_regions(ctx, s) != 0)
		return 1;
	if (region_populate(&run->region, run->offsets, run->n_offsets, &e) < 0)
		return chase_populate_failed(ctx, run, &e);
	run->chase.stride_bytes = s->at.stride_bytes;
	return 0;
}

static int start_eviction(struct bench_ctx *ctx, struct walk *s)
{
	struct evict_sizes sizes;
	struct sysroot sr;
	struct err e = { 0 };

	if (sysroot_init(&sr, NULL, &e) < 0)
		return bench_fail(ctx, e.code, "%s", e.msg);
	evict_sizes_read(&sr, (uint32_t)bench_u64(ctx, "cpu.id"), &sizes);
	if (evict_map(&sizes, EVICT_DATA, &s->evict, &e) < 0)
		return bench_fail(ctx, e.code, "%s", e.msg);
	bench_proof_int(ctx, "wiped_bytes", (int64_t)sizes.data_bytes);
	return 0;
}

int walk_setup(struct bench_ctx *ctx, void *state)
{
	struct walk *s = state;
	struct regions_count count;
	struct err e = { 0 };

	s->order = chase_order_of(ctx);
	s->is_cold = is_word(ctx, "caches", "wiped");
	s->run.independent = is_word(ctx, "loads", "independent");
	s->has_links = !s->run.independent && !is_word(ctx, "backing", "zero");
	s->at.stride_bytes = bench_u64(ctx, "stride.bytes");
	s->at.page_bytes = bench_u64(ctx, "page.bytes");
	s->at.spread = is_word(ctx, "index", "spread");
	walk_tables((uint64_t)sysconf(_SC_PAGESIZE), s->at.table_bytes);
	if (!is_word(ctx, "pointers", "auto"))
		s->pointers = bench_u64(ctx, "pointers");
	else if (s->at.spread && !s->is_cold && regions_room(&s->at) > 1)
		s->pointers = WALK_HOT_POINTERS;
	set_regions(s, bench_max_inner(ctx));
	if (prove_levels(ctx, s) != 0 || make_regions(ctx, s, &count) != 0)
		return 1;
	chase_prove_table_nodes(ctx, &s->run);
	memcpy(s->placement, s->run.contrary, sizeof(s->placement));
	if (!s->has_links && chase_list_reserve(&s->run, s->at.n, &e) < 0)
		return bench_fail(ctx, e.code, "%s", e.msg);
	if (s->is_cold && start_eviction(ctx, s) != 0)
		return 1;
	return chase_start_load(ctx, &s->run);
}

/* Words that are not zero, so that their sum tells whether all were read. */
static void write_words(struct walk *s)
{
	struct chase_run *run = &s->run;

	run->word_sum = 0;
	if (!run->independent || run->region.spec.backing == BACKING_ZERO)
		return;
	for (uint64_t i = 0; i < run->n_offsets; i++) {
		*(uintptr_t *)(void *)(run->region.base + run->offsets[i]) = i + 1;
		run->word_sum += i + 1;
	}
}

int walk_prepare(struct bench_ctx *ctx, void *state)
{
	struct walk *s = state;
	uint64_t regions = bench_u64(ctx, "regions");
	struct planned_tables tables;
	struct regions_count count;

	memcpy(s->run.contrary, s->placement, sizeof(s->placement));
	set_regions(s, regions);
	if (regions * regions_room(&s->at) < s->at.n)
		return bench_skip(ctx, "%ju regions hold %ju pages, %ju are wanted",
				  (uintmax_t)regions, (uintmax_t)(regions * regions_room(&s->at)),
				  (uintmax_t)s->at.n);
	if (make_regions(ctx, s, &count) != 0)
		return 1;
	tables = planned_tables(s, &count);
	bench_proof_int(ctx, "page_tables_planned_bytes", (int64_t)tables.bytes);
	chase_prove_pages(ctx, &s->run, count.pages * s->at.page_bytes, tables.least_bytes);
	chase_prove_no_more_tables(&s->run, tables.bytes);
	chase_init(&s->run.chase, s->at.n, s->at.stride_bytes, 0, s->order, bench_seed(ctx));
	write_words(s);
	if (s->run.list)
		chase_list_fill(&s->run);
	else
		chase_link(&s->run);
	if (s->is_cold)
		s->run.list_n = s->run.list ? s->at.n : 0;
	chase_warm(&s->run);
	return 0;
}

/* The list is no part of what is walked: its lines are brought back, those of the pages are not. */
static void warm_list(const struct chase_run *run)
{
	for (size_t i = 0; run->list && i < run->list_n; i += CHASE_LINE_BYTES / sizeof(*run->list))
		(void)*(volatile const uintptr_t *)&run->list[i];
}

static int sample_cold(struct bench_ctx *ctx, struct walk *s)
{
	struct chase_run *run = &s->run;

	for (int i = 0; i < WALK_GROUPS; i++) {
		int64_t start;
		uint64_t done;
		double ns;

		evict_now(&s->evict);
		warm_list(run);
		start = clock_now_ns();
		done = chase_advance(run, run->list ? s->at.n
						    : s->at.n / WALK_COLD_LEAST * WALK_COLD_LEAST);
		ns = (double)(clock_now_ns() - start);
		bench_value(ctx, M_GROUP_NS, ns);
		bench_value(ctx, M_REF_NS, ns / (double)done);
		bench_value_cycles(ctx, M_REF_CYCLES, ns / (double)done);
	}
	return 0;
}

int walk_sample(struct bench_ctx *ctx, void *state)
{
	struct walk *s = state;

	return s->is_cold ? sample_cold(ctx, s) : chase_sample(ctx, state);
}

/* What the wiping was worth: lines of our own, before and after. */
static void prove_wiped(struct bench_ctx *ctx, const struct walk *s)
{
	double wiped, warm;

	evict_now(&s->evict);
	wiped = evict_probe_ns(&s->evict);
	warm = evict_probe_ns(&s->evict);
	bench_proof_real(ctx, "probe_wiped_ns", wiped);
	bench_proof_real(ctx, "probe_warm_ns", warm);
	if (wiped < 2 * warm)
		bench_unproven(ctx,
			       "caches: a probe is as fast after wiping (%.1f ns) as before "
			       "(%.1f ns)",
			       wiped, warm);
}

int walk_check(struct bench_ctx *ctx, void *state)
{
	struct walk *s = state;

	if (s->is_cold)
		prove_wiped(ctx, s);
	else
		bench_null(ctx, M_GROUP_NS, "whole groups are timed with caches=wiped only");
	return chase_check(ctx, state);
}

void walk_teardown(struct bench_ctx *ctx, void *state)
{
	struct walk *s = state;

	evict_done(&s->evict);
	chase_teardown(ctx, state);
}
