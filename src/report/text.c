// SPDX-License-Identifier: MIT
/* A whole run as text: header lines, facts, a table a group of curves, disturbances. */
#include "report/render.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "report/call_table.h"
#include "report/curve_matrix.h"
#include "report/curve_table.h"
#include "report/facts_table.h"
#include "report/facts_words.h"
#include "report/migration_matrix.h"

enum {
	LINE_MAX_COLUMNS = 240, /* of a foreign text in the header */
	SENTENCES_MAX = 10,
};

static void header_line(struct str *out, struct arena *a, const struct report_options *o,
			const char *name, const char *text)
{
	if (!text || !*text)
		return;
	const char *clean = render_clean(a, text, o->utf8, LINE_MAX_COLUMNS);
	size_t start = out->len;
	str_add(out, name);
	str_pad(out, start, 13);
	render_wrap(out, clean ? clean : "", 13, 13, RENDER_WIDTH);
	out->failed = out->failed || !clean;
}

/* Paths are not broken: they are to be copied. */
static void file_line(struct str *out, struct arena *a, const struct report_options *o)
{
	if (!o->file)
		return;
	const char *clean = render_clean(a, o->file, o->utf8, 0);
	bool fits = clean && 13 + str_columns(clean) <= RENDER_WIDTH;
	str_addf(out, "file%s%s\n", fits ? "         " : "\n  ", clean ? clean : "");
	out->failed = out->failed || !clean;
}

static void when_text(struct str *out, const struct run *r)
{
	char buf[UNITS_TEXT_BYTES];
	if (r->start_unix_ns <= 0)
		return;
	render_time(out, r->start_unix_ns);
	if (r->has_footer && r->end_unix_ns > r->start_unix_ns)
		str_addf(out, ", took %s",
			 format_time_human(buf, (double)(r->end_unix_ns - r->start_unix_ns)));
}

static const char *preset_text(const struct run *r)
{
	if (r->preset && strcmp(r->preset, "quick") == 0)
		return "quick: for orientation, not for publication";
	return r->preset;
}

static bool is_capped(const struct attr *at)
{
	return strncmp(at->name, "capped.", 7) == 0 && at->kind == ATTR_TEXT;
}

/* Settings that are told alike were cut alike: one line says so. */
static bool was_capped(const struct attrs *context, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (is_capped(&context->v[k]) &&
		    strcmp(context->v[k].text, context->v[i].text) == 0)
			return true;
	return false;
}

static void state_line(struct str *out, struct arena *a, const struct report *rep,
		       const struct report_options *o)
{
	struct report_options plain = *o;
	struct str text = { 0 };
	plain.colour = false;
	render_state(&text, rep->run, &plain);
	if (rep->run->origin != ORIGIN_PUBLISHED || rep->run->has_footer)
		header_line(out, a, o, "state", str_text(&text));
	str_clear(&text);
	render_invocations(&text, rep);
	if (text.len && rep->run->origin == ORIGIN_MEASURED) {
		str_add(&text, " a point");
		header_line(out, a, o, "repeated", str_text(&text));
	}
	for (size_t i = 0; i < rep->run->context.n; i++) {
		const struct attr *at = &rep->run->context.v[i];

		if (is_capped(at) && !was_capped(&rep->run->context, i))
			header_line(out, a, o, "capped", at->text);
	}
	if (rep->run->n_bad_lines) {
		str_clear(&text);
		str_addf(&text, "%zu line%s of the file could not be read and %s left out",
			 rep->run->n_bad_lines, rep->run->n_bad_lines == 1 ? "" : "s",
			 rep->run->n_bad_lines == 1 ? "is" : "are");
		header_line(out, a, o, "damaged", str_text(&text));
	}
	out->failed = out->failed || text.failed;
	str_done(&text);
}

