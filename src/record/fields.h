/* SPDX-License-Identifier: MIT */
/*
 * Checked access to the fields of a JSON object that may come from anybody. Inside record/ only.
 * All return 0, -EBADMSG (wrong type, or a needed field is not there) or -ENOMEM, with a message
 * that names the field; @ret is untouched when an optional field is absent or null.
 */
#ifndef PAGETOLL_RECORD_FIELDS_H
#define PAGETOLL_RECORD_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "record/attrs.h"

enum presence { OPTIONAL, NEEDED };

/* Text, copied into the arena. */
int field_text(json_t *o, const char *key, enum presence p, struct arena *a, const char **ret,
	       struct err *e);
/* An integer in [min, max]. */
int field_int(json_t *o, const char *key, enum presence p, int64_t min, int64_t max, int64_t *ret,
	      struct err *e);
int field_bool(json_t *o, const char *key, enum presence p, bool *ret, struct err *e);
/* Optional arrays and objects; *ret is NULL when absent, else borrowed. */
int field_array(json_t *o, const char *key, json_t **ret, struct err *e);
int field_attrs(json_t *o, const char *key, struct arena *a, struct attrs *ret, struct err *e);

/*
 * A name out of an enumeration: @parse is one of the x_parse() functions, through a cast-free
 * wrapper that stores an int.
 */
typedef int (*parse_name_fn)(const char *s, int *ret);
int field_name(json_t *o, const char *key, enum presence p, parse_name_fn parse, int *ret,
	       struct err *e);

#endif
