// SPDX-License-Identifier: MIT
/*
 * Facts and points of a comparison as tables: both values, the difference with its interval, the
 * verdict. Points are grouped by benchmark and metric; of many only the telling ones are shown and
 * the rest is counted. Rows of a profile (one a symbol) are sorted by absolute difference.
 */
#include "report/compare_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "report/render.h"

enum {
	POINTS_MAX = 40, /* shown unless all are asked for */
	KEYS_MAX = 3,    /* parameters that get a column of their own */
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
	const char *id;  /* tells the unit in its name ("ref_ns"), or NULL */
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

static void set_value(struct rows *r, size_t row, size_t column, const struct compared *c,
		      double value)
{
	struct str text = { 0 };
	bool told = !c->unit || strstr(c->id, c->unit) || r->id;
	if (isnan(value))
		str_add(&text, "-");
	else
		render_value(&text, value, c->unit, r->digits, !told);
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

static void set_percent(struct rows *r, size_t row, const struct compared *c)
{
	struct str text = { 0 };
	if (isnan(c->percent)) {
		str_add(&text, isnan(c->a) || isnan(c->b) ? "" : "-");
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
	if (!r->col_difference || isnan(c->a) || isnan(c->b))
		return;
	if (c->b > c->a)
		str_add(&text, "+");
	if (c->unit && strcmp(c->unit, "bytes") == 0)
		render_value(&text, c->b - c->a, c->unit, r->digits, true);
	else
		render_difference(&text, c->b - c->a, larger, r->digits);
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

/* What the columns of a table depend on. */
struct shape {
	bool has_interval, has_verdict, is_profile;
	bool is_single; /* one invocation a side everywhere */
	size_t n_keys;  /* the same parameters in the same order, few enough for columns */
};

static bool has_same_names(const struct attrs *a, const struct attrs *b)
{
	bool same = a->n == b->n;
	for (size_t i = 0; same && i < a->n; i++)
		same = strcmp(a->v[i].name, b->v[i].name) == 0;
	return same;
}

/* A row of a kernel profile has its symbol among its conditions. */
static bool is_of_profile(const struct compared *c)
{
	return !c->is_fact && (attrs_find(&c->where, "symbol") || attrs_find(&c->where, "row"));
}

static struct shape shape_of(const struct compared *const *v, size_t n)
{
	struct shape s = { .n_keys = n && !v[0]->is_fact ? v[0]->where.n : 0, .is_profile = n > 0 };
	s.is_single = n > 0;
	for (size_t i = 0; i < n; i++) {
		s.has_interval = s.has_interval || !isnan(v[i]->low);
		s.has_verdict = s.has_verdict || v[i]->outcome != OUTCOME_DIFFERENCE;
		s.is_profile = s.is_profile && is_of_profile(v[i]);
		s.is_single = s.is_single && v[i]->n_a <= 1 && v[i]->n_b <= 1;
		if (!has_same_names(&v[0]->where, &v[i]->where))
			s.n_keys = 0;
	}
	if (s.n_keys > KEYS_MAX)
		s.n_keys = 0;
	return s;
}

static void key_columns(struct rows *r, const struct compared *first, struct shape s)
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

static const char *percent_title(const struct rows *r, struct shape s)
{
	char level[UNITS_TEXT_BYTES];
	if (!s.has_interval)
		return "%";
	return arena_printf(r->t.arena, "%% [%s %%]",
			    format_digits(level, 100 * r->w->c->level, 2));
}

static int render_rows(const struct compare_writer *w, const struct compared *const *v, size_t n)
{
	struct rows r = { .w = w };
	struct shape s = shape_of(v, n);
	table_init(&r.t, w->arena, w->o);
	r.t.indent = v[0]->is_fact ? 0 : 2; /* names of facts are long */
	r.t.rule = true;
	r.t.max_notes = NOTES_MAX;
	r.id = v[0]->is_fact ? NULL : v[0]->id;
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
	return render_rows(w, v, c->n_facts);
}

/* --- points --------------------------------------------------------------------------------- */

/* Which points to show first; what is equivalent tells least. */
static int interest(const struct compared *c)
{
	switch (c->outcome) {
	case OUTCOME_WORSE:
	case OUTCOME_BETTER:
		return 3;
	case OUTCOME_DIFFERENCE:
		return c->percent == 0 ? 0 : 2;
	case OUTCOME_INCONCLUSIVE:
		return 1;
	case OUTCOME_MISSING: /* points around knees differ from run to run */
	case OUTCOME_EQUIVALENT:
		break;
	}
	return 0;
}

/* What only one side has differs by all of it. */
static double difference_of(const struct compared *c)
{
	double d = fabs((isnan(c->b) ? 0 : c->b) - (isnan(c->a) ? 0 : c->a));
	return isnan(d) ? 0 : d;
}

/* Symbols have different sizes: there the absolute difference tells, elsewhere the relative one. */
static double weight(const struct compared *c)
{
	double d = is_of_profile(c) ? difference_of(c) : fabs(c->percent);
	return isnan(d) ? 0 : d;
}

/* Pointers of one array: their order is that of the comparison. */
static int by_interest(const void *x, const void *y)
{
	const struct compared *a = *(const struct compared *const *)x;
	const struct compared *b = *(const struct compared *const *)y;
	if (interest(a) != interest(b))
		return interest(b) - interest(a);
	if (weight(a) != weight(b))
		return weight(a) < weight(b) ? 1 : -1;
	return a < b ? -1 : a > b;
}

static int by_place(const void *x, const void *y)
{
	const struct compared *a = *(const struct compared *const *)x;
	const struct compared *b = *(const struct compared *const *)y;
	return a < b ? -1 : a > b;
}

static int by_difference(const void *x, const void *y)
{
	const struct compared *a = *(const struct compared *const *)x;
	const struct compared *b = *(const struct compared *const *)y;
	if (difference_of(a) != difference_of(b))
		return difference_of(a) < difference_of(b) ? 1 : -1;
	return by_place(x, y);
}

static bool is_same_group(const struct compared *a, const struct compared *b)
{
	const char *x = a->bench ? a->bench : "", *y = b->bench ? b->bench : "";
	return strcmp(x, y) == 0 && strcmp(a->id, b->id) == 0;
}

static int render_group(const struct compare_writer *w, const struct compared **v, size_t n)
{
	struct str title = { 0 };
	struct shape s = shape_of(v, n);
	str_addf(&title, "%s%s%s", v[0]->bench ? v[0]->bench : "", v[0]->bench ? ": " : "",
		 v[0]->id);
	if (v[0]->unit && !strstr(v[0]->id, v[0]->unit))
		str_addf(&title, " (%s)", v[0]->unit);
	if (s.is_profile) {
		str_add(&title, ", by absolute difference");
		qsort(v, n, sizeof(*v), by_difference);
	}
	if (!s.has_verdict)
		str_addf(&title, "; %sthe difference alone", s.is_single ? "single values: " : "");
	const char *clean = render_clean(w->arena, str_text(&title), w->o->utf8, 200);
	bool failed = title.failed || !clean;
	str_done(&title);
	if (failed)
		return -ENOMEM;
	str_add(w->out, "\n");
	render_wrap(w->out, clean, 0, 2, RENDER_WIDTH);
	return render_rows(w, v, n);
}

/* "312 more points: 300 equivalent, 12 inconclusive, none differs by more than 1.3 %: --all" */
static void rest_render(const struct compare_writer *w, const struct compared *const *v, size_t n)
{
	struct outcome_counts counts = { { 0 } };
	struct str text = { 0 };
	char digits[UNITS_TEXT_BYTES];
	double largest = 0;
	const char *sep = ": ";
	for (size_t i = 0; i < n; i++) {
		counts.n[v[i]->outcome]++;
		largest = fmax(largest, isnan(v[i]->percent) ? 0 : fabs(v[i]->percent));
	}
	str_addf(&text, "%zu more point%s", n, n == 1 ? "" : "s");
	for (size_t i = 0; i < OUTCOMES; i++) {
		const char *look = outcome_look((enum outcome)i);
		if (!counts.n[i])
			continue;
		/* within a sentence the mark says nothing */
		str_addf(&text, "%s%zu %s", sep, counts.n[i], look[1] == ' ' ? look + 2 : look);
		sep = ", ";
	}
	if (isfinite(largest))
		str_addf(&text, "; the largest difference of these is %s %%",
			 format_digits(digits, largest, 2));
	str_add(&text, ". All of them: --all");
	str_add(w->out, "\n");
	render_wrap(w->out, str_text(&text), 0, 0, RENDER_WIDTH);
	w->out->failed = w->out->failed || text.failed;
	str_done(&text);
}

/* Settings as people order them: numbers ascending, words by the alphabet, else the
 * order of the comparison, which is that of measuring and shuffled.
 */
static int compare_where(const struct compared *a, const struct compared *b)
{
	for (size_t i = 0; i < a->where.n && i < b->where.n; i++) {
		const struct attr *x = &a->where.v[i], *y = &b->where.v[i];
		if (x->kind != y->kind || strcmp(x->name, y->name) != 0)
			break;
		if (x->kind == ATTR_INT && x->integer != y->integer)
			return x->integer < y->integer ? -1 : 1;
		int words = x->kind == ATTR_TEXT ? strcmp(x->text, y->text) : 0;
		if (words)
			return words;
	}
	return a < b ? -1 : a > b;
}

/* Points that a table holds together: the comparison has all metrics of a setting in a row. */
struct grouped {
	const struct compared *c;
	size_t group; /* numbered by first appearance */
};

static int by_group(const void *x, const void *y)
{
	const struct grouped *a = x, *b = y;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return compare_where(a->c, b->c);
}

/* Sorts @v, which is in order of place, by groups. */
static int group_points(struct arena *arena, const struct compared **v, size_t n)
{
	struct grouped *g = arena_alloc(arena, (n + 1) * sizeof(*g));
	const struct compared **first = arena_alloc(arena, (n + 1) * sizeof(*first));
	size_t n_groups = 0;
	if (!g || !first)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;
		while (k < n_groups && !is_same_group(first[k], v[i]))
			k++;
		if (k == n_groups)
			first[n_groups++] = v[i];
		g[i] = (struct grouped){ v[i], k };
	}
	if (n)
		qsort(g, n, sizeof(*g), by_group);
	for (size_t i = 0; i < n; i++)
		v[i] = g[i].c;
	return 0;
}

/* The points to show, grouped: *ret_n of them, the rest behind. */
static const struct compared **choose_points(const struct compare_writer *w, size_t *ret_n)
{
	size_t n = w->c->n_points;
	const struct compared **v = arena_alloc(w->arena, (n + 1) * sizeof(*v));
	if (!v)
		return NULL;
	for (size_t i = 0; i < n; i++)
		v[i] = &w->c->points[i];
	if (!w->o->all && n > POINTS_MAX) {
		qsort(v, n, sizeof(*v), by_interest);
		n = POINTS_MAX;
		qsort(v, n, sizeof(*v), by_place);
	}
	*ret_n = n;
	return group_points(w->arena, v, n) < 0 ? NULL : v;
}

int compare_points_render(const struct compare_writer *w)
{
	const struct comparison *c = w->c;
	size_t n = 0;
	const struct compared **v = choose_points(w, &n);
	if (!v)
		return -ENOMEM;
	str_add(w->out, "\n");
	render_paint(w->out, w->o, PAINT_BOLD, "Points");
	if (n < c->n_points)
		str_addf(w->out, ", the %zu that tell most", n);
	str_add(w->out, "\n");
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && is_same_group(v[i], v[end]); end++)
			;
		int ret = render_group(w, v + i, end - i);
		if (ret < 0)
			return ret;
	}
	if (!n)
		str_add(w->out, "  none\n");
	if (n < c->n_points)
		rest_render(w, v + n, c->n_points - n);
	return 0;
}
