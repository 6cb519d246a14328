// SPDX-License-Identifier: MIT
/* The stream under all formats: buffer, recognition, offsets of what is wrong. */
#include "trace/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/parts.h"

static const char *const names[TRACE_FORMATS] = { "auto", "lackey", "champsim", "cloudsuite",
						  "drmemtrace" };

const char *trace_format_name(enum trace_format f)
{
	return f < TRACE_FORMATS ? names[f] : "?";
}

int trace_format_parse(const char *name, enum trace_format *ret)
{
	for (unsigned f = 0; f < TRACE_FORMATS; f++) {
		if (strcmp(names[f], name) == 0) {
			*ret = (enum trace_format)f;
			return 0;
		}
	}
	return -EINVAL;
}

/* --- bytes --- */

/* Reads on until the buffer is full or the source ends; that it failed is told after its bytes. */
static void fill(struct trace *t)
{
	if (t->at > 0) {
		memmove(t->buf, t->buf + t->at, t->have - t->at);
		t->base += t->at;
		t->have -= t->at;
		t->at = 0;
	}
	while (!t->eof && t->have < sizeof(t->buf)) {
		size_t n = 0;
		int rc = t->read(t->user, t->buf + t->have, sizeof(t->buf) - t->have, &n,
				 &t->source);

		t->have += n;
		t->eof = rc < 0 || n == 0;
	}
}

/* --- recognition --- */

static const struct packed {
	const char *magic;
	size_t n;
	const char *what, *command;
} packed[] = {
	{ "\x1f\x8b\x08", 3, "gzip", "gzip -dc" },
	{ "\xfd"
	  "7zXZ",
	  5, "xz", "xz -dc" },
	{ "\x28\xb5\x2f\xfd", 4, "zstd", "zstd -dc" },
	{ "\x04\x22\x4d\x18", 4, "lz4", "lz4 -dc" },
	{ "BZh", 3, "bzip2", "bzip2 -dc" },
	{ "PK\x03\x04", 4, "zip", "unzip -p" },
	{ NULL, 0, NULL, NULL },
};

static int refuse_packed(const struct trace *t, const char *name, struct err *e)
{
	for (const struct packed *x = packed; x->magic; x++) {
		if (t->have < x->n || memcmp(t->buf, x->magic, x->n) != 0)
			continue;
		if (strcmp(name, "-") == 0)
			return err_set(e, EBADMSG,
				       "compressed (%s); unpack it before: %s FILE | pagetoll "
				       "predict --trace - ...",
				       x->what, x->command);
		return err_set(e, EBADMSG,
			       "compressed (%s); pipe it: %s %s | pagetoll predict --trace - ...",
			       x->what, x->command, name);
	}
	return 0;
}

static bool looks_like(const struct trace *t, enum trace_format f)
{
	switch (f) {
	case TRACE_LACKEY:
		return trace_is_lackey(t->buf, t->have);
	case TRACE_DRMEMTRACE:
		return trace_is_drmemtrace(t->buf, t->have);
	case TRACE_CHAMPSIM:
	case TRACE_CLOUDSUITE:
		return trace_is_champsim(t->buf, t->have, f);
	case TRACE_AUTO:
	case TRACE_FORMATS:
		break;
	}
	return false;
}

static int recognise(struct trace *t, const char *name, enum trace_format format, struct err *e)
{
	/* strictest first: any 64 bytes could be an instruction of ChampSim */
	static const enum trace_format order[] = { TRACE_DRMEMTRACE, TRACE_LACKEY, TRACE_CHAMPSIM,
						   TRACE_CLOUDSUITE };
	int rc;

	fill(t);
	if (t->source.code && t->have == 0)
		return err_set(e, t->source.code, "%s", t->source.msg);
	if (t->have == 0)
		return err_set(e, EBADMSG, "offset 0: the trace is empty");
	t->format = format;
	if (format != TRACE_AUTO && looks_like(t, format))
		return 0;
	rc = refuse_packed(t, name, e);
	if (rc < 0 || format != TRACE_AUTO) /* what is wrong is told at its offset */
		return rc;
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (looks_like(t, order[i])) {
			t->format = order[i];
			return 0;
		}
	}
	return err_set(e, EBADMSG,
		       "offset 0: no trace that is known; accepted: text of valgrind --tool=lackey "
		       "--trace-mem=yes, ChampSim's records of 64 bytes (or 96, cloudsuite), "
		       "DynamoRIO's final drmemtrace records of 12 bytes; --trace-format FORMAT "
		       "says where the first bytes are wrong");
}

