// SPDX-License-Identifier: MIT
/*
 * The page of a run: every invented run gives one that is well formed, holds nothing that could run
 * but its own script, and has the numbers of the JSON report. Texts from outside are inert.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "fixture.h"
#include "fixture_compare.h"
#include "fixture_parts.h"
#include "report/html.h"
#include "report/page_bundle.h"

/* --- looking at a page --- */

struct seen {
	struct str page;
	char *body; /* of @page without script and style: what a reader sees */
	json_t *data;
};

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *p = strstr(text, what); p; p = strstr(p + 1, what))
		n++;
	return n;
}

/* Removes the first stretch from @from to @to. */
static void cut(char *text, const char *from, const char *to)
{
	char *start = strstr(text, from);
	char *end = start ? strstr(start, to) : NULL;

	assert_non_null(end);
	memmove(start, end, strlen(end) + 1);
}

static void look(struct seen *s, const struct page_input *in)
{
	static const char mark[] = "id=\"data\">";

	*s = (struct seen){ 0 };
	assert_int_equal(report_html(&s->page, in), 0);
	s->body = strdup(str_text(&s->page));
	assert_non_null(s->body);
	char *data = strstr(s->body, mark);
	assert_non_null(data);
	data += strlen(mark);
	char *end = strstr(data, "</script>");
	assert_non_null(end);
	s->data = json_loadb(data, (size_t)(end - data), 0, NULL);
	assert_non_null(s->data);
	cut(s->body, mark, "</script>");
	cut(s->body, "</script>\n<script>", "</script>\n</body>");
	cut(s->body, "<style>", "</style>");
}

static void look_done(struct seen *s)
{
	json_decref(s->data);
	free(s->body);
	str_done(&s->page);
}

static void check_control(const char *text)
{
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p < 0x20 && *p != '\n')
			fail_msg("control character %d", *p);
}

/* Elements that need their end have it, and nothing is there that fetches or runs. */
static void check_form(const struct seen *s)
{
	static const char *const ended[] = { "section", "details", "summary", "table", "figure",
					     "div",     "ul",      "ol",      "thead", "tbody",
					     "svg",     "h1",      "h2",      "h3",    "h4",
					     "bdi",     "small",   "pre",     "nav",   "main" };
	static const char *const never[] = { "<img",   "<iframe",       "<object",
					     "<embed", "<link rel=\"s", " style=" };

	for (size_t i = 0; i < sizeof(ended) / sizeof(*ended); i++) {
		char open[32], open_more[32], close[32];

		snprintf(open, sizeof(open), "<%s>", ended[i]);
		snprintf(open_more, sizeof(open_more), "<%s ", ended[i]);
		snprintf(close, sizeof(close), "</%s>", ended[i]);
		size_t n = count(s->body, open) + count(s->body, open_more);
		if (n != count(s->body, close))
			fail_msg("%zu <%s>, %zu ends", n, ended[i], count(s->body, close));
	}
	for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++)
		if (strstr(s->body, never[i]))
			fail_msg("there is %s", never[i]);
	assert_int_equal(count(str_text(&s->page), "<script"), 2);
	assert_int_equal(count(str_text(&s->page), "</script>"), 2);
	assert_int_equal(count(str_text(&s->page), "<style"), 1);
	check_control(s->body);
}

/* --- numbers --- */

static double value_of(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return v && json_is_number(v) ? json_number_value(v) : NAN;
}

/* To the digits that the page's data have. */
static bool same(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-5 * fabs(b);
}

/* A median or an end of an interval: the place of its invocation, or [number]. */
static double written(const json_t *point, size_t i, const json_t *each)
{
	const json_t *v = json_array_get(point, i);

	if (!v || json_is_null(v))
		return NAN;
	if (json_is_array(v))
		return json_number_value(json_array_get(v, 0));
	assert_true(json_is_integer(v));
	if (!json_is_array(each))
		return json_number_value(each);
	assert_true((size_t)json_integer_value(v) < json_array_size(each));
	return json_number_value(json_array_get(each, (size_t)json_integer_value(v)));
}

