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
#include <stdio.h>
#include <string.h>

#include "access/regions.h"
#include "bench/walk.h"
#include "mem/evict.h"

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
	  .max = WALK_POINTERS_MAX },
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
	  .max = WALK_POINTERS_MAX },
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

static uint64_t pointers_of(const struct bench_setting *s, const struct regions *at)
{
	uint64_t given = (uint64_t)attrs_int(&s->given, "pointers", 0);
	bool many = setting_is(s, "index", "spread") && setting_is(s, "caches", "warm") &&
		    regions_room(at) > 1;

	return given ? given : many ? WALK_HOT_POINTERS : 0;
}

static struct regions regions_of(const struct machine *m, const struct bench_setting *s)
{
	struct regions at = { .stride_bytes = setting_u64(s, "stride.bytes"),
			      .page_bytes = setting_u64(s, "page.bytes"),
			      .regions = 1,
			      .spread = setting_is(s, "index", "spread") };

	walk_tables(m->page_bytes, at.table_bytes);
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

	walk_tables(m->page_bytes, tables);
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
	if (setting_is(s, "caches", "wiped") && at->n < WALK_COLD_LEAST)
		return err_set(e, most < WALK_COLD_LEAST ? ENODEV : EINVAL,
			       "caches=wiped: groups of %ju references are too short to be timed; "
			       "at least %d",
			       (uintmax_t)at->n, WALK_COLD_LEAST);
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
		c.seconds = (double)sizes.data_bytes * 2 / 5e9 * WALK_GROUPS * 4 * 2;
	}
	*ret_cost = c;
	return 0;
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
	.state_size = sizeof(struct walk),
	.grid = grid,
	.cost = cost,
	.setup = walk_setup,
	.prepare = walk_prepare,
	.sample = walk_sample,
	.check = walk_check,
	.teardown = walk_teardown,
};
