// SPDX-License-Identifier: MIT
/*
 * A comparison as one JSON document; keys in docs/json.md. Missing numbers are null, and so is an
 * end of an interval that is open.
 */
#include "report/compare_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <jansson.h>

#include "base/escape.h"
#include "record/json.h"
#include "report/call_table.h"

enum { COMPARISON_JSON_VERSION = 1 };

static json_t *text_or_null(const char *text)
{
	struct str clean = { 0 };
	if (!text)
		return json_null();
	escape_utf8(&clean, text);
	json_t *j = clean.failed ? NULL : json_string(str_text(&clean));
	str_done(&clean);
	return j;
}

/* Takes over @value, also when it fails. */
static int put(json_t *o, const char *key, json_t *value)
{
	return value ? json_object_set_new(o, key, value) : -1;
}

/* Takes over @o. */
static json_t *unless(bool bad, json_t *o)
{
	if (!bad)
		return o;
	json_decref(o);
	return NULL;
}

static json_t *json_from_run(const struct run *r)
{
	json_t *o = json_object();
	int bad = !o;
	bad = bad || put(o, "id", text_or_null(r->id));
	bad = bad || put(o, "label", text_or_null(r->label));
	bad = bad || put(o, "source", text_or_null(r->source));
	bad = bad || put(o, "origin", text_or_null(origin_name(r->origin)));
	bad = bad || put(o, "command", text_or_null(r->command));
	bad = bad || put(o, "boot_id", text_or_null(r->boot_id));
	bad = bad || put(o, "start_unix_ns",
			 r->start_unix_ns > 0 ? json_integer(r->start_unix_ns) : json_null());
	bad = bad || put(o, "complete", json_boolean(r->has_footer && r->complete));
	bad = bad || put(o, "fingerprint", json_from_attrs(&r->fingerprint));
	return unless(bad, o);
}

static json_t *json_from_side(const char *name, bool one_boot, const struct run *const *runs,
			      size_t n)
{
	json_t *o = json_object(), *list = json_array();
	int bad = !o || !list;
	for (size_t i = 0; !bad && i < n; i++)
		bad = json_array_append_new(list, json_from_run(runs[i]));
	bad = bad || put(o, "name", text_or_null(name));
	bad = bad || put(o, "one_boot", json_boolean(one_boot));
	bad = bad || json_object_set(o, "runs", list);
	json_decref(list);
	return unless(bad, o);
}

static json_t *json_from_differences(const struct comparison *c)
{
	json_t *list = json_array();
	for (size_t i = 0; list && i < c->n_environment; i++) {
		const struct environment_difference *d = &c->environment[i];
		json_t *o = json_object();
		int bad = !o;
		bad = bad || put(o, "name", text_or_null(d->name));
		bad = bad || put(o, "a", text_or_null(d->a));
		bad = bad || put(o, "b", text_or_null(d->b));
		bad = bad || put(o, "is_fingerprint", json_boolean(d->is_fingerprint));
		bad = bad || put(o, "is_factor", json_boolean(d->is_factor));
		o = unless(bad, o);
		list = unless(json_array_append_new(list, o), list);
	}
	return list;
}

