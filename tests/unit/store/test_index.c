// SPDX-License-Identifier: MIT
/* The index: what it says of files and notes, that it can be lost, and that programs may share it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "place_dir.h"
#include "store/index.h"
#include "store/library.h"
#include "store/place.h"

static const char id_a[] = "01hzz0000000000000000000aa", id_b[] = "01hzz0000000000000000000bb",
		  id_c[] = "01hzz0000000000000000000cc";

static struct index *open_index(const struct place *p)
{
	struct index *x = NULL;
	struct err e = { 0 };

	if (index_open(p->runs, &x, NULL, &e))
		fail_msg("%s", e.msg);
	return x;
}

/* The ids of the list as "aa bb", by their last two characters. */
static const char *list(struct index *x, const struct index_filter *f, char buf[200])
{
	struct index_entries n = { 0 };
	struct arena a = { 0 };
	struct err e = { 0 };

	if (index_list(x, f, &a, &n, &e))
		fail_msg("%s", e.msg);
	buf[0] = '\0';
	for (size_t i = 0; i < n.n; i++) {
		size_t k = strlen(n.v[i].id);

		strcat(buf, i ? " " : "");
		strcat(buf, n.v[i].id + (k > 2 ? k - 2 : 0));
	}
	arena_done(&a);
	return buf;
}

/* One entry of the list; texts live in @a. */
static struct index_entry entry(struct index *x, const char *id, struct arena *a)
{
	struct index_entries n = { 0 };
	struct err e = { 0 };

	assert_int_equal(index_list(x, &(struct index_filter){ 0 }, a, &n, &e), 0);
	for (size_t i = 0; i < n.n; i++) {
		if (strcmp(n.v[i].id, id) == 0)
			return n.v[i];
	}
	fail_msg("no entry %s", id);
	return (struct index_entry){ 0 };
}

static void assert_label(struct index *x, const char *id, const char *label)
{
	struct arena a = { 0 };
	struct index_entry n = entry(x, id, &a);

	if (label && n.label)
		assert_string_equal(n.label, label);
	else
		assert_ptr_equal(n.label, label);
	arena_done(&a);
}

static void test_entries(void **state)
{
	struct place *p = *state;
	struct index *x;
	struct arena a = { 0 };
	struct index_entry n;
	char buf[200];

	place_write(id_a, "before", 3, 1);
	place_write(id_b, NULL, 0, 0);
	x = open_index(p);
	assert_string_equal(list(x, &(struct index_filter){ 0 }, buf), "bb aa");
	n = entry(x, id_a, &a);
	assert_string_equal(n.label, "before");
	assert_string_equal(n.machine, "Invented CPU 3000, 2 CPUs");
	assert_string_equal(n.kernel, "6.1.0-test");
	assert_string_equal(n.command, "pagetoll run");
	assert_string_equal(n.origin, "measured");
	assert_null(n.boot_id);
	assert_null(n.unreadable);
	assert_int_equal(n.n_measures, 3);
	assert_true(n.complete);
	assert_false(n.is_baseline);
	assert_false(n.file_is_gone);
	assert_true(n.start_unix_ns == 1700000000000000000);
	assert_int_equal(access(n.path, R_OK), 0);
	n = entry(x, id_b, &a);
	assert_null(n.label);
	assert_false(n.complete);
	arena_done(&a);
	index_close(x);
}

static void test_filters(void **state)
{
	static const struct {
		struct index_filter f;
		const char *expected;
	} rows[] = {
		{ { .label = "one" }, "aa" },
		{ { .label = "on" }, "" },
		{ { .bench = "tlb.chase" }, "cc bb aa" },
		{ { .bench = "tlb" }, "cc bb aa" },
		{ { .bench = "tl" }, "" },
		{ { .bench = "tlb.chas" }, "" },
		{ { .machine = "cpu 3000" }, "cc bb aa" },
		{ { .machine = "Zen" }, "" },
		{ { .kernel = "6.1" }, "cc bb aa" },
		{ { .kernel = "6%1" }, "" },
		{ { .since_unix_ns = 1700000000000000000 }, "cc bb aa" },
		{ { .since_unix_ns = 1700000000000000001 }, "" },
		{ { .limit = 2 }, "cc bb" },
		{ { .baselines_only = true }, "bb" },
		{ { .baselines_only = true, .label = "one" }, "" },
	};
	struct place *p = *state;
	struct err e = { 0 };
	struct index *x;
	char buf[200];

	place_write(id_a, "one", 1, 1);
	place_write(id_b, "two", 1, 1);
	place_write(id_c, NULL, 1, 1);
	x = open_index(p);
	assert_int_equal(index_set_baseline(x, id_b, true, &e), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (strcmp(list(x, &rows[i].f, buf), rows[i].expected) != 0)
			fail_msg("row %zu: '%s', not '%s'", i, buf, rows[i].expected);
	}
	index_close(x);
}

