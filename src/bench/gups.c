/* SPDX-License-Identifier: MIT */
/* RandomAccess on one CPU, on all with a table each, or on all with one table. See gups.h. */
#include "bench/gups.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/randomaccess.h"
#include "host/affinity.h"
#include "host/clock.h"
#include "mem/gups_loops.h"

/* Updates of one CPU in the trial that finds the rate: the rules take 1 % of all. */
enum { TRIAL_PERCENT = 1, TRIAL_MIN = 1 << 16, TRIAL_MAX = 1 << 20 };

const char *const gups_form_words[] = { "single", "star", "shared", NULL };
const char *const gups_kernel_words[] = { "literal", "tuned", "dependent", NULL };

static int word_index(const char *const *words, const char *word)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], word) == 0)
			return i;
	return 0;
}

/* --- setup --- */

/* The measuring CPU and, of the others that may be used, the first. */
static int choose_cpus(struct bench_ctx *ctx, struct gups *g)
{
	uint32_t own = (uint32_t)bench_u64(ctx, "cpu.id");
	uint64_t threads = g->form == GUPS_SINGLE ? 1 : bench_u64(ctx, "threads");
	struct u32_list allowed = { 0 };
	struct err e = { 0 };

	if (parse_u32_list(bench_text(ctx, "cpu.allowed"), &allowed, &e) < 0)
		return bench_fail(ctx, e.code, "CPUs that may be used: %s", e.msg);
	if (threads == 0 || threads > allowed.n)
		threads = allowed.n ? allowed.n : 1;
	g->cpus = calloc(threads, sizeof(*g->cpus));
	g->n_tables = g->form == GUPS_STAR ? threads : 1;
	g->tables = calloc(g->n_tables, sizeof(*g->tables));
	if (!g->cpus || !g->tables) {
		g->n_tables = 0;
		u32_list_done(&allowed);
		return bench_fail(ctx, ENOMEM, "no memory for %ju CPUs", (uintmax_t)threads);
	}
	g->cpus[g->n_cpus++] = own;
	for (size_t i = 0; i < allowed.n && g->n_cpus < threads; i++)
		if (allowed.v[i] != own)
			g->cpus[g->n_cpus++] = allowed.v[i];
	u32_list_done(&allowed);
	for (size_t i = 0; i < g->n_tables; i++) {
		g->tables[i].run.region = REGION_NONE;
		g->tables[i].cpu = g->cpus[i];
	}
	return 0;
}

/* With the calling thread on the table's CPU: the node that "local" means for it. */
static int node_of(struct bench_ctx *ctx, const char *param, bool is_first)
{
	char resolved[32];
	unsigned cpu, node;

	snprintf(resolved, sizeof(resolved), "%s.node", param);
	if (!is_first && strcmp(bench_text(ctx, param), "local") == 0 && getcpu(&cpu, &node) == 0)
		return (int)node;
	return (int)bench_u64(ctx, resolved);
}

static int make_table(struct bench_ctx *ctx, struct gups *g, size_t i, uint64_t bytes)
{
	struct gups_table *t = &g->tables[i];
	uint64_t page = bench_u64(ctx, "page.bytes"), pages = (bytes + page - 1) / page;
	uint64_t n = pages < GUPS_PROVEN_PAGES ? pages : GUPS_PROVEN_PAGES;
	struct err e = { 0 };

	if (g->n_tables > 1 && affinity_pin(t->cpu, &e) < 0)
		return bench_fail(ctx, e.code, "%s", e.msg);
	if (chase_map_on(ctx, &t->run, BACKING_DISTINCT, pages * page, node_of(ctx, "data", i == 0),
			 node_of(ctx, "page-tables", i == 0)) != 0)
		return 1;
	if (region_populate_all(&t->run.region, pages * page, &e) < 0)
		return chase_populate_failed(ctx, &t->run, &e);
	for (uint64_t k = 0; k < n; k++)
		t->proven[k] = pages * k / n * page;
	t->run.sample = t->proven;
	t->run.n_sample = n;
	return 0;
}

