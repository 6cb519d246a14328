/* SPDX-License-Identifier: MIT */
/*
 * units_parse.c: what is accepted gives exactly that value, what is refused gives that error, a
 * message that names the text, and leaves the result alone.
 */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

typedef int (*parse_fn)(const char *text, uint64_t *ret, struct err *e);

struct row {
	const char *text;
	int rc;
	uint64_t value;
};

static const uint64_t UNTOUCHED = 0xdeadbeef;

static void check_row(parse_fn parse, const struct row *row)
{
	struct err e = { 0 };
	uint64_t v = UNTOUCHED;
	int rc = parse(row->text, &v, &e);

	if (rc != row->rc)
		fail_msg("'%s': result %d, expected %d", row->text, rc, row->rc);
	if (v != (row->rc ? UNTOUCHED : row->value))
		fail_msg("'%s': value %llu", row->text, (unsigned long long)v);
	assert_int_equal(e.code, -row->rc);
	if (row->rc && strlen(row->text) < 60 && !strstr(e.msg, row->text))
		fail_msg("'%s': not named in '%s'", row->text, e.msg);
	/* Nobody has to want the message. */
	assert_int_equal(parse(row->text, &v, NULL), row->rc);
}

static void check_rows(parse_fn parse, const struct row *rows, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		check_row(parse, &rows[i]);
}

static void test_u64(void **state)
{
	static const struct row rows[] = {
		{ "0", 0, 0 },
		{ "1", 0, 1 },
		{ "007", 0, 7 },
		{ "100", 0, 100 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "0000000000000000000000000000000000000005", 0, 5 },
		{ "", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 },
		{ "1 ", -EINVAL, 0 },
		{ "1\n", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },
		{ "1e9", -EINVAL, 0 },
		{ "1.0", -EINVAL, 0 },
		{ "1,000", -EINVAL, 0 },
		{ "4k", -EINVAL, 0 },
		{ "nan", -EINVAL, 0 },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "99999999999999999999999999", -ERANGE, 0 },
		{ "18446744073709551616x", -EINVAL, 0 },
	};

	(void)state;
	check_rows(parse_u64, rows, LENGTH(rows));
}

