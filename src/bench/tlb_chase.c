/* SPDX-License-Identifier: MIT */
/*
 * tlb.chase - pointer chase past the TLB.
 *
 * Measures:  time per dependent reference against the number of pointers, each on a page of its
 * own. Excludes:  mapping, populating and linking; they run outside the timed part. Trust:     page
 * size, frames, data and page-table nodes and page-table memory are proven by other kernel
 *            interfaces than those that set them up; the end of the chase proves its steps.
 * Source:    the form of the table is that of J. Steiner's message on linux-ia64, 2005.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/chase.h"
#include "mem/alias.h"
#include "mem/proof.h"

struct state {
	struct chase_run run; /* first: see chase_sample() */
	struct alias_hash hash;
	bool avoid_alias;
	uint64_t spread_bytes;
	enum chase_order order;
};

static const char *const line_words[] = { "auto", "spread", "fixed", NULL };
static const char *const backing_words[] = { "distinct", "zero", "contiguous", "memfd", NULL };
static const char *const alias_words[] = { "plain", "avoid", NULL };

static const struct param params[] = {
	{ .name = "pointers",
	  .summary = "number of pointers, each on its own page",
	  .type = PARAM_COUNT,
	  .role = ROLE_INNER,
	  .def = "auto",
	  .min = 1,
	  .max = UINT64_C(1) << 32 },
	{ .name = "stride",
	  .summary = "distance of neighbouring pointers",
	  .type = PARAM_STRIDE,
	  .def = "page",
	  .min = 8,
	  .max = UINT64_C(1) << 46 },
	{ .name = "line",
	  .summary = "cache line within the page: spread over all sets, or as the stride gives it",
	  .type = PARAM_CHOICE,
	  .def = "auto",
	  .choices = line_words },
	{ .name = "page",
	  .summary = "page size behind the pointers",
	  .type = PARAM_PAGE,
	  .def = "base" },
	{ .name = "backing",
	  .summary = "frames behind the pages",
	  .type = PARAM_CHOICE,
	  .def = "distinct",
	  .choices = backing_words },
	{ .name = "alias",
	  .summary = "addresses of equal way-predictor hash (AMD), found by a probe",
	  .type = PARAM_CHOICE,
	  .def = "plain",
	  .choices = alias_words },
	CHASE_PLACEMENT_PARAMS,
	{ .name = NULL },
};

static const char description[] =
	"A chase of dependent references: every load gives the address of the next, each on a\n"
	"page of its own, in a random cyclic order. As the number of pointers grows, the\n"
	"first-level data TLB, then the second, then the caches that hold page-table lines no\n"
	"longer suffice; each shows as a step.\n"
	"\n"
	"What lies behind the pages decides what else is in the number. backing=distinct:\n"
	"data lines too (caches, page colours). backing=zero: the shared zero page\n"
	"everywhere, so data always hit and only translation is left; on AMD the way\n"
	"predictor adds about 16 cycles when one line is read through many addresses, unless\n"
	"alias=avoid picks addresses of equal hash (for hit costs; up to some 512 pointers,\n"
	"beyond that their directory entries compete for the TLB). backing=contiguous: small\n"
	"pages over contiguous frames (no page colours, entries can coalesce). backing=memfd:\n"
	"few frames, many mappings, writable.\n"
	"\n"
	"The literal curve of the published message (2005): stride=32m+128. On ia64 that put\n"
	"each pointer into its own leaf page table, at one index, with all page-table lines\n"
	"in few cache sets, so a TLB miss was a memory reference, and local and remote page\n"
	"tables differed at 120 pointers. On today's caches the 900 page-table lines of that\n"
	"curve stay in the L2 cache: local and remote page tables look alike there, which\n"
	"says nothing about large programs. The modern curve: stride=leaf-table+base-page\n"
	"backing=zero, one page per leaf table, until the page-table lines exceed four times\n"
	"the last-level caches; there distance shows.\n"
	"\n"
	"Page tables are placed by the task's memory policy while populating, data by the\n"
	"mapping's. Proof: the per-node page-table counters around an untimed witness of 4096\n"
	"tables populated the same way (as root on several nodes also around the measured\n"
	"memory, from 256 tables on), VmPTE, and page locations. Where the counters cannot be\n"
	"read the result is marked unproven.\n"
	"\n"
	"Not shown: latency overlapped by independent references (most programs have some),\n"
	"instruction TLBs, and, in a virtual machine, what the hypervisor's own tables would\n"
	"cost on bare metal.";