/* The witness of page-table placement speaks for a node, not for a table: once for each node. */
static void prove_table(struct bench_ctx *ctx, struct gups *g, size_t i)
{
	struct region *r = &g->tables[i].run.region;
	uint64_t bytes = r->spec.span_bytes;
	int node = r->spec.table_node;

	for (size_t k = i + 1; k < g->n_tables; k++)
		if (g->tables[k].run.region.spec.table_node == node)
			r->spec.table_node = -1;
	chase_prove(ctx, &g->tables[i].run, bytes,
		    r->spec.kind == PAGE_KIND_HUGETLB ? 0 : chase_leaf_table_bytes(bytes));
	r->spec.table_node = node;
}

/* On how many nodes the tables were asked for; a page elsewhere is evidence against its table. */
static void prove_spread(struct bench_ctx *ctx, const struct gups *g)
{
	int64_t nodes = 0;

	for (size_t i = 0; i < g->n_tables; i++) {
		size_t k = 0;

		while (k < i && g->tables[k].run.region.spec.data_node !=
					g->tables[i].run.region.spec.data_node)
			k++;
		nodes += k == i;
	}
	bench_proof_int(ctx, "tables", (int64_t)g->n_tables);
	if (g->tables[0].run.region.spec.data_node >= 0)
		bench_proof_int(ctx, "tables_on_nodes", nodes);
}

int gups_setup(struct bench_ctx *ctx, struct gups *g, uint64_t bytes)
{
	struct err e = { 0 };
	int rc;

	g->form = (enum gups_form)word_index(gups_form_words, bench_text(ctx, "form"));
	g->kernel = (enum gups_kernel)word_index(gups_kernel_words, bench_text(ctx, "kernel"));
	rc = choose_cpus(ctx, g);
	/* The first table last, so that the evidence that stays is that of the measuring CPU. */
	for (size_t i = g->n_tables; i-- > 0 && rc == 0;)
		rc = make_table(ctx, g, i, bytes);
	if (rc == 0 && g->n_tables > 1 && affinity_pin(g->cpus[0], &e) < 0)
		rc = bench_fail(ctx, e.code, "%s", e.msg);
	if (rc != 0)
		return rc;
	for (size_t i = g->n_tables; i-- > 0;)
		prove_table(ctx, g, i);
	prove_spread(ctx, g);
	if (g->form != GUPS_SINGLE && team_start(g->cpus, g->n_cpus, &g->team, &e) < 0)
		return bench_fail(ctx, e.code, "%s", e.msg);
	return 0;
}

void gups_done(struct gups *g)
{
	team_end(g->team);
	for (size_t i = 0; i < g->n_tables; i++)
		region_done(&g->tables[i].run.region);
	free(g->tables);
	free(g->cpus);
	*g = (struct gups){ 0 };
}

/* --- work --- */

static uint64_t *words_of(const struct gups *g, size_t table)
{
	return (uint64_t *)(void *)g->tables[table].run.region.base;
}

/* @updates of the stream from step @first on. */
static void update(const struct gups *g, size_t table, uint64_t first, uint64_t updates)
{
	uint64_t ran[RANDOMACCESS_STREAMS], *words = words_of(g, table), mask = g->words - 1;

	if (g->kernel == GUPS_DEPENDENT) {
		gups_dependent(words, mask, randomaccess_start((int64_t)first), updates);
		return;
	}
	randomaccess_streams(ran, first, updates);
	if (g->kernel == GUPS_TUNED)
		gups_tuned(words, mask, ran, updates / RANDOMACCESS_STREAMS);
	else
		gups_literal(words, mask, ran, updates / RANDOMACCESS_STREAMS);
}

static void update_part(void *user, size_t i)
{
	const struct gups *g = user;
	uint64_t part = g->updates / g->n_cpus;

	if (g->form == GUPS_STAR)
		update(g, i, 0, g->updates);
	else
		update(g, 0, part * i, part);
}

static void fill_part(void *user, size_t i)
{
	const struct gups *g = user;

	if (i < g->n_tables)
		gups_fill(words_of(g, i), g->words);
}

static void verify_part(void *user, size_t i)
{
	const struct gups *g = user;

	if (i >= g->n_tables)
		return;
	gups_replay(words_of(g, i), g->words - 1, 1, g->updates);
	g->tables[i].wrong = gups_count_wrong(words_of(g, i), g->words);
}

