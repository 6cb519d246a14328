/* SPDX-License-Identifier: MIT */
/*
 * tlb.walk for real, small: every mode proves itself on this kernel; a word that was not read, and
 * tables that were not planned, are noticed; settings that make no sense are refused.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "bench/chase.h"
#include "bench/ctx.h"
#include "host/affinity.h"
#include "record/run.h"

struct seen {
	unsigned ok, other;
	char reason[300];
	int64_t planned, made, levels;
	size_t groups;
};

static int collect(void *user, const struct bench_result *r)
{
	struct seen *s = user;

	*(r->verdict == VERDICT_OK ? &s->ok : &s->other) += 1;
	if (r->reason)
		snprintf(s->reason, sizeof(s->reason), "%s", r->reason);
	s->planned = attrs_int(&r->proof, "page_tables_planned_bytes", -1);
	s->made = attrs_int(&r->proof, "page_table_bytes", -1);
	s->levels = attrs_int(&r->proof, "paging_levels", 0);
	for (size_t i = 0; i < r->n_metrics; i++)
		if (strcmp(r->metrics[i].name, "group_ns") == 0)
			s->groups += r->values[i].n;
	return 0;
}

/* "name=value" words; numbers and texts go to both lists, from where the benchmark reads them. */
static void set_words(struct arena *a, struct bench_setting *s, const char *words)
{
	char copy[512], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", words);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		char *value = strchr(w, '=');
		uint64_t number;

		*value++ = '\0';
		if (parse_u64(value, &number, NULL) == 0 && strcmp(w, "levels") != 0) {
			attrs_set_int(a, &s->resolved, w, (int64_t)number);
			attrs_set_int(a, &s->given, w, (int64_t)number);
		} else {
			attrs_set_text(a, &s->resolved, w, value);
			attrs_set_text(a, &s->given, w, value);
		}
	}
}

static void run_bench(const struct bench *b, const char *words, const uint64_t *inner, size_t n,
		      struct seen *ret)
{
	struct arena a = { 0 };
	struct invocation_spec spec = { .bench = b,
					.inner = "regions",
					.inner_values = inner,
					.n_inner = n,
					.samples = 3,
					.point_seconds = 0.01,
					.seed = 42 };
	struct u32_list cpus = { 0 };
	struct err e = { 0 };

	memset(ret, 0, sizeof(*ret));
	assert_int_equal(affinity_allowed(&cpus, &e), 0);
	assert_int_equal(affinity_pin(cpus.v[0], &e), 0);
	set_words(&a, &spec.setting, words);
	attrs_set_int(&a, &spec.setting.resolved, "cpu.id", cpus.v[0]);
	u32_list_done(&cpus);
	attrs_set_int(&a, &spec.setting.resolved, "load.node", -1);
	attrs_set_int(&a, &spec.setting.resolved, "data.node", 0);
	attrs_set_int(&a, &spec.setting.resolved, "page-tables.node", 0);
	assert_int_equal(bench_run_invocation(&spec, collect, ret, &e), 0);
	arena_done(&a);
}

/* A setting with this machine's sizes: stride in leaf tables. */
static const char *words_of(char buf[512], uint64_t leaf_tables, const char *more)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	snprintf(buf, 512, "stride=x stride.bytes=%ju page=base page.kind=base page.bytes=%ju %s",
		 (uintmax_t)(leaf_tables * page * (page / 8)), (uintmax_t)page, more);
	return buf;
}

static void every_mode_proves_itself(void **state)
{
	static const uint64_t regions[] = { 16, 48 };
	static const char *const loads[] = { "dependent", "independent" };
	static const char *const backings[] = { "zero", "distinct" };
	static const char *const rests[] = {
		"index=spread pointers=512 order=random",
		"index=spread pointers=auto order=random",
		"index=fixed pointers=auto order=sequential",
	};

	(void)state;
	for (size_t i = 0; i < 12; i++) {
		char buf[512], more[300];
		struct seen s;

		snprintf(more, sizeof(more), "loads=%s backing=%s %s caches=warm levels=auto",
			 loads[i % 2], backings[i / 2 % 2], rests[i / 4]);
		run_bench(bench_find("tlb.walk"), words_of(buf, i / 4 == 2 ? 16 : 1, more), regions,
			  2, &s);
		if (s.ok != 2)
			fail_msg("%s: %s", more, s.reason);
		assert_int_equal(s.groups, 0);
		/* Tables that neighbours have made already are the only difference. */
		if (s.made >= 0)
			assert_true(s.made <= s.planned + 4 * sysconf(_SC_PAGESIZE) &&
				    s.made >= s.planned - 4 * sysconf(_SC_PAGESIZE));
	}
}