static const char *const examples[] = {
	"pagetoll run tlb.chase",
	"pagetoll run tlb.chase stride=32m+128 pointers=1,10..200:10,300..900:100 "
	"page-tables=local,remote",
	"pagetoll run tlb.chase stride=leaf-table+base-page backing=zero page-tables=local,remote",
	"pagetoll run tlb.chase page=4k,thp stride=page pointers=1..1024:x2",
	NULL,
};

/* --- parent side
 * ---------------------------------------------------------------------------------- */

static uint64_t setting_u64(const struct bench_setting *s, const char *name)
{
	return (uint64_t)attrs_int(&s->resolved, name, 0);
}

static bool setting_is(const struct bench_setting *s, const char *name, const char *word)
{
	return strcmp(attrs_text(&s->given, name, ""), word) == 0;
}

/* Dense where TLBs end: powers of two, and three and nine times them; coarse between. */
static const uint64_t dense_grid[] = {
	1,    2,    4,    8,    12,   16,   20,   24,   28,    30,    32,    34,   36,
	40,   44,   48,   52,   56,   58,   60,   61,   62,    63,    64,    65,   66,
	68,   72,   76,   80,   88,   96,   104,  112,  120,   128,   136,   144,  160,
	192,  224,  256,  320,  384,  448,  512,  576,  640,   768,   896,   1024, 1152,
	1280, 1408, 1536, 1664, 1792, 1920, 1984, 2048, 2112,  2176,  2304,  2560, 2816,
	3072, 3328, 3584, 4096, 4608, 5120, 6144, 8192, 10240, 12288, 16384,
};

static int add_dense(struct u64_array *values, uint64_t max)
{
	int result = 0;

	for (size_t i = 0; i < sizeof(dense_grid) / sizeof(dense_grid[0]) && result == 0; i++)
		if (dense_grid[i] <= max)
			result = u64_array_add(values, dense_grid[i]);
	return result;
}

static const uint64_t MAX_SPAN = UINT64_C(1) << 46;

/*
 * Pointers whose page-table lines fill four times the last-level cache, or what memory and the
 * address space allow (with 64 KiB pages a leaf table spans 512 MiB).
 */
static int grid_far(const struct machine *m, const struct bench_setting *s,
		    struct u64_array *values, char *note, size_t note_bytes)
{
	uint64_t llc = machine_llc_bytes(m, (uint32_t)setting_u64(s, "cpu.id"));
	uint64_t want = 4 * (llc ? llc : UINT64_C(32) << 20) / CHASE_LINE_BYTES;
	uint64_t have = m->budget_bytes / (m->page_bytes + 2 * sizeof(uint64_t)) * 9 / 10;
	uint64_t reach = MAX_SPAN / setting_u64(s, "stride.bytes");
	uint64_t max = want < have ? want : have;
	int result = 0;

	if (reach < max) {
		max = reach;
		snprintf(note, note_bytes, "pointers end at %ju: 64 TiB of address space",
			 (uintmax_t)max);
	} else if (have < want)
		snprintf(note, note_bytes,
			 "pointers end at %ju: the page tables of %ju would exceed the "
			 "memory budget",
			 (uintmax_t)max, (uintmax_t)want);
	for (uint64_t n = 16; n < max && result == 0; n *= 2)
		result = u64_array_add(values, n);
	return result == 0 ? u64_array_add(values, max) : result;
}

/* Pages that the hugetlb pool still has; without limit for other kinds. */
static uint64_t pool_free(const struct machine *m, const struct bench_setting *s)
{
	const struct page_size *p = machine_page(m, attrs_text(&s->given, "page", ""));

	return p && p->kind == PAGE_KIND_HUGETLB ? p->pool_free : UINT64_MAX;
}

