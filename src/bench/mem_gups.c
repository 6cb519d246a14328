/* SPDX-License-Identifier: MIT */
/*
 * mem.gups - HPC Challenge RandomAccess.
 *
 * Measures:  giga updates per second of 64-bit words at random places of a table.
 * Excludes:  mapping, populating and filling the table, and the verification. Finding the streams'
 *            starts is timed, as the rules have it.
 * Trust:     the verification of the rules: the updates once more, in the plain order, must give
 *            the table back. Page sizes and nodes are proven as for the chases.
 * Source:    HPC Challenge RandomAccess rules (P. Luszczek et al., 2005); the stream and its jumps
 *            are in access/randomaccess.h, the loops in mem/gups_loops.h, forms in bench/gups.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gups.h"
#include "host/clock.h"
#include "mem/gups_loops.h"

enum {
	MIN_TABLE_BYTES = 4096,
	DEFAULT_PAGES = 1 << 18,     /* small pages that a default table has at most */
	DEFAULT_ALL_PAGES = 1 << 20, /* ... that all default tables have */
	SHARED_WRONG_PERCENT = 1,    /* of the words, where several CPUs update one table */
};
/* A pass this long needs no second one to be well timed. */
static const int64_t ENOUGH_NS = 200000000;

enum {
	M_GUPS,
	M_UPDATE_NS,
	M_CPU_MIN,
	M_CPU_MAX,
	M_ERRORS,
	M_UPDATES,
	M_TABLE_BYTES,
};
static const struct metric metrics[] = {
	[M_GUPS] = { "gups", "10^9 updates per second", "GUP/s", BETTER_HIGHER, EST_MEDIAN,
		     FORM_SAMPLES },
	[M_UPDATE_NS] = { "update_ns", "time of one CPU per update", "ns", BETTER_LOWER, EST_MEDIAN,
			  FORM_SAMPLES },
	[M_CPU_MIN] = { "cpu_min_gups", "slowest CPU of form=star", "GUP/s", BETTER_HIGHER,
			EST_MEDIAN, FORM_SAMPLES },
	[M_CPU_MAX] = { "cpu_max_gups", "fastest CPU of form=star", "GUP/s", BETTER_HIGHER,
			EST_MEDIAN, FORM_SAMPLES },
	[M_ERRORS] = { "errors", "wrong words of the table after the verification", "ratio",
		       BETTER_NONE, EST_MEDIAN, FORM_COUNT },
	[M_UPDATES] = { "updates", "updates done of those that the rules have, 4 a word", "ratio",
			BETTER_NONE, EST_MEDIAN, FORM_COUNT },
	[M_TABLE_BYTES] = { "page_table_bytes", "page tables made for the (first) table (VmPTE)",
			    "bytes", BETTER_NONE, EST_MEDIAN, FORM_EXACT },
	{ .name = NULL },
};

static const struct param params[] = {
	{ .name = "table",
	  .summary = "bytes of the table (of each CPU's with form=star), a power of two",
	  .type = PARAM_BYTES,
	  .role = ROLE_INNER,
	  .def = "auto",
	  .min = MIN_TABLE_BYTES,
	  .max = UINT64_C(1) << 46 },
	{ .name = "page", .summary = "page size behind it", .type = PARAM_PAGE, .def = "base" },
	{ .name = "form",
	  .summary = "one CPU, every CPU a table of its own, or all CPUs one table",
	  .type = PARAM_CHOICE,
	  .def = "single",
	  .choices = gups_form_words },
	{ .name = "kernel",
	  .summary = "as the rules' program has it, tuned within the rules, or dependent updates",
	  .type = PARAM_CHOICE,
	  .def = "literal",
	  .choices = gups_kernel_words },
	{ .name = "threads",
	  .summary = "CPUs of form=star and form=shared; 0: all that may be used",
	  .type = PARAM_COUNT,
	  .def = "0",
	  .min = 0,
	  .max = 65536 },
	{ .name = "limit",
	  .summary = "seconds after which updates are only sampled; 0: never",
	  .type = PARAM_COUNT,
	  .def = "2",
	  .min = 0,
	  .max = 86400 },
	{ .name = "cpu",
	  .summary = "CPU that measures, or the first of them",
	  .type = PARAM_CPU,
	  .def = "auto" },
	{ .name = "data",
	  .summary = "memory node of the table; local: of each table's own CPU",
	  .type = PARAM_NODE,
	  .def = "local" },
	{ .name = "page-tables",
	  .summary = "memory node of the page tables; local: likewise",
	  .type = PARAM_NODE,
	  .def = "local" },
	{ .name = NULL },
};

