/* SPDX-License-Identifier: MIT */
/*
 * RandomAccess for real, small: every form and kernel verifies, broken tables are found, the time
 * limit samples, and the descriptor refuses what the rules or this machine do not have.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "bench/ctx.h"
#include "bench/gups.h"
#include "host/affinity.h"
#include "mem/gups_loops.h"
#include "record/run.h"

enum { M_GUPS, M_UPDATE_NS, M_CPU_MIN, M_CPU_MAX, M_ERRORS, M_UPDATES };

static const struct bench *gups(void)
{
	return bench_find("mem.gups");
}

/* A copy of the benchmark whose tables are broken between passes and verification. */
static uint64_t flip_words; /* how many words of each table */
static int flip_and_check(struct bench_ctx *ctx, void *state)
{
	struct gups *g = state;

	for (size_t t = 0; t < g->n_tables; t++)
		for (uint64_t i = 0; i < flip_words; i++)
			((uint64_t *)(void *)g->tables[t].run.region.base)[i * 7 % g->words] ^= 1;
	return gups()->check(ctx, state);
}

struct seen {
	unsigned n;
	int verdict;
	char reason[200], unproven[200], sampled[32], verification[16];
	struct metric_values errors, updates;
	size_t n_gups, n_star;
	double gups, update_ns, cpu_min, cpu_max;
	int64_t threads, passes;
};

static void take_values(struct seen *s, const struct bench_result *r)
{
	s->n_gups = r->values[M_GUPS].n;
	s->n_star = r->values[M_CPU_MIN].n;
	if (s->n_gups) {
		s->gups = r->values[M_GUPS].samples[0];
		s->update_ns = r->values[M_UPDATE_NS].samples[0];
	}
	if (s->n_star) {
		s->cpu_min = r->values[M_CPU_MIN].samples[0];
		s->cpu_max = r->values[M_CPU_MAX].samples[0];
	}
}

static int collect(void *user, const struct bench_result *r)
{
	struct seen *s = user;

	s->n++;
	s->verdict = r->verdict;
	snprintf(s->reason, sizeof(s->reason), "%s", r->reason ? r->reason : "");
	snprintf(s->unproven, sizeof(s->unproven), "%s", r->unproven ? r->unproven : "");
	snprintf(s->sampled, sizeof(s->sampled), "%s", attrs_text(&r->proof, "sampled", ""));
	snprintf(s->verification, sizeof(s->verification), "%s",
		 attrs_text(&r->proof, "verification", ""));
	s->errors = r->values[M_ERRORS];
	s->updates = r->values[M_UPDATES];
	s->threads = attrs_int(&r->proof, "threads", -1);
	s->passes = attrs_int(&r->proof, "passes", -1);
	take_values(s, r);
	return 0;
}

static struct u32_list cpus;

static void run_at(const char *form, const char *kernel, uint64_t table, uint64_t limit,
		   struct seen *ret)
{
	struct bench broken = *gups();
	struct arena a = { 0 };
	struct invocation_spec spec = { .bench = &broken,
					.inner = "table",
					.inner_values = &table,
					.n_inner = 1,
					.samples = 4,
					.point_seconds = 0.05 };
	struct attrs *v = &spec.setting.resolved;
	struct err e = { 0 };
	char *allowed = format_u32_list(&cpus);

	broken.check = flip_and_check;
	assert_int_equal(affinity_pin(cpus.v[0], &e), 0); /* the worker's part */
	attrs_set_text(&a, v, "form", form);
	attrs_set_text(&a, v, "kernel", kernel);
	attrs_set_text(&a, v, "page.kind", "base");
	attrs_set_text(&a, v, "cpu.allowed", allowed);
	attrs_set_text(&a, v, "data", "local");
	attrs_set_text(&a, v, "page-tables", "local");
	attrs_set_int(&a, v, "page.bytes", sysconf(_SC_PAGESIZE));
	attrs_set_int(&a, v, "cpu.id", cpus.v[0]);
	attrs_set_int(&a, v, "threads", cpus.n > 4 ? 4 : 0);
	attrs_set_int(&a, v, "limit", (int64_t)limit);
	memset(ret, 0, sizeof(*ret));
	assert_int_equal(bench_run_invocation(&spec, collect, ret, &e), 0);
	assert_int_equal(ret->n, 1);
	free(allowed);
	arena_done(&a);
}

static const char *const kernels[] = { "literal", "tuned", "dependent" };

static void one_cpu_has_no_errors(void **state)
{
	(void)state;
	flip_words = 0;
	for (size_t k = 0; k < 3; k++) {
		for (int star = 0; star < 2; star++) {
			struct seen s;

			run_at(star ? "star" : "single", kernels[k], 1 << 20, 0, &s);
			if (s.verdict != VERDICT_OK)
				fail_msg("%s: %s", kernels[k], s.reason);
			assert_true(s.errors.has_count && s.errors.events == 0);
			assert_true(s.errors.exposure == (star ? s.threads : 1) * (1 << 17));
			assert_true(s.updates.events == s.updates.exposure);
			assert_true(s.updates.events ==
				    s.passes * (star ? s.threads : 1) * 4 * (1 << 17));
			assert_string_equal(s.sampled, "no");
			assert_true(s.n_gups >= 1 && s.gups > 0 && s.update_ns > 0);
			assert_true(s.n_star == (star ? s.n_gups : 0));
			if (star)
				assert_true(s.cpu_min <= s.gups && s.gups <= s.cpu_max);
		}
	}
}

