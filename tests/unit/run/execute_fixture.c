/* SPDX-License-Identifier: MIT */
/* Real worker processes for the tests of run_execute(). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "execute_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_bench.h"

struct preset fixture_preset(unsigned min, unsigned max, double budget)
{
	return (struct preset){ .name = "test",
				.summary = "t",
				.min_invocations = min,
				.max_invocations = max,
				.interval_target = 0.02,
				.budget_seconds = budget,
				.samples = 3,
				.point_seconds = 0.001 };
}

void fixture_init(struct fixture *f, const char *line, const struct preset *p)
{
	char text[512], *words[8], *rest = text, *word;
	struct request q = { .preset = p, .seed = 5 };
	struct sysroot sr;
	size_t n = 0;

	memset(f, 0, sizeof(*f));
	f->limits = (struct execute_limits){ .silence_seconds = 20, .grace_seconds = 2 };
	snprintf(f->dir, sizeof(f->dir), "/tmp/pagetoll-test-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->pid_file, sizeof(f->pid_file), "%s/pid", f->dir);
	snprintf(f->run_file, sizeof(f->run_file), "%s/run", f->dir);
	setenv(FAKE_PID_FILE, f->pid_file, 1);
	assert_int_equal(sysroot_init(&sr, NULL, &f->e), 0);
	assert_int_equal(machine_read(&sr, &f->m, &f->e), 0);
	snprintf(text, sizeof(text), "%s", line);
	while ((word = strsep(&rest, " ")) != NULL && n < 8)
		words[n] = strcpy(f->copies[n], word), n++;
	assert_int_equal(request_parse(&f->arena, words, n, &q, &f->e), 0);
	if (plan_build(&q, &f->m, &f->plan, &f->e) != 0)
		fail_msg("%s", f->e.msg);
	f->run = run_new();
	assert_non_null(f->run);
	f->run->id = "TEST";
	f->run->source = "measured here";
	f->run->version = "0";
	f->run->command = "test";
	f->run->schema_version = RUN_SCHEMA_VERSION;
	for (size_t i = 0; i < f->plan.n; i++)
		assert_int_equal(run_add_schema(f->run, &f->plan.v[i].bench->schema), 0);
}

static void on_status(void *user, const struct run_status *st)
{
	struct fixture *f = user;

	assert_true(st->setting >= 1 && st->setting <= st->n_settings);
	assert_true(st->invocation >= 1 && st->planned != NULL);
	assert_true(st->left_seconds >= 0 && st->elapsed_seconds >= 0);
	f->n_status++;
}

static void on_done(void *user, const struct planned *p, unsigned invocations, const char *why)
{
	struct fixture *f = user;

	(void)invocations;
	assert_non_null(p->bench);
	snprintf(f->last_why, sizeof(f->last_why), "%s", why);
	f->n_done++;
}

int fixture_execute(struct fixture *f, struct runfile *file, const volatile sig_atomic_t *stop)
{
	struct run_hooks hooks = { .user = f, .status = on_status, .setting_done = on_done };

	return execute_plan(&f->plan, f->run, file, &hooks, stop, &f->limits, &f->e);
}

void fixture_done(struct fixture *f)
{
	unlink(f->pid_file);
	unlink(f->run_file);
	rmdir(f->dir);
	plan_done(&f->plan);
	arena_done(&f->arena);
	machine_done(&f->m);
	run_free(f->run);
}

const struct measure *fixture_measure(const struct fixture *f, int64_t n, unsigned invocation)
{
	for (size_t i = 0; i < f->run->n_measures; i++) {
		const struct measure *m = &f->run->measures[i];

		if (attrs_int(&m->setting, "n", 0) == n && m->invocation == invocation)
			return m;
	}
	return NULL;
}

size_t fixture_count(const struct fixture *f, enum verdict v)
{
	size_t n = 0;

	for (size_t i = 0; i < f->run->n_measures; i++)
		n += f->run->measures[i].verdict == v;
	return n;
}

pid_t fixture_pid(const struct fixture *f)
{
	for (int i = 0; i < 2000; i++) {
		FILE *file = fopen(f->pid_file, "r");
		int pid = 0;

		if (file) {
			if (fscanf(file, "%d", &pid) != 1)
				pid = 0;
			fclose(file);
		}
		if (pid > 0)
			return pid;
		usleep(5000);
	}
	fail_msg("no pid in %s", f->pid_file);
	return 0;
}
