// SPDX-License-Identifier: MIT
/*
 * Traces through the model: the same as the benchmark whose stream they hold, first touch by
 * threads, pages counted naively, walks counted exactly, what is refused.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "access/chase.h"
#include "base/rng.h"
#include "predict/predict.h"
#include "predict/trace.h"

static struct sim_machine *machine_of(const char *name)
{
	for (const struct sim_embedded *x = sim_embedded_machines; x->name; x++) {
		struct sim_machine *m = NULL;

		if (strcmp(x->name, name) == 0 && sim_machine_read(x->data, x->n, &m, NULL) == 0)
			return m;
	}
	fail_msg("no machine %s", name);
	return NULL;
}

struct fixture {
	struct sim_machine *machine;
	struct replay *replay;
	struct replay_setting setting;
	struct replay_stats stats;
	struct replay_result result;
};

static struct fixture *begin(const char *machine, const struct replay_options *o)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->machine = machine_of(machine);
	f->setting = (struct replay_setting){ .machine = f->machine, .seed = 1 };
	assert_int_equal(replay_new(f->machine, o, &f->replay, NULL), 0);
	return f;
}

static void end(struct fixture *f)
{
	replay_free(f->replay);
	sim_machine_free(f->machine);
	free(f);
}

static void add(struct fixture *f)
{
	struct err e = { 0 };

	if (replay_add(f->replay, &f->setting, &e) < 0)
		fail_msg("%s", e.msg);
}

static int load(struct fixture *f, uint64_t thread, uint64_t address)
{
	const struct trace_ref r = { .address = address, .bytes = 8, .kind = TRACE_LOAD };

	return replay_feed(f->replay, thread, &r, 1, NULL);
}

static void look(struct fixture *f, size_t i)
{
	replay_stats(f->replay, &f->stats);
	replay_result(f->replay, i, &f->result);
}

/* --- the stream of a benchmark --- */

/* What `predict tlb.chase` says for the setting. */
static double chase_ns(const struct sim_machine *m, uint64_t pointers, uint64_t page,
		       uint32_t levels, const char *policy, struct predict_result *r)
{
	struct arena arena = { 0 };
	struct attrs given = { 0 }, resolved = { 0 };
	const struct predict_model model = { .machine = m,
					     .page_bytes = 4096,
					     .levels = levels,
					     .text_lines = -1,
					     .data_lines = -1,
					     .hot_ns = -1,
					     .seed = 1 };
	const struct predict_setting s = { .bench = "tlb.chase",
					   .given = &given,
					   .resolved = &resolved,
					   .inner = "pointers",
					   .inner_value = pointers,
					   .table_policy = policy };
	struct err e = { 0 };

	assert_int_equal(attrs_set_text(&arena, &given, "order", "random"), 0);
	assert_int_equal(attrs_set_text(&arena, &given, "line", "auto"), 0);
	assert_int_equal(attrs_set_int(&arena, &resolved, "page.bytes", (int64_t)page), 0);
	assert_int_equal(attrs_set_int(&arena, &resolved, "stride.bytes", 2 * 4096), 0);
	assert_int_equal(attrs_set_int(&arena, &resolved, "load.node", -1), 0);
	if (predict_point(&model, &s, r, &e) < 0)
		fail_msg("%s", e.msg);
	arena_done(&arena);
	return r->metrics[0].value;
}

