/* SPDX-License-Identifier: MIT */
/*
 * migration.cost for real, small: where it ran and which lines it touched; CPUs that vanish, a
 * thread that does not move, increments that are missing; and the affinity afterwards.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "bench/ctx.h"
#include "bench/mover.h"
#include "host/affinity.h"
#include "mem/touch_loops.h"
#include "record/run.h"
#include "run_words.h"

enum { BYTES = 64 << 10 };

static struct u32_list allowed_cpus(void)
{
	struct u32_list l = { 0 };

	assert_int_equal(affinity_allowed(&l, NULL), 0);
	return l;
}

static bool same_list(const struct u32_list *a, const struct u32_list *b)
{
	return a->n == b->n && memcmp(a->v, b->v, a->n * sizeof(*a->v)) == 0;
}

struct watch {
	unsigned n, ok;
	int emit_returns;
	int64_t lines, lines_touched;
	char reason[300];
	double least_cold;
};

static int look(void *user, const struct bench_result *r)
{
	struct watch *w = user;

	w->n++;
	w->ok += r->verdict == VERDICT_OK;
	w->lines = attrs_int(&r->proof, "lines", -1);
	w->lines_touched = attrs_int(&r->proof, "lines_touched", -1);
	snprintf(w->reason, sizeof(w->reason), "%s", r->reason ? r->reason : "");
	if (r->verdict == VERDICT_OK && r->n_metrics > 3 && r->values[3].n)
		w->least_cold = r->values[3].samples[0];
	return w->emit_returns;
}

/* One invocation between two CPUs, in this process. */
static void run_pair(uint32_t from, uint32_t to, const char *words, struct watch *w)
{
	static const uint64_t inner[] = { 16 << 10, BYTES };
	struct arena a = { 0 };
	struct invocation_spec spec = { .bench = bench_find("migration.cost"),
					.inner = "working-set",
					.inner_values = inner,
					.n_inner = 2,
					.samples = 3,
					.point_seconds = 0.05,
					.seed = 7 };
	struct err e = { 0 };
	char text[400];

	assert_non_null(spec.bench);
	snprintf(text, sizeof(text),
		 "from.id=%u to.id=%u pair.class=l3 pair.node=0 pair.guest=KVM page.kind=base "
		 "page.bytes=%ld %s",
		 from, to, sysconf(_SC_PAGESIZE), words);
	set_words(&a, &spec.setting, text);
	bench_run_invocation(&spec, look, w, &e);
	arena_done(&a);
}

static void patterns_prove_themselves(void **state)
{
	static const struct {
		const char *words;
		double share;
	} rows[] = {
		{ "pattern=full backing=scattered search=curve", 1 },
		{ "pattern=four-region backing=scattered search=curve", 1 },
		{ "pattern=kernel-2.6.18 backing=scattered search=curve", 0.667 },
		{ "pattern=full backing=contiguous search=curve", 1 },
		{ "pattern=kernel-2.6.18 backing=scattered search=historical", 0.667 },
	};
	struct u32_list cpus = allowed_cpus(), after;

	(void)state;
	if (cpus.n < 2) {
		u32_list_done(&cpus);
		skip();
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct watch w = { 0 };
		double share;

		run_pair(cpus.v[0], cpus.v[1], rows[i].words, &w);
		/* this system has no huge pages, or its free memory is in pieces right now: told,
		 * too */
		if (strstr(rows[i].words, "contiguous") &&
		    (strstr(w.reason, "huge pages") ||
		     strstr(w.reason, "frames are not contiguous")))
			continue;
		/* 16 KiB are less than the historical range begins with */
		if (w.ok != (strstr(rows[i].words, "historical") ? 1 : 2))
			fail_msg("%s: %s", rows[i].words, w.reason);
		share = (double)w.lines_touched / (double)w.lines;
		if (!strstr(rows[i].words, "historical") &&
		    (share < rows[i].share - 0.02 || share > rows[i].share + 0.02))
			fail_msg("%s: share %.3f", rows[i].words, share);
		after = allowed_cpus();
		assert_true(same_list(&cpus, &after));
		u32_list_done(&after);
	}
	u32_list_done(&cpus);
}

/* The invocation is ended by its consumer, as by a signal that ends the run. */
static void interruption_restores_affinity(void **state)
{
	struct u32_list cpus = allowed_cpus(), after;
	struct watch w = { .emit_returns = -ECANCELED };

	(void)state;
	if (cpus.n < 2) {
		u32_list_done(&cpus);
		skip();
	}
	run_pair(cpus.v[0], cpus.v[1], "pattern=full backing=scattered search=curve", &w);
	assert_int_equal(w.n, 1);
	after = allowed_cpus();
	assert_true(same_list(&cpus, &after));
	u32_list_done(&after);
	u32_list_done(&cpus);
}

static void a_cpu_that_is_not_there_fails_the_points(void **state)
{
	struct u32_list cpus = allowed_cpus(), after;
	struct watch w = { 0 };

	(void)state;
	run_pair(cpus.v[0], 99999, "pattern=full backing=scattered search=curve", &w);
	assert_int_equal(w.ok, 0);
	assert_non_null(strstr(w.reason, "99999"));
	after = allowed_cpus();
	assert_true(same_list(&cpus, &after));
	u32_list_done(&after);
	u32_list_done(&cpus);
}