static void test_files_change_and_go(void **state)
{
	struct place *p = *state;
	struct arena a = { 0 };
	struct index_entry n;
	struct index *x;
	char path[200];
	FILE *f;

	place_write(id_a, NULL, 1, 0);
	place_write(id_b, NULL, 1, 1);
	index_close(open_index(p));
	place_write(id_a, "later", 5, 1);
	assert_int_equal(remove(place_path(p, path, "01hzz0000000000000000000bb.pagetoll.jsonl")),
			 0);
	f = fopen(place_path(p, path, "01hzz0000000000000000000cc.pagetoll.jsonl"), "w");
	assert_non_null(f);
	fputs("{\"type\":\"nonsense\"}\n", f);
	fclose(f);
	f = fopen(place_path(p, path, "other.txt"), "w");
	assert_non_null(f);
	fclose(f);
	x = open_index(p);
	n = entry(x, id_a, &a);
	assert_int_equal(n.n_measures, 5);
	assert_true(n.complete);
	assert_string_equal(n.label, "later");
	n = entry(x, id_b, &a);
	assert_true(n.file_is_gone);
	assert_int_equal(n.n_measures, 1);
	n = entry(x, id_c, &a);
	assert_non_null(n.unreadable);
	assert_non_null(strstr(n.unreadable, "not a run file"));
	index_close(x);
	/* It comes back. */
	place_write(id_b, NULL, 2, 1);
	x = open_index(p);
	n = entry(x, id_b, &a);
	assert_false(n.file_is_gone);
	assert_int_equal(n.n_measures, 2);
	index_close(x);
	arena_done(&a);
}

static void test_labels(void **state)
{
	struct place *p = *state;
	struct err e = { 0 };
	struct index *x;
	struct run *r = NULL;

	place_write(id_a, "in the file", 1, 1);
	place_write(id_b, NULL, 1, 1);
	x = open_index(p);
	assert_int_equal(index_set_label(x, id_b, "a b%\xc3\xa4=c", &e), 0);
	assert_label(x, id_b, "a b%\xc3\xa4=c");
	assert_int_equal(index_set_label(x, id_a, NULL, &e), 0);
	assert_label(x, id_a, NULL);
	index_close(x);
	x = open_index(p);
	assert_label(x, id_a, NULL);
	assert_label(x, id_b, "a b%\xc3\xa4=c");
	index_close(x);
	/* The library finds runs by what the index says of labels. */
	assert_int_equal(library_load("a b%\xc3\xa4=c", &r, NULL, &e), 0);
	assert_string_equal(r->id, id_b);
	run_free(r);
	assert_int_equal(library_load("in the file", &r, NULL, &e), -ENOENT);
}

static void test_notes_refused(void **state)
{
	struct place *p = *state;
	struct err e = { 0 };
	struct index *x;
	double spread = 7;

	place_write(id_a, NULL, 1, 1);
	x = open_index(p);
	assert_int_equal(index_set_label(x, "nobody", "x", &e), -ENOENT);
	assert_non_null(strstr(e.msg, "nobody"));
	err_clear(&e);
	assert_int_equal(index_set_label(x, "01hzz", "x", &e), -ENOENT);
	err_clear(&e);
	assert_int_equal(index_set_label(x, id_a, "", &e), -EINVAL);
	err_clear(&e);
	assert_int_equal(index_set_baseline(x, "nobody", true, &e), -ENOENT);
	err_clear(&e);
	assert_int_equal(index_set_spread(x, "m", "b", NAN, 5, &e), -EINVAL);
	err_clear(&e);
	assert_int_equal(index_set_spread(x, "m", "b", -0.1, 5, &e), -EINVAL);
	err_clear(&e);
	assert_int_equal(index_get_spread(x, "m", "b", &spread, &e), 0);
	assert_true(isnan(spread));
	index_close(x);
	assert_int_equal(index_open("/nonexistent/runs", &x, NULL, &e), -ENOENT);
	assert_non_null(strstr(e.msg, "/nonexistent/runs"));
}

