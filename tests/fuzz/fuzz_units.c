// SPDX-License-Identifier: MIT
/*
 * Numbers and units from the command line, one a line: what is accepted comes back the same when
 * written.
 */
#include "fuzz.h"

#include <math.h>

#include "base/escape.h"
#include "base/units.h"

static void sizes(const char *text)
{
	char buf[UNITS_TEXT_BYTES];
	uint64_t value = 1, again = 2;
	struct err e = { 0 };

	if (parse_size(text, &value, &e)) {
		CHECK(e.code && e.msg[0] && value == 1);
		return;
	}
	CHECK(parse_size(format_size(buf, value), &again, NULL) == 0);
	CHECK(value == again);
}

static void lists(const char *text)
{
	struct u32_list l = { 0 }, again = { 0 };
	char *back;

	if (parse_u32_list(text, &l, NULL))
		return;
	for (size_t i = 1; i < l.n; i++)
		CHECK(l.v[i - 1] < l.v[i]);
	back = format_u32_list(&l);
	CHECK(back);
	CHECK(parse_u32_list(back, &again, NULL) == 0);
	CHECK(l.n == again.n);
	free(back);
	u32_list_done(&l);
	u32_list_done(&again);
}

static void reals(const char *text)
{
	char buf[UNITS_TEXT_BYTES];
	double value = 0, again = 1;
	uint64_t ns = 0;

	if (parse_real(text, &value, NULL) == 0) {
		CHECK(isfinite(value));
		CHECK(parse_real(format_real(buf, value), &again, NULL) == 0);
		CHECK(!(value < again) && !(value > again));
	}
	if (parse_percent(text, &value, NULL) == 0)
		CHECK(value >= 0 && value <= 1e6);
	(void)parse_time_ns(text, &ns, NULL);
	if (parse_u64(text, &ns, NULL) == 0)
		CHECK(text[strspn(text, "0123456789")] == '\0');
}

static void items(const char *text)
{
	for (int bytes = 0; bytes <= 1; bytes++) {
		struct u64_array a = { 0 };

		if (parse_item(text, bytes, &a, NULL) == 0)
			CHECK(a.n >= 1 && a.n <= 100000);
		u64_array_done(&a);
	}
}

static void escapes(const char *text)
{
	struct str s = { 0 }, shown = { 0 };

	escape_word(&s, text);
	CHECK(!strpbrk(str_text(&s), " \n"));
	CHECK(unescape_word(s.data, NULL) == 0);
	CHECK(strcmp(s.data, text) == 0);
	escape_terminal(&shown, text);
	for (const char *p = str_text(&shown); *p; p++)
		CHECK((unsigned char)*p >= 0x20 && *p != 0x7f);
	str_done(&s);
	str_done(&shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = fuzz_text(data, n), *save = NULL;

	escapes(text);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		sizes(line);
		lists(line);
		reals(line);
		items(line);
	}
	free(text);
	return 0;
}
