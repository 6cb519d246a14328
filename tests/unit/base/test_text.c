/* SPDX-License-Identifier: MIT */
/*
 * Errors, strings, the arena and escaping.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/escape.h"
#include "base/rng.h"
#include "base/str.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static void test_err(void **state)
{
	struct err e = { 0 };
	char large[2 * sizeof(e.msg)];

	(void)state;
	err_prefix(&e, "nothing ");
	assert_string_equal(e.msg, "");
	assert_int_equal(err_set(&e, EINVAL, "bad %d", 5), -EINVAL);
	assert_int_equal(err_set(&e, ENOMEM, "later"), -ENOMEM);
	assert_int_equal(e.code, EINVAL);
	assert_string_equal(e.msg, "bad 5");
	err_prefix(&e, "node %d: ", 3);
	assert_string_equal(e.msg, "node 3: bad 5");
	assert_int_equal(err_set(NULL, ENOENT, "x"), -ENOENT);
	err_prefix(NULL, "x");
	err_clear(NULL);
	err_clear(&e);
	assert_int_equal(e.code, 0);
	/* 0 would read as success. */
	assert_true(err_set(&e, 0, "x") < 0);
	assert_true(e.code > 0);

	memset(large, 'x', sizeof(large) - 1);
	large[sizeof(large) - 1] = '\0';
	err_clear(&e);
	err_set(&e, EINVAL, "%s", large);
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
	err_prefix(&e, "front ");
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
	assert_memory_equal(e.msg, "front xx", 8);
	err_prefix(&e, "%s", large);
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
}

static void test_str(void **state)
{
	struct str s = { 0 };
	size_t line, i;

	(void)state;
	assert_string_equal(str_text(&s), "");
	str_done(NULL);
	str_add(&s, "a");
	str_addf(&s, "%d-%s", 12, "b");
	str_add_n(&s, "cdef", 2);
	str_add_n(&s, NULL, 0);
	assert_string_equal(str_text(&s), "a12-bcd");
	assert_int_equal(s.len, 7);
	str_add(&s, "\n");
	line = s.len;
	str_add(&s, "\xc2\xb5s"); /* micro sign: two bytes, one column */
	str_pad(&s, line, 5);
	assert_string_equal(str_text(&s) + line, "\xc2\xb5s   ");
	str_pad(&s, line, 3);
	assert_int_equal(s.len, line + 6);
	str_pad(&s, s.len, 2);
	assert_int_equal(s.len, line + 8);
	assert_int_equal(str_columns("\xc2\xb5s"), 2);
	assert_int_equal(str_columns(""), 0);
	str_clear(&s);
	assert_string_equal(str_text(&s), "");
	for (i = 0; i < 10000; i++)
		str_addf(&s, "%zu", i % 10);
	assert_int_equal(s.len, 10000);
	assert_int_equal(strlen(s.data), 10000);
	assert_false(s.failed);
	str_done(&s);
	assert_null(s.data);
}

static void test_str_failure(void **state)
{
	struct str s = { 0 };

	(void)state;
	str_add(&s, "kept");
	str_add_n(&s, "x", SIZE_MAX / 2);
	assert_true(s.failed);
	str_add(&s, "more");
	str_addf(&s, "%d", 1);
	str_pad(&s, 0, 100);
	assert_string_equal(str_text(&s), "kept");
	str_clear(&s);
	assert_false(s.failed);
	str_done(&s);
}

static void test_arena(void **state)
{
	struct arena a = { 0 };
	uint64_t *v = NULL, *first;
	size_t cap = 0, n, i;
	char *p, *q;

	(void)state;
	arena_done(&a);
	arena_done(NULL);
	p = arena_strdup(&a, "text");
	assert_string_equal(p, "text");
	assert_null(arena_strdup(&a, NULL));
	assert_string_equal(arena_printf(&a, "%s %d", p, 7), "text 7");
	assert_non_null(arena_alloc(&a, 0));
	assert_null(arena_alloc(&a, SIZE_MAX));
	assert_null(arena_alloc(&a, SIZE_MAX / 2 + 1));
	for (i = 1; i < 300; i++) {
		size_t bytes = i * i, j;

		p = arena_alloc(&a, bytes);
		assert_non_null(p);
		assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
		for (j = 0; j < bytes; j++)
			assert_int_equal(p[j], 0);
		memset(p, 0xff, bytes); /* the next one must not overlap */
	}
	/* A large object does not end the use of the block before it. */
	p = arena_alloc(&a, 16);
	q = arena_alloc(&a, 10000000);
	assert_non_null(q);
	q[9999999] = 1;
	assert_ptr_equal(arena_alloc(&a, 16), p + 16);

	for (n = 0; n < 1000; n++) {
		assert_int_equal(arena_grow(&a, &v, n, &cap, sizeof(*v)), 0);
		v[n] = n * n;
	}
	first = v;
	assert_int_equal(arena_grow(&a, &v, 5, &cap, sizeof(*v)), 0);
	assert_ptr_equal(v, first);
	for (i = 0; i < n; i++)
		assert_int_equal(v[i], i * i);
	cap = SIZE_MAX / 2;
	assert_int_equal(arena_grow(&a, &v, cap, &cap, sizeof(*v)), -ENOMEM);
	arena_done(&a);
	assert_null(a.head);
}

