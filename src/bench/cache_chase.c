/* SPDX-License-Identifier: MIT */
/*
 * cache.chase - latency against working set.
 *
 * Measures:  time per dependent reference in a random cycle over all lines of a working set.
 * Excludes:  mapping, populating and linking.
 * Trust:     page sizes and nodes as for tlb.chase; the end of the chase proves its steps.
 * Source:    the classical latency curve (McVoy and Staelin, "lmbench", USENIX 1996); here the
 * order is a computed permutation, so that links are written front to back and no table is kept.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench/chase.h"

enum { PROVEN_PAGES = 256 };

struct state {
	struct chase_run run; /* first: see chase_sample() */
	uint64_t spacing;
	enum chase_order order;
	uint64_t pages[PROVEN_PAGES]; /* offsets of pages spread over the working set, for the proof
				       */
};

static const struct param params[] = {
	{ .name = "working-set",
	  .summary = "bytes that the chase goes through",
	  .type = PARAM_BYTES,
	  .role = ROLE_INNER,
	  .def = "auto",
	  .min = 64,
	  .max = UINT64_C(1) << 46 },
	{ .name = "page", .summary = "page size behind them", .type = PARAM_PAGE, .def = "auto" },
	{ .name = "spacing",
	  .summary = "distance of neighbouring elements",
	  .type = PARAM_BYTES,
	  .def = "64",
	  .min = 16,
	  .max = UINT64_C(1) << 30 },
	{ .name = "pair",
	  .summary = "a second reference so far behind each element; 0: none",
	  .type = PARAM_BYTES,
	  .def = "0",
	  .min = 0,
	  .max = UINT64_C(1) << 29 },
	CHASE_PLACEMENT_PARAMS,
	{ .name = NULL },
};

static const char description[] =
	"A chase of dependent references through every cache line of a working set, in one\n"
	"random cycle. As the working set outgrows a cache level its latency shows; beyond\n"
	"the last level, that of memory.\n"
	"\n"
	"Huge pages (page=auto takes them where they can be had) keep translation out of the\n"
	"number, if they are really huge: in a virtual machine whose host backs them by small\n"
	"pages they act like small ones, and the larger sets then include TLB misses;\n"
	"tlb.chase finds that out. With page=base they are included on purpose:\n"
	"working-set=1g page=base,thp is what a program with random reads gains from huge\n"
	"pages.\n"
	"\n"
	"pair=BYTES adds a second reference behind each element: as long as it lies in the\n"
	"same line it costs a hit, from the line size on as much as the first (a prefetcher\n"
	"of adjacent lines can double what is seen).\n"
	"\n"
	"Not shown: bandwidth, overlapped misses, other cores' effect on shared levels.";

static const char *const examples[] = {
	"pagetoll run cache.chase",
	"pagetoll run cache.chase page=base,thp working-set=1g",
	"pagetoll run cache.chase working-set=64m data=local,remote",
	"pagetoll run cache.chase working-set=128k spacing=512 pair=16,32,64,128,256",
	NULL,
};

/* --- parent side
 * ---------------------------------------------------------------------------------- */

static int grid(const struct machine *m, const struct bench_setting *s,
		struct u64_array *ret_values, char *ret_note, size_t note_bytes, struct err *e)
{
	uint64_t llc = machine_llc_bytes(m, (uint32_t)attrs_int(&s->resolved, "cpu.id", 0));
	uint64_t want = 4 * (llc ? llc : UINT64_C(32) << 20);
	uint64_t have = m->budget_bytes * 9 / 10, max = want < have ? want : have;
	uint64_t spacing = (uint64_t)attrs_int(&s->given, "spacing", CHASE_LINE_BYTES);
	int result = 0;

	if (have < want) {
		char size[UNITS_TEXT_BYTES];

		snprintf(ret_note, note_bytes, "working sets end at %s: the memory budget",
			 format_size_human(size, (double)max));
	}
	for (uint64_t half = UINT64_C(4096); half <= max && result == 0; half *= 2) {
		/* four an octave, where they are whole numbers of elements */
		for (uint64_t ws = half; ws < 2 * half && ws <= max && result == 0; ws += half / 4)
			if (ws % spacing == 0)
				result = u64_array_add(ret_values, ws);
	}
	return result < 0 ? err_set(e, -result, "no memory for the grid") : 0;
}

