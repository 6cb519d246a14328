/* SPDX-License-Identifier: MIT */
/* symbols.c: kallsyms as kernels have it, hidden, damaged and hostile. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "data/tree.h"
#include "profile/symbols.h"

static const char text[] = "ffffffff81000000 T _text\n"
			   "ffffffff81000000 T _stext\n"
			   "ffffffff81000000 t _pre_start\n"
			   "ffffffff81000100 T do_page_fault\n"
			   "ffffffff81000300 t cleanup\n"
			   "ffffffff81000340 d a_table\n"
			   "ffffffff81000400 t cleanup\n"
			   "ffffffff81000500 W __weak_one\n"
			   "ffffffff81000500 T real_one\n"
			   "0000000000000020 A fixed_percpu\n"
			   "ffffffff81001000 T _etext\n"
			   "ffffffffc0002000 t nf_hook\t[nf_tables]\n"
			   "ffffffffc0002080 t nf_exit\t[nf_tables]\n"
			   "ffffffffc0100000 t b_first\t[btrfs]\n";

static void parse(const char *t, struct symbols *s)
{
	assert_int_equal(symbols_parse(t, strlen(t), s), 0);
}

static void assert_at(const struct symbols *s, uint64_t address, const char *name)
{
	const struct symbol *sym = symbols_find(s, address);

	if (!name) {
		assert_null(sym);
		return;
	}
	assert_non_null(sym);
	assert_string_equal(sym->name, name);
}

static void test_find(void **state)
{
	static const struct {
		uint64_t address;
		const char *name; /* NULL: none */
	} rows[] = {
		{ 0xffffffff81000100, "do_page_fault" },
		{ 0xffffffff810002ff, "do_page_fault" },
		{ 0xffffffff81000300, "cleanup" },
		{ 0xffffffff8100033f, "cleanup" },
		{ 0xffffffff81000500, "real_one" },
		{ 0xffffffffc000207f, "nf_hook" },
		{ 0xffffffffc0100000, "b_first" },
		{ 0xffffffff80ffffff, NULL }, /* before the first */
		{ 0xffffffff81000340, NULL }, /* data */
		{ 0xffffffff810003ff, NULL },
		{ 0x20, NULL }, /* absolute: a number */
		{ 0, NULL },
	};
	struct symbols s;

	(void)state;
	parse(text, &s);
	assert_int_equal(s.n_lines, 14);
	assert_int_equal(s.n_bad_lines, 0);
	assert_false(s.hidden);
	assert_int_equal(s.text_end - s.text_start, 0x1000);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_at(&s, rows[i].address, rows[i].name);
	symbols_done(&s);
}

static void test_sizes(void **state)
{
	struct symbols s;
	const struct symbol *sym;

	(void)state;
	parse(text, &s);
	sym = symbols_find(&s, 0xffffffff81000310);
	assert_true(sym->has_size);
	assert_int_equal(sym->end - sym->address, 0x40); /* data ends it */
	assert_true(symbols_find(&s, 0xffffffffc0002000)->has_size);
	/* The gap between modules is no part of a function, nor is what follows the last one. */
	assert_false(symbols_find(&s, 0xffffffffc0002080)->has_size);
	assert_false(symbols_find(&s, 0xffffffffc0100000)->has_size);
	assert_false(symbols_find(&s, 0xffffffff81001000)->has_size);
	symbols_done(&s);
}

static void assert_name(const struct symbols *s, struct arena *a, uint64_t at, const char *want)
{
	const char *name = symbols_unique_name(s, symbols_find(s, at), a);

	assert_non_null(name);
	assert_string_equal(name, want);
}

static void test_unique_names(void **state)
{
	struct arena a = { 0 };
	struct symbols s;

	(void)state;
	parse(text, &s);
	assert_name(&s, &a, 0xffffffff81000300, "cleanup");
	assert_name(&s, &a, 0xffffffff81000400, "cleanup#2");
	assert_name(&s, &a, 0xffffffffc0002000, "nf_hook [nf_tables]");
	arena_done(&a);
	symbols_done(&s);
}

