// SPDX-License-Identifier: MIT
/*
 * Sources: perf_event_open(2), "MMAP layout"; include/uapi/linux/perf_event.h of Linux 6.1 (order
 * of a sample's fields, PERF_CONTEXT_ markers). Leaves out: records that were not asked for, which
 * are passed over.
 */
#include "profile/ring.h"

#include <linux/perf_event.h>
#include <string.h>

/* PERF_RECORD_LOST_SAMPLES, since Linux 4.2. */
enum { RECORD_LOST_SAMPLES = 13 };
/* Values from here on are markers (PERF_CONTEXT_MAX, an enumerator of type u64). */
static const uint64_t FIRST_MARKER = (uint64_t)-4095;
static const uint64_t MARKER_KERNEL = (uint64_t)-128;

struct view {
	const unsigned char *data;
	size_t bytes;
	uint64_t at; /* never beyond what was checked to be there */
};

/* @n bytes from @at, also across the end of the buffer. */
static void take(struct view *v, void *to, size_t n)
{
	size_t offset = (size_t)(v->at & (v->bytes - 1));
	size_t first = v->bytes - offset < n ? v->bytes - offset : n;

	memcpy(to, v->data + offset, first);
	memcpy((unsigned char *)to + first, v->data, n - first);
	v->at += n;
}

static uint64_t take_u64(struct view *v)
{
	uint64_t x;

	take(v, &x, sizeof(x));
	return x;
}

/* Frames of the kernel's part of a chain of @n entries. */
static size_t take_chain(struct view *v, uint64_t n, uint64_t frames[RING_MAX_CHAIN])
{
	bool in_kernel = true;
	size_t k = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t ip = take_u64(v);

		if (ip >= FIRST_MARKER)
			in_kernel = ip == MARKER_KERNEL;
		else if (in_kernel && k < RING_MAX_CHAIN)
			frames[k++] = ip;
	}
	return k;
}

/* @left: bytes of the record behind its header. False: malformed. */
static bool take_sample(struct view v, size_t left, uint16_t misc, bool has_chain,
			struct ring_counts *counts, ring_sample_fn fn, void *user)
{
	uint64_t frames[RING_MAX_CHAIN];
	uint64_t ip, n = 0;
	size_t k = 0;

	if (left < (has_chain ? 16u : 8u))
		return false;
	ip = take_u64(&v);
	if (has_chain) {
		n = take_u64(&v);
		if (n > (left - 16) / 8)
			return false;
		k = take_chain(&v, n, frames);
	}
	if ((misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_KERNEL) {
		counts->elsewhere++;
		return true;
	}
	/* The kernel could not unwind, or gave no chain: the place alone. */
	if (k == 0)
		frames[k++] = ip;
	counts->samples++;
	fn(user, frames, k);
	return true;
}

static bool take_record(struct view v, const struct perf_event_header *h, bool has_chain,
			struct ring_counts *counts, ring_sample_fn fn, void *user)
{
	size_t left = h->size - sizeof(*h);

	switch (h->type) {
	case PERF_RECORD_SAMPLE:
		return take_sample(v, left, h->misc, has_chain, counts, fn, user);
	case PERF_RECORD_LOST: /* id, lost */
		if (left < 16)
			return false;
		(void)take_u64(&v);
		counts->lost += take_u64(&v);
		return true;
	case RECORD_LOST_SAMPLES:
		if (left < 8)
			return false;
		counts->lost += take_u64(&v);
		return true;
	case PERF_RECORD_THROTTLE:
		counts->throttled++;
		return true;
	default:
		return true;
	}
}

uint64_t ring_read(const unsigned char *data, size_t bytes, uint64_t tail, uint64_t head,
		   bool has_chain, struct ring_counts *counts, ring_sample_fn fn, void *user)
{
	if (head - tail > bytes) {
		counts->malformed++;
		return head;
	}
	while (tail != head) {
		struct view v = { .data = data, .bytes = bytes, .at = tail };
		struct perf_event_header h;

		if (head - tail < sizeof(h))
			break;
		take(&v, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size % 8 != 0 || h.size > head - tail)
			break;
		if (!take_record(v, &h, has_chain, counts, fn, user))
			break;
		tail += h.size;
	}
	if (tail != head)
		counts->malformed++;
	return head;
}
