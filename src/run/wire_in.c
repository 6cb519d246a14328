/* SPDX-License-Identifier: MIT */
/*
 * The reading half of the worker's line protocol (wire.h has the grammar): words of a line, specs,
 * attributes. Frames of results are in wire_frame.c. Trusts nothing that it reads.
 */
#include "run/wire_in.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"

int wire_bad(struct err *e, const char *what)
{
	return err_set(e, EBADMSG, "%s", what);
}

char *wire_word(char **rest)
{
	char *word = *rest, *blank;

	if (!word)
		return NULL;
	blank = strchr(word, ' ');
	if (blank)
		*blank = '\0';
	*rest = blank ? blank + 1 : NULL;
	return *word ? word : NULL;
}

int wire_text(struct arena *a, char **rest, const char **ret, struct err *e)
{
	char *word = wire_word(rest);
	struct str clean = { 0 };
	const char *copy;

	if (!word || strlen(word) > WIRE_TEXT_BYTES || unescape_word(word, NULL) < 0)
		return wire_bad(e, "a text is missing, too long or badly escaped");
	escape_terminal(&clean, word);
	copy = clean.failed ? NULL : arena_strdup(a, str_text(&clean));
	str_done(&clean);
	if (!copy)
		return err_set(e, ENOMEM, "out of memory");
	*ret = copy;
	return 0;
}

int wire_name(struct arena *a, char **rest, const char **ret, struct err *e)
{
	char *name = wire_word(rest);
	const char *copy;

	if (!name || unescape_word(name, NULL) < 0 || *name == '\0' || strlen(name) > 96)
		return wire_bad(e, "a name is missing, too long or badly escaped");
	for (const char *c = name; *c; c++)
		if (*c <= ' ' || *c > '~')
			return wire_bad(e, "a name has characters that no name has");
	copy = arena_strdup(a, name);
	if (!copy)
		return err_set(e, ENOMEM, "out of memory");
	*ret = copy;
	return 0;
}

int wire_u64(char **rest, uint64_t max, uint64_t *ret, struct err *e)
{
	char *word = wire_word(rest);
	uint64_t v;

	if (!word || parse_u64(word, &v, NULL) < 0 || v > max)
		return wire_bad(e, "a number is missing, malformed or too large");
	*ret = v;
	return 0;
}

int wire_i64(char **rest, int64_t *ret, struct err *e)
{
	bool negative = *rest && **rest == '-';
	uint64_t v;
	int r;

	if (negative)
		(*rest)++;
	r = wire_u64(rest, (uint64_t)INT64_MAX + negative, &v, e);
	if (r < 0)
		return r;
	*ret = negative ? (int64_t)(0 - v) : (int64_t)v;
	return 0;
}

int wire_real(char **rest, double *ret, struct err *e)
{
	char *word = wire_word(rest);
	double v;

	if (!word || parse_real(word, &v, NULL) < 0 || !isfinite(v))
		return wire_bad(e, "a real number is missing, malformed or not finite");
	*ret = v;
	return 0;
}

int wire_end(char **rest, struct err *e)
{
	return *rest ? wire_bad(e, "a line has more words than it should") : 0;
}

static int put_attr(struct arena *a, struct attrs *at, char kind, const char *name, char **rest,
		    struct err *e)
{
	const char *text = NULL;
	int64_t integer = 0;
	double real = 0;
	int r;

	switch (kind) {
	case 't':
	case 'n':
		r = wire_text(a, rest, &text, e);
		if (r < 0)
			return r;
		return kind == 't' ? attrs_set_text(a, at, name, text)
				   : attrs_set_null(a, at, name, text);
	case 'i':
		r = wire_i64(rest, &integer, e);
		return r < 0 ? r : attrs_set_int(a, at, name, integer);
	case 'r':
		r = wire_real(rest, &real, e);
		return r < 0 ? r : attrs_set_real(a, at, name, real);
	default:
		return wire_bad(e, "an attribute has an unknown kind");
	}
}

int wire_attr(struct arena *a, struct attrs *at, char **rest, struct err *e)
{
	char *kind = wire_word(rest);
	const char *name = NULL;
	int r;

	if (!kind || kind[1] != '\0')
		return wire_bad(e, "an attribute has no kind");
	if (at->n >= WIRE_ATTRS)
		return wire_bad(e, "too many attributes");
	r = wire_name(a, rest, &name, e);
	if (r < 0)
		return r;
	if (attrs_find(at, name))
		return wire_bad(e, "an attribute comes twice");
	r = put_attr(a, at, kind[0], name, rest, e);
	if (r == -ENOMEM)
		return err_set(e, ENOMEM, "out of memory");
	return r < 0 ? r : wire_end(rest, e);
}

