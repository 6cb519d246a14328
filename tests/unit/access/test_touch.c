/* SPDX-License-Identifier: MIT */
/* Touch patterns: shares of lines from the patterns themselves; the historical search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>

#include "access/touch.h"
#include "access/touch_search.h"
#include "base/rng.h"

static double share(enum touch_pattern p, uint64_t bytes, uint64_t line)
{
	struct touch t;
	uint64_t lines = 0;

	touch_init(&t, p, bytes, 5);
	assert_int_equal(touch_lines(&t, line, &lines), 0);
	return 100.0 * (double)lines / (double)(bytes / line);
}

static void shares_of_lines(void **state)
{
	static const struct {
		enum touch_pattern pattern;
		uint64_t line;
		double percent;
	} rows[] = {
		{ TOUCH_KERNEL, 64, 66.7 },       { TOUCH_KERNEL, 128, 88.9 },
		{ TOUCH_FOUR_REGION, 64, 100.0 }, { TOUCH_FOUR_REGION, 128, 100.0 },
		{ TOUCH_FULL, 64, 100.0 },        { TOUCH_FULL, 128, 100.0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double is = share(rows[i].pattern, 6 << 20, rows[i].line);

		if (fabs(is - rows[i].percent) > 0.05)
			fail_msg("%s, lines of %d: %.3f %%", touch_pattern_words[rows[i].pattern],
				 (int)rows[i].line, is);
	}
}

/* The sixths of the working set of the kernel's pattern, as its defect was reported. */
static void kernel_leaves_out_by_sixths(void **state)
{
	static const double want[6] = { 1. / 3, 2. / 3, 2. / 3, 1, 1, 1. / 3 };
	const uint64_t words = 6 * 48000;
	unsigned char *seen = calloc(words, 1);

	(void)state;
	assert_non_null(seen);
	/* the original loop, said again: a switch over i % 6 that falls through */
	for (uint64_t i = 0; i < words / 6; i += 8) {
		const uint64_t at[6] = { i,
					 words - 1 - i,
					 words / 3 - i,
					 words / 3 + i,
					 2 * words / 3 - i,
					 2 * words / 3 + i };

		for (uint64_t k = i % 6; k < 6; k++)
			seen[at[k]]++;
	}
	struct touch t;
	uint64_t lines = 0, n = 0, sum = 0;

	touch_init(&t, TOUCH_KERNEL, words * 8, 0);
	assert_int_equal(touch_lines(&t, 64, &lines), 0);
	for (unsigned s = 0; s < 6; s++) {
		uint64_t here = 0;

		for (uint64_t l = s * 6000; l < (s + 1) * 6000; l++) {
			unsigned any = 0;

			for (uint64_t w = 8 * l; w < 8 * l + 8; w++) {
				any += seen[w];
				sum += seen[w];
			}
			here += any > 0;
		}
		n += here;
		assert_true(fabs((double)here / 6000 - want[s]) < 0.002);
	}
	assert_int_equal(lines, n);
	assert_int_equal(touch_count(&t), sum);
	free(seen);
}

static void mark(void *user, uint64_t word)
{
	unsigned char *seen = user;

	assert_int_equal(word % 8, 0);
	assert_int_equal(seen[word / 8], 0);
	seen[word / 8] = 1;
}

/* Each line once, whatever the size; and neither in order nor at one stride. */
static void full_touches_each_line_once(void **state)
{
	static const uint64_t sizes[] = { 512, 4096, 4160, 65536, 65536 + 64, 1000000, 1 << 20 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		unsigned char *seen = calloc(sizes[i] / 64 + 1, 1);
		struct touch t;
		uint64_t lines;

		assert_non_null(seen);
		touch_init(&t, TOUCH_FULL, sizes[i], 9);
		touch_walk_full(&t, mark, seen);
		for (uint64_t l = 0; l < sizes[i] / 64; l++)
			assert_int_equal(seen[l], 1);
		assert_int_equal(seen[sizes[i] / 64], 0);
		assert_int_equal(touch_count(&t), sizes[i] / 64);
		assert_int_equal(touch_lines(&t, 64, &lines), 0);
		assert_int_equal(lines, sizes[i] / 64);
		free(seen);
	}
}

struct steps {
	uint64_t last, n, same, stride;
};

static void count_step(void *user, uint64_t word)
{
	struct steps *s = user;
	uint64_t stride = word - s->last;

	s->same += s->n > 0 && stride == s->stride;
	s->stride = stride;
	s->last = word;
	s->n++;
}

