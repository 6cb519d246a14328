// SPDX-License-Identifier: MIT
/*
 * Predictions: parts that add up, the published tables (the argument is their folder), refusals.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "predict/predict.h"
#include "record/runfile.h"
#include "stats/stats.h"

static const char *published_dir;

struct fixture {
	struct arena arena;
	struct attrs given, resolved;
	struct predict_model model;
	struct predict_setting setting;
	struct sim_machine *machine;
	struct predict_result *r;
};

static struct sim_machine *machine_of(const char *name)
{
	for (const struct sim_embedded *x = sim_embedded_machines; x->name; x++) {
		struct sim_machine *m = NULL;

		if (strcmp(x->name, name) == 0 && sim_machine_read(x->data, x->n, &m, NULL) == 0)
			return m;
	}
	fail_msg("no machine %s", name);
	return NULL;
}

static void text(struct fixture *f, const char *name, const char *value)
{
	assert_int_equal(attrs_set_text(&f->arena, &f->given, name, value), 0);
}

static void number(struct fixture *f, const char *name, int64_t value)
{
	assert_int_equal(attrs_set_int(&f->arena, &f->resolved, name, value), 0);
}

/* As the planner resolves plain words; the rest is each test's. */
static void begin(struct fixture *f, const char *machine, const char *bench, const char *inner,
		  uint64_t value)
{
	memset(f, 0, sizeof(*f));
	f->machine = machine ? machine_of(machine) : NULL;
	f->model = (struct predict_model){ .machine = f->machine,
					   .page_bytes = 4096,
					   .text_lines = -1,
					   .data_lines = -1,
					   .hot_ns = -1,
					   .seed = 1 };
	f->setting = (struct predict_setting){ .bench = bench,
					       .given = &f->given,
					       .resolved = &f->resolved,
					       .inner = inner,
					       .inner_value = value };
	f->r = malloc(sizeof(*f->r));
	assert_non_null(f->r);
	text(f, "order", "random");
	text(f, "line", "auto");
	text(f, "backing", "distinct");
	number(f, "page.bytes", f->machine ? (int64_t)f->machine->core.page_bytes : 4096);
	number(f, "load.node", -1);
}

static void end(struct fixture *f)
{
	sim_machine_free(f->machine);
	free(f->r);
	arena_done(&f->arena);
}

static void predict(struct fixture *f)
{
	struct err e = { 0 };

	if (predict_point(&f->model, &f->setting, f->r, &e) < 0)
		fail_msg("%s", e.msg);
}

static double sum_of(const struct predict_metric *m)
{
	double sum = 0;

	for (size_t i = 0; i < m->parts.n; i++)
		sum += m->parts.v[i].ns;
	return sum;
}

/* --- parts --- */

