/* SPDX-License-Identifier: MIT */
/*
 * Run files from anybody: every field of a wrong type, torn and bad lines, truncation at every
 * byte. Good lines are never lost to bad ones.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"
#include "record/json.h"
#include "record/runfile.h"
#include "sample.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define HEADER_START "{\"type\":\"header\",\"schema_version\":1,\"id\":\"x\",\"source\":\"s\","
#define METRICS                                                                   \
	"\"metrics\":[{\"name\":\"ref_ns\",\"unit\":\"ns\",\"better\":\"lower\"," \
	"\"estimator\":\"min\",\"form\":\"samples\"}]"
#define BENCH "{\"name\":\"b\",\"revision\":1," METRICS "}"
#define HEADER HEADER_START "\"origin\":\"measured\",\"benches\":[" BENCH "]}\n"
#define MEASURE "{\"type\":\"measure\",\"bench\":\"b\",\"invocation\":0,\"verdict\":\"ok\"}\n"
#define FOOTER "{\"type\":\"footer\",\"complete\":true}\n"

static int load(const char *text, struct run **r, struct err *e)
{
	/* A copy of exactly that size: reading beyond it is seen by the sanitizer. */
	size_t n = strlen(text);
	char *copy = malloc(n ? n : 1);
	int rc;

	assert_non_null(copy);
	memcpy(copy, text, n);
	rc = runfile_load_buffer(copy, n, r, e);
	free(copy);
	return rc;
}

static void test_smallest(void **state)
{
	struct run *r = NULL;

	(void)state;
	assert_int_equal(load(HEADER, &r, NULL), 0);
	assert_string_equal(r->id, "x");
	assert_null(r->label);
	assert_int_equal(r->n_measures, 0);
	assert_false(r->has_footer);
	assert_int_equal(r->start_unix_ns, 0);
	run_free(r);
	assert_int_equal(load("\n \t\r\n" HEADER "\r\n\n" MEASURE "\n" FOOTER "\n\n", &r, NULL), 0);
	assert_int_equal(r->n_measures, 1);
	assert_true(r->has_footer && r->complete);
	assert_int_equal(r->n_bad_lines, 0);
	run_free(r);
}

