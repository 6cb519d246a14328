// SPDX-License-Identifier: MIT
/*
 * From a table to a run. Values stay as the source has them: no conversion of units, no interval
 * that the source does not give, and every measure says that nothing is proven.
 *
 * Left out: where the run goes (store/library.h), guessing of columns.
 */
#include "record/csv_run.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "record/csv_read.h"

enum { MAX_ROWS = 5000, MAX_PROBLEMS = 50 };

struct table {
	const struct csv_mapping *m;
	struct csv_rows rows; /* the first is the head */
	struct run *run;      /* its arena holds everything */
	struct str *problems;
	size_t n_problems;
	struct err *e;
};

/* --- mistakes --------------------------------------------------------------------------------- */

static int problem(struct table *t, size_t line, const char *text)
{
	err_set(t->e, EBADMSG, "%s:%zu: %s", t->m->file, line, text);
	if (t->n_problems++ < MAX_PROBLEMS)
		str_addf(t->problems, "%s:%zu: %s\n", t->m->file, line, text);
	return -EBADMSG;
}

static int cell_problem(struct table *t, const struct csv_row *row, size_t column, const char *text)
{
	struct str s = { 0 };
	int rc;

	str_addf(&s, "column %zu '%s': %s", column + 1, t->rows.v[0].fields[column], text);
	rc = problem(t, row->line, str_text(&s));
	str_done(&s);
	return rc;
}

static int no_memory(struct table *t)
{
	return err_set(t->e, ENOMEM, "out of memory");
}

/* --- columns ---------------------------------------------------------------------------------- */

static int list_columns(const struct csv_row *head, struct str *out)
{
	for (size_t i = 0; i < head->n; i++)
		str_addf(out, "%s'%s'", i ? ", " : "", head->fields[i]);
	return 0;
}

static int find_column(struct table *t, const char *name, size_t *ret)
{
	const struct csv_row *head = &t->rows.v[0];
	struct str names = { 0 };
	size_t found = 0;

	for (size_t i = 0; i < head->n; i++) {
		if (strcmp(head->fields[i], name) == 0) {
			*ret = i;
			found++;
		}
	}
	if (found == 1)
		return 0;
	list_columns(head, &names);
	if (found)
		err_set(t->e, EINVAL, "%s:%zu: %zu columns are called '%s'", t->m->file, head->line,
			found, name);
	else
		err_set(t->e, EINVAL, "%s:%zu: there is no column '%s'; there are %.300s",
			t->m->file, head->line, name, str_text(&names));
	str_done(&names);
	return -EINVAL;
}

/* --- parameters ------------------------------------------------------------------------------- */

/* How the values of a parameter are written: all numbers, else all sizes, else words. */
static enum param_type type_of_column(const struct table *t, size_t column)
{
	enum param_type type = PARAM_COUNT;
	uint64_t v;

	for (size_t i = 1; i < t->rows.n; i++) {
		const char *cell = t->rows.v[i].fields[column];

		if (type == PARAM_COUNT && parse_u64(cell, &v, NULL))
			type = PARAM_BYTES;
		if (type == PARAM_BYTES && parse_size(cell, &v, NULL))
			return PARAM_CHOICE;
	}
	return type;
}

static enum param_type type_of_text(const char *text)
{
	uint64_t v;

	return parse_u64(text, &v, NULL) || v > INT64_MAX ? PARAM_CHOICE : PARAM_COUNT;
}

static int add_choice(struct table *t, const char ***choices, size_t *n, size_t *cap,
		      const char *word)
{
	for (size_t i = 0; i < *n; i++) {
		if (strcmp((*choices)[i], word) == 0)
			return 0;
	}
	/* One more than asked for: the list ends with NULL. */
	if (*n + 1 >= *cap && arena_grow(&t->run->arena, choices, *cap, cap, sizeof(**choices)))
		return no_memory(t);
	(*choices)[(*n)++] = word;
	(*choices)[*n] = NULL;
	return 0;
}

static int column_choices(struct table *t, size_t column, struct param *p)
{
	const char **choices = NULL;
	size_t n = 0, cap = 0;
	int rc = 0;

	for (size_t i = 1; rc == 0 && i < t->rows.n; i++)
		rc = add_choice(t, &choices, &n, &cap, t->rows.v[i].fields[column]);
	p->choices = choices;
	return rc;
}

static int set_number(struct table *t, const struct csv_row *row, size_t column,
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
		return cell_problem(t, row, column, why.msg);
	return attrs_set_int(&t->run->arena, to, name, (int64_t)v) ? no_memory(t) : 0;
}

