// SPDX-License-Identifier: MIT
/*
 * Comparing two sides: what the unit of replication is, rows of facts and points, corrections for
 * many tests, verdicts. Leaves out: rendering (report/), where runs come from (store/).
 */
#include "compare/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/parts.h"
#include "stats/two_sample.h"

/* Boots (or runs) a side from which on their medians are the values. */
enum { UNITS_LEAST = 3 };

const char *outcome_name(enum outcome o)
{
	static const char *const names[] = {
		[OUTCOME_BETTER] = "better",         [OUTCOME_WORSE] = "worse",
		[OUTCOME_EQUIVALENT] = "equivalent", [OUTCOME_INCONCLUSIVE] = "inconclusive",
		[OUTCOME_DIFFERENCE] = "difference", [OUTCOME_MISSING] = "missing",
	};

	return (size_t)o < sizeof(names) / sizeof(names[0]) ? names[o] : NULL;
}

void comparison_begin(struct comparison *c, const struct compare_options *o)
{
	*c = (struct comparison){ .threshold = o && o->threshold > 0 ? o->threshold : 0.02,
				  .level = 0.95,
				  .run_spread = o ? o->run_spread : NAN };
	/* A spread of nothing is none that anybody measured. */
	if (!(c->run_spread > 0))
		c->run_spread = NAN;
}

/* tlb.reach is tlb.entries in other words: one question, one test. */
static const struct row *original_of(const struct rows *rows, const struct row *extra)
{
	for (size_t i = 0; i < rows->n; i++) {
		if (strcmp(rows->v[i].c.id, "tlb.entries") == 0 &&
		    attrs_equal(&rows->v[i].c.where, &extra->c.where))
			return &rows->v[i];
	}
	return NULL;
}

/* Fills p_adjusted; how many tests there were. */
static int adjust(struct rows *rows, int (*method)(const double *, size_t, double *),
		  size_t *ret_tests)
{
	double *p = calloc(rows->n + 1, sizeof(*p));
	size_t tests = 0;
	int rc = -ENOMEM;

	for (size_t i = 0; p && i < rows->n; i++) {
		struct row *row = &rows->v[i];

		row->is_extra = row->is_extra && original_of(rows, row);
		p[i] = row->is_extra || row->is_sum ? NAN : row->c.p;
		tests += isnan(p[i]) ? 0 : 1;
	}
	if (p)
		rc = method(p, rows->n, p);
	for (size_t i = 0; rc == 0 && i < rows->n; i++)
		rows->v[i].c.p_adjusted = p[i];
	for (size_t i = 0; rc == 0 && i < rows->n; i++) {
		const struct row *from =
			rows->v[i].is_extra ? original_of(rows, &rows->v[i]) : NULL;

		if (rows->v[i].is_sum)
			rows->v[i].c.p_adjusted = rows->v[i].c.p;
		else if (from && !isnan(rows->v[i].c.p))
			rows->v[i].c.p_adjusted = from->c.p_adjusted;
	}
	free(p);
	*ret_tests = tests;
	return rc;
}

/* Adjusts, decides, and hands the rows over. */
static int settle(const struct rules *r, struct rows *rows,
		  int (*method)(const double *, size_t, double *), bool is_family,
		  struct compared **ret, size_t *ret_n, size_t *ret_tests)
{
	struct compared *v = arena_alloc(r->arena, (rows->n + 1) * sizeof(*v));
	int rc = v ? adjust(rows, method, ret_tests) : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < rows->n; i++) {
		/* Holm's least p is multiplied by the whole family; the other's need not be. */
		rc = row_decide(r, &rows->v[i], is_family ? *ret_tests : 1);
		v[i] = rows->v[i].c;
	}
	if (rc)
		return rc;
	*ret = v;
	*ret_n = rows->n;
	return 0;
}

int comparison_fill(struct comparison *c, const struct side *a, const struct side *b,
		    enum unit unit, struct err *e)
{
	struct rules r = {
		.arena = &c->arena, .c = c, .unit = unit, .runs_a = a->n_runs, .runs_b = b->n_runs
	};
	struct rows facts = { 0 }, points = { 0 };
	size_t fact_tests = 0, point_tests = 0;
	int rc = rows_of_facts(&r, a, b, &facts);

	rc = rc ? rc : rows_of_points(&r, a, b, &points);
	rc = rc ? rc : settle(&r, &facts, stats_holm, true, &c->facts, &c->n_facts, &fact_tests);
	rc = rc ? rc
		: settle(&r, &points, stats_benjamini_hochberg, false, &c->points, &c->n_points,
			 &point_tests);
	c->cap_facts = c->n_facts;
	c->cap_points = c->n_points;
	rc = rc ? rc : how_fill(&r, c, fact_tests, point_tests);
	return rc ? err_set(e, -rc, "cannot compare: %s", strerror(-rc)) : 0;
}

