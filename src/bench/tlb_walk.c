/* SPDX-License-Identifier: MIT */
/*
 * tlb.walk - what a page walk costs by the level at which it misses.
 *
 * Measures:  time per reference to pages that are spread over more and more regions, a region
 *            being what one entry of a page-table level maps. Three questions, which answer
 *            differently: a hot loop that conflicts everywhere, a hot loop that only lacks one
 *            level, and groups of references after the caches were wiped.
 * Excludes:  mapping, populating and linking; wiping. They run outside the timed part.
 * Trust:     page-table memory is proven against what was planned for the offsets; levels in use
 *            are probed; the end of the chase, or the sum of the words read, proves the loads.
 * Source:    the loop of K. Chen's message on linux-ia64, 4 Nov 2005 (512 addresses 32 MiB apart),
 *            without its two errors (a step that was not assigned, a sum that nobody used), and
 *            the cold variant of R. Holt's answer of the same month.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "access/regions.h"
#include "access/tables.h"
#include "bench/chase.h"
#include "host/clock.h"
#include "host/paging.h"
#include "mem/evict.h"

enum { M_GROUP_NS = M_PAGE_TABLE_BYTES + 1 };
enum {
	HOT_POINTERS = 8192, /* more pages than second-level TLBs have entries */
	GROUPS_A_SAMPLE = 6,
	COLD_LEAST = 16, /* links are followed so many at a time */
	POINTERS_MAX = 1 << 20,
};

struct state {
	struct chase_run run; /* first: see chase_sample() */
	struct regions at;
	struct evict evict;
	uint64_t pointers; /* 0: one in each region */
	enum chase_order order;
	bool is_cold, has_links;
	char placement[256]; /* evidence against the placement of tables, for all points */
	unsigned levels;
};

static const char *const backing_words[] = { "zero", "distinct", NULL };
static const char *const index_words[] = { "spread", "fixed", NULL };
static const char *const load_words[] = { "dependent", "independent", NULL };
static const char *const cache_words[] = { "warm", "wiped", NULL };
static const char *const level_words[] = { "auto", "2", "3", "4", "5", NULL };

static const struct metric metrics[] = {
	[M_REF_NS] = { "ref_ns", "time per reference", "ns", BETTER_LOWER, EST_MIN, FORM_SAMPLES },
	[M_REF_CYCLES] = { "ref_cycles", "core cycles per reference", "cycles", BETTER_LOWER,
			   EST_MIN, FORM_SAMPLES },
	[M_ADD_NS] = { "add_ns",
		       "time per dependent addition around the repetition: one core cycle", "ns",
		       BETTER_NONE, EST_MIN, FORM_SAMPLES },
	[M_PAGE_TABLE_BYTES] = { "page_table_bytes", "page tables made for the region (VmPTE)",
				 "bytes", BETTER_NONE, EST_MEDIAN, FORM_EXACT },
	[M_GROUP_NS] = { "group_ns", "time of one group of references after caches were wiped",
			 "ns", BETTER_LOWER, EST_MEDIAN, FORM_SAMPLES },
	{ .name = NULL },
};

static const struct param params[] = {
	{ .name = "regions",
	  .summary = "regions that the pointers are spread over: entries of that level in use",
	  .type = PARAM_COUNT,
	  .role = ROLE_INNER,
	  .def = "auto",
	  .min = 1,
	  .max = POINTERS_MAX },
	{ .name = "stride",
	  .summary = "distance of neighbouring regions, by default what a table of each level maps",
	  .type = PARAM_STRIDE,
	  .def = "leaf-table,pmd-table,pud-table",
	  .min = 4096,
	  .max = UINT64_C(1) << 56 },
	{ .name = "pointers",
	  .summary = "addresses that are read in turn; auto: 8192 (warm and spread), else one each",
	  .type = PARAM_COUNT,
	  .def = "auto",
	  .min = 1,
	  .max = POINTERS_MAX },
	{ .name = "caches",
	  .summary = "warm: the same references again and again; wiped before each group of them",
	  .type = PARAM_CHOICE,
	  .def = "warm,wiped",
	  .choices = cache_words },
	{ .name = "loads",
	  .summary = "whether a load waits for the one before",
	  .type = PARAM_CHOICE,
	  .def = "dependent",
	  .choices = load_words },
	{ .name = "index",
	  .summary =
		  "index within each table: spread over all, or the same (conflicts, as in 2005)",
	  .type = PARAM_CHOICE,
	  .def = "spread",
	  .choices = index_words },
	{ .name = "page",
	  .summary = "page size behind the pointers",
	  .type = PARAM_PAGE,
	  .def = "base" },
	{ .name = "backing",
	  .summary = "frames behind the pages: the shared zero page, or one each",
	  .type = PARAM_CHOICE,
	  .def = "zero",
	  .choices = backing_words },
	{ .name = "levels",
	  .summary = "levels of page tables that this boot must use; auto: those it uses",
	  .type = PARAM_CHOICE,
	  .def = "auto",
	  .choices = level_words },
	CHASE_PLACEMENT_PARAMS,
	{ .name = NULL },
};

