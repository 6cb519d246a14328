/* SPDX-License-Identifier: MIT */
/* Teams: all on their CPU, all at once, again and again; CPUs that cannot be had. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <cmocka.h>

#include "host/affinity.h"
#include "host/clock.h"
#include "mem/team.h"

enum { MANY = 256 };

struct seen {
	int cpu[MANY];
	unsigned calls[MANY];
	_Atomic unsigned inside; /* calls of all threads so far */
	size_t n;
};

/* Nobody leaves before all have come: possible only if all run at once. */
static void meet(void *user, size_t i)
{
	struct seen *s = user;

	s->cpu[i] = sched_getcpu();
	s->calls[i]++;
	atomic_fetch_add(&s->inside, 1);
	while (atomic_load(&s->inside) < s->calls[i] * s->n)
		sched_yield();
}

static void all_at_once_on_their_cpus(void **state)
{
	struct u32_list cpus = { 0 };
	static struct seen s;
	struct team *t = NULL;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(affinity_allowed(&cpus, &e), 0);
	s.n = cpus.n < MANY ? cpus.n : MANY;
	assert_int_equal(team_start(cpus.v, s.n, &t, &e), 0);
	assert_int_equal(team_size(t), s.n);
	for (unsigned round = 1; round <= 50; round++) {
		int64_t before = clock_now_ns(), last_start = 0;
		const struct team_span *spans = team_run(t, meet, &s);
		int64_t after = clock_now_ns();

		for (size_t i = 0; i < s.n; i++) {
			assert_int_equal(s.calls[i], round);
			assert_int_equal(s.cpu[i], cpus.v[i]);
			assert_int_equal(spans[i].strayed_to, -1);
			assert_true(spans[i].start_ns >= before && spans[i].end_ns <= after);
			if (spans[i].start_ns > last_start)
				last_start = spans[i].start_ns;
		}
		/* none was done before the last began */
		for (size_t i = 0; i < s.n; i++)
			assert_true(spans[i].end_ns >= last_start);
	}
	team_end(t);
	u32_list_done(&cpus);
}

static void wander(void *user, size_t i)
{
	const struct u32_list *cpus = user;

	(void)i;
	affinity_pin(cpus->v[1], NULL);
}

static void a_thread_that_leaves_its_cpu_is_seen(void **state)
{
	struct u32_list cpus = { 0 };
	struct team *t = NULL;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(affinity_allowed(&cpus, &e), 0);
	if (cpus.n >= 2) {
		assert_int_equal(team_start(cpus.v, 1, &t, &e), 0);
		assert_int_equal(team_run(t, wander, &cpus)->strayed_to, cpus.v[1]);
		team_end(t);
	}
	u32_list_done(&cpus);
}

static void cpus_that_are_not_there(void **state)
{
	const uint32_t absent[] = { 0, 1048575 };
	struct team *t = NULL;
	struct err e = { 0 };

	(void)state;
	assert_true(team_start(&absent[1], 1, &t, &e) < 0);
	assert_null(t);
	assert_non_null(e.msg);
	assert_true(team_start(absent, 2, &t, NULL) < 0);
	assert_null(t);
	team_end(NULL);
	assert_int_equal(team_start(NULL, 0, &t, &e), 0);
	team_end(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_at_once_on_their_cpus),
		cmocka_unit_test(a_thread_that_leaves_its_cpu_is_seen),
		cmocka_unit_test(cpus_that_are_not_there),
	};

	return cmocka_run_group_tests_name("team", tests, NULL, NULL);
}
