// SPDX-License-Identifier: MIT
/*
 * Points of both sides with the same benchmark and setting, metric by metric; tables (profiles)
 * row by row (tables.c). Leaves out: metrics that only describe the measuring (no good direction,
 * samples).
 */
#include "compare/parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/stats.h"

struct row *rows_add(struct arena *a, struct rows *rows)
{
	struct row *row;

	if (arena_grow(a, &rows->v, rows->n, &rows->cap, sizeof(*rows->v)))
		return NULL;
	row = &rows->v[rows->n++];
	*row = (struct row){ .better = BETTER_NONE };
	row->c.a = row->c.b = row->c.percent = row->c.low = row->c.high = NAN;
	row->c.p = row->c.p_adjusted = NAN;
	return row;
}

static bool is_inner(const struct side *s, const char *bench, const char *name)
{
	const struct param *p = schema_param(run_schema(s->run, bench), name);

	return p && p->role == ROLE_INNER;
}

static bool same_value(const struct attr *a, const struct attr *b)
{
	struct attr x = *a, y = *b;

	return attrs_equal(&(struct attrs){ .v = &x, .n = 1 }, &(struct attrs){ .v = &y, .n = 1 });
}

/* Whether some point of the same benchmark has another value. */
static bool differs(const struct points *p, const char *bench, const struct attr *at)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct attr *other;

		if (strcmp(p->v[i].bench, bench) != 0)
			continue;
		other = attrs_find(p->v[i].setting, at->name);
		if (!other || !same_value(at, other))
			return true;
	}
	return false;
}

/* Whether a value of a setting tells points of the comparison apart; asked once for each name. */
static int tells_apart(struct matching *m, const char *bench, const struct attr *at, bool *ret)
{
	struct told *t;

	for (size_t i = 0; i < m->n_told; i++) {
		if (strcmp(m->told[i].bench, bench) == 0 &&
		    strcmp(m->told[i].name, at->name) == 0) {
			*ret = m->told[i].yes;
			return 0;
		}
	}
	if (arena_grow(m->rules->arena, &m->told, m->n_told, &m->cap_told, sizeof(*m->told)))
		return -ENOMEM;
	t = &m->told[m->n_told++];
	*t = (struct told){ .bench = bench, .name = at->name };
	t->yes = is_inner(m->a, bench, at->name) || differs(&m->a->points, bench, at) ||
		 differs(&m->b->points, bench, at);
	*ret = t->yes;
	return 0;
}

/* Those values of the setting that tell this point from others of the comparison. */
static int tell_where(struct matching *m, const struct point *p, struct attrs *ret)
{
	struct attrs kept = { .v = calloc(p->setting->n + 1, sizeof(struct attr)) };
	int rc = kept.v ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < p->setting->n; i++) {
		bool yes;

		rc = tells_apart(m, p->bench, &p->setting->v[i], &yes);
		if (rc == 0 && yes)
			kept.v[kept.n++] = p->setting->v[i];
	}
	rc = rc ? rc : attrs_copy(m->rules->arena, ret, &kept);
	free(kept.v);
	return rc;
}

/* One value per unit that has any: the median of its measures'. */
static int values_per_unit(const struct side *s, const struct point *p, const char *metric,
			   double *ret, size_t *ret_n)
{
	double *some = calloc(p->n_measures + 1, sizeof(*some));
	size_t n = 0;

	if (!some)
		return -ENOMEM;
	for (size_t u = 0; u < s->n_units; u++) {
		size_t k = 0;

		for (size_t i = 0; i < p->n_measures; i++) {
			struct point one = { .bench = p->bench,
					     .measures = &p->measures[i],
					     .n_measures = 1 };
			struct estimate e;

			if (s->unit_of[p->measures[i] - s->run->measures] != u)
				continue;
			estimate_point(s->run, &one, metric, &e);
			if (!isnan(e.value))
				some[k++] = e.value;
		}
		if (k > 0)
			ret[n++] = stats_median(some, k);
	}
	free(some);
	*ret_n = n;
	return 0;
}

