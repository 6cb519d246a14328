// SPDX-License-Identifier: MIT
/* Facts of tlb.walk from invented runs: levels that cost and levels that do not, hot and cold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "fact_sim.h"
#include "near.h"

enum { LEVELS = 4, SAMPLES = 12 };
static const char *const strides[LEVELS] = { "leaf-table", "pmd-table", "pud-table", "p4d-table" };

static const struct param params[] = {
	{ .name = "regions", .type = PARAM_COUNT, .role = ROLE_INNER, .def = "auto" },
	{ .name = "stride", .type = PARAM_STRIDE, .def = "leaf-table" },
	{ .name = "caches", .type = PARAM_CHOICE, .def = "warm" },
	{ .name = "index", .type = PARAM_CHOICE, .def = "spread" },
	{ .name = "page", .type = PARAM_PAGE, .def = "base" },
	{ .name = "backing", .type = PARAM_CHOICE, .def = "zero" },
	{ .name = NULL },
};
static const struct metric metrics[] = {
	{ "ref_ns", "", "ns", BETTER_LOWER, EST_MIN, FORM_SAMPLES },
	{ "ref_cycles", "", "cycles", BETTER_LOWER, EST_MIN, FORM_SAMPLES },
	{ "group_ns", "", "ns", BETTER_LOWER, EST_MEDIAN, FORM_SAMPLES },
	{ .name = NULL },
};
static const struct bench_schema schema = { "tlb.walk", "", 1, params, metrics };

/* A walker: each level's cache has so many entries, a miss costs so much. */
struct walker {
	double entries[LEVELS], miss_ns[LEVELS];
	int levels;               /* strides measured */
	double cold_ns[LEVELS];   /* per reference after wiping */
	double noise, cold_noise; /* relative, over processes; over groups */
};

static struct measure *add(struct run *r, const char *stride, const char *caches, const char *index,
			   unsigned invocation, int regions)
{
	struct measure *m = run_add_measure(r);
	struct arena *a = &r->arena;

	assert_non_null(m);
	m->bench = "tlb.walk";
	m->invocation = invocation;
	attrs_set_text(a, &m->setting, "stride", stride);
	attrs_set_text(a, &m->setting, "caches", caches);
	attrs_set_text(a, &m->setting, "index", index);
	attrs_set_text(a, &m->setting, "page", "4k");
	attrs_set_text(a, &m->setting, "backing", "zero");
	attrs_set_int(a, &m->setting, "regions", regions);
	return m;
}

static void add_values(struct run *r, struct measure *m, const char *metric, double value,
		       double noise, struct rng *rng)
{
	struct series *s = measure_add_series(r, m);

	assert_non_null(s);
	s->metric = metric;
	s->form = FORM_SAMPLES;
	s->n = SAMPLES;
	s->values = arena_alloc(&r->arena, SAMPLES * sizeof(double));
	assert_non_null(s->values);
	for (size_t i = 0; i < SAMPLES; i++)
		s->values[i] = value * (1 + noise * rng_normal(rng));
	s->values[0] = value;
}

/* A reference of the level's chase: its own misses and those of the levels below. */
static double warm_ns(const struct walker *w, int level, double regions)
{
	double ns = 20;

	for (int k = 0; k <= level; k++)
		ns += w->miss_ns[k] * fmax(0, 1 - w->entries[k] / regions);
	return ns;
}

static struct run *run_of(const struct walker *w, unsigned invocations)
{
	static const int grid[] = {
		1, 2, 4, 8, 12, 16, 24, 32, 40, 48, 64, 96, 128, 256, 512, 1024
	};
	struct run *r = sim_run(&sim_host);
	struct rng rng;

