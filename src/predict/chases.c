// SPDX-License-Identifier: MIT
/*
 * tlb.chase, cache.chase, tlb.walk and mem.gups: the streams of access/, as the benchmarks lay them
 * into memory (bench/tlb_chase.c, bench/cache_chase.c, bench/tlb_walk.c, bench/mem_gups.c).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/chase.h"
#include "access/randomaccess.h"
#include "access/regions.h"
#include "access/tables.h"
#include "base/units.h"
#include "predict/parts.h"

/* --- tlb.chase --- */

struct chase_stream {
	struct chase chase;
	uint64_t base;
};

static void next_of_chase(const void *stream, uint64_t from, uint64_t *va, size_t n)
{
	const struct chase_stream *c = stream;

	for (size_t i = 0; i < n; i++)
		va[i] = c->base + chase_offset(&c->chase, chase_element(&c->chase, from + i));
}

/* Room in which the line may move: the page, or the stride where that is smaller. */
static uint64_t spread_of(const struct predict_setting *s, uint64_t stride, uint64_t page)
{
	const uint64_t room = stride < page ? stride / CHASE_LINE_BYTES * CHASE_LINE_BYTES : page;
	const bool moves_itself = stride > page && stride % page != 0;

	if (setting_is(s, "line", "fixed") || (setting_is(s, "line", "auto") && moves_itself))
		return 0;
	return room > CHASE_LINE_BYTES ? room : 0;
}

static enum chase_order order_of(const struct predict_setting *s)
{
	return setting_is(s, "order", "sequential") ? CHASE_SEQUENTIAL : CHASE_RANDOM;
}

static int refuse_chase(const struct predict_setting *s, struct err *e)
{
	if (setting_is(s, "alias", "avoid"))
		return err_set(e, EINVAL,
			       "alias=avoid chooses addresses by a probe of the machine; predicted "
			       "is alias=plain");
	if (setting_is(s, "backing", "memfd"))
		return err_set(e, EINVAL,
			       "backing=memfd is not predicted; accepted: distinct, zero, "
			       "contiguous");
	if (attrs_int(s->resolved, "load.node", -1) >= 0)
		return err_set(e, EINVAL,
			       "a load beside the chase is not predicted; use load=none");
	return 0;
}

static int64_t table_bytes(const struct predict_model *m, const struct sim_space *space,
			   const struct chase_stream *c)
{
	const uint64_t base_page = m->machine->core.page_bytes;
	const unsigned levels = space->levels ? space->levels : m->machine->core.levels;
	int64_t bytes = 0;

	for (unsigned k = 0; k + 1 < levels; k++) {
		const uint64_t span = tables_span(base_page, k);
		uint64_t last = UINT64_MAX;

		if (space->page_bytes >= span || span == UINT64_MAX)
			continue;
		for (uint64_t i = 0; i < c->chase.n; i++) {
			const uint64_t table = (c->base + chase_offset(&c->chase, i)) / span;

			bytes += table != last ? (int64_t)base_page : 0;
			last = table;
		}
	}
	return bytes;
}

int predict_tlb_chase(const struct predict_model *m, const struct predict_setting *s,
		      struct predict_result *r, struct err *e)
{
	const uint64_t stride = setting_bytes(s, "stride.bytes");
	struct chase_stream c = { 0 };
	struct sim_space space;
	struct sim_parts parts;
	struct sim *sim;
	int rc = refuse_chase(s, e);

	if (rc == 0)
		rc = space_of(m, s, &space, e);
	if (rc == 0)
		rc = region_base(m, &space, s->inner_value * stride, &c.base, e);
	if (rc == 0)
		rc = sim_new(m->machine, &space, m->seed, &sim, e);
	if (rc < 0)
		return rc;
	chase_init(&c.chase, s->inner_value, stride, spread_of(s, stride, space.page_bytes),
		   order_of(s), m->seed);
	run_rounds(m, sim, next_of_chase, &c, s->inner_value, r);
	sim_cost(m->machine, s->cpu_node, &r->counts, false, &parts);
	add_parts(r, "ref_ns", "time per reference", &parts, (double)r->counts.refs);
	if (s->inner_value <= WARM_REFS_MAX)
		add_exact(r, "page_table_bytes", "page tables made for the region",
			  table_bytes(m, &space, &c));
	sim_free(sim);
	return 0;
}

