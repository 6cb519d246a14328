/* SPDX-License-Identifier: MIT */
/*
 * Traces of real programs, as their tracers write them: the references one after the other. Reads
 * only, as a stream, in memory that does not grow; a trace that is bad or cut off gives all that is
 * before the bad place, and then the place and the reason.
 *
 * Leaves out compression (recognised and refused, with the command to pipe through), files (bytes
 * come through a function), and what the references cost (predict/trace.h).
 *
 *   lackey      text of valgrind --tool=lackey --trace-mem=yes (Valgrind 3.19, lackey/lk_main.c)
 *   champsim    64 bytes an instruction (ChampSim, inc/trace_instruction.h: input_instr)
 *   cloudsuite  96 bytes an instruction (... cloudsuite_instr)
 *   drmemtrace  12 bytes a record (DynamoRIO, drcachesim/common/trace_entry.h, versions 1 to 7);
 *               the final form, not the raw one, of a 64-bit program
 */
#ifndef PAGETOLL_TRACE_TRACE_H
#define PAGETOLL_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum trace_format {
	TRACE_AUTO, /* by the first bytes */
	TRACE_LACKEY,
	TRACE_CHAMPSIM,
	TRACE_CLOUDSUITE,
	TRACE_DRMEMTRACE,
	TRACE_FORMATS,
};
const char *trace_format_name(enum trace_format f);               /* "lackey" */
int trace_format_parse(const char *name, enum trace_format *ret); /* 0 or -EINVAL */

enum trace_kind { TRACE_LOAD, TRACE_STORE, TRACE_MODIFY, TRACE_FETCH, TRACE_KINDS };
struct trace_ref {
	uint64_t address;
	uint32_t bytes; /* 0: the trace does not say */
	enum trace_kind kind;
};

/* Up to @n bytes into @buf; *@ret_n 0: the end. 0 or a negative errno with a message. */
typedef int (*trace_read_fn)(void *user, void *buf, size_t n, size_t *ret_n, struct err *e);

struct trace;

/*
 * Begins to read. -EBADMSG: empty, compressed, or not recognised (TRACE_AUTO); the message has what
 * is accepted and the remedy, @name (borrowed, "-" for a pipe) stands in it. What @read gives;
 * -ENOMEM. The result is for trace_close().
 */
int trace_open(trace_read_fn read, void *user, const char *name, enum trace_format format,
	       struct trace **ret, struct err *e);
void trace_close(struct trace *t); /* accepts NULL */

enum { TRACE_NEXT_MIN = 32 };
/*
 * The next references, at most @cap (at least TRACE_NEXT_MIN), all of the thread that
 * trace_thread() then names. 1: *@ret_n of them, which may be 0 where time or thread changed.
 * 0: the end, *@ret_n is 0. -EBADMSG: a bad record or an end too early, with its offset and, of
 * text, its line; all references before it were given by the calls before. What the source gives.
 */
int trace_next(struct trace *t, struct trace_ref *v, size_t cap, size_t *ret_n, struct err *e);

enum trace_format trace_format_of(const struct trace *t);
/* Thread id; 0: the trace has none. */
uint64_t trace_thread(const struct trace *t);
/* Time of the last time stamp, in its own unit; 0: none so far. */
uint64_t trace_time(const struct trace *t);
/* Bytes of whole records so far. */
uint64_t trace_offset(const struct trace *t);
/* Records that were left out on purpose: prefetches. */
uint64_t trace_prefetches(const struct trace *t);

#endif
