// SPDX-License-Identifier: MIT
/*
 * A run's system calls: two blocks, cold and hot, a row a test (and node). Beside the median stand
 * minimum and quartiles of all repetitions. Nodes get a column with what the home node saves, where
 * the home node is known. Below: what the numbers hang on (file system, what fork copied,
 * mitigations). Leaves out which node is home: infer/facts_syscall.c.
 */
#include "report/call_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "infer/infer.h"
#include "report/call_parts.h"
#include "report/curve_value.h"
#include "report/render.h"
#include "stats/stats.h"

static const char METRIC[] = "call_ns";

struct writer {
	struct str *out;
	struct arena *arena;
	const struct report *rep;
	const struct report_options *o;
	bool has_nodes;
	int64_t home; /* -1: not known */
};

struct columns {
	size_t node, median, interval, min, q1, q3, home; /* 0: none */
};

/* --- values --- */

/* All repetitions of all valid measures; *ret_n of them, in the arena. */
static double *pool(const struct writer *w, const struct point *p, size_t *ret_n)
{
	size_t n = 0, at = 0;
	double *v;

	for (int pass = 0; pass < 2; pass++) {
		v = pass ? arena_alloc(w->arena, (n + 1) * sizeof(*v)) : NULL;
		for (size_t i = 0; (!pass || v) && i < p->n_measures; i++) {
			const struct series *s = measure_series(p->measures[i], METRIC);

			if (p->measures[i]->verdict != VERDICT_OK || !s || !s->values ||
			    s->form != FORM_SAMPLES)
				continue;
			if (pass)
				memcpy(v + at, s->values, s->n * sizeof(*v));
			at += pass ? s->n : 0;
			n += pass ? 0 : s->n;
		}
	}
	*ret_n = n;
	return v;
}

static int64_t node_of(const struct curve_points *c)
{
	for (size_t i = 0; c->n && i < c->points[0]->n_measures; i++)
		if (attrs_find(&c->points[0]->measures[i]->proof, "node"))
			return attrs_int(&c->points[0]->measures[i]->proof, "node", -1);
	return -1;
}

static int read_value(const struct writer *w, const struct curve_points *c, struct curve_value *ret)
{
	return curve_value_read(w->arena, w->rep->run, run_schema(w->rep->run, c->bench), c,
				c->n ? c->points[0] : NULL, METRIC, ret);
}

/* The home node's value of the same test in the same block; NaN: none. */
static double home_value(const struct writer *w, const struct call_row *v, size_t n,
			 const struct call_row *r)
{
	for (size_t i = 0; i < n; i++) {
		struct curve_value value;

		if (strcmp(v[i].test, r->test) != 0 || node_of(v[i].from) != w->home)
			continue;
		if (read_value(w, v[i].from, &value) == 0 && value.counts)
			return value.value;
	}
	return NAN;
}

/* --- rows --- */

static void set(struct table *t, size_t row, size_t column, struct str *text)
{
	table_set(t, row, column, str_text(text));
	t->failed = t->failed || text->failed;
	str_clear(text);
}

static int set_quartiles(const struct writer *w, struct table *t, size_t row,
			 const struct columns *col, const struct point *p)
{
	const struct {
		size_t column;
		double q;
	} cells[] = { { col->min, 0 }, { col->q1, 0.25 }, { col->q3, 0.75 } };
	struct str text = { 0 };
	size_t n;
	const double *v = pool(w, p, &n);

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; n && i < sizeof(cells) / sizeof(cells[0]); i++) {
		call_us_short(&text, stats_quantile(v, n, cells[i].q));
		set(t, row, cells[i].column, &text);
	}
	str_done(&text);
	return 0;
}

static void set_home(const struct writer *w, struct table *t, size_t row, const struct columns *col,
		     const struct call_row *v, size_t n, const struct call_row *r, double value)
{
	double home = home_value(w, v, n, r);
	struct str text = { 0 };

	if (!col->home || isnan(home) || isnan(value))
		return;
	if (node_of(r->from) == w->home)
		str_add(&text, "home");
	else
		str_addf(&text, "%.2f", (value - home) / value * 100);
	set(t, row, col->home, &text);
	str_done(&text);
}

