/* SPDX-License-Identifier: MIT */
/* Inside of a trace, shared by the formats. Inside trace/ only. */
#ifndef PAGETOLL_TRACE_PARTS_H
#define PAGETOLL_TRACE_PARTS_H

#include "trace/trace.h"

enum { TRACE_BUFFER = 64 << 10, TRACE_RECORD_REFS = 16 /* at most, of one record */ };

struct trace_out {
	struct trace_ref *v;
	size_t n;
};

struct trace {
	trace_read_fn read;
	void *user;
	enum trace_format format;
	/* bytes that are not decoded yet */
	uint8_t buf[TRACE_BUFFER];
	size_t at, have;
	uint64_t base; /* offset of buf[0] */
	bool eof;
	struct err source; /* what reading bytes failed with */
	struct err failed; /* told once all before it is given */
	/* what records say */
	uint64_t thread, process, time, prefetches, line, pc;
	bool has_begin, has_end; /* marks that tell a whole trace from one that was cut off */
};

/*
 * Decoders: one record from @p, of which there are @n bytes. The bytes taken; 0: there are not
 * enough; TRACE_STOP: thread or time changes here, and there are references of before; -EBADMSG.
 */
enum { TRACE_STOP = -1000000 };
typedef int (*trace_decode_fn)(struct trace *t, const uint8_t *p, size_t n, struct trace_out *out,
			       struct err *e);
int trace_decode_lackey(struct trace *t, const uint8_t *p, size_t n, struct trace_out *out,
			struct err *e);
int trace_decode_champsim(struct trace *t, const uint8_t *p, size_t n, struct trace_out *out,
			  struct err *e);
int trace_decode_drmemtrace(struct trace *t, const uint8_t *p, size_t n, struct trace_out *out,
			    struct err *e);

/* Whether the first @n bytes look like the format. */
bool trace_is_lackey(const uint8_t *p, size_t n);
bool trace_is_champsim(const uint8_t *p, size_t n, enum trace_format f);
bool trace_is_drmemtrace(const uint8_t *p, size_t n);

static inline void trace_put(struct trace_out *out, uint64_t address, uint32_t bytes,
			     enum trace_kind kind)
{
	out->v[out->n++] = (struct trace_ref){ .address = address, .bytes = bytes, .kind = kind };
}

static inline uint64_t trace_u64(const uint8_t *p)
{
	uint64_t v = 0;

	for (unsigned i = 8; i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

static inline unsigned trace_u16(const uint8_t *p)
{
	return (unsigned)p[0] | (unsigned)p[1] << 8;
}

#endif
