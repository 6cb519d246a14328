// SPDX-License-Identifier: MIT
/* The headline facts as sentences, the place of the toll card, and the table of all facts. */
#include "report/html_parts.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "report/facts_words.h"
#include "report/render.h"

/* Reasons of missing intervals, each once. */
static void interval_reasons(struct page *pg, const struct fact_sentences *s)
{
	bool any = false;
	for (size_t i = 0; i < s->n; i++) {
		const struct fact *f = s->v[i].fact;
		size_t k = 0;
		if (!isnan(f->low) || !f->interval_reason)
			continue;
		while (k < i && (!isnan(s->v[k].fact->low) || !s->v[k].fact->interval_reason ||
				 strcmp(s->v[k].fact->interval_reason, f->interval_reason) != 0))
			k++;
		if (k < i)
			continue;
		str_add(pg->out, any               ? "; "
				 : s->any_interval ? "<p class=\"why\">Where there is no interval: "
						   : "<p class=\"why\">None has an interval: ");
		html_foreign(pg->out, f->interval_reason);
		any = true;
	}
	if (any)
		str_add(pg->out, ".</p>\n");
}

static int sentences(struct page *pg, const struct report *rep)
{
	struct fact_sentences s;
	if (facts_words(pg->arena, rep, &s) < 0)
		return -ENOMEM;
	if (!s.n) {
		str_add(pg->out, "<p>No facts could be inferred from this run; its points stand "
				 "below.</p>\n");
		return 0;
	}
	struct page_notes notes = { 0 };
	str_add(pg->out, "<ul class=\"facts\">\n");
	for (size_t i = 0; i < s.n; i++) {
		str_addf(pg->out, "<li data-fact=\"");
		html_text(pg->out, s.v[i].fact->id);
		str_add(pg->out, "\">");
		html_foreign(pg->out, s.v[i].text);
		if (s.v[i].fact->note)
			str_addf(pg->out, "<sup>%zu</sup>",
				 page_note(pg, &notes, s.v[i].fact->note));
		str_add(pg->out, "</li>\n");
	}
	str_add(pg->out, "</ul>\n");
	if (s.n_more)
		str_addf(pg->out, "<p>%zu more of these kinds stand in the table.</p>\n", s.n_more);
	page_notes_list(pg, &notes);
	interval_reasons(pg, &s);
	return 0;
}

static void fact_row(struct page *pg, const struct report *rep, const struct fact *f,
		     struct page_notes *notes)
{
	struct str where = { 0 };
	enum agreement agree = fact_agreement(rep, f);
	str_add(pg->out, "<tr><th>");
	html_foreign(pg->out, f->id);
	render_where(&where, rep->run, &f->where);
	if (where.len) {
		str_add(pg->out, " <small>");
		html_foreign(pg->out, str_text(&where));
		str_add(pg->out, "</small>");
	}
	str_done(&where);
	if (isnan(f->value)) {
		str_addf(pg->out, "<td class=num>–<sup>%zu</sup><td>",
			 page_note(pg, notes,
				   f->reason ? f->reason : "not measured, no reason recorded"));
	} else {
		html_number_cell(pg->out, f->value, f->unit, 3);
		html_interval_cell(pg->out, f->low, f->high, f->value, f->unit);
	}
	html_number_cell(pg->out, f->advertised, f->unit, 3);
	str_addf(pg->out, "<td>%s<td>",
		 agree == AGREE_YES  ? "agrees"
		 : agree == AGREE_NO ? "differs"
				     : "");
	html_foreign(pg->out, f->method);
	if (f->note)
		str_addf(pg->out, "<sup>%zu</sup>", page_note(pg, notes, f->note));
	str_add(pg->out, "\n");
}

static void table(struct page *pg, const struct report *rep)
{
	struct page_notes notes = { 0 };
	if (!rep->facts.n)
		return;
	str_add(pg->out,
		"<details><summary>All facts with their methods</summary>"
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
		"aria-label=\"facts\"><table class=\"facts-table\"><thead><tr><th scope=\"col\">fact</th>"
		"<th scope=\"col\">value</th><th scope=\"col\">95 %</th>"
		"<th scope=\"col\">advertised</th><th scope=\"col\"></th>"
		"<th scope=\"col\">method</th></tr></thead><tbody>\n");
	for (size_t i = 0; i < rep->facts.n; i++)
		fact_row(pg, rep, &rep->facts.v[i], &notes);
	str_add(pg->out, "</tbody></table></div>");
	page_notes_list(pg, &notes);
	str_add(pg->out, "</details>\n");
}

int html_facts(struct page *pg)
{
	int ret = 0;
	str_add(pg->out, "<section id=\"facts\"><h2>In short</h2>\n");
	for (size_t i = 0; ret == 0 && i < pg->in->n_runs; i++) {
		const struct page_run *run = &pg->in->runs[i];
		if (run->is_overlay)
			continue;
		if (pg->in->n_comparisons) {
			str_add(pg->out, "<h3>");
			html_foreign(pg->out, run->name);
			str_add(pg->out, "</h3>\n");
		}
		ret = sentences(pg, run->rep);
		if (ret == 0)
			ret = html_card(pg, run);
		table(pg, run->rep);
	}
	str_add(pg->out, "</section>\n");
	return ret < 0 ? ret : pg->out->failed ? -ENOMEM : 0;
}
