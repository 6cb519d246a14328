/* SPDX-License-Identifier: MIT */
/*
 * migration.cost - what leaving a warm cache costs a task.
 *
 * Measures:  the time to touch a working set on one CPU after it was touched on another, less the
 *            time to touch it again where it is.
 * Excludes:  the move itself (the system call, the wake-up of the target), and TLB entries that the
 *            target still has from before.
 * Trust:     sched_getcpu() on both sides of each touch; the increments that all touches left in
 *            memory; page sizes as for the chases.
 * Source:    the kernel measured this at boot until 2.6.22 (kernel/sched.c, I. Molnar and K. Chen,
 *            2005); search=historical is its algorithm (access/touch_search.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "access/touch_search.h"
#include "base/rng.h"
#include "bench/chase.h"
#include "bench/mover.h"
#include "mem/proof.h"
#include "mem/touch_loops.h"

enum { M_COST_NS, M_MOVED_NS, M_STAYED_NS, M_COLD_NS, M_FOUND_BYTES };
enum { PROVEN_PAGES = 256, LEAST_BYTES = 4096, GRID_FIRST_BYTES = 16 << 10, CACHES = 4 };
enum { MANY_BYTES = 1 << 18 };

/* The search never goes below this, whatever its range. */
enum { HISTORICAL_LEAST_BYTES = 64 << 10 };
static const char historical_least[] = "search=historical begins at 64k: give 64k or more";

struct state {
	struct chase_run run; /* the memory, its proof; no chase */
	struct mover mover;
	enum touch_pattern pattern;
	uint32_t from, to;
	bool historical;
	struct touch_search search;
	uint64_t pages[PROVEN_PAGES];
};

static const char *const pairs_words[] = { "classes", "all", NULL };
static const char *const backing_words[] = { "scattered", "contiguous", NULL };
static const char *const search_words[] = { "curve", "historical", NULL };

static const struct param params[] = {
	{ .name = "working-set",
	  .summary = "bytes touched; search=historical: where its range ends",
	  .type = PARAM_BYTES,
	  .role = ROLE_INNER,
	  .def = "auto",
	  .min = LEAST_BYTES,
	  .max = UINT64_C(1) << 40 },
	{ .name = "from",
	  .summary = "CPU that has it in its caches",
	  .type = PARAM_CPU,
	  .role = ROLE_FROM,
	  .def = "auto" },
	{ .name = "to",
	  .summary = "CPU that touches it next",
	  .type = PARAM_CPU,
	  .role = ROLE_TO,
	  .def = "auto" },
	{ .name = "pairs",
	  .summary = "for from=auto, to=auto: one pair for each distance, or all",
	  .type = PARAM_CHOICE,
	  .def = "classes",
	  .choices = pairs_words },
	{ .name = "pattern",
	  .summary = "which lines are touched, in which order",
	  .type = PARAM_CHOICE,
	  .def = "full",
	  .choices = touch_pattern_words },
	{ .name = "page", .summary = "page size behind them", .type = PARAM_PAGE, .def = "base" },
	{ .name = "backing",
	  .summary = "pages where they happen to lie, or over frames side by side",
	  .type = PARAM_CHOICE,
	  .def = "scattered",
	  .choices = backing_words },
	{ .name = "search",
	  .summary = "a curve over working sets, or the kernel's search of old",
	  .type = PARAM_CHOICE,
	  .def = "curve",
	  .choices = search_words },
	{ .name = NULL },
};

static const struct metric metrics[] = {
	[M_COST_NS] = { "cost_ns", "extra time of a touch after moving", "ns", BETTER_LOWER,
			EST_MEDIAN, FORM_SAMPLES },
	[M_MOVED_NS] = { "moved_ns", "touch on the target after the source", "ns", BETTER_LOWER,
			 EST_MEDIAN, FORM_SAMPLES },
	[M_STAYED_NS] = { "stayed_ns", "touch again in place, on the target", "ns", BETTER_LOWER,
			  EST_MEDIAN, FORM_SAMPLES },
	[M_COLD_NS] = { "cold_ns", "touch on the source after the flush", "ns", BETTER_LOWER,
			EST_MEDIAN, FORM_SAMPLES },
	[M_FOUND_BYTES] = { "found_bytes", "dearest working set of the historical search", "bytes",
			    BETTER_NONE, EST_MEDIAN, FORM_EXACT },
	{ .name = NULL },
};

