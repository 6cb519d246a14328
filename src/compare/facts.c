// SPDX-License-Identifier: MIT
/*
 * Facts of both sides with the same id and conditions. The values shown are those of all measures
 * of a side; they are tested by the facts drawn from each unit of replication alone. Leaves out:
 * facts that neither side has.
 */
#include "compare/parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

static const struct fact *find(const struct facts *f, const struct fact *like)
{
	for (size_t i = 0; i < f->n; i++) {
		if (strcmp(f->v[i].id, like->id) == 0 && attrs_equal(&f->v[i].where, &like->where))
			return &f->v[i];
	}
	return NULL;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && strcmp(text + n - k, end) == 0;
}

/* Which way is good. Clock, ways, line and effective page size just are what they are. */
static enum better fact_better(const char *id)
{
	static const char *const higher[] = { "tlb.entries", "tlb.reach", "cache.capacity",
					      "curve.knee" };

	for (size_t i = 0; i < sizeof(higher) / sizeof(higher[0]); i++) {
		if (strcmp(id, higher[i]) == 0)
			return BETTER_HIGHER;
	}
	return ends_with(id, "_ns") || ends_with(id, "_cycles") ? BETTER_LOWER : BETTER_NONE;
}

static size_t values_per_unit(const struct side *s, const struct fact *f, double *ret)
{
	size_t n = 0;

	for (size_t u = 0; u < s->n_units; u++) {
		const struct fact *one = find(&s->unit_facts[u], f);

		if (one && !isnan(one->value))
			ret[n++] = one->value;
	}
	return n;
}

/*
 * The values shown are drawn from all processes together, the test from one value a process. Where
 * their quotient lies in the interval it is as good an estimate and the one that a reader can
 * check; else the row says that there are two.
 */
static int make_consistent(const struct rules *r, struct row *row)
{
	struct compared *c = &row->c;
	double quotient = c->a > 0 && c->b > 0 ? 100 * (c->b / c->a - 1) : NAN;

	if (row->is_alone || row->is_exact || isnan(quotient) || isnan(c->low))
		return 0;
	if (quotient >= c->low && quotient <= c->high) {
		c->percent = quotient;
		return 0;
	}
	c->reason = arena_printf(r->arena,
				 "the values are of all processes together; one value a process "
				 "gives %+.1f %%",
				 c->percent);
	return c->reason ? 0 : -ENOMEM;
}

static int test_fact(const struct rules *r, struct row *row, const struct side *a,
		     const struct side *b, const struct fact *f)
{
	double *values = calloc(a->n_units + b->n_units, sizeof(*values));
	size_t n_a, n_b;
	int rc;

	if (!values)
		return -ENOMEM;
	n_a = values_per_unit(a, f, values);
	n_b = values_per_unit(b, f, values + n_a);
	rc = row_test_values(r, row, values, n_a, values + n_a, n_b);
	free(values);
	return rc ? rc : make_consistent(r, row);
}

static const char *nominal_words(struct arena *a, const struct fact *f)
{
	char size[UNITS_TEXT_BYTES];

	if (strcmp(f->unit, "bytes") == 0)
		return arena_printf(a, "both stand for %s", format_size_human(size, f->nominal));
	return arena_printf(a, "both stand for %.0f %s", f->nominal, f->unit);
}

static const char *missing_reason(struct arena *a, const char *side, const struct fact *f)
{
	return arena_printf(a, "%s: %s", side, f && f->reason ? f->reason : "no such fact");
}

/* The number of a node is a name: no difference, no test. */
static bool is_name(const char *id)
{
	return strcmp(id, "syscall.home_node") == 0;
}

static int fill(const struct rules *r, struct row *row, const struct side *a, const struct side *b,
		const struct fact *x, const struct fact *y)
{
	const struct fact *any = x ? x : y;

	row->c.is_fact = true;
	row->better = fact_better(any->id);
	row->c.id = arena_strdup(r->arena, any->id);
	row->c.unit = arena_strdup(r->arena, any->unit ? any->unit : "");
	row->c.a = x ? x->value : NAN;
	row->c.b = y ? y->value : NAN;
	row->is_alone = a->is_published || b->is_published;
	row->is_extra = strcmp(any->id, "tlb.reach") == 0;
	if (!row->c.id || !row->c.unit || attrs_copy(r->arena, &row->c.where, &any->where))
		return -ENOMEM;
	if (isnan(row->c.a) || isnan(row->c.b)) {
		row->c.reason = missing_reason(r->arena, isnan(row->c.a) ? "A" : "B",
					       isnan(row->c.a) ? x : y);
		row->c.n_a = isnan(row->c.a) ? 0 : a->n_units;
		row->c.n_b = isnan(row->c.b) ? 0 : b->n_units;
		return row->c.reason ? 0 : -ENOMEM;
	}
	if (is_name(any->id)) {
		row->is_alone = true;
		row->c.reason = "the number of a node, no quantity";
		return 0;
	}
	if (!row->is_alone && x->nominal > 0 && x->nominal == y->nominal) {
		row->nominal = nominal_words(r->arena, x);
		if (!row->nominal)
			return -ENOMEM;
	}
	return test_fact(r, row, a, b, x);
}

static int add(const struct rules *r, const struct side *a, const struct side *b,
	       const struct fact *x, const struct fact *y, struct rows *rows)
{
	struct row *row;

	if ((!x || isnan(x->value)) && (!y || isnan(y->value)))
		return 0;
	if (is_name(x ? x->id : y->id) && x && y && x->value == y->value)
		return 0;
	row = rows_add(r->arena, rows);
	return row ? fill(r, row, a, b, x, y) : -ENOMEM;
}

int rows_of_facts(const struct rules *r, const struct side *a, const struct side *b,
		  struct rows *ret)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < a->facts.n; i++)
		rc = add(r, a, b, &a->facts.v[i], find(&b->facts, &a->facts.v[i]), ret);
	for (size_t i = 0; rc == 0 && i < b->facts.n; i++) {
		if (!find(&a->facts, &b->facts.v[i]))
			rc = add(r, a, b, NULL, &b->facts.v[i], ret);
	}
	return rc;
}