static const char description[] =
	"HPC Challenge RandomAccess: 64-bit words at random places of a table are read,\n"
	"changed and written back, four updates for each word. The generator, its 128\n"
	"interleaved streams, their starts and the verification are those of the rules, so\n"
	"figures can be set beside published ones.\n"
	"\n"
	"The table should be the largest power of two within half of the memory. By default\n"
	"it is that, but at most 2^18 small pages (1 GiB of 4 KiB pages), because populating\n"
	"more takes longer than measuring: table=SIZE has it to the letter. limit=SECONDS\n"
	"bounds the timed part, as the rules allow, by doing fewer updates of the same\n"
	"stream; how many of how many stands in the result (updates). limit=60 is the rules'\n"
	"bound, limit=0 does all.\n"
	"\n"
	"form=single: one CPU, the others idle. form=star: every CPU has its own table, all\n"
	"start together; the mean of a CPU, the slowest and the fastest. form=shared: all\n"
	"CPUs update one table, each a part of the stream, without locks; lost updates are\n"
	"counted. After a run the same updates, in the plain order and by another loop, must\n"
	"restore the table: one wrong word makes the result invalid; with form=shared\n"
	"1 % of the words may be wrong.\n"
	"\n"
	"kernel=literal is the loop of the rules' program. kernel=tuned does the same updates\n"
	"but asks for each word 64 updates ahead (the rules allow 1024). kernel=dependent\n"
	"cannot begin an update before the last one's word has come: latency instead of\n"
	"overlap. update_ns is the time of one CPU per update.\n"
	"\n"
	"Not shown: which part is translation: compare page=base,thp, or see tlb.chase. In a\n"
	"virtual machine whose host backs memory by small pages, huge pages gain less.";

static const char *const examples[] = {
	"pagetoll run mem.gups page=base,thp",
	"pagetoll run mem.gups table=8g limit=0 --invocations 1",
	"pagetoll run mem.gups kernel=literal,tuned,dependent table=1g",
	"pagetoll run mem.gups form=single,star,shared page=thp",
	"pagetoll run mem.gups table=1m..1g:x4 data=local,remote page-tables=local,remote",
	NULL,
};

/* --- parent side --- */

static bool setting_is(const struct bench_setting *s, const char *name, const char *word)
{
	return strcmp(attrs_text(&s->given, name, ""), word) == 0;
}

static uint64_t allowed_cpus(const struct machine *m)
{
	uint64_t n = 0;

	for (size_t i = 0; i < m->n_cpus; i++)
		n += m->cpus[i].online && m->cpus[i].allowed;
	return n;
}

static uint64_t setting_threads(const struct machine *m, const struct bench_setting *s)
{
	uint64_t threads = (uint64_t)attrs_int(&s->given, "threads", 0), all = allowed_cpus(m);

	if (setting_is(s, "form", "single"))
		return 1;
	return threads ? threads : all ? all : 1;
}

static uint64_t setting_tables(const struct machine *m, const struct bench_setting *s)
{
	return setting_is(s, "form", "star") ? setting_threads(m, s) : 1;
}

/* The largest power of two that is not larger; 0 for 0. */
static uint64_t power_below(uint64_t v)
{
	return v ? UINT64_C(1) << (63 - __builtin_clzll(v)) : 0;
}

