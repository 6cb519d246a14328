/* SPDX-License-Identifier: MIT */
/* Two arms: their words, how they are interleaved, what comes back, and continuing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_bench.h"
#include "run/ab.h"

/* --- fixture -----------------------------------------------------------------------------------
 */

struct lab {
	struct arena arena;
	struct machine m;
	struct preset preset;
	struct ab_arm arms[2];
	struct ab_plan plan;
	struct run *run;
	struct err e;
	unsigned n_done;
	char why[256];
};

static size_t split(struct arena *a, const char *line, char **words)
{
	char *rest = arena_strdup(a, line), *word;
	size_t n = 0;

	while (rest && (word = strsep(&rest, " ")) != NULL)
		if (*word)
			words[n++] = word;
	return n;
}

static int lab_plan(struct lab *l, enum ab_mode mode, const char *arm_a, const char *arm_b,
		    const char *line, unsigned blocks)
{
	const char *texts[2] = { arm_a, arm_b };
	struct plan plans[2] = { 0 };
	struct request q = { .preset = &l->preset, .seed = 11 }, arm;
	char *words[16];
	int rc = 0;

	assert_int_equal(request_parse(&l->arena, words, split(&l->arena, line, words), &q, &l->e),
			 0);
	for (int k = 0; rc == 0 && k < 2; k++) {
		size_t n = split(&l->arena, texts[k], words);

		rc = ab_arm_parse(&l->arena, words, n, &l->arms[k], &l->e);
		if (rc == 0 && (k == 0 || mode == AB_MODE_AB)) {
			assert_int_equal(ab_request(&l->arena, &q, &l->arms[k], &arm, &l->e), 0);
			rc = plan_build(&arm, &l->m, &plans[k], &l->e);
		}
	}
	if (rc < 0) {
		plan_done(&plans[0]);
		return rc;
	}
	return ab_plan_make(mode, &plans[0], mode == AB_MODE_AB ? &plans[1] : NULL, l->arms, blocks,
			    &l->plan, &l->e);
}

static struct run *new_run(const struct lab *l)
{
	struct run *r = run_new();

	assert_non_null(r);
	r->id = "TEST";
	r->source = "measured here";
	r->schema_version = RUN_SCHEMA_VERSION;
	r->boot_id = "boot-1";
	for (size_t i = 0; i < l->plan.n_pairs; i++)
		assert_int_equal(run_add_schema(r, &l->plan.pairs[i].p[0]->bench->schema), 0);
	return r;
}

static void lab_init(struct lab *l, enum ab_mode mode, const char *arm_a, const char *arm_b,
		     const char *line, unsigned blocks)
{
	struct sysroot sr;

	*l = (struct lab){ .preset = { .name = "test",
				       .summary = "t",
				       .min_invocations = 2,
				       .max_invocations = 2,
				       .interval_target = 0.02,
				       .samples = 3,
				       .point_seconds = 0.001 } };
	assert_int_equal(sysroot_init(&sr, NULL, &l->e), 0);
	assert_int_equal(machine_read(&sr, &l->m, &l->e), 0);
	if (!line)
		return;
	if (lab_plan(l, mode, arm_a, arm_b, line, blocks) < 0)
		fail_msg("%s", l->e.msg);
	l->run = new_run(l);
}

static void lab_done(struct lab *l)
{
	ab_plan_done(&l->plan);
	arena_done(&l->arena);
	machine_done(&l->m);
	run_free(l->run);
}

static void on_done(void *user, const struct planned *p, unsigned n, const char *why)
{
	struct lab *l = user;

	(void)p;
	(void)n;
	snprintf(l->why, sizeof(l->why), "%s", why);
	l->n_done++;
}

static int execute(struct lab *l, const struct ab_job *changes)
{
	const struct run_hooks hooks = { .user = l, .setting_done = on_done };
	struct ab_job j = changes ? *changes : (struct ab_job){ 0 };

	j.plan = &l->plan;
	j.arms = l->arms;
	j.run = l->run;
	j.hooks = &hooks;
	j.limits = (struct execute_limits){ .silence_seconds = 20, .grace_seconds = 2 };
	return ab_execute(&j, &l->e);
}