static void upper_tables_are_made(void **state)
{
	static const uint64_t regions[] = { 2, 16 };
	uint64_t entries = (uint64_t)sysconf(_SC_PAGESIZE) / 8;
	char buf[512];
	struct seen s;

	(void)state;
	/* One region of the 512 GiB kind each: a table of every level but the top. */
	run_bench(bench_find("tlb.walk"),
		  words_of(buf, entries * entries,
			   "loads=dependent backing=zero index=spread pointers=64 order=random "
			   "caches=warm levels=auto"),
		  regions, 2, &s);
	/* What an address sanitizer or a smaller machine leaves of the addresses may not do. */
	if (s.ok == 0)
		skip();
	assert_int_equal(s.ok, 2);
	if (s.made >= 0 && s.levels >= 4)
		assert_true(s.planned == 3 * 16 * sysconf(_SC_PAGESIZE) ||
			    s.planned == 3 * 2 * sysconf(_SC_PAGESIZE));
}

static void cold_groups_are_timed_one_by_one(void **state)
{
	static const uint64_t regions[] = { 32 };
	static const char *const loads[] = { "dependent", "independent" };
	char buf[512], more[200];
	struct seen s;

	(void)state;
	for (int i = 0; i < 2; i++) {
		snprintf(more, sizeof(more),
			 "loads=%s backing=%s index=spread pointers=auto order=random "
			 "caches=wiped levels=auto",
			 loads[i], i ? "zero" : "distinct");
		run_bench(bench_find("tlb.walk"), words_of(buf, 1, more), regions, 1, &s);
		if (s.ok != 1)
			fail_msg("%s: %s", more, s.reason);
		assert_int_equal(s.groups, 18);
	}
}

/* --- broken evidence --- */

static int prepare_and_skip_a_word(struct bench_ctx *ctx, void *state)
{
	struct chase_run *run = state;
	int result = bench_find("tlb.walk")->prepare(ctx, state);

	/* The list names another address twice: one word is never read. */
	if (result == 0)
		run->list[3] = run->list[4];
	return result;
}

static int prepare_with_a_short_cut(struct bench_ctx *ctx, void *state)
{
	struct chase_run *run = state;
	int result = bench_find("tlb.walk")->prepare(ctx, state);

	if (result == 0)
		*(void **)(void *)run->at = *(void **)*(void **)(void *)run->at;
	return result;
}

static void broken_evidence_is_noticed(void **state)
{
	static const struct {
		int (*prepare)(struct bench_ctx *ctx, void *state);
		const char *more, *says;
	} rows[] = {
		{ prepare_and_skip_a_word, "loads=independent backing=distinct", "sum up" },
		{ prepare_with_a_short_cut, "loads=dependent backing=distinct", "steps lead" },
		{ NULL, "loads=independent backing=distinct", NULL },
	};
	static const uint64_t regions[] = { 300 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bench b = *bench_find("tlb.walk");
		char buf[512], more[300];
		struct seen s;

		if (rows[i].prepare)
			b.prepare = rows[i].prepare;
		snprintf(more, sizeof(more),
			 "%s index=spread pointers=auto order=random caches=warm levels=auto",
			 rows[i].more);
		run_bench(&b, words_of(buf, 1, more), regions, 1, &s);
		assert_int_equal(s.ok, rows[i].says ? 0 : 1);
		if (rows[i].says && !strstr(s.reason, rows[i].says))
			fail_msg("%s: %s", rows[i].more, s.reason);
	}
}

static void more_tables_than_planned_are_noticed(void **state)
{
	static const struct {
		int64_t before, after, planned; /* pages; before and after -1: unknown */
		bool is_contrary;
	} rows[] = {
		{ 10, 110, 100, false }, { 10, 114, 100, false }, { 10, 115, 100, true },
		{ 10, 500, 100, true },  { 10, 60, 100, false },  { 0, 1 << 20, 5, true },
		{ -1, 500, 100, false }, { 10, -1, 100, false },
	};
	int64_t page = sysconf(_SC_PAGESIZE);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct chase_run run = { 0 };

		run.region.table_bytes_before = rows[i].before < 0 ? -1 : rows[i].before * page;
		run.region.table_bytes_after = rows[i].after < 0 ? -1 : rows[i].after * page;
		chase_prove_no_more_tables(&run, (uint64_t)(rows[i].planned * page));
		assert_int_equal(run.contrary[0] != '\0', rows[i].is_contrary);
	}
}

