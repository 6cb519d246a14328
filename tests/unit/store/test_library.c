// SPDX-License-Identifier: MIT
/* The library of runs: where it lies and which run a name means. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/runfile.h"
#include "store/library.h"
#include "store/notes.h"

struct place {
	char dir[64];
};

static const char *const ids[] = { "01hzz0000000000000000000aa", "01hzz0000000000000000000ab",
				   "01j000000000000000000000cc" };
static const char *const labels[] = { "before", NULL, "twice" };

static void write_run(const char *id, const char *label)
{
	struct run *r = run_new();
	struct runfile *f = NULL;
	char *path = NULL;
	struct err e = { 0 };

	assert_non_null(r);
	r->id = id;
	r->label = label;
	r->source = "measured here";
	r->version = "0";
	r->command = "pagetoll run";
	r->schema_version = RUN_SCHEMA_VERSION;
	assert_int_equal(library_new_path(id, &path, &e), 0);
	if (runfile_create(path, r, &f, &e))
		fail_msg("%s", e.msg);
	runfile_close(f);
	run_free(r);
	free(path);
}

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	const char *tmp = getenv("TMPDIR");

	assert_non_null(p);
	snprintf(p->dir, sizeof(p->dir), "%.40s/pagetoll-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(p->dir)) { /* a TMPDIR that is too long for us */
		snprintf(p->dir, sizeof(p->dir), "/tmp/pagetoll-XXXXXX");
		assert_non_null(mkdtemp(p->dir));
	}
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

static int teardown(void **state)
{
	struct place *p = *state;
	int rc = nftw(p->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);

	free(p);
	return rc;
}

static int setup_runs(void **state)
{
	int rc = setup(state);

	for (size_t i = 0; i < 3; i++)
		write_run(ids[i], labels[i]);
	return rc;
}

static void assert_dir(const char *expected)
{
	struct err e = { 0 };
	char *dir = library_dir(&e);

	if (!dir)
		fail_msg("%s", e.msg);
	assert_string_equal(dir, expected);
	free(dir);
}

static void test_dir(void **state)
{
	struct err e = { 0 };

	(void)state;
	setenv("PAGETOLL_DATA", "/a", 1);
	setenv("XDG_DATA_HOME", "/x", 1);
	setenv("HOME", "/h", 1);
	assert_dir("/a/runs");
	setenv("PAGETOLL_DATA", "", 1);
	assert_dir("/x/pagetoll/runs");
	setenv("XDG_DATA_HOME", "relative", 1);
	assert_dir("/h/.local/share/pagetoll/runs");
	unsetenv("XDG_DATA_HOME");
	unsetenv("PAGETOLL_DATA");
	assert_dir("/h/.local/share/pagetoll/runs");
	unsetenv("HOME");
	assert_null(library_dir(&e));
	assert_int_equal(e.code, ENOENT);
	assert_non_null(strstr(e.msg, "PAGETOLL_DATA"));
}

