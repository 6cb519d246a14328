// SPDX-License-Identifier: MIT
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "place_dir.h"
#include "record/runfile.h"
#include "store/library.h"

int place_setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	const char *tmp = getenv("TMPDIR");

	assert_non_null(p);
	snprintf(p->dir, sizeof(p->dir), "%.40s/pagetoll-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(p->dir)) { /* a TMPDIR that is too long for us */
		snprintf(p->dir, sizeof(p->dir), "/tmp/pagetoll-XXXXXX");
		assert_non_null(mkdtemp(p->dir));
	}
	snprintf(p->runs, sizeof(p->runs), "%s/runs", p->dir);
	assert_int_equal(mkdir(p->runs, 0700), 0);
	setenv("PAGETOLL_DATA", p->dir, 1);
	*state = p;
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int place_teardown(void **state)
{
	struct place *p = *state;
	int rc;

	(void)chmod(p->runs, 0700);
	rc = nftw(p->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	free(p);
	return rc;
}

static const struct metric metrics[] = {
	{ "ref_ns", "", "ns", BETTER_LOWER, EST_MIN, FORM_SUMMARY }, { 0 }
};
static const struct param params[] = { { .name = "pointers", .summary = "", .def = "" }, { 0 } };
static const struct bench_schema schema = { "tlb.chase", "", 1, params, metrics };

static void add_measure(struct run *r, int i)
{
	struct measure *m = run_add_measure(r);
	struct series *s = measure_add_series(r, m);

	m->bench = "tlb.chase";
	assert_int_equal(attrs_set_int(&r->arena, &m->setting, "pointers", i), 0);
	s->metric = "ref_ns";
	s->form = FORM_SUMMARY;
	s->values = arena_alloc(&r->arena, sizeof(*s->values));
	s->values[0] = i;
	s->n = 1;
}

void place_write(const char *id, const char *label, int n_measures, int complete)
{
	struct run *r = run_new();
	struct runfile *f = NULL;
	char *path = NULL;
	struct err e = { 0 };

	assert_non_null(r);
	r->id = id;
	r->label = label;
	r->source = "measured here";
	r->command = "pagetoll run";
	r->schema_version = RUN_SCHEMA_VERSION;
	r->start_unix_ns = 1700000000000000000;
	attrs_set_text(&r->arena, &r->fingerprint, "cpu", "Invented CPU 3000");
	attrs_set_int(&r->arena, &r->fingerprint, "cpus", 2);
	attrs_set_text(&r->arena, &r->fingerprint, "kernel", "6.1.0-test");
	assert_int_equal(run_add_schema(r, &schema), 0);
	assert_int_equal(library_new_path(id, &path, &e), 0);
	remove(path);
	if (runfile_create(path, r, &f, &e))
		fail_msg("%s", e.msg);
	for (int i = 0; i < n_measures; i++) {
		add_measure(r, i);
		assert_int_equal(runfile_append(f, &r->measures[i], &e), 0);
	}
	r->complete = r->has_footer = complete;
	if (complete)
		assert_int_equal(runfile_finish(f, r, &e), 0);
	runfile_close(f);
	run_free(r);
	free(path);
}

const char *place_path(const struct place *p, char *buf, const char *name)
{
	snprintf(buf, 200, "%s/%s", p->runs, name);
	return buf;
}
