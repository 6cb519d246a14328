/* SPDX-License-Identifier: MIT */
/*
 * units_format.c: exact texts, and round trips through the parsers.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/units.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static void test_size(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = {
		{ 0, "0" },
		{ 1, "1" },
		{ 100, "100" },
		{ 1023, "1023" },
		{ 1024, "1k" },
		{ 1100, "1100" },
		{ 1536, "1.5k" },
		{ 4096, "4k" },
		{ 4097, "4097" },
		{ 2097152, "2m" },
		{ 786432, "768k" },
		{ 1310720, "1.25m" },
		{ UINT64_C(1342177280), "1.25g" },
		{ UINT64_C(1610612736), "1.5g" },
		{ UINT64_C(1) << 40, "1t" },
		{ (UINT64_C(32) << 20) + 128, "33554560" },
		{ UINT64_C(1) << 63, "8388608t" },
		{ UINT64_MAX, "18446744073709551615" },
	};
	char buf[UNITS_TEXT_BYTES];
	size_t i;

	(void)state;
	for (i = 0; i < LENGTH(rows); i++)
		assert_string_equal(format_size(buf, rows[i].bytes), rows[i].text);
}

static void test_size_round_trip(void **state)
{
	struct rng r;
	char buf[UNITS_TEXT_BYTES];
	int i;

	(void)state;
	rng_seed(&r, 1);
	for (i = 0; i < 20000; i++) {
		/* Numbers of every length, half of them with low bits clear. */
		uint64_t v = rng_next(&r) >> rng_below(&r, 64), back = ~v;

		if (i % 2)
			v &= ~((UINT64_C(1) << rng_below(&r, 50)) - 1);
		if (parse_size(format_size(buf, v), &back, NULL) || back != v)
			fail_msg("%llu -> '%s' -> %llu", (unsigned long long)v, buf,
				 (unsigned long long)back);
	}
}

struct text_row {
	double value;
	const char *text;
};

static void test_size_human(void **state)
{
	static const struct text_row rows[] = {
		{ 0, "0 B" },
		{ 100, "100 B" },
		{ 1023, "1023 B" },
		{ 1023.6, "1 KiB" },
		{ 4096, "4 KiB" },
		{ 1536 * 1048576.0, "1.5 GiB" },
		{ 3586129, "3.42 MiB" },
		{ 131072, "128 KiB" },
		{ 1000.0 * 1024, "1000 KiB" },
		{ 1023.99 * 1024, "1 MiB" },
		{ -4096, "-4 KiB" },
		{ 0x1p64, "16 EiB" },
		{ NAN, "null" },
		{ INFINITY, "null" },
	};
	char buf[UNITS_TEXT_BYTES];
	size_t i;

	(void)state;
	for (i = 0; i < LENGTH(rows); i++)
		assert_string_equal(format_size_human(buf, rows[i].value), rows[i].text);
}

static void test_time_human(void **state)
{
	static const struct text_row rows[] = {
		{ 0, "0 ns" },         { 1.37, "1.37 ns" },   { 0.0123, "0.0123 ns" },
		{ 12.4, "12.4 ns" },   { 12400, "12.4 us" },  { 3.1e6, "3.1 ms" },
		{ 2.5e9, "2.5 s" },    { 999.4, "999 ns" },   { 999.9, "1 us" },
		{ 99.96, "100 ns" },   { -1370, "-1.37 us" }, { 1.5e14, "150000 s" },
		{ 1e300, "1e+291 s" }, { NAN, "null" },       { -INFINITY, "null" },
	};
	char buf[UNITS_TEXT_BYTES];
	size_t i;

	(void)state;
	for (i = 0; i < LENGTH(rows); i++)
		assert_string_equal(format_time_human(buf, rows[i].value), rows[i].text);
}

static void test_real(void **state)
{
	static const struct text_row rows[] = {
		{ 0.3, "0.3" },
		{ 1.23456e-07, "1.23456e-07" },
		{ 500000000000.0, "500000000000" },
		{ 0, "0" },
		{ -0.5, "-0.5" },
		{ 1e22, "1e+22" },
		{ 5e-324, "5e-324" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ NAN, "null" },
	};
	char buf[UNITS_TEXT_BYTES];
	size_t i;

	(void)state;
	for (i = 0; i < LENGTH(rows); i++)
		assert_string_equal(format_real(buf, rows[i].value), rows[i].text);
}

static void test_real_round_trip(void **state)
{
	struct rng r;
	char buf[UNITS_TEXT_BYTES];
	int i, tried = 0;

	(void)state;
	rng_seed(&r, 2);
	for (i = 0; i < 20000; i++) {
		uint64_t bits = rng_next(&r);
		double v, back = NAN;

		memcpy(&v, &bits, sizeof(v)); /* also subnormals and extremes */
		if (!isfinite(v))
			continue;
		tried++;
		if (parse_real(format_real(buf, v), &back, NULL) || back != v)
			fail_msg("%a -> '%s' -> %a", v, buf, back);
	}
	assert_true(tried > 19000);
}

static void test_digits(void **state)
{
	static const struct {
		double value;
		int digits;
		const char *text;
	} rows[] = {
		{ 3.814, 3, "3.81" },
		{ 27, 3, "27.0" },
		{ 1234, 3, "1230" },
		{ 999.9, 3, "1000" },
		{ 9.996, 3, "10.0" },
		{ 0.001234, 3, "0.00123" },
		{ 0.5, 1, "0.5" },
		{ 5.6, 1, "6" },
		{ -2.345, 3, "-2.35" },
		{ 100, 3, "100" },
		{ 0, 3, "0" },
		{ 1e20, 3, "100000000000000000000" },
		{ 1e30, 3, "1.00e+30" },
		{ 1e-20, 2, "1.0e-20" },
		{ 1.5, 0, "2" },
		{ 1.5, -3, "2" },
		{ 1.0 / 3, 99, "0.33333333333333331" },
		{ NAN, 3, "null" },
		{ INFINITY, 3, "null" },
	};
	char buf[UNITS_TEXT_BYTES];
	size_t i;

	(void)state;
	for (i = 0; i < LENGTH(rows); i++)
		assert_string_equal(format_digits(buf, rows[i].value, rows[i].digits),
				    rows[i].text);
}

/* No format may leave its buffer, whatever the number. */
static void test_extremes_fit(void **state)
{
	struct rng r;
	int i;

	(void)state;
	rng_seed(&r, 3);
	for (i = 0; i < 20000; i++) {
		struct {
			char buf[UNITS_TEXT_BYTES];
			char guard[8];
		} x;
		uint64_t bits = rng_next(&r);
		double v;

		memset(&x, '#', sizeof(x));
		memcpy(&v, &bits, sizeof(v));
		assert_true(strlen(format_digits(x.buf, v, (int)rng_below(&r, 25))) <
			    sizeof(x.buf));
		assert_true(strlen(format_size_human(x.buf, v)) < sizeof(x.buf));
		assert_true(strlen(format_time_human(x.buf, v)) < sizeof(x.buf));
		assert_true(strlen(format_real(x.buf, v)) < sizeof(x.buf));
		assert_true(strlen(format_size(x.buf, bits)) < sizeof(x.buf));
		assert_memory_equal(x.guard, "########", 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_size),       cmocka_unit_test(test_size_round_trip),
		cmocka_unit_test(test_size_human), cmocka_unit_test(test_time_human),
		cmocka_unit_test(test_real),       cmocka_unit_test(test_real_round_trip),
		cmocka_unit_test(test_digits),     cmocka_unit_test(test_extremes_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