static int grid(const struct machine *m, const struct bench_setting *s,
		struct u64_array *ret_values, char *ret_note, size_t note_bytes, struct err *e)
{
	uint64_t stride = setting_u64(s, "stride.bytes"), page = setting_u64(s, "page.bytes");
	uint64_t max = 16384, cap;
	int result;

	if (setting_is(s, "alias", "avoid")) {
		max = 512;
	} else if (stride >= m->leaf_table_span && setting_is(s, "backing", "zero") &&
		   page == m->page_bytes) {
		result = grid_far(m, s, ret_values, ret_note, note_bytes);
		return result < 0 ? err_set(e, -result, "no memory for the grid") : 0;
	} else if (stride < page) {
		/* inside one huge page, and within the first-level data cache */
		max = page / stride * 7 / 8;
		max = max > 448 ? 448 : max;
	} else if (page > m->page_bytes) {
		max = 4096;
		cap = m->budget_bytes / page;
		if (!setting_is(s, "backing", "zero") && cap < max) {
			max = cap;
			snprintf(ret_note, note_bytes, "pointers end at %ju: the memory budget",
				 (uintmax_t)max);
		}
		cap = pool_free(m, s);
		if (cap < max) {
			max = cap;
			snprintf(ret_note, note_bytes,
				 "pointers end at %ju: the pages free in the pool", (uintmax_t)max);
		}
	}
	result = add_dense(ret_values, max);
	return result < 0 ? err_set(e, -result, "no memory for the grid") : 0;
}

static int check_alias(const struct bench_setting *s, struct err *e)
{
	if (!setting_is(s, "alias", "avoid"))
		return 0;
	if (!setting_is(s, "backing", "zero") || !setting_is(s, "stride", "page"))
		return err_set(e, EINVAL,
			       "alias=avoid chooses the addresses itself: it needs backing=zero "
			       "and stride=page");
	return 0;
}

/* Backings that a page size cannot have, or not here. */
static int check_backing(const struct bench_setting *s, const struct page_size *p, struct err *e)
{
	bool zero = setting_is(s, "backing", "zero");

	if (zero && p->kind != PAGE_KIND_BASE && p->kind != PAGE_KIND_THP)
		return err_set(
			e, EINVAL,
			"page=%s backing=zero: only base pages and thp have a shared zero page; "
			"use backing=distinct",
			p->name);
	if (zero && !p->zero_page)
		return err_set(e, ENODEV,
			       "page=%s has no shared zero page here (echo 1 > "
			       "/sys/kernel/mm/transparent_hugepage/use_zero_page)",
			       p->name);
	if ((setting_is(s, "backing", "contiguous") || setting_is(s, "backing", "memfd")) &&
	    p->kind != PAGE_KIND_BASE)
		return err_set(
			e, EINVAL,
			"page=%s: backing=contiguous and backing=memfd are for base pages: use "
			"page=base",
			p->name);
	return 0;
}

static int check_contiguous(const struct machine *m, const struct bench_setting *s, struct err *e)
{
	const struct page_size *thp = machine_page(m, "thp");

	if (!setting_is(s, "backing", "contiguous") || (thp && thp->usable))
		return 0;
	return err_set(e, ENODEV, "backing=contiguous splits transparent huge pages: %s",
		       thp ? thp->reason : "this kernel has none");
}

static int check_setting(const struct machine *m, const struct bench_setting *s, uint64_t max_inner,
			 struct err *e)
{
	uint64_t stride = setting_u64(s, "stride.bytes");
	const char *page = attrs_text(&s->given, "page", "");
	const struct page_size *p = machine_page(m, page);

	if (stride % sizeof(void *))
		return err_set(e, EINVAL, "stride of %ju bytes: pointers need a multiple of %zu",
			       (uintmax_t)stride, sizeof(void *));
	if (stride > MAX_SPAN / max_inner)
		return err_set(e, EINVAL,
			       "%ju pointers at a stride of %ju bytes exceed 64 TiB of address "
			       "space; take "
			       "fewer or nearer ones",
			       (uintmax_t)max_inner, (uintmax_t)stride);
	if (p && check_backing(s, p, e) < 0)
		return e ? -e->code : -EINVAL;
	if (check_contiguous(m, s, e) < 0)
		return -ENODEV;
	return check_alias(s, e);
}

