// SPDX-License-Identifier: MIT
/*
 * Calibration of times that the simulator itself made on a known machine: what comes back, what is
 * named as not told, and that held-out points never enter. The machine is small, so that it is
 * quick.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "calibrate/calibrate.h"

static const char small_machine[] =
	"{'schema': 1, 'name': 'small', 'summary': 'a machine of the tests', 'sources': {},"
	"'core': {'clock_hz': 1e9, 'page': '4k', 'levels': 4, 'source': 'assumed'},"
	"'tlbs': ["
	" {'name': 'L1', 'level': 1, 'entries': 8, 'ways': 0, 'pages': ['4k'], 'policy': 'lru',"
	"  'source': 'assumed'},"
	" {'name': 'L2', 'level': 2, 'entries': 64, 'ways': 4, 'pages': ['4k'], 'policy': 'lru',"
	"  'index': 'linear', 'hit_cycles': 7, 'source': 'assumed'}],"
	"'walker': {'kind': 'radix', 'start_cycles': 10, 'step_cycles': 0, 'first_cache': 1,"
	"  'source': 'assumed'},"
	"'walk_caches': [{'level': 2, 'entries': 16, 'source': 'assumed'},"
	" {'level': 3, 'entries': 4, 'source': 'assumed'}],"
	"'caches': ["
	" {'name': 'L1D', 'size': '4k', 'ways': 4, 'line': 64, 'policy': 'lru', 'hit_cycles': 4,"
	"  'source': 'assumed'},"
	" {'name': 'L2', 'size': '16k', 'ways': 8, 'line': 64, 'index': 'hash', 'hit_cycles': 14,"
	"  'source': 'assumed'},"
	" {'name': 'L3', 'size': '1m', 'ways': 16, 'line': 64, 'index': 'hash', 'hit_cycles': 40,"
	"  'source': 'assumed'}],"
	"'memory': {'nodes': 1, 'local_ns': 90, 'remote_ns': 90, 'source': 'assumed'}}";

static struct sim_machine *machine(void)
{
	char text[sizeof(small_machine)];
	struct sim_machine *m = NULL;
	struct err e = { 0 };

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = small_machine[i] == '\'' ? '"' : small_machine[i];
	if (sim_machine_read(text, sizeof(text) - 1, &m, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(calibrate_add_source(m, "calibrated", "calibrated from the test"), 0);
	return m;
}

/* --- points --- */

enum { CURVES = 6, POINTS_MAX = 80, REFS = 2048 };
static const uint64_t strides[CURVES] = {
	4096, 64 << 10, (2 << 20) + 4096, (1 << 20) + 4096, (32 << 20) + 4096, 16384,
};
static const uint64_t counts[] = { 4, 6, 7, 12, 24, 48, 64, 96, 160, 600 };

struct fixture {
	struct arena arena;
	struct attrs given, resolved[CURVES];
	struct calibrate_point points[POINTS_MAX];
	size_t n;
	struct calibrate_curve curves[CURVES];
	struct calibrate_hints hints;
	struct calibrate_options o;
	struct sim_machine *prior, *truth;
	struct calibration c;
};

/* The first @n_curves strides; times are made by times_of() later. */
static void begin(struct fixture *f, size_t n_curves)
{
	memset(f, 0, sizeof(*f));
	f->prior = machine();
	f->truth = machine();
	f->o = (struct calibrate_options){
		.seed = 3, .refs = REFS, .seconds = 1, .source = "calibrated", .threads = 2
	};
	attrs_set_text(&f->arena, &f->given, "order", "random");
	attrs_set_text(&f->arena, &f->given, "line", "auto");
	attrs_set_text(&f->arena, &f->given, "backing", "zero");
	for (size_t k = 0; k < n_curves; k++) {
		struct attrs *r = &f->resolved[k];

		attrs_set_int(&f->arena, r, "page.bytes", 4096);
		attrs_set_int(&f->arena, r, "load.node", -1);
		attrs_set_int(&f->arena, r, "stride.bytes", (int64_t)strides[k]);
		f->curves[k].name = arena_printf(&f->arena, "stride %zu", k);
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
			f->points[f->n++] = (struct calibrate_point){
				.setting = { .bench = "tlb.chase",
					     .given = &f->given,
					     .resolved = r,
					     .inner = "pointers",
					     .inner_value = counts[i] },
				.model = { .text_lines = -1, .data_lines = -1, .hot_ns = -1 },
				.curve = k,
			};
	}
}