/* --- the mover alone --- */

static int pins_left;

static int vanishing_pin(uint32_t cpu, struct err *e)
{
	if (pins_left-- > 0)
		return 0;
	return err_set(e, EINVAL, "binding to CPU %u: it has gone", cpu);
}

static int idle_pin(uint32_t cpu, struct err *e)
{
	(void)cpu;
	(void)e;
	return 0;
}

static struct mover begin(uint64_t *memory, const struct u32_list *cpus)
{
	struct mover m;

	assert_int_equal(mover_init(&m, memory, cpus->v[0], cpus->v[0], NULL), 0);
	mover_begin(&m, TOUCH_FULL, BYTES, 3);
	return m;
}

static void a_cpu_may_vanish_at_every_step(void **state)
{
	uint64_t *memory = aligned_alloc(4096, BYTES);
	struct u32_list cpus = allowed_cpus();

	(void)state;
	assert_non_null(memory);
	for (int at = 0; at < 4; at++) {
		struct mover m = begin(memory, &cpus);
		struct mover_times t = { -1, -1 };
		struct err e = { 0 };
		int rc, needed = m.evict.data ? 3 : 2; /* bindings of one measure */

		m.pin = vanishing_pin;
		pins_left = at < needed ? at : 100; /* a disturbed measure is made again */
		rc = mover_measure(&m, cpus.v[0], cpus.v[0], &t, &e);
		assert_int_equal(rc, at < needed ? -EINVAL : 0);
		if (rc < 0) {
			assert_true(t.first_ns < 0 && t.second_ns < 0); /* untouched */
			assert_non_null(strstr(e.msg, "while measuring"));
		}
		mover_done(&m);
	}
	free(memory);
	u32_list_done(&cpus);
}

static void a_thread_that_stays_is_seen(void **state)
{
	uint64_t *memory = aligned_alloc(4096, BYTES);
	struct u32_list cpus = allowed_cpus();
	struct mover m = begin(memory, &cpus);
	struct mover_times t;

	(void)state;
	m.pin = idle_pin;
	assert_int_equal(mover_measure(&m, 77777, 77777, &t, NULL), 0);
	assert_true(m.strayed_to >= 0);
	assert_int_equal(m.strayed_from, 77777);
	mover_done(&m);
	free(memory);
	u32_list_done(&cpus);
}

static void increments_and_lines_are_counted(void **state)
{
	uint64_t *memory = aligned_alloc(4096, BYTES);
	struct u32_list cpus = allowed_cpus();
	struct mover m = begin(memory, &cpus);
	struct mover_times t;
	struct touch_trace trace;

	(void)state;
	assert_int_equal(mover_measure(&m, cpus.v[0], cpus.v[0], &t, NULL), 0);
	assert_int_equal(m.strayed_to, -1);
	assert_true(t.first_ns > 0 && t.second_ns > 0);
	trace = touch_read(memory, BYTES / 8);
	assert_int_equal(trace.sum, m.increments);
	assert_int_equal(trace.sum, 2 * (m.repeats + 1) * (BYTES / 64));
	assert_int_equal(trace.lines, BYTES / 64);
	/* an increment that got lost, a line that was not touched */
	memory[8] = 0;
	trace = touch_read(memory, BYTES / 8);
	assert_int_not_equal(trace.sum, m.increments);
	assert_int_equal(trace.lines, BYTES / 64 - 1);
	mover_done(&m);
	free(memory);
	u32_list_done(&cpus);
}

static void costs_refuse_nonsense(void **state)
{
	const struct bench *b = bench_find("migration.cost");
	struct machine m = { .page_bytes = 4096, .leaf_table_span = 2 << 20 };
	struct arena a = { 0 };
	struct bench_setting s = { 0 };
	struct bench_cost c;
	struct err e = { 0 };

	(void)state;
	set_words(&a, &s, "backing=contiguous page.bytes=2097152 search=curve");
	assert_int_equal(b->cost(&m, &s, 1 << 20, &c, &e), -EINVAL);
	assert_non_null(strstr(e.msg, "use page=base"));
	set_words(&a, &s, "backing=contiguous page.bytes=4096");
	assert_int_equal(b->cost(&m, &s, 1 << 20, &c, NULL), 0);
	assert_int_equal(c.arena_bytes, 2 << 20);
	set_words(&a, &s, "search=historical backing=scattered");
	assert_int_equal(b->cost(&m, &s, 4096, &c, &e), -EINVAL);
	assert_int_equal(b->cost(&m, &s, 64 << 10, &c, NULL), 0);
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_prove_themselves),
		cmocka_unit_test(interruption_restores_affinity),
		cmocka_unit_test(a_cpu_that_is_not_there_fails_the_points),
		cmocka_unit_test(a_cpu_may_vanish_at_every_step),
		cmocka_unit_test(a_thread_that_stays_is_seen),
		cmocka_unit_test(increments_and_lines_are_counted),
		cmocka_unit_test(costs_refuse_nonsense),
	};

	return cmocka_run_group_tests_name("migration_cost", tests, NULL, NULL);
}