static int add_row(const struct writer *w, struct table *t, const struct columns *col,
		   const struct call_row *v, size_t n, const struct call_row *r)
{
	const struct curve_points *c = r->from;
	size_t row = table_add_row(t);
	struct curve_value value;
	struct str text = { 0 };
	int rc = read_value(w, c, &value);

	if (rc < 0)
		return rc;
	table_set(t, row, 0, r->test);
	if (col->node)
		table_set(t, row, col->node, r->node ? r->node : "");
	if (w->rep->run->origin == ORIGIN_PUBLISHED)
		call_us(&text, value.value); /* as it was published */
	else
		call_us_short(&text, value.value);
	set(t, row, col->median, &text);
	if (value.mark)
		table_mark(t, row, col->median, value.mark_kind, value.mark);
	else if (value.reason)
		table_mark(t, row, col->median, NOTE_REASON, value.reason);
	if (!isnan(value.low) && !isnan(value.high)) {
		str_add(&text, "[");
		call_us_short(&text, value.low);
		str_add(&text, ", ");
		call_us_short(&text, value.high);
		str_add(&text, "]");
		set(t, row, col->interval, &text);
	}
	set_home(w, t, row, col, v, n, r, value.counts ? value.value : NAN);
	str_done(&text);
	return c->n ? set_quartiles(w, t, row, col, c->points[0]) : 0;
}

static int block_render(const struct writer *w, const struct call_row *v, size_t n)
{
	struct columns col = { 0 };
	struct table t;
	int rc = 0;

	str_add(w->out, "\n");
	render_paint(w->out, w->o, PAINT_BOLD, v[0].block);
	str_addf(w->out, "%sus per call\n", *v[0].block ? ": " : "");
	table_init(&t, w->arena, w->o);
	t.indent = 2;
	t.rule = true;
	table_add_column(&t, "test", TABLE_LEFT, 0);
	col.node = w->has_nodes ? table_add_column(&t, "node", TABLE_LEFT, 0) : 0;
	t.n_keys = t.n_columns;
	col.median = table_add_column(&t, "median", TABLE_RIGHT, 1);
	col.interval = table_add_column(&t, "[95 %]", TABLE_LEFT, 1);
	if (w->has_nodes && w->home >= 0)
		col.home = table_add_column(&t, "% less\nat home", TABLE_RIGHT, 1);
	col.min = table_add_column(&t, "least", TABLE_RIGHT, 1);
	col.q1 = table_add_column(&t, "1st\nquartile", TABLE_RIGHT, 1);
	col.q3 = table_add_column(&t, "3rd\nquartile", TABLE_RIGHT, 1);
	if (t.failed)
		return -ENOMEM;
	for (size_t i = col.interval; i < t.n_columns; i++)
		t.columns[i].optional = true;
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = add_row(w, &t, &col, v, n, &v[i]);
	return rc < 0 ? rc : table_render(w->out, &t, w->o);
}

/* --- below the blocks --- */

static const struct attrs *proof_of(const struct report *rep, const char *bench)
{
	for (size_t i = 0; i < rep->run->n_measures; i++)
		if (strcmp(rep->run->measures[i].bench, bench) == 0 &&
		    rep->run->measures[i].verdict == VERDICT_OK)
			return &rep->run->measures[i].proof;
	return NULL;
}

static void line(const struct writer *w, const char *head, struct str *text)
{
	const char *clean = render_clean(w->arena, str_text(text), w->o->utf8, 300);

	w->out->failed = w->out->failed || text->failed || !clean;
	if (clean && *clean)
		render_paragraph(w->out, 0, head, clean);
	str_clear(text);
}

static void render_objects(const struct writer *w)
{
	const struct attrs *file = proof_of(w->rep, "syscall.openclose");
	const struct attrs *fork = proof_of(w->rep, "syscall.forkexit");
	char a[UNITS_TEXT_BYTES], b[UNITS_TEXT_BYTES];
	struct str text = { 0 };

	if (file && attrs_find(file, "file_system"))
		str_addf(&text, "%s on %s", attrs_text(file, "path", "a file"),
			 attrs_text(file, "file_system", ""));
	line(w, "openclose    ", &text);
	if (fork && attrs_find(fork, "fork_anon_bytes"))
		str_addf(&text, "%s of private memory by reference, %s of page tables",
			 format_size_human(a, (double)attrs_int(fork, "fork_anon_bytes", 0)),
			 format_size_human(b, (double)attrs_int(fork, "fork_page_table_bytes", 0)));
	line(w, "fork copies  ", &text);
	str_done(&text);
}

