/* SPDX-License-Identifier: MIT */
/*
 * Record to JSON. Keys and their meaning: docs/run-file.md, which a test compares with this file.
 * Text that is not UTF-8 (a command line may hold any bytes) is made valid rather than refused.
 */
#include "record/json.h"

#include <inttypes.h>
#include <math.h>

#include "base/escape.h"
#include "base/units.h"

json_t *json_text_or_null(const char *s)
{
	struct str clean = { 0 };
	json_t *j;

	if (!s)
		return json_null();
	j = json_string(s);
	if (j)
		return j;
	escape_utf8(&clean, s);
	j = clean.failed ? NULL : json_string(str_text(&clean));
	str_done(&clean);
	return j;
}

int json_put(json_t *object, const char *key, json_t *value)
{
	struct str clean = { 0 };
	int rc;

	if (!value)
		return -1;
	escape_utf8(&clean, key);
	rc = clean.failed ? -1 : json_object_set(object, str_text(&clean), value);
	str_done(&clean);
	json_decref(value);
	return rc;
}

json_t *json_unless(bool is_bad, json_t *o)
{
	if (!is_bad)
		return o;
	json_decref(o);
	return NULL;
}

/* Leaves out what is not there. */
static int put_text_if(json_t *object, const char *key, const char *s)
{
	return s ? json_put(object, key, json_text_or_null(s)) : 0;
}

/* @object, or NULL when anything in it failed. */
static json_t *whole(json_t *object, int failed)
{
	if (object && failed) {
		json_decref(object);
		return NULL;
	}
	return object;
}

