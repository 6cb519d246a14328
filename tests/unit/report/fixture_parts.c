// SPDX-License-Identifier: MIT
/* Pieces from which the invented runs are built. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "fixture_parts.h"

static const char *const order_choices[] = { "random", "sequential", NULL };
static const struct param tlb_params[] = {
	{ .name = "pointers",
	  .summary = "number of pointers in the chase",
	  .type = PARAM_COUNT,
	  .role = ROLE_INNER,
	  .def = "auto",
	  .min = 1,
	  .max = 1u << 30 },
	{ .name = "stride", .summary = "distance", .type = PARAM_STRIDE, .def = "page" },
	{ .name = "order", .type = PARAM_CHOICE, .def = "random", .choices = order_choices },
	{ .name = "page", .summary = "page size", .type = PARAM_PAGE, .def = "base" },
	{ .name = "page-tables", .type = PARAM_NODE, .def = "local" },
	{ .name = NULL }
};
static const struct param cache_params[] = {
	{ .name = "working-set",
	  .type = PARAM_BYTES,
	  .role = ROLE_INNER,
	  .def = "auto",
	  .min = 64,
	  .max = UINT64_C(1) << 40 },
	{ .name = "page", .type = PARAM_PAGE, .def = "auto" },
	{ .name = "spacing", .type = PARAM_BYTES, .def = "64", .max = UINT64_C(1) << 30 },
	{ .name = NULL }
};
static const struct param call_params[] = {
	{ .name = "call", .type = PARAM_CHOICE, .def = "getpid" },
	{ .name = "cache", .type = PARAM_CHOICE, .def = "hot" },
	{ .name = NULL }
};
static const struct metric chase_metrics[] = { { "ref_ns", "time per reference", "ns", BETTER_LOWER,
						 EST_MIN, FORM_SAMPLES },
					       { "ref_cycles", "core cycles per reference",
						 "cycles", BETTER_LOWER, EST_MIN, FORM_SAMPLES },
					       { "page_table_bytes", "page tables of the arena",
						 "bytes", BETTER_NONE, EST_MIN, FORM_EXACT },
					       { 0 } };
static const struct metric call_metrics[] = {
	{ "call_ns", "time per call", "ns", BETTER_LOWER, EST_MEDIAN, FORM_SAMPLES }, { 0 }
};

const struct bench_schema fixture_tlb = { "tlb.chase", "pointer chase past the TLB", 1, tlb_params,
					  chase_metrics };
const struct bench_schema fixture_cache = { "cache.chase", "latency against working set", 2,
					    cache_params, chase_metrics };
const struct bench_schema fixture_call = { "calls.kinds", "system calls", 1, call_params,
					   call_metrics };

void fixture_header(struct run *r)
{
	struct arena *a = &r->arena;
	r->schema_version = RUN_SCHEMA_VERSION;
	r->id = "01HX0000000000000000000001";
	r->source = "measured here";
	r->origin = ORIGIN_MEASURED;
	r->version = "0.1.0";
	r->command = "pagetoll run";
	r->preset = "default";
	r->boot_id = "5c1f0000-0000-0000-0000-000000000000";
	r->start_unix_ns = 1767225600000000000; /* 2026-01-01 00:00:00 UTC */
	assert_int_equal(attrs_set_text(a, &r->fingerprint, "cpu", "Example EPYC 9000"), 0);
	assert_int_equal(attrs_set_text(a, &r->fingerprint, "arch", "x86_64"), 0);
	assert_int_equal(attrs_set_int(a, &r->fingerprint, "cpus", 2), 0);
	assert_int_equal(attrs_set_int(a, &r->fingerprint, "nodes", 1), 0);
	assert_int_equal(attrs_set_text(a, &r->fingerprint, "hypervisor", "KVM"), 0);
	assert_int_equal(attrs_set_int(a, &r->fingerprint, "memory_bytes", INT64_C(16) << 30), 0);
	assert_int_equal(attrs_set_text(a, &r->fingerprint, "kernel", "6.12.1"), 0);
	assert_int_equal(attrs_set_int(a, &r->fingerprint, "thp_bytes", 2 << 20), 0);
	assert_int_equal(run_add_schema(r, &fixture_tlb), 0);
	assert_int_equal(run_add_schema(r, &fixture_cache), 0);
}

void fixture_footer(struct run *r, bool complete, const char *why)
{
	r->has_footer = true;
	r->complete = complete;
	r->stop_reason = why;
	r->end_unix_ns = r->start_unix_ns + 118000000000;
}

void fixture_finding(struct run *r, const char *id, enum severity s, const char *what,
		     const char *effect, const char *remedy)
{
	struct finding *f = run_add_finding(r);
	assert_non_null(f);
	*f = (struct finding){ id, s, what, effect, remedy };
}