/* CPUs lose each other's updates; in a table this large they hardly meet. */
static void shared_tables_verify(void **state)
{
	struct seen s;

	(void)state;
	flip_words = 0;
	for (size_t k = 0; k < 2; k++) {
		run_at("shared", kernels[k], 4 << 20, 0, &s);
		if (s.verdict != VERDICT_OK)
			fail_msg("%s: %s", kernels[k], s.reason);
		assert_true(s.errors.events <= s.errors.exposure / 100);
		assert_int_equal(s.errors.exposure, 4 << 17);
		assert_true(s.updates.exposure - s.updates.events < s.passes * 4 * 128);
	}
}

static void one_wrong_word_is_found(void **state)
{
	static const char *const forms[] = { "single", "star" };

	(void)state;
	for (uint64_t n = 1; n <= 100; n += 99) {
		for (size_t f = 0; f < 2; f++) {
			struct seen s;

			flip_words = n;
			run_at(forms[f], "literal", 1 << 16, 0, &s);
			assert_int_equal(s.verdict, VERDICT_INVALID);
			assert_true(s.errors.events == (int64_t)n * (f ? s.threads : 1));
			assert_non_null(strstr(s.reason, "words are wrong"));
			assert_non_null(strstr(s.reason, "at most 0"));
			assert_string_equal(s.verification, "failed");
			assert_true(s.n_gups > 0); /* kept */
		}
	}
	flip_words = 0;
}

/* A table of its own losses may have some wrong words, and no more than 1 %. */
static void shared_tables_may_lose_one_percent(void **state)
{
	struct seen s;

	(void)state;
	flip_words = (4 << 17) / 1000;
	run_at("shared", "literal", 4 << 20, 0, &s);
	assert_int_equal(s.verdict, VERDICT_OK);
	assert_true(s.errors.events >= (4 << 17) / 1000 * 9 / 10);
	flip_words = (4 << 17) / 40;
	run_at("shared", "literal", 4 << 20, 0, &s);
	assert_int_equal(s.verdict, VERDICT_INVALID);
	assert_non_null(strstr(s.reason, "words are wrong"));
	flip_words = 0;
}

/* An even number of passes leaves the table as it was, whatever they did. */
static void even_passes_prove_nothing_by_themselves(void **state)
{
	struct gups_table table = { .cpu = 0 };
	struct gups g = { .tables = &table, .n_tables = 1, .n_cpus = 1 };
	uint64_t *words = calloc(1 << 12, sizeof(*words));
	struct gups_pass p;

	(void)state;
	table.run.region.base = (char *)words;
	gups_prepare(&g, 1 << 12, 0);
	assert_int_equal(g.updates, 4 << 12);
	gups_pass(&g, &p);
	gups_pass(&g, &p);
	assert_int_equal(gups_count_wrong(words, 1 << 12), 0);
	assert_int_equal(gups_verify(&g), 0);
	gups_prepare(&g, 1 << 12, 0);
	gups_pass(&g, &p);
	gups_pass(&g, &p);
	words[77] ^= UINT64_C(1) << 63;
	assert_int_equal(gups_verify(&g), 1);
	free(words);
}

static void a_time_limit_samples(void **state)
{
	struct gups_table table = { .cpu = 0 };
	struct gups g = { .tables = &table, .n_tables = 1, .n_cpus = 1 };
	uint64_t *words = calloc(1 << 18, sizeof(*words));
	struct gups_pass p;

	(void)state;
	table.run.region.base = (char *)words;
	gups_prepare(&g, 1 << 18, 1e-9);
	assert_true(g.is_sampled);
	assert_int_equal(g.updates, 128);
	gups_pass(&g, &p);
	assert_int_equal(gups_verify(&g), 0);
	gups_prepare(&g, 1 << 18, 1e6);
	assert_false(g.is_sampled);
	assert_int_equal(g.updates, 4 << 18);
	gups_pass(&g, &p);
	assert_int_equal(gups_verify(&g), 0);
	/* what was not done is not undone either */
	gups_prepare(&g, 1 << 18, 0);
	assert_true(gups_verify(&g) == 0);
	gups_prepare(&g, 1 << 18, 0);
	g.passes = 1;
	assert_true(gups_verify(&g) > (1 << 18) / 2);
	free(words);
}

