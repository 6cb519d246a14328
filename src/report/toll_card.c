// SPDX-License-Identifier: MIT
/*
 * The toll card: what translation and memory cost on this machine, for a person who decides about
 * huge pages. Opens with the line that people decide by (toll_decision.c); the levels follow
 * (toll_levels.c), then what disturbed, then where the run lies. Leaves out curves and methods:
 * `show` has them.
 */
#include "report/render.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "report/toll_decision.h"
#include "report/toll_levels.h"

enum { FINDINGS_SHOWN = 3 };

/* --- what the run is --- */

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

/* In plain words where the run came to its end; `show` has the settings counted. */
static void state_words(struct str *out, const struct run *r, const struct report_options *o)
{
	static const struct {
		const char *begins, *words;
	} ends[] = {
		{ "interval target met", "ended when the intervals were narrow enough" },
		{ "time budget", "stopped by the time budget" },
		{ "invocation limit", "stopped by the limit of processes" },
	};
	for (size_t i = 0;
	     r->has_footer && r->complete && r->stop_reason && i < sizeof(ends) / sizeof(*ends);
	     i++) {
		if (strncmp(r->stop_reason, ends[i].begins, strlen(ends[i].begins)) == 0) {
			str_add(out, ends[i].words);
			return;
		}
	}
	render_state(out, r, o);
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
			str_add(&text, ", 95 % ");
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
	size_t low, high;
	report_count_invocations(rep, &low, &high);
	high = r->origin == ORIGIN_MEASURED ? high : 0;
	if (high && low < high)
		str_addf(&text, "%zu to ", low);
	if (high)
		str_addf(&text, "%zu fresh process%s for each number; ", high,
			 high == 1 ? "" : "es");
	plain.colour = false;
	state_words(&text, r, &plain);
	plain_line(out, a, o, str_text(&text));
	out->failed = out->failed || text.failed;
	str_done(&text);
}

/* --- disturbances and next steps --- */

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
	/* what is neither in a file nor has a name cannot be shown again */
	if (o->file || o->run_name) {
		str_addf(&text, "pagetoll show %s", name);
		next_line(out, str_text(&text), "every curve and fact of this run");
		str_clear(&text);
		str_addf(&text, "pagetoll show %s --format csv", name);
		next_line(out, str_text(&text), "its raw samples (or json)");
	}
	next_line(out, "pagetoll doctor", "what disturbs measuring here");
	if (rep->run->preset && strcmp(rep->run->preset, "quick") == 0)
		next_line(out, "pagetoll run", "with intervals, in about 2 minutes");
	next_line(out, "pagetoll run tlb.chase page=4k,thp", "the curves behind the card");
	next_line(out, "pagetoll info tlb.chase", "what it measures, and what not");
	out->failed = out->failed || text.failed;
	str_done(&text);
}

bool report_has_toll_card(const struct report *rep)
{
	for (size_t i = 0; i < rep->facts.n; i++) {
		const struct fact *f = &rep->facts.v[i];
		/* walks by level (tlb.walk) have no row there */
		bool of_page = strncmp(f->id, "tlb.", 4) == 0 ||
			       strncmp(f->id, "walk.cached_", 12) == 0 ||
			       strncmp(f->id, "walk.memory_", 12) == 0;
		bool level = attrs_find(&f->where, "level"), page = attrs_find(&f->where, "page");
		/* with more conditions it is of another experiment, and not on the card */
		if (of_page && page && f->where.n == (level ? 2u : 1u))
			return true;
		if (strncmp(f->id, "toll.", 5) == 0 || strncmp(f->id, "cache.", 6) == 0 ||
		    strcmp(f->id, "memory.latency_ns") == 0)
			return true;
	}
	return false;
}

int report_toll_card(struct str *out, const struct report *rep, const struct report_options *o)
{
	struct arena a = { 0 };
	toll_decision_render(out, &a, rep, o);
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