static void test_new_path(void **state)
{
	const struct place *p = *state;
	char deep[96], expected[160];
	char *path = NULL;
	struct err e = { 0 };
	struct stat st;

	snprintf(deep, sizeof(deep), "%s/a/b", p->dir);
	setenv("PAGETOLL_DATA", deep, 1);
	assert_int_equal(library_new_path(ids[0], &path, &e), 0);
	snprintf(expected, sizeof(expected), "%s/runs/%s.pagetoll.jsonl", deep, ids[0]);
	assert_string_equal(path, expected);
	free(path);
	snprintf(expected, sizeof(expected), "%s/runs", deep);
	assert_int_equal(stat(expected, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
}

static void test_new_path_blocked(void **state)
{
	const struct place *p = *state;
	char file[96];
	char *path = (char *)-1;
	struct err e = { 0 };
	FILE *f;

	snprintf(file, sizeof(file), "%s/file", p->dir);
	f = fopen(file, "w");
	assert_non_null(f);
	fclose(f);
	setenv("PAGETOLL_DATA", file, 1);
	assert_true(library_new_path(ids[0], &path, &e) < 0);
	assert_ptr_equal(path, (char *)-1);
	assert_non_null(strstr(e.msg, file));
}

static void assert_found(const char *name, const char *id)
{
	struct run *r = NULL;
	char *path = NULL;
	struct err e = { 0 };

	if (library_load(name, &r, &path, &e))
		fail_msg("%s: %s", name, e.msg);
	assert_string_equal(r->id, id);
	assert_non_null(path);
	assert_non_null(strstr(path, id));
	run_free(r);
	free(path);
}

static void assert_refused(const char *name, int code, const char *words)
{
	struct run *r = (struct run *)-1;
	char *path = (char *)-1;
	struct err e = { 0 };

	assert_int_equal(library_load(name, &r, &path, &e), -code);
	assert_ptr_equal(r, (struct run *)-1);
	assert_ptr_equal(path, (char *)-1);
	if (!strstr(e.msg, words))
		fail_msg("'%s' does not say '%s'", e.msg, words);
}

static void test_names(void **state)
{
	const struct place *p = *state;
	char path[160];

	assert_found("last", ids[2]);
	assert_found("last~0", ids[2]);
	assert_found("last~1", ids[1]);
	assert_found("last~2", ids[0]);
	assert_found(ids[0], ids[0]);
	assert_found("01J0", ids[2]);
	assert_found("01hzz0000000000000000000aB", ids[1]);
	assert_found("before", ids[0]);
	assert_found("twice", ids[2]);
	snprintf(path, sizeof(path), "%s/runs/%s.pagetoll.jsonl", p->dir, ids[1]);
	assert_found(path, ids[1]);
}

static void test_names_refused(void **state)
{
	const struct place *p = *state;
	char path[160];

	assert_refused("", EINVAL, "empty");
	assert_refused("last~3", ENOENT, "3 runs");
	assert_refused("last~", ENOENT, "last~");
	assert_refused("last~99999999999999999999", ERANGE, "99999999999999999999");
	assert_refused("01hzz", EEXIST, ids[1]);
	assert_refused("0", EEXIST, "3 runs");
	assert_refused("01hzz0000000000000000000aa0", ENOENT, "no run");
	assert_refused("befroe", ENOENT, "did you mean 'before'");
	assert_refused("nothing-like-it", ENOENT, "'last'");
	assert_refused("altix-2006", ENOENT, "did you mean 'altix-2005'");
	assert_refused("no/such.jsonl", ENOENT, "no/such.jsonl");
	write_run("01j000000000000000000000dd", "twice");
	assert_refused("twice", EEXIST, "01j000000000000000000000dd");
	/* A broken file is told of when it is meant, and is in nobody's way otherwise. */
	snprintf(path, sizeof(path), "%s/runs/01j000000000000000000000ee.pagetoll.jsonl", p->dir);
	assert_int_equal(close(creat(path, 0600)), 0);
	assert_refused("last", EBADMSG, "01j000000000000000000000ee");
	assert_found("before", ids[0]);
	assert_found("last~1", "01j000000000000000000000dd");
}

static void test_other_files_are_no_runs(void **state)
{
	const struct place *p = *state;
	static const char *const names[] = { "zz.pagetoll.jsonl", "zzzzzzzzzzzzzzzzzzzzzzzzzz",
					     "zzzzzzzzzzzzzzzzzzzzzzzzzz.pagetoll.jsonl.part",
					     "zzzzzzzzzzzzzzzzzzzzzzzz-z.pagetoll.jsonl" };
	char path[160];

	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/runs/%s", p->dir, names[i]);
		assert_int_equal(close(creat(path, 0600)), 0);
	}
	assert_found("last", ids[2]);
}

/* A measured run with an id of its own, begun at a time. */
static void write_dated(const char *id, enum origin origin, int64_t start)
{
	struct run *r = run_new();
	struct runfile *f = NULL;
	char *path = NULL;

	assert_non_null(r);
	r->schema_version = RUN_SCHEMA_VERSION;
	r->id = id;
	r->source = "s";
	r->origin = origin;
	r->start_unix_ns = start;
	assert_int_equal(library_new_path(id, &path, NULL), 0);
	assert_int_equal(runfile_create(path, r, &f, NULL), 0);
	runfile_close(f);
	free(path);
	run_free(r);
}

/* Ids made by hand have their place in time; published tables have none. */
static void test_last_counts_every_run(void **state)
{
	(void)state;
	write_dated("by-hand", ORIGIN_MEASURED, 5000);
	write_dated("guess", ORIGIN_PREDICTED, 7000);
	write_dated("01j00000000000000000000000", ORIGIN_MEASURED, 6000);
	write_dated("a-table", ORIGIN_PUBLISHED, 9000);
	write_dated("no-time", ORIGIN_MEASURED, 0);
	assert_found("last", "guess");
	assert_found("last~1", "01j00000000000000000000000");
	assert_found("last~2", "by-hand");
	assert_found("last~3", "no-time");
	assert_refused("last~4", ENOENT, "4 runs");
}

static void note(const struct place *p, const char *run, bool on)
{
	char dir[160];

	snprintf(dir, sizeof(dir), "%s/runs", p->dir);
	assert_int_equal(
		notes_append(dir, &(struct note){ .kind = NOTE_BASELINE, .subject = run, .on = on },
			     NULL),
		0);
}

static void test_baseline_is_a_name(void **state)
{
	const struct place *p = *state;

	assert_refused("baseline", ENOENT, "history --baseline");
	note(p, ids[2], true);
	note(p, ids[0], true);
	note(p, "01hzz0000000000000000000zz", true); /* gone */
	assert_found("baseline", ids[0]);
	note(p, ids[0], false);
	assert_found("baseline", ids[2]);
	note(p, ids[2], false);
	assert_refused("baseline", ENOENT, "history --baseline");
	/* from before the word was one */
	write_run("01j000000000000000000000zz", "baseline");
	assert_found("baseline", "01j000000000000000000000zz");
	note(p, ids[1], true);
	assert_found("baseline", ids[1]);
}

static void test_labels_that_name_nothing(void **state)
{
	static const char *const refused[] = { "",         "last", "last~2",    "last~x",
					       "baseline", "a/b",  "a.jsonl",   "altix-2005",
					       "a,b",      ",",    " a",        "a ",
					       " ",        "a\tb", "two\nlines" };
	static const char *const taken[] = { "a",     "lastly",     "last one", "the baseline",
					     "a = b", "altix-2006", "~",        "\xc3\xbc" };
	char longest[LIBRARY_LABEL_BYTES + 2];
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		err_clear(&e);
		if (library_check_label(refused[i], &e) != -EINVAL || !e.msg[0])
			fail_msg("'%s' is taken", refused[i]);
	}
	err_clear(&e);
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		if (library_check_label(taken[i], &e))
			fail_msg("%s", e.msg);
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(library_check_label(longest, &e), -EINVAL);
	assert_int_equal(library_check_label(longest + 1, &e), 0);
}