static json_t *json_from_compared(const struct compared *c)
{
	json_t *o = json_object();
	int bad = !o;
	if (!c->is_fact)
		bad = bad || put(o, "bench", text_or_null(c->bench));
	bad = bad || put(o, c->is_fact ? "id" : "metric", text_or_null(c->id));
	bad = bad || put(o, "where", json_from_attrs(&c->where));
	bad = bad || put(o, "unit", text_or_null(c->unit));
	bad = bad ||
	      put(o, "a", c->is_integer ? json_integer(c->integer_a) : json_real_or_null(c->a));
	bad = bad ||
	      put(o, "b", c->is_integer ? json_integer(c->integer_b) : json_real_or_null(c->b));
	bad = bad || put(o, "percent", json_real_or_null(c->percent));
	bad = bad || put(o, "percent_low", json_real_or_null(c->low));
	bad = bad || put(o, "percent_high", json_real_or_null(c->high));
	if (call_table_is_call(c->bench))
		bad = bad ||
		      put(o, "improvement_percent", json_real_or_null(call_table_improvement(c)));
	bad = bad || put(o, "p", json_real_or_null(c->p));
	bad = bad || put(o, "p_adjusted", json_real_or_null(c->p_adjusted));
	bad = bad || put(o, "n_a", json_integer((json_int_t)c->n_a));
	bad = bad || put(o, "n_b", json_integer((json_int_t)c->n_b));
	bad = bad || put(o, "outcome", text_or_null(outcome_name(c->outcome)));
	bad = bad || put(o, "reason", text_or_null(c->reason));
	bad = bad || put(o, "bimodal_a", json_boolean(c->bimodal_a));
	bad = bad || put(o, "bimodal_b", json_boolean(c->bimodal_b));
	return unless(bad, o);
}

static json_t *json_from_list(const struct compared *v, size_t n)
{
	json_t *list = json_array();
	for (size_t i = 0; list && i < n; i++)
		list = unless(json_array_append_new(list, json_from_compared(&v[i])), list);
	return list;
}

static json_t *json_from_counts(const struct compared *v, size_t n)
{
	struct outcome_counts counts = outcomes_count(v, n);
	json_t *o = json_object();
	for (size_t i = 0; o && i < OUTCOMES; i++)
		o = unless(put(o, outcome_name((enum outcome)i),
			       json_integer((json_int_t)counts.n[i])),
			   o);
	return o;
}

static json_t *json_from_how(const struct comparison *c)
{
	const size_t n = sizeof(c->how) / sizeof(*c->how);
	json_t *list = json_array();
	for (size_t i = 0; list && i < n && c->how[i]; i++)
		list = unless(json_array_append_new(list, text_or_null(c->how[i])), list);
	return list;
}

int report_comparison_json(struct str *out, const struct comparison *c)
{
	return report_comparison_json_of(out, c, NULL);
}

int report_comparison_json_of(struct str *out, const struct comparison *c,
			      const struct comparison_subject *s)
{
	json_t *doc = json_object();
	int bad = !doc;
	bad = bad || put(doc, "format", json_string("pagetoll-comparison"));
	bad = bad || put(doc, "format_version", json_integer(COMPARISON_JSON_VERSION));
	bad = bad || put(doc, "a",
			 json_from_side(c->name_a, c->one_boot_a, s ? s->a : NULL, s ? s->n_a : 0));
	bad = bad || put(doc, "b",
			 json_from_side(c->name_b, c->one_boot_b, s ? s->b : NULL, s ? s->n_b : 0));
	bad = bad || put(doc, "factor", text_or_null(c->factor));
	bad = bad || put(doc, "between_runs", json_boolean(c->between_runs));
	bad = bad || put(doc, "run_spread_ratio", json_real_or_null(c->run_spread));
	bad = bad || put(doc, "threshold_ratio", json_real_or_null(c->threshold));
	bad = bad || put(doc, "level", json_real_or_null(c->level));
	bad = bad || put(doc, "overall", text_or_null(outcome_name(comparison_overall(c))));
	bad = bad || put(doc, "n_facts", json_from_counts(c->facts, c->n_facts));
	bad = bad || put(doc, "n_points", json_from_counts(c->points, c->n_points));
	bad = bad || put(doc, "environment", json_from_differences(c));
	bad = bad || put(doc, "environment_note", text_or_null(c->environment_note));
	bad = bad || put(doc, "facts", json_from_list(c->facts, c->n_facts));
	bad = bad || put(doc, "points", json_from_list(c->points, c->n_points));
	bad = bad || put(doc, "how", json_from_how(c));
	char *text = bad ? NULL : json_dumps(doc, JSON_INDENT(1));
	json_decref(doc);
	if (!text)
		return -ENOMEM;
	str_add(out, text);
	str_add(out, "\n");
	free(text);
	return out->failed ? -ENOMEM : 0;
}
