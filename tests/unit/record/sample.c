/* SPDX-License-Identifier: MIT */
#include "sample.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const orders[] = { "random", "sequential", NULL };
static const struct param params[] = {
	{ "pointers", "how many", PARAM_COUNT, ROLE_INNER, "auto", NULL, 1, 1000000, NULL },
	{ "size", "how large", PARAM_BYTES, ROLE_OUTER, "4k", NULL, 0, UINT64_MAX, NULL },
	{ "stride", "how far", PARAM_STRIDE, ROLE_OUTER, "page", NULL, 0, 0, NULL },
	{ "page", "page size", PARAM_PAGE, ROLE_OUTER, "base", NULL, 0, 0, NULL },
	{ "order", "which order", PARAM_CHOICE, ROLE_OUTER, "random", orders, 0, 0, NULL },
	{ "cpu", "where", PARAM_CPU, ROLE_OUTER, "auto", NULL, 0, 0, NULL },
	{ "data", "from where", PARAM_NODE, ROLE_OUTER, "local", NULL, 0, 0, NULL },
	{ 0 },
};
static const struct metric metrics[] = {
	{ "ref_ns", "time", "ns", BETTER_LOWER, EST_MIN, FORM_SAMPLES },
	{ "table_bytes", "tables", "bytes", BETTER_NONE, EST_MEDIAN, FORM_EXACT },
	{ "faults", "faults", "count", BETTER_HIGHER, EST_MIN, FORM_COUNT },
	{ "claim_ns", "claim", "ns", BETTER_LOWER, EST_MIN, FORM_SUMMARY },
	{ "profile", "profile", "ratio", BETTER_NONE, EST_MIN, FORM_TABLE },
	{ 0 },
};
static const struct bench_schema chase = { "tlb.chase", "a chase", 3, params, metrics };
static const struct bench_schema empty = { "other", "no parameters", 1, NULL, metrics };

static double values[] = { 1.5, 0.1, 3.0, 5e-324, -0.0, 1.7976931348623157e308 };
static double interval[] = { 2.5, NAN, 3.5 };
static int64_t bytes[] = { INT64_MAX };
static int64_t events[] = { INT64_MIN, 9007199254740993 };
static const char *columns[] = { "percent", "hits" };
static const char *keys[] = { "do_page_fault", "clear_page \"x\"" };
static double cells[] = { 12.5, 100, NAN, 7 };

static void add_series(struct run *r, struct measure *m, struct series s)
{
	struct series *to = measure_add_series(r, m);

	assert_non_null(to);
	*to = s;
}

static void fill_measure(struct run *r, struct measure *m)
{
	struct arena *a = &r->arena;

	m->bench = "tlb.chase";
	m->arm = "B";
	m->boot_id = "2b7a1c1e-0000-4000-8000-000000000002";
	m->invocation = 7;
	m->verdict = VERDICT_INVALID;
	m->reason = "pages were small";
	m->unproven = "tables: counters cannot be read";
	m->start_unix_ns = 1700000000000000001;
	m->duration_ns = INT64_MAX;
	assert_int_equal(attrs_set_int(a, &m->setting, "pointers", 64), 0);
	assert_int_equal(attrs_set_text(a, &m->setting, "page", "4k"), 0);
	assert_int_equal(attrs_set_real(a, &m->proof, "share", 0.1), 0);
	assert_int_equal(attrs_set_real(a, &m->proof, "whole", 3.0), 0);
	assert_int_equal(attrs_set_null(a, &m->proof, "node", "no NUMA"), 0);
	assert_int_equal(attrs_set_int(a, &m->taints, "steal_ns", INT64_MIN), 0);
	add_series(r, m, (struct series){ .metric = "ref_ns", .values = values, .n = 6 });
	add_series(r, m,
		   (struct series){ .metric = "ref_ns",
				    .part = "walk.leaf",
				    .values = values,
				    .n = 1,
				    .origin = ORIGIN_PREDICTED });
	add_series(
		r, m,
		(struct series){
			.metric = "table_bytes", .form = FORM_EXACT, .integers = bytes, .n = 1 });
	add_series(r, m,
		   (struct series){
			   .metric = "faults", .form = FORM_COUNT, .integers = events, .n = 2 });
	add_series(r, m,
		   (struct series){ .metric = "claim_ns",
				    .form = FORM_SUMMARY,
				    .values = interval,
				    .n = 3,
				    .origin = ORIGIN_ADVERTISED });
	add_series(r, m,
		   (struct series){ .metric = "profile",
				    .form = FORM_TABLE,
				    .n = 2,
				    .columns = columns,
				    .n_columns = 2,
				    .keys = keys,
				    .cells = cells });
	add_series(r, m,
		   (struct series){ .metric = "faults",
				    .form = FORM_COUNT,
				    .null_reason = "no permission" });
}