/* Whether some point of the JSON report has this place and these numbers. */
static bool is_reported(const json_t *report, const char *bench, const char *inner, double x,
			const char *metric, const double v[3])
{
	const json_t *p, *e;
	size_t i, k;

	json_array_foreach(json_object_get(report, "points"), i, p)
	{
		const char *name = json_string_value(json_object_get(p, "bench"));

		if (strcmp(name, bench) != 0 ||
		    !same(value_of(json_object_get(p, "setting"), inner), x))
			continue;
		json_array_foreach(json_object_get(p, "estimates"), k,
				   e) if (strcmp(json_string_value(json_object_get(e, "metric")),
						 metric) == 0 &&
					  same(v[0], value_of(e, "value")) &&
					  same(v[1], value_of(e, "ci95_low")) &&
					  same(v[2], value_of(e, "ci95_high"))) return true;
	}
	return false;
}

static size_t check_curve(const json_t *report, const json_t *chart, const json_t *curve)
{
	const char *bench = json_string_value(json_object_get(chart, "bench"));
	const char *inner = json_string_value(json_object_get(chart, "inner"));
	const json_t *xs = json_object_get(curve, "x"), *point;
	const char *metric;
	json_t *list;
	size_t i, n = 0;

	json_object_foreach(json_object_get(curve, "metrics"), metric, list)
	{
		assert_int_equal(json_array_size(list), json_array_size(xs));
		json_array_foreach(list, i, point)
		{
			const json_t *each = json_array_get(point, 1);
			double x = json_number_value(json_array_get(xs, i));
			const double v[] = { written(point, 2, each), written(point, 3, each),
					     written(point, 4, each) };

			if (!is_reported(report, bench, inner, x, metric, v))
				fail_msg("%s %s at %g: %g [%g, %g]", bench, metric, x, v[0], v[1],
					 v[2]);
			n++;
		}
	}
	return n;
}

static void check_knees(const struct report *rep, const json_t *curve)
{
	const json_t *k;
	size_t i;

	json_array_foreach(json_object_get(curve, "knees"), i, k)
	{
		bool found = false;

		for (size_t f = 0; f < rep->facts.n; f++)
			found = found ||
				(strcmp(rep->facts.v[f].id,
					json_string_value(json_object_get(k, "id"))) == 0 &&
				 same(value_of(k, "value"), rep->facts.v[f].value) &&
				 same(value_of(k, "low"), rep->facts.v[f].low) &&
				 same(value_of(k, "advertised"), rep->facts.v[f].advertised));
		assert_true(found);
	}
}

static size_t check_numbers(const struct report *rep, const struct seen *s)
{
	struct str text = { 0 };
	const json_t *curve;
	const char *id;
	json_t *chart;
	size_t i, n = 0;

	assert_int_equal(report_json(&text, rep), 0);
	json_t *report = json_loads(str_text(&text), 0, NULL);
	assert_non_null(report);
	json_object_foreach(json_object_get(s->data, "charts"), id, chart)
	{
		assert_non_null(strstr(s->body, id));
		json_array_foreach(json_object_get(chart, "curves"), i, curve)
		{
			n += check_curve(report, chart, curve);
			check_knees(rep, curve);
		}
	}
	json_decref(report);
	str_done(&text);
	return n;
}

/* --- tests --- */

static void test_every_invented_run(void **state)
{
	size_t n = 0;

	(void)state;
	for (const struct fixture *f = fixtures; f->name; f++) {
		struct report rep;
		struct report_options o;
		struct seen s;
		struct run *r = fixture_open(f, &rep, &o);
		struct page_run one = { .rep = &rep, .name = f->name };

		look(&s, &(struct page_input){ .runs = &one, .n_runs = 1, .version = "1" });
		check_form(&s);
		n += check_numbers(&rep, &s);
		look_done(&s);
		fixture_close(r, &rep);
	}
	assert_true(n > 20);
}