/* A trace of the same addresses is predicted to take the same time, part by part. */
static void test_same_as_chase(void **state)
{
	static const struct {
		const char *machine;
		uint64_t pointers, page;
		uint32_t levels;
		const char *policy;
		enum replay_place tables;
	} rows[] = {
		{ "zen3-epyc", 40, 4096, 4, NULL, REPLAY_FIRST_TOUCH },
		{ "zen3-epyc", 5000, 4096, 4, NULL, REPLAY_FIRST_TOUCH },
		{ "zen3-epyc", 5000, 4096, 5, "interleaved", REPLAY_INTERLEAVED },
		{ "plan-16-nodes", 30000, 4096, 4, "interleaved", REPLAY_INTERLEAVED },
		{ "sapphire-rapids", 3000, 2 << 20, 4, "replicated", REPLAY_REPLICATED },
		{ "neoverse-v2", 3000, 4096, 4, NULL, REPLAY_FIRST_TOUCH },
	};
	struct predict_result *r = malloc(sizeof(*r));

	(void)state;
	assert_non_null(r);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct replay_options o = { 0 };
		struct sim_machine *m = machine_of(rows[i].machine);
		const double ns = chase_ns(m, rows[i].pointers, rows[i].page, rows[i].levels,
					   rows[i].policy, r);
		struct fixture *f;
		struct chase c;

		o.warm = r->warm_refs;
		f = begin(rows[i].machine, &o);
		f->setting.page_bytes = rows[i].page;
		f->setting.levels = rows[i].levels;
		f->setting.tables = rows[i].tables;
		add(f);
		chase_init(&c, rows[i].pointers, 2 * 4096, rows[i].page > 4096 ? 8192 : 4096,
			   CHASE_RANDOM, 1);
		for (uint64_t k = 0; k < o.warm + r->counts.refs; k++)
			assert_int_equal(
				load(f, 5,
				     (UINT64_C(1) << 40) + chase_offset(&c, chase_element(&c, k))),
				0);
		look(f, 0);
		assert_int_equal(f->stats.refs, r->counts.refs);
		assert_int_equal(f->stats.warm, r->warm_refs);
		r->counts.rounds = 0; /* a trace has no rounds */
		assert_memory_equal(&f->result.counts, &r->counts, sizeof(r->counts));
		if (m->core.round_cycles == 0)
			assert_true(fabs(f->result.ref_ns - ns) < 1e-9 * ns);
		end(f);
		sim_machine_free(m);
	}
	free(r);
}

/* --- memory of the program --- */

