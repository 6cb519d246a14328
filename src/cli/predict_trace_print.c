// SPDX-License-Identifier: MIT
/* A trace's prediction as text: the program's memory, TLBs, walks, time, and what would change. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"
#include "cli/predict_trace.h"

static void about(struct str *out, const struct trace_view *v)
{
	const struct sim_machine *m = v->request->machine;
	const struct trace_args *a = v->request->trace;

	struct str text = { 0 };

	str_add(&text, "predicted for ");
	escape_terminal(&text, m->summary);
	cli_wrap_at(out, str_text(&text), 0, 2);
	str_done(&text);
	str_addf(out, "machine %s: %zu figures, %zu of them assumed\n", m->name, m->n_origins,
		 sim_machine_count_assumed(m));
	str_add(out, "trace ");
	escape_terminal(out, strcmp(a->files[0], "-") == 0 ? "standard input" : a->files[0]);
	if (a->n_files > 1)
		str_addf(out, " and %zu more", a->n_files - 1);
	str_addf(out, "\n  %s%s\n",
		 v->format == TRACE_AUTO ? "several formats" : trace_format_name(v->format),
		 a->format == TRACE_AUTO ? ", told by its first bytes" : "");
	if (v->incomplete) {
		str_add(out, "INCOMPLETE: ");
		cli_wrap_at(out, v->incomplete, 12, 2);
	}
}

static void setting_line(struct str *out, const struct attrs *setting)
{
	struct str text = { 0 };
	char size[UNITS_TEXT_BYTES];

	for (size_t i = 0; i < setting->n; i++) {
		const struct attr *a = &setting->v[i];

		str_addf(&text, "%s%s=", i ? " " : "", a->name);
		if (strcmp(a->name, "page") == 0)
			str_add(&text, format_size(size, (uint64_t)a->integer));
		else
			attr_format(&text, a);
	}
	cli_wrap(out, str_text(&text), 2);
	str_add(out, "\n");
	str_done(&text);
}

static void row(struct str *out, const char *name, uint64_t n, const char *text)
{
	str_addf(out, "  %-14s %14" PRIu64 "%s%s\n", name, n, *text ? "  " : "", text);
}

static void references(struct str *out, const struct trace_view *v, const struct replay_stats *st)
{
	const struct replay_options *o = &v->request->trace->options;
	char text[160];

	row(out, "references", st->refs,
	    v->limited ? "that count; stopped by --references" : "that count");
	row(out, "loads", st->kinds[TRACE_LOAD], "");
	row(out, "stores", st->kinds[TRACE_STORE], "");
	if (st->kinds[TRACE_MODIFY])
		row(out, "modifies", st->kinds[TRACE_MODIFY], "load and store at one place");
	if (st->crossings)
		row(out, "crossings", st->crossings, "over the end of a page: two references");
	row(out, "instructions", st->kinds[TRACE_FETCH],
	    o->instructions ? "fetched through the TLBs and caches of data"
			    : "counted, not simulated (--instructions)");
	if (v->prefetches)
		row(out, "prefetches", v->prefetches, "left out");
	if (st->warm)
		row(out, "warm", st->warm, "references before, that do not count");
	if (st->folded)
		row(out, "folded", st->folded, "addresses beyond 57 bits: the low ones are used");
	snprintf(text, sizeof(text), "on %" PRIu64 " CPU%s, %s", st->cpus, st->cpus == 1 ? "" : "s",
		 o->compact ? "all on node 0" : "on one node after the other");
	row(out, "threads", st->threads, text);
}

static void footprint(struct str *out, const struct trace_view *v, const struct replay_stats *st)
{
	const uint32_t nodes = v->request->machine->memory.nodes;
	char size[UNITS_TEXT_BYTES], memory[UNITS_TEXT_BYTES];
	size_t start;

	str_add(out, "\n  page size             pages touched         memory\n");
	for (unsigned k = 0; k < REPLAY_SIZES; k++)
		str_addf(out, "  %-14s %20" PRIu64 " %14s\n", format_size(size, st->page_bytes[k]),
			 st->pages[k],
			 format_size_human(memory,
					   (double)st->pages[k] * (double)st->page_bytes[k]));
	if (nodes < 2)
		return;
	start = out->len;
	str_add(out, "  first touched on node");
	for (uint32_t i = 0; i < nodes; i++) {
		char text[48];

		if (!st->pages_on[i])
			continue;
		snprintf(text, sizeof(text), " %u: %" PRIu64, i, st->pages_on[i]);
		if (out->len - start + strlen(text) > 78) {
			start = out->len + 1;
			str_add(out, "\n   ");
		}
		str_add(out, text);
	}
	str_add(out, "\n");
}

static void tlb_rows(struct str *out, const struct trace_variant *x, const struct sim_counts *c)
{
	char size[UNITS_TEXT_BYTES];

	format_size(size, x->replay.page_bytes);
	for (unsigned level = 0; level < SIM_TLB_LEVELS; level++) {
		const uint64_t asked = c->tlb_hit[level] + c->tlb_miss[level];

		if (asked)
			str_addf(out, "  %-9s L%u %14" PRIu64 " %14" PRIu64 " %10.4f %%\n", size,
				 level + 1, asked, c->tlb_miss[level],
				 100 * (double)c->tlb_miss[level] / (double)asked);
	}
}

static bool is_huge(const struct trace_view *v, const struct trace_variant *x)
{
	return x != v->variants->v && !x->arm && !x->why_not &&
	       x->replay.page_bytes != v->variants->v[0].replay.page_bytes;
}

static void tlbs(struct str *out, const struct trace_view *v, struct replay_result *x)
{
	str_add(out, "\n  page      TLB          asked         misses    miss rate\n");
	for (size_t i = 0; i < v->variants->n; i++) {
		const struct trace_variant *t = &v->variants->v[i];

		if (i > 0 && !is_huge(v, t))
			continue;
		replay_result(v->replay, t->index, x);
		tlb_rows(out, t, &x->counts);
	}
}

/* How often a part occurred. */
static uint64_t part_count(const struct sim_parts *p, const char *row, const char *where)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.memory.%s", row, where);
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->v[i].name, name) == 0)
			return p->v[i].count;
	return 0;
}

