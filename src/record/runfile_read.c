/* SPDX-License-Identifier: MIT */
/*
 * Reading of run files, which may come from anybody: lines, and what each of them holds. Keys and
 * their meaning: docs/run-file.md. Fields that are not known are ignored, so that later versions
 * may add some; the header's fields are read in runfile_header.c.
 */
#include "record/runfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/fields.h"
#include "record/header.h"

enum { MAX_FILE_BYTES = 1 << 30 };

static int parse_origin(const char *s, int *ret)
{
	enum origin v;

	if (origin_parse(s, &v) < 0)
		return -EINVAL;
	*ret = (int)v;
	return 0;
}

static int parse_verdict(const char *s, int *ret)
{
	enum verdict v;

	if (verdict_parse(s, &v) < 0)
		return -EINVAL;
	*ret = (int)v;
	return 0;
}

static int parse_form(const char *s, int *ret)
{
	enum series_form v;

	if (series_form_parse(s, &v) < 0)
		return -EINVAL;
	*ret = (int)v;
	return 0;
}

/* Numbers into reals; null is NaN from index @null_from on and refused before. */
static int read_reals(json_t *array, size_t null_from, double *to)
{
	size_t i;
	json_t *v;

	json_array_foreach(array, i, v)
	{
		if (json_is_number(v))
			to[i] = json_number_value(v);
		else if (json_is_null(v) && i >= null_from)
			to[i] = NAN;
		else
			return -EBADMSG;
	}
	return 0;
}

static int read_values(json_t *values, struct arena *a, struct series *s)
{
	size_t i, n = json_array_size(values);
	bool whole = s->form == FORM_EXACT || s->form == FORM_COUNT;
	json_t *v;

	if (n == 0 || (s->form == FORM_EXACT && n != 1) || (s->form == FORM_COUNT && n != 2) ||
	    (s->form == FORM_SUMMARY && n != 1 && n != 3))
		return -EBADMSG;
	s->n = n;
	if (!whole) {
		s->values = arena_alloc(a, n * sizeof(*s->values));
		if (!s->values)
			return -ENOMEM;
		return read_reals(values, s->form == FORM_SUMMARY ? 1 : SIZE_MAX, s->values);
	}
	s->integers = arena_alloc(a, n * sizeof(*s->integers));
	if (!s->integers)
		return -ENOMEM;
	json_array_foreach(values, i, v)
	{
		if (!json_is_integer(v))
			return -EBADMSG;
		s->integers[i] = json_integer_value(v);
	}
	return 0;
}

/* One row [key, cell, ...] of a table into row @i. */
static int read_row(json_t *row, struct arena *a, size_t i, struct series *s)
{
	json_t *key = json_array_get(row, 0), *v;
	size_t j;

	if (!json_is_array(row) || json_array_size(row) != s->n_columns + 1 || !json_is_string(key))
		return -EBADMSG;
	s->keys[i] = arena_strdup(a, json_string_value(key));
	if (!s->keys[i])
		return -ENOMEM;
	for (j = 0; j < s->n_columns; j++) {
		v = json_array_get(row, j + 1);
		if (!json_is_number(v) && !json_is_null(v))
			return -EBADMSG;
		s->cells[i * s->n_columns + j] = json_is_null(v) ? NAN : json_number_value(v);
	}
	return 0;
}

static int read_table(json_t *o, struct arena *a, struct series *s)
{
	json_t *columns, *rows, *v;
	size_t i;
	int rc;

	if (field_array(o, "columns", &columns, NULL) || field_array(o, "rows", &rows, NULL) ||
	    !columns || !rows || !json_array_size(rows))
		return -EBADMSG;
	s->n_columns = json_array_size(columns);
	s->n = json_array_size(rows);
	/* Before anything is allocated: each row must really have its cells in the file. */
	json_array_foreach(rows, i, v)
	{
		if (json_array_size(v) != s->n_columns + 1)
			return -EBADMSG;
	}
	s->columns = arena_alloc(a, s->n_columns * sizeof(*s->columns));
	s->keys = arena_alloc(a, s->n * sizeof(*s->keys));
	s->cells = arena_alloc(a, s->n * s->n_columns * sizeof(*s->cells));
	if (!s->columns || !s->keys || !s->cells)
		return -ENOMEM;
	json_array_foreach(columns, i, v)
	{
		if (!json_is_string(v))
			return -EBADMSG;
		s->columns[i] = arena_strdup(a, json_string_value(v));
		if (!s->columns[i])
			return -ENOMEM;
	}
	json_array_foreach(rows, i, v)
	{
		rc = read_row(v, a, i, s);
		if (rc)
			return rc;
	}
	return 0;
}

static int read_series(json_t *o, const struct run *r, const struct bench_schema *schema,
		       struct arena *a, struct series *ret)
{
	struct series s = { 0 };
	int form = 0, origin = (int)r->origin, rc;
	json_t *values;