static int compare_numbers(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t count_unique(const uint64_t *va, size_t n, unsigned shift, uint64_t *room)
{
	uint64_t count = 0;

	for (size_t i = 0; i < n; i++)
		room[i] = va[i] >> shift;
	qsort(room, n, sizeof(*room), compare_numbers);
	for (size_t i = 0; i < n; i++)
		count += i == 0 || room[i] != room[i - 1];
	return count;
}

static void test_pages(void **state)
{
	enum { N = 20000 };
	const struct replay_options o = { 0 };
	struct fixture *f = begin("plan-16-nodes", &o);
	uint64_t *va = malloc(N * sizeof(*va)), *room = malloc(N * sizeof(*room)), sum = 0;
	struct rng rng;

	(void)state;
	assert_non_null(va);
	assert_non_null(room);
	rng_seed(&rng, 3);
	add(f);
	for (size_t i = 0; i < N; i++) {
		/* dense, sparse and high places, aligned so that no access crosses a page */
		va[i] = rng_below(&rng, 3) == 0   ? 0x400000 + rng_below(&rng, 1 << 22)
			: rng_below(&rng, 2) == 0 ? rng_below(&rng, UINT64_C(1) << 40)
						  : 0x7ffd00000000 + rng_below(&rng, 1 << 26);
		va[i] &= ~UINT64_C(7);
		assert_int_equal(load(f, i % 5, va[i]), 0);
	}
	look(f, 0);
	assert_int_equal(f->stats.threads, 5);
	assert_int_equal(f->stats.pages[0], count_unique(va, N, 12, room));
	assert_int_equal(f->stats.pages[1], count_unique(va, N, 21, room));
	assert_int_equal(f->stats.pages[2], count_unique(va, N, 30, room));
	for (size_t i = 0; i < SIM_NODES_MAX; i++) {
		assert_true(i < 5 ? f->stats.pages_on[i] > 0 : f->stats.pages_on[i] == 0);
		sum += f->stats.pages_on[i];
	}
	assert_int_equal(sum, f->stats.pages[0]);
	assert_true(f->stats.bytes > N * 8);
	free(va);
	free(room);
	end(f);
}

/* Reads of memory, of data and of tables, by node. */
static uint64_t from_node(const struct fixture *f, unsigned first, unsigned last, uint32_t node)
{
	uint64_t sum = 0;

	for (unsigned what = first; what <= last; what++)
		sum += f->result.counts.found[what][SIM_IN_MEMORY + node];
	return sum;
}

/*
 * Thread 1 touches regions first, on node 0; thread 2, on node 1, reads them later: it finds data
 * and tables on node 0, unless they are elsewhere by setting.
 */
static void test_first_touch(void **state)
{
	enum { REGIONS = 600 };
	const struct {
		enum replay_place data, tables;
		bool compact;
		bool data_on_0, data_on_1, tables_on_0, tables_on_1;
	} rows[] = {
		{ REPLAY_FIRST_TOUCH, REPLAY_FIRST_TOUCH, false, true, false, true, false },
		{ REPLAY_FIRST_TOUCH, REPLAY_REPLICATED, false, true, false, true, true },
		{ REPLAY_FIRST_TOUCH, REPLAY_NODE, false, true, false, false, true },
		{ REPLAY_FIRST_TOUCH, REPLAY_INTERLEAVED, false, true, false, true, true },
		{ REPLAY_NODE, REPLAY_FIRST_TOUCH, false, false, true, true, false },
		{ REPLAY_FIRST_TOUCH, REPLAY_REPLICATED, true, true, false, true, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct replay_options o = { .compact = rows[i].compact };
		struct fixture *f = begin("zen3-epyc", &o);

		f->setting.data = rows[i].data;
		f->setting.tables = rows[i].tables;
		f->setting.data_node = f->setting.tables_node = 1;
		add(f);
		for (uint64_t thread = 1; thread <= 2; thread++)
			for (uint64_t k = 0; k < REGIONS; k++)
				assert_int_equal(load(f, thread, (k << 21) + 4096 * k + 64), 0);
		look(f, 0);
		assert_int_equal(f->stats.cpus, 2);
		assert_int_equal(f->stats.pages_on[0], REGIONS);
		assert_int_equal(f->stats.pages_on[1], 0);
		assert_int_equal(from_node(f, SIM_DATA, SIM_DATA, 0) > 0, rows[i].data_on_0);
		assert_int_equal(from_node(f, SIM_DATA, SIM_DATA, 1) > 0, rows[i].data_on_1);
		assert_int_equal(from_node(f, SIM_WALK, SIM_HOST - 1, 0) > 0, rows[i].tables_on_0);
		assert_int_equal(from_node(f, SIM_WALK, SIM_HOST - 1, 1) > 0, rows[i].tables_on_1);
		end(f);
	}
}

/* A 2 MiB page, and a leaf table, belong to the first of its threads; base pages to each. */
static void test_sizes(void **state)
{
	const struct replay_options o = { 0 };
	struct fixture *f = begin("zen3-epyc", &o);

	(void)state;
	add(f);
	f->setting.page_bytes = 2 << 20;
	add(f);
	for (uint64_t k = 0; k < 300; k++) { /* regions whose first page is thread 1's */
		assert_int_equal(load(f, 1, (k << 21) + 64 * (k % 64)), 0);
		assert_int_equal(load(f, 2, (k << 21) + 8192 + 64 * (k % 64)), 0);
	}
	look(f, 0);
	assert_int_equal(f->stats.pages_on[0], 300);
	assert_int_equal(f->stats.pages_on[1], 300);
	assert_int_equal(from_node(f, SIM_DATA, SIM_DATA, 0), 300);
	assert_int_equal(from_node(f, SIM_DATA, SIM_DATA, 1), 300);
	assert_int_equal(from_node(f, SIM_WALK, SIM_WALK, 1), 0);
	look(f, 1);
	assert_int_equal(from_node(f, SIM_DATA, SIM_DATA, 0), 600);
	assert_int_equal(from_node(f, SIM_DATA, SIM_DATA, 1), 0);
	assert_int_equal(f->result.counts.found[SIM_WALK][0], 0); /* no leaf tables any more */
	end(f);
}

/* --- references --- */

static void test_counts(void **state)
{
	const struct replay_options o = { .warm = 3, .limit = 4 };
	struct fixture *f = begin("zen3-epyc", &o);
	const struct trace_ref refs[] = {
		{ 0x1000, 8, TRACE_LOAD },
		{ 0x401000, 3, TRACE_FETCH },
		{ 0x1ffc, 8, TRACE_STORE },
		{ 0x1000, 8, TRACE_LOAD }, /* four, with the crossing */
		{ 0x401003, 3, TRACE_FETCH },
		{ 0x3000, 0, TRACE_MODIFY },
		{ 0x4fff, 1, TRACE_STORE },
		{ 0xffff800000000000, 8, TRACE_LOAD },
		{ 0x5000, 8, TRACE_LOAD },
		{ 0x6000, 8, TRACE_LOAD },
	};

	(void)state;
	add(f);
	assert_int_equal(replay_feed(f->replay, 1, refs, 10, NULL), 1);
	assert_int_equal(replay_feed(f->replay, 1, refs, 10, NULL), 1);
	look(f, 0);
	assert_int_equal(f->stats.warm, 3);
	assert_int_equal(f->stats.refs, 4);
	assert_int_equal(f->result.counts.refs, 4);
	assert_int_equal(f->stats.kinds[TRACE_LOAD], 2);
	assert_int_equal(f->stats.kinds[TRACE_MODIFY], 1);
	assert_int_equal(f->stats.kinds[TRACE_STORE], 1);
	assert_int_equal(f->stats.kinds[TRACE_FETCH], 1);
	assert_int_equal(f->stats.crossings, 0); /* it was warm */
	assert_int_equal(f->stats.folded, 1);
	end(f);
}

/* The last byte decides; where no size is said, there is one page. */
static void test_crossings(void **state)
{
	const struct replay_options o = { 0 };
	struct fixture *f = begin("zen3-epyc", &o);
	const struct trace_ref refs[] = {
		{ 0x1ff8, 8, TRACE_LOAD },
		{ 0x1ff9, 8, TRACE_STORE },
		{ 0x3fff, 0, TRACE_LOAD },
		{ 0x5f01, 256, TRACE_MODIFY },
	};

	(void)state;
	add(f);
	assert_int_equal(replay_feed(f->replay, 1, refs, 4, NULL), 0);
	look(f, 0);
	assert_int_equal(f->stats.refs, 6);
	assert_int_equal(f->stats.crossings, 2);
	assert_int_equal(f->stats.pages[0], 5);
	end(f);
}

static void test_instructions(void **state)
{
	const struct trace_ref refs[] = { { 0x401000, 3, TRACE_FETCH }, { 0x1000, 8, TRACE_LOAD } };

	(void)state;
	for (unsigned with = 0; with < 2; with++) {
		const struct replay_options o = { .instructions = with };
		struct fixture *f = begin("zen3-epyc", &o);

		add(f);
		assert_int_equal(replay_feed(f->replay, 1, refs, 2, NULL), 0);
		look(f, 0);
		assert_int_equal(f->stats.refs, 1 + with);
		assert_int_equal(f->stats.pages[0], 1 + with);
		assert_int_equal(f->stats.kinds[TRACE_FETCH], 1);
		end(f);
	}
}

/* Cold walks read as many entries as there are levels, with huge pages one less; parts add up. */
static void test_walks(void **state)
{
	static const struct {
		uint64_t page;
		uint32_t levels, reads;
	} rows[] = {
		{ 4096, 4, 4 },    { 4096, 5, 5 },    { 4096, 3, 3 },
		{ 2 << 20, 4, 3 }, { 2 << 20, 5, 4 }, { 1 << 30, 5, 3 },
	};
	const struct replay_options o = { 0 };
	struct fixture *f = begin("zen3-epyc", &o);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		f->setting.page_bytes = rows[i].page;
		f->setting.levels = rows[i].levels;
		add(f);
	}
	load(f, 1, 0x7f0012345678);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double sum = 0;

		look(f, i);
		assert_int_equal(f->result.counts.steps, rows[i].reads);
		for (size_t k = 0; k < f->result.parts.n; k++)
			sum += f->result.parts.v[k].ns;
		assert_true(f->result.ref_ns > 0 && fabs(sum - f->result.ref_ns) < 1e-9);
	}
	end(f);
}