static void test_facts_are_sentences(void **state)
{
	struct report rep;
	struct report_options o;
	struct seen s;
	struct run *r = fixture_open(fixture_find("quick"), &rep, &o);
	struct page_run one = { .rep = &rep, .name = "x" };

	(void)state;
	look(&s, &(struct page_input){ .runs = &one, .n_runs = 1 });
	assert_non_null(strstr(s.body, "A dependent random read over 1 GiB with 4 KiB pages takes "
				       "182 ns."));
	assert_non_null(strstr(s.body, "None has an interval"));
	assert_non_null(strstr(s.body, "A quick run: for orientation"));
	assert_non_null(strstr(s.body, "<h3>Toll card</h3>"));
	look_done(&s);
	fixture_close(r, &rep);
}

/* The read of the toll and the latency of memory are one number. */
static void test_no_sentence_twice(void **state)
{
	struct report rep;
	struct report_options o;
	struct seen s;
	struct run *r = fixture_open(fixture_find("toll"), &rep, &o);
	struct page_run one = { .rep = &rep, .name = "x" };

	(void)state;
	look(&s, &(struct page_input){ .runs = &one, .n_runs = 1 });
	assert_non_null(strstr(s.body, "A dependent random read over 1 GiB with 2 MiB pages"));
	assert_null(strstr(s.body, "A dependent load over 1 GiB"));
	look_done(&s);
	fixture_close(r, &rep);
}

static const char *const hostile[] = {
	"<script>alert(1)</script>",
	"</script><script>alert(1)</script>",
	"\"><img src=x onerror=alert(1)>",
	"' onmouseover='alert(1)",
	"<!--<script>",
	"]]></style><style>*{display:none}",
	"&lt;b&gt;&amp;",
	"\xe2\x80\xaetxet\xe2\x80\xac \xe2\x81\xa6 unclosed",
	"\xd7\x90\xd7\x91 \xd8\xa7\xd9\x84",
	"line\nbreak\ttab\a\x1b[31mred\x7f",
	"\xff\xfe broken \xc3",
	"\\u003c/script\\u003e ${x} {{x}}",
	"",
	" ",
};

/* Every place that takes a text. */
static void poison(struct run *r, struct report *rep, const char *text)
{
	r->id = r->source = r->label = r->command = r->version = r->stop_reason = text;
	r->origin = ORIGIN_PUBLISHED;
	attrs_set_text(&r->arena, &r->fingerprint, "cpu", text);
	attrs_set_text(&r->arena, &r->context, text[0] ? text : "empty", text);
	fixture_finding(r, text, SEVERITY_WARNING, text, text, text);
	for (size_t i = 0; i < r->n_measures; i++) {
		r->measures[i].unproven = text;
		attrs_set_text(&r->arena, &r->measures[i].proof, "words", text);
		attrs_set_text(&r->arena, &r->measures[i].taints, text[0] ? text : "empty", text);
		if (i % 3 == 0 && r->measures[i].verdict != VERDICT_OK)
			r->measures[i].reason = text;
	}
	for (size_t i = 0; i < rep->facts.n; i++) {
		rep->facts.v[i].note = text;
		rep->facts.v[i].method = text;
		rep->facts.v[i].interval_reason = text;
	}
}

static void check_hostile(const char *text)
{
	struct report rep;
	struct report_options o;
	struct seen s;
	struct run *r = fixture_open(fixture_find("quick"), &rep, &o);
	struct page_run one = { .rep = &rep, .name = text };

	poison(r, &rep, text);
	look(&s, &(struct page_input){ .runs = &one, .n_runs = 1, .version = text });
	check_form(&s);
	if (strpbrk(text, "<\"'"))
		assert_null(strstr(s.body, text));
	look_done(&s);
	fixture_close(r, &rep);
}

