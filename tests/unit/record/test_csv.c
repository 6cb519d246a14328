// SPDX-License-Identifier: MIT
/* Reading of comma-separated values, and tables as runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "record/csv_read.h"
#include "record/csv_run.h"
#include "record/runfile.h"
#include "record/runfile_text.h"

/* --- reading ---------------------------------------------------------------------------------- */

/* Rows as "LINE:a|b|c;" */
static const char *shape(const struct csv_rows *rows, struct str *out)
{
	str_clear(out);
	for (size_t i = 0; i < rows->n; i++) {
		str_addf(out, "%zu:", rows->v[i].line);
		for (size_t k = 0; k < rows->v[i].n; k++)
			str_addf(out, "%s%s", k ? "|" : "", rows->v[i].fields[k]);
		str_add(out, ";");
	}
	return str_text(out);
}

static void test_read(void **state)
{
	static const struct {
		const char *text, *expected;
	} rows[] = {
		{ "", "" },
		{ "a", "1:a;" },
		{ "a,b\n1,2\n", "1:a|b;2:1|2;" },
		{ "a,b\r\n1,2\r\n", "1:a|b;2:1|2;" },
		{ "\xef\xbb\xbf"
		  "a\n",
		  "1:a;" },
		{ "# comment, with \"\n\n  \na\n#x\nb", "4:a;6:b;" },
		{ "a,#b\n", "1:a|#b;" },
		{ " a , b b\t,\n", "1:a|b b|;" },
		{ ",,\n", "1:||;" },
		{ "\"a,b\",\" c \"\n", "1:a,b| c ;" },
		{ "\"a\"\"b\"", "1:a\"b;" },
		{ "\"two\nlines\",x\ny,z\n", "1:two\nlines|x;3:y|z;" },
		{ "\"\",\"\" \n", "1:|;" },
		{ "\"#no comment\"\n", "1:#no comment;" },
		{ "a\rb\n", "1:a\rb;" },
	};
	struct str s = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct arena a = { 0 };
		struct csv_rows r = { 0 };
		struct err e = { 0 };

		if (csv_read(&a, rows[i].text, strlen(rows[i].text), &r, &e))
			fail_msg("row %zu: %s", i, e.msg);
		assert_string_equal(shape(&r, &s), rows[i].expected);
		arena_done(&a);
	}
	str_done(&s);
}

static void test_read_refused(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		const char *words;
	} rows[] = {
		{ "a,b\n1,\"2\n3", 10, "line 2: the quote is not closed" },
		{ "\"a\"b\n", 5, "line 1: text behind" },
		{ "\"a\n\"b\n", 6, "line 2: text behind" },
		{ "x\na\"b\n", 6, "line 2: a quote inside" },
		{ "\"", 1, "line 1: the quote" },
		{ "\"\"\"", 3, "line 1: the quote" },
		{ "a\nb\0c\n", 6, "line 2: a NUL" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct arena a = { 0 };
		struct csv_rows r = { .n = 77 };
		struct err e = { 0 };

		assert_int_equal(csv_read(&a, rows[i].text, rows[i].n, &r, &e), -EBADMSG);
		assert_int_equal(r.n, 77);
		if (!strstr(e.msg, rows[i].words))
			fail_msg("row %zu: '%s'", i, e.msg);
		arena_done(&a);
	}
}

/* --- tables as runs --------------------------------------------------------------------------- */

static const struct csv_metric one_metric[] = { { "v", "v_ns", "ns", BETTER_LOWER, NULL, 0 } };
static const struct csv_mapping plain = { .file = "t.csv",
					  .name = "table",
					  .source = "nobody",
					  .bench = "some.bench",
					  .revision = 1,
					  .inner = { "n", "n" },
					  .metrics = one_metric,
					  .n_metrics = 1 };

static struct run *make(const char *text, const struct csv_mapping *m)
{
	struct str problems = { 0 };
	struct run *r = NULL;
	struct err e = { 0 };