static int cost(const struct machine *m, const struct bench_setting *s, uint64_t max_inner,
		struct bench_cost *ret_cost, struct err *e)
{
	uint64_t stride = setting_u64(s, "stride.bytes"), page = setting_u64(s, "page.bytes");
	uint64_t span = max_inner * stride, pages, tables;
	struct bench_cost c = { 0 };
	int result = check_setting(m, s, max_inner, e);

	if (result < 0)
		return result;
	pages = stride >= page ? max_inner : span / page + 1;
	tables = span / m->leaf_table_span + 1;
	/* addresses of equal hash lie about one to a leaf table */
	if (tables > pages || setting_is(s, "alias", "avoid"))
		tables = pages;
	if (page >= m->leaf_table_span)
		tables = pages * (page / m->leaf_table_span); /* deposited for a later split */
	c.table_bytes = (tables + span / m->pmd_table_span + 2) * m->page_bytes;
	c.table_bytes += max_inner * 2 * sizeof(uint64_t); /* offsets and list */
	if (!setting_is(s, "backing", "zero") && !setting_is(s, "backing", "memfd"))
		c.arena_bytes = pages * page;
	c.faults = pages;
	c.seconds = (double)(c.arena_bytes + c.table_bytes) / (1 << 30);
	*ret_cost = c;
	return 0;
}

/* --- worker side
 * ---------------------------------------------------------------------------------- */

static enum backing backing_of(const struct bench_ctx *ctx)
{
	const char *word = bench_text(ctx, "backing");

	for (int i = 0; backing_words[i]; i++)
		if (strcmp(word, backing_words[i]) == 0)
			return (enum backing)i;
	return BACKING_DISTINCT;
}

/* Room in which the line may move: the page, or the stride where that is smaller. */
static uint64_t spread_of(const struct bench_ctx *ctx)
{
	uint64_t stride = bench_u64(ctx, "stride.bytes"), page = bench_u64(ctx, "page.bytes");
	uint64_t room = stride < page ? stride / CHASE_LINE_BYTES * CHASE_LINE_BYTES : page;
	const char *line = bench_text(ctx, "line");
	bool moves_itself = stride > page && stride % page != 0;

	if (strcmp(line, "fixed") == 0 || (strcmp(line, "auto") == 0 && moves_itself))
		return 0;
	return room > CHASE_LINE_BYTES ? room : 0;
}

static int place_elements(struct bench_ctx *ctx, struct state *s)
{
	struct chase all;
	struct err e = { 0 };
	uint64_t n = bench_max_inner(ctx);

	s->run.offsets = malloc(n * sizeof(*s->run.offsets));
	if (!s->run.offsets)
		return bench_fail(ctx, ENOMEM, "no memory for %ju offsets", (uintmax_t)n);
	s->run.n_offsets = n;
	if (s->avoid_alias) {
		if (alias_probe((unsigned)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE)),
				&s->hash, &e) < 0)
			return bench_fail(ctx, e.code, "%s", e.msg);
		bench_proof_int(ctx, "alias_pairs", s->hash.n_pairs);
		bench_proof_int(ctx, "alias_single_bits", s->hash.n_single);
		bench_proof_real(ctx, "alias_plain_ns", s->hash.plain_ns);
		bench_proof_real(ctx, "alias_cost_ns", s->hash.alias_ns);
	}
	chase_init(&all, n, bench_u64(ctx, "stride.bytes"), s->spread_bytes, s->order, 0);
	for (uint64_t i = 0; i < n; i++) {
		if (s->avoid_alias)
			s->run.offsets[i] = alias_offset(&s->hash, i) +
					    (i * CHASE_LINE_BYTES) % s->spread_bytes;
		else
			s->run.offsets[i] = chase_offset(&all, i);
	}
	return 0;
}

static uint64_t highest(const struct chase_run *run)
{
	uint64_t max = 0;

	for (size_t i = 0; i < run->n_offsets; i++)
		if (run->offsets[i] > max)
			max = run->offsets[i];
	return max;
}

