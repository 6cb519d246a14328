/* SPDX-License-Identifier: MIT */
/* The harness with made-up benchmarks: order of calls, verdicts, evidence, samples. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bench/ctx.h"
#include "record/run.h"

enum mode {
	OK,
	SKIP_IN_SETUP,
	FAIL_AT_TWO,
	INVALID_AT_TWO,
	UNEVEN_SAMPLES,
	BAD_COUNTS,
	NO_EXPOSURE,
	ENOUGH_AT_TWO
};

struct fake {
	char calls[8192];
	unsigned samples;
};

static enum mode mode;
static char last_calls[8192];

static const struct metric metrics[] = {
	{ "ref_ns", "", "ns", BETTER_LOWER, EST_MIN, FORM_SAMPLES },
	{ "ref_cycles", "", "cycles", BETTER_LOWER, EST_MIN, FORM_SAMPLES },
	{ "add_ns", "", "ns", BETTER_NONE, EST_MIN, FORM_SAMPLES },
	{ "tables", "", "bytes", BETTER_NONE, EST_MIN, FORM_EXACT },
	{ "events", "", "ratio", BETTER_NONE, EST_MIN, FORM_COUNT },
	{ .name = NULL },
};

static void note(void *state, const char *what)
{
	struct fake *f = state;

	strncat(f->calls, what, sizeof(f->calls) - strlen(f->calls) - 1);
}

static int setup(struct bench_ctx *ctx, void *state)
{
	note(state, "S");
	bench_proof_int(ctx, "from_setup", 5);
	if (mode == SKIP_IN_SETUP)
		return bench_skip(ctx, "no %s here", "thing");
	bench_unproven(ctx, "a");
	bench_unproven(ctx, "b");
	bench_unproven(ctx, "a"); /* said already */
	return 0;
}

static int prepare(struct bench_ctx *ctx, void *state)
{
	((struct fake *)state)->samples = 0;
	note(state, "P");
	if (mode == FAIL_AT_TWO && bench_u64(ctx, "n") == 2)
		return bench_fail(ctx, EIO, "two is bad");
	return 0;
}

static int sample(struct bench_ctx *ctx, void *state)
{
	struct fake *f = state;

	f->samples++;
	note(state, "r");
	bench_value(ctx, 0, mode == UNEVEN_SAMPLES && f->samples > 1 ? 20 : 10);
	bench_value_cycles(ctx, 1, 1e6);
	bench_taint(ctx, "made_up", 2);
	if (mode == ENOUGH_AT_TWO && f->samples == 2)
		bench_enough(ctx);
	bench_count(ctx, 4, mode == BAD_COUNTS && f->samples == 2 ? INT64_MAX : 1,
		    mode == NO_EXPOSURE ? 0 : 10);
	return 0;
}

static int check(struct bench_ctx *ctx, void *state)
{
	note(state, "C");
	bench_exact(ctx, 3, 4096);
	if (mode == INVALID_AT_TWO && bench_u64(ctx, "n") == 2)
		return bench_invalid(ctx, "contrary");
	return 0;
}

static void teardown(struct bench_ctx *ctx, void *state)
{
	(void)ctx;
	note(state, "T");
	strcpy(last_calls, ((struct fake *)state)->calls);
}

static const struct bench fake = {
	.schema = { .name = "fake.one", .metrics = metrics },
	.state_size = sizeof(struct fake),
	.setup = setup,
	.prepare = prepare,
	.sample = sample,
	.check = check,
	.teardown = teardown,
};

struct seen {
	unsigned n;
	uint64_t inner[32];
	int verdict[32];
	char reason[32][64];
	char unproven[64];
	size_t samples[32], cycles[32];
	int64_t from_setup, made_up, exact, events, exposure;
	char no_count[64];
	bool has_inner;
	int stop_after;
};

static int collect(void *user, const struct bench_result *r)
{
	struct seen *s = user;
	unsigned i = s->n++;

	s->inner[i] = r->inner_value;
	s->verdict[i] = r->verdict;
	strncpy(s->reason[i], r->reason ? r->reason : "", sizeof(s->reason[i]) - 1);
	strncpy(s->unproven, r->unproven ? r->unproven : "", sizeof(s->unproven) - 1);
	s->samples[i] = r->values[0].n;
	s->cycles[i] = r->values[1].n;
	s->from_setup = attrs_int(&r->proof, "from_setup", -1);
	s->made_up = attrs_int(&r->taints, "made_up", -1);
	s->exact = r->values[3].has_exact ? r->values[3].exact : -1;
	s->events = r->values[4].has_count ? r->values[4].events : -1;
	s->exposure = r->values[4].has_count ? r->values[4].exposure : -1;
	strncpy(s->no_count, r->values[4].null_reason ? r->values[4].null_reason : "",
		sizeof(s->no_count) - 1);
	s->has_inner = r->has_inner;
	return s->stop_after && (int)s->n >= s->stop_after ? -EPIPE : 0;
}

static int run_fake(struct seen *s, uint64_t seed, unsigned samples)
{
	static const uint64_t values[] = { 1, 2, 3, 4, 5 };
	struct invocation_spec spec = { .bench = &fake,
					.inner = "n",
					.inner_values = values,
					.n_inner = 5,
					.seed = seed,
					.samples = samples,
					.point_seconds = 1.0 };
	struct err e = { 0 };

	last_calls[0] = '\0';
	return bench_run_invocation(&spec, collect, s, &e);
}

