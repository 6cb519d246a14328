/* SPDX-License-Identifier: MIT */
/*
 * Run files that are continued: the footer and a torn line go, whole measures stay, and there is
 * one writer at a time.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/runfile.h"
#include "sample.h"

static const double one[] = { 1.0 };
static char dir[64], path[96];

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/pagetoll-test-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/run", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	rmdir(dir);
	return 0;
}

static void begin(struct run **ret_run, struct runfile **ret_file, size_t measures)
{
	struct run *r = sample_run();
	struct err e = { 0 };

	r->n_measures = 0;
	r->has_footer = false;
	assert_int_equal(runfile_create(path, r, ret_file, &e), 0);
	for (size_t i = 0; i < measures; i++)
		assert_int_equal(runfile_append(*ret_file,
						sample_measure(r, (int64_t)i + 1, "4k", one, 1),
						&e),
				 0);
	*ret_run = r;
}

static void append_text(const char *text)
{
	FILE *f = fopen(path, "ae");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void test_footer_goes(void **state)
{
	struct runfile *f = NULL;
	struct run *r = NULL, *back = NULL;
	struct err e = { 0 };

	(void)state;
	begin(&r, &f, 3);
	r->has_footer = true;
	r->complete = false;
	r->stop_reason = "interrupted";
	assert_int_equal(runfile_finish(f, r, &e), 0);
	runfile_close(f);
	run_free(r);

	assert_int_equal(runfile_resume(path, &r, &f, &e), 0);
	assert_int_equal(r->n_measures, 3);
	assert_false(r->has_footer);
	assert_null(r->stop_reason);
	assert_int_equal(runfile_append(f, sample_measure(r, 4, "4k", one, 1), &e), 0);
	r->complete = true;
	r->stop_reason = "all blocks done";
	assert_int_equal(runfile_finish(f, r, &e), 0);
	runfile_close(f);

	assert_int_equal(runfile_load(path, &back, &e), 0);
	assert_int_equal(back->n_measures, 4);
	assert_int_equal(back->n_bad_lines, 0);
	assert_true(back->complete);
	assert_string_equal(back->stop_reason, "all blocks done");
	run_free(back);
	run_free(r);
}

static void test_torn_line_goes(void **state)
{
	static const char *const torn[] = {
		"{\"type\":\"measure\",\"bench\":\"tlb.cha",
		"{",
		/* whole, but for its newline: written in part all the same */
		"{\"type\":\"measure\",\"bench\":\"other\",\"invocation\":0,\"verdict\":\"ok\"}",
		"{\"type\":\"footer\",\"complete\":true}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(torn) / sizeof(torn[0]); i++) {
		struct runfile *f = NULL;
		struct run *r = NULL, *back = NULL;
		struct err e = { 0 };

		begin(&r, &f, 2);
		runfile_close(f);
		run_free(r);
		append_text(torn[i]);
		assert_int_equal(runfile_resume(path, &r, &f, &e), 0);
		assert_int_equal(r->n_measures, 2);
		assert_int_equal(runfile_append(f, sample_measure(r, 3, "4k", one, 1), &e), 0);
		runfile_close(f);
		assert_int_equal(runfile_load(path, &back, &e), 0);
		assert_int_equal(back->n_measures, 3);
		assert_int_equal(back->n_bad_lines, 0);
		assert_false(back->has_footer);
		run_free(back);
		run_free(r);
		unlink(path);
	}
}

/* Bad lines in the middle are no reason to lose what follows. */
static void test_bad_lines_stay(void **state)
{
	struct runfile *f = NULL;
	struct run *r = NULL;
	struct err e = { 0 };

	(void)state;
	begin(&r, &f, 1);
	runfile_close(f);
	run_free(r);
	append_text("not JSON\n{\"type\":\"measure\",\"bench\":\"tlb.chase\",\"invocation\":5,"
		    "\"verdict\":\"ok\"}\n");
	assert_int_equal(runfile_resume(path, &r, &f, &e), 0);
	assert_int_equal(r->n_measures, 2);
	assert_int_equal(r->n_bad_lines, 1);
	runfile_close(f);
	run_free(r);
}

static void test_one_writer(void **state)
{
	struct runfile *f = NULL, *second = NULL;
	struct run *r = NULL, *again = NULL;
	struct err e = { 0 };

	(void)state;
	begin(&r, &f, 1);
	assert_int_equal(runfile_resume(path, &again, &second, &e), -EBUSY);
	assert_non_null(strstr(e.msg, "another process"));
	assert_null(again);
	assert_null(second);
	runfile_close(f);
	err_clear(&e);
	assert_int_equal(runfile_resume(path, &again, &second, &e), 0);
	runfile_close(second);
	run_free(again);
	run_free(r);
}

static void test_refusals(void **state)
{
	struct runfile *f = NULL;
	struct run *r = NULL;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(runfile_resume(path, &r, &f, &e), -ENOENT);
	err_clear(&e);
	append_text("something else\nthat must not be touched");
	assert_int_equal(runfile_resume(path, &r, &f, &e), -EBADMSG);
	assert_null(r);
	assert_null(f);
	{
		char text[80] = "";
		FILE *in = fopen(path, "re");

		assert_non_null(in);
		assert_int_equal(fread(text, 1, sizeof(text) - 1, in), 39);
		fclose(in);
		assert_string_equal(text, "something else\nthat must not be touched");
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_footer_goes), TEST(test_torn_line_goes), TEST(test_bad_lines_stay),
		TEST(test_one_writer),  TEST(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
