/* SPDX-License-Identifier: MIT */
/*
 * Checked access to JSON fields.
 */
#include "record/fields.h"

#include <errno.h>
#include <string.h>

static int bad(const char *key, const char *wanted, struct err *e)
{
	return err_set(e, EBADMSG, "field '%.60s' must be %s", key, wanted);
}

/* The value of @key; NULL with *ret_rc = 0 when it is absent and may be. */
static json_t *get(json_t *o, const char *key, enum presence p, const char *wanted, int *ret_rc,
		   struct err *e)
{
	json_t *v = json_object_get(o, key);

	*ret_rc = 0;
	if (v && !json_is_null(v))
		return v;
	if (p == NEEDED)
		*ret_rc =
			err_set(e, EBADMSG, "field '%.60s' is missing: it must be %s", key, wanted);
	return NULL;
}

int field_text(json_t *o, const char *key, enum presence p, struct arena *a, const char **ret,
	       struct err *e)
{
	const char *copy;
	json_t *v;
	int rc;

	v = get(o, key, p, "a text", &rc, e);
	if (!v)
		return rc;
	if (!json_is_string(v))
		return bad(key, "a text", e);
	copy = arena_strdup(a, json_string_value(v));
	if (!copy)
		return err_set(e, ENOMEM, "out of memory");
	*ret = copy;
	return 0;
}

int field_int(json_t *o, const char *key, enum presence p, int64_t min, int64_t max, int64_t *ret,
	      struct err *e)
{
	json_t *v;
	int rc;

	v = get(o, key, p, "a whole number", &rc, e);
	if (!v)
		return rc;
	if (!json_is_integer(v))
		return bad(key, "a whole number", e);
	if (json_integer_value(v) < min || json_integer_value(v) > max)
		return err_set(e, EBADMSG, "field '%.60s' must be in %lld to %lld, not %lld", key,
			       (long long)min, (long long)max, (long long)json_integer_value(v));
	*ret = json_integer_value(v);
	return 0;
}

int field_bool(json_t *o, const char *key, enum presence p, bool *ret, struct err *e)
{
	json_t *v;
	int rc;

	v = get(o, key, p, "true or false", &rc, e);
	if (!v)
		return rc;
	if (!json_is_boolean(v))
		return bad(key, "true or false", e);
	*ret = json_is_true(v);
	return 0;
}

int field_array(json_t *o, const char *key, json_t **ret, struct err *e)
{
	int rc;

	*ret = get(o, key, OPTIONAL, "an array", &rc, e);
	if (*ret && !json_is_array(*ret))
		return bad(key, "an array", e);
	return 0;
}

/* A JSON value as an attribute without its name; texts stay borrowed from the JSON. */
static int to_attr(const char *key, json_t *v, struct attr *ret, struct err *e)
{
	json_t *reason;

	if (json_is_string(v)) {
		*ret = (struct attr){ .kind = ATTR_TEXT, .text = json_string_value(v) };
	} else if (json_is_integer(v)) {
		*ret = (struct attr){ .kind = ATTR_INT, .integer = json_integer_value(v) };
	} else if (json_is_real(v)) {
		*ret = (struct attr){ .kind = ATTR_REAL, .real = json_real_value(v) };
	} else if (json_is_null(v)) {
		*ret = (struct attr){ .kind = ATTR_NULL, .text = "no reason given" };
	} else if (json_is_object(v) && json_is_null(json_object_get(v, "value"))) {
		reason = json_object_get(v, "reason");
		if (!json_is_string(reason))
			return bad(key, "null with a reason that is a text", e);
		*ret = (struct attr){ .kind = ATTR_NULL, .text = json_string_value(reason) };
	} else {
		return bad(key, "a text, a number, or null with a reason", e);
	}
	return 0;
}

int field_attrs(json_t *o, const char *key, struct arena *a, struct attrs *ret, struct err *e)
{
	struct attrs at = { 0 };
	const char *name;
	json_t *all, *v;
	int rc;

	all = get(o, key, OPTIONAL, "an object", &rc, e);
	if (!all)
		return rc;
	if (!json_is_object(all))
		return bad(key, "an object", e);
	at.cap = json_object_size(all);
	at.v = arena_alloc(a, at.cap * sizeof(*at.v));
	if (!at.v)
		return err_set(e, ENOMEM, "out of memory");
	/* Names are unique already (duplicate keys are refused): no look-up for each. */
	json_object_foreach(all, name, v)
	{
		struct attr *to = &at.v[at.n];

		rc = to_attr(name, v, to, e);
		if (rc)
			return rc;
		to->name = arena_strdup(a, name);
		if (to->text)
			to->text = arena_strdup(a, to->text);
		if (!to->name || ((to->kind == ATTR_TEXT || to->kind == ATTR_NULL) && !to->text))
			return err_set(e, ENOMEM, "out of memory");
		at.n++;
	}
	*ret = at;
	return 0;
}

int field_name(json_t *o, const char *key, enum presence p, parse_name_fn parse, int *ret,
	       struct err *e)
{
	json_t *v;
	int rc;

	v = get(o, key, p, "a text", &rc, e);
	if (!v)
		return rc;
	if (!json_is_string(v))
		return bad(key, "a text", e);
	if (parse(json_string_value(v), ret) < 0)
		return err_set(e, EBADMSG, "field '%.60s' has the unknown value '%.60s'", key,
			       json_string_value(v));
	return 0;
}