/* Whether no boot took part on both sides. */
static bool boots_are_apart(const struct side *a, const struct side *b)
{
	for (size_t i = 0; i < a->n_boots; i++) {
		if (side_has_boot(b, a->boots[i]))
			return false;
	}
	return true;
}

static bool runs_are_apart(const struct run *const *a, size_t n_a, const struct run *const *b,
			   size_t n_b)
{
	for (size_t i = 0; i < n_a; i++) {
		for (size_t k = 0; k < n_b; k++) {
			if (a[i] == b[k] || (a[i]->id && b[k]->id && !strcmp(a[i]->id, b[k]->id)))
				return false;
		}
	}
	return true;
}

static const char *runs_name(struct arena *a, const struct run *const *r, size_t n)
{
	const char *name = r[0]->label ? r[0]->label : r[0]->id ? r[0]->id : "run";

	return n > 1 ? arena_printf(a, "%s (%zu runs)", name, n) : arena_strdup(a, name);
}

int compare_sides(struct comparison *c, const struct side_source *x, const struct side_source *y,
		  struct err *e)
{
	bool apart = runs_are_apart(x->runs, x->n_runs, y->runs, y->n_runs);
	enum unit unit = UNIT_INVOCATION;
	struct side a = { 0 }, b = { 0 };
	int rc = side_init(&a, x);

	rc = rc ? rc : side_init(&b, y);
	if (rc == 0) {
		bool boots_apart = boots_are_apart(&a, &b);

		if (boots_apart && a.n_boots >= UNITS_LEAST && b.n_boots >= UNITS_LEAST)
			unit = UNIT_BOOT;
		else if (apart && a.n_runs >= UNITS_LEAST && b.n_runs >= UNITS_LEAST)
			unit = UNIT_RUN;
		/* Arms of one experiment that never shared a boot are as far apart as runs. */
		c->between_runs = unit == UNIT_INVOCATION &&
				  (apart || (boots_apart && a.n_boots && a.boots[0]));
		c->one_boot_a = a.n_boots == 1 && !a.is_published;
		c->one_boot_b = b.n_boots == 1 && !b.is_published;
		rc = side_infer(&a, unit, e);
		rc = rc ? rc : side_infer(&b, unit, e);
		rc = rc ? rc : comparison_fill(c, &a, &b, unit, e);
	} else {
		err_set(e, -rc, "%s", rc == -ENOENT ? "a side has no measure" : "out of memory");
	}
	side_done(&a);
	side_done(&b);
	return rc;
}

int compare_runs(const struct run *const *a, size_t n_a, const struct run *const *b, size_t n_b,
		 const struct compare_options *o, struct comparison *ret, struct err *e)
{
	bool across = o && o->across && strcmp(o->across, "machine") == 0;
	struct comparison c;
	int rc;

	if (o && o->across && !across)
		return err_set(e, EINVAL, "across '%s': it can be 'machine'", o->across);
	rc = sides_check(a, n_a, b, n_b, across, e);
	if (rc)
		return rc;
	comparison_begin(&c, o);
	c.factor = across ? "machine" : NULL;
	c.name_a = runs_name(&c.arena, a, n_a);
	c.name_b = runs_name(&c.arena, b, n_b);
	if (!c.name_a || !c.name_b || environment_compare(&c, a, n_a, b, n_b))
		rc = err_set(e, ENOMEM, "out of memory");
	rc = rc ? rc
		: compare_sides(&c, &(struct side_source){ .runs = a, .n_runs = n_a },
				&(struct side_source){ .runs = b, .n_runs = n_b }, e);
	if (rc) {
		comparison_done(&c);
		return rc;
	}
	*ret = c;
	return 0;
}

void comparison_done(struct comparison *c)
{
	if (!c)
		return;
	arena_done(&c->arena);
	*c = (struct comparison){ 0 };
}

enum outcome comparison_overall(const struct comparison *c)
{
	/* Worst first. */
	static const enum outcome order[] = { OUTCOME_WORSE,      OUTCOME_INCONCLUSIVE,
					      OUTCOME_MISSING,    OUTCOME_DIFFERENCE,
					      OUTCOME_EQUIVALENT, OUTCOME_BETTER };
	const struct compared *v = c->n_facts ? c->facts : c->points;
	size_t n = c->n_facts ? c->n_facts : c->n_points;

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		for (size_t k = 0; k < n; k++) {
			if (v[k].outcome == order[i])
				return order[i];
		}
	}
	return OUTCOME_MISSING;
}