static const char description[] =
	"What does a deeper page walk cost? A walk that misses the TLB reads the leaf entry;\n"
	"one that also misses the walk caches reads the entries above it, level by level. A\n"
	"region is what one entry of a level maps: stride=leaf-table (2 MiB with pages of\n"
	"4 KiB), pmd-table (1 GiB), pud-table (512 GiB), p4d-table (256 TiB, five levels). The\n"
	"same number of pages, more than TLBs hold, is spread over more and more regions:\n"
	"where the time rises, the walk cache of that level ends, and what is above the curve\n"
	"of the level below is the cost of its misses.\n"
	"\n"
	"The published answers (2005) contradict each other because they answer three\n"
	"questions. (1) A hot loop over 512 addresses 32 MiB apart, all at one index of every\n"
	"table, so that everything conflicts: four levels cost 63 % more than three\n"
	"(stride=32m index=fixed loads=independent regions=512). It is the worst case, and\n"
	"tells of sets as much as of levels. (2) RandomAccess: no difference; the upper levels\n"
	"of one table fit the walk caches whatever their number (mem.gups). (3) A cold walk,\n"
	"caches wiped by twice their size before each group of references, one page per upper\n"
	"table: no difference beyond the spread of the groups (caches=wiped). Here each level\n"
	"adds one line to fetch, and the fact says whether the difference exceeds the noise.\n"
	"\n"
	"The number of levels cannot be chosen by a program: it is probed and recorded.\n"
	"Measure under two boots (with and without no5lvl) and compare the runs. On one boot,\n"
	"strides say what a level's miss costs. Huge pages take away the level at the leaf,\n"
	"which every walk reads; five-level paging adds one at the top, which walk caches\n"
	"nearly always hold: not the same thing.\n"
	"\n"
	"Not shown: latency that out-of-order execution hides behind other work, instruction\n"
	"fetches, and in a virtual machine, the host's tables apart from the guest's.";

static const char *const examples[] = {
	"pagetoll run tlb.walk",
	"pagetoll run tlb.walk stride=32m index=fixed order=sequential "
	"loads=independent,dependent regions=512 caches=warm",
	"pagetoll run tlb.walk stride=32m,16m,2m index=fixed caches=warm "
	"regions=64,96,128..320:32,384,512",
	"pagetoll run tlb.walk stride=pmd-table,pud-table caches=wiped regions=128",
	"pagetoll run tlb.walk stride=pud-table,p4d-table    # five levels",
	NULL,
};

/* --- parent side --- */

static uint64_t setting_u64(const struct bench_setting *s, const char *name)
{
	return (uint64_t)attrs_int(&s->resolved, name, 0);
}

static bool setting_is(const struct bench_setting *s, const char *name, const char *word)
{
	return strcmp(attrs_text(&s->given, name, ""), word) == 0;
}

/* What tables map, where each fills a page with entries of 8 bytes; 0: beyond 64 bits. */
static void fill_tables(uint64_t base_page, uint64_t ret[REGIONS_LEVELS])
{
	for (unsigned i = 0; i < REGIONS_LEVELS; i++) {
		uint64_t span = tables_span(base_page, i);

		ret[i] = span == UINT64_MAX ? 0 : span;
	}
}

static uint64_t pointers_of(const struct bench_setting *s, const struct regions *at)
{
	uint64_t given = (uint64_t)attrs_int(&s->given, "pointers", 0);
	bool many = setting_is(s, "index", "spread") && setting_is(s, "caches", "warm") &&
		    regions_room(at) > 1;

	return given ? given : many ? HOT_POINTERS : 0;
}

