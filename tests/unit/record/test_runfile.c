/* SPDX-License-Identifier: MIT */
/*
 * Run files on a real file system: what was written is read back exactly, and what cannot be
 * written is told and leaves a valid file.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/rng.h"
#include "record/runfile.h"
#include "sample.h"

struct place {
	char dir[64], path[96];
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	if (!p)
		return -1;
	strcpy(p->dir, "/tmp/pagetoll-test-XXXXXX");
	if (!mkdtemp(p->dir))
		return -1;
	snprintf(p->path, sizeof(p->path), "%s/run.pagetoll.jsonl", p->dir);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	unlink(p->path);
	rmdir(p->dir);
	free(p);
	return 0;
}

static void write_run(const char *path, const struct run *r)
{
	struct runfile *f = NULL;
	struct err e = { 0 };
	size_t i;

	if (runfile_create(path, r, &f, &e))
		fail_msg("%s", e.msg);
	for (i = 0; i < r->n_environments; i++)
		if (runfile_append_environment(f, &r->environments[i], &e))
			fail_msg("%s", e.msg);
	for (i = 0; i < r->n_measures; i++)
		if (runfile_append(f, &r->measures[i], &e))
			fail_msg("%s", e.msg);
	if (r->has_footer && runfile_finish(f, r, &e))
		fail_msg("%s", e.msg);
	runfile_close(f);
}

static struct run *load(const char *path)
{
	struct run *r = NULL;
	struct err e = { 0 };

	if (runfile_load(path, &r, &e))
		fail_msg("%s", e.msg);
	return r;
}

static off_t file_size(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_size;
}

static void test_round_trip(void **state)
{
	const struct place *p = *state;
	struct run *r = sample_run(), *back;

	write_run(p->path, r);
	back = load(p->path);
	assert_same_run(r, back);
	run_free(back);
	run_free(r);
}

static void test_without_footer(void **state)
{
	const struct place *p = *state;
	struct run *r = sample_run(), *back;

	r->has_footer = false;
	r->complete = false;
	r->stop_reason = NULL;
	r->end_unix_ns = 0;
	write_run(p->path, r);
	back = load(p->path);
	assert_same_run(r, back);
	run_free(back);
	run_free(r);
}

static void test_random_numbers(void **state)
{
	enum { MEASURES = 40, VALUES = 50 };
	const struct place *p = *state;
	struct run *r = sample_run(), *back;
	double v[VALUES];
	struct rng rng;
	uint64_t bits;
	size_t i, j;

	rng_seed(&rng, 12);
	for (i = 0; i < MEASURES; i++) {
		struct measure *m;

		for (j = 0; j < VALUES; j++)
			do {
				bits = rng_next(&rng);
				memcpy(&v[j], &bits, sizeof(bits));
			} while (!isfinite(v[j]));
		m = sample_measure(r, (int64_t)(rng_next(&rng) >> 1), "4k", v, VALUES);
		attrs_set_int(&r->arena, &m->proof, "random", (int64_t)rng_next(&rng));
		attrs_set_real(&r->arena, &m->proof, "real", v[0]);
	}
	write_run(p->path, r);
	back = load(p->path);
	assert_same_run(r, back);
	run_free(back);
	run_free(r);
}

/* Text that JSON cannot hold is made valid; values that are not finite become a reason. */
static void test_unfit_values(void **state)
{
	static const double bad[] = { 1.0, NAN, INFINITY };
	const struct place *p = *state;
	struct run *r = sample_run(), *back;
	const struct series *s;
	struct measure *m;

	r->command = "pagetoll run x=\xff\xfe";
	m = sample_measure(r, 1, "4\xffk", bad, 3);
	attrs_set_int(&r->arena, &m->proof, "na\x80me", 1);
	measure_add_series(r, m)->metric = "ref_ns"; /* no values and no reason */
	write_run(p->path, r);
	back = load(p->path);
	assert_int_equal(back->n_bad_lines, 0);
	assert_string_equal(back->command, "pagetoll run x=??");
	m = &back->measures[2];
	assert_string_equal(attrs_text(&m->setting, "page", ""), "4?k");
	assert_non_null(attrs_find(&m->proof, "na?me"));
	s = &m->series[0];
	assert_int_equal(s->n, 0);
	assert_string_equal(s->null_reason, "2 of 3 values are not finite");
	assert_string_equal(m->series[1].null_reason, "no values");
	run_free(back);
	run_free(r);
}

static void test_create_refuses(void **state)
{
	const struct place *p = *state;
	struct run *r = sample_run();
	struct runfile *f = NULL;
	struct err e = { 0 };
	char path[200];

	write_run(p->path, r);
	assert_int_equal(runfile_create(p->path, r, &f, &e), -EEXIST);
	assert_non_null(strstr(e.msg, p->path));
	assert_null(f);
	snprintf(path, sizeof(path), "%s/none/run", p->dir);
	err_clear(&e);
	assert_int_equal(runfile_create(path, r, &f, &e), -ENOENT);
	snprintf(path, sizeof(path), "%s/other", p->dir);
	r->id = NULL;
	assert_int_equal(runfile_create(path, r, &f, NULL), -EINVAL);
	r->id = "x";
	r->schema_version = 2;
	assert_int_equal(runfile_create(path, r, &f, NULL), -EINVAL);
	assert_int_equal(access(path, F_OK), -1);
	runfile_close(NULL);
	run_free(r);
}

