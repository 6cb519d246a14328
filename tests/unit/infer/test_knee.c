// SPDX-License-Identifier: MIT
/*
 * The knee finder on published and measured curves, on its edges, and what it must not depend on.
 * The Zen 3 curves were measured by hand in a virtual machine on an AMD EPYC (Zen 3, nested paging
 * over 4 KiB pages): least of 25 repetitions, ns per reference, random order.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "infer/knee.h"
#include "stats/stats.h"

#include "near.h"

enum { MOST = 128 };

struct curve {
	double x[MOST], y[MOST];
	size_t n;
};

static void find(const struct curve *c, struct knees *ret)
{
	struct knee_curve k = { .x = c->x, .y = c->y, .n = c->n };
	struct err e = { 0 };

	assert_int_equal(knees_find(&k, ret, &e), 0);
	for (size_t i = 0; i < ret->n; i++) {
		const struct knee *at = &ret->v[i];

		assert_true(at->low <= at->capacity && at->capacity <= at->high);
		assert_true(at->after > at->before && at->before > 0);
		assert_true(i == 0 || at->capacity > ret->v[i - 1].capacity);
	}
}

/* The knee whose capacity lies in [low, high); NULL: none. */
static const struct knee *knee_in(const struct knees *k, double low, double high)
{
	for (size_t i = 0; i < k->n; i++) {
		if (k->v[i].capacity >= low && k->v[i].capacity < high)
			return &k->v[i];
	}
	return NULL;
}

/* The same, which must be there. */
static struct knee need(const struct knees *k, double low, double high)
{
	const struct knee *at = knee_in(k, low, high);

	if (!at)
		fail_msg("no knee in [%g, %g)", low, high);
	return at ? *at : (struct knee){ 0 };
}

static void read_altix(int column, struct curve *ret)
{
	FILE *f = fopen(ALTIX_CSV, "re");
	char line[256];

	assert_non_null(f);
	ret->n = 0;
	while (fgets(line, sizeof(line), f)) {
		char *at;
		double v[3];

		if (line[0] < '0' || line[0] > '9')
			continue;
		at = line;
		for (int i = 0; i < 3; i++) {
			v[i] = strtod(at, &at);
			at += *at == ',';
		}
		ret->x[ret->n] = v[0];
		ret->y[ret->n++] = v[column];
	}
	fclose(f);
	assert_int_equal(ret->n, 27);
}

static void altix_has_two_cliffs_in_both_columns(void **state)
{
	(void)state;
	for (int column = 1; column <= 2; column++) {
		struct knee first, second;
		struct curve c;
		struct knees k;

		read_altix(column, &c);
		find(&c, &k);
		/* The slow rise from 300 to 900 is no third one. */
		assert_int_equal(k.n, 2);
		first = need(&k, 30, 40);
		second = need(&k, 110, 120);
		assert_near(first.nominal, 32, 0);
		assert_near(second.nominal, 128, 0);
		assert_true(first.low <= 30 && first.high >= 39);
		assert_true(second.low <= 110 && second.high >= 119);
		assert_near(first.before, 3, 0.1);
		assert_near(first.after, 11.4, 0.05);
	}
}

static const struct curve zen3_zero = {
	.x = { 8,    60,   64,   66,   72,   80,   96,   128,  256,   512,   1280,
	       2000, 2048, 2100, 2200, 2560, 3072, 4096, 8192, 16384, 32768, 65536 },
	.y = { 1.37, 1.45, 3.50, 4.12, 4.98, 5.92, 7.26, 8.8,  9.0,  9.0,  9.2,
	       9.4,  9.6,  13.1, 16.6, 17.8, 20.4, 20.6, 22.3, 24.1, 26.7, 30.9 },
	.n = 22,
};

static void zen3_zero_page(void **state)
{
	struct knees k;

	(void)state;
	find(&zen3_zero, &k);
	assert_near(need(&k, 56, 66).nominal, 64, 0);
	assert_near(need(&k, 1946, 2150).nominal, 2048, 0);
	/* The alias rise up to 128 pointers belongs to the first knee, or is one by itself, but
	 * nothing else lies between the two. */
	assert_null(knee_in(&k, 150, 1946));
}

/* One point above the knee is half way: the capacity is the last that surely fits. */
static void zen3_equal_tags(void **state)
{
	static const struct curve c = {
		.x = { 8, 16, 32, 48, 60, 62, 64, 66, 72, 96, 128, 192, 256, 384, 512 },
		.y = { 4.1, 4.1, 4.1, 4.1, 4.1, 4.3, 7, 10.9, 11.1, 11.2, 11.2, 11.2, 11.2, 11.2,
		       11.2 },
		.n = 15,
	};
	struct knees k;

	(void)state;
	find(&c, &k);
	assert_int_equal(k.n, 1);
	assert_true(k.v[0].is_step);
	assert_near(k.v[0].capacity, 62.5, 0.01);
	assert_near(k.v[0].nominal, 64, 0);
	assert_near(k.v[0].before, 4.1, 0.02);
	assert_near(k.v[0].after, 11.2, 0.02);
}

