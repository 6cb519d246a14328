// SPDX-License-Identifier: MIT
/* Runs of an invented machine; see fact_sim.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "fact_sim.h"

static const double CYCLE_NS = 1.0 / 3;

const struct sim_cpu sim_guest = {
	.l1_entries = 64,
	.l2_entries = 2048,
	.hit = 4,
	.second = 7,
	.walk = 32,
	.alias = 16,
	.huge_is_small = true,
	.cache = { 32768, 524288, 33554432 },
	.latency = { 4, 12, 46, 300 },
};
const struct sim_cpu sim_host = {
	.l1_entries = 64,
	.l2_entries = 2048,
	.hit = 4,
	.second = 7,
	.walk = 32,
	.alias = 16,
	.huge_l1 = 64,
	.huge_l2 = 1536,
	.cache = { 32768, 524288, 33554432 },
	.latency = { 4, 12, 46, 300 },
};

const struct sim_row sim_toll[SIM_TOLL_ROWS] = {
	{ "tlb.chase", "4k", "page", "zero", "avoid", 0, 0, NULL, 1, 512 },
	{ "tlb.chase", "4k", "base-page", "zero", "plain", 0, 0, NULL, 1, 16384 },
	{ "tlb.chase", "4k", "leaf-table+base-page", "zero", "plain", 0, 0, NULL, 16, 2097152 },
	{ "tlb.chase", "thp", "base-page", "distinct", "plain", 0, 0, NULL, 1, 448 },
	{ "tlb.chase", "thp", "page", "zero", "plain", 0, 0, NULL, 1, 4096 },
	{ "cache.chase", "thp", NULL, NULL, NULL, 64, 0, NULL, 4096, 134217728 },
	{ "cache.chase", "4k", NULL, NULL, NULL, 64, 0, NULL, 1073741824, 1073741824 },
	{ "cache.chase", "thp", NULL, NULL, NULL, 64, 0, NULL, 1073741824, 1073741824 },
	{ "cache.chase", "thp", NULL, NULL, NULL, 512, 16, NULL, 8388608, 8388608 },
	{ "cache.chase", "thp", NULL, NULL, NULL, 512, 32, NULL, 8388608, 8388608 },
	{ "cache.chase", "thp", NULL, NULL, NULL, 512, 64, NULL, 8388608, 8388608 },
	{ "cache.chase", "thp", NULL, NULL, NULL, 512, 128, NULL, 8388608, 8388608 },
	{ "cache.chase", "thp", NULL, NULL, NULL, 512, 256, NULL, 8388608, 8388608 },
	{ "tlb.chase", "hugetlb-1g", "page", "distinct", "plain", 0, 0, NULL, 1, 64 },
};

static const struct param tlb_params[] = {
	{ .name = "pointers", .type = PARAM_COUNT, .role = ROLE_INNER, .def = "auto" },
	{ .name = "stride", .type = PARAM_STRIDE, .def = "page" },
	{ .name = "line", .type = PARAM_CHOICE, .def = "auto" },
	{ .name = "page", .type = PARAM_PAGE, .def = "base" },
	{ .name = "backing", .type = PARAM_CHOICE, .def = "distinct" },
	{ .name = "alias", .type = PARAM_CHOICE, .def = "plain" },
	{ .name = "order", .type = PARAM_CHOICE, .def = "random" },
	{ .name = "data", .type = PARAM_NODE, .def = "local" },
	{ .name = "page-tables", .type = PARAM_NODE, .def = "local" },
	{ .name = NULL },
};
static const struct param cache_params[] = {
	{ .name = "working-set", .type = PARAM_BYTES, .role = ROLE_INNER, .def = "auto" },
	{ .name = "page", .type = PARAM_PAGE, .def = "auto" },
	{ .name = "spacing", .type = PARAM_BYTES, .def = "64" },
	{ .name = "pair", .type = PARAM_BYTES, .def = "0" },
	{ .name = "order", .type = PARAM_CHOICE, .def = "random" },
	{ .name = "page-tables", .type = PARAM_NODE, .def = "local" },
	{ .name = NULL },
};
static const struct metric metrics[] = {
	{ "ref_ns", "", "ns", BETTER_LOWER, EST_MIN, FORM_SAMPLES },
	{ "ref_cycles", "", "cycles", BETTER_LOWER, EST_MIN, FORM_SAMPLES },
	{ "add_ns", "", "ns", BETTER_NONE, EST_MIN, FORM_SAMPLES },
	{ .name = NULL },
};

struct run *sim_run(const struct sim_cpu *cpu)
{
	static const struct bench_schema schemas[] = {
		{ "tlb.chase", "", 1, tlb_params, metrics },
		{ "cache.chase", "", 1, cache_params, metrics },
	};
	static const char *const names[] = { "cache.l1d_bytes", "cache.l2_bytes",
					     "cache.l3_bytes" };
	struct run *r = run_new();

	assert_non_null(r);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(run_add_schema(r, &schemas[i]), 0);
	attrs_set_int(&r->arena, &r->fingerprint, "page_bytes", 4096);
	attrs_set_int(&r->arena, &r->fingerprint, "thp_bytes", 2097152);
	attrs_set_int(&r->arena, &r->fingerprint, "llc_bytes", (int64_t)cpu->cache[2]);
	for (size_t i = 0; i < 3; i++)
		attrs_set_int(&r->arena, &r->fingerprint, names[i], (int64_t)cpu->cache[i]);
	attrs_set_int(&r->arena, &r->fingerprint, "advertised.dtlb1.4k", 64);
	attrs_set_int(&r->arena, &r->fingerprint, "advertised.dtlb2.2m", 1536);
	return r;
}

static bool is(const char *a, const char *b)
{
	return a && strcmp(a, b) == 0;
}

/* Cycles of one reference with the translation's part: N entries against two levels. */
static double two_levels(const struct sim_cpu *cpu, double n, double l1, double l2)
{
	return (n > l1 ? cpu->second : 0) + cpu->walk * fmax(0, 1 - pow(l2 / n, 8)) * (n > l2);
}