static const char description[] =
	"A task that is moved to another CPU finds its working set in the caches of the one\n"
	"that it left. This is what that costs: the time to touch a working set on the target\n"
	"after it was touched (and dirtied) on the source, less the time to touch it again in\n"
	"place. Caches are flushed before each measure, a dry run comes first, and the move\n"
	"itself is not counted. By default one pair of CPUs for each distance (threads of a\n"
	"core, shared level-2 or level-3 cache, package, memory node), in both directions.\n"
	"\n"
	"pattern=full touches every line, in shuffled order; four-region and kernel-2.6.18 are\n"
	"the patterns of 2005, of which the latter touches two thirds of the lines.\n"
	"search=historical is the kernel's own search of 2.6.18, with what is wrong with it.\n"
	"\n"
	"The scheduler takes one constant for this (sched_migration_cost, 500 us by default):\n"
	"'show' says for which working sets and distances it is too small or too large here.\n"
	"\n"
	"backing=contiguous lays small pages over frames that lie side by side; in a virtual\n"
	"machine those are the guest's frames, which the host may back with scattered ones.\n"
	"\n"
	"Not shown: working sets that several threads share, TLB entries that are lost, the\n"
	"branch predictor's and the code's share, and the move itself.";

static const char *const examples[] = {
	"pagetoll run migration.cost",
	"pagetoll run migration.cost pairs=all working-set=1m",
	"pagetoll run migration.cost from=0 to=1 page=base,thp",
	"pagetoll run migration.cost backing=scattered,contiguous",
	"pagetoll run migration.cost search=historical pattern=kernel-2.6.18",
	NULL,
};

/* --- parent side ---------------------------------------------------------------- */

static bool is_historical(const struct attrs *given)
{
	return strcmp(attrs_text(given, "search", ""), "historical") == 0;
}

/* The larger last-level cache of the two CPUs. */
static uint64_t caches_of(const struct machine *m, const struct bench_setting *s)
{
	uint64_t a = machine_llc_bytes(m, (uint32_t)attrs_int(&s->resolved, "from.id", 0));
	uint64_t b = machine_llc_bytes(m, (uint32_t)attrs_int(&s->resolved, "to.id", 0));

	return a > b ? a : b;
}

static int grid(const struct machine *m, const struct bench_setting *s,
		struct u64_array *ret_values, char *ret_note, size_t note_bytes, struct err *e)
{
	uint64_t caches = caches_of(m, s), have = m->budget_bytes * 9 / 10;
	uint64_t want = CACHES * (caches ? caches : UINT64_C(32) << 20);
	char size[UNITS_TEXT_BYTES];
	int rc = 0;

	if (is_historical(&s->given)) {
		rc = u64_array_add(ret_values, touch_search_last(caches));
	} else {
		if (have < want)
			snprintf(ret_note, note_bytes, "working sets end at %s: the memory budget",
				 format_size_human(size, (double)have));
		for (uint64_t ws = GRID_FIRST_BYTES; ws <= want && ws <= have && rc == 0; ws *= 2)
			rc = u64_array_add(ret_values, ws);
	}
	return rc < 0 ? err_set(e, -rc, "no memory for the grid") : 0;
}

static int cost(const struct machine *m, const struct bench_setting *s, uint64_t max_inner,
		struct bench_cost *ret_cost, struct err *e)
{
	const double pass_seconds = 12e-9 / TOUCH_LINE_BYTES * (double)max_inner;
	uint64_t page = (uint64_t)attrs_int(&s->resolved, "page.bytes", 4096);
	bool contiguous = strcmp(attrs_text(&s->given, "backing", ""), "contiguous") == 0;
	struct bench_cost c = { 0 };

