// SPDX-License-Identifier: MIT
/*
 * What the columns of a table are: parameters with the form of their values, and metrics. Leaves
 * out: the values themselves (csv_run.c).
 */
#include "record/csv_parts.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/units.h"

/* --- mistakes --------------------------------------------------------------------------------- */

int csv_problem(struct csv_table *t, size_t line, const char *text)
{
	err_set(t->e, EBADMSG, "%s:%zu: %s", t->m->file, line, text);
	if (t->n_problems++ < CSV_MAX_PROBLEMS)
		str_addf(t->problems, "%s:%zu: %s\n", t->m->file, line, text);
	return -EBADMSG;
}

int csv_cell_problem(struct csv_table *t, const struct csv_row *row, size_t column,
		     const char *text)
{
	struct str s = { 0 };
	int rc;

	str_addf(&s, "column %zu '%s': %s", column + 1, t->rows.v[0].fields[column], text);
	rc = csv_problem(t, row->line, str_text(&s));
	str_done(&s);
	return rc;
}

int csv_no_memory(struct csv_table *t)
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

static int csv_find_column(struct csv_table *t, const char *name, size_t *ret)
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
static enum param_type type_of_column(const struct csv_table *t, size_t column)
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

static int csv_add_choice(struct csv_table *t, const char ***choices, size_t *n, size_t *cap,
			  const char *word)
{
	for (size_t i = 0; i < *n; i++) {
		if (strcmp((*choices)[i], word) == 0)
			return 0;
	}
	/* One more than asked for: the list ends with NULL. */
	if (*n + 1 >= *cap && arena_grow(&t->run->arena, choices, *cap, cap, sizeof(**choices)))
		return csv_no_memory(t);
	(*choices)[(*n)++] = word;
	(*choices)[*n] = NULL;
	return 0;
}

static int column_choices(struct csv_table *t, size_t column, struct param *p)
{
	const char **choices = NULL;
	size_t n = 0, cap = 0;
	int rc = 0;

	for (size_t i = 1; rc == 0 && i < t->rows.n; i++)
		rc = csv_add_choice(t, &choices, &n, &cap, t->rows.v[i].fields[column]);
	p->choices = choices;
	return rc;
}

/* --- metrics ---------------------------------------------------------------------------------- */

bool csv_is_integer(const char *cell)
{
	cell += *cell == '-';
	return *cell && cell[strspn(cell, "0123456789")] == '\0';
}

/* -ERANGE beyond 64 bits. */
int csv_parse_int(const char *cell, int64_t *ret)
{
	bool negative = *cell == '-';
	uint64_t v;

	if (parse_u64(cell + negative, &v, NULL) || v > INT64_MAX)
		return -ERANGE;
	*ret = negative ? -(int64_t)v : (int64_t)v;
	return 0;
}

/* Whether a real holds the integer exactly. */
static bool csv_fits_real(int64_t v)
{
	double real = (double)v;

	return fabs(real) < 9.2e18 && (int64_t)real == v;
}

/* An integer that only form EXACT keeps. */
bool csv_needs_exact(const char *cell, int64_t *ret)
{
	return csv_is_integer(cell) && csv_parse_int(cell, ret) == 0 && !csv_fits_real(*ret);
}

/*
 * EXACT where all values are integers, some of them beyond what a real holds. In a column that has
 * reals as well, only those integers are: the form is a value's own (set_metric()).
 */
static enum series_form form_of_column(const struct csv_table *t, size_t column)
{
	bool beyond = false;

	for (size_t i = 1; i < t->rows.n; i++) {
		const char *cell = t->rows.v[i].fields[column];
		int64_t v;

		if (!*cell)
			continue;
		if (!csv_is_integer(cell) || csv_parse_int(cell, &v))
			return FORM_SUMMARY;
		beyond = beyond || !csv_fits_real(v);
	}
	return beyond ? FORM_EXACT : FORM_SUMMARY;
}

/* --- the layout ------------------------------------------------------------------------------- */

static int name_param(struct csv_table *t, struct csv_layout *l, size_t *n, struct param p)
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

static int plan_column(struct csv_table *t, struct csv_layout *l, size_t *n,
		       const struct csv_pair *pair, enum param_role role)
{
	struct param p = { .name = pair->name, .summary = "column of the table", .role = role };
	size_t column = 0;
	int rc = csv_find_column(t, pair->column, &column);

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

bool csv_same_where(const struct csv_metric *a, const struct csv_metric *b)
{
	for (size_t i = 0; i < a->n_where; i++) {
		const char *v = where_value(b, a->where[i].name);

		if (!v || strcmp(v, a->where[i].column) != 0)
			return false;
	}
	return a->n_where == b->n_where;
}

/* One of the parameters that columns of values have. */
static int plan_where(struct csv_table *t, struct csv_layout *l, size_t *n, const char *name)
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
		rc = csv_add_choice(t, &choices, &n_choices, &cap, v);
	}
	p.choices = p.type == PARAM_CHOICE ? choices : NULL;
	return rc ? rc : name_param(t, l, n, p);
}

static int plan_params(struct csv_table *t, struct csv_layout *l)
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
			return csv_no_memory(t);
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
static int name_metric(struct csv_table *t, struct csv_layout *l, const struct csv_metric *m,
		       enum series_form form, size_t *n)
{
	struct metric *to = l->schema_metrics;

	for (; to->name; to++) {
		if (strcmp(to->name, m->name) != 0)
			continue;
		if (strcmp(to->unit, m->unit) != 0 || to->better != m->better)
			return err_set(t->e, EINVAL,
				       "the metric '%s' is given twice, but not alike", m->name);
		if (form != to->form)
			to->form = FORM_SUMMARY;
		return 0;
	}
	*to = (struct metric){ m->name, "", m->unit, m->better, EST_MEDIAN, form };
	(*n)++;
	return 0;
}

static int plan_metrics(struct csv_table *t, struct csv_layout *l)
{
	int rc = t->m->n_metrics ? 0 : err_set(t->e, EINVAL, "no column is a metric");
	size_t n = 0;

	for (size_t i = 0; rc == 0 && i < t->m->n_metrics; i++) {
		const struct csv_metric *m = &t->m->metrics[i];

		for (size_t k = 0; k < i; k++) {
			if (strcmp(t->m->metrics[k].name, m->name) == 0 &&
			    csv_same_where(&t->m->metrics[k], m))
				return err_set(t->e, EINVAL,
					       "the metric '%s' is given twice for the same "
					       "parameters",
					       m->name);
		}
		rc = csv_find_column(t, m->column, &l->metrics[i]);
		if (rc == 0)
			rc = name_metric(t, l, m, form_of_column(t, l->metrics[i]), &n);
	}
	return rc;
}

int csv_plan(struct csv_table *t, struct csv_layout *l)
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
		return csv_no_memory(t);
	rc = plan_params(t, l);
	if (rc == 0)
		rc = plan_metrics(t, l);
	schema.params = l->schema_params;
	schema.metrics = l->schema_metrics;
	if (rc == 0 && run_add_schema(t->run, &schema))
		rc = csv_no_memory(t);
	return rc;
}
