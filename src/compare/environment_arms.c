// SPDX-License-Identifier: MIT
/*
 * In what the environments of two arms differ: first what the experiment changed on purpose, then
 * everything else that its environment lines (docs/run-file.md) show. Leaves out: how two values
 * are found to differ (environment.c).
 */
#include "compare/parts.h"

#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "base/str.h"

enum { WORDS_MAX = 64 };

/* NAME=VALUE of an arm. */
struct word {
	const char *name, *value;
};
struct words {
	struct word v[WORDS_MAX];
	size_t n;
};

/* System settings and the names that they have in a fingerprint. */
static const struct {
	const char *word, *attr;
} settings[] = {
	{ "thp", "thp" },
	{ "thp-defrag", "thp.defrag" },
	{ "numa-balancing", "numa_balancing" },
};

/* --- what was changed on purpose -------------------------------------------------------------- */

static bool is_variable(const char *name)
{
	return name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0';
}

/* One argument of -A: words with blanks between; a variable takes all that follows. */
static void split_argument(struct words *w, char *text)
{
	while (text && w->n < WORDS_MAX) {
		char *value, *end;

		text += strspn(text, " ");
		value = strchr(text, '=');
		if (!value)
			return;
		*value++ = '\0';
		w->v[w->n++] = (struct word){ text, value };
		end = is_variable(text) ? NULL : strchr(value, ' ');
		if (end)
			*end++ = '\0';
		text = end;
	}
}

/* The header has an arm's arguments with blanks between, and escaped ones inside. */
static int read_words(struct arena *a, const struct run *r, const char *key, struct words *w)
{
	char *copy = arena_strdup(a, attrs_text(&r->context, key, ""));
	char *save = NULL;

	w->n = 0;
	if (!copy)
		return -ENOMEM;
	for (char *arg = strtok_r(copy, " ", &save); arg; arg = strtok_r(NULL, " ", &save)) {
		if (unescape_word(arg, NULL) == 0)
			split_argument(w, arg);
	}
	return 0;
}

static const char *find_word(const struct words *w, const char *name)
{
	for (size_t i = 0; i < w->n; i++) {
		if (strcmp(w->v[i].name, name) == 0)
			return w->v[i].value;
	}
	return NULL;
}

static int add_factor(struct comparison *c, const char *name, const char *a, const char *b)
{
	if (a && b && strcmp(a, b) == 0)
		return 0;
	if (environment_add(c, name, a ? a : "not set", b ? b : "not set", false))
		return -ENOMEM;
	c->environment[c->n_environment - 1].is_factor = true;
	return 0;
}

static int add_factors(struct comparison *c, const struct words *a, const struct words *b)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < a->n; i++)
		rc = add_factor(c, a->v[i].name, a->v[i].value, find_word(b, a->v[i].name));
	for (size_t i = 0; rc == 0 && i < b->n; i++) {
		if (!find_word(a, b->v[i].name))
			rc = add_factor(c, b->v[i].name, NULL, b->v[i].value);
	}
	return rc;
}

/* --- what differs ----------------------------------------------------------------------------- */

static bool is_of_arm(const struct environment *v, const char *arm)
{
	return !v->arm || strcmp(v->arm, arm) == 0;
}

/* The environments of an arm in the shape of runs; the header where there is none. */
static const struct run **views_of(struct comparison *c, const struct run *r, const char *arm,
				   size_t *ret_n)
{
	size_t room = r->n_environments + 1, n = 0;
	const struct run **list = arena_alloc(&c->arena, room * sizeof(*list));
	struct run *v = arena_alloc(&c->arena, room * sizeof(*v));

	if (!list || !v)
		return NULL;
	for (size_t i = 0; i < r->n_environments; i++) {
		const struct environment *from = &r->environments[i];

		if (!is_of_arm(from, arm))
			continue;
		v[n] = (struct run){ .fingerprint = from->fingerprint,
				     .context = from->context,
				     .findings = from->findings,
				     .n_findings = from->n_findings };
		list[n] = &v[n];
		n++;
	}
	if (n == 0)
		list[n++] = r;
	*ret_n = n;
	return list;
}

/* Whether a measure was taken in an environment that nobody wrote down. */
static bool is_unrecorded(const struct run *r)
{
	for (size_t i = 0; i < r->n_measures; i++) {
		const struct measure *m = &r->measures[i];

		if (m->arm && m->boot_id && (!r->boot_id || strcmp(m->boot_id, r->boot_id) != 0) &&
		    !run_environment(r, m->arm, m->boot_id))
			return true;
	}
	return false;
}

/* A row that says again what the factor says already. */
static bool is_told(const struct environment_difference *d, const struct words *a,
		    const struct words *b)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		const char *x = find_word(a, settings[i].word);
		const char *y = find_word(b, settings[i].word);

		if (d->is_fingerprint && strcmp(d->name, settings[i].attr) == 0 && x && y)
			return strcmp(d->a, x) == 0 && strcmp(d->b, y) == 0;
	}
	return false;
}

/* Which row is the kernel's own doing: what a kernel is, and how many levels it uses. */
static bool is_of_kernel(const struct environment_difference *d)
{
	return d->is_fingerprint && strstr(d->name, "levels") != NULL;
}

static void mark(struct comparison *c, size_t from, bool boots, const struct words *a,
		 const struct words *b)
{
	size_t n = from;

	for (size_t i = from; i < c->n_environment; i++) {
		struct environment_difference d = c->environment[i];

		if (is_told(&d, a, b) || (boots && (strcmp(d.name, "kernel") == 0 ||
						    strcmp(d.name, "kernel_cmdline") == 0)))
			continue;
		d.is_factor = boots && is_of_kernel(&d);
		c->environment[n++] = d;
	}
	c->n_environment = n;
}

/* Each measure says which kernel ran. NULL: not told. */
const char *arm_kernel(const struct run *r, const char *arm)
{
	for (size_t i = 0; i < r->n_measures; i++) {
		const struct measure *m = &r->measures[i];
		const char *kernel = attrs_text(&m->proof, "kernel", NULL);

		if (m->arm && strcmp(m->arm, arm) == 0 && kernel)
			return kernel;
	}
	return NULL;
}

int environment_compare_arms(struct comparison *c, const struct run *r, const char *arm_a,
			     const char *arm_b)
{
	bool boots = strcmp(attrs_text(&r->context, "ab.mode", ""), "boots") == 0;
	struct words a = { .n = 0 }, b = { .n = 0 };
	const struct run **x, **y;
	size_t n_x = 0, n_y = 0, from;
	int rc = read_words(&c->arena, r, *arm_a == 'B' ? "ab.b" : "ab.a", &a);

	rc = rc ? rc : read_words(&c->arena, r, *arm_b == 'B' ? "ab.b" : "ab.a", &b);
	if (rc == 0)
		rc = boots ? add_factor(c, "kernel", arm_kernel(r, arm_a), arm_kernel(r, arm_b))
			   : add_factors(c, &a, &b);
	if (rc)
		return rc;
	from = c->n_environment;
	x = views_of(c, r, arm_a, &n_x);
	y = views_of(c, r, arm_b, &n_y);
	if (!x || !y || environment_compare(c, x, n_x, y, n_y))
		return -ENOMEM;
	mark(c, from, boots, &a, &b);
	if (is_unrecorded(r))
		c->environment_note = "not recorded for every boot (the file was begun by an older "
				      "version): more may differ";
	return 0;
}
