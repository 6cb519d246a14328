// SPDX-License-Identifier: MIT
/* The invented comparisons. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fixture_compare.h"
#include "fixture_parts.h"

/* Both values and what became of them; the rest of a row is set by who needs it. */
struct row {
	double a, b, low, high;
	enum outcome outcome;
	const char *reason;
};

static struct compared *fill_row(struct sample *s, struct compared *c, const char *where,
				 const struct row *row)
{
	fixture_words(&s->c.arena, &c->where, where);
	c->a = row->a;
	c->b = row->b;
	c->percent = row->a > 0 ? 100 * (row->b / row->a - 1) : NAN;
	c->low = row->low;
	c->high = row->high;
	c->p = c->p_adjusted = isnan(row->low) ? NAN : 0.0125;
	c->n_a = c->n_b = 8;
	c->outcome = row->outcome;
	c->reason = row->reason;
	return c;
}

static struct compared *fact(struct sample *s, const char *id, const char *where, const char *unit,
			     struct row row)
{
	struct comparison *c = &s->c;
	assert_int_equal(
		arena_grow(&c->arena, &c->facts, c->n_facts, &c->cap_facts, sizeof(*c->facts)), 0);
	struct compared *f = &c->facts[c->n_facts++];
	*f = (struct compared){ .is_fact = true, .id = id, .unit = unit };
	return fill_row(s, f, where, &row);
}

static struct compared *point(struct sample *s, const char *metric, const char *where,
			      const char *unit, struct row row)
{
	struct comparison *c = &s->c;
	assert_int_equal(
		arena_grow(&c->arena, &c->points, c->n_points, &c->cap_points, sizeof(*c->points)),
		0);
	struct compared *p = &c->points[c->n_points++];
	*p = (struct compared){ .bench = "tlb.chase", .id = metric, .unit = unit };
	return fill_row(s, p, where, &row);
}

static void differs(struct sample *s, const char *name, const char *a, const char *b,
		    bool is_fingerprint)
{
	struct comparison *c = &s->c;
	assert_int_equal(arena_grow(&c->arena, &c->environment, c->n_environment,
				    &c->cap_environment, sizeof(*c->environment)),
			 0);
	c->environment[c->n_environment++] =
		(struct environment_difference){ name, a, b, is_fingerprint, false };
}

static struct run *add_run(struct sample *s, size_t i, const char *id)
{
	struct run *r = run_new();
	assert_non_null(r);
	assert_true(i < sizeof(s->runs) / sizeof(*s->runs));
	fixture_header(r);
	fixture_footer(r, true, "interval target met");
	r->id = id;
	s->runs[i] = r;
	return r;
}

/* The first @n_a runs are those of A. */
static void subject(struct sample *s, size_t n_a, size_t n_b)
{
	s->subject = (struct comparison_subject){ .a = (const struct run *const *)s->runs,
						  .b = (const struct run *const *)s->runs + n_a,
						  .n_a = n_a,
						  .n_b = n_b };
	s->o.subject = &s->subject;
}

static void common(struct sample *s)
{
	s->c.name_a = "last~1";
	s->c.name_b = "last";
	s->c.between_runs = true;
	s->c.run_spread = NAN;
	s->c.threshold = 0.02;
	s->c.level = 0.95;
	s->c.one_boot_a = s->c.one_boot_b = true;
	s->c.how[0] = "values: the median over invocations of the minimum of each; an invocation "
		      "is a fresh process";
	s->c.how[1] = "margin 2 %";
}

/* --- a change of the kernel, every outcome -------------------------------------------------- */

static void change_facts(struct sample *s)
{
	fact(s, "clock.core_hz", "", "Hz",
	     (struct row){ 2.98e9, 2.98e9, -0.2, 0.2, OUTCOME_EQUIVALENT, NULL });
	fact(s, "tlb.entries", "page=4k level=1", "entries",
	     (struct row){ 64, 64, NAN, NAN, OUTCOME_DIFFERENCE, NULL });
	fact(s, "tlb.reach", "page=4k level=2", "bytes",
	     (struct row){ 8 << 20, 4 << 20, -51.2, -49, OUTCOME_DIFFERENCE, NULL });
	fact(s, "walk.cached_ns", "page=4k", "ns",
	     (struct row){ 13.9, 14.8, 5.31, 8.05, OUTCOME_WORSE, NULL });
	fact(s, "walk.memory_ns", "page=4k", "ns",
	     (struct row){ 519, 270, -50.3, -45.1, OUTCOME_BETTER, NULL })
		->bimodal_a = true;
	fact(s, "toll.random_read_ns", "page=thp working-set=1g", "ns",
	     (struct row){ 104, 105, -3.1, 5.6, OUTCOME_INCONCLUSIVE,
			   "about 14 more invocations" });
	fact(s, "cache.latency_ns", "level=3", "ns",
	     (struct row){ 16.1, 16.3, 0.2, 2.4, OUTCOME_INCONCLUSIVE,
			   "run-to-run variation unknown: pagetoll ab --aa" });
	fact(s, "tlb.hit_ns", "page=thp level=2", "ns",
	     (struct row){ 5.1, NAN, NAN, NAN, OUTCOME_MISSING,
			   "not measured in B: hugetlb-1g has no free page" });
}

