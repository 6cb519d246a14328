// SPDX-License-Identifier: MIT
/*
 * Rows of a comparison as a table: both values, the difference with its interval, the verdict; and
 * the table of facts. Which points are shown, and in which order: compare_points.c.
 */
#include "report/compare_parts.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "report/render.h"

enum {
	KEYS_MAX = 3, /* parameters that get a column of their own */
	DIGITS = 3,
	DIGITS_SINGLE = 4, /* of single values, as published */
	NOTES_MAX = 24,
};

/* A table and where its columns are; 0 for one that it has not. */
struct rows {
	struct table t;
	const struct compare_writer *w;
	size_t n_keys; /* columns of parameters; 0: all in column 0 */
	size_t col_a, col_b, col_difference, col_percent, col_verdict;
	const char *id; /* tells the unit in its name ("ref_ns"), or NULL */
	double divisor; /* of times, and their unit then; of facts each has its own */
	const char *unit;
	int digits;      /* significant ones of values */
	bool is_profile; /* rows without a verdict are the rule */
};

static const struct run *some_run(const struct compare_writer *w)
{
	const struct comparison_subject *s = w->o->subject;
	return s && s->n_a ? s->a[0] : NULL;
}

/* Takes over the text: sets the cell and clears. */
static void set(struct rows *r, size_t row, size_t column, struct str *text)
{
	table_set(&r->t, row, column, str_text(text));
	r->t.failed = r->t.failed || text->failed;
	str_clear(text);
}

/* --- cells ---------------------------------------------------------------------------------- */

/* Without the parameter that the sides differ in: they say its values in the head. */
static void where_words(struct str *out, const struct compare_writer *w, const struct attrs *where)
{
	const struct run *r = some_run(w);
	const char *factor = w->c->factor ? w->c->factor : "";
	for (size_t i = 0; i < where->n; i++) {
		const struct attrs kept = { .v = &where->v[i], .n = 1 };
		if (strcmp(where->v[i].name, factor) == 0)
			continue;
		if (out->len)
			str_add(out, " ");
		if (r)
			render_where(out, r, &kept);
		else
			attrs_format(out, &kept);
	}
}

static void param_word(struct str *out, const struct compare_writer *w, const struct attr *a)
{
	struct attrs one = { .v = (struct attr[]){ *a }, .n = 1 };
	struct str text = { 0 };
	where_words(&text, w, &one);
	const char *value = strchr(str_text(&text), '=');
	str_add(out, value ? value + 1 : "");
	out->failed = out->failed || text.failed;
	str_done(&text);
}

struct times {
	double divisor;
	const char *unit;
};

/* The smaller of both sides. */
static double least_of(const struct compared *c)
{
	return isnan(c->a) || (!isnan(c->b) && fabs(c->b) < fabs(c->a)) ? c->b : c->a;
}

/* In what the row's values are told: one unit for a table of points, its own for a fact. */
static struct times times_of(const struct rows *r, const struct compared *c)
{
	struct times t = { r->divisor, r->unit };
	if (!r->id)
		t.divisor = render_time_scale(least_of(c), c->unit, &t.unit);
	return t;
}

/* @v of one metric. */
static void scale_points(struct rows *r, const struct compared *const *v, size_t n)
{
	double least = INFINITY;
	for (size_t i = 0; i < n; i++)
		least = fmin(least, fabs(least_of(v[i])));
	r->divisor = render_time_scale(least, v[0]->unit, &r->unit);
}

static void set_value(struct rows *r, size_t row, size_t column, const struct compared *c,
		      double value)
{
	struct str text = { 0 };
	struct times times = times_of(r, c);
	bool told = !c->unit || (times.divisor == 1 && (strstr(c->id, c->unit) || r->id));
	if (isnan(value))
		str_add(&text, "-");
	else
		render_value(&text, value / times.divisor, times.unit, r->digits, !told);
	set(r, row, column, &text);
	str_done(&text);
}

/* "+31.5", "+6.5", "+0.04", "+156": beside a margin of percents a tenth is enough. */
static void add_percent(struct str *out, double percent)
{
	double magnitude = fabs(percent);
	if (magnitude < 0.005)
		str_add(out, "0");
	else if (magnitude >= 1e6) /* also an open end */
		str_addf(out, "%+.1e", percent);
	else
		str_addf(out, "%+.*f",
			 magnitude >= 99.95   ? 0
			 : magnitude >= 0.095 ? 1
					      : 2,
			 percent);
}

