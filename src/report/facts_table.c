// SPDX-License-Identifier: MIT
/* The table of facts. Methods and their revisions are left to JSON and CSV. */
#include "report/facts_table.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "report/render.h"
#include "report/table.h"

enum { FACT, VALUE, INTERVAL, NOMINAL, ADVERTISED };

static void set(struct table *t, size_t row, size_t column, struct str *text)
{
	table_set(t, row, column, str_text(text));
	t->failed = t->failed || text->failed;
	str_clear(text);
}

static void set_measured(struct table *t, size_t row, const struct fact *f, struct str *text)
{
	if (isnan(f->value)) {
		table_set(t, row, VALUE, "-");
		table_mark(t, row, VALUE, NOTE_REASON,
			   f->reason ? f->reason : "not measured, no reason recorded");
		return;
	}
	const char *unit;
	double divisor = render_time_scale(f->value, f->unit, &unit);

	/* tlb.hit_ns tells its unit itself */
	render_value(text, f->value / divisor, unit, 3,
		     divisor != 1 || (unit && !strstr(f->id, unit)));
	set(t, row, VALUE, text);
	if (!isnan(f->low) && !isnan(f->high)) {
		render_interval(text, f->low / divisor, f->high / divisor, f->value / divisor, unit,
				3);
		set(t, row, INTERVAL, text);
	} else {
		table_set(t, row, INTERVAL, "-");
		table_mark(t, row, INTERVAL, NOTE_REASON,
			   f->interval_reason ? f->interval_reason
					      : "no interval, no reason recorded");
	}
}

static void set_row(struct table *t, const struct report *rep, const struct fact *f)
{
	struct str text = { 0 };
	size_t row = table_add_row(t);
	const char *id = render_clean(t->arena, f->id, t->utf8, 40);
	str_addf(&text, "%s ", id ? id : "");
	t->failed = t->failed || !id;
	render_where(&text, rep->run, &f->where);
	if (!f->where.n)
		text.data[text.len - 1] = '\0';
	set(t, row, FACT, &text);
	set_measured(t, row, f, &text);
	if (!isnan(f->nominal)) {
		render_value(&text, f->nominal, f->unit, 3, false);
		set(t, row, NOMINAL, &text);
	}
	if (!isnan(f->advertised)) {
		enum agreement agree = fact_agreement(rep, f);
		/* what agrees stands in the column before */
		if (agree != AGREE_YES || f->nominal != f->advertised)
			render_value(&text, f->advertised, f->unit, 3, false);
		if (text.len)
			str_add(&text, " ");
		str_add(&text, agree == AGREE_YES ? "agrees" : agree == AGREE_NO ? "differs" : "");
		set(t, row, ADVERTISED, &text);
	}
	if (f->note)
		table_mark(t, row, VALUE, NOTE_REASON, f->note);
	str_done(&text);
}

int facts_table_render(struct str *out, struct arena *a, const struct report *rep,
		       const struct report_options *o)
{
	struct table t;
	if (!rep->facts.n) {
		str_add(out, "\nNo facts: the points of this run support none.\n");
		return out->failed ? -ENOMEM : 0;
	}
	table_init(&t, a, o);
	t.indent = 2;
	t.rule = true;
	table_add_column(&t, "fact", TABLE_LEFT, 0);
	table_add_column(&t, "value", TABLE_RIGHT, 1);
	table_add_column(&t, "95 %", TABLE_LEFT, 1);
	table_add_column(&t, "nominal", TABLE_RIGHT, 1);
	table_add_column(&t, "CPUID", TABLE_LEFT, 1);
	if (t.failed)
		return -ENOMEM;
	t.n_keys = 1;
	t.max_notes = 40; /* a fact without its reason is none */
	t.columns[FACT].wraps = true;
	t.columns[NOMINAL].optional = t.columns[ADVERTISED].optional = true;
	for (size_t i = 0; i < rep->facts.n; i++)
		set_row(&t, rep, &rep->facts.v[i]);
	str_add(out, "\n");
	render_paint(out, o, PAINT_BOLD, "Facts");
	str_add(out, "\n");
	return table_render(out, &t, o);
}
