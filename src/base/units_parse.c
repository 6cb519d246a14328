/* SPDX-License-Identifier: MIT */
/*
 * Parsing of numbers with units: exact integer arithmetic throughout, so that "1.3k" is refused
 * rather than rounded. Digits are compared as characters: nothing here depends on the locale.
 * Lists and ranges: units_list.c; formatting: units_format.c.
 */
#include "base/units.h"
#include "base/c_real.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

__extension__ typedef unsigned __int128 u128;

enum { FRACTION_DIGITS = 37 }; /* 10^37 and every numerator below it fit into 128 bits */

/* A decimal number as read: whole + numerator / denominator. */
struct decimal {
	uint64_t whole;
	u128 numerator, denominator;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Reads digits at *@p into @ret and moves *@p behind them. -EINVAL: no digit; -ERANGE: 2^64 or more
 * (*@p is behind the digits all the same).
 */
static int read_digits(const char **p, uint64_t *ret)
{
	uint64_t v = 0;
	bool over = false;

	if (!is_digit(**p))
		return -EINVAL;
	for (; is_digit(**p); (*p)++) {
		unsigned digit = (unsigned)(**p - '0');

		if (__builtin_mul_overflow(v, UINT64_C(10), &v) ||
		    __builtin_add_overflow(v, (uint64_t)digit, &v))
			over = true;
	}
	if (over)
		return -ERANGE;
	*ret = v;
	return 0;
}

/* Digits with an optional fraction; "1." and ".5" are refused. As read_digits(). */
static int read_decimal(const char **p, struct decimal *ret)
{
	struct decimal d = { 0, 0, 1 };
	const char *end;
	int rc = read_digits(p, &d.whole);

	if (rc == -EINVAL)
		return rc;
	if (**p == '.') {
		(*p)++;
		if (!is_digit(**p))
			return -EINVAL;
		for (end = *p; is_digit(*end); end++)
			;
		/* Trailing zeros say nothing and would only use up the digits. */
		while (end > *p && end[-1] == '0')
			end--;
		if (end - *p > FRACTION_DIGITS)
			rc = -EDOM;
		for (; rc == 0 && *p < end; (*p)++) {
			d.numerator = d.numerator * 10 + (unsigned)(**p - '0');
			d.denominator *= 10;
		}
		while (is_digit(**p))
			(*p)++;
	}
	if (rc == 0)
		*ret = d;
	return rc;
}

static u128 common_divisor(u128 a, u128 b)
{
	while (b) {
		u128 rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* @d times @unit, exactly. -EDOM: not a whole number; -ERANGE: 2^64 or more. */
static int scale(const struct decimal *d, uint64_t unit, uint64_t *ret)
{
	u128 num = d->numerator, den = d->denominator, divisor;
	uint64_t rest = unit, value;

	divisor = common_divisor(num, den);
	num /= divisor;
	den /= divisor;
	divisor = common_divisor(rest, den);
	rest = (uint64_t)(rest / divisor);
	den /= divisor;
	if (den != 1)
		return -EDOM;
	/* num/den < 1, so the product is below the unit and fits. */
	if (__builtin_mul_overflow(d->whole, unit, &value) ||
	    __builtin_add_overflow(value, (uint64_t)num * rest, &value))
		return -ERANGE;
	*ret = value;
	return 0;
}

int parse_u64(const char *text, uint64_t *ret_value, struct err *e)
{
	const char *p = text;
	uint64_t v = 0;
	int rc = read_digits(&p, &v);

	if (rc == -EINVAL || *p)
		return err_set(e, EINVAL, "'%.80s' is not a number: decimal digits only, as in 100",
			       text);
	if (rc)
		return err_set(e, ERANGE, "'%.80s' is too large: at most 18446744073709551615",
			       text);
	*ret_value = v;
	return 0;
}

/* Bytes of the unit at @p (all of the rest of the text), 0 if it is none. */
static uint64_t size_unit(const char *p)
{
	unsigned shift;

	if (!*p || !strcmp(p, "B"))
		return 1;
	switch (*p) {
	case 'k':
	case 'K':
		shift = 10;
		break;
	case 'm':
	case 'M':
		shift = 20;
		break;
	case 'g':
	case 'G':
		shift = 30;
		break;
	case 't':
	case 'T':
		shift = 40;
		break;
	default:
		return 0;
	}
	if (p[1] && strcmp(p + 1, "iB") != 0)
		return 0;
	return UINT64_C(1) << shift;
}

/* "gb", "GB", "Mb": what people write for g and m. Decimal or binary: we only ask. */
static bool is_byte_word(const char *p)
{
	return *p && strchr("kKmMgGtT", *p) && (p[1] == 'b' || p[1] == 'B') && !p[2];
}

int parse_size(const char *text, uint64_t *ret_bytes, struct err *e)
{
	const char *p = text;
	struct decimal d = { 0, 0, 1 };
	uint64_t unit = 0, v = 0;
	int rc = read_decimal(&p, &d);

	if (rc != -EINVAL)
		unit = size_unit(p);
	if (rc != -EINVAL && !unit && is_byte_word(p))
		return err_set(e, EINVAL, "'%.80s' is not a size; did you mean '%.*s%c'?", text,
			       (int)(p - text), text, *p | 0x20);
	if (rc == -EINVAL || !unit)
		return err_set(e, EINVAL,
			       "'%.80s' is not a size: digits, then nothing or B for bytes, or one "
			       "of k m g t (binary; also KiB ...), as in 4096, 4k or 1.5g",
			       text);
	if (!rc)
		rc = scale(&d, unit, &v);
	if (rc == -EDOM)
		return err_set(e, EINVAL, "size '%.80s' is not a whole number of bytes", text);
	if (rc)
		return err_set(e, ERANGE,
			       "size '%.80s' is too large: at most 18446744073709551615 bytes",
			       text);
	*ret_bytes = v;
	return 0;
}

int parse_time_ns(const char *text, uint64_t *ret_ns, struct err *e)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{ "ns", 1 },
		{ "us", 1000 },
		{ "ms", 1000000 },
		{ "s", 1000000000 },
		{ "m", UINT64_C(60000000000) },
		{ "h", UINT64_C(3600000000000) },
	};
	const char *p = text;
	struct decimal d = { 0, 0, 1 };
	uint64_t unit = 0, v = 0;
	int rc = read_decimal(&p, &d);
	size_t i;

	for (i = 0; rc != -EINVAL && i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(p, units[i].name))
			unit = units[i].ns;
	if (!unit)
		return err_set(e, EINVAL,
			       "'%.80s' is not a time: digits and one of ns us ms s m h, as in "
			       "500ms or 1.5h",
			       text);
	if (!rc)
		rc = scale(&d, unit, &v);
	if (rc == -EDOM)
		return err_set(e, EINVAL, "time '%.80s' is not a whole number of nanoseconds",
			       text);
	if (rc)
		return err_set(e, ERANGE, "time '%.80s' is too large: at most 5000000h", text);
	*ret_ns = v;
	return 0;
}

int parse_percent(const char *text, double *ret_ratio, struct err *e)
{
	const char *p = text;
	struct decimal d = { 0, 0, 1 };
	char digits[128];
	int rc = read_decimal(&p, &d);
	size_t n = (size_t)(p - text);

	if (rc == -EINVAL || strcmp(p, "%") != 0)
		return err_set(e, EINVAL,
			       "'%.80s' is not a share: digits and a percent sign, as in 2%% or "
			       "0.5%%",
			       text);
	if (!rc && n + sizeof("e-2") > sizeof(digits))
		rc = -EDOM;
	if (rc == -EDOM)
		return err_set(e, EINVAL, "share '%.80s' has too many digits", text);
	if (rc || d.whole > 100000000 || (d.whole == 100000000 && d.numerator))
		return err_set(e, ERANGE, "share '%.80s' is too large: at most 100000000%%", text);
	/* "0.5" with an exponent: correctly rounded once, where a division would round again. */
	memcpy(digits, text, n);
	memcpy(digits + n, "e-2", sizeof("e-2"));
	*ret_ratio = c_strtod(digits);
	return 0;
}

/* Whether @p is [-]digits[.digits][e[+-]digits]; *ret_zero: all digits of the mantissa are 0. */
static bool is_real(const char *p, bool *ret_zero)
{
	bool zero = true;

	p += *p == '-';
	if (!is_digit(*p))
		return false;
	for (; is_digit(*p); p++)
		zero = zero && *p == '0';
	if (*p == '.') {
		p++;
		if (!is_digit(*p))
			return false;
		for (; is_digit(*p); p++)
			zero = zero && *p == '0';
	}
	if (*p == 'e' || *p == 'E') {
		p++;
		p += *p == '+' || *p == '-';
		if (!is_digit(*p))
			return false;
		while (is_digit(*p))
			p++;
	}
	*ret_zero = zero;
	return !*p;
}

int parse_real(const char *text, double *ret_value, struct err *e)
{
	bool zero = false;
	double v;

	if (!is_real(text, &zero))
		return err_set(e, EINVAL, "'%.80s' is not a number: as in 0.25, -3.5 or 1.5e-7",
			       text);
	v = c_strtod(text);
	if (!isfinite(v) || (v == 0.0 && !zero))
		return err_set(e, ERANGE, "'%.80s' is out of range: 1e-320 to 1e308", text);
	*ret_value = v;
	return 0;
}
