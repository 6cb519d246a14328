// SPDX-License-Identifier: MIT
/* Invented runs for the tests of comparing; see compare_sim.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "compare_sim.h"

static const struct param read_params[] = {
	{ .name = "size", .type = PARAM_BYTES, .role = ROLE_INNER, .def = "auto" },
	{ .name = "page", .type = PARAM_PAGE, .def = "base" },
	{ .name = "order", .type = PARAM_CHOICE, .def = "random" },
	{ .name = NULL },
};
static const struct metric read_metrics[] = {
	{ "t_ns", "", "ns", BETTER_LOWER, EST_MEDIAN, FORM_SAMPLES },
	{ "rate", "", "count", BETTER_HIGHER, EST_MEDIAN, FORM_SAMPLES },
	{ "note_ns", "", "ns", BETTER_NONE, EST_MEDIAN, FORM_SAMPLES },
	{ "faults", "", "count", BETTER_LOWER, EST_MEDIAN, FORM_COUNT },
	{ "tables_bytes", "", "bytes", BETTER_LOWER, EST_MEDIAN, FORM_EXACT },
	{ "profile", "", "ticks", BETTER_LOWER, EST_MEDIAN, FORM_TABLE },
	{ .name = NULL },
};
static const struct param cache_params[] = {
	{ .name = "working-set", .type = PARAM_BYTES, .role = ROLE_INNER, .def = "auto" },
	{ .name = "page", .type = PARAM_PAGE, .def = "auto" },
	{ .name = "spacing", .type = PARAM_BYTES, .def = "64" },
	{ .name = "pair", .type = PARAM_BYTES, .def = "0" },
	{ .name = NULL },
};
static const struct param tlb_params[] = {
	{ .name = "pointers", .type = PARAM_COUNT, .role = ROLE_INNER, .def = "auto" },
	{ .name = "stride", .type = PARAM_STRIDE, .def = "page" },
	{ .name = "page", .type = PARAM_PAGE, .def = "base" },
	{ .name = NULL },
};
static const struct metric cache_metrics[] = {
	{ "ref_ns", "", "ns", BETTER_LOWER, EST_MIN, FORM_SAMPLES },
	{ .name = NULL },
};

struct run *sim_new(const char *id, const char *boot)
{
	static const struct bench_schema schemas[] = {
		{ "syn.read", "", 1, read_params, read_metrics },
		{ "cache.chase", "", 1, cache_params, cache_metrics },
		{ "tlb.chase", "", 1, tlb_params, cache_metrics },
	};
	struct run *r = run_new();

	assert_non_null(r);
	r->id = id;
	r->boot_id = boot;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(run_add_schema(r, &schemas[i]), 0);
	sim_set_text(r, "cpu", "Invented 1000");
	sim_set_text(r, "arch", "x86_64");
	sim_set_text(r, "kernel", "6.1");
	sim_set_int(r, "page_bytes", 4096);
	sim_set_int(r, "memory_bytes", INT64_C(16) << 30);
	return r;
}

void sim_set_text(struct run *r, const char *name, const char *value)
{
	assert_int_equal(attrs_set_text(&r->arena, &r->fingerprint, name, value), 0);
}

void sim_set_int(struct run *r, const char *name, int64_t value)
{
	assert_int_equal(attrs_set_int(&r->arena, &r->fingerprint, name, value), 0);
}

struct measure *sim_measure(struct run *r, unsigned invocation, const char *page, int64_t size)
{
	struct measure *m = run_add_measure(r);

	assert_non_null(m);
	m->bench = "syn.read";
	m->invocation = invocation;
	attrs_set_int(&r->arena, &m->setting, "size", size);
	attrs_set_text(&r->arena, &m->setting, "page", page);
	attrs_set_text(&r->arena, &m->setting, "order", "random");
	return m;
}

static struct series *add_series(struct run *r, struct measure *m, const char *metric,
				 enum series_form form, size_t n)
{
	struct series *s = measure_add_series(r, m);

	assert_non_null(s);
	s->metric = metric;
	s->form = form;
	s->n = n;
	if (form == FORM_SAMPLES || form == FORM_SUMMARY)
		s->values = arena_alloc(&r->arena, n * sizeof(*s->values));
	else
		s->integers = arena_alloc(&r->arena, n * sizeof(*s->integers));
	return s;
}

void sim_samples(struct run *r, struct measure *m, const char *metric, double value)
{
	struct series *s = add_series(r, m, metric, FORM_SAMPLES, 3);

	s->values[0] = 3 * value;
	s->values[1] = value;
	s->values[2] = 0.5 * value;
}

void sim_summary(struct run *r, struct measure *m, const char *metric, double value)
{
	add_series(r, m, metric, FORM_SUMMARY, 1)->values[0] = value;
}

void sim_count(struct run *r, struct measure *m, int64_t events, int64_t exposure)
{
	struct series *s = add_series(r, m, "faults", FORM_COUNT, 2);

	s->integers[0] = events;
	s->integers[1] = exposure;
}

void sim_exact(struct run *r, struct measure *m, int64_t value)
{
	add_series(r, m, "tables_bytes", FORM_EXACT, 1)->integers[0] = value;
}

void sim_table(struct run *r, struct measure *m, const char *const *keys, const double *cells,
	       size_t n)
{
	static const char *columns[] = { "share", "ticks" };
	struct series *s = add_series(r, m, "profile", FORM_TABLE, n);

	s->columns = columns;
	s->n_columns = 2;
	s->keys = arena_alloc(&r->arena, n * sizeof(*s->keys));
	s->cells = arena_alloc(&r->arena, 2 * n * sizeof(*s->cells));
	memcpy(s->keys, keys, n * sizeof(*keys));
	memcpy(s->cells, cells, 2 * n * sizeof(*cells));
}

void sim_values(struct run *r, const char *metric, const char *page, int64_t size, const double *v,
		size_t n)
{
	for (size_t i = 0; i < n; i++)
		sim_samples(r, sim_measure(r, (unsigned)i, page, size), metric, v[i]);
}

void sim_draw(struct run *r, const char *page, int64_t size, double centre, double sd, unsigned n,
	      struct rng *rng)
{
	for (unsigned i = 0; i < n; i++)
		sim_samples(r, sim_measure(r, i, page, size), "t_ns",
			    centre * exp(sd * rng_normal(rng)));
}

void sim_draw_reads(struct run *r, const char *page, double centre, double sd, unsigned n,
		    struct rng *rng)
{
	for (unsigned i = 0; i < n; i++) {
		struct measure *m = run_add_measure(r);
		double value = centre * exp(sd * rng_normal(rng));

		assert_non_null(m);
		m->bench = "cache.chase";
		m->invocation = i;
		attrs_set_int(&r->arena, &m->setting, "working-set", 1 << 30);
		attrs_set_text(&r->arena, &m->setting, "page", page);
		attrs_set_int(&r->arena, &m->setting, "spacing", 64);
		attrs_set_int(&r->arena, &m->setting, "pair", 0);
		/* The least of the samples counts. */
		sim_samples(r, m, "ref_ns", 2 * value);
	}
}