/* Header lines that are refused, with the word that the message must hold. */
static const struct {
	const char *line;
	int rc;
	const char *word;
} headers[] = {
	{ "", -EBADMSG, "empty" },
	{ "\n\n", -EBADMSG, "empty" },
	{ "{", -EBADMSG, "JSON" },
	{ "hello", -EBADMSG, "JSON" },
	{ "[]", -EBADMSG, "header" },
	{ "1", -EBADMSG, "JSON" },
	{ "{}", -EBADMSG, "header" },
	{ "\xef\xbb\xbf" HEADER, -EBADMSG, "JSON" },
	{ "{\"type\":1}", -EBADMSG, "header" },
	{ MEASURE HEADER, -EBADMSG, "header" },
	{ "{\"type\":\"header\"}", -EBADMSG, "schema_version" },
	{ "{\"type\":\"header\",\"schema_version\":2}", -EPROTONOSUPPORT, "newer" },
	{ "{\"type\":\"header\",\"schema_version\":0}", -EBADMSG, "schema_version" },
	{ "{\"type\":\"header\",\"schema_version\":-1}", -EBADMSG, "schema_version" },
	{ "{\"type\":\"header\",\"schema_version\":\"1\"}", -EBADMSG, "schema_version" },
	{ "{\"type\":\"header\",\"schema_version\":1.0}", -EBADMSG, "schema_version" },
	{ "{\"type\":\"header\",\"schema_version\":99999999999}", -EBADMSG, "schema_version" },
	{ "{\"type\":\"header\",\"schema_version\":99999999999999999999}", -EBADMSG, "JSON" },
	{ "{\"type\":\"header\",\"schema_version\":1}", -EBADMSG, "id" },
	{ "{\"type\":\"header\",\"schema_version\":1,\"id\":\"\"}", -EBADMSG, "id" },
	{ "{\"type\":\"header\",\"schema_version\":1,\"id\":\"../x\"}", -EBADMSG, "id" },
	{ "{\"type\":\"header\",\"schema_version\":1,\"id\":\"a/b\"}", -EBADMSG, "id" },
	{ "{\"type\":\"header\",\"schema_version\":1,\"id\":\"-x\"}", -EBADMSG, "id" },
	{ "{\"type\":\"header\",\"schema_version\":1,\"id\":\"a b\"}", -EBADMSG, "id" },
	{ "{\"type\":\"header\",\"schema_version\":1,\"id\":7}", -EBADMSG, "id" },
	{ "{\"type\":\"header\",\"schema_version\":1,\"id\":\"x\"}", -EBADMSG, "source" },
	{ HEADER_START "\"origin\":\"dreamt\"}", -EBADMSG, "dreamt" },
	{ HEADER_START "\"x\":1}", -EBADMSG, "origin" },
	{ HEADER_START "\"origin\":\"measured\",\"id\":\"x\"}", -EBADMSG, "JSON" },
	{ HEADER_START "\"origin\":\"measured\",\"label\":5}", -EBADMSG, "label" },
	{ HEADER_START "\"origin\":\"measured\",\"label\":\"\\u0000\"}", -EBADMSG, "JSON" },
	{ HEADER_START "\"origin\":\"measured\",\"label\":\"\xff\"}", -EBADMSG, "JSON" },
	{ HEADER_START "\"origin\":\"measured\",\"start_unix_ns\":1.5}", -EBADMSG, "start_unix" },
	{ HEADER_START "\"origin\":\"measured\",\"fingerprint\":[]}", -EBADMSG, "fingerprint" },
	{ HEADER_START "\"origin\":\"measured\",\"fingerprint\":{\"a\":[]}}", -EBADMSG, "'a'" },
	{ HEADER_START "\"origin\":\"measured\",\"context\":{\"a\":true}}", -EBADMSG, "'a'" },
	{ HEADER_START "\"origin\":\"measured\",\"context\":{\"a\":{}}}", -EBADMSG, "'a'" },
	{ HEADER_START "\"origin\":\"measured\",\"context\":{\"a\":{\"value\":null}}}", -EBADMSG,
	  "'a'" },
	{ HEADER_START "\"origin\":\"measured\",\"context\":{\"a\":1,\"a\":2}}", -EBADMSG, "JSON" },
	{ HEADER_START "\"origin\":\"measured\",\"findings\":{}}", -EBADMSG, "findings" },
	{ HEADER_START "\"origin\":\"measured\",\"findings\":[1]}", -EBADMSG, "findings" },
	{ HEADER_START "\"origin\":\"measured\",\"findings\":[{\"id\":\"a\"}]}", -EBADMSG,
	  "severity" },
	{ HEADER_START "\"origin\":\"measured\",\"benches\":5}", -EBADMSG, "benches" },
	{ HEADER_START "\"origin\":\"measured\",\"benches\":[5]}", -EBADMSG, "benches" },
	{ HEADER_START "\"origin\":\"measured\",\"benches\":[{\"name\":\"b\"}]}", -EBADMSG,
	  "revision" },
	{ HEADER_START "\"origin\":\"measured\",\"benches\":[{\"name\":\"b\",\"revision\":1}]}",
	  -EBADMSG, "metrics" },
	{ HEADER_START "\"origin\":\"measured\",\"benches\":[{\"name\":\"b\",\"revision\":-1}]}",
	  -EBADMSG, "revision" },
	{ HEADER_START "\"origin\":\"measured\",\"benches\":[" BENCH "," BENCH "]}", -EBADMSG,
	  "twice" },
	{ HEADER_START "\"origin\":\"measured\",\"benches\":[{\"name\":\"b\",\"revision\":1,"
		       "\"metrics\":[{\"name\":\"m\"}]}]}",
	  -EBADMSG, "unit" },
	{ HEADER_START "\"origin\":\"measured\",\"benches\":[{\"name\":\"b\",\"revision\":1,"
		       "\"metrics\":[4]}]}",
	  -EBADMSG, "metrics" },
	{ HEADER_START
	  "\"origin\":\"measured\",\"benches\":[{\"name\":\"b\",\"revision\":1," METRICS
	  ",\"params\":[7]}]}",
	  -EBADMSG, "params" },
	{ HEADER_START
	  "\"origin\":\"measured\",\"benches\":[{\"name\":\"b\",\"revision\":1," METRICS
	  ",\"params\":[{\"name\":\"p\",\"type\":\"count\"}]}]}",
	  -EBADMSG, "role" },
	{ HEADER_START
	  "\"origin\":\"measured\",\"benches\":[{\"name\":\"b\",\"revision\":1," METRICS
	  ",\"params\":[{\"name\":\"p\",\"type\":\"float\",\"role\":\"outer\"}]}]}",
	  -EBADMSG, "float" },
	{ HEADER_START
	  "\"origin\":\"measured\",\"benches\":[{\"name\":\"b\",\"revision\":1," METRICS
	  ",\"params\":[{\"name\":\"p\",\"type\":\"count\",\"role\":\"outer\","
	  "\"min\":-5}]}]}",
	  -EBADMSG, "min" },
	{ HEADER_START
	  "\"origin\":\"measured\",\"benches\":[{\"name\":\"b\",\"revision\":1," METRICS
	  ",\"params\":[{\"name\":\"p\",\"type\":\"choice\",\"role\":\"outer\","
	  "\"choices\":[1]}]}]}",
	  -EBADMSG, "choices" },
};