/* --- cache.chase --- */

int predict_cache_chase(const struct predict_model *m, const struct predict_setting *s,
			struct predict_result *r, struct err *e)
{
	const uint64_t spacing = (uint64_t)attrs_int(s->given, "spacing", CHASE_LINE_BYTES);
	struct chase_stream c = { 0 };
	struct sim_space space;
	struct sim_parts parts;
	struct sim *sim;
	int rc = refuse_chase(s, e);

	if (attrs_int(s->given, "pair", 0) != 0)
		return err_set(e, EINVAL,
			       "a second reference (pair=) is not predicted; use pair=0");
	if (spacing == 0 || s->inner_value < spacing)
		return err_set(e, EINVAL, "a working set of %ju bytes holds no element of %ju",
			       (uintmax_t)s->inner_value, (uintmax_t)spacing);
	if (rc == 0)
		rc = space_of(m, s, &space, e);
	if (rc == 0)
		rc = region_base(m, &space, s->inner_value, &c.base, e);
	if (rc == 0)
		rc = sim_new(m->machine, &space, m->seed, &sim, e);
	if (rc < 0)
		return rc;
	chase_init(&c.chase, s->inner_value / spacing, spacing, 0, order_of(s), m->seed);
	run_rounds(m, sim, next_of_chase, &c, c.chase.n, r);
	sim_cost(m->machine, s->cpu_node, &r->counts, false, &parts);
	add_parts(r, "ref_ns", "time per reference", &parts, (double)r->counts.refs);
	sim_free(sim);
	return 0;
}

/* --- tlb.walk --- */

struct walk_stream {
	struct regions at;
	struct chase order; /* which element comes when: stride 1 */
	uint64_t base;
};

static void next_of_walk(const void *stream, uint64_t from, uint64_t *va, size_t n)
{
	const struct walk_stream *w = stream;

	for (size_t i = 0; i < n; i++)
		va[i] = w->base + regions_offset(&w->at, chase_element(&w->order, from + i));
}

enum { HOT_POINTERS = 8192 };

static void fill_regions(const struct predict_model *m, const struct predict_setting *s,
			 struct regions *at)
{
	const uint64_t given = (uint64_t)attrs_int(s->given, "pointers", 0);
	bool many;

	at->stride_bytes = setting_bytes(s, "stride.bytes");
	at->page_bytes = setting_bytes(s, "page.bytes");
	at->regions = s->inner_value;
	at->spread = setting_is(s, "index", "spread");
	for (unsigned i = 0; i < REGIONS_LEVELS; i++) {
		const uint64_t span = tables_span(m->machine->core.page_bytes, i);

		at->table_bytes[i] = span == UINT64_MAX ? 0 : span;
	}
	many = at->spread && setting_is(s, "caches", "warm") && regions_room(at) > 1;
	at->n = given ? given : many ? HOT_POINTERS : s->inner_value;
	at->n = at->n < at->regions ? at->regions : at->n;
	/* the benchmark moves the line in the page where the index is spread */
	at->line_room = at->spread ? at->page_bytes : 0;
}

/* Groups of references, everything wiped before each. */
static void run_groups(struct sim *sim, const struct walk_stream *w, uint64_t groups)
{
	uint64_t va[256];

	for (uint64_t g = 0; g < groups; g++) {
		sim_flush(sim, SIM_FLUSH_ALL);
		for (uint64_t at = 0; at < w->at.n; at += 256) {
			const uint64_t n = w->at.n - at < 256 ? w->at.n - at : 256;

			next_of_walk(w, at, va, n);
			sim_run(sim, va, n);
		}
	}
}

