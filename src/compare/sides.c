// SPDX-License-Identifier: MIT
/*
 * One side of a comparison: measures of one or several runs gathered into one, and what is drawn
 * from it, from all of it and from each unit of replication alone. Leaves out: the other side.
 */
#include "compare/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

const char *attr_words(struct arena *a, const struct attr *at)
{
	struct str text = { 0 };
	const char *copy;

	attr_format(&text, at);
	copy = text.failed ? NULL : arena_strdup(a, str_text(&text));
	str_done(&text);
	return copy;
}

bool attr_is_word(const struct run *r, const struct attr *at, const char *word)
{
	char base[UNITS_TEXT_BYTES];
	uint64_t bytes;

	if (at->kind == ATTR_INT)
		return parse_size(word, &bytes, NULL) == 0 && at->integer >= 0 &&
		       (uint64_t)at->integer == bytes;
	if (at->kind != ATTR_TEXT)
		return false;
	if (strcmp(at->text, word) == 0)
		return true;
	/* "base" is written as the size it is. */
	format_size(base, (uint64_t)attrs_int(&r->fingerprint, "page_bytes", 0));
	return strcmp(at->name, "page") == 0 && strcmp(word, "base") == 0 &&
	       strcmp(at->text, base) == 0;
}

static bool belongs(const struct side_source *from, const struct run *r, const struct measure *m)
{
	const struct attr *at;

	if (!from->parameter)
		return true;
	if (strcmp(from->parameter, "arm") == 0)
		return m->arm && strcmp(m->arm, from->value) == 0;
	at = attrs_find(&m->setting, from->parameter);
	return at && attr_is_word(r, at, from->value);
}

static bool is_dropped(const struct side_source *from, const char *name)
{
	if (from->parameter && strcmp(from->parameter, name) == 0)
		return true;
	for (size_t i = 0; from->dropped && from->dropped[i]; i++) {
		if (strcmp(from->dropped[i], name) == 0)
			return true;
	}
	return false;
}

/* The setting as it is compared: without what is left out, the arm as one of its values. */
static int compared_setting(struct side *s, const struct side_source *from, const struct measure *m,
			    struct attrs *ret)
{
	struct attrs at = { .cap = m->setting.n + 1 };

	at.v = arena_alloc(&s->run->arena, at.cap * sizeof(*at.v));
	if (!at.v)
		return -ENOMEM;
	if (m->arm && !is_dropped(from, "arm"))
		at.v[at.n++] = (struct attr){ .name = "arm", .kind = ATTR_TEXT, .text = m->arm };
	for (size_t i = 0; i < m->setting.n; i++) {
		if (!is_dropped(from, m->setting.v[i].name))
			at.v[at.n++] = m->setting.v[i];
	}
	*ret = at;
	return 0;
}

static unsigned find_boot(struct side *s, const char *boot)
{
	unsigned i = 0;

	/* Boots that are not known cannot be told apart. */
	while (i < s->n_boots &&
	       !(boot == s->boots[i] || (boot && s->boots[i] && strcmp(boot, s->boots[i]) == 0)))
		i++;
	if (i == s->n_boots)
		s->boots[s->n_boots++] = boot;
	return i;
}

static int add_measure(struct side *s, const struct side_source *from, const struct run *r,
		       const struct measure *m, unsigned run, unsigned first)
{
	struct measure *to = run_add_measure(s->run);
	size_t at = s->run->n_measures - 1;

	if (!to || compared_setting(s, from, m, &to->setting))
		return -ENOMEM;
	to->bench = m->bench;
	to->invocation = first + m->invocation;
	to->verdict = m->verdict;
	to->reason = m->reason;
	to->unproven = m->unproven;
	to->proof = m->proof;
	to->series = m->series;
	to->n_series = m->n_series;
	s->run_of[at] = run;
	s->boot_of[at] = find_boot(s, m->boot_id ? m->boot_id : r->boot_id);
	for (size_t i = 0; i < m->n_series; i++) {
		/* Also an exact number of a published table is one value that nobody can repeat. */
		if (r->origin != ORIGIN_PUBLISHED && m->series[i].form != FORM_SUMMARY)
			s->is_published = false;
	}
	return 0;
}