static void change_fill(struct sample *s)
{
	static const int pointers[] = { 16, 64, 128, 2048 };
	static const double ns[] = { 1.35, 1.9, 3.7, 6.1 };
	char where[64];
	common(s);
	add_run(s, 0, "01HX0000000000000000000001")->label = "before";
	add_run(s, 1, "01HX0000000000000000000002")->start_unix_ns += 86400000000000;
	assert_int_equal(attrs_set_text(&s->runs[1]->arena, &s->runs[1]->fingerprint, "kernel",
					"6.13.0-rc1"),
			 0);
	subject(s, 1, 1);
	differs(s, "load_average", "0.02", "1.31", false);
	differs(s, "kernel", "6.12.1", "6.13.0-rc1", true);
	differs(s, "memory_available_bytes", "14.2 GiB", NULL, false);
	change_facts(s);
	/* as comparisons have them: all metrics of one setting, then the next */
	for (size_t i = 0; i < 4; i++) {
		/* points come in order of measuring, which is shuffled */
		snprintf(where, sizeof(where), "page=4k pointers=%d", pointers[3 - i]);
		point(s, "ref_ns", where, "ns",
		      (struct row){ ns[3 - i], ns[3 - i] * 1.004, -0.3, 1.1, OUTCOME_EQUIVALENT,
				    NULL })
			->bimodal_b = i == 2;
		if (i < 2)
			point(s, "page_table_bytes", where, "bytes",
			      (struct row){ 4096, i ? 8192 : 4096, NAN, NAN, OUTCOME_DIFFERENCE,
					    NULL });
	}
}

/* --- more points than a mail should have ---------------------------------------------------- */

static void many_fill(struct sample *s)
{
	char where[64];
	common(s);
	s->c.one_boot_a = s->c.one_boot_b = false;
	for (size_t i = 0; i < 5; i++)
		add_run(s, i, i < 3 ? "01HX0000000000000000000003" : "01HX0000000000000000000004");
	subject(s, 3, 2);
	for (int i = 1; i <= 120; i++) {
		snprintf(where, sizeof(where), "pointers=%d", i * 16);
		enum outcome o = i % 10 == 0   ? OUTCOME_WORSE
				 : i % 15 == 7 ? OUTCOME_INCONCLUSIVE
					       : OUTCOME_EQUIVALENT;
		double b = o == OUTCOME_WORSE ? 11.0 + i / 100.0 : 10.02;
		point(s, "ref_ns", where, "ns",
		      (struct row){ 10, b, 10 * b - 101, 10 * b - 99, o,
				    o == OUTCOME_INCONCLUSIVE ? "about 3 more invocations"
							      : NULL });
	}
	/* fourteen rows that differ from run to run */
	static const char *const names[] = { "c1", "c2", "c3",  "c4",  "c5",  "c6",  "c7",
					     "c8", "c9", "c10", "c11", "c12", "c13", "c14" };
	for (size_t i = 0; i < 14; i++)
		differs(s, names[i], "0", "1", false);
}

static void many_all_fill(struct sample *s)
{
	many_fill(s);
	s->o.all = true;
}

/* --- one run by a parameter, single published values ---------------------------------------- */

static void by_fill(struct sample *s)
{
	static const double local[] = { 5.621, 11.42, 51.76, 306.3 };
	static const double remote[] = { 5.621, 11.42, 132.4, 747.6 };
	static const int pointers[] = { 1, 40, 120, 900 };
	char where[64];
	common(s);
	s->c.name_a = "page-tables=local";
	s->c.name_b = "page-tables=remote";
	s->c.factor = "page-tables";
	s->c.between_runs = false;
	struct run *r = add_run(s, 0, "altix-2005");
	r->origin = ORIGIN_PUBLISHED;
	r->source = "a message to a mailing list, 2005";
	subject(s, 1, 0);
	s->subject.b = s->subject.a;
	s->subject.n_b = 1;
	fact(s, "tlb.step_ns", "page-tables= level=2", "ns",
	     (struct row){ 157.5, 525.2, NAN, NAN, OUTCOME_DIFFERENCE, NULL });
	fact(s, "clock.core_hz", "", "Hz",
	     (struct row){ 2.95e9, 2.98e9, NAN, NAN, OUTCOME_DIFFERENCE, NULL });
	for (size_t i = 0; i < 4; i++) {
		snprintf(where, sizeof(where), "pointers=%d", pointers[i]);
		struct compared *p = point(
			s, "ref_ns", where, "ns",
			(struct row){ local[i], remote[i], NAN, NAN, OUTCOME_DIFFERENCE, NULL });
		p->n_a = p->n_b = 1;
	}
}