/*
 * Which rows a mitigation lengthens: Documentation/admin-guide/hw-vuln/ of Linux 6.18. What is
 * cleared or guarded at every entry or exit touches all that enter; l1tf only turns page-table
 * entries that are not present; the rest is about guests or other programs.
 */
static const char *rows_of_mitigation(const char *name)
{
	static const char *const all[] = {
		"meltdown", "spectre_v1",           "spectre_v2",
		"mds",      "tsx_async_abort",      "mmio_stale_data",
		"retbleed", "spec_rstack_overflow", "indirect_target_selection",
		"tsa"
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(name, all[i]) == 0)
			return "all rows but vdso";
	return strcmp(name, "l1tf") == 0 ? "fault, forkexit" : NULL;
}

static void render_mitigations(const struct writer *w)
{
	static const char prefix[] = "mitigation.";
	const struct attrs *sets[] = { &w->rep->run->fingerprint, &w->rep->run->context };
	struct str text = { 0 };

	for (size_t k = 0; k < 2; k++) {
		for (size_t i = 0; i < sets[k]->n; i++) {
			const struct attr *at = &sets[k]->v[i];
			const char *name = at->name + sizeof(prefix) - 1, *rows;

			if (strncmp(at->name, prefix, sizeof(prefix) - 1) != 0 ||
			    at->kind != ATTR_TEXT || strncmp(at->text, "Mitigation", 10) != 0)
				continue;
			rows = rows_of_mitigation(name);
			if (rows)
				str_addf(&text, "%s (%s): %s", name, rows,
					 at->text[10] == ':' ? at->text + 12 : at->text);
			line(w, "mitigation   ", &text);
		}
	}
	str_done(&text);
}

/* --- the run --- */

/* Parameters that are alike in all curves say nothing in the names of blocks. */
static bool differs(const struct call_row *v, size_t n, const char *name)
{
	const char *first = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct curve_points *c = v[i].from;
		const char *text = attrs_text(&c->outer, name, NULL);

		if (!text)
			continue;
		if (first && strcmp(first, text) != 0)
			return true;
		first = text;
	}
	return false;
}

static int make_rows(struct writer *w, struct call_row *v, size_t n)
{
	static const char *const names[] = { "node", "evict", "cpu", "load", "evict-node" };
	const char *skip[sizeof(names) / sizeof(names[0]) + 1] = { NULL };
	size_t n_skip = 0;

	w->has_nodes = differs(v, n, "node");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!differs(v, n, names[i]))
			skip[n_skip++] = names[i];
	for (size_t i = 0; i < n; i++) {
		const struct curve_points *c = v[i].from;

		if (call_row_make(w->arena, run_schema(w->rep->run, c->bench), c->bench, &c->outer,
				  skip, &v[i]) < 0)
			return -ENOMEM;
	}
	call_rows_sort(v, n);
	return 0;
}

int call_table_of_run(struct str *out, struct arena *a, const struct report *rep,
		      const struct report_options *o)
{
	const struct fact *home = facts_find(&rep->facts, "syscall.home_node", NULL, NULL);
	struct writer w = { .out = out, .arena = a, .rep = rep, .o = o, .home = -1 };
	struct call_row *v = arena_alloc(a, (rep->curves.n + 1) * sizeof(*v));
	size_t n = 0;
	int rc;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < rep->curves.n; i++)
		if (call_table_is_call(rep->curves.v[i].bench))
			v[n++].from = &rep->curves.v[i];
	if (!n)
		return 0;
	if (home && !isnan(home->value))
		w.home = (int64_t)home->value;
	rc = make_rows(&w, v, n);
	for (size_t i = 0, end; rc == 0 && i < n; i = end) {
		end = call_rows_block_end(v, n, i);
		rc = block_render(&w, v + i, end - i);
	}
	if (rc == 0 && rep->run->origin == ORIGIN_MEASURED) {
		str_add(out, "\n");
		render_objects(&w);
		render_mitigations(&w);
	}
	return rc;
}