	if (!json_is_object(o))
		return -EBADMSG;
	if ((rc = field_text(o, "metric", NEEDED, a, &s.metric, NULL)) ||
	    (rc = field_text(o, "part", OPTIONAL, a, &s.part, NULL)) ||
	    (rc = field_text(o, "reason", OPTIONAL, a, &s.null_reason, NULL)) ||
	    (rc = field_name(o, "form", NEEDED, parse_form, &form, NULL)) ||
	    (rc = field_name(o, "origin", OPTIONAL, parse_origin, &origin, NULL)) ||
	    (rc = field_array(o, "values", &values, NULL)))
		return rc;
	if (!schema_metric(schema, s.metric))
		return -EBADMSG;
	s.form = (enum series_form)form;
	s.origin = (enum origin)origin;
	/* Either data or the reason why there is none. */
	if (s.null_reason && !values && !json_object_get(o, "rows"))
		rc = 0;
	else if (s.null_reason)
		rc = -EBADMSG;
	else if (s.form == FORM_TABLE)
		rc = read_table(o, a, &s);
	else
		rc = values ? read_values(values, a, &s) : -EBADMSG;
	if (rc == 0)
		*ret = s;
	return rc;
}

static int read_all_series(json_t *o, struct run *r, const struct bench_schema *schema,
			   struct measure *m)
{
	json_t *all, *v;
	size_t i;
	int rc;

	rc = field_array(o, "series", &all, NULL);
	if (rc || !all)
		return rc;
	m->n_series = json_array_size(all);
	m->cap_series = m->n_series;
	m->series = arena_alloc(&r->arena, m->n_series * sizeof(*m->series));
	if (!m->series)
		return -ENOMEM;
	json_array_foreach(all, i, v)
	{
		rc = read_series(v, r, schema, &r->arena, &m->series[i]);
		if (rc)
			return rc;
	}
	return 0;
}

static int read_measure(json_t *o, struct run *r)
{
	struct arena *a = &r->arena;
	const struct bench_schema *schema;
	struct measure m = { 0 }, *to;
	int64_t invocation = 0;
	const char *bench = NULL;
	int verdict = 0, rc;

	if ((rc = field_text(o, "bench", NEEDED, a, &bench, NULL)) ||
	    (rc = field_text(o, "arm", OPTIONAL, a, &m.arm, NULL)) ||
	    (rc = field_text(o, "boot_id", OPTIONAL, a, &m.boot_id, NULL)) ||
	    (rc = field_int(o, "invocation", NEEDED, 0, UINT_MAX, &invocation, NULL)) ||
	    (rc = field_attrs(o, "setting", a, &m.setting, NULL)) ||
	    (rc = field_name(o, "verdict", NEEDED, parse_verdict, &verdict, NULL)) ||
	    (rc = field_text(o, "reason", OPTIONAL, a, &m.reason, NULL)) ||
	    (rc = field_text(o, "unproven", OPTIONAL, a, &m.unproven, NULL)) ||
	    (rc = field_attrs(o, "proof", a, &m.proof, NULL)) ||
	    (rc = field_attrs(o, "taints", a, &m.taints, NULL)) ||
	    (rc = field_int(o, "start_unix_ns", OPTIONAL, INT64_MIN, INT64_MAX, &m.start_unix_ns,
			    NULL)) ||
	    (rc = field_int(o, "duration_ns", OPTIONAL, 0, INT64_MAX, &m.duration_ns, NULL)))
		return rc;
	schema = run_schema(r, bench);
	if (!schema || !measure_arm_is_valid(m.arm))
		return -EBADMSG;
	m.bench = schema->name;
	m.invocation = (unsigned)invocation;
	m.verdict = (enum verdict)verdict;
	if (m.verdict != VERDICT_OK && !m.reason)
		m.reason = "no reason given";
	rc = read_all_series(o, r, schema, &m);
	if (rc)
		return rc;
	to = run_add_measure(r);
	if (!to)
		return -ENOMEM;
	*to = m;
	return 0;
}

static int read_environment(json_t *o, struct run *r)
{
	struct arena *a = &r->arena;
	struct environment v = { 0 }, *to;
	int rc;

	if ((rc = field_text(o, "arm", OPTIONAL, a, &v.arm, NULL)) ||
	    (rc = field_text(o, "boot_id", OPTIONAL, a, &v.boot_id, NULL)) ||
	    (rc = field_int(o, "start_unix_ns", OPTIONAL, INT64_MIN, INT64_MAX, &v.start_unix_ns,
			    NULL)) ||
	    (rc = field_attrs(o, "fingerprint", a, &v.fingerprint, NULL)) ||
	    (rc = field_attrs(o, "context", a, &v.context, NULL)) ||
	    (rc = findings_from_json(o, a, &v.findings, &v.n_findings, &v.cap_findings, NULL)))
		return rc;
	/* Which of two would hold for the measures of that arm and boot? */
	if (!measure_arm_is_valid(v.arm) || run_environment(r, v.arm, v.boot_id))
		return -EBADMSG;
	to = run_add_environment(r);
	if (!to)
		return -ENOMEM;
	*to = v;
	return 0;
}