	if (is_historical(&s->given) && max_inner < HISTORICAL_LEAST_BYTES)
		return err_set(e, EINVAL, "working-set=%ju: %s", (uintmax_t)max_inner,
			       historical_least);
	if (contiguous && page != m->page_bytes)
		return err_set(e, EINVAL,
			       "backing=contiguous is for small pages, a huge page is contiguous "
			       "by itself: use page=base, or backing=scattered");
	if (contiguous)
		page = m->leaf_table_span;
	c.arena_bytes = (max_inner + page - 1) / page * page;
	c.table_bytes = (max_inner / m->leaf_table_span + 3) * m->page_bytes;
	c.faults = c.arena_bytes / m->page_bytes;
	if (page > m->page_bytes)
		c.faults /= 4;
	/* Six passes a repetition, ten repetitions, and all smaller sets once more. */
	c.seconds = 2 * 10 * 6 * pass_seconds;
	if (is_historical(&s->given))
		c.seconds = 14 * 8 * 4 * pass_seconds / 2;
	*ret_cost = c;
	return 0;
}

/* --- worker side ---------------------------------------------------------------- */

static enum page_kind kind_of(const struct bench_ctx *ctx)
{
	const char *kind = bench_text(ctx, "page.kind");

	return strcmp(kind, "hugetlb") == 0 ? PAGE_KIND_HUGETLB
	       : strcmp(kind, "thp") == 0   ? PAGE_KIND_THP
	       : strcmp(kind, "mthp") == 0  ? PAGE_KIND_MTHP
					    : PAGE_KIND_BASE;
}

static int map(struct bench_ctx *ctx, struct state *s, uint64_t bytes)
{
	bool contiguous = strcmp(bench_text(ctx, "backing"), "contiguous") == 0;
	struct region_spec spec = {
		.span_bytes = bytes,
		.kind = kind_of(ctx),
		.page_bytes = bench_u64(ctx, "page.bytes"),
		.backing = contiguous ? BACKING_CONTIGUOUS : BACKING_DISTINCT,
		.align_bytes = UINT64_C(1) << 21,
		/* With one memory node there is nothing to choose. */
		.data_node = proof_count_nodes() > 1 ? (int)bench_u64(ctx, "pair.node") : -1,
		.table_node = -1,
	};
	struct err e = { 0 };

	if (spec.align_bytes < spec.page_bytes)
		spec.align_bytes = spec.page_bytes;
	s->run.region = REGION_NONE;
	if (region_map(&spec, &s->run.region, &e) < 0)
		return bench_fail(ctx, e.code, "%s", e.msg);
	return 0;
}

/* Pages in shuffled order: what a program that has run for a while gets from the kernel. */
static int populate(struct bench_ctx *ctx, struct state *s, uint64_t bytes)
{
	struct region *r = &s->run.region;
	uint64_t page = r->spec.page_bytes, n = bytes / page;
	uint64_t *at = calloc(n, sizeof(*at));
	struct err e = { 0 };
	struct rng rng;
	int rc;

	if (!at)
		return bench_fail(ctx, ENOMEM, "no memory for the order of %ju pages",
				  (uintmax_t)n);
	for (uint64_t i = 0; i < n; i++)
		at[i] = i * page;
	rng_seed(&rng, bench_seed(ctx));
	if (r->spec.backing != BACKING_CONTIGUOUS)
		rng_shuffle_u64(&rng, at, n);
	rc = region_populate(r, at, n, &e);
	free(at);
	return rc < 0 ? chase_populate_failed(ctx, &s->run, &e) : 0;
}

/* Pages to be proven: spread, or side by side where that is what is to be proven. */
static void choose_pages(struct state *s, uint64_t bytes)
{
	uint64_t page = s->run.region.spec.page_bytes, pages = bytes / page;
	uint64_t n = pages < PROVEN_PAGES ? pages : PROVEN_PAGES;

	for (uint64_t k = 0; k < n; k++)
		s->pages[k] = s->run.region.spec.backing == BACKING_CONTIGUOUS
				      ? k * page
				      : pages * k / n * page;
	s->run.chase.stride_bytes = page;
	s->run.sample = s->pages;
	s->run.n_sample = n;
}

