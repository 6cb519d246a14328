/* SPDX-License-Identifier: MIT */
/* kernel_text.c: numbers, keys, choices, masks, limits. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/kernel_text.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static void test_numbers(void **state)
{
	static const struct {
		const char *text;
		int rc;
		uint64_t value;
	} rows[] = {
		{ "0", 0, 0 },
		{ "42\n", 0, 42 },
		{ " \t42 \n", 0, 42 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "99999999999999999999999", -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "\n", -EINVAL, 0 },
		{ "-1\n", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },
		{ "1 2", -EINVAL, 0 },
		{ "1\n\n", -EINVAL, 0 },
		{ "max", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		uint64_t v = 7;

		assert_int_equal(ktext_u64(rows[i].text, &v), rows[i].rc);
		assert_int_equal(v, rows[i].rc ? 7 : rows[i].value);
	}
}

static void test_limits(void **state)
{
	static const struct {
		const char *text;
		int rc;
		uint64_t value;
	} rows[] = {
		{ "max\n", 0, UINT64_MAX }, { "unlimited", 0, UINT64_MAX }, { "4096\n", 0, 4096 },
		{ "maximum", -EINVAL, 0 },  { "max4", -EINVAL, 0 },         { "-1", -EINVAL, 0 },
		{ "unlimit", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		uint64_t v = 7;

		assert_int_equal(ktext_limit(rows[i].text, &v), rows[i].rc);
		assert_int_equal(v, rows[i].rc ? 7 : rows[i].value);
	}
}

static const char keys[] = "MemTotal:       16 kB\n"
			   "MemFree: 3 kB\n"
			   "HugePages_Total:       5\n"
			   "Node 12 MemUsed:     7 kB\n"
			   "thp_fault_alloc 9\n"
			   "cpu family\t: 25\n"
			   "Minus: -3 kB\n"
			   "Megabytes: 3 MB\n"
			   "Huge: 18014398509481984 kB\n"
			   "TooLong: 18446744073709551616\n"
			   "Empty:\n"
			   "Last: 1 kB";

static void test_keys(void **state)
{
	static const struct {
		const char *key;
		int rc;
		uint64_t value;
	} rows[] = {
		{ "MemTotal", 0, 16384 },    { "MemFree", 0, 3072 },
		{ "HugePages_Total", 0, 5 }, { "MemUsed", 0, 7168 },
		{ "thp_fault_alloc", 0, 9 }, { "Last", 0, 1024 },
		{ "cpu family", 0, 25 },     { "cpu", -ENODATA, 0 },
		{ "Mem", -ENODATA, 0 },      { "memtotal", -ENODATA, 0 },
		{ "Node", -ENODATA, 0 },     { "thp_fault", -ENODATA, 0 },
		{ "Minus", -EINVAL, 0 },     { "Megabytes", -EINVAL, 0 },
		{ "Empty", -EINVAL, 0 },     { "Huge", -ERANGE, 0 },
		{ "TooLong", -ERANGE, 0 },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		uint64_t v = 7;

		assert_int_equal(ktext_key(keys, rows[i].key, &v), rows[i].rc);
		assert_int_equal(v, rows[i].rc ? 7 : rows[i].value);
	}
	assert_int_equal(ktext_key("", "x", &(uint64_t){ 0 }), -ENODATA);
}

static void test_fields(void **state)
{
	static const char text[] = "processor\t: 0\n"
				   "cpu family\t: 25\n"
				   "model name\t:   AMD EPYC 7763  \n"
				   "flags\t\t: fpu lm  hypervisor\n"
				   "bugs\t\t:\n";
	char buf[32] = "old";

	(void)state;
	assert_int_equal(ktext_field(text, "model name", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "AMD EPYC 7763");
	assert_int_equal(ktext_field(text, "bugs", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "");
	assert_int_equal(ktext_field(text, "model name", buf, 13), -EMSGSIZE);
	assert_int_equal(ktext_field(text, "model name", buf, 14), 0);
	/* "cpu family" is no line of "cpu", nor "model name" one of "model". */
	assert_int_equal(ktext_field(text, "cpu", buf, sizeof(buf)), -ENODATA);
	assert_int_equal(ktext_field(text, "model", buf, sizeof(buf)), -ENODATA);
	assert_true(ktext_has_word(text, "flags", "lm"));
	assert_true(ktext_has_word(text, "flags", "hypervisor"));
	assert_true(ktext_has_word(text, "flags", "fpu"));
	assert_false(ktext_has_word(text, "flags", "hyper"));
	assert_false(ktext_has_word(text, "flags", "visor"));
	assert_false(ktext_has_word(text, "bugs", "fpu"));
	assert_false(ktext_has_word(text, "Features", "lm"));
}

