/* SPDX-License-Identifier: MIT */
/*
 * Formatting of numbers with units. printf() writes the decimal point of the locale, so every
 * conversion of a double runs with this thread's locale set to "C" for that one call.
 */
#include "base/units.h"
#include "base/c_real.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What stands for a value that is not finite: never a number, and JSON's word for it. */
static const char *no_value(char *buf)
{
	memcpy(buf, "null", 5);
	return buf;
}

static void c_format(char *buf, size_t n, const char *fmt, int digits, double value)
	__attribute__((format(printf, 3, 0)));

static void c_format(char *buf, size_t n, const char *fmt, int digits, double value)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	locale_t old = c == (locale_t)0 ? (locale_t)0 : uselocale(c);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(buf, n, fmt, digits, value);
#pragma GCC diagnostic pop
	if (c != (locale_t)0) {
		uselocale(old);
		freelocale(c);
	}
}

const char *format_size(char buf[UNITS_TEXT_BYTES], uint64_t bytes)
{
	static const char suffix[] = "kmgt";
	char text[UNITS_TEXT_BYTES];
	unsigned i;

	snprintf(buf, UNITS_TEXT_BYTES, "%llu", (unsigned long long)bytes);
	for (i = 0; i < 4; i++) {
		uint64_t unit = UINT64_C(1) << (10 * (i + 1)), rest = bytes & (unit - 1);
		int n;

		if (bytes < unit)
			break;
		n = snprintf(text, sizeof(text), "%llu", (unsigned long long)(bytes / unit));
		/* Six decimals: more would not be shorter than the plain number of a smaller unit.
		 */
		if (rest)
			text[n++] = '.';
		while (rest && n < 30) {
			rest *= 10;
			text[n++] = (char)('0' + rest / unit);
			rest &= unit - 1;
		}
		if (rest)
			continue;
		text[n++] = suffix[i];
		text[n] = '\0';
		/* The shortest text; of two alike the larger unit: 1.5g, not 1536m. */
		if ((size_t)n <= strlen(buf))
			memcpy(buf, text, (size_t)n + 1);
	}
	return buf;
}

/* Three digits, without trailing zeros after the point; numbers from 100 on are rounded whole. */
static void three_digits(char buf[UNITS_TEXT_BYTES], double value)
{
	double size = fabs(value);
	char *end;

	if (size >= 99.95) {
		c_format(buf, UNITS_TEXT_BYTES, "%.*f", 0, value);
		return;
	}
	format_digits(buf, value, 3);
	if (!strchr(buf, '.') || strchr(buf, 'e'))
		return;
	for (end = buf + strlen(buf); end[-1] == '0'; end--)
		;
	end[-(end[-1] == '.')] = '\0';
}

/* Divides @value down the ladder of @units, whose steps are @step apart. */
static const char *format_ladder(char *buf, double value, double step, const char *const *units,
				 size_t n_units)
{
	char number[UNITS_TEXT_BYTES];
	size_t i = 0;

	if (!isfinite(value))
		return no_value(buf);
	/* The rounded number decides, so that 1023.9 KiB reads 1 MiB and not 1024 KiB. */
	while (i + 1 < n_units && fabs(value) >= step - 0.5) {
		value /= step;
		i++;
	}
	if (fabs(value) >= 1e15)
		c_format(number, sizeof(number), "%.*g", 3, value);
	else
		three_digits(number, value);
	snprintf(buf, UNITS_TEXT_BYTES, "%.30s %s", number, units[i]);
	return buf;
}

const char *format_size_human(char buf[UNITS_TEXT_BYTES], double bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };

	return format_ladder(buf, bytes, 1024.0, units, sizeof(units) / sizeof(units[0]));
}

const char *format_time_human(char buf[UNITS_TEXT_BYTES], double ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };

	return format_ladder(buf, ns, 1000.0, units, sizeof(units) / sizeof(units[0]));
}

const char *format_real(char buf[UNITS_TEXT_BYTES], double value)
{
	/*
	 * Up to 15 digits survive the way through a double, so 15 digits with the trailing zeros
	 * dropped are the shortest text if they suffice; subnormal numbers carry fewer.
	 */
	int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG;

	if (!isfinite(value))
		return no_value(buf);
	for (; digits <= DBL_DECIMAL_DIG; digits++) {
		c_format(buf, UNITS_TEXT_BYTES, "%.*g", digits, value);
		if (c_strtod(buf) == value)
			break;
	}
	return buf;
}

const char *format_digits(char buf[UNITS_TEXT_BYTES], double value, int digits)
{
	char text[UNITS_TEXT_BYTES];
	int exponent, i;
	char *out = buf;

	if (!isfinite(value))
		return no_value(buf);
	if (digits < 1)
		digits = 1;
	if (digits > DBL_DECIMAL_DIG)
		digits = DBL_DECIMAL_DIG;
	if (value == 0.0) {
		memcpy(buf, "0", 2);
		return buf;
	}
	c_format(text, sizeof(text), "%.*e", digits - 1, fabs(value));
	exponent = atoi(strchr(text, 'e') + 1);
	/* Beyond this plain notation would not fit the buffer, nor any table. */
	if (exponent > 20 || exponent < -15) {
		c_format(buf, UNITS_TEXT_BYTES, "%.*e", digits - 1, value);
		return buf;
	}
	if (digits > 1)
		memmove(text + 1, text + 2, (size_t)digits - 1);
	if (value < 0.0)
		*out++ = '-';
	if (exponent < 0) {
		*out++ = '0';
		*out++ = '.';
		for (i = -1; i > exponent; i--)
			*out++ = '0';
	}
	for (i = 0; i < digits || i <= exponent; i++) {
		if (exponent >= 0 && i == exponent + 1)
			*out++ = '.';
		*out++ = i < digits ? text[i] : '0';
	}
	*out = '\0';
	return buf;
}
