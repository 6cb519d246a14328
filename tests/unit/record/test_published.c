/* SPDX-License-Identifier: MIT */
/*
 * The published Altix run (first argument) holds exactly the values of the table (second argument).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/units.h"
#include "record/runfile.h"

static const char *run_path, *csv_path;

/* The value of one measure; fails unless there is exactly one. */
static double published_value(const struct run *r, int64_t pointers, const char *tables)
{
	double value = -1;
	size_t i, found = 0;

	for (i = 0; i < r->n_measures; i++) {
		const struct measure *m = &r->measures[i];
		const struct series *s;

		if (attrs_int(&m->setting, "pointers", -1) != pointers ||
		    strcmp(attrs_text(&m->setting, "page-tables", ""), tables) != 0)
			continue;
		found++;
		s = measure_series(m, "ref_ns");
		assert_non_null(s);
		assert_int_equal(s->form, FORM_SUMMARY);
		assert_int_equal(s->origin, ORIGIN_PUBLISHED);
		assert_int_equal(s->n, 1);
		assert_int_equal(m->verdict, VERDICT_OK);
		assert_string_equal(attrs_text(&m->setting, "stride", ""), "32m+128");
		assert_string_equal(attrs_text(&m->setting, "page", ""), "16k");
		value = s->values[0];
	}
	assert_int_equal(found, 1);
	return value;
}

static void test_values(void **state)
{
	FILE *csv = fopen(csv_path, "r");
	struct run *r = NULL;
	struct err e = { 0 };
	char line[256];
	size_t rows = 0;

	(void)state;
	assert_non_null(csv);
	if (runfile_load(run_path, &r, &e))
		fail_msg("%s", e.msg);
	while (fgets(line, sizeof(line), csv)) {
		char *rest = NULL, *cell;
		uint64_t pointers;
		double local, remote;

		if (line[0] < '0' || line[0] > '9')
			continue;
		cell = strtok_r(line, ",\n", &rest);
		assert_int_equal(parse_u64(cell, &pointers, NULL), 0);
		cell = strtok_r(NULL, ",\n", &rest);
		assert_int_equal(parse_real(cell, &local, NULL), 0);
		cell = strtok_r(NULL, ",\n", &rest);
		assert_int_equal(parse_real(cell, &remote, NULL), 0);
		assert_true(published_value(r, (int64_t)pointers, "local") == local);
		assert_true(published_value(r, (int64_t)pointers, "remote") == remote);
		rows++;
	}
	fclose(csv);
	assert_int_equal(rows, 27);
	assert_int_equal(r->n_measures, 2 * rows);
	assert_int_equal(r->n_bad_lines, 0);
	run_free(r);
}

static void test_description(void **state)
{
	struct arena a = { 0 };
	struct points p;
	struct curves c;
	struct run *r = NULL;

	(void)state;
	assert_int_equal(runfile_load(run_path, &r, NULL), 0);
	assert_string_equal(r->id, "altix-2005");
	assert_int_equal(r->origin, ORIGIN_PUBLISHED);
	assert_non_null(strstr(r->source, "linux-ia64"));
	assert_true(r->has_footer && r->complete);
	assert_int_equal(run_schema(r, "tlb.chase")->revision, 1);
	assert_true(attrs_int(&r->fingerprint, "page_bytes", 0) == 16384);
	assert_true(attrs_int(&r->fingerprint, "cpus", 0) == 64);
	assert_int_equal(attrs_find(&r->context, "order")->kind, ATTR_NULL);
	assert_int_equal(points_assemble(&a, r, &p), 0);
	assert_int_equal(curves_assemble(&a, r, &p, &c), 0);
	assert_int_equal(c.n, 2);
	assert_int_equal(c.v[0].n, 27);
	assert_int_equal(c.v[1].n, 27);
	assert_string_equal(attrs_text(&c.v[1].outer, "page-tables", ""), "remote");
	arena_done(&a);
	run_free(r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_description),
	};

	if (argc != 3)
		return 2;
	run_path = argv[1];
	csv_path = argv[2];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
