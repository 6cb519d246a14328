/* SPDX-License-Identifier: MIT */
/*
 * Named values in insertion order. Look-up is linear: a setting has a dozen names, a fingerprint
 * some more.
 */
#include "record/attrs.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/units.h"

/* The place for @name: its present value, or a new one. NULL: no memory. */
static struct attr *slot(struct arena *a, struct attrs *at, const char *name)
{
	const char *copy;
	size_t i;

	for (i = 0; i < at->n; i++)
		if (!strcmp(at->v[i].name, name))
			return &at->v[i];
	if (arena_grow(a, &at->v, at->n, &at->cap, sizeof(*at->v)) < 0)
		return NULL;
	copy = arena_strdup(a, name);
	if (!copy)
		return NULL;
	at->v[at->n] = (struct attr){ .name = copy };
	return &at->v[at->n++];
}

/* @value without its name, text copied. */
static int set(struct arena *a, struct attrs *at, const char *name, struct attr value)
{
	struct attr *s;

	if (value.text) {
		value.text = arena_strdup(a, value.text);
		if (!value.text)
			return -ENOMEM;
	}
	s = slot(a, at, name);
	if (!s)
		return -ENOMEM;
	value.name = s->name;
	*s = value;
	return 0;
}

int attrs_set_text(struct arena *a, struct attrs *at, const char *name, const char *value)
{
	if (!value)
		return attrs_set_null(a, at, name, NULL);
	return set(a, at, name, (struct attr){ .kind = ATTR_TEXT, .text = value });
}

int attrs_set_int(struct arena *a, struct attrs *at, const char *name, int64_t value)
{
	return set(a, at, name, (struct attr){ .kind = ATTR_INT, .integer = value });
}

int attrs_set_real(struct arena *a, struct attrs *at, const char *name, double value)
{
	if (!isfinite(value))
		return attrs_set_null(a, at, name, "not finite");
	return set(a, at, name, (struct attr){ .kind = ATTR_REAL, .real = value });
}

int attrs_set_null(struct arena *a, struct attrs *at, const char *name, const char *reason)
{
	if (!reason)
		reason = "not known";
	return set(a, at, name, (struct attr){ .kind = ATTR_NULL, .text = reason });
}

int attrs_copy(struct arena *a, struct attrs *to, const struct attrs *from)
{
	size_t i;

	for (i = 0; i < from->n; i++)
		if (set(a, to, from->v[i].name, from->v[i]) < 0)
			return -ENOMEM;
	return 0;
}

const struct attr *attrs_find(const struct attrs *at, const char *name)
{
	size_t i;

	for (i = 0; i < at->n; i++)
		if (!strcmp(at->v[i].name, name))
			return &at->v[i];
	return NULL;
}

const char *attrs_text(const struct attrs *at, const char *name, const char *otherwise)
{
	const struct attr *a = attrs_find(at, name);

	return a && a->kind == ATTR_TEXT ? a->text : otherwise;
}

int64_t attrs_int(const struct attrs *at, const char *name, int64_t otherwise)
{
	const struct attr *a = attrs_find(at, name);

	if (a && a->kind == ATTR_INT)
		return a->integer;
	if (a && a->kind == ATTR_REAL && a->real >= -0x1p63 && a->real < 0x1p63 &&
	    a->real == trunc(a->real))
		return (int64_t)a->real;
	return otherwise;
}

static bool same_value(const struct attr *a, const struct attr *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case ATTR_TEXT:
		return !strcmp(a->text, b->text);
	case ATTR_INT:
		return a->integer == b->integer;
	case ATTR_REAL:
		return a->real == b->real;
	case ATTR_NULL:
		return true; /* why a value is not known is not part of it */
	}
	return false;
}

bool attrs_equal(const struct attrs *a, const struct attrs *b)
{
	const struct attr *other;
	size_t i;

	if (a->n != b->n)
		return false;
	for (i = 0; i < a->n; i++) {
		/* Usually both have the same order. */
		other = !strcmp(a->v[i].name, b->v[i].name) ? &b->v[i]
							    : attrs_find(b, a->v[i].name);
		if (!other || !same_value(&a->v[i], other))
			return false;
	}
	return true;
}

void attr_format(struct str *out, const struct attr *a)
{
	char buf[UNITS_TEXT_BYTES];

	switch (a->kind) {
	case ATTR_TEXT:
		str_add(out, a->text);
		break;
	case ATTR_INT:
		str_addf(out, "%" PRId64, a->integer);
		break;
	case ATTR_REAL:
		str_add(out, format_real(buf, a->real));
		break;
	case ATTR_NULL:
		str_addf(out, "null (%s)", a->text);
		break;
	}
}

void attrs_format(struct str *out, const struct attrs *at)
{
	size_t i;

	for (i = 0; i < at->n; i++) {
		if (i)
			str_add(out, " ");
		str_add(out, at->v[i].name);
		str_add(out, "=");
		attr_format(out, &at->v[i]);
	}
}
