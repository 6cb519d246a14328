// SPDX-License-Identifier: MIT
/* What stands in a table of curves, before anybody thinks of its layout. */
#include "report/curve_sheet.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "report/render.h"

struct curve_value *sheet_value(const struct sheet *s, size_t metric, size_t row, size_t curve)
{
	return &s->values[(metric * s->n_rows + row) * s->g->n + curve];
}

/* --- what stands in the sheet --- */

/* Units stand in titles, where a line break would be one. */
static const char *clean_unit(const struct sheet *s, const char *unit)
{
	const char *ret = unit ? render_clean(s->arena, unit, s->o->utf8, HEAD_MAX) : NULL;
	return ret ? ret : "";
}

/* The one asked for, or the headline and every further metric that is better in one direction. */
static void choose_metrics(struct sheet *s)
{
	const struct metric *m = s->g->schema ? s->g->schema->metrics : NULL;
	if (s->only) {
		m = schema_metric(s->g->schema, s->only);
		s->metrics[0] = m->name;
		s->units[0] = clean_unit(s, m->unit);
		s->n_metrics = 1;
		return;
	}
	for (size_t i = 0; m && m[i].name && s->n_metrics < METRICS_MAX; i++) {
		if (i && m[i].better == BETTER_NONE)
			continue;
		s->metrics[s->n_metrics] = m[i].name;
		s->units[s->n_metrics++] = clean_unit(s, m[i].unit);
	}
	for (size_t c = 0; c < s->g->n && !s->n_metrics; c++)
		for (size_t p = 0; p < s->g->curves[c]->n && !s->n_metrics; p++) {
			const struct measure *first = s->g->curves[c]->points[p]->measures[0];
			if (!first->n_series)
				continue;
			s->metrics[0] = first->series[0].metric;
			s->units[0] = clean_unit(s, s->metrics[0]);
			s->n_metrics = 1;
		}
}

static double inner_number(const struct attr *a)
{
	if (!a)
		return NAN;
	return a->kind == ATTR_INT ? (double)a->integer : a->kind == ATTR_REAL ? a->real : NAN;
}

static bool same_row(const struct attr *a, const struct attr *b)
{
	double x = inner_number(a), y = inner_number(b);
	if (!isnan(x) || !isnan(y))
		return x == y;
	return strcmp(a->text ? a->text : "", b->text ? b->text : "") == 0;
}

/* The union of the curves' inner values; texts stay in order of appearance, behind the numbers. */
static int collect_rows(struct sheet *s)
{
	size_t cap = 0;
	for (size_t c = 0; c < s->g->n; c++) {
		for (size_t p = 0; p < s->g->curves[c]->n; p++) {
			const struct attr *a =
				attrs_find(s->g->curves[c]->points[p]->setting, s->g->inner);
			size_t at = 0;
			while (a && at < s->n_rows && !same_row(s->rows[at], a))
				at++;
			if (!a || at < s->n_rows)
				continue;
			if (arena_grow(s->arena, &s->rows, s->n_rows, &cap, sizeof(*s->rows)) < 0)
				return -ENOMEM;
			while (at && inner_number(s->rows[at - 1]) > inner_number(a)) {
				s->rows[at] = s->rows[at - 1];
				at--;
			}
			s->rows[at] = a;
			s->n_rows++;
		}
	}
	return 0;
}

static const struct point *point_of(const struct sheet *s, size_t row, size_t curve)
{
	const struct curve_points *c = s->g->curves[curve];
	if (!s->g->inner)
		return row == curve && c->n ? c->points[0] : NULL;
	for (size_t i = 0; i < c->n; i++) {
		const struct attr *a = attrs_find(c->points[i]->setting, s->g->inner);
		if (a && same_row(a, s->rows[row]))
			return c->points[i];
	}
	return NULL;
}

/* "system_ns" in seconds is "system s". */
static const char *metric_title(const struct sheet *s, const char *name, const char *unit)
{
	size_t n = strlen(name), k = strlen("_ns");
	if (n > k && strcmp(name + n - k, "_ns") == 0)
		name = arena_printf(s->arena, "%.*s %s", (int)(n - k), name, unit);
	return name ? render_clean(s->arena, name, s->o->utf8, HEAD_MAX) : NULL;
}

