// SPDX-License-Identifier: MIT
/*
 * From a table to a run. Values stay as the source has them: no conversion of units, no interval
 * that the source does not give, and every measure says that nothing is proven.
 *
 * Left out: where the run goes (store/library.h), guessing of columns.
 */
#include "record/csv_parts.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/units.h"

enum { MAX_ROWS = 5000 };

/* --- values ----------------------------------------------------------------------------------- */

static int set_number(struct csv_table *t, const struct csv_row *row, size_t column,
		      enum param_type type, struct attrs *to, const char *name)
{
	const char *cell = row->fields[column];
	struct err why = { 0 };
	uint64_t v = 0;
	int rc = type == PARAM_COUNT ? parse_u64(cell, &v, &why) : parse_size(cell, &v, &why);

	if (rc == 0 && v > INT64_MAX) {
		err_set(&why, ERANGE, "'%.40s' is larger than 9223372036854775807", cell);
		rc = -ERANGE;
	}
	if (rc)
		return csv_cell_problem(t, row, column, why.msg);
	return attrs_set_int(&t->run->arena, to, name, (int64_t)v) ? csv_no_memory(t) : 0;
}

static int set_param(struct csv_table *t, const struct csv_row *row, size_t column,
		     enum param_type type, struct attrs *to, const char *name)
{
	if (!*row->fields[column])
		return csv_cell_problem(t, row, column, "a parameter cannot be empty");
	if (type != PARAM_CHOICE)
		return set_number(t, row, column, type, to, name);
	return attrs_set_text(&t->run->arena, to, name, row->fields[column]) ? csv_no_memory(t) : 0;
}

static int set_summary(struct csv_table *t, const struct csv_row *row, size_t column,
		       struct series *s)
{
	const char *cell = row->fields[column];
	struct err why = { 0 };
	double v = 0;
	int64_t integer;

	if (parse_real(cell, &v, &why))
		return csv_cell_problem(t, row, column, why.msg);
	if (csv_is_integer(cell) && csv_parse_int(cell, &integer))
		return csv_cell_problem(
			t, row, column,
			"is an integer beyond 64 bits, which no form of value keeps; "
			"as a real (with an exponent: 1e20) it is taken");
	s->values = arena_alloc(&t->run->arena, sizeof(*s->values));
	if (!s->values)
		return csv_no_memory(t);
	s->values[0] = v;
	s->n = 1;
	return 0;
}

static int set_metric(struct csv_table *t, const struct csv_row *row, size_t column,
		      const struct metric *metric, struct measure *m)
{
	struct series *s = measure_add_series(t->run, m);
	const char *cell = row->fields[column];
	int64_t integer;

	if (!s)
		return csv_no_memory(t);
	s->metric = metric->name;
	s->origin = ORIGIN_PUBLISHED;
	s->form = FORM_SUMMARY;
	if (!*cell) {
		s->null_reason = "the source has no value here";
		return 0;
	}
	if (!csv_needs_exact(cell, &integer) &&
	    !(metric->form == FORM_EXACT && csv_is_integer(cell) &&
	      csv_parse_int(cell, &integer) == 0))
		return set_summary(t, row, column, s);
	s->form = FORM_EXACT;
	s->integers = arena_alloc(&t->run->arena, sizeof(*s->integers));
	if (!s->integers)
		return csv_no_memory(t);
	s->integers[0] = integer;
	s->n = 1;
	return 0;
}

/* --- the run ---------------------------------------------------------------------------------- */

/* A setting that the table has several times was measured several times. */
static unsigned count_before(const struct run *r, const struct attrs *setting)
{
	unsigned n = 0;

	for (size_t i = 0; i < r->n_measures; i++)
		n += attrs_equal(&r->measures[i].setting, setting);
	return n;
}

static int set_word(struct csv_table *t, struct attrs *to, const char *name, const char *word)
{
	const struct param *p = schema_param(&t->run->schemas[0], name);
	struct arena *a = &t->run->arena;
	uint64_t v = 0;

	if (p && p->type == PARAM_COUNT && parse_u64(word, &v, NULL) == 0)
		return attrs_set_int(a, to, name, (int64_t)v);
	return attrs_set_text(a, to, name, word);
}

/* The measure of the columns that have the parameters of metric @first. */
static int add_measure(struct csv_table *t, const struct csv_layout *l, const struct csv_row *row,
		       const struct attrs *setting, const struct csv_metric *first)
{
	const struct bench_schema *schema = &t->run->schemas[0];
	struct measure m = { .bench = schema->name,
			     .unproven = "published without evidence of how it was measured" };
	size_t problems = t->n_problems;
	struct measure *to;
	int rc = attrs_copy(&t->run->arena, &m.setting, setting);

	for (size_t i = 0; rc == 0 && i < first->n_where; i++)
		rc = set_word(t, &m.setting, first->where[i].name, first->where[i].column);
	for (size_t i = 0; rc != -ENOMEM && i < t->m->n_metrics; i++) {
		const struct csv_metric *c = &t->m->metrics[i];

		if (csv_same_where(first, c))
			rc = set_metric(t, row, l->metrics[i], schema_metric(schema, c->name), &m);
	}
	if (rc == -ENOMEM)
		return csv_no_memory(t);
	if (t->n_problems > problems)
		return 0; /* told; the table is refused in the end */
	m.invocation = count_before(t->run, &m.setting);
	to = run_add_measure(t->run);
	if (!to)
		return csv_no_memory(t);
	*to = m;
	return 0;
}

