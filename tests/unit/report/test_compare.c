// SPDX-License-Identifier: MIT
/*
 * Comparisons as text against committed ones and against what must stand in them whatever the
 * layout; as JSON against the description of the keys.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture_compare.h"
#include "golden.h"

static char *text_of(const char *name, struct report_options *ret_o)
{
	struct sample s;
	struct str text = { 0 };
	sample_open(name, &s);
	assert_int_equal(report_comparison_text(&text, &s.c, &s.o), 0);
	*ret_o = s.o;
	sample_close(&s);
	return text.data;
}

static void test_texts(void **state)
{
	(void)state;
	for (const struct compare_fixture *f = compare_fixtures; f->name; f++) {
		struct report_options o;
		char *text = text_of(f->name, &o);
		golden_compare(f->name, "text", text);
		golden_check_rules(f->name, text, &o);
		free(text);
	}
}

static void test_promises(void **state)
{
	static const struct {
		const char *fixture, *has, *has_not;
	} rows[] = {
		{ "change", "! worse", "nan" },
		{ "change", "+ better", "NaN" },
		{ "change", "-48.0 [-50.3, -45.1]", "\033" },
		{ "change", "+6.5 [+5.3, +8.1]", "0.0125" },
		{ "change", "about 14 more invocations", NULL },
		{ "change", "run-to-run variation unknown", NULL },
		{ "change", "only in A", "only in B" },
		{ "change", "A has two separate clusters", NULL },
		{ "change", "! kernel", "! load_average" },
		{ "change", "6.13.0-rc1", "--all" },
		{ "change", "label before", NULL },
		{ "change", "margin 2 %", "in the same run" },
		{ "change", "B has two separate", NULL },
		{ "many", "80 more points: ", "c13" },
		{ "many", "80 equivalent; the largest difference of these is 0.20 %", NULL },
		{ "many", "2 more that change from run to run", NULL },
		{ "many", "last~1, 3 runs", NULL },
		{ "all", "c14", "more points" },
		{ "by", "+441.3", "inconclusive *" },
		{ "by", "in       run altix-2005, published", "run altix-2005, published, " },
		{ "by", "single values: the difference alone", "verdict\n  ---" },
		{ "by", "tlb.step_ns level=2", "page-tables= " },
		{ "by", "the same, both sides are of one run", NULL },
		{ "profile", "by absolute difference", NULL },
		{ "profile", "only in B", "only in A" },
		{ "across", "[+120, +inf]", NULL },
		{ "across", "INCOMPLETE", NULL },
		{ "across", "quick: for", NULL },
		{ "hostile", "red line", "\033" },
		{ "empty", "No facts to compare", NULL },
		{ "empty", "without a name", "(null)" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct report_options o;
		char name[64];
		snprintf(name, sizeof(name), "compare-%s", rows[i].fixture);
		char *text = text_of(name, &o);
		if (!strstr(text, rows[i].has))
			fail_msg("%s lacks '%s':\n%s", name, rows[i].has, text);
		if (rows[i].has_not && strstr(text, rows[i].has_not))
			fail_msg("%s has '%s':\n%s", name, rows[i].has_not, text);
		free(text);
	}
}

/* Facts come behind the environment and before the points. */
static void test_order_of_the_parts(void **state)
{
	struct report_options o;
	char *text = text_of("compare-change", &o);
	(void)state;
	const char *environment = strstr(text, "\nEnvironment");
	const char *facts = strstr(text, "\nFacts\n"), *points = strstr(text, "\nPoints\n");
	const char *how = strstr(text, "How these numbers were obtained");
	assert_true(environment && facts && points && how);
	assert_true(environment < facts && facts < points && points < how);
	free(text);
}

/* Every regression is shown, however many points are not. */
static void test_what_is_worse_is_never_left_out(void **state)
{
	struct report_options o;
	char *text = text_of("compare-many", &o);
	size_t n = 0;
	(void)state;
	for (const char *p = strstr(text, "\nPoints"); (p = strstr(p, "! worse")); p++)
		n++;
	assert_int_equal(n, 12);
	free(text);
}

static const char *line_with(const char *text, const char *word)
{
	const char *p = strstr(text, word);
	if (!p)
		fail_msg("no '%s' in:\n%s", word, text);
	return p;
}

static void test_profiles_are_sorted_by_difference(void **state)
{
	struct report_options o;
	char *text = text_of("compare-profile", &o);
	(void)state;
	const char *zap = line_with(text, "zap_pte_range"), *never = line_with(text, "never_in_a");
	const char *anon = line_with(text, "do_anonymous_page");
	const char *clear = line_with(text, "clear_page"), *lock = line_with(text, "_raw_spin");
	assert_true(zap < never && never < anon && anon < clear && clear < lock);
	free(text);
}

/* --- JSON ----------------------------------------------------------------------------------- */