/* Ok measures of an arm at inner value @n (0: any). */
static size_t count(const struct lab *l, const char *arm, int64_t n)
{
	size_t found = 0;

	for (size_t i = 0; i < l->run->n_measures; i++) {
		const struct measure *m = &l->run->measures[i];

		found += m->verdict == VERDICT_OK && m->arm && strcmp(m->arm, arm) == 0 &&
			 (!n || attrs_int(&m->setting, "n", 0) == n);
	}
	return found;
}

/* --- words -------------------------------------------------------------------------------------
 */

static int parse_arm(struct lab *l, struct ab_arm *ret, const char *one, const char *two)
{
	char *args[2] = { arena_strdup(&l->arena, one), arena_strdup(&l->arena, two) };

	err_clear(&l->e);
	return ab_arm_parse(&l->arena, args, two ? 2 : 1, ret, &l->e);
}

static void test_arm_words(void **state)
{
	struct ab_arm arm;
	struct lab l;

	(void)state;
	lab_init(&l, AB_MODE_AB, NULL, NULL, NULL, 0);
	assert_int_equal(parse_arm(&l, &arm, "page=4k  order=random", "thp=always"), 0);
	assert_int_equal(arm.n_params, 2);
	assert_string_equal(arm.params[1].name, "order");
	assert_string_equal(arm.params[1].value, "random");
	assert_int_equal(arm.n_settings, 1);
	assert_string_equal(arm.settings[0].value, "always");
	assert_null(arm.env);
	/* a variable takes the rest of its argument */
	assert_int_equal(parse_arm(&l, &arm, "page=4k GLIBC_TUNABLES=a=b c=d", "X_1="), 0);
	assert_int_equal(arm.n_params, 1);
	assert_int_equal(arm.n_env, 2);
	assert_string_equal(arm.env[0], "GLIBC_TUNABLES=a=b c=d");
	assert_string_equal(arm.env[1], "X_1=");
	assert_null(arm.env[2]);
	assert_string_equal(arm.text, "page=4k GLIBC_TUNABLES=a=b c=d X_1=");
	assert_int_equal(parse_arm(&l, &arm, "fault-around-bytes=64k", NULL), 0);
	assert_string_equal(arm.settings[0].value, "65536");
	lab_done(&l);
}

static void test_arm_words_refused(void **state)
{
	static const struct {
		const char *one, *two, *says;
	} rows[] = {
		{ "page", NULL, "not NAME=VALUE" },
		{ "=4k", NULL, "not NAME=VALUE" },
		{ "page=", NULL, "no value" },
		{ "page=4k,thp", NULL, "one value" },
		{ "n=1..10", NULL, "one value" },
		{ "page=4k", "page=thp", "twice" },
		{ "page=4k order=random page=4k", NULL, "twice" },
		{ "A=1", "A=2", "twice" },
		{ "thp=always", "thp=never", "twice" },
		{ "thp=sometimes", NULL, "always, madvise, never" },
		{ "numa-balancing=9", NULL, "out of range" },
		{ "fault-around-bytes=5k", NULL, "power of two" },
		{ "X=a\033[31mb", NULL, "control characters" },
		{ "X=\xff", NULL, "UTF-8" },
	};
	struct ab_arm arm;
	struct lab l;

	(void)state;
	lab_init(&l, AB_MODE_AB, NULL, NULL, NULL, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(parse_arm(&l, &arm, rows[i].one, rows[i].two) < 0);
		if (!strstr(l.e.msg, rows[i].says))
			fail_msg("\"%s\" does not say \"%s\"", l.e.msg, rows[i].says);
	}
	lab_done(&l);
}