	rng_seed(&rng, 7);
	assert_int_equal(run_add_schema(r, &schema), 0);
	attrs_set_int(&r->arena, &r->fingerprint, "memory_bytes", INT64_C(1) << 40);
	for (int level = 0; level < w->levels; level++) {
		for (unsigned k = 0; k < invocations; k++) {
			for (size_t i = 0; i < sizeof(grid) / sizeof(grid[0]); i++) {
				struct measure *m;
				double ns = warm_ns(w, level, grid[i]);

				if (level == 0 ? grid[i] < 16 : level > 1 && grid[i] > 128)
					continue;
				ns *= 1 + w->noise * fabs(rng_normal(&rng));
				m = add(r, strides[level], "warm", "spread", k, grid[i]);
				add_values(r, m, "ref_ns", ns, 0, &rng);
				add_values(r, m, "ref_cycles", 3 * ns, 0, &rng);
			}
			struct measure *m = add(r, strides[level], "wiped", "spread", k, 128);
			double ns = w->cold_ns[level] * (1 + w->noise * rng_normal(&rng));

			add_values(r, m, "ref_ns", ns, 0, &rng);
			add_values(r, m, "group_ns", 128 * ns, w->cold_noise, &rng);
		}
	}
	return r;
}

static const struct walker intel_like = {
	.entries = { 32, 4, 16, 16 },
	.miss_ns = { 20, 30, 0, 0 },
	.levels = 3,
	.cold_ns = { 100, 200, 300, 400 },
	.noise = 0.002,
	.cold_noise = 0.05,
};

static void levels_that_cost(void **state)
{
	struct run *r = run_of(&intel_like, 8);
	struct arena a = { 0 };
	struct facts f;
	struct fact x;

	(void)state;
	sim_facts(r, &a, &f);
	x = sim_fact(&f, "walk.entries", "page=4k level=2m");
	assert_near(x.value, 32, 0.15);
	x = sim_fact(&f, "walk.reach", "page=4k level=2m");
	assert_near(x.value, 32 * 2097152.0, 0.15);
	x = sim_fact(&f, "walk.level_ns", "page=4k level=2m");
	assert_near(x.value, 20 * (1 - 32.0 / 1024), 0.05);
	assert_true(x.low <= x.value && x.value <= x.high);
	assert_non_null(strstr(x.note, "at 1024 regions"));
	x = sim_fact(&f, "walk.level_cycles", "page=4k level=2m");
	assert_near(x.value, 60 * (1 - 32.0 / 1024), 0.05);
	/* What the curve below costs as well is taken off. */
	x = sim_fact(&f, "walk.entries", "page=4k level=1g");
	assert_near(x.value, 4, 0.3); /* though the curve below begins at 16 regions */
	x = sim_fact(&f, "walk.level_ns", "page=4k level=1g");
	assert_near(x.value, 30, 0.05);
	run_free(r);
	arena_done(&a);
}

/* No knee, no cost, and what that means for one level more. */
static void a_top_level_that_costs_nothing(void **state)
{
	struct run *r = run_of(&intel_like, 8);
	struct arena a = { 0 };
	struct facts f;
	struct fact x;

	(void)state;
	sim_facts(r, &a, &f);
	x = sim_fact(&f, "walk.entries", "page=4k level=512g");
	assert_true(isnan(x.value));
	assert_non_null(strstr(x.reason, "no knee up to 128 regions"));
	x = sim_fact(&f, "walk.top_level_ns", "page=4k use=dense");
	assert_true(fabs(x.value) < 0.3);
	/* 1 TiB of memory fills two entries. */
	assert_non_null(strstr(x.note, "2 of 512g"));
	assert_non_null(strstr(x.note, "huge pages take away the level at the leaf"));
	x = sim_fact(&f, "walk.top_level_ns", "page=4k use=sparse");
	assert_true(fabs(x.value) < 0.3);
	assert_false(sim_has_fact(&f, "walk.level_ns", "page=4k level=256t"));
	run_free(r);
	arena_done(&a);
}