static void test_empty_library(void **state)
{
	(void)state;
	assert_refused("last", ENOENT, "pagetoll run");
	assert_refused("last~1", ENOENT, "the library is empty");
	assert_refused("01", ENOENT, "the library is empty");
	assert_refused("baseline", ENOENT, "history --baseline");
}

static void test_published(void **state)
{
	size_t n = 0;

	(void)state;
	for (const struct published *p = published_runs; p->name; p++) {
		struct run *r = NULL;
		char *path = (char *)-1;
		struct err e = { 0 };

		if (library_load(p->name, &r, &path, &e))
			fail_msg("%s: %s", p->name, e.msg);
		assert_null(path);
		assert_string_equal(r->id, p->name);
		assert_int_equal(r->origin, ORIGIN_PUBLISHED);
		assert_non_null(r->source);
		assert_true(r->n_measures > 0);
		assert_int_equal(r->n_bad_lines, 0);
		assert_true(r->complete);
		run_free(r);
		n++;
	}
	assert_true(n >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dir),
		cmocka_unit_test_setup_teardown(test_new_path, setup, teardown),
		cmocka_unit_test_setup_teardown(test_new_path_blocked, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names, setup_runs, teardown),
		cmocka_unit_test_setup_teardown(test_names_refused, setup_runs, teardown),
		cmocka_unit_test_setup_teardown(test_other_files_are_no_runs, setup_runs, teardown),
		cmocka_unit_test_setup_teardown(test_empty_library, setup, teardown),
		cmocka_unit_test_setup_teardown(test_last_counts_every_run, setup, teardown),
		cmocka_unit_test_setup_teardown(test_baseline_is_a_name, setup_runs, teardown),
		cmocka_unit_test(test_labels_that_name_nothing),
		cmocka_unit_test_setup_teardown(test_published, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