static void test_arms_check(void **state)
{
	static const struct {
		const char *a, *b;
		bool good;
	} rows[] = {
		{ "page=4k", "page=thp", true },
		{ "page=4k", "order=random", true },
		{ "X=1", "X=2", true },
		{ "X=1", "Y=1", true },
		{ "thp=always", "thp=never", true },
		{ "thp=always page=4k", "thp=always page=thp", true },
		{ "page=4k", "page=4k", false },
		{ "X=1", "X=1", false },
		{ "thp=never", "thp=never", false },
		{ "thp=never", "page=4k", false },
		{ "page=4k", "thp=never", false },
		{ "thp=never numa-balancing=1", "thp=always", false },
		{ "page=4k order=random", "order=random page=4k", false },
	};
	struct ab_arm arms[2];
	struct lab l;

	(void)state;
	lab_init(&l, AB_MODE_AB, NULL, NULL, NULL, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(parse_arm(&l, &arms[0], rows[i].a, NULL), 0);
		assert_int_equal(parse_arm(&l, &arms[1], rows[i].b, NULL), 0);
		assert_int_equal(ab_arms_check(arms, &l.e), rows[i].good ? 0 : -EINVAL);
	}
	lab_done(&l);
}

static void test_words_come_back(void **state)
{
	static const char *const in[] = { "a b", "", "%", "x=%20", "tab\there", "plain", " " };
	char *words[7], **back = NULL;
	size_t n = 0;
	struct lab l;

	(void)state;
	lab_init(&l, AB_MODE_AB, NULL, NULL, NULL, 0);
	for (size_t i = 0; i < 7; i++)
		words[i] = arena_strdup(&l.arena, in[i]);
	assert_int_equal(ab_split(&l.arena, ab_join(&l.arena, words, 7), &back, &n, &l.e), 0);
	assert_int_equal(n, 7);
	for (size_t i = 0; i < 7; i++)
		assert_string_equal(back[i], in[i]);
	assert_int_equal(ab_split(&l.arena, "", &back, &n, &l.e), 0);
	assert_int_equal(n, 0);
	assert_int_equal(ab_split(&l.arena, "bad%zz", &back, &n, &l.e), -EINVAL);
	lab_done(&l);
}

/* --- plan and order ----------------------------------------------------------------------------
 */

static void test_words_override(void **state)
{
	struct lab l;

	(void)state;
	/* wherever the common words stand: for all, or for the target */
	lab_init(&l, AB_MODE_AB, "order=sequential", "size=128",
		 "order=random fake.sweep size=64 n=1,2", 2);
	assert_int_equal(l.plan.n_pairs, 1);
	assert_string_equal(attrs_text(&l.plan.pairs[0].p[0]->setting.given, "order", ""),
			    "sequential");
	assert_int_equal(attrs_int(&l.plan.pairs[0].p[0]->setting.given, "size", 0), 64);
	assert_string_equal(attrs_text(&l.plan.pairs[0].p[1]->setting.given, "order", ""),
			    "random");
	assert_int_equal(attrs_int(&l.plan.pairs[0].p[1]->setting.given, "size", 0), 128);
	lab_done(&l);
}