/* Everything but runs whose files are gone is made again. */
static void assert_all_there(const struct place *p, const char *word)
{
	struct arena a = { 0 };
	const char *note = "none";
	struct index *x = NULL;
	struct err e = { 0 };
	double spread = 0;

	if (index_open(p->runs, &x, &note, &e))
		fail_msg("%s", e.msg);
	if (word && (!note || !strstr(note, word)))
		fail_msg("'%s' does not say '%s'", note ? note : "(nothing)", word);
	if (!word && note)
		fail_msg("says '%s'", note);
	assert_label(x, id_a, "mine");
	assert_true(entry(x, id_b, &a).is_baseline);
	assert_int_equal(index_get_spread(x, "machine 1", "tlb.chase", &spread, &e), 0);
	assert_true(spread == 0.0125);
	index_close(x);
	arena_done(&a);
}

static void write_all(const struct place *p)
{
	struct err e = { 0 };
	struct index *x;

	place_write(id_a, NULL, 2, 1);
	place_write(id_b, NULL, 2, 1);
	x = open_index(p);
	assert_int_equal(index_set_label(x, id_a, "first", &e), 0);
	assert_int_equal(index_set_label(x, id_a, "mine", &e), 0);
	assert_int_equal(index_set_baseline(x, id_a, true, &e), 0);
	assert_int_equal(index_set_baseline(x, id_a, false, &e), 0);
	assert_int_equal(index_set_baseline(x, id_b, true, &e), 0);
	assert_int_equal(index_set_spread(x, "machine 1", "tlb.chase", 0.5, 3, &e), 0);
	assert_int_equal(index_set_spread(x, "machine 1", "tlb.chase", 0.0125, 6, &e), 0);
	index_close(x);
}

static void overwrite(const char *path, off_t at, size_t n)
{
	char junk[4096];
	int fd = open(path, O_WRONLY);

	assert_true(fd >= 0 && n <= sizeof(junk));
	memset(junk, 0x5a, sizeof(junk));
	assert_int_equal(pwrite(fd, junk, n, at), (ssize_t)n);
	close(fd);
}

static void test_damage(void **state)
{
	struct place *p = *state;
	struct err e = { 0 };
	char path[200];
	struct stat st;

	write_all(p);
	assert_all_there(p, NULL);
	place_path(p, path, "index.db");
	overwrite(path, 0, 100); /* no database any more */
	assert_all_there(p, "damaged");
	assert_all_there(p, NULL);
	assert_int_equal(stat(path, &st), 0);
	for (off_t at = 4096; at < st.st_size; at += 4096)
		overwrite(path, at, 4096); /* a good head, nonsense behind */
	assert_all_there(p, "damaged");
	assert_int_equal(truncate(path, 5000), 0);
	assert_all_there(p, "damaged");
	assert_int_equal(truncate(path, 0), 0); /* an empty file is an empty database */
	assert_all_there(p, NULL);
	assert_int_equal(unlink(path), 0);
	assert_all_there(p, NULL);
	assert_int_equal(index_remove(p->runs, &e), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_all_there(p, NULL);
}

static void test_another_version(void **state)
{
	struct place *p = *state;
	char path[200];
	unsigned char version[4] = { 0, 0, 0, 99 };
	int fd;

	write_all(p);
	fd = open(place_path(p, path, "index.db"), O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, version, 4, 60), 4); /* user_version in the header */
	close(fd);
	assert_all_there(p, "made anew");
}