	if (csv_run(text, strlen(text), m, &r, &problems, &e))
		fail_msg("%s\n%s", e.msg, str_text(&problems));
	assert_int_equal(problems.len, 0);
	return r;
}

/* Out as a run file and in again. */
static struct run *again(struct run *r)
{
	struct str text = { 0 };
	struct run *back = NULL;
	struct err e = { 0 };

	assert_int_equal(runfile_text(&text, r, &e), 0);
	if (runfile_load_buffer(str_text(&text), text.len, &back, &e))
		fail_msg("%s", e.msg);
	str_done(&text);
	run_free(r);
	assert_int_equal(back->n_bad_lines, 0);
	assert_true(back->complete);
	return back;
}

static void test_values_survive(void **state)
{
	static const double values[] = { 1.23456e-7, 0.3, 5e11, 9007199254740992.0, -0.0, 1e-300 };
	struct run *r = again(make("n,v\n1,1.23456e-7\n2,0.3\n3,5e11\n4,9007199254740992\n"
				   "9007199254740993,-0.0\n9223372036854775807,1e-300\n",
				   &plain));

	(void)state;
	assert_int_equal(r->n_measures, 6);
	for (size_t i = 0; i < 6; i++) {
		const struct series *s = measure_series(&r->measures[i], "v_ns");

		assert_int_equal(s->form, FORM_SUMMARY);
		assert_int_equal(s->n, 1);
		assert_memory_equal(&s->values[0], &values[i], sizeof(double));
	}
	assert_true(attrs_int(&r->measures[4].setting, "n", 0) == 9007199254740993);
	assert_true(attrs_int(&r->measures[5].setting, "n", 0) == INT64_MAX);
	run_free(r);
}

/* One column with reals and with integers that only the form EXACT keeps. */
static void test_mixed_column(void **state)
{
	static const double values[] = { 1.23456e-7, 0.3, 5e11 };
	struct run *r = again(make("n,v\n1,1.23456e-7\n2,0.3\n3,5e11\n4,9007199254740993\n"
				   "5,-9223372036854775807\n6,7\n",
				   &plain));

	(void)state;
	assert_int_equal(r->schemas[0].metrics[0].form, FORM_SUMMARY);
	for (size_t i = 0; i < 3; i++)
		assert_memory_equal(&r->measures[i].series[0].values[0], &values[i],
				    sizeof(double));
	assert_int_equal(r->measures[3].series[0].form, FORM_EXACT);
	assert_true(r->measures[3].series[0].integers[0] == 9007199254740993);
	assert_true(r->measures[4].series[0].integers[0] == -INT64_MAX);
	assert_int_equal(r->measures[5].series[0].form, FORM_SUMMARY);
	run_free(r);
}

static void test_large_integers(void **state)
{
	struct run *r = again(make("n,v\n1,9007199254740993\n2,-5\n3,\n", &plain));

	(void)state;
	assert_int_equal(r->schemas[0].metrics[0].form, FORM_EXACT);
	assert_true(r->measures[0].series[0].integers[0] == 9007199254740993);
	assert_true(r->measures[1].series[0].integers[0] == -5);
	assert_non_null(r->measures[2].series[0].null_reason);
	run_free(r);
}

static void test_header(void **state)
{
	struct csv_mapping m = plain;
	struct run *r;

	(void)state;
	m.machine = "a machine";
	r = again(make("n,v\n1,2\n", &m));
	assert_string_equal(r->id, "table");
	assert_string_equal(r->source, "nobody");
	assert_int_equal(r->origin, ORIGIN_PUBLISHED);
	assert_string_equal(attrs_text(&r->fingerprint, "model", ""), "a machine");
	assert_string_equal(r->schemas[0].name, "some.bench");
	assert_int_equal(r->schemas[0].params[0].role, ROLE_INNER);
	assert_int_equal(r->schemas[0].params[0].type, PARAM_COUNT);
	assert_int_equal(r->schemas[0].metrics[0].better, BETTER_LOWER);
	assert_non_null(r->measures[0].unproven);
	run_free(r);
}