json_t *json_real_or_null(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

/* An unknown value with its reason. */
static json_t *unknown(const char *reason)
{
	json_t *o = json_object();

	return whole(o, json_put(o, "value", json_null()) |
				json_put(o, "reason", json_text_or_null(reason)));
}

static json_t *from_attr(const struct attr *a)
{
	switch (a->kind) {
	case ATTR_TEXT:
		return json_text_or_null(a->text);
	case ATTR_INT:
		return json_integer(a->integer);
	case ATTR_REAL:
		return isfinite(a->real) ? json_real(a->real) : unknown("not finite");
	case ATTR_NULL:
		return unknown(a->text);
	}
	return NULL;
}

json_t *json_from_attrs(const struct attrs *at)
{
	json_t *o = json_object();
	int failed = 0;
	size_t i;

	for (i = 0; i < at->n; i++)
		failed |= json_put(o, at->v[i].name, from_attr(&at->v[i]));
	return whole(o, failed);
}

json_t *json_from_finding(const struct finding *f)
{
	json_t *o = json_object();
	int failed = 0;

	failed |= json_put(o, "id", json_text_or_null(f->id));
	failed |= json_put(o, "severity", json_text_or_null(severity_name(f->severity)));
	failed |= json_put(o, "what", json_text_or_null(f->what));
	failed |= put_text_if(o, "effect", f->effect);
	failed |= put_text_if(o, "remedy", f->remedy);
	return whole(o, failed);
}

json_t *json_from_fact(const struct fact *f)
{
	json_t *o = json_object();
	int failed = 0;

	failed |= json_put(o, "id", json_text_or_null(f->id));
	failed |= json_put(o, "where", json_from_attrs(&f->where));
	failed |= json_put(o, "unit", json_text_or_null(f->unit));
	failed |= json_put(o, "value", json_real_or_null(f->value));
	failed |= put_text_if(o, "reason", f->reason);
	failed |= json_put(o, "ci95_low", json_real_or_null(f->low));
	failed |= json_put(o, "ci95_high", json_real_or_null(f->high));
	failed |= put_text_if(o, "interval_reason", f->interval_reason);
	failed |= json_put(o, "nominal", json_real_or_null(f->nominal));
	failed |= json_put(o, "advertised", json_real_or_null(f->advertised));
	failed |= json_put(o, "method", json_text_or_null(f->method));
	failed |= json_put(o, "method_revision", json_integer(f->method_revision));
	failed |= put_text_if(o, "note", f->note);
	return whole(o, failed);
}

static json_t *from_texts(const char *const *v, size_t n)
{
	json_t *array = json_array();
	int failed = 0;
	size_t i;

	for (i = 0; i < n; i++)
		failed |= json_array_append_new(array, json_text_or_null(v[i]));
	return whole(array, failed);
}

static json_t *from_param(const struct param *p)
{
	json_t *o = json_object();
	int failed = 0;
	size_t n = 0;

	failed |= json_put(o, "name", json_text_or_null(p->name));
	failed |= put_text_if(o, "summary", p->summary);
	failed |= json_put(o, "type", json_text_or_null(param_type_name(p->type)));
	failed |= json_put(o, "role", json_text_or_null(param_role_name(p->role)));
	failed |= put_text_if(o, "default", p->def);
	if (p->choices) {
		while (p->choices[n])
			n++;
		failed |= json_put(o, "choices", from_texts(p->choices, n));
	}
	if (p->type == PARAM_COUNT || p->type == PARAM_BYTES) {
		/* JSON integers end at 2^63 - 1 here: a larger limit is none. */
		if (p->min <= INT64_MAX)
			failed |= json_put(o, "min", json_integer((json_int_t)p->min));
		if (p->max <= INT64_MAX)
			failed |= json_put(o, "max", json_integer((json_int_t)p->max));
	}
	return whole(o, failed);
}

static json_t *from_metric(const struct metric *m)
{
	json_t *o = json_object();
	int failed = 0;

	failed |= json_put(o, "name", json_text_or_null(m->name));
	failed |= put_text_if(o, "summary", m->summary);
	failed |= json_put(o, "unit", json_text_or_null(m->unit));
	failed |= json_put(o, "better", json_text_or_null(better_name(m->better)));
	failed |= json_put(o, "estimator", json_text_or_null(estimator_name(m->estimator)));
	failed |= json_put(o, "form", json_text_or_null(series_form_name(m->form)));
	return whole(o, failed);
}

static json_t *from_schema(const struct bench_schema *s)
{
	json_t *o = json_object(), *params = json_array(), *metrics = json_array();
	const struct metric *m;
	const struct param *p;
	int failed = 0;

	for (p = s->params; p && p->name; p++)
		failed |= json_array_append_new(params, from_param(p));
	for (m = s->metrics; m && m->name; m++)
		failed |= json_array_append_new(metrics, from_metric(m));
	failed |= json_put(o, "name", json_text_or_null(s->name));
	failed |= put_text_if(o, "summary", s->summary);
	failed |= json_put(o, "revision", json_integer(s->revision));
	failed |= json_put(o, "params", params);
	failed |= json_put(o, "metrics", metrics);
	return whole(o, failed);
}

static json_t *from_findings(const struct finding *v, size_t n)
{
	json_t *array = json_array();
	int failed = 0;
	size_t i;

	for (i = 0; i < n; i++)
		failed |= json_array_append_new(array, json_from_finding(&v[i]));
	return whole(array, failed);
}

json_t *json_from_environment(const struct environment *v)
{
	json_t *o = json_object();
	int failed = 0;

	failed |= put_text_if(o, "arm", v->arm);
	failed |= put_text_if(o, "boot_id", v->boot_id);
	failed |= json_put(o, "start_unix_ns", json_integer(v->start_unix_ns));
	failed |= json_put(o, "fingerprint", json_from_attrs(&v->fingerprint));
	failed |= json_put(o, "context", json_from_attrs(&v->context));
	failed |= json_put(o, "findings", from_findings(v->findings, v->n_findings));
	return whole(o, failed);
}

json_t *json_from_header(const struct run *r)
{
	json_t *o = json_object(), *benches = json_array();
	int failed = 0;
	size_t i;

	for (i = 0; i < r->n_schemas; i++)
		failed |= json_array_append_new(benches, from_schema(&r->schemas[i]));
	failed |= json_put(o, "schema_version", json_integer(r->schema_version));
	failed |= json_put(o, "id", json_text_or_null(r->id));
	failed |= json_put(o, "source", json_text_or_null(r->source));
	failed |= put_text_if(o, "label", r->label);
	failed |= json_put(o, "origin", json_text_or_null(origin_name(r->origin)));
	failed |= put_text_if(o, "version", r->version);
	failed |= put_text_if(o, "command", r->command);
	failed |= put_text_if(o, "preset", r->preset);
	failed |= put_text_if(o, "boot_id", r->boot_id);
	failed |= json_put(o, "start_unix_ns", json_integer(r->start_unix_ns));
	failed |= json_put(o, "fingerprint", json_from_attrs(&r->fingerprint));
	failed |= json_put(o, "context", json_from_attrs(&r->context));
	failed |= json_put(o, "findings", from_findings(r->findings, r->n_findings));
	failed |= json_put(o, "benches", benches);
	return whole(o, failed);
}

static json_t *from_table(const struct series *s)
{
	json_t *rows = json_array();
	int failed = 0;
	size_t i, j;

	for (i = 0; i < s->n; i++) {
		json_t *row = json_array();

		failed |= json_array_append_new(row, json_text_or_null(s->keys[i]));
		for (j = 0; j < s->n_columns; j++)
			failed |= json_array_append_new(
				row, json_real_or_null(s->cells[i * s->n_columns + j]));
		failed |= json_array_append_new(rows, row);
	}
	return whole(rows, failed);
}

static json_t *from_values(const struct series *s)
{
	bool whole_numbers = s->form == FORM_EXACT || s->form == FORM_COUNT;
	json_t *array = json_array();
	int failed = 0;
	size_t i;

	for (i = 0; i < s->n; i++)
		failed |= json_array_append_new(array, whole_numbers
							       ? json_integer(s->integers[i])
							       : json_real_or_null(s->values[i]));
	return whole(array, failed);
}

/* How many values that must be finite are not: all but the interval of a summary. */
static size_t count_not_finite(const struct series *s)
{
	size_t n = 0, i, checked = 0;

	if (s->form == FORM_SAMPLES)
		checked = s->n;
	else if (s->form == FORM_SUMMARY)
		checked = s->n ? 1 : 0;
	for (i = 0; i < checked; i++)
		n += isfinite(s->values[i]) ? 0 : 1;
	return n;
}

static json_t *from_series(const struct series *s)
{
	json_t *o = json_object();
	const char *reason = s->null_reason;
	size_t not_finite;
	char buf[80];
	int failed = 0;

	if (!reason && s->n == 0)
		reason = "no values";
	not_finite = reason ? 0 : count_not_finite(s);
	if (not_finite) {
		snprintf(buf, sizeof(buf), "%zu of %zu values are not finite", not_finite, s->n);
		reason = buf;
	}
	failed |= json_put(o, "metric", json_text_or_null(s->metric));
	failed |= put_text_if(o, "part", s->part);
	failed |= json_put(o, "origin", json_text_or_null(origin_name(s->origin)));
	failed |= json_put(o, "form", json_text_or_null(series_form_name(s->form)));
	if (reason) {
		failed |= json_put(o, "values", json_null());
		failed |= json_put(o, "reason", json_text_or_null(reason));
	} else if (s->form == FORM_TABLE) {
		failed |= json_put(o, "columns", from_texts(s->columns, s->n_columns));
		failed |= json_put(o, "rows", from_table(s));
	} else {
		failed |= json_put(o, "values", from_values(s));
	}
	return whole(o, failed);
}

json_t *json_from_measure(const struct measure *m)
{
	json_t *o = json_object(), *series = json_array();
	int failed = 0;
	size_t i;

	for (i = 0; i < m->n_series; i++)
		failed |= json_array_append_new(series, from_series(&m->series[i]));
	failed |= json_put(o, "bench", json_text_or_null(m->bench));
	failed |= put_text_if(o, "arm", m->arm);
	failed |= put_text_if(o, "boot_id", m->boot_id);
	failed |= json_put(o, "invocation", json_integer(m->invocation));
	failed |= json_put(o, "setting", json_from_attrs(&m->setting));
	failed |= json_put(o, "verdict", json_text_or_null(verdict_name(m->verdict)));
	failed |= put_text_if(o, "reason", m->reason);
	failed |= put_text_if(o, "unproven", m->unproven);
	failed |= json_put(o, "proof", json_from_attrs(&m->proof));
	failed |= json_put(o, "taints", json_from_attrs(&m->taints));
	failed |= json_put(o, "series", series);
	failed |= json_put(o, "start_unix_ns", json_integer(m->start_unix_ns));
	failed |= json_put(o, "duration_ns", json_integer(m->duration_ns));
	return whole(o, failed);
}

json_t *json_from_footer(const struct run *r)
{
	json_t *o = json_object();
	int failed = 0;

	failed |= json_put(o, "complete", json_boolean(r->complete));
	failed |= put_text_if(o, "stop_reason", r->stop_reason);
	failed |= json_put(o, "end_unix_ns", json_integer(r->end_unix_ns));
	return whole(o, failed);
}
