// SPDX-License-Identifier: MIT
/*
 * A comparison as text for a mail: what is compared, how many verdicts of which kind, what differs
 * between the environments, facts, points, and how the numbers were obtained. Decides nothing:
 * verdicts, intervals and the sentences of the box come from compare/.
 */
#include "report/compare_parts.h"

#include <errno.h>
#include <string.h>

#include "report/call_table.h"
#include "report/render.h"

enum {
	HEAD_COLUMN = 9,    /* texts of the head begin here */
	HEAD_RUNS_MAX = 6,  /* runs of one side that the head names */
	CONTEXT_MAX = 12,   /* rows of the environment that need not match */
	NAME_COLUMNS = 200, /* of a foreign text */
};

static const char *const looks[OUTCOMES] = {
	[OUTCOME_BETTER] = "+ better",         [OUTCOME_WORSE] = "! worse",
	[OUTCOME_EQUIVALENT] = "= equivalent", [OUTCOME_INCONCLUSIVE] = "~ inconclusive",
	[OUTCOME_DIFFERENCE] = "no verdict",   [OUTCOME_MISSING] = "one side only",
};

/* the same in the table of counts, which has to fit beside each other */
static const char *const titles[OUTCOMES] = {
	[OUTCOME_BETTER] = "+ better",         [OUTCOME_WORSE] = "! worse",
	[OUTCOME_EQUIVALENT] = "= equivalent", [OUTCOME_INCONCLUSIVE] = "~ incon-\nclusive",
	[OUTCOME_DIFFERENCE] = "no\nverdict",  [OUTCOME_MISSING] = "one side\nonly",
};

const char *outcome_look(enum outcome o)
{
	return (size_t)o < OUTCOMES ? looks[o] : "unknown";
}

struct outcome_counts outcomes_count(const struct compared *v, size_t n)
{
	struct outcome_counts counts = { { 0 } };
	for (size_t i = 0; i < n; i++)
		if ((size_t)v[i].outcome < OUTCOMES)
			counts.n[v[i].outcome]++;
	return counts;
}

/* --- what is compared ---------------------------------------------------------------------- */

static const char *clean_up_to(const struct compare_writer *w, const char *text, size_t max)
{
	const char *clean = render_clean(w->arena, text ? text : "", w->o->utf8, max);
	w->out->failed = w->out->failed || !clean;
	return clean ? clean : "";
}

static const char *clean_or_empty(const struct compare_writer *w, const char *text)
{
	return clean_up_to(w, text, NAME_COLUMNS);
}

static void head_line(const struct compare_writer *w, const char *name, const char *text)
{
	size_t start = w->out->len;
	str_add(w->out, name);
	str_pad(w->out, start, HEAD_COLUMN);
	render_wrap(w->out, clean_or_empty(w, text), HEAD_COLUMN, HEAD_COLUMN, RENDER_WIDTH);
}

/* "run 01HX..., label before, 2026-01-01 00:00:00 UTC, INCOMPLETE: interrupted" */
static void run_words(struct str *out, const struct run *r)
{
	static const struct report_options plain = { 0 };
	str_addf(out, "run %s", r->id ? r->id : "without an id");
	if (r->label && !(r->id && strcmp(r->label, r->id) == 0))
		str_addf(out, ", label %s", r->label);
	if (r->origin == ORIGIN_MEASURED) {
		str_add(out, ", ");
		render_time(out, r->start_unix_ns);
	} else {
		str_addf(out, ", %s", origin_name(r->origin));
	}
	if (r->preset && strcmp(r->preset, "quick") == 0)
		str_add(out, ", quick: for orientation, not for publication");
	if (r->origin != ORIGIN_PUBLISHED && !(r->has_footer && r->complete)) {
		str_add(out, ", ");
		render_state(out, r, &plain);
	}
}

static void run_line(const struct compare_writer *w, const char *name, const struct run *r)
{
	struct str text = { 0 };
	run_words(&text, r);
	head_line(w, name, str_text(&text));
	w->out->failed = w->out->failed || text.failed;
	str_done(&text);
}

static void side(const struct compare_writer *w, const char *letter, const char *name,
		 const struct run *const *runs, size_t n)
{
	struct str text = { 0 };
	str_add(&text, name ? name : "without a name");
	if (n > 1)
		str_addf(&text, ", %zu runs", n);
	head_line(w, letter, str_text(&text));
	for (size_t i = 0; i < n && i < HEAD_RUNS_MAX; i++)
		run_line(w, "", runs[i]);
	if (n > HEAD_RUNS_MAX) {
		str_clear(&text);
		str_addf(&text, "and %zu more", n - HEAD_RUNS_MAX);
		head_line(w, "", str_text(&text));
	}
	w->out->failed = w->out->failed || text.failed;
	str_done(&text);
}