static void test_plan_refused(void **state)
{
	static const struct {
		const char *a, *b, *line;
	} rows[] = {
		{ "pge=4k", "page=4k", "fake.sweep n=1" },
		{ "order=backwards", "order=random", "fake.sweep n=1" },
		{ "times=1", "times=2", "fake.sweep n=1" },
		{ "size=79", "size=64", "fake.sweep n=1" },
		/* one of the values is the arm's own: one setting less */
		{ "n=5", "n=6", "fake.plain" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lab l;

		lab_init(&l, AB_MODE_AB, NULL, NULL, NULL, 0);
		assert_int_equal(lab_plan(&l, AB_MODE_AB, rows[i].a, rows[i].b, rows[i].line, 2),
				 -EINVAL);
		assert_true(l.e.msg[0] != '\0');
		lab_done(&l);
	}
}

static void test_blocks(void **state)
{
	struct preset p = { .min_invocations = 8 };

	(void)state;
	assert_int_equal(ab_blocks(&p, 0), 6);
	assert_int_equal(ab_blocks(&p, 20), 10);
	assert_int_equal(ab_blocks(&p, 3), 2);
	assert_int_equal(ab_blocks(&p, 1), 1);
	p.min_invocations = 3;
	assert_int_equal(ab_blocks(&p, 0), 2);
}

static void test_order(void **state)
{
	enum { BLOCKS = 200, PAIRS = 3 };
	struct ab_step steps[BLOCKS][4 * PAIRS], again[4 * PAIRS];
	unsigned first_a = 0, first_pair[PAIRS] = { 0 };
	struct lab l;

	(void)state;
	lab_init(&l, AB_MODE_AB, "order=random", "order=sequential",
		 "fake.sweep size=64,128,256 n=1", BLOCKS);
	assert_int_equal(ab_steps_per_block(&l.plan), 4 * PAIRS);
	for (unsigned b = 0; b < BLOCKS; b++) {
		bool seen[PAIRS] = { false };

		assert_int_equal(ab_block_order(&l.plan, b, 0, steps[b]), 0);
		for (size_t i = 0; i < PAIRS; i++) {
			const struct ab_step *s = &steps[b][4 * i];

			/* ABBA or BAAB of one pair; both arms have the same numbers */
			assert_true(s->pair < PAIRS && !seen[s->pair]);
			seen[s->pair] = true;
			assert_int_equal(s[1].arm, 1 - s->arm);
			assert_int_equal(s[2].arm, 1 - s->arm);
			assert_int_equal(s[3].arm, s->arm);
			assert_int_equal(s[0].invocation, 2 * b);
			assert_int_equal(s[1].invocation, 2 * b);
			assert_int_equal(s[2].invocation, 2 * b + 1);
			assert_int_equal(s[3].invocation, 2 * b + 1);
			for (size_t k = 1; k < 4; k++)
				assert_int_equal(s[k].pair, s->pair);
			first_a += s->arm == 0;
		}
		first_pair[steps[b][0].pair]++;
	}
	/* 600 fair draws: 8 standard deviations are 98; 200 of three: 8 are 53 */
	assert_in_range(first_a, 300 - 98, 300 + 98);
	for (size_t i = 0; i < PAIRS; i++)
		assert_in_range(first_pair[i], 67 - 53, 67 + 53);
	/* the same again, in any order of asking; another for another seed */
	assert_int_equal(ab_block_order(&l.plan, 7, 0, again), 0);
	assert_memory_equal(again, steps[7], sizeof(again));
	l.plan.seed++;
	{
		unsigned same = 0;

		for (unsigned b = 0; b < BLOCKS; b++) {
			assert_int_equal(ab_block_order(&l.plan, b, 0, again), 0);
			same += memcmp(again, steps[b], sizeof(again)) == 0;
		}
		assert_true(same < BLOCKS / 4);
	}
	lab_done(&l);
}

static void test_common_grid(void **state)
{
	struct lab l;

	(void)state;
	lab_init(&l, AB_MODE_AB, "order=random", "order=sequential", "fake.sweep", 1);
	l.plan.pairs[0].p[0]->grid.n = 3;
	lab_done(&l);
	/* an inner value can be what the arms differ in */
	lab_init(&l, AB_MODE_AB, "n=4", "n=8", "fake.sweep", 1);
	assert_int_equal(l.plan.pairs[0].p[0]->grid.v[0], 4);
	assert_int_equal(l.plan.pairs[0].p[1]->grid.v[0], 8);
	assert_int_equal(execute(&l, NULL), 0);
	assert_int_equal(count(&l, "A", 4), 2);
	assert_int_equal(count(&l, "B", 8), 2);
	assert_int_equal(l.run->n_measures, 4);
	lab_done(&l);
}

/* --- running -----------------------------------------------------------------------------------
 */

static void test_counts_and_arms(void **state)
{
	struct points p;
	struct arena a = { 0 };
	struct lab l;

	(void)state;
	lab_init(&l, AB_MODE_AB, "order=random", "order=sequential", "fake.sweep n=1,2,4", 3);
	assert_int_equal(execute(&l, NULL), 0);
	assert_int_equal(l.run->n_measures, 2 * 6 * 3);
	for (int64_t n = 1; n <= 4; n *= 2) {
		assert_int_equal(count(&l, "A", n), 6);
		assert_int_equal(count(&l, "B", n), 6);
	}
	assert_true(l.run->complete);
	assert_string_equal(l.run->stop_reason, "all blocks done");
	assert_int_equal(l.n_done, 1);
	assert_int_equal(points_assemble(&a, l.run, &p), 0);
	assert_int_equal(p.n, 6);
	for (size_t i = 0; i < p.n; i++) {
		const char *order = attrs_text(p.v[i].setting, "order", "");

		assert_int_equal(p.v[i].n_measures, 6);
		assert_string_equal(order, p.v[i].arm[0] == 'A' ? "random" : "sequential");
		for (size_t k = 0; k < 6; k++) /* fresh processes of their own */
			for (size_t o = 0; o < k; o++)
				assert_int_not_equal(
					attrs_int(&p.v[i].measures[k]->proof, "pid", 0),
					attrs_int(&p.v[i].measures[o]->proof, "pid", 0));
	}
	arena_done(&a);
	lab_done(&l);
}

/* Arms that are alike in every setting are two all the same. */
static void test_alike_arms_stay_apart(void **state)
{
	struct points p;
	struct arena a = { 0 };
	struct lab l;

	(void)state;
	lab_init(&l, AB_MODE_AA, "", "", "fake.plain times=2", 2);
	assert_int_equal(execute(&l, NULL), 0);
	assert_int_equal(points_assemble(&a, l.run, &p), 0);
	assert_int_equal(p.n, 2);
	assert_int_equal(p.v[0].n_measures, 4);
	assert_int_equal(p.v[1].n_measures, 4);
	assert_string_not_equal(p.v[0].arm, p.v[1].arm);
	arena_done(&a);
	lab_done(&l);
}

static void test_environment_of_an_arm(void **state)
{
	struct lab l;

	(void)state;
	setenv("PAGETOLL_TEST_ENV", "inherited", 1);
	lab_init(&l, AB_MODE_AB, "", "PAGETOLL_TEST_ENV=of_b", "fake.sweep n=1", 2);
	assert_int_equal(execute(&l, NULL), 0);
	assert_int_equal(l.run->n_measures, 8);
	for (size_t i = 0; i < l.run->n_measures; i++) {
		const struct measure *m = &l.run->measures[i];

		assert_string_equal(attrs_text(&m->proof, "env", ""),
				    m->arm[0] == 'A' ? "inherited" : "of_b");
	}
	assert_string_equal(getenv("PAGETOLL_TEST_ENV"), "inherited");
	unsetenv("PAGETOLL_TEST_ENV");
	lab_done(&l);
}

static void test_skips_in_both(void **state)
{
	struct lab l;

	(void)state;
	/* what one arm has not got, neither runs; the other setting does */
	lab_init(&l, AB_MODE_AB, "size=80", "size=64", "fake.sweep n=1", 1);
	assert_int_equal(execute(&l, NULL), -ENODEV);
	assert_non_null(strstr(l.e.msg, "80 cannot be had here"));
	assert_int_equal(l.run->n_measures, 2);
	assert_int_equal(l.run->measures[0].verdict, VERDICT_SKIPPED);
	assert_string_equal(l.run->measures[1].arm, "B");
	lab_done(&l);
}

static void test_failing_arm_ends(void **state)
{
	struct lab l;

	(void)state;
	lab_init(&l, AB_MODE_AB, "what=ok", "what=fail", "fake.sweep n=4", 10);
	assert_int_equal(execute(&l, NULL), 0);
	assert_in_range(l.run->n_measures, 3, 4);
	assert_non_null(strstr(l.why, "arm B failed again and again"));
	assert_non_null(strstr(l.run->stop_reason, "arm B failed"));
	lab_done(&l);
}

static void test_budget_ends_whole_blocks(void **state)
{
	struct lab l;

	(void)state;
	lab_init(&l, AB_MODE_AB, "order=random", "order=sequential", "fake.sweep n=1", 50);
	l.plan.budget_seconds = 1e-6;
	assert_int_equal(execute(&l, NULL), 0);
	assert_int_equal(count(&l, "A", 1), 2);
	assert_int_equal(count(&l, "B", 1), 2);
	assert_non_null(strstr(l.run->stop_reason, "time budget (1 of 50 blocks)"));
	lab_done(&l);
}

/* --- continuing --------------------------------------------------------------------------------
 */

/* What a kill may leave: any number of first measures. The end is the same as without it. */
static void test_resume(void **state)
{
	struct lab whole;

	(void)state;
	lab_init(&whole, AB_MODE_AB, "order=random", "order=sequential", "fake.sweep n=1,2,4", 2);
	assert_int_equal(execute(&whole, NULL), 0);
	assert_int_equal(whole.run->n_measures, 24);
	for (size_t kept = 0; kept <= 24; kept += 5) {
		struct lab l;

		lab_init(&l, AB_MODE_AB, "order=random", "order=sequential", "fake.sweep n=1,2,4",
			 2);
		for (size_t i = 0; i < kept; i++) {
			struct measure *m = run_add_measure(l.run);

			*m = whole.run->measures[i];
		}
		assert_int_equal(execute(&l, NULL), 0);
		assert_int_equal(l.run->n_measures, 24);
		for (int64_t n = 1; n <= 4; n *= 2) {
			assert_int_equal(count(&l, "A", n), 4);
			assert_int_equal(count(&l, "B", n), 4);
		}
		/* each point once in each process number */
		for (size_t i = 0; i < 24; i++)
			for (size_t k = 0; k < i; k++) {
				const struct measure *x = &l.run->measures[i];
				const struct measure *y = &l.run->measures[k];

				assert_false(x->invocation == y->invocation &&
					     attrs_equal(&x->setting, &y->setting));
			}
		assert_true(l.run->complete);
		lab_done(&l);
	}
	lab_done(&whole);
}

static void test_memory(void **state)
{
	struct ab_memory m = { .words = "fake.sweep n=1,2", .a = "order=random", .b = "X=a%20b" };
	struct ab_memory back;
	struct lab l;

	(void)state;
	lab_init(&l, AB_MODE_AB, "order=random", "order=sequential", "fake.sweep n=1,2,9", 7);
	l.plan.seed = UINT64_MAX;
	assert_int_equal(ab_recall(l.run, &back, &l.e), -EINVAL);
	assert_int_equal(ab_remember(l.run, &l.plan, &m, &l.e), 0);
	assert_int_equal(ab_recall(l.run, &back, &l.e), 0);
	assert_int_equal(back.mode, AB_MODE_AB);
	assert_int_equal(back.blocks, 7);
	assert_true(back.seed == UINT64_MAX);
	assert_string_equal(back.b, "X=a%20b");
	/* the grids of then hold, whatever the planner says now */
	l.plan.pairs[0].p[0]->grid.n = 1;
	l.plan.pairs[0].p[1]->grid.v[0] = 77;
	assert_int_equal(ab_recall_grids(l.run, &l.plan, &l.e), 0);
	assert_int_equal(l.plan.pairs[0].p[0]->grid.n, 3);
	assert_int_equal(l.plan.pairs[0].p[0]->grid.v[2], 9);
	assert_int_equal(l.plan.pairs[0].p[1]->grid.v[0], 1);
	lab_done(&l);
}

static void test_memory_refused(void **state)
{
	static const struct {
		const char *name, *value;
	} rows[] = {
		{ "ab.mode", "abc" },       { "ab.seed", "-1" },      { "ab.seed", "x" },
		{ "ab.blocks", "many" },    { "ab.grid.1.a", "2,1" }, { "ab.grid.1.a", "1,1" },
		{ "ab.grid.1.b", "1,,2" },  { "ab.grid.1.b", "x" },   { "ab.grid.1.a", "-3" },
		{ "ab.grid.2.a", "1,2,3" },
	};
	struct ab_memory m = { .words = "", .a = "", .b = "" }, back;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct lab l;
		int rc;

		lab_init(&l, AB_MODE_AA, "", "", "fake.sweep n=1,2", 2);
		assert_int_equal(ab_remember(l.run, &l.plan, &m, &l.e), 0);
		assert_int_equal(
			attrs_set_text(&l.run->arena, &l.run->context, rows[i].name, rows[i].value),
			0);
		rc = ab_recall(l.run, &back, &l.e);
		if (rc == 0)
			rc = ab_recall_grids(l.run, &l.plan, &l.e);
		if (rc == 0)
			fail_msg("%s=%s", rows[i].name, rows[i].value);
		lab_done(&l);
	}
}