static void test_bad_headers(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < LENGTH(headers); i++) {
		struct run *r = NULL;
		struct err e = { 0 };
		int rc = load(headers[i].line, &r, &e);

		if (rc != headers[i].rc || r)
			fail_msg("%s: result %d", headers[i].line, rc);
		if (!strstr(e.msg, headers[i].word))
			fail_msg("%s: '%s'", headers[i].line, e.msg);
	}
}

#define M(rest) \
	"{\"type\":\"measure\",\"bench\":\"b\",\"invocation\":0,\"verdict\":\"ok\"," rest "}"
#define V(rest) "{\"type\":\"environment\"," rest "}"
#define S(rest) M("\"series\":[{\"metric\":\"ref_ns\"," rest "}]")

static const struct {
	const char *line;
	bool good;
} lines[] = {
	{ M("\"unknown\":[1,{}]"), true },
	{ M("\"setting\":{\"a\":1,\"b\":\"t\",\"c\":1.5,\"d\":null}"), true },
	{ M("\"setting\":{\"a\":{\"value\":null,\"reason\":\"r\",\"more\":1}}"), true },
	{ M("\"setting\":null,\"series\":null"), true },
	{ S("\"form\":\"samples\",\"values\":[1,2.5]"), true },
	{ S("\"form\":\"samples\",\"values\":null,\"reason\":\"r\""), true },
	{ S("\"form\":\"samples\",\"reason\":\"r\""), true },
	{ S("\"form\":\"exact\",\"values\":[-9223372036854775808]"), true },
	{ S("\"form\":\"count\",\"values\":[1,2]"), true },
	{ S("\"form\":\"summary\",\"values\":[1,null,null]"), true },
	{ S("\"form\":\"table\",\"columns\":[\"c\"],\"rows\":[[\"k\",1],[\"l\",null]]"), true },
	{ S("\"form\":\"table\",\"columns\":[],\"rows\":[[\"k\"]]"), true },
	{ "{\"type\":\"remark\",\"text\":5}", true },
	{ "{", false },
	{ "nonsense", false },
	{ "[]", false },
	{ "5", false },
	{ "{}", false },
	{ "{\"type\":null}", false },
	{ "{\"type\":\"measure\"}", false },
	{ "{\"type\":\"measure\",\"bench\":\"b\",\"invocation\":0}", false },
	{ "{\"type\":\"measure\",\"bench\":\"b\",\"verdict\":\"ok\"}", false },
	{ "{\"type\":\"measure\",\"bench\":\"c\",\"invocation\":0,\"verdict\":\"ok\"}", false },
	{ "{\"type\":\"measure\",\"bench\":1,\"invocation\":0,\"verdict\":\"ok\"}", false },
	{ "{\"type\":\"measure\",\"bench\":\"b\",\"invocation\":-1,\"verdict\":\"ok\"}", false },
	{ "{\"type\":\"measure\",\"bench\":\"b\",\"invocation\":4294967296,\"verdict\":\"ok\"}",
	  false },
	{ "{\"type\":\"measure\",\"bench\":\"b\",\"invocation\":0,\"verdict\":\"fine\"}", false },
	{ "{\"type\":\"measure\",\"bench\":\"b\",\"invocation\":0,\"verdict\":0}", false },
	{ M("\"invocation\":1"), false }, /* twice */
	{ M("\"arm\":\"A\""), true },
	{ M("\"arm\":\"C\""), false },
	{ M("\"arm\":\"\""), false },
	{ M("\"arm\":\"AB\""), false },
	{ M("\"arm\":1"), false },
	{ M("\"boot_id\":\"x\""), true },
	{ M("\"boot_id\":7"), false },
	{ V("\"arm\":\"A\",\"boot_id\":\"x\",\"fingerprint\":{\"thp\":\"never\"}"), true },
	{ V("\"context\":null,\"findings\":[]"), true },
	{ V("\"arm\":\"C\""), false },
	{ V("\"arm\":7"), false },
	{ V("\"boot_id\":7"), false },
	{ V("\"fingerprint\":[]"), false },
	{ V("\"context\":\"x\""), false },
	{ V("\"findings\":[{\"id\":\"a\"}]"), false },
	{ V("\"findings\":{}"), false },
	{ V("\"start_unix_ns\":\"x\""), false },
	{ M("\"setting\":[]"), false },
	{ M("\"setting\":{\"a\":[1]}"), false },
	{ M("\"setting\":{\"a\":true}"), false },
	{ M("\"setting\":{\"a\":1,\"a\":1}"), false },
	{ M("\"proof\":7"), false },
	{ M("\"taints\":\"x\""), false },
	{ M("\"reason\":7"), false },
	{ M("\"unproven\":{}"), false },
	{ M("\"duration_ns\":-1"), false },
	{ M("\"duration_ns\":1e3"), false },
	{ M("\"start_unix_ns\":9223372036854775808"), false },
	{ M("\"series\":{}"), false },
	{ M("\"series\":[5]"), false },
	{ M("\"series\":[{}]"), false },
	{ M("\"series\":[{\"metric\":\"other\",\"form\":\"samples\",\"values\":[1]}]"), false },
	{ S("\"values\":[1]"), false },
	{ S("\"form\":\"cloud\",\"values\":[1]"), false },
	{ S("\"form\":\"samples\""), false },
	{ S("\"form\":\"samples\",\"values\":[]"), false },
	{ S("\"form\":\"samples\",\"values\":5"), false },
	{ S("\"form\":\"samples\",\"values\":[\"1\"]"), false },
	{ S("\"form\":\"samples\",\"values\":[null]"), false },
	{ S("\"form\":\"samples\",\"values\":[NaN]"), false },
	{ S("\"form\":\"samples\",\"values\":[1e999]"), false },
	{ S("\"form\":\"samples\",\"values\":[1],\"reason\":\"r\""), false },
	{ S("\"form\":\"samples\",\"values\":[1],\"origin\":\"x\""), false },
	{ S("\"form\":\"samples\",\"values\":[1],\"part\":1"), false },
	{ S("\"form\":\"exact\",\"values\":[1.0]"), false },
	{ S("\"form\":\"exact\",\"values\":[1,2]"), false },
	{ S("\"form\":\"exact\",\"values\":[9223372036854775808]"), false },
	{ S("\"form\":\"count\",\"values\":[1]"), false },
	{ S("\"form\":\"count\",\"values\":[1,null]"), false },
	{ S("\"form\":\"summary\",\"values\":[1,2]"), false },
	{ S("\"form\":\"summary\",\"values\":[null,1,2]"), false },
	{ S("\"form\":\"table\",\"values\":[1]"), false },
	{ S("\"form\":\"table\",\"columns\":[\"c\"],\"rows\":[]"), false },
	{ S("\"form\":\"table\",\"columns\":[\"c\"],\"rows\":[[\"k\"]]"), false },
	{ S("\"form\":\"table\",\"columns\":[\"c\"],\"rows\":[[\"k\",1,2]]"), false },
	{ S("\"form\":\"table\",\"columns\":[\"c\"],\"rows\":[[1,1]]"), false },
	{ S("\"form\":\"table\",\"columns\":[\"c\"],\"rows\":[[\"k\",\"1\"]]"), false },
	{ S("\"form\":\"table\",\"columns\":[1],\"rows\":[[\"k\",1]]"), false },
	{ S("\"form\":\"table\",\"columns\":[],\"rows\":[{}]"), false },
	{ S("\"form\":\"table\",\"columns\":[],\"rows\":[[\"k\"]],\"reason\":\"r\""), false },
	{ HEADER, false },
	{ "{\"type\":\"footer\"}", false },
	{ "{\"type\":\"footer\",\"complete\":1}", false },
	{ "{\"type\":\"footer\",\"complete\":true,\"stop_reason\":1}", false },
};