/* More threads than CPUs share them, in turn. */
static void test_many_threads(void **state)
{
	const struct replay_options o = { 0 };
	struct fixture *f = begin("plan-16-nodes", &o);

	(void)state;
	add(f);
	for (uint64_t thread = 0; thread < 100; thread++)
		load(f, 1000 + thread, 0x100000000 * thread);
	look(f, 0);
	assert_int_equal(f->stats.threads, 100);
	assert_int_equal(f->stats.cpus, REPLAY_CPUS_MAX);
	assert_int_equal(f->stats.pages_on[3], 100 / 16 + 1);
	assert_int_equal(f->result.counts.refs, 100);
	end(f);
}

/* --- refusals, and the run --- */

static void test_refused(void **state)
{
	const struct {
		struct replay_setting s;
		const char *says;
	} rows[] = {
		{ { .page_bytes = 8192 }, "tables of" },
		{ { .page_bytes = 1024 }, "tables of" },
		{ { .page_bytes = 3 << 20 }, "powers of two" },
		{ { .levels = 6 }, "accepted: 2 to 5" },
		{ { .levels = 2, .page_bytes = 2 << 20 }, "tables of 2 levels" },
		{ { .host_levels = 1 }, "levels of page tables" },
		{ { .data = REPLAY_NODE, .data_node = 2 }, "data=2" },
		{ { .tables = REPLAY_NODE, .tables_node = 9 }, "page-tables=9" },
		{ { .data = REPLAY_REPLICATED }, "data=replicated" },
		{ { .table_align_bytes = 3000 }, "alignment" },
	};
	const struct replay_options o = { 0 };
	struct fixture *f = begin("zen3-epyc", &o);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct replay_setting s = rows[i].s;
		struct err e = { 0 };

		s.machine = f->machine;
		assert_int_equal(replay_add(f->replay, &s, &e), -EINVAL);
		if (!strstr(e.msg, rows[i].says))
			fail_msg("%zu: %s", i, e.msg);
	}
	for (size_t i = 0; i < REPLAY_SETTINGS_MAX; i++)
		add(f);
	assert_int_equal(replay_add(f->replay, &f->setting, NULL), -EINVAL);
	end(f);
	f = begin("zen3-epyc", &o);
	add(f);
	load(f, 1, 0);
	assert_int_equal(replay_add(f->replay, &f->setting, NULL), -EINVAL);
	end(f);
}

