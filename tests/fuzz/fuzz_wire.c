// SPDX-License-Identifier: MIT
/* What a worker says to its parent, and the other way round: nothing is trusted. */
#include "fuzz.h"

#include "bench/bench.h"
#include "run/wire.h"

/* In two pieces, so that messages are put together from parts. */
static void from_worker(const uint8_t *data, size_t n)
{
	struct wire_reader r = { .schema = &bench_table[0]->schema };
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
				CHECK(m.result.metrics == r.schema->metrics);
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
