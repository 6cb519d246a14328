// SPDX-License-Identifier: MIT
/* Kernel profiles and other recorded tables as text. A column called "address" is hexadecimal. */
#include "report/profile_table.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "report/render.h"

enum { ROWS_MAX = 60 };

bool profile_table_is(const struct curve_group *g)
{
	const struct metric *m = g->schema ? g->schema->metrics : NULL;
	return m && m->name && m->form == FORM_TABLE;
}

static void set_cell(struct table *t, size_t row, size_t column, const char *name, double v)
{
	struct str text = { 0 };
	char buf[UNITS_TEXT_BYTES];
	if (strcmp(name, "address") == 0 && v >= 0 && v < 18446744073709551616.0)
		str_addf(&text, "%08llx", (unsigned long long)v);
	else if (!isnan(v))
		str_add(&text, format_real(buf, v));
	else
		str_add(&text, "-");
	table_set(t, row, column, str_text(&text));
	t->failed = t->failed || text.failed;
	str_done(&text);
}

static void build(struct table *t, const struct series *s)
{
	t->indent = 2;
	t->rule = true;
	t->n_keys = 1;
	table_add_column(t, "name", TABLE_LEFT, 0);
	for (size_t c = 0; c < s->n_columns; c++)
		table_add_column(t, s->columns[c], TABLE_RIGHT, 0);
	for (size_t r = 0; r < s->n && r < ROWS_MAX; r++) {
		table_add_row(t);
		table_set(t, r, 0, s->keys[r]);
		for (size_t c = 0; c < s->n_columns; c++)
			set_cell(t, r, 1 + c, s->columns[c], s->cells[r * s->n_columns + c]);
	}
}

static int render_series(struct str *out, struct arena *a, const struct measure *m,
			 const struct series *s, const struct report_options *o)
{
	if (m->verdict != VERDICT_OK || s->null_reason || !s->n) {
		const char *reason = m->verdict != VERDICT_OK ? m->reason : s->null_reason;
		const char *clean =
			render_clean(a, reason ? reason : "no reason recorded", o->utf8, 400);
		render_paragraph(out, 2, "- ", clean ? clean : "");
		return clean ? 0 : -ENOMEM;
	}
	struct table t;
	table_init(&t, a, o);
	build(&t, s);
	int ret = table_render(out, &t, o);
	if (s->n > ROWS_MAX)
		str_addf(out, "  %zu more rows: --format csv or json\n", s->n - ROWS_MAX);
	return ret;
}

/* "fill=demand" of the parameters in which the group's settings differ, and what is not proven. */
static int setting_line(struct str *out, struct arena *a, const struct curve_group *g,
			const struct curve_points *c, const struct measure *m,
			const struct report_options *o)
{
	struct str text = { 0 };
	for (size_t i = 0; i < g->n_differing; i++) {
		const struct attr *v = attrs_find(&c->outer, g->differing[i]);
		if (!v)
			continue;
		str_addf(&text, "%s%s=", text.len ? " " : "", v->name);
		render_param(&text, g->schema, v);
	}
	if (m->unproven)
		str_addf(&text, "%sunproven: %s", text.len ? "; " : "", m->unproven);
	const char *clean = render_clean(a, str_text(&text), o->utf8, 800);
	if (clean && *clean)
		render_paragraph(out, 2, "", clean);
	str_done(&text);
	return clean ? 0 : -ENOMEM;
}

int profile_table_render(struct str *out, const struct report *rep, const struct curve_group *g,
			 const struct report_options *o)
{
	struct arena a = { 0 };
	int ret = 0;
	(void)rep;
	for (size_t i = 0; ret == 0 && i < g->n; i++) {
		const struct curve_points *c = g->curves[i];
		for (size_t k = 0; ret == 0 && k < c->n; k++) {
			const struct measure *m = c->points[k]->measures[0];
			const struct series *s = measure_series(m, g->schema->metrics[0].name);
			if (!s)
				continue;
			ret = setting_line(out, &a, g, c, m, o);
			if (ret == 0)
				ret = render_series(out, &a, m, s, o);
		}
	}
	arena_done(&a);
	return ret < 0 ? ret : out->failed ? -ENOMEM : 0;
}
