// SPDX-License-Identifier: MIT
/*
 * Comparisons on the page: what differs between the environments, then the verdicts, facts before
 * points. The rules are compare/'s; how the numbers were obtained stands below.
 */
#include "report/html_parts.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "report/compare_parts.h"
#include "report/render.h"

enum { POINTS_MAX = 200 };

static void environment(struct page *pg, const struct comparison *c)
{
	if (!c->n_environment) {
		str_add(pg->out, "<p>The environments do not differ.</p>\n");
	} else {
		str_add(pg->out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
				 "aria-label=\"environment\"><h3>What differs between the "
				 "environments</h3><table><thead><tr><th scope=\"col\">name</th>"
				 "<th scope=\"col\">A</th><th scope=\"col\">B</th>"
				 "<th scope=\"col\"></th></tr></thead><tbody>\n");
		for (size_t i = 0; i < c->n_environment; i++) {
			const struct environment_difference *d = &c->environment[i];
			str_add(pg->out, "<tr><th scope=\"row\">");
			html_foreign(pg->out, d->name);
			str_add(pg->out, "</th><td>");
			html_foreign(pg->out, d->a ? d->a : "–");
			str_add(pg->out, "</td><td>");
			html_foreign(pg->out, d->b ? d->b : "–");
			str_addf(pg->out, "</td><td>%s</td></tr>\n",
				 d->is_factor        ? "compared on purpose"
				 : d->is_fingerprint ? "should be alike"
						     : "");
		}
		str_add(pg->out, "</tbody></table></div>\n");
	}
	if (c->environment_note) {
		str_add(pg->out, "<p>");
		html_foreign(pg->out, c->environment_note);
		str_add(pg->out, "</p>\n");
	}
}

static void counts(struct page *pg, const char *what, const struct compared *v, size_t n)
{
	struct outcome_counts k = outcomes_count(v, n);
	bool any = false;
	str_addf(pg->out, "<p class=\"counts\">%zu %s%s: ", n, what, n == 1 ? "" : "s");
	for (size_t i = 0; i < OUTCOMES; i++) {
		if (!k.n[i])
			continue;
		str_addf(pg->out, "%s<span class=\"o-%s\">%zu %s</span>", any ? ", " : "",
			 outcome_name((enum outcome)i), k.n[i], outcome_look((enum outcome)i));
		any = true;
	}
	str_add(pg->out, "</p>\n");
}

static void difference_cell(struct page *pg, const struct compared *c)
{
	str_add(pg->out, "<td class=\"num\">");
	if (isnan(c->percent))
		str_add(pg->out, "–");
	else if (fabs(c->percent) < 1e6)
		str_addf(pg->out, "%+.1f %%", c->percent);
	else
		str_addf(pg->out, "%+.1e %%", c->percent);
	if (!isnan(c->low) && !isnan(c->high) && fabs(c->low) < 1e6 && fabs(c->high) < 1e6)
		str_addf(pg->out, " [%+.1f, %+.1f]", c->low, c->high);
	str_add(pg->out, "</td>");
}

static void compared_row(struct page *pg, const struct compared *c, struct page_notes *notes)
{
	struct str where = { 0 };
	str_add(pg->out, "<tr><th scope=\"row\">");
	if (c->bench) {
		html_foreign(pg->out, c->bench);
		str_add(pg->out, " ");
	}
	html_foreign(pg->out, c->id);
	render_where(&where, pg->in->runs[0].rep->run, &c->where);
	if (where.len) {
		str_add(pg->out, " <small>");
		html_foreign(pg->out, str_text(&where));
		str_add(pg->out, "</small>");
	}
	pg->out->failed = pg->out->failed || where.failed;
	str_done(&where);
	str_add(pg->out, "</th>");
	html_number_cell(pg->out, c->a, c->unit, 3);
	html_number_cell(pg->out, c->b, c->unit, 3);
	difference_cell(pg, c);
	str_addf(pg->out, "<td><span class=\"o-%s\">%s</span>", outcome_name(c->outcome),
		 outcome_look(c->outcome));
	if (c->reason)
		str_addf(pg->out, "<sup>%zu</sup>", page_note(pg, notes, c->reason));
	str_add(pg->out, "</td></tr>\n");
}