static int add_row(struct csv_table *t, const struct csv_layout *l, const struct csv_row *row)
{
	const struct param *params = t->run->schemas[0].params;
	const struct csv_metric *m = t->m->metrics;
	struct attrs setting = { 0 };
	int rc = 0;

	for (size_t i = 0; rc != -ENOMEM && i < l->n_params; i++)
		rc = set_param(t, row, l->params[i], params[i].type, &setting, params[i].name);
	for (size_t i = 0; rc != -ENOMEM && i < t->m->n_settings; i++)
		rc = set_word(t, &setting, t->m->settings[i].name, t->m->settings[i].column);
	for (size_t i = 0; rc != -ENOMEM && i < t->m->n_metrics; i++) {
		bool seen = false;

		for (size_t k = 0; k < i; k++)
			seen = seen || csv_same_where(&m[k], &m[i]);
		if (!seen)
			rc = add_measure(t, l, row, &setting, &m[i]);
	}
	return rc == -ENOMEM ? csv_no_memory(t) : 0;
}

static int add_rows(struct csv_table *t, const struct csv_layout *l)
{
	size_t expected = t->rows.v[0].n;
	int rc = 0;

	for (size_t i = 1; rc == 0 && i < t->rows.n; i++) {
		struct csv_row *row = &t->rows.v[i];
		struct str text = { 0 };

		if (row->n == expected) {
			rc = add_row(t, l, row);
			continue;
		}
		str_addf(&text, "%zu fields, but the table has %zu columns", row->n, expected);
		csv_problem(t, row->line, str_text(&text));
		str_done(&text);
	}
	if (rc == 0 && t->n_problems > CSV_MAX_PROBLEMS)
		str_addf(t->problems, "%s: %zu more mistakes\n", t->m->file,
			 t->n_problems - CSV_MAX_PROBLEMS);
	return rc ? rc : t->n_problems ? -EBADMSG : 0;
}

/* Rows of the wrong length must not be read beyond their end while columns are looked through. */
static int check_shape(struct csv_table *t)
{
	if (t->rows.n == 0)
		return err_set(t->e, EBADMSG, "%s: the table is empty", t->m->file);
	if (t->rows.n == 1)
		return err_set(t->e, EBADMSG, "%s:%zu: the table has a head and no rows",
			       t->m->file, t->rows.v[0].line);
	if (t->rows.n > MAX_ROWS + 1)
		return err_set(t->e, EBADMSG, "%s: %zu rows; a table can have %d", t->m->file,
			       t->rows.n - 1, (int)MAX_ROWS);
	return 0;
}

static int set_header(struct csv_table *t)
{
	struct run *r = t->run;
	const struct csv_mapping *m = t->m;

	r->schema_version = RUN_SCHEMA_VERSION;
	r->origin = ORIGIN_PUBLISHED;
	r->id = arena_strdup(&r->arena, m->name);
	r->label = r->id;
	r->source = arena_strdup(&r->arena, m->source);
	r->has_footer = r->complete = true;
	r->stop_reason = "published table, complete";
	if (!r->id || !r->source)
		return csv_no_memory(t);
	if (m->machine ? attrs_set_text(&r->arena, &r->fingerprint, "model", m->machine)
		       : attrs_set_null(&r->arena, &r->fingerprint, "model",
					"not stated by the source"))
		return csv_no_memory(t);
	return 0;
}

/* Rows with too few fields get empty ones for looking through columns; add_rows() tells of them. */
static int fill_up(struct csv_table *t)
{
	size_t n = t->rows.v[0].n;

	for (size_t i = 1; i < t->rows.n; i++) {
		struct csv_row *row = &t->rows.v[i];
		const char **fields;

		if (row->n >= n)
			continue;
		fields = arena_alloc(&t->run->arena, n * sizeof(*fields));
		if (!fields)
			return csv_no_memory(t);
		for (size_t k = 0; k < n; k++)
			fields[k] = k < row->n ? row->fields[k] : "";
		row->fields = fields;
	}
	return 0;
}

int csv_run(const char *text, size_t n, const struct csv_mapping *m, struct run **ret_run,
	    struct str *ret_problems, struct err *e)
{
	struct csv_table t = { .m = m, .run = run_new(), .problems = ret_problems, .e = e };
	struct csv_layout l = { 0 };
	int rc;

	if (!t.run)
		return csv_no_memory(&t);
	rc = csv_read(&t.run->arena, text, n, &t.rows, e);
	if (rc)
		err_prefix(e, "%s: ", m->file);
	if (rc == 0)
		rc = check_shape(&t);
	if (rc == 0)
		rc = fill_up(&t);
	if (rc == 0)
		rc = set_header(&t);
	if (rc == 0)
		rc = csv_plan(&t, &l);
	if (rc == 0)
		rc = add_rows(&t, &l);
	if (rc)
		run_free(t.run);
	else
		*ret_run = t.run;
	return rc;
}
