// SPDX-License-Identifier: MIT
/*
 * What stands behind the numbers: proof, disturbances, how it was measured, and the environment.
 */
#include "report/html_parts.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "report/render.h"

enum { PROOFS_MAX = 40 };

static void attrs_table(struct page *pg, const char *caption, const struct attrs *at)
{
	if (!at->n)
		return;
	str_addf(pg->out,
		 "<details><summary>%s</summary><div class=\"scroll\" tabindex=\"0\" "
		 "role=\"region\" aria-label=\"%s\"><table><tbody>\n",
		 caption, caption);
	for (size_t i = 0; i < at->n; i++) {
		struct str text = { 0 };
		attr_format(&text, &at->v[i]);
		str_add(pg->out, "<tr><th scope=\"row\">");
		html_foreign(pg->out, at->v[i].name);
		str_add(pg->out, "</th><td>");
		html_foreign(pg->out, str_text(&text));
		str_add(pg->out, "</td></tr>\n");
		pg->out->failed = pg->out->failed || text.failed;
		str_done(&text);
	}
	str_add(pg->out, "</tbody></table></div></details>\n");
}

/* --- proof --- */

struct tally {
	size_t n[VERDICT_KILLED + 1], unproven;
	const struct measure *sample; /* one that counts */
	const char *reason, *why_not; /* of one that does not; of one that is not proven */
};

static struct tally tally_of(const struct run *r, const char *bench)
{
	struct tally t = { 0 };
	for (size_t i = 0; i < r->n_measures; i++) {
		const struct measure *m = &r->measures[i];
		if (strcmp(m->bench, bench) != 0)
			continue;
		t.n[m->verdict]++;
		t.unproven += m->verdict == VERDICT_OK && m->unproven;
		if (m->verdict == VERDICT_OK && !t.sample)
			t.sample = m;
		if (m->verdict != VERDICT_OK && !t.reason)
			t.reason = m->reason;
		if (m->unproven && !t.why_not)
			t.why_not = m->unproven;
	}
	return t;
}

static void proof_row(struct page *pg, const struct run *r, const char *bench)
{
	struct tally t = tally_of(r, bench);
	bool any = false;
	str_add(pg->out, "<tr><th scope=\"row\">");
	html_foreign(pg->out, bench);
	str_add(pg->out, "</th><td>");
	for (int v = VERDICT_OK; v <= VERDICT_KILLED; v++) {
		if (!t.n[v])
			continue;
		str_addf(pg->out, "%s%zu %s", any ? ", " : "", t.n[v],
			 verdict_name((enum verdict)v));
		any = true;
	}
	str_add(pg->out, "</td><td>");
	if (t.unproven) {
		str_addf(pg->out, "%zu unproven: ", t.unproven);
		html_foreign(pg->out, t.why_not);
		str_add(pg->out, ". ");
	}
	if (t.sample && t.sample->proof.n) {
		struct str text = { 0 };
		attrs_format(&text, &t.sample->proof);
		str_add(pg->out, "<span class=\"why\">first measure: ");
		html_foreign(pg->out, str_text(&text));
		str_add(pg->out, "</span>");
		pg->out->failed = pg->out->failed || text.failed;
		str_done(&text);
	}
	if (t.reason) {
		str_add(pg->out, " <span class=\"why\">not counted: ");
		html_foreign(pg->out, t.reason);
		str_add(pg->out, "</span>");
	}
	str_add(pg->out, "</td></tr>\n");
}

static void proof(struct page *pg, const struct run *r)
{
	if (!r->n_schemas)
		return;
	str_add(pg->out, "<h3>Proof</h3><p>Every measure brings evidence that what its name says "
			 "happened. Contrary evidence: invalid, never used. Missing evidence: "
			 "unproven.</p><div class=\"scroll\" tabindex=\"0\" role=\"region\" "
			 "aria-label=\"proof\"><table><thead><tr><th scope=\"col\">benchmark</th>"
			 "<th scope=\"col\">measures</th><th scope=\"col\">evidence</th></tr>"
			 "</thead><tbody>\n");
	for (size_t i = 0; i < r->n_schemas && i < PROOFS_MAX; i++)
		proof_row(pg, r, r->schemas[i].name);
	str_add(pg->out, "</tbody></table></div>\n");
}

/* --- disturbances --- */

static void finding(struct page *pg, const struct finding *f)
{
	str_addf(pg->out, "<li class=\"%s\"><b>%s:</b> ", severity_name(f->severity),
		 severity_name(f->severity));
	html_foreign(pg->out, f->what);
	if (f->effect) {
		str_add(pg->out, ". Effect: ");
		html_foreign(pg->out, f->effect);
	}
	if (f->remedy) {
		str_add(pg->out, ". Remedy: ");
		html_foreign(pg->out, f->remedy);
	}
	str_add(pg->out, ".</li>\n");
}

static void taint_lines(struct page *pg, struct str *taints)
{
	const char *sep = "<ul>\n<li>";
	for (char *line = taints->data, *next; line && *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		str_add(pg->out, *line == ' ' ? " " : sep); /* wrapped lines hang */
		html_foreign(pg->out, line + strspn(line, " "));
		sep = "</li>\n<li>";
	}
	if (taints->len)
		str_add(pg->out, "</li></ul>\n");
}