static size_t counts_of(const struct point *p, const char *metric, struct count *ret)
{
	size_t n = 0;

	for (size_t i = 0; p && i < p->n_measures; i++) {
		const struct series *s = measure_series(p->measures[i], metric);

		if (p->measures[i]->verdict == VERDICT_OK && s && s->form == FORM_COUNT &&
		    s->integers && s->n >= 2 && s->integers[0] >= 0 && s->integers[1] > 0)
			ret[n++] = (struct count){ s->integers[0], s->integers[1] };
	}
	return n;
}

/* Series of a metric in the first measure of a point that has it. */
static const struct series *find_series(const struct point *p, const char *metric)
{
	for (size_t i = 0; p && i < p->n_measures; i++) {
		const struct series *s = measure_series(p->measures[i], metric);

		if (p->measures[i]->verdict == VERDICT_OK && s && s->n > 0)
			return s;
	}
	return NULL;
}

struct row *point_row(struct matching *m, const struct point *any, const struct metric *metric)
{
	struct arena *a = m->rules->arena;
	struct row *row = rows_add(a, m->rows);

	if (!row)
		return NULL;
	row->better = metric->better;
	row->c.bench = arena_strdup(a, any->bench);
	row->c.id = arena_strdup(a, metric->name);
	row->c.unit = arena_strdup(a, metric->unit ? metric->unit : "");
	if (!row->c.bench || !row->c.id || !row->c.unit || tell_where(m, any, &row->c.where))
		return NULL;
	return row;
}

/* The whole number that an estimate is; a real may be one, too. */
static bool is_whole(const struct estimate *e, int64_t *ret)
{
	bool fits = e->is_exact || (fabs(e->value) < 9.2e18 && trunc(e->value) == e->value);

	if (fits)
		*ret = e->is_exact ? e->exact : (int64_t)e->value;
	return fits;
}

/* Whole numbers stay what they are, also those beyond 2^53, which reals are not. */
static void set_integers(struct matching *m, struct row *row, const struct point *a,
			 const struct point *b, const char *metric)
{
	struct estimate x, y;

	estimate_point(m->a->run, a, metric, &x);
	estimate_point(m->b->run, b, metric, &y);
	row->c.is_integer = (x.is_exact || y.is_exact) && is_whole(&x, &row->c.integer_a) &&
			    is_whole(&y, &row->c.integer_b);
}

static int test_point(struct matching *m, struct row *row, const struct point *a,
		      const struct point *b, const char *metric)
{
	size_t most = a->n_measures + b->n_measures;
	double *values = calloc(2 * most, sizeof(*values));
	size_t n_a = 0, n_b = 0;
	int rc = values ? 0 : -ENOMEM;

	if (rc == 0)
		rc = values_per_unit(m->a, a, metric, values, &n_a);
	if (rc == 0)
		rc = values_per_unit(m->b, b, metric, values + most, &n_b);
	if (rc == 0) {
		row->c.a = stats_median(values, n_a);
		row->c.b = stats_median(values + most, n_b);
		set_integers(m, row, a, b, metric);
		rc = row_test_values(m->rules, row, values, n_a, values + most, n_b);
	}
	free(values);
	return rc;
}

static int test_counts(struct matching *m, struct row *row, const struct point *a,
		       const struct point *b, const char *metric)
{
	struct count *counts = calloc(a->n_measures + b->n_measures, sizeof(*counts));
	size_t n_a, n_b;
	int rc;

	if (!counts)
		return -ENOMEM;
	n_a = counts_of(a, metric, counts);
	n_b = counts_of(b, metric, counts + n_a);
	if (m->rules->unit == UNIT_INVOCATION)
		rc = row_test_counts(m->rules, row, counts, n_a, counts + n_a, n_b);
	else
		rc = test_point(m, row, a, b, metric);
	free(counts);
	return rc;
}

/* Why a side has nothing, from its own words. */
static const char *missing_reason(struct matching *m, const struct side *s, const struct point *p,
				  const char *metric)
{
	struct estimate e;

	if (!p)
		return arena_printf(m->rules->arena, "%s has no such point", s == m->a ? "A" : "B");
	estimate_point(s->run, p, metric, &e);
	return arena_printf(m->rules->arena, "%s: %s", s == m->a ? "A" : "B",
			    e.reason ? e.reason : "no value");
}

