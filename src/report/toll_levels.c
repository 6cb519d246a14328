// SPDX-License-Identifier: MIT
/*
 * A block a page size: the levels of its data TLB and what missing them adds; a block for the data
 * caches. Facts of other experiments (more conditions than page and level) are left to `show`.
 */
#include "report/toll_levels.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "report/render.h"
#include "report/table.h"

enum { LEVELS_MAX = 5 };

/* The fact @id that holds for exactly @page (NULL: any condition is refused) and @level (0: none).
 */
static const struct fact *find(const struct report *rep, const char *id, const char *page,
			       int64_t level)
{
	for (size_t i = 0; i < rep->facts.n; i++) {
		const struct fact *f = &rep->facts.v[i];
		size_t conditions = (page ? 1u : 0u) + (level > 0 ? 1u : 0u);
		if (strcmp(f->id, id) != 0 || f->where.n != conditions)
			continue;
		if (page && strcmp(attrs_text(&f->where, "page", ""), page) != 0)
			continue;
		if (level && attrs_int(&f->where, "level", 0) != level)
			continue;
		return f;
	}
	return NULL;
}

/* @text, or a reference where the block has said the same already. */
static const char *unless_said(const char *text, const struct fact *said)
{
	if (said && said->note && strcmp(said->note, text) == 0)
		return "see the effective page size";
	return text;
}

/*
 * "63 [62, 65]", or "-" with the reason; nothing for an absent fact. @said: a fact whose note
 * stands above already, or NULL.
 */
static void set_fact(struct table *t, size_t row, size_t column, const struct fact *f,
		     const struct fact *said)
{
	struct str text = { 0 };
	if (!f)
		return;
	if (isnan(f->value)) {
		table_set(t, row, column, "-");
		table_mark(t, row, column, NOTE_REASON,
			   unless_said(f->reason ? f->reason : "not measured, no reason recorded",
				       said));
		return;
	}
	render_value(&text, f->value, f->unit, 3, false);
	if (!isnan(f->low) && !isnan(f->high)) {
		str_add(&text, " ");
		render_interval(&text, f->low, f->high, f->value, f->unit, 3);
	}
	table_set(t, row, column, str_text(&text));
	if (isnan(f->low) || isnan(f->high))
		table_mark(t, row, column, NOTE_REASON,
			   f->interval_reason ? f->interval_reason : "no interval");
	if (f->note)
		table_mark(t, row, column, NOTE_REASON, unless_said(f->note, said));
	t->failed = t->failed || text.failed;
	str_done(&text);
}

static void set_advertised(struct table *t, size_t row, size_t column, const struct report *rep,
			   const struct fact *f)
{
	struct str text = { 0 };
	enum agreement agree = f ? fact_agreement(rep, f) : AGREE_UNKNOWN;
	if (!f || isnan(f->advertised))
		return;
	render_value(&text, f->advertised, f->unit, 3, false);
	if (agree != AGREE_UNKNOWN)
		str_add(&text, agree == AGREE_YES ? " agrees" : " differs");
	table_set(t, row, column, str_text(&text));
	t->failed = t->failed || text.failed;
	str_done(&text);
}

static void set_plain(struct table *t, size_t row, size_t column, double v, const char *unit)
{
	struct str text = { 0 };
	if (isnan(v))
		return;
	render_value(&text, v, unit, 3, false);
	table_set(t, row, column, str_text(&text));
	t->failed = t->failed || text.failed;
	str_done(&text);
}

static void set_label(struct table *t, size_t row, const char *fmt, int64_t level)
{
	struct str text = { 0 };
	str_addf(&text, "%s%lld", fmt, (long long)level);
	table_set(t, row, 0, str_text(&text));
	t->failed = t->failed || text.failed;
	str_done(&text);
}

static void optional_from(struct table *t, size_t first)
{
	for (size_t c = first; c < t->n_columns; c++)
		t->columns[c].optional = true;
}

/* --- page sizes --- */