static void five_levels_and_a_top_that_costs(void **state)
{
	struct walker w = intel_like;
	struct arena a = { 0 };
	struct facts f;
	struct fact x;
	struct run *r;

	(void)state;
	w.levels = 4;
	w.miss_ns[3] = 60;
	r = run_of(&w, 8);
	sim_facts(r, &a, &f);
	x = sim_fact(&f, "walk.level_ns", "page=4k level=256t");
	assert_near(x.value, 60 * (1 - 16.0 / 128), 0.08);
	x = sim_fact(&f, "walk.entries", "page=4k level=256t");
	assert_near(x.value, 16, 0.2);
	x = sim_fact(&f, "walk.top_level_ns", "page=4k use=sparse");
	assert_near(x.value, 60 * (1 - 16.0 / 128), 0.08);
	x = sim_fact(&f, "walk.top_level_ns", "page=4k use=dense");
	assert_true(fabs(x.value) < 0.5);
	assert_non_null(strstr(x.note, "1 of 256t"));
	run_free(r);
	arena_done(&a);
}

static void cold_differences_against_noise(void **state)
{
	static const struct {
		double second, noise;
		unsigned invocations;
		const char *says;
	} rows[] = {
		{ 200, 0.002, 8, "exceeds the noise" },
		{ 100, 0.05, 8, "does not exceed" },
		{ 101, 0.05, 8, "does not exceed" },
		/* too few for an interval: against the spread of the groups */
		{ 200, 0.002, 3, "more than half" },
		{ 100.5, 0.002, 3, "not more than half" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct walker w = intel_like;
		struct arena a = { 0 };
		struct facts f;
		struct fact x;
		struct run *r;

		w.levels = 2;
		w.cold_ns[1] = rows[i].second;
		w.noise = rows[i].noise;
		r = run_of(&w, rows[i].invocations);
		sim_facts(r, &a, &f);
		x = sim_fact(&f, "walk.cold_ns", "page=4k level=2m");
		assert_near(x.value, 100, 0.1);
		assert_non_null(strstr(x.note, "groups of 128"));
		x = sim_fact(&f, "walk.cold_level_ns", "page=4k level=1g");
		if (!strstr(x.note, rows[i].says) ||
		    (rows[i].says[0] == 'm' && strstr(x.note, "not more")))
			fail_msg("%.1f: %s", rows[i].second, x.note);
		assert_false(sim_has_fact(&f, "walk.cold_level_ns", "page=4k level=2m"));
		run_free(r);
		arena_done(&a);
	}
}

/* A level whose curve below is missing, few invocations, a loop that conflicts on purpose. */
static void what_is_missing(void **state)
{
	struct walker w = intel_like;
	struct run *r = run_of(&w, 3);
	struct arena a = { 0 };
	struct facts f;
	struct fact x;

	(void)state;
	for (size_t i = 0; i < r->n_measures; i++)
		if (strcmp(attrs_text(&r->measures[i].setting, "stride", ""), "pmd-table") == 0)
			r->measures[i].verdict = VERDICT_INVALID;
	sim_facts(r, &a, &f);
	x = sim_fact(&f, "walk.level_ns", "page=4k level=2m");
	assert_true(isnan(x.low));
	assert_non_null(strstr(x.interval_reason, "3 invocations"));
	x = sim_fact(&f, "walk.level_ns", "page=4k level=1g");
	assert_true(isnan(x.value));
	run_free(r);
	arena_done(&a);

	r = sim_run(&sim_host);
	assert_int_equal(run_add_schema(r, &schema), 0);
	for (int regions = 16; regions <= 512; regions *= 2) {
		struct rng rng;

		rng_seed(&rng, 1);
		add_values(r, add(r, "32m", "warm", "fixed", 0, regions), "ref_ns",
			   regions > 128 ? 40 : 20, 0, &rng);
	}
	sim_facts(r, &a, &f);
	assert_false(sim_has_fact(&f, "walk.entries", "page=4k level=2m"));
	x = sim_fact(&f, "curve.knee", "level=1");
	assert_string_equal(x.unit, "regions");
	assert_in_range((int)x.value, 120, 200);
	run_free(r);
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_that_cost),
		cmocka_unit_test(a_top_level_that_costs_nothing),
		cmocka_unit_test(five_levels_and_a_top_that_costs),
		cmocka_unit_test(cold_differences_against_noise),
		cmocka_unit_test(what_is_missing),
	};

	return cmocka_run_group_tests_name("walk facts", tests, NULL, NULL);
}