static int set_param(struct table *t, const struct csv_row *row, size_t column,
		     enum param_type type, struct attrs *to, const char *name)
{
	if (!*row->fields[column])
		return cell_problem(t, row, column, "a parameter cannot be empty");
	if (type != PARAM_CHOICE)
		return set_number(t, row, column, type, to, name);
	return attrs_set_text(&t->run->arena, to, name, row->fields[column]) ? no_memory(t) : 0;
}

/* --- metrics ---------------------------------------------------------------------------------- */

static bool is_integer(const char *cell)
{
	cell += *cell == '-';
	return *cell && cell[strspn(cell, "0123456789")] == '\0';
}

/* -ERANGE beyond 64 bits. */
static int parse_int(const char *cell, int64_t *ret)
{
	bool negative = *cell == '-';
	uint64_t v;

	if (parse_u64(cell + negative, &v, NULL) || v > INT64_MAX)
		return -ERANGE;
	*ret = negative ? -(int64_t)v : (int64_t)v;
	return 0;
}

/* Whether a real holds the integer exactly. */
static bool fits_real(int64_t v)
{
	double real = (double)v;

	return fabs(real) < 9.2e18 && (int64_t)real == v;
}

static enum series_form form_of_column(const struct table *t, size_t column)
{
	enum series_form form = FORM_EXACT;
	bool beyond = false;

	for (size_t i = 1; i < t->rows.n; i++) {
		const char *cell = t->rows.v[i].fields[column];
		int64_t v;

		if (!*cell)
			continue;
		if (!is_integer(cell) || parse_int(cell, &v))
			return FORM_SUMMARY;
		beyond = beyond || !fits_real(v);
	}
	return beyond ? form : FORM_SUMMARY;
}

static int set_summary(struct table *t, const struct csv_row *row, size_t column, struct series *s)
{
	const char *cell = row->fields[column];
	struct err why = { 0 };
	double v = 0;
	int64_t integer;

	if (parse_real(cell, &v, &why))
		return cell_problem(t, row, column, why.msg);
	if (is_integer(cell) && (parse_int(cell, &integer) || !fits_real(integer)))
		return cell_problem(t, row, column,
				    "has more digits than a real number holds; such integers are "
				    "taken where all values of the column are integers of 64 bits");
	s->values = arena_alloc(&t->run->arena, sizeof(*s->values));
	if (!s->values)
		return no_memory(t);
	s->values[0] = v;
	s->n = 1;
	return 0;
}

static int set_metric(struct table *t, const struct csv_row *row, size_t column,
		      const struct metric *metric, struct measure *m)
{
	struct series *s = measure_add_series(t->run, m);

	if (!s)
		return no_memory(t);
	s->metric = metric->name;
	s->origin = ORIGIN_PUBLISHED;
	s->form = metric->form;
	if (!*row->fields[column]) {
		s->null_reason = "the source has no value here";
		return 0;
	}
	if (s->form == FORM_SUMMARY)
		return set_summary(t, row, column, s);
	s->integers = arena_alloc(&t->run->arena, sizeof(*s->integers));
	if (!s->integers)
		return no_memory(t);
	s->n = 1;
	if (!is_integer(row->fields[column]) || parse_int(row->fields[column], s->integers))
		return cell_problem(t, row, column,
				    "is no integer of 64 bits, as other values of this metric are");
	return 0;
}

/* --- the run ---------------------------------------------------------------------------------- */

struct layout {
	size_t *params, *metrics; /* columns; the inner parameter is the first */
	size_t n_params;
	struct param *schema_params; /* of columns, then of settings */
	struct metric *schema_metrics;
};

static int name_param(struct table *t, struct layout *l, size_t *n, struct param p)
{
	for (size_t i = 0; i < *n; i++) {
		if (strcmp(l->schema_params[i].name, p.name) == 0)
			return err_set(t->e, EINVAL, "the parameter '%s' is given twice", p.name);
	}
	p.def = "";
	p.max = p.type == PARAM_CHOICE ? 0 : UINT64_MAX;
	l->schema_params[(*n)++] = p;
	return 0;
}

static int plan_column(struct table *t, struct layout *l, size_t *n, const struct csv_pair *pair,
		       enum param_role role)
{
	struct param p = { .name = pair->name, .summary = "column of the table", .role = role };
	size_t column = 0;
	int rc = find_column(t, pair->column, &column);

	if (rc)
		return rc;
	l->params[*n] = column;
	p.type = type_of_column(t, column);
	/* An axis needs numbers; what is none is told cell by cell. */
	if (role == ROLE_INNER && p.type == PARAM_CHOICE)
		p.type = PARAM_BYTES;
	if (p.type == PARAM_CHOICE)
		rc = column_choices(t, column, &p);
	return rc ? rc : name_param(t, l, n, p);
}

