/* SPDX-License-Identifier: MIT */
/*
 * What parent and worker say to each other: lines of words separated by one blank, text in words by
 * escape_word(), real numbers by format_real() (they come back bit for bit).
 *
 *   parent to worker                     worker to parent, for each point
 *     spec 1                               result INNER|- VERDICT START_NS DURATION_NS
 *     bench NAME                           reason TEXT
 *     invocation N                         unproven TEXT
 *     seed N                               proof KIND NAME VALUE
 *     samples N                            taint KIND NAME VALUE
 *     point-seconds REAL                   samples METRIC N REAL...
 *     given KIND NAME VALUE                exact METRIC INT
 *     resolved KIND NAME VALUE             null METRIC TEXT
 *     inner NAME                           count METRIC EVENTS EXPOSURE
 *     values N INT...                      end
 *     end                                and once at the end
 *                                          done ERRNO TEXT
 *
 * KIND is t (text), i (integer), r (real) or n (null with a reason). The reading side trusts
 * nothing: unknown words, wrong counts, numbers that are not finite, events below 0 or of no
 * exposure, metrics that the benchmark has not got, and lines or frames beyond the limits are
 * errors.
 */
#ifndef PAGETOLL_RUN_WIRE_H
#define PAGETOLL_RUN_WIRE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "bench/ctx.h"

enum {
	WIRE_LINE_BYTES = 8 << 20,
	WIRE_TEXT_BYTES = 64 << 10, /* one escaped text */
	WIRE_ATTRS = 256,           /* attributes in one list */
	WIRE_SAMPLES = 1 << 18,     /* values of one series */
	WIRE_VALUES = 100000,       /* inner values of one invocation */
};

/* --- writing: append to @out; -ENOMEM, -EDOM for a number that is not finite --- */

int wire_put_spec(struct str *out, const struct invocation_spec *s);
int wire_put_result(struct str *out, const struct bench_result *r);
/* @code: positive errno or 0; @text may be NULL. */
int wire_put_done(struct str *out, int code, const char *text);

/* --- reading --- */

/*
 * The whole text of a spec (changed in place), into memory of @a. spec->bench stays NULL: the name
 * is in @ret_bench. -EBADMSG, -ENOMEM.
 */
int wire_get_spec(struct arena *a, char *text, const char **ret_bench, struct invocation_spec *ret,
		  struct err *e);

enum wire_event { WIRE_MORE, WIRE_RESULT, WIRE_DONE };

struct wire_message {
	struct bench_result result; /* WIRE_RESULT; valid until the next wire_next() */
	int code;                   /* WIRE_DONE: 0 or a positive errno */
	const char *text;           /* WIRE_DONE */
};

/* Bytes in, messages out. All-zero but for the schema is a fresh one. */
struct wire_reader {
	const struct bench_schema *schema; /* borrowed */
	char *buf;                         /* owned */
	size_t start, len, cap;            /* unread bytes are buf[start .. len) */
	struct arena arena;                /* of the current message */
	struct bench_result result;
	struct metric_values *values;
	bool in_result, is_done;
};

/* 0, -ENOMEM, or -EBADMSG when a line gets too long. */
int wire_feed(struct wire_reader *r, const char *data, size_t n, struct err *e);
/* WIRE_MORE: feed more. -EBADMSG: what came cannot be right; never call again. */
int wire_next(struct wire_reader *r, struct wire_message *ret, struct err *e);
void wire_reader_done(struct wire_reader *r);

#endif
