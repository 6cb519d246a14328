// SPDX-License-Identifier: MIT
/*
 * The JSON document: one, valid for every run, without numbers that are none, and each of its keys
 * described in docs/json.md.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

static json_t *parsed(const char *name)
{
	struct report rep;
	struct report_options o;
	struct run *r = fixture_open(fixture_find(name), &rep, &o);
	struct str text = { 0 };
	json_error_t error;
	assert_int_equal(report_json(&text, &rep), 0);
	json_t *doc = json_loads(str_text(&text), JSON_REJECT_DUPLICATES, &error);
	if (!doc)
		fail_msg("%s: line %d: %s", name, error.line, error.text);
	/* nothing before or after the document */
	assert_int_equal(str_text(&text)[0], '{');
	assert_string_equal(str_text(&text) + text.len - 2, "}\n");
	str_done(&text);
	fixture_close(r, &rep);
	return doc;
}

static const char *text_at(json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

/* The first fact of that id on that page and level. */
static json_t *fact(json_t *doc, const char *id, const char *page, int level)
{
	json_t *facts = json_object_get(doc, "facts"), *f;
	size_t i;
	json_array_foreach(facts, i, f)
	{
		json_t *where = json_object_get(f, "where");
		const char *p = text_at(where, "page");
		json_int_t l = json_integer_value(json_object_get(where, "level"));
		if (strcmp(text_at(f, "id"), id) == 0 && (!page || (p && strcmp(p, page) == 0)) &&
		    l == level)
			return f;
	}
	fail_msg("no fact %s", id);
	return NULL;
}

static void test_every_fixture_is_valid(void **state)
{
	(void)state;
	for (const struct fixture *f = fixtures; f->name; f++) {
		json_t *doc = parsed(f->name);
		assert_string_equal(text_at(doc, "format"), "pagetoll-report");
		assert_true(json_is_array(json_object_get(doc, "points")));
		assert_true(json_is_array(json_object_get(doc, "facts")));
		assert_true(json_is_array(json_object_get(doc, "skipped")));
		json_decref(doc);
	}
}

static void test_values_and_reasons(void **state)
{
	json_t *doc = parsed("toll");
	json_t *f = fact(doc, "tlb.entries", "4k", 1);
	(void)state;
	assert_true(json_real_value(json_object_get(f, "value")) == 63);
	assert_true(json_real_value(json_object_get(f, "ci95_low")) == 62);
	assert_string_equal(text_at(f, "agreement"), "agrees");
	f = fact(doc, "tlb.entries", "thp", 2);
	assert_true(json_is_null(json_object_get(f, "agreement"))); /* it has a note */
	f = fact(doc, "walk.memory_ns", "thp", 0);
	assert_true(json_is_null(json_object_get(f, "value")));
	assert_true(json_is_null(json_object_get(f, "agreement")));
	assert_non_null(strstr(text_at(f, "reason"), "19.1 GiB"));
	json_t *skipped = json_array_get(json_object_get(doc, "skipped"), 1);
	assert_string_equal(text_at(skipped, "verdict"), "skipped");
	assert_non_null(strstr(text_at(skipped, "reason"), "nr_hugepages"));
	assert_true(json_is_true(json_object_get(doc, "complete")));
	json_decref(doc);
}

/* The point of that number of pointers and placement. */
static json_t *point(json_t *doc, int pointers, const char *tables)
{
	json_t *points = json_object_get(doc, "points"), *p;
	size_t i;
	json_array_foreach(points, i, p)
	{
		json_t *s = json_object_get(p, "setting");
		const char *t = text_at(s, "page-tables");
		if (json_integer_value(json_object_get(s, "pointers")) == pointers && t &&
		    strcmp(t, tables) == 0)
			return p;
	}
	fail_msg("no point %d %s", pointers, tables);
	return NULL;
}

static void test_counts_have_their_sums(void **state)
{
	json_t *doc = parsed("counts");
	json_t *p = json_array_get(json_object_get(doc, "points"), 1);
	json_t *e = json_array_get(json_object_get(p, "estimates"), 0);
	(void)state;
	assert_int_equal(json_integer_value(json_object_get(e, "events")), 64);
	assert_int_equal(json_integer_value(json_object_get(e, "exposure")), 8 << 20);
	/* only counts have them */
	e = json_array_get(json_object_get(p, "estimates"), 1);
	assert_null(json_object_get(e, "events"));
	json_decref(doc);
}

static void test_estimates_and_samples(void **state)
{
	json_t *doc = parsed("two-nodes");
	json_t *p = point(doc, 100, "local");
	json_t *e = json_array_get(json_object_get(p, "estimates"), 0);
	(void)state;
	assert_string_equal(text_at(e, "metric"), "ref_ns");
	assert_string_equal(text_at(e, "unit"), "ns");
	assert_true(json_real_value(json_object_get(e, "value")) == 17);
	assert_true(json_real_value(json_object_get(e, "min")) < 17);
	assert_int_equal(json_integer_value(json_object_get(e, "n_invocations")), 8);
	assert_true(json_is_null(json_object_get(e, "reason")));
	assert_true(json_is_null(json_object_get(e, "interval_reason")));
	assert_int_equal(json_array_size(json_object_get(p, "measures")), 8);
	json_t *m = json_array_get(json_object_get(p, "measures"), 0);
	assert_non_null(text_at(m, "unproven"));
	json_t *s = json_array_get(json_object_get(m, "series"), 0);
	assert_int_equal(json_array_size(json_object_get(s, "values")), 3);
	/* only invalid measures: no value, a reason, the samples kept */
	p = point(doc, 2000, "remote");
	e = json_array_get(json_object_get(p, "estimates"), 0);
	assert_true(json_is_null(json_object_get(e, "value")));
	assert_true(json_is_null(json_object_get(e, "ci95_low")));
	assert_non_null(strstr(text_at(e, "reason"), "4000 of 4096"));
	assert_non_null(text_at(e, "interval_reason"));
	assert_int_equal(json_integer_value(json_object_get(e, "n_invocations")), 0);
	json_decref(doc);
}

static void test_incomplete_says_so(void **state)
{
	json_t *doc = parsed("incomplete");
	(void)state;
	assert_true(json_is_false(json_object_get(doc, "complete")));
	assert_true(json_is_null(json_object_get(doc, "footer")));
	assert_int_equal(json_integer_value(json_object_get(doc, "bad_lines")), 1);
	json_decref(doc);
}

/* --- keys are documented --- */

static char *docs;

static int load_docs(void **state)
{
	static const char *const names[] = { "json.md", "run-file.md" };
	(void)state;
	docs = calloc(1, 1 << 18);
	size_t n = 0;
	for (size_t i = 0; docs && i < 2; i++) {
		char path[512];
		snprintf(path, sizeof(path), "%s/%s", getenv("PAGETOLL_DOCS"), names[i]);
		FILE *f = fopen(path, "re");
		if (!f)
			return -1;
		n += fread(docs + n, 1, (1 << 18) - 1 - n, f);
		fclose(f);
	}
	return docs ? 0 : -1;
}

static int free_docs(void **state)
{
	(void)state;
	free(docs);
	return 0;
}

static bool is_documented(const char *key)
{
	char word[128];
	snprintf(word, sizeof(word), "`%.100s`", key);
	return strstr(docs, word) != NULL;
}

/* Objects whose keys come from the run: settings, proof, taints, the machine. */
static bool is_free(const char *key)
{
	static const char *const names[] = { "setting", "proof",       "taints",
					     "where",   "fingerprint", "context" };
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(names[i], key) == 0)
			return true;
	return false;
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
			fail_msg("%s: key '%s' is in neither json.md nor run-file.md", fixture,
				 key);
		if (!is_free(key))
			check_keys(child, fixture);
	}
}

