/* SPDX-License-Identifier: MIT */
/*
 * Frames that a worker sends: bytes to lines, lines to results. Checked against the benchmark's
 * schema, so that nothing gets into a run that its self-description does not have.
 */
#include "run/wire_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/run.h"

static size_t count_metrics(const struct bench_schema *s)
{
	size_t n = 0;

	while (s->metrics && s->metrics[n].name)
		n++;
	return n;
}

int wire_feed(struct wire_reader *r, const char *data, size_t n, struct err *e)
{
	if (r->start > 0) {
		memmove(r->buf, r->buf + r->start, r->len - r->start);
		r->len -= r->start;
		r->start = 0;
	}
	if (n > WIRE_LINE_BYTES || r->len > WIRE_LINE_BYTES - n)
		return wire_bad(e, "a line is too long");
	if (r->len + n > r->cap) {
		size_t cap = 2 * (r->len + n);
		char *more = realloc(r->buf, cap);

		if (!more)
			return err_set(e, ENOMEM, "out of memory");
		r->buf = more;
		r->cap = cap;
	}
	if (n)
		memcpy(r->buf + r->len, data, n);
	r->len += n;
	return 0;
}

void wire_reader_done(struct wire_reader *r)
{
	free(r->buf);
	arena_done(&r->arena);
	*r = (struct wire_reader){ .schema = r->schema };
}

/* The next whole line without its newline, NULL: not there yet. */
static char *next_line(struct wire_reader *r)
{
	char *line, *newline;

	if (r->start == r->len)
		return NULL;
	line = r->buf + r->start;
	newline = memchr(line, '\n', r->len - r->start);
	if (!newline)
		return NULL;
	*newline = '\0';
	r->start = (size_t)(newline - r->buf) + 1;
	return line;
}

static int start_result(struct wire_reader *r, char **rest, struct err *e)
{
	char *inner, *verdict;
	enum verdict v;
	int rc;

	r->result = (struct bench_result){ .metrics = r->schema->metrics,
					   .n_metrics = count_metrics(r->schema) };
	r->values = arena_alloc(&r->arena, (r->result.n_metrics + 1) * sizeof(*r->values));
	if (!r->values)
		return err_set(e, ENOMEM, "out of memory");
	r->result.values = r->values;
	if (*rest && **rest == '-') {
		inner = wire_word(rest);
		if (!inner || strcmp(inner, "-") != 0)
			return wire_bad(e, "an inner value is malformed");
	} else {
		rc = wire_u64(rest, UINT64_MAX, &r->result.inner_value, e);
		if (rc < 0)
			return rc;
		r->result.has_inner = true;
	}
	verdict = wire_word(rest);
	if (!verdict || verdict_parse(verdict, &v) < 0)
		return wire_bad(e, "a verdict is missing or unknown");
	r->result.verdict = (int)v;
	rc = wire_i64(rest, &r->result.start_unix_ns, e);
	if (rc == 0)
		rc = wire_i64(rest, &r->result.duration_ns, e);
	if (rc == 0 && r->result.duration_ns < 0)
		return wire_bad(e, "a duration is negative");
	r->in_result = true;
	return rc < 0 ? rc : wire_end(rest, e);
}

static int find_metric(struct wire_reader *r, char **rest, enum series_form form, size_t *ret,
		       struct err *e)
{
	const char *name = NULL;
	int rc = wire_name(&r->arena, rest, &name, e);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < r->result.n_metrics; i++) {
		const struct metric_values *v = &r->values[i];

		if (strcmp(r->schema->metrics[i].name, name) != 0)
			continue;
		if (v->n || v->has_exact || v->has_count || v->null_reason)
			return wire_bad(e, "a metric comes twice");
		if (form != FORM_TABLE && r->schema->metrics[i].form != form)
			return wire_bad(e,
					"a metric comes in another form than its benchmark says");
		*ret = i;
		return 0;
	}
	return wire_bad(e, "a metric is unknown");
}

static int read_samples(struct wire_reader *r, char **rest, struct err *e)
{
	struct metric_values *v;
	size_t i = 0;
	uint64_t n = 0;
	int rc = find_metric(r, rest, FORM_SAMPLES, &i, e);

	if (rc == 0)
		rc = wire_u64(rest, WIRE_SAMPLES, &n, e);
	if (rc < 0)
		return rc;
	v = &r->values[i];
	/* Each value takes at least two bytes of the line: no allocation beyond what was sent. */
	if (n == 0 || !*rest || strlen(*rest) < 2 * n - 1)
		return wire_bad(e, "fewer samples than announced");
	v->samples = arena_alloc(&r->arena, (size_t)n * sizeof(*v->samples));
	if (!v->samples)
		return err_set(e, ENOMEM, "out of memory");
	for (; v->n < n; v->n++) {
		rc = wire_real(rest, &v->samples[v->n], e);
		if (rc < 0)
			return rc;
	}
	v->cap = v->n;
	return wire_end(rest, e);
}