/* On all CPUs, or here. Returns the spans of the CPUs; @own has room for one. */
static const struct team_span *run(struct gups *g, void (*work)(void *user, size_t i),
				   struct team_span *own)
{
	if (g->team) {
		const struct team_span *spans = team_run(g->team, work, g);

		for (size_t i = 0; i < g->n_cpus; i++)
			if (spans[i].strayed_to >= 0)
				snprintf(g->contrary, sizeof(g->contrary),
					 "the thread of CPU %u ran on CPU %jd", g->cpus[i],
					 (intmax_t)spans[i].strayed_to);
		return spans;
	}
	*own = (struct team_span){ .start_ns = clock_now_ns(), .strayed_to = -1 };
	work(g, 0);
	own->end_ns = clock_now_ns();
	return own;
}

static double span_ns(const struct team_span *s)
{
	return s->end_ns > s->start_ns ? (double)(s->end_ns - s->start_ns) : 1;
}

void gups_pass(struct gups *g, struct gups_pass *ret)
{
	struct team_span own;
	const struct team_span *s = run(g, update_part, &own);
	struct gups_pass p = { .min_gups = INFINITY };
	int64_t first = s[0].start_ns, last = s[0].end_ns;
	double updates = (double)g->updates;

	for (size_t i = 0; i < g->n_cpus; i++) {
		double gups = updates / span_ns(&s[i]); /* per ns: billions a second */

		p.gups += gups / (double)g->n_cpus;
		p.min_gups = fmin(p.min_gups, gups);
		p.max_gups = fmax(p.max_gups, gups);
		p.update_ns += span_ns(&s[i]) / updates / (double)g->n_cpus;
		first = s[i].start_ns < first ? s[i].start_ns : first;
		last = s[i].end_ns > last ? s[i].end_ns : last;
	}
	p.wall_ns = last - first;
	if (g->form == GUPS_SHARED) {
		double wall = p.wall_ns > 0 ? (double)p.wall_ns : 1;

		p.gups = updates / wall;
		p.update_ns = wall * (double)g->n_cpus / updates;
	}
	g->passes++;
	*ret = p;
}

/* Updates that can be shared out evenly. */
static uint64_t round_updates(const struct gups *g, double updates)
{
	uint64_t unit = RANDOMACCESS_STREAMS * (g->form == GUPS_SHARED ? g->n_cpus : 1);
	uint64_t n = (uint64_t)(updates / (double)unit);

	return (n ? n : 1) * unit;
}

void gups_prepare(struct gups *g, uint64_t words, double limit_seconds)
{
	uint64_t full = words * RANDOMACCESS_UPDATES_PER_WORD;
	uint64_t trial = full / 100 * TRIAL_PERCENT;
	struct team_span own;
	struct gups_pass p;

	g->words = words;
	g->is_sampled = false;
	g->contrary[0] = '\0';
	/* the rules' number is a power of two, which an odd number of CPUs cannot share */
	g->updates = round_updates(g, (double)full);
	full = g->updates;
	run(g, fill_part, &own);
	if (limit_seconds > 0) {
		trial = trial < TRIAL_MIN ? TRIAL_MIN : trial > TRIAL_MAX ? TRIAL_MAX : trial;
		if (g->form == GUPS_SHARED)
			trial *= g->n_cpus;
		g->updates = round_updates(g, (double)(trial < full ? trial : full));
		gups_pass(g, &p);
		g->is_sampled =
			(double)p.wall_ns * (double)full > limit_seconds * 1e9 * (double)g->updates;
		if (g->is_sampled)
			full = round_updates(g, limit_seconds * 1e9 * (double)g->updates /
							(double)p.wall_ns);
		g->updates = full;
		run(g, fill_part, &own);
	}
	g->passes = 0;
}

uint64_t gups_verify(struct gups *g)
{
	struct team_span own;
	uint64_t wrong = 0;

	if (g->passes % 2 == 0)
		run(g, update_part, &own);
	run(g, verify_part, &own);
	for (size_t i = 0; i < g->n_tables; i++)
		wrong += g->tables[i].wrong;
	return wrong;
}