/* Measured times: the truth's, times 1 + @noise x normal. */
static void times_of(struct fixture *f, double noise)
{
	struct predict_result *r = malloc(sizeof(*r));
	struct err e = { 0 };
	struct rng rng;

	assert_non_null(r);
	rng_seed(&rng, 11);
	for (size_t i = 0; i < f->n; i++) {
		struct predict_model model = f->points[i].model;

		model.machine = f->truth;
		model.seed = f->o.seed;
		model.refs = REFS;
		if (f->truth->core.nested)
			model.host_levels = f->truth->core.host_levels;
		if (predict_point(&model, &f->points[i].setting, r, &e) < 0)
			fail_msg("%s", e.msg);
		f->points[i].ns = r->metrics[0].value * (1 + noise * rng_normal(&rng));
	}
	free(r);
}

static void fit(struct fixture *f, size_t n_curves)
{
	struct err e = { 0 };

	if (calibrate(f->prior, f->points, f->n, f->curves, n_curves, &f->hints, &f->o, &f->c, &e) <
	    0)
		fail_msg("%s", e.msg);
}

static void end(struct fixture *f)
{
	calibration_done(&f->c);
	sim_machine_free(f->prior);
	sim_machine_free(f->truth);
	arena_done(&f->arena);
}

static const struct calibrate_cost *cost(const struct fixture *f, const char *path)
{
	for (size_t i = 0; i < f->c.n_costs; i++)
		if (strcmp(f->c.costs[i].path, path) == 0)
			return &f->c.costs[i];
	fail_msg("no cost %s", path);
	return &f->c.costs[0];
}

static const struct calibrate_axis *axis(const struct fixture *f, const char *path)
{
	for (size_t i = 0; i < f->c.n_axes; i++)
		if (strcmp(f->c.axes[i].path, path) == 0)
			return &f->c.axes[i];
	fail_msg("no axis %s", path);
	return &f->c.axes[0];
}

static void text_of(const struct sim_machine *m, struct str *out)
{
	str_clear(out);
	assert_int_equal(sim_machine_text(out, m), 0);
}

/* Costs that differ from the prior's in every figure that the points exercise. */
static void change_costs(struct sim_machine *m)
{
	m->tlbs[1].hit_cycles = 5;
	m->walker.start_cycles = 23;
	m->caches[0].hit_cycles = 3;
	m->caches[1].hit_cycles = 19;
	m->caches[2].hit_cycles = 61;
}

static void assert_near(double value, double wanted, double share)
{
	if (!(fabs(value - wanted) <= share * wanted))
		fail_msg("%g, wanted %g within %g %%", value, wanted, 100 * share);
}

static void assert_costs(const struct fixture *f, double share)
{
	assert_near(f->c.machine->tlbs[1].hit_cycles, 5, share);
	assert_near(f->c.machine->walker.start_cycles, 23, share);
	assert_near(f->c.machine->caches[0].hit_cycles, 3, share);
	assert_near(f->c.machine->caches[1].hit_cycles, 19, share);
	assert_near(f->c.machine->caches[2].hit_cycles, 61, share);
}

/* --- what comes back --- */

static void test_costs(void **state)
{
	static const struct {
		double noise, share, held_out;
	} rows[] = { { 0, 0.01, 0.002 }, { 0.03, 0.25, 0.06 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture f;

		begin(&f, CURVES);
		change_costs(f.truth);
		times_of(&f, rows[i].noise);
		f.curves[3].held_out = true;
		f.o.seconds = 0;
		fit(&f, CURVES);
		assert_costs(&f, rows[i].share);
		assert_int_equal(f.c.out.n, 10);
		assert_int_equal(f.c.in.n, f.n - 10);
		assert_true(f.c.out.mean < rows[i].held_out);
		assert_true(f.c.prior_out.mean > 0.1); /* there was something to find */
		assert_string_equal(sim_machine_source(f.c.machine, "caches[1].hit_cycles"),
				    "calibrated");
		assert_string_equal(sim_machine_source(f.c.machine, "caches[1].size"), "assumed");
		end(&f);
	}
}

static void test_structure(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, CURVES);
	change_costs(f.truth);
	f.truth->walk_caches[0].shape.entries = 64;
	f.truth->tlbs[1].shape.policy = SIM_RANDOM;
	f.truth->tlbs[0].pinned = 2;
	times_of(&f, 0.03);
	f.curves[3].held_out = true;
	fit(&f, CURVES);
	assert_true(f.c.search_done);
	assert_int_equal(f.c.machine->walk_caches[0].shape.entries, 64);
	assert_int_equal(f.c.machine->tlbs[1].shape.policy, SIM_RANDOM);
	assert_int_equal(f.c.machine->tlbs[0].pinned, 2);
	assert_true(axis(&f, "walk_caches level 2")->changed);
	assert_string_equal(axis(&f, "walk_caches level 2")->value, "64");
	assert_true(axis(&f, "tlbs[0].pinned")->determined);
	assert_string_equal(sim_machine_source(f.c.machine, "tlbs[0].pinned"), "calibrated");
	assert_costs(&f, 0.25);
	assert_true(f.c.out.mean < 0.06);
	end(&f);
}

