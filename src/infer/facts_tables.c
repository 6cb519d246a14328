// SPDX-License-Identifier: MIT
/*
 * Page tables of a shared segment: what one process more costs in memory, beside what geometry
 * says. Leaves out: time, which the points show.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "infer/facts.h"

/* Measured and predicted differ by more than this share: the fact says so. */
static const double DIFFERENT = 0.05;
/* Faults on a page by all processes together: 1 if they share its table, one each if not. */
static const double SHARED = 1.25;

static const char *compare_to_geometry(struct work *w, const struct curve_points *c,
				       double measured)
{
	struct span all = { 0, INFINITY, 0.5 };
	char text[UNITS_TEXT_BYTES];
	struct cost predicted;
	struct view v;

	if (view_build(w, c, "predicted_table_bytes", &v) < 0 || v.n == 0)
		return NULL;
	all.low = all.high = v.x[0];
	predicted = cost_between(w, &v, all, NULL, all);
	predicted.value /= v.x[0];
	if (fabs(measured - predicted.value) <= DIFFERENT * predicted.value)
		return "as geometry predicts";
	return arena_printf(w->arena, "geometry predicts %s",
			    format_size_human(text, predicted.value));
}

/*
 * Of hugetlb pages, whose faults nothing else saves: fewer than one a page means that a process
 * found tables that another had filled.
 */
static const char *sharing_note(struct work *w, const struct curve_points *c, double processes,
				const char *note)
{
	struct span last = { processes, processes, 0.5 };
	struct cost faults;
	bool is_shared;
	struct view v;

	if (strncmp(attrs_text(&c->outer, "page", ""), "hugetlb", 7) != 0 || processes < 2 ||
	    !note || view_build(w, c, "faults", &v) < 0 || v.n == 0)
		return note;
	faults = cost_between(w, &v, last, NULL, last);
	if (isnan(faults.value))
		return note;
	is_shared = faults.value * processes <= SHARED;
	return arena_printf(w->arena, "%s; %s: %.3g faults a page by %g processes", note,
			    is_shared ? "processes share them" : "each process has its own",
			    faults.value, processes);
}

static int add_process(struct work *w, const struct curve_points *c)
{
	struct span last = { 0, 0, 0.5 };
	struct cost cost;
	struct fact *f;
	struct view v;

	if (view_build(w, c, "process_table_bytes", &v) < 0)
		return -ENOMEM;
	last.low = last.high = view_end(&v);
	cost = v.n > 0 ? cost_between(w, &v, last, NULL, last) : cost_missing(v.reason);
	f = fact_new(w, "tables.process_bytes", "bytes", "growth of VmPTE in one process");
	if (!f || fact_where_text(w, f, "page", attrs_text(&c->outer, "page", "")) < 0 ||
	    fact_where_int(w, f, "segment", outer_int(c, "segment", 0)) < 0)
		return -ENOMEM;
	fact_set_cost(f, &cost);
	if (!isnan(cost.value))
		f->note = sharing_note(w, c, last.low, compare_to_geometry(w, c, cost.value));
	return 0;
}

/* Reading and writing take the same tables: the first curve of a segment and page size speaks. */
static bool said_before(struct work *w, size_t at)
{
	const struct curve_points *c = &w->curves->v[at];

	for (size_t i = 0; i < at; i++) {
		const struct curve_points *b = &w->curves->v[i];

		if (strcmp(b->bench, c->bench) == 0 &&
		    outer_is(b, "page", attrs_text(&c->outer, "page", "")) &&
		    outer_int(b, "segment", 0) == outer_int(c, "segment", 0))
			return true;
	}
	return false;
}

int facts_tables(struct work *w)
{
	int rc = 0;

	for (size_t i = 0; i < w->curves->n && rc == 0; i++) {
		if (strcmp(w->curves->v[i].bench, "tables.shared") == 0 && !said_before(w, i))
			rc = add_process(w, &w->curves->v[i]);
	}
	return rc;
}
