// SPDX-License-Identifier: MIT
/*
 * Run files as a reader meets them: refused with a message, or loaded. What is loaded can be
 * assembled, every measure standing in one point, and written again so that it reads back as the
 * same.
 */
#include "fuzz.h"

#include "record/json.h"
#include "record/runfile.h"

static void add_line(struct str *out, const char *type, json_t *body)
{
	json_t *line = json_pack("{s:s}", "type", type);
	char *dump;

	CHECK(body && line && json_object_update(line, body) == 0);
	dump = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(17));
	CHECK(dump);
	str_add(out, dump);
	str_add(out, "\n");
	free(dump);
	json_decref(line);
	json_decref(body);
}

static void write_again(const struct run *r, struct str *out)
{
	add_line(out, "header", json_from_header(r));
	for (size_t i = 0; i < r->n_measures; i++)
		add_line(out, "measure", json_from_measure(&r->measures[i]));
	if (r->has_footer)
		add_line(out, "footer", json_from_footer(r));
	CHECK(!out->failed);
}

static void check_round_trip(const struct run *r)
{
	struct str first = { 0 }, second = { 0 };
	struct run *back = NULL;

	write_again(r, &first);
	CHECK(runfile_load_buffer(first.data, first.len, &back, NULL) == 0);
	CHECK(back->n_bad_lines == 0 && back->n_measures == r->n_measures);
	write_again(back, &second);
	CHECK(!strcmp(first.data, second.data));
	run_free(back);
	str_done(&first);
	str_done(&second);
}

static void check_points(const struct run *r)
{
	struct arena a = { 0 };
	struct str text = { 0 };
	struct points p = { 0 };
	struct curves c = { 0 };
	size_t measures = 0, points = 0;

	CHECK(points_assemble(&a, r, &p) == 0);
	CHECK(curves_assemble(&a, r, &p, &c) == 0);
	for (size_t i = 0; i < p.n; i++) {
		CHECK(p.v[i].n_measures > 0 && run_schema(r, p.v[i].bench));
		measures += p.v[i].n_measures;
		attrs_format(&text, p.v[i].setting);
	}
	CHECK(measures == r->n_measures);
	for (size_t i = 0; i < c.n; i++) {
		CHECK((c.v[i].n == 0) == (c.v[i].skipped != NULL));
		points += c.v[i].n;
	}
	CHECK(points <= p.n);
	str_done(&text);
	arena_done(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run *r = NULL;
	struct err e = { 0 };
	int rc = runfile_load_buffer((const char *)data, size, &r, &e);

	CHECK((rc == 0) == (r != NULL) && e.code == -rc && (rc == 0) == (e.msg[0] == '\0'));
	if (!r)
		return 0;
	CHECK(r->id && r->source);
	check_points(r);
	check_round_trip(r);
	run_free(r);
	return 0;
}
