/* SPDX-License-Identifier: MIT */
/*
 * docs/run-file.md (first argument) describes every key that is written, and no key that is not.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "record/json.h"
#include "sample.h"

static const char *doc_path;

static void read_doc(struct str *doc)
{
	FILE *f = fopen(doc_path, "r");
	char buf[4096];
	size_t n;

	assert_non_null(f);
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		str_add_n(doc, buf, n);
	fclose(f);
	assert_true(doc->len > 1000);
}

/* Collects the keys of @o and below; not the free names of attributes. */
static void collect(json_t *o, json_t *keys)
{
	static const char *const attributes[] = { "fingerprint", "context", "setting",
						  "proof",       "taints",  "where" };
	const char *key;
	json_t *v;
	size_t i;

	if (json_is_array(o)) {
		json_array_foreach(o, i, v) collect(v, keys);
		return;
	}
	json_object_foreach(o, key, v)
	{
		bool free_names = false;

		json_object_set_new(keys, key, json_true());
		for (i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
			free_names = free_names || !strcmp(key, attributes[i]);
		if (!free_names)
			collect(v, keys);
	}
}

static void collect_new(json_t *o, json_t *keys)
{
	assert_non_null(o);
	collect(o, keys);
	json_decref(o);
}

static json_t *all_keys(void)
{
	struct run *r = sample_run();
	struct fact f = { "id", { 0 }, "ns", 1, 2, 3, "r", "r", 4, 5, "m", 1, "n", NULL, 0, 0, 0 };
	json_t *keys = json_pack("{s:b}", "type", 1);
	size_t i;

	assert_non_null(keys);
	collect_new(json_from_header(r), keys);
	for (i = 0; i < r->n_measures; i++)
		collect_new(json_from_measure(&r->measures[i]), keys);
	for (i = 0; i < r->n_environments; i++)
		collect_new(json_from_environment(&r->environments[i]), keys);
	collect_new(json_from_footer(r), keys);
	collect_new(json_from_fact(&f), keys);
	run_free(r);
	return keys;
}

static void test_every_key_is_documented(void **state)
{
	json_t *keys = all_keys(), *v;
	struct str doc = { 0 };
	const char *key;
	char quoted[80];

	(void)state;
	read_doc(&doc);
	assert_true(json_object_size(keys) > 50);
	json_object_foreach(keys, key, v)
	{
		snprintf(quoted, sizeof(quoted), "`%s`", key);
		if (!strstr(str_text(&doc), quoted))
			fail_msg("docs/run-file.md does not describe %s", quoted);
	}
	json_decref(keys);
	str_done(&doc);
}

/* The first column of every table whose head is "key". */
static void test_every_documented_key_is_written(void **state)
{
	json_t *keys = all_keys();
	struct str doc = { 0 };
	char *line, *rest;
	bool in_table = false;
	size_t checked = 0;

	(void)state;
	read_doc(&doc);
	rest = doc.data;
	while ((line = strsep(&rest, "\n"))) {
		char *cell_end, *tick;

		if (line[0] != '|') {
			in_table = false;
			continue;
		}
		if (!strncmp(line, "| key |", 7)) {
			in_table = true;
			continue;
		}
		cell_end = strchr(line + 1, '|');
		if (!in_table || !cell_end)
			continue;
		*cell_end = '\0';
		for (tick = strchr(line + 1, '`'); tick; tick = strchr(tick, '`')) {
			char *end = strchr(tick + 1, '`');

			assert_non_null(end);
			*end = '\0';
			if (!json_object_get(keys, tick + 1))
				fail_msg("'%s' is described but never written", tick + 1);
			checked++;
			tick = end + 1;
		}
	}
	assert_true(checked > 50);
	json_decref(keys);
	str_done(&doc);
}

/* Every name of every enumeration that stands in files. */
static void test_every_name_is_documented(void **state)
{
	struct str doc = { 0 };
	const char *names[64], *name;
	char quoted[80];
	size_t n = 0, i;
	int v;

	(void)state;
	read_doc(&doc);
	for (v = 0; (name = param_type_name((enum param_type)v)); v++)
		names[n++] = name;
	for (v = 0; (name = param_role_name((enum param_role)v)); v++)
		names[n++] = name;
	for (v = 0; (name = better_name((enum better)v)); v++)
		names[n++] = name;
	for (v = 0; (name = estimator_name((enum estimator)v)); v++)
		names[n++] = name;
	for (v = 0; (name = series_form_name((enum series_form)v)); v++)
		names[n++] = name;
	for (v = 0; (name = verdict_name((enum verdict)v)); v++)
		names[n++] = name;
	for (v = 0; (name = origin_name((enum origin)v)); v++)
		names[n++] = name;
	for (v = 0; (name = severity_name((enum severity)v)); v++)
		names[n++] = name;
	assert_true(n > 25);
	for (i = 0; i < n; i++) {
		snprintf(quoted, sizeof(quoted), "`%s`", names[i]);
		if (!strstr(str_text(&doc), quoted))
			fail_msg("docs/run-file.md does not describe %s", quoted);
	}
	str_done(&doc);
}

/* Not finite: null; with the reason beside it. */
static void test_fact_nulls(void **state)
{
	struct fact f = { .id = "tlb.entries",
			  .unit = "entries",
			  .value = NAN,
			  .low = NAN,
			  .high = INFINITY,
			  .reason = "no step",
			  .nominal = NAN,
			  .advertised = 64,
			  .method = "m" };
	json_t *o = json_from_fact(&f);

	(void)state;
	assert_non_null(o);
	assert_true(json_is_null(json_object_get(o, "value")));
	assert_true(json_is_null(json_object_get(o, "ci95_low")));
	assert_true(json_is_null(json_object_get(o, "ci95_high")));
	assert_true(json_real_value(json_object_get(o, "advertised")) == 64);
	assert_string_equal(json_string_value(json_object_get(o, "reason")), "no step");
	assert_null(json_object_get(o, "note"));
	json_decref(o);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_key_is_documented),
		cmocka_unit_test(test_every_documented_key_is_written),
		cmocka_unit_test(test_every_name_is_documented),
		cmocka_unit_test(test_fact_nulls),
	};

	if (argc != 2)
		return 2;
	doc_path = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