/* The only value that there is, for a row without partner. */
static int one_sided(struct matching *m, struct row *row, const struct point *a,
		     const struct point *b, const char *metric)
{
	const struct side *lacking = find_series(a, metric) ? m->b : m->a;
	struct estimate e;

	estimate_point(lacking == m->b ? m->a->run : m->b->run, lacking == m->b ? a : b, metric,
		       &e);
	*(lacking == m->b ? &row->c.a : &row->c.b) = e.value;
	*(lacking == m->b ? &row->c.n_a : &row->c.n_b) = e.n_invocations;
	row->c.reason = missing_reason(m, lacking, lacking == m->b ? b : a, metric);
	return row->c.reason ? 0 : -ENOMEM;
}

static int add_metric(struct matching *m, const struct point *a, const struct point *b,
		      const struct metric *metric, bool is_headline)
{
	const struct series *x = find_series(a, metric->name);
	const struct series *y = find_series(b, metric->name);
	const struct series *some = x ? x : y;
	struct row *row;
	int rc;

	if (!some || (!is_headline && metric->better == BETTER_NONE && some->form == FORM_SAMPLES))
		return 0;
	if (some->form == FORM_TABLE && (!x || !y || x->form == y->form))
		return rows_of_table(m, a, b, metric);
	row = point_row(m, a ? a : b, metric);
	if (!row)
		return -ENOMEM;
	if (!x || !y)
		return one_sided(m, row, a, b, metric->name);
	row->is_alone = x->form == FORM_SUMMARY || y->form == FORM_SUMMARY || m->a->is_published ||
			m->b->is_published;
	row->is_exact = x->form == FORM_EXACT && y->form == FORM_EXACT && !row->is_alone;
	if (x->form == FORM_COUNT && y->form == FORM_COUNT)
		return test_counts(m, row, a, b, metric->name);
	rc = test_point(m, row, a, b, metric->name);
	/* What is neither good nor bad nor different tells nothing. */
	if (rc == 0 && !is_headline && metric->better == BETTER_NONE && row->c.a == row->c.b &&
	    (!row->c.is_integer || row->c.integer_a == row->c.integer_b))
		m->rows->n--;
	return rc;
}

static int add_pair(struct matching *m, const struct point *a, const struct point *b)
{
	const char *bench = a ? a->bench : b->bench;
	const struct bench_schema *s = run_schema(a ? m->a->run : m->b->run, bench);

	for (size_t i = 0; s && s->metrics[i].name; i++) {
		int rc = add_metric(m, a, b, &s->metrics[i], i == 0);

		if (rc)
			return rc;
	}
	return 0;
}

/* The point with the same benchmark and setting; both sides mostly have the same order. */
static const struct point *find_point(const struct points *p, const struct point *like,
				      size_t *next)
{
	for (size_t k = 0; k < p->n; k++) {
		size_t i = (*next + k) % p->n;

		if (strcmp(p->v[i].bench, like->bench) == 0 &&
		    attrs_equal(p->v[i].setting, like->setting)) {
			*next = i + 1;
			return &p->v[i];
		}
	}
	return NULL;
}

int rows_of_points(const struct rules *r, const struct side *a, const struct side *b,
		   struct rows *ret)
{
	struct matching m = { .rules = r, .a = a, .b = b, .rows = ret };
	bool *taken = calloc(b->points.n + 1, sizeof(*taken));
	size_t next = 0;
	int rc = taken ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < a->points.n; i++) {
		const struct point *p = &a->points.v[i];
		const struct point *q = find_point(&b->points, p, &next);

		if (q)
			taken[q - b->points.v] = true;
		/* A benchmark that only one side has is no part of the comparison. */
		if (q || run_schema(b->run, p->bench))
			rc = add_pair(&m, p, q);
	}
	for (size_t i = 0; rc == 0 && i < b->points.n; i++) {
		if (!taken[i] && run_schema(a->run, b->points.v[i].bench))
			rc = add_pair(&m, NULL, &b->points.v[i]);
	}
	free(taken);
	return rc;
}
