/* SPDX-License-Identifier: MIT */
/*
 * The kernel's forms of migration cost, read back by small parsers of these forms, and the text of
 * a whole run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../infer/migration_sim.h"
#include "report/migration_matrix.h"

enum { CPUS = 128, DISTANCES_MAX = 32 };

/* --- the line, as the boot option of that name was read --- */

/*
 * "migration_cost=" and comma-separated decimal numbers, at most 32, to the end of the line.
 * Returns how many; -1: not of that form.
 */
static int parse_line(const char *text, long *ret)
{
	static const char name[] = "migration_cost=";
	int n = 0;

	if (strncmp(text, name, sizeof(name) - 1) != 0)
		return -1;
	text += sizeof(name) - 1;
	for (;;) {
		char *end;

		if (n == DISTANCES_MAX || !isdigit((unsigned char)*text))
			return -1;
		ret[n++] = strtol(text, &end, 10);
		if (end[0] == '\n' && end[1] == '\0')
			return n;
		if (*end != ',')
			return -1;
		text = end + 1;
	}
}

static void line_parses(void **state)
{
	static const double ns[] = { 0, 32232999, 39021000, -700 };
	struct str out = { 0 };
	long us[DISTANCES_MAX];

	(void)state;
	migration_line_render(&out, ns, 4);
	assert_string_equal(str_text(&out), "migration_cost=0,32232,39021,0\n");
	assert_int_equal(parse_line(str_text(&out), us), 4);
	assert_true(us[1] == 32232 && us[2] == 39021 && us[3] == 0);
	str_done(&out);
	/* the parser refuses what the kernel would not have written */
	assert_int_equal(parse_line("migration_cost=\n", us), -1);
	assert_int_equal(parse_line("migration_cost=1,\n", us), -1);
	assert_int_equal(parse_line("migration_cost=1.5\n", us), -1);
	assert_int_equal(parse_line("migration_cost=1", us), -1);
	assert_int_equal(parse_line("cost=1\n", us), -1);
}

/* --- the matrix --- */

struct cells {
	double ms[CPUS][CPUS]; /* NaN: not seen */
	int distance[CPUS][CPUS];
	size_t blocks, rows;
	size_t widest;
};

/* One block's head: "[00]" "[01]" ... Returns how many. */
static size_t parse_head(const char *line, unsigned *cpus)
{
	size_t n = 0;
	int used;

	while (sscanf(line, " [%u]%n", &cpus[n], &used) == 1) {
		line += used;
		n++;
	}
	return *line ? 0 : n;
}

/* " ms.tenths(distance)" or "-" of each column, behind "[NN]: ". */
static bool parse_row(const char *line, const unsigned *cpus, size_t n, struct cells *c)
{
	unsigned row;
	int used;

	if (sscanf(line, "[%u]: %n", &row, &used) != 1 || row >= CPUS)
		return false;
	line += used;
	for (size_t i = 0; i < n; i++) {
		unsigned ms, tenths;
		int d;

		if (sscanf(line, " %u.%1u(%d)%n", &ms, &tenths, &d, &used) == 3) {
			c->ms[row][cpus[i]] = ms + tenths / 10.0;
			c->distance[row][cpus[i]] = d;
		} else if (sscanf(line, " -%n", &used), row != cpus[i]) {
			return false;
		}
		line += used;
	}
	c->rows++;
	return strspn(line, " ") == strlen(line);
}

static void parse_matrix(char *text, struct cells *c)
{
	unsigned cpus[16];
	size_t n = 0;

	memset(c, 0, sizeof(*c));
	for (size_t i = 0; i < CPUS; i++)
		for (size_t k = 0; k < CPUS; k++)
			c->ms[i][k] = NAN;
	for (char *line; (line = strsep(&text, "\n")) != NULL;) {
		if (strlen(line) > c->widest)
			c->widest = strlen(line);
		if (*line == ' ') {
			n = parse_head(line, cpus);
			assert_true(n > 0);
			c->blocks++;
		} else if (*line && !parse_row(line, cpus, n, c)) {
			fail_msg("no row of the form: %s", line);
		}
	}
}

static void large_matrix_wraps(void **state)
{
	static double cost[CPUS * CPUS];
	static int distance[CPUS * CPUS];
	static uint32_t cpus[CPUS];
	static struct cells seen;
	struct migration_matrix m = { cpus, CPUS, cost, distance };
	struct str out = { 0 };

	(void)state;
	/* two packages of 64 cores: 12.3 ms within, 134.5 ms between */
	for (uint32_t i = 0; i < CPUS; i++) {
		cpus[i] = i;
		for (uint32_t k = 0; k < CPUS; k++) {
			cost[i * CPUS + k] = i / 64 == k / 64 ? 12.37e6 : 134.59e6;
			distance[i * CPUS + k] = i / 64 != k / 64;
		}
	}
	migration_matrix_render(&out, &m);
	parse_matrix(out.data, &seen);
	assert_true(seen.widest <= 80);
	assert_int_equal(seen.blocks, 16);
	assert_int_equal(seen.rows, 16 * CPUS);
	for (size_t i = 0; i < CPUS; i++) {
		for (size_t k = 0; k < CPUS; k++) {
			if (i == k) {
				assert_true(isnan(seen.ms[i][k]));
				continue;
			}
			/* tenths are cut off, as a division of integers does */
			assert_true(fabs(seen.ms[i][k] - (i / 64 == k / 64 ? 12.3 : 134.5)) < 1e-9);
			assert_int_equal(seen.distance[i][k], i / 64 != k / 64);
		}
	}
	str_done(&out);
}