static const char *const cost_words[][7] = {
	/* form, threads, table, page.bytes, limit, what the refusal says */
	{ "single", "0", "1048576", "4096", "2", NULL },
	{ "single", "1", "4096", "4096", "0", NULL },
	{ "star", "2", "1048576", "2097152", "2", NULL },
	{ "shared", "2", "1048576", "4096", "2", NULL },
	{ "single", "0", "1048577", "4096", "2", "power of two" },
	{ "single", "0", "3145728", "4096", "2", "such as 2097152" },
	{ "single", "2", "1048576", "4096", "2", "form=single has one" },
	{ "star", "3", "1048576", "4096", "2", "2 CPUs may be used" },
	{ "shared", "65536", "1048576", "4096", "2", "2 CPUs may be used" },
	{ "shared", "2", "256", "4096", "2", "too small to be shared" },
};

static void settings_are_refused(void **state)
{
	struct cpu two[] = { { .id = 0, .online = true, .allowed = true },
			     { .id = 1, .online = true, .allowed = true },
			     { .id = 2, .online = true, .allowed = false } };
	struct machine m = {
		.page_bytes = 4096, .leaf_table_span = 2 << 20, .cpus = two, .n_cpus = 3
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cost_words) / sizeof(cost_words[0]); i++) {
		const char *const *w = cost_words[i];
		struct bench_setting s = { 0 };
		struct bench_cost c = { 0 };
		struct arena a = { 0 };
		struct err e = { 0 };
		int rc;

		attrs_set_text(&a, &s.given, "form", w[0]);
		attrs_set_int(&a, &s.given, "threads", atoll(w[1]));
		attrs_set_int(&a, &s.resolved, "page.bytes", atoll(w[3]));
		attrs_set_int(&a, &s.given, "limit", atoll(w[4]));
		rc = gups()->cost(&m, &s, strtoull(w[2], NULL, 10), &c, &e);
		if (!w[5]) {
			assert_int_equal(rc, 0);
			assert_true(c.arena_bytes >= strtoull(w[2], NULL, 10));
			assert_true(c.table_bytes > 0 && c.seconds > 0);
		} else if (rc != -EINVAL || !strstr(e.msg, w[5])) {
			fail_msg("row %zu: %d, '%s'", i, rc, e.msg);
		}
		arena_done(&a);
	}
}

static void default_tables_are_capped(void **state)
{
	struct cpu two[] = { { .id = 0, .online = true, .allowed = true },
			     { .id = 1, .online = true, .allowed = true } };
	static const struct {
		uint64_t budget;
		const char *form;
		uint64_t table;
		bool is_noted;
	} rows[] = {
		{ UINT64_C(3) << 30, "single", UINT64_C(1) << 30, false },
		{ UINT64_C(18) << 30, "single", UINT64_C(1) << 30, true },
		{ UINT64_C(1) << 20, "single", UINT64_C(1) << 19, false },
		{ UINT64_C(3) << 30, "star", UINT64_C(1) << 29, false },
		{ UINT64_C(18) << 30, "star", UINT64_C(1) << 30, true },
		{ UINT64_C(3) << 30, "shared", UINT64_C(1) << 30, false },
		{ 4095, "single", 0, false },
		{ 0, "star", 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct machine m = {
			.page_bytes = 4096, .cpus = two, .n_cpus = 2, .budget_bytes = rows[i].budget
		};
		struct bench_setting s = { 0 };
		struct u64_array v = { 0 };
		char note[256] = "";
		struct arena a = { 0 };
		struct err e = { 0 };
		int rc;

		attrs_set_text(&a, &s.given, "form", rows[i].form);
		rc = gups()->grid(&m, &s, &v, note, sizeof(note), &e);
		assert_int_equal(rc, rows[i].table ? 0 : -ENODEV);
		if (rows[i].table) {
			assert_int_equal(v.n, 1);
			assert_int_equal(v.v[0], rows[i].table);
			assert_true((note[0] != '\0') == rows[i].is_noted);
		}
		u64_array_done(&v);
		arena_done(&a);
	}
}

/* Values between the largest and others are seen only when they come. */
static void a_table_between_is_no_power(void **state)
{
	struct seen s;

	(void)state;
	run_at("single", "literal", 12288, 0, &s);
	assert_int_equal(s.verdict, VERDICT_FAILED);
	assert_non_null(strstr(s.reason, "no power of two"));
	assert_int_equal(s.n_gups, 0);
}

static int read_cpus(void **state)
{
	(void)state;
	return affinity_allowed(&cpus, NULL);
}

static int drop_cpus(void **state)
{
	(void)state;
	u32_list_done(&cpus);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_cpu_has_no_errors),
		cmocka_unit_test(shared_tables_verify),
		cmocka_unit_test(one_wrong_word_is_found),
		cmocka_unit_test(shared_tables_may_lose_one_percent),
		cmocka_unit_test(even_passes_prove_nothing_by_themselves),
		cmocka_unit_test(a_time_limit_samples),
		cmocka_unit_test(settings_are_refused),
		cmocka_unit_test(default_tables_are_capped),
		cmocka_unit_test(a_table_between_is_no_power),
	};

	return cmocka_run_group_tests_name("gups", tests, read_cpus, drop_cpus);
}
