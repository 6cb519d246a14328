/* SPDX-License-Identifier: MIT */
/*
 * Names of the schema's kinds, and look-up. The names are part of the run files' format
 * (docs/run-file.md): they may be added to, never changed.
 */
#include "record/schema.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "record/names.h"

static const char *const param_types[] = {
	[PARAM_COUNT] = "count", [PARAM_BYTES] = "bytes",   [PARAM_STRIDE] = "stride",
	[PARAM_PAGE] = "page",   [PARAM_CHOICE] = "choice", [PARAM_CPU] = "cpu",
	[PARAM_NODE] = "node",
};
static const char *const param_roles[] = {
	[ROLE_OUTER] = "outer",
	[ROLE_INNER] = "inner",
	[ROLE_FROM] = "from",
	[ROLE_TO] = "to",
};
static const char *const betters[] = {
	[BETTER_LOWER] = "lower",
	[BETTER_HIGHER] = "higher",
	[BETTER_NONE] = "none",
};
static const char *const estimators[] = { [EST_MIN] = "min", [EST_MEDIAN] = "median" };
static const char *const series_forms[] = {
	[FORM_SAMPLES] = "samples", [FORM_EXACT] = "exact", [FORM_COUNT] = "count",
	[FORM_SUMMARY] = "summary", [FORM_TABLE] = "table",
};

const char *param_type_name(enum param_type t)
{
	return NAME_OF(param_types, t);
}

int param_type_parse(const char *s, enum param_type *ret)
{
	PARSE_NAME(param_types, s, ret);
}

const char *param_role_name(enum param_role r)
{
	return NAME_OF(param_roles, r);
}

int param_role_parse(const char *s, enum param_role *ret)
{
	PARSE_NAME(param_roles, s, ret);
}

const char *better_name(enum better b)
{
	return NAME_OF(betters, b);
}

int better_parse(const char *s, enum better *ret)
{
	PARSE_NAME(betters, s, ret);
}

const char *estimator_name(enum estimator e)
{
	return NAME_OF(estimators, e);
}

int estimator_parse(const char *s, enum estimator *ret)
{
	PARSE_NAME(estimators, s, ret);
}

const char *series_form_name(enum series_form f)
{
	return NAME_OF(series_forms, f);
}

int series_form_parse(const char *s, enum series_form *ret)
{
	PARSE_NAME(series_forms, s, ret);
}

const struct param *schema_role(const struct bench_schema *s, enum param_role role)
{
	const struct param *p;

	for (p = s->params; p && p->name; p++)
		if (p->role == role)
			return p;
	return NULL;
}

const struct param *schema_param(const struct bench_schema *s, const char *name)
{
	const struct param *p;

	for (p = s->params; p && p->name; p++)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}

const struct metric *schema_metric(const struct bench_schema *s, const char *name)
{
	const struct metric *m;

	for (m = s->metrics; m && m->name; m++)
		if (!strcmp(m->name, name))
			return m;
	return NULL;
}