static void test_parameters(void **state)
{
	static const struct csv_pair columns[] = { { "kind", "kind" }, { "lv", "levels" } };
	static const struct csv_pair settings[] = { { "16k", "page" }, { "7", "rounds" } };
	static const struct csv_pair local[] = { { "local", "tables" } };
	static const struct csv_pair remote[] = { { "remote", "tables" } };
	static const struct csv_metric metrics[] = {
		{ "l", "ref_ns", "ns", BETTER_LOWER, local, 1 },
		{ "r", "ref_ns", "ns", BETTER_LOWER, remote, 1 },
	};
	struct csv_mapping m = plain;
	const struct measure *x;
	struct run *r;

	(void)state;
	m.inner = (struct csv_pair){ "size", "working-set" };
	m.columns = columns;
	m.n_columns = 2;
	m.settings = settings;
	m.n_settings = 2;
	m.metrics = metrics;
	m.n_metrics = 2;
	r = again(make("size,kind,lv,l,r\n4k,a b,3,1,2\n4k,a b,3,3,4\n1m,c,4,5,\n", &m));
	assert_int_equal(r->n_measures, 6);
	assert_int_equal(r->schemas[0].params[0].type, PARAM_BYTES);
	x = &r->measures[1];
	assert_int_equal(attrs_int(&x->setting, "working-set", 0), 4096);
	assert_int_equal(attrs_int(&x->setting, "levels", 0), 3);
	assert_int_equal(attrs_int(&x->setting, "rounds", 0), 7);
	assert_string_equal(attrs_text(&x->setting, "kind", ""), "a b");
	assert_string_equal(attrs_text(&x->setting, "page", ""), "16k");
	assert_string_equal(attrs_text(&x->setting, "tables", ""), "remote");
	assert_true(x->series[0].values[0] == 2);
	assert_int_equal(x->invocation, 0);
	/* The same setting again is another measurement of it. */
	assert_int_equal(r->measures[3].invocation, 1);
	assert_true(r->measures[3].series[0].values[0] == 4);
	assert_non_null(r->measures[5].series[0].null_reason);
	run_free(r);
}

