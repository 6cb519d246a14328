// SPDX-License-Identifier: MIT
/*
 * The text of predictions. A point's columns are sums of parts by the first word of their names;
 * the table below the points has every part of the last one. With two arms, each row has both.
 */
#include "cli/predict_print.h"

#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"
#include "cli/cli.h"

enum { GROUPS = 4 };
static const char *const groups[GROUPS] = { "data", "tlb", "walk", "host" };

static const struct series *headline(const struct measure *m)
{
	return &m->series[0]; /* predict_add_measure() puts it first */
}

static double value_of(const struct series *s)
{
	return s->form == FORM_EXACT ? (double)s->integers[0] : s->values[0];
}

static bool is_part_of(const struct series *s, const struct series *head)
{
	return s->part && strcmp(s->metric, head->metric) == 0;
}

/* Sum of the parts whose names begin with the group's, or (group GROUPS) with none of them. */
static double group_sum(const struct measure *m, unsigned group)
{
	const struct series *head = headline(m);
	double sum = 0;

	for (size_t i = 0; i < m->n_series; i++) {
		unsigned g = 0;

		if (!is_part_of(&m->series[i], head))
			continue;
		while (g < GROUPS && strncmp(m->series[i].part, groups[g], strlen(groups[g])) != 0)
			g++;
		sum += g == group ? value_of(&m->series[i]) : 0;
	}
	return sum;
}

static void number(struct str *out, double v, int width)
{
	char buf[UNITS_TEXT_BYTES];

	str_addf(out, " %*s", width, v == 0 ? "-" : format_digits(buf, v, v < 10 ? 3 : 4));
}

static void human(struct str *out, const char *unit, double v)
{
	char buf[UNITS_TEXT_BYTES];

	if (strcmp(unit, "bytes") == 0)
		str_add(out, format_size_human(buf, v));
	else if (strcmp(unit, "ns") == 0)
		str_add(out, format_time_human(buf, v));
	else
		str_addf(out, "%s %s", format_digits(buf, v, 4), unit);
}

static const char *unit_of(const struct run *r, const struct measure *m, const char *metric)
{
	const struct bench_schema *s = run_schema(r, m->bench);
	const struct metric *x = s ? schema_metric(s, metric) : NULL;

	return x ? x->unit : "";
}

/* "stride=32m+128 page=16k", without the inner parameter and what is at its default. */
static void setting_line(struct str *out, const struct run *r, const struct measure *m,
			 const char *inner)
{
	const struct bench_schema *s = run_schema(r, m->bench);
	size_t start = out->len;
	char size[UNITS_TEXT_BYTES];
	struct str one = { 0 };

	str_add(out, " ");
	for (size_t i = 0; i < m->setting.n; i++) {
		const struct attr *a = &m->setting.v[i];
		const struct param *p = s ? schema_param(s, a->name) : NULL;

		if ((inner && strcmp(a->name, inner) == 0) ||
		    (p && (p->type == PARAM_CPU ||
			   (a->kind == ATTR_TEXT && strcmp(a->text, p->def) == 0))))
			continue;
		str_clear(&one);
		if (p && p->type == PARAM_BYTES && a->kind == ATTR_INT)
			str_add(&one, format_size(size, (uint64_t)a->integer));
		else
			attr_format(&one, a);
		if (str_columns(out->data + start) + one.len + strlen(a->name) > 76) {
			str_add(out, "\n ");
			start = out->len - 1;
		}
		str_addf(out, " %s=%s", a->name, str_text(&one));
	}
	str_add(out, "\n");
	str_done(&one);
}

static const char *inner_of(const struct run *r, const struct measure *m)
{
	const struct bench_schema *s = run_schema(r, m->bench);
	const struct param *p = s ? schema_role(s, ROLE_INNER) : NULL;

	return p && attrs_find(&m->setting, p->name) ? p->name : NULL;
}

static void inner_text(struct str *out, const struct measure *m, const char *inner)
{
	const struct attr *a = inner ? attrs_find(&m->setting, inner) : NULL;
	char size[UNITS_TEXT_BYTES];

	if (!a)
		str_addf(out, "%10s", "");
	else if (strcmp(inner, "table") == 0)
		str_addf(out, "%10s", format_size(size, (uint64_t)a->integer));
	else
		str_addf(out, "%10jd", (intmax_t)a->integer);
}

static const struct series *find_part(const struct measure *m, const char *part)
{
	for (size_t i = 0; m && i < m->n_series; i++)
		if (is_part_of(&m->series[i], headline(m)) && strcmp(m->series[i].part, part) == 0)
			return &m->series[i];
	return NULL;
}

static void part_row(struct str *out, const char *unit, const struct series *s,
		     const struct series *after, double all, bool two)
{
	struct str text = { 0 };

	str_addf(out, "  %-28s ", s ? s->part : after->part);
	if (s)
		human(&text, unit, value_of(s));
	str_addf(out, "%14s", s ? str_text(&text) : "-");
	if (s)
		str_addf(out, " %6.1f%%", all > 0 ? 100 * value_of(s) / all : 0);
	else
		str_addf(out, " %7s", "");
	str_clear(&text);
	if (after)
		human(&text, unit, value_of(after));
	if (two)
		str_addf(out, " %14s", after ? str_text(&text) : "-");
	str_add(out, "\n");
	str_done(&text);
}

