/* SPDX-License-Identifier: MIT */
/* The line protocol: what is written comes back, and what nobody wrote is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "record/run.h"
#include "run/wire.h"

static const struct bench *sweep(void)
{
	return bench_find("fake.sweep");
}

/* Feeds @text in pieces of @step bytes and returns the first event that is not WIRE_MORE. */
static int feed_all(struct wire_reader *r, const char *text, size_t n, size_t step,
		    struct wire_message *m, struct err *e)
{
	int event = WIRE_MORE;

	for (size_t i = 0; i < n && event == WIRE_MORE; i += step) {
		event = wire_feed(r, text + i, n - i < step ? n - i : step, e);
		if (event == 0)
			event = wire_next(r, m, e);
	}
	return event;
}

static void test_spec(void **state)
{
	uint64_t values[] = { 1, 77, UINT64_MAX };
	struct invocation_spec s = { .bench = sweep(),
				     .inner = "n",
				     .inner_values = values,
				     .n_inner = 3,
				     .invocation = 4,
				     .seed = UINT64_MAX,
				     .samples = 9,
				     .point_seconds = 0.1 },
			       back = { 0 };
	struct arena a = { 0 };
	struct str out = { 0 };
	struct err e = { 0 };
	const char *name = NULL;

	(void)state;
	attrs_set_text(&a, &s.setting.given, "page", "4k");
	attrs_set_text(&a, &s.setting.given, "odd", "a b%\n\xc3\xa4");
	attrs_set_text(&a, &s.setting.given, "empty", "");
	attrs_set_int(&a, &s.setting.resolved, "load.node", -1);
	attrs_set_int(&a, &s.setting.resolved, "least", INT64_MIN);
	attrs_set_real(&a, &s.setting.resolved, "real", 1e-320);
	attrs_set_null(&a, &s.setting.resolved, "null", "no reason");
	assert_int_equal(wire_put_spec(&out, &s), 0);
	assert_int_equal(wire_get_spec(&a, out.data, &name, &back, &e), 0);
	assert_string_equal(name, "fake.sweep");
	assert_null(back.bench);
	assert_string_equal(back.inner, "n");
	assert_int_equal(back.n_inner, 3);
	assert_memory_equal(back.inner_values, values, sizeof(values));
	assert_int_equal(back.invocation, 4);
	assert_true(back.seed == UINT64_MAX);
	assert_int_equal(back.samples, 9);
	assert_true(back.point_seconds == 0.1);
	assert_true(attrs_equal(&back.setting.resolved, &s.setting.resolved));
	assert_int_equal(back.setting.given.n, 3);
	assert_string_equal(attrs_text(&back.setting.given, "page", ""), "4k");
	/* control characters do not survive, the rest does */
	assert_string_equal(attrs_text(&back.setting.given, "odd", ""), "a b%?\xc3\xa4");
	assert_string_equal(attrs_text(&back.setting.given, "empty", "x"), "");
	str_done(&out);
	arena_done(&a);
}