static void test_parts(void **state)
{
	static const struct {
		const char *machine;
		uint64_t pointers, page;
		uint32_t levels, host_levels;
		const char *backing, *policy;
	} rows[] = {
		{ "zen3-epyc", 40, 4096, 0, 0, "zero", NULL },
		{ "zen3-epyc", 3000, 4096, 5, 0, "distinct", "interleaved" },
		{ "zen3-epyc", 3000, 4096, 0, 4, "distinct", "replicated" },
		{ "icelake-sp", 3000, 4096, 0, 5, "zero", NULL },
		{ "sapphire-rapids", 700, 2 << 20, 4, 0, "distinct", NULL },
		{ "neoverse-v2", 5000, 4096, 3, 0, "contiguous", NULL },
		{ "altix-itanium2-900", 400, 16384, 4, 0, "distinct", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct run *run = run_new();
		struct bench_schema schema = { .name = "tlb.chase", .revision = 1 };
		const struct param none = { .name = NULL };
		const struct metric no_metric = { .name = NULL };
		const struct measure *m;
		double all, sum = 0;
		struct fixture f;

		begin(&f, rows[i].machine, "tlb.chase", "pointers", rows[i].pointers);
		text(&f, "backing", rows[i].backing);
		number(&f, "page.bytes", (int64_t)rows[i].page);
		number(&f, "stride.bytes", (int64_t)rows[i].page);
		f.model.levels = rows[i].levels;
		f.model.host_levels = rows[i].host_levels;
		f.setting.table_policy = rows[i].policy;
		predict(&f);
		assert_string_equal(f.r->metrics[0].name, "ref_ns");
		assert_true(f.r->metrics[0].value > 0);
		/* and once more out of the run */
		schema.params = &none;
		schema.metrics = &no_metric;
		assert_non_null(run);
		assert_int_equal(predict_add_schema(run, &schema, f.r), 0);
		assert_int_equal(predict_add_measure(run, &f.setting, NULL, NULL, f.r), 0);
		m = &run->measures[0];
		all = m->series[0].values[0];
		for (size_t k = 0; k < m->n_series; k++) {
			assert_int_equal(m->series[k].origin, ORIGIN_PREDICTED);
			if (m->series[k].part && strcmp(m->series[k].metric, "ref_ns") == 0)
				sum += m->series[k].values[0];
		}
		assert_true(fabs(sum - all) < 1e-9 * all);
		run_free(run);
		end(&f);
	}
}

/* Replicated tables are never remote; the same seed gives the same, bit for bit. */
static void test_policies(void **state)
{
	double ns[4];

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct fixture f;

		begin(&f, "zen2-epyc", "tlb.chase", "pointers", 40000);
		f.machine->caches[2].size_bytes = 1 << 20; /* too small for the tables' lines */
		text(&f, "backing", "zero");
		number(&f, "stride.bytes", (2 << 20) + 4096);
		number(&f, "page-tables.node", 1);
		f.setting.table_policy = i == 1 ? "replicated" : i == 2 ? "interleaved" : NULL;
		predict(&f);
		ns[i] = f.r->metrics[0].value;
		if (i == 1)
			for (unsigned what = 0; what < SIM_WHATS; what++)
				assert_int_equal(f.r->counts.found[what][SIM_IN_MEMORY + 1], 0);
		end(&f);
	}
	assert_true(ns[0] == ns[3]);
	assert_true(ns[1] < ns[2] && ns[2] < ns[0]);
}

/* --- published tables --- */

enum { CELLS_MAX = 64 };
struct cell {
	int64_t n;
	bool remote;
	double published, predicted;
	/* what the costs are fitted to: y = x . costs */
	double rest, x[3];
};

/* The time that the three fitted costs do not make, and what they are multiplied with. */
static void split(struct fixture *f, struct cell *c)
{
	const struct predict_metric *m = &f->r->metrics[0];
	const double refs = (double)f->r->counts.refs;

	for (size_t i = 0; i < m->parts.n; i++) {
		const char *name = m->parts.v[i].name;
		const double share = (double)m->parts.v[i].count / refs;

		if (strcmp(name, "walk.handler") == 0)
			c->x[0] += share;
		else if (strstr(name, "memory.remote"))
			c->x[1] += share;
		else if (strstr(name, ".far"))
			c->x[2] += share;
		else
			c->rest += m->parts.v[i].ns;
	}
}

static size_t predict_altix(struct cell *ret_cells)
{
	static struct cell cells[CELLS_MAX]; /* predicted once for all tests */
	struct run *run = NULL;
	struct err e = { 0 };
	char path[512];
	static size_t n;

	if (n > 0) {
		memcpy(ret_cells, cells, sizeof(cells));
		return n;
	}
	snprintf(path, sizeof(path), "%s/altix-2005.pagetoll.jsonl", published_dir);
	if (runfile_load(path, &run, &e) < 0)
		fail_msg("%s", e.msg);
	for (size_t i = 0; i < run->n_measures; i++) {
		const struct measure *m = &run->measures[i];
		struct cell *c = &cells[n];
		struct fixture f;

		assert_true(n < CELLS_MAX);
		*c = (struct cell){ .n = attrs_int(&m->setting, "pointers", 0) };
		c->remote = strcmp(attrs_text(&m->setting, "page-tables", ""), "remote") == 0;
		c->published = m->series[0].values[0];
		if (c->n < 10)
			continue;
		n++;
		begin(&f, "altix-itanium2-900", "tlb.chase", "pointers", (uint64_t)c->n);
		text(&f, "order", "sequential");
		number(&f, "stride.bytes", (32 << 20) + 128);
		number(&f, "page-tables.node", c->remote);
		f.model.table_align_bytes = 256 << 10;
		predict(&f);
		c->predicted = f.r->metrics[0].value;
		split(&f, c);
		end(&f);
	}
	run_free(run);
	assert_int_equal(n, 52);
	memcpy(ret_cells, cells, sizeof(cells));
	return n;
}