static void walk_row(struct str *out, const struct sim_machine *m, const struct replay_result *x,
		     unsigned what)
{
	const unsigned level = (what - SIM_WALK) % SIM_LEVELS_MAX + 1;
	const bool host = what >= SIM_HOST;
	uint64_t sum = 0;
	char name[32];

	for (size_t i = 0; i < SIM_WHERES; i++)
		sum += x->counts.found[what][i];
	if (sum == 0)
		return;
	str_addf(out, "  %s%-*s %9" PRIu64, host ? "host." : "", host ? 4 : 9,
		 sim_level_name(level), sum);
	for (size_t i = 0; i < m->n_caches; i++)
		str_addf(out, " %9" PRIu64, x->counts.found[what][i]);
	snprintf(name, sizeof(name), "%s.%s", host ? "host" : "walk", sim_level_name(level));
	str_addf(out, " %9" PRIu64, part_count(&x->parts, name, "local"));
	if (m->memory.nodes > 1)
		str_addf(out, " %9" PRIu64, part_count(&x->parts, name, "remote"));
	str_add(out, "\n");
}

static void walks(struct str *out, const struct trace_view *v, const struct replay_result *x)
{
	const struct sim_machine *m = v->request->machine;
	char head[8];

	if (x->counts.steps == 0) {
		str_add(out, "\n  no page walks\n");
		return;
	}
	str_add(out, "\n  walk read     reads");
	for (size_t i = 0; i < m->n_caches; i++) {
		snprintf(head, sizeof(head), "l%u", (unsigned)i + 1);
		str_addf(out, " %9s", head);
	}
	str_addf(out, " %9s%s\n", m->memory.nodes > 1 ? "local" : "memory",
		 m->memory.nodes > 1 ? "    remote" : "");
	for (unsigned what = SIM_WALK; what < SIM_CODE; what++)
		walk_row(out, m, x, what);
	if (m->memory.nodes < 2)
		return;
	for (uint32_t node = 0; node < m->memory.nodes; node++) {
		uint64_t sum = 0;

		for (unsigned what = SIM_WALK; what < SIM_CODE; what++)
			sum += x->counts.found[what][SIM_IN_MEMORY + node];
		if (sum)
			str_addf(out, "  from memory of node %-2u %14" PRIu64 "\n", node, sum);
	}
}

