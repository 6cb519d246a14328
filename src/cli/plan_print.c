// SPDX-License-Identifier: MIT
/*
 * The plan of a run as text, CSV or JSON: settings, inner values, memory, time, and what cannot run
 * here and why.
 */
#include "cli/plan_print.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/escape.h"
#include "record/json.h"

enum { SHOWN_VALUES = 6 };

static const struct param *inner_param(const struct planned *pl)
{
	return pl->inner ? schema_param(&pl->bench->schema, pl->inner) : NULL;
}

static void add_number(struct str *out, const struct param *p, uint64_t value)
{
	char size[UNITS_TEXT_BYTES];

	if (p && p->type == PARAM_BYTES)
		str_add(out, format_size(size, value));
	else
		str_addf(out, "%" PRIu64, value);
}

/* "1, 2, 4 ... 4096 (34 values)" */
static void add_grid(struct str *out, const struct planned *pl)
{
	const struct param *p = inner_param(pl);
	size_t n = pl->grid.n;

	for (size_t i = 0; i < n && (n <= SHOWN_VALUES || i < SHOWN_VALUES / 2); i++) {
		str_add(out, i ? ", " : "");
		add_number(out, p, pl->grid.v[i]);
	}
	if (n > SHOWN_VALUES) {
		str_add(out, " ... ");
		add_number(out, p, pl->grid.v[n - 1]);
	}
	str_addf(out, " (%zu value%s)", n, n == 1 ? "" : "s");
}

static void add_setting(struct str *out, const struct planned *pl)
{
	for (size_t i = 0; i < pl->setting.given.n; i++) {
		const struct attr *a = &pl->setting.given.v[i];

		if (i)
			str_add(out, " ");
		if (a->kind == ATTR_INT) {
			str_addf(out, "%s=", a->name);
			add_number(out, schema_param(&pl->bench->schema, a->name),
				   (uint64_t)a->integer);
		} else {
			str_addf(out, "%s=%s", a->name, a->text);
		}
	}
}

static void setting_text(struct str *out, const struct planned *pl, size_t number)
{
	char arena[UNITS_TEXT_BYTES], tables[UNITS_TEXT_BYTES];
	struct str words = { 0 };

	str_addf(&words, "%s ", pl->bench->schema.name);
	add_setting(&words, pl);
	str_addf(out, "%3zu  ", number);
	cli_wrap_at(out, str_text(&words), 5, 7);
	str_done(&words);
	if (pl->skip_reason) {
		str_add(out, "       cannot run here: ");
		cli_wrap_at(out, pl->skip_reason, 24, 9);
		return;
	}
	if (pl->inner) {
		str_addf(&words, "%s: ", pl->inner);
		add_grid(&words, pl);
		str_add(out, "       ");
		cli_wrap_at(out, str_text(&words), 7, 9);
		str_done(&words);
	}
	if (pl->note)
		cli_wrap(out, pl->note, 7);
	str_addf(out, "       memory %s, page tables %s; %u repetitions a point\n",
		 format_size_human(arena, (double)pl->cost.arena_bytes),
		 format_size_human(tables, (double)pl->cost.table_bytes), pl->samples);
}

/* The time, and whether it suffices for the fewest invocations of every setting. */
static void time_text(struct str *out, const struct plan *p)
{
	char time[UNITS_TEXT_BYTES], limit[UNITS_TEXT_BYTES], need[UNITS_TEXT_BYTES];
	double fewest = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct planned *q = &p->v[i];
		unsigned n = q->max_invocations < p->min_invocations ? q->max_invocations
								     : p->min_invocations;

		if (!q->skip_reason)
			fewest += n * plan_invocation_seconds(p, q);
	}
	str_addf(out, "Time:   about %s; ", format_time_human(time, p->estimated_seconds * 1e9));
	if (!(p->budget_seconds > 0)) {
		str_add(out, "no time limit\n");
		return;
	}
	str_addf(out, "the budget is %s\n", format_time_human(limit, p->budget_seconds * 1e9));
	if (fewest > p->budget_seconds)
		str_addf(
			out,
			"        The fewest invocations of all settings take about %s (see --budget)\n",
			format_time_human(need, fewest * 1e9));
}

