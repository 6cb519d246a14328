// SPDX-License-Identifier: MIT
/*
 * Whoever makes the model faster changes no count. Digests of all counts of random machines with
 * every policy, relation of caches, walker, kind of frames and placement, in runs of every length,
 * recorded from the model as it was when it went one reference after the other. A change of the
 * rules (docs/model.md) changes them rightly: the test prints the new ones. What is right at all,
 * test_model.c and test_walks.c say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "small.h"

enum { MACHINES = 60, REFS = 6000, CHUNK_MAX = 700 };
#define BASE (UINT64_C(1) << 37)

enum kind { PLAIN, INCLUSIVE, VICTIM, HELD, VHPT, NESTED };
static const struct {
	const char *name;
	enum kind kind;
	uint64_t digest;
} rows[] = {
	{ "plain", PLAIN, 0x5bfcdc5a093df847 },   { "inclusive", INCLUSIVE, 0xb2322918a9d7707b },
	{ "victim", VICTIM, 0x788ff15ba4d8a408 }, { "tables in a TLB", HELD, 0x4195c71e23bdf521 },
	{ "vhpt", VHPT, 0xe0b08d8d5106465d },     { "nested", NESTED, 0x4a703c87365a805f },
};

static void random_shape(struct rng *r, struct sim_shape *s)
{
	static const uint32_t ways[] = { 1, 2, 3, 4, 8, 12, 15, 16, 17, 24, 32, 64, 96 };
	uint32_t w = ways[rng_below(r, sizeof(ways) / sizeof(ways[0]))];
	uint32_t sets = UINT32_C(1) << rng_below(r, 5);
	const bool power = rng_below(r, 2);

	s->policy = (enum sim_policy)rng_below(r, 6);
	if (s->policy == SIM_PLRU)
		w = UINT32_C(1) << rng_below(r, 7);
	if (!power)
		sets += (uint32_t)rng_below(r, 3);
	s->ways = rng_below(r, 5) || s->policy == SIM_PLRU ? w : 0;
	s->entries = w * sets;
	s->index = !power ? (enum sim_index)(rng_below(r, 2) * SIM_HASH)
			  : (enum sim_index)rng_below(r, 3);
}

static void random_caches(struct rng *r, struct sim_machine *m, enum kind kind)
{
	m->n_caches = 1 + rng_below(r, 4);
	for (size_t i = 0; i < m->n_caches; i++) {
		struct sim_cache *c = &m->caches[i];
		struct sim_shape s;

		random_shape(r, &s);
		c->name = "cache";
		c->line_bytes = 64;
		c->size_bytes = (uint64_t)s.entries * c->line_bytes;
		c->ways = s.ways;
		c->index = s.index;
		c->policy = s.policy;
		c->relation = SIM_NON_INCLUSIVE;
		if (i && kind == INCLUSIVE && rng_below(r, 2))
			c->relation = SIM_INCLUSIVE;
		if (i && kind == VICTIM && rng_below(r, 3))
			c->relation = SIM_VICTIM;
	}
	m->walker.first_cache = 1 + (uint32_t)rng_below(r, m->n_caches);
	m->far_side.present = rng_below(r, 4) == 0;
	m->far_side.label = "far";
	random_shape(r, &m->far_side.shape);
	if (rng_below(r, 3) == 0 && m->caches[0].ways && m->caches[0].ways <= 16)
		m->alias = (struct sim_alias){ .rule = SIM_ALIAS_UTAG,
					       .low = { 12, 13 },
					       .high = { 27, 26 },
					       .n_pairs = 2,
					       .miss_cycles = 16 };
}

static void random_walk_caches(struct rng *r, struct sim_walk_cache *v, size_t *n, unsigned levels)
{
	*n = 0;
	for (unsigned k = 2; k <= levels; k++) {
		if (rng_below(r, 4) == 0)
			continue;
		v[*n].level = k;
		random_shape(r, &v[(*n)++].shape);
	}
}

static struct sim_machine *random_machine(struct rng *r, enum kind kind)
{
	struct sim_machine *m = small_machine(3 + (unsigned)rng_below(r, 3));
	const unsigned tlbs = (unsigned)rng_below(r, 5) + (kind == HELD || kind == VHPT);

	for (unsigned i = 0; i < tlbs; i++) {
		struct sim_tlb *t;

		/* some share a level */
		small_add_tlb(m, i < 3 ? i + 1 : 1 + (unsigned)rng_below(r, 3), 16, 0, SIM_LRU);
		t = &m->tlbs[i];
		random_shape(r, &t->shape);
		t->n_pages = 1 + rng_below(r, 2);
		t->splits = rng_below(r, 2);
		t->skips_first_cache = i == 0 && rng_below(r, 4) == 0;
	}
	random_walk_caches(r, m->walk_caches, &m->n_walk_caches, m->core.levels);
	random_walk_caches(r, m->host_walk_caches, &m->n_host_walk_caches, 4);
	if (kind == HELD)
		m->tlbs[tlbs - 1].holds_level = 2;
	if (kind == VHPT) {
		m->walker.kind = SIM_VHPT;
		m->n_walk_caches = 0;
		m->tlbs[tlbs - 1].holds_vhpt = true;
	}
	m->core.nested_entries = rng_below(r, 2) ? 16 : 0;
	m->memory.nodes = 1 + (uint32_t)rng_below(r, 4);
	random_caches(r, m, kind);
	return m;
}

