// SPDX-License-Identifier: MIT
/*
 * Machine files: what is read, what is refused and how that is told, writing back, and that
 * docs/machines.md (the argument) says what the reader knows.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/sim.h"

static const char *docs_path;

static const char good[] =
	"{ \"schema\": 1, \"name\": \"m\", \"summary\": \"a machine\",\n"
	" \"sources\": { \"S\": \"a source\" },\n"
	" \"core\": { \"clock_hz\": 2e9, \"page\": \"4k\", \"levels\": 4, \"source\": \"S\" },\n"
	" \"tlbs\": [ { \"name\": \"L1\", \"level\": 1, \"entries\": 64, \"ways\": 4,\n"
	"   \"index\": \"xor\", \"policy\": \"plru\", \"pages\": [\"4k\", \"2m\"],\n"
	"   \"source\": { \"*\": \"S: page 3\", \"policy\": \"assumed\" } } ],\n"
	" \"walker\": { \"kind\": \"radix\", \"start_cycles\": 9, \"first_cache\": 1, \"source\": \"S\" },\n"
	" \"walk_caches\": [ { \"level\": 2, \"entries\": 32, \"source\": \"assumed: as others\" } ],\n"
	" \"caches\": [ { \"name\": \"L1D\", \"size\": \"32k\", \"ways\": 8, \"line\": 64,\n"
	"   \"hit_cycles\": 4, \"source\": \"S\" } ],\n"
	" \"memory\": { \"nodes\": 2, \"local_ns\": 80, \"remote_ns\": 150, \"source\": \"S\" } }\n";

/* The good text with the first @from replaced by @to. */
static char *changed(const char *from, const char *to)
{
	const char *at = strstr(good, from);
	char *text;

	assert_non_null(at);
	text = malloc(sizeof(good) + strlen(to));
	assert_non_null(text);
	memcpy(text, good, (size_t)(at - good));
	strcpy(text + (at - good), to);
	strcat(text, at + strlen(from));
	return text;
}