static int read_exact(struct wire_reader *r, char **rest, struct err *e)
{
	size_t i = 0;
	int rc = find_metric(r, rest, FORM_EXACT, &i, e);

	if (rc == 0)
		rc = wire_i64(rest, &r->values[i].exact, e);
	if (rc < 0)
		return rc;
	r->values[i].has_exact = true;
	return wire_end(rest, e);
}

static int read_count(struct wire_reader *r, char **rest, struct err *e)
{
	struct metric_values *v;
	size_t i = 0;
	int rc = find_metric(r, rest, FORM_COUNT, &i, e);

	if (rc < 0)
		return rc;
	v = &r->values[i];
	rc = wire_i64(rest, &v->events, e);
	if (rc == 0)
		rc = wire_i64(rest, &v->exposure, e);
	if (rc == 0 && (v->events < 0 || v->exposure <= 0))
		return wire_bad(e, "a count is negative or has no exposure");
	if (rc < 0)
		return rc;
	v->has_count = true;
	return wire_end(rest, e);
}

static int read_null(struct wire_reader *r, char **rest, struct err *e)
{
	size_t i = 0;
	int rc = find_metric(r, rest, FORM_TABLE, &i, e);

	if (rc == 0)
		rc = wire_text(&r->arena, rest, &r->values[i].null_reason, e);
	return rc < 0 ? rc : wire_end(rest, e);
}

static int read_reason(struct wire_reader *r, const char **where, char **rest, struct err *e)
{
	int rc;

	if (*where)
		return wire_bad(e, "a reason comes twice");
	rc = wire_text(&r->arena, rest, where, e);
	return rc < 0 ? rc : wire_end(rest, e);
}

/* A verdict other than ok needs its reason, and ok has none. */
static int end_result(struct wire_reader *r, char **rest, struct err *e)
{
	if ((r->result.verdict == VERDICT_OK) != (r->result.reason == NULL))
		return wire_bad(e, "a verdict and its reason do not go together");
	r->in_result = false;
	return wire_end(rest, e);
}

static int result_line(struct wire_reader *r, const char *key, char **rest, struct err *e)
{
	if (strcmp(key, "reason") == 0)
		return read_reason(r, &r->result.reason, rest, e);
	if (strcmp(key, "unproven") == 0)
		return read_reason(r, &r->result.unproven, rest, e);
	if (strcmp(key, "proof") == 0)
		return wire_attr(&r->arena, &r->result.proof, rest, e);
	if (strcmp(key, "taint") == 0)
		return wire_attr(&r->arena, &r->result.taints, rest, e);
	if (strcmp(key, "samples") == 0)
		return read_samples(r, rest, e);
	if (strcmp(key, "exact") == 0)
		return read_exact(r, rest, e);
	if (strcmp(key, "count") == 0)
		return read_count(r, rest, e);
	if (strcmp(key, "null") == 0)
		return read_null(r, rest, e);
	return wire_bad(e, "a result has an unknown line");
}

static int read_done(struct wire_reader *r, char **rest, struct wire_message *ret, struct err *e)
{
	uint64_t code = 0;
	int rc = wire_u64(rest, 4095, &code, e);

	if (rc == 0)
		rc = wire_text(&r->arena, rest, &ret->text, e);
	if (rc == 0)
		rc = wire_end(rest, e);
	ret->code = (int)code;
	r->is_done = true;
	return rc < 0 ? rc : WIRE_DONE;
}

int wire_next(struct wire_reader *r, struct wire_message *ret, struct err *e)
{
	char *line;

	if (!r->in_result)
		arena_done(&r->arena);
	while ((line = next_line(r)) != NULL) {
		size_t n = (size_t)(r->buf + r->start - line) - 1;
		char *rest = line, *key;
		int rc;

		if (r->is_done)
			return wire_bad(e, "something follows the end");
		if (strlen(line) != n)
			return wire_bad(e, "a line has a zero byte");
		key = wire_word(&rest);
		if (!key)
			return wire_bad(e, "a line is empty");
		if (!r->in_result && strcmp(key, "done") == 0)
			return read_done(r, &rest, ret, e);
		if (!r->in_result)
			rc = strcmp(key, "result") == 0 ? start_result(r, &rest, e)
							: wire_bad(e, "an unknown line");
		else if (strcmp(key, "end") == 0)
			rc = end_result(r, &rest, e);
		else
			rc = result_line(r, key, &rest, e);
		if (rc < 0)
			return rc;
		if (!r->in_result) {
			ret->result = r->result;
			return WIRE_RESULT;
		}
	}
	return WIRE_MORE;
}
