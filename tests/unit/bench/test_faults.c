/* SPDX-License-Identifier: MIT */
/*
 * The fault family, small and for real: accesses differ as their resident sizes do, each fill does
 * what it says, threads share or do not share, and settings that make no sense are refused.
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

#include "host/machine.h"
#include "record/run.h"
#include "run_words.h"

enum { PAGES = 512 };

static uint64_t page_bytes(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

struct found {
	int64_t rss, faults, exposure, touch_faults, fill_faults, touches;
	size_t n;
};

static void look(void *user, const struct bench_result *r)
{
	struct found *f = user;

	f->n = r->values[0].n;
	f->touch_faults = attrs_int(&r->proof, "touch_faults", -1);
	f->fill_faults = attrs_int(&r->proof, "fill_faults", -1);
	f->touches = attrs_int(&r->proof, "touches", -1);
	for (size_t i = 0; i < r->n_metrics; i++) {
		if (strcmp(r->metrics[i].name, "rss_bytes") == 0)
			f->rss = r->values[i].exact;
		if (strcmp(r->metrics[i].name, "faults") == 0) {
			f->faults = r->values[i].events;
			f->exposure = r->values[i].exposure;
		}
	}
}

static void run_fault(const char *bench, uint64_t used, const char *more, struct found *f,
		      struct seen *s)
{
	char words[400];

	snprintf(words, sizeof(words), "size=%ju page=base page.kind=base page.bytes=%ju %s",
		 (uintmax_t)(PAGES * page_bytes()), (uintmax_t)page_bytes(), more);
	memset(f, 0, sizeof(*f));
	run_words(bench, words, &used, 1, look, f, s);
	if (s->ok != 1)
		fail_msg("%s %s: %s", bench, more, s->reason);
}

static void accesses_differ_as_their_resident_sizes(void **state)
{
	struct found read, write, both;
	struct seen s;

	(void)state;
	run_fault("fault.anon", 100, "access=read fill=demand spread=prefix threads=1 mapping=one",
		  &read, &s);
	run_fault("fault.anon", 100, "access=write fill=demand spread=prefix threads=1 mapping=one",
		  &write, &s);
	run_fault("fault.anon", 100,
		  "access=read-write fill=demand spread=scattered threads=1 mapping=one", &both,
		  &s);
	assert_int_equal(read.rss, 0); /* the zero page */
	assert_int_equal(write.rss, PAGES * page_bytes());
	assert_int_equal(both.rss, PAGES * page_bytes());
	assert_true(both.touch_faults >= 2 * both.touches * 95 / 100);
	assert_true(write.touch_faults >= write.touches * 95 / 100);
	assert_true(write.touch_faults < write.touches * 3 / 2);
}

static void only_what_is_used_is_touched(void **state)
{
	struct found f;
	struct seen s;

	(void)state;
	run_fault("fault.anon", 25,
		  "access=write fill=demand spread=scattered threads=1 mapping=one", &f, &s);
	assert_int_equal(f.rss, PAGES / 4 * page_bytes());
	run_fault("fault.anon", 0, "access=write fill=demand spread=prefix threads=1 mapping=one",
		  &f, &s);
	assert_int_equal(f.rss, 0);
	assert_int_equal(f.touches, 0);
}

