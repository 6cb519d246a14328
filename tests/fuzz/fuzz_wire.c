// SPDX-License-Identifier: MIT
/* What a worker says to its parent, and the other way round: nothing is trusted. */
#include "fuzz.h"

#include "record/schema.h"
#include "run/wire.h"

/* Every form that a worker can send. */
static const struct metric metrics[] = {
	{ "ref_ns", "", "ns", BETTER_LOWER, EST_MIN, FORM_SAMPLES },
	{ "ref_cycles", "", "cycles", BETTER_LOWER, EST_MIN, FORM_SAMPLES },
	{ "page_table_bytes", "", "bytes", BETTER_NONE, EST_MEDIAN, FORM_EXACT },
	{ "errors", "", "ratio", BETTER_LOWER, EST_MEDIAN, FORM_COUNT },
	{ .name = NULL },
};
static const struct bench_schema schema = { .name = "fuzz.wire", .metrics = metrics };

static void check_result(const struct bench_result *r)
{
	CHECK(r->metrics == metrics);
	for (size_t i = 0; i < r->n_metrics; i++) {
		const struct metric_values *v = &r->values[i];

		CHECK(!v->has_count || (v->events >= 0 && v->exposure > 0));
		CHECK((v->n > 0) + v->has_exact + v->has_count + (v->null_reason != NULL) <= 1);
	}
}

/* In two pieces, so that messages are put together from parts. */
static void from_worker(const uint8_t *data, size_t n)
{
	struct wire_reader r = { .schema = &schema };
	struct wire_message m;
	size_t half = n / 2;
	int event = WIRE_MORE;

	for (int piece = 0; piece < 2 && event >= 0; piece++) {
		const char *p = (const char *)data + (piece ? half : 0);

		if (wire_feed(&r, p, piece ? n - half : half, NULL))
			break;
		do {
			event = wire_next(&r, &m, NULL);
			if (event == WIRE_RESULT)
				check_result(&m.result);
		} while (event == WIRE_RESULT);
	}
	wire_reader_done(&r);
}

static void from_parent(const uint8_t *data, size_t n)
{
	char *text = fuzz_text(data, n);
	struct arena a = { 0 };
	struct invocation_spec s = { 0 };
	const char *name = NULL;

	if (wire_get_spec(&a, text, &name, &s, NULL) == 0)
		CHECK(name && *name);
	arena_done(&a);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	from_worker(data, n);
	from_parent(data, n);
	return 0;
}
