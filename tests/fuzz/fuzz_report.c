// SPDX-License-Identifier: MIT
/*
 * Run files from other people: loaded, evaluated and printed in every form. What is printed holds
 * no control characters and no number that JSON has not got.
 */
#include "fuzz.h"

#include <string.h>

#include <jansson.h>

#include "record/runfile.h"
#include "report/html.h"
#include "report/plot.h"
#include "report/report.h"

static void forms(const struct report *rep)
{
	const struct report_options o = { .run_name = "last", .file = "x" };
	struct str text = { 0 }, json = { 0 }, csv = { 0 };
	json_t *doc;

	CHECK(report_text(&text, rep, &o) == 0);
	CHECK(report_toll_card(&text, rep, &o) == 0);
	for (const char *p = str_text(&text); *p; p++)
		CHECK((unsigned char)*p >= 0x20 || *p == '\n');
	CHECK(report_json(&json, rep) == 0);
	doc = json_loads(str_text(&json), 0, NULL);
	CHECK(doc);
	json_decref(doc);
	CHECK(report_csv(&csv, rep) == 0);
	CHECK(report_facts_csv(&csv, rep) == 0);
	str_done(&text);
	str_done(&json);
	str_done(&csv);
}

static void charts(const struct report *rep)
{
	const struct plot_run one = { rep, "x" };
	const struct report_options o = { .run_name = "last" };
	struct err e = { 0 };
	struct str text = { 0 };
	struct plot p;

	if (plot_make(&p, &one, 1, NULL, NULL, false, &e)) {
		CHECK(e.code && e.msg[0]);
		return;
	}
	CHECK(plot_text(&text, &p, &o) == 0);
	CHECK(plot_gnuplot(&text, &p, "svg") == 0);
	for (const char *c = str_text(&text); *c; c++)
		CHECK((unsigned char)*c >= 0x20 || *c == '\n');
	str_done(&text);
	plot_done(&p);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *p = strstr(text, what); p; p = strstr(p + 1, what))
		n++;
	return n;
}

static void page(const struct report *rep)
{
	const struct page_run one = { .rep = rep, .name = "x" };
	const struct page_input in = { .runs = &one, .n_runs = 1 };
	struct str text = { 0 };

	CHECK(report_html(&text, &in) == 0);
	CHECK(count(str_text(&text), "<script") == 2);
	CHECK(count(str_text(&text), "</script>") == 2);
	str_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct run *r = NULL;
	struct report rep = { 0 };
	struct err e = { 0 };

	if (runfile_load_buffer((const char *)data, n, &r, &e)) {
		CHECK(e.code && e.msg[0] && !r);
		return 0;
	}
	CHECK(r->id && r->source);
	if (report_init(&rep, r, &e) == 0) {
		forms(&rep);
		charts(&rep);
		page(&rep);
		report_done(&rep);
	}
	run_free(r);
	return 0;
}
