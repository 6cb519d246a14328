/* SPDX-License-Identifier: MIT */
/* Workers that end badly: each becomes a measure with its reason, and leaves nothing behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "execute_fixture.h"

static void test_bad_ends(void **state)
{
	static const struct {
		const char *what;
		enum verdict verdict;
		const char *reason;
	} rows[] = {
		{ "fail", VERDICT_FAILED, "four is broken" },
		{ "invalid", VERDICT_INVALID, "huge pages were found" },
		{ "segv", VERDICT_KILLED, "SIGSEGV: an error in the benchmark" },
		{ "bus", VERDICT_KILLED, "SIGBUS: memory that was promised" },
		{ "kill", VERDICT_KILLED, "SIGKILL: probably by the kernel for memory" },
		{ "half", VERDICT_KILLED, "SIGKILL: probably by the kernel for memory" },
		{ "exit", VERDICT_FAILED, "status 3 before it was done" },
		{ "garbage", VERDICT_FAILED, "cannot be right" },
		{ "foreign", VERDICT_FAILED, "not asked for" },
		{ "twice", VERDICT_FAILED, "not asked for" },
		{ "nan", VERDICT_FAILED, "not a finite number" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct preset p = fixture_preset(1, 1, 60);
		bool found = false;
		struct fixture f;
		char line[64];

		snprintf(line, sizeof(line), "fake.sweep what=%s n=1..8", rows[i].what);
		fixture_init(&f, line, &p);
		assert_int_equal(fixture_execute(&f, NULL, NULL), 0);
		for (size_t k = 0; k < f.run->n_measures; k++) {
			const struct measure *m = &f.run->measures[k];

			found = found || (m->verdict == rows[i].verdict && m->reason &&
					  strstr(m->reason, rows[i].reason));
			assert_true((m->verdict == VERDICT_OK) == (m->reason == NULL));
		}
		if (!found)
			fail_msg("%s: %zu measures, the last: %s", rows[i].what, f.run->n_measures,
				 f.run->measures[f.run->n_measures - 1].reason);
		if (strcmp(rows[i].what, "fail") == 0)
			assert_int_equal(fixture_count(&f, VERDICT_OK), 7);
		assert_int_equal(f.run->complete, rows[i].verdict == VERDICT_SKIPPED ||
							  rows[i].verdict == VERDICT_INVALID);
		fixture_done(&f);
	}
}

/* A frame that was cut off is not taken for a point; the ones before it are kept. */
static void test_half_a_frame(void **state)
{
	struct preset p = fixture_preset(1, 1, 60);
	struct fixture f;

	(void)state;
	fixture_init(&f, "fake.sweep what=half n=4", &p);
	assert_int_equal(fixture_execute(&f, NULL, NULL), 0);
	assert_int_equal(f.run->n_measures, 1);
	assert_int_equal(f.run->measures[0].verdict, VERDICT_KILLED);
	assert_null(attrs_find(&f.run->measures[0].setting, "n"));
	fixture_done(&f);
}

static void test_gives_up_after_two(void **state)
{
	struct preset p = fixture_preset(6, 20, 60);
	struct fixture f;

	(void)state;
	fixture_init(&f, "fake.sweep what=bus n=1,2", &p);
	assert_int_equal(fixture_execute(&f, NULL, NULL), 0);
	assert_int_equal(f.run->n_measures, 2);
	assert_int_equal(f.run->measures[1].invocation, 1);
	assert_non_null(strstr(f.last_why, "failed again and again: the worker was killed by"));
	fixture_done(&f);
}

static bool is_gone(pid_t pid)
{
	for (int i = 0; i < 1000; i++) {
		if (kill(pid, 0) < 0 && errno == ESRCH)
			return true;
		usleep(5000);
	}
	return false;
}

static void test_timeout(void **state)
{
	static const char *const whats[] = { "hang", "stubborn" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct preset p = fixture_preset(1, 1, 60);
		struct fixture f;
		char line[64];

		snprintf(line, sizeof(line), "fake.sweep what=%s n=4", whats[i]);
		fixture_init(&f, line, &p);
		f.limits.silence_seconds = 0.3;
		f.limits.grace_seconds = 0.1;
		assert_int_equal(fixture_execute(&f, NULL, NULL), 0);
		assert_int_equal(f.run->n_measures, 1);
		assert_int_equal(f.run->measures[0].verdict, VERDICT_TIMEOUT);
		assert_non_null(strstr(f.run->measures[0].reason, "nothing came from the worker"));
		assert_true(is_gone(fixture_pid(&f)));
		fixture_done(&f);
	}
}

/* It has closed its pipe but does not end: that is an end without a last word. */
static void test_closed_pipe(void **state)
{
	struct preset p = fixture_preset(1, 1, 60);
	struct fixture f;

	(void)state;
	fixture_init(&f, "fake.sweep what=closed n=1", &p);
	f.limits.grace_seconds = 0.1;
	assert_int_equal(fixture_execute(&f, NULL, NULL), 0);
	assert_int_equal(f.run->n_measures, 1);
	assert_int_equal(f.run->measures[0].verdict, VERDICT_KILLED);
	fixture_done(&f);
}