/* --- boots -------------------------------------------------------------------------------------
 */

static void boot(struct lab *l, const char *kernel, const char *boot_id, int want)
{
	struct ab_boots b;
	unsigned arm = 9;
	struct ab_job j = { .kernel = kernel,
			    .boot_id = strcmp(boot_id, "boot-1") == 0 ? NULL : boot_id };
	int rc;

	err_clear(&l->e);
	rc = ab_boots_look(l->run, &l->plan, kernel, boot_id, &b, &arm, &l->e);
	assert_int_equal(rc, want);
	err_clear(&l->e);
	assert_int_equal(execute(l, &j), want);
}

static void test_boots(void **state)
{
	struct ab_boots b;
	unsigned arm;
	struct lab l;

	(void)state;
	lab_init(&l, AB_MODE_BOOTS, "", "", "fake.sweep n=1,2", 1);
	boot(&l, "6.1 one", "boot-1", 0);
	assert_int_equal(count(&l, "A", 0), 8);
	assert_false(l.run->complete);
	assert_null(l.run->measures[0].boot_id);
	/* the same boot again has nothing to do */
	boot(&l, "6.1 one", "boot-1", -EALREADY);
	assert_int_equal(l.run->n_measures, 8);
	boot(&l, "6.9 two", "boot-2", 0);
	assert_int_equal(count(&l, "B", 0), 8);
	assert_string_equal(l.run->measures[15].boot_id, "boot-2");
	assert_string_equal(attrs_text(&l.run->measures[15].proof, "kernel", ""), "6.9 two");
	boot(&l, "6.1 one", "boot-3", 0);
	assert_int_equal(count(&l, "A", 0), 16);
	boot(&l, "5.4 three", "boot-4", -EINVAL);
	assert_non_null(strstr(l.e.msg, "third kernel"));
	assert_int_equal(l.run->n_measures, 24);
	/* a block that was cut short goes on in its boot */
	l.run->n_measures -= 3;
	assert_int_equal(ab_boots_look(l.run, &l.plan, "6.1 one", "boot-3", &b, &arm, &l.e), 0);
	assert_int_equal(b.block, 2);
	assert_int_equal(arm, 0);
	boot(&l, "6.1 one", "boot-3", 0);
	assert_int_equal(l.run->n_measures, 24);
	assert_non_null(strstr(l.run->stop_reason, "2 boots of A, 1 of B"));
	lab_done(&l);
}