static void full_has_no_stride(void **state)
{
	struct steps s = { 0 };
	struct touch t, other;

	(void)state;
	touch_init(&t, TOUCH_FULL, 1 << 20, 3);
	touch_walk_full(&t, count_step, &s);
	assert_true(s.same < s.n / 20);
	touch_init(&other, TOUCH_FULL, 1 << 20, 4);
	assert_memory_not_equal(t.order, other.order, sizeof(t.order));
}

/* --- the search --- */

/* What the search finds on a curve that rises to @peak and falls behind it, with noise. */
static struct touch_search run_search(uint64_t cache, double peak, double noise, double fall,
				      uint64_t seed)
{
	struct touch_search s;
	struct rng rng;

	rng_seed(&rng, seed);
	touch_search_begin(&s, cache);
	while (!s.ended) {
		double x = (double)s.size / peak;
		double y = x < 1 ? x : fmax(1 - fall * (x - 1), -0.2);

		touch_search_tell(&s, (int64_t)(1e6 * y * (1 + noise * rng_normal(&rng))));
	}
	return s;
}

static void search_finds_the_maximum(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct touch_search s = run_search(8 << 20, 6e6, 0.03, 0.8, seed);

		/* two steps of 10/9, and the dearest of noisy costs */
		if (fabs((double)s.found_bytes / 6e6 - 1) > 0.25 || s.max_cost_ns < 880000 ||
		    s.max_cost_ns > 1130000)
			fail_msg("seed %d: %d bytes, %d ns", (int)seed, (int)s.found_bytes,
				 (int)s.max_cost_ns);
		assert_true(s.early);
		assert_int_equal(touch_search_result_ns(&s, 100), 2 * s.max_cost_ns);
		assert_int_equal(touch_search_result_ns(&s, 50), s.max_cost_ns);
	}
}

static void search_has_the_historical_range(void **state)
{
	static const struct {
		uint64_t cache, first, last;
		unsigned steps; /* of a curve that only rises */
	} rows[] = {
		{ 8 << 20, 4 << 20, 16 << 20, 14 },
		{ 0, 65536, 10 << 20, 49 },
		{ 40000, 65536, 80000, 2 },
		{ 1000, 65536, 65536, 1 },
		/* sizes whose hundredfold is beyond 32 bits */
		{ UINT64_C(256) << 20, UINT64_C(128) << 20, UINT64_C(512) << 20, 14 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct touch_search s = run_search(rows[i].cache, 1e9, 0, 1, 1);

		assert_int_equal(touch_search_first(rows[i].cache), rows[i].first);
		assert_int_equal(touch_search_last(rows[i].cache), rows[i].last);
		assert_int_equal(s.steps, rows[i].steps);
		assert_false(s.early);
		/* the defect: where costs only rise, the last size is "found" */
		assert_true(s.found_bytes * 10 / 9 > rows[i].last);
	}
}

static void search_ends_early_as_written(void **state)
{
	struct touch_search s;

	(void)state;
	touch_search_begin(&s, 1 << 20);
	touch_search_tell(&s, 1000); /* 512k */
	assert_int_equal(s.size, 524288 * 10 / 9);
	touch_search_tell(&s, 100); /* far cheaper, but not 30 % beyond */
	touch_search_tell(&s, 100);
	assert_false(s.ended);
	touch_search_tell(&s, 100); /* 702 k: 34 % beyond; fluctuation 112: 212 * 130 < 100000 */
	assert_true(s.ended && s.early);
	assert_int_equal(s.steps, 4);
	touch_search_tell(&s, 1000000); /* told too late */
	assert_int_equal(s.max_cost_ns, 1000);
}

static void search_rejects_what_is_no_cost(void **state)
{
	struct touch_search s;

	(void)state;
	touch_search_begin(&s, 1 << 20);
	while (!s.ended)
		touch_search_tell(&s, -5000);
	assert_int_equal(s.found_bytes, 0);
	assert_int_equal(s.max_cost_ns, 0);
	assert_false(s.early); /* nothing found: it looks to the end */
	assert_int_equal(touch_search_result_ns(&s, 100), 0);
	/* large fluctuation keeps it from ending early */
	touch_search_begin(&s, 1 << 20);
	for (int i = 0; i < 5; i++)
		touch_search_tell(&s, i % 2 ? 1 : 1000 - i);
	assert_false(s.ended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_of_lines),
		cmocka_unit_test(kernel_leaves_out_by_sixths),
		cmocka_unit_test(full_touches_each_line_once),
		cmocka_unit_test(full_has_no_stride),
		cmocka_unit_test(search_finds_the_maximum),
		cmocka_unit_test(search_has_the_historical_range),
		cmocka_unit_test(search_ends_early_as_written),
		cmocka_unit_test(search_rejects_what_is_no_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
