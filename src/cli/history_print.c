// SPDX-License-Identifier: MIT
/*
 * The list of runs: as text of 80 columns with one line a run below one line a machine, and in full
 * as JSON and CSV.
 */
#include "cli/history_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/escape.h"
#include "cli/cli.h"

enum { WIDTH = 80, ID_MIN = 10, LABEL_MAX = 16 };

/* "2026-11-30 19:55", with seconds "2026-11-30T19:55:12Z"; "" when unknown. */
static void format_when(char buf[40], int64_t unix_ns, bool seconds)
{
	time_t t = (time_t)(unix_ns / 1000000000);
	struct tm tm;

	buf[0] = '\0';
	if (unix_ns > 0 && gmtime_r(&t, &tm))
		strftime(buf, 40, seconds ? "%Y-%m-%dT%H:%M:%SZ" : "%Y-%m-%d %H:%M", &tm);
}

static const char *state_of(const struct index_entry *n)
{
	return n->file_is_gone ? "gone"
	       : n->unreadable ? "unreadable"
	       : n->complete   ? "complete"
			       : "incomplete";
}

/* Characters that tell the ids of the list apart, so that they can be typed. */
static size_t id_columns(const struct index_entries *n)
{
	size_t columns = ID_MIN;

	for (size_t i = 0; i < n->n; i++) {
		for (size_t k = 0; k < i; k++) {
			const char *a = n->v[i].id, *b = n->v[k].id;
			size_t same = 0;

			while (a[same] && a[same] == b[same])
				same++;
			if (a[same] && same + 1 > columns)
				columns = same + 1;
		}
	}
	return columns;
}

/* Cleaned; longer than @max columns it ends in "..". @pad: filled up to @max. */
static void add_cell(struct str *out, const char *text, size_t max, bool pad)
{
	struct str clean = { 0 };
	size_t from = out->len, n;

	escape_terminal(&clean, text ? text : "");
	n = clean.len;
	if (str_columns(str_text(&clean)) > max) {
		size_t columns = 0;

		for (n = 0; columns + 2 < max; columns++) {
			n++;
			while (((unsigned char)str_text(&clean)[n] & 0xc0) == 0x80)
				n++;
		}
		str_add_n(out, str_text(&clean), n);
		str_add(out, max >= 2 ? ".." : "");
	} else {
		str_add(out, str_text(&clean));
	}
	if (pad)
		str_pad(out, from, max);
	str_done(&clean);
}

/* The beginning of an id, to be typed: not marked as cut. */
static void add_id(struct str *out, const char *id, size_t columns)
{
	struct str clean = { 0 };
	size_t from = out->len;

	escape_terminal(&clean, id);
	if (str_columns(str_text(&clean)) == clean.len && clean.len > columns)
		str_add_n(out, str_text(&clean), columns);
	else
		str_add(out, str_text(&clean));
	str_pad(out, from, columns);
	str_done(&clean);
}

