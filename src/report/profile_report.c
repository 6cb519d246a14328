// SPDX-License-Identifier: MIT
/*
 * What `profile` prints: what the command took, then the kernel profile in readprofile's columns.
 * Works on the run alone, like every report. Leaves out: the machine and its disturbances (`show`).
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "infer/infer.h"
#include "report/profile_table.h"
#include "report/render.h"

static const struct point *find_point(const struct report *rep, const char *bench)
{
	for (size_t i = 0; i < rep->points.n; i++)
		if (strcmp(rep->points.v[i].bench, bench) == 0)
			return &rep->points.v[i];
	return NULL;
}

/* --- what it took --- */

static const struct {
	const char *metric, *title;
} rows[] = {
	{ "elapsed_ns", "elapsed" },
	{ "user_ns", "user" },
	{ "system_ns", "system" },
	{ "minor_faults", "minor faults" },
	{ "major_faults", "major faults" },
	{ "voluntary_switches", "voluntary switches" },
	{ "involuntary_switches", "involuntary switches" },
	{ "largest_bytes", "resident, largest process" },
	{ "resident_bytes", "resident, all at once" },
	{ "page_table_bytes", "page tables, all at once" },
	{ "page_walks", "page walks for data" },
	{ "walk_ratio", "page walks, share of cycles" },
};

static void add_number(struct str *out, double v, const char *unit)
{
	char buf[UNITS_TEXT_BYTES];

	if (strcmp(unit, "ratio") == 0)
		str_addf(out, "%s %%", format_digits(buf, 100 * v, 3));
	else if (strcmp(unit, "ns") == 0)
		str_add(out, format_time_human(buf, v));
	else if (strcmp(unit, "bytes") == 0)
		render_value(out, v, unit, 3, true);
	else
		str_add(out, format_real(buf, v));
}

static void set_value(struct table *t, size_t row, const struct estimate *e, const char *unit,
		      bool several)
{
	struct str text = { 0 };

	if (isnan(e->value)) {
		table_set(t, row, 1, "-");
		table_mark(t, row, 1, NOTE_REASON, e->reason ? e->reason : "not recorded");
		return;
	}
	add_number(&text, e->value, unit);
	table_set(t, row, 1, str_text(&text));
	str_clear(&text);
	if (several && !isnan(e->low)) {
		str_add(&text, "[");
		add_number(&text, e->low, unit);
		str_add(&text, ", ");
		add_number(&text, e->high, unit);
		str_add(&text, "]");
		table_set(t, row, 2, str_text(&text));
	} else if (several) {
		table_set(t, row, 2, "-");
		table_mark(t, row, 2, NOTE_REASON, e->interval_reason ? e->interval_reason : "");
	}
	t->failed = t->failed || text.failed;
	str_done(&text);
}

static int usage_table(struct str *out, struct arena *a, const struct report *rep,
		       const struct point *p, const struct report_options *o)
{
	const struct bench_schema *s = run_schema(rep->run, p->bench);
	bool several = p->n_measures > 1;
	struct table t;

	table_init(&t, a, o);
	t.n_keys = 1;
	t.bare = !several;
	table_add_column(&t, "", TABLE_LEFT, 0);
	table_add_column(&t, several ? "median" : "", TABLE_RIGHT, 0);
	if (several)
		table_add_column(&t, "95 %", TABLE_LEFT, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct metric *m = s ? schema_metric(s, rows[i].metric) : NULL;
		struct estimate e;
		size_t row;

		/* What this processor cannot count at all has no row. */
		if (!m || !measure_series(p->measures[0], m->name))
			continue;
		row = table_add_row(&t);
		estimate_point(rep->run, p, m->name, &e);
		table_set(&t, row, 0, rows[i].title);
		set_value(&t, row, &e, m->unit, several);
	}
	if (several)
		table_lift_marks(&t, 2, NOTE_REASON);
	return table_render(out, &t, o);
}

/* --- what is to be known of it --- */

static void note(struct str *out, struct arena *a, const char *head, const char *text,
		 const struct report_options *o)
{
	const char *clean = text ? render_clean(a, text, o->utf8, 800) : NULL;

	if (clean && *clean)
		render_paragraph(out, 0, head, clean);
}

/* What larger pages could gain at most: the whole of what page walks take. */
static void bound(struct str *out, struct arena *a, const struct report *rep, const struct point *p,
		  const struct report_options *o)
{
	const struct attr *walk = attrs_find(&rep->run->context, "toll.walk_ns");
	const struct attr *saving = attrs_find(&rep->run->context, "toll.huge_page_saving_percent");
	const char *run = attrs_text(&rep->run->context, "toll.run", "?");
	struct str text = { 0 };
	struct estimate ratio, walks, user, system;
	double percent;
	char buf[UNITS_TEXT_BYTES];

	estimate_point(rep->run, p, "walk_ratio", &ratio);
	estimate_point(rep->run, p, "page_walks", &walks);
	estimate_point(rep->run, p, "user_ns", &user);
	estimate_point(rep->run, p, "system_ns", &system);
	percent = 100 * ratio.value;
	if (isnan(percent) && walk && walk->kind == ATTR_REAL)
		percent = 100 * walks.value * walk->real / (user.value + system.value);
	if (!isfinite(percent))
		return;
	percent = percent > 100 ? 100 : percent;
	str_addf(&text, "they take at most %s %% of the CPU time, so larger pages gain no more",
		 format_digits(buf, percent, 3));
	if (isnan(ratio.value))
		str_addf(&text, ", with %s for each by the toll card of run %s",
			 format_time_human(buf, walk->real), run);
	if (saving && saving->kind == ATTR_REAL)
		str_addf(&text, "; of random reads over 1 GiB they save %s %% here (run %s)",
			 format_digits(buf, saving->real, 2), run);
	note(out, a, "page walks: ", str_text(&text), o);
	out->failed = out->failed || text.failed;
	str_done(&text);
}