static void test_damaged_lines(void **state)
{
	static const char *const bad[] = {
		"",
		" T x",
		"ffffffff81000000",
		"ffffffff81000000 T",
		"ffffffff81000000 T ",
		"ffffffff81000000  x",
		"ffffffff81000000 TT x",
		"FFFFFFFF81000000 T x",
		"1ffffffff81000000 T x",
		"ffffffff81000000 T x\t[",
		"ffffffff81000000 T x\t[]",
		"ffffffff81000000 T x\tmodule",
		"ffffffff81000000 T x\t[two words]",
		"ffffffff81000000 T x y",
		"ffffffff81000000 T x\x1b[31m",
		"ffffffff81000000 T \xff\xfe",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char t[256];
		struct symbols s;

		snprintf(t, sizeof(t), "ffffffff81000000 T good\n%s\nffffffff81000040 t next\n",
			 bad[i]);
		parse(t, &s);
		if (s.n_bad_lines != 1 || s.n != 2)
			fail_msg("'%s': %zu bad lines, %zu symbols", bad[i], s.n_bad_lines, s.n);
		symbols_done(&s);
	}
}

static void test_long_name(void **state)
{
	char t[700];
	struct symbols s;

	(void)state;
	memset(t, 'x', sizeof(t));
	memcpy(t, "ffffffff81000000 T ", 19);
	assert_int_equal(symbols_parse(t, 19 + 511, &s), 0);
	assert_int_equal(s.n, 1);
	symbols_done(&s);
	assert_int_equal(symbols_parse(t, 19 + 512, &s), 0);
	assert_int_equal(s.n_bad_lines, 1);
	symbols_done(&s);
}

static void test_hidden(void **state)
{
	static const char zeroes[] = "0000000000000000 T _stext\n"
				     "0000000000000000 T do_page_fault\n"
				     "0000000000000000 A fixed_percpu\n"
				     "0000000000000000 t nf_hook\t[nf_tables]\n";
	struct symbols s;

	(void)state;
	parse(zeroes, &s);
	assert_true(s.hidden);
	assert_int_equal(s.n, 0);
	assert_int_equal(s.text_start, 0);
	assert_at(&s, 0xffffffff81000000, NULL);
	symbols_done(&s);
	/* Nothing at all is not hidden. */
	parse("", &s);
	assert_false(s.hidden);
	assert_at(&s, 0, NULL);
	symbols_done(&s);
	parse("no symbols here\n", &s);
	assert_false(s.hidden);
	symbols_done(&s);
}

/* The file is read in pieces: one larger than a piece, with lines across their borders. */
static void test_read_large(void **state)
{
	enum { N = 20000 };
	struct sysroot sr;
	struct symbols s;
	struct err e = { 0 };
	char dir[] = "/tmp/pagetoll-symbols-XXXXXX", path[128];
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(sysroot_init(&sr, dir, &e), 0);
	assert_int_equal(symbols_read(&sr, &s, &e), -ENOENT);
	assert_non_null(strstr(e.msg, "proc/kallsyms"));
	symbols_done(&s);
	snprintf(path, sizeof(path), "== proc/kallsyms\n");
	assert_int_equal(tree_unpack_text("t", path, dir, path, sizeof(path)), 0);
	snprintf(path, sizeof(path), "%s/proc/kallsyms", dir);
	f = fopen(path, "we");
	assert_non_null(f);
	for (int i = 0; i < N; i++)
		fprintf(f, "%016llx T function_%d%s", 0xffffffff81000000ull + 16ull * (unsigned)i,
			i, i + 1 < N ? "\n" : "");
	fclose(f);
	assert_int_equal(symbols_read(&sr, &s, &e), 0);
	assert_int_equal(s.n, N);
	assert_int_equal(s.n_bad_lines, 0);
	assert_at(&s, 0xffffffff81000000 + 16 * 12345 + 3, "function_12345");
	symbols_done(&s);
	tree_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),         cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_unique_names), cmocka_unit_test(test_damaged_lines),
		cmocka_unit_test(test_long_name),    cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_read_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
