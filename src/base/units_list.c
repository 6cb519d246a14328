/* SPDX-License-Identifier: MIT */
/*
 * CPU and node lists in the kernel's format (lib/bitmap.c of Linux, bitmap_parselist(), without its
 * ":used/group" strides), growing arrays of numbers, and the series of a VALUE on the command line.
 */
#include "base/units.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { MAX_ID = 1048575, MAX_VALUES = 100000, MAX_NUMBER_BYTES = 80 };

void u32_list_done(struct u32_list *l)
{
	if (!l)
		return;
	free(l->v);
	*l = (struct u32_list){ 0 };
}

int u32_list_contains(const struct u32_list *l, uint32_t value)
{
	size_t low = 0, high = l->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (l->v[mid] == value)
			return 1;
		if (l->v[mid] < value)
			low = mid + 1;
		else
			high = mid;
	}
	return 0;
}

/* Reads an id at *@p; false: none, or too large. */
static bool read_id(const char **p, uint32_t *ret)
{
	const char *q = *p;
	uint32_t v = 0;

	if (*q < '0' || *q > '9')
		return false;
	for (; *q >= '0' && *q <= '9'; q++) {
		v = v * 10 + (uint32_t)(*q - '0');
		if (v > MAX_ID)
			return false;
	}
	*p = q;
	*ret = v;
	return true;
}

/*
 * Finds the largest id of a list and, unless @seen is NULL, marks the ids in it (a byte each).
 * False: not a list.
 */
static bool scan_ids(const char *p, unsigned char *seen, uint32_t *ret_largest)
{
	uint32_t a, b;

	*ret_largest = 0;

	if (!*p || !strcmp(p, "\n"))
		return true;
	for (;;) {
		if (!read_id(&p, &a))
			return false;
		b = a;
		if (*p == '-') {
			p++;
			if (!read_id(&p, &b) || b < a)
				return false;
		}
		if (b > *ret_largest)
			*ret_largest = b;
		if (seen)
			memset(seen + a, 1, (size_t)(b - a) + 1);
		if (!*p || !strcmp(p, "\n"))
			return true;
		if (*p != ',')
			return false;
		p++;
	}
}

int parse_u32_list(const char *text, struct u32_list *ret_list, struct err *e)
{
	struct u32_list l = { 0 };
	unsigned char *seen;
	uint32_t largest, i;
	size_t n = 0;

	if (!scan_ids(text, NULL, &largest))
		return err_set(
			e, EINVAL,
			"'%.80s' is not a list: ids up to %d and ascending ranges, separated "
			"by commas, as in 0-3,8",
			text, MAX_ID);
	/* Marks, not a list to be sorted: memory is bounded however often a text repeats a range.
	 */
	seen = calloc((size_t)largest + 1, 1);
	if (!seen)
		return err_set(e, ENOMEM, "out of memory");
	(void)scan_ids(text, seen, &largest);
	for (i = 0; i <= largest; i++)
		n += seen[i];
	if (n) {
		l.v = malloc(n * sizeof(*l.v));
		if (!l.v) {
			free(seen);
			return err_set(e, ENOMEM, "out of memory");
		}
		for (i = 0; i <= largest; i++)
			if (seen[i])
				l.v[l.n++] = i;
	}
	free(seen);
	*ret_list = l;
	return 0;
}

char *format_u32_list(const struct u32_list *l)
{
	struct str s = { 0 };
	size_t i, j;

	str_add(&s, "");
	for (i = 0; i < l->n; i = j) {
		for (j = i + 1; j < l->n && l->v[j] == l->v[j - 1] + 1; j++)
			;
		str_addf(&s, "%s%u", i ? "," : "", l->v[i]);
		if (j > i + 1)
			str_addf(&s, "-%u", l->v[j - 1]);
	}
	if (s.failed) {
		str_done(&s);
		return NULL;
	}
	return s.data;
}

void u64_array_done(struct u64_array *a)
{
	if (!a)
		return;
	free(a->v);
	*a = (struct u64_array){ 0 };
}

int u64_array_add(struct u64_array *a, uint64_t value)
{
	if (a->n == a->cap) {
		size_t cap = a->cap ? a->cap * 2 : 16;
		uint64_t *v = reallocarray(a->v, cap, sizeof(*v));

		if (!v)
			return -ENOMEM;
		a->v = v;
		a->cap = cap;
	}
	a->v[a->n++] = value;
	return 0;
}

static int parse_number(const char *text, int unit_bytes, uint64_t *ret, struct err *e)
{
	return unit_bytes ? parse_size(text, ret, e) : parse_u64(text, ret, e);
}

