// SPDX-License-Identifier: MIT
/*
 * Machine files, read by the tables of fields.c. Files come from anybody: nothing is trusted, and
 * a message names the place as a path ("tlbs[1].entries").
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"
#include "sim/fields.h"

enum { PATH_BYTES = 96, TEXT_MAX = 400 };

struct reading {
	struct sim_machine *m;
	const struct section *section;
	char path[PATH_BYTES]; /* of the object being read */
	char *base;            /* its structure */
	json_t *source;        /* its "source": a text or an object */
	struct err *e;
};

static int no_memory(struct err *e)
{
	return err_set(e, ENOMEM, "no memory for a machine");
}

static int refuse(struct reading *r, const char *key, const char *what)
{
	return err_set(r->e, EBADMSG, "%s%s%s: %s", r->path, *r->path && *key ? "." : "", key,
		       what);
}

static int refuse_range(struct reading *r, const struct field *f, const char *value)
{
	char low[UNITS_TEXT_BYTES], high[UNITS_TEXT_BYTES], what[200];

	if (f->kind == FIELD_SIZE)
		snprintf(what, sizeof(what), "%s; accepted: %s to %s, in quotes", value,
			 format_size(low, (uint64_t)f->min), format_size(high, (uint64_t)f->max));
	else
		snprintf(what, sizeof(what), "%s; accepted: %s to %s (%s)", value,
			 format_real(low, f->min), format_real(high, f->max), f->unit);
	return refuse(r, f->key, what);
}

static const char *type_word(const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "a list";
	case JSON_STRING:
		return "a text";
	case JSON_INTEGER:
	case JSON_REAL:
		return "a number";
	case JSON_NULL:
		return "null";
	default:
		return "true or false";
	}
}

/* --- values --- */