/* --- spec --- */

struct spec_reader {
	struct arena *a;
	struct invocation_spec s;
	const char *bench;
	uint64_t *values;
	bool has_start, has_end, has_seconds;
};

static int spec_values(struct spec_reader *r, char **rest, struct err *e)
{
	uint64_t n;
	int rc = wire_u64(rest, WIRE_VALUES, &n, e);

	if (rc < 0)
		return rc;
	if (r->values)
		return wire_bad(e, "values come twice");
	r->values = arena_alloc(r->a, ((size_t)n + 1) * sizeof(*r->values));
	if (!r->values)
		return err_set(e, ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		rc = wire_u64(rest, UINT64_MAX, &r->values[i], e);
		if (rc < 0)
			return rc;
	}
	r->s.inner_values = r->values;
	r->s.n_inner = (size_t)n;
	return wire_end(rest, e);
}

static int spec_number(char **rest, unsigned *ret, struct err *e)
{
	uint64_t v = 0;
	int r = wire_u64(rest, UINT32_MAX, &v, e);

	if (r < 0)
		return r;
	*ret = (unsigned)v;
	return wire_end(rest, e);
}

static int spec_scalar(struct spec_reader *r, const char *key, char **rest, struct err *e)
{
	int rc;

	if (strcmp(key, "invocation") == 0)
		return spec_number(rest, &r->s.invocation, e);
	if (strcmp(key, "samples") == 0)
		return spec_number(rest, &r->s.samples, e);
	if (strcmp(key, "seed") == 0) {
		rc = wire_u64(rest, UINT64_MAX, &r->s.seed, e);
		return rc < 0 ? rc : wire_end(rest, e);
	}
	if (strcmp(key, "point-seconds") == 0) {
		rc = wire_real(rest, &r->s.point_seconds, e);
		r->has_seconds = true;
		return rc < 0 ? rc : wire_end(rest, e);
	}
	return wire_bad(e, "a spec has an unknown line");
}

static int spec_line(struct spec_reader *r, char *line, struct err *e)
{
	char *rest = line, *key = wire_word(&rest);
	uint64_t version = 0;
	int rc;

	if (!key)
		return wire_bad(e, "a line is empty");
	if (strcmp(key, "spec") == 0) {
		rc = wire_u64(&rest, UINT32_MAX, &version, e);
		if (rc == 0 && (version != 1 || r->has_start))
			return wire_bad(e, "a spec of another version, or a second one");
		r->has_start = true;
		return rc < 0 ? rc : wire_end(&rest, e);
	}
	if (!r->has_start)
		return wire_bad(e, "this is no spec");
	if (strcmp(key, "end") == 0) {
		r->has_end = true;
		return wire_end(&rest, e);
	}
	if (strcmp(key, "bench") == 0 || strcmp(key, "inner") == 0) {
		rc = wire_name(r->a, &rest, *key == 'b' ? &r->bench : &r->s.inner, e);
		return rc < 0 ? rc : wire_end(&rest, e);
	}
	if (strcmp(key, "given") == 0)
		return wire_attr(r->a, &r->s.setting.given, &rest, e);
	if (strcmp(key, "resolved") == 0)
		return wire_attr(r->a, &r->s.setting.resolved, &rest, e);
	if (strcmp(key, "values") == 0)
		return spec_values(r, &rest, e);
	return spec_scalar(r, key, &rest, e);
}

int wire_get_spec(struct arena *a, char *text, const char **ret_bench, struct invocation_spec *ret,
		  struct err *e)
{
	struct spec_reader r = { .a = a };
	char *rest = text, *line;

	while (!r.has_end && (line = strsep(&rest, "\n")) != NULL) {
		int rc = rest ? spec_line(&r, line, e) : wire_bad(e, "a spec without an end");

		if (rc < 0)
			return rc;
	}
	if (!r.has_end || !r.bench || !r.has_seconds || r.s.samples == 0 ||
	    !(r.s.point_seconds >= 0))
		return wire_bad(e, "a spec is incomplete");
	if (rest && *rest)
		return wire_bad(e, "something follows the end of a spec");
	if (!r.s.inner != !r.values || (r.s.inner && r.s.n_inner == 0))
		return wire_bad(e, "a spec has inner values without a name, or a name without");
	*ret_bench = r.bench;
	*ret = r.s;
	return 0;
}