/* --- a kernel profile ----------------------------------------------------------------------- */

static void profile_fill(struct sample *s)
{
	common(s);
	s->c.name_a = s->c.name_b = "a-run-without-a-file";
	static const struct {
		const char *where;
		double a, b;
	} rows[] = {
		{ "symbol=clear_page", 20, 21 },
		{ "symbol=do_anonymous_page", 4, 1 },
		{ "symbol=zap_pte_range", 900, 400 },
		{ "symbol=only_in_b", NAN, 12 },
		{ "symbol=never_in_a", 0, 60 },
		{ "symbol=_raw_spin_lock_irqsave_of_a_name_that_is_longer_than_any_column_of_a_"
		  "mail_should_be",
		  70, 70 },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		point(s, "profile.ticks", rows[i].where, "ticks",
		      (struct row){ rows[i].a, rows[i].b, NAN, NAN,
				    isnan(rows[i].a) ? OUTCOME_MISSING : OUTCOME_DIFFERENCE,
				    NULL });
}

/* --- odd ones ------------------------------------------------------------------------------- */

static void across_fill(struct sample *s)
{
	common(s);
	s->o.utf8 = s->o.colour = true;
	s->c.factor = "machine";
	s->c.name_a = "m\u00fcnchen";
	s->c.name_b = "/home/user/a/directory/with/a/long/name/and/more/of/it/and/still/more/"
		      "run.pagetoll.jsonl";
	add_run(s, 0, "01HX0000000000000000000001");
	struct run *r = add_run(s, 1, "01HX0000000000000000000002");
	r->has_footer = false;
	r->preset = "quick";
	assert_int_equal(attrs_set_text(&r->arena, &r->fingerprint, "cpu", "Other Xeon 8000"), 0);
	subject(s, 1, 1);
	differs(s, "cpu", "Example EPYC 9000", "Other Xeon 8000", true);
	point(s, "faults_ratio", "page=4k fraction=10 order=random populate=no", "ratio",
	      (struct row){ 1e-9, 3e-9, 120, INFINITY, OUTCOME_WORSE, NULL });
	point(s, "faults_ratio", "page=thp", "ratio",
	      (struct row){ 0, 4e-9, NAN, NAN, OUTCOME_INCONCLUSIVE, "no event in A" });
}

static void hostile_fill(struct sample *s)
{
	common(s);
	s->c.name_a = "\033[31mred\nline";
	s->c.name_b = "\xff\xfe";
	s->c.how[0] = "a\tb\033]0;title\007";
	differs(s, "ker\033nel", "\x9b", "\xc3\xa9", true);
	fact(s, "x\033y", "page=\033[1m", "n\007s",
	     (struct row){ 1, 2, NAN, NAN, OUTCOME_INCONCLUSIVE, "because\n of \033[2J" });
	point(s, "m\033", "symbol=\033[0m", NULL,
	      (struct row){ 1, 2, NAN, NAN, OUTCOME_DIFFERENCE, NULL });
}

static void empty_fill(struct sample *s)
{
	common(s);
	s->c.name_a = s->c.name_b = NULL;
	s->c.between_runs = false;
	s->c.how[0] = NULL;
}

const struct compare_fixture compare_fixtures[] = {
	{ "compare-change", change_fill },
	{ "compare-many", many_fill },
	{ "compare-all", many_all_fill },
	{ "compare-by", by_fill },
	{ "compare-profile", profile_fill },
	{ "compare-across", across_fill },
	{ "compare-hostile", hostile_fill },
	{ "compare-empty", empty_fill },
	{ NULL, NULL },
};

void sample_open(const char *name, struct sample *ret)
{
	*ret = (struct sample){ .c.run_spread = NAN };
	for (const struct compare_fixture *f = compare_fixtures; f->name; f++)
		if (strcmp(f->name, name) == 0) {
			f->fill(ret);
			return;
		}
	fail_msg("no comparison %s", name);
}

void sample_close(struct sample *s)
{
	for (size_t i = 0; i < sizeof(s->runs) / sizeof(*s->runs); i++)
		run_free(s->runs[i]);
	arena_done(&s->c.arena);
	*s = (struct sample){ 0 };
}