/* The machines of a side, each once. */
static void machine_words(struct str *out, const struct run *const *runs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct str one = { 0 };
		render_machine(&one, runs[i]);
		if (one.len && !strstr(str_text(out), str_text(&one)))
			str_addf(out, "%s%s", out->len ? "; " : "", str_text(&one));
		out->failed = out->failed || one.failed;
		str_done(&one);
	}
}

static void machines(const struct compare_writer *w, const struct comparison_subject *s)
{
	struct str a = { 0 }, b = { 0 };
	machine_words(&a, s->a, s->n_a);
	machine_words(&b, s->b, s->n_b);
	if (strcmp(str_text(&a), str_text(&b)) == 0) {
		if (a.len)
			head_line(w, "machine", str_text(&a));
	} else {
		head_line(w, "on A", a.len ? str_text(&a) : "machine unknown");
		head_line(w, "on B", b.len ? str_text(&b) : "machine unknown");
	}
	w->out->failed = w->out->failed || a.failed || b.failed;
	str_done(&a);
	str_done(&b);
}

static bool is_within_one_run(const struct comparison_subject *s)
{
	return s && s->n_a == 1 && s->n_b == 1 && s->a[0] == s->b[0];
}

static void head(const struct compare_writer *w)
{
	const struct comparison *c = w->c;
	const struct comparison_subject *s = w->o->subject;
	bool one = is_within_one_run(s);
	render_paint(w->out, w->o, PAINT_BOLD, "B against A");
	str_add(w->out, "\n");
	side(w, "A", c->name_a, one || !s ? NULL : s->a, one || !s ? 0 : s->n_a);
	side(w, "B", c->name_b, one || !s ? NULL : s->b, one || !s ? 0 : s->n_b);
	if (!s)
		return;
	if (one) {
		run_line(w, "in", s->a[0]);
		if (s->a[0]->origin != ORIGIN_MEASURED && s->a[0]->source)
			head_line(w, "source", s->a[0]->source);
	}
	machines(w, s);
}

/* --- how many of which verdict -------------------------------------------------------------- */

static void count_row(struct table *t, const char *one, const char *many, const struct compared *v,
		      size_t n)
{
	struct outcome_counts counts = outcomes_count(v, n);
	size_t row = table_add_row(t);
	const char *words = arena_printf(t->arena, "%zu %s", n, n == 1 ? one : many);
	t->failed = t->failed || !words;
	table_set(t, row, 0, words ? words : "");
	for (size_t i = 0; i < OUTCOMES; i++) {
		struct str number = { 0 };
		/* a column without any is blank and not shown */
		if (counts.n[i] || i < OUTCOME_DIFFERENCE) {
			str_addf(&number, "%zu", counts.n[i]);
			table_set(t, row, 1 + i, str_text(&number));
		}
		t->failed = t->failed || number.failed;
		str_done(&number);
	}
}

static int counts_render(const struct compare_writer *w)
{
	struct table t;
	table_init(&t, w->arena, w->o);
	t.indent = 2;
	table_add_column(&t, "", TABLE_LEFT, 0);
	for (size_t i = 0; i < OUTCOMES; i++)
		table_add_column(&t, titles[i], TABLE_RIGHT, 0);
	if (t.failed)
		return -ENOMEM;
	t.n_keys = 1;
	t.columns[1 + OUTCOME_DIFFERENCE].optional = true;
	t.columns[1 + OUTCOME_MISSING].optional = true;
	if (w->c->n_facts)
		count_row(&t, "fact", "facts", w->c->facts, w->c->n_facts);
	count_row(&t, "point", "points", w->c->points, w->c->n_points);
	str_add(w->out, "\n");
	return table_render(w->out, &t, w->o);
}

/* --- environment ---------------------------------------------------------------------------- */

static void environment_row(struct table *t, const struct environment_difference *d)
{
	size_t row = table_add_row(t);
	char mark = d->is_factor ? '*' : d->is_fingerprint ? '!' : ' ';
	const char *name = arena_printf(t->arena, "%c %s", mark, d->name ? d->name : "");
	t->failed = t->failed || !name;
	table_set(t, row, 0, name ? name : "");
	table_set(t, row, 1, d->a ? d->a : "-");
	table_set(t, row, 2, d->b ? d->b : "-");
}

/* The factor, what should be alike, and the rest: one kind of row. */
enum kind { KIND_FACTOR, KIND_FINGERPRINT, KIND_CONTEXT, KINDS };

static enum kind kind_of(const struct environment_difference *d)
{
	return d->is_factor ? KIND_FACTOR : d->is_fingerprint ? KIND_FINGERPRINT : KIND_CONTEXT;
}

static void environment_rows(const struct compare_writer *w, struct table *t, size_t n[KINDS])
{
	const struct comparison *c = w->c;
	for (int k = 0; k < KINDS; k++)
		for (size_t i = 0; i < c->n_environment; i++) {
			if ((int)kind_of(&c->environment[i]) != k)
				continue;
			n[k]++;
			if (k != KIND_CONTEXT || n[k] <= CONTEXT_MAX || w->o->all)
				environment_row(t, &c->environment[i]);
		}
}