static int copy_text(struct reading *r, const char *key, json_t *v, const char **ret)
{
	if (!json_is_string(v))
		return refuse(r, key, "a text is accepted");
	if (json_string_length(v) == 0 || json_string_length(v) > TEXT_MAX ||
	    strlen(json_string_value(v)) != json_string_length(v))
		return refuse(r, key, "a text of 1 to 400 bytes is accepted");
	for (const char *c = json_string_value(v); *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			return refuse(r, key, "a text without control characters is accepted");
	*ret = arena_strdup(&r->m->arena, json_string_value(v));
	return *ret ? 0 : no_memory(r->e);
}

static int read_number(struct reading *r, const struct field *f, json_t *v, void *at)
{
	char text[UNITS_TEXT_BYTES];
	double n;

	if (!json_is_number(v))
		return refuse_range(r, f, type_word(v));
	n = json_number_value(v);
	if (!isfinite(n) || n < f->min || n > f->max || (f->kind == FIELD_COUNT && n != floor(n)))
		return refuse_range(r, f, format_real(text, n));
	if (f->kind == FIELD_REAL)
		*(double *)at = n;
	else
		*(uint32_t *)at = (uint32_t)n;
	return 0;
}

static int parse_bytes(struct reading *r, const char *key, json_t *v, uint64_t *ret)
{
	struct err why = { 0 };

	if (!json_is_string(v))
		return refuse(r, key, "a size in quotes is accepted, as \"32k\"");
	if (parse_size(json_string_value(v), ret, &why) < 0)
		return refuse(r, key, why.msg);
	return 0;
}

static int read_size(struct reading *r, const struct field *f, json_t *v, uint64_t *ret)
{
	uint64_t bytes;
	int rc = parse_bytes(r, f->key, v, &bytes);

	if (rc < 0)
		return rc;
	if ((double)bytes < f->min || (double)bytes > f->max)
		return refuse_range(r, f, json_string_value(v));
	*ret = bytes;
	return 0;
}

static int read_choice(struct reading *r, const struct field *f, json_t *v, int *ret)
{
	char what[200] = "";

	for (int i = 0; f->choices[i]; i++) {
		if (json_is_string(v) && strcmp(json_string_value(v), f->choices[i]) == 0) {
			*ret = i;
			return 0;
		}
		snprintf(what + strlen(what), sizeof(what) - strlen(what), "%s%s", i ? ", " : "",
			 f->choices[i]);
	}
	return err_set(r->e, EBADMSG, "%s.%s: %s; accepted: %s", r->path, f->key,
		       json_is_string(v) ? json_string_value(v) : type_word(v), what);
}

static int read_pages(struct reading *r, const struct field *f, json_t *v)
{
	struct sim_tlb *t = (struct sim_tlb *)(void *)r->base;

	if (!json_is_array(v) || json_array_size(v) == 0 || json_array_size(v) > SIM_PAGES_MAX)
		return refuse(r, f->key, "a list of 1 to 6 sizes is accepted, as [\"4k\", \"2m\"]");
	for (size_t i = 0; i < json_array_size(v); i++) {
		uint64_t bytes;
		int rc = parse_bytes(r, f->key, json_array_get(v, i), &bytes);

		if (rc < 0)
			return rc;
		if (bytes < 4096 || bytes > UINT64_C(1) << 40 || (bytes & (bytes - 1)))
			return refuse(r, f->key, "page sizes are powers of two from 4k to 1t");
		t->pages[t->n_pages++] = bytes;
	}
	return 0;
}

static int read_pairs(struct reading *r, const struct field *f, json_t *v)
{
	struct sim_alias *a = (struct sim_alias *)(void *)r->base;

	if (!json_is_array(v) || json_array_size(v) == 0 || json_array_size(v) > SIM_ALIAS_BITS)
		return refuse(r, f->key, "a list of 1 to 16 pairs is accepted, as [[12, 27]]");
	for (size_t i = 0; i < json_array_size(v); i++) {
		json_t *p = json_array_get(v, i);
		const json_int_t low = json_integer_value(json_array_get(p, 0));
		const json_int_t high = json_integer_value(json_array_get(p, 1));

		if (json_array_size(p) != 2 || low < 12 || high > 47 || low >= high || low > 31)
			return refuse(r, f->key,
				      "a pair is two bits, the lower first, 12 to 31 and up to 47");
		a->low[a->n_pairs] = (uint32_t)low;
		a->high[a->n_pairs++] = (uint32_t)high;
	}
	return 0;
}

static int read_matrix(struct reading *r, const struct field *f, json_t *v)
{
	struct sim_memory *mem = (struct sim_memory *)(void *)r->base;
	const size_t n = mem->nodes;
	double *to = arena_alloc(&r->m->arena, n * n * sizeof(*to));

	if (!to)
		return no_memory(r->e);
	if (!json_is_array(v) || json_array_size(v) != n)
		return refuse(r, f->key, "one row for each node is accepted");
	for (size_t i = 0; i < n; i++) {
		json_t *row = json_array_get(v, i);

		if (!json_is_array(row) || json_array_size(row) != n)
			return refuse(r, f->key, "one number for each node in a row is accepted");
		for (size_t k = 0; k < n; k++) {
			int rc = read_number(r,
					     &(struct field){ .key = f->key,
							      .unit = "ns",
							      .kind = FIELD_REAL,
							      .min = f->min,
							      .max = f->max },
					     json_array_get(row, k), &to[i * n + k]);

			if (rc < 0)
				return rc;
		}
	}
	mem->latency_ns = to;
	return 0;
}

static int read_value(struct reading *r, const struct field *f, json_t *v)
{
	void *at = r->base + f->offset;

	switch (f->kind) {
	case FIELD_TEXT:
		return copy_text(r, f->key, v, at);
	case FIELD_REAL:
	case FIELD_COUNT:
		return read_number(r, f, v, at);
	case FIELD_SIZE:
		return read_size(r, f, v, at);
	case FIELD_FLAG:
		if (!json_is_boolean(v))
			return refuse(r, f->key, "true or false is accepted");
		*(bool *)at = json_is_true(v);
		return 0;
	case FIELD_CHOICE:
		return read_choice(r, f, v, at);
	case FIELD_PAGES:
		return read_pages(r, f, v);
	case FIELD_PAIRS:
		return read_pairs(r, f, v);
	case FIELD_MATRIX:
		return read_matrix(r, f, v);
	}
	return 0;
}

/* --- sources --- */

static bool source_is_known(const struct sim_machine *m, const char *source)
{
	const size_t n = strcspn(source, ":");

	if (sim_source_is_assumed(source))
		return true;
	for (size_t i = 0; i < m->n_sources; i++)
		if (strlen(m->sources[i].key) == n && strncmp(m->sources[i].key, source, n) == 0)
			return true;
	return false;
}

static int note_source(struct reading *r, const struct field *f)
{
	char path[PATH_BYTES + 32];
	json_t *s = r->source;

	if (json_is_object(s)) {
		json_t *own = json_object_get(s, f->key);

		s = own ? own : json_object_get(s, "*");
	}
	if (!json_is_string(s))
		return refuse(
			r, f->key,
			"a figure needs its source: \"source\" of the same object (a text, or "
			"one for each key and \"*\"), which names one of \"sources\", or "
			"assumed");
	if (!source_is_known(r->m, json_string_value(s)))
		return err_set(r->e, EBADMSG,
			       "%s.%s: source '%.60s' is none of \"sources\"; for a figure that "
			       "nobody published: assumed",
			       r->path, f->key, json_string_value(s));
	snprintf(path, sizeof(path), "%s.%s", r->path, f->key);
	return sim_machine_set_source(r->m, path, json_string_value(s)) < 0 ? no_memory(r->e) : 0;
}

static int add_source(struct reading *r, const char *key, json_t *v)
{
	struct sim_machine *m = r->m;
	struct sim_source *s;
	int rc;

	if (arena_grow(&m->arena, &m->sources, m->n_sources, &m->cap_sources, sizeof(*s)) < 0)
		return no_memory(r->e);
	if (*key == '\0' || strlen(key) > 40 || strchr(key, ':') || sim_source_is_assumed(key))
		return refuse(r, key, "the key of a source is 1 to 40 bytes without ':'");
	s = &m->sources[m->n_sources];
	rc = copy_text(r, key, v, &s->text);
	if (rc < 0)
		return rc;
	s->key = arena_strdup(&m->arena, key);
	if (!s->key)
		return no_memory(r->e);
	m->n_sources++;
	return 0;
}

static int read_sources(struct reading *r, json_t *v)
{
	const char *key;
	json_t *text;
	int rc = 0;

	snprintf(r->path, sizeof(r->path), "sources");
	if (!json_is_object(v))
		return refuse(r, "", "an object is needed: a key and a citation for each source");
	json_object_foreach(v, key, text)
	{
		rc = rc < 0 ? rc : add_source(r, key, text);
	}
	r->path[0] = '\0';
	return rc;
}

/* --- objects --- */

static const struct field *find_field(const struct section *s, const char *key)
{
	for (const struct field *f = s->fields; f->key; f++)
		if (strcmp(f->key, key) == 0)
			return f;
	return NULL;
}

static int refuse_key(struct reading *r, const char *key)
{
	const char *near = NULL;

	for (const struct field *f = r->section->fields; f->key; f++)
		if (text_distance(f->key, key) <= 2)
			near = f->key;
	return err_set(r->e, EBADMSG, "%s.%.60s: there is no such key%s%s%s (docs/machines.md)",
		       r->path, key, near ? "; did you mean \"" : "", near ? near : "",
		       near ? "\"?" : "");
}

static int check_keys(struct reading *r, json_t *o)
{
	const char *key;
	json_t *v;

	json_object_foreach(o, key, v)
	{
		if (strcmp(key, "source") != 0 && !find_field(r->section, key))
			return refuse_key(r, key);
		if (strcmp(key, "source") == 0 && json_is_object(v)) {
			const char *own;
			json_t *text;

			json_object_foreach(v, own, text)
			{
				if (strcmp(own, "*") != 0 && !find_field(r->section, own))
					return refuse_key(r, own);
			}
		}
	}
	return 0;
}

static void set_default(struct reading *r, const struct field *f)
{
	void *at = r->base + f->offset;

	if (f->kind == FIELD_REAL)
		*(double *)at = f->def;
	else if (f->kind == FIELD_COUNT)
		*(uint32_t *)at = (uint32_t)f->def;
}

static int read_object(struct reading *r, json_t *o)
{
	int rc;

	if (!json_is_object(o))
		return refuse(r, "", "an object is accepted");
	r->source = json_object_get(o, "source");
	rc = check_keys(r, o);
	for (const struct field *f = r->section->fields; f->key && rc == 0; f++) {
		json_t *v = json_object_get(o, f->key);

		if (!v) {
			set_default(r, f);
			rc = f->is_needed ? refuse(r, f->key, "is needed and is not there") : 0;
			continue;
		}
		rc = read_value(r, f, v);
		if (rc == 0 && f->is_figure)
			rc = note_source(r, f);
	}
	return rc;
}

static int read_list(struct reading *r, json_t *v)
{
	const struct section *s = r->section;
	size_t *count = (size_t *)(void *)((char *)r->m + s->count_offset);
	int rc = 0;

	if (!json_is_array(v) || json_array_size(v) > s->max)
		return err_set(r->e, EBADMSG, "%s: a list of at most %zu objects is accepted",
			       s->name, s->max);
	for (size_t i = 0; i < json_array_size(v) && rc == 0; i++) {
		snprintf(r->path, sizeof(r->path), "%s[%zu]", s->name, i);
		r->base = (char *)r->m + s->offset + i * s->element_bytes;
		rc = read_object(r, json_array_get(v, i));
		*count = i + 1;
	}
	return rc;
}

static int read_section(struct reading *r, const struct section *s, json_t *v)
{
	r->section = s;
	snprintf(r->path, sizeof(r->path), "%s", s->name);
	if (s->max)
		return read_list(r, v);
	r->base = (char *)r->m + s->offset;
	if (strcmp(s->name, "far_side") == 0)
		r->m->far_side.present = true;
	return read_object(r, v);
}

/* --- the whole --- */

static int check_top(struct reading *r, json_t *o)
{
	static const char *const others[] = { "schema", "name", "summary", "sources", NULL };
	const char *key;
	json_t *v;

	json_object_foreach(o, key, v)
	{
		bool found = false;

		for (size_t i = 0; others[i]; i++)
			found = found || strcmp(others[i], key) == 0;
		for (const struct section *s = sim_sections; s->name; s++)
			found = found || strcmp(s->name, key) == 0;
		if (!found)
			return err_set(r->e, EBADMSG,
				       "%.60s: there is no such key in a machine "
				       "(docs/machines.md)",
				       key);
	}
	v = json_object_get(o, "schema");
	if (!json_is_integer(v) || json_integer_value(v) != SIM_FILE_VERSION)
		return refuse(r, "schema", "1 is what this version of the program reads");
	return 0;
}

static int read_top(struct reading *r, json_t *o)
{
	int rc = check_top(r, o);

	if (rc == 0)
		rc = copy_text(r, "name", json_object_get(o, "name"), &r->m->name);
	if (rc == 0)
		rc = copy_text(r, "summary", json_object_get(o, "summary"), &r->m->summary);
	if (rc == 0)
		rc = read_sources(r, json_object_get(o, "sources"));
	r->m->walker.parallel = 1;
	for (const struct section *s = sim_sections; s->name && rc == 0; s++) {
		json_t *v = json_object_get(o, s->name);

		if (v)
			rc = read_section(r, s, v);
		else if (s->is_needed)
			rc = err_set(r->e, EBADMSG, "%s: is needed and is not there", s->name);
	}
	return rc;
}

int sim_machine_read(const char *text, size_t n, struct sim_machine **ret, struct err *e)
{
	struct sim_machine *m = calloc(1, sizeof(*m));
	struct reading r = { .m = m, .e = e };
	json_error_t why;
	json_t *o;
	int rc;

	if (!m)
		return no_memory(e);
	o = json_loadb(text, n, JSON_REJECT_DUPLICATES, &why);
	if (!o) {
		rc = err_set(e, EBADMSG, "line %d: %s", why.line, why.text);
	} else if (!json_is_object(o)) {
		rc = err_set(e, EBADMSG, "a machine is one JSON object (docs/machines.md)");
	} else {
		rc = read_top(&r, o);
		if (rc == 0)
			rc = sim_machine_check(m, e);
		rc = rc == -EINVAL ? -EBADMSG : rc;
	}
	json_decref(o);
	if (rc < 0) {
		sim_machine_free(m);
		return rc;
	}
	*ret = m;
	return 0;
}
