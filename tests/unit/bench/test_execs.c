/* SPDX-License-Identifier: MIT */
/*
 * The exec family for real: a storm with and without prefaulting, whose object populates and saves
 * faults on the mapped code; patches are really applied; failures of programs are told; what a
 * killed process leaves is removed.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/err.h"
#include "mem/tempdir.h"
#include "record/run.h"
#include "run_words.h"

struct found {
	int64_t faults, programs, prefault_bytes;
	size_t n;
};

static void look(void *user, const struct bench_result *r)
{
	struct found *f = user;

	f->n = r->values[0].n;
	f->prefault_bytes = attrs_int(&r->proof, "prefault_bytes", -1);
	for (size_t i = 0; i < r->n_metrics; i++) {
		if (strcmp(r->metrics[i].name, "faults") == 0) {
			f->faults = r->values[i].events;
			f->programs = r->values[i].exposure;
		}
	}
}

static void run_exec(const char *bench, const char *words, struct found *f, struct seen *s)
{
	memset(f, 0, sizeof(*f));
	run_words(bench, words, NULL, 0, look, f, s);
}

static void programs_fault_and_are_counted(void **state)
{
	struct found f;
	struct seen s;

	(void)state;
	run_exec("exec.storm", "programs=3 fill=demand fault-around=keep", &f, &s);
	if (s.ok != 1)
		fail_msg("%s", s.reason);
	assert_int_equal(f.programs, 3 * f.n);
	assert_true(f.faults >= 10 * f.programs); /* a program cannot start with less */
	assert_int_equal(f.prefault_bytes, -1);
}

static void the_object_populates(void **state)
{
	struct found f;
	struct seen s;

	(void)state;
	run_exec("exec.storm", "programs=3 fill=prefault fault-around=keep", &f, &s);
	if (s.verdict == VERDICT_SKIPPED)
		skip(); /* /bin/true is statically linked here */
	if (s.ok != 1)
		fail_msg("%s", s.reason);
	assert_true(f.prefault_bytes >= 65536); /* the code of a C library alone is more */
}

static void patches_are_applied_and_removed(void **state)
{
	struct found f;
	struct seen s;

	(void)state;
	run_exec("exec.patches", "script=pushpatch patches=2 fill=demand fault-around=keep", &f,
		 &s);
	if (s.verdict == VERDICT_SKIPPED && strstr(s.reason, "quilt"))
		skip();
	if (s.ok != 1)
		fail_msg("%s", s.reason);
	assert_int_equal(f.programs, 2 * f.n);
}

/* Whether the folder goes within two seconds. */
static bool goes_away(const char *path)
{
	const struct timespec pause = { .tv_nsec = 10000000 };

	for (int i = 0; i < 200; i++) {
		if (access(path, F_OK) < 0)
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static void folders_of_the_killed_go_away(void **state)
{
	struct tempdir dir = { 0 };
	struct err e = { 0 };
	char path[sizeof(dir.path)] = "";
	int ends[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		char file[sizeof(dir.path) + 8];
		FILE *f;

		if (tempdir_create(&dir, &e) < 0)
			_exit(1);
		snprintf(file, sizeof(file), "%s/x", dir.path);
		f = fopen(file, "w");
		if (!f || fclose(f) != 0 ||
		    write(ends[1], dir.path, sizeof(dir.path)) != (ssize_t)sizeof(dir.path))
			_exit(1);
		pause();
	}
	assert_int_equal(read(ends[0], path, sizeof(path)), sizeof(path));
	assert_int_equal(access(path, F_OK), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(goes_away(path));
	close(ends[0]);
	close(ends[1]);
}

/* A folder with a part that nobody but root can empty; root becomes somebody else for it. */
__attribute__((noreturn)) static void hold_folder(int told)
{
	struct tempdir dir = { 0 };
	struct err e = { 0 };
	char part[sizeof(dir.path) + 8], file[sizeof(part) + 8];
	FILE *f;

	if (geteuid() == 0 &&
	    (setenv("TMPDIR", "/tmp", 1) < 0 || setresgid(65534, 65534, 65534) < 0 ||
	     setresuid(65534, 65534, 65534) < 0))
		_exit(1);
	if (tempdir_create(&dir, &e) < 0)
		_exit(1);
	snprintf(part, sizeof(part), "%s/part", dir.path);
	snprintf(file, sizeof(file), "%s/x", part);
	if (mkdir(part, 0700) < 0)
		_exit(1);
	f = fopen(file, "w");
	if (!f || fclose(f) != 0 || chmod(part, 0500) < 0 ||
	    write(told, part, sizeof(part)) != (ssize_t)sizeof(part))
		_exit(1);
	for (;;)
		pause();
}

/* As with the programs of a killed script, which write until they end: the first try fails. */
static void folders_that_do_not_go_at_once_go_away(void **state)
{
	const struct timespec meanwhile = { .tv_nsec = 200000000 };
	char part[sizeof(((struct tempdir *)0)->path) + 8] = "";
	int ends[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0)
		hold_folder(ends[1]);
	close(ends[1]);
	assert_int_equal(read(ends[0], part, sizeof(part)), sizeof(part));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	nanosleep(&meanwhile, NULL);
	assert_int_equal(chmod(part, 0700), 0);
	*strrchr(part, '/') = '\0';
	assert_true(goes_away(part));
	close(ends[0]);
}

static void folders_that_cannot_be_made_are_told(void **state)
{
	struct tempdir dir = { 0 };
	struct err e = { 0 };
	const char *before = getenv("TMPDIR");
	char kept[512];

	(void)state;
	snprintf(kept, sizeof(kept), "%s", before ? before : "");
	setenv("TMPDIR", "/nowhere/at/all", 1);
	assert_int_equal(tempdir_create(&dir, &e), -ENOENT);
	assert_non_null(strstr(e.msg, "/nowhere/at/all"));
	assert_non_null(strstr(e.msg, "TMPDIR"));
	if (before)
		setenv("TMPDIR", kept, 1);
	else
		unsetenv("TMPDIR");
	tempdir_done(&dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_fault_and_are_counted),
		cmocka_unit_test(the_object_populates),
		cmocka_unit_test(patches_are_applied_and_removed),
		cmocka_unit_test(folders_of_the_killed_go_away),
		cmocka_unit_test(folders_that_do_not_go_at_once_go_away),
		cmocka_unit_test(folders_that_cannot_be_made_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
