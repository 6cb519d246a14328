// SPDX-License-Identifier: MIT
/*
 * Tidy CSV (RFC 4180, lines end with LF): one row a value. The columns are described in
 * docs/json.md. Every row stands for itself, so that rows can be filtered and files concatenated
 * where the columns are the same.
 */
#include "report/report.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"
#include "record/attrs.h"
#include "report/render.h"

static const char *const before[] = { "run",     "bench",    "revision", "invocation",
				      "verdict", "unproven", NULL };
static const char *const after[] = { "metric",    "part",  "origin", "unit",   "form",
				     "statistic", "index", "value",  "reason", NULL };

static bool is_fixed(const char *name)
{
	for (size_t i = 0; before[i]; i++)
		if (strcmp(before[i], name) == 0)
			return true;
	for (size_t i = 0; after[i]; i++)
		if (strcmp(after[i], name) == 0)
			return true;
	return false;
}

/* Names of all parameters of the run: of the schemas, then what only settings have. */
static int collect_params(struct arena *a, const struct run *r, struct attrs *ret)
{
	/* A column of its own only where there are arms. */
	for (size_t i = 0; i < r->n_measures; i++)
		if (r->measures[i].arm && attrs_set_int(a, ret, "arm", 0) < 0)
			return -ENOMEM;
	for (size_t i = 0; i < r->n_schemas; i++)
		for (const struct param *p = r->schemas[i].params; p && p->name; p++)
			if (!attrs_find(ret, p->name) && attrs_set_int(a, ret, p->name, 0) < 0)
				return -ENOMEM;
	for (size_t i = 0; i < r->n_measures; i++) {
		const struct attrs *s = &r->measures[i].setting;
		for (size_t k = 0; k < s->n; k++)
			if (!attrs_find(ret, s->v[k].name) &&
			    attrs_set_int(a, ret, s->v[k].name, 0) < 0)
				return -ENOMEM;
	}
	return 0;
}

static void field(struct str *out, bool first, const char *text)
{
	if (!first)
		str_add(out, ",");
	escape_csv(out, text ? text : "");
}

static void attr_field(struct str *out, const struct attr *a)
{
	char buf[UNITS_TEXT_BYTES];
	str_add(out, ",");
	if (!a || a->kind == ATTR_NULL)
		return;
	if (a->kind == ATTR_INT)
		str_addf(out, "%lld", (long long)a->integer);
	else if (a->kind == ATTR_REAL)
		str_add(out, format_real(buf, a->real));
	else
		escape_csv(out, a->text);
}

/* What all rows of a measure begin with. */
static void measure_prefix(struct str *out, const struct run *r, const struct measure *m,
			   const struct attrs *params)
{
	const struct bench_schema *s = run_schema(r, m->bench);
	field(out, true, r->id);
	field(out, false, m->bench);
	str_add(out, ",");
	if (s)
		str_addf(out, "%u", s->revision);
	str_addf(out, ",%u", m->invocation);
	field(out, false, verdict_name(m->verdict));
	field(out, false, m->unproven);
	for (size_t i = 0; i < params->n; i++) {
		if (strcmp(params->v[i].name, "arm") == 0)
			field(out, false, m->arm);
		else
			attr_field(out, attrs_find(&m->setting, params->v[i].name));
	}
}

struct csv {
	struct str *out;
	const char *prefix; /* of the measure */
	const struct measure *measure;
	const struct series *series;
	const char *unit;
};

static void row(const struct csv *c, const char *part, const char *statistic, size_t index,
		const char *value, const char *reason)
{
	const struct series *s = c->series;
	str_add(c->out, c->prefix);
	field(c->out, false, s ? s->metric : "");
	field(c->out, false, part);
	field(c->out, false, s ? origin_name(s->origin) : "");
	field(c->out, false, c->unit);
	field(c->out, false, s ? series_form_name(s->form) : "");
	field(c->out, false, statistic);
	str_add(c->out, ",");
	if (*statistic)
		str_addf(c->out, "%zu", index);
	field(c->out, false, value);
	field(c->out, false, reason ? reason : c->measure->reason);
	str_add(c->out, "\n");
}

static void real_row(const struct csv *c, const char *part, const char *statistic, size_t index,
		     double v)
{
	char buf[UNITS_TEXT_BYTES];
	bool missing = !isfinite(v);
	row(c, part, statistic, index, missing ? "" : format_real(buf, v),
	    missing ? "not finite" : NULL);
}