static void environment_notes(const struct compare_writer *w, const size_t n[KINDS])
{
	if (n[KIND_CONTEXT] > CONTEXT_MAX && !w->o->all)
		str_addf(w->out, "  %zu more that change from run to run: --all\n",
			 n[KIND_CONTEXT] - CONTEXT_MAX);
	if (n[KIND_FACTOR])
		render_paragraph(w->out, 2, "* ",
				 n[KIND_FINGERPRINT] || n[KIND_CONTEXT] || w->c->environment_note
					 ? "the factor of this comparison; what else differs is "
					   "listed with it"
					 : "the factor of this comparison; nothing else differs");
	if (n[KIND_FINGERPRINT])
		render_paragraph(w->out, 2, "! ",
				 "differs in what should be alike: a difference below may come "
				 "from it");
	if (w->c->environment_note)
		render_paragraph(w->out, 2, "? ", clean_or_empty(w, w->c->environment_note));
}

static int environment_render(const struct compare_writer *w)
{
	const struct comparison *c = w->c;
	size_t n[KINDS] = { 0 };
	struct table t;
	str_add(w->out, "\n");
	render_paint(w->out, w->o, PAINT_BOLD, "Environment");
	if (!c->n_environment) {
		str_add(w->out, c->environment_note ? ":\n"
				: is_within_one_run(w->o->subject)
					? ": the same, both sides are of one run\n"
					: ": no difference is recorded\n");
		environment_notes(w, n);
		return 0;
	}
	str_add(w->out, "\n");
	table_init(&t, w->arena, w->o);
	t.indent = 2;
	table_add_column(&t, "  what", TABLE_LEFT, 0);
	table_add_column(&t, "A", TABLE_LEFT, 0);
	table_add_column(&t, "B", TABLE_LEFT, 0);
	if (t.failed)
		return -ENOMEM;
	t.columns[0].wraps = t.columns[1].wraps = t.columns[2].wraps = true;
	environment_rows(w, &t, n);
	int ret = table_render(w->out, &t, w->o);
	environment_notes(w, n);
	return ret;
}

/* --- how the numbers were obtained ---------------------------------------------------------- */

struct box {
	const char *corner_top, *corner_bottom, *line, *side;
	const char *corner_top_right, *corner_bottom_right;
};

static void box_line(struct str *out, const struct box *b, const char *left, const char *title,
		     const char *right)
{
	size_t at = 2;
	str_addf(out, "%s%s", left, b->line);
	if (*title) {
		str_addf(out, " %s ", title);
		at += str_columns(title) + 2;
	}
	for (; at < RENDER_WIDTH - 1; at++)
		str_add(out, b->line);
	str_addf(out, "%s\n", right);
}

static void box_text(struct str *out, const struct box *b, const char *text)
{
	const char *lead = "- ";
	while (*text) {
		size_t skip;
		size_t n = render_line_bytes(text, RENDER_WIDTH - 6, &skip);
		size_t start = out->len;
		str_addf(out, "%s %s", b->side, lead);
		str_add_n(out, text, n);
		str_pad(out, start, RENDER_WIDTH - 1);
		str_addf(out, "%s\n", b->side);
		text += n + skip;
		lead = "  ";
	}
}

static void how_render(const struct compare_writer *w)
{
	static const struct box ascii = { "+", "+", "-", "|", "+", "+" };
	static const struct box drawn = { "┌", "└", "─", "│", "┐", "┘" };
	const struct box *b = w->o->utf8 ? &drawn : &ascii;
	const size_t n = sizeof(w->c->how) / sizeof(*w->c->how);
	str_add(w->out, "\n");
	box_line(w->out, b, b->corner_top, "How these numbers were obtained", b->corner_top_right);
	for (size_t i = 0; i < n && w->c->how[i]; i++)
		box_text(w->out, b, clean_up_to(w, w->c->how[i], 0)); /* our own words */
	box_line(w->out, b, b->corner_bottom, "", b->corner_bottom_right);
}

int report_comparison_text(struct str *out, const struct comparison *c,
			   const struct report_options *o)
{
	struct arena a = { 0 };
	struct compare_writer w = { .out = out, .arena = &a, .c = c, .o = o };
	head(&w);
	int ret = counts_render(&w);
	if (ret == 0)
		ret = environment_render(&w);
	if (ret == 0)
		ret = compare_facts_render(&w);
	if (ret == 0)
		ret = call_table_of_comparison(&w);
	if (ret == 0)
		ret = compare_points_render(&w);
	if (ret == 0)
		how_render(&w);
	arena_done(&a);
	return ret < 0 ? ret : out->failed ? -ENOMEM : 0;
}