/* Six boots of each, and whoever calls once more takes nothing away. */
static void test_all_boots(void **state)
{
	static const struct environment as_found = { .start_unix_ns = 0 };
	struct ab_job j = { .environments = { &as_found } };
	char boot_id[16];
	struct lab l;

	(void)state;
	lab_init(&l, AB_MODE_BOOTS, "", "", "fake.sweep n=1", 1);
	for (unsigned b = 0; b < 12; b++) {
		snprintf(boot_id, sizeof(boot_id), "boot-%u", b + 1);
		j.boot_id = b ? boot_id : NULL;
		j.kernel = b % 2 ? "6.9, with no5lvl" : "6.9";
		assert_int_equal(execute(&l, &j), 0);
		/* it lives in the run */
		for (size_t i = 0; i < l.run->n_measures; i++)
			if (l.run->measures[i].boot_id == boot_id)
				l.run->measures[i].boot_id = arena_strdup(&l.run->arena, boot_id);
		assert_int_equal(l.run->n_environments, b + 1);
		if (l.run->environments[b].boot_id == boot_id)
			l.run->environments[b].boot_id = arena_strdup(&l.run->arena, boot_id);
		assert_string_equal(l.run->environments[b].arm, b % 2 ? "B" : "A");
		assert_int_equal(l.run->complete, b == 11);
	}
	assert_non_null(strstr(l.run->stop_reason, "6 boots of A, 6 of B"));
	for (unsigned b = 0; b < 12; b += 11) {
		snprintf(boot_id, sizeof(boot_id), "boot-%u", b + 1);
		j.boot_id = boot_id;
		j.kernel = b % 2 ? "6.9, with no5lvl" : "6.9";
		err_clear(&l.e);
		assert_int_equal(execute(&l, &j), -EALREADY);
		assert_int_equal(l.run->n_environments, 12);
		assert_true(l.run->complete);
		assert_non_null(strstr(l.run->stop_reason, "6 boots of A, 6 of B"));
	}
	lab_done(&l);
}