/* Offsets inside one huge page: the first level's end shows as for small pages. */
static void zen3_inside_a_huge_page(void **state)
{
	static const struct curve c = {
		.x = { 8, 60, 66, 256, 512, 1024, 2048, 3072, 8192 },
		.y = { 1.4, 1.4, 3.71, 3.86, 6.6, 6.9, 13.2, 18.2, 29 },
		.n = 9,
	};
	struct knees k;

	(void)state;
	find(&c, &k);
	assert_near(need(&k, 60, 66).nominal, 64, 0);
}

static void zen3_distinct_and_contiguous(void **state)
{
	/* Here random page colours smear the second level's end (1.5 times the cost at 1536). */
	static const struct curve distinct = {
		.x = { 8,    60,   64,   66,   128,  256,  512,  1024,  1280,  1536,
		       1792, 2048, 2200, 2560, 3072, 4096, 8192, 16384, 32768, 65536 },
		.y = { 1.44, 1.48, 1.90, 3.81, 3.83, 3.74, 5.77, 6.65, 6.75, 11.5,
		       12.2, 18.1, 21.8, 23.9, 28.1, 32.3, 48,   46,   236,  283 },
		.n = 20,
	};
	/* Contiguous frames have no colours to lose; too few points lie below 64 for the first. */
	static const struct curve contiguous = {
		.x = { 60, 64, 66, 256, 512, 1280, 1792, 2000, 2048, 2100, 2200, 2560, 3072, 4096,
		       8192, 16384, 32768, 65536 },
		.y = { 2.4, 3.6, 3.79, 4.3, 6.5, 6.9, 8.7, 9.8, 10.9, 12.7, 17.1, 18.8, 23.9, 26.8,
		       37.5, 44.5, 209, 224 },
		.n = 18,
	};
	struct knees k;

	(void)state;
	find(&distinct, &k);
	assert_near(need(&k, 60, 66).nominal, 64, 0);
	find(&contiguous, &k);
	assert_near(need(&k, 1700, 2150).nominal, 2048, 0);
}