static void ending(struct str *out, const struct point *p)
{
	const struct measure *m = p->measures[p->n_measures - 1];
	int64_t status = attrs_int(&m->proof, "exit_status", 0);
	int64_t sig = attrs_int(&m->proof, "ended_by_signal", 0);

	str_addf(out, "%zu execution%s", p->n_measures, p->n_measures == 1 ? "" : "s");
	if (sig)
		str_addf(out, "%s ended by signal %lld", p->n_measures == 1 ? "," : ", the last",
			 (long long)sig);
	else if (status)
		str_addf(out, "%s exit status %lld", p->n_measures == 1 ? "," : ", the last",
			 (long long)status);
	str_add(out, "\n");
}

static void kernel_title(struct str *out, const struct point *p)
{
	const char *event = attrs_text(p->setting, "event", "?");
	bool clock = strcmp(event, "cpu-clock") == 0;
	struct str text = { 0 };

	str_addf(&text, "%lld samples a second of CPU time by %s%s; load: ticks per byte",
		 (long long)attrs_int(p->setting, "frequency", 0), clock ? "the CPU clock" : event,
		 p->n_measures > 1 ? ", sum of all executions" : "");
	str_add(out, "\n");
	render_paragraph(out, 0, "Kernel: ", str_text(&text));
	out->failed = out->failed || text.failed;
	str_done(&text);
}

/* The reason for which page walks were not counted either stands at them already. */
static const char *no_cycles(const struct report *rep, const struct measure *m)
{
	const struct point *c = find_point(rep, "profile.command");
	const struct series *walks = c ? measure_series(c->measures[0], "walk_ratio") : NULL;
	const char *why = attrs_text(&m->proof, "no_cycles", NULL);

	return why && walks && walks->null_reason && strcmp(walks->null_reason, why) == 0 ? NULL
											  : why;
}

static void kernel_notes(struct str *out, struct arena *a, const struct report *rep,
			 const struct point *p, const struct report_options *o)
{
	const struct measure *m = p->measures[0];
	int64_t lost = 0, throttled = 0;

	for (size_t i = 0; i < p->n_measures; i++) {
		lost += attrs_int(&p->measures[i]->taints, "lost_samples", 0);
		throttled += attrs_int(&p->measures[i]->taints, "throttled", 0);
	}
	if (m->verdict != VERDICT_OK)
		return;
	note(out, a, "not seen: ", attrs_text(&m->proof, "not_seen", NULL), o);
	note(out, a, "no cycles: ", no_cycles(rep, m), o);
	note(out, a, "unproven: ", m->unproven, o);
	if (lost)
		str_addf(out, "lost: %lld samples more were taken but lost\n", (long long)lost);
	if (throttled)
		str_addf(out, "throttled: the kernel paused sampling %lld times\n",
			 (long long)throttled);
}

static int kernel(struct str *out, struct arena *a, const struct report *rep, const struct point *p,
		  size_t top, bool callers, const struct report_options *o)
{
	int ret;

	kernel_title(out, p);
	ret = profile_table_point(out, a, p, "profile_ticks", top, o);
	if (ret == 0 && callers && measure_series(p->measures[0], "caller_ticks")) {
		str_add(out, "\nFunctions and their callers\n");
		ret = profile_table_point(out, a, p, "caller_ticks", top, o);
	}
	if (ret == 0)
		kernel_notes(out, a, rep, p, o);
	return ret;
}

int report_profile(struct str *out, const struct report *rep, size_t top, bool callers,
		   const struct report_options *o)
{
	const struct point *c = find_point(rep, "profile.command");
	struct arena a = { 0 };
	int ret = 0;

	if (c) {
		ending(out, c);
		ret = usage_table(out, &a, rep, c, o);
		bound(out, &a, rep, c, o);
		note(out, &a, "unproven: ", c->measures[c->n_measures - 1]->unproven, o);
	}
	for (size_t i = 0; ret == 0 && i < rep->points.n; i++)
		if (strcmp(rep->points.v[i].bench, "profile.kernel") == 0)
			ret = kernel(out, &a, rep, &rep->points.v[i], top, callers, o);
	arena_done(&a);
	return ret < 0 ? ret : out->failed ? -ENOMEM : 0;
}
