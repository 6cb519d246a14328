// SPDX-License-Identifier: MIT
/*
 * Run files as a reader meets them: loaded, or refused with a message; every measure goes back to
 * JSON, and points and curves hold each measure once.
 */
#include "fuzz.h"

#include "record/json.h"
#include "record/runfile.h"

static void check_json(json_t *j)
{
	CHECK(j);
	json_decref(j);
}

static void check_points(const struct run *r)
{
	struct arena a = { 0 };
	struct points p = { 0 };
	struct curves c = { 0 };
	size_t in_points = 0;

	CHECK(points_assemble(&a, r, &p) == 0);
	for (size_t i = 0; i < p.n; i++)
		in_points += p.v[i].n_measures;
	CHECK(in_points == r->n_measures);
	CHECK(curves_assemble(&a, r, &p, &c) == 0);
	for (size_t i = 0; i < c.n; i++)
		CHECK(c.v[i].n > 0 || c.v[i].skipped);
	arena_done(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run *r = NULL;
	struct err e = { 0 };

	if (runfile_load_buffer((const char *)data, size, &r, &e)) {
		CHECK(e.code && e.msg[0] && !r);
		return 0;
	}
	CHECK(r->id && r->source);
	check_json(json_from_header(r));
	for (size_t i = 0; i < r->n_measures; i++) {
		CHECK(run_schema(r, r->measures[i].bench));
		check_json(json_from_measure(&r->measures[i]));
	}
	check_json(json_from_footer(r));
	check_points(r);
	run_free(r);
	return 0;
}
