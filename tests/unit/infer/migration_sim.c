/* SPDX-License-Identifier: MIT */
/* An invented machine's migration costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "base/rng.h"
#include "migration_sim.h"

static const struct param params[] = {
	{ .name = "working-set",
	  .summary = "",
	  .type = PARAM_BYTES,
	  .role = ROLE_INNER,
	  .def = "" },
	{ .name = "from", .summary = "", .type = PARAM_CPU, .role = ROLE_FROM, .def = "" },
	{ .name = "to", .summary = "", .type = PARAM_CPU, .role = ROLE_TO, .def = "" },
	{ .name = "pattern", .summary = "", .type = PARAM_CHOICE, .def = "" },
	{ .name = "page", .summary = "", .type = PARAM_PAGE, .def = "" },
	{ .name = "backing", .summary = "", .type = PARAM_CHOICE, .def = "" },
	{ .name = "search", .summary = "", .type = PARAM_CHOICE, .def = "" },
	{ .name = NULL },
};
static const struct metric metrics[] = {
	{ "cost_ns", "extra time of a touch after moving", "ns", BETTER_LOWER, EST_MEDIAN,
	  FORM_SAMPLES },
	{ "stayed_ns", "in place", "ns", BETTER_LOWER, EST_MEDIAN, FORM_SAMPLES },
	{ .name = NULL },
};
static const struct bench_schema schema = { .name = "migration.cost",
					    .summary = "extra time of a touch after moving",
					    .revision = 1,
					    .params = params,
					    .metrics = metrics };

static void add_value(struct run *r, struct measure *m, const char *metric, double value)
{
	struct series *s = measure_add_series(r, m);

	assert_non_null(s);
	s->metric = metric;
	s->form = FORM_SAMPLES;
	s->n = 1;
	s->values = arena_alloc(&r->arena, sizeof(double));
	assert_non_null(s->values);
	s->values[0] = value;
}

static void add_measure(struct run *r, const struct migration_sim *s, unsigned from, unsigned to,
			double bytes, unsigned invocation, double noise)
{
	struct measure *m = run_add_measure(r);
	struct arena *a = &r->arena;
	double lines = bytes / 64, cost;
	char id[16];

	assert_non_null(m);
	m->bench = "migration.cost";
	m->invocation = invocation;
	attrs_set_int(a, &m->setting, "working-set", (int64_t)bytes);
	snprintf(id, sizeof(id), "%u", from);
	attrs_set_text(a, &m->setting, "from", id);
	snprintf(id, sizeof(id), "%u", to);
	attrs_set_text(a, &m->setting, "to", id);
	attrs_set_text(a, &m->setting, "pattern", "full");
	attrs_set_text(a, &m->setting, "page", s->page ? s->page : "4k");
	attrs_set_text(a, &m->setting, "backing", "scattered");
	attrs_set_text(a, &m->setting, "search", s->search ? s->search : "curve");
	attrs_set_text(a, &m->proof, "class", s->class_of(from, to));
	cost = fmin(lines, 8 * 16384) * s->line_ns(from, to);
	if (invocation < s->together)
		cost = lines;
	add_value(r, m, "cost_ns", cost * noise);
	add_value(r, m, "stayed_ns", 2 * lines);
}

void migration_sim_add(struct run *r, const struct migration_sim *s)
{
	struct rng rng;

	rng_seed(&rng, 11);
	for (unsigned k = 0; k < s->invocations; k++)
		for (unsigned from = 0; from < s->cpus; from++)
			for (unsigned to = 0; to < s->cpus; to++)
				for (double b = 16 << 10; from != to && b <= s->largest; b *= 4)
					add_measure(r, s, from, to, b, k,
						    1 + s->noise * rng_normal(&rng));
}

struct run *migration_sim_run(const struct migration_sim *s)
{
	struct run *r = run_new();

	assert_non_null(r);
	r->schema_version = RUN_SCHEMA_VERSION;
	r->id = "01aaaaaaaaaaaaaaaaaaaaaaaa";
	r->source = "invented";
	r->origin = ORIGIN_MEASURED;
	r->has_footer = r->complete = true;
	r->stop_reason = "done";
	attrs_set_text(&r->arena, &r->fingerprint, "cpu", "Invented CPU");
	attrs_set_text(&r->arena, &r->fingerprint, "hypervisor",
		       s->hypervisor ? s->hypervisor : "none");
	attrs_set_int(&r->arena, &r->fingerprint, "cache.l1d_bytes", 32 << 10);
	attrs_set_int(&r->arena, &r->fingerprint, "cache.l2_bytes", 1 << 20);
	if (s->knob_ns != INT64_MIN) {
		attrs_set_int(&r->arena, &r->context, "sched_migration_cost_ns", s->knob_ns);
		attrs_set_text(&r->arena, &r->context, "sched_migration_cost.path",
			       "sys/kernel/debug/sched/migration_cost_ns");
	} else {
		attrs_set_null(&r->arena, &r->context, "sched_migration_cost_ns",
			       "debugfs is not mounted");
	}
	assert_int_equal(run_add_schema(r, &schema), 0);
	migration_sim_add(r, s);
	return r;
}