static void test_choices(void **state)
{
	static const struct {
		const char *text;
		int rc;
		const char *word;
	} rows[] = {
		{ "always [madvise] never\n", 0, "madvise" },
		{ "[always]", 0, "always" },
		{ "a [b] [c]", 0, "b" },
		{ "always madvise never\n", -EINVAL, "" },
		{ "always [] never", -EINVAL, "" },
		{ "always [madvise\n] never", -EINVAL, "" },
		{ "always ]madvise[ never", -EINVAL, "" },
		{ "x\n[y]", -EINVAL, "" },
		{ "", -EINVAL, "" },
		{ "[longer-than-that]", -EMSGSIZE, "" },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		char buf[8] = "old";

		assert_int_equal(ktext_choice(rows[i].text, buf, sizeof(buf)), rows[i].rc);
		assert_string_equal(buf, rows[i].rc ? "old" : rows[i].word);
	}
}

static void test_masks(void **state)
{
	static const struct {
		const char *text;
		const char *list; /* NULL: refused */
	} rows[] = {
		{ "0", "" },
		{ "3\n", "0-1" },
		{ "ff", "0-7" },
		{ "A", "1,3" },
		{ "00000001,00000000\n", "32" },
		{ "80000000,00000000,00000001", "0,95" },
		{ "", NULL },
		{ "\n", NULL },
		{ ",", NULL },
		{ "0x3", NULL },
		{ "3 ", NULL },
		{ "3\n3", NULL },
		{ "-1", NULL },
		{ "g", NULL },
	};

	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct u32_list l = { 0 };
		int rc = ktext_mask(rows[i].text, &l);
		char *text;

		if (!rows[i].list) {
			assert_int_equal(rc, -EINVAL);
			assert_null(l.v);
			continue;
		}
		assert_int_equal(rc, 0);
		text = format_u32_list(&l);
		assert_string_equal(text, rows[i].list);
		free(text);
		u32_list_done(&l);
	}
}

static void test_rlimits(void **state)
{
	static const char text[] =
		"Limit                     Soft Limit           Hard Limit           Units     \n"
		"Max data size             2147483648           unlimited            bytes     \n"
		"Max address space         unlimited            unlimited            bytes     \n"
		"Max bad                   12x                  unlimited            bytes     \n";
	uint64_t v = 7;

	(void)state;
	assert_int_equal(ktext_rlimit(text, "Max data size", &v), 0);
	assert_int_equal(v, 2147483648);
	assert_int_equal(ktext_rlimit(text, "Max address space", &v), 0);
	assert_true(v == UINT64_MAX);
	v = 7;
	assert_int_equal(ktext_rlimit(text, "Max data", &v), -EINVAL);
	assert_int_equal(ktext_rlimit(text, "Max bad", &v), -EINVAL);
	assert_int_equal(ktext_rlimit(text, "Max stack size", &v), -ENODATA);
	assert_int_equal(v, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_limits),
		cmocka_unit_test(test_keys),    cmocka_unit_test(test_fields),
		cmocka_unit_test(test_choices), cmocka_unit_test(test_masks),
		cmocka_unit_test(test_rlimits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