/* Different leaf tables, and pages, that the elements need (elements ascend except under
 * alias=avoid). */
static void count_expected(const struct bench_ctx *ctx, const struct chase_run *run,
			   uint64_t *ret_bytes, uint64_t *ret_table_bytes)
{
	uint64_t base = (uint64_t)sysconf(_SC_PAGESIZE), leaf = base * (base / sizeof(uint64_t));
	uint64_t page = bench_u64(ctx, "page.bytes"), pages = 0, tables = 0;
	uint64_t last_page = UINT64_MAX, last_table = UINT64_MAX;

	for (size_t i = 0; i < run->n_offsets; i++) {
		pages += run->offsets[i] / page != last_page;
		tables += run->offsets[i] / leaf != last_table;
		last_page = run->offsets[i] / page;
		last_table = run->offsets[i] / leaf;
	}
	*ret_bytes = pages * page;
	/* hugetlb needs no leaf tables; THP deposits one for a later split */
	*ret_table_bytes = run->region.spec.kind == PAGE_KIND_HUGETLB ? 0 : tables * base;
}

static int map_region(struct bench_ctx *ctx, struct state *s)
{
	/* whole leaf tables: huge pages to be split need them whole, too */
	uint64_t base = (uint64_t)sysconf(_SC_PAGESIZE), unit = base * (base / sizeof(uint64_t));
	struct err e = { 0 };

	if (bench_u64(ctx, "page.bytes") > unit)
		unit = bench_u64(ctx, "page.bytes");
	if (chase_map(ctx, &s->run, backing_of(ctx), (highest(&s->run) / unit + 1) * unit) != 0)
		return 1;
	if (region_populate(&s->run.region, s->run.offsets, s->run.n_offsets, &e) < 0)
		return chase_populate_failed(ctx, &s->run, &e);
	return 0;
}

static int setup(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;
	uint64_t bytes, tables;
	struct err e = { 0 };

	s->order = chase_order_of(ctx);
	s->avoid_alias = strcmp(bench_text(ctx, "alias"), "avoid") == 0;
	s->spread_bytes = spread_of(ctx);
	if (place_elements(ctx, s) != 0 || map_region(ctx, s) != 0)
		return 1;
	count_expected(ctx, &s->run, &bytes, &tables);
	s->run.chase.stride_bytes = bench_u64(ctx, "stride.bytes");
	s->run.sample = s->run.offsets;
	s->run.n_sample = s->run.n_offsets;
	bench_proof_int(ctx, "stride_bytes", (int64_t)s->run.chase.stride_bytes);
	/* alias=avoid visits tables in no order: count_expected() would count some twice */
	chase_prove(ctx, &s->run, bytes, s->avoid_alias ? 0 : tables);
	if (s->run.region.spec.backing == BACKING_ZERO ||
	    s->run.region.spec.backing == BACKING_MEMFD)
		if (chase_list_reserve(&s->run, bench_max_inner(ctx), &e) < 0)
			return bench_fail(ctx, e.code, "%s", e.msg);
	return chase_start_load(ctx, &s->run);
}

static int prepare(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	chase_init(&s->run.chase, bench_u64(ctx, "pointers"), bench_u64(ctx, "stride.bytes"),
		   s->spread_bytes, s->order, bench_seed(ctx));
	if (s->run.list)
		chase_list_fill(&s->run);
	else
		chase_link(&s->run);
	chase_warm(&s->run);
	return 0;
}

const struct bench bench_tlb_chase = {
	.schema = { .name = "tlb.chase",
		    .summary = "pointer chase past the TLB",
		    .revision = 1,
		    .params = params,
		    .metrics = chase_metrics },
	.description = description,
	.examples = examples,
	.smoke = "pointers=1,8,16",
	.toll = "entries and costs of the data TLBs and of page walks",
	.state_size = sizeof(struct state),
	.grid = grid,
	.cost = cost,
	.setup = setup,
	.prepare = prepare,
	.sample = chase_sample,
	.check = chase_check,
	.teardown = chase_teardown,
};