static int grid(const struct machine *m, const struct bench_setting *s,
		struct u64_array *ret_values, char *ret_note, size_t note_bytes, struct err *e)
{
	uint64_t tables = setting_tables(m, s);
	uint64_t half = power_below(m->budget_bytes / 2 / tables);
	uint64_t pages = DEFAULT_ALL_PAGES / tables;
	uint64_t most =
		power_below((pages < DEFAULT_PAGES ? pages : DEFAULT_PAGES) * m->page_bytes);
	char is[UNITS_TEXT_BYTES], would[UNITS_TEXT_BYTES], word[UNITS_TEXT_BYTES];

	if (most < MIN_TABLE_BYTES)
		most = MIN_TABLE_BYTES;
	if (half < MIN_TABLE_BYTES)
		return err_set(e, ENODEV, "half of the memory budget holds no table of %d bytes",
			       MIN_TABLE_BYTES);
	if (most < half)
		snprintf(ret_note, note_bytes,
			 "a table of %s, to save time; half of the memory budget is %s: table=%s",
			 format_size_human(is, (double)most),
			 format_size_human(would, (double)half), format_size(word, half));
	return u64_array_add(ret_values, most < half ? most : half);
}

static int check_setting(const struct machine *m, const struct bench_setting *s, uint64_t max_inner,
			 struct err *e)
{
	uint64_t threads = (uint64_t)attrs_int(&s->given, "threads", 0), all = allowed_cpus(m);
	uint64_t updates = max_inner / sizeof(uint64_t) * RANDOMACCESS_UPDATES_PER_WORD;

	if (max_inner & (max_inner - 1))
		return err_set(e, EINVAL,
			       "table=%ju: a table of the rules is a power of two, such as %ju",
			       (uintmax_t)max_inner, (uintmax_t)power_below(max_inner));
	if (threads > 1 && setting_is(s, "form", "single"))
		return err_set(e, EINVAL,
			       "threads=%ju: form=single has one; use form=star or form=shared",
			       (uintmax_t)threads);
	if (threads > all)
		return err_set(e, EINVAL, "threads=%ju: %ju CPUs may be used here",
			       (uintmax_t)threads, (uintmax_t)all);
	if (setting_is(s, "form", "shared") &&
	    updates / RANDOMACCESS_STREAMS < setting_threads(m, s))
		return err_set(e, EINVAL,
			       "table=%ju is too small to be shared by %ju CPUs: each needs %d "
			       "updates at least",
			       (uintmax_t)max_inner, (uintmax_t)setting_threads(m, s),
			       RANDOMACCESS_STREAMS);
	return 0;
}

static int cost(const struct machine *m, const struct bench_setting *s, uint64_t max_inner,
		struct bench_cost *ret_cost, struct err *e)
{
	uint64_t page = (uint64_t)attrs_int(&s->resolved, "page.bytes", 4096);
	uint64_t tables = setting_tables(m, s), limit = (uint64_t)attrs_int(&s->given, "limit", 0);
	uint64_t pages = max_inner / page + (max_inner % page != 0);
	struct bench_cost c = { 0 };
	int rc = check_setting(m, s, max_inner, e);
	double pass;

	if (rc < 0)
		return rc;
	c.arena_bytes = pages * page * tables; /* 2^46 bytes and 2^16 CPUs at most */
	c.table_bytes = tables * (max_inner / m->leaf_table_span + 3) * m->page_bytes;
	c.faults = tables * (max_inner / m->page_bytes);
	if (page > m->page_bytes)
		c.faults /= 4; /* clearing costs about as much, page size aside */
	/* all updates at some 50 ns, up to the limit; the verification as long again; a trial */
	pass = (double)max_inner / sizeof(uint64_t) * RANDOMACCESS_UPDATES_PER_WORD * 50e-9;
	if (limit && pass > (double)limit)
		pass = (double)limit;
	c.seconds = 2.2 * pass + 2.0 * (double)c.arena_bytes / (1 << 30);
	*ret_cost = c;
	return 0;
}

/* --- worker side --- */

static int setup(struct bench_ctx *ctx, void *state)
{
	return gups_setup(ctx, state, bench_max_inner(ctx));
}

