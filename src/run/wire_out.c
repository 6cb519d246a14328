/* SPDX-License-Identifier: MIT */
/* The writing half of the worker's line protocol (wire.h has the grammar). */
#include "run/wire.h"

#include <errno.h>
#include <math.h>

#include "base/escape.h"
#include "base/units.h"
#include "record/run.h"

static void put_word(struct str *out, const char *text)
{
	str_add(out, " ");
	escape_word(out, text);
}

static void put_real(struct str *out, double v)
{
	char text[UNITS_TEXT_BYTES];

	str_add(out, " ");
	str_add(out, format_real(text, v));
}

static int put_attrs(struct str *out, const char *what, const struct attrs *at)
{
	static const char kinds[] = {
		[ATTR_TEXT] = 't', [ATTR_INT] = 'i', [ATTR_REAL] = 'r', [ATTR_NULL] = 'n'
	};

	for (size_t i = 0; i < at->n; i++) {
		const struct attr *v = &at->v[i];

		str_addf(out, "%s %c", what, kinds[v->kind]);
		put_word(out, v->name);
		if (v->kind == ATTR_INT) {
			str_addf(out, " %lld", (long long)v->integer);
		} else if (v->kind == ATTR_REAL) {
			if (!isfinite(v->real))
				return -EDOM;
			put_real(out, v->real);
		} else {
			put_word(out, v->text);
		}
		str_add(out, "\n");
	}
	return 0;
}

static void put_text_line(struct str *out, const char *what, const char *text)
{
	str_add(out, what);
	put_word(out, text);
	str_add(out, "\n");
}

int wire_put_spec(struct str *out, const struct invocation_spec *s)
{
	str_add(out, "spec 1\n");
	put_text_line(out, "bench", s->bench->schema.name);
	str_addf(out, "invocation %u\nseed %llu\nsamples %u\npoint-seconds", s->invocation,
		 (unsigned long long)s->seed, s->samples);
	if (!isfinite(s->point_seconds))
		return -EDOM;
	put_real(out, s->point_seconds);
	str_add(out, "\n");
	if (put_attrs(out, "given", &s->setting.given) < 0 ||
	    put_attrs(out, "resolved", &s->setting.resolved) < 0)
		return -EDOM;
	if (s->inner) {
		put_text_line(out, "inner", s->inner);
		str_addf(out, "values %zu", s->n_inner);
		for (size_t i = 0; i < s->n_inner; i++)
			str_addf(out, " %llu", (unsigned long long)s->inner_values[i]);
		str_add(out, "\n");
	}
	str_add(out, "end\n");
	return out->failed ? -ENOMEM : 0;
}

static int put_samples(struct str *out, const char *metric, const struct metric_values *v)
{
	str_add(out, "samples");
	put_word(out, metric);
	str_addf(out, " %zu", v->n);
	for (size_t i = 0; i < v->n; i++) {
		if (!isfinite(v->samples[i]))
			return -EDOM;
		put_real(out, v->samples[i]);
	}
	str_add(out, "\n");
	return 0;
}

static int put_series(struct str *out, const struct metric *m, const struct metric_values *v)
{
	if (m->form == FORM_EXACT && v->has_exact) {
		str_add(out, "exact");
		put_word(out, m->name);
		str_addf(out, " %lld\n", (long long)v->exact);
	} else if (m->form == FORM_COUNT && v->has_count) {
		str_add(out, "count");
		put_word(out, m->name);
		str_addf(out, " %lld %lld\n", (long long)v->events, (long long)v->exposure);
	} else if (m->form == FORM_SAMPLES && v->n > 0) {
		return put_samples(out, m->name, v);
	} else if (v->null_reason) {
		str_add(out, "null");
		put_word(out, m->name);
		put_word(out, v->null_reason);
		str_add(out, "\n");
	}
	return 0;
}

int wire_put_result(struct str *out, const struct bench_result *r)
{
	if (r->has_inner)
		str_addf(out, "result %llu", (unsigned long long)r->inner_value);
	else
		str_add(out, "result -");
	put_word(out, verdict_name((enum verdict)r->verdict));
	str_addf(out, " %lld %lld\n", (long long)r->start_unix_ns, (long long)r->duration_ns);
	if (r->reason)
		put_text_line(out, "reason", r->reason);
	if (r->unproven)
		put_text_line(out, "unproven", r->unproven);
	if (put_attrs(out, "proof", &r->proof) < 0 || put_attrs(out, "taint", &r->taints) < 0)
		return -EDOM;
	for (size_t i = 0; i < r->n_metrics; i++)
		if (put_series(out, &r->metrics[i], &r->values[i]) < 0)
			return -EDOM;
	str_add(out, "end\n");
	return out->failed ? -ENOMEM : 0;
}

int wire_put_done(struct str *out, int code, const char *text)
{
	str_addf(out, "done %d", code);
	put_word(out, text ? text : "");
	str_add(out, "\n");
	return out->failed ? -ENOMEM : 0;
}
