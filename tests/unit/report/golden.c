// SPDX-License-Identifier: MIT
/* Committed texts, and the rules that hold for every text of report/. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "golden.h"

static const char *golden_dir(void)
{
	const char *dir = getenv("PAGETOLL_GOLDEN");
	assert_non_null(dir);
	return dir;
}

static char *read_whole(const char *path)
{
	FILE *f = fopen(path, "re");
	if (!f)
		return NULL;
	char *text = calloc(1, 1 << 20);
	assert_non_null(text);
	size_t n = fread(text, 1, (1 << 20) - 1, f);
	assert_true(n < (1 << 20) - 1);
	fclose(f);
	return text;
}

/* Where the texts part, so that a failure can be read. */
static void assert_same_text(const char *path, const char *got, const char *want)
{
	size_t line = 1, i = 0;
	while (got[i] && got[i] == want[i])
		line += got[i++] == '\n';
	if (got[i] == want[i])
		return;
	fail_msg("%s:%zu differs:\n got: %.120s\nwant: %.120s\n", path, line, got + i, want + i);
}

void golden_compare(const char *name, const char *kind, const char *got)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/%s.%s.txt", golden_dir(), name, kind);
	if (getenv("PAGETOLL_UPDATE_GOLDEN")) {
		FILE *f = fopen(path, "we");
		assert_non_null(f);
		assert_int_equal(fwrite(got, 1, strlen(got), f), strlen(got));
		assert_int_equal(fclose(f), 0);
		return;
	}
	char *want = read_whole(path);
	if (!want)
		fail_msg("no %s: run with PAGETOLL_UPDATE_GOLDEN=1 and read it", path);
	assert_same_text(path, got, want);
	free(want);
}

/* Drops our own colours: ESC [ digits m. */
static void drop_colours(char *text)
{
	char *to = text;
	for (const char *p = text; *p;) {
		size_t n = p[0] == '\033' && p[1] == '[' ? 2 + strspn(p + 2, "0123456789") : 0;
		if (n && p[n] == 'm')
			p += n + 1;
		else
			*to++ = *p++;
	}
	*to = '\0';
}

void golden_check_rules(const char *name, char *text, const struct report_options *o)
{
	if (o->colour)
		drop_colours(text);
	for (char *p = text; *p;) {
		char *end = strchr(p, '\n');
		if (!end)
			fail_msg("%s: the last line has no end: %s", name, p);
		*end = '\0';
		if (str_columns(p) > 80)
			fail_msg("%s: %zu columns: %s", name, str_columns(p), p);
		struct str clean = { 0 };
		escape_terminal(&clean, p);
		assert_string_equal(str_text(&clean), p);
		str_done(&clean);
		if (*p && end[-1] == ' ')
			fail_msg("%s: trailing blank: '%s'", name, p);
		for (const char *c = p; !o->utf8 && *c; c++)
			assert_true((unsigned char)*c < 0x80);
		p = end + 1;
	}
}