static void prove_setup(struct bench_ctx *ctx, struct state *s, uint64_t bytes)
{
	uint64_t base = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t leaf = base * (base / sizeof(uint64_t));

	choose_pages(s, bytes);
	chase_prove(ctx, &s->run, bytes,
		    s->run.region.spec.kind == PAGE_KIND_HUGETLB ? 0 : bytes / leaf * base);
	bench_proof_int(ctx, "from", s->from);
	bench_proof_int(ctx, "to", s->to);
	bench_proof_text(ctx, "class", bench_text(ctx, "pair.class"));
	bench_proof_text(ctx, "flush",
			 s->mover.evict.data ? "other memory read on both CPUs"
					     : "line by line, from all caches");
	if (s->run.region.spec.backing == BACKING_CONTIGUOUS && bench_text(ctx, "pair.guest")[0])
		bench_proof_text(ctx, "contiguous", "guest-physical");
}

static int setup(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;
	uint64_t page = bench_u64(ctx, "page.bytes"), bytes = bench_max_inner(ctx);
	const char *pattern = bench_text(ctx, "pattern");
	struct err e = { 0 };

	for (int i = 0; touch_pattern_words[i]; i++)
		if (strcmp(touch_pattern_words[i], pattern) == 0)
			s->pattern = (enum touch_pattern)i;
	s->from = (uint32_t)bench_u64(ctx, "from.id");
	s->to = (uint32_t)bench_u64(ctx, "to.id");
	s->historical = strcmp(bench_text(ctx, "search"), "historical") == 0;
	if (strcmp(bench_text(ctx, "backing"), "contiguous") == 0)
		page *= page / sizeof(uint64_t); /* whole huge pages are split */
	bytes = (bytes + page - 1) / page * page;
	if (map(ctx, s, bytes) != 0 || populate(ctx, s, bytes) != 0)
		return 1;
	if (mover_init(&s->mover, (void *)s->run.region.base, s->from, s->to, &e) < 0)
		return bench_fail(ctx, e.code, "%s", e.msg);
	prove_setup(ctx, s, bytes);
	return 0;
}

static int gone(struct bench_ctx *ctx, const struct err *e)
{
	return bench_fail(ctx, e->code, "%s", e->msg);
}

/* Both cases once, untimed: page faults of the kernel's, code, and the clocks of both CPUs. */
static int dry_run(struct bench_ctx *ctx, struct state *s)
{
	struct mover_times t;
	struct err e = { 0 };

	if (mover_measure(&s->mover, s->from, s->to, &t, &e) < 0 ||
	    mover_measure(&s->mover, s->to, s->to, &t, &e) < 0)
		return gone(ctx, &e);
	return 0;
}

static int prepare(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;
	uint64_t bytes = bench_u64(ctx, "working-set");
	struct err e = { 0 };

	mover_begin(&s->mover, s->pattern, bytes, bench_seed(ctx));
	if (!s->historical)
		return dry_run(ctx, s);
	if (bytes < HISTORICAL_LEAST_BYTES)
		return bench_skip(ctx, "%s", historical_least);
	/* Where a search ends it shall begin: the harness takes a change of CPU for a disturbance.
	 */
	if (s->mover.pin(s->to, &e) < 0)
		return gone(ctx, &e);
	/* Twice the largest cache is where the range ends, and a working set is that end. */
	touch_search_begin(&s->search, bytes / 2);
	return 0;
}

/*
 * The historical cost of one size: two directions less both CPUs in place, each after a dry run.
 * Both terms have the cold touch of the source in them.
 */
static int historical_cost(struct bench_ctx *ctx, struct state *s, int64_t *ret_ns)
{
	const uint32_t pair[4][2] = {
		{ s->from, s->to }, { s->to, s->from }, { s->from, s->from }, { s->to, s->to }
	};
	double crossed = 0, stayed = 0;

	for (int i = 0; i < 4; i++) {
		struct mover_times t;
		struct err e = { 0 };

		for (int run = 0; run < 2; run++)
			if (mover_measure(&s->mover, pair[i][0], pair[i][1], &t, &e) < 0)
				return gone(ctx, &e);
		*(i < 2 ? &crossed : &stayed) += t.first_ns + t.second_ns;
	}
	*ret_ns = (int64_t)(crossed / 2) - (int64_t)(stayed / 2);
	return 0;
}