static double tlb_cycles(const struct sim_cpu *cpu, const struct sim_row *row, double n)
{
	double c = cpu->hit;

	if (is(row->alias, "avoid"))
		return c + two_levels(cpu, n, cpu->l1_entries, cpu->l2_entries);
	if (is(row->stride, "leaf-table+base-page"))
		return c + two_levels(cpu, n, 64, 1100) + 900 * fmax(0, 1 - 1e5 / n);
	if (is(row->page, "4k") && is(row->backing, "distinct"))
		return c + two_levels(cpu, n, cpu->l1_entries, cpu->l2_entries);
	if (is(row->page, "4k"))
		return c + two_levels(cpu, n, cpu->l1_entries, cpu->l2_entries) +
		       cpu->alias * fmin(1, fmax(0, (n - 64) / 64));
	if (is(row->stride, "base-page"))
		return c + (cpu->huge_is_small && n > cpu->l1_entries ? cpu->second : 0);
	if (cpu->huge_is_small)
		return c + (n > cpu->l1_entries ? 45 : 0);
	return c + two_levels(cpu, n, cpu->huge_l1, cpu->huge_l2);
}

static double cache_cycles(const struct sim_cpu *cpu, const struct sim_row *row, double bytes)
{
	double c = cpu->latency[0];

	if (row->pair)
		return row->pair < 64 ? 30 : 40;
	for (int i = 0; i < 3; i++)
		c += (cpu->latency[i + 1] - cpu->latency[i]) *
		     fmax(0, 1 - pow(cpu->cache[i] / bytes, 4)) * (bytes > cpu->cache[i]);
	if (bytes > 5e8 && is(row->page, "4k"))
		c *= 1.5;
	return c;
}

static void add_samples(struct run *r, struct measure *m, const char *metric, double value)
{
	struct series *s = measure_add_series(r, m);

	assert_non_null(s);
	s->metric = metric;
	s->form = FORM_SAMPLES;
	s->n = 3;
	s->values = arena_alloc(&r->arena, 3 * sizeof(double));
	assert_non_null(s->values);
	/* The least one counts. */
	s->values[0] = 1.3 * value;
	s->values[1] = value;
	s->values[2] = 1.1 * value;
}

static struct measure *add_measure(struct run *r, const struct sim_row *row, unsigned invocation)
{
	struct measure *m = run_add_measure(r);
	struct arena *a = &r->arena;
	bool tlb = is(row->bench, "tlb.chase");