static void parts(struct str *out, const struct replay_result *x)
{
	char text[UNITS_TEXT_BYTES];

	str_add(out, "\n  part                          time a reference   share\n");
	for (size_t i = 0; i < x->parts.n; i++)
		str_addf(out, "  %-28s %17s %6.1f%%\n", x->parts.v[i].name,
			 format_time_human(text, x->parts.v[i].ns),
			 x->ref_ns > 0 ? 100 * x->parts.v[i].ns / x->ref_ns : 0);
	str_addf(out, "  %-28s %17s\n", "all", format_time_human(text, x->ref_ns));
}

static void changes(struct str *out, const struct trace_view *v, double before,
		    struct replay_result *x)
{
	char one[UNITS_TEXT_BYTES], two[UNITS_TEXT_BYTES];
	struct str name = { 0 };

	str_addf(out, "\n  %-30s %12s %12s %11s\n", "with", "before", "after", "difference");
	for (size_t i = 1; i < v->variants->n; i++) {
		const struct trace_variant *t = &v->variants->v[i];

		str_clear(&name);
		escape_terminal(&name, t->name);
		str_addf(out, "  %-30s ", str_text(&name));
		if (name.len > 30)
			str_addf(out, "\n  %-30s ", "");
		if (t->why_not) {
			str_addf(out, "%s\n", t->why_not);
			continue;
		}
		replay_result(v->replay, t->index, x);
		str_addf(out, "%12s %12s", format_time_human(one, before),
			 format_time_human(two, x->ref_ns));
		str_addf(out, " %+9.1f %%\n", before > 0 ? 100 * (x->ref_ns / before - 1) : 0);
	}
	str_done(&name);
}

static void notes(struct str *out, const struct trace_view *v, const struct replay_stats *st)
{
	const struct replay_setting *s = &v->variants->v[0].replay;
	char size[UNITS_TEXT_BYTES];

	str_add(out, "\n");
	if (!s->overlap)
		cli_wrap(out,
			 "Every reference waits for the one before it: an upper bound of the time "
			 "(loads=independent: as much overlap as the machine has, a lower one).\n",
			 0);
	if (st->page_bytes[1] && s->page_bytes == st->page_bytes[0]) {
		struct str text = { 0 };

		str_addf(&text,
			 "page=%s assumes that every region that is touched is fully backed: ",
			 format_size(size, st->page_bytes[1]));
		str_addf(&text, "%s instead of ",
			 format_size_human(size, (double)st->pages[1] * (double)st->page_bytes[1]));
		str_addf(&text, "%s.\n",
			 format_size_human(size, (double)st->pages[0] * (double)st->page_bytes[0]));
		cli_wrap(out, str_text(&text), 0);
		str_done(&text);
	}
}

void predict_trace_print(struct str *out, const struct trace_view *v)
{
	struct replay_result *x = malloc(sizeof(*x));
	struct replay_stats st;
	double before;

	if (!x) {
		out->failed = true;
		return;
	}
	replay_stats(v->replay, &st);
	about(out, v);
	setting_line(out, &v->variants->v[0].setting);
	references(out, v, &st);
	footprint(out, v, &st);
	tlbs(out, v, x);
	replay_result(v->replay, 0, x);
	before = x->ref_ns;
	walks(out, v, x);
	parts(out, x);
	changes(out, v, before, x);
	notes(out, v, &st);
	free(x);
}
