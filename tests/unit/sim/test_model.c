// SPDX-License-Identifier: MIT
/*
 * The model against the plain one of naive.c on random small machines and traces; what must add up;
 * policies against the miss rates that are known of them.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "naive.h"
#include "small.h"

enum { MACHINES = 120, REFS = 3000, ALIGN = 8192 };
#define BASE (UINT64_C(1) << 37)

/* --- random machines --- */

static void random_shape(struct rng *r, struct sim_shape *s, bool power)
{
	static const uint32_t ways[] = { 1, 2, 3, 4, 8, 16, 17, 24, 32 };
	const uint32_t w = ways[rng_below(r, sizeof(ways) / sizeof(ways[0]))];
	const uint32_t sets = UINT32_C(1) << rng_below(r, 4);

	s->entries = w * (power ? sets : sets + (uint32_t)rng_below(r, 3));
	s->ways = rng_below(r, 5) ? w : 0;
	s->index = s->ways && power ? (enum sim_index)rng_below(r, 3) : SIM_LINEAR;
	s->policy = rng_below(r, 4) ? SIM_LRU : SIM_FIFO;
}

static struct sim_machine *random_machine(struct rng *r)
{
	struct sim_machine *m = small_machine(3 + (unsigned)rng_below(r, 3));
	const unsigned tlbs = (unsigned)rng_below(r, 4);

	m->n_walk_caches = 0;
	for (unsigned k = 2; k <= m->core.levels; k++) {
		if (rng_below(r, 3) == 0)
			continue;
		m->walk_caches[m->n_walk_caches].level = k;
		random_shape(r, &m->walk_caches[m->n_walk_caches++].shape, rng_below(r, 2));
	}
	for (unsigned level = 1; level <= tlbs; level++) {
		small_add_tlb(m, level, 16, 0, SIM_LRU);
		random_shape(r, &m->tlbs[level - 1].shape, rng_below(r, 2));
	}
	m->n_caches = 1 + rng_below(r, 3);
	for (size_t i = 0; i < m->n_caches; i++) {
		struct sim_shape s;

		random_shape(r, &s, true);
		m->caches[i].size_bytes = (uint64_t)s.entries * 64;
		m->caches[i].ways = s.ways;
		m->caches[i].index = s.index;
		m->caches[i].policy = s.policy;
		m->caches[i].relation =
			i && rng_below(r, 3) == 0 ? SIM_INCLUSIVE : SIM_NON_INCLUSIVE;
	}
	m->walker.first_cache = 1 + (uint32_t)rng_below(r, m->n_caches);
	return m;
}

/* Loops over a few pages, strides of tables, and stray addresses. */
static uint64_t random_address(struct rng *r, uint64_t i)
{
	switch (rng_below(r, 4)) {
	case 0:
		return BASE + (i % 40 << 12) + (rng_below(r, 64) << 6);
	case 1:
		return BASE + (rng_below(r, 24) << 21) + (i % 8 << 6);
	case 2:
		return BASE + (rng_below(r, 6) << 30);
	default:
		return BASE + rng_below(r, UINT64_C(1) << 34);
	}
}

static bool agree(const struct sim_machine *m, struct rng *r, int wrong)
{
	const struct sim_space space = { .frames = SIM_FRAMES_SHARED, .table_align_bytes = ALIGN };
	struct naive *n = naive_new(m, ALIGN, wrong);
	struct err e = { 0 };
	struct sim *s;
	bool same = true;

	assert_int_equal(sim_new(m, &space, 1, &s, &e), 0);
	for (uint64_t i = 0; i < REFS && same; i++) {
		const uint64_t va = random_address(r, i);

		sim_run(s, &va, 1);
		naive_run(n, va);
		same = memcmp(sim_counts(s), naive_counts(n), sizeof(struct sim_counts)) == 0;
	}
	sim_free(s);
	naive_free(n);
	return same;
}

static void test_naive(void **state)
{
	struct rng r;

	(void)state;
	rng_seed(&r, 42);
	for (unsigned i = 0; i < MACHINES; i++) {
		struct sim_machine *m = random_machine(&r);
		struct err e = { 0 };

		if (sim_machine_check(m, &e) < 0)
			fail_msg("machine %u: %s", i, e.msg);
		if (!agree(m, &r, 0))
			fail_msg("machine %u: the models differ", i);
		sim_machine_free(m);
	}
}

/* The comparison would see a wrong rule. */
static void test_wrong_rule(void **state)
{
	struct sim_machine *m = small_machine(4);
	struct rng r;

	(void)state;
	rng_seed(&r, 7);
	assert_true(agree(m, &r, 0));
	assert_false(agree(m, &r, 1));
	sim_machine_free(m);
}

/* --- sums --- */

