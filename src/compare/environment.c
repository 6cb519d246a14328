// SPDX-License-Identifier: MIT
/*
 * Whether two sides may be compared at all, and in what their environments differ. Leaves out: what
 * a difference does to the numbers (docs/methodology.md).
 */
#include "compare/parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

/* What makes a machine another one; the kernel and its switches may be what is compared. */
static const char *const identity[] = {
	"cpu",   "model",    "vendor",     "arch",      "hypervisor",   "cpus",
	"nodes", "clock_hz", "page_bytes", "llc_bytes", "memory_bytes",
};
static const char *const identity_prefixes[] = { "cache.", "advertised.dtlb" };

/* Kernels keep more or less memory for themselves. */
static const double MEMORY_TOLERANCE = 1.0 / 16;
/* State that never is twice the same is told only when it moved by more than that. */
static const double STATE_TOLERANCE = 0.25;

static bool is_identity(const char *name)
{
	for (size_t i = 0; i < sizeof(identity) / sizeof(identity[0]); i++) {
		if (strcmp(name, identity[i]) == 0)
			return true;
	}
	for (size_t i = 0; i < sizeof(identity_prefixes) / sizeof(identity_prefixes[0]); i++) {
		if (strncmp(name, identity_prefixes[i], strlen(identity_prefixes[i])) == 0)
			return true;
	}
	return false;
}

static bool same_value(const struct attr *a, const struct attr *b)
{
	struct attr x = *a, y = *b;

	return attrs_equal(&(struct attrs){ .v = &x, .n = 1 }, &(struct attrs){ .v = &y, .n = 1 });
}

static double number(const struct attr *at)
{
	double v;

	if (at->kind == ATTR_INT)
		return (double)at->integer;
	if (at->kind == ATTR_REAL)
		return at->real;
	return at->kind == ATTR_TEXT && parse_real(at->text, &v, NULL) == 0 ? v : NAN;
}

static bool is_within(const struct attr *a, const struct attr *b, double tolerance)
{
	double x = number(a), y = number(b);

	return fabs(x - y) <= tolerance * fmax(fabs(x), fabs(y));
}

/* Only what both know can be unlike. */
static bool is_unlike(const struct attr *a, const struct attr *b)
{
	if (!a || !b || a->kind == ATTR_NULL || b->kind == ATTR_NULL || same_value(a, b))
		return false;
	return strcmp(a->name, "memory_bytes") != 0 || !is_within(a, b, MEMORY_TOLERANCE);
}

static int refuse_machine(const struct run *a, const struct run *b, const struct attr *at,
			  struct err *e)
{
	struct str x = { 0 }, y = { 0 };

	attr_format(&x, at);
	attr_format(&y, attrs_find(&b->fingerprint, at->name));
	err_set(e, EINVAL, "%s and %s are of unlike machines: %s is '%.80s' and '%.80s'",
		a->id ? a->id : "A", b->id ? b->id : "B", at->name, str_text(&x), str_text(&y));
	str_done(&x);
	str_done(&y);
	return -EINVAL;
}

int compare_machines(const struct run *a, const struct run *b, struct err *e)
{
	for (size_t i = 0; i < a->fingerprint.n; i++) {
		const struct attr *at = &a->fingerprint.v[i];

		if (is_identity(at->name) && is_unlike(at, attrs_find(&b->fingerprint, at->name)))
			return refuse_machine(a, b, at, e);
	}
	return 0;
}

static int check_machine(const struct run *a, const struct run *b, struct err *e)
{
	struct err why = { 0 };

	if (compare_machines(a, b, &why) == 0)
		return 0;
	return err_set(e, EINVAL,
		       "%s; differences would be those of the machines. If that is the question: "
		       "--across machine",
		       why.msg);
}

static int check_revisions(const struct run *a, const struct run *b, struct err *e)
{
	for (size_t i = 0; i < a->n_schemas; i++) {
		const struct bench_schema *s = &a->schemas[i];
		const struct bench_schema *t = run_schema(b, s->name);

		if (!t || t->revision == s->revision)
			continue;
		if (a->origin == ORIGIN_PUBLISHED || b->origin == ORIGIN_PUBLISHED)
			return err_set(e, EINVAL,
				       "%s has %s in revision %u and %s in revision %u: their "
				       "numbers do not mean the same. A published table (revision "
				       "0) can be read beside it: show",
				       a->id ? a->id : "A", s->name, s->revision,
				       b->id ? b->id : "B", t->revision);
		if (t->revision != s->revision)
			return err_set(e, EINVAL,
				       "%s has %s in revision %u and %s in revision %u: their "
				       "numbers do not mean the same. Measure both with one "
				       "version of pagetoll",
				       a->id ? a->id : "A", s->name, s->revision,
				       b->id ? b->id : "B", t->revision);
	}
	return 0;
}