/* Times in the unit that suits the smallest value of the metric. */
static int scale_times(struct sheet *s)
{
	memcpy(s->raw_units, s->units, sizeof(s->raw_units));
	for (size_t m = 0; m < s->n_metrics; m++) {
		struct curve_value *v = &s->values[m * s->n_rows * s->g->n];
		double least = INFINITY, divisor;
		for (size_t i = 0; i < s->n_rows * s->g->n; i++)
			if (fabs(v[i].value) < least)
				least = fabs(v[i].value);
		divisor = render_time_scale(least, s->units[m], &s->units[m]);
		for (size_t i = 0; i < s->n_rows * s->g->n; i++) {
			v[i].value /= divisor;
			v[i].low /= divisor;
			v[i].high /= divisor;
		}
		s->titles[m] = metric_title(s, s->metrics[m], s->units[m]);
		if (!s->titles[m])
			return -ENOMEM;
	}
	return 0;
}

/* Forgets further metrics that have no value anywhere: JSON has their reasons. */
static void drop_empty_metrics(struct sheet *s)
{
	for (size_t m = s->n_metrics; m-- > 1;) {
		size_t n = 0;
		for (size_t i = 0; i < s->n_rows * s->g->n; i++)
			n += isnan(s->values[m * s->n_rows * s->g->n + i].value) ? 0 : 1;
		if (n)
			continue;
		/* the values of later metrics move down */
		for (size_t k = m; k + 1 < s->n_metrics; k++) {
			memcpy(&s->values[k * s->n_rows * s->g->n],
			       &s->values[(k + 1) * s->n_rows * s->g->n],
			       s->n_rows * s->g->n * sizeof(*s->values));
			s->metrics[k] = s->metrics[k + 1];
			s->units[k] = s->units[k + 1];
		}
		s->n_metrics--;
	}
}

static int fill_values(struct sheet *s)
{
	s->values = arena_alloc(s->arena,
				(s->n_metrics * s->n_rows * s->g->n + 1) * sizeof(*s->values));
	if (!s->values)
		return -ENOMEM;
	for (size_t m = 0; m < s->n_metrics; m++)
		for (size_t r = 0; r < s->n_rows; r++)
			for (size_t c = 0; c < s->g->n; c++) {
				struct curve_value *v = sheet_value(s, m, r, c);
				if (curve_value_read(s->arena, s->rep->run, s->g->schema,
						     s->g->curves[c], point_of(s, r, c),
						     s->metrics[m], v) < 0)
					return -ENOMEM;
				s->has_interval = s->has_interval || !isnan(v->low);
			}
	drop_empty_metrics(s);
	return scale_times(s);
}

const char *sheet_param(const struct sheet *s, size_t curve, const char *name)
{
	const struct attr *a = attrs_find(&s->g->curves[curve]->outer, name);
	struct str text = { 0 };
	if (a)
		render_param(&text, s->g->schema, a);
	const char *ret =
		text.failed ? NULL : render_clean(s->arena, str_text(&text), s->o->utf8, 0);
	str_done(&text);
	return ret ? ret : "";
}

const char *sheet_name(const struct sheet *s, const char *name)
{
	const char *ret = render_clean(s->arena, name, s->o->utf8, 2 * HEAD_MAX);
	return ret ? ret : "";
}

static void choose_legend(struct sheet *s)
{
	for (size_t c = 0; c < s->g->n; c++)
		for (size_t i = 0; i < s->g->n_differing; i++)
			if (str_columns(sheet_param(s, c, s->g->differing[i])) > HEAD_MAX ||
			    str_columns(s->g->differing[i]) > HEAD_MAX)
				s->legend = true;
}

/* Two curves that differ in one parameter make a pair; distance is remote minus local. */
static void find_pair(struct sheet *s)
{
	if (!s->g->inner || s->g->n != 2 || s->g->n_differing != 1)
		return;
	const struct param *p =
		s->g->schema ? schema_param(s->g->schema, s->g->differing[0]) : NULL;
	bool both = s->g->curves[0]->n && s->g->curves[1]->n;
	bool turned = strcmp(sheet_param(s, 0, s->g->differing[0]), "remote") == 0;
	/* a placement that could not be had shows its reason in all columns */
	s->has_pair = both || (p && p->type == PARAM_NODE);
	s->from = turned ? 0 : 1;
	s->minus = turned ? 1 : 0;
}

int sheet_fill(struct sheet *s)
{
	int ret = 0;
	choose_metrics(s);
	choose_legend(s);
	find_pair(s);
	if (s->g->inner)
		ret = collect_rows(s);
	else
		s->n_rows = s->g->n;
	return ret < 0 ? ret : fill_values(s);
}
