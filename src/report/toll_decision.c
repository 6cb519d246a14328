// SPDX-License-Identifier: MIT
/*
 * The line that people decide by: random reads with small and with huge pages, what huge pages
 * save, what makes that uncertain. Without intervals it gives ranges and "would": no verdict.
 * Leaves out: every other number of the card.
 */
#include "report/toll_decision.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "infer/infer.h"
#include "report/render.h"

/* Least invocations of which the median has a 95 % interval. */
enum { INVOCATIONS_MIN = 6 };

struct decision {
	const struct fact *small, *huge, *saving;
	uint64_t small_bytes;
};

/* The invocations behind a value without an interval; n 0: not known. */
struct spread {
	size_t n;
	double least, largest;
};

/* The statistic of each invocation, of the point that a fact was made of. */
static struct spread spread_of(const struct report *rep, const struct fact *f)
{
	const char *page = attrs_text(&f->where, "page", "");
	uint64_t bytes = render_where_bytes(&f->where, "working-set");
	struct spread s = { 0, INFINITY, -INFINITY };
	struct estimate e;
	for (size_t i = 0; i < rep->points.n; i++) {
		const struct point *p = &rep->points.v[i];
		if (strcmp(attrs_text(p->setting, "page", ""), page) != 0 ||
		    attrs_int(p->setting, "working-set", 0) != (int64_t)bytes)
			continue;
		estimate_point(rep->run, p, "ref_ns", &e);
		if (!(fabs(e.value - f->value) <= 1e-6 * fabs(f->value)))
			continue; /* of another experiment over the same working set */
		for (size_t k = 0; k < p->n_measures; k++) {
			struct point one = { .bench = p->bench,
					     .setting = p->setting,
					     .measures = &p->measures[k],
					     .n_measures = 1,
					     .cap = 1 };
			estimate_point(rep->run, &one, "ref_ns", &e);
			if (isnan(e.value))
				continue;
			s.least = fmin(s.least, e.value);
			s.largest = fmax(s.largest, e.value);
			s.n++;
		}
		break;
	}
	return s;
}

static bool has_interval(const struct fact *f)
{
	return !isnan(f->low) && !isnan(f->high);
}

static bool same_working_set(const struct fact *a, const struct fact *b)
{
	const struct attr *x = attrs_find(&a->where, "working-set");
	const struct attr *y = attrs_find(&b->where, "working-set");
	struct attrs one = { .v = (struct attr[]){ x ? *x : (struct attr){ 0 } }, .n = 1 };
	struct attrs other = { .v = (struct attr[]){ y ? *y : (struct attr){ 0 } }, .n = 1 };
	return x && y && attrs_equal(&one, &other);
}

static bool prefer_huge(const struct fact *have, const struct fact *f)
{
	if (!have || (isnan(have->value) && !isnan(f->value)))
		return true;
	return !isnan(f->value) && strcmp(attrs_text(&f->where, "page", ""), "thp") == 0;
}

static struct decision find_decision(const struct report *rep)
{
	struct decision d = { 0 };
	for (size_t i = 0; i < rep->facts.n; i++) {
		const struct fact *f = &rep->facts.v[i];
		const char *page = attrs_text(&f->where, "page", "");
		uint64_t bytes = render_page_bytes(rep, page);
		if (strcmp(f->id, "toll.random_read_ns") != 0 || page[0] < '0' || page[0] > '9')
			continue;
		if (!d.small || bytes < d.small_bytes) {
			d.small = f;
			d.small_bytes = bytes;
		}
	}
	for (size_t i = 0; i < rep->facts.n; i++) {
		const struct fact *f = &rep->facts.v[i];
		bool here = d.small && same_working_set(d.small, f);
		if (here && f != d.small && strcmp(f->id, "toll.random_read_ns") == 0 &&
		    prefer_huge(d.huge, f))
			d.huge = f;
		if (here && strcmp(f->id, "toll.huge_page_saving") == 0)
			d.saving = f;
	}
	return d;
}

static void working_set_words(struct str *out, const struct fact *f)
{
	char buf[UNITS_TEXT_BYTES];
	uint64_t bytes = render_where_bytes(&f->where, "working-set");
	if (bytes)
		str_add(out, format_size_human(buf, (double)bytes));
	else
		str_add(out, "an unknown working set");
}

static void decision_value(struct str *out, const struct report *rep, const struct fact *f)
{
	char buf[UNITS_TEXT_BYTES];
	const char *page = attrs_text(&f->where, "page", "huge");
	uint64_t bytes = render_page_bytes(rep, page);
	if (bytes)
		str_addf(out, "%s pages ", format_size_human(buf, (double)bytes));
	else
		str_addf(out, "%s pages ", page);
	if (isnan(f->value)) {
		str_addf(out, "not measured (%s)", f->reason ? f->reason : "no reason recorded");
		return;
	}
	struct spread s = has_interval(f) ? (struct spread){ 0 } : spread_of(rep, f);
	if (s.n > 1) {
		render_value(out, s.least, f->unit, 3, false);
		str_add(out, " to ");
		render_value(out, s.largest, f->unit, 3, true);
		return;
	}
	render_value(out, f->value, f->unit, 3, true);
	if (!has_interval(f))
		return;
	str_add(out, " ");
	render_interval(out, f->low, f->high, f->value, f->unit, 3);
}