static bool has_common_bench(const struct run *a, const struct run *b)
{
	for (size_t i = 0; i < a->n_measures; i++) {
		for (size_t k = 0; run_schema(b, a->measures[i].bench) && k < b->n_measures; k++) {
			if (strcmp(a->measures[i].bench, b->measures[k].bench) == 0)
				return true;
		}
	}
	return false;
}

static int check_bench(const struct run *a, const struct run *b, struct err *e)
{
	if (has_common_bench(a, b))
		return 0;
	return err_set(e, EINVAL,
		       "%s and %s have no benchmark in common (%s against %s): nothing to compare",
		       a->id ? a->id : "A", b->id ? b->id : "B",
		       a->n_measures ? a->measures[0].bench : "no measure",
		       b->n_measures ? b->measures[0].bench : "no measure");
}

int sides_check(const struct run *const *a, size_t n_a, const struct run *const *b, size_t n_b,
		bool across_machines, struct err *e)
{
	int rc = n_a && n_b ? 0 : err_set(e, EINVAL, "each side needs a run");

	/* All against the first: the runs of one side have to be alike as well. */
	for (size_t i = 1; rc == 0 && i < n_a + n_b; i++) {
		const struct run *r = i < n_a ? a[i] : b[i - n_a];

		rc = check_bench(a[0], r, e);
		rc = rc ? rc : check_revisions(a[0], r, e);
		/* Across machines the two sides may differ, not the runs within one. */
		if (rc == 0 && (i < n_a || !across_machines))
			rc = check_machine(a[0], r, e);
		else if (rc == 0 && i > n_a)
			rc = check_machine(b[0], r, e);
	}
	return rc;
}

int environment_add(struct comparison *c, const char *name, const char *a, const char *b,
		    bool is_fingerprint)
{
	struct environment_difference *d;

	if (arena_grow(&c->arena, &c->environment, c->n_environment, &c->cap_environment,
		       sizeof(*c->environment)))
		return -ENOMEM;
	d = &c->environment[c->n_environment++];
	*d = (struct environment_difference){ 0 };
	d->name = arena_strdup(&c->arena, name);
	d->a = arena_strdup(&c->arena, a ? a : "not recorded");
	d->b = arena_strdup(&c->arena, b ? b : "not recorded");
	d->is_fingerprint = is_fingerprint;
	return d->name && d->a && d->b ? 0 : -ENOMEM;
}

typedef const struct attrs *(*attrs_of)(const struct run *r);

static const struct attrs *fingerprint_of(const struct run *r)
{
	return &r->fingerprint;
}

static const struct attrs *context_of(const struct run *r)
{
	return &r->context;
}

/* What a side has for one name: each value once, numbers as a range. */
struct side_values {
	const char *words; /* "x | y"; NULL: not recorded */
	const char **v;
	size_t n;
	double low, high; /* NaN: a value is no number */
};

static bool has_word(const struct side_values *s, const char *word)
{
	for (size_t i = 0; i < s->n; i++) {
		if (strcmp(s->v[i], word) == 0)
			return true;
	}
	return false;
}

static int side_values(struct comparison *c, const struct run *const *r, size_t n, attrs_of of,
		       const char *name, struct side_values *s)
{
	*s = (struct side_values){ .v = arena_alloc(&c->arena, n * sizeof(*s->v)),
				   .low = INFINITY,
				   .high = -INFINITY };
	if (!s->v)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct attr *at = attrs_find(of(r[i]), name);
		const char *one = at ? attr_words(&c->arena, at) : NULL;
		double x = at ? number(at) : NAN;

		if (at && !one)
			return -ENOMEM;
		/* fmin() would forget a NaN. */
		s->low = isnan(x) || isnan(s->low) ? NAN : fmin(s->low, x);
		s->high = isnan(x) || isnan(s->high) ? NAN : fmax(s->high, x);
		if (!one || has_word(s, one))
			continue;
		s->v[s->n++] = one;
		s->words = s->words ? arena_printf(&c->arena, "%s | %s", s->words, one) : one;
		if (!s->words)
			return -ENOMEM;
	}
	return 0;
}

static bool same_words(const struct side_values *a, const struct side_values *b)
{
	for (size_t i = 0; i < a->n; i++) {
		if (!has_word(b, a->v[i]))
			return false;
	}
	return a->n == b->n;
}

/* Differs always, and is there to repeat a run, not to tell two apart. */
static bool is_bookkeeping(const char *name)
{
	return strcmp(name, "seed") == 0 || strncmp(name, "ab.", 3) == 0;
}

/* State whose ranges on both sides meet, or nearly do. */
static bool is_state_noise(const char *name, const struct side_values *a,
			   const struct side_values *b)
{
	double gap = fmax(a->low - b->high, b->low - a->high);
	double large = fmax(fmax(fabs(a->low), fabs(a->high)), fmax(fabs(b->low), fabs(b->high)));

	if (!a->n || !b->n || isnan(a->low) || isnan(b->low))
		return false;
	if (strcmp(name, "load_average") == 0)
		return gap <= 0.5;
	return gap <= STATE_TOLERANCE * large;
}