static int add_run(struct side *s, const struct side_source *from, const struct run *r,
		   unsigned run, unsigned *first)
{
	unsigned next = 0;

	for (size_t i = 0; i < r->n_schemas; i++) {
		if (run_add_schema(s->run, &r->schemas[i]))
			return -ENOMEM;
	}
	for (size_t i = 0; i < r->n_measures; i++) {
		const struct measure *m = &r->measures[i];

		if (!belongs(from, r, m))
			continue;
		if (add_measure(s, from, r, m, run, *first))
			return -ENOMEM;
		next = m->invocation + 1 > next ? m->invocation + 1 : next;
	}
	*first += next;
	return 0;
}

int side_init(struct side *s, const struct side_source *from)
{
	size_t n = 0;
	unsigned first = 0;

	*s = (struct side){ .run = run_new(), .n_runs = from->n_runs, .is_published = true };
	for (size_t i = 0; i < from->n_runs; i++)
		n += from->runs[i]->n_measures;
	if (!s->run)
		return -ENOMEM;
	s->run->fingerprint = from->runs[0]->fingerprint;
	s->boot_of = arena_alloc(&s->run->arena, (n + 1) * sizeof(*s->boot_of));
	s->run_of = arena_alloc(&s->run->arena, (n + 1) * sizeof(*s->run_of));
	s->unit_of = arena_alloc(&s->run->arena, (n + 1) * sizeof(*s->unit_of));
	s->boots = arena_alloc(&s->run->arena, (n + 1) * sizeof(*s->boots));
	if (!s->boot_of || !s->run_of || !s->unit_of || !s->boots)
		return -ENOMEM;
	for (size_t i = 0; i < from->n_runs; i++) {
		if (add_run(s, from, from->runs[i], (unsigned)i, &first))
			return -ENOMEM;
	}
	return s->run->n_measures > 0 ? 0 : -ENOENT;
}

void side_done(struct side *s)
{
	run_free(s->run);
	s->run = NULL;
}

bool side_has_boot(const struct side *s, const char *boot)
{
	for (size_t i = 0; boot && i < s->n_boots; i++) {
		if (s->boots[i] && strcmp(boot, s->boots[i]) == 0)
			return true;
	}
	return false;
}

static void set_units(struct side *s, enum unit unit)
{
	s->n_units = 0;
	for (size_t i = 0; i < s->run->n_measures; i++) {
		s->unit_of[i] = unit == UNIT_BOOT  ? s->boot_of[i]
				: unit == UNIT_RUN ? s->run_of[i]
						   : s->run->measures[i].invocation;
		if (s->unit_of[i] + 1 > s->n_units)
			s->n_units = s->unit_of[i] + 1;
	}
}

/* Facts of some measures of the side; they live in the side's arena. */
static int infer_of(struct side *s, struct run *r, struct points *p, struct curves *c,
		    struct facts *ret, struct err *e)
{
	struct arena *a = &s->run->arena;

	if (points_assemble(a, r, p) || curves_assemble(a, r, p, c))
		return err_set(e, ENOMEM, "out of memory");
	return infer_facts(a, r, c, ret, e);
}

/* The facts of one unit, as if nothing else had been measured. */
static int infer_unit(struct side *s, unsigned unit, bool is_invocation, struct measure *scratch,
		      struct err *e)
{
	struct run part = { .fingerprint = s->run->fingerprint,
			    .schemas = s->run->schemas,
			    .n_schemas = s->run->n_schemas,
			    .measures = scratch };
	struct points points;
	struct curves curves;

	for (size_t i = 0; i < s->run->n_measures; i++) {
		if (s->unit_of[i] != unit)
			continue;
		scratch[part.n_measures] = s->run->measures[i];
		/* Replicates are kept by number: one is enough for one. */
		if (is_invocation)
			scratch[part.n_measures].invocation = 0;
		part.n_measures++;
	}
	return infer_of(s, &part, &points, &curves, &s->unit_facts[unit], e);
}

int side_infer(struct side *s, enum unit unit, struct err *e)
{
	struct measure *scratch;
	int rc;

	set_units(s, unit);
	rc = infer_of(s, s->run, &s->points, &s->curves, &s->facts, e);
	if (rc)
		return rc;
	s->unit_facts = arena_alloc(&s->run->arena, s->n_units * sizeof(*s->unit_facts));
	scratch = calloc(s->run->n_measures, sizeof(*scratch));
	if (!s->unit_facts || !scratch)
		rc = err_set(e, ENOMEM, "out of memory");
	for (size_t i = 0; rc == 0 && i < s->n_units; i++)
		rc = infer_unit(s, (unsigned)i, unit == UNIT_INVOCATION, scratch, e);
	free(scratch);
	return rc;
}
