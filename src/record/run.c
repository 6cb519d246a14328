/* SPDX-License-Identifier: MIT */
/*
 * The record in memory: making it, adding to it, finding in it. Files: runfile_write.c and
 * runfile_read.c; points and curves: points.c.
 */
#include "record/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/names.h"

static const char *const verdicts[] = {
	[VERDICT_OK] = "ok",         [VERDICT_SKIPPED] = "skipped", [VERDICT_INVALID] = "invalid",
	[VERDICT_FAILED] = "failed", [VERDICT_TIMEOUT] = "timeout", [VERDICT_KILLED] = "killed",
};
static const char *const origins[] = {
	[ORIGIN_MEASURED] = "measured",
	[ORIGIN_PREDICTED] = "predicted",
	[ORIGIN_PUBLISHED] = "published",
	[ORIGIN_ADVERTISED] = "advertised",
};
static const char *const severities[] = {
	[SEVERITY_NOTE] = "note",
	[SEVERITY_WARNING] = "warning",
	[SEVERITY_BLOCKER] = "blocker",
};

const char *verdict_name(enum verdict v)
{
	return NAME_OF(verdicts, v);
}

int verdict_parse(const char *s, enum verdict *ret)
{
	PARSE_NAME(verdicts, s, ret);
}

const char *origin_name(enum origin o)
{
	return NAME_OF(origins, o);
}

int origin_parse(const char *s, enum origin *ret)
{
	PARSE_NAME(origins, s, ret);
}

const char *severity_name(enum severity s)
{
	return NAME_OF(severities, s);
}

int severity_parse(const char *s, enum severity *ret)
{
	PARSE_NAME(severities, s, ret);
}

struct run *run_new(void)
{
	struct run *r = calloc(1, sizeof(*r));

	if (r)
		r->schema_version = RUN_SCHEMA_VERSION;
	return r;
}

void run_free(struct run *r)
{
	if (!r)
		return;
	arena_done(&r->arena);
	free(r);
}

struct measure *run_add_measure(struct run *r)
{
	if (arena_grow(&r->arena, &r->measures, r->n_measures, &r->cap_measures,
		       sizeof(*r->measures)) < 0)
		return NULL;
	memset(&r->measures[r->n_measures], 0, sizeof(*r->measures));
	return &r->measures[r->n_measures++];
}

struct finding *run_add_finding(struct run *r)
{
	if (arena_grow(&r->arena, &r->findings, r->n_findings, &r->cap_findings,
		       sizeof(*r->findings)) < 0)
		return NULL;
	memset(&r->findings[r->n_findings], 0, sizeof(*r->findings));
	return &r->findings[r->n_findings++];
}