struct run *sample_run(void)
{
	struct run *r = run_new();
	struct finding *f;
	struct environment *v;
	struct measure *m;

	assert_non_null(r);
	r->id = "01hf0000000000000000000000";
	r->source = "measured here";
	r->label = "with \xc2\xb5 and \"quotes\"";
	r->origin = ORIGIN_MEASURED;
	r->version = "0.1.0 gcc";
	r->command = "pagetoll run\ttlb.chase";
	r->preset = "quick";
	r->boot_id = "b0";
	r->start_unix_ns = 1700000000000000000;
	assert_int_equal(attrs_set_text(&r->arena, &r->fingerprint, "model", "CPU \x01"), 0);
	assert_int_equal(attrs_set_int(&r->arena, &r->fingerprint, "cpus", 2), 0);
	assert_int_equal(attrs_set_real(&r->arena, &r->context, "load", 0.25), 0);
	f = run_add_finding(r);
	assert_non_null(f);
	*f = (struct finding){ "thp-never", SEVERITY_BLOCKER, "THP is never", "no huge pages",
			       "echo madvise > ..." };
	assert_int_equal(run_add_schema(r, &chase), 0);
	assert_int_equal(run_add_schema(r, &empty), 0);
	v = run_add_environment(r);
	assert_non_null(v);
	v->arm = "B";
	v->boot_id = "2b7a1c1e-0000-4000-8000-000000000002";
	v->start_unix_ns = 1700000000000000001;
	assert_int_equal(attrs_set_text(&r->arena, &v->fingerprint, "thp", "never"), 0);
	assert_int_equal(attrs_set_real(&r->arena, &v->context, "load", 0.125), 0);
	v->findings = f;
	v->n_findings = 1;
	m = run_add_measure(r);
	assert_non_null(m);
	fill_measure(r, m);
	m = run_add_measure(r);
	assert_non_null(m);
	m->bench = "other";
	r->has_footer = true;
	r->complete = true;
	r->stop_reason = "interval target met";
	r->end_unix_ns = 1700000000000000009;
	return r;
}

struct measure *sample_measure(struct run *run, int64_t pointers, const char *page, const double *v,
			       size_t n)
{
	struct measure *m = run_add_measure(run);
	double *copy = arena_alloc(&run->arena, n * sizeof(*copy));

	assert_non_null(m);
	assert_non_null(copy);
	m->bench = "tlb.chase";
	if (pointers >= 0)
		assert_int_equal(attrs_set_int(&run->arena, &m->setting, "pointers", pointers), 0);
	assert_int_equal(attrs_set_text(&run->arena, &m->setting, "page", page), 0);
	if (n) {
		memcpy(copy, v, n * sizeof(*copy));
		add_series(run, m, (struct series){ .metric = "ref_ns", .values = copy, .n = n });
	}
	return m;
}

static void assert_same_text(const char *a, const char *b)
{
	if (!a || !b)
		assert_ptr_equal(a, b);
	else
		assert_string_equal(a, b);
}

/* Bit for bit, so that -0.0 and 0.0 differ; any NaN equals any other. */
static void assert_same_reals(const double *a, const double *b, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!(isnan(a[i]) && isnan(b[i])))
			assert_memory_equal(&a[i], &b[i], sizeof(a[i]));
}

static void assert_same_findings(const struct finding *a, size_t n_a, const struct finding *b,
				 size_t n_b)
{
	assert_int_equal(n_a, n_b);
	for (size_t i = 0; i < n_a; i++) {
		assert_same_text(a[i].id, b[i].id);
		assert_int_equal(a[i].severity, b[i].severity);
		assert_same_text(a[i].what, b[i].what);
		assert_same_text(a[i].effect, b[i].effect);
		assert_same_text(a[i].remedy, b[i].remedy);
	}
}

static void assert_same_environments(const struct run *a, const struct run *b)
{
	assert_int_equal(a->n_environments, b->n_environments);
	for (size_t i = 0; i < a->n_environments; i++) {
		const struct environment *x = &a->environments[i], *y = &b->environments[i];

		assert_same_text(x->arm, y->arm);
		assert_same_text(x->boot_id, y->boot_id);
		assert_true(x->start_unix_ns == y->start_unix_ns);
		assert_true(attrs_equal(&x->fingerprint, &y->fingerprint));
		assert_true(attrs_equal(&x->context, &y->context));
		assert_same_findings(x->findings, x->n_findings, y->findings, y->n_findings);
	}
}