/* Directories in the last TLB, and a guest: found from a prior that has neither. */
static void test_directory_and_guest(void **state)
{
	(void)state;
	for (unsigned guest = 0; guest < 2; guest++) {
		struct fixture f;

		begin(&f, 4);
		if (guest) {
			f.truth->core.nested = true;
		} else {
			f.truth->tlbs[1].holds_level = 2;
			f.truth->walk_caches[0] = f.truth->walk_caches[1];
			f.truth->n_walk_caches = 1;
		}
		f.hints.may_be_guest = true;
		times_of(&f, 0);
		fit(&f, 4);
		assert_int_equal(f.c.machine->core.nested, guest);
		assert_int_equal(f.c.machine->tlbs[1].holds_level, guest ? 0 : 2);
		assert_int_equal(f.c.machine->n_walk_caches, guest ? 2 : 1);
		assert_true(f.c.in.mean < 0.01);
		assert_true(f.c.prior_in.mean > 0.03);
		end(&f);
	}
}

/* The file that is written predicts what the calibration said. */
static void test_round_trip(void **state)
{
	struct sim_machine *again = NULL;
	struct str text = { 0 };
	struct err e = { 0 };
	struct fixture f;

	(void)state;
	begin(&f, CURVES);
	change_costs(f.truth);
	f.truth->walk_caches[0].shape.entries = 64;
	times_of(&f, 0.03);
	fit(&f, CURVES);
	text_of(f.c.machine, &text);
	if (sim_machine_read(str_text(&text), text.len, &again, &e) < 0)
		fail_msg("%s", e.msg);
	sim_machine_free(f.truth);
	f.truth = again;
	times_of(&f, 0);
	for (size_t i = 0; i < f.n; i++)
		assert_near(f.points[i].ns, f.c.predicted[i], 1e-9);
	str_done(&text);
	end(&f);
}

/* --- what cannot be told --- */

static void test_never_exercised(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 1); /* no walk leaves the first cache, none misses a walk cache */
	change_costs(f.truth);
	f.truth->memory.local_ns = 200;
	times_of(&f, 0);
	fit(&f, 1);
	assert_int_equal(cost(&f, "memory.local_ns")->fate, CALIBRATE_NEVER);
	assert_true(f.c.machine->memory.local_ns == 90);
	assert_string_equal(sim_machine_source(f.c.machine, "memory.local_ns"), "assumed");
	assert_int_equal(cost(&f, "caches[2].hit_cycles")->fate, CALIBRATE_NEVER);
	assert_true(f.c.machine->caches[2].hit_cycles == 40);
	assert_int_equal(cost(&f, "tlbs[1].hit_cycles")->fate, CALIBRATE_FITTED);
	assert_false(axis(&f, "walk_caches level 3")->determined);
	assert_false(axis(&f, "walk_caches level 3")->changed);
	end(&f);
}

/* Each walk reads one entry: its start and its step are one figure. */
static void test_collinear(void **state)
{
	const struct calibrate_cost *start, *step;
	struct fixture f;

	(void)state;
	begin(&f, 1);
	f.prior->walker.step_cycles = f.truth->walker.step_cycles = 6;
	f.truth->walker.start_cycles = 30;
	times_of(&f, 0);
	f.o.seconds = 0;
	fit(&f, 1);
	start = cost(&f, "walker.start_cycles");
	step = cost(&f, "walker.step_cycles");
	if (start->fate == CALIBRATE_COLLINEAR)
		assert_string_equal(start->with, "walker.step_cycles");
	else
		assert_int_equal(step->fate, CALIBRATE_COLLINEAR);
	if (step->fate == CALIBRATE_COLLINEAR)
		assert_string_equal(step->with, "walker.start_cycles");
	/* one is at its prior, and the sum is right */
	assert_near(start->value + step->value, 36, 0.01);
	assert_true(start->value == 10 || step->value == 6);
	end(&f);
}

/* --- held out --- */

static void test_discipline(void **state)
{
	struct str before = { 0 }, after = { 0 };

	(void)state;
	for (unsigned way = 0; way < 3; way++) {
		struct fixture f;

		begin(&f, 5);
		change_costs(f.truth);
		f.o.seconds = way == 0; /* 0: no search */
		times_of(&f, 0.03);
		f.curves[2].held_out = way != 1;
		for (size_t i = 0; i < f.n; i++) /* a curve beyond the range */
			if (f.points[i].curve == 4)
				f.points[i].table_bytes = 64 << 20;
		fit(&f, 5);
		text_of(f.c.machine, &before);
		assert_int_equal(f.c.past.n, 10);
		assert_int_equal(f.c.beyond[4].n, 10);
		assert_int_equal(f.c.inside[4].n, 0);
		calibration_done(&f.c);
		for (size_t i = 0; i < f.n; i++)
			if (f.points[i].curve == (way == 2 ? 4 : 2))
				f.points[i].ns *= 3;
		fit(&f, 5);
		text_of(f.c.machine, &after);
		/* the same where the curve is held out or beyond; another where it is fitted */
		assert_int_equal(strcmp(str_text(&before), str_text(&after)) == 0, way != 1);
		assert_true((way == 2 ? f.c.past.mean : way == 0 ? f.c.out.mean : 1) > 0.3);
		end(&f);
	}
	str_done(&before);
	str_done(&after);
}