/* A boot with other levels than asked for is no proof, whatever the planner thought. */
static void other_levels_are_invalid(void **state)
{
	static const uint64_t regions[] = { 16 };
	char buf[512];
	struct seen s;

	(void)state;
	run_bench(bench_find("tlb.walk"),
		  words_of(buf, 1,
			   "loads=dependent backing=zero index=spread pointers=auto order=random "
			   "caches=warm levels=2"),
		  regions, 1, &s);
	if (!s.levels || s.levels == 2)
		skip();
	assert_int_equal(s.ok, 0);
	assert_non_null(strstr(s.reason, "levels are in use, 2 were asked for"));
}

static void too_few_regions_are_skipped(void **state)
{
	static const uint64_t regions[] = { 2, 4 };
	char buf[512];
	struct seen s;

	(void)state;
	run_bench(bench_find("tlb.walk"),
		  words_of(buf, 1,
			   "loads=dependent backing=zero index=spread pointers=100000 order=random "
			   "caches=warm levels=auto"),
		  regions, 2, &s);
	assert_int_equal(s.ok, 0);
	assert_non_null(strstr(s.reason, "are wanted"));
}

/* --- plans --- */

static struct page_size pages[] = {
	{ .kind = PAGE_KIND_BASE, .bytes = 4096, .name = "4k", .usable = true, .zero_page = true },
	{ .kind = PAGE_KIND_MTHP, .bytes = 65536, .name = "64k", .usable = true },
	{ .kind = PAGE_KIND_HUGETLB, .bytes = 2 << 20, .name = "hugetlb-2m", .usable = true },
};

static struct machine machine_of(unsigned levels, unsigned bits)
{
	return (struct machine){ .arch = "x86_64",
				 .page_bytes = 4096,
				 .leaf_table_span = 2 << 20,
				 .pmd_table_span = 1 << 30,
				 .pud_table_span = UINT64_C(1) << 39,
				 .p4d_table_span = UINT64_C(1) << 48,
				 .paging_levels = levels,
				 .address_bits = bits,
				 .paging_reason = "not probed",
				 .pages = pages,
				 .n_pages = 3,
				 .budget_bytes = UINT64_C(1) << 33 };
}

#define REST " loads=dependent order=random"
#define ONE "index=fixed pointers=auto caches=warm backing=zero page=4k page.bytes=4096" REST
#define MANY "index=spread pointers=auto caches=warm backing=zero page=4k page.bytes=4096" REST

