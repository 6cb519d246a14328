/* SPDX-License-Identifier: MIT */
/* ticks.c: the published table's columns from counted chains. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profile/ticks.h"

static const char text[] = "c0100000 T _stext\n"
			   "c012ff54 T do_wp_page\n"
			   "c01301e0 T handle_mm_fault\n"
			   "c0130200 t caller\n"
			   "c0130300 t later\n"
			   "c028c4a8 A not_a_place\n"
			   "c028c4a8 T _etext\n";

struct profile {
	struct symbols symbols;
	struct stacks stacks;
	struct arena arena;
};

static void open_profile(struct profile *p)
{
	*p = (struct profile){ 0 };
	assert_int_equal(symbols_parse(text, strlen(text), &p->symbols), 0);
}

static void close_profile(struct profile *p)
{
	symbols_done(&p->symbols);
	stacks_done(&p->stacks);
	arena_done(&p->arena);
}

static void add(struct profile *p, uint64_t ip, uint64_t ticks)
{
	stacks_add(&p->stacks, &ip, 1, ticks);
}

/* do_wp_page of the published profile: 1245 ticks over 652 bytes are 1.9095. */
static void test_columns(void **state)
{
	struct tick_table t;
	struct profile p;

	(void)state;
	open_profile(&p);
	add(&p, 0xc012ff54, 1000);
	add(&p, 0xc01301df, 245);
	add(&p, 0xc01301e0, 92);
	add(&p, 0x1000, 3); /* before all */
	assert_int_equal(ticks_by_function(&p.stacks, &p.symbols, &p.arena, &t), 0);
	assert_int_equal(t.n, 3);
	assert_string_equal(t.v[0].name, "do_wp_page");
	assert_int_equal(t.v[0].address, 0xc012ff54);
	assert_int_equal(t.v[0].ticks, 1245);
	assert_true(fabs(t.v[0].load - 1.9095) < 5e-5);
	assert_string_equal(t.v[1].name, "handle_mm_fault");
	assert_true(fabs(t.v[1].load - 92.0 / 32) < 1e-12);
	assert_string_equal(t.v[2].name, "[unknown]");
	assert_true(isnan(t.v[2].load));
	assert_int_equal(t.total, 1340);
	assert_true(fabs(t.total_load - 1340.0 / (0xc028c4a8 - 0xc0100000)) < 1e-12);
	close_profile(&p);
}

static void test_nothing(void **state)
{
	struct str out = { 0 };
	struct tick_table t;
	struct profile p;

	(void)state;
	open_profile(&p);
	assert_int_equal(ticks_by_function(&p.stacks, &p.symbols, &p.arena, &t), 0);
	assert_int_equal(t.n, 0);
	assert_int_equal(t.total, 0);
	assert_int_equal(ticks_by_caller(&p.stacks, &p.symbols, &p.arena, &t), 0);
	assert_int_equal(t.n, 0);
	assert_int_equal(ticks_folded(&p.stacks, &p.symbols, "x", &out), 0);
	assert_string_equal(str_text(&out), "");
	/* no symbols at all: every place is unknown, the total stands */
	symbols_done(&p.symbols);
	add(&p, 0xc012ff54, 7);
	assert_int_equal(ticks_by_function(&p.stacks, &p.symbols, &p.arena, &t), 0);
	assert_int_equal(t.n, 1);
	assert_string_equal(t.v[0].name, "[unknown]");
	assert_int_equal(t.total, 7);
	assert_true(isnan(t.total_load));
	str_done(&out);
	close_profile(&p);
}

/* A call at the very end of `caller` returns to the first byte of `later`. */
static const uint64_t chain_a[] = { 0xc012ff60, 0xc0130300, 0xc01301e4 };
static const uint64_t chain_b[] = { 0xc012ff99, 0xc0130250, 0xc01301e4 };
static const uint64_t chain_c[] = { 0xc01301e4 };

static void test_callers(void **state)
{
	struct tick_table t;
	struct profile p;

	(void)state;
	open_profile(&p);
	stacks_add(&p.stacks, chain_a, 3, 5);
	stacks_add(&p.stacks, chain_b, 3, 2);
	stacks_add(&p.stacks, chain_c, 1, 9);
	assert_int_equal(ticks_by_caller(&p.stacks, &p.symbols, &p.arena, &t), 0);
	assert_int_equal(t.n, 1);
	assert_string_equal(t.v[0].name, "do_wp_page < caller");
	assert_int_equal(t.v[0].ticks, 7);
	assert_int_equal(t.total, 7);
	close_profile(&p);
}

static void test_folded(void **state)
{
	struct str out = { 0 };
	struct profile p;

	(void)state;
	open_profile(&p);
	stacks_add(&p.stacks, chain_a, 3, 5);
	stacks_add(&p.stacks, chain_b, 3, 2);
	stacks_add(&p.stacks, chain_c, 1, 9);
	assert_int_equal(ticks_folded(&p.stacks, &p.symbols, "/usr/bin/my job;x", &out), 0);
	assert_string_equal(str_text(&out), "my_job_x;handle_mm_fault 9\n"
					    "my_job_x;handle_mm_fault;caller;do_wp_page 7\n");
	str_done(&out);
	close_profile(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_callers),
		cmocka_unit_test(test_folded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
