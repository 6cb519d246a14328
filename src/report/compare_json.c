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

#include "record/json.h"
#include "report/call_table.h"

enum { COMPARISON_JSON_VERSION = 1 };

static json_t *json_from_run(const struct run *r)
{
	json_t *o = json_object();
	int bad = !o;
	bad = bad || json_put(o, "id", json_text_or_null(r->id));
	bad = bad || json_put(o, "label", json_text_or_null(r->label));
	bad = bad || json_put(o, "source", json_text_or_null(r->source));
	bad = bad || json_put(o, "origin", json_text_or_null(origin_name(r->origin)));
	bad = bad || json_put(o, "command", json_text_or_null(r->command));
	bad = bad || json_put(o, "boot_id", json_text_or_null(r->boot_id));
	bad = bad || json_put(o, "start_unix_ns",
			      r->start_unix_ns > 0 ? json_integer(r->start_unix_ns) : json_null());
	bad = bad || json_put(o, "complete", json_boolean(r->has_footer && r->complete));
	bad = bad || json_put(o, "fingerprint", json_from_attrs(&r->fingerprint));
	return json_unless(bad, o);
}

static json_t *json_from_side(const char *name, bool one_boot, const struct run *const *runs,
			      size_t n)
{
	json_t *o = json_object(), *list = json_array();
	int bad = !o || !list;
	for (size_t i = 0; !bad && i < n; i++)
		bad = json_array_append_new(list, json_from_run(runs[i]));
	bad = bad || json_put(o, "name", json_text_or_null(name));
	bad = bad || json_put(o, "one_boot", json_boolean(one_boot));
	bad = bad || json_object_set(o, "runs", list);
	json_decref(list);
	return json_unless(bad, o);
}

static json_t *json_from_differences(const struct comparison *c)
{
	json_t *list = json_array();
	for (size_t i = 0; list && i < c->n_environment; i++) {
		const struct environment_difference *d = &c->environment[i];
		json_t *o = json_object();
		int bad = !o;
		bad = bad || json_put(o, "name", json_text_or_null(d->name));
		bad = bad || json_put(o, "a", json_text_or_null(d->a));
		bad = bad || json_put(o, "b", json_text_or_null(d->b));
		bad = bad || json_put(o, "is_fingerprint", json_boolean(d->is_fingerprint));
		bad = bad || json_put(o, "is_factor", json_boolean(d->is_factor));
		o = json_unless(bad, o);
		list = json_unless(json_array_append_new(list, o), list);
	}
	return list;
}

static json_t *json_from_compared(const struct compared *c)
{
	json_t *o = json_object();
	int bad = !o;
	if (!c->is_fact)
		bad = bad || json_put(o, "bench", json_text_or_null(c->bench));
	bad = bad || json_put(o, c->is_fact ? "id" : "metric", json_text_or_null(c->id));
	bad = bad || json_put(o, "where", json_from_attrs(&c->where));
	bad = bad || json_put(o, "unit", json_text_or_null(c->unit));
	bad = bad || json_put(o, "a",
			      c->is_integer ? json_integer(c->integer_a) : json_real_or_null(c->a));
	bad = bad || json_put(o, "b",
			      c->is_integer ? json_integer(c->integer_b) : json_real_or_null(c->b));
	bad = bad || json_put(o, "percent", json_real_or_null(c->percent));
	bad = bad || json_put(o, "percent_low", json_real_or_null(c->low));
	bad = bad || json_put(o, "percent_high", json_real_or_null(c->high));
	if (call_table_is_call(c->bench))
		bad = bad || json_put(o, "improvement_percent",
				      json_real_or_null(call_table_improvement(c)));
	bad = bad || json_put(o, "p", json_real_or_null(c->p));
	bad = bad || json_put(o, "p_adjusted", json_real_or_null(c->p_adjusted));
	bad = bad || json_put(o, "n_a", json_integer((json_int_t)c->n_a));
	bad = bad || json_put(o, "n_b", json_integer((json_int_t)c->n_b));
	bad = bad || json_put(o, "outcome", json_text_or_null(outcome_name(c->outcome)));
	bad = bad || json_put(o, "reason", json_text_or_null(c->reason));
	bad = bad || json_put(o, "bimodal_a", json_boolean(c->bimodal_a));
	bad = bad || json_put(o, "bimodal_b", json_boolean(c->bimodal_b));
	return json_unless(bad, o);
}

static json_t *json_from_list(const struct compared *v, size_t n)
{
	json_t *list = json_array();
	for (size_t i = 0; list && i < n; i++)
		list = json_unless(json_array_append_new(list, json_from_compared(&v[i])), list);
	return list;
}

static json_t *json_from_counts(const struct compared *v, size_t n)
{
	struct outcome_counts counts = outcomes_count(v, n);
	json_t *o = json_object();
	for (size_t i = 0; o && i < OUTCOMES; i++)
		o = json_unless(json_put(o, outcome_name((enum outcome)i),
					 json_integer((json_int_t)counts.n[i])),
				o);
	return o;
}

static json_t *json_from_how(const struct comparison *c)
{
	const size_t n = sizeof(c->how) / sizeof(*c->how);
	json_t *list = json_array();
	for (size_t i = 0; list && i < n && c->how[i]; i++)
		list = json_unless(json_array_append_new(list, json_text_or_null(c->how[i])), list);
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
	bad = bad || json_put(doc, "format", json_string("pagetoll-comparison"));
	bad = bad || json_put(doc, "format_version", json_integer(COMPARISON_JSON_VERSION));
	bad = bad ||
	      json_put(doc, "a",
		       json_from_side(c->name_a, c->one_boot_a, s ? s->a : NULL, s ? s->n_a : 0));
	bad = bad ||
	      json_put(doc, "b",
		       json_from_side(c->name_b, c->one_boot_b, s ? s->b : NULL, s ? s->n_b : 0));
	bad = bad || json_put(doc, "factor", json_text_or_null(c->factor));
	bad = bad || json_put(doc, "between_runs", json_boolean(c->between_runs));
	bad = bad || json_put(doc, "run_spread_ratio", json_real_or_null(c->run_spread));
	bad = bad || json_put(doc, "threshold_ratio", json_real_or_null(c->threshold));
	bad = bad || json_put(doc, "level", json_real_or_null(c->level));
	bad = bad ||
	      json_put(doc, "overall", json_text_or_null(outcome_name(comparison_overall(c))));
	bad = bad || json_put(doc, "n_facts", json_from_counts(c->facts, c->n_facts));
	bad = bad || json_put(doc, "n_points", json_from_counts(c->points, c->n_points));
	bad = bad || json_put(doc, "environment", json_from_differences(c));
	bad = bad || json_put(doc, "environment_note", json_text_or_null(c->environment_note));
	bad = bad || json_put(doc, "facts", json_from_list(c->facts, c->n_facts));
	bad = bad || json_put(doc, "points", json_from_list(c->points, c->n_points));
	bad = bad || json_put(doc, "how", json_from_how(c));
	char *text = bad ? NULL : json_dumps(doc, JSON_INDENT(1));
	json_decref(doc);
	if (!text)
		return -ENOMEM;
	str_add(out, text);
	str_add(out, "\n");
	free(text);
	return out->failed ? -ENOMEM : 0;
}
