// SPDX-License-Identifier: MIT
/*
 * The report as one JSON document: what the run file holds plus what is derived from it. Keys are
 * described in docs/json.md. A value that is missing is null and has its reason beside it.
 */
#include "report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <jansson.h>

#include "infer/infer.h"
#include "record/json.h"
#include "report/render.h"

enum { REPORT_JSON_VERSION = 1 };

/* One of the numbers of an estimate: whole where it is one, beyond 2^53 too. */
static json_t *number(const struct estimate *e, double v)
{
	return e->is_exact && !isnan(v) ? json_integer(e->exact) : json_real_or_null(v);
}

static json_t *json_from_estimate(const struct run *r, const struct point *p,
				  const struct metric *m)
{
	struct estimate e;
	estimate_point(r, p, m->name, &e);
	json_t *o = json_object();
	bool has_interval = !isnan(e.low) && !isnan(e.high);
	int bad = !o;
	bad = bad || json_put(o, "metric", json_text_or_null(m->name));
	bad = bad || json_put(o, "unit", json_text_or_null(m->unit));
	bad = bad || json_put(o, "better", json_text_or_null(better_name(m->better)));
	bad = bad || json_put(o, "estimator", json_text_or_null(estimator_name(m->estimator)));
	bad = bad || json_put(o, "value", number(&e, e.value));
	bad = bad || json_put(o, "reason", json_text_or_null(isnan(e.value) ? e.reason : NULL));
	bad = bad || json_put(o, "ci95_low", number(&e, e.low));
	bad = bad || json_put(o, "ci95_high", number(&e, e.high));
	bad = bad || json_put(o, "interval_reason",
			      json_text_or_null(has_interval        ? NULL
						: e.interval_reason ? e.interval_reason
								    : e.reason));
	bad = bad || json_put(o, "min", number(&e, e.min));
	bad = bad || json_put(o, "q25", number(&e, e.q25));
	bad = bad || json_put(o, "q75", number(&e, e.q75));
	bad = bad || json_put(o, "n_invocations", json_integer((json_int_t)e.n_invocations));
	if (m->form == FORM_COUNT) {
		bool any = e.exposure > 0;
		bad = bad || json_put(o, "events", any ? json_integer(e.events) : json_null());
		bad = bad || json_put(o, "exposure", any ? json_integer(e.exposure) : json_null());
	}
	if (bad) {
		json_decref(o);
		return NULL;
	}
	return o;
}

static json_t *json_from_estimates(const struct run *r, const struct point *p,
				   const struct bench_schema *s)
{
	json_t *list = json_array();
	for (const struct metric *m = s ? s->metrics : NULL; list && m && m->name; m++)
		if (m->form != FORM_TABLE &&
		    json_array_append_new(list, json_from_estimate(r, p, m))) {
			json_decref(list);
			return NULL;
		}
	return list;
}

static json_t *json_from_measures(const struct measure *const *v, size_t n)
{
	json_t *list = json_array();
	for (size_t i = 0; list && i < n; i++)
		if (json_array_append_new(list, json_from_measure(v[i]))) {
			json_decref(list);
			return NULL;
		}
	return list;
}

static json_t *json_from_point(const struct run *r, const struct point *p)
{
	const struct bench_schema *s = run_schema(r, p->bench);
	json_t *o = json_object();
	int bad = !o;
	bad = bad || json_put(o, "bench", json_text_or_null(p->bench));
	bad = bad || json_put(o, "revision", s ? json_integer(s->revision) : json_null());
	bad = bad || (p->arm && json_put(o, "arm", json_text_or_null(p->arm)));
	bad = bad || json_put(o, "setting", json_from_attrs(p->setting));
	bad = bad || json_put(o, "estimates", json_from_estimates(r, p, s));
	bad = bad || json_put(o, "measures",
			      json_from_measures((const struct measure *const *)p->measures,
						 p->n_measures));
	if (bad) {
		json_decref(o);
		return NULL;
	}
	return o;
}

static json_t *json_from_points(const struct report *rep)
{
	json_t *list = json_array();
	for (size_t i = 0; list && i < rep->points.n; i++)
		if (json_array_append_new(list, json_from_point(rep->run, &rep->points.v[i]))) {
			json_decref(list);
			return NULL;
		}
	return list;
}

static json_t *json_from_facts(const struct report *rep)
{
	json_t *list = json_array();
	for (size_t i = 0; list && i < rep->facts.n; i++) {
		const struct fact *f = &rep->facts.v[i];
		static const char *const word[] = {
			[AGREE_YES] = "agrees", [AGREE_NO] = "differs"
		};
		json_t *o = json_from_fact(f);
		enum agreement agree = fact_agreement(rep, f);
		if (!o ||
		    json_put(o, "agreement",
			     agree == AGREE_UNKNOWN ? json_null() : json_string(word[agree])) ||
		    json_array_append(list, o)) {
			json_decref(o);
			json_decref(list);
			return NULL;
		}
		json_decref(o);
	}
	return list;
}

/* Those that could not run at all, so that a reader need not look for an absence. */
static json_t *json_from_skipped(const struct report *rep)
{
	json_t *list = json_array();
	for (size_t i = 0; list && i < rep->curves.n; i++) {
		const struct curve_points *c = &rep->curves.v[i];
		if (!c->skipped)
			continue;
		json_t *o = json_object();
		if (!o || json_put(o, "bench", json_text_or_null(c->bench)) ||
		    json_put(o, "setting", json_from_attrs(&c->outer)) ||
		    json_put(o, "verdict", json_text_or_null(verdict_name(c->skipped->verdict))) ||
		    json_put(o, "reason", json_text_or_null(c->skipped->reason)) ||
		    json_array_append(list, o)) {
			json_decref(o);
			json_decref(list);
			return NULL;
		}
		json_decref(o);
	}
	return list;
}

int report_json(struct str *out, const struct report *rep)
{
	const struct run *r = rep->run;
	json_t *doc = json_object();
	int bad = !doc;
	bad = bad || json_put(doc, "format", json_string("pagetoll-report"));
	bad = bad || json_put(doc, "format_version", json_integer(REPORT_JSON_VERSION));
	bad = bad || json_put(doc, "run", json_from_header(r));
	bad = bad || json_put(doc, "complete", json_boolean(r->has_footer && r->complete));
	bad = bad || json_put(doc, "footer", r->has_footer ? json_from_footer(r) : json_null());
	bad = bad || json_put(doc, "bad_lines", json_integer((json_int_t)r->n_bad_lines));
	bad = bad || json_put(doc, "facts", json_from_facts(rep));
	bad = bad || json_put(doc, "skipped", json_from_skipped(rep));
	bad = bad || json_put(doc, "points", json_from_points(rep));
	char *text = bad ? NULL : json_dumps(doc, JSON_INDENT(1));
	json_decref(doc);
	if (!text)
		return -ENOMEM;
	str_add(out, text);
	str_add(out, "\n");
	free(text);
	return out->failed ? -ENOMEM : 0;
}
