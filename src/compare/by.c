// SPDX-License-Identifier: MIT
/*
 * One run against itself: measures with one value of a parameter against those with another. Leaves
 * out: everything that happens to the two sides afterwards (compare.c).
 */
#include "compare/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { DROPPED_MAX = 32, NAMED_MAX = 8 };
enum { LOOKED_AT_MAX = 256 }; /* different parameters of one run */

/* The value of @name in a measure; the arm counts as a parameter. */
static bool value_of(const struct measure *m, const char *name, struct attr *ret)
{
	const struct attr *at;

	if (strcmp(name, "arm") == 0) {
		*ret = (struct attr){ .name = "arm", .kind = ATTR_TEXT, .text = m->arm };
		return m->arm != NULL;
	}
	at = attrs_find(&m->setting, name);
	if (at)
		*ret = *at;
	return at != NULL;
}

static bool has_value(const struct run *r, const char *parameter, const char *value)
{
	struct attr at;

	for (size_t i = 0; i < r->n_measures; i++) {
		if (value_of(&r->measures[i], parameter, &at) && attr_is_word(r, &at, value))
			return true;
	}
	return false;
}

/* Adds a word to a list "a, b, c" unless it is there. */
static void list_word(struct arena *a, const char **words, size_t *n, const char *word)
{
	for (size_t i = 0; i < *n; i++) {
		if (word && strcmp(words[i], word) == 0)
			return;
	}
	if (word && *n < NAMED_MAX)
		words[(*n)++] = arena_strdup(a, word);
}

static int refuse(struct err *e, const char *what, const char *wrong, const char *which,
		  const char *const *words, size_t n)
{
	struct str list = { 0 };

	for (size_t i = 0; i < n; i++)
		str_addf(&list, "%s%s", i ? ", " : "", words[i] ? words[i] : "");
	err_set(e, EINVAL, "this run has no %s '%s'; %s: %s", what, wrong, which,
		n ? str_text(&list) : "none");
	str_done(&list);
	return -EINVAL;
}

static int refuse_parameter(const struct run *r, const char *parameter, struct err *e)
{
	const char *words[NAMED_MAX];
	struct arena a = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < r->n_measures; i++) {
		if (r->measures[i].arm)
			list_word(&a, words, &n, "arm");
		for (size_t k = 0; k < r->measures[i].setting.n; k++)
			list_word(&a, words, &n, r->measures[i].setting.v[k].name);
	}
	refuse(e, "parameter", parameter, "it has", words, n);
	arena_done(&a);
	return -EINVAL;
}

static int refuse_value(const struct run *r, const char *parameter, const char *value,
			struct err *e)
{
	const char *words[NAMED_MAX];
	struct arena a = { 0 };
	struct attr at;
	size_t n = 0;

	for (size_t i = 0; i < r->n_measures; i++) {
		if (value_of(&r->measures[i], parameter, &at))
			list_word(&a, words, &n, attr_words(&a, &at));
	}
	if (n == 0) {
		arena_done(&a);
		return refuse_parameter(r, parameter, e);
	}
	refuse(e, "value", value, "it was measured with", words, n);
	err_prefix(e, "%s: ", parameter);
	arena_done(&a);
	return -EINVAL;
}

/* The only value that an arm has for a parameter; false: none, or several. */
static bool only_value(const struct run *r, const char *arm, const char *name, struct attr *ret)
{
	bool found = false;
	struct attr at;

	for (size_t i = 0; i < r->n_measures; i++) {
		const struct measure *m = &r->measures[i];
		struct attrs x = { .v = &at, .n = 1 }, y = { .v = ret, .n = 1 };

		if (!m->arm || strcmp(m->arm, arm) != 0 || !value_of(m, name, &at))
			continue;
		if (found && !attrs_equal(&x, &y))
			return false;
		*ret = at;
		found = true;
	}
	return found;
}

static bool is_listed(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/*
 * In an experiment the arms may differ in parameters on purpose: those in which each has one value
 * of its own are what is compared, and points match without them.
 */
static void find_dropped(const struct run *r, const char *a, const char *b,
			 const char *ret[DROPPED_MAX])
{
	const char *looked_at[LOOKED_AT_MAX];
	size_t n = 0, n_looked_at = 0;

	for (size_t i = 0; i < r->n_measures; i++) {
		const struct attrs *at = &r->measures[i].setting;

		for (size_t k = 0; k < at->n && n + 1 < DROPPED_MAX; k++) {
			struct attr x, y;

			if (n_looked_at == LOOKED_AT_MAX ||
			    is_listed(looked_at, n_looked_at, at->v[k].name))
				continue;
			looked_at[n_looked_at++] = at->v[k].name;
			if (!only_value(r, a, at->v[k].name, &x) ||
			    !only_value(r, b, at->v[k].name, &y))
				continue;
			if (!attrs_equal(&(struct attrs){ .v = &x, .n = 1 },
					 &(struct attrs){ .v = &y, .n = 1 }))
				ret[n++] = at->v[k].name;
		}
	}
	ret[n] = NULL;
}

int compare_by(const struct run *r, const char *parameter, const char *value_a, const char *value_b,
	       const struct compare_options *o, struct comparison *ret, struct err *e)
{
	const char *dropped[DROPPED_MAX] = { NULL };
	struct side_source a = { .runs = &r, .n_runs = 1, .parameter = parameter };
	struct side_source b = a;
	struct comparison c;
	int rc = 0;

	if (strcmp(value_a, value_b) == 0)
		return err_set(e, EINVAL, "%s: both values are '%s'; two different ones are needed",
			       parameter, value_a);
	if (!has_value(r, parameter, value_a))
		return refuse_value(r, parameter, value_a, e);
	if (!has_value(r, parameter, value_b))
		return refuse_value(r, parameter, value_b, e);
	if (strcmp(parameter, "arm") == 0)
		find_dropped(r, value_a, value_b, dropped);
	a.value = value_a;
	b.value = value_b;
	a.dropped = b.dropped = dropped;
	comparison_begin(&c, o);
	c.factor = arena_strdup(&c.arena, parameter);
	c.name_a = arena_printf(&c.arena, "%s=%s", parameter, value_a);
	c.name_b = arena_printf(&c.arena, "%s=%s", parameter, value_b);
	if (!c.factor || !c.name_a || !c.name_b ||
	    (strcmp(parameter, "arm") == 0 && environment_compare_arms(&c, r, value_a, value_b)))
		rc = err_set(e, ENOMEM, "out of memory");
	rc = rc ? rc : compare_sides(&c, &a, &b, e);
	if (rc) {
		comparison_done(&c);
		return rc;
	}
	*ret = c;
	return 0;
}