/* Of one arm and boot there is one environment: the first counts, and nothing is lost. */
static void test_environment_twice(void **state)
{
	struct run *r = NULL;

	(void)state;
	assert_int_equal(
		load(HEADER V("\"arm\":\"A\",\"boot_id\":\"x\"") "\n" V(
			     "\"arm\":\"A\",\"boot_id\":\"y\"") "\n" V("\"arm\":\"A\","
								       "\"boot_id\":\"x\"") "\n" MEASURE
			     FOOTER,
		     &r, NULL),
		0);
	assert_int_equal(r->n_environments, 2);
	assert_int_equal(r->n_bad_lines, 1);
	assert_int_equal(r->n_measures, 1);
	assert_non_null(run_environment(r, "A", "y"));
	assert_null(run_environment(r, "B", "y"));
	assert_null(run_environment(r, "A", NULL));
	run_free(r);
}

/* Each line between two good ones: these are kept, and only a bad one is counted. */
static void test_lines(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < LENGTH(lines); i++) {
		struct run *r = NULL;
		struct str text = { 0 };
		size_t n = strlen(lines[i].line), expected;

		str_add(&text, HEADER MEASURE);
		str_add_n(&text, lines[i].line, n - (lines[i].line[n - 1] == '\n'));
		str_add(&text, "\n" MEASURE FOOTER);
		assert_int_equal(load(str_text(&text), &r, NULL), 0);
		expected = lines[i].good && strstr(lines[i].line, "\"measure\"") ? 3 : 2;
		if (r->n_bad_lines != (lines[i].good ? 0 : 1) || r->n_measures != expected ||
		    !r->has_footer)
			fail_msg("%s: %zu bad lines, %zu measures", lines[i].line, r->n_bad_lines,
				 r->n_measures);
		run_free(r);
		str_done(&text);
	}
}