static void check_sums(const struct sim_counts *c, size_t n_caches, unsigned tlb_levels)
{
	uint64_t reads = 0, walk_reads = 0, asked = c->refs, memory = 0, hits = 0;

	for (unsigned level = 0; level < tlb_levels; level++) {
		assert_int_equal(c->tlb_hit[level] + c->tlb_miss[level], asked);
		asked = c->tlb_miss[level];
	}
	assert_int_equal(c->walks, asked);
	for (unsigned what = 0; what < SIM_WHATS; what++)
		for (unsigned where = 0; where < SIM_WHERES; where++) {
			reads += c->found[what][where];
			walk_reads +=
				what >= SIM_WALK && what < SIM_CODE ? c->found[what][where] : 0;
			memory += where >= SIM_IN_MEMORY ? c->found[what][where] : 0;
		}
	assert_int_equal(walk_reads, c->steps);
	assert_int_equal(reads, c->refs + c->steps);
	for (size_t i = 0; i < n_caches; i++)
		hits += c->cache_hit[i];
	assert_int_equal(hits + memory, reads);
	/* all begin at the first cache here: what misses one asks the next */
	asked = reads;
	for (size_t i = 0; i < n_caches; i++) {
		assert_int_equal(c->cache_hit[i] + c->cache_miss[i], asked);
		asked = c->cache_miss[i];
	}
	assert_int_equal(memory, asked);
}

static void test_sums(void **state)
{
	static const enum sim_policy policies[] = { SIM_LRU,        SIM_PLRU,   SIM_NRU,
						    SIM_NRU_LOWEST, SIM_RANDOM, SIM_FIFO };
	struct rng r;

	(void)state;
	rng_seed(&r, 3);
	for (unsigned i = 0; i < 24; i++) {
		struct sim_machine *m = small_machine(4);
		struct sim *s;

		small_add_tlb(m, 1, 16, 0, policies[i % 6]);
		small_add_tlb(m, 2, 256, 8, policies[(i + 1) % 6]);
		m->caches[2].relation = (enum sim_relation)(i % 3);
		m->caches[1].policy = policies[(i + 2) % 6];
		s = small_sim(m, i % 2 ? 2 << 20 : 4096, i % 4 == 3 ? 4 : 0);
		for (uint64_t k = 0; k < 20000; k++) {
			const uint64_t va = random_address(&r, k);

			sim_run(s, &va, 1);
		}
		check_sums(sim_counts(s), 3, 2);
		sim_free(s);
		sim_machine_free(m);
	}
}

/* Parts add up, and each is count times figure. */
static void test_cost(void **state)
{
	struct sim_machine *m = small_machine(4);
	struct sim_parts parts, twice;
	struct sim_counts c = { .refs = 10, .walks = 3, .steps = 5, .rounds = 2 };

	(void)state;
	small_add_tlb(m, 1, 16, 0, SIM_LRU);
	small_add_tlb(m, 2, 64, 0, SIM_LRU);
	m->core.round_cycles = 18;
	c.tlb_hit[1] = 4;
	c.found[SIM_DATA][0] = 9;
	c.found[SIM_DATA][SIM_IN_MEMORY] = 1;
	c.found[SIM_WALK][2] = 5;
	sim_cost(m, 0, &c, false, &parts);
	/* 9 x 4 + 100 + 5 x 40 + 4 x 7 + 3 x 10 + 2 x 18, at 1 GHz */
	assert_true(fabs(sim_parts_ns(&parts) - 430) < 1e-9);
	m->memory.local_ns *= 2;
	sim_cost(m, 0, &c, false, &twice);
	assert_true(fabs(sim_parts_ns(&twice) - 530) < 1e-9);
	sim_cost(m, 0, &c, true, &twice);
	/* misses of data by 4, walks by 2: 36 + 50 + 100 + 28 + 15 + 36 */
	assert_true(fabs(sim_parts_ns(&twice) - 265) < 1e-9);
	sim_machine_free(m);
}

/* --- policies --- */

/* Share of misses of a cyclic chase over @pages in one set of 16 ways. */
static double miss_share(enum sim_policy policy, uint32_t ways, unsigned pages)
{
	struct sim_machine *m = small_machine(4);
	uint64_t va[64];
	double share;
	struct sim *s;

	small_add_tlb(m, 1, ways, 0, policy);
	s = small_sim(m, 4096, 0);
	for (unsigned i = 0; i < pages; i++)
		va[i] = BASE + (uint64_t)i * 4096;
	for (unsigned round = 0; round < 50; round++)
		sim_run(s, va, pages);
	sim_clear_counts(s);
	for (unsigned round = 0; round < 800; round++)
		sim_run(s, va, pages);
	share = (double)sim_counts(s)->tlb_miss[0] / (double)sim_counts(s)->refs;
	sim_free(s);
	sim_machine_free(m);
	return share;
}