static json_t *parsed(const char *name, bool with_subject)
{
	struct sample s;
	struct str text = { 0 };
	json_error_t error;
	sample_open(name, &s);
	assert_int_equal(with_subject ? report_comparison_json_of(&text, &s.c, s.o.subject)
				      : report_comparison_json(&text, &s.c),
			 0);
	json_t *doc = json_loads(str_text(&text), JSON_REJECT_DUPLICATES, &error);
	if (!doc)
		fail_msg("%s: line %d: %s", name, error.line, error.text);
	assert_int_equal(str_text(&text)[0], '{');
	assert_string_equal(str_text(&text) + text.len - 2, "}\n");
	str_done(&text);
	sample_close(&s);
	return doc;
}

static const char *text_at(json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

static void test_json_values(void **state)
{
	json_t *doc = parsed("compare-change", true);
	json_t *f = json_array_get(json_object_get(doc, "facts"), 3);
	(void)state;
	assert_string_equal(text_at(doc, "format"), "pagetoll-comparison");
	assert_string_equal(text_at(doc, "overall"), "worse");
	assert_string_equal(text_at(f, "id"), "walk.cached_ns");
	assert_string_equal(text_at(f, "outcome"), "worse");
	assert_true(json_real_value(json_object_get(f, "a")) == 13.9);
	assert_true(json_real_value(json_object_get(f, "percent_low")) == 5.31);
	assert_int_equal(json_integer_value(json_object_get(f, "n_a")), 8);
	assert_true(json_is_null(json_object_get(f, "reason")));
	f = json_array_get(json_object_get(doc, "facts"), 7);
	assert_true(json_is_null(json_object_get(f, "b")));
	assert_true(json_is_null(json_object_get(f, "percent")));
	assert_non_null(strstr(text_at(f, "reason"), "not measured in B"));
	json_t *point = json_array_get(json_object_get(doc, "points"), 4);
	assert_string_equal(text_at(point, "bench"), "tlb.chase");
	assert_true(json_is_true(json_object_get(point, "bimodal_b")));
	json_t *counts = json_object_get(doc, "n_facts");
	assert_int_equal(json_integer_value(json_object_get(counts, "worse")), 1);
	assert_int_equal(json_integer_value(json_object_get(counts, "inconclusive")), 2);
	json_t *b = json_object_get(doc, "b");
	assert_int_equal(json_array_size(json_object_get(b, "runs")), 1);
	assert_true(json_is_null(json_object_get(doc, "run_spread_ratio")));
	json_decref(doc);
}

static void test_json_without_runs(void **state)
{
	json_t *doc = parsed("compare-change", false);
	(void)state;
	json_t *a = json_object_get(doc, "a");
	assert_int_equal(json_array_size(json_object_get(a, "runs")), 0);
	assert_string_equal(text_at(a, "name"), "last~1");
	json_decref(doc);
	/* an open end is no number */
	doc = parsed("compare-across", true);
	json_t *p = json_array_get(json_object_get(doc, "points"), 0);
	assert_true(json_is_null(json_object_get(p, "percent_high")));
	assert_true(json_real_value(json_object_get(p, "percent_low")) == 120);
	json_decref(doc);
}

static char *docs;

static int load_docs(void **state)
{
	char path[512];
	(void)state;
	snprintf(path, sizeof(path), "%s/json.md", getenv("PAGETOLL_DOCS"));
	FILE *f = fopen(path, "re");
	docs = calloc(1, 1 << 18);
	if (!f || !docs)
		return -1;
	size_t n = fread(docs, 1, (1 << 18) - 1, f);
	fclose(f);
	return n ? 0 : -1;
}

static int free_docs(void **state)
{
	(void)state;
	free(docs);
	return 0;
}

/* Only what json.md says below the heading of comparisons counts. */
static bool is_documented(const char *key)
{
	char word[128];
	const char *section = strstr(docs, "## JSON of a comparison");
	assert_non_null(section);
	const char *end = strstr(section + 3, "\n## ");
	snprintf(word, sizeof(word), "`%.100s`", key);
	const char *found = strstr(section, word);
	return found && (!end || found < end);
}

static void check_keys(json_t *v, const char *fixture)
{
	const char *key;
	json_t *child;
	size_t i;
	if (json_is_array(v))
		json_array_foreach(v, i, child) check_keys(child, fixture);
	if (!json_is_object(v))
		return;
	json_object_foreach(v, key, child)
	{
		if (!is_documented(key))
			fail_msg("%s: key '%s' is not in json.md", fixture, key);
		/* their keys come from the runs */
		if (strcmp(key, "where") != 0 && strcmp(key, "fingerprint") != 0)
			check_keys(child, fixture);
	}
}

static void test_json_keys_are_documented(void **state)
{
	(void)state;
	for (const struct compare_fixture *f = compare_fixtures; f->name; f++) {
		json_t *doc = parsed(f->name, true);
		check_keys(doc, f->name);
		json_decref(doc);
	}
	/* the check can fail: this one is of runs only */
	assert_false(is_documented("bad_lines"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_promises),
		cmocka_unit_test(test_order_of_the_parts),
		cmocka_unit_test(test_what_is_worse_is_never_left_out),
		cmocka_unit_test(test_profiles_are_sorted_by_difference),
		cmocka_unit_test(test_json_values),
		cmocka_unit_test(test_json_without_runs),
		cmocka_unit_test(test_json_keys_are_documented),
	};
	return cmocka_run_group_tests(tests, load_docs, free_docs);
}