static void test_keys_are_documented(void **state)
{
	(void)state;
	for (const struct fixture *f = fixtures; f->name; f++) {
		json_t *doc = parsed(f->name);
		check_keys(doc, f->name);
		json_decref(doc);
	}
	/* the check can fail */
	assert_false(is_documented("no_such_key"));
}

static void test_columns_are_documented(void **state)
{
	struct report rep;
	struct report_options o;
	struct run *r = fixture_open(fixture_find("toll"), &rep, &o);
	struct str text = { 0 };
	(void)state;
	assert_int_equal(report_csv(&text, &rep), 0);
	strchr(text.data, '\n')[0] = '\0';
	for (char *save = NULL, *w = strtok_r(text.data, ",", &save); w;
	     w = strtok_r(NULL, ",", &save))
		if (!schema_param(&r->schemas[0], w) && !schema_param(&r->schemas[1], w) &&
		    !is_documented(w))
			fail_msg("CSV column '%s' is not documented", w);
	str_clear(&text);
	assert_int_equal(report_facts_csv(&text, &rep), 0);
	strchr(text.data, '\n')[0] = '\0';
	for (char *save = NULL, *w = strtok_r(text.data, ",", &save); w;
	     w = strtok_r(NULL, ",", &save))
		if (!is_documented(w))
			fail_msg("CSV column '%s' of facts is not documented", w);
	str_done(&text);
	fixture_close(r, &rep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_fixture_is_valid),
		cmocka_unit_test(test_values_and_reasons),
		cmocka_unit_test(test_counts_have_their_sums),
		cmocka_unit_test(test_estimates_and_samples),
		cmocka_unit_test(test_incomplete_says_so),
		cmocka_unit_test(test_keys_are_documented),
		cmocka_unit_test(test_columns_are_documented),
	};
	return cmocka_run_group_tests(tests, load_docs, free_docs);
}