static void machine_heading(struct str *out, const struct index_entry *n)
{
	struct str line = { 0 };

	str_add(&line, *n->machine ? n->machine : "machine unknown");
	if (n->kernel)
		str_addf(&line, ", Linux %s", n->kernel);
	add_cell(out, str_text(&line), WIDTH, false);
	str_add(out, "\n");
	str_done(&line);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static const char *what_of(const struct index_entry *n)
{
	if (n->unreadable)
		return n->unreadable;
	if (!n->command)
		return n->origin && strcmp(n->origin, "measured") != 0 ? n->origin : "";
	return strncmp(n->command, "pagetoll ", 9) == 0 ? n->command + 9 : n->command;
}

static void add_run(struct str *out, const struct index_entry *n, size_t id, size_t label)
{
	size_t from = out->len, left;
	char when[40];

	format_when(when, n->start_unix_ns, false);
	str_add(out, n->is_baseline ? "* " : "  ");
	add_id(out, n->id, id);
	str_add(out, "  ");
	add_cell(out, when, 16, true);
	str_add(out, "  ");
	add_cell(out, state_of(n), 10, true);
	str_add(out, "  ");
	if (label) {
		add_cell(out, n->label, label, true);
		str_add(out, "  ");
	}
	left = str_columns(str_text(out) + from);
	add_cell(out, what_of(n), left < WIDTH ? WIDTH - left : 0, false);
	while (out->len > from && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	str_add(out, "\n");
}

static int nothing(const char *dir, bool filtered)
{
	struct str out = { 0 };

	if (filtered)
		str_add(&out, "No run is like that; 'pagetoll history' lists all.\n");
	else
		str_addf(&out, "The library is empty: %s\n", dir);
	return cli_print_str(&out);
}

int history_text(const struct index_entries *n, const char *dir, bool filtered)
{
	const struct index_entry *before = NULL;
	struct str out = { 0 };
	size_t id = id_columns(n), label = 0;
	bool baseline = false;

	if (!n->n)
		return nothing(dir, filtered);
	for (size_t i = 0; i < n->n; i++) {
		size_t columns = n->v[i].label ? str_columns(n->v[i].label) : 0;

		label = columns > label ? columns : label;
		baseline = baseline || n->v[i].is_baseline;
	}
	label = label > LABEL_MAX ? LABEL_MAX : label;
	for (size_t i = 0; i < n->n; before = &n->v[i++]) {
		if (!before || !same_text(before->machine, n->v[i].machine) ||
		    !same_text(before->kernel, n->v[i].kernel))
			machine_heading(&out, &n->v[i]);
		add_run(&out, &n->v[i], id, label);
	}
	if (baseline)
		str_add(&out, "* a baseline\n");
	return cli_print_str(&out);
}

static json_t *entry_json(const struct index_entry *n)
{
	json_t *start = n->start_unix_ns > 0 ? json_integer(n->start_unix_ns) : json_null();

	return json_pack("{s:o,s:o,s:o,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:I,s:b,s:b,s:o}", "id",
			 cli_json_text(n->id), "path", cli_json_text(n->path), "label",
			 cli_json_text_or_null(n->label), "baseline", n->is_baseline, "machine",
			 cli_json_text_or_null(*n->machine ? n->machine : NULL), "kernel",
			 cli_json_text_or_null(n->kernel), "boot_id",
			 cli_json_text_or_null(n->boot_id), "command",
			 cli_json_text_or_null(n->command), "preset",
			 cli_json_text_or_null(n->preset), "origin",
			 cli_json_text_or_null(n->origin), "start_unix_ns", start, "measures",
			 (json_int_t)n->n_measures, "complete", n->complete, "file_is_gone",
			 n->file_is_gone, "unreadable", cli_json_text_or_null(n->unreadable));
}

int history_json(const struct index_entries *n)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n->n; i++)
		json_array_append_new(list, entry_json(&n->v[i]));
	return cli_print_json(json_pack("{s:o}", "runs", list));
}

int history_csv(const struct index_entries *n)
{
	struct str out = { 0 };

	str_add(&out, "id,start,label,baseline,state,measures,machine,kernel,boot_id,command,"
		      "preset,origin,path,unreadable\n");
	for (size_t i = 0; i < n->n; i++) {
		const struct index_entry *r = &n->v[i];
		char when[40], count[32];
		const char *fields[] = {
			r->id,       when,         r->label,   r->is_baseline ? "yes" : "no",
			state_of(r), count,        r->machine, r->kernel,
			r->boot_id,  r->command,   r->preset,  r->origin,
			r->path,     r->unreadable
		};

		format_when(when, r->start_unix_ns, true);
		snprintf(count, sizeof(count), "%llu", (unsigned long long)r->n_measures);
		for (size_t k = 0; k < sizeof(fields) / sizeof(*fields); k++) {
			str_add(&out, k ? "," : "");
			escape_csv(&out, fields[k] ? fields[k] : "");
		}
		str_add(&out, "\n");
	}
	return cli_print_str(&out);
}