static void test_size(void **state)
{
	static const struct row rows[] = {
		{ "100", 0, 100 },
		{ "0", 0, 0 },
		{ "100B", 0, 100 },
		{ "4k", 0, 4096 },
		{ "4K", 0, 4096 },
		{ "4KiB", 0, 4096 },
		{ "4kiB", 0, 4096 },
		{ "2m", 0, 2097152 },
		{ "2MiB", 0, 2097152 },
		{ "3.5g", 0, UINT64_C(3758096384) },
		{ "1t", 0, UINT64_C(1099511627776) },
		{ "1.5TiB", 0, UINT64_C(1649267441664) },
		{ "0.5k", 0, 512 },
		{ "1.0", 0, 1 },
		{ "2.000000000000000000000000000000000000000000B", 0, 2 },
		{ "0.0009765625k", 0, 1 },
		{ "0.000000000000909494701772928237915039062t", -EINVAL, 0 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551615B", 0, UINT64_MAX },
		{ "16777215.5t", 0, UINT64_MAX - (UINT64_C(1) << 39) + 1 },
		{ "1.3k", -EINVAL, 0 },
		{ "0.1", -EINVAL, 0 },
		{ "1.5B", -EINVAL, 0 },
		{ "4kB", -EINVAL, 0 },
		{ "4KB", -EINVAL, 0 },
		{ "4kb", -EINVAL, 0 },
		{ "4KIB", -EINVAL, 0 },
		{ "4kib", -EINVAL, 0 },
		{ "4kiBs", -EINVAL, 0 },
		{ "100b", -EINVAL, 0 },
		{ "100BB", -EINVAL, 0 },
		{ "100iB", -EINVAL, 0 },
		{ " 4k", -EINVAL, 0 },
		{ "4k ", -EINVAL, 0 },
		{ "4 k", -EINVAL, 0 },
		{ "4kk", -EINVAL, 0 },
		{ "1p", -EINVAL, 0 },
		{ "k", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ ".", -EINVAL, 0 },
		{ ".5k", -EINVAL, 0 },
		{ "1.k", -EINVAL, 0 },
		{ "1.", -EINVAL, 0 },
		{ "1.2.3", -EINVAL, 0 },
		{ "1,5g", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
		{ "+4k", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },
		{ "1e9", -EINVAL, 0 },
		{ "16m+128", -EINVAL, 0 },
		{ "inf", -EINVAL, 0 },
		{ "18446744073709551616", -ERANGE, 0 },
		{ "18446744073709551615.5", -EINVAL, 0 },
		{ "16777216t", -ERANGE, 0 },
		{ "18014398509481984k", -ERANGE, 0 },
		{ "99999999999999999999t", -ERANGE, 0 },
	};

	(void)state;
	check_rows(parse_size, rows, LENGTH(rows));
}

static void test_size_as_others_write_it(void **state)
{
	static const struct {
		const char *text, *meant;
	} rows[] = {
		{ "8gb", "did you mean '8g'?" },
		{ "8GB", "did you mean '8g'?" },
		{ "1.5Mb", "did you mean '1.5m'?" },
		{ "8gbs", "as in 4096" },
		{ "8xb", "as in 4096" },
		{ "gb", "as in 4096" },
	};
	(void)state;
	for (size_t i = 0; i < LENGTH(rows); i++) {
		struct err e = { 0 };
		uint64_t v;

		assert_int_equal(parse_size(rows[i].text, &v, &e), -EINVAL);
		assert_non_null(strstr(e.msg, rows[i].meant));
	}
}

static void test_time(void **state)
{
	static const struct row rows[] = {
		{ "10s", 0, UINT64_C(10000000000) },
		{ "500ms", 0, 500000000 },
		{ "250us", 0, 250000 },
		{ "100ns", 0, 100 },
		{ "2m", 0, UINT64_C(120000000000) },
		{ "1h", 0, UINT64_C(3600000000000) },
		{ "1.5h", 0, UINT64_C(5400000000000) },
		{ "0.001us", 0, 1 },
		{ "0s", 0, 0 },
		{ "18446744073709551615ns", 0, UINT64_MAX },
		{ "10", -EINVAL, 0 },
		{ "0.5ns", -EINVAL, 0 },
		{ "s", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "10 s", -EINVAL, 0 },
		{ "10S", -EINVAL, 0 },
		{ "10sec", -EINVAL, 0 },
		{ "10min", -EINVAL, 0 },
		{ "-10s", -EINVAL, 0 },
		{ "1e3s", -EINVAL, 0 },
		{ "1,5s", -EINVAL, 0 },
		{ "1d", -EINVAL, 0 },
		{ "5124096h", -ERANGE, 0 },
		{ "18446744073709551616ns", -ERANGE, 0 },
	};

	(void)state;
	check_rows(parse_time_ns, rows, LENGTH(rows));
}

struct real_row {
	const char *text;
	int rc;
	double value;
};

static void check_reals(int (*parse)(const char *, double *, struct err *),
			const struct real_row *rows, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct err e = { 0 };
		double v = -77.0;
		int rc = parse(rows[i].text, &v, &e);

		if (rc != rows[i].rc || v != (rc ? -77.0 : rows[i].value))
			fail_msg("'%s': result %d, value %.17g", rows[i].text, rc, v);
		assert_int_equal(e.code, -rc);
	}
}

static const struct real_row percents[] = {
	{ "2%", 0, 0.02 },
	{ "0.5%", 0, 0.005 },
	{ "0%", 0, 0.0 },
	{ "7%", 0, 0.07 },
	{ "100%", 0, 1.0 },
	{ "250%", 0, 2.5 },
	{ "100000000%", 0, 1e6 },
	{ "100000000.1%", -ERANGE, 0 },
	{ "18446744073709551616%", -ERANGE, 0 },
	{ "2", -EINVAL, 0 },
	{ "0.02", -EINVAL, 0 },
	{ "%", -EINVAL, 0 },
	{ "2 %", -EINVAL, 0 },
	{ "2%%", -EINVAL, 0 },
	{ "-2%", -EINVAL, 0 },
	{ "0,5%", -EINVAL, 0 },
	{ "1e1%", -EINVAL, 0 },
	{ "0.12345678901234567890123456789012345678901%", -EINVAL, 0 },
	{ "", -EINVAL, 0 },
};

static const struct real_row reals[] = {
	{ "0.25", 0, 0.25 },
	{ "12", 0, 12 },
	{ "-3.5", 0, -3.5 },
	{ "1.5e-7", 0, 1.5e-7 },
	{ "1E+3", 0, 1000 },
	{ "0e999999", 0, 0 },
	{ "0.1", 0, 0.1 },
	{ "5e-324", 0, 5e-324 },
	{ "1.7976931348623157e308", 0, 1.7976931348623157e308 },
	{ "1e309", -ERANGE, 0 },
	{ "-1e309", -ERANGE, 0 },
	{ "1e-400", -ERANGE, 0 },
	{ "", -EINVAL, 0 },
	{ "-", -EINVAL, 0 },
	{ "+1", -EINVAL, 0 },
	{ ".5", -EINVAL, 0 },
	{ "5.", -EINVAL, 0 },
	{ "1e", -EINVAL, 0 },
	{ "1e+", -EINVAL, 0 },
	{ " 1", -EINVAL, 0 },
	{ "1 ", -EINVAL, 0 },
	{ "0x1p3", -EINVAL, 0 },
	{ "nan", -EINVAL, 0 },
	{ "inf", -EINVAL, 0 },
	{ "1,5", -EINVAL, 0 },
	{ "--1", -EINVAL, 0 },
};

static void test_percent(void **state)
{
	(void)state;
	check_reals(parse_percent, percents, LENGTH(percents));
}

static void test_real(void **state)
{
	(void)state;
	check_reals(parse_real, reals, LENGTH(reals));
}

/* The same tables once more where the decimal point is a comma. */
static void test_locale(void **state)
{
	static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8" };
	char buf[UNITS_TEXT_BYTES], text[32];
	size_t i;

	for (i = 0; i < LENGTH(names) && !setlocale(LC_ALL, names[i]); i++)
		;
	if (i == LENGTH(names))
		skip();
	snprintf(text, sizeof(text), "%.1f", 0.5);
	assert_string_equal(text, "0,5"); /* else this tests nothing */
	test_percent(state);
	test_real(state);
	test_size(state);
	test_time(state);
	assert_string_equal(format_real(buf, 1234.5), "1234.5");
	assert_string_equal(format_digits(buf, 3.814, 3), "3.81");
	assert_string_equal(format_size_human(buf, 1.5 * 1024), "1.5 KiB");
	assert_string_equal(format_time_human(buf, 1.37), "1.37 ns");
	snprintf(text, sizeof(text), "%.1f", 0.5);
	assert_string_equal(text, "0,5"); /* the caller's locale is as before */
	setlocale(LC_ALL, "C");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_u64),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_size_as_others_write_it),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_percent),
		cmocka_unit_test(test_real),
		cmocka_unit_test(test_locale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
