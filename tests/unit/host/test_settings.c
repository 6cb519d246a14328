/* SPDX-License-Identifier: MIT */
/* Settings of an invented machine: accepted values, changes, and how they come back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/tree.h"
#include "host/settings.h"

#define THP "sys/kernel/mm/transparent_hugepage/enabled"
#define NUMA "proc/sys/kernel/numa_balancing"
#define AROUND "sys/kernel/debug/fault_around_bytes"
#define BOOT "proc/sys/kernel/random/boot_id"

static const char tree[] = "= " THP " | always [madvise] never\n"
			   "= " NUMA " | 0\n"
			   "= " AROUND " | 65536\n"
			   "= " BOOT " | 11111111-2222-3333-4444-555555555555\n";

struct place {
	char dir[64], journal[96];
	struct sysroot sr;
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));
	char msg[200];

	assert_non_null(p);
	strcpy(p->dir, "/tmp/pagetoll-test-XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	assert_int_equal(tree_unpack_text("settings", tree, p->dir, msg, sizeof(msg)), 0);
	snprintf(p->journal, sizeof(p->journal), "%s/journal", p->dir);
	assert_int_equal(sysroot_init(&p->sr, p->dir, NULL), 0);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	tree_remove(p->dir);
	free(p);
	return 0;
}

static void put(const struct place *p, const char *path, const char *text)
{
	char full[200];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", p->dir, path);
	f = fopen(full, "we");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void assert_now(const struct place *p, const char *name, const char *value)
{
	char now[SETTING_TEXT_BYTES];

	assert_int_equal(setting_read(&p->sr, setting_find(name), now, NULL), 0);
	assert_string_equal(now, value);
}

static bool has_journal(const struct place *p)
{
	return access(p->journal, F_OK) == 0;
}

/* --- single settings ---------------------------------------------------------------------------
 */

static void test_registry(void **state)
{
	(void)state;
	for (const struct setting_kind *k = setting_kinds; k->name; k++) {
		assert_ptr_equal(setting_find(k->name), k);
		assert_true(k->path[0] != '/' && k->summary && k->absent);
		assert_true((k->form == SETTING_CHOICE) == (k->choices != NULL));
		assert_true(k == setting_kinds || strcmp(k[-1].name, k->name) < 0);
	}
	assert_null(setting_find("th"));
	assert_null(setting_find("THP"));
	assert_null(setting_find(""));
}

