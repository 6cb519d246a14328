// SPDX-License-Identifier: MIT
/*
 * The toll card on the page: the deciding sentence, what translation costs by page size, what the
 * caches cost. Facts of other experiments (more conditions than the table names) stand in the table
 * of all facts; the card as text follows, to be copied into a mail.
 */
#include "report/html_parts.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "report/render.h"
#include "report/toll_decision.h"

enum { PAGES_MAX = 8, LEVELS_MAX = 5 };

/* The fact @id with exactly these conditions; @page NULL, @level 0: none. */
static const struct fact *find(const struct report *rep, const char *id, const char *page,
			       int64_t level)
{
	for (size_t i = 0; i < rep->facts.n; i++) {
		const struct fact *f = &rep->facts.v[i];
		if (strcmp(f->id, id) == 0 && f->where.n == (page ? 1U : 0U) + (level ? 1U : 0U) &&
		    (!page || strcmp(attrs_text(&f->where, "page", ""), page) == 0) &&
		    (!level || attrs_int(&f->where, "level", 0) == level))
			return f;
	}
	return NULL;
}

/* A reference over the largest set has one condition more. */
static const struct fact *find_random(const struct report *rep, const char *page)
{
	for (size_t i = 0; i < rep->facts.n; i++) {
		const struct fact *f = &rep->facts.v[i];
		if (strcmp(f->id, "toll.random_read_ns") == 0 &&
		    strcmp(attrs_text(&f->where, "page", ""), page) == 0)
			return f;
	}
	return NULL;
}

static void words(struct page *pg, double v, const char *unit)
{
	struct str text = { 0 };
	render_value(&text, v, unit, 3, true);
	html_text(pg->out, str_text(&text));
	pg->out->failed = pg->out->failed || text.failed;
	str_done(&text);
}

/* Value, interval, the same in core cycles, what the processor says, a note. */
static void fact_cell(struct page *pg, const struct report *rep, const struct fact *f,
		      const struct fact *cycles, struct page_notes *notes)
{
	str_add(pg->out, "<td>");
	if (!f || isnan(f->value)) {
		const char *reason = !f ? NULL : f->reason ? f->reason : "no reason recorded";
		str_add(pg->out, "–");
		if (reason)
			str_addf(pg->out, "<sup>%zu</sup>", page_note(pg, notes, reason));
		return;
	}
	str_add(pg->out, "<b>");
	words(pg, f->value, f->unit);
	str_add(pg->out, "</b>");
	if (!isnan(f->low) && !isnan(f->high)) {
		struct str text = { 0 };
		str_add(&text, " ");
		render_interval(&text, f->low, f->high, f->value, f->unit, 3);
		html_text(pg->out, str_text(&text));
		pg->out->failed = pg->out->failed || text.failed;
		str_done(&text);
	}
	if (f->note)
		str_addf(pg->out, "<sup>%zu</sup>", page_note(pg, notes, f->note));
	if (cycles && !isnan(cycles->value)) {
		str_add(pg->out, "<span class=why>");
		words(pg, cycles->value, cycles->unit);
		str_add(pg->out, "</span>");
	}
	if (!isnan(f->advertised)) {
		enum agreement agree = fact_agreement(rep, f);
		str_add(pg->out, "<span class=why>processor: ");
		words(pg, f->advertised, f->unit);
		str_add(pg->out, agree == AGREE_YES  ? ", agrees"
				 : agree == AGREE_NO ? ", <b>differs</b>"
						     : "");
		str_add(pg->out, "</span>");
	}
}

/* --- translation --- */

/* Page words of the facts, in their order. */
static size_t pages_of(const struct report *rep, const char **ret)
{
	size_t n = 0;
	for (size_t i = 0; i < rep->facts.n && n < PAGES_MAX; i++) {
		const struct fact *f = &rep->facts.v[i];
		const char *page = attrs_text(&f->where, "page", NULL);
		size_t k = 0;
		if (!page || (strncmp(f->id, "tlb.", 4) != 0 && strncmp(f->id, "walk.", 5) != 0 &&
			      strcmp(f->id, "toll.random_read_ns") != 0))
			continue;
		while (k < n && strcmp(ret[k], page) != 0)
			k++;
		if (k == n)
			ret[n++] = page;
	}
	return n;
}