static void test_bad_specs(void **state)
{
	static const char *const rows[] = {
		"",
		"\n",
		"spec 1\n",
		"spec 2\nbench b\nsamples 1\npoint-seconds 1\nend\n",
		"bench b\nsamples 1\npoint-seconds 1\nend\n",
		"spec 1\nspec 1\nbench b\nsamples 1\npoint-seconds 1\nend\n",
		"spec 1\nbench b\nsamples 1\npoint-seconds 1\nend",
		"spec 1\nbench b\nsamples 1\npoint-seconds 1\nend\nx",
		"spec 1\nbench b\nsamples 0\npoint-seconds 1\nend\n",
		"spec 1\nbench b\npoint-seconds 1\nend\n",
		"spec 1\nbench b\nsamples 1\nend\n",
		"spec 1\nsamples 1\npoint-seconds 1\nend\n",
		"spec 1\nbench b\nsamples 1\npoint-seconds -1\nend\n",
		"spec 1\nbench b\nsamples 1\npoint-seconds inf\nend\n",
		"spec 1\nbench b\nsamples 4294967296\npoint-seconds 1\nend\n",
		"spec 1\nbench b c\nsamples 1\npoint-seconds 1\nend\n",
		"spec 1\nbench %\nsamples 1\npoint-seconds 1\nend\n",
		"spec 1\nbench  b\nsamples 1\npoint-seconds 1\nend\n",
		"spec 1\nbench b\nsamples 1\npoint-seconds 1\ninner n\nend\n",
		"spec 1\nbench b\nsamples 1\npoint-seconds 1\ninner n\nvalues 0\nend\n",
		"spec 1\nbench b\nsamples 1\npoint-seconds 1\nvalues 1 1\nend\n",
		"spec 1\nbench b\nsamples 1\npoint-seconds 1\ninner n\nvalues 2 1\nend\n",
		"spec 1\nbench b\nsamples 1\npoint-seconds 1\ninner n\nvalues 1 1 2\nend\n",
		"spec 1\nbench b\nsamples 1\npoint-seconds 1\ninner n\nvalues 100001 1\nend\n",
		"spec 1\nbench b\nsamples 1\npoint-seconds 1\ninner n\nvalues 1 1\nvalues 1 1\n",
		"spec 1\nbench b\nsamples 1\npoint-seconds 1\ngiven x a 1\nend\n",
		"spec 1\nbench b\nsamples 1\npoint-seconds 1\ngiven i a b\nend\n",
		"spec 1\nbench b\nsamples 1\npoint-seconds 1\ngiven t a\nend\n",
		"spec 1\nbench b\nsamples 1\npoint-seconds 1\ngiven t a %2\nend\n",
		"spec 1\nbench b\nsamples 1\npoint-seconds 1\ngiven t a b\ngiven t a c\nend\n",
		"spec 1\nbench b\nsamples 1\npoint-seconds 1\nwhat 1\nend\n",
	};
	struct arena a = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct invocation_spec s = { .samples = 42 };
		char *copy = strdup(rows[i]);
		const char *name = NULL;
		struct err e = { 0 };

		if (wire_get_spec(&a, copy, &name, &s, &e) != -EBADMSG)
			fail_msg("accepted: %s", rows[i]);
		assert_int_equal(s.samples, 42);
		assert_null(name);
		free(copy);
	}
	arena_done(&a);
}

static void test_result(void **state)
{
	double samples[] = { 1.5, 0.1, -0.0, DBL_MAX, DBL_TRUE_MIN };
	struct metric_values values[3] = { { .samples = samples, .n = 5 },
					   { .exact = INT64_MIN, .has_exact = true },
					   { .null_reason = "a %" } };
	struct bench_result r = { .inner_value = 64,
				  .has_inner = true,
				  .verdict = VERDICT_INVALID,
				  .reason = "huge pages",
				  .unproven = "nodes: \"x\"",
				  .metrics = sweep()->schema.metrics,
				  .values = values,
				  .n_metrics = 3,
				  .start_unix_ns = -5,
				  .duration_ns = INT64_MAX };
	struct str out = { 0 };
	struct arena a = { 0 };

	(void)state;
	attrs_set_int(&a, &r.proof, "faults", 12);
	attrs_set_real(&a, &r.proof, "share", 0.1);
	attrs_set_int(&a, &r.taints, "steal", 3);
	assert_int_equal(wire_put_result(&out, &r), 0);
	assert_int_equal(wire_put_done(&out, 5, "I/O error"), 0);
	for (size_t step = 1; step < 200; step += 13) {
		struct wire_reader in = { .schema = &sweep()->schema };
		struct wire_message m = { 0 };
		const struct bench_result *b = &m.result;
		struct err e = { 0 };
		size_t n = (size_t)(strstr(out.data, "done") - out.data);

		assert_int_equal(feed_all(&in, out.data, n, step, &m, &e), WIRE_RESULT);
		assert_true(b->has_inner);
		assert_int_equal(b->inner_value, 64);
		assert_int_equal(b->verdict, VERDICT_INVALID);
		assert_string_equal(b->reason, r.reason);
		assert_string_equal(b->unproven, r.unproven);
		assert_true(attrs_equal(&b->proof, &r.proof));
		assert_true(attrs_equal(&b->taints, &r.taints));
		assert_int_equal(b->values[0].n, 5);
		assert_memory_equal(b->values[0].samples, samples, sizeof(samples));
		assert_true(b->values[1].exact == INT64_MIN && b->values[1].has_exact);
		assert_string_equal(b->values[2].null_reason, "a %");
		assert_true(b->start_unix_ns == -5 && b->duration_ns == INT64_MAX);
		assert_int_equal(feed_all(&in, out.data + n, out.len - n, step, &m, &e), WIRE_DONE);
		assert_int_equal(m.code, 5);
		assert_string_equal(m.text, "I/O error");
		wire_reader_done(&in);
	}
	str_done(&out);
	arena_done(&a);
}

