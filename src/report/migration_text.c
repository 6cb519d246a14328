// SPDX-License-Identifier: MIT
/*
 * Migration cost of a run: matrix, line, and reading of the scheduler's constant. Costs come from
 * the points, what they mean from the facts; nothing is concluded here. Left out: paged against
 * contiguous memory (migration_backing.c).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "infer/infer.h"
#include "report/migration_matrix.h"
#include "report/render.h"
#include "report/table.h"

enum { CLASSES_MAX = 64, CPUS_SHOWN = 256 };

/* One ordered pair at one setting of everything else. */
struct pair {
	const struct curve_points *c;
	uint32_t from, to;
	const char *class;
};

struct pairs {
	struct pair *v;
	size_t n, cap;
};

static bool is_end(const char *name)
{
	return strcmp(name, "from") == 0 || strcmp(name, "to") == 0;
}

/* --- the pairs of a run --- */

static const char *class_of(const struct curve_points *c)
{
	const char *class = NULL;

	for (size_t i = 0; i < c->n && !class; i++)
		for (size_t k = 0; k < c->points[i]->n_measures && !class; k++)
			class = attrs_text(&c->points[i]->measures[k]->proof, "class", NULL);
	return class;
}

static int collect(struct arena *a, const struct report *rep, struct pairs *ret)
{
	for (size_t i = 0; i < rep->curves.n; i++) {
		const struct curve_points *c = &rep->curves.v[i];
		uint64_t from, to;
		struct pair p = { .c = c };

		if (strcmp(c->bench, "migration.cost") != 0 || c->arm ||
		    parse_u64(attrs_text(&c->outer, "from", ""), &from, NULL) < 0 ||
		    parse_u64(attrs_text(&c->outer, "to", ""), &to, NULL) < 0 ||
		    from > UINT32_MAX || to > UINT32_MAX || !(p.class = class_of(c)))
			continue;
		p.from = (uint32_t)from;
		p.to = (uint32_t)to;
		if (arena_grow(a, &ret->v, ret->n, &ret->cap, sizeof(*ret->v)) < 0)
			return -ENOMEM;
		ret->v[ret->n++] = p;
	}
	return 0;
}

static bool same_rest(const struct attrs *a, const struct attrs *b)
{
	for (size_t i = 0; i < a->n; i++) {
		const struct attr *other = attrs_find(b, a->v[i].name);

		if (!is_end(a->v[i].name) && (!other || !migration_same_attr(&a->v[i], other)))
			return false;
	}
	return a->n == b->n;
}

/* smt before l2 before l3 ...; "remote-32" behind "remote-21". */
static long class_rank(const char *class)
{
	static const char *const names[] = { "smt", "l2", "l3", "package", "node", "remote" };
	long rank = 0, hops = 0;
	size_t n = 0;

	while (rank < 6 && strncmp(class, names[rank], n = strlen(names[rank])) != 0)
		rank++;
	if (rank < 6 && class[n] == '-')
		for (const char *d = class + n + 1; *d >= '0' && *d <= '9' && hops < 10000; d++)
			hops = 10 * hops + (*d - '0');
	return rank * 100000 + hops;
}

/* The run's fact of one class at the setting of @p; NULL: none. */
static const struct fact *class_fact(const struct report *rep, const struct pair *p,
				     const char *class, const char *id)
{
	for (size_t i = 0; i < rep->facts.n; i++) {
		const struct fact *f = &rep->facts.v[i];
		bool same = strcmp(f->id, id) == 0 &&
			    strcmp(attrs_text(&f->where, "class", ""), class) == 0;

		for (size_t k = 0; same && k < f->where.n; k++) {
			const struct attr *a = &f->where.v[k];
			const struct attr *b = attrs_find(&p->c->outer, a->name);

			same = strcmp(a->name, "class") == 0 || (b && migration_same_attr(a, b));
		}
		if (same)
			return f;
	}
	return NULL;
}

/* --- one setting --- */

struct view {
	const struct report *rep;
	const struct pair **pairs; /* of one setting of everything but the CPUs */
	size_t n;
	const char *classes[CLASSES_MAX]; /* by rank */
	size_t n_classes;
	bool historical;
};