static void test_holds(void **state)
{
	struct sim_machine *zen = machine_of("zen3-epyc"),
			   *altix = machine_of("altix-itanium2-900");

	(void)state;
	assert_true(replay_tlbs_hold(zen, 4096));
	assert_true(replay_tlbs_hold(zen, 2 << 20));
	assert_false(replay_tlbs_hold(zen, 64 << 10));
	assert_false(replay_tlbs_hold(altix, 32 << 20));
	sim_machine_free(zen);
	sim_machine_free(altix);
}

static void test_record(void **state)
{
	const struct replay_options o = { 0 };
	struct fixture *f = begin("zen3-epyc", &o);
	struct run *run = run_new();
	const struct measure *m;
	const struct series *s;
	struct attrs none = { 0 };
	double sum = 0;

	(void)state;
	assert_non_null(run);
	add(f);
	for (uint64_t k = 0; k < 100; k++)
		load(f, 1, k << 21);
	assert_int_equal(replay_add_measure(run, f->replay, 0, &none, NULL, "cut off"), 0);
	assert_int_equal(replay_add_measure(run, f->replay, 0, &none, "B", NULL), 0);
	assert_int_equal(run->n_measures, 2);
	assert_int_equal(run->n_schemas, 1);
	m = &run->measures[0];
	assert_string_equal(m->unproven, "cut off");
	assert_null(run->measures[1].unproven);
	look(f, 0);
	assert_true(measure_series(m, "ref_ns")->values[0] == f->result.ref_ns);
	for (size_t i = 0; i < m->n_series; i++)
		sum += m->series[i].part ? m->series[i].values[0] : 0;
	assert_true(fabs(sum - f->result.ref_ns) < 1e-9);
	s = measure_series(m, "walk_reads");
	sum = 0;
	for (size_t i = 0; i < s->n * s->n_columns; i++)
		sum += s->cells[i];
	assert_int_equal(sum, f->result.counts.steps);
	s = measure_series(m, "tlb");
	assert_string_equal(s->keys[0], "L1");
	assert_true(s->cells[0] + s->cells[1] == 100);
	assert_true(measure_series(m, "footprint")->cells[0] == 100);
	run_free(run);
	end(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_as_chase), cmocka_unit_test(test_pages),
		cmocka_unit_test(test_first_touch),   cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_counts),        cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_walks),         cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_refused),       cmocka_unit_test(test_holds),
		cmocka_unit_test(test_record),        cmocka_unit_test(test_crossings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