static void test_torn_journal(void **state)
{
	struct place *p = *state;
	struct err e = { 0 };
	struct index *x;
	char path[200];
	FILE *f;

	write_all(p);
	f = fopen(place_path(p, path, "notes"), "a");
	assert_non_null(f);
	fputs("label\n\nnonsense\nlabel %ZZ =x\nspread m b -1 2\nbaseline x maybe\nlab", f);
	fclose(f);
	assert_all_there(p, NULL);
	/* The next writer ends the torn line and is understood. */
	x = open_index(p);
	assert_int_equal(index_set_label(x, id_b, "after", &e), 0);
	assert_label(x, id_b, "after");
	index_close(x);
	assert_all_there(p, NULL);
	/* Another journal than before: what only the old one said is forgotten. */
	assert_int_equal(unlink(path), 0);
	x = open_index(p);
	assert_label(x, id_a, NULL);
	index_close(x);
}

/* --- several programs ------------------------------------------------------------------------- */

static void write_labels(const struct place *p, const char *id, int n)
{
	struct err e = { 0 };
	struct index *x = NULL;

	for (int i = 0; i < n; i++) {
		char label[32];

		snprintf(label, sizeof(label), "%.2s-%d", id + 24, i);
		/* Opened anew every now and then, as programs come and go. */
		if (i % 50 == 0) {
			index_close(x);
			x = NULL;
			if (index_open(p->runs, &x, NULL, &e)) {
				fprintf(stderr, "open: %s\n", e.msg);
				_exit(1);
			}
		}
		if (index_set_label(x, id, label, &e) ||
		    (i % 10 == 0 && index_set_baseline(x, id, i % 20 == 0, &e))) {
			fprintf(stderr, "write %d: %s\n", i, e.msg);
			_exit(1);
		}
	}
	index_close(x);
	_exit(0);
}

static pid_t start_writer(const struct place *p, const char *id, int n)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		write_labels(p, id, n);
	return pid;
}