static void every_point_in_order_of_calls(void **state)
{
	struct seen s = { 0 };
	uint64_t sum = 0;

	(void)state;
	mode = OK;
	assert_int_equal(run_fake(&s, 1, 4), 0);
	assert_int_equal(s.n, 5);
	for (unsigned i = 0; i < s.n; i++) {
		sum += s.inner[i] * s.inner[i];
		assert_int_equal(s.verdict[i], VERDICT_OK);
		assert_int_equal(s.samples[i], 4);
		assert_int_equal(s.cycles[i], 4);
	}
	assert_int_equal(sum, 1 + 4 + 9 + 16 + 25);
	assert_string_equal(last_calls, "SPrrrrCPrrrrCPrrrrCPrrrrCPrrrrCT");
	assert_int_equal(s.from_setup, 5);
	assert_int_equal(s.made_up, 4 * 2);
	assert_int_equal(s.exact, 4096);
	assert_string_equal(s.unproven, "a; b");
}

static void order_is_shuffled_by_seed(void **state)
{
	unsigned different = 0;
	struct seen first = { 0 };

	(void)state;
	mode = OK;
	run_fake(&first, 1, 3);
	for (uint64_t seed = 1; seed < 8; seed++) {
		struct seen s = { 0 };

		run_fake(&s, seed, 3);
		different += memcmp(s.inner, first.inner, sizeof(s.inner)) != 0;
		if (seed == 1)
			assert_memory_equal(s.inner, first.inner, sizeof(s.inner));
	}
	assert_true(different >= 4);
}

static void skip_in_setup_is_one_result(void **state)
{
	struct seen s = { 0 };

	(void)state;
	mode = SKIP_IN_SETUP;
	assert_int_equal(run_fake(&s, 1, 4), 0);
	assert_int_equal(s.n, 1);
	assert_false(s.has_inner);
	assert_int_equal(s.verdict[0], VERDICT_SKIPPED);
	assert_string_equal(s.reason[0], "no thing here");
	assert_string_equal(last_calls, "ST");
	assert_int_equal(s.from_setup, 5);
}

static void one_bad_point_spares_the_others(void **state)
{
	(void)state;
	for (int m = FAIL_AT_TWO; m <= INVALID_AT_TWO; m++) {
		struct seen s = { 0 };

		mode = (enum mode)m;
		assert_int_equal(run_fake(&s, 3, 4), 0);
		assert_int_equal(s.n, 5);
		for (unsigned i = 0; i < 5; i++) {
			if (s.inner[i] != 2) {
				assert_int_equal(s.verdict[i], VERDICT_OK);
				assert_string_equal(s.reason[i], "");
			} else if (m == FAIL_AT_TWO) {
				assert_int_equal(s.verdict[i], VERDICT_FAILED);
				assert_non_null(strstr(s.reason[i], "two is bad"));
				assert_non_null(strstr(s.reason[i], strerror(EIO)));
				assert_int_equal(s.samples[i], 0);
			} else {
				assert_int_equal(s.verdict[i], VERDICT_INVALID);
				assert_int_equal(s.samples[i], 4); /* kept */
			}
		}
	}
}

static void uneven_samples_are_taken_again(void **state)
{
	struct seen s = { 0 };

	(void)state;
	mode = UNEVEN_SAMPLES;
	run_fake(&s, 1, 6);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(s.samples[i], 12);
}

static void counts_are_summed_over_a_point(void **state)
{
	struct seen s = { 0 };

	(void)state;
	mode = OK;
	assert_int_equal(run_fake(&s, 1, 4), 0);
	assert_int_equal(s.events, 4);
	assert_int_equal(s.exposure, 40);
	assert_string_equal(s.no_count, "");
}

static void counts_that_cannot_be_have_no_value(void **state)
{
	struct seen s = { 0 };

	(void)state;
	mode = BAD_COUNTS;
	assert_int_equal(run_fake(&s, 1, 4), 0);
	assert_int_equal(s.verdict[0], VERDICT_OK);
	assert_int_equal(s.events, -1);
	assert_non_null(strstr(s.no_count, "beyond 64 bits"));
	mode = NO_EXPOSURE;
	s = (struct seen){ 0 };
	assert_int_equal(run_fake(&s, 1, 4), 0);
	assert_int_equal(s.exposure, -1);
	assert_string_equal(s.no_count, "");
}

static void a_whole_run_is_enough(void **state)
{
	struct seen s = { 0 };

	(void)state;
	mode = ENOUGH_AT_TWO;
	assert_int_equal(run_fake(&s, 1, 10), 0);
	assert_int_equal(s.n, 5); /* of this point only */
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(s.samples[i], 2);
}

static void a_broken_receiver_ends_it(void **state)
{
	struct seen s = { .stop_after = 2 };

	(void)state;
	mode = OK;
	assert_int_equal(run_fake(&s, 1, 3), -EPIPE);
	assert_int_equal(s.n, 2);
	assert_int_equal(last_calls[strlen(last_calls) - 1], 'T');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_point_in_order_of_calls),
		cmocka_unit_test(order_is_shuffled_by_seed),
		cmocka_unit_test(skip_in_setup_is_one_result),
		cmocka_unit_test(one_bad_point_spares_the_others),
		cmocka_unit_test(uneven_samples_are_taken_again),
		cmocka_unit_test(counts_are_summed_over_a_point),
		cmocka_unit_test(counts_that_cannot_be_have_no_value),
		cmocka_unit_test(a_whole_run_is_enough),
		cmocka_unit_test(a_broken_receiver_ends_it),
	};

	return cmocka_run_group_tests_name("harness", tests, NULL, NULL);
}
