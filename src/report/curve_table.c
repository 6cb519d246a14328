// SPDX-License-Identifier: MIT
/*
 * One table of curves. The richest of a few layouts that fits the width is taken: values with
 * intervals and further metrics, values with intervals, values alone. Two curves that differ in one
 * parameter also get their difference and their ratio: the difference tells what distance costs,
 * the ratio how much worse the program runs.
 */
#include "report/curve_table.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "infer/infer.h"
#include "report/curve_sheet.h"
#include "report/profile_table.h"
#include "report/render.h"

struct layout_try {
	bool interval, further, pair;
	bool narrow; /* the pair's titles take two lines */
};

/* --- heads --- */

/* The lines above a curve's columns: its values of the differing parameters, or its number. */
static const char *curve_head(const struct sheet *s, size_t curve, const char *last)
{
	struct str head = { 0 };
	if (s->legend)
		str_addf(&head, "#%zu\n", curve + 1);
	for (size_t i = 0; i < s->g->n_differing && !s->legend; i++)
		str_addf(&head, "%s\n", sheet_param(s, curve, s->g->differing[i]));
	str_add(&head, last);
	const char *ret = head.failed ? NULL : arena_strdup(s->arena, str_text(&head));
	str_done(&head);
	return ret ? ret : last;
}

static const char *key_head(const struct sheet *s)
{
	struct str head = { 0 };
	if (s->legend)
		str_add(&head, "setting\n");
	for (size_t i = 0; i < s->g->n_differing && !s->legend; i++)
		str_addf(&head, "%s\n", sheet_name(s, s->g->differing[i]));
	str_add(&head, sheet_name(s, s->g->inner));
	const char *ret = head.failed ? NULL : arena_strdup(s->arena, str_text(&head));
	str_done(&head);
	return ret ? ret : "";
}

/* --- cells --- */

static void set_number(struct table *t, size_t row, size_t column, double v, const char *unit,
		       int digits)
{
	struct str text = { 0 };
	render_value(&text, v, unit, digits, false);
	table_set(t, row, column, str_text(&text));
	t->failed = t->failed || text.failed;
	str_done(&text);
}

static void set_value(struct table *t, const struct sheet *s, size_t row, size_t column,
		      size_t metric, const struct curve_value *v)
{
	if (v->asked && isnan(v->value))
		table_set(t, row, column, "-");
	else if (v->asked)
		set_number(t, row, column, v->value, s->units[metric], s->digits);
	if (v->mark)
		table_mark(t, row, column, v->mark_kind, v->mark);
}

static void set_interval(struct table *t, const struct sheet *s, size_t row, size_t column,
			 size_t metric, const struct curve_value *v)
{
	struct str text = { 0 };
	if (isnan(v->low))
		return;
	render_interval(&text, v->low, v->high, v->value, s->units[metric], s->digits);
	table_set(t, row, column, str_text(&text));
	t->failed = t->failed || text.failed;
	str_done(&text);
}

static void add_pair_columns(struct table *t, const struct sheet *s, unsigned group, bool narrow)
{
	const char *name = s->g->differing[0];
	const char *a = s->legend ? (s->from ? "#2" : "#1") : sheet_param(s, s->from, name);
	const char *b = s->legend ? (s->minus ? "#2" : "#1") : sheet_param(s, s->minus, name);
	const char *unit = s->units[0];
	const char *gap = narrow ? "\n" : " ";
	const char *difference = arena_printf(s->arena, "%s%s- %s\n%s", a, gap, b, unit);
	const char *ratio = arena_printf(s->arena, "%s%s/ %s\nratio", a, gap, b);
	table_add_column(t, difference ? difference : "", TABLE_RIGHT, group);
	table_add_column(t, ratio ? ratio : "", TABLE_RIGHT, group);
	t->failed = t->failed || !difference || !ratio;
}

static void set_pair(struct table *t, const struct sheet *s, size_t row, size_t column)
{
	const struct curve_value *a = sheet_value(s, 0, row, s->from);
	const struct curve_value *b = sheet_value(s, 0, row, s->minus);
	if (!a->asked || !b->asked)
		return;
	if (!a->counts || !b->counts) {
		const struct curve_value *without = a->counts ? b : a;
		table_set(t, row, column, "-");
		table_set(t, row, column + 1, "-");
		if (without->mark) {
			table_mark(t, row, column, without->mark_kind, without->mark);
			table_mark(t, row, column + 1, without->mark_kind, without->mark);
		}
		return;
	}
	struct str text = { 0 };
	render_difference(&text, a->value - b->value, fmax(fabs(a->value), fabs(b->value)),
			  s->digits);
	table_set(t, row, column, str_text(&text));
	str_clear(&text);
	if (b->value != 0)
		render_value(&text, a->value / b->value, NULL, 3, false);
	else
		str_add(&text, "-");
	table_set(t, row, column + 1, str_text(&text));
	t->failed = t->failed || text.failed;
	str_done(&text);
}

