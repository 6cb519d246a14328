// SPDX-License-Identifier: MIT
/*
 * ChampSim's records, one an instruction, numbers little-endian: address, is_branch, taken, the
 * registers written and read (a byte each), the places written and read (0: none). Sizes are not in
 * it. Source: ChampSim, inc/trace_instruction.h; its cloudsuite form has four registers and places
 * written, and two bytes of address space at the end; the compiler aligns its numbers to 8 bytes.
 */
#include <errno.h>

#include "trace/parts.h"

enum { SEEN = 64 /* records that are looked at to recognise it */, SOURCES = 4 };

struct layout {
	size_t bytes, places;  /* places: offset of those written, before those read */
	unsigned destinations; /* registers, and places */
};

static struct layout layout_of(enum trace_format f)
{
	return f == TRACE_CLOUDSUITE ? (struct layout){ 96, 24, 4 } : (struct layout){ 64, 16, 2 };
}

static bool is_address(uint64_t v)
{
	return v < UINT64_C(1) << 57 || v >= UINT64_MAX << 56;
}

/* What is wrong with a record; NULL: nothing. */
static const char *fault_of(const uint8_t *p, struct layout l)
{
	const uint8_t *places = p + l.places;

	if (p[8] > 1)
		return "is_branch is neither 0 nor 1";
	if (p[9] > 1)
		return "branch_taken is neither 0 nor 1";
	if (trace_u64(p) == 0)
		return "the instruction is at address 0";
	if (!is_address(trace_u64(p)))
		return "the instruction's address has more than 57 bits";
	for (unsigned i = 0; i < l.destinations + SOURCES; i++)
		if (!is_address(trace_u64(places + i * (size_t)8)))
			return "a memory address has more than 57 bits";
	return NULL;
}

int trace_decode_champsim(struct trace *t, const uint8_t *p, size_t n, struct trace_out *out,
			  struct err *e)
{
	const struct layout l = layout_of(t->format);
	const uint8_t *places;
	const char *fault;

	if (n < l.bytes)
		return 0;
	fault = fault_of(p, l);
	if (fault)
		return err_set(e, EBADMSG, "%s: no record of %s (%zu bytes an instruction)", fault,
			       trace_format_name(t->format), l.bytes);
	trace_put(out, trace_u64(p), 0, TRACE_FETCH);
	places = p + l.places;
	for (unsigned i = 0; i < SOURCES; i++) {
		const uint64_t at = trace_u64(places + (l.destinations + i) * (size_t)8);

		if (at)
			trace_put(out, at, 0, TRACE_LOAD);
	}
	for (unsigned i = 0; i < l.destinations; i++) {
		const uint64_t at = trace_u64(places + i * (size_t)8);

		if (at)
			trace_put(out, at, 0, TRACE_STORE);
	}
	return (int)l.bytes;
}

bool trace_is_champsim(const uint8_t *p, size_t n, enum trace_format f)
{
	const struct layout l = layout_of(f);
	size_t k = 0;

	for (; k < SEEN && (k + 1) * l.bytes <= n; k++)
		if (fault_of(p + k * l.bytes, l))
			return false;
	return k > 0;
}
