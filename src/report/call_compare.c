// SPDX-License-Identifier: MIT
/*
 * A comparison of system calls in the published form: A, B and the improvement, with the interval
 * and the verdict where there are any. Decides nothing.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "report/call_parts.h"
#include "report/render.h"

static bool is_call_time(const struct compared *c)
{
	return !c->is_fact && call_table_is_call(c->bench) && strcmp(c->id, "call_ns") == 0;
}

bool call_table_has_point(const struct comparison *c)
{
	for (size_t i = 0; i < c->n_points; i++)
		if (is_call_time(&c->points[i]))
			return true;
	return false;
}

double call_table_improvement(const struct compared *c)
{
	if (!is_call_time(c) || isnan(c->a) || isnan(c->b) || c->a == 0)
		return NAN;
	return (c->a - c->b) / c->a * 100;
}

struct columns {
	size_t node, a, b, improvement, interval, verdict; /* 0: none */
};

static void set(struct table *t, size_t row, size_t column, struct str *text)
{
	table_set(t, row, column, str_text(text));
	t->failed = t->failed || text->failed;
	str_clear(text);
}

/* -0.00 is no improvement and no loss. */
static double without_sign(double percent)
{
	return fabs(percent) < 0.005 ? 0 : percent;
}

static void add_row(struct table *t, const struct columns *col, const struct call_row *r)
{
	const struct compared *c = r->from;
	double improvement = call_table_improvement(c);
	size_t row = table_add_row(t);
	struct str text = { 0 };

	table_set(t, row, 0, r->test);
	if (col->node)
		table_set(t, row, col->node, r->node ? r->node : "");
	call_us(&text, c->a);
	set(t, row, col->a, &text);
	call_us(&text, c->b);
	set(t, row, col->b, &text);
	if (isnan(improvement))
		str_add(&text, "-");
	else
		str_addf(&text, "%.2f", without_sign(improvement));
	set(t, row, col->improvement, &text);
	if (col->interval && !isnan(c->low) && !isnan(c->high)) {
		str_addf(&text, "[%.2f, %.2f]", without_sign(-c->high), without_sign(-c->low));
		set(t, row, col->interval, &text);
	}
	if (col->verdict)
		table_set(t, row, col->verdict, outcome_look(c->outcome));
	if (c->reason)
		table_mark(t, row, col->verdict ? col->verdict : col->improvement, NOTE_REASON,
			   c->reason);
	str_done(&text);
}

static int block_render(const struct compare_writer *w, const struct call_row *v, size_t n)
{
	struct columns col = { 0 };
	struct table t;
	bool has_interval = false, has_verdict = false, has_node = false;

	for (size_t i = 0; i < n; i++) {
		const struct compared *c = v[i].from;

		has_interval = has_interval || !isnan(c->low);
		has_verdict = has_verdict || c->outcome != OUTCOME_DIFFERENCE;
		has_node = has_node || v[i].node;
	}
	str_add(w->out, "\n");
	render_paint(w->out, w->o, PAINT_BOLD, v[0].block);
	str_addf(w->out, "%sus per call\n", *v[0].block ? ": " : "");
	table_init(&t, w->arena, w->o);
	t.indent = 2;
	t.rule = true;
	table_add_column(&t, "test", TABLE_LEFT, 0);
	col.node = has_node ? table_add_column(&t, "node", TABLE_LEFT, 0) : 0;
	t.n_keys = t.n_columns;
	col.a = table_add_column(&t, "A", TABLE_RIGHT, 1);
	col.b = table_add_column(&t, "B", TABLE_RIGHT, 1);
	col.improvement = table_add_column(&t, "% improvement", TABLE_RIGHT, 1);
	if (has_interval)
		col.interval = table_add_column(&t, "[95 %]", TABLE_LEFT, 1);
	if (has_verdict)
		col.verdict = table_add_column(&t, "verdict", TABLE_LEFT, 1);
	if (t.failed)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		add_row(&t, &col, &v[i]);
	return table_render(w->out, &t, w->o);
}

int call_table_of_comparison(const struct compare_writer *w)
{
	const struct comparison *c = w->c;
	struct call_row *v = arena_alloc(w->arena, (c->n_points + 1) * sizeof(*v));
	size_t n = 0;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_points; i++) {
		const struct compared *p = &c->points[i];

		if (!is_call_time(p))
			continue;
		v[n].from = p;
		if (call_row_make(w->arena, NULL, p->bench, &p->where, NULL, &v[n++]) < 0)
			return -ENOMEM;
	}
	if (!n)
		return 0;
	call_rows_sort(v, n);
	str_add(w->out, "\n");
	render_paint(w->out, w->o, PAINT_BOLD, "System calls");
	str_add(w->out, "; improvement = (A - B) / A\n");
	for (size_t i = 0, end; i < n; i = end) {
		int rc;

		end = call_rows_block_end(v, n, i);
		rc = block_render(w, v + i, end - i);
		if (rc < 0)
			return rc;
	}
	return 0;
}