/* As publications give it: "+9.17", "-33.26". */
static void add_single_percent(struct str *out, double percent)
{
	if (percent != 0 && fabs(percent) < 1e6)
		str_addf(out, "%+.*f", fabs(percent) < 99.995 ? 2 : 1, percent);
	else
		add_percent(out, percent);
}

/* A ratio to or from no event has one end only. */
static void add_open_end(struct str *out, const struct compared *c)
{
	bool from_nothing = isnan(c->percent);
	str_add(out, from_nothing ? "at least " : "at most ");
	add_percent(out, from_nothing ? c->low : c->high);
}

static void set_percent(struct rows *r, size_t row, const struct compared *c)
{
	struct str text = { 0 };
	if (!isnan(c->low) && (isnan(c->percent) || c->percent == -100)) {
		add_open_end(&text, c);
	} else if (isnan(c->percent)) {
		str_add(&text, isnan(c->a) || isnan(c->b) ? "" : "-");
	} else if (isnan(c->low) && isnan(c->p)) {
		add_single_percent(&text, c->percent);
	} else {
		add_percent(&text, c->percent);
		if (!isnan(c->low) && !isnan(c->high)) {
			str_add(&text, " [");
			add_percent(&text, c->low);
			str_add(&text, ", ");
			add_percent(&text, c->high);
			str_add(&text, "]");
		}
	}
	set(r, row, r->col_percent, &text);
	str_done(&text);
}

static void set_difference(struct rows *r, size_t row, const struct compared *c)
{
	struct str text = { 0 };
	double larger = fmax(fabs(c->a), fabs(c->b));
	struct times times = times_of(r, c);
	if (!r->col_difference || isnan(c->a) || isnan(c->b))
		return;
	if (c->b > c->a)
		str_add(&text, "+");
	if (c->unit && (strcmp(c->unit, "bytes") == 0 || strcmp(c->unit, "Hz") == 0))
		render_value(&text, c->b - c->a, c->unit, r->digits, true);
	else
		render_difference(&text, (c->b - c->a) / times.divisor, larger / times.divisor,
				  r->digits);
	set(r, row, r->col_difference, &text);
	str_done(&text);
}

static void set_verdict(struct rows *r, size_t row, const struct compared *c)
{
	const char *look = outcome_look(c->outcome);
	/* a table without verdicts has its marks at the values */
	size_t at_a = r->col_verdict ? r->col_verdict : r->col_a;
	size_t at_b = r->col_verdict ? r->col_verdict : r->col_b;
	if (c->outcome == OUTCOME_MISSING && isnan(c->a) != isnan(c->b))
		look = isnan(c->a) ? "only in B" : "only in A";
	if (r->col_verdict && !(r->is_profile && c->outcome == OUTCOME_DIFFERENCE))
		table_set(&r->t, row, r->col_verdict, look);
	if (c->reason)
		table_mark(&r->t, row, r->col_verdict ? r->col_verdict : r->col_percent,
			   NOTE_REASON, c->reason);
	if (c->bimodal_a)
		table_mark(&r->t, row, at_a, NOTE_REASON,
			   "A has two separate clusters of invocations: its median stands for "
			   "neither; all are kept");
	if (c->bimodal_b)
		table_mark(&r->t, row, at_b, NOTE_REASON,
			   "B has two separate clusters of invocations: its median stands for "
			   "neither; all are kept");
}

static void set_row(struct rows *r, const struct compared *c)
{
	size_t row = table_add_row(&r->t);
	struct str text = { 0 };
	if (r->n_keys) {
		for (size_t i = 0; i < r->n_keys; i++) {
			param_word(&text, r->w, &c->where.v[i]);
			set(r, row, i, &text);
		}
	} else {
		if (c->is_fact)
			str_add(&text, c->id);
		where_words(&text, r->w, &c->where);
		if (!text.len)
			str_add(&text, "(the only setting)");
		set(r, row, 0, &text);
	}
	str_done(&text);
	set_value(r, row, r->col_a, c, c->a);
	set_value(r, row, r->col_b, c, c->b);
	set_difference(r, row, c);
	set_percent(r, row, c);
	set_verdict(r, row, c);
}

/* --- tables --------------------------------------------------------------------------------- */

static bool has_same_names(const struct attrs *a, const struct attrs *b)
{
	bool same = a->n == b->n;
	for (size_t i = 0; same && i < a->n; i++)
		same = strcmp(a->v[i].name, b->v[i].name) == 0;
	return same;
}

bool compared_is_of_profile(const struct compared *c)
{
	return !c->is_fact && (attrs_find(&c->where, "symbol") || attrs_find(&c->where, "row"));
}