/* Page words of the run in order of appearance: of facts, then of settings that could not run. */
static int collect_pages(struct arena *a, const struct report *rep, struct attrs *ret)
{
	for (size_t i = 0; i < rep->facts.n; i++) {
		const struct fact *f = &rep->facts.v[i];
		const char *page = attrs_text(&f->where, "page", NULL);
		bool ours = strncmp(f->id, "tlb.", 4) == 0 || strncmp(f->id, "walk.", 5) == 0;
		if (page && ours && !attrs_find(ret, page) && attrs_set_int(a, ret, page, 0) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < rep->curves.n; i++) {
		const struct curve_points *c = &rep->curves.v[i];
		const char *page = attrs_text(&c->outer, "page", NULL);
		if (page && c->skipped && !attrs_find(ret, page) &&
		    attrs_set_int(a, ret, page, 0) < 0)
			return -ENOMEM;
	}
	return 0;
}

static bool page_is_measured(const struct report *rep, const char *page)
{
	static const char *const ids[] = { "tlb.hit_ns", "walk.cached_ns", "walk.memory_ns", NULL };
	for (int64_t level = 1; level <= LEVELS_MAX; level++) {
		const struct fact *f = find(rep, "tlb.entries", page, level);
		if (f && !isnan(f->value))
			return true;
	}
	for (size_t i = 0; ids[i]; i++) {
		const struct fact *f = find(rep, ids[i], page, i == 0 ? 2 : 0);
		if (f && !isnan(f->value))
			return true;
	}
	return false;
}

static int render_entries(struct str *out, struct arena *a, const struct report *rep,
			  const char *page, const struct report_options *o)
{
	const struct fact *said = find(rep, "tlb.effective_page", page, 0);
	struct table t;
	table_init(&t, a, o);
	t.indent = 2;
	table_add_column(&t, "data TLB", TABLE_LEFT, 0);
	table_add_column(&t, "entries [95 %]", TABLE_LEFT, 1);
	table_add_column(&t, "nominal", TABLE_LEFT, 1);
	table_add_column(&t, "ways", TABLE_LEFT, 1);
	table_add_column(&t, "reach [95 %]", TABLE_LEFT, 1);
	table_add_column(&t, "CPUID", TABLE_LEFT, 1);
	if (t.failed)
		return -ENOMEM;
	t.n_keys = 1;
	optional_from(&t, 2);
	for (int64_t level = 1; level <= LEVELS_MAX; level++) {
		const struct fact *entries = find(rep, "tlb.entries", page, level);
		const struct fact *reach = find(rep, "tlb.reach", page, level);
		const struct fact *ways = find(rep, "tlb.ways", page, level);
		if (!entries)
			continue;
		size_t row = table_add_row(&t);
		set_label(&t, row, "level ", level);
		set_fact(&t, row, 1, entries, said);
		set_plain(&t, row, 2, entries->nominal, entries->unit);
		if (ways)
			set_plain(&t, row, 3, ways->value, "count");
		if (reach && !isnan(reach->value))
			set_fact(&t, row, 4, reach, said);
		set_advertised(&t, row, 5, rep, entries);
	}
	return table_render(out, &t, o);
}

static int render_costs(struct str *out, struct arena *a, const struct report *rep,
			const char *page, const struct report_options *o)
{
	static const struct {
		const char *what, *ns, *cycles;
		int64_t level;
	} rows[] = {
		{ "level-1 miss that hits level 2", "tlb.hit_ns", "tlb.hit_cycles", 2 },
		{ "page walk, tables cached", "walk.cached_ns", "walk.cached_cycles", 0 },
		{ "page walk, tables in memory", "walk.memory_ns", "walk.memory_cycles", 0 },
	};
	const struct fact *said = find(rep, "tlb.effective_page", page, 0);
	struct table t;
	table_init(&t, a, o);
	t.indent = 2;
	table_add_column(&t, "what a reference pays more,\nagainst a first-level hit", TABLE_LEFT,
			 0);
	table_add_column(&t, "ns [95 %]", TABLE_LEFT, 1);
	table_add_column(&t, "core cycles [95 %]", TABLE_LEFT, 1);
	if (t.failed)
		return -ENOMEM;
	t.n_keys = 1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct fact *ns = find(rep, rows[i].ns, page, rows[i].level);
		const struct fact *cycles = find(rep, rows[i].cycles, page, rows[i].level);
		if (!ns && !cycles)
			continue;
		size_t row = table_add_row(&t);
		table_set(&t, row, 0, rows[i].what);
		set_fact(&t, row, 1, ns, said);
		set_fact(&t, row, 2, cycles, said);
	}
	return table_render(out, &t, o);
}

static void render_effective(struct str *out, struct arena *a, const struct report *rep,
			     const char *page, const struct report_options *o)
{
	char buf[UNITS_TEXT_BYTES];
	const struct fact *f = find(rep, "tlb.effective_page", page, 0);
	if (!f)
		return;
	struct str text = { 0 };
	double bytes = (double)render_page_bytes(rep, page);
	str_add(&text, "effective page size: ");
	if (isnan(f->value)) {
		str_addf(&text, "not known: %s", f->reason ? f->reason : "no reason recorded");
	} else {
		str_add(&text, format_size_human(buf, f->value));
		if (f->note)
			str_addf(&text, ": %s", f->note);
		else if (bytes > 0 && f->value >= bytes)
			str_add(&text, ", one TLB entry a page");
	}
	const char *clean = render_clean(a, str_text(&text), o->utf8, 400);
	render_paragraph(out, 2, "", clean ? clean : "");
	out->failed = out->failed || !clean || text.failed;
	str_done(&text);
}