static int prepare(struct bench_ctx *ctx, void *state)
{
	struct gups *g = state;
	uint64_t bytes = bench_u64(ctx, "table");

	if (bytes & (bytes - 1))
		return bench_fail(ctx, EINVAL, "a table of %ju bytes is no power of two",
				  (uintmax_t)bytes);
	gups_prepare(g, bytes / sizeof(uint64_t), (double)bench_u64(ctx, "limit"));
	return 0;
}

static int sample(struct bench_ctx *ctx, void *state)
{
	struct gups *g = state;
	struct gups_pass p;

	gups_pass(g, &p);
	bench_value(ctx, M_GUPS, p.gups);
	bench_value(ctx, M_UPDATE_NS, p.update_ns);
	if (g->form == GUPS_STAR) {
		bench_value(ctx, M_CPU_MIN, p.min_gups);
		bench_value(ctx, M_CPU_MAX, p.max_gups);
	}
	/* an odd number of passes leaves the table changed, as the verification needs it */
	if (p.wall_ns >= ENOUGH_NS && g->passes % 2)
		bench_enough(ctx);
	return 0;
}

static int judge(struct bench_ctx *ctx, const struct gups *g, uint64_t wrong, uint64_t words)
{
	uint64_t most = g->form == GUPS_SHARED ? words / 100 * SHARED_WRONG_PERCENT : 0;

	bench_proof_text(ctx, "verification", wrong <= most ? "passed" : "failed");
	if (wrong > most)
		return bench_invalid(ctx,
				     "%ju of %ju words are wrong after the verification, at most "
				     "%ju may be",
				     (uintmax_t)wrong, (uintmax_t)words, (uintmax_t)most);
	if (g->contrary[0])
		return bench_invalid(ctx, "%s", g->contrary);
	for (size_t i = 0; i < g->n_tables; i++)
		if (g->tables[i].run.contrary[0])
			return bench_invalid(ctx, "table of CPU %u: %s", g->tables[i].cpu,
					     g->tables[i].run.contrary);
	return 0;
}

static int check(struct bench_ctx *ctx, void *state)
{
	struct gups *g = state;
	const struct region *r = &g->tables[0].run.region;
	uint64_t words = g->words * g->n_tables, done = g->updates * g->n_tables * g->passes;
	uint64_t full = g->words * RANDOMACCESS_UPDATES_PER_WORD * g->n_tables * g->passes;
	uint64_t wrong;

	bench_count(ctx, M_UPDATES, (int64_t)done, (int64_t)full);
	bench_proof_int(ctx, "updates", (int64_t)g->updates);
	bench_proof_int(ctx, "passes", (int64_t)g->passes);
	bench_proof_int(ctx, "threads", (int64_t)g->n_cpus);
	bench_proof_text(ctx, "sampled", g->is_sampled ? "time limit" : "no");
	bench_exact(ctx, M_TABLE_BYTES, r->table_bytes_after - r->table_bytes_before);
	if (g->form != GUPS_STAR) {
		bench_null(ctx, M_CPU_MIN, "only form=star has one for each CPU");
		bench_null(ctx, M_CPU_MAX, "only form=star has one for each CPU");
	}
	wrong = gups_verify(g);
	bench_count(ctx, M_ERRORS, (int64_t)wrong, (int64_t)words);
	return judge(ctx, g, wrong, words);
}

static void teardown(struct bench_ctx *ctx, void *state)
{
	(void)ctx;
	gups_done(state);
}

const struct bench bench_mem_gups = {
	.schema = { .name = "mem.gups",
		    .summary = "HPC Challenge RandomAccess: random updates of a table",
		    .revision = 1,
		    .params = params,
		    .metrics = metrics },
	.description = description,
	.examples = examples,
	.smoke = "table=64k,1m limit=1",
	.state_size = sizeof(struct gups),
	.grid = grid,
	.cost = cost,
	.setup = setup,
	.prepare = prepare,
	.sample = sample,
	.check = check,
	.teardown = teardown,
};