/* The factor stands in front already. */
static bool is_told(const struct comparison *c, attrs_of of, const char *name)
{
	return of == fingerprint_of && c->n_environment && c->environment[0].is_factor &&
	       c->environment[0].is_fingerprint && strcmp(c->environment[0].name, name) == 0;
}

static int compare_attr(struct comparison *c, const struct run *const *a, size_t n_a,
			const struct run *const *b, size_t n_b, attrs_of of, const char *name)
{
	struct side_values x, y;

	if (is_told(c, of, name))
		return 0;
	if (side_values(c, a, n_a, of, name, &x) || side_values(c, b, n_b, of, name, &y))
		return -ENOMEM;
	if ((!x.n && !y.n) || same_words(&x, &y))
		return 0;
	if (of == context_of && (is_bookkeeping(name) || is_state_noise(name, &x, &y)))
		return 0;
	return environment_add(c, name, x.words, y.words, of == fingerprint_of);
}

static int compare_attrs(struct comparison *c, const struct run *const *a, size_t n_a,
			 const struct run *const *b, size_t n_b, attrs_of of)
{
	const struct attrs *x = of(a[0]);
	const struct attrs *y = of(b[0]);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < x->n; i++)
		rc = compare_attr(c, a, n_a, b, n_b, of, x->v[i].name);
	for (size_t i = 0; rc == 0 && i < y->n; i++) {
		if (!attrs_find(x, y->v[i].name))
			rc = compare_attr(c, a, n_a, b, n_b, of, y->v[i].name);
	}
	return rc;
}

static const struct finding *find_finding(const struct run *const *r, size_t n, const char *id)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < r[i]->n_findings; k++) {
			if (strcmp(r[i]->findings[k].id, id) == 0)
				return &r[i]->findings[k];
		}
	}
	return NULL;
}

/* What disturbed one side only. */
static int compare_findings(struct comparison *c, const struct run *const *a, size_t n_a,
			    const struct run *const *b, size_t n_b)
{
	for (size_t i = 0; i < n_a + n_b; i++) {
		const struct run *r = i < n_a ? a[i] : b[i - n_a];

		for (size_t k = 0; k < r->n_findings; k++) {
			const struct finding *f = &r->findings[k];
			const char *name;

			if (i < n_a ? find_finding(b, n_b, f->id) != NULL
				    : find_finding(a, n_a, f->id) != NULL)
				continue;
			/* Several runs of a side may have found the same. */
			if (f != find_finding(i < n_a ? a : b, i < n_a ? n_a : n_b, f->id))
				continue;
			name = arena_printf(&c->arena, "doctor: %s", f->id);
			if (!name || environment_add(c, name, i < n_a ? f->what : "not found",
						     i < n_a ? "not found" : f->what, false))
				return -ENOMEM;
		}
	}
	return 0;
}

static int compare_text(struct comparison *c, const char *name, const char *a, const char *b)
{
	return a && b && strcmp(a, b) != 0 ? environment_add(c, name, a, b, false) : 0;
}

/*
 * What a boot can be made for: the same machine with another number of levels of page tables. It is
 * the factor of a comparison that has no other, and stands first; all else that differs stays
 * listed beside it.
 */
static const char LEVELS[] = "paging_levels";

static int name_factor(struct comparison *c, const struct run *const *a, size_t n_a,
		       const struct run *const *b, size_t n_b)
{
	for (size_t i = 1; i < n_a + n_b; i++) {
		const struct run *first = i < n_a ? a[0] : b[0];
		const struct run *r = i < n_a ? a[i] : b[i - n_a];

		/* Boots of both kinds on one side say nothing about either. */
		if (is_unlike(attrs_find(&first->fingerprint, LEVELS),
			      attrs_find(&r->fingerprint, LEVELS)))
			return 0;
	}
	if (c->factor || !is_unlike(attrs_find(&a[0]->fingerprint, LEVELS),
				    attrs_find(&b[0]->fingerprint, LEVELS)))
		return 0;
	c->factor = arena_strdup(&c->arena, LEVELS);
	if (!c->factor || compare_attr(c, a, n_a, b, n_b, fingerprint_of, LEVELS))
		return -ENOMEM;
	c->environment[0].is_factor = true;
	return 0;
}

int environment_compare(struct comparison *c, const struct run *const *a, size_t n_a,
			const struct run *const *b, size_t n_b)
{
	int rc = name_factor(c, a, n_a, b, n_b);

	rc = rc ? rc : compare_attrs(c, a, n_a, b, n_b, fingerprint_of);

	rc = rc ? rc : compare_text(c, "pagetoll", a[0]->version, b[0]->version);
	rc = rc ? rc : compare_text(c, "preset", a[0]->preset, b[0]->preset);
	rc = rc ? rc : compare_findings(c, a, n_a, b, n_b);
	return rc ? rc : compare_attrs(c, a, n_a, b, n_b, context_of);
}
