// SPDX-License-Identifier: MIT
/*
 * The toll card: what translation and memory cost on this machine, for a person who decides about
 * huge pages. Opens with the line that people decide by; the levels follow (toll_levels.c), then
 * what disturbed, then where the run lies. Leaves out curves and methods: `show` has them.
 */
#include "report/render.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "report/toll_levels.h"

enum { FINDINGS_SHOWN = 3 };

/* --- the deciding line --------------------------------------------------------------------- */

struct decision {
	const struct fact *small, *huge, *saving;
	uint64_t small_bytes;
};

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
	render_value(out, f->value, f->unit, 3, true);
	if (isnan(f->low) || isnan(f->high))
		return;
	str_add(out, " ");
	render_interval(out, f->low, f->high, f->value, f->unit, 3);
}

static void saving_words(struct str *out, const struct fact *f)
{
	bool has_interval = !isnan(f->low) && !isnan(f->high);
	double shown = fabs(f->value);
	if (has_interval && f->low <= 0 && f->high >= 0) {
		str_add(out, "no clear difference here (saving ");
		shown = f->value;
	} else {
		str_add(out, f->value < 0 ? "huge pages cost " : "huge pages save ");
	}
	render_value(out, shown, f->unit, 2, true);
	if (has_interval) {
		bool turned = shown != f->value;
		str_add(out, " ");
		render_interval(out, turned ? -f->high : f->low, turned ? -f->low : f->high, shown,
				f->unit, 2);
	}
	if (has_interval && f->low <= 0 && f->high >= 0)
		str_add(out, ").");
	else
		str_add(out, f->value < 0 ? " more here." : " here.");
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
	if (d.saving && !isnan(d.saving->value)) {
		str_add(out, ": ");
		saving_words(out, d.saving);
	} else {
		str_add(out, ".");
	}
	if (!isnan(d.small->value) && isnan(d.small->low) && d.small->interval_reason)
		str_addf(out, " No interval: %s.", d.small->interval_reason);
}

static void deciding_line(struct str *out, struct arena *a, const struct report *rep,
			  const struct report_options *o)
{
	struct str text = { 0 }, lines = { 0 };
	deciding_text(&text, rep);
	const char *clean = render_clean(a, str_text(&text), o->utf8, 600);
	render_wrap(&lines, clean ? clean : "", 0, 0, RENDER_WIDTH);
	for (char *p = lines.data; p && *p;) {
		char *end = strchr(p, '\n');
		*end = '\0';
		render_paint(out, o, PAINT_BOLD, p);
		str_add(out, "\n");
		p = end + 1;
	}
	out->failed = out->failed || !clean || text.failed || lines.failed;
	str_done(&text);
	str_done(&lines);
}

/* --- what the run is ----------------------------------------------------------------------- */

static void plain_line(struct str *out, struct arena *a, const struct report_options *o,
		       const char *text)
{
	if (!*text)
		return;
	const char *clean = render_clean(a, text, o->utf8, 400);
	render_paragraph(out, 0, "", clean ? clean : "");
	out->failed = out->failed || !clean;
}

static const struct fact *clock_fact(const struct report *rep)
{
	for (size_t i = 0; i < rep->facts.n; i++)
		if (strcmp(rep->facts.v[i].id, "clock.core_hz") == 0 &&
		    !isnan(rep->facts.v[i].value))
			return &rep->facts.v[i];
	return NULL;
}

static void run_lines(struct str *out, struct arena *a, const struct report *rep,
		      const struct report_options *o)
{
	const struct run *r = rep->run;
	struct report_options plain = *o;
	struct str text = { 0 };
	render_machine(&text, r);
	const struct fact *clock = clock_fact(rep);
	if (clock) {
		str_add(&text, text.len ? "; core clock " : "Core clock ");
		render_value(&text, clock->value, clock->unit, 3, true);
		if (!isnan(clock->low) && !isnan(clock->high)) {
			str_add(&text, " ");
			render_interval(&text, clock->low, clock->high, clock->value, clock->unit,
					3);
		}
	}
	plain_line(out, a, o, str_text(&text));
	str_clear(&text);
	if (r->label)
		str_addf(&text, "%s; ",
			 render_clean(a, r->label, o->utf8, 100) ?: "label unreadable");
	if (r->start_unix_ns > 0) {
		render_time(&text, r->start_unix_ns);
		str_add(&text, "; ");
	}
	if (r->preset && strcmp(r->preset, "quick") != 0)
		str_addf(&text, "preset %s; ", r->preset);
	size_t before = text.len;
	render_invocations(&text, rep);
	if (text.len > before)
		str_add(&text, " a point; ");
	plain.colour = false;
	render_state(&text, r, &plain);
	plain_line(out, a, o, str_text(&text));
	out->failed = out->failed || text.failed;
	str_done(&text);
}