struct compare_shape compare_shape_of(const struct compared *const *v, size_t n)
{
	struct compare_shape s = { .n_keys = n && !v[0]->is_fact ? v[0]->where.n : 0,
				   .is_profile = n > 0 };
	s.is_single = n > 0;
	for (size_t i = 0; i < n; i++) {
		s.has_interval = s.has_interval || !isnan(v[i]->low);
		s.has_verdict = s.has_verdict || v[i]->outcome != OUTCOME_DIFFERENCE;
		s.is_profile = s.is_profile && compared_is_of_profile(v[i]);
		s.is_single = s.is_single && v[i]->n_a <= 1 && v[i]->n_b <= 1;
		if (!has_same_names(&v[0]->where, &v[i]->where))
			s.n_keys = 0;
	}
	if (s.n_keys > KEYS_MAX)
		s.n_keys = 0;
	return s;
}

static void key_columns(struct rows *r, const struct compared *first, struct compare_shape s)
{
	r->n_keys = s.n_keys;
	if (!s.n_keys) {
		size_t at =
			table_add_column(&r->t, first->is_fact ? "fact" : "setting", TABLE_LEFT, 0);
		if (!r->t.failed)
			r->t.columns[at].wraps = true;
	}
	for (size_t i = 0; i < s.n_keys; i++) {
		const struct attr *a = &first->where.v[i];
		const char *name = render_clean(r->t.arena, a->name, r->w->o->utf8, 40);
		r->t.failed = r->t.failed || !name;
		bool words = a->kind == ATTR_TEXT;
		size_t at = table_add_column(&r->t, name ? name : "",
					     words ? TABLE_LEFT : TABLE_RIGHT, 0);
		if (!r->t.failed)
			r->t.columns[at].wraps = words;
	}
	r->t.n_keys = r->t.n_columns;
}

static const char *percent_title(const struct rows *r, struct compare_shape s)
{
	char level[UNITS_TEXT_BYTES];
	if (!s.has_interval)
		return "%";
	return arena_printf(r->t.arena, "%% [%s %%]",
			    format_digits(level, 100 * r->w->c->level, 2));
}

int compare_rows_render(const struct compare_writer *w, const struct compared *const *v, size_t n)
{
	struct rows r = { .w = w };
	struct compare_shape s = compare_shape_of(v, n);
	table_init(&r.t, w->arena, w->o);
	r.t.indent = v[0]->is_fact ? 0 : 2; /* names of facts are long */
	r.t.rule = true;
	r.t.max_notes = NOTES_MAX;
	r.id = v[0]->is_fact ? NULL : v[0]->id;
	scale_points(&r, v, n);
	r.digits = s.has_interval || v[0]->is_fact ? DIGITS : DIGITS_SINGLE;
	r.is_profile = s.is_profile;
	key_columns(&r, v[0], s);
	r.col_a = table_add_column(&r.t, "A", TABLE_RIGHT, 1);
	r.col_b = table_add_column(&r.t, "B", TABLE_RIGHT, 1);
	if (!s.has_interval)
		r.col_difference = table_add_column(&r.t, "B - A", TABLE_RIGHT, 1);
	const char *percent = percent_title(&r, s);
	r.col_percent = table_add_column(&r.t, percent ? percent : "",
					 s.has_interval ? TABLE_LEFT : TABLE_RIGHT, 1);
	if (s.has_verdict)
		r.col_verdict = table_add_column(&r.t, "verdict", TABLE_LEFT, 1);
	if (r.t.failed || !percent)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		set_row(&r, v[i]);
	table_lift_marks(&r.t, r.col_a, NOTE_REASON);
	table_lift_marks(&r.t, r.col_b, NOTE_REASON);
	table_lift_marks(&r.t, r.col_verdict ? r.col_verdict : r.col_percent, NOTE_REASON);
	return table_render(w->out, &r.t, w->o);
}

/* --- facts ---------------------------------------------------------------------------------- */

int compare_facts_render(const struct compare_writer *w)
{
	const struct comparison *c = w->c;
	if (!c->n_facts) {
		str_add(w->out, "\nNo facts to compare: the points below decide.\n");
		return 0;
	}
	const struct compared **v = arena_alloc(w->arena, c->n_facts * sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_facts; i++)
		v[i] = &c->facts[i];
	str_add(w->out, "\n");
	render_paint(w->out, w->o, PAINT_BOLD, "Facts");
	str_add(w->out, "\n");
	return compare_rows_render(w, v, c->n_facts);
}