/* The factor behind the x of "A..B:xFACTOR". */
static int parse_factor(const char *text, double *ret, struct err *e)
{
	double k = 0;

	/* A number as of the command line: no sign, no exponent. */
	if (text[strspn(text, "0123456789.")] || parse_real(text, &k, NULL) < 0)
		return err_set(e, EINVAL, "'x%.60s' is not a factor: digits, as in x2 or x1.25",
			       text);
	/* Below that a series over all of 64 bits would have more values than are allowed. */
	if (k < 1.001)
		return err_set(e, EINVAL, "factor 'x%.60s' is too small: at least x1.001", text);
	*ret = k;
	return 0;
}

static int add_geometric(uint64_t a, uint64_t b, double k, struct u64_array *out)
{
	bool exact = k == (double)(uint32_t)k && k < 4294967296.0;
	uint64_t factor = exact ? (uint64_t)k : 0, v = a;
	long double x = (long double)a;
	size_t first = out->n;

	for (;;) {
		if (v > b)
			return 0;
		if (out->n > first && out->v[out->n - 1] == v) {
			/* A small factor has not yet reached the next integer. */
		} else if (out->n >= MAX_VALUES) {
			return -ERANGE;
		} else if (u64_array_add(out, v) < 0) {
			return -ENOMEM;
		}
		if (exact) {
			if (__builtin_mul_overflow(v, factor, &v))
				return 0;
		} else {
			x *= (long double)k;
			if (x >= 18446744073709551615.0L)
				return 0;
			v = (uint64_t)(x + 0.5L);
		}
	}
}

static int add_arithmetic(uint64_t a, uint64_t b, uint64_t step, struct u64_array *out)
{
	uint64_t i, last = (b - a) / step;

	if (last >= MAX_VALUES || last + 1 > MAX_VALUES - out->n)
		return -ERANGE;
	for (i = 0; i <= last; i++)
		if (u64_array_add(out, a + i * step) < 0)
			return -ENOMEM;
	return 0;
}

/* "A..B[:STEP|:xFACTOR]", cut into @a, @b and @step (NULL: none) in place. */
static int add_series(const char *item, const char *a_text, const char *b_text, const char *step,
		      int unit_bytes, struct u64_array *out, struct err *e)
{
	uint64_t a = 0, b = 0, width = 1;
	double k = 0;
	int rc;

	rc = parse_number(a_text, unit_bytes, &a, e);
	if (!rc)
		rc = parse_number(b_text, unit_bytes, &b, e);
	if (!rc && step && step[0] == 'x')
		rc = parse_factor(step + 1, &k, e);
	else if (!rc && step)
		rc = parse_number(step, unit_bytes, &width, e);
	if (rc) {
		err_prefix(e, "series '%.60s': ", item);
		return rc;
	}
	if (b < a)
		return err_set(e, EINVAL, "series '%.60s' runs downwards: write A..B with A <= B",
			       item);
	if (width == 0)
		return err_set(e, EINVAL, "series '%.60s' has step 0: at least 1", item);
	if (k != 0 && a == 0)
		return err_set(e, EINVAL,
			       "series '%.60s' multiplies from 0 and never grows: start at 1",
			       item);
	return k != 0 ? add_geometric(a, b, k, out) : add_arithmetic(a, b, width, out);
}

int parse_item(const char *item, int unit_bytes, struct u64_array *ret_values, struct err *e)
{
	const char *dots = strstr(item, "..");
	char text[3 * MAX_NUMBER_BYTES], *colon;
	size_t before = ret_values->n;
	uint64_t v = 0;
	int rc;

	if (strlen(item) >= sizeof(text))
		return err_set(e, EINVAL, "'%.60s...' is too long for a number or a series", item);
	if (!dots) {
		rc = parse_number(item, unit_bytes, &v, e);
		if (rc)
			return rc;
		rc = before >= MAX_VALUES ? -ERANGE : u64_array_add(ret_values, v);
	} else {
		strcpy(text, item);
		text[dots - item] = '\0';
		colon = strchr(text + (dots - item) + 2, ':');
		if (colon)
			*colon++ = '\0';
		rc = add_series(item, text, text + (dots - item) + 2, colon, unit_bytes, ret_values,
				e);
	}
	if (rc == 0)
		return 0;
	ret_values->n = before;
	if (rc == -ERANGE)
		return err_set(e, ERANGE, "'%.60s' gives too many values: at most %d in all", item,
			       MAX_VALUES);
	return rc == -ENOMEM ? err_set(e, ENOMEM, "out of memory") : rc;
}
