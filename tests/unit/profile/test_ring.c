/* SPDX-License-Identifier: MIT */
/* ring.c: records in order, across the end of the buffer, lost, and hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <linux/perf_event.h>

#include "profile/ring.h"

enum { BYTES = 256 };

struct seen {
	size_t n;
	uint64_t first[64]; /* innermost frames */
	size_t depth[64];
	uint64_t last_outer;
};

static void on_sample(void *user, const uint64_t *frames, size_t n)
{
	struct seen *s = user;

	assert_true(n > 0 && s->n < 64);
	s->first[s->n] = frames[0];
	s->depth[s->n++] = n;
	s->last_outer = frames[n - 1];
}

/* A buffer that is written as the kernel does. */
struct ring {
	unsigned char data[BYTES];
	uint64_t head;
};

static void put(struct ring *r, const void *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		r->data[(r->head + i) % BYTES] = ((const unsigned char *)from)[i];
	r->head += n;
}

static void put_record(struct ring *r, uint32_t type, uint16_t misc, const uint64_t *words,
		       size_t n)
{
	struct perf_event_header h = { type, misc, (uint16_t)(sizeof(h) + n * 8) };

	put(r, &h, sizeof(h));
	put(r, words, n * 8);
}

static void put_ip(struct ring *r, uint64_t ip)
{
	put_record(r, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, &ip, 1);
}

static void test_samples_and_wrap(void **state)
{
	struct ring_counts c = { 0 };
	struct seen s = { 0 };
	struct ring r = { .head = BYTES * 5 - 12 }; /* the second header lies across the end */
	uint64_t tail = r.head;

	(void)state;
	r.head = tail = BYTES * 5 - 24;
	put_ip(&r, 0xffffffff81000001);
	put_ip(&r, 0xffffffff81000002);
	put_ip(&r, 0xffffffff81000003);
	assert_int_equal(ring_read(r.data, BYTES, tail, r.head, false, &c, on_sample, &s), r.head);
	assert_int_equal(s.n, 3);
	assert_int_equal(c.samples, 3);
	assert_int_equal(s.first[1], 0xffffffff81000002);
	assert_int_equal(s.first[2], 0xffffffff81000003);
	assert_int_equal(c.malformed, 0);
}

/* Every place of a record relative to the end of the buffer, and counters beyond 2^64. */
static void test_wrap_everywhere(void **state)
{
	(void)state;
	for (uint64_t start = 0; start < BYTES; start += 8) {
		const uint64_t words[] = { 0xffffffff81000001, 3, (uint64_t)-128,
					   0xffffffff81000001, 0xffffffff81000099 };
		struct ring_counts c = { 0 };
		struct seen s = { 0 };
		struct ring r = { .head = (uint64_t)0 - BYTES + start };
		uint64_t tail = r.head;

		put_record(&r, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, words, 5);
		put_record(&r, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, words, 5);
		ring_read(r.data, BYTES, tail, r.head, true, &c, on_sample, &s);
		assert_int_equal(s.n, 2);
		assert_int_equal(s.depth[1], 2);
		assert_int_equal(s.last_outer, 0xffffffff81000099);
	}
}