int predict_tlb_walk(const struct predict_model *m, const struct predict_setting *s,
		     struct predict_result *r, struct err *e)
{
	const bool wiped = setting_is(s, "caches", "wiped");
	struct walk_stream w = { 0 };
	struct sim_space space;
	struct sim_parts parts;
	struct sim *sim;
	int rc = space_of(m, s, &space, e);

	if (rc < 0)
		return rc;
	fill_regions(m, s, &w.at);
	rc = region_base(m, &space, regions_span(&w.at), &w.base, e);
	if (rc == 0)
		rc = sim_new(m->machine, &space, m->seed, &sim, e);
	if (rc < 0)
		return rc;
	chase_init(&w.order, w.at.n, 1, 0, order_of(s), m->seed);
	if (wiped) {
		run_groups(sim, &w, 1);
		r->counts = *sim_counts(sim);
		r->has_counts = true;
	} else {
		run_rounds(m, sim, next_of_walk, &w, w.at.n, r);
	}
	sim_cost(m->machine, s->cpu_node, &r->counts, setting_is(s, "loads", "independent"),
		 &parts);
	if (wiped)
		add_parts(r, "group_ns", "time of one group of references after caches were wiped",
			  &parts, 1);
	else
		add_parts(r, "ref_ns", "time per reference", &parts, (double)r->counts.refs);
	sim_free(sim);
	return 0;
}

/* --- mem.gups --- */

struct gups_stream {
	uint64_t base, words, streams;
	uint64_t *state; /* where the streams stand: goes on with each call */
};

static void next_of_gups(const void *stream, uint64_t from, uint64_t *va, size_t n)
{
	const struct gups_stream *g = stream;

	for (size_t i = 0; i < n; i++) {
		uint64_t *at = &g->state[(from + i) % g->streams];

		*at = randomaccess_next(*at);
		va[i] = g->base + (*at & (g->words - 1)) * 8;
	}
}

int predict_mem_gups(const struct predict_model *m, const struct predict_setting *s,
		     struct predict_result *r, struct err *e)
{
	uint64_t state[RANDOMACCESS_STREAMS];
	struct gups_stream g = { .words = s->inner_value / 8,
				 .streams = RANDOMACCESS_STREAMS,
				 .state = state };
	const bool dependent = setting_is(s, "kernel", "dependent");
	struct predict_metric *p;
	struct sim_space space;
	struct sim_parts parts;
	struct sim *sim;
	int rc;

	if (!setting_is(s, "form", "single"))
		return err_set(e, EINVAL, "form=%s is not predicted; accepted: single",
			       attrs_text(s->given, "form", ""));
	rc = space_of(m, s, &space, e);
	if (rc == 0)
		rc = region_base(m, &space, s->inner_value, &g.base, e);
	if (rc == 0)
		rc = sim_new(m->machine, &space, m->seed, &sim, e);
	if (rc < 0)
		return rc;
	randomaccess_streams(state, 0,
			     RANDOMACCESS_UPDATES_PER_WORD * g.words / RANDOMACCESS_STREAMS *
				     RANDOMACCESS_STREAMS);
	run_rounds(m, sim, next_of_gups, &g, RANDOMACCESS_UPDATES_PER_WORD * g.words, r);
	sim_cost(m->machine, s->cpu_node, &r->counts, !dependent, &parts);
	p = add_parts(r, "update_ns", "time of one CPU per update", &parts, (double)r->counts.refs);
	r->metrics[r->n_metrics++] =
		(struct predict_metric){ .name = "gups",
					 .summary = "10^9 updates per second",
					 .unit = "GUP/s",
					 .value = p->value > 0 ? 1 / p->value : 0 };
	sim_free(sim);
	return 0;
}