static int plan_text(const struct plan *p, const struct machine *m)
{
	struct str out = { 0 }, words = { 0 };
	size_t runnable = plan_count_runnable(p);
	char budget[160], size[UNITS_TEXT_BYTES];

	machine_budget_text(m, budget, sizeof(budget));
	str_addf(&out, "Plan: preset %s, %zu setting%s", p->preset->name, p->n,
		 p->n == 1 ? "" : "s");
	if (runnable < p->n)
		str_addf(&out, " (%zu cannot run here)", p->n - runnable);
	str_addf(&out, ", %u to %u invocations each\n\n", p->min_invocations, p->max_invocations);
	for (size_t i = 0; i < p->n; i++)
		setting_text(&out, &p->v[i], i + 1);
	str_addf(&words, "Memory: at most %s at a time; the budget is %s",
		 format_size_human(size, (double)p->peak_bytes), budget);
	str_add(&out, "\n");
	cli_wrap_at(&out, str_text(&words), 0, 8);
	str_done(&words);
	time_text(&out, p);
	str_add(&out, "Nothing was measured.\n");
	return cli_print_str(&out);
}

static int plan_csv(const struct plan *p)
{
	struct str out = { 0 };

	str_add(&out, "setting,benchmark,parameters,inner,values,arena_bytes,table_bytes,"
		      "skip_reason,note\n");
	for (size_t i = 0; i < p->n; i++) {
		const struct planned *pl = &p->v[i];
		struct str words = { 0 };

		add_setting(&words, pl);
		str_addf(&out, "%zu,%s,", i + 1, pl->bench->schema.name);
		escape_csv(&out, str_text(&words));
		str_addf(&out, ",%s,%zu,%" PRIu64 ",%" PRIu64 ",", pl->inner ? pl->inner : "",
			 pl->grid.n, pl->cost.arena_bytes, pl->cost.table_bytes);
		escape_csv(&out, pl->skip_reason ? pl->skip_reason : "");
		str_add(&out, ",");
		escape_csv(&out, pl->note ? pl->note : "");
		str_add(&out, "\n");
		str_done(&words);
	}
	return cli_print_str(&out);
}

static json_t *setting_json(const struct planned *pl)
{
	json_t *values = json_array();

	for (size_t i = 0; i < pl->grid.n; i++)
		json_array_append_new(values, json_integer((json_int_t)pl->grid.v[i]));
	return json_pack(
		"{s:s,s:o,s:o,s:o,s:o,s:I,s:I,s:i,s:o,s:o}", "benchmark", pl->bench->schema.name,
		"parameters", json_from_attrs(&pl->setting.given), "resolved",
		json_from_attrs(&pl->setting.resolved), "inner", cli_json_text_or_null(pl->inner),
		"values", values, "arena_bytes", (json_int_t)pl->cost.arena_bytes, "table_bytes",
		(json_int_t)pl->cost.table_bytes, "samples", (int)pl->samples, "skip_reason",
		cli_json_text_or_null(pl->skip_reason), "note", cli_json_text_or_null(pl->note));
}

static int plan_json(const struct plan *p, const struct machine *m)
{
	json_t *settings = json_array();
	json_t *doc;

	for (size_t i = 0; i < p->n; i++)
		json_array_append_new(settings, setting_json(&p->v[i]));
	doc = json_pack("{s:s,s:o,s:o,s:i,s:i,s:I,s:I,s:i,s:o}", "preset", p->preset->name,
			"estimated_seconds", json_real_or_null(p->estimated_seconds),
			"budget_seconds", json_real_or_null(p->budget_seconds), "min_invocations",
			(int)p->min_invocations, "max_invocations", (int)p->max_invocations,
			"peak_bytes", (json_int_t)p->peak_bytes, "memory_budget_bytes",
			(json_int_t)m->budget_bytes, "runnable", (int)plan_count_runnable(p),
			"settings", settings);
	return cli_print_json(doc);
}

int plan_print(const struct common *c, const struct plan *p, const struct machine *m)
{
	if (c->format == FORMAT_JSON)
		return plan_json(p, m);
	return c->format == FORMAT_CSV ? plan_csv(p) : plan_text(p, m);
}