static void integer_row(const struct csv *c, const char *statistic, int64_t v)
{
	struct str text = { 0 };
	str_addf(&text, "%lld", (long long)v);
	row(c, c->series->part, statistic, 0, str_text(&text), NULL);
	str_done(&text);
}

static void table_rows(const struct csv *c)
{
	const struct series *s = c->series;
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->n_columns; k++)
			real_row(c, s->keys[i], s->columns[k], i, s->cells[i * s->n_columns + k]);
}

static void series_rows(const struct csv *c)
{
	const struct series *s = c->series;
	if (s->null_reason || !s->n) {
		row(c, s->part, "", 0, "", s->null_reason ? s->null_reason : "no data");
		return;
	}
	switch (s->form) {
	case FORM_SAMPLES:
	case FORM_SUMMARY:
		for (size_t i = 0; i < s->n; i++)
			real_row(c, s->part, s->form == FORM_SAMPLES ? "sample" : "summary", i,
				 s->values[i]);
		break;
	case FORM_EXACT:
		integer_row(c, "exact", s->integers[0]);
		break;
	case FORM_COUNT:
		integer_row(c, "count", s->integers[0]);
		if (s->n > 1)
			integer_row(c, "exposure", s->integers[1]);
		break;
	case FORM_TABLE:
		table_rows(c);
		break;
	}
}

static void header_row(struct str *out, const struct attrs *params)
{
	for (size_t i = 0; before[i]; i++)
		field(out, i == 0, before[i]);
	for (size_t i = 0; i < params->n; i++) {
		struct str name = { 0 };
		/* a parameter never takes the name of one of our columns */
		str_addf(&name, "%s%s", is_fixed(params->v[i].name) ? "param." : "",
			 params->v[i].name);
		field(out, false, str_text(&name));
		str_done(&name);
	}
	for (size_t i = 0; after[i]; i++)
		field(out, false, after[i]);
	str_add(out, "\n");
}

int report_csv(struct str *out, const struct report *rep)
{
	const struct run *r = rep->run;
	struct arena a = { 0 };
	struct attrs params = { 0 };
	struct str prefix = { 0 };
	int ret = collect_params(&a, r, &params);
	if (ret == 0)
		header_row(out, &params);
	for (size_t i = 0; ret == 0 && i < r->n_measures; i++) {
		const struct measure *m = &r->measures[i];
		const struct bench_schema *s = run_schema(r, m->bench);
		struct csv c = { .out = out, .measure = m };
		str_clear(&prefix);
		measure_prefix(&prefix, r, m, &params);
		c.prefix = str_text(&prefix);
		for (size_t k = 0; k < m->n_series; k++) {
			const struct metric *metric =
				s ? schema_metric(s, m->series[k].metric) : NULL;
			c.series = &m->series[k];
			c.unit = metric ? metric->unit : "";
			series_rows(&c);
		}
		if (!m->n_series)
			row(&c, "", "", 0, "", NULL);
		if (prefix.failed)
			ret = -ENOMEM;
	}
	str_done(&prefix);
	arena_done(&a);
	return ret < 0 ? ret : out->failed ? -ENOMEM : 0;
}

static void real_field(struct str *out, double v)
{
	char buf[UNITS_TEXT_BYTES];
	field(out, false, isfinite(v) ? format_real(buf, v) : "");
}

int report_facts_csv(struct str *out, const struct report *rep)
{
	static const char *const agreement[] = {
		[AGREE_UNKNOWN] = "", [AGREE_YES] = "agrees", [AGREE_NO] = "differs"
	};
	struct str where = { 0 };
	str_add(out, "run,fact,where,unit,value,ci95_low,ci95_high,nominal,advertised,agreement,"
		     "reason,interval_reason,method,method_revision,note\n");
	for (size_t i = 0; i < rep->facts.n; i++) {
		const struct fact *f = &rep->facts.v[i];
		str_clear(&where);
		attrs_format(&where, &f->where);
		field(out, true, rep->run->id);
		field(out, false, f->id);
		field(out, false, str_text(&where));
		field(out, false, f->unit);
		real_field(out, f->value);
		real_field(out, f->low);
		real_field(out, f->high);
		real_field(out, f->nominal);
		real_field(out, f->advertised);
		field(out, false, agreement[fact_agreement(rep, f)]);
		field(out, false, f->reason);
		field(out, false, f->interval_reason);
		field(out, false, f->method);
		str_addf(out, ",%u", f->method_revision);
		field(out, false, f->note);
		str_add(out, "\n");
	}
	out->failed = out->failed || where.failed;
	str_done(&where);
	return out->failed ? -ENOMEM : 0;
}
