// SPDX-License-Identifier: MIT
/*
 * System calls of invented runs: which node is home and how that is known, what a fact needs, and
 * the blocks of the text. Numbers are plausible, none was measured.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fixture_parts.h"
#include "infer/infer.h"

static const struct param params[] = {
	{ .name = "via", .type = PARAM_CHOICE, .def = "kernel" },
	{ .name = "cache", .type = PARAM_CHOICE, .def = "hot" },
	{ .name = "evict", .type = PARAM_CHOICE, .def = "both" },
	{ .name = "node", .type = PARAM_NODE, .def = "local" },
	{ .name = "load", .type = PARAM_NODE, .def = "none" },
	{ .name = NULL },
};
static const struct metric metrics[] = {
	{ "call_ns", "time of one call", "ns", BETTER_LOWER, EST_MEDIAN, FORM_SAMPLES },
	{ "memory_ns", "latency", "ns", BETTER_NONE, EST_MEDIAN, FORM_SAMPLES },
	{ .name = NULL },
};
static const struct bench_schema null_call = { "syscall.null", "null", 1, params, metrics };
static const struct bench_schema open_close = { "syscall.openclose", "open", 1, params, metrics };

enum { INVOCATIONS = 8 };

struct call {
	const char *bench, *cache, *evict;
	int node;
	double ns;
};

static struct run *new_run(int nodes)
{
	struct run *r = run_new();

	assert_non_null(r);
	r->id = "test";
	r->origin = ORIGIN_MEASURED;
	assert_int_equal(run_add_schema(r, &null_call), 0);
	assert_int_equal(run_add_schema(r, &open_close), 0);
	assert_int_equal(attrs_set_int(&r->arena, &r->fingerprint, "nodes", nodes), 0);
	fixture_footer(r, true, "interval target met");
	return r;
}

/* @home: what the proof tells, -1: hidden. */
static void add_call(struct run *r, const struct call *c, int home)
{
	for (unsigned i = 0; i < INVOCATIONS; i++) {
		struct measure *m;
		char words[120];

		snprintf(words, sizeof(words), "cache=%s evict=%s load=none", c->cache, c->evict);
		m = fixture_measure(r, (struct fixture_setting){ c->bench, words }, 0, i);
		snprintf(words, sizeof(words), "%d", c->node);
		attrs_set_text(&r->arena, &m->setting, "node", arena_strdup(&r->arena, words));
		attrs_set_int(&r->arena, &m->proof, "node", c->node);
		if (home >= 0)
			attrs_set_int(&r->arena, &m->proof, "home_node", home);
		fixture_samples(r, m, "call_ns", c->ns);
		if (strcmp(c->cache, "cold") == 0)
			fixture_samples(r, m, "memory_ns", 100);
	}
}

static const struct call two_nodes[] = {
	{ "syscall.null", "cold", "both", 0, 6000 },
	{ "syscall.null", "cold", "both", 1, 4000 },
	{ "syscall.null", "hot", "both", 0, 200 },
	{ "syscall.null", "hot", "both", 1, 200 },
	{ "syscall.openclose", "cold", "both", 0, 40000 },
	{ "syscall.openclose", "cold", "both", 1, 30000 },
};
enum { TWO_NODES = sizeof(two_nodes) / sizeof(two_nodes[0]) };

static void open_report(struct report *rep, const struct run *r)
{
	struct err e = { 0 };

	memset(rep, 0, sizeof(*rep));
	if (report_init(rep, r, &e) < 0)
		fail_msg("%s", e.msg);
}

static const struct fact *fact(const struct report *rep, const char *id)
{
	return facts_find(&rep->facts, id, NULL, NULL);
}

static void home_is_what_the_kernel_tells(void **state)
{
	struct run *r = new_run(2);
	const struct fact *f;
	struct report rep;

	(void)state;
	for (size_t i = 0; i < TWO_NODES; i++)
		add_call(r, &two_nodes[i], 0); /* against the order of costs */
	open_report(&rep, r);
	f = fact(&rep, "syscall.home_node");
	assert_non_null(f);
	assert_true(f->value == 0);
	assert_null(f->note);
	f = facts_find(&rep.facts, "syscall.away_ns", "test", "openclose");
	assert_non_null(f);
	assert_true(f->value < 0); /* node 1 is cheaper here, and that is said */
	assert_non_null(strstr(f->note, "upper bound"));
	assert_null(facts_find(&rep.facts, "syscall.away_ns", "node", "0"));
	report_done(&rep);
	run_free(r);
}