/* --- disturbances and next steps ----------------------------------------------------------- */

static int disturbances(struct str *out, const struct report *rep, const struct report_options *o)
{
	const struct run *r = rep->run;
	size_t shown = 0, left = 0;
	struct str taints = { 0 };
	int ret = render_taints(&taints, rep, o, 0);
	if (ret == 0 && (r->n_findings || taints.len)) {
		str_add(out, "\n");
		render_paint(out, o, PAINT_BOLD, "What disturbed most");
		str_add(out, "\n");
	}
	for (int s = SEVERITY_BLOCKER; ret == 0 && s >= SEVERITY_NOTE; s--) {
		for (size_t i = 0; i < r->n_findings; i++) {
			if ((int)r->findings[i].severity != s)
				continue;
			if (s > SEVERITY_NOTE && shown < FINDINGS_SHOWN) {
				render_finding(out, &r->findings[i], o);
				shown++;
			} else {
				left++;
			}
		}
	}
	if (left)
		str_addf(out, "%zu more: pagetoll doctor\n", left);
	str_add(out, str_text(&taints));
	out->failed = out->failed || taints.failed;
	str_done(&taints);
	return ret;
}

static void next_line(struct str *out, const char *command, const char *what)
{
	size_t start = out->len;
	str_addf(out, "  %s", command);
	str_pad(out, start, 41);
	str_addf(out, "%s\n", what);
}

static void next_steps(struct str *out, struct arena *a, const struct report *rep,
		       const struct report_options *o)
{
	const char *name = o->run_name ? o->run_name : rep->run->id ? rep->run->id : "last";
	struct str text = { 0 };
	/* a path would not fit into the commands: it stands above them */
	if (strchr(name, '/') || str_columns(name) > 26)
		name = "FILE";
	name = render_clean(a, name, o->utf8, 0);
	const char *id =
		render_clean(a, rep->run->id ? rep->run->id : "without an id", o->utf8, 64);
	const char *file = o->file ? render_clean(a, o->file, o->utf8, 0) : NULL;
	if (!name || !id || (o->file && !file)) {
		out->failed = true;
		return;
	}
	/* paths are not broken: they are to be copied */
	str_addf(out, "\nRun %s%s%s%s\n", id, file ? " in" : "",
		 !file                                                    ? ""
		 : str_columns(id) + str_columns(file) + 8 > RENDER_WIDTH ? "\n"
									  : " ",
		 file ? file : "");
	str_addf(&text, "pagetoll show %s", name);
	next_line(out, str_text(&text), "every curve and fact of this run");
	str_clear(&text);
	str_addf(&text, "pagetoll show %s --format csv", name);
	next_line(out, str_text(&text), "its raw samples (or json)");
	next_line(out, "pagetoll doctor", "what disturbs measuring here");
	if (rep->run->preset && strcmp(rep->run->preset, "quick") == 0)
		next_line(out, "pagetoll run", "with intervals, in about 2 minutes");
	next_line(out, "pagetoll run tlb.chase page=4k,thp", "the curves behind the card");
	next_line(out, "pagetoll info tlb.chase", "what it measures, and what not");
	out->failed = out->failed || text.failed;
	str_done(&text);
}

int report_toll_card(struct str *out, const struct report *rep, const struct report_options *o)
{
	struct arena a = { 0 };
	deciding_line(out, &a, rep, o);
	str_add(out, "\n");
	if (rep->run->preset && strcmp(rep->run->preset, "quick") == 0) {
		render_paint(out, o, PAINT_YELLOW, "quick: for orientation, not for publication");
		str_add(out, "\n");
	}
	run_lines(out, &a, rep, o);
	int ret = toll_levels_render(out, &a, rep, o);
	if (ret == 0)
		ret = disturbances(out, rep, o);
	if (ret == 0)
		next_steps(out, &a, rep, o);
	arena_done(&a);
	return ret < 0 ? ret : out->failed ? -ENOMEM : 0;
}