/* --- tables --- */

static void set_row_name(struct table *t, const struct sheet *s, size_t row)
{
	struct str text = { 0 };
	render_param(&text, s->g->schema, s->rows[row]);
	const char *clean = render_clean(s->arena, str_text(&text), s->o->utf8, 2 * HEAD_MAX);
	table_set(t, row, 0, clean ? clean : "");
	t->failed = t->failed || !clean || text.failed;
	str_done(&text);
}

static void set_curve_cells(struct table *t, const struct sheet *s, size_t row, size_t column,
			    size_t curve, struct layout_try l)
{
	const struct curve_value *v = sheet_value(s, 0, row, curve);
	set_value(t, s, row, column++, 0, v);
	if (l.interval)
		set_interval(t, s, row, column++, 0, v);
	for (size_t m = 1; l.further && m < s->n_metrics; m++)
		set_value(t, s, row, column++, m, sheet_value(s, m, row, curve));
}

/* Where units alone do not tell the metrics apart, their names do. */
static const char *metric_title(const struct sheet *s, size_t metric)
{
	const char *own = s->raw_units[metric];

	for (size_t i = 0; i < s->n_metrics; i++)
		if (s->n_metrics > 2 || (i != metric && strcmp(s->raw_units[i], own) == 0))
			return s->titles[metric];
	return s->units[metric];
}

static void add_curve_columns(struct table *t, const struct sheet *s, const char *head,
			      unsigned group, struct layout_try l)
{
	table_add_column(t, head, TABLE_RIGHT, group);
	if (l.interval) {
		size_t c = table_add_column(t, "95 %", TABLE_RIGHT, group);
		if (!t->failed)
			t->columns[c].optional = true;
	}
	for (size_t m = 1; l.further && m < s->n_metrics; m++)
		table_add_column(t, metric_title(s, m), TABLE_RIGHT, group);
}

static void build(struct table *t, const struct sheet *s, struct layout_try l)
{
	table_init(t, s->arena, s->o);
	t->indent = 2;
	t->rule = true;
	t->n_keys = 1;
	size_t per_curve = 1 + l.interval + (l.further ? s->n_metrics - 1 : 0);
	table_add_column(t, key_head(s), TABLE_RIGHT, 0);
	for (size_t c = 0; c < s->g->n; c++)
		add_curve_columns(t, s,
				  curve_head(s, c, l.further ? metric_title(s, 0) : s->units[0]),
				  (unsigned)c + 1, l);
	if (l.pair)
		add_pair_columns(t, s, (unsigned)s->g->n + 1, l.narrow);
	for (size_t r = 0; r < s->n_rows; r++) {
		table_add_row(t);
		set_row_name(t, s, r);
		for (size_t c = 0; c < s->g->n; c++)
			set_curve_cells(t, s, r, 1 + c * per_curve, c, l);
		if (l.pair)
			set_pair(t, s, r, 1 + s->g->n * per_curve);
	}
	for (size_t c = 1; c < t->n_columns; c++)
		table_lift_marks(t, c, NOTE_UNPROVEN);
}

/* Without an inner parameter: a row a setting, its parameters as key columns. */
static void build_flat(struct table *t, const struct sheet *s, struct layout_try l)
{
	table_init(t, s->arena, s->o);
	t->indent = 2;
	t->rule = true;
	t->n_keys = s->g->n_differing;
	for (size_t i = 0; i < s->g->n_differing; i++) {
		size_t c = table_add_column(t, sheet_name(s, s->g->differing[i]), TABLE_LEFT, 0);
		if (!t->failed)
			t->columns[c].wraps = true;
	}
	add_curve_columns(t, s, l.further ? metric_title(s, 0) : s->units[0], 1, l);
	for (size_t c = 0; c < s->g->n; c++) {
		table_add_row(t);
		for (size_t i = 0; i < s->g->n_differing; i++)
			table_set(t, c, i, sheet_param(s, c, s->g->differing[i]));
		set_curve_cells(t, s, c, s->g->n_differing, c, l);
	}
}

