// SPDX-License-Identifier: MIT
/* Charts: which curves share one, axes and their marks, text and script; what cannot be drawn. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "fixture_parts.h"
#include "golden.h"
#include "report/plot.h"

struct opened {
	struct run *run;
	struct report rep;
	struct report_options o;
	struct plot plot;
};

static int open_plot(struct opened *p, const char *name, const char *bench, const char *metric,
		     struct err *e)
{
	struct plot_run runs[1];

	*p = (struct opened){ 0 };
	p->run = fixture_open(fixture_find(name), &p->rep, &p->o);
	runs[0] = (struct plot_run){ &p->rep, "one" };
	return plot_make(&p->plot, runs, 1, bench, metric, p->o.utf8, e);
}

static void close_plot(struct opened *p)
{
	plot_done(&p->plot);
	fixture_close(p->run, &p->rep);
}

static void check_model(const struct plot *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct plot_chart *c = &p->charts[i];

		assert_true(c->n_series > 0);
		assert_true(c->rows || c->n_series <= PLOT_SERIES_MAX);
		assert_true(c->y.low < c->y.high);
		assert_true(c->x.low < c->x.high);
		for (size_t s = 0; s < c->n_series; s++) {
			assert_true(c->series[s].n > 0);
			for (size_t k = 0; k < c->series[s].n; k++) {
				const struct plot_point *at = &c->series[s].points[k];

				assert_true(isfinite(at->value) && isfinite(at->x));
				assert_true(k == 0 || c->rows || at->x > at[-1].x);
				assert_true(plot_place(&c->y, at->value) > -0.01);
				assert_true(plot_place(&c->y, at->value) < 1.01);
			}
		}
	}
}

static void test_every_invented_run(void **state)
{
	(void)state;
	for (const struct fixture *f = fixtures; f->name; f++) {
		struct err e = { 0 };
		struct opened p;
		struct str text = { 0 };
		int rc = open_plot(&p, f->name, NULL, NULL, &e);

		if (strcmp(f->name, "empty") == 0) {
			assert_int_equal(rc, -ENOENT);
			assert_non_null(strstr(e.msg, "nothing was measured"));
			close_plot(&p);
			continue;
		}
		assert_int_equal(rc, 0);
		check_model(&p.plot);
		assert_int_equal(plot_text(&text, &p.plot, &p.o), 0);
		if (text.len && !p.o.colour)
			golden_check_rules(f->name, text.data, &p.o);
		str_clear(&text);
		assert_int_equal(plot_gnuplot(&text, &p.plot, "svg"), 0);
		assert_null(strpbrk(str_text(&text), "\033\r\t"));
		str_done(&text);
		close_plot(&p);
	}
}

static void test_golden(void **state)
{
	struct opened p;
	struct str text = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(open_plot(&p, "published", NULL, NULL, &e), 0);
	assert_int_equal(plot_text(&text, &p.plot, &p.o), 0);
	golden_compare("published", "plot", str_text(&text));
	str_clear(&text);
	assert_int_equal(plot_gnuplot(&text, &p.plot, NULL), 0);
	golden_compare("published", "gnuplot", str_text(&text));
	str_done(&text);
	close_plot(&p);
}

static void test_what_there_is_not(void **state)
{
	static const struct {
		const char *bench, *metric, *says;
	} rows[] = {
		{ "tlb.chsae", NULL, "there are tlb.chase, cache.chase" },
		{ "tlb", NULL, "no 'tlb' was measured" },
		{ "", NULL, "no '' was measured" },
		{ "tlb.chase", "ref", "no metric 'ref'; there are ref_ns, ref_cycles" },
		{ NULL, "bytes", "no metric 'bytes'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct err e = { 0 };
		struct opened p;

		assert_int_equal(open_plot(&p, "toll", rows[i].bench, rows[i].metric, &e), -ENOENT);
		if (!strstr(e.msg, rows[i].says))
			fail_msg("'%s' does not say '%s'", e.msg, rows[i].says);
		assert_int_equal(p.plot.n, 0);
		close_plot(&p);
	}
}

static void test_choice_of_metric(void **state)
{
	struct err e = { 0 };
	struct opened p;

	(void)state;
	assert_int_equal(open_plot(&p, "toll", "tlb.chase", "ref_cycles", &e), 0);
	assert_true(p.plot.n > 0);
	for (size_t i = 0; i < p.plot.n; i++) {
		assert_string_equal(p.plot.charts[i].bench, "tlb.chase");
		assert_string_equal(p.plot.charts[i].y.unit, "cycles");
	}
	close_plot(&p);
}

/* More curves than marks: divided by the parameter with the fewest values. */
static void test_division(void **state)
{
	struct run *r = run_new();
	struct report rep;
	struct plot_run one = { NULL, "one" };
	struct plot p;
	struct err e = { 0 };

	(void)state;
	assert_non_null(r);
	fixture_header(r);
	assert_int_equal(run_add_schema(r, &fixture_tlb), 0);
	for (int page = 0; page < 2; page++)
		for (int k = 0; k < 6; k++) {
			char outer[64];

			snprintf(outer, sizeof(outer), "page=%s stride=%dk", page ? "thp" : "4k",
				 4 << k);
			fixture_point(r, (struct fixture_setting){ "tlb.chase", outer }, 1, 1, 1.5);
			fixture_point(r, (struct fixture_setting){ "tlb.chase", outer }, 64, 1, 40);
		}
	fixture_footer(r, true, "test");
	assert_int_equal(report_init(&rep, r, &e), 0);
	one.rep = &rep;
	assert_int_equal(plot_make(&p, &one, 1, NULL, NULL, false, &e), 0);
	assert_int_equal(p.n, 2);
	check_model(&p);
	for (size_t i = 0; i < p.n; i++) {
		assert_int_equal(p.charts[i].n_series, 6);
		assert_non_null(strstr(p.charts[i].fixed, i ? "page=thp" : "page=4k"));
		assert_null(strstr(p.charts[i].series[0].label, "page="));
		assert_true(p.charts[i].x.log && p.charts[i].y.log);
	}
	plot_done(&p);
	report_done(&rep);
	run_free(r);
}