static int read_footer(json_t *o, struct run *r)
{
	const char *stop_reason = NULL;
	int64_t end = 0;
	bool complete = false;
	int rc;

	if (r->has_footer)
		return -EBADMSG;
	if ((rc = field_bool(o, "complete", NEEDED, &complete, NULL)) ||
	    (rc = field_text(o, "stop_reason", OPTIONAL, &r->arena, &stop_reason, NULL)) ||
	    (rc = field_int(o, "end_unix_ns", OPTIONAL, INT64_MIN, INT64_MAX, &end, NULL)))
		return rc;
	r->has_footer = true;
	r->complete = complete;
	r->stop_reason = stop_reason;
	r->end_unix_ns = end;
	return 0;
}

/* A line behind the header. 0, -EBADMSG (a bad line) or -ENOMEM. */
static int read_line(const char *line, size_t n, struct run *r)
{
	json_t *o = json_loadb(line, n, JSON_REJECT_DUPLICATES, NULL);
	const char *type;
	int rc;

	type = json_string_value(json_object_get(o, "type"));
	if (!type || !strcmp(type, "header"))
		rc = -EBADMSG;
	else if (!strcmp(type, "measure"))
		rc = read_measure(o, r);
	else if (!strcmp(type, "environment"))
		rc = read_environment(o, r);
	else if (!strcmp(type, "footer"))
		rc = read_footer(o, r);
	else
		rc = 0; /* a kind of line that a later version may add */
	json_decref(o);
	return rc;
}

static int read_first_line(const char *line, size_t n, struct run *r, struct err *e)
{
	json_error_t problem;
	json_t *o = json_loadb(line, n, JSON_REJECT_DUPLICATES, &problem);
	const char *type = json_string_value(json_object_get(o, "type"));
	int rc;

	if (!o)
		rc = err_set(e, EBADMSG, "not a run file: its first line is not JSON: %.120s",
			     problem.text);
	else if (!type || strcmp(type, "header") != 0)
		rc = err_set(e, EBADMSG,
			     "not a run file: its first line is not {\"type\":\"header\",...}");
	else
		rc = header_from_json(o, r, e);
	json_decref(o);
	return rc;
}

static bool is_blank(const char *line, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strchr(" \t\r", line[i]) || !line[i])
			return false;
	return true;
}

int runfile_load_buffer(const char *data, size_t n, struct run **ret_run, struct err *e)
{
	struct run *r = run_new();
	const char *p = data, *end = n ? data + n : data, *newline;
	bool have_header = false;
	int rc = r ? 0 : err_set(e, ENOMEM, "out of memory");

	for (; rc == 0 && p < end; p = newline + 1) {
		newline = memchr(p, '\n', (size_t)(end - p));
		if (!newline)
			newline = end;
		if (is_blank(p, (size_t)(newline - p)))
			continue;
		if (!have_header) {
			rc = read_first_line(p, (size_t)(newline - p), r, e);
			have_header = true;
			continue;
		}
		rc = read_line(p, (size_t)(newline - p), r);
		if (rc == -ENOMEM)
			rc = err_set(e, ENOMEM, "out of memory");
		else if (rc)
			rc = (r->n_bad_lines++, 0);
	}
	if (rc == 0 && !have_header)
		rc = err_set(e, EBADMSG, "not a run file: it is empty");
	if (rc) {
		run_free(r);
		return rc;
	}
	*ret_run = r;
	return 0;
}

/* All of a file; *ret_data is malloc()ed. */
static int read_file(int fd, char **ret_data, size_t *ret_n)
{
	size_t cap = 1 << 16, n = 0;
	struct stat st;
	char *data;
	ssize_t got;

	/* The size is only a hint: one byte more finds the end at once. */
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    st.st_size <= MAX_FILE_BYTES)
		cap = (size_t)st.st_size + 1;
	data = malloc(cap);
	if (!data)
		return -ENOMEM;
	for (;;) {
		if (n == cap) {
			char *bigger = cap > MAX_FILE_BYTES ? NULL : realloc(data, cap * 2);

			if (!bigger) {
				free(data);
				return cap > MAX_FILE_BYTES ? -EFBIG : -ENOMEM;
			}
			data = bigger;
			cap *= 2;
		}
		got = read(fd, data + n, cap - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int rc = -errno;

			free(data);
			return rc;
		}
		if (got == 0)
			break;
		n += (size_t)got;
	}
	*ret_data = data;
	*ret_n = n;
	return 0;
}

int runfile_load(const char *path, struct run **ret_run, struct err *e)
{
	char *data = NULL;
	size_t n = 0;
	int fd, rc;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "cannot open run file '%.200s': %s", path,
			       strerror(errno));
	rc = read_file(fd, &data, &n);
	close(fd);
	if (rc)
		return err_set(e, -rc, "cannot read run file '%.200s': %s", path, strerror(-rc));
	rc = runfile_load_buffer(data, n, ret_run, e);
	free(data);
	if (rc)
		err_prefix(e, "'%.200s': ", path);
	return rc;
}