/* Layouts that make sense for the sheet, richest first. Returns how many. */
static size_t list_layouts(const struct sheet *s, struct layout_try *ret)
{
	const struct param *p =
		s->has_pair && s->g->schema ? schema_param(s->g->schema, s->g->differing[0]) : NULL;
	/* what distance costs is the point of a placement; elsewhere intervals come first */
	bool keep_pair = p && p->type == PARAM_NODE;
	size_t n = 0;
	for (int pair = s->has_pair; pair >= 0; pair--) {
		for (int interval = s->has_interval; interval >= 0; interval--) {
			if (!interval && s->has_interval && pair && !keep_pair)
				continue;
			/* never instead of an interval */
			if (s->n_metrics > 1 && (interval || !s->has_interval))
				ret[n++] = (struct layout_try){ interval, true, pair, false };
			ret[n++] = (struct layout_try){ interval, false, pair, false };
			if (pair)
				ret[n++] = (struct layout_try){ interval, false, true, true };
		}
		if (keep_pair)
			break;
	}
	return n;
}

static int render_table(struct str *out, const struct sheet *s)
{
	struct layout_try tries[16];
	struct table t;
	size_t n = list_layouts(s, tries), i = 0;
	for (; i < n; i++) {
		(s->g->inner ? build : build_flat)(&t, s, tries[i]);
		if (table_width(&t) <= RENDER_WIDTH || i + 1 == n)
			break;
	}
	int ret = table_render(out, &t, s->o);
	if (s->has_interval && !tries[i].interval)
		str_add(out, "  Intervals need more room than 80 columns: --format csv or json.\n");
	return ret;
}

/* --- words around it --- */

static void caption(struct str *out, const struct sheet *s)
{
	const struct bench_schema *schema = s->g->schema;
	const struct metric *m = !schema   ? NULL
				 : s->only ? schema_metric(schema, s->only)
					   : schema->metrics;
	struct str text = { 0 };
	str_add(&text, s->g->bench);
	if (m && m->name) {
		str_addf(&text, ": %s", m->summary && *m->summary ? m->summary : m->name);
		if (s->rep->run->origin == ORIGIN_PUBLISHED)
			str_add(&text, "; as published");
		else if (m->form == FORM_SAMPLES)
			str_addf(&text, "; median over invocations of the %s of each",
				 m->estimator == EST_MIN ? "minimum" : "median");
	}
	const char *clean = render_clean(s->arena, str_text(&text), s->o->utf8, 400);
	render_wrap(out, clean ? clean : "", 0, 2, RENDER_WIDTH);
	str_clear(&text);
	const struct attrs *outer = &s->g->curves[0]->outer;
	for (size_t i = 0; i < outer->n; i++) {
		bool differs = false;
		for (size_t k = 0; k < s->g->n_differing; k++)
			differs = differs || strcmp(s->g->differing[k], outer->v[i].name) == 0;
		if (differs)
			continue;
		str_addf(&text, "%s%s=", text.len ? " " : "", outer->v[i].name);
		render_param(&text, schema, &outer->v[i]);
	}
	if (text.len) {
		clean = render_clean(s->arena, str_text(&text), s->o->utf8, 800);
		render_paragraph(out, 2, "", clean ? clean : "");
	}
	out->failed = out->failed || text.failed || !clean;
	str_done(&text);
}

static void legend(struct str *out, const struct sheet *s)
{
	for (size_t c = 0; s->legend && c < s->g->n; c++) {
		struct str text = { 0 };
		for (size_t i = 0; i < s->g->n_differing; i++)
			str_addf(&text, "%s%s=%s", i ? " " : "", s->g->differing[i],
				 sheet_param(s, c, s->g->differing[i]));
		const char *clean = render_clean(s->arena, str_text(&text), s->o->utf8, 400);
		char head[32];
		struct str h = { 0 };
		str_addf(&h, "#%zu  ", c + 1);
		strncpy(head, str_text(&h), sizeof(head) - 1);
		head[sizeof(head) - 1] = '\0';
		str_done(&h);
		render_paragraph(out, 2, head, clean ? clean : "");
		out->failed = out->failed || text.failed || !clean;
		str_done(&text);
	}
}

/* Every curve skipped: there are no rows, only reasons. */
static void only_reasons(struct str *out, const struct sheet *s)
{
	for (size_t c = 0; c < s->g->n; c++) {
		const struct measure *m = s->g->curves[c]->skipped;
		struct str text = { 0 };
		for (size_t i = 0; i < s->g->n_differing; i++)
			str_addf(&text, "%s=%s ", s->g->differing[i],
				 sheet_param(s, c, s->g->differing[i]));
		if (text.len)
			text.data[text.len - 1] = ':';
		str_addf(&text, "%s%s", text.len ? " " : "",
			 m && m->reason ? m->reason : "not measured, no reason recorded");
		const char *clean = render_clean(s->arena, str_text(&text), s->o->utf8, 800);
		render_paragraph(out, 2, "- ", clean ? clean : "");
		out->failed = out->failed || text.failed || !clean;
		str_done(&text);
	}
}