static void test_odd_order(void **state)
{
	struct run *r = NULL;

	(void)state;
	/* A measure behind the footer is kept; a second footer is not believed. */
	assert_int_equal(
		load(HEADER FOOTER MEASURE "{\"type\":\"footer\",\"complete\":false}", &r, NULL),
		0);
	assert_int_equal(r->n_measures, 1);
	assert_true(r->complete);
	assert_int_equal(r->n_bad_lines, 1);
	run_free(r);
	/* A verdict other than ok has a reason in any case. */
	assert_int_equal(load(HEADER "{\"type\":\"measure\",\"bench\":\"b\",\"invocation\":0,"
				     "\"verdict\":\"skipped\"}",
			      &r, NULL),
			 0);
	assert_non_null(r->measures[0].reason);
	run_free(r);
	/* A series has the run's origin unless it says another. */
	assert_int_equal(load(HEADER_START "\"origin\":\"published\",\"benches\":[" BENCH
					   "]}\n" S("\"form\":\"exact\",\"values\":[1]"),
			      &r, NULL),
			 0);
	assert_int_equal(r->measures[0].series[0].origin, ORIGIN_PUBLISHED);
	run_free(r);
}

static void add_line(struct str *text, const char *type, json_t *body)
{
	json_t *line = json_pack("{s:s}", "type", type);
	char *dump;

	assert_int_equal(json_object_update(line, body), 0);
	dump = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(17));
	assert_non_null(dump);
	str_addf(text, "%s\n", dump);
	free(dump);
	json_decref(line);
	json_decref(body);
}