static void test_altix(void **state)
{
	struct cell cells[CELLS_MAX];
	const size_t n = predict_altix(cells);
	double sum = 0;
	unsigned far = 0;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		const struct cell *c = &cells[i];
		const double error = c->predicted / c->published - 1;

		if (c->n >= 90 && c->n <= 120)
			print_message("knee: %jd %s: published %.1f ns, predicted %.1f\n",
				      (intmax_t)c->n, c->remote ? "remote" : "local", c->published,
				      c->predicted);
		if (c->n <= 80 && fabs(error) > 0.05)
			fail_msg("%jd: %.2f ns, not %.2f", (intmax_t)c->n, c->predicted,
				 c->published);
		if (c->n < 130)
			continue;
		far++;
		sum += fabs(error);
		if (fabs(error) > 0.12)
			fail_msg("%jd %s: %.1f ns, not %.1f", (intmax_t)c->n,
				 c->remote ? "remote" : "local", c->predicted, c->published);
	}
	print_message("N >= 130: %u cells, mean error %.2f %%\n", far, 100 * sum / far);
	assert_int_equal(far, 28);
	assert_true(sum / far <= 0.05);
}

/* Costs fitted on every second row, the structure kept: the error on the others. */
static void test_altix_held_out(void **state)
{
	struct cell cells[CELLS_MAX];
	const size_t n = predict_altix(cells);

	(void)state;
	for (int64_t odd = 0; odd < 2; odd++) {
		double a[CELLS_MAX * 3], b[CELLS_MAX], x[3], sum = 0;
		size_t rows = 0, held = 0;

		for (unsigned pass = 0; pass < 2; pass++) {
			int64_t row = 0;

			for (size_t i = 0; i < n; i++) {
				const struct cell *c = &cells[i];
				double t = c->rest;

				if (i > 0 && c->remote != cells[i - 1].remote)
					row = 0;
				if (c->n < 130)
					continue;
				if (row++ % 2 == odd && pass == 0) {
					for (unsigned k = 0; k < 3; k++)
						a[rows * 3 + k] = c->x[k] / c->published;
					b[rows++] = (c->published - c->rest) / c->published;
				} else if ((row - 1) % 2 != odd && pass == 1) {
					for (unsigned k = 0; k < 3; k++)
						t += c->x[k] * x[k];
					sum += fabs(t / c->published - 1);
					held++;
				}
			}
			if (pass == 0)
				assert_int_equal(stats_nnls(a, b, rows, 3, x, NULL), 0);
		}
		print_message("held out: %zu cells, mean error %.2f %%\n", held,
			      100 * sum / (double)held);
		assert_int_equal(rows, 14);
		assert_int_equal(held, 14);
		assert_true(sum / (double)held <= 0.06);
	}
}

/* The published loop: the model fails, and the file says so; so that nobody is told otherwise. */
static void test_four_levels(void **state)
{
	double ns[2];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct fixture f;

		begin(&f, "altix-itanium2-900", "tlb.walk", "regions", 512);
		text(&f, "order", "sequential");
		text(&f, "index", "fixed");
		text(&f, "caches", "warm");
		text(&f, "loads", "dependent");
		number(&f, "stride.bytes", 32 << 20);
		f.model.levels = 3 + i;
		f.model.table_align_bytes = 256 << 10;
		predict(&f);
		ns[i] = f.r->metrics[0].value;
		end(&f);
	}
	print_message("four levels instead of three: predicted %+.1f %%, published +63.2 %%\n",
		      100 * (ns[1] / ns[0] - 1));
	assert_true(ns[1] > ns[0] && ns[1] < 1.05 * ns[0]);
}