static uint32_t by_number(void *user, unsigned level, uint64_t number)
{
	uint64_t *calls = user;

	/* the order of the questions counts, too */
	return (uint32_t)(rng_mix64(*calls = *calls * 31 + number + level) & 1);
}

static void random_space(struct rng *r, const struct sim_machine *m, enum kind kind,
			 struct sim_space *s, uint64_t *calls)
{
	*s = (struct sim_space){ .frames = (enum sim_frames)rng_below(r, 3) };
	s->page_bytes = rng_below(r, 4) ? 4096 : 2 << 20;
	s->table_align_bytes = rng_below(r, 3) ? 0 : 16384;
	s->data.place = (enum sim_place)rng_below(r, 3);
	s->tables.place = (enum sim_place)rng_below(r, 3);
	s->cpu_node = (uint32_t)rng_below(r, m->memory.nodes);
	if (m->memory.nodes > 1 && rng_below(r, 2)) {
		s->node_of = by_number;
		s->user = calls;
	}
	if (kind == NESTED) {
		s->host_levels = 3 + (uint32_t)rng_below(r, 3);
		s->host_page_bytes = rng_below(r, 3) ? 4096 : 2 << 20;
	}
}

static uint64_t random_address(struct rng *r, uint64_t i)
{
	switch (rng_below(r, 4)) {
	case 0:
		return BASE + (i % 40 << 12) + (rng_below(r, 64) << 6);
	case 1:
		return BASE + (rng_below(r, 24) << 21) + (i % 8 << 6);
	case 2:
		return BASE + (rng_below(r, 3000) << 12);
	default:
		return BASE + rng_below(r, UINT64_C(1) << (24 + rng_below(r, 12)));
	}
}

/* Runs of any length, and all that else changes the caches between them. */
static void drive(struct rng *r, struct sim *s)
{
	uint64_t va[CHUNK_MAX];

	for (uint64_t i = 0; i < REFS;) {
		const size_t n =
			rng_below(r, 3) ? rng_below(r, CHUNK_MAX) + 1 : rng_below(r, 4) + 1;

		for (size_t k = 0; k < n; k++)
			va[k] = random_address(r, i++);
		sim_run(s, va, n);
		if (rng_below(r, 12) == 0) {
			/* not as arguments: compilers differ in their order */
			const uint64_t line = rng_below(r, 50);

			sim_line(s, rng_below(r, 2) ? SIM_CODE : SIM_DATA, line, 0);
		}
		if (rng_below(r, 40) == 0)
			sim_flush(s, (unsigned)rng_below(r, 8));
	}
}

static uint64_t digest(uint64_t h, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n / 8; i++)
		h = rng_mix64(h ^ ((const uint64_t *)bytes)[i]) + 1;
	return h;
}

static uint64_t digest_of(enum kind kind)
{
	uint64_t h = 0, calls = 0;
	unsigned made = 0;
	struct rng r;

	rng_seed(&r, 1000 + kind);
	while (made < MACHINES) {
		struct sim_machine *m = random_machine(&r, kind);
		struct sim_space space;
		struct sim *s;

		random_space(&r, m, kind, &space, &calls);
		/* some do not fit together */
		if (sim_machine_check(m, NULL) == 0 && sim_new(m, &space, made, &s, NULL) == 0) {
			drive(&r, s);
			h = digest(h, sim_counts(s), sizeof(struct sim_counts));
			h = digest(h, &calls, sizeof(calls));
			sim_free(s);
			made++;
		}
		sim_machine_free(m);
	}
	return h;
}

static void test_same(void **state)
{
	unsigned differ = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const uint64_t h = digest_of(rows[i].kind);

		if (h != rows[i].digest)
			print_message("%s: 0x%016jx\n", rows[i].name, (uintmax_t)h);
		differ += h != rows[i].digest;
	}
	assert_int_equal(differ, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_same) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