static void test_hold_out(void **state)
{
	bool chosen[CURVES];
	struct err e = { 0 };
	struct fixture f;
	size_t held = 0;

	(void)state;
	begin(&f, CURVES);
	times_of(&f, 0);
	assert_int_equal(calibrate_hold_out(f.prior, f.points, f.n, f.curves, CURVES, &f.o, &e), 0);
	for (size_t k = 0; k < CURVES; k++) {
		chosen[k] = f.curves[k].held_out;
		held += chosen[k];
	}
	assert_in_range(held, 1, 2);
	assert_false(chosen[4]); /* alone in missing the third level's walk cache */
	/* measured times play no part */
	for (size_t i = 0; i < f.n; i++)
		f.points[i].ns *= 1 + (double)(i % 7);
	assert_int_equal(calibrate_hold_out(f.prior, f.points, f.n, f.curves, CURVES, &f.o, &e), 0);
	for (size_t k = 0; k < CURVES; k++)
		assert_int_equal(chosen[k], f.curves[k].held_out);
	end(&f);
	/* a single curve stays */
	begin(&f, 1);
	times_of(&f, 0);
	assert_int_equal(calibrate_hold_out(f.prior, f.points, f.n, f.curves, 1, &f.o, &e), 0);
	assert_false(f.curves[0].held_out);
	end(&f);
}

/* --- how it runs --- */

static void test_threads_and_seed(void **state)
{
	static const unsigned threads[] = { 0, 3 };
	struct str first = { 0 }, other = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++) {
		struct fixture f;

		begin(&f, 3);
		change_costs(f.truth);
		times_of(&f, 0.03);
		f.o.threads = threads[i];
		fit(&f, 3);
		text_of(f.c.machine, i ? &other : &first);
		if (i)
			assert_string_equal(str_text(&first), str_text(&other));
		end(&f);
	}
	str_done(&first);
	str_done(&other);
}

static double ticks;
static double tick(void)
{
	return ticks++;
}

static void test_budget(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 2);
	change_costs(f.truth);
	times_of(&f, 0);
	f.o.now = tick;
	f.o.seconds = 10; /* of a clock that goes by one a look */
	fit(&f, 2);
	assert_false(f.c.search_done);
	assert_in_range(f.c.tried, 1, 15);
	assert_near(f.c.machine->walker.start_cycles, 23, 0.02); /* the costs are fitted */
	end(&f);
}

static int refused(struct fixture *f, size_t n_curves, const char *told)
{
	struct err e = { 0 };
	int rc = calibrate(f->prior, f->points, f->n, f->curves, n_curves, &f->hints, &f->o, &f->c,
			   &e);

	if (rc == 0 || !strstr(e.msg, told))
		fail_msg("%d: %s", rc, e.msg);
	return rc;
}

static void test_refusals(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, 2);
	times_of(&f, 0);
	f.n = 2;
	assert_int_equal(refused(&f, 2, "2 points are left to fit"), -EINVAL);
	f.n = 20;
	f.curves[0].held_out = f.curves[1].held_out = true;
	assert_int_equal(refused(&f, 2, "20 are held out"), -EINVAL);
	f.curves[0].held_out = f.curves[1].held_out = false;
	for (size_t i = 0; i < f.n; i++)
		f.points[i].table_bytes = UINT64_C(1) << 40;
	assert_int_equal(refused(&f, 2, "of 20 the page tables outgrow"), -EINVAL);
	for (size_t i = 0; i < f.n; i++)
		f.points[i].table_bytes = 0;
	f.points[7].setting.bench = "fault.anon";
	assert_int_equal(refused(&f, 2, "fault.anon cannot be predicted"), -EINVAL);
	f.points[7].setting.bench = "tlb.chase";
	f.points[7].setting.inner_value = UINT64_C(1) << 50;
	assert_int_equal(refused(&f, 2, "of addresses are needed"), -EINVAL);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_costs),
		cmocka_unit_test(test_structure),
		cmocka_unit_test(test_directory_and_guest),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_never_exercised),
		cmocka_unit_test(test_collinear),
		cmocka_unit_test(test_discipline),
		cmocka_unit_test(test_hold_out),
		cmocka_unit_test(test_threads_and_seed),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests_name("calibrate", tests, NULL, NULL);
}
