// SPDX-License-Identifier: MIT
/*
 * Texts of invented runs against committed ones, and rules that hold for every text: at most 80
 * columns, no control characters, valid UTF-8. PAGETOLL_UPDATE_GOLDEN=1 writes the texts anew: read
 * the difference before committing it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "golden.h"

static void check_fixture(const struct fixture *f)
{
	struct report rep;
	struct report_options o;
	struct run *r = fixture_open(f, &rep, &o);
	struct str text = { 0 };
	assert_int_equal(report_text(&text, &rep, &o), 0);
	golden_compare(f->name, "show", str_text(&text));
	golden_check_rules(f->name, text.data, &o);
	str_clear(&text);
	assert_int_equal(report_toll_card(&text, &rep, &o), 0);
	golden_compare(f->name, "card", str_text(&text));
	golden_check_rules(f->name, text.data, &o);
	str_clear(&text);
	assert_int_equal(report_findings_text(&text, r, &o), 0);
	golden_check_rules(f->name, text.data, &o);
	if (r->n_findings && !strstr(f->name, "hostile"))
		golden_compare(f->name, "doctor", str_text(&text));
	str_done(&text);
	fixture_close(r, &rep);
}

static void test_all_fixtures(void **state)
{
	(void)state;
	for (const struct fixture *f = fixtures; f->name; f++)
		check_fixture(f);
}

static char *text_of(const char *name, int (*render)(struct str *, const struct report *,
						     const struct report_options *))
{
	struct report rep;
	struct report_options o;
	struct run *r = fixture_open(fixture_find(name), &rep, &o);
	struct str text = { 0 };
	assert_int_equal(render(&text, &rep, &o), 0);
	fixture_close(r, &rep);
	return text.data;
}

/* The same where a line break may stand for a blank. */
static bool has_across_lines(const char *text, const char *what)
{
	char *flat = strdup(text);
	assert_non_null(flat);
	for (char *p = flat; *p; p++)
		if (*p == '\n')
			*p = ' ';
	bool yes = strstr(flat, what) != NULL;
	free(flat);
	return yes;
}

/* What must stand in a text whatever its layout becomes. */
static void test_promises(void **state)
{
	static const struct {
		const char *fixture;
		bool card;
		const char *has, *has_not;
	} rows[] = {
		{ "toll", true, "4 KiB pages 182 ns [170, 190]", "NaN" },
		{ "toll", true, "2 MiB pages 104 ns\n[101, 108]", "nan" },
		{ "toll", true, "huge pages save 43 %", "quick" },
		{ "toll", true, "512 KiB differs", "\033" },
		/* a value with a note is no contradiction */
		{ "toll", true, "512                          2048\n", "2048 differs" },
		{ "toll", true, "ones in the TLB here", "Disturbed" },
		{ "few", true, "900 ns, 2 MiB pages 592 to 622 ns in 1 and 4 processes: too few",
		  "900 ns [" },
		{ "few", true, "Disturbed: load average 4.80 on 2 CPUs; the hypervisor",
		  "huge pages save" },
		{ "few", true, "1 to 4 fresh processes for each number; stopped by the time budget",
		  "differs" },
		{ "toll", true, "warning: this is a guest", "note: transparent" },
		{ "toll", true, "nr_hugepages", "INCOMPLETE" },
		{ "quick", true, "quick: for orientation, not for publication", "preset quick" },
		{ "quick", true, "by the medians huge pages would cost 2.7 % more", "pages save" },
		{ "path", true, "\n/home/user/a/directory/", "show /home" },
		{ "skipped", true, "not measured (not enough memory)", "0 ns" },
		{ "one-node", false, "not measurable: one memory node", "0 ns" },
		{ "one-node", false, "remote - local", "local - remote" },
		{ "two-nodes", false, "invalid, never compared: 4000 of 4096", "local - remote" },
		{ "two-nodes", false, "unproven: the counters", "1.200" },
		{ "two-nodes", false, "killed by signal 9", "nan" },
		{ "published", false, "441.3", "invocation" },
		{ "counts", false, "errors: 64 of 16777216 in all (rate 0.00000381)", "nan" },
		{ "incomplete", false, "INCOMPLETE", "complete:" },
		{ "incomplete", false, "1 line of the file could not be read", NULL },
		{ "hostile", false, "characters, cut here)", "\033" },
		{ "empty", false, "Nothing was measured", "Facts" },
		{ "toll-colour", true, "\033[1m", "  \033[0m" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char *text =
			text_of(rows[i].fixture, rows[i].card ? report_toll_card : report_text);
		if (!strstr(text, rows[i].has) && !has_across_lines(text, rows[i].has))
			fail_msg("%s lacks '%s':\n%s", rows[i].fixture, rows[i].has, text);
		if (rows[i].has_not && strstr(text, rows[i].has_not))
			fail_msg("%s has '%s':\n%s", rows[i].fixture, rows[i].has_not, text);
		free(text);
	}
}

static void test_findings_without_any(void **state)
{
	struct run *r = run_new();
	struct str text = { 0 };
	struct report_options o = { 0 };
	(void)state;
	assert_non_null(r);
	assert_int_equal(report_findings_text(&text, r, &o), 0);
	assert_string_equal(str_text(&text), "Nothing found that disturbs or forbids measuring.\n");
	str_done(&text);
	run_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_fixtures),
		cmocka_unit_test(test_promises),
		cmocka_unit_test(test_findings_without_any),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