static void add_class(struct view *v, const char *class)
{
	size_t at = 0;

	for (size_t i = 0; i < v->n_classes; i++)
		if (strcmp(v->classes[i], class) == 0)
			return;
	if (v->n_classes == CLASSES_MAX)
		return;
	while (at < v->n_classes && class_rank(v->classes[at]) <= class_rank(class))
		at++;
	memmove(&v->classes[at + 1], &v->classes[at], (v->n_classes - at) * sizeof(*v->classes));
	v->classes[at] = class;
	v->n_classes++;
}

/* Classes of equal rank (CPUs of different speed) are one distance. */
static int distance_of(const struct view *v, const char *class)
{
	int d = 0;

	for (size_t i = 1; i < v->n_classes; i++) {
		if (class_rank(v->classes[i - 1]) >= class_rank(class))
			break;
		d += class_rank(v->classes[i]) != class_rank(v->classes[i - 1]);
	}
	return d;
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static size_t find_cpu(const uint32_t *cpus, size_t n, uint32_t cpu)
{
	const uint32_t *at = bsearch(&cpu, cpus, n, sizeof(*cpus), compare_u32);

	return at ? (size_t)(at - cpus) : n;
}

static int matrix(struct str *out, struct arena *a, const struct view *v)
{
	struct migration_matrix m = { 0 };
	uint32_t *cpus = arena_alloc(a, 2 * v->n * sizeof(*cpus));
	double *cost;
	int *distance;
	size_t kept = 0;

	if (!cpus)
		return -ENOMEM;
	for (size_t i = 0; i < v->n; i++) {
		cpus[2 * i] = v->pairs[i]->from;
		cpus[2 * i + 1] = v->pairs[i]->to;
	}
	qsort(cpus, 2 * v->n, sizeof(*cpus), compare_u32);
	for (size_t i = 0; i < 2 * v->n; i++)
		if (kept == 0 || cpus[kept - 1] != cpus[i])
			cpus[kept++] = cpus[i];
	if (kept > CPUS_SHOWN) {
		str_addf(out, "  of %zu CPUs: --format csv or json has it\n", kept);
		return 0;
	}
	cost = arena_alloc(a, kept * kept * sizeof(*cost));
	distance = arena_alloc(a, kept * kept * sizeof(*distance));
	if (!cost || !distance)
		return -ENOMEM;
	for (size_t i = 0; i < kept * kept; i++)
		cost[i] = NAN;
	for (size_t i = 0; i < v->n; i++) {
		size_t at = find_cpu(cpus, kept, v->pairs[i]->from) * kept +
			    find_cpu(cpus, kept, v->pairs[i]->to);

		cost[at] = 2 * migration_largest_ns(v->rep, v->pairs[i]->c);
		distance[at] = distance_of(v, v->pairs[i]->class);
		/* The historical search measures both directions as one. */
		if (v->historical) {
			size_t back = at % kept * kept + at / kept;

			cost[back] = cost[at];
			distance[back] = distance[at];
		}
	}
	m = (struct migration_matrix){ cpus, kept, cost, distance };
	migration_matrix_render(out, &m);
	return 0;
}

/* The line, and which class is which distance. */
static void line(struct str *out, const struct view *v)
{
	const char *id = v->historical ? "migration.historical_ns" : "migration.max_cost_ns";
	double cost[CLASSES_MAX];
	struct str names = { 0 };
	int n = -1;

	for (size_t i = 0; i < v->n_classes; i++) {
		const struct fact *f = class_fact(v->rep, v->pairs[0], v->classes[i], id);
		int d = distance_of(v, v->classes[i]);
		double ns = f ? f->value * (v->historical ? 1 : 2) : NAN;

		if (d > n)
			cost[n = d] = ns;
		else
			cost[d] = fmax(cost[d], ns);
		str_addf(&names, "%s%d %s", i ? ", " : "", d, v->classes[i]);
	}
	for (int i = 0; i <= n; i++)
		if (isnan(cost[i]))
			n = -1;
	if (n >= 0)
		migration_line_render(out, cost, (size_t)n + 1);
	render_paragraph(out, 0, "distances: ", str_text(&names));
	str_done(&names);
}

/* --- the scheduler's constant --- */

static void knob_text(struct str *out, const struct run *r)
{
	const struct attr *a = attrs_find(&r->context, "sched_migration_cost_ns");
	const char *path = attrs_text(&r->context, "sched_migration_cost.path", "");
	char buf[UNITS_TEXT_BYTES];

	if (!a || a->kind != ATTR_INT)
		str_addf(out,
			 "not known on this machine (%s); 500 us, the kernel's default, is "
			 "taken",
			 a && a->kind == ATTR_NULL ? a->text : "not recorded");
	else if (a->integer < 0)
		str_addf(out, "-1, every task is always hot (/%s)", path);
	else
		str_addf(out, "%s (/%s)", format_time_human(buf, (double)a->integer), path);
}

static void bound(struct str *out, const struct fact *f)
{
	char buf[UNITS_TEXT_BYTES];

	if (f && !isnan(f->value))
		str_add(out, format_size_human(buf, f->value));
	else
		str_add(out, "-");
}

static int reading(struct str *out, struct arena *a, const struct view *v,
		   const struct report_options *o)
{
	struct str text = { 0 };
	struct table t;

	str_add(&text, "The scheduler's constant (sched_migration_cost): ");
	knob_text(&text, v->rep->run);
	const char *clean = render_clean(a, str_text(&text), o->utf8, 400);

	str_add(out, "\n");
	render_wrap(out, clean ? clean : "", 0, 2, RENDER_WIDTH);
	table_init(&t, a, o);
	t.indent = 2;
	t.rule = true;
	t.n_keys = 1;
	table_add_column(&t, "distance", TABLE_LEFT, 0);
	table_add_column(&t, "too large for working\nsets up to", TABLE_RIGHT, 0);
	table_add_column(&t, "too small for working\nsets from", TABLE_RIGHT, 0);
	for (size_t i = 0; i < v->n_classes; i++) {
		size_t row = table_add_row(&t);

		table_set(&t, row, 0, v->classes[i]);
		for (size_t k = 1; k <= 2; k++) {
			const struct fact *f =
				class_fact(v->rep, v->pairs[0], v->classes[i],
					   k == 1 ? "migration.knob_too_large_to_bytes"
						  : "migration.knob_too_small_from_bytes");

			str_clear(&text);
			bound(&text, f);
			table_set(&t, row, k, str_text(&text));
			if (f && isnan(f->value) && f->reason)
				table_mark(&t, row, k, NOTE_REASON, f->reason);
		}
	}
	t.failed = t.failed || text.failed || !clean;
	str_done(&text);
	return table_render(out, &t, o);
}

static int one_setting(struct str *out, struct arena *a, const struct view *v,
		       const struct report_options *o)
{
	struct str head = { 0 };
	int rc;

	str_add(&head, "Migration cost, ms (distance): twice the largest of a pair, as the kernel "
		       "took it;");
	for (size_t i = 0; i < v->pairs[0]->c->outer.n; i++) {
		const struct attr *at = &v->pairs[0]->c->outer.v[i];

		if (is_end(at->name))
			continue;
		str_addf(&head, " %s=", at->name);
		render_param(&head, run_schema(v->rep->run, "migration.cost"), at);
	}
	const char *clean = head.failed ? NULL : render_clean(a, str_text(&head), o->utf8, 0);

	str_add(out, "\n");
	render_wrap(out, clean ? clean : "", 0, 2, RENDER_WIDTH);
	str_done(&head);
	rc = clean ? matrix(out, a, v) : -ENOMEM;
	if (rc == 0)
		line(out, v);
	return rc < 0 || v->historical ? rc : reading(out, a, v, o);
}

int migration_render(struct str *out, struct arena *a, const struct report *rep,
		     const struct report_options *o)
{
	struct pairs p = { 0 };
	bool *done;
	int rc = collect(a, rep, &p);

	done = arena_alloc(a, (p.n + 1) * sizeof(*done));
	if (rc < 0 || !done)
		return -ENOMEM;
	for (size_t i = 0; i < p.n && rc == 0; i++) {
		struct view v = { .rep = rep };

		if (done[i])
			continue;
		v.pairs = arena_alloc(a, p.n * sizeof(*v.pairs));
		if (!v.pairs)
			return -ENOMEM;
		for (size_t k = i; k < p.n; k++) {
			if (done[k] || !same_rest(&p.v[i].c->outer, &p.v[k].c->outer))
				continue;
			done[k] = true;
			v.pairs[v.n++] = &p.v[k];
			add_class(&v, p.v[k].class);
		}
		v.historical =
			strcmp(attrs_text(&p.v[i].c->outer, "search", ""), "historical") == 0;
		rc = one_setting(out, a, &v, o);
	}
	return rc < 0 ? rc : migration_backings(out, a, rep, o);
}