static void assert_same_schema(const struct bench_schema *a, const struct bench_schema *b)
{
	size_t i, j;

	assert_string_equal(a->name, b->name);
	assert_string_equal(a->summary, b->summary);
	assert_int_equal(a->revision, b->revision);
	for (i = 0; a->params[i].name; i++) {
		const struct param *p = &a->params[i], *q = &b->params[i];

		assert_string_equal(p->name, q->name);
		assert_string_equal(p->summary, q->summary);
		assert_int_equal(p->type, q->type);
		assert_int_equal(p->role, q->role);
		assert_string_equal(p->def, q->def);
		assert_true(p->min == q->min && p->max == q->max);
		assert_int_equal(!p->choices, !q->choices);
		for (j = 0; p->choices && p->choices[j]; j++)
			assert_string_equal(p->choices[j], q->choices[j]);
		assert_true(!p->choices || !q->choices[j]);
	}
	assert_null(b->params[i].name);
	for (i = 0; a->metrics[i].name; i++) {
		const struct metric *p = &a->metrics[i], *q = &b->metrics[i];

		assert_string_equal(p->name, q->name);
		assert_string_equal(p->summary, q->summary);
		assert_string_equal(p->unit, q->unit);
		assert_int_equal(p->better, q->better);
		assert_int_equal(p->estimator, q->estimator);
		assert_int_equal(p->form, q->form);
	}
	assert_null(b->metrics[i].name);
}

void assert_same_header(const struct run *a, const struct run *b)
{
	size_t i;

	assert_int_equal(a->schema_version, b->schema_version);
	assert_same_text(a->id, b->id);
	assert_same_text(a->source, b->source);
	assert_same_text(a->label, b->label);
	assert_int_equal(a->origin, b->origin);
	assert_same_text(a->version, b->version);
	assert_same_text(a->command, b->command);
	assert_same_text(a->preset, b->preset);
	assert_same_text(a->boot_id, b->boot_id);
	assert_true(a->start_unix_ns == b->start_unix_ns);
	assert_true(attrs_equal(&a->fingerprint, &b->fingerprint));
	assert_true(attrs_equal(&a->context, &b->context));
	assert_same_findings(a->findings, a->n_findings, b->findings, b->n_findings);
	assert_int_equal(a->n_schemas, b->n_schemas);
	for (i = 0; i < a->n_schemas; i++)
		assert_same_schema(&a->schemas[i], &b->schemas[i]);
}

static void assert_same_series(const struct series *a, const struct series *b)
{
	size_t i;

	assert_string_equal(a->metric, b->metric);
	assert_same_text(a->part, b->part);
	assert_int_equal(a->origin, b->origin);
	assert_int_equal(a->form, b->form);
	assert_same_text(a->null_reason, b->null_reason);
	assert_int_equal(a->n, b->n);
	assert_int_equal(!a->values, !b->values);
	assert_int_equal(!a->integers, !b->integers);
	if (a->values)
		assert_same_reals(a->values, b->values, a->n);
	if (a->integers)
		assert_memory_equal(a->integers, b->integers, a->n * sizeof(*a->integers));
	assert_int_equal(a->n_columns, b->n_columns);
	for (i = 0; i < a->n_columns; i++)
		assert_string_equal(a->columns[i], b->columns[i]);
	if (a->keys) {
		assert_same_reals(a->cells, b->cells, a->n * a->n_columns);
		for (i = 0; i < a->n; i++)
			assert_string_equal(a->keys[i], b->keys[i]);
	}
}

void assert_same_measure(const struct measure *a, const struct measure *b)
{
	size_t i;

	assert_string_equal(a->bench, b->bench);
	assert_same_text(a->arm, b->arm);
	assert_same_text(a->boot_id, b->boot_id);
	assert_int_equal(a->invocation, b->invocation);
	assert_true(attrs_equal(&a->setting, &b->setting));
	assert_int_equal(a->verdict, b->verdict);
	assert_same_text(a->reason, b->reason);
	assert_same_text(a->unproven, b->unproven);
	assert_true(attrs_equal(&a->proof, &b->proof));
	assert_true(attrs_equal(&a->taints, &b->taints));
	assert_true(a->start_unix_ns == b->start_unix_ns);
	assert_true(a->duration_ns == b->duration_ns);
	assert_int_equal(a->n_series, b->n_series);
	for (i = 0; i < a->n_series; i++)
		assert_same_series(&a->series[i], &b->series[i]);
}

void assert_same_run(const struct run *a, const struct run *b)
{
	size_t i;

	assert_same_header(a, b);
	assert_same_environments(a, b);
	assert_int_equal(a->n_measures, b->n_measures);
	for (i = 0; i < a->n_measures; i++)
		assert_same_measure(&a->measures[i], &b->measures[i]);
	assert_int_equal(a->has_footer, b->has_footer);
	assert_int_equal(a->complete, b->complete);
	assert_same_text(a->stop_reason, b->stop_reason);
	assert_true(a->end_unix_ns == b->end_unix_ns);
	assert_int_equal(a->n_bad_lines, b->n_bad_lines);
}