static void test_count(void **state)
{
	const struct bench_schema *schema = &bench_find("tally.events")->schema;
	struct metric_values values[2] = {
		{ .events = 0, .exposure = INT64_MAX, .has_count = true },
		{ .events = INT64_MAX, .exposure = 1, .has_count = true },
	};
	struct bench_result r = {
		.verdict = VERDICT_OK, .metrics = schema->metrics, .values = values, .n_metrics = 2
	};
	struct wire_reader in = { .schema = schema };
	struct wire_message m = { 0 };
	struct str out = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(wire_put_result(&out, &r), 0);
	assert_non_null(strstr(out.data, "count errors 0 9223372036854775807\n"));
	assert_int_equal(feed_all(&in, out.data, out.len, 5, &m, &e), WIRE_RESULT);
	assert_false(m.result.has_inner);
	for (size_t i = 0; i < 2; i++) {
		assert_true(m.result.values[i].has_count);
		assert_true(m.result.values[i].events == values[i].events);
		assert_true(m.result.values[i].exposure == values[i].exposure);
		assert_int_equal(m.result.values[i].n, 0);
		assert_false(m.result.values[i].has_exact);
	}
	wire_reader_done(&in);
	/* no exposure, no line */
	values[0].has_count = false;
	str_clear(&out);
	assert_int_equal(wire_put_result(&out, &r), 0);
	assert_null(strstr(out.data, "errors"));
	str_done(&out);
}

static void test_bad_counts(void **state)
{
	static const char *const rows[] = {
		"count errors\n",
		"count errors 1\n",
		"count errors 1 2 3\n",
		"count errors -1 2\n",
		"count errors 1 0\n",
		"count errors 1 -5\n",
		"count errors 1.5 2\n",
		"count errors 1 2e3\n",
		"count errors 9223372036854775808 2\n",
		"count errors 1 18446744073709551615\n",
		"count nothing 1 2\n",
		"count errors 1 2\ncount errors 1 2\n",
		"count errors 1 2\nnull errors why\n",
		"null errors why\ncount errors 1 2\n",
		"exact errors 1\n",
		"samples errors 1 1\n",
		"count\n",
		"count  1 2\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wire_reader in = { .schema = &bench_find("tally.events")->schema };
		struct wire_message m = { 0 };
		struct str text = { 0 };
		struct err e = { 0 };

		str_addf(&text, "result - ok 1 1\n%s", rows[i]);
		if (feed_all(&in, text.data, text.len, 7, &m, &e) != -EBADMSG)
			fail_msg("accepted: %s", rows[i]);
		wire_reader_done(&in);
		str_done(&text);
	}
}

