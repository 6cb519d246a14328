/* SPDX-License-Identifier: MIT */
/*
 * Records of the kernel's sampling buffer. Pure: a function of the bytes, so that it can be fuzzed;
 * nothing that a record says is trusted.
 */
#ifndef PAGETOLL_PROFILE_RING_H
#define PAGETOLL_PROFILE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Frames of one call chain that are kept; the kernel's own limit is 127. */
enum { RING_MAX_CHAIN = 256 };

struct ring_counts {
	uint64_t samples;   /* in the kernel */
	uint64_t elsewhere; /* user mode, guest, hypervisor: not part of a kernel profile */
	uint64_t lost;      /* that the kernel could not write because the buffer was full */
	uint64_t throttled; /* times that the kernel stopped sampling for the rest of a tick */
	uint64_t malformed; /* records that are none; the rest of the buffer is dropped then */
};

/*
 * A sample in the kernel: @frames, the innermost first, at least one. User frames and the markers
 * between the parts of a chain are left out. Borrowed for the call.
 */
typedef void (*ring_sample_fn)(void *user, const uint64_t *frames, size_t n);

/*
 * Reads the records from @tail to @head of a buffer of @bytes (a power of two) and returns the new
 * tail, which is @head. @has_chain: samples were asked for as IP and CALLCHAIN, else as IP only.
 */
uint64_t ring_read(const unsigned char *data, size_t bytes, uint64_t tail, uint64_t head,
		   bool has_chain, struct ring_counts *counts, ring_sample_fn fn, void *user);

#endif