int trace_open(trace_read_fn read, void *user, const char *name, enum trace_format format,
	       struct trace **ret, struct err *e)
{
	struct trace *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return err_set(e, ENOMEM, "out of memory");
	t->read = read;
	t->user = user;
	t->line = 1;
	rc = recognise(t, name, format, e);
	if (rc < 0) {
		free(t);
		return rc;
	}
	*ret = t;
	return 0;
}

void trace_close(struct trace *t)
{
	free(t);
}

/* --- records --- */

static trace_decode_fn decoder_of(enum trace_format f)
{
	return f == TRACE_LACKEY       ? trace_decode_lackey
	       : f == TRACE_DRMEMTRACE ? trace_decode_drmemtrace
				       : trace_decode_champsim;
}

static void locate(const struct trace *t, struct err *e)
{
	if (t->format == TRACE_LACKEY)
		err_prefix(e, "offset %ju, line %ju: ", (uintmax_t)trace_offset(t),
			   (uintmax_t)t->line);
	else
		err_prefix(e, "offset %ju: ", (uintmax_t)trace_offset(t));
}

/* At the end of the bytes: is it the end of the trace? */
static int judge_end(const struct trace *t, struct err *e)
{
	const size_t left = t->have - t->at;

	if (t->source.code)
		return err_set(e, t->source.code, "%s", t->source.msg);
	if (left > 0)
		return err_set(e, EBADMSG,
			       "the trace ends within a record, whose %zu byte%s %s left out", left,
			       left == 1 ? "" : "s", left == 1 ? "is" : "are");
	if (t->has_begin && !t->has_end)
		return err_set(e, EBADMSG, "the trace was cut off: it begins with a head, and %s",
			       t->format == TRACE_LACKEY ? "Valgrind's \"Exit code\" is missing"
							 : "its footer is missing");
	return 0;
}

/* Decodes what the buffer has; 1: go on, 0: the end, TRACE_STOP: enough, or failed. */
static int decode(struct trace *t, struct trace_out *out, size_t cap, struct err *e)
{
	const trace_decode_fn one = decoder_of(t->format);
	int rc = TRACE_STOP;

	while (out->n + TRACE_RECORD_REFS <= cap) {
		rc = one(t, t->buf + t->at, t->have - t->at, out, e);
		if (rc <= 0)
			break;
		t->at += (size_t)rc;
	}
	if (rc < 0 && rc != TRACE_STOP)
		locate(t, e);
	if (rc != 0)
		return rc > 0 ? TRACE_STOP : rc;
	if (!t->eof && t->have - t->at < sizeof(t->buf)) {
		fill(t);
		return 1;
	}
	rc = t->eof ? judge_end(t, e)
		    : err_set(e, EBADMSG, "a line of more than %d bytes", TRACE_BUFFER);
	if (rc < 0)
		locate(t, e);
	return rc;
}

int trace_next(struct trace *t, struct trace_ref *v, size_t cap, size_t *ret_n, struct err *e)
{
	struct trace_out out = { .v = v };
	struct err failed = { 0 };
	int rc = 1;

	if (t->failed.code)
		return err_set(e, t->failed.code, "%s", t->failed.msg);
	while (rc == 1)
		rc = decode(t, &out, cap, &failed);
	if (rc < 0 && rc != TRACE_STOP) {
		t->failed = failed;
		if (out.n == 0)
			return err_set(e, failed.code, "%s", failed.msg);
	}
	*ret_n = out.n;
	return out.n > 0 || rc == TRACE_STOP;
}

enum trace_format trace_format_of(const struct trace *t)
{
	return t->format;
}

uint64_t trace_thread(const struct trace *t)
{
	return t->thread;
}

uint64_t trace_time(const struct trace *t)
{
	return t->time;
}

uint64_t trace_offset(const struct trace *t)
{
	return t->base + t->at;
}

uint64_t trace_prefetches(const struct trace *t)
{
	return t->prefetches;
}