static void test_doubles_come_back_exactly(void **state)
{
	enum { N = 20000 };
	struct wire_reader in = { .schema = &sweep()->schema };
	struct metric_values values[3] = { { .n = 0 } };
	struct bench_result r = { .verdict = VERDICT_OK,
				  .metrics = sweep()->schema.metrics,
				  .values = values,
				  .n_metrics = 1 };
	double *v = calloc(N, sizeof(*v));
	struct wire_message m = { 0 };
	struct str out = { 0 };
	struct err e = { 0 };
	struct rng rng;

	(void)state;
	rng_seed(&rng, 1);
	while (values[0].n < N) {
		uint64_t bits = rng_next(&rng);
		double x;

		memcpy(&x, &bits, sizeof(x));
		if (isfinite(x))
			v[values[0].n++] = x;
	}
	values[0].samples = v;
	assert_int_equal(wire_put_result(&out, &r), 0);
	assert_int_equal(feed_all(&in, out.data, out.len, 4096, &m, &e), WIRE_RESULT);
	assert_int_equal(m.result.values[0].n, N);
	assert_memory_equal(m.result.values[0].samples, v, N * sizeof(*v));
	wire_reader_done(&in);
	str_done(&out);
	free(v);
}

static void test_not_finite_is_not_written(void **state)
{
	double bad[] = { NAN, INFINITY, -INFINITY };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct metric_values v[3] = { { .samples = &bad[i], .n = 1 } };
		struct bench_result r = { .metrics = sweep()->schema.metrics,
					  .values = v,
					  .n_metrics = 3 };
		struct invocation_spec s = { .bench = sweep(),
					     .samples = 1,
					     .point_seconds = bad[i] };
		struct str out = { 0 };

		assert_int_equal(wire_put_result(&out, &r), -EDOM);
		assert_int_equal(wire_put_spec(&out, &s), -EDOM);
		str_done(&out);
	}
}

static void test_bad_frames(void **state)
{
	static const char *const rows[] = {
		"\n",
		"end\n",
		"hello\n",
		"result 1 ok 1 1\nresult 2 ok 1 1\n",
		"result 1 ok 1 1\ndone 0 %\n",
		"result  ok 1 1\n",
		"result -1 ok 1 1\n",
		"result x ok 1 1\n",
		"result 18446744073709551616 ok 1 1\n",
		"result 1 good 1 1\n",
		"result 1 ok 1\n",
		"result 1 ok 1 1 1\n",
		"result 1 ok 1 1 \n",
		"result 1 ok 1 -1\n",
		"result 1 ok 9223372036854775808 1\n",
		"result 1 failed 1 1\nend\n",
		"result 1 ok 1 1\nreason why\nend\n",
		"result 1 failed 1 1\nreason a\nreason b\n",
		"result 1 failed 1 1\nreason\n",
		"result 1 failed 1 1\nreason a b\n",
		"result 1 failed 1 1\nreason %0\n",
		"result 1 failed 1 1\nreason %00\n",
		"result 1 ok 1 1\nsamples ref_ns 1 nan\n",
		"result 1 ok 1 1\nsamples ref_ns 1 1e999\n",
		"result 1 ok 1 1\nsamples ref_ns 1 0x1\n",
		"result 1 ok 1 1\nsamples ref_ns 2 1\n",
		"result 1 ok 1 1\nsamples ref_ns 1 1 2\n",
		"result 1 ok 1 1\nsamples ref_ns 0\n",
		"result 1 ok 1 1\nsamples ref_ns 262145 1\n",
		"result 1 ok 1 1\nsamples ref_ns 262144 1 1\n",
		"result 1 ok 1 1\nsamples other_ns 1 1\n",
		"result 1 ok 1 1\nsamples table_bytes 1 1\n",
		"result 1 ok 1 1\nexact ref_ns 1\n",
		"result 1 ok 1 1\ncount ref_ns 1 1\n",
		"result 1 ok 1 1\ncount table_bytes 1 1\n",
		"result 1 ok 1 1\nexact table_bytes 1.5\n",
		"result 1 ok 1 1\nexact table_bytes --1\n",
		"result 1 ok 1 1\nexact table_bytes 1\nexact table_bytes 1\n",
		"result 1 ok 1 1\nsamples ref_ns 1 1\nnull ref_ns why\n",
		"result 1 ok 1 1\nnull ref_ns\n",
		"result 1 ok 1 1\nproof i a 1\nproof i a 1\n",
		"result 1 ok 1 1\nproof ii a 1\n",
		"result 1 ok 1 1\nproof i %01 1\n",
		"result 1 ok 1 1\nproof r a inf\n",
		"result 1 ok 1 1\nproof t a b c\n",
		"result 1 ok 1 1\nwhatever\n",
		"result 1 ok 1 1\nend end\n",
		"done\n",
		"done 0\n",
		"done -1 %\n",
		"done 4096 %\n",
		"done 0 % %\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct wire_reader in = { .schema = &sweep()->schema };
		struct wire_message m = { 0 };
		struct err e = { 0 };

		if (feed_all(&in, rows[i], strlen(rows[i]), 7, &m, &e) != -EBADMSG)
			fail_msg("accepted: %s", rows[i]);
		assert_int_equal(e.code, EBADMSG);
		wire_reader_done(&in);
	}
}