/* Events and exposure of a metric of form COUNT in all points of the table. */
static void sum_counts(const struct sheet *s, const char *metric, int64_t *events,
		       int64_t *exposure)
{
	*events = *exposure = 0;
	for (size_t c = 0; c < s->g->n; c++) {
		for (size_t p = 0; p < s->g->curves[c]->n; p++) {
			struct estimate e;

			estimate_point(s->rep->run, s->g->curves[c]->points[p], metric, &e);
			if (!__builtin_add_overflow(*events, e.events, events) &&
			    !__builtin_add_overflow(*exposure, e.exposure, exposure))
				continue;
			*exposure = 0;
			return;
		}
	}
}

/*
 * A rate alone does not tell how much was seen: "errors: 3 of 1000000 in all (rate 0.000003)";
 * "faults: 25717 for 300 in all (rate 85.7)" where one program has many.
 */
static void counts(struct str *out, const struct sheet *s)
{
	const struct metric *m = s->g->schema ? s->g->schema->metrics : NULL;

	for (; m && m->name; m++) {
		int64_t events, exposure;
		char rate[UNITS_TEXT_BYTES];
		struct str text = { 0 };
		const char *clean;

		if (m->form != FORM_COUNT || (s->only && strcmp(m->name, s->only) != 0))
			continue;
		sum_counts(s, m->name, &events, &exposure);
		if (exposure <= 0)
			continue;
		str_addf(&text, "%s: %lld %s %lld in all (rate %s)", m->name, (long long)events,
			 events > exposure ? "for" : "of", (long long)exposure,
			 format_digits(rate, (double)events / (double)exposure, 3));
		clean = render_clean(s->arena, str_text(&text), s->o->utf8, 400);
		if (clean)
			render_paragraph(out, 2, "", clean);
		out->failed = out->failed || !clean || text.failed;
		str_done(&text);
	}
}

/* Pairs of CPUs beyond what columns can show. */
static bool is_too_wide(const struct curve_group *g)
{
	enum { PAIRS_SHOWN = 16 };
	return g->n > PAIRS_SHOWN && g->schema && schema_role(g->schema, ROLE_FROM);
}

/* @only: see struct sheet. */
static int render_group(struct str *out, const struct report *rep, const struct curve_group *g,
			const struct report_options *o, const char *only)
{
	struct arena a = { 0 };
	struct sheet s = { .arena = &a,
			   .rep = rep,
			   .o = o,
			   .g = g,
			   .only = only,
			   .digits = rep->run->origin == ORIGIN_PUBLISHED ? 4 : 3 };
	if (is_too_wide(g)) {
		str_addf(out,
			 "%s: %zu curves, of too many pairs of CPUs for a table: the matrix "
			 "below, or\n  --format csv and json\n",
			 sheet_name(&s, g->bench), g->n);
		arena_done(&a);
		return out->failed ? -ENOMEM : 0;
	}
	int ret = sheet_fill(&s);
	if (ret == 0) {
		caption(out, &s);
		legend(out, &s);
		if (!s.n_rows || !s.n_metrics)
			only_reasons(out, &s);
		else if (profile_table_is(g) && !only)
			ret = profile_table_render(out, rep, g, o);
		else {
			sheet_sparklines(out, &s);
			ret = render_table(out, &s);
		}
	}
	if (ret == 0)
		counts(out, &s);
	if (ret == 0)
		ret = curve_losses_render(out, &a, rep, g, o);
	arena_done(&a);
	return ret < 0 ? ret : out->failed ? -ENOMEM : 0;
}

int curve_group_render(struct str *out, const struct report *rep, const struct curve_group *g,
		       const struct report_options *o)
{
	int ret = 0;

	if (!o->metrics) {
		str_add(out, "\n");
		return render_group(out, rep, g, o, NULL);
	}
	for (size_t i = 0; i < o->n_metrics && ret == 0; i++) {
		if (!g->schema || !schema_metric(g->schema, o->metrics[i]))
			continue;
		str_add(out, "\n");
		ret = render_group(out, rep, g, o, o->metrics[i]);
	}
	return ret;
}