static void heading(struct str *out, const struct report_options *o, const char *text)
{
	str_add(out, "\n");
	render_paint(out, o, PAINT_BOLD, text);
	str_add(out, "\n");
}

static int render_page(struct str *out, struct arena *a, const struct report *rep, const char *page,
		       const struct report_options *o)
{
	struct str words = { 0 };
	char buf[UNITS_TEXT_BYTES];
	uint64_t bytes = render_page_bytes(rep, page);
	/* written out once: here */
	if (bytes && strcmp(page, "thp") == 0)
		str_addf(&words, "%s pages (thp, transparent huge pages)",
			 format_size_human(buf, (double)bytes));
	else
		render_page_words(&words, rep, page);
	const char *clean = render_clean(a, str_text(&words), o->utf8, 60);
	out->failed = out->failed || words.failed || !clean;
	str_done(&words);
	heading(out, o, clean ? clean : "");
	render_effective(out, a, rep, page, o);
	int ret = render_entries(out, a, rep, page, o);
	return ret < 0 ? ret : render_costs(out, a, rep, page, o);
}

/* The first reason that the run has for @page. */
static const char *page_reason(const struct report *rep, const char *page)
{
	for (size_t i = 0; i < rep->curves.n; i++) {
		const struct curve_points *c = &rep->curves.v[i];
		if (c->skipped && c->skipped->reason &&
		    strcmp(attrs_text(&c->outer, "page", ""), page) == 0)
			return c->skipped->reason;
	}
	for (size_t i = 0; i < rep->facts.n; i++) {
		const struct fact *f = &rep->facts.v[i];
		if (f->reason && strcmp(attrs_text(&f->where, "page", ""), page) == 0)
			return f->reason;
	}
	return "no reason recorded";
}

/* By size, ascending; of one size and of unknown ones as they came. */
static void sort_pages(const struct report *rep, struct attrs *pages)
{
	for (size_t i = 1; i < pages->n; i++) {
		struct attr now = pages->v[i];
		size_t k = i;
		for (; k > 0 && render_page_bytes(rep, pages->v[k - 1].name) >
					render_page_bytes(rep, now.name);
		     k--)
			pages->v[k] = pages->v[k - 1];
		pages->v[k] = now;
	}
}

static int render_unmeasured(struct str *out, struct arena *a, const struct report *rep,
			     struct attrs *pages, const struct report_options *o)
{
	bool first = true;
	sort_pages(rep, pages);
	for (size_t i = 0; i < pages->n; i++) {
		const char *page = pages->v[i].name;
		struct str text = { 0 };
		if (page_is_measured(rep, page))
			continue;
		if (first)
			heading(out, o, "Page sizes not measured");
		first = false;
		render_page_words(&text, rep, page);
		str_addf(&text, ": %s", page_reason(rep, page));
		const char *clean = render_clean(a, str_text(&text), o->utf8, 600);
		bool failed = !clean || text.failed;
		str_done(&text);
		if (failed)
			return -ENOMEM;
		render_paragraph(out, 2, "", clean);
	}
	return 0;
}

/* --- data caches --- */

static void add_memory_line(struct str *out, struct arena *a, const struct report *rep,
			    const struct fact *f, const struct report_options *o)
{
	struct str text = { 0 };
	char buf[UNITS_TEXT_BYTES];
	const char *page = attrs_text(&f->where, "page", NULL);
	uint64_t bytes = render_where_bytes(&f->where, "working-set");
	if (isnan(f->value))
		str_addf(&text, "not measured: %s", f->reason ? f->reason : "no reason recorded");
	else
		render_value(&text, f->value, f->unit, 3, true);
	if (!isnan(f->low) && !isnan(f->high)) {
		str_add(&text, " ");
		render_interval(&text, f->low, f->high, f->value, f->unit, 3);
	}
	if (bytes > 0)
		str_addf(&text, ", %s", format_size_human(buf, (double)bytes));
	if (page) {
		str_add(&text, " in ");
		render_page_words(&text, rep, page);
	}
	const char *clean = render_clean(a, str_text(&text), o->utf8, 400);
	render_paragraph(out, 2, "memory: ", clean ? clean : "");
	out->failed = out->failed || !clean || text.failed;
	str_done(&text);
}

/* What a hit costs, and how large the levels are, stand in two tables: together they are too wide.
 */
