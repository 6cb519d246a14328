// SPDX-License-Identifier: MIT
/*
 * Records of DynamoRIO's drmemtrace in the final form that its post-processing writes: 16 bits of
 * type, 16 of size, 64 of address, packed, little-endian; a file a thread, or threads in turns by
 * records of their ids. Source: DynamoRIO, clients/drcachesim/common/trace_entry.h (trace_type_t,
 * trace_marker_type_t, trace_version_t), read in its versions 1 to 7.
 *
 * Left out: encodings, markers but for times, cache flushes; prefetches are counted only.
 */
#include <errno.h>

#include "trace/parts.h"

enum { RECORD = 12, VERSION_MIN = 1, VERSION_MAX = 7 };

/* trace_type_t: ranges where the values between mean the same here. */
enum {
	TYPE_READ = 0,
	TYPE_WRITE = 1,
	TYPE_PREFETCH = 2,
	TYPE_PREFETCH_LAST = 9,
	TYPE_INSTR = 10,
	TYPE_INSTR_RETURN = 16,
	TYPE_INSTR_BUNDLE = 17,
	TYPE_FLUSH = 18,
	TYPE_FLUSH_LAST = 21,
	TYPE_THREAD = 22,
	TYPE_THREAD_EXIT = 23,
	TYPE_PID = 24,
	TYPE_HEADER = 25,
	TYPE_FOOTER = 26,
	TYPE_HARDWARE_PREFETCH = 27,
	TYPE_MARKER = 28,
	TYPE_INSTR_NO_FETCH = 29,
	TYPE_INSTR_MAYBE_FETCH = 30,
	TYPE_INSTR_SYSENTER = 31,
	TYPE_PREFETCH_MORE = 32,
	TYPE_PREFETCH_MORE_LAST = 46,
	TYPE_ENCODING = 47,
	TYPE_TAKEN_JUMP = 48,
	TYPE_UNTAKEN_JUMP = 49,
};
enum { MARKER_TIMESTAMP = 2, MARKER_VERSION = 12 };

static bool is_fetch(unsigned type)
{
	return (type >= TYPE_INSTR && type <= TYPE_INSTR_RETURN) || type == TYPE_INSTR_SYSENTER ||
	       type == TYPE_TAKEN_JUMP || type == TYPE_UNTAKEN_JUMP;
}

static bool is_prefetch(unsigned type)
{
	return (type >= TYPE_PREFETCH && type <= TYPE_PREFETCH_LAST) ||
	       type == TYPE_HARDWARE_PREFETCH ||
	       (type >= TYPE_PREFETCH_MORE && type <= TYPE_PREFETCH_MORE_LAST);
}

static int check_version(uint64_t version, struct err *e)
{
	if (version > UINT32_MAX)
		return err_set(e, EBADMSG,
			       "the header is that of records of 8 bytes, of a 32-bit program; "
			       "accepted: of 64-bit programs");
	if (version < VERSION_MIN || version > VERSION_MAX)
		return err_set(e, EBADMSG, "version %ju of drmemtrace; accepted: %d to %d",
			       (uintmax_t)version, VERSION_MIN, VERSION_MAX);
	return 0;
}

/* Instructions behind the last one, by their lengths. */
static int take_bundle(struct trace *t, const uint8_t *p, unsigned n, struct trace_out *out,
		       struct err *e)
{
	if (n > 8)
		return err_set(e, EBADMSG, "a bundle of %u instructions; at most 8", n);
	for (unsigned i = 0; i < n; i++) {
		trace_put(out, t->pc, p[4 + i], TRACE_FETCH);
		t->pc += p[4 + i];
	}
	return RECORD;
}

static int take_thread(struct trace *t, uint64_t id, const struct trace_out *out)
{
	if (id != t->thread && out->n > 0)
		return TRACE_STOP;
	t->thread = id;
	return RECORD;
}

static int take_process(struct trace *t, uint64_t id, struct err *e)
{
	if (t->process && id != t->process)
		return err_set(e, EBADMSG,
			       "process %ju after process %ju: they share no addresses; give the "
			       "files of one process",
			       (uintmax_t)id, (uintmax_t)t->process);
	t->process = id;
	return RECORD;
}

/* A time stamp ends a call, so that who merges files can look at it. */
static int take_marker(struct trace *t, unsigned marker, uint64_t value,
		       const struct trace_out *out, struct err *e)
{
	int rc = marker == MARKER_VERSION ? check_version(value, e) : 0;

	if (rc == 0 && marker == MARKER_TIMESTAMP && value != t->time) {
		if (out->n > 0)
			return TRACE_STOP;
		t->time = value;
	}
	return rc < 0 ? rc : RECORD;
}

static int take_other(struct trace *t, unsigned type, unsigned size, uint64_t address,
		      const struct trace_out *out, struct err *e)
{
	int rc;

	switch (type) {
	case TYPE_THREAD:
		return take_thread(t, address, out);
	case TYPE_PID:
		return take_process(t, address, e);
	case TYPE_HEADER:
		rc = check_version(address, e);
		t->has_begin = t->has_begin || rc == 0;
		return rc < 0 ? rc : RECORD;
	case TYPE_FOOTER:
		t->has_end = true;
		return RECORD;
	case TYPE_MARKER:
		return take_marker(t, size, address, out, e);
	case TYPE_THREAD_EXIT:
	case TYPE_INSTR_NO_FETCH:
	case TYPE_ENCODING:
		return RECORD;
	default:
		if (type >= TYPE_FLUSH && type <= TYPE_FLUSH_LAST)
			return RECORD;
		return err_set(e, EBADMSG,
			       "type %u is none of drmemtrace (0 to 49): not this format, or the "
			       "raw form, which drrun -t drmemtrace -indir DIR makes final",
			       type);
	}
}

int trace_decode_drmemtrace(struct trace *t, const uint8_t *p, size_t n, struct trace_out *out,
			    struct err *e)
{
	unsigned type, size;
	uint64_t address;

	if (n < RECORD)
		return 0;
	type = trace_u16(p);
	size = trace_u16(p + 2);
	address = trace_u64(p + 4);
	if (type != TYPE_FOOTER)
		t->has_end = false; /* of the file that was appended */
	if (type == TYPE_READ || type == TYPE_WRITE) {
		trace_put(out, address, size, type == TYPE_READ ? TRACE_LOAD : TRACE_STORE);
		return RECORD;
	}
	if (is_fetch(type) || type == TYPE_INSTR_MAYBE_FETCH) {
		trace_put(out, address, size, TRACE_FETCH);
		t->pc = address + size;
		return RECORD;
	}
	if (type == TYPE_INSTR_BUNDLE)
		return take_bundle(t, p, size, out, e);
	if (is_prefetch(type)) {
		t->prefetches++;
		return RECORD;
	}
	return take_other(t, type, size, address, out, e);
}

/* Header or version first; the versions that are not known are told as such. */
bool trace_is_drmemtrace(const uint8_t *p, size_t n)
{
	const bool begins = n >= RECORD &&
			    (trace_u16(p) == TYPE_HEADER ||
			     (trace_u16(p) == TYPE_MARKER && trace_u16(p + 2) == MARKER_VERSION));
	const uint64_t version = begins ? trace_u64(p + 4) : 0;

	/* of records of 8 bytes, the next one's type is where the upper half of the address was */
	return begins && (version & 0xffffffff) > 0 && (version & 0xffffffff) < 256 &&
	       (version >> 32 == 0 || (version >> 32 & 0xffff) == TYPE_MARKER);
}