static void test_limits(void **state)
{
	struct wire_reader in = { .schema = &sweep()->schema };
	struct wire_message m = { 0 };
	struct str text = { 0 };
	struct err e = { 0 };
	char *block = malloc(1 << 20);
	int r = 0;

	(void)state;
	/* a line without an end */
	memset(block, 'a', 1 << 20);
	for (int i = 0; i < 20 && r == 0; i++)
		r = wire_feed(&in, block, 1 << 20, &e);
	assert_int_equal(r, -EBADMSG);
	assert_true(in.cap <= 3 * (size_t)WIRE_LINE_BYTES);
	wire_reader_done(&in);
	/* more attributes than any benchmark has */
	str_add(&text, "result 1 ok 1 1\n");
	for (int i = 0; i <= WIRE_ATTRS; i++)
		str_addf(&text, "proof i a%d 1\n", i);
	assert_int_equal(feed_all(&in, text.data, text.len, 4096, &m, &e), -EBADMSG);
	wire_reader_done(&in);
	/* a text that is too long */
	str_clear(&text);
	str_add(&text, "result 1 failed 1 1\nreason ");
	str_add_n(&text, block, WIRE_TEXT_BYTES + 1);
	str_add(&text, "\n");
	assert_int_equal(feed_all(&in, text.data, text.len, 65536, &m, &e), -EBADMSG);
	wire_reader_done(&in);
	/* a zero byte within a line, something after the end */
	assert_int_equal(feed_all(&in, "done 0 %\0x\n", 11, 11, &m, &e), -EBADMSG);
	wire_reader_done(&in);
	assert_int_equal(feed_all(&in, "done 0 %\ndone 0 %\n", 18, 18, &m, &e), WIRE_DONE);
	assert_int_equal(wire_next(&in, &m, &e), -EBADMSG);
	wire_reader_done(&in);
	str_done(&text);
	free(block);
}

/* Any change of a good text is read or refused, never more than that (sanitizers watch). */
static void test_damaged_text(void **state)
{
	static const char good[] = "result 64 failed 17 18\nreason why%20not\nproof i a 1\n"
				   "taint r b 0.5\nsamples ref_ns 3 1 2.5 1e-9\nexact table_bytes 5"
				   "\nnull rare none\nend\ndone 0 %\n";
	struct rng rng;

	(void)state;
	rng_seed(&rng, 2);
	for (int i = 0; i < 20000; i++) {
		struct wire_reader in = { .schema = &sweep()->schema };
		struct wire_message m = { 0 };
		char text[sizeof(good)];
		int event;

		memcpy(text, good, sizeof(good));
		for (uint64_t k = 0; k <= rng_below(&rng, 3); k++)
			text[rng_below(&rng, sizeof(good) - 1)] =
				good[rng_below(&rng, sizeof(good) - 1)];
		event = wire_feed(&in, text, sizeof(good) - 1, NULL);
		while (event >= 0 && event != WIRE_DONE) {
			event = wire_next(&in, &m, NULL);
			if (event == WIRE_MORE)
				break;
		}
		wire_reader_done(&in);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spec),
		cmocka_unit_test(test_bad_specs),
		cmocka_unit_test(test_result),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_bad_counts),
		cmocka_unit_test(test_doubles_come_back_exactly),
		cmocka_unit_test(test_not_finite_is_not_written),
		cmocka_unit_test(test_bad_frames),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_damaged_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