static const struct {
	const char *id, *cycles, *words;
	int64_t level;
} translation[] = {
	{ "tlb.entries", NULL, "First-level data TLB", 1 },
	{ "tlb.entries", NULL, "Second-level data TLB", 2 },
	{ "tlb.hit_ns", "tlb.hit_cycles", "Miss of the first level that hits the second", 2 },
	{ "walk.cached_ns", "walk.cached_cycles", "Page walk, tables in the caches", 0 },
	{ "walk.memory_ns", "walk.memory_cycles", "Page walk, tables in memory", 0 },
	{ "tlb.effective_page", NULL, "Size of a TLB entry", 0 },
	{ "toll.random_read_ns", NULL, "Random read of the largest set", -1 },
};

static const struct fact *fact_at(const struct report *rep, size_t row, const char *page)
{
	return translation[row].level < 0
		       ? find_random(rep, page)
		       : find(rep, translation[row].id, page, translation[row].level);
}

static void table_open(struct page *pg, const char *caption)
{
	str_addf(pg->out,
		 "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">"
		 "<table class=\"card\"><thead><tr><th scope=\"col\">%s",
		 caption, caption);
}

static void translation_table(struct page *pg, const struct report *rep)
{
	struct page_notes notes = { 0 };
	const char *pages[PAGES_MAX];
	size_t n = pages_of(rep, pages);
	if (!n)
		return;
	table_open(pg, "What a reference pays, against a hit of the first-level TLB");
	for (size_t i = 0; i < n; i++) {
		struct str text = { 0 };
		render_page_words(&text, rep, pages[i]);
		str_add(pg->out, "<th scope=\"col\">");
		html_foreign(pg->out, str_text(&text));
		pg->out->failed = pg->out->failed || text.failed;
		str_done(&text);
	}
	str_add(pg->out, "</thead><tbody>\n");
	for (size_t row = 0; row < sizeof(translation) / sizeof(*translation); row++) {
		bool any = false;
		for (size_t i = 0; i < n; i++)
			any = any || fact_at(rep, row, pages[i]);
		if (!any)
			continue;
		str_addf(pg->out, "<tr><th>%s", translation[row].words);
		for (size_t i = 0; i < n; i++) {
			const char *cycles = translation[row].cycles;
			fact_cell(pg, rep, fact_at(rep, row, pages[i]),
				  cycles ? find(rep, cycles, pages[i], translation[row].level)
					 : NULL,
				  &notes);
		}
		str_add(pg->out, "\n");
	}
	str_add(pg->out, "</tbody></table></div>");
	page_notes_list(pg, &notes);
}

/* --- caches --- */

static void cache_table(struct page *pg, const struct report *rep)
{
	struct page_notes notes = { 0 };
	int64_t levels = 0;
	for (int64_t level = 1; level <= LEVELS_MAX; level++)
		if (find(rep, "cache.latency_ns", NULL, level) ||
		    find(rep, "cache.capacity", NULL, level))
			levels = level;
	if (!levels)
		return;
	table_open(pg, "Data caches");
	str_add(pg->out, "<th scope=\"col\">dependent load<th scope=\"col\">serves sets up to"
			 "</thead><tbody>\n");
	for (int64_t level = 1; level <= levels; level++) {
		str_addf(pg->out, "<tr><th>level %d", (int)level);
		fact_cell(pg, rep, find(rep, "cache.latency_ns", NULL, level),
			  find(rep, "cache.latency_cycles", NULL, level), &notes);
		fact_cell(pg, rep, find(rep, "cache.capacity", NULL, level), NULL, &notes);
		str_add(pg->out, "\n");
	}
	str_add(pg->out, "</tbody></table></div>");
	page_notes_list(pg, &notes);
}

/* --- the card --- */

void html_lines(struct page *pg, struct str *text, const char *between)
{
	for (char *line = text->data, *next; line && *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		html_text(pg->out, line);
		str_add(pg->out, between);
	}
	pg->out->failed = pg->out->failed || text->failed;
}

int html_card(struct page *pg, const struct page_run *run)
{
	struct report_options o = { .utf8 = true, .run_name = run->name };
	struct str text = { 0 };
	if (!report_has_toll_card(run->rep))
		return 0;
	str_add(pg->out, "<div class=\"toll\"><h3>Toll card</h3><p>");
	toll_decision_render(&text, pg->arena, run->rep, &o);
	html_lines(pg, &text, " ");
	str_add(pg->out, "</p>\n");
	translation_table(pg, run->rep);
	cache_table(pg, run->rep);
	str_clear(&text);
	int ret = report_toll_card(&text, run->rep, &o);
	str_add(pg->out, "<details><summary>The card as text, with what disturbed and how to go on"
			 "</summary><pre class=\"scroll\" tabindex=\"0\">");
	html_lines(pg, &text, "\n");
	str_add(pg->out, "</pre></details></div>\n");
	str_done(&text);
	return ret;
}