static void test_policies(void **state)
{
	static const struct {
		enum sim_policy policy;
		unsigned pages;
		double share, near;
	} rows[] = {
		{ SIM_LRU, 16, 0, 0 },           { SIM_LRU, 17, 1, 0 },
		{ SIM_FIFO, 17, 1, 0 },          { SIM_PLRU, 16, 0, 0 },
		{ SIM_PLRU, 17, 1, 0 },          { SIM_NRU, 16, 0, 0 },
		{ SIM_NRU, 20, 0.59, 0.03 },     { SIM_NRU, 24, 0.85, 0.03 },
		{ SIM_RANDOM, 20, 0.38, 0.03 },  { SIM_RANDOM, 32, 0.80, 0.03 },
		{ SIM_NRU_LOWEST, 32, 1, 0.01 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const double share = miss_share(rows[i].policy, 16, rows[i].pages);

		if (fabs(share - rows[i].share) > rows[i].near)
			fail_msg("%s, %u pages: %.3f, not %.3f", sim_policy_name(rows[i].policy),
				 rows[i].pages, share, rows[i].share);
	}
}

/* --- the rest --- */

static void test_seed(void **state)
{
	struct sim_machine *m = small_machine(4);
	struct sim_counts first;

	(void)state;
	small_add_tlb(m, 1, 32, 0, SIM_RANDOM);
	for (unsigned pass = 0; pass < 3; pass++) {
		const struct sim_space space = { 0 };
		struct err e = { 0 };
		struct rng r;
		struct sim *s;

		rng_seed(&r, 5);
		assert_int_equal(sim_new(m, &space, pass == 2 ? 9 : 8, &s, &e), 0);
		for (uint64_t i = 0; i < 4000; i++) {
			const uint64_t va = random_address(&r, i);

			sim_run(s, &va, 1);
		}
		if (pass == 0)
			first = *sim_counts(s);
		else
			assert_int_equal(memcmp(&first, sim_counts(s), sizeof(first)) == 0,
					 pass == 1);
		sim_free(s);
	}
	sim_machine_free(m);
}

/* Nodes of page tables: by policy, and as a caller says. */
static uint32_t by_level(void *user, unsigned level, uint64_t number)
{
	(void)user;
	(void)number;
	return level == 1 ? 2 : 0;
}

static void test_nodes(void **state)
{
	struct sim_machine *m = small_machine(4);
	struct sim_space space = { .tables = { SIM_PLACE_NODE, 3 }, .cpu_node = 1 };
	const enum sim_place places[] = { SIM_PLACE_NODE, SIM_PLACE_REPLICATE,
					  SIM_PLACE_INTERLEAVE };

	(void)state;
	m->memory.nodes = 4;
	for (unsigned i = 0; i < 4; i++) {
		struct err e = { 0 };
		const uint64_t *leaf;
		struct sim *s;

		space.tables.place = places[i % 3];
		space.node_of = i == 3 ? by_level : NULL;
		assert_int_equal(sim_new(m, &space, 1, &s, &e), 0);
		for (uint64_t k = 0; k < 400; k++) {
			const uint64_t va = BASE + (k << 21);

			sim_run(s, &va, 1);
		}
		leaf = &sim_counts(s)->found[SIM_WALK][SIM_IN_MEMORY];
		assert_int_equal(leaf[0] + leaf[1] + leaf[2] + leaf[3], 400);
		if (i == 2)
			for (unsigned node = 0; node < 4; node++)
				assert_in_range(leaf[node], 60, 140);
		else
			assert_int_equal(leaf[i == 0 ? 3 : i == 1 ? 1 : 2], 400);
		sim_free(s);
	}
	sim_machine_free(m);
}

/* One line through addresses that the way predictor tells apart, and that it does not. */
static void test_alias(void **state)
{
	struct sim_machine *m = small_machine(4);
	const uint64_t apart[] = { BASE, BASE + (1 << 12) };
	const uint64_t equal[] = { BASE, BASE + (1 << 12) + (1 << 27) };

	(void)state;
	m->alias = (struct sim_alias){ .rule = SIM_ALIAS_UTAG,
				       .low = { 12 },
				       .high = { 27 },
				       .n_pairs = 1,
				       .miss_cycles = 16 };
	for (unsigned pass = 0; pass < 2; pass++) {
		const struct sim_space space = { .frames = SIM_FRAMES_SHARED };
		struct err e = { 0 };
		struct sim *s;

		assert_int_equal(sim_new(m, &space, 1, &s, &e), 0);
		for (unsigned i = 0; i < 10; i++)
			sim_run(s, pass ? equal : apart, 2);
		assert_int_equal(sim_counts(s)->alias_misses, pass ? 0 : 19);
		sim_free(s);
	}
	sim_machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_naive),    cmocka_unit_test(test_wrong_rule),
		cmocka_unit_test(test_sums),     cmocka_unit_test(test_cost),
		cmocka_unit_test(test_policies), cmocka_unit_test(test_seed),
		cmocka_unit_test(test_nodes),    cmocka_unit_test(test_alias),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