/* What the reader would skip is refused by the writer, and leaves no trace in the file. */
static void test_append_refuses(void **state)
{
	const struct place *p = *state;
	struct run *r = sample_run(), *back;
	struct runfile *f = NULL;
	struct series s = {
		.metric = "ref_ns", .form = FORM_SUMMARY, .n = 2, .values = (double[]){ 1, 2 }
	};
	struct measure m = { .bench = "undeclared", .series = &s };
	off_t size;

	assert_int_equal(runfile_create(p->path, r, &f, NULL), 0);
	size = file_size(p->path);
	assert_int_equal(runfile_append(f, &m, NULL), -EINVAL);
	m.bench = NULL;
	assert_int_equal(runfile_append(f, &m, NULL), -EINVAL);
	m.bench = "tlb.chase";
	m.verdict = (enum verdict)77;
	assert_int_equal(runfile_append(f, &m, NULL), -EINVAL);
	m.verdict = VERDICT_OK;
	m.n_series = 1;
	assert_int_equal(runfile_append(f, &m, NULL), -EINVAL); /* two values in a summary */
	s.n = 1;
	s.metric = "undeclared_ns";
	assert_int_equal(runfile_append(f, &m, NULL), -EINVAL);
	s.metric = NULL;
	assert_int_equal(runfile_append(f, &m, NULL), -EINVAL);
	assert_int_equal(file_size(p->path), size);
	s.metric = "ref_ns";
	assert_int_equal(runfile_append(f, &m, NULL), 0);
	runfile_close(f);
	back = load(p->path);
	assert_int_equal(back->n_measures, 1);
	assert_int_equal(back->n_bad_lines, 0);
	run_free(back);
	run_free(r);
}

/* A full disk, by a limit on the size of files: the kernel takes a part of the line first. */
static void test_full(void **state)
{
	const struct place *p = *state;
	struct run *r = sample_run(), *back;
	struct runfile *f = NULL;
	struct rlimit old, limit;
	struct err e = { 0 };
	off_t size;
	int rc;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	r->n_environments = 0;
	assert_int_equal(runfile_create(p->path, r, &f, NULL), 0);
	assert_int_equal(runfile_append(f, &r->measures[0], NULL), 0);
	size = file_size(p->path);
	limit = old;
	limit.rlim_cur = (rlim_t)size + 20;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	rc = runfile_append(f, &r->measures[1], &e);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(rc, -EFBIG);
	assert_non_null(strstr(e.msg, p->path));
	assert_int_equal(file_size(p->path), size); /* no torn line */
	/* Later lines are whole. */
	assert_int_equal(runfile_append(f, &r->measures[1], NULL), 0);
	assert_int_equal(runfile_finish(f, r, NULL), 0);
	runfile_close(f);
	back = load(p->path);
	assert_same_run(r, back);
	run_free(back);
	unlink(p->path);

	/* No header, no file. */
	limit.rlim_cur = 10;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	err_clear(&e);
	rc = runfile_create(p->path, r, &f, &e);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(rc, -EFBIG);
	assert_int_equal(access(p->path, F_OK), -1);
	signal(SIGXFSZ, SIG_DFL);
	run_free(r);
}

/* Every line is in the file when its call returns, and is one line. */
static void test_line_by_line(void **state)
{
	const struct place *p = *state;
	struct run *r = sample_run(), *back;
	struct runfile *f = NULL;

	assert_int_equal(runfile_create(p->path, r, &f, NULL), 0);
	back = load(p->path);
	assert_same_header(r, back);
	assert_int_equal(back->n_measures, 0);
	run_free(back);
	assert_int_equal(runfile_append(f, &r->measures[0], NULL), 0);
	back = load(p->path);
	assert_int_equal(back->n_measures, 1);
	assert_same_measure(&r->measures[0], &back->measures[0]);
	assert_false(back->has_footer);
	run_free(back);
	runfile_close(f);
	run_free(r);
}

static void test_load_errors(void **state)
{
	const struct place *p = *state;
	struct run *r = NULL;
	struct err e = { 0 };
	int fd;

	assert_int_equal(runfile_load(p->path, &r, &e), -ENOENT);
	assert_non_null(strstr(e.msg, p->path));
	err_clear(&e);
	assert_int_equal(runfile_load(p->dir, &r, &e), -EISDIR);
	fd = open(p->path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	err_clear(&e);
	assert_int_equal(runfile_load(p->path, &r, &e), -EBADMSG); /* empty */
	assert_non_null(strstr(e.msg, p->path));
	assert_int_equal(write(fd, "{}\n", 3), 3);
	assert_int_equal(runfile_load(p->path, &r, NULL), -EBADMSG);
	close(fd);
	assert_null(r);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_round_trip),   TEST(test_without_footer), TEST(test_random_numbers),
		TEST(test_unfit_values), TEST(test_create_refuses), TEST(test_append_refuses),
		TEST(test_full),         TEST(test_line_by_line),   TEST(test_load_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