static void hidden_addresses_leave_the_order_of_costs(void **state)
{
	struct run *r = new_run(2);
	const struct fact *f;
	struct report rep;

	(void)state;
	for (size_t i = 0; i < TWO_NODES; i++)
		add_call(r, &two_nodes[i], -1);
	open_report(&rep, r);
	f = fact(&rep, "syscall.home_node");
	assert_non_null(f);
	assert_true(f->value == 1);
	assert_non_null(strstr(f->note, "inferred"));
	report_done(&rep);
	run_free(r);
}

static void one_node_does_not_tell(void **state)
{
	struct run *r = new_run(2);
	const struct fact *f;
	struct report rep;

	(void)state;
	add_call(r, &two_nodes[0], -1);
	open_report(&rep, r);
	f = fact(&rep, "syscall.home_node");
	assert_non_null(f);
	assert_true(isnan(f->value));
	assert_non_null(strstr(f->reason, "node=each"));
	assert_null(fact(&rep, "syscall.away_ns"));
	assert_null(fact(&rep, "syscall.serial_misses")); /* nothing hot */
	report_done(&rep);
	run_free(r);
	/* a machine of one node */
	r = new_run(1);
	add_call(r, &two_nodes[0], 0);
	open_report(&rep, r);
	f = fact(&rep, "syscall.home_node");
	assert_non_null(f);
	assert_true(f->value == 0);
	assert_non_null(strstr(f->note, "cannot be compared on this machine"));
	report_done(&rep);
	run_free(r);
}

static void misses_are_cold_less_hot_over_latency(void **state)
{
	static const struct call tlb[] = {
		{ "syscall.null", "cold", "tlb", 0, 500 },
		{ "syscall.null", "hot", "tlb", 0, 200 },
	};
	struct run *r = new_run(1);
	const struct fact *f;
	struct report rep;

	(void)state;
	add_call(r, &two_nodes[0], 0);
	add_call(r, &two_nodes[2], 0);
	add_call(r, &tlb[0], 0);
	add_call(r, &tlb[1], 0);
	open_report(&rep, r);
	f = fact(&rep, "syscall.serial_misses");
	assert_non_null(f);
	assert_true(fabs(f->value - 58) < 2);
	assert_true(f->low <= f->value && f->value <= f->high);
	/* of TLB misses none is a miss of memory */
	assert_null(facts_find(&rep.facts, "syscall.serial_misses", "evict", "tlb"));
	report_done(&rep);
	run_free(r);
}

static void text_has_a_row_a_node(void **state)
{
	struct run *r = new_run(2);
	struct report_options o = { 0 };
	struct str out = { 0 };
	const char *cold, *hot;
	struct report rep;

	(void)state;
	for (size_t i = 0; i < TWO_NODES; i++)
		add_call(r, &two_nodes[i], 1);
	open_report(&rep, r);
	assert_int_equal(report_text(&out, &rep, &o), 0);
	cold = strstr(str_text(&out), "\ncold: us per call\n");
	hot = strstr(str_text(&out), "\nhot: us per call\n");
	if (!cold || !hot || cold > hot || !strstr(cold, "null       0") ||
	    !strstr(cold, "null       1") || !strstr(cold, "home"))
		fail_msg("%s", str_text(&out));
	for (const char *line = str_text(&out); line; line = strchr(line, '\n')) {
		line += *line == '\n';
		assert_true(strcspn(line, "\n") <= 80);
	}
	str_done(&out);
	report_done(&rep);
	run_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(home_is_what_the_kernel_tells),
		cmocka_unit_test(hidden_addresses_leave_the_order_of_costs),
		cmocka_unit_test(one_node_does_not_tell),
		cmocka_unit_test(misses_are_cold_less_hot_over_latency),
		cmocka_unit_test(text_has_a_row_a_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
