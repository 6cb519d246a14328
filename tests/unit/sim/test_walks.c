// SPDX-License-Identifier: MIT
/* How many entries a walk reads: exact numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "small.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define BASE (UINT64_C(1) << 39)

static void test_radix(void **state)
{
	(void)state;
	for (unsigned levels = 3; levels <= 5; levels++) {
		struct sim_machine *m = small_machine(levels);
		struct sim *s = small_sim(m, 4096, 0);
		const uint64_t base = levels == 3 ? 64 * GIB : BASE;

		assert_int_equal(small_steps(s, base), levels);      /* cold */
		assert_int_equal(small_steps(s, base + 4096), 1);    /* the same 2 MiB */
		assert_int_equal(small_steps(s, base + 2 * MIB), 2); /* the same GiB */
		assert_int_equal(small_steps(s, base + GIB), 3);     /* the same 512 GiB */
		if (levels > 3)
			assert_int_equal(small_steps(s, base + 512 * GIB), 4);
		if (levels > 4)
			assert_int_equal(small_steps(s, base + 512 * 512 * GIB), 5);
		assert_int_equal(sim_counts(s)->walks, levels + 1);
		sim_free(s);
		sim_machine_free(m);
	}
}

static void test_huge(void **state)
{
	struct sim_machine *m = small_machine(4);
	struct sim *s = small_sim(m, 2 * MIB, 0);

	(void)state;
	assert_int_equal(small_steps(s, BASE), 3);
	assert_int_equal(small_steps(s, BASE + 2 * MIB), 1);
	assert_int_equal(small_steps(s, BASE + GIB), 2);
	sim_free(s);
	s = small_sim(m, GIB, 0);
	assert_int_equal(small_steps(s, BASE), 2);
	assert_int_equal(small_steps(s, BASE + GIB), 1);
	sim_free(s);
	sim_machine_free(m);
}

/* (g + 1) (h + 1) - 1 without anything of the host's in caches of the walker. */
static void test_nested(void **state)
{
	static const struct {
		unsigned guest, host;
		uint64_t cold, again;
	} rows[] = { { 4, 4, 24, 9 }, { 5, 5, 35, 11 }, { 4, 5, 29, 11 }, { 3, 4, 19, 9 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sim_machine *m = small_machine(rows[i].guest);
		struct sim *s = small_sim(m, 4096, rows[i].host);

		assert_int_equal(small_steps(s, 64 * GIB), rows[i].cold);
		/* the guest's leaf: its table's translation, itself, the page's translation */
		assert_int_equal(small_steps(s, 64 * GIB + 4096), rows[i].again);
		sim_free(s);
		sim_machine_free(m);
	}
}

/* What the host's walks keep makes them shorter, and never the guest's part. */
static void test_nested_caches(void **state)
{
	struct sim_machine *m = small_machine(4);
	struct sim *s;

	(void)state;
	for (unsigned k = 2; k <= 4; k++)
		m->host_walk_caches[m->n_host_walk_caches++] =
			(struct sim_walk_cache){ .level = k, .shape = { .entries = 64 } };
	m->core.nested_entries = 64;
	s = small_sim(m, 4096, 4);
	small_steps(s, BASE);
	/* the leaf table's translation is kept: one read of the guest, one to four of the host */
	assert_in_range(small_steps(s, BASE + 4096), 2, 5);
	assert_true(sim_counts(s)->nested_hit >= 1);
	sim_free(s);
	sim_machine_free(m);
}

/* Page directories in the second TLB: a walk finds them there, and they take entries. */
static void test_held(void **state)
{
	struct sim_machine *m = small_machine(4);
	struct sim *s;

	(void)state;
	m->walk_caches[0] = m->walk_caches[--m->n_walk_caches]; /* without level 2 */
	small_add_tlb(m, 1, 2, 0, SIM_LRU);
	small_add_tlb(m, 2, 64, 16, SIM_LRU);
	m->tlbs[1].holds_level = 2;
	s = small_sim(m, 4096, 0);
	assert_int_equal(small_steps(s, BASE), 4);
	assert_int_equal(small_steps(s, BASE + 4096), 1);
	assert_int_equal(small_steps(s, BASE + 8192), 1);
	assert_int_equal(small_steps(s, BASE), 0); /* the second TLB has it */
	assert_int_equal(sim_counts(s)->walk_cache_hit[2], 2);
	sim_free(s);
	sim_machine_free(m);
}

/* ia64: the handler reads all levels, then the linear table is mapped and one read is enough. */
static void test_vhpt(void **state)
{
	struct sim_machine *m = small_machine(3);
	struct sim *s;

	(void)state;
	m->walker.kind = SIM_VHPT;
	m->n_walk_caches = 0;
	small_add_tlb(m, 1, 8, 0, SIM_NRU);
	m->tlbs[0].holds_vhpt = true;
	s = small_sim(m, 4096, 0);
	assert_int_equal(small_steps(s, 64 * GIB), 3);
	assert_int_equal(sim_counts(s)->handlers, 1);
	assert_int_equal(small_steps(s, 64 * GIB + 4096), 1);
	assert_int_equal(sim_counts(s)->handlers, 1);
	assert_int_equal(small_steps(s, 65 * GIB), 3);
	assert_int_equal(sim_counts(s)->handlers, 2);
	sim_free(s);
	sim_machine_free(m);
}

static void test_refused(void **state)
{
	static const struct sim_space spaces[] = {
		{ .levels = 6 },
		{ .levels = 1 },
		{ .page_bytes = 8192 },
		{ .page_bytes = 5000 },
		{ .levels = 2, .page_bytes = 2 << 20 },
		{ .host_levels = 1 },
		{ .host_levels = 4, .host_page_bytes = 65536 },
		{ .table_align_bytes = 5000 },
		{ .cpu_node = 1 },
		{ .tables = { SIM_PLACE_NODE, 3 } },
	};
	struct sim_machine *m = small_machine(4);

	(void)state;
	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
		struct err e = { 0 };
		struct sim *s = NULL;

		assert_int_equal(sim_new(m, &spaces[i], 1, &s, &e), -22);
		assert_null(s);
		assert_true(e.msg[0]);
	}
	sim_machine_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_radix),   cmocka_unit_test(test_huge),
		cmocka_unit_test(test_nested),  cmocka_unit_test(test_nested_caches),
		cmocka_unit_test(test_held),    cmocka_unit_test(test_vhpt),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