/* Every part of a point, and beside it, where there is one, of the point after the change. */
static void parts_table(struct str *out, const struct run *r, const struct measure *m,
			const struct measure *after)
{
	const struct series *head = headline(m);
	const char *unit = unit_of(r, m, head->metric);

	str_addf(out, "\n  %-28s %14s   share%s\n", "part",
		 after                        ? "before"
		 : strcmp(unit, "bytes") == 0 ? "bytes"
					      : "time",
		 after ? "          after" : "");
	for (size_t i = 0; i < m->n_series; i++)
		if (is_part_of(&m->series[i], head))
			part_row(out, unit, &m->series[i], find_part(after, m->series[i].part),
				 value_of(head), after != NULL);
	for (size_t i = 0; after && i < after->n_series; i++)
		if (is_part_of(&after->series[i], head) && !find_part(m, after->series[i].part))
			part_row(out, unit, NULL, &after->series[i], 0, true);
}

static void head_line(struct str *out, const struct run *r, const struct measure *m, bool two)
{
	const char *inner = inner_of(r, m);
	const struct series *head = headline(m);

	str_addf(out, "\n%10s %10s", inner ? inner : "", head->metric);
	if (two) {
		str_addf(out, " %10s %10s %8s\n", "after", "difference", "");
		return;
	}
	if (head->form != FORM_EXACT)
		for (unsigned g = 0; g < GROUPS; g++)
			str_addf(out, " %8s", groups[g]);
	str_addf(out, "%s\n", head->form == FORM_EXACT ? "" : "    other");
}

static void row(struct str *out, const struct run *r, const struct measure *m,
		const struct measure *after)
{
	const struct series *head = headline(m);
	const double v = value_of(head);
	struct str text = { 0 };

	inner_text(out, m, inner_of(r, m));
	if (head->form == FORM_EXACT && !after) {
		human(&text, unit_of(r, m, head->metric), v);
		str_addf(out, "   %s", str_text(&text));
	} else if (after) {
		const double w = value_of(headline(after));

		number(out, v, 10);
		number(out, w, 10);
		number(out, w - v, 10);
		str_addf(out, " %+7.1f%%", v > 0 ? 100 * (w / v - 1) : 0);
	} else {
		number(out, v, 10);
		for (unsigned g = 0; g <= GROUPS; g++)
			number(out, group_sum(m, g), 8);
	}
	str_add(out, "\n");
	str_done(&text);
}

static bool same_outer(const struct run *r, const struct measure *a, const struct measure *b)
{
	const char *inner = inner_of(r, a);

	if (strcmp(a->bench, b->bench) != 0 || a->setting.n != b->setting.n)
		return false;
	for (size_t i = 0; i < a->setting.n; i++) {
		const struct attr *x = &a->setting.v[i], *y = attrs_find(&b->setting, x->name);
		const struct attrs one = { (struct attr *)(uintptr_t)x, 1, 1 };
		struct attrs other = { 0 };

		if (inner && strcmp(x->name, inner) == 0)
			continue;
		if (!y)
			return false;
		other = (struct attrs){ (struct attr *)(uintptr_t)y, 1, 1 };
		if (!attrs_equal(&one, &other))
			return false;
	}
	return true;
}

static void about(struct str *out, const struct sim_machine *m)
{
	struct str text = { 0 };

	if (!m) {
		str_add(out, "predicted from geometry alone\n");
		return;
	}
	str_add(&text, "predicted for ");
	escape_terminal(&text, m->summary);
	cli_wrap_at(out, str_text(&text), 0, 2);
	str_done(&text);
	str_addf(out, "machine %s: %zu figures, %zu of them assumed\n", m->name, m->n_origins,
		 sim_machine_count_assumed(m));
}

static void notes(struct str *out, const struct run *r, const struct sim_machine *m,
		  const struct measure *last)
{
	const char *note = attrs_text(&last->proof, "note", NULL);
	bool far = false;

	for (size_t i = 0; i < r->n_measures; i++)
		for (size_t k = 0; k < r->measures[i].n_series; k++) {
			const char *part = r->measures[i].series[k].part;

			far = far || (part && strstr(part, ".far"));
		}
	if (note) {
		str_add(out, "\nnote: ");
		cli_wrap_at(out, note, 6, 6);
	}
	if (far && m) {
		str_add(out, "\n*.far is an optional component: ");
		escape_terminal(out, m->far_side.label);
		str_add(out, "\n(far-side=off leaves it out)\n");
	}
}

void predict_print(struct str *out, const struct run *r, const struct sim_machine *m)
{
	const struct measure *before = NULL;
	size_t half = r->n_measures;

	about(out, m);
	for (size_t i = 0; i < r->n_measures; i++)
		if (r->measures[i].arm && strcmp(r->measures[i].arm, "B") == 0 && i < half)
			half = i;
	for (size_t i = 0; i < half; i++) {
		const struct measure *a = &r->measures[i];
		const struct measure *b = half + i < r->n_measures ? &r->measures[half + i] : NULL;
		const bool last = i + 1 == half || !same_outer(r, a, &r->measures[i + 1]);

		if (!before || !same_outer(r, before, a)) {
			str_addf(out, "\n%s\n", a->bench);
			setting_line(out, r, a, inner_of(r, a));
			if (b) {
				str_add(out, "  after:\n");
				setting_line(out, r, b, inner_of(r, b));
			}
			head_line(out, r, a, b != NULL);
		}
		row(out, r, a, b);
		if (last)
			parts_table(out, r, a, b);
		before = a;
	}
	if (before)
		notes(out, r, m, before);
}

void predict_print_machines(struct str *out)
{
	str_addf(out, "%-20s %8s %8s  %s\n", "machine", "figures", "assumed", "what it is");
	for (const struct sim_embedded *x = sim_embedded_machines; x->name; x++) {
		struct sim_machine *m;

		if (sim_machine_read(x->data, x->n, &m, NULL) < 0)
			continue;
		str_addf(out, "%-20s %8zu %8zu  ", x->name, m->n_origins,
			 sim_machine_count_assumed(m));
		cli_wrap_at(out, m->summary, 40, 40);
		sim_machine_free(m);
	}
}
