/* SPDX-License-Identifier: MIT */
/*
 * Page tables of a shared segment, small and for real: what was measured is what geometry says; and
 * settings that make no sense are refused.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "host/machine.h"
#include "record/run.h"
#include "run_words.h"

static int64_t exact_of(const struct bench_result *r, const char *metric)
{
	for (size_t i = 0; i < r->n_metrics; i++)
		if (strcmp(r->metrics[i].name, metric) == 0 && r->values[i].has_exact)
			return r->values[i].exact;
	return -1;
}

/* Each process of an instrumented program touches shadow memory, too, which has tables of its own.
 */
#if defined(__SANITIZE_ADDRESS__)
#define SHADOW_TABLES 4u
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SHADOW_TABLES 4u
#endif
#endif
#ifndef SHADOW_TABLES
#define SHADOW_TABLES 0u
#endif

struct found {
	int64_t tables[2], predicted[2], faults;
	unsigned n;
};

static void look(void *user, const struct bench_result *r)
{
	struct found *f = user;

	assert_true(f->n < 2);
	f->tables[f->n] = exact_of(r, "table_bytes");
	f->predicted[f->n] = exact_of(r, "predicted_table_bytes");
	for (size_t i = 0; i < r->n_metrics; i++)
		if (strcmp(r->metrics[i].name, "faults") == 0)
			f->faults = r->values[i].events;
	f->n++;
}

static void run_small(const char *access, const uint64_t *processes, size_t n, struct found *f,
		      struct seen *s)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char words[200];

	snprintf(words, sizeof(words),
		 "segment=%ju page=base page.kind=base page.bytes=%ju access=%s",
		 (uintmax_t)(4096 * page), (uintmax_t)page, access);
	memset(f, 0, sizeof(*f));
	run_words("tables.shared", words, processes, n, look, f, s);
}

static void measured_tables_are_those_of_geometry(void **state)
{
	static const uint64_t processes[] = { 1, 3 };
	struct found f;
	struct seen s;

	(void)state;
	run_small("read", processes, 2, &f, &s);
	if (s.ok != 2)
		fail_msg("%s", s.reason);
	assert_string_equal(s.unproven, "");
	for (unsigned i = 0; i < 2; i++) {
		assert_true(f.predicted[i] > 0);
		/* exactly so here; a kernel may differ by a table */
		assert_in_range(f.tables[i], f.predicted[i] * 95 / 100,
				f.predicted[i] * 105 / 100 +
					(int64_t)((i == 0 ? 1u : 3u) * SHADOW_TABLES *
						  (uint64_t)sysconf(_SC_PAGESIZE)));
	}
	assert_true(llabs(f.tables[0] - f.tables[1]) * 2 >= llabs(f.tables[0]));
}

/* A write takes a fault for every page, a read may map several at once. */
static void writes_fault_for_every_page(void **state)
{
	static const uint64_t one[] = { 1 };
	struct found read, write;
	struct seen s;

	(void)state;
	run_small("read", one, 1, &read, &s);
	run_small("write", one, 1, &write, &s);
	assert_int_equal(s.ok, 1);
	assert_true(write.faults >= 3 * 4096); /* three repetitions */
	assert_true(read.faults <= write.faults);
}

static int cost_of(const char *page, int64_t segment, struct err *e)
{
	struct page_size pages[] = {
		{ .kind = PAGE_KIND_BASE, .bytes = 4096, .name = "4k", .usable = true },
		{ .kind = PAGE_KIND_MTHP, .bytes = 65536, .name = "64k", .usable = true },
		{ .kind = PAGE_KIND_THP, .bytes = 2 << 20, .name = "thp", .usable = true },
	};
	struct machine m = { .page_bytes = 4096, .pages = pages, .n_pages = 3 };
	struct bench_setting s = { 0 };
	struct bench_cost cost = { 0 };
	struct arena a = { 0 };
	int result;

	attrs_set_text(&a, &s.given, "page", page);
	attrs_set_int(&a, &s.given, "segment", segment);
	result = bench_find("tables.shared")->cost(&m, &s, 500, &cost, e);
	arena_done(&a);
	if (result == 0)
		assert_true(cost.arena_bytes == (uint64_t)segment && cost.table_bytes > 0);
	return result;
}

static void refuses_what_makes_no_sense(void **state)
{
	static const struct {
		const char *page;
		int64_t segment;
		int result;
		const char *says;
	} rows[] = {
		{ "4k", 8000 << 12, 0, NULL },
		{ "thp", 4 << 20, 0, NULL },
		{ "64k", 4 << 20, -EINVAL, "base, thp or hugetlb" },
		{ "thp", 3 << 20, -EINVAL, "whole number of pages" },
		{ "4k", 4097, -EINVAL, "4097" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err e = { 0 };

		assert_int_equal(cost_of(rows[i].page, rows[i].segment, &e), rows[i].result);
		if (rows[i].says && !strstr(e.msg, rows[i].says))
			fail_msg("%s", e.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(measured_tables_are_those_of_geometry),
		cmocka_unit_test(writes_fault_for_every_page),
		cmocka_unit_test(refuses_what_makes_no_sense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