/* Cut anywhere: all whole lines are there, and what is there is right. */
static void test_every_truncation(void **state)
{
	struct run *whole = sample_run(), *r;
	struct str text = { 0 };
	size_t cut, i, header, newlines;

	(void)state;
	add_line(&text, "header", json_from_header(whole));
	header = text.len;
	for (i = 0; i < whole->n_measures; i++)
		add_line(&text, "measure", json_from_measure(&whole->measures[i]));
	add_line(&text, "footer", json_from_footer(whole));
	for (cut = 0; cut <= text.len; cut++) {
		char *copy = malloc(cut ? cut : 1);
		int rc;

		r = NULL;
		assert_non_null(copy);
		memcpy(copy, text.data, cut);
		rc = runfile_load_buffer(copy, cut, &r, NULL);
		free(copy);
		if (cut < header - 1) {
			assert_int_equal(rc, -EBADMSG);
			continue;
		}
		assert_int_equal(rc, 0);
		for (i = 0, newlines = 0; i < cut; i++)
			newlines += text.data[i] == '\n';
		/* A last line that lacks only its newline is whole. */
		if (cut < text.len && text.data[cut] == '\n')
			newlines++;
		assert_int_equal(r->n_measures + r->has_footer, newlines - 1);
		assert_int_equal(r->n_bad_lines, cut == text.len || text.data[cut] == '\n' ||
								 text.data[cut - 1] == '\n'
							 ? 0
							 : 1);
		assert_same_header(whole, r);
		for (i = 0; i < r->n_measures; i++)
			assert_same_measure(&whole->measures[i], &r->measures[i]);
		run_free(r);
	}
	str_done(&text);
	run_free(whole);
}

/* Deep nesting and bytes of zero are bad lines like others. */
static void test_hostile(void **state)
{
	struct run *r = NULL;
	struct str text = { 0 };
	size_t i;

	(void)state;
	str_add(&text, HEADER);
	for (i = 0; i < 100000; i++)
		str_add(&text, "[");
	str_add(&text, "\n");
	str_add_n(&text, "\0\0\0\n", 4);
	str_add_n(&text, "{\"type\":\"measure\"}\0\n", 20);
	str_add(&text, MEASURE);
	assert_int_equal(runfile_load_buffer(text.data, text.len, &r, NULL), 0);
	assert_int_equal(r->n_bad_lines, 3);
	assert_int_equal(r->n_measures, 1);
	run_free(r);
	str_done(&text);
	assert_int_equal(runfile_load_buffer(NULL, 0, &r, NULL), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_smallest),
		cmocka_unit_test(test_bad_headers),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_environment_twice),
		cmocka_unit_test(test_odd_order),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_every_truncation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