static void check_escape(void (*escape)(struct str *, const char *), const char *in,
			 const char *out)
{
	struct str s = { 0 };

	escape(&s, in);
	if (strcmp(str_text(&s), out) != 0)
		fail_msg("'%s' -> '%s', expected '%s'", in, str_text(&s), out);
	str_done(&s);
}

static void test_word(void **state)
{
	static const char *const bad[] = { "%2", "%zz", "a%", "%%", "%2g", "%00", "x%00y", "% 1" };
	struct err e;
	size_t i;

	(void)state;
	check_escape(escape_word, "a b%\n", "a%20b%25%0A");
	check_escape(escape_word, "", "%");
	check_escape(escape_word, "\x7f\x01", "%7F%01");
	check_escape(escape_word, "\xc3\xa4=,:", "\xc3\xa4=,:");
	for (i = 0; i < LENGTH(bad); i++) {
		char *text = strdup(bad[i]);

		e = (struct err){ 0 };
		assert_int_equal(unescape_word(text, &e), -EINVAL);
		assert_string_equal(text, bad[i]);
		assert_int_equal(e.code, EINVAL);
		free(text);
	}
}

static void test_word_round_trip(void **state)
{
	struct rng r;
	int i;

	(void)state;
	rng_seed(&r, 4);
	for (i = 0; i < 5000; i++) {
		char text[20], *p;
		struct str s = { 0 };
		size_t n = (size_t)rng_below(&r, sizeof(text)), j;

		for (j = 0; j < n; j++)
			text[j] = (char)(1 + rng_below(&r, 255));
		text[n] = '\0';
		escape_word(&s, text);
		for (p = s.data; *p; p++)
			assert_true((unsigned char)*p > ' ' && *p != 0x7f);
		assert_int_equal(unescape_word(s.data, NULL), 0);
		assert_string_equal(s.data, text);
		str_done(&s);
	}
}

static void test_csv(void **state)
{
	(void)state;
	check_escape(escape_csv, "plain text", "plain text");
	check_escape(escape_csv, "", "");
	check_escape(escape_csv, "a,b", "\"a,b\"");
	check_escape(escape_csv, "say \"x\"", "\"say \"\"x\"\"\"");
	check_escape(escape_csv, "a\nb", "\"a\nb\"");
	check_escape(escape_csv, "a\rb", "\"a\rb\"");
	check_escape(escape_csv, " a", "\" a\"");
	check_escape(escape_csv, "a\t", "\"a\t\"");
	check_escape(escape_csv, "1.5", "1.5");
}

static void test_terminal(void **state)
{
	(void)state;
	check_escape(escape_terminal, "plain \xc2\xb5s", "plain \xc2\xb5s");
	check_escape(escape_terminal, "\x1b[31mred\x07", "?[31mred?");
	check_escape(escape_terminal, "a\nb\tc\x7f", "a?b?c?");
	check_escape(escape_terminal,
		     "\xc2\x9b"
		     "1m",
		     "?1m"); /* C1: CSI */
	check_escape(escape_terminal,
		     "\x9b"
		     "1m",
		     "?1m");
	check_escape(escape_terminal, "\xc0\xaf", "??");           /* overlong */
	check_escape(escape_terminal, "\xe0\x80\xaf", "???");      /* overlong */
	check_escape(escape_terminal, "\xed\xa0\x80", "???");      /* surrogate */
	check_escape(escape_terminal, "\xf4\x90\x80\x80", "????"); /* above U+10FFFF */
	check_escape(escape_terminal, "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80");
	check_escape(escape_terminal, "x\xe2\x82", "x??"); /* cut off */
	check_escape(escape_utf8, "a\x1b\n\xff\xc2\xb5", "a\x1b\n?\xc2\xb5");
}

static void test_distance(void **state)
{
	static const struct {
		const char *a, *b;
		unsigned distance;
	} rows[] = {
		{ "", "", 0 },
		{ "abc", "abc", 0 },
		{ "", "abc", 3 },
		{ "abc", "", 3 },
		{ "stride", "strid", 1 },
		{ "stride", "stride2", 1 },
		{ "stride", "stripe", 1 },
		{ "stride", "strdie", 1 },
		{ "page", "pages", 1 },
		{ "kitten", "sitting", 3 },
		{ "abcd", "dcba", 3 },
		{ "ca", "abc", 3 },
	};
	char longer[100], other[100];
	size_t i;

	(void)state;
	for (i = 0; i < LENGTH(rows); i++) {
		assert_int_equal(text_distance(rows[i].a, rows[i].b), rows[i].distance);
		assert_int_equal(text_distance(rows[i].b, rows[i].a), rows[i].distance);
	}
	memset(longer, 'x', 99);
	longer[99] = '\0';
	memcpy(other, longer, sizeof(other));
	assert_int_equal(text_distance(longer, other), 0);
	other[0] = 'y';
	assert_int_equal(text_distance(longer, other), 99);
	assert_int_equal(text_distance(longer, "x"), 99);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_err),         cmocka_unit_test(test_str),
		cmocka_unit_test(test_str_failure), cmocka_unit_test(test_arena),
		cmocka_unit_test(test_word),        cmocka_unit_test(test_word_round_trip),
		cmocka_unit_test(test_csv),         cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_distance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