/* One plan of fake.sweep with these pages, as the planner leaves them. */
static struct plan plan_of_pages(struct arena *a, struct planned *v, const char *const *pages)
{
	struct plan p = { .v = v };

	for (; pages[p.n]; p.n++) {
		v[p.n] = (struct planned){ .bench = bench_find("fake.sweep") };
		assert_non_null(v[p.n].bench);
		assert_int_equal(attrs_set_text(a, &v[p.n].setting.given, "page", pages[p.n]), 0);
	}
	return p;
}

static void test_pages_of_arms(void **state)
{
	static const struct {
		const char *arm_a, *arm_b, *a[3], *b[3];
		const char *pages_a, *pages_b; /* NULL: none */
		int rc;
	} rows[] = {
		{ "thp=always", "thp=never", { "thp" }, { "4k" }, "page=thp", "page=4k", 0 },
		{ "thp=always", "thp=never", { "4k", "thp" }, { "4k", "thp" }, NULL, NULL, 0 },
		{ "thp=always page=thp", "thp=never page=4k", { "thp" }, { "4k" }, NULL, NULL, 0 },
		{ "line=fixed", "line=spread", { "thp" }, { "4k" }, NULL, NULL, 0 },
		{ "thp=always",
		  "thp=never",
		  { "thp", "64k" },
		  { "4k", "64k" },
		  NULL,
		  NULL,
		  -EINVAL },
		{ "thp=always",
		  "thp=never",
		  { "thp", "4k" },
		  { "4k", "thp" },
		  NULL,
		  NULL,
		  -EINVAL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *texts[2] = { rows[i].arm_a, rows[i].arm_b };
		struct planned va[3], vb[3];
		struct arena arena = { 0 };
		struct ab_arm arms[2];
		struct err e = { 0 };
		char *words[4];
		struct plan a = plan_of_pages(&arena, va, rows[i].a);
		struct plan b = plan_of_pages(&arena, vb, rows[i].b);

		for (int k = 0; k < 2; k++) {
			size_t n = split(&arena, texts[k], words);

			assert_int_equal(ab_arm_parse(&arena, words, n, &arms[k], &e), 0);
		}
		assert_int_equal(ab_arms_take_pages(&arena, &a, &b, arms, &e), rows[i].rc);
		if (rows[i].rc)
			assert_non_null(strstr(e.msg, "page=auto"));
		if (rows[i].pages_a) {
			assert_string_equal(arms[0].pages, rows[i].pages_a);
			assert_string_equal(arms[1].pages, rows[i].pages_b);
			assert_string_equal(arms[1].text, "thp=never page=4k");
		} else {
			assert_null(arms[0].pages);
			assert_null(arms[1].pages);
		}
		arena_done(&arena);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arm_words),
		cmocka_unit_test(test_arm_words_refused),
		cmocka_unit_test(test_arms_check),
		cmocka_unit_test(test_words_come_back),
		cmocka_unit_test(test_words_override),
		cmocka_unit_test(test_plan_refused),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_common_grid),
		cmocka_unit_test(test_counts_and_arms),
		cmocka_unit_test(test_alike_arms_stay_apart),
		cmocka_unit_test(test_environment_of_an_arm),
		cmocka_unit_test(test_skips_in_both),
		cmocka_unit_test(test_failing_arm_ends),
		cmocka_unit_test(test_budget_ends_whole_blocks),
		cmocka_unit_test(test_resume),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_memory_refused),
		cmocka_unit_test(test_boots),
		cmocka_unit_test(test_all_boots),
		cmocka_unit_test(test_pages_of_arms),
	};

	if (argc > 1 && strcmp(argv[1], WORKER_VERB) == 0)
		return worker_main();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