static const char *where_value(const struct csv_metric *m, const char *name)
{
	for (size_t i = 0; i < m->n_where; i++) {
		if (strcmp(m->where[i].name, name) == 0)
			return m->where[i].column;
	}
	return NULL;
}

static bool same_where(const struct csv_metric *a, const struct csv_metric *b)
{
	for (size_t i = 0; i < a->n_where; i++) {
		const char *v = where_value(b, a->where[i].name);

		if (!v || strcmp(v, a->where[i].column) != 0)
			return false;
	}
	return a->n_where == b->n_where;
}

/* One of the parameters that columns of values have. */
static int plan_where(struct table *t, struct layout *l, size_t *n, const char *name)
{
	struct param p = { .name = name, .summary = "column of the table", .type = PARAM_COUNT };
	const char **choices = NULL;
	size_t n_choices = 0, cap = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < t->m->n_metrics; i++) {
		const char *v = where_value(&t->m->metrics[i], name);

		if (!v || t->m->metrics[i].n_where != t->m->metrics[0].n_where)
			return err_set(t->e, EINVAL,
				       "every metric needs the same parameters: '%s' of column "
				       "'%s' and those of column '%s' are not",
				       name, t->m->metrics[0].column, t->m->metrics[i].column);
		if (type_of_text(v) != PARAM_COUNT)
			p.type = PARAM_CHOICE;
		rc = add_choice(t, &choices, &n_choices, &cap, v);
	}
	p.choices = p.type == PARAM_CHOICE ? choices : NULL;
	return rc ? rc : name_param(t, l, n, p);
}

static int plan_params(struct table *t, struct layout *l)
{
	const struct csv_mapping *m = t->m;
	size_t n = 0;
	int rc = 0;

	if (m->inner.column)
		rc = plan_column(t, l, &n, &m->inner, ROLE_INNER);
	for (size_t i = 0; rc == 0 && i < m->n_columns; i++)
		rc = plan_column(t, l, &n, &m->columns[i], ROLE_OUTER);
	l->n_params = n;
	for (size_t i = 0; rc == 0 && i < m->n_settings; i++) {
		struct param p = { .name = m->settings[i].name,
				   .summary = "the same in the whole table",
				   .type = type_of_text(m->settings[i].column) };
		const char **choices = arena_alloc(&t->run->arena, 2 * sizeof(*choices));

		if (!choices)
			return no_memory(t);
		choices[0] = m->settings[i].column;
		p.choices = p.type == PARAM_CHOICE ? choices : NULL;
		rc = name_param(t, l, &n, p);
	}
	for (size_t i = 0; rc == 0 && m->n_metrics && i < m->metrics[0].n_where; i++)
		rc = plan_where(t, l, &n, m->metrics[0].where[i].name);
	for (size_t i = 1; rc == 0 && i < m->n_metrics; i++) {
		if (m->metrics[i].n_where && !m->metrics[0].n_where)
			rc = err_set(
				t->e, EINVAL,
				"every metric needs the same parameters: column '%s' has some, "
				"column '%s' has none",
				m->metrics[i].column, m->metrics[0].column);
	}
	return rc;
}

/* The metric of this name that is there already, or a new one. */
static int name_metric(struct table *t, struct layout *l, const struct csv_metric *m,
		       enum series_form form, size_t *n)
{
	struct metric *to = l->schema_metrics;

	for (; to->name; to++) {
		if (strcmp(to->name, m->name) != 0)
			continue;
		if (strcmp(to->unit, m->unit) != 0 || to->better != m->better)
			return err_set(t->e, EINVAL,
				       "the metric '%s' is given twice, but not alike", m->name);
		if (form == FORM_EXACT)
			to->form = form;
		return 0;
	}
	*to = (struct metric){ m->name, "", m->unit, m->better, EST_MEDIAN, form };
	(*n)++;
	return 0;
}

static int plan_metrics(struct table *t, struct layout *l)
{
	int rc = t->m->n_metrics ? 0 : err_set(t->e, EINVAL, "no column is a metric");
	size_t n = 0;

	for (size_t i = 0; rc == 0 && i < t->m->n_metrics; i++) {
		const struct csv_metric *m = &t->m->metrics[i];

		for (size_t k = 0; k < i; k++) {
			if (strcmp(t->m->metrics[k].name, m->name) == 0 &&
			    same_where(&t->m->metrics[k], m))
				return err_set(t->e, EINVAL,
					       "the metric '%s' is given twice for the same "
					       "parameters",
					       m->name);
		}
		rc = find_column(t, m->column, &l->metrics[i]);
		if (rc == 0)
			rc = name_metric(t, l, m, form_of_column(t, l->metrics[i]), &n);
	}
	return rc;
}