static void fills_leave_nothing_to_fault(void **state)
{
	static const struct {
		const char *bench, *access, *fill;
	} rows[] = {
		{ "fault.anon", "write", "map-populate" },
		{ "fault.anon", "write", "populate-write" },
		{ "fault.anon", "read", "populate-read" },
		{ "fault.file", "read", "map-populate" },
		{ "fault.file", "read", "populate-read" },
		{ "fault.shm", "write", "populate-write" },
		{ "fault.shm", "read", "populate-read" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct found f;
		struct seen s;
		char words[200];

		snprintf(words, sizeof(words),
			 "access=%s fill=%s spread=prefix threads=1 mapping=one folios=small "
			 "fault-around=keep",
			 rows[i].access, rows[i].fill);
		run_fault(rows[i].bench, 100, words, &f, &s);
		assert_true(f.touch_faults <= f.touches / 20 + 16);
		assert_true(f.n >= 3);
	}
}

/* Reading ahead fills the page cache, not the mapping. */
static void willneed_leaves_the_faults(void **state)
{
	struct found f;
	struct seen s;

	(void)state;
	run_fault("fault.file", 100,
		  "access=read fill=willneed spread=prefix threads=1 mapping=one folios=small "
		  "fault-around=keep",
		  &f, &s);
	assert_true(f.touch_faults > 0);
}

static int cost_of(const char *bench, const char *words, int64_t size, int64_t threads,
		   struct err *e)
{
	struct page_size pages[] = {
		{ .kind = PAGE_KIND_BASE, .bytes = 4096, .name = "4k", .usable = true },
		{ .kind = PAGE_KIND_MTHP, .bytes = 65536, .name = "64k", .usable = true },
		{ .kind = PAGE_KIND_THP, .bytes = 2 << 20, .name = "thp", .usable = true },
	};
	struct cpu cpus[2] = { { .id = 0, .online = true, .allowed = true },
			       { .id = 1, .online = true, .allowed = true } };
	struct machine m = { .page_bytes = 4096,
			     .leaf_table_span = 2 << 20,
			     .pages = pages,
			     .n_pages = 3,
			     .cpus = cpus,
			     .n_cpus = 2 };
	struct bench_setting s = { 0 };
	struct bench_cost cost = { 0 };
	struct arena a = { 0 };
	int result;

	set_words(&a, &s, words);
	attrs_set_int(&a, &s.given, "size", size);
	attrs_set_int(&a, &s.given, "threads", threads);
	result = bench_find(bench)->cost(&m, &s, 100, &cost, e);
	arena_done(&a);
	if (result == 0)
		assert_true(cost.arena_bytes >= (uint64_t)size);
	return result;
}

static void refuses_what_makes_no_sense(void **state)
{
	static const struct {
		const char *bench, *words;
		int64_t size, threads;
		int result;
		const char *says;
	} rows[] = {
		{ "fault.anon", "page=4k access=write fill=demand", 64 << 20, 1, 0, NULL },
		{ "fault.anon", "page=thp access=write fill=populate-write", 64 << 20, 2, 0, NULL },
		{ "fault.anon", "page=64k access=read fill=demand mapping=each", 64 << 20, 2, 0,
		  NULL },
		{ "fault.file", "page=4k access=read fill=willneed", 64 << 20, 1, 0, NULL },
		{ "fault.shm", "page=thp access=write fill=demand", 64 << 20, 1, 0, NULL },
		{ "fault.anon", "page=4k access=read fill=populate-write", 64 << 20, 1, -EINVAL,
		  "populate-read" },
		{ "fault.anon", "page=4k access=read fill=willneed", 64 << 20, 1, -EINVAL,
		  "fault.file" },
		{ "fault.shm", "page=4k access=read fill=willneed", 64 << 20, 1, -EINVAL,
		  "no file" },
		{ "fault.file", "page=thp access=read fill=demand", 64 << 20, 1, -EINVAL,
		  "file system" },
		{ "fault.shm", "page=64k access=read fill=demand", 64 << 20, 1, -EINVAL,
		  "base, thp or hugetlb" },
		{ "fault.anon", "page=thp access=write fill=map-populate", 64 << 20, 1, -EINVAL,
		  "populate-write" },
		{ "fault.anon", "page=thp access=write fill=demand", 3 << 20, 1, -EINVAL,
		  "whole number" },
		{ "fault.anon", "page=4k access=write fill=demand", 64 << 20, 3, -EINVAL,
		  "2 CPUs" },
		{ "fault.anon", "page=4k access=write fill=demand", 4096, 2, -EINVAL, "no page" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err e = { 0 };
		int result =
			cost_of(rows[i].bench, rows[i].words, rows[i].size, rows[i].threads, &e);

		if (result != rows[i].result)
			fail_msg("%s %s: %d %s", rows[i].bench, rows[i].words, result, e.msg);
		if (rows[i].says && !strstr(e.msg, rows[i].says))
			fail_msg("%s", e.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accesses_differ_as_their_resident_sizes),
		cmocka_unit_test(only_what_is_used_is_touched),
		cmocka_unit_test(fills_leave_nothing_to_fault),
		cmocka_unit_test(willneed_leaves_the_faults),
		cmocka_unit_test(refuses_what_makes_no_sense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