static struct regions regions_of(const struct machine *m, const struct bench_setting *s)
{
	struct regions at = { .stride_bytes = setting_u64(s, "stride.bytes"),
			      .page_bytes = setting_u64(s, "page.bytes"),
			      .regions = 1,
			      .spread = setting_is(s, "index", "spread") };

	fill_tables(m->page_bytes, at.table_bytes);
	at.n = pointers_of(s, &at);
	return at;
}

/* Half of a process's addresses: the program and its stack lie in the rest. */
static uint64_t addresses_for_use(unsigned address_bits)
{
	return UINT64_C(1) << (address_bits ? address_bits - 1 : 46);
}

static const uint64_t spread_grid[] = {
	1,  2,  3,  4,  6,   8,   12,  16,  20,  24,  28,  32,  40,
	48, 64, 80, 96, 112, 128, 160, 192, 256, 384, 512, 768, 1024
};
static const uint64_t one_each_grid[] = { 16,  32,  48,  64,  72,  80,  96,  112,
					  120, 128, 136, 144, 160, 192, 224, 256,
					  272, 288, 320, 352, 384, 448, 512 };
static const uint64_t cold_grid[] = { 32, 128 };

static int grid(const struct machine *m, const struct bench_setting *s,
		struct u64_array *ret_values, char *ret_note, size_t note_bytes, struct err *e)
{
	struct regions at = regions_of(m, s);
	uint64_t most = addresses_for_use(m->address_bits) / at.stride_bytes;
	uint64_t least = at.n ? (at.n + regions_room(&at) - 1) / regions_room(&at) : 1;
	const uint64_t *from = at.n ? spread_grid : one_each_grid;
	size_t n = at.n ? sizeof(spread_grid) / sizeof(*spread_grid)
			: sizeof(one_each_grid) / sizeof(*one_each_grid);
	int result = 0;

	if (setting_is(s, "caches", "wiped")) {
		from = cold_grid;
		n = sizeof(cold_grid) / sizeof(*cold_grid);
	}
	for (size_t i = 0; i < n && result == 0; i++) {
		/* Fewer than eight pages a region would need more lines of leaf tables. */
		if (from[i] < least || (at.n && from[i] > at.n / 8 && from[i] > least))
			continue;
		if (from[i] > most) {
			snprintf(ret_note, note_bytes,
				 "regions end at %ju: the addresses of a process hold no more",
				 (uintmax_t)most);
			break;
		}
		result = u64_array_add(ret_values, from[i]);
	}
	if (result == 0 && ret_values->n == 0)
		result = u64_array_add(ret_values, most > least && most < from[0] ? most : least);
	return result < 0 ? err_set(e, -result, "no memory for the grid") : 0;
}

static int check_levels(const struct machine *m, const struct bench_setting *s, struct err *e)
{
	const char *wanted = attrs_text(&s->given, "levels", "auto");
	uint64_t tables[REGIONS_LEVELS];

	fill_tables(m->page_bytes, tables);
	if (tables[0] != m->leaf_table_span || tables[1] != m->pmd_table_span)
		return err_set(e, ENODEV,
			       "page tables of %s are of other sizes than this benchmark plans for",
			       m->arch);
	if (strcmp(wanted, "auto") == 0)
		return 0;
	if (!m->paging_levels)
		return err_set(e, ENODEV, "levels=%s: the levels in use are not known: %s", wanted,
			       m->paging_reason);
	if (m->paging_levels != (unsigned)(wanted[0] - '0'))
		return err_set(e, ENODEV,
			       "levels=%s: this boot uses %u; the boot line decides (no5lvl)",
			       wanted, m->paging_levels);
	return 0;
}