/* "a=1 b=x" */
void fixture_words(struct arena *a, struct attrs *at, const char *words)
{
	char *copy = arena_strdup(a, words), *save = NULL;
	assert_non_null(copy);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		uint64_t number;
		char *value = strchr(w, '=');
		assert_non_null(value);
		*value++ = '\0';
		if (parse_u64(value, &number, NULL) == 0)
			assert_int_equal(attrs_set_int(a, at, w, (int64_t)number), 0);
		else
			assert_int_equal(attrs_set_text(a, at, w, value), 0);
	}
}

static const char *inner_of(const char *bench)
{
	return strcmp(bench, "cache.chase") == 0 ? "working-set" : "pointers";
}

struct measure *fixture_measure(struct run *r, struct fixture_setting s, int64_t inner,
				unsigned invocation)
{
	struct measure *m = run_add_measure(r);
	assert_non_null(m);
	m->bench = s.bench;
	m->invocation = invocation;
	m->start_unix_ns = r->start_unix_ns + invocation * INT64_C(1000000000);
	m->duration_ns = 25000000;
	if (inner)
		assert_int_equal(attrs_set_int(&r->arena, &m->setting, inner_of(s.bench), inner),
				 0);
	fixture_words(&r->arena, &m->setting, s.outer);
	return m;
}

static struct series *add_series(struct run *r, struct measure *m, const char *metric,
				 enum series_form form)
{
	struct series *s = measure_add_series(r, m);
	assert_non_null(s);
	s->metric = metric;
	s->origin = r->origin;
	s->form = form;
	return s;
}

void fixture_samples(struct run *r, struct measure *m, const char *metric, double min)
{
	static const double spread[] = { 1.25, 1.0, 1.5 };
	struct series *s = add_series(r, m, metric, FORM_SAMPLES);
	s->n = sizeof(spread) / sizeof(*spread);
	s->values = arena_alloc(&r->arena, s->n * sizeof(*s->values));
	assert_non_null(s->values);
	for (size_t i = 0; i < s->n; i++)
		s->values[i] = min * spread[i];
}

static int64_t *integers(struct run *r, struct series *s, size_t n)
{
	s->n = n;
	s->integers = arena_alloc(&r->arena, n * sizeof(*s->integers));
	assert_non_null(s->integers);
	return s->integers;
}

void fixture_exact(struct run *r, struct measure *m, const char *metric, int64_t value)
{
	struct series *s = add_series(r, m, metric, FORM_EXACT);
	integers(r, s, 1)[0] = value;
}

void fixture_count(struct run *r, struct measure *m, const char *metric, int64_t events,
		   int64_t exposure)
{
	int64_t *v = integers(r, add_series(r, m, metric, FORM_COUNT), 2);
	v[0] = events;
	v[1] = exposure;
}

void fixture_summary(struct run *r, struct measure *m, const char *metric, double value)
{
	struct series *s = add_series(r, m, metric, FORM_SUMMARY);
	s->n = 1;
	s->values = arena_alloc(&r->arena, sizeof(*s->values));
	assert_non_null(s->values);
	s->values[0] = value;
}

void fixture_null(struct run *r, struct measure *m, const char *metric, const char *reason)
{
	add_series(r, m, metric, FORM_SAMPLES)->null_reason = reason;
}

void fixture_point(struct run *r, struct fixture_setting s, int64_t inner, unsigned n, double ns)
{
	/* of the invocations' minima; the median of eight lies at 1 */
	static const double spread[] = { 1.0, 0.98, 1.03, 1.0, 1.01, 0.99, 1.0, 1.02 };
	for (unsigned i = 0; i < n; i++) {
		struct measure *m = fixture_measure(r, s, inner, i);
		fixture_samples(r, m, "ref_ns", ns * spread[i % 8]);
		fixture_samples(r, m, "ref_cycles", 3 * ns * spread[i % 8]);
		fixture_exact(r, m, "page_table_bytes", 4096 * (1 + inner / 512));
	}
}

void fixture_skip(struct run *r, struct fixture_setting s, enum verdict v, const char *reason)
{
	struct measure *m = fixture_measure(r, s, 0, 0);
	m->verdict = v;
	m->reason = reason;
}

struct fact *fixture_fact(struct report *rep, const char *id, const char *where, const char *unit,
			  double value, double low, double high)
{
	struct fact *f = facts_add(&rep->arena, &rep->facts);
	assert_non_null(f);
	f->id = id;
	fixture_words(&rep->arena, &f->where, where);
	f->unit = unit;
	f->value = value;
	f->low = low;
	f->high = high;
	f->nominal = f->advertised = NAN;
	f->method = "by hand";
	f->method_revision = 1;
	if (isnan(low))
		f->interval_reason = "fewer than 6 invocations";
	return f;
}

struct fact *fixture_fact_missing(struct report *rep, const char *id, const char *where,
				  const char *unit, const char *reason)
{
	struct fact *f = fixture_fact(rep, id, where, unit, NAN, NAN, NAN);
	f->reason = f->interval_reason = reason;
	return f;
}