static void test_hostile_texts(void **state)
{
	static char letters[10001];

	(void)state;
	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++)
		check_hostile(hostile[i]);
	memset(letters, 'x', sizeof(letters) - 1);
	check_hostile(letters);
	memset(letters, '<', sizeof(letters) - 1);
	check_hostile(letters);
}

static void test_long_texts_are_cut_and_strange_ones_isolated(void **state)
{
	static char letters[10001];
	struct report rep;
	struct report_options o;
	struct seen s;
	struct run *r = fixture_open(fixture_find("quick"), &rep, &o);
	struct page_run one = { .rep = &rep, .name = "x" };

	(void)state;
	memset(letters, 'x', sizeof(letters) - 1);
	r->label = letters;
	look(&s, &(struct page_input){ .runs = &one, .n_runs = 1 });
	letters[400] = '\0';
	assert_null(strstr(s.body, letters));
	letters[200] = '\0';
	assert_non_null(strstr(s.body, letters));
	look_done(&s);
	r->label = hostile[8];
	look(&s, &(struct page_input){ .runs = &one, .n_runs = 1 });
	assert_non_null(strstr(s.body, "<bdi>\xd7\x90"));
	look_done(&s);
	fixture_close(r, &rep);
}

static void test_comparisons(void **state)
{
	size_t n = 0;

	(void)state;
	for (const struct compare_fixture *f = compare_fixtures; f->name; f++) {
		struct sample x;
		struct err e = { 0 };
		struct seen s;
		struct report rep;

		sample_open(f->name, &x);
		if (!x.runs[0]) {
			sample_close(&x);
			continue;
		}
		assert_int_equal(report_init(&rep, x.runs[0], &e), 0);
		struct page_run runs[] = { { .rep = &rep, .name = "one" },
					   { .rep = &rep, .name = "two" } };
		struct page_comparison c[] = { { .name_a = "one", .name_b = "two", .c = &x.c },
					       { .name_a = "one",
						 .name_b = "<three>",
						 .refusal = "no benchmark in common" } };
		look(&s, &(struct page_input){
				 .runs = runs, .n_runs = 2, .comparisons = c, .n_comparisons = 2 });
		check_form(&s);
		const char *verdicts = strstr(s.body, "B against A");
		assert_non_null(verdicts);
		assert_true(verdicts < strstr(s.body, "id=\"facts\""));
		assert_non_null(strstr(s.body, "B is &lt;three&gt;"));
		assert_non_null(strstr(s.body, "No comparison: no benchmark in common"));
		for (size_t i = 0; i < x.c.n_facts; i++)
			assert_non_null(strstr(s.body, x.c.facts[i].id));
		look_done(&s);
		report_done(&rep);
		sample_close(&x);
		n++;
	}
	assert_true(n > 2);
}

static void test_no_run_is_no_page(void **state)
{
	struct str out = { 0 };

	(void)state;
	assert_int_equal(report_html(&out, &(struct page_input){ 0 }), -EINVAL);
	assert_int_equal(out.len, 0);
	str_done(&out);
}

static void test_bundle(void **state)
{
	(void)state;
	assert_true(page_script_bytes + page_style_bytes <= 120000);
	assert_null(strstr(page_policy, "unsafe"));
	assert_ptr_equal(strstr(page_policy, "default-src 'none'"), page_policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_invented_run),
		cmocka_unit_test(test_facts_are_sentences),
		cmocka_unit_test(test_no_sentence_twice),
		cmocka_unit_test(test_hostile_texts),
		cmocka_unit_test(test_long_texts_are_cut_and_strange_ones_isolated),
		cmocka_unit_test(test_comparisons),
		cmocka_unit_test(test_no_run_is_no_page),
		cmocka_unit_test(test_bundle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