void sim_draw_curve(struct run *r, double entries, unsigned n, struct rng *rng)
{
	for (unsigned i = 0; i < n; i++) {
		for (double x = 4; x < 1000; x *= exp2(1.0 / 6)) {
			struct measure *m = run_add_measure(r);
			double value = (x > entries ? 7 : 4) * exp(0.002 * rng_normal(rng));

			assert_non_null(m);
			m->bench = "tlb.chase";
			m->invocation = i;
			attrs_set_int(&r->arena, &m->setting, "pointers", (int64_t)(x + 0.5));
			attrs_set_text(&r->arena, &m->setting, "stride", "4k");
			attrs_set_text(&r->arena, &m->setting, "page", "4k");
			sim_samples(r, m, "ref_ns", 2 * value);
		}
	}
}

struct comparison sim_compare(const struct run *a, const struct run *b, double threshold,
			      double run_spread)
{
	struct compare_options o = { .threshold = threshold, .run_spread = run_spread };
	struct comparison c;
	struct err e = { 0 };

	if (compare_runs(&a, 1, &b, 1, &o, &c, &e))
		fail_msg("%s", e.msg);
	return c;
}

struct comparison sim_by(const struct run *r, const char *parameter, const char *a, const char *b,
			 double threshold)
{
	struct compare_options o = { .threshold = threshold, .run_spread = NAN };
	struct comparison c;
	struct err e = { 0 };

	if (compare_by(r, parameter, a, b, &o, &c, &e))
		fail_msg("%s", e.msg);
	return c;
}

const struct compared *sim_row(const struct comparison *c, const char *metric)
{
	const struct compared *found = NULL;

	for (size_t i = 0; i < c->n_points; i++) {
		if (strcmp(c->points[i].id, metric) != 0)
			continue;
		assert_null(found);
		found = &c->points[i];
	}
	if (!found)
		fail_msg("no row of %s", metric);
	return found;
}

const struct compared *sim_fact_row(const struct comparison *c, const char *id, const char *page)
{
	for (size_t i = 0; i < c->n_facts; i++) {
		if (strcmp(c->facts[i].id, id) == 0 &&
		    (!page || strcmp(attrs_text(&c->facts[i].where, "page", ""), page) == 0))
			return &c->facts[i];
	}
	fail_msg("no fact %s", id);
	return NULL;
}