static void test_refused_whole(void **state)
{
	static const struct {
		const char *text, *words[3];
	} rows[] = {
		{ "", { "t.csv: the table is empty" } },
		{ "n,v\n", { "t.csv:1: the table has a head" } },
		{ "n,v\n1,2\nx,3\n", { "t.csv:3: column 1 'n': 'x'" } },
		{ "n,v\n1,abc\n2,-\n", { "t.csv:2: column 2 'v': 'abc'", "t.csv:3: column 2" } },
		{ "n,v\n1\n2,3,4\n", { "t.csv:2: 1 fields", "t.csv:3: 3 fields" } },
		{ "n,v\n,1\n", { "t.csv:2: column 1 'n': a parameter cannot be empty" } },
		{ "n,v\n1.5,1\n", { "t.csv:2: column 1" } },
		{ "n,v\n-1,1\n", { "t.csv:2: column 1" } },
		{ "n,v\n9223372036854775808,1\n", { "t.csv:2: column 1" } },
		{ "n,v\n1,1e999\n", { "out of range" } },
		{ "n,v\n1,nan\n2,inf\n3,0x10\n", { "'nan'", "'inf'", "'0x10'" } },
		{ "n,v\n1,9223372036854775808\n2,0.5\n",
		  { "t.csv:2: column 2 'v': is an integer beyond 64 bits" } },
		{ "n,v\n1,123456789012345678901\n2,x\n", { "t.csv:2: column 2", "'x'" } },
		{ "n,v\n1,\"x\n", { "t.csv: line 2: the quote" } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct run *r = (struct run *)-1;
		struct str all = { 0 };
		struct err e = { 0 };

		assert_int_equal(csv_run(rows[i].text, strlen(rows[i].text), &plain, &r, &all, &e),
				 -EBADMSG);
		assert_ptr_equal(r, (struct run *)-1);
		str_add(&all, e.msg);
		for (size_t k = 0; k < 3 && rows[i].words[k]; k++)
			if (!strstr(str_text(&all), rows[i].words[k]))
				fail_msg("row %zu: '%s' is not in '%s'", i, rows[i].words[k],
					 str_text(&all));
		str_done(&all);
	}
}

static void test_many_mistakes(void **state)
{
	struct str text = { 0 }, all = { 0 };
	struct run *r = NULL;
	struct err e = { 0 };

	(void)state;
	str_add(&text, "n,v\n");
	for (int i = 0; i < 60; i++)
		str_add(&text, "1,x\n");
	assert_int_equal(csv_run(str_text(&text), text.len, &plain, &r, &all, &e), -EBADMSG);
	assert_non_null(strstr(str_text(&all), "t.csv:51:"));
	assert_null(strstr(str_text(&all), "t.csv:52:"));
	assert_non_null(strstr(str_text(&all), "10 more mistakes"));
	str_done(&text);
	str_done(&all);
}

static void assert_mapping_refused(const struct csv_mapping *m, const char *words)
{
	static const char text[] = "n,v,w,v2,v2\n1,2,3,4,5\n";
	struct run *r = NULL;
	struct str all = { 0 };
	struct err e = { 0 };

	assert_int_equal(csv_run(text, strlen(text), m, &r, &all, &e), -EINVAL);
	if (!strstr(e.msg, words))
		fail_msg("'%s' is not in '%s'", words, e.msg);
	assert_null(r);
	str_done(&all);
}

static void test_mapping_refused(void **state)
{
	static const struct csv_pair twice[] = { { "w", "n" } };
	static const struct csv_pair local[] = { { "local", "tables" } };
	static const struct csv_metric same[] = {
		{ "v", "x", "ns", BETTER_LOWER, NULL, 0 },
		{ "w", "x", "ns", BETTER_LOWER, NULL, 0 },
	};
	static const struct csv_metric unlike[] = {
		{ "v", "x", "ns", BETTER_LOWER, local, 1 },
		{ "w", "x", "ns", BETTER_LOWER, NULL, 0 },
	};
	static const struct csv_metric turned[] = {
		{ "v", "x", "ns", BETTER_LOWER, NULL, 0 },
		{ "w", "x", "ns", BETTER_LOWER, local, 1 },
	};
	static const struct csv_metric v2[] = { { "v2", "x", "ns", BETTER_LOWER, NULL, 0 } };
	struct csv_mapping m = plain;

	(void)state;
	m.inner.column = "nn";
	assert_mapping_refused(&m, "there is no column 'nn'; there are 'n', 'v'");
	m = plain;
	m.columns = twice;
	m.n_columns = 1;
	assert_mapping_refused(&m, "'n' is given twice");
	m = plain;
	m.settings = twice;
	m.n_settings = 1;
	assert_mapping_refused(&m, "'n' is given twice");
	m = plain;
	m.n_metrics = 0;
	assert_mapping_refused(&m, "no column is a metric");
	m.n_metrics = 2;
	m.metrics = same;
	assert_mapping_refused(&m, "'x' is given twice");
	m.metrics = unlike;
	assert_mapping_refused(&m, "same parameters");
	m.metrics = turned;
	assert_mapping_refused(&m, "same parameters");
	m.metrics = v2;
	m.n_metrics = 1;
	assert_mapping_refused(&m, "2 columns are called 'v2'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),           cmocka_unit_test(test_read_refused),
		cmocka_unit_test(test_values_survive), cmocka_unit_test(test_mixed_column),
		cmocka_unit_test(test_large_integers), cmocka_unit_test(test_header),
		cmocka_unit_test(test_parameters),     cmocka_unit_test(test_refused_whole),
		cmocka_unit_test(test_many_mistakes),  cmocka_unit_test(test_mapping_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
