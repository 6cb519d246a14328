// SPDX-License-Identifier: MIT
/*
 * One line a result for the frameworks that run benchmarks on clusters and take figures of merit
 * out of the output by a pattern. The lines are described in docs/fom.md and never change. Left
 * out: raw samples, recorded tables (a kernel profile); both are in CSV and JSON.
 */
#include "report/report.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"
#include "infer/infer.h"

struct fom {
	struct str *out;
	size_t n_values;
};

/* A word without blanks, and without the '/' that divides a name. */
static void add_word(struct str *out, const char *text)
{
	struct str word = { 0 };
	escape_word(&word, text);
	for (const char *p = str_text(&word); *p; p++)
		str_add_n(out, *p == '/' ? "%2F" : p, *p == '/' ? 3 : 1);
	out->failed = out->failed || word.failed;
	str_done(&word);
}

static void add_attr(struct str *out, const struct attr *a)
{
	struct str text = { 0 };
	if (a->kind == ATTR_NULL)
		str_add(&text, "unknown");
	else
		attr_format(&text, a);
	str_add(out, "/");
	add_word(out, a->name);
	str_add(out, "=");
	add_word(out, str_text(&text));
	out->failed = out->failed || text.failed;
	str_done(&text);
}

/* Parameters in the benchmark's order, then what only the setting has. */
static void add_setting(struct str *out, const struct bench_schema *s, const struct attrs *at)
{
	for (const struct param *p = s ? s->params : NULL; p && p->name; p++) {
		const struct attr *a = attrs_find(at, p->name);
		if (a)
			add_attr(out, a);
	}
	for (size_t i = 0; i < at->n; i++)
		if (!s || !schema_param(s, at->v[i].name))
			add_attr(out, &at->v[i]);
}

static void add_number(struct str *out, double v)
{
	char buf[UNITS_TEXT_BYTES];
	str_addf(out, " %s", isfinite(v) ? format_real(buf, v) : "-");
}

/* @exact: each number is it, NULL: they are reals. */
static void add_result(struct fom *f, const char *metric, const double v[3], const int64_t *exact,
		       const char *unit)
{
	str_add(f->out, " ");
	add_word(f->out, metric);
	for (size_t i = 0; i < 3; i++) {
		if (exact && isfinite(v[i]))
			str_addf(f->out, " %lld", (long long)*exact);
		else
			add_number(f->out, v[i]);
	}
	str_add(f->out, " ");
	add_word(f->out, unit && *unit ? unit : "1");
	f->n_values += isfinite(v[0]) ? 1 : 0;
}

static void fact_line(struct fom *f, const struct fact *x)
{
	const double v[3] = { x->value, x->low, x->high };
	str_add(f->out, "FOM facts");
	add_setting(f->out, NULL, &x->where);
	add_result(f, x->id, v, NULL, x->unit);
	str_add(f->out, " -\n");
}

static bool has_table(const struct point *p, const char *metric)
{
	for (size_t i = 0; p && i < p->n_measures; i++) {
		const struct series *s = measure_series(p->measures[i], metric);
		if (p->measures[i]->verdict == VERDICT_OK && s && s->n)
			return true;
	}
	return false;
}

static void point_lines(struct fom *f, const struct run *r, const struct bench_schema *s,
			const char *bench, const struct attrs *setting, const struct point *p)
{
	for (const struct metric *m = s ? s->metrics : NULL; m && m->name; m++) {
		struct estimate e = { .value = NAN, .low = NAN, .high = NAN };
		if (m->form == FORM_TABLE) {
			f->n_values += has_table(p, m->name);
			continue;
		}
		if (p)
			estimate_point(r, p, m->name, &e);
		const double v[3] = { e.value, e.low, e.high };
		str_add(f->out, "FOM ");
		add_word(f->out, bench);
		add_setting(f->out, s, setting);
		add_result(f, m->name, v, e.is_exact ? &e.exact : NULL, m->unit);
		str_addf(f->out, " %zu\n", p && isfinite(e.value) ? (size_t)e.n_invocations : 0);
	}
}

static bool went_wrong(const struct run *r)
{
	for (size_t i = 0; i < r->n_measures; i++)
		if (r->measures[i].verdict != VERDICT_OK &&
		    r->measures[i].verdict != VERDICT_SKIPPED)
			return true;
	return !r->has_footer || !r->complete || r->n_bad_lines;
}

int report_fom(struct str *out, const struct report *rep)
{
	struct fom f = { .out = out };
	for (size_t i = 0; i < rep->facts.n; i++)
		fact_line(&f, &rep->facts.v[i]);
	for (size_t i = 0; i < rep->curves.n; i++) {
		const struct curve_points *c = &rep->curves.v[i];
		const struct bench_schema *s = run_schema(rep->run, c->bench);
		for (size_t k = 0; k < c->n; k++)
			point_lines(&f, rep->run, s, c->bench, c->points[k]->setting, c->points[k]);
		if (c->skipped)
			point_lines(&f, rep->run, s, c->bench, &c->outer, NULL);
	}
	str_addf(out, "PAGETOLL-RESULT: %s\n",
		 went_wrong(rep->run) ? "FAIL"
		 : f.n_values         ? "PASS"
				      : "SKIP");
	return out->failed ? -ENOMEM : 0;
}