static int cost(const struct machine *m, const struct bench_setting *s, uint64_t max_inner,
		struct bench_cost *ret_cost, struct err *e)
{
	uint64_t spacing = (uint64_t)attrs_int(&s->given, "spacing", 0);
	uint64_t pair = (uint64_t)attrs_int(&s->given, "pair", 0);
	uint64_t page = (uint64_t)attrs_int(&s->resolved, "page.bytes", 4096);
	uint64_t pages = max_inner / page + 1;
	struct bench_cost c = { 0 };

	if (spacing % sizeof(void *) || pair % sizeof(void *))
		return err_set(e, EINVAL, "spacing=%ju and pair=%ju must be multiples of %zu bytes",
			       (uintmax_t)spacing, (uintmax_t)pair, sizeof(void *));
	if (pair && pair + sizeof(void *) > spacing)
		return err_set(e, EINVAL, "pair=%ju does not fit into spacing=%ju", (uintmax_t)pair,
			       (uintmax_t)spacing);
	if (max_inner < spacing)
		return err_set(e, EINVAL,
			       "a working set of %ju bytes holds no element of spacing=%ju",
			       (uintmax_t)max_inner, (uintmax_t)spacing);
	c.arena_bytes = pages * page;
	c.table_bytes = (max_inner / m->leaf_table_span + 3) * m->page_bytes;
	c.faults = max_inner / m->page_bytes; /* clearing costs about as much, page size aside */
	if (page > m->page_bytes)
		c.faults /= 4;
	c.seconds = 2.0 * (double)max_inner / (1 << 30);
	*ret_cost = c;
	return 0;
}

/* --- worker side
 * ---------------------------------------------------------------------------------- */

static void choose_pages(struct state *s, uint64_t bytes, uint64_t page)
{
	uint64_t pages = bytes / page, n = pages < PROVEN_PAGES ? pages : PROVEN_PAGES;

	for (uint64_t k = 0; k < n; k++)
		s->pages[k] = pages * k / n * page;
	s->run.sample = s->pages;
	s->run.n_sample = n;
}

static int setup(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;
	uint64_t page = bench_u64(ctx, "page.bytes"), bytes = bench_max_inner(ctx);
	struct err e = { 0 };

	s->spacing = bench_u64(ctx, "spacing");
	s->run.pair_bytes = bench_u64(ctx, "pair");
	s->order = chase_order_of(ctx);
	bytes = (bytes + page - 1) / page * page;
	if (chase_map(ctx, &s->run, BACKING_DISTINCT, bytes) != 0)
		return 1;
	if (region_populate_all(&s->run.region, bytes, &e) < 0)
		return chase_populate_failed(ctx, &s->run, &e);
	choose_pages(s, bytes, page);
	chase_prove(ctx, &s->run, bytes,
		    s->run.region.spec.kind == PAGE_KIND_HUGETLB ? 0
								 : chase_leaf_table_bytes(bytes));
	return chase_start_load(ctx, &s->run);
}

static int prepare(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	chase_init(&s->run.chase, bench_u64(ctx, "working-set") / s->spacing, s->spacing, 0,
		   s->order, bench_seed(ctx));
	chase_link(&s->run);
	chase_warm(&s->run);
	return 0;
}

const struct bench bench_cache_chase = {
	.schema = { .name = "cache.chase",
		    .summary = "latency against working set",
		    .revision = 1,
		    .params = params,
		    .metrics = chase_metrics },
	.description = description,
	.examples = examples,
	.smoke = "working-set=16k,64k",
	.toll = "latencies of the data caches and of memory, and the deciding line",
	.state_size = sizeof(struct state),
	.grid = grid,
	.cost = cost,
	.setup = setup,
	.prepare = prepare,
	.sample = chase_sample,
	.check = chase_check,
	.teardown = chase_teardown,
};