static void test_chains(void **state)
{
	static const struct {
		uint64_t words[8];
		size_t n, depth;
		uint64_t first;
	} rows[] = {
		/* no chain: the place itself */
		{ { 0xa1, 0 }, 2, 1, 0xa1 },
		/* user frames are left out */
		{ { 0xa1, 4, (uint64_t)-128, 0xa1, (uint64_t)-512, 0x400000 }, 6, 1, 0xa1 },
		{ { 0xa1, 3, (uint64_t)-512, 0x400000, 0x400001 }, 5, 1, 0xa1 },
		{ { 0xa1, 3, (uint64_t)-128, 0xa2, 0xa3 }, 5, 2, 0xa2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ring_counts c = { 0 };
		struct seen s = { 0 };
		struct ring r = { 0 };

		put_record(&r, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, rows[i].words,
			   rows[i].n);
		ring_read(r.data, BYTES, 0, r.head, true, &c, on_sample, &s);
		assert_int_equal(s.n, 1);
		assert_int_equal(s.depth[0], rows[i].depth);
		assert_int_equal(s.first[0], rows[i].first);
	}
}

static void test_other_records(void **state)
{
	const uint64_t lost[] = { 17, 42 }, ip = 0x1234, time[] = { 1, 2, 3 };
	struct ring_counts c = { 0 };
	struct seen s = { 0 };
	struct ring r = { 0 };

	(void)state;
	put_record(&r, PERF_RECORD_LOST, 0, lost, 2);
	put_record(&r, 13, 0, lost, 1); /* LOST_SAMPLES */
	put_record(&r, PERF_RECORD_THROTTLE, 0, time, 3);
	put_record(&r, PERF_RECORD_UNTHROTTLE, 0, time, 3);
	put_record(&r, 999, 0, time, 3); /* of a later kernel */
	put_record(&r, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, &ip, 1);
	put_record(&r, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_GUEST_KERNEL, &ip, 1);
	ring_read(r.data, BYTES, 0, r.head, false, &c, on_sample, &s);
	assert_int_equal(c.lost, 42 + 17);
	assert_int_equal(c.throttled, 1);
	assert_int_equal(c.elsewhere, 2);
	assert_int_equal(c.samples, 0);
	assert_int_equal(c.malformed, 0);
	assert_int_equal(s.n, 0);
}

/* Each is dropped with what follows, and what came before it is kept. */
static void test_hostile(void **state)
{
	static const struct {
		struct perf_event_header h;
		uint64_t words[3];
		bool has_chain;
	} rows[] = {
		{ { PERF_RECORD_SAMPLE, 0, 0 }, { 0 }, false },     /* size 0: for ever */
		{ { PERF_RECORD_SAMPLE, 0, 4 }, { 0 }, false },     /* less than a header */
		{ { PERF_RECORD_SAMPLE, 0, 8 }, { 0 }, false },     /* no address */
		{ { PERF_RECORD_SAMPLE, 0, 17 }, { 0 }, false },    /* not whole words */
		{ { PERF_RECORD_SAMPLE, 0, 65528 }, { 0 }, false }, /* beyond the head */
		{ { PERF_RECORD_SAMPLE, 0, 16 }, { 1 }, true },     /* no length of the chain */
		{ { PERF_RECORD_SAMPLE, 2, 24 }, { 1, 1 }, true },  /* a chain beyond its record */
		{ { PERF_RECORD_SAMPLE, 2, 24 }, { 1, UINT64_MAX }, true },
		{ { PERF_RECORD_SAMPLE, 2, 32 }, { 1, 1ull << 61, 7 }, true },
		{ { PERF_RECORD_LOST, 0, 16 }, { 1 }, false },
		{ { 13, 0, 8 }, { 0 }, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ring_counts c = { 0 };
		struct seen s = { 0 };
		struct ring r = { 0 };
		const uint64_t good[] = { 0xabc, 0 };

		put_record(&r, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, good,
			   rows[i].has_chain ? 2 : 1);
		put(&r, &rows[i].h, sizeof(rows[i].h));
		put(&r, rows[i].words, sizeof(rows[i].words));
		assert_int_equal(
			ring_read(r.data, BYTES, 0, r.head, rows[i].has_chain, &c, on_sample, &s),
			r.head);
		if (c.malformed != 1 || s.n != 1)
			fail_msg("row %zu: %llu malformed, %zu samples", i,
				 (unsigned long long)c.malformed, s.n);
	}
}

static void test_bad_positions(void **state)
{
	struct ring_counts c = { 0 };
	struct seen s = { 0 };
	struct ring r = { 0 };

	(void)state;
	/* more than the buffer holds, a head behind the tail, half a header */
	assert_int_equal(ring_read(r.data, BYTES, 0, BYTES + 8, false, &c, on_sample, &s),
			 BYTES + 8);
	assert_int_equal(ring_read(r.data, BYTES, 64, 32, false, &c, on_sample, &s), 32);
	assert_int_equal(ring_read(r.data, BYTES, 0, 4, false, &c, on_sample, &s), 4);
	assert_int_equal(c.malformed, 3);
	assert_int_equal(ring_read(r.data, BYTES, 64, 64, false, &c, on_sample, &s), 64);
	assert_int_equal(c.malformed, 3);
	assert_int_equal(s.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples_and_wrap), cmocka_unit_test(test_wrap_everywhere),
		cmocka_unit_test(test_chains),           cmocka_unit_test(test_other_records),
		cmocka_unit_test(test_hostile),          cmocka_unit_test(test_bad_positions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