static void header(struct str *out, struct arena *a, const struct report *rep,
		   const struct report_options *o)
{
	const struct run *r = rep->run;
	struct str text = { 0 };
	header_line(out, a, o, "run", r->id);
	header_line(out, a, o, "label", r->label);
	if (r->origin != ORIGIN_MEASURED)
		header_line(out, a, o, "origin", origin_name(r->origin));
	header_line(out, a, o, "source", r->source);
	render_machine(&text, r);
	header_line(out, a, o, "machine", str_text(&text));
	str_clear(&text);
	when_text(&text, r);
	header_line(out, a, o, "when", str_text(&text));
	header_line(out, a, o, "command", r->command);
	header_line(out, a, o, "preset", preset_text(r));
	file_line(out, a, o);
	out->failed = out->failed || text.failed;
	str_done(&text);
	state_line(out, a, rep, o);
}

/* Bends of a curve of the user's own are as clear in the table, and many. */
static bool is_said(const struct fact_sentence *s)
{
	return strncmp(s->fact->id, "curve.", strlen("curve.")) != 0;
}

/* What people decide by, as sentences; the table below has every fact. */
static int sentences(struct str *out, struct arena *a, const struct report *rep,
		     const struct report_options *o)
{
	struct fact_sentences s;
	bool any_noted = false;
	size_t n = 0, said = 0;
	int ret = facts_words(a, rep, &s);
	for (size_t i = 0; ret == 0 && i < s.n; i++)
		n += is_said(&s.v[i]) ? 1 : 0;
	if (ret < 0 || !n)
		return ret;
	str_add(out, "\n");
	render_paint(out, o, PAINT_BOLD, "In words");
	str_add(out, "\n");
	for (size_t i = 0; i < s.n && said < SENTENCES_MAX; i++) {
		bool noted = s.v[i].fact->note;
		if (!is_said(&s.v[i]))
			continue;
		const char *text = arena_printf(a, "%s%s", s.v[i].text, noted ? " (*)" : "");
		const char *clean = text ? render_clean(a, text, o->utf8, 4 * RENDER_WIDTH) : NULL;
		if (!clean)
			return -ENOMEM;
		render_paragraph(out, 2, "- ", clean);
		any_noted = any_noted || noted;
		said++;
	}
	if (!s.any_interval)
		str_add(out, "  None has an interval; the table tells why.\n");
	if (any_noted)
		str_add(out, "  (*) The table has a note on it.\n");
	if (n > said)
		str_add(out, "  The table has more.\n");
	return 0;
}

int report_text(struct str *out, const struct report *rep, const struct report_options *o)
{
	struct arena a = { 0 };
	struct curve_groups groups;
	header(out, &a, rep, o);
	int ret = o->metrics ? 0 : sentences(out, &a, rep, o);
	if (ret == 0 && !o->metrics)
		ret = facts_table_render(out, &a, rep, o);
	if (ret == 0 && !o->metrics)
		ret = call_table_of_run(out, &a, rep, o);
	if (ret == 0)
		ret = curve_groups_make(&a, rep, &groups);
	for (size_t i = 0; ret == 0 && i < groups.n; i++) {
		if (call_table_is_call(groups.v[i].bench) && !o->metrics)
			continue;
		ret = curve_group_render(out, rep, &groups.v[i], o);
		if (ret == 0 && !o->metrics)
			ret = curve_matrix_render(out, &a, rep, &groups.v[i], o);
	}
	if (ret == 0 && !o->metrics)
		ret = migration_render(out, &a, rep, o);
	if (ret == 0 && !rep->points.n && !rep->curves.n)
		str_add(out, "\nNothing was measured.\n");
	if (ret == 0) {
		size_t before = out->len;
		str_add(out, "\n");
		ret = render_taints(out, rep, o, 0);
		if (out->len == before + 1 && !out->failed)
			out->data[--out->len] = '\0'; /* nothing disturbed */
	}
	arena_done(&a);
	return ret < 0 ? ret : out->failed ? -ENOMEM : 0;
}