static int plan(struct table *t, struct layout *l)
{
	const struct csv_mapping *m = t->m;
	struct bench_schema schema = { .name = m->bench,
				       .summary = "a published table",
				       .revision = m->revision };
	struct arena *a = &t->run->arena;
	size_t n = 1 + m->n_columns + m->n_settings + (m->n_metrics ? m->metrics[0].n_where : 0);
	int rc;

	l->params = arena_alloc(a, n * sizeof(*l->params));
	l->metrics = arena_alloc(a, (m->n_metrics + 1) * sizeof(*l->metrics));
	l->schema_params = arena_alloc(a, (n + 1) * sizeof(*l->schema_params));
	l->schema_metrics = arena_alloc(a, (m->n_metrics + 1) * sizeof(*l->schema_metrics));
	if (!l->params || !l->metrics || !l->schema_params || !l->schema_metrics)
		return no_memory(t);
	rc = plan_params(t, l);
	if (rc == 0)
		rc = plan_metrics(t, l);
	schema.params = l->schema_params;
	schema.metrics = l->schema_metrics;
	if (rc == 0 && run_add_schema(t->run, &schema))
		rc = no_memory(t);
	return rc;
}

/* A setting that the table has several times was measured several times. */
static unsigned count_before(const struct run *r, const struct attrs *setting)
{
	unsigned n = 0;

	for (size_t i = 0; i < r->n_measures; i++)
		n += attrs_equal(&r->measures[i].setting, setting);
	return n;
}

static int set_word(struct table *t, struct attrs *to, const char *name, const char *word)
{
	const struct param *p = schema_param(&t->run->schemas[0], name);
	struct arena *a = &t->run->arena;
	uint64_t v = 0;

	if (p && p->type == PARAM_COUNT && parse_u64(word, &v, NULL) == 0)
		return attrs_set_int(a, to, name, (int64_t)v);
	return attrs_set_text(a, to, name, word);
}

/* The measure of the columns that have the parameters of metric @first. */
static int add_measure(struct table *t, const struct layout *l, const struct csv_row *row,
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

		if (same_where(first, c))
			rc = set_metric(t, row, l->metrics[i], schema_metric(schema, c->name), &m);
	}
	if (rc == -ENOMEM)
		return no_memory(t);
	if (t->n_problems > problems)
		return 0; /* told; the table is refused in the end */
	m.invocation = count_before(t->run, &m.setting);
	to = run_add_measure(t->run);
	if (!to)
		return no_memory(t);
	*to = m;
	return 0;
}

static int add_row(struct table *t, const struct layout *l, const struct csv_row *row)
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
			seen = seen || same_where(&m[k], &m[i]);
		if (!seen)
			rc = add_measure(t, l, row, &setting, &m[i]);
	}
	return rc == -ENOMEM ? no_memory(t) : 0;
}

static int add_rows(struct table *t, const struct layout *l)
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
		problem(t, row->line, str_text(&text));
		str_done(&text);
	}
	if (rc == 0 && t->n_problems > MAX_PROBLEMS)
		str_addf(t->problems, "%s: %zu more mistakes\n", t->m->file,
			 t->n_problems - MAX_PROBLEMS);
	return rc ? rc : t->n_problems ? -EBADMSG : 0;
}

/* Rows of the wrong length must not be read beyond their end while columns are looked through. */
static int check_shape(struct table *t)
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

static int set_header(struct table *t)
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
		return no_memory(t);
	if (m->machine ? attrs_set_text(&r->arena, &r->fingerprint, "model", m->machine)
		       : attrs_set_null(&r->arena, &r->fingerprint, "model",
					"not stated by the source"))
		return no_memory(t);
	return 0;
}

/* Rows with too few fields get empty ones for looking through columns; add_rows() tells of them. */
static int fill_up(struct table *t)
{
	size_t n = t->rows.v[0].n;

	for (size_t i = 1; i < t->rows.n; i++) {
		struct csv_row *row = &t->rows.v[i];
		const char **fields;

		if (row->n >= n)
			continue;
		fields = arena_alloc(&t->run->arena, n * sizeof(*fields));
		if (!fields)
			return no_memory(t);
		for (size_t k = 0; k < n; k++)
			fields[k] = k < row->n ? row->fields[k] : "";
		row->fields = fields;
	}
	return 0;
}

int csv_run(const char *text, size_t n, const struct csv_mapping *m, struct run **ret_run,
	    struct str *ret_problems, struct err *e)
{
	struct table t = { .m = m, .run = run_new(), .problems = ret_problems, .e = e };
	struct layout l = { 0 };
	int rc;

	if (!t.run)
		return no_memory(&t);
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
		rc = plan(&t, &l);
	if (rc == 0)
		rc = add_rows(&t, &l);
	if (rc)
		run_free(t.run);
	else
		*ret_run = t.run;
	return rc;
}