static void saving_words(struct str *out, const struct fact *f)
{
	bool interval = has_interval(f);
	double shown = fabs(f->value);
	if (interval && f->low <= 0 && f->high >= 0) {
		str_add(out, "no clear difference here (saving ");
		shown = f->value;
	} else if (interval) {
		str_add(out, f->value < 0 ? "huge pages cost " : "huge pages save ");
	} else {
		str_add(out, "by the medians huge pages would ");
		str_add(out, f->value < 0 ? "cost " : "save ");
	}
	render_value(out, shown, f->unit, 2, true);
	if (interval) {
		bool turned = shown != f->value;
		str_add(out, " ");
		render_interval(out, turned ? -f->high : f->low, turned ? -f->low : f->high, shown,
				f->unit, 2);
	}
	if (interval && f->low <= 0 && f->high >= 0)
		str_add(out, ").");
	else
		str_add(out, f->value < 0 ? " more here." : " here.");
}

/* " in 4 processes each: too few for an interval (6 needed)"; false: that is not the reason. */
static bool too_few_words(struct str *out, const struct report *rep, const struct decision *d)
{
	if (isnan(d->small->value) || isnan(d->huge->value) || has_interval(d->saving))
		return false;
	size_t a = spread_of(rep, d->small).n, b = spread_of(rep, d->huge).n;
	if (!a || !b || (a >= INVOCATIONS_MIN && b >= INVOCATIONS_MIN))
		return false;
	if (a != b)
		str_addf(out, " in %zu and %zu processes", a, b);
	else if (a == 1)
		str_add(out, " in one process each");
	else
		str_addf(out, " in %zu processes each", a);
	str_addf(out, ": too few for an interval (%d needed)", INVOCATIONS_MIN);
	return true;
}

static void deciding_text(struct str *out, const struct report *rep)
{
	struct decision d = find_decision(rep);
	if (!d.small) {
		str_add(out, "Random reads with small and with huge pages: not measured in this "
			     "run.");
		return;
	}
	str_add(out, "Random reads over ");
	working_set_words(out, d.small);
	str_add(out, ": ");
	decision_value(out, rep, d.small);
	if (!d.huge) {
		str_add(out, "; huge pages were not measured in this run.");
		return;
	}
	str_add(out, ", ");
	decision_value(out, rep, d.huge);
	if (!d.saving || isnan(d.saving->value)) {
		str_add(out, ".");
		return;
	}
	bool few = too_few_words(out, rep, &d);
	str_add(out, few ? "; " : ": ");
	saving_words(out, d.saving);
	if (!few && !has_interval(d.saving))
		str_addf(out, " No interval: %s.",
			 d.saving->interval_reason ? d.saving->interval_reason : "no reason known");
}

/*
 * What a processor that holds huge pages as small ones leaves of them: the guest's tables are
 * shorter by a level all the same.
 */
static void small_pages_text(struct str *out, const struct report *rep)
{
	struct decision d = find_decision(rep);
	char huge[UNITS_TEXT_BYTES], small[UNITS_TEXT_BYTES];
	if (!d.huge || !d.saving ||
	    strcmp(attrs_text(&rep->run->fingerprint, "hypervisor", "none"), "none") == 0)
		return;
	const char *page = attrs_text(&d.huge->where, "page", "");
	double bytes = (double)render_page_bytes(rep, page);
	for (size_t i = 0; i < rep->facts.n; i++) {
		const struct fact *f = &rep->facts.v[i];
		if (strcmp(f->id, "tlb.effective_page") != 0 ||
		    strcmp(attrs_text(&f->where, "page", ""), page) != 0 || !(f->value < bytes))
			continue;
		str_addf(out,
			 "%s pages act like %s ones in the TLB here (the hypervisor backs "
			 "them by small pages)",
			 format_size_human(huge, bytes), format_size_human(small, f->value));
		if (has_interval(d.saving) ? d.saving->low > 0 : d.saving->value > 0)
			str_add(out, "; what they save comes from shorter walks of the guest's "
				     "page tables");
		str_add(out, ".");
		return;
	}
}

static void paragraph(struct str *out, struct arena *a, const struct str *text, bool bold,
		      const struct report_options *o)
{
	struct str lines = { 0 };
	const char *clean = render_clean(a, str_text(text), o->utf8, 600);
	render_wrap(&lines, clean ? clean : "", 0, 0, RENDER_WIDTH);
	for (char *p = lines.data; p && *p;) {
		char *end = strchr(p, '\n');
		*end = '\0';
		if (bold)
			render_paint(out, o, PAINT_BOLD, p);
		else
			str_add(out, p);
		str_add(out, "\n");
		p = end + 1;
	}
	out->failed = out->failed || !clean || text->failed || lines.failed;
	str_done(&lines);
}

void toll_decision_render(struct str *out, struct arena *a, const struct report *rep,
			  const struct report_options *o)
{
	struct str text = { 0 }, disturbed = { 0 };
	deciding_text(&text, rep);
	if (render_disturbed(&disturbed, rep))
		str_addf(&text, " Disturbed: %s.", str_text(&disturbed));
	text.failed = text.failed || disturbed.failed;
	paragraph(out, a, &text, true, o);
	str_clear(&text);
	small_pages_text(&text, rep);
	if (text.len)
		paragraph(out, a, &text, false, o);
	str_done(&disturbed);
	str_done(&text);
}
