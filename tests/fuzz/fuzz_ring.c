// SPDX-License-Identifier: MIT
/*
 * The sampling buffer. The first two bytes choose tail and head, the third whether samples have
 * chains; the rest is the buffer.
 */
#include "fuzz.h"

#include "profile/ring.h"
#include "profile/stacks.h"

enum { BYTES = 4096 };

static void on_sample(void *user, const uint64_t *frames, size_t n)
{
	CHECK(n > 0 && n <= RING_MAX_CHAIN);
	for (size_t i = 0; i < n; i++)
		CHECK(frames[i] == frames[i]); /* read, for the sanitizers */
	stacks_add(user, frames, n, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct ring_counts c = { 0 };
	struct stacks s = { 0 };
	unsigned char *ring;
	uint64_t tail, head;

	if (n < 3)
		return 0;
	ring = calloc(1, BYTES);
	CHECK(ring);
	/* Around the wrap of the counters themselves. */
	tail = (uint64_t)0 - BYTES / 2 + 8ull * data[0];
	head = tail + 17ull * data[1];
	memcpy(ring, data + 3, n - 3 < BYTES ? n - 3 : BYTES);
	CHECK(ring_read(ring, BYTES, tail, head, data[2] & 1, &c, on_sample, &s) == head);
	CHECK(c.samples == s.ticks + s.dropped);
	stacks_done(&s);
	free(ring);
	return 0;
}