/* The report of a chase with @n points of two curves. */
static char *text_of_chase(int n, bool utf8)
{
	struct run *r = run_new();
	struct report_options o = { .utf8 = utf8 };
	struct report rep;
	struct err e = { 0 };
	struct str out = { 0 };
	char *copy;

	assert_non_null(r);
	fixture_header(r);
	assert_int_equal(run_add_schema(r, &fixture_tlb), 0);
	for (int i = 1; i <= n; i++) {
		fixture_point(r, (struct fixture_setting){ "tlb.chase", "page=4k" }, i, 1,
			      i < n / 2 ? 2 : 100);
		/* too few for a shape */
		if (i <= 3)
			fixture_point(r, (struct fixture_setting){ "tlb.chase", "page=thp" }, i, 1,
				      2);
	}
	fixture_footer(r, true, "test");
	assert_int_equal(report_init(&rep, r, &e), 0);
	assert_int_equal(report_text(&out, &rep, &o), 0);
	copy = strdup(out.data); /* the check takes it apart */
	assert_non_null(copy);
	golden_check_rules("chase", copy, &o);
	free(copy);
	report_done(&rep);
	run_free(r);
	return out.data;
}

static void test_sparklines(void **state)
{
	char *text = text_of_chase(16, false);

	(void)state;
	assert_non_null(strstr(text, "\n  4k  _______#########  2.00 to 100 ns\n"));
	assert_null(strstr(text, "\n  thp  _"));
	free(text);
	text = text_of_chase(16, true);
	assert_non_null(strstr(text, "  4k  ▁▁▁▁▁▁▁█████████  "));
	free(text);
	text = text_of_chase(11, false);
	assert_null(strstr(text, "  4k  __"));
	free(text);
	/* more rows than cells */
	text = text_of_chase(200, false);
	assert_non_null(strstr(text, "  4k  ______"));
	free(text);
}

static void test_ticks(void **state)
{
	static const struct {
		struct plot_axis a;
		size_t most;
		const char *want;
	} rows[] = {
		{ { "x", "", true, 1, 900 }, 12, "1 2 4 8 16 32 64 128 256 512" },
		{ { "x", "", true, 1, 900 }, 5, "1 4 16 64 256" },
		{ { "x", "bytes", true, 4096, 1 << 20 }, 5, "4k 16k 64k 256k 1m" },
		{ { "x", "bytes", false, 0, 8192 }, 5, "0 2k 4k 6k 8k" },
		{ { "y", "ns", true, 2.6, 820 }, 9, "5 10 20 50 100 200 500" },
		{ { "y", "ns", true, 2.6, 820 }, 4, "10 100" },
		{ { "y", "ns", true, 1e-3, 1e9 }, 5, "0.001 1 1000 1000000 1000000000" },
		{ { "x", "", true, 1, 1152921504606846976.0 }, 3, "1 2097152 4398046511104" },
		{ { "y", "ns", false, 0, 12.3 }, 8, "0 2 4 6 8 10 12" },
		{ { "y", "%", false, -10, 40 }, 6, "-10 0 10 20 30 40" },
		{ { "y", "ns", true, 3, 4 }, 6, "3 3.2 3.4 3.6 3.8 4" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct plot_tick t[PLOT_TICKS_MAX];
		struct str got = { 0 };
		size_t n = plot_ticks(&rows[i].a, rows[i].most, t);

		for (size_t k = 0; k < n; k++)
			str_addf(&got, "%s%s", k ? " " : "", t[k].text);
		assert_string_equal(str_text(&got), rows[i].want);
		str_done(&got);
	}
}

/* Nothing of a label leaves its quotes. */
static void test_foreign_labels(void **state)
{
	static const char *const label = "a'b \"c\" `d` $(e) %f \\n @g {h} # i";
	static double each[] = { 7 };
	struct plot_point point = { 0, 7, NAN, NAN, each, 1, false, false };
	struct plot_series series = { .label = label, .points = &point, .n = 1 };
	const char *names[] = { label };
	struct plot_chart c = { .bench = "b",
				.metric = "m",
				.title = label,
				.fixed = label,
				.how = "",
				.x = { label, "", false, 0, 1 },
				.y = { label, "ns", false, 0, 10 },
				.rows = names,
				.n_rows = 1,
				.series = &series,
				.n_series = 1 };
	struct plot p = { .charts = &c, .n = 1 };
	struct str out = { 0 };

	(void)state;
	assert_int_equal(plot_gnuplot(&out, &p, NULL), 0);
	assert_non_null(strstr(str_text(&out), "title 'a''b \"c\" `d` $(e) %f \\n @g {h} # i'"));
	assert_non_null(strstr(str_text(&out), "set ytics ('a''b \"c\" `d` $(e) %%f"));
	for (const char *at = str_text(&out); (at = strchr(at, '`')); at++) {
		const char *line = at;
		size_t quotes = 0;

		while (line > out.data && line[-1] != '\n')
			quotes += *--line == '\'';
		assert_true(quotes % 2 == 1);
	}
	str_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_invented_run), cmocka_unit_test(test_golden),
		cmocka_unit_test(test_what_there_is_not),  cmocka_unit_test(test_choice_of_metric),
		cmocka_unit_test(test_division),           cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_foreign_labels),     cmocka_unit_test(test_sparklines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