	assert_non_null(m);
	m->bench = row->bench;
	m->invocation = invocation;
	attrs_set_text(a, &m->setting, "page", row->page);
	if (tlb) {
		attrs_set_text(a, &m->setting, "stride", row->stride);
		attrs_set_text(a, &m->setting, "line", "auto");
		attrs_set_text(a, &m->setting, "backing", row->backing);
		attrs_set_text(a, &m->setting, "alias", row->alias);
		attrs_set_text(a, &m->setting, "data", "local");
	} else {
		attrs_set_int(a, &m->setting, "spacing", row->spacing);
		attrs_set_int(a, &m->setting, "pair", row->pair);
	}
	attrs_set_text(a, &m->setting, "order", "random");
	attrs_set_text(a, &m->setting, "page-tables",
		       row->page_tables ? row->page_tables : "local");
	return m;
}

void sim_skip(struct run *r, const struct sim_row *row, const char *reason)
{
	struct measure *m = add_measure(r, row, 0);

	m->verdict = VERDICT_SKIPPED;
	m->reason = reason;
}

void sim_measure(struct run *r, const struct sim_cpu *cpu, const struct sim_row *row,
		 unsigned invocations, double noise, double disturbed)
{
	bool tlb = is(row->bench, "tlb.chase");
	struct rng rng;

	rng_seed(&rng, (uint64_t)row->low * 31 + (uint64_t)row->high + (uint64_t)row->pair);
	for (unsigned k = 0; k < invocations; k++) {
		double last = 0;

		for (double f = row->low; f <= row->high * 1.0001; f *= exp2(1.0 / 6)) {
			double x = tlb ? floor(f + 0.5) : floor(f / 64 + 0.5) * 64;
			struct measure *m;
			double cycles;

			if (x <= last)
				continue;
			last = x;
			cycles = tlb ? tlb_cycles(cpu, row, x) : cache_cycles(cpu, row, x);
			cycles *= exp(noise * fabs(rng_normal(&rng)));
			if (rng_unit(&rng) < disturbed)
				cycles *= 1.3 + rng_unit(&rng);
			m = add_measure(r, row, k);
			attrs_set_int(&r->arena, &m->setting, tlb ? "pointers" : "working-set",
				      (int64_t)x);
			add_samples(r, m, "ref_ns", cycles * CYCLE_NS);
			add_samples(r, m, "ref_cycles", cycles);
			add_samples(r, m, "add_ns", CYCLE_NS / 1.1);
		}
	}
}

struct run *sim_toll_run(const struct sim_cpu *cpu, unsigned invocations, double noise)
{
	struct run *r = sim_run(cpu);

	for (size_t i = 0; i < SIM_TOLL_ROWS - 1; i++)
		sim_measure(r, cpu, &sim_toll[i], invocations, noise, 0.03);
	sim_skip(r, &sim_toll[SIM_TOLL_ROWS - 1], "no 1 GiB pages in the pool");
	return r;
}

void sim_facts(const struct run *r, struct arena *a, struct facts *ret)
{
	struct points p;
	struct curves c;
	struct err e = { 0 };

	assert_int_equal(points_assemble(a, r, &p), 0);
	assert_int_equal(curves_assemble(a, r, &p, &c), 0);
	assert_int_equal(infer_facts(a, r, &c, ret, &e), 0);
	for (size_t i = 0; i < ret->n; i++) {
		const struct fact *f = &ret->v[i];

		/* Whatever is missing has a reason, and only that. */
		assert_true(isnan(f->value) == (f->reason != NULL));
		if (!isnan(f->value))
			assert_true(isnan(f->low) == (f->interval_reason != NULL));
		assert_true(isnan(f->low) == isnan(f->high));
		if (!isnan(f->low))
			assert_true(f->low <= f->value && f->value <= f->high);
		assert_non_null(f->unit);
		assert_non_null(f->method);
		assert_true(f->method_revision > 0);
	}
}

static const struct fact *look(const struct facts *f, const char *id, const char *where)
{
	for (size_t i = 0; i < f->n; i++) {
		struct str text = { 0 };
		bool same;

		if (strcmp(f->v[i].id, id) != 0)
			continue;
		attrs_format(&text, &f->v[i].where);
		same = strcmp(str_text(&text), where) == 0;
		str_done(&text);
		if (same)
			return &f->v[i];
	}
	return NULL;
}

bool sim_has_fact(const struct facts *f, const char *id, const char *where)
{
	return look(f, id, where) != NULL;
}

struct fact sim_fact(const struct facts *f, const char *id, const char *where)
{
	const struct fact *found = look(f, id, where);

	if (!found)
		fail_msg("no fact %s {%s}", id, where);
	return found ? *found : (struct fact){ 0 };
}