/* Verdicts that tell most first. */
static void rows(struct page *pg, const char *what, const struct compared *v, size_t n, bool open)
{
	static const enum outcome order[] = { OUTCOME_WORSE,      OUTCOME_BETTER,
					      OUTCOME_DIFFERENCE, OUTCOME_INCONCLUSIVE,
					      OUTCOME_EQUIVALENT, OUTCOME_MISSING };
	struct page_notes notes = { 0 };
	size_t shown = 0;
	if (!n)
		return;
	str_addf(pg->out,
		 "<details%s><summary>%s</summary><div class=\"scroll\" tabindex=\"0\" "
		 "role=\"region\" aria-label=\"%s\"><table class=\"compared\"><thead><tr>"
		 "<th scope=\"col\"></th><th scope=\"col\">A</th><th scope=\"col\">B</th>"
		 "<th scope=\"col\">B against A [95 %%]</th><th scope=\"col\">verdict</th></tr>"
		 "</thead><tbody>\n",
		 open ? " open" : "", what, what);
	for (size_t k = 0; k < sizeof(order) / sizeof(*order); k++)
		for (size_t i = 0; i < n; i++)
			if (v[i].outcome == order[k] && shown++ < POINTS_MAX)
				compared_row(pg, &v[i], &notes);
	str_add(pg->out, "</tbody></table></div>");
	page_notes_list(pg, &notes);
	if (shown > POINTS_MAX)
		str_addf(pg->out, "<p>%zu more: pagetoll compare --all</p>", shown - POINTS_MAX);
	str_add(pg->out, "</details>\n");
}

static bool has_change(const struct compared *v, size_t n)
{
	struct outcome_counts k = outcomes_count(v, n);
	return k.n[OUTCOME_WORSE] || k.n[OUTCOME_BETTER];
}

static void how(struct page *pg, const struct comparison *c)
{
	const size_t n = sizeof(c->how) / sizeof(*c->how);
	str_add(pg->out, "<details><summary>How these numbers were obtained</summary><ul>\n");
	for (size_t i = 0; i < n && c->how[i]; i++) {
		str_add(pg->out, "<li>");
		html_foreign(pg->out, c->how[i]);
		str_add(pg->out, "</li>\n");
	}
	str_add(pg->out, "</ul></details>\n");
}

int html_compare(struct page *pg)
{
	for (size_t i = 0; i < pg->in->n_comparisons; i++) {
		const struct page_comparison *pc = &pg->in->comparisons[i];
		str_add(pg->out, "<section class=\"comparison\"><h2>B against A</h2><p>A is ");
		html_foreign(pg->out, pc->name_a);
		str_add(pg->out, ", B is ");
		html_foreign(pg->out, pc->name_b);
		str_add(pg->out, ".</p>\n");
		if (!pc->c) {
			str_add(pg->out, "<p class=\"warning\">No comparison: ");
			html_foreign(pg->out, pc->refusal ? pc->refusal : "refused");
			str_add(pg->out, "</p></section>\n");
			continue;
		}
		environment(pg, pc->c);
		if (pc->c->n_facts)
			counts(pg, "fact", pc->c->facts, pc->c->n_facts);
		counts(pg, "point", pc->c->points, pc->c->n_points);
		rows(pg, "Facts", pc->c->facts, pc->c->n_facts, true);
		bool only_points = !pc->c->n_facts || (has_change(pc->c->points, pc->c->n_points) &&
						       !has_change(pc->c->facts, pc->c->n_facts));
		rows(pg, "Points", pc->c->points, pc->c->n_points, only_points);
		how(pg, pc->c);
		str_add(pg->out, "</section>\n");
	}
	return pg->out->failed ? -ENOMEM : 0;
}