static void test_values(void **state)
{
	static const struct {
		const char *name, *text, *value; /* NULL: refused */
	} rows[] = {
		{ "thp", "always", "always" },
		{ "thp", "madvise", "madvise" },
		{ "thp", "never", "never" },
		{ "thp-defrag", "defer+madvise", "defer+madvise" },
		{ "numa-balancing", "0", "0" },
		{ "numa-balancing", "2", "2" },
		{ "fault-around-bytes", "4k", "4096" },
		{ "fault-around-bytes", "65536B", "65536" },
		{ "fault-around-bytes", "1m", "1048576" },
		{ "thp", "Always", NULL },
		{ "thp", "[always]", NULL },
		{ "thp", "on", NULL },
		{ "thp", "", NULL },
		{ "thp", "always\nnever", NULL },
		{ "thp-defrag", "defer+", NULL },
		{ "numa-balancing", "-1", NULL },
		{ "numa-balancing", "4", NULL },
		{ "numa-balancing", "on", NULL },
		{ "fault-around-bytes", "12k", NULL },
		{ "fault-around-bytes", "2k", NULL },
		{ "fault-around-bytes", "1g", NULL },
		{ "fault-around-bytes", "64kx", NULL },
		{ "fault-around-bytes", "99999999999999999999", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char value[SETTING_TEXT_BYTES] = "untouched";
		struct err e = { 0 };
		int rc = setting_parse(setting_find(rows[i].name), rows[i].text, value, &e);

		if (rows[i].value) {
			assert_int_equal(rc, 0);
			assert_string_equal(value, rows[i].value);
		} else {
			assert_true(rc == -EINVAL || rc == -ERANGE);
			assert_non_null(strstr(e.msg, rows[i].name));
			assert_string_equal(value, "untouched");
		}
	}
}

static void test_write_is_verified(void **state)
{
	struct place *p = *state;
	struct err e = { 0 };
	char link[200];

	assert_now(p, "thp", "madvise");
	assert_int_equal(setting_write(&p->sr, setting_find("thp"), "never", &e), 0);
	assert_now(p, "thp", "never");
	/* A file that swallows what is written. */
	snprintf(link, sizeof(link), "%s/%s", p->dir, NUMA);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(symlink("/dev/null", link), 0);
	assert_true(setting_write(&p->sr, setting_find("numa-balancing"), "1", &e) < 0);
	assert_true(e.code != 0);
}

static void test_absent(void **state)
{
	struct place *p = *state;
	char full[200], now[SETTING_TEXT_BYTES];
	struct settings s;
	struct err e = { 0 };

	snprintf(full, sizeof(full), "%s/%s", p->dir, AROUND);
	unlink(full);
	assert_int_equal(setting_read(&p->sr, setting_find("fault-around-bytes"), now, &e),
			 -ENOENT);
	assert_non_null(strstr(e.msg, "mount -t debugfs"));
	err_clear(&e);
	assert_int_equal(settings_init(&s, &p->sr, p->journal, &e), 0);
	assert_int_equal(settings_set(&s, setting_find("fault-around-bytes"), "4096", &e), -ENOENT);
	assert_false(has_journal(p));
	settings_done(&s);
}

static void test_not_allowed(void **state)
{
	struct place *p = *state;
	char full[200];
	struct settings s;
	struct err e = { 0 };

	if (geteuid() == 0) {
		/* As an ordinary user, in a child: root may write to anything. */
		pid_t pid;
		int status = 0;

		chmod(p->dir, 0755);
		pid = fork();
		if (pid == 0) {
			if (setgid(65534) < 0 || setuid(65534) < 0)
				_exit(2);
			settings_init(&s, &p->sr, "/tmp/pagetoll-test-no-journal", &e);
			_exit(settings_set(&s, setting_find("thp"), "never", &e) == -EACCES &&
					      strstr(e.msg, "root") &&
					      access("/tmp/pagetoll-test-no-journal", F_OK) < 0
				      ? 0
				      : 1);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
		assert_now(p, "thp", "madvise");
		return;
	}
	snprintf(full, sizeof(full), "%s/%s", p->dir, THP);
	chmod(full, 0444);
	assert_int_equal(settings_init(&s, &p->sr, p->journal, &e), 0);
	assert_int_equal(settings_set(&s, setting_find("thp"), "never", &e), -EACCES);
	assert_non_null(strstr(e.msg, "root"));
	assert_false(has_journal(p));
	settings_done(&s);
}

/* --- changing and restoring --------------------------------------------------------------------
 */

static void begin(struct place *p, struct settings *s)
{
	struct err e = { 0 };

	assert_int_equal(settings_init(s, &p->sr, p->journal, &e), 0);
	assert_false(has_journal(p));
	assert_int_equal(settings_set(s, setting_find("thp"), "always", &e), 0);
	assert_int_equal(settings_set(s, setting_find("numa-balancing"), "1", &e), 0);
	assert_int_equal(settings_set(s, setting_find("thp"), "never", &e), 0);
	assert_true(has_journal(p));
	assert_now(p, "thp", "never");
	assert_now(p, "numa-balancing", "1");
}

static void test_restore(void **state)
{
	struct place *p = *state;
	struct settings s;
	struct err e = { 0 };

	begin(p, &s);
	assert_int_equal(settings_put_back(&s, setting_find("thp"), &e), 0);
	assert_now(p, "thp", "madvise");
	assert_true(has_journal(p));
	assert_int_equal(settings_set(&s, setting_find("thp"), "never", &e), 0);
	assert_now(p, "thp", "never");
	assert_int_equal(settings_restore(&s, &e), 0);
	assert_now(p, "thp", "madvise");
	assert_now(p, "numa-balancing", "0");
	assert_false(has_journal(p));
	/* once more, as between planning and measuring */
	assert_int_equal(settings_set(&s, setting_find("thp"), "never", &e), 0);
	assert_true(has_journal(p));
	assert_int_equal(settings_restore(&s, &e), 0);
	assert_int_equal(settings_restore(&s, &e), 0);
	assert_now(p, "thp", "madvise");
	assert_false(has_journal(p));
	settings_done(&s);
}

/* What cannot be restored is named, the rest is restored, the journal stays. */
static void test_restore_fails(void **state)
{
	struct place *p = *state;
	struct settings s;
	struct err e = { 0 };
	char full[200];

	begin(p, &s);
	snprintf(full, sizeof(full), "%s/%s", p->dir, NUMA);
	assert_int_equal(unlink(full), 0);
	assert_int_equal(settings_restore(&s, &e), -ENOENT);
	assert_non_null(strstr(e.msg, "numa-balancing is not restored"));
	assert_non_null(strstr(e.msg, "echo 0 > "));
	assert_now(p, "thp", "madvise");
	assert_true(has_journal(p));
	settings_done(&s);
}

static void test_restore_now(void **state)
{
	struct place *p = *state;
	struct settings s;
	char text[64] = "";
	FILE *f;

	begin(p, &s);
	settings_restore_now(&s);
	assert_now(p, "numa-balancing", "0");
	assert_false(has_journal(p));
	/* A plain file has no kernel behind it: what was written stands at its beginning. */
	{
		char full[200];

		snprintf(full, sizeof(full), "%s/%s", p->dir, THP);
		f = fopen(full, "re");
		assert_non_null(f);
		assert_non_null(fgets(text, sizeof(text), f));
		fclose(f);
	}
	assert_int_equal(strncmp(text, "madvise", 7), 0);
	settings_done(&s);
}

static void test_one_owner(void **state)
{
	struct place *p = *state;
	struct settings s, other;
	struct str said = { 0 };
	struct err e = { 0 };
	bool busy = false;

	begin(p, &s);
	assert_int_equal(settings_init(&other, &p->sr, p->journal, &e), 0);
	assert_int_equal(settings_set(&other, setting_find("thp"), "always", &e), -EBUSY);
	assert_now(p, "thp", "never");
	err_clear(&e);
	assert_int_equal(settings_recover(&p->sr, p->journal, &said, &busy, &e), 0);
	assert_true(busy);
	assert_int_equal(said.len, 0);
	assert_now(p, "thp", "never");
	assert_true(has_journal(p));
	settings_done(&other);
	assert_int_equal(settings_restore(&s, &e), 0);
	settings_done(&s);
}

/* --- after a kill ------------------------------------------------------------------------------
 */

static int recover(struct place *p, struct str *said, struct err *e)
{
	bool busy = true;
	int rc = settings_recover(&p->sr, p->journal, said, &busy, e);

	assert_false(busy);
	return rc;
}

static void test_recover(void **state)
{
	struct place *p = *state;
	struct str said = { 0 };
	struct settings s;
	struct err e = { 0 };

	assert_int_equal(recover(p, &said, &e), 0);
	assert_int_equal(said.len, 0);
	begin(p, &s);
	settings_done(&s); /* as a kill does: the lock goes, nothing is restored */
	assert_now(p, "thp", "never");
	assert_int_equal(recover(p, &said, &e), 0);
	assert_now(p, "thp", "madvise");
	assert_now(p, "numa-balancing", "0");
	assert_non_null(strstr(str_text(&said), "thp is restored from never to madvise"));
	assert_non_null(strstr(str_text(&said), "numa-balancing is restored from 1 to 0"));
	assert_false(has_journal(p));
	str_done(&said);
}

/* Somebody has set it meanwhile: that is what they want now. */
static void test_recover_third_value(void **state)
{
	struct place *p = *state;
	struct str said = { 0 };
	struct settings s;
	struct err e = { 0 };

	begin(p, &s);
	settings_done(&s);
	put(p, NUMA, "2\n");
	assert_int_equal(recover(p, &said, &e), 0);
	assert_now(p, "numa-balancing", "2");
	assert_now(p, "thp", "madvise");
	assert_non_null(strstr(str_text(&said), "set it to 2, which stays"));
	assert_false(has_journal(p));
	str_done(&said);
}

static void test_recover_after_reboot(void **state)
{
	struct place *p = *state;
	struct str said = { 0 };
	struct settings s;
	struct err e = { 0 };

	begin(p, &s);
	settings_done(&s);
	put(p, BOOT, "99999999-2222-3333-4444-555555555555\n");
	assert_int_equal(recover(p, &said, &e), 0);
	assert_now(p, "thp", "never");
	assert_int_equal(said.len, 0);
	assert_false(has_journal(p));
}

static void test_recover_fails(void **state)
{
	struct place *p = *state;
	struct str said = { 0 };
	struct settings s;
	struct err e = { 0 };
	char full[200];

	begin(p, &s);
	settings_done(&s);
	snprintf(full, sizeof(full), "%s/%s", p->dir, NUMA);
	unlink(full);
	assert_int_equal(recover(p, &said, &e), -ENOENT);
	assert_non_null(strstr(e.msg, "left numa-balancing changed"));
	assert_non_null(strstr(e.msg, "echo 0 > "));
	assert_now(p, "thp", "madvise");
	assert_true(has_journal(p));
	str_done(&said);
}

/* Looking changes nothing: neither the setting nor the journal. */
static void test_left(void **state)
{
	struct place *p = *state;
	struct setting_left left[SETTINGS_MAX_CHANGED];
	struct settings s;
	struct err e = { 0 };
	bool busy = true;
	size_t n = 9;

	assert_int_equal(settings_left(&p->sr, p->journal, left, &n, &busy, &e), 0);
	assert_int_equal(n, 0);
	assert_false(busy);
	begin(p, &s);
	assert_int_equal(settings_left(&p->sr, p->journal, left, &n, &busy, &e), 0);
	assert_true(busy);
	settings_done(&s);
	assert_int_equal(settings_left(&p->sr, p->journal, left, &n, &busy, &e), 0);
	assert_false(busy);
	assert_int_equal(n, 2);
	assert_string_equal(left[0].kind->name, "thp");
	assert_string_equal(left[0].now, "never");
	assert_string_equal(left[0].before, "madvise");
	assert_now(p, "thp", "never");
	assert_true(has_journal(p));
	/* somebody has put it back */
	assert_int_equal(setting_write(&p->sr, setting_find("thp"), "madvise", &e), 0);
	assert_int_equal(settings_left(&p->sr, p->journal, left, &n, &busy, &e), 0);
	assert_int_equal(n, 1);
	assert_string_equal(left[0].kind->name, "numa-balancing");
	put(p, "journal", "pagetoll-settings 1\nwas thp nonsense\nwrote thp always\n");
	assert_int_equal(settings_left(&p->sr, p->journal, left, &n, &busy, &e), 0);
	assert_int_equal(n, 0);
}

/* Journals that are torn, or that nobody of ours wrote: nothing is written anywhere. */
static void test_recover_hostile(void **state)
{
	static const char *const texts[] = {
		"",
		"pagetoll-settings 1\n",
		"pagetoll-settings 2\nwas thp never\nwrote thp madvise\n",
		"was thp never\nwrote thp madvise\n",
		"pagetoll-settings 1\nwas thp never",
		"pagetoll-settings 1\nwas thp never\n",
		"pagetoll-settings 1\nwas thp never\nwrote thp madvise",
		"pagetoll-settings 1\nwas thp ../../x\nwrote thp madvise\n",
		"pagetoll-settings 1\nwas thp nonsense\nwrote thp madvise\n",
		"pagetoll-settings 1\nwas ../../etc/passwd x\nwrote ../../etc/passwd y\n",
		"pagetoll-settings 1\nwrote thp madvise\nwas thp never\n",
		"pagetoll-settings 1\nwas\nwrote\n\n \n",
		"pagetoll-settings 1\nboot other\nwas thp never\nwrote thp madvise\n",
		"\n\n\n",
	};
	struct place *p = *state;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct str said = { 0 };
		struct err e = { 0 };

		put(p, "journal", texts[i]);
		assert_int_equal(recover(p, &said, &e), 0);
		assert_now(p, "thp", "madvise");
		assert_false(has_journal(p));
		str_done(&said);
	}
	/* A link is not followed: it may lead anywhere. */
	assert_int_equal(symlink("/etc/hostname", p->journal), 0);
	{
		struct str said = { 0 };
		struct err e = { 0 };

		assert_true(recover(p, &said, &e) < 0);
		assert_int_equal(access("/etc/hostname", F_OK), 0);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registry),
		cmocka_unit_test(test_values),
		TEST(test_write_is_verified),
		TEST(test_absent),
		TEST(test_not_allowed),
		TEST(test_restore),
		TEST(test_restore_fails),
		TEST(test_restore_now),
		TEST(test_one_owner),
		TEST(test_recover),
		TEST(test_recover_third_value),
		TEST(test_recover_after_reboot),
		TEST(test_recover_fails),
		TEST(test_left),
		TEST(test_recover_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