static int exit_status(pid_t pid)
{
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static size_t count_lines(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t n = 0;
	int c;

	assert_non_null(f);
	while ((c = getc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

static void test_two_writers(void **state)
{
	struct place *p = *state;
	struct index *x;
	char path[200];
	pid_t a, b;

	place_write(id_a, NULL, 1, 1);
	place_write(id_b, NULL, 1, 1);
	a = start_writer(p, id_a, 200);
	b = start_writer(p, id_b, 200);
	assert_int_equal(exit_status(a), 0);
	assert_int_equal(exit_status(b), 0);
	x = open_index(p);
	assert_label(x, id_a, "aa-199");
	assert_label(x, id_b, "bb-199");
	index_close(x);
	assert_int_equal(count_lines(place_path(p, path, "notes")), 2 * (200 + 20));
}

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

/* Killed at any moment, a writer leaves an index that opens and a journal that reads. */
static void test_killed_writer(void **state)
{
	struct place *p = *state;
	struct err e = { 0 };
	struct index *x;

	place_write(id_a, NULL, 1, 1);
	place_write(id_b, NULL, 1, 1);
	for (long i = 0; i < 12; i++) {
		pid_t a = start_writer(p, id_a, 100000), b = start_writer(p, id_b, 10);

		sleep_ms(5 + 7 * i);
		kill(a, SIGKILL);
		assert_true(WIFSIGNALED(exit_status(a)));
		assert_int_equal(exit_status(b), 0);
		x = open_index(p);
		assert_label(x, id_b, "bb-9");
		assert_int_equal(index_set_label(x, id_a, "alive", &e), 0);
		assert_label(x, id_a, "alive");
		index_close(x);
	}
}

static void test_two_finders_of_damage(void **state)
{
	struct place *p = *state;
	char path[200];
	pid_t a, b;

	write_all(p);
	overwrite(place_path(p, path, "index.db"), 0, 100);
	a = start_writer(p, id_a, 20);
	b = start_writer(p, id_b, 20);
	assert_int_equal(exit_status(a), 0);
	assert_int_equal(exit_status(b), 0);
	index_close(open_index(p));
}

/* --- places ----------------------------------------------------------------------------------- */

static int is_nfs(const char *path, struct statfs *ret)
{
	(void)path;
	memset(ret, 0, sizeof(*ret));
	ret->f_type = 0x6969;
	return 0;
}

static int is_cifs(const char *path, struct statfs *ret)
{
	(void)path;
	memset(ret, 0, sizeof(*ret));
	ret->f_type = (__fsword_t)0xff534d42;
	return 0;
}

static int is_ext4(const char *path, struct statfs *ret)
{
	(void)path;
	memset(ret, 0, sizeof(*ret));
	ret->f_type = 0xef53;
	return 0;
}

static int cannot_tell(const char *path, struct statfs *ret)
{
	(void)path;
	(void)ret;
	errno = ENOSYS;
	return -1;
}

static void test_network(void **state)
{
	static const struct {
		statfs_fn ask;
		bool network;
	} rows[] = {
		{ is_ext4, false }, { is_nfs, true }, { is_cifs, true }, { cannot_tell, false }
	};
	struct place *p = *state;
	char wal[200];

	place_write(id_a, NULL, 1, 1);
	place_path(p, wal, "index.db-wal");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *note = "none";
		struct index *x = NULL;
		struct err e = { 0 };

		if (index_open_asking(p->runs, rows[i].ask, &x, &note, &e))
			fail_msg("row %zu: %s", i, e.msg);
		assert_int_equal(index_set_label(x, id_a, "x", &e), 0);
		assert_int_equal(index_set_label(x, id_a, "y", &e), 0);
		assert_int_equal(note && strstr(note, "network file system"), rows[i].network);
		assert_int_equal(access(wal, F_OK) == 0, !rows[i].network);
		assert_label(x, id_a, "y");
		index_close(x);
	}
}

/* Root may write anywhere: then the file is in the way, which is another error. */
static void test_read_only(void **state)
{
	struct place *p = *state;
	const char *note = NULL;
	struct index *x = NULL;
	struct err e = { 0 };
	char buf[200];
	pid_t pid;
	int status;

	place_write(id_a, NULL, 1, 1);
	assert_int_equal(chmod(p->dir, 0755), 0);
	assert_int_equal(chmod(p->runs, 0555), 0);
	if (chmod(place_path(p, buf, "01hzz0000000000000000000aa.pagetoll.jsonl"), 0644))
		fail_msg("chmod");
	pid = fork();
	if (pid == 0) {
		if (geteuid() == 0 && setresuid(65534, 65534, 65534))
			_exit(77);
		if (access(p->runs, X_OK) < 0)
			_exit(77); /* the folder of the tests is closed to other users */
		if (index_open(p->runs, &x, &note, &e) || !note ||
		    !strstr(note, "cannot be written"))
			_exit(1);
		if (strcmp(list(x, &(struct index_filter){ 0 }, buf), "aa") != 0)
			_exit(2);
		if (index_set_label(x, id_a, "x", &e) != -EACCES || !strstr(e.msg, "notes"))
			_exit(3);
		index_close(x);
		_exit(0);
	}
	status = WEXITSTATUS(exit_status(pid));
	if (status == 77)
		skip();
	assert_int_equal(status, 0);
}

static void test_held_alone(void **state)
{
	struct place *p = *state;
	struct index *x = NULL;
	char path[200];
	pid_t pid;
	int fd;

	place_write(id_a, NULL, 1, 1);
	fd = open(place_path(p, path, "index.lock"), O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	pid = fork();
	if (pid == 0) { /* waits until it is free */
		close(fd);
		_exit(index_open(p->runs, &x, NULL, NULL) ? 1 : 0);
	}
	sleep_ms(100);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
	close(fd);
	assert_int_equal(exit_status(pid), 0);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, place_setup, place_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_PLACE(test_entries),
		IN_PLACE(test_filters),
		IN_PLACE(test_files_change_and_go),
		IN_PLACE(test_labels),
		IN_PLACE(test_notes_refused),
		IN_PLACE(test_damage),
		IN_PLACE(test_another_version),
		IN_PLACE(test_torn_journal),
		IN_PLACE(test_two_writers),
		IN_PLACE(test_killed_writer),
		IN_PLACE(test_two_finders_of_damage),
		IN_PLACE(test_network),
		IN_PLACE(test_read_only),
		IN_PLACE(test_held_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
