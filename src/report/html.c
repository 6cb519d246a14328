// SPDX-License-Identifier: MIT
/*
 * The page as a whole: head with its policy, what the runs are, then comparison, facts, benchmarks,
 * what stands behind them; last the data and the script. Content Security Policy Level 3: inline
 * script and style are allowed by their hashes, everything else is forbidden; a script element of
 * type application/json is data.
 */
#include "report/html.h"

#include <errno.h>
#include <string.h>

#include "base/units.h"
#include "report/html_parts.h"
#include "report/page_bundle.h"
#include "report/render.h"

static void title(struct page *pg)
{
	const char *sep = "";
	str_add(pg->out, "pagetoll: ");
	for (size_t i = 0; i < pg->in->n_runs; i++) {
		struct arena a = { 0 };
		if (pg->in->runs[i].is_overlay)
			continue;
		const char *name = render_clean(&a, pg->in->runs[i].name, true, 60);
		str_add(pg->out, sep);
		html_text(pg->out, name ? name : "");
		pg->out->failed = pg->out->failed || !name;
		arena_done(&a);
		sep = ", ";
	}
}

static void head(struct page *pg)
{
	str_add(pg->out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
			 "<meta http-equiv=\"Content-Security-Policy\" content=\"");
	html_text(pg->out, page_policy);
	str_add(pg->out, "\">\n<meta name=\"viewport\" content=\"width=device-width, "
			 "initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"
			 "<meta name=\"referrer\" content=\"no-referrer\">\n"
			 "<link rel=\"icon\" href=\"data:,\">\n<title>");
	title(pg);
	str_add(pg->out, "</title>\n<style>");
	str_add_n(pg->out, (const char *)page_style, page_style_bytes);
	str_add(pg->out, "</style></head>\n");
}

static void line(struct page *pg, const char *name, const char *text)
{
	if (!text || !*text)
		return;
	str_addf(pg->out, "<dt>%s</dt><dd>", name);
	html_foreign(pg->out, text);
	str_add(pg->out, "</dd>\n");
}

static void warnings(struct page *pg, const struct run *r)
{
	if (r->preset && strcmp(r->preset, "quick") == 0)
		str_add(pg->out, "<p class=\"warning\">A quick run: for orientation, not for "
				 "publication.</p>\n");
	if (!r->has_footer || !r->complete) {
		struct report_options o = { .utf8 = true };
		struct str text = { 0 };
		render_state(&text, r, &o);
		str_add(pg->out, "<p class=\"warning\">");
		html_foreign(pg->out, str_text(&text));
		str_add(pg->out, "</p>\n");
		str_done(&text);
	}
	if (r->n_bad_lines)
		str_addf(pg->out,
			 "<p class=\"warning\">Lines of the file that could not be read and are "
			 "left out: %zu.</p>\n",
			 r->n_bad_lines);
}

static void run_head(struct page *pg, const struct page_run *run)
{
	const struct run *r = run->rep->run;
	struct str text = { 0 };
	char buf[UNITS_TEXT_BYTES];
	str_add(pg->out, "<div class=\"run\"><dl>\n");
	if (pg->in->n_comparisons)
		line(pg, "name", run->name);
	line(pg, "run", r->id);
	line(pg, "label", r->label);
	render_machine(&text, r);
	line(pg, "machine", str_text(&text));
	str_clear(&text);
	if (r->start_unix_ns > 0) {
		render_time(&text, r->start_unix_ns);
		if (r->has_footer && r->end_unix_ns > r->start_unix_ns)
			str_addf(&text, ", took %s",
				 format_time_human(buf,
						   (double)(r->end_unix_ns - r->start_unix_ns)));
		line(pg, "when", str_text(&text));
	}
	if (r->origin != ORIGIN_MEASURED)
		line(pg, "source", r->source);
	line(pg, "command", r->command);
	str_add(pg->out, "</dl>\n");
	pg->out->failed = pg->out->failed || text.failed;
	str_done(&text);
	warnings(pg, r);
	str_add(pg->out, "</div>\n");
}

static void body_head(struct page *pg)
{
	str_add(pg->out, "<body>\n<a class=\"skip\" href=\"#facts\">To the facts</a>\n<header>"
			 "<h1>What memory management costs</h1>"
			 "<span id=\"tools\"></span></header>\n<main>\n<div class=\"runs\">\n");
	for (size_t i = 0; i < pg->in->n_runs; i++)
		if (!pg->in->runs[i].is_overlay)
			run_head(pg, &pg->in->runs[i]);
	str_add(pg->out, "</div>\n");
}

/* Where there is more than a screen of them. */
static void contents(struct page *pg)
{
	const char *sep = "<nav aria-label=\"benchmarks\">";
	bool any_curve = false;
	for (size_t i = 0; i < pg->charts.n; i++) {
		const struct page_chart *ch = &pg->charts.v[i];
		any_curve = any_curve || (ch->is_curve && ch->schema);
		if (pg->charts.n < 3 || (i && strcmp(ch[-1].bench, ch->bench) == 0))
			continue;
		str_addf(pg->out, "%s<a href=\"#bench-%zu\">", sep, i);
		html_foreign(pg->out, ch->bench);
		str_add(pg->out, "</a>");
		sep = " ";
	}
	if (pg->charts.n >= 3)
		str_add(pg->out, "</nav>\n");
	if (any_curve)
		str_add(pg->out,
			"<p class=\"why\">In charts, lines join medians over invocations, "
			"bands are their 95 % intervals, dots are invocations. Dashed "
			"verticals: bends that were inferred, pale: their intervals; triangles: what the "
			"processor says. Values by pointer or arrow keys; drag to zoom, "
			"double-click or escape to go back.</p>\n");
}

static int benches(struct page *pg)
{
	int ret = 0;
	str_add(pg->out, "<h2 id=\"benches\">Benchmarks</h2>\n");
	contents(pg);
	if (!pg->charts.n)
		str_add(pg->out, "<p>Nothing was measured.</p>\n");
	for (size_t i = 0; ret == 0 && i < pg->charts.n; i++)
		ret = html_bench(pg, i);
	return ret;
}

static int foot(struct page *pg)
{
	str_add(pg->out, "</main>\n<footer>Written by pagetoll ");
	html_text(pg->out, pg->in->version ? pg->in->version : "");
	str_add(pg->out, ". This file needs no network. Runs as data: pagetoll export RUN."
			 "</footer>\n<script type=\"application/json\" id=\"data\">");
	int ret = html_json(pg->out, html_data(pg));
	str_add(pg->out, "</script>\n<script>");
	str_add_n(pg->out, (const char *)page_script, page_script_bytes);
	str_add(pg->out, "</script>\n</body></html>\n");
	return ret;
}

int report_html(struct str *out, const struct page_input *in)
{
	struct arena a = { 0 };
	struct page pg = { .out = out, .arena = &a, .in = in };
	if (!in->n_runs)
		return -EINVAL;
	int ret = page_charts_make(&pg);
	if (ret == 0) {
		head(&pg);
		body_head(&pg);
		ret = html_compare(&pg);
	}
	if (ret == 0)
		ret = html_facts(&pg);
	if (ret == 0)
		ret = benches(&pg);
	if (ret == 0)
		ret = html_about(&pg);
	if (ret == 0)
		ret = foot(&pg);
	arena_done(&a);
	return ret < 0 ? ret : out->failed ? -ENOMEM : 0;
}