enum cache_view { CACHE_COSTS, CACHE_SIZES };

static void add_cache_rows(struct table *t, const struct report *rep, enum cache_view view)
{
	for (int64_t level = 1; level <= LEVELS_MAX; level++) {
		const struct fact *ns = find(rep, "cache.latency_ns", NULL, level);
		const struct fact *cycles = find(rep, "cache.latency_cycles", NULL, level);
		const struct fact *size = find(rep, "cache.capacity", NULL, level);
		if (view == CACHE_COSTS ? !ns && !cycles : !size)
			continue;
		size_t row = table_add_row(t);
		set_label(t, row, "level ", level);
		if (view == CACHE_COSTS) {
			set_fact(t, row, 1, ns, NULL);
			set_fact(t, row, 2, cycles, NULL);
		} else {
			set_fact(t, row, 1, size, NULL);
			set_advertised(t, row, 2, rep, size);
		}
	}
}

static int make_cache_table(struct table *t, struct arena *a, const struct report *rep,
			    const struct report_options *o, enum cache_view view)
{
	table_init(t, a, o);
	t->indent = 2;
	if (view == CACHE_COSTS) {
		table_add_column(t, "a hit in", TABLE_LEFT, 0);
		table_add_column(t, "ns [95 %]", TABLE_LEFT, 1);
		table_add_column(t, "core cycles [95 %]", TABLE_LEFT, 1);
	} else {
		table_add_column(t, "cache", TABLE_LEFT, 0);
		table_add_column(t, "capacity [95 %]", TABLE_LEFT, 1);
		table_add_column(t, "advertised", TABLE_LEFT, 1);
	}
	if (t->failed)
		return -ENOMEM;
	t->n_keys = 1;
	add_cache_rows(t, rep, view);
	return t->failed ? -ENOMEM : 0;
}

static void render_line_size(struct str *out, struct arena *a, const struct report *rep,
			     const struct report_options *o)
{
	const struct fact *f = find(rep, "cache.line", NULL, 0);
	struct str text = { 0 };
	if (!f)
		return;
	if (isnan(f->value))
		str_addf(&text, "not measured: %s", f->reason ? f->reason : "no reason recorded");
	else
		render_value(&text, f->value, f->unit, 3, true);
	if (!isnan(f->advertised)) {
		str_add(&text, "; advertised ");
		render_value(&text, f->advertised, f->unit, 3, true);
		if (fact_agreement(rep, f) != AGREE_UNKNOWN)
			str_add(&text,
				fact_agreement(rep, f) == AGREE_YES ? ": agrees" : ": differs");
	}
	const char *clean = render_clean(a, str_text(&text), o->utf8, 400);
	render_paragraph(out, 2, "cache line: ", clean ? clean : "");
	out->failed = out->failed || !clean || text.failed;
	str_done(&text);
}

static int render_caches(struct str *out, struct arena *a, const struct report *rep,
			 const struct report_options *o)
{
	struct table costs, sizes;
	size_t n_memory = 0;
	int ret = make_cache_table(&costs, a, rep, o, CACHE_COSTS);
	if (ret == 0)
		ret = make_cache_table(&sizes, a, rep, o, CACHE_SIZES);
	if (ret < 0)
		return ret;
	for (size_t i = 0; i < rep->facts.n; i++)
		n_memory += strcmp(rep->facts.v[i].id, "memory.latency_ns") == 0;
	if (!costs.n_rows && !sizes.n_rows && !n_memory && !find(rep, "cache.line", NULL, 0))
		return 0;
	heading(out, o, "Data caches and memory, a dependent read");
	if (costs.n_rows)
		ret = table_render(out, &costs, o);
	if (ret == 0 && sizes.n_rows)
		ret = table_render(out, &sizes, o);
	for (size_t i = 0; ret == 0 && i < rep->facts.n; i++)
		if (strcmp(rep->facts.v[i].id, "memory.latency_ns") == 0)
			add_memory_line(out, a, rep, &rep->facts.v[i], o);
	if (ret == 0)
		render_line_size(out, a, rep, o);
	return ret;
}

int toll_levels_render(struct str *out, struct arena *a, const struct report *rep,
		       const struct report_options *o)
{
	struct attrs pages = { 0 };
	int ret = collect_pages(a, rep, &pages);
	for (size_t i = 0; ret == 0 && i < pages.n; i++)
		if (page_is_measured(rep, pages.v[i].name))
			ret = render_page(out, a, rep, pages.v[i].name, o);
	if (ret == 0)
		ret = render_unmeasured(out, a, rep, &pages, o);
	if (ret == 0)
		ret = render_caches(out, a, rep, o);
	return ret;
}
