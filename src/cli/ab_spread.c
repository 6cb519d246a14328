// SPDX-License-Identifier: MIT
/*
 * Collects the experiments that tell how far values of this machine lie apart between runs, and
 * keeps the answer in the library. The formula is compare/'s.
 */
#include "cli/ab_spread.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run_sides.h"
#include "compare/compare_arms.h"
#include "record/runfile.h"
#include "store/index.h"
#include "store/library.h"

enum { RUNS_MAX = 50 };

struct family {
	struct run *owned[RUNS_MAX];
	const struct run *v[RUNS_MAX + 1]; /* the run itself comes last */
	size_t n;
	struct str machine;
};

static bool is_alike(struct family *f, const struct run *r, const struct run *other)
{
	struct str key = { 0 };
	bool same;

	if (!other->complete || strcmp(attrs_text(&other->context, "ab.mode", ""), "aa") != 0 ||
	    strcmp(attrs_text(&other->context, "ab.words", ""),
		   attrs_text(&r->context, "ab.words", "")) != 0 ||
	    (r->id && other->id && strcmp(r->id, other->id) == 0))
		return false;
	run_machine_key(&key, other);
	same = strcmp(str_text(&key), str_text(&f->machine)) == 0;
	str_done(&key);
	return same;
}

static void gather(struct family *f, struct index *x, const struct run *r)
{
	struct index_filter filter = { .limit = 0 };
	struct index_entries found = { 0 };
	struct arena a = { 0 };

	if (index_list(x, &filter, &a, &found, NULL))
		found.n = 0;
	for (size_t i = 0; i < found.n && f->n < RUNS_MAX; i++) {
		struct run *other = NULL;

		/* By its command first: loading every run of a library would take long. */
		if (found.v[i].file_is_gone || !found.v[i].command ||
		    !strstr(found.v[i].command, "--aa") ||
		    runfile_load(found.v[i].path, &other, NULL))
			continue;
		if (!is_alike(f, r, other)) {
			run_free(other);
			continue;
		}
		f->owned[f->n] = other;
		f->v[f->n++] = other;
	}
	arena_done(&a);
}

static int add_spread(struct machine_spread *s, const struct family *f, const char *bench)
{
	struct bench_spread v = { .bench = arena_strdup(&s->arena, bench) };

	v.spread = compare_arms_spread(f->v, f->n, bench, &v.from_blocks);
	if (!isfinite(v.spread))
		return 0;
	if (!v.bench || arena_grow(&s->arena, &s->v, s->n, &s->cap, sizeof(*s->v)))
		return -ENOMEM;
	s->v[s->n++] = v;
	return 0;
}

static void store_all(const struct common *c, struct index *x, const struct family *f,
		      struct machine_spread *s)
{
	struct err e = { 0 };

	s->is_stored = s->n > 0;
	for (size_t i = 0; i < s->n && s->is_stored; i++) {
		if (index_set_spread(x, str_text(&f->machine), s->v[i].bench, s->v[i].spread,
				     s->n_runs, &e)) {
			cli_warn(c, "the spread is not stored: %s", e.msg);
			s->is_stored = false;
		}
	}
}

void machine_spread_update(const struct common *c, const struct run *r, bool store,
			   struct machine_spread *ret)
{
	struct family f = { 0 };
	struct index *x = NULL;
	struct err e = { 0 };
	char *dir = store ? library_dir(&e) : NULL;

	run_machine_key(&f.machine, r);
	if (dir && index_open(dir, &x, NULL, &e)) {
		cli_warn(c, "the spread is not stored: %s", e.msg);
		x = NULL;
	}
	if (x && f.machine.len)
		gather(&f, x, r);
	f.v[f.n++] = r;
	ret->n_runs = ret->n_alike = f.n;
	for (size_t i = 0; i < r->n_schemas; i++)
		if (add_spread(ret, &f, r->schemas[i].name))
			break;
	if (ret->n && ret->v[0].from_blocks)
		ret->n_runs = 1;
	/* An experiment that was cut short is none. */
	if (x && f.machine.len && r->complete)
		store_all(c, x, &f, ret);
	for (size_t i = 0; i + 1 < f.n; i++)
		run_free(f.owned[i]);
	index_close(x);
	str_done(&f.machine);
	free(dir);
}

void machine_spread_done(struct machine_spread *s)
{
	arena_done(&s->arena);
	*s = (struct machine_spread){ 0 };
}