static void small_matrix_is_exact(void **state)
{
	const uint32_t cpus[] = { 0, 3, 100 };
	const double cost[] = { NAN,    0.44e6,  19.28e6, /* from 0 */
				-0.2e6, NAN,     NAN,     /* from 3: nothing to 100 */
				1e5,    0.099e6, NAN };
	const int distance[] = { 0, 0, 1, 0, 0, 0, 1, 1, 0 };
	struct migration_matrix m = { cpus, 3, cost, distance };
	struct str out = { 0 };

	(void)state;
	migration_matrix_render(&out, &m);
	assert_string_equal(str_text(&out), "            [00]    [03]   [100]\n"
					    "[00]:       -     0.4(0) 19.2(1)\n"
					    "[03]:     0.0(0)    -\n"
					    "[100]:    0.1(1)  0.0(1)    -\n");
	str_done(&out);
}

/* --- a whole run --- */

static const char *two_nodes(unsigned from, unsigned to)
{
	return from / 2 == to / 2 ? "l3" : "remote-21";
}

static double line_ns(unsigned from, unsigned to)
{
	return from / 2 == to / 2 ? 20 : 60;
}

static const struct migration_sim four = { .cpus = 4,
					   .invocations = 8,
					   .noise = 0.02,
					   .class_of = two_nodes,
					   .line_ns = line_ns,
					   .knob_ns = 500000,
					   .largest = 4 << 20 };

static void text_of(const struct run *r, struct str *out)
{
	struct report_options o = { .utf8 = false };
	struct report rep;
	struct err e = { 0 };

	assert_int_equal(report_init(&rep, r, &e), 0);
	assert_int_equal(report_text(out, &rep, &o), 0);
	report_done(&rep);
}

static void must_say(const struct str *out, const char *what)
{
	if (!strstr(str_text(out), what))
		fail_msg("\"%s\" is not in:\n%s", what, str_text(out));
}

static void run_has_both_forms_and_the_reading(void **state)
{
	struct run *r = migration_sim_run(&four);
	struct str out = { 0 };
	const char *line, *end;
	char copy[256];
	long us[DISTANCES_MAX];

	(void)state;
	text_of(r, &out);
	must_say(&out, "            [00]    [01]    [02]    [03]\n");
	must_say(&out, "distances: 0 l3, 1 remote-21\n");
	must_say(&out, "constant (sched_migration_cost): 500 us");
	must_say(&out, "/sys/kernel/debug/sched/migration_cost_ns");
	must_say(&out, "too small for working");
	line = strstr(str_text(&out), "migration_cost=");
	assert_non_null(line);
	end = strchr(line, '\n');
	snprintf(copy, sizeof(copy), "%.*s\n", (int)(end - line), line);
	assert_int_equal(parse_line(copy, us), 2);
	/* twice 65536 lines at 20 and at 60 ns */
	assert_true(labs(us[0] - 2621) < 200);
	assert_true(labs(us[1] - 7864) < 500);
	for (const char *p = str_text(&out); *p; p = strchr(p, '\n') + 1)
		assert_true(strcspn(p, "\n") <= 80);
	str_done(&out);
	run_free(r);
}

static void pages_stand_side_by_side(void **state)
{
	struct migration_sim s = four;
	struct run *r = migration_sim_run(&s);
	struct str out = { 0 };

	(void)state;
	text_of(r, &out);
	assert_null(strstr(str_text(&out), "Paged against contiguous"));
	str_clear(&out);
	s.page = "thp";
	migration_sim_add(r, &s);
	text_of(r, &out);
	must_say(&out, "Paged against contiguous memory");
	must_say(&out, "Invented CPU, full");
	str_done(&out);
	run_free(r);
}

/* Without intervals there is no advice: a dash, and why. */
static void no_interval_no_advice(void **state)
{
	struct migration_sim s = four;
	struct str out = { 0 };
	struct run *r;

	(void)state;
	s.invocations = 3;
	s.knob_ns = INT64_MIN;
	r = migration_sim_run(&s);
	text_of(r, &out);
	must_say(&out, "debugfs is not mounted");
	must_say(&out, "the kernel's default");
	must_say(&out, "3 invocations; an interval needs 6");
	str_done(&out);
	run_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_parses),
		cmocka_unit_test(large_matrix_wraps),
		cmocka_unit_test(small_matrix_is_exact),
		cmocka_unit_test(run_has_both_forms_and_the_reading),
		cmocka_unit_test(pages_stand_side_by_side),
		cmocka_unit_test(no_interval_no_advice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