static void test_good(void **state)
{
	struct sim_machine *m = NULL;
	struct err e = { 0 };

	(void)state;
	if (sim_machine_read(good, strlen(good), &m, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(m->tlbs[0].shape.entries, 64);
	assert_int_equal(m->tlbs[0].shape.policy, SIM_PLRU);
	assert_int_equal(m->tlbs[0].pages[1], 2 << 20);
	assert_int_equal(m->core.parallel_misses, 1); /* default */
	assert_string_equal(sim_machine_source(m, "tlbs[0].entries"), "S: page 3");
	assert_string_equal(sim_machine_source(m, "tlbs[0].policy"), "assumed");
	assert_null(sim_machine_source(m, "core.parallel_misses"));
	assert_int_equal(sim_machine_count_assumed(m), 2);
	sim_machine_free(m);
}

static void test_refused(void **state)
{
	static const struct {
		const char *from, *to, *told;
	} rows[] = {
		{ "\"schema\": 1", "\"schema\": 2", "schema" },
		{ "\"name\": \"m\"", "\"name\": \"\"", "name" },
		{ "\"name\": \"m\"", "\"name\": \"a\\nb\"", "control" },
		{ "\"summary\": \"a machine\",", "", "summary" },
		{ "{ \"S\": \"a source\" }", "[]", "sources" },
		{ "\"S\": \"a source\"", "\"T\": \"a source\"", "none of \"sources\"" },
		{ ", \"source\": \"S\" },\n \"tlbs\"", "},\n \"tlbs\"", "core.clock_hz: a figure" },
		{ "\"clock_hz\": 2e9,", "", "core.clock_hz: is needed" },
		{ "2e9", "0", "core.clock_hz: 0" },
		{ "2e9", "\"fast\"", "core.clock_hz: a text" },
		{ "\"page\": \"4k\"", "\"page\": 4096", "in quotes" },
		{ "\"page\": \"4k\"", "\"page\": \"5000B\"", "power of two" },
		{ "\"page\": \"4k\"", "\"page\": \"2k\"", "core.page" },
		{ "\"levels\": 4", "\"levels\": 6", "core.levels: 6; accepted: 2 to 5" },
		{ "\"levels\": 4", "\"levels\": 3.5", "core.levels" },
		{ "\"levels\": 4", "\"levles\": 4", "did you mean \"levels\"" },
		{ "\"levels\": 4", "\"levels\": 4, \"levels\": 5", "duplicate" },
		{ "\"entries\": 64", "\"entries\": 62", "no whole number of sets" },
		{ "\"entries\": 64", "\"entries\": -1", "tlbs[0].entries" },
		{ "\"entries\": 64, \"ways\": 4", "\"entries\": 96, \"ways\": 6", "plru" },
		{ "\"entries\": 64, \"ways\": 4", "\"entries\": 48, \"ways\": 4", "xor" },
		{ "\"xor\"", "\"xro\"", "linear, xor, hash" },
		{ "\"plru\"", "true", "true or false; accepted: lru" },
		{ "[\"4k\", \"2m\"]", "[]", "tlbs[0].pages" },
		{ "[\"4k\", \"2m\"]", "[\"3k\"]", "powers of two" },
		{ "\"policy\": \"plru\"", "\"pinned\": 3", "fully associative" },
		{ "\"policy\": \"plru\"", "\"holds_vhpt\": true", "holds_vhpt" },
		{ "\"policy\": \"assumed\" }", "\"polcy\": \"assumed\" }", "polcy" },
		{ "\"radix\"", "\"hashed\"", "radix, vhpt" },
		{ "\"first_cache\": 1", "\"first_cache\": 2", "walker.first_cache: 2 of 1" },
		{ "\"level\": 2, \"entries\": 32", "\"level\": 1, \"entries\": 32",
		  "walk_caches[0].level" },
		{ "\"size\": \"32k\"", "\"size\": \"3g\"", "caches[0].size: 3g" },
		{ "\"line\": 64", "\"line\": 96", "powers of two" },
		{ "\"hit_cycles\": 4", "\"relation\": \"victim\", \"hit_cycles\": 4",
		  "no cache before" },
		{ "\"nodes\": 2", "\"nodes\": 65", "memory.nodes: 65" },
		{ "\"remote_ns\": 150", "\"remote_ns\": 150, \"latency_ns\": [[1]]",
		  "one row for each" },
		{ "\"remote_ns\": 150", "\"remote_ns\": 150, \"latency_ns\": [[80, 1e9], [80, 80]]",
		  "latency_ns" },
		{ "\"walker\": {",
		  "\"alias\": { \"rule\": \"utag\", \"source\": \"S\" }, \"walker\": {",
		  "utag needs" },
		{ "\"walker\": {",
		  "\"text\": { \"home_node\": 2, \"source\": \"S\" }, \"walker\": {", "home_node" },
		{ "\"walker\": {", "\"wolker\": {", "wolker" },
		{ "\"caches\": [", "\"cachets\": [", "cachets" },
		{ "}\n", "", "line" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = changed(rows[i].from, rows[i].to);
		struct sim_machine *m = NULL;
		struct err e = { 0 };

		if (sim_machine_read(text, strlen(text), &m, &e) != -EBADMSG)
			fail_msg("accepted: %s", rows[i].to);
		if (!strstr(e.msg, rows[i].told))
			fail_msg("'%s' does not tell '%s'", e.msg, rows[i].told);
		assert_null(m);
		free(text);
	}
}

/* Every machine that comes along is read, works, and reads back from what is written of it. */
static void test_embedded(void **state)
{
	size_t n = 0;

	(void)state;
	for (const struct sim_embedded *x = sim_embedded_machines; x->name; x++, n++) {
		struct str once = { 0 }, twice = { 0 };
		struct sim_machine *m = NULL, *again = NULL, *copy;
		const struct sim_space space = { 0 };
		const uint64_t va = UINT64_C(1) << 36;
		struct err e = { 0 };
		struct sim *s;

		if (sim_machine_read(x->data, x->n, &m, &e) < 0)
			fail_msg("%s: %s", x->name, e.msg);
		assert_string_equal(m->name, x->name);
		assert_int_equal(sim_machine_text(&once, m), 0);
		if (sim_machine_read(str_text(&once), once.len, &again, &e) < 0)
			fail_msg("%s, written: %s", x->name, e.msg);
		copy = sim_machine_copy(again);
		assert_non_null(copy);
		assert_int_equal(sim_machine_text(&twice, copy), 0);
		assert_string_equal(str_text(&once), str_text(&twice));
		assert_int_equal(sim_new(m, &space, 1, &s, &e), 0);
		sim_run(s, &va, 1);
		assert_int_equal(sim_counts(s)->steps, m->core.levels);
		sim_free(s);
		sim_machine_free(m);
		sim_machine_free(again);
		sim_machine_free(copy);
		str_done(&once);
		str_done(&twice);
	}
	assert_true(n >= 12);
}

static void test_docs(void **state)
{
	struct sim_field_doc d;
	struct str text = { 0 };
	char chunk[1024], row[160];
	FILE *f = fopen(docs_path, "re");
	size_t n;

	(void)state;
	assert_non_null(f);
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		str_add_n(&text, chunk, n);
	fclose(f);
	for (size_t i = 0; (d = sim_field_doc(i)).section; i++) {
		snprintf(row, sizeof(row), "| `%s` | %s | %s |", d.key, d.unit, d.summary);
		if (!strstr(str_text(&text), row))
			fail_msg("docs/machines.md lacks the row\n%s\nof %s", row, d.section);
		snprintf(row, sizeof(row), "`%s`", d.section);
		assert_non_null(strstr(str_text(&text), row));
	}
	str_done(&text);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_embedded),
		cmocka_unit_test(test_docs),
	};

	docs_path = argc > 1 ? argv[1] : "docs/machines.md";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
