/* SPDX-License-Identifier: MIT */
/*
 * The fork family, small and for real: every way and every kind of memory proves itself, what
 * copies page tables copies them and nothing else does, and settings that make no sense are
 * refused.
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

static uint64_t page_bytes(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

struct found {
	int64_t child_tables, parent_tables, events, exposure;
	size_t n_first; /* values of the headline */
	unsigned points;
};

static void look(void *user, const struct bench_result *r)
{
	struct found *f = user;

	f->points++;
	f->n_first = r->values[0].n;
	f->parent_tables = attrs_int(&r->proof, "parent_table_bytes", -1);
	for (size_t i = 0; i < r->n_metrics; i++) {
		if (strcmp(r->metrics[i].name, "child_table_bytes") == 0 && r->values[i].has_exact)
			f->child_tables = r->values[i].exact;
		if (r->values[i].has_count) {
			f->events = r->values[i].events;
			f->exposure = r->values[i].exposure;
		}
	}
}

static void run_one(const char *bench, const char *more, uint64_t pages, struct found *f,
		    struct seen *s)
{
	uint64_t bytes = pages * page_bytes();
	char words[300];

	snprintf(words, sizeof(words), "page=base page.kind=base page.bytes=%ju %s",
		 (uintmax_t)page_bytes(), more);
	memset(f, 0, sizeof(*f));
	f->child_tables = -1;
	run_words(bench, words, &bytes, 1, look, f, s);
	if (s->ok != 1)
		fail_msg("%s %s: %s", bench, more, s->reason);
	assert_string_equal(s->unproven, "");
	assert_int_equal(f->points, 1);
	assert_true(f->n_first >= 3);
}

static void every_call_and_memory_proves_itself(void **state)
{
	static const char *const how[] = { "fork", "vfork", "spawn", "clone-vm" };
	static const char *const memory[] = { "anon", "file", "shared" };
	struct found f;
	struct seen s;

	(void)state;
	for (size_t h = 0; h < 4; h++) {
		for (size_t m = 0; m < 3; m++) {
			char words[100];

			snprintf(words, sizeof(words), "how=%s memory=%s", how[h], memory[m]);
			run_one("fork.call", words, 512, &f, &s);
		}
	}
}

/* Tables of anonymous memory are copied; those of a file's mapping are left to the child's faults.
 */
static void only_anonymous_tables_are_copied(void **state)
{
	uint64_t tables = 24, pages = tables * (page_bytes() / 8);
	struct found anon, file;
	struct seen s;

	(void)state;
	if (page_bytes() > 4096)
		skip(); /* 24 tables would map gigabytes */
	run_one("fork.call", "how=fork memory=anon", pages, &anon, &s);
	run_one("fork.call", "how=fork memory=file", pages, &file, &s);
	assert_true(anon.child_tables >= (int64_t)(tables * page_bytes()));
	assert_true(anon.child_tables - file.child_tables >= (int64_t)(tables * page_bytes() / 2));
}

static void every_write_faults_once(void **state)
{
	static const char *const orders[] = { "random", "sequential" };
	struct found f;
	struct seen s;

	(void)state;
	for (size_t o = 0; o < 2; o++) {
		char words[100];

		snprintf(words, sizeof(words), "memory=anon order=%s", orders[o]);
		run_one("fork.cow", words, 1024, &f, &s);
		assert_true(f.exposure >= 3 * 1024);
		assert_true(f.events * 100 >= f.exposure * 95);
	}
}

static void all_memory_can_be_given_back(void **state)
{
	static const char *const by[] = { "munmap", "exit" };
	static const char *const memory[] = { "anon", "file", "shared" };
	struct found f;
	struct seen s;

	(void)state;
	for (size_t b = 0; b < 2; b++) {
		for (size_t m = 0; m < 3; m++) {
			char words[100];

			snprintf(words, sizeof(words), "by=%s memory=%s", by[b], memory[m]);
			run_one("fork.unmap", words, 512, &f, &s);
		}
	}
}

static int cost_of(const char *bench, const char *page, const char *memory, struct err *e)
{
	struct page_size pages[] = {
		{ .kind = PAGE_KIND_BASE, .bytes = 4096, .name = "4k", .usable = true },
		{ .kind = PAGE_KIND_MTHP, .bytes = 65536, .name = "64k", .usable = true },
		{ .kind = PAGE_KIND_THP, .bytes = 2 << 20, .name = "thp", .usable = true },
	};
	struct machine m = {
		.page_bytes = 4096, .leaf_table_span = 2 << 20, .pages = pages, .n_pages = 3
	};
	struct bench_setting s = { 0 };
	struct bench_cost cost = { 0 };
	struct arena a = { 0 };
	int result;

	attrs_set_text(&a, &s.given, "page", page);
	attrs_set_text(&a, &s.given, "memory", memory);
	result = bench_find(bench)->cost(&m, &s, 64 << 20, &cost, e);
	arena_done(&a);
	if (result == 0)
		assert_true(cost.arena_bytes >= 64 << 20 && cost.table_bytes > 0);
	return result;
}

static void refuses_pages_that_the_memory_cannot_have(void **state)
{
	static const struct {
		const char *bench, *page, *memory;
		int result;
		const char *says;
	} rows[] = {
		{ "fork.call", "4k", "anon", 0, NULL },
		{ "fork.call", "64k", "anon", 0, NULL },
		{ "fork.cow", "thp", "anon", 0, NULL },
		{ "fork.unmap", "thp", "shared", 0, NULL },
		{ "fork.call", "thp", "file", -EINVAL, "file system" },
		{ "fork.unmap", "64k", "file", -EINVAL, "file system" },
		{ "fork.call", "64k", "shared", -EINVAL, "base, thp or hugetlb" },
		{ "fork.unmap", "64k", "shared", -EINVAL, "base, thp or hugetlb" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err e = { 0 };

		assert_int_equal(cost_of(rows[i].bench, rows[i].page, rows[i].memory, &e),
				 rows[i].result);
		if (rows[i].says && !strstr(e.msg, rows[i].says))
			fail_msg("%s", e.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_call_and_memory_proves_itself),
		cmocka_unit_test(only_anonymous_tables_are_copied),
		cmocka_unit_test(every_write_faults_once),
		cmocka_unit_test(all_memory_can_be_given_back),
		cmocka_unit_test(refuses_pages_that_the_memory_cannot_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
