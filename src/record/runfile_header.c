/* SPDX-License-Identifier: MIT */
/*
 * Reading of a run file's header: who, where, what disturbs, and what its benchmarks are. A bad
 * header is an error, because without it no measure can be understood.
 */
#include "record/header.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "record/fields.h"

#define PARSER(name, type)                              \
	static int read_##name(const char *s, int *ret) \
	{                                               \
		type v;                                 \
                                                        \
		if (name##_parse(s, &v) < 0)            \
			return -EINVAL;                 \
		*ret = (int)v;                          \
		return 0;                               \
	}

PARSER(origin, enum origin)
PARSER(severity, enum severity)
PARSER(param_type, enum param_type)
PARSER(param_role, enum param_role)
PARSER(better, enum better)
PARSER(estimator, enum estimator)
PARSER(series_form, enum series_form)

static int out_of_memory(struct err *e)
{
	return err_set(e, ENOMEM, "out of memory");
}

static int not_an_object(const char *of, struct err *e)
{
	return err_set(e, EBADMSG, "every element of '%s' must be an object", of);
}

int findings_from_json(json_t *o, struct arena *a, struct finding **to, size_t *n, size_t *cap,
		       struct err *e)
{
	json_t *all, *v;
	size_t i;
	int rc;

	rc = field_array(o, "findings", &all, e);
	if (rc)
		return rc;
	json_array_foreach(all, i, v)
	{
		struct finding f = { .effect = "", .remedy = "" };
		int severity = 0;

		if (!json_is_object(v))
			return not_an_object("findings", e);
		if ((rc = field_text(v, "id", NEEDED, a, &f.id, e)) ||
		    (rc = field_name(v, "severity", NEEDED, read_severity, &severity, e)) ||
		    (rc = field_text(v, "what", NEEDED, a, &f.what, e)) ||
		    (rc = field_text(v, "effect", OPTIONAL, a, &f.effect, e)) ||
		    (rc = field_text(v, "remedy", OPTIONAL, a, &f.remedy, e)))
			return rc;
		f.severity = (enum severity)severity;
		if (arena_grow(a, to, *n, cap, sizeof(**to)) < 0)
			return out_of_memory(e);
		(*to)[(*n)++] = f;
	}
	return 0;
}

static int read_choices(json_t *o, struct arena *a, const char *const **ret, struct err *e)
{
	const char **choices;
	json_t *all, *v;
	size_t i;
	int rc;

	rc = field_array(o, "choices", &all, e);
	if (rc || !all)
		return rc;
	choices = arena_alloc(a, (json_array_size(all) + 1) * sizeof(*choices));
	if (!choices)
		return out_of_memory(e);
	json_array_foreach(all, i, v)
	{
		if (!json_is_string(v))
			return err_set(e, EBADMSG, "every one of 'choices' must be a text");
		choices[i] = arena_strdup(a, json_string_value(v));
		if (!choices[i])
			return out_of_memory(e);
	}
	*ret = choices;
	return 0;
}

static int read_param(json_t *o, struct arena *a, struct param *p, struct err *e)
{
	int64_t min = 0, max = -1;
	int type = 0, role = 0, rc;

	if (!json_is_object(o))
		return not_an_object("params", e);
	p->summary = "";
	p->def = "";
	if ((rc = field_text(o, "name", NEEDED, a, &p->name, e)) ||
	    (rc = field_text(o, "summary", OPTIONAL, a, &p->summary, e)) ||
	    (rc = field_name(o, "type", NEEDED, read_param_type, &type, e)) ||
	    (rc = field_name(o, "role", NEEDED, read_param_role, &role, e)) ||
	    (rc = field_text(o, "default", OPTIONAL, a, &p->def, e)) ||
	    (rc = read_choices(o, a, &p->choices, e)) ||
	    (rc = field_int(o, "min", OPTIONAL, 0, INT64_MAX, &min, e)) ||
	    (rc = field_int(o, "max", OPTIONAL, 0, INT64_MAX, &max, e)))
		return rc;
	p->type = (enum param_type)type;
	p->role = (enum param_role)role;
	if (p->type == PARAM_COUNT || p->type == PARAM_BYTES) {
		p->min = (uint64_t)min;
		p->max = max < 0 ? UINT64_MAX : (uint64_t)max;
	}
	return 0;
}

static int read_metric(json_t *o, struct arena *a, struct metric *m, struct err *e)
{
	int better = 0, estimator = 0, form = 0, rc;

	if (!json_is_object(o))
		return not_an_object("metrics", e);
	m->summary = "";
	if ((rc = field_text(o, "name", NEEDED, a, &m->name, e)) ||
	    (rc = field_text(o, "summary", OPTIONAL, a, &m->summary, e)) ||
	    (rc = field_text(o, "unit", NEEDED, a, &m->unit, e)) ||
	    (rc = field_name(o, "better", NEEDED, read_better, &better, e)) ||
	    (rc = field_name(o, "estimator", NEEDED, read_estimator, &estimator, e)) ||
	    (rc = field_name(o, "form", NEEDED, read_series_form, &form, e)))
		return rc;
	m->better = (enum better)better;
	m->estimator = (enum estimator)estimator;
	m->form = (enum series_form)form;
	return 0;
}

static int read_schema(json_t *o, struct run *r, struct err *e)
{
	struct arena *a = &r->arena;
	json_t *params, *metrics, *v;
	struct bench_schema s = { .summary = "" };
	struct metric *m;
	struct param *p;
	int64_t revision = 0;
	size_t i;
	int rc;

	if (!json_is_object(o))
		return not_an_object("benches", e);
	if ((rc = field_text(o, "name", NEEDED, a, &s.name, e)) ||
	    (rc = field_text(o, "summary", OPTIONAL, a, &s.summary, e)) ||
	    (rc = field_int(o, "revision", NEEDED, 0, UINT_MAX, &revision, e)) ||
	    (rc = field_array(o, "params", &params, e)) ||
	    (rc = field_array(o, "metrics", &metrics, e)))
		return rc;
	if (json_array_size(metrics) == 0)
		return err_set(e, EBADMSG, "a benchmark needs at least one of 'metrics'");
	if (run_schema(r, s.name))
		return err_set(e, EBADMSG, "'%.60s' stands twice in 'benches'", s.name);
	p = arena_alloc(a, (json_array_size(params) + 1) * sizeof(*p));
	m = arena_alloc(a, (json_array_size(metrics) + 1) * sizeof(*m));
	if (!p || !m)
		return out_of_memory(e);
	s.revision = (unsigned)revision;
	s.params = p;
	s.metrics = m;
	json_array_foreach(params, i, v)
	{
		rc = read_param(v, a, &p[i], e);
		if (rc)
			return rc;
	}
	json_array_foreach(metrics, i, v)
	{
		rc = read_metric(v, a, &m[i], e);
		if (rc)
			return rc;
	}
	if (arena_grow(a, &r->schemas, r->n_schemas, &r->cap_schemas, sizeof(*r->schemas)) < 0)
		return out_of_memory(e);
	r->schemas[r->n_schemas++] = s;
	return 0;
}

static int read_schemas(json_t *o, struct run *r, struct err *e)
{
	json_t *all, *v;
	size_t i;
	int rc;

	rc = field_array(o, "benches", &all, e);
	if (rc)
		return rc;
	json_array_foreach(all, i, v)
	{
		rc = read_schema(v, r, e);
		if (rc)
			return rc;
	}
	return 0;
}

/* Ids become file names and words on command lines: no blanks, slashes or leading dots. */
static int check_id(const char *id, struct err *e)
{
	static const char accepted[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789._-";
	size_t n = strlen(id);

	if (n == 0 || n > 64 || strspn(id, accepted) != n || id[0] == '.' || id[0] == '-')
		return err_set(e, EBADMSG,
			       "id '%.80s' is not accepted: 1 to 64 letters, digits, '.', '_' or "
			       "'-', not beginning with '.' or '-'",
			       id);
	return 0;
}

static int read_version(json_t *o, struct run *r, struct err *e)
{
	int64_t version = 0;
	int rc = field_int(o, "schema_version", NEEDED, 1, INT_MAX, &version, e);

	if (rc)
		return rc;
	if (version > RUN_SCHEMA_VERSION)
		return err_set(e, EPROTONOSUPPORT,
			       "written with schema version %d, this program reads up to %d: use a "
			       "newer one",
			       (int)version, RUN_SCHEMA_VERSION);
	r->schema_version = (int)version;
	return 0;
}

int header_from_json(json_t *o, struct run *r, struct err *e)
{
	struct arena *a = &r->arena;
	int origin = 0, rc;

	if ((rc = read_version(o, r, e)) || (rc = field_text(o, "id", NEEDED, a, &r->id, e)) ||
	    (rc = check_id(r->id, e)) || (rc = field_text(o, "source", NEEDED, a, &r->source, e)) ||
	    (rc = field_text(o, "label", OPTIONAL, a, &r->label, e)) ||
	    (rc = field_name(o, "origin", NEEDED, read_origin, &origin, e)) ||
	    (rc = field_text(o, "version", OPTIONAL, a, &r->version, e)) ||
	    (rc = field_text(o, "command", OPTIONAL, a, &r->command, e)) ||
	    (rc = field_text(o, "preset", OPTIONAL, a, &r->preset, e)) ||
	    (rc = field_text(o, "boot_id", OPTIONAL, a, &r->boot_id, e)) ||
	    (rc = field_int(o, "start_unix_ns", OPTIONAL, INT64_MIN, INT64_MAX, &r->start_unix_ns,
			    e)) ||
	    (rc = field_attrs(o, "fingerprint", a, &r->fingerprint, e)) ||
	    (rc = field_attrs(o, "context", a, &r->context, e)) ||
	    (rc = findings_from_json(o, a, &r->findings, &r->n_findings, &r->cap_findings, e)) ||
	    (rc = read_schemas(o, r, e)))
		return rc;
	r->origin = (enum origin)origin;
	return 0;
}