static void edges(void **state)
{
	static const double x[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	static const double same[] = { 1, 2, 2, 4, 5, 6, 7, 8 };
	static const double falling[] = { 1, 2, 3, 4, 5, 4, 7, 8 };
	static const double zero[] = { 0, 2, 3, 4, 5, 6, 7, 8 };
	static const double endless[] = { 1, 2, 3, 4, 5, 6, 7, INFINITY };
	static const double hole[] = { 1, 1, NAN, 1, 9, 9, 9, 9 };
	static const double ones[] = { 1, 1, 1, 1, 1, 1, 1, 1 };
	static const struct {
		const double *x, *y;
		int rc;
	} rows[] = {
		{ x, ones, 0 },          { same, ones, -EINVAL }, { falling, ones, -EINVAL },
		{ zero, ones, -EINVAL }, { x, zero, -EINVAL },    { x, hole, -EINVAL },
		{ x, endless, -EINVAL }, { endless, x, -EINVAL }, { hole, x, -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct knee_curve c = { .x = rows[i].x, .y = rows[i].y, .n = 8 };
		struct knees k = { .n = 77 };
		struct err e = { 0 };

		assert_int_equal(knees_find(&c, &k, &e), rows[i].rc);
		assert_int_equal(k.n, rows[i].rc ? 77 : 0);
		assert_int_equal(e.code, -rows[i].rc);
	}
}

static void few_points_have_no_knee(void **state)
{
	static const double x[] = { 1, 2, 4, 8, 16, 32 };
	static const double y[] = { 1, 1, 1, 9, 9, 9 };

	(void)state;
	for (size_t n = 0; n <= 6; n++) {
		struct knee_curve c = { .x = x, .y = y, .n = n };
		struct knees k = { .n = 77 };

		assert_int_equal(knees_find(&c, &k, NULL), 0);
		assert_int_equal(k.n, n == 6 ? 1 : 0);
	}
}

static void make(struct curve *c, double first, double second, double noise, uint64_t seed)
{
	struct rng r;

	rng_seed(&r, seed);
	c->n = 0;
	for (int i = 0; i < 45; i++) {
		double x = floor(4 * exp2(0.25 * i) + 0.5);

		if (c->n > 0 && x <= c->x[c->n - 1])
			continue;
		c->x[c->n] = x;
		c->y[c->n++] = (4 + 7 * fmax(0, 1 - first / x) + 32 * fmax(0, 1 - second / x)) *
			       exp(noise * rng_normal(&r));
	}
}

static void other_units_change_nothing(void **state)
{
	struct curve c, scaled;
	struct knees a, b;

	(void)state;
	make(&c, 64, 1500, 0.02, 4);
	scaled = c;
	for (size_t i = 0; i < c.n; i++) {
		scaled.x[i] *= 4096;
		scaled.y[i] *= 0.25;
	}
	find(&c, &a);
	find(&scaled, &b);
	assert_int_equal(a.n, 2);
	assert_int_equal(b.n, 2);
	for (size_t i = 0; i < 2; i++) {
		/* The search for a place ends within 0.2 %. */
		assert_near(b.v[i].capacity / 4096, a.v[i].capacity, 2e-3);
		assert_near(b.v[i].after * 4, a.v[i].after, 2e-3);
	}
}

/* Disturbances only add: single points far too high must not move a knee or make one. */
static void single_disturbed_points_do_not_count(void **state)
{
	static const size_t at[] = { 3, 12, 22, 30, 38 };

	(void)state;
	for (uint64_t seed = 0; seed < 8; seed++) {
		struct curve c;
		struct knees k;

		make(&c, 64, 1500, 0.01, seed);
		for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
			c.y[at[i]] *= 1.5 + 0.5 * (double)i;
		find(&c, &k);
		assert_int_equal(k.n, 2);
		assert_near(log2(k.v[0].capacity / 64), 0, 0.1);
		assert_near(log2(k.v[1].capacity / 1500), 0, 0.1);
	}
}

/* A cost that falls at small x (overhead of each round) is no knee and hides none. */
static void overhead_of_small_rounds_is_no_knee(void **state)
{
	struct curve c;
	struct knees k;

	(void)state;
	make(&c, 64, 1500, 0.01, 2);
	for (size_t i = 0; i < c.n; i++)
		c.y[i] += 18 / c.x[i];
	find(&c, &k);
	assert_int_equal(k.n, 2);
	assert_near(log2(k.v[0].capacity / 64), 0, 0.1);
}

static void replicates_widen_the_interval(void **state)
{
	enum { REPS = 8 };
	static double reps[REPS * MOST];
	struct curve c;
	struct knee_curve k = { 0 };
	struct knees alone, with, again, holes;

	(void)state;
	make(&c, 64, 1500, 0, 0);
	/* Every invocation has capacities of its own, as page frames and neighbours give. */
	for (size_t r = 0; r < REPS; r++) {
		struct curve one;

		make(&one, 64 * (0.8 + 0.05 * (double)r), 1500 * (0.7 + 0.08 * (double)r), 0.01, r);
		memcpy(reps + r * c.n, one.y, c.n * sizeof(double));
	}
	for (size_t i = 0; i < c.n; i++) {
		double v[REPS];

		for (size_t r = 0; r < REPS; r++)
			v[r] = reps[r * c.n + i];
		c.y[i] = stats_median(v, REPS);
	}
	k = (struct knee_curve){ .x = c.x, .y = c.y, .n = c.n };
	assert_int_equal(knees_find(&k, &alone, NULL), 0);
	k.reps = reps;
	k.n_reps = REPS;
	k.rep_quantile = 0.5;
	k.rep_quantile = 0.5;
	assert_int_equal(knees_find(&k, &with, NULL), 0);
	assert_int_equal(knees_find(&k, &again, NULL), 0);
	assert_memory_equal(&with, &again, sizeof(with));
	assert_int_equal(alone.n, 2);
	assert_int_equal(with.n, 2);
	for (size_t i = 0; i < 2; i++)
		assert_true(with.v[i].high / with.v[i].low > alone.v[i].high / alone.v[i].low);
	assert_true(with.v[1].low < 1400 && with.v[1].high > 1550);
	/* Missing values are no error, not even a point without any. */
	for (size_t r = 0; r < REPS; r++)
		reps[r * c.n + (r < 7 ? 20 : r)] = NAN;
	assert_int_equal(knees_find(&k, &holes, NULL), 0);
	assert_int_equal(holes.n, 2);
}

static void intervals_are_not_narrower_than_the_grid(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct curve c;
		struct knees k;

		make(&c, 40 + 3 * (double)seed, 1000 + 100 * (double)seed, 0.001, seed);
		find(&c, &k);
		assert_int_equal(k.n, 2);
		for (size_t i = 0; i < 2; i++) {
			size_t at = 0;

			while (c.x[at + 1] <= k.v[i].capacity)
				at++;
			assert_true(k.v[i].low <= c.x[at]);
			assert_true(k.v[i].high >= c.x[at + 1] - 1);
		}
	}
}

static void nominal_sizes(void **state)
{
	static const struct {
		double capacity, low, high, nominal;
	} rows[] = {
		{ 64, 64, 64, 64 },         { 62, 60, 63, 64 }, /* pages of the program itself */
		{ 57, 55, 58.2, 64 },                           /* 58.2 * 1.1 reaches 64 */
		{ 57, 55, 58.1, NAN },      /* and 58.1 does not; 72, 80, 48 are out of reach */
		{ 70, 69, 71, 72 },         /* 9 * 8 */
		{ 1500, 1450, 1530, 1536 }, /* 3 * 512 */
		{ 1240, 1200, 1279, 1280 }, /* 5 * 256 */
		{ 34.2, 30, 39, 32 },       /* 2^k before 36 = 9 * 4 */
		{ 45, 40, 50, 48 },         /* 3 * 16 before 40 = 5 * 8 */
		{ 100, 30, 300, 128 },      /* several powers: the nearest */
		{ 115, 110, 119, 128 },     { 1, 1, 1, 1 },         { 30000, 28000, 31000, 32768 },
		{ 0, 0, 0, NAN },           { -5, -6, -4, NAN },    { NAN, 1, 2, NAN },
		{ 5, NAN, 6, NAN },         { 5, 4, NAN, NAN },     { 5, 6, 4, NAN },
		{ 5, 4, INFINITY, NAN },    { 0.3, 0.2, 0.4, NAN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_near(knee_nominal(rows[i].capacity, rows[i].low, rows[i].high),
			    rows[i].nominal, 0);
}

static void refining_asks_inside_the_gap(void **state)
{
	static const double x[] = { 4, 8, 16, 32, 64, 128, 256, 512, 513 };
	struct knee_curve c = { .x = x, .y = x, .n = 9 };
	struct knees k = { .n = 1, .v = { { .capacity = 45, .low = 32, .high = 63 } } };
	uint64_t more[8];
	size_t n;

	(void)state;
	n = knees_refine(&c, &k, more, 8);
	assert_int_equal(n, 8);
	assert_int_equal(more[0], 45);
	for (size_t i = 0; i < n; i++) {
		assert_in_range(more[i], 33, 63);
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(more[i], more[j]);
	}
	/* Two knees share, the wider gap first. */
	k.n = 2;
	k.v[1] = (struct knee){ .capacity = 300, .low = 256, .high = 511 };
	n = knees_refine(&c, &k, more, 2);
	assert_int_equal(n, 2);
	assert_in_range(more[0], 33, 63);
	assert_in_range(more[1], 257, 511);
}

static void refining_ends(void **state)
{
	static const double x[] = { 4, 8, 16, 63, 64, 65, 512, 513, 1e15, 1e15 + 1 };
	struct knee_curve c = { .x = x, .y = x, .n = 10 };
	struct knees none = { 0 };
	struct knees k = { .n = 1, .v = { { .capacity = 64, .low = 64, .high = 64 } } };
	uint64_t more[8];

	(void)state;
	assert_int_equal(knees_refine(&c, &none, more, 8), 0);
	assert_int_equal(knees_refine(&c, &k, more, 8), 0); /* neighbours are 64 and 65 */
	assert_int_equal(knees_refine(&c, &k, more, 0), 0);
	k.v[0] = (struct knee){ .capacity = 512, .low = 512, .high = 512 };
	assert_int_equal(knees_refine(&c, &k, more, 8), 0);
	k.v[0] = (struct knee){ .capacity = 3e15, .low = 2e15, .high = 4e15 };
	assert_int_equal(knees_refine(&c, &k, more, 8), 0); /* behind the last point */
	k.v[0] = (struct knee){ .capacity = 2, .low = 1, .high = 3 };
	assert_int_equal(knees_refine(&c, &k, more, 8), 0); /* before the first */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(altix_has_two_cliffs_in_both_columns),
		cmocka_unit_test(zen3_zero_page),
		cmocka_unit_test(zen3_equal_tags),
		cmocka_unit_test(zen3_inside_a_huge_page),
		cmocka_unit_test(zen3_distinct_and_contiguous),
		cmocka_unit_test(edges),
		cmocka_unit_test(few_points_have_no_knee),
		cmocka_unit_test(other_units_change_nothing),
		cmocka_unit_test(single_disturbed_points_do_not_count),
		cmocka_unit_test(overhead_of_small_rounds_is_no_knee),
		cmocka_unit_test(replicates_widen_the_interval),
		cmocka_unit_test(intervals_are_not_narrower_than_the_grid),
		cmocka_unit_test(nominal_sizes),
		cmocka_unit_test(refining_asks_inside_the_gap),
		cmocka_unit_test(refining_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