static int disturbances(struct page *pg, const struct report *rep)
{
	struct report_options o = { .utf8 = true };
	const struct run *r = rep->run;
	struct str taints = { 0 };
	int ret = render_taints(&taints, rep, &o, 0);
	str_add(pg->out, "<h3>What disturbed</h3>\n");
	if (r->n_findings)
		str_add(pg->out, "<ul class=\"findings\">\n");
	for (int s = SEVERITY_BLOCKER; s >= SEVERITY_NOTE; s--)
		for (size_t i = 0; i < r->n_findings; i++)
			if ((int)r->findings[i].severity == s)
				finding(pg, &r->findings[i]);
	if (r->n_findings)
		str_add(pg->out, "</ul>\n");
	taint_lines(pg, &taints);
	if (!r->n_findings && !taints.len)
		str_add(pg->out, "<p>Nothing was recorded.</p>\n");
	str_done(&taints);
	return ret;
}

/* --- how --- */

static void how_item(struct page *pg, const char *text)
{
	str_add(pg->out, "<li>");
	html_text(pg->out, text);
	str_add(pg->out, "</li>\n");
}

/* Of commands that were profiled there is one setting. */
static void how_order(struct page *pg, const struct run *r)
{
	bool arms = false;
	for (size_t i = 0; i < r->n_measures; i++)
		arms = arms || r->measures[i].arm;
	if (arms)
		how_item(pg, "The arms ran interleaved, in random blocks of fresh processes.");
	else if (r->preset)
		how_item(pg, "Settings ran in random order, round by round.");
}

static void how_estimators(struct page *pg, const struct run *r)
{
	for (size_t i = 0; i < r->n_schemas; i++) {
		const struct bench_schema *s = &r->schemas[i];
		const struct metric *m = s->metrics;
		if (!m || !m->name)
			continue;
		str_add(pg->out, "<li>");
		html_foreign(pg->out, s->name);
		str_addf(pg->out, " (revision %u): ", s->revision);
		html_foreign(pg->out, m->summary ? m->summary : m->name);
		if (m->form == FORM_SAMPLES)
			str_addf(pg->out, "; the %s of the repetitions within each process",
				 m->estimator == EST_MIN ? "least" : "median");
		str_add(pg->out, "</li>\n");
	}
}

static void how(struct page *pg, const struct report *rep)
{
	const struct run *r = rep->run;
	struct str n = { 0 };
	str_add(pg->out, "<h3>How it was measured</h3><ul class=\"how\">\n");
	if (r->origin != ORIGIN_MEASURED) {
		str_addf(pg->out, "<li>Not measured here: %s. Source: ", origin_name(r->origin));
		html_foreign(pg->out, r->source);
		str_add(pg->out, "</li>\n");
	} else {
		render_invocations(&n, rep);
		str_add(pg->out, "<li>Repeated in fresh processes, ");
		html_text(pg->out, str_text(&n));
		str_add(pg->out, " a point; the headline is the median over them.</li>\n");
		how_item(pg, "Intervals are 95 %, exact from order statistics of the processes, "
			     "never from fewer than six; where there is none, the reason stands.");
		how_order(pg, r);
		how_item(pg, "Absolute values in every table; every invocation is a dot. Lines "
			     "join medians where the axis is a number.");
	}
	how_estimators(pg, r);
	str_done(&n);
	if (r->stop_reason) {
		str_add(pg->out, "<li>The run ended: ");
		html_foreign(pg->out, r->stop_reason);
		str_add(pg->out, "</li>\n");
	}
	if (r->version) {
		str_add(pg->out, "<li>Measured by pagetoll ");
		html_foreign(pg->out, r->version);
		str_add(pg->out, "</li>\n");
	}
	str_add(pg->out, "<li>The definition of each number, and what it is not: "
			 "docs/methodology.md; of each interval and test: docs/statistics.md.</li>"
			 "</ul>\n");
}

int html_about(struct page *pg)
{
	int ret = 0;
	for (size_t i = 0; ret == 0 && i < pg->in->n_runs; i++) {
		const struct page_run *run = &pg->in->runs[i];
		if (run->is_overlay)
			continue;
		str_add(pg->out, "<section class=\"about\"><h2>Behind the numbers");
		if (pg->in->n_comparisons) {
			str_add(pg->out, ": ");
			html_foreign(pg->out, run->name);
		}
		str_add(pg->out, "</h2>\n");
		proof(pg, run->rep->run);
		ret = disturbances(pg, run->rep);
		how(pg, run->rep);
		str_add(pg->out, "<h3>Environment</h3>\n");
		attrs_table(pg, "Machine and its switches", &run->rep->run->fingerprint);
		attrs_table(pg, "Conditions of this run", &run->rep->run->context);
		str_add(pg->out, "</section>\n");
	}
	return ret < 0 ? ret : pg->out->failed ? -ENOMEM : 0;
}
