/* SPDX-License-Identifier: MIT */
/*
 * Escaping: words survive the way there and back, and what is printed is fit for its medium. The
 * input's first line is the text, the rest a second one for the edit distance.
 */
#include <errno.h>

#include "base/escape.h"
#include "fuzz.h"

static void check_word(const char *text)
{
	struct str s = { 0 };
	const char *p;

	escape_word(&s, text);
	CHECK(!s.failed && s.len > 0);
	for (p = s.data; *p; p++)
		CHECK((unsigned char)*p > ' ' && *p != 0x7f);
	CHECK(unescape_word(s.data, NULL) == 0 && !strcmp(s.data, text));
	str_done(&s);
}

static void check_unescape(const char *text)
{
	char *copy = strdup(text), *again;
	struct err e = { 0 };
	struct str s = { 0 };
	int rc;

	CHECK(copy);
	rc = unescape_word(copy, &e);
	CHECK(rc == 0 || (rc == -EINVAL && e.code == EINVAL && !strcmp(copy, text)));
	if (rc == 0) {
		escape_word(&s, copy);
		again = strdup(str_text(&s));
		CHECK(again && unescape_word(again, NULL) == 0 && !strcmp(again, copy));
		free(again);
		str_done(&s);
	}
	free(copy);
}

static void check_terminal(const char *text)
{
	struct str s = { 0 }, twice = { 0 };
	const unsigned char *p;

	escape_terminal(&s, text);
	for (p = (const unsigned char *)str_text(&s); *p; p++)
		CHECK(*p >= 0x20 && *p != 0x7f && !(p[0] == 0xc2 && p[1] < 0xa0));
	escape_terminal(&twice, str_text(&s));
	CHECK(!strcmp(str_text(&s), str_text(&twice)));
	str_clear(&twice);
	escape_utf8(&twice, str_text(&s)); /* is valid already */
	CHECK(!strcmp(str_text(&s), str_text(&twice)));
	str_done(&s);
	str_done(&twice);
}

/* Undoes the quoting as a reader of RFC 4180 does. */
static void check_csv(const char *text)
{
	struct str s = { 0 }, back = { 0 };
	const char *p;

	escape_csv(&s, text);
	p = str_text(&s);
	if (*p == '"') {
		for (p++; *p != '"' || p[1] == '"'; p++) {
			CHECK(*p);
			str_add_n(&back, p, 1);
			p += *p == '"';
		}
		CHECK(p[1] == '\0');
	} else {
		CHECK(!strpbrk(p, ",\"\r\n"));
		str_add(&back, p);
	}
	CHECK(!strcmp(str_text(&back), text));
	str_done(&s);
	str_done(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *second = strchr(text, '\n');
	unsigned distance;
	size_t na, nb;

	check_word(text);
	check_unescape(text);
	check_terminal(text);
	check_csv(text);
	if (second) {
		*second++ = '\0';
		na = strlen(text);
		nb = strlen(second);
		distance = text_distance(text, second);
		CHECK(distance == text_distance(second, text));
		CHECK(distance <= (na > nb ? na : nb));
		CHECK((distance == 0) == !strcmp(text, second));
		CHECK(distance >= (na > nb ? na - nb : nb - na));
	}
	CHECK(text_distance(text, text) == 0);
	free(text);
	return 0;
}