static void test_call(void **state)
{
	static const struct {
		const char *bench;
		double single_ns, replicated_ns, hot_single_ns;
	} rows[] = { { "syscall.openclose", 106700, 75000, 8445 },
		     { "syscall.forkexit", 521500, 416500, 162019 },
		     { "syscall.time", 17880, 11690, 1110 } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double ns[2];

		for (unsigned copy = 0; copy < 2; copy++) {
			struct fixture f;

			begin(&f, "altix-itanium2-900", rows[i].bench, NULL, 0);
			text(&f, "cache", "cold");
			f.setting.cpu_node = 3;
			f.model.text_replicated = copy;
			predict(&f);
			ns[copy] = f.r->metrics[0].value;
			assert_true(fabs(sum_of(&f.r->metrics[0]) - ns[copy]) < 1e-6);
			end(&f);
		}
		assert_true(fabs(ns[1] / rows[i].replicated_ns - 1) < 0.02);
		assert_true(fabs(ns[0] / rows[i].single_ns - 1) < 0.03);
	}
}

/* --- geometry --- */

static void test_tables(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, NULL, "tables.shared", "processes", 500);
	assert_int_equal(attrs_set_int(&f.arena, &f.given, "segment", INT64_C(8000) << 20), 0);
	predict(&f);
	assert_string_equal(f.r->metrics[0].parts.v[0].name, "leaf");
	assert_true(f.r->metrics[0].parts.v[0].ns == 500.0 * 4000 * 4096); /* 7.63 GiB */
	assert_true(sum_of(&f.r->metrics[0]) == (double)f.r->metrics[0].exact);
	end(&f);
}

/* --- refusals --- */

static void test_refused(void **state)
{
	static const struct {
		const char *bench, *name, *value;
		uint64_t stride, n;
		const char *told;
	} rows[] = {
		{ "fault.anon", "line", "auto", 4096, 64, "cannot be predicted" },
		{ "tlb.chase", "alias", "avoid", 4096, 64, "alias=plain" },
		{ "tlb.chase", "backing", "memfd", 4096, 64, "memfd" },
		{ "tlb.chase", "line", "auto", UINT64_C(1) << 40, 200, "levels" },
		{ "mem.gups", "form", "star", 8, 1 << 20, "form=star" },
		{ "syscall.pid", "cache", "hot", 8, 1, "cache=cold" },
	};
	struct fixture f;
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		e = (struct err){ 0 };
		begin(&f, "skylake-sp", rows[i].bench, "pointers", rows[i].n);
		text(&f, rows[i].name, rows[i].value);
		number(&f, "stride.bytes", (int64_t)rows[i].stride);
		assert_int_equal(predict_point(&f.model, &f.setting, f.r, &e), -EINVAL);
		if (!strstr(e.msg, rows[i].told))
			fail_msg("'%s' does not tell '%s'", e.msg, rows[i].told);
		end(&f);
	}
	begin(&f, NULL, "tlb.chase", "pointers", 8);
	assert_int_equal(predict_point(&f.model, &f.setting, f.r, &e), -EINVAL);
	end(&f);
	begin(&f, "skylake-sp", "tlb.chase", "pointers", 8);
	number(&f, "stride.bytes", 4096);
	f.setting.table_policy = "everywhere";
	assert_int_equal(predict_point(&f.model, &f.setting, f.r, NULL), -EINVAL);
	end(&f);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),       cmocka_unit_test(test_policies),
		cmocka_unit_test(test_altix),       cmocka_unit_test(test_altix_held_out),
		cmocka_unit_test(test_four_levels), cmocka_unit_test(test_call),
		cmocka_unit_test(test_tables),      cmocka_unit_test(test_refused),
	};

	published_dir = argc > 1 ? argv[1] : "published";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
