// SPDX-License-Identifier: MIT
/*
 * Numbers and units from the command line, one a line: what is accepted comes back the same when
 * written, what is refused has a message and leaves the result alone. Escaping: fuzz_words.c.
 */
#include "fuzz.h"

#include <errno.h>
#include <math.h>

#include "base/units.h"

static const uint64_t UNTOUCHED = 0x5bd1e995u;

/* Parses and checks the contract of errors; true when accepted. */
static int accepted(int (*parse)(const char *, uint64_t *, struct err *), const char *text,
		    uint64_t *ret)
{
	struct err e = { 0 };
	int rc;

	*ret = UNTOUCHED;
	rc = parse(text, ret, &e);
	CHECK(rc == 0 || rc == -EINVAL || rc == -ERANGE);
	CHECK(e.code == -rc && (rc == 0) == (e.msg[0] == '\0'));
	CHECK(rc == 0 || *ret == UNTOUCHED);
	return rc == 0;
}

static void numbers(const char *text)
{
	char buf[UNITS_TEXT_BYTES];
	uint64_t v, back;

	if (accepted(parse_u64, text, &v)) {
		CHECK(text[strspn(text, "0123456789")] == '\0');
		/* A plain number is also a size of as many bytes. */
		CHECK(accepted(parse_size, text, &back) && back == v);
	}
	if (accepted(parse_size, text, &v)) {
		CHECK(strlen(format_size(buf, v)) < sizeof(buf) - 1);
		CHECK(parse_size(buf, &back, NULL) == 0 && back == v);
		CHECK(strlen(format_size_human(buf, (double)v)) < sizeof(buf) - 1);
	}
	if (accepted(parse_time_ns, text, &v))
		CHECK(strlen(format_time_human(buf, (double)v)) < sizeof(buf) - 1);
}

static void reals(const char *text)
{
	char buf[UNITS_TEXT_BYTES];
	double v = 0, back = 1;

	if (parse_percent(text, &v, NULL) == 0)
		CHECK(v >= 0 && v <= 1e6);
	if (parse_real(text, &v, NULL) < 0)
		return;
	CHECK(isfinite(v));
	CHECK(parse_real(format_real(buf, v), &back, NULL) == 0);
	CHECK(!(v < back) && !(v > back));
	CHECK(strlen(format_digits(buf, v, 3)) < sizeof(buf) - 1);
}

static void lists(const char *text)
{
	struct u32_list l = { 0 }, back = { 0 };
	char *formatted;

	if (parse_u32_list(text, &l, NULL) < 0) {
		CHECK(!l.v && !l.n);
		return;
	}
	for (size_t i = 0; i < l.n; i++)
		CHECK(u32_list_contains(&l, l.v[i]) && (i == 0 || l.v[i - 1] < l.v[i]));
	formatted = format_u32_list(&l);
	CHECK(formatted);
	CHECK(parse_u32_list(formatted, &back, NULL) == 0 && back.n == l.n);
	CHECK(l.n == 0 || !memcmp(l.v, back.v, l.n * sizeof(*l.v)));
	free(formatted);
	u32_list_done(&l);
	u32_list_done(&back);
}

static void items(const char *text)
{
	for (int bytes = 0; bytes <= 1; bytes++) {
		struct u64_array a = { 0 };
		struct err e = { 0 };
		int rc = parse_item(text, bytes, &a, &e);

		CHECK(rc == 0 || rc == -EINVAL || rc == -ERANGE);
		CHECK(e.code == -rc && (rc == 0 ? a.n > 0 && a.n <= 100000 : a.n == 0));
		for (size_t i = 1; i < a.n; i++)
			CHECK(a.v[i - 1] < a.v[i]);
		u64_array_done(&a);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = fuzz_text(data, n), *rest = text, *line;

	lists(text); /* also with the newline of a /sys file */
	while ((line = strsep(&rest, "\n"))) {
		numbers(line);
		reals(line);
		lists(line);
		items(line);
	}
	free(text);
	return 0;
}