static int check_pages(const struct machine *m, const struct bench_setting *s,
		       const struct regions *at, struct err *e)
{
	const struct page_size *p = machine_page(m, attrs_text(&s->given, "page", ""));
	bool zero = setting_is(s, "backing", "zero");

	if (p && p->kind == PAGE_KIND_MTHP)
		return err_set(e, EINVAL,
			       "page=%s: accepted are base, thp and hugetlb, which have a level of "
			       "tables of their own",
			       p->name);
	if (p && zero && p->kind == PAGE_KIND_HUGETLB)
		return err_set(e, EINVAL,
			       "page=%s backing=zero: only base pages and thp have a shared zero "
			       "page; use backing=distinct",
			       p->name);
	if (p && zero && !p->zero_page)
		return err_set(e, ENODEV,
			       "page=%s has no shared zero page here (echo 1 > "
			       "/sys/kernel/mm/transparent_hugepage/use_zero_page)",
			       p->name);
	if (at->stride_bytes < at->page_bytes || at->stride_bytes % sizeof(void *))
		return err_set(e, EINVAL,
			       "stride of %ju bytes: accepted is a page (%ju bytes) or more, in "
			       "multiples of %zu",
			       (uintmax_t)at->stride_bytes, (uintmax_t)at->page_bytes,
			       sizeof(void *));
	if (at->spread && at->stride_bytes != at->page_bytes && regions_room(at) < 2)
		return err_set(e, EINVAL,
			       "index=spread needs a stride of whole tables (page, leaf-table, "
			       "pmd-table..., or a multiple of one); use index=fixed");
	return 0;
}

static int check_regions(const struct machine *m, const struct bench_setting *s,
			 const struct regions *at, struct err *e)
{
	uint64_t most = addresses_for_use(m->address_bits) / at->stride_bytes;
	char stride[UNITS_TEXT_BYTES], all[UNITS_TEXT_BYTES], levels[48] = "levels unknown";

	if (m->paging_levels)
		snprintf(levels, sizeof(levels), "%u levels of page tables", m->paging_levels);
	format_size(stride, at->stride_bytes);
	format_size_human(all, (double)addresses_for_use(m->address_bits));
	if (most < 2)
		return err_set(e, ENODEV,
			       "stride=%s: the %s of addresses that a process has for it here (%s) "
			       "do not hold two such regions",
			       stride, all, levels);
	if (at->regions > most)
		return err_set(e, EINVAL,
			       "regions=%ju at a stride of %s: the %s of addresses that a process "
			       "has for them here (%s) hold %ju",
			       (uintmax_t)at->regions, stride, all, levels, (uintmax_t)most);
	if (at->regions > at->n)
		return err_set(e, EINVAL, "regions=%ju with pointers=%ju: each region needs one",
			       (uintmax_t)at->regions, (uintmax_t)at->n);
	if (setting_is(s, "caches", "wiped") && at->n < COLD_LEAST)
		return err_set(e, most < COLD_LEAST ? ENODEV : EINVAL,
			       "caches=wiped: groups of %ju references are too short to be timed; "
			       "at least %d",
			       (uintmax_t)at->n, COLD_LEAST);
	return 0;
}

/* Upper bound of the tables that @at needs, all levels that VmPTE counts. */
static uint64_t plan_tables(const struct regions *at)
{
	uint64_t entries =
		at->table_bytes[0] /
		(at->page_bytes < at->table_bytes[0] ? at->page_bytes : at->table_bytes[0]);
	/* A region fills its lowest table before it takes another one. */
	uint64_t by_regions = at->regions * (at->n / at->regions / entries + 1);
	uint64_t most = by_regions < at->n ? by_regions : at->n, tables = 0;

	for (size_t k = 0; k < REGIONS_LEVELS - 1 && at->table_bytes[k]; k++) {
		uint64_t in_reach = regions_span(at) / at->table_bytes[k] + 2;

		tables += most + 1 < in_reach ? most + 1 : in_reach;
	}
	return tables;
}

static int cost(const struct machine *m, const struct bench_setting *s, uint64_t max_inner,
		struct bench_cost *ret_cost, struct err *e)
{
	struct regions at = regions_of(m, s);
	struct bench_cost c = { 0 };
	int result = check_levels(m, s, e);

	at.regions = max_inner;
	at.n = at.n ? at.n : max_inner;
	result = result < 0 ? result : check_pages(m, s, &at, e);
	result = result < 0 ? result : check_regions(m, s, &at, e);
	if (result < 0)
		return result;
	c.table_bytes = plan_tables(&at) * m->page_bytes + at.n * 3 * sizeof(uint64_t);
	if (setting_is(s, "backing", "distinct"))
		c.arena_bytes = at.n * at.page_bytes;
	/* Each point maps anew. */
	c.faults = at.n * (setting_is(s, "caches", "wiped") ? 2 : 16);
	if (setting_is(s, "caches", "wiped")) {
		struct evict_sizes sizes;

		evict_sizes_of(m, (uint32_t)setting_u64(s, "cpu.id"), &sizes);
		c.arena_bytes += evict_bytes(&sizes, EVICT_DATA);
		c.faults += sizes.data_bytes / m->page_bytes;
		/* Two passes at some GB/s, before each of the groups of two points. */
		c.seconds = (double)sizes.data_bytes * 2 / 5e9 * GROUPS_A_SAMPLE * 4 * 2;
	}
	*ret_cost = c;
	return 0;
}