static void costs_refuse(void **state)
{
	static const struct {
		const char *words, *says;
		uint64_t inner;
		unsigned levels, bits;
		int code;
	} rows[] = {
		{ "stride.bytes=281474976710656 levels=auto " ONE, "4 levels", 2, 4, 47, -ENODEV },
		{ "stride.bytes=281474976710656 levels=auto " ONE, NULL, 64, 5, 56, 0 },
		{ "stride.bytes=281474976710656 levels=auto " ONE, "hold 128", 129, 5, 56,
		  -EINVAL },
		{ "stride.bytes=549755813888 levels=auto " ONE, NULL, 128, 4, 47, 0 },
		{ "stride.bytes=549755813888 levels=auto " ONE, "64 TiB", 129, 4, 47, -EINVAL },
		{ "stride.bytes=549755813888 levels=auto " ONE, NULL, 129, 5, 56, 0 },
		{ "stride.bytes=2097152 levels=5 " ONE, "no5lvl", 16, 4, 47, -ENODEV },
		{ "stride.bytes=2097152 levels=4 " ONE, NULL, 16, 4, 47, 0 },
		{ "stride.bytes=2097152 levels=4 " ONE, "not probed", 16, 0, 0, -ENODEV },
		{ "stride.bytes=2097152 levels=auto " ONE, NULL, 16, 0, 0, 0 },
		{ "stride.bytes=2097153 levels=auto " ONE, "multiples of 8", 16, 4, 47, -EINVAL },
		{ "stride.bytes=2048 levels=auto " ONE, "a page", 16, 4, 47, -EINVAL },
		{ "stride.bytes=33554560 levels=auto " MANY, "index=fixed", 16, 4, 47, -EINVAL },
		{ "stride.bytes=2097152 levels=auto " MANY, "needs one", 10000, 4, 47, -EINVAL },
		{ "stride.bytes=2097152 levels=auto index=fixed pointers=8 caches=wiped "
		  "backing=zero page=4k page.bytes=4096" REST,
		  "at least 16", 8, 4, 47, -EINVAL },
		{ "stride.bytes=2097152 levels=auto index=fixed pointers=auto caches=warm "
		  "backing=zero page=64k page.bytes=65536" REST,
		  "page=64k", 16, 4, 47, -EINVAL },
		{ "stride.bytes=1073741824 levels=auto index=fixed pointers=auto caches=warm "
		  "backing=zero page=hugetlb-2m page.bytes=2097152" REST,
		  "backing=distinct", 16, 4, 47, -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct machine m = machine_of(rows[i].levels, rows[i].bits);
		struct arena a = { 0 };
		struct bench_setting s = { 0 };
		struct bench_cost c;
		struct err e = { 0 };
		int rc;

		set_words(&a, &s, rows[i].words);
		rc = bench_find("tlb.walk")->cost(&m, &s, rows[i].inner, &c, &e);
		if (rc != rows[i].code || (rows[i].says && !strstr(e.msg, rows[i].says)))
			fail_msg("%s: %d %s", rows[i].words, rc, e.msg);
		arena_done(&a);
	}
}

static void costs_plan_tables(void **state)
{
	struct machine m = machine_of(4, 47);
	struct arena a = { 0 };
	struct bench_setting s = { 0 };
	struct bench_cost c;
	struct err e = { 0 };

	(void)state;
	set_words(&a, &s, "stride.bytes=549755813888 levels=auto " MANY);
	assert_int_equal(bench_find("tlb.walk")->cost(&m, &s, 128, &c, &e), 0);
	/* three tables a region, and the lists */
	assert_in_range(c.table_bytes, 3 * 128 * 4096, 3 * 140 * 4096 + 8192 * 24);
	assert_int_equal(c.arena_bytes, 0);
	arena_done(&a);
}

static void grids_follow_the_setting(void **state)
{
	static const struct {
		const char *words;
		uint64_t first, last;
		bool is_capped;
		unsigned levels, bits;
	} rows[] = {
		{ "stride.bytes=2097152 levels=auto " MANY, 16, 1024, false, 4, 47 },
		{ "stride.bytes=1073741824 levels=auto " MANY, 1, 1024, false, 4, 47 },
		{ "stride.bytes=549755813888 levels=auto " MANY, 1, 128, true, 4, 47 },
		{ "stride.bytes=549755813888 levels=auto " MANY, 1, 1024, false, 5, 56 },
		{ "stride.bytes=281474976710656 levels=auto " MANY, 1, 128, true, 5, 56 },
		{ "stride.bytes=33554432 levels=auto " ONE, 16, 512, false, 4, 47 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct machine m = machine_of(rows[i].levels, rows[i].bits);
		struct arena a = { 0 };
		struct bench_setting s = { 0 };
		struct u64_array values = { 0 };
		char note[200] = "";
		struct err e = { 0 };

		set_words(&a, &s, rows[i].words);
		assert_int_equal(
			bench_find("tlb.walk")->grid(&m, &s, &values, note, sizeof(note), &e), 0);
		assert_true(values.n > 6);
		assert_int_equal(values.v[0], rows[i].first);
		assert_int_equal(values.v[values.n - 1], rows[i].last);
		assert_int_equal(note[0] != '\0', rows[i].is_capped);
		u64_array_done(&values);
		arena_done(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_mode_proves_itself),
		cmocka_unit_test(upper_tables_are_made),
		cmocka_unit_test(cold_groups_are_timed_one_by_one),
		cmocka_unit_test(broken_evidence_is_noticed),
		cmocka_unit_test(more_tables_than_planned_are_noticed),
		cmocka_unit_test(other_levels_are_invalid),
		cmocka_unit_test(too_few_regions_are_skipped),
		cmocka_unit_test(costs_refuse),
		cmocka_unit_test(costs_plan_tables),
		cmocka_unit_test(grids_follow_the_setting),
	};

	return cmocka_run_group_tests_name("walk", tests, NULL, NULL);
}
