/* SPDX-License-Identifier: MIT */
/*
 * Named values of any kind in insertion order: settings, proof, taints, machine fingerprint. All
 * memory belongs to the arena that is passed; names are unique (setting again replaces the value).
 */
#ifndef PAGETOLL_RECORD_ATTRS_H
#define PAGETOLL_RECORD_ATTRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

enum attr_kind {
	ATTR_TEXT, /* text */
	ATTR_INT,  /* integer */
	ATTR_REAL, /* real, finite */
	ATTR_NULL, /* not known; `text` is the reason, never NULL */
};

struct attr {
	const char *name;
	enum attr_kind kind;
	const char *text; /* TEXT: the value; NULL kind: the reason */
	int64_t integer;
	double real;
};

struct attrs {
	struct attr *v;
	size_t n, cap;
};

/* Each returns 0 or -ENOMEM. A non-finite real becomes null with the reason "not finite". */
int attrs_set_text(struct arena *a, struct attrs *at, const char *name, const char *value);
int attrs_set_int(struct arena *a, struct attrs *at, const char *name, int64_t value);
int attrs_set_real(struct arena *a, struct attrs *at, const char *name, double value);
int attrs_set_null(struct arena *a, struct attrs *at, const char *name, const char *reason);
int attrs_copy(struct arena *a, struct attrs *to, const struct attrs *from);

/* NULL when absent. Borrowed. */
const struct attr *attrs_find(const struct attrs *at, const char *name);
/* The text of a TEXT attribute, else @otherwise. */
const char *attrs_text(const struct attrs *at, const char *name, const char *otherwise);
/* An INT (or a whole REAL) value, else @otherwise. */
int64_t attrs_int(const struct attrs *at, const char *name, int64_t otherwise);

/* Same names with the same values, in any order. */
bool attrs_equal(const struct attrs *a, const struct attrs *b);

/* Appends the value as people read it ("null (reason)" for unknown ones). */
void attr_format(struct str *out, const struct attr *a);
/* Appends "name=value name=value". */
void attrs_format(struct str *out, const struct attrs *at);

#endif