static int search(struct bench_ctx *ctx, struct state *s)
{
	while (!s->search.ended) {
		int64_t ns = 0;

		touch_init(&s->mover.touch, s->pattern, s->search.size, bench_seed(ctx));
		if (historical_cost(ctx, s, &ns) != 0)
			return 1;
		touch_search_tell(&s->search, ns);
	}
	bench_value(ctx, M_COST_NS, (double)s->search.max_cost_ns);
	bench_exact(ctx, M_FOUND_BYTES, (int64_t)s->search.found_bytes);
	for (int m = M_MOVED_NS; m <= M_COLD_NS; m++)
		bench_null(ctx, m, "the historical search has a cost only");
	bench_proof_int(ctx, "search_steps", s->search.steps);
	bench_proof_text(ctx, "search_end",
			 s->search.early ? "costs had fallen" : "end of the range");
	return 0;
}

static int sample(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;
	struct mover_times moved, stayed;
	struct err e = { 0 };

	/* One search is one invocation's: repeating it is for the next process. */
	if (s->historical)
		return s->search.ended ? 0 : search(ctx, s);
	/* Of large sets the harness asks for few repetitions, and a difference needs more. */
	for (int i = 0; i < (bench_u64(ctx, "working-set") < MANY_BYTES ? 1 : 3); i++) {
		if (mover_measure(&s->mover, s->from, s->to, &moved, &e) < 0 ||
		    mover_measure(&s->mover, s->to, s->to, &stayed, &e) < 0)
			return gone(ctx, &e);
		bench_value(ctx, M_COST_NS, moved.second_ns - stayed.second_ns);
		bench_value(ctx, M_MOVED_NS, moved.second_ns);
		bench_value(ctx, M_STAYED_NS, stayed.second_ns);
		bench_value(ctx, M_COLD_NS, moved.first_ns);
	}
	bench_null(ctx, M_FOUND_BYTES, "search=historical only");
	return 0;
}

static int check(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;
	uint64_t words = bench_u64(ctx, "working-set") / TOUCH_WORD_BYTES, lines;
	struct touch_trace trace = touch_read(s->mover.base, words);

	if (s->run.contrary[0])
		return bench_invalid(ctx, "%s", s->run.contrary);
	bench_proof_int(ctx, "passes", (int64_t)s->mover.passes);
	bench_proof_int(ctx, "measures_repeated", (int64_t)s->mover.repeats);
	bench_proof_int(ctx, "lines", (int64_t)(words * TOUCH_WORD_BYTES / TOUCH_LINE_BYTES));
	bench_proof_int(ctx, "lines_touched", (int64_t)trace.lines);
	if (s->mover.strayed_to >= 0)
		return bench_invalid(ctx, "a touch for CPU %u ran on CPU %jd",
				     s->mover.strayed_from, (intmax_t)s->mover.strayed_to);
	if (trace.sum != s->mover.increments)
		return bench_invalid(ctx, "memory has %ju increments, %ju were made",
				     (uintmax_t)trace.sum, (uintmax_t)s->mover.increments);
	if (s->historical)
		return 0;
	if (touch_lines(&s->mover.touch, TOUCH_LINE_BYTES, &lines) < 0)
		return bench_fail(ctx, ENOMEM, "no memory to count lines");
	if (trace.lines != lines)
		return bench_invalid(ctx, "%ju lines were touched, the pattern has %ju",
				     (uintmax_t)trace.lines, (uintmax_t)lines);
	return 0;
}

static void teardown(struct bench_ctx *ctx, void *state)
{
	struct state *s = state;

	(void)ctx;
	mover_done(&s->mover);
	region_done(&s->run.region);
}

const struct bench bench_migration_cost = {
	.schema = { .name = "migration.cost",
		    .summary = "extra time to touch a working set on another CPU than before",
		    .revision = 1,
		    .params = params,
		    .metrics = metrics },
	.description = description,
	.examples = examples,
	.smoke = "working-set=16k,64k",
	.state_size = sizeof(struct state),
	.is_symmetric = is_historical,
	.grid = grid,
	.cost = cost,
	.setup = setup,
	.prepare = prepare,
	.sample = sample,
	.check = check,
	.teardown = teardown,
};