/* --- worker side --- */

static bool is_word(const struct bench_ctx *ctx, const char *name, const char *word)
{
	return strcmp(bench_text(ctx, name), word) == 0;
}

static enum backing backing_of(const struct bench_ctx *ctx)
{
	return is_word(ctx, "backing", "zero") ? BACKING_ZERO : BACKING_DISTINCT;
}

/* The levels that are walked, by probing in this very process. */
static int prove_levels(struct bench_ctx *ctx, struct state *s)
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

static void set_regions(struct state *s, uint64_t regions)
{
	s->at.regions = regions;
	s->at.n = s->pointers ? s->pointers : regions;
	s->at.line_room = s->at.spread ? (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static int map_regions(struct bench_ctx *ctx, struct state *s)
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

static int place(struct bench_ctx *ctx, struct state *s, struct regions_count *ret)
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

static struct planned_tables planned_tables(const struct state *s, const struct regions_count *c)
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
static int make_regions(struct bench_ctx *ctx, struct state *s, struct regions_count *ret)
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

static int start_eviction(struct bench_ctx *ctx, struct state *s)
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

static int setup(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;
	struct regions_count count;
	struct err e = { 0 };

	s->order = chase_order_of(ctx);
	s->is_cold = is_word(ctx, "caches", "wiped");
	s->run.independent = is_word(ctx, "loads", "independent");
	s->has_links = !s->run.independent && !is_word(ctx, "backing", "zero");
	s->at.stride_bytes = bench_u64(ctx, "stride.bytes");
	s->at.page_bytes = bench_u64(ctx, "page.bytes");
	s->at.spread = is_word(ctx, "index", "spread");
	fill_tables((uint64_t)sysconf(_SC_PAGESIZE), s->at.table_bytes);
	if (!is_word(ctx, "pointers", "auto"))
		s->pointers = bench_u64(ctx, "pointers");
	else if (s->at.spread && !s->is_cold && regions_room(&s->at) > 1)
		s->pointers = HOT_POINTERS;
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
static void write_words(struct state *s)
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

static int prepare(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;
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

static int sample_cold(struct bench_ctx *ctx, struct state *s)
{
	struct chase_run *run = &s->run;

	for (int i = 0; i < GROUPS_A_SAMPLE; i++) {
		int64_t start;
		uint64_t done;
		double ns;

		evict_now(&s->evict);
		warm_list(run);
		start = clock_now_ns();
		done = chase_advance(run, run->list ? s->at.n : s->at.n / COLD_LEAST * COLD_LEAST);
		ns = (double)(clock_now_ns() - start);
		bench_value(ctx, M_GROUP_NS, ns);
		bench_value(ctx, M_REF_NS, ns / (double)done);
		bench_value_cycles(ctx, M_REF_CYCLES, ns / (double)done);
	}
	return 0;
}

static int sample(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	return s->is_cold ? sample_cold(ctx, s) : chase_sample(ctx, state);
}

/* What the wiping was worth: lines of our own, before and after. */
static void prove_wiped(struct bench_ctx *ctx, const struct state *s)
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

static int check(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	if (s->is_cold)
		prove_wiped(ctx, s);
	else
		bench_null(ctx, M_GROUP_NS, "whole groups are timed with caches=wiped only");
	return chase_check(ctx, state);
}

static void teardown(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	evict_done(&s->evict);
	chase_teardown(ctx, state);
}

const struct bench bench_tlb_walk = {
	.schema = { .name = "tlb.walk",
		    .summary = "what a page walk costs by the level at which it misses",
		    .revision = 1,
		    .params = params,
		    .metrics = metrics },
	.description = description,
	.examples = examples,
	.smoke = "stride=leaf-table caches=warm pointers=512 regions=16,64",
	.state_size = sizeof(struct state),
	.grid = grid,
	.cost = cost,
	.setup = setup,
	.prepare = prepare,
	.sample = sample,
	.check = check,
	.teardown = teardown,
};