/* What a worker has started ends with it, also what ignores SIGTERM. */
static void test_children_of_workers(void **state)
{
	struct preset p = fixture_preset(1, 1, 60);
	struct fixture f;

	(void)state;
	fixture_init(&f, "fake.sweep what=children n=1,2", &p);
	assert_int_equal(fixture_execute(&f, NULL, NULL), 0);
	assert_int_equal(fixture_count(&f, VERDICT_OK), 2);
	assert_true(is_gone(fixture_pid(&f)));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* none left to reap */
	fixture_done(&f);
}

static volatile sig_atomic_t stopped;

static void on_alarm(int sig)
{
	(void)sig;
	stopped = 1;
}

static void test_interrupted(void **state)
{
	struct itimerval soon = { .it_value = { .tv_usec = 300000 } };
	struct preset p = fixture_preset(1, 1, 60);
	struct fixture f;

	(void)state;
	fixture_init(&f, "fake.sweep what=hang n=1..8 fake.plain", &p);
	f.limits.grace_seconds = 0.1;
	stopped = 0;
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &soon, NULL);
	assert_int_equal(fixture_execute(&f, NULL, &stopped), 0);
	assert_false(f.run->complete);
	assert_string_equal(f.run->stop_reason, "interrupted");
	assert_int_equal(fixture_count(&f, VERDICT_OK), f.run->n_measures);
	assert_true(is_gone(fixture_pid(&f)));
	fixture_done(&f);
	/* stopped before anything has started */
	fixture_init(&f, "fake.plain", &p);
	assert_int_equal(fixture_execute(&f, NULL, &stopped), 0);
	assert_int_equal(f.run->n_measures, 0);
	assert_false(f.run->complete);
	fixture_done(&f);
}

/* kill -9 of the parent: the worker must not go on measuring alone. */
static void test_killed_parent(void **state)
{
	struct preset p = fixture_preset(1, 1, 60);
	pid_t parent, worker;
	int status = 0;
	struct fixture f;

	(void)state;
	fixture_init(&f, "fake.sweep what=stubborn n=4", &p);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	parent = fork();
	if (parent == 0)
		_exit(fixture_execute(&f, NULL, NULL) < 0);
	worker = fixture_pid(&f);
	kill(parent, SIGKILL);
	assert_int_equal(waitpid(parent, &status, 0), parent);
	assert_int_equal(waitpid(worker, &status, 0), worker);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	fixture_done(&f);
}

/* A full disk: the run ends with an error, no worker is left, what was measured is in memory. */
static void test_full_disk(void **state)
{
	struct preset p = fixture_preset(4, 4, 60);
	struct rlimit old, small;
	struct runfile *file = NULL;
	struct fixture f;
	int r;

	(void)state;
	fixture_init(&f, "fake.sweep n=1..20", &p);
	assert_int_equal(runfile_create(f.run_file, f.run, &file, &f.e), 0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = 8192;
	setrlimit(RLIMIT_FSIZE, &small);
	r = fixture_execute(&f, file, NULL);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(r, -EFBIG);
	assert_true(f.run->n_measures > 0 && f.run->n_measures < 80);
	assert_false(f.run->complete);
	assert_non_null(f.run->stop_reason);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	runfile_close(file);
	fixture_done(&f);
}

/* No process can be started: the invocation failed and says why; what comes later may work again.
 */
static void test_no_process(void **state)
{
	struct preset p = fixture_preset(1, 1, 60);
	struct rlimit old, none;
	struct fixture f;
	int r;

	(void)state;
	fixture_init(&f, "fake.plain", &p);
	getrlimit(RLIMIT_NOFILE, &old);
	none = old;
	none.rlim_cur = 3;
	setrlimit(RLIMIT_NOFILE, &none);
	r = fixture_execute(&f, NULL, NULL);
	setrlimit(RLIMIT_NOFILE, &old);
	assert_int_equal(r, 0);
	assert_int_equal(f.run->n_measures, 1);
	assert_int_equal(f.run->measures[0].verdict, VERDICT_FAILED);
	assert_non_null(strstr(f.run->measures[0].reason, "cannot start a worker process"));
	fixture_done(&f);
}

/* Descriptors 3 and 4 may be taken by anything; the worker still gets its own there. */
static void test_low_descriptors(void **state)
{
	struct preset p = fixture_preset(1, 1, 60);
	int taken[4];
	struct fixture f;

	(void)state;
	for (int i = 0; i < 4; i++)
		taken[i] = open("/dev/null", O_RDONLY);
	close(taken[1]);
	fixture_init(&f, "fake.plain", &p);
	assert_int_equal(fixture_execute(&f, NULL, NULL), 0);
	assert_int_equal(fixture_count(&f, VERDICT_OK), 1);
	fixture_done(&f);
	close(taken[0]);
	close(taken[2]);
	close(taken[3]);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_ends),
		cmocka_unit_test(test_half_a_frame),
		cmocka_unit_test(test_gives_up_after_two),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_closed_pipe),
		cmocka_unit_test(test_children_of_workers),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_killed_parent),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_no_process),
		cmocka_unit_test(test_low_descriptors),
	};

	if (argc > 1 && strcmp(argv[1], WORKER_VERB) == 0)
		return worker_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