struct environment *run_add_environment(struct run *r)
{
	if (arena_grow(&r->arena, &r->environments, r->n_environments, &r->cap_environments,
		       sizeof(*r->environments)) < 0)
		return NULL;
	memset(&r->environments[r->n_environments], 0, sizeof(*r->environments));
	return &r->environments[r->n_environments++];
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

const struct environment *run_environment(const struct run *r, const char *arm, const char *boot_id)
{
	for (size_t i = 0; i < r->n_environments; i++)
		if (same_text(r->environments[i].arm, arm) &&
		    same_text(r->environments[i].boot_id, boot_id))
			return &r->environments[i];
	return NULL;
}

struct series *measure_add_series(struct run *r, struct measure *m)
{
	if (arena_grow(&r->arena, &m->series, m->n_series, &m->cap_series, sizeof(*m->series)) < 0)
		return NULL;
	memset(&m->series[m->n_series], 0, sizeof(*m->series));
	return &m->series[m->n_series++];
}

struct fact *facts_add(struct arena *a, struct facts *f)
{
	if (arena_grow(a, &f->v, f->n, &f->cap, sizeof(*f->v)) < 0)
		return NULL;
	memset(&f->v[f->n], 0, sizeof(*f->v));
	return &f->v[f->n++];
}

/* Copies @s to *@ret (NULL stays NULL); false: no memory. */
static bool copy_text(struct arena *a, const char *s, const char **ret)
{
	*ret = arena_strdup(a, s);
	return *ret || !s;
}

static bool copy_choices(struct arena *a, const char *const *from, const char *const **ret)
{
	const char **to;
	size_t n = 0, i;

	if (!from)
		return true;
	while (from[n])
		n++;
	to = arena_alloc(a, (n + 1) * sizeof(*to));
	if (!to)
		return false;
	for (i = 0; i < n; i++)
		if (!copy_text(a, from[i], &to[i]))
			return false;
	*ret = to;
	return true;
}

static bool copy_params(struct arena *a, const struct param *from, const struct param **ret)
{
	struct param *to;
	size_t n = 0, i;

	while (from && from[n].name)
		n++;
	to = arena_alloc(a, (n + 1) * sizeof(*to));
	if (!to)
		return false;
	for (i = 0; i < n; i++) {
		to[i] = from[i];
		if (!copy_text(a, from[i].name, &to[i].name) ||
		    !copy_text(a, from[i].summary, &to[i].summary) ||
		    !copy_text(a, from[i].def, &to[i].def) ||
		    !copy_choices(a, from[i].choices, &to[i].choices))
			return false;
	}
	*ret = to;
	return true;
}

static bool copy_metrics(struct arena *a, const struct metric *from, const struct metric **ret)
{
	struct metric *to;
	size_t n = 0, i;

	while (from && from[n].name)
		n++;
	to = arena_alloc(a, (n + 1) * sizeof(*to));
	if (!to)
		return false;
	for (i = 0; i < n; i++) {
		to[i] = from[i];
		if (!copy_text(a, from[i].name, &to[i].name) ||
		    !copy_text(a, from[i].summary, &to[i].summary) ||
		    !copy_text(a, from[i].unit, &to[i].unit))
			return false;
	}
	*ret = to;
	return true;
}

bool measure_arm_is_valid(const char *arm)
{
	return !arm || !strcmp(arm, "A") || !strcmp(arm, "B");
}

int run_add_schema(struct run *r, const struct bench_schema *s)
{
	struct arena *a = &r->arena;
	struct bench_schema copy = { .revision = s->revision };

	if (run_schema(r, s->name))
		return 0;
	if (!copy_text(a, s->name, &copy.name) || !copy_text(a, s->summary, &copy.summary) ||
	    !copy_params(a, s->params, &copy.params) ||
	    !copy_metrics(a, s->metrics, &copy.metrics) ||
	    arena_grow(a, &r->schemas, r->n_schemas, &r->cap_schemas, sizeof(*r->schemas)) < 0)
		return -ENOMEM;
	r->schemas[r->n_schemas++] = copy;
	return 0;
}

const struct bench_schema *run_schema(const struct run *r, const char *bench)
{
	size_t i;

	for (i = 0; i < r->n_schemas; i++)
		if (!strcmp(r->schemas[i].name, bench))
			return &r->schemas[i];
	return NULL;
}

const struct series *measure_series(const struct measure *m, const char *metric)
{
	size_t i;

	/* Parts of a breakdown bear the metric's name too: the whole is meant. */
	for (i = 0; i < m->n_series; i++)
		if (!m->series[i].part && !strcmp(m->series[i].metric, metric))
			return &m->series[i];
	return NULL;
}

void run_make_id(char ret_id[27], int64_t unix_ns, uint64_t random)
{
	/* Crockford's base 32: no i, l, o, u, so that ids can be read out; sorts as its numbers. */
	static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
	uint64_t ns = unix_ns < 0 ? 0 : (uint64_t)unix_ns;
	uint64_t ms = ns / 1000000, rest = ns % 1000000;
	int i;

	/* 50 bits of milliseconds, 20 bits of nanoseconds within, 60 random bits. */
	for (i = 9; i >= 0; i--, ms >>= 5)
		ret_id[i] = digits[ms & 31];
	for (i = 13; i >= 10; i--, rest >>= 5)
		ret_id[i] = digits[rest & 31];
	for (i = 25; i >= 14; i--, random >>= 5)
		ret_id[i] = digits[random & 31];
	ret_id[26] = '\0';
}
