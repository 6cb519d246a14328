// SPDX-License-Identifier: MIT
/*
 * Words to runs: a list, a label of several runs, and the spread that the library knows of a
 * machine. Leaves out what one name means: store/library.h.
 */
#include "cli/run_sides.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/runfile.h"
#include "store/index.h"
#include "store/library.h"

/* Takes over @r. One run twice would count as two boots. */
static int add(struct run_side *s, struct run *r, const char *name, struct err *e)
{
	for (size_t i = 0; i < s->n; i++) {
		if (!r->id || !s->v[i]->id || strcmp(r->id, s->v[i]->id) != 0)
			continue;
		run_free(r);
		return err_set(e, EINVAL,
			       "'%s' names a run that stands on this side already (%s); name each "
			       "run once",
			       name, s->v[i]->id);
	}
	if (s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 4;
		struct run **grown = reallocarray(s->v, cap, sizeof(*grown));

		if (!grown) {
			run_free(r);
			return err_set(e, ENOMEM, "out of memory");
		}
		s->v = grown;
		s->cap = cap;
	}
	s->v[s->n++] = r;
	return 0;
}

/* NULL without a library, or when it cannot be opened: what it knows is extra. */
static struct index *open_index(void)
{
	struct index *x = NULL;
	char *dir = library_dir(NULL);

	/* Opening creates it, and asking must not. */
	if (dir && access(dir, F_OK) == 0 && index_open(dir, &x, NULL, NULL))
		x = NULL;
	free(dir);
	return x;
}

/* All runs with the label @name; how many, or a negative errno. */
static int add_labelled(struct run_side *s, const char *name, struct err *e)
{
	struct index_filter filter = { .label = name };
	struct index_entries found = { 0 };
	struct index *x = open_index();
	struct arena a = { 0 };
	int n = 0;
	int rc = 0;

	if (!x)
		return 0;
	rc = index_list(x, &filter, &a, &found, e);
	for (size_t i = 0; rc == 0 && i < found.n; i++) {
		struct run *r = NULL;

		if (found.v[i].file_is_gone)
			continue;
		rc = runfile_load(found.v[i].path, &r, e);
		if (rc == 0)
			rc = add(s, r, name, e);
		n++;
	}
	index_close(x);
	arena_done(&a);
	return rc ? rc : n;
}

static int add_name(struct run_side *s, const char *name, struct err *e)
{
	struct run *r = NULL;
	struct err first = { 0 };
	int rc = library_load(name, &r, NULL, &first);
	int n;

	if (rc == 0)
		return add(s, r, name, e);
	/* Several runs with that label, or a label that only the index has. */
	if (rc == -EEXIST || rc == -ENOENT) {
		n = add_labelled(s, name, e);
		if (n)
			return n < 0 ? n : 0;
	}
	return err_set(e, first.code, "%s", first.msg);
}

int run_side_load(const char *words, struct run_side *ret, struct err *e)
{
	struct stat st;
	char *copy, *rest, *name;
	int rc = 0;

	*ret = (struct run_side){ .words = words };
	/* A file may have a comma in its name. */
	if (!strchr(words, ',') || stat(words, &st) == 0)
		return add_name(ret, words, e);
	copy = strdup(words);
	if (!copy)
		return err_set(e, ENOMEM, "out of memory");
	rest = copy;
	while (rc == 0 && (name = strsep(&rest, ",")))
		rc = *name ? add_name(ret, name, e)
			   : err_set(e, EINVAL, "'%s': a name of a run is empty", words);
	free(copy);
	return rc;
}

void run_side_done(struct run_side *s)
{
	for (size_t i = 0; i < s->n; i++)
		run_free(s->v[i]);
	free(s->v);
	*s = (struct run_side){ 0 };
}

void run_machine_key(struct str *out, const struct run *r)
{
	static const char *const names[] = { "cpu",  "arch",  "hypervisor",
					     "cpus", "nodes", "memory_bytes" };

	if (!attrs_text(&r->fingerprint, "cpu", NULL))
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct attr *a = attrs_find(&r->fingerprint, names[i]);

		if (!a || a->kind == ATTR_NULL)
			continue;
		str_addf(out, "%s%s=", out->len ? ";" : "", names[i]);
		attr_format(out, a);
	}
}

double run_side_spread(const struct run *r)
{
	struct str key = { 0 };
	struct index *x = NULL;
	double largest = NAN;

	run_machine_key(&key, r);
	if (key.len && !key.failed)
		x = open_index();
	for (size_t i = 0; x && i < r->n_schemas; i++) {
		double spread = NAN;

		if (index_get_spread(x, str_text(&key), r->schemas[i].name, &spread, NULL) == 0)
			largest = fmax(largest, spread); /* fmax ignores a NaN */
	}
	index_close(x);
	str_done(&key);
	return largest;
}
