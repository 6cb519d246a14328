/* SPDX-License-Identifier: MIT */
/* Running a benchmark inside a test. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "host/affinity.h"
#include "record/run.h"
#include "run_words.h"

int64_t run_words_cpu = -1;

struct collector {
	struct seen *seen;
	void (*look)(void *user, const struct bench_result *r);
	void *user;
};

static int collect(void *user, const struct bench_result *r)
{
	struct collector *c = user;
	struct seen *s = c->seen;

	if (c->look)
		c->look(c->user, r);
	s->verdict = r->verdict;
	if (r->verdict == VERDICT_OK)
		s->ok++;
	else
		s->other++;
	if (r->reason)
		snprintf(s->reason, sizeof(s->reason), "%s", r->reason);
	if (r->unproven)
		snprintf(s->unproven, sizeof(s->unproven), "%s", r->unproven);
	snprintf(s->checksum, sizeof(s->checksum), "%s", attrs_text(&r->proof, "checksum", ""));
	return 0;
}

void set_words(struct arena *a, struct bench_setting *s, const char *words)
{
	char copy[512], *save = NULL;

	snprintf(copy, sizeof(copy), "%s", words);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		char *value = strchr(w, '=');
		uint64_t number;

		*value++ = '\0';
		if (parse_u64(value, &number, NULL) == 0) {
			attrs_set_int(a, &s->resolved, w, (int64_t)number);
			attrs_set_int(a, &s->given, w, (int64_t)number);
		} else {
			attrs_set_text(a, &s->resolved, w, value);
			attrs_set_text(a, &s->given, w, value);
		}
	}
}

void run_words(const char *bench, const char *words, const uint64_t *inner, size_t n,
	       void (*look)(void *user, const struct bench_result *r), void *user, struct seen *ret)
{
	struct collector c = { .seen = ret, .look = look, .user = user };
	struct arena a = { 0 };
	struct invocation_spec spec = { .bench = bench_find(bench),
					.inner_values = inner,
					.n_inner = n,
					.samples = 3,
					.point_seconds = 0.05,
					.seed = 42 };
	struct u32_list cpus = { 0 };
	struct err e = { 0 };

	memset(ret, 0, sizeof(*ret));
	assert_non_null(spec.bench);
	assert_int_equal(affinity_allowed(&cpus, &e), 0);
	assert_int_equal(affinity_pin(cpus.v[0], &e), 0); /* the worker's part */
	spec.inner = inner ? spec.bench->schema.params[0].name : NULL;
	set_words(&a, &spec.setting, words);
	attrs_set_int(&a, &spec.setting.resolved, "cpu.id",
		      run_words_cpu >= 0 ? run_words_cpu : cpus.v[0]);
	u32_list_done(&cpus);
	if (!attrs_find(&spec.setting.resolved, "load.node"))
		attrs_set_int(&a, &spec.setting.resolved, "load.node", -1);
	assert_int_equal(bench_run_invocation(&spec, collect, &c, &e), 0);
	arena_done(&a);
}
