// SPDX-License-Identifier: MIT
/*
 * `pagetoll history`: the runs of the library, newest first, and what the user says of them: labels
 * and baselines. Deletes nothing.
 */
#include "cli/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/units.h"
#include "cli/history_print.h"
#include "store/index.h"
#include "store/library.h"

enum {
	KEY_LABEL = KEY_VERB,
	KEY_BENCH,
	KEY_MACHINE,
	KEY_KERNEL,
	KEY_SINCE,
	KEY_LIMIT,
	KEY_BASELINES,
	KEY_SET_LABEL,
	KEY_BASELINE,
	KEY_NO_BASELINE,
	KEY_REBUILD,
	MAX_CHANGES = 64,
};

struct change {
	int key;
	char *run;
	const char *label; /* SET_LABEL; NULL takes it away */
};

struct history_args {
	struct common common;
	struct index_filter filter;
	struct change changes[MAX_CHANGES];
	size_t n_changes;
	bool rebuild, has_filter;
};

/* --- options ---------------------------------------------------------------------------------- */

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* "2026-11-30" or "2026-11-30 19:05", UTC. */
static bool parse_date(const char *text, int64_t *ret_ns)
{
	struct tm tm = { 0 }, same;
	int n = 0;
	time_t t;

	if (sscanf(text, "%4d-%2d-%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &n) != 3 || n != 10)
		return false;
	text += n;
	n = 0;
	if (*text && (sscanf(text, "%*1[ T]%2d:%2d%n", &tm.tm_hour, &tm.tm_min, &n) != 2 ||
		      n != 6 || text[n]))
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	same = tm;
	t = timegm(&same);
	/* timegm() takes a 31st of February for a day in March. */
	if (t < 0 || same.tm_mon != tm.tm_mon || same.tm_mday != tm.tm_mday ||
	    same.tm_hour != tm.tm_hour || same.tm_min != tm.tm_min)
		return false;
	*ret_ns = (int64_t)t * 1000000000;
	return true;
}

/* A time ago ("90m", "36h", "7d"), or a date. */
static void parse_since(struct history_args *a, const char *arg)
{
	size_t n = strlen(arg);
	uint64_t v = 0;
	int64_t at = 0;

	if (n > 1 && n < 8 && arg[n - 1] == 'd' && strspn(arg, "0123456789") == n - 1) {
		char days[8] = "";

		memcpy(days, arg, n - 1);
		(void)parse_u64(days, &v, NULL);
		at = now_ns() - (int64_t)v * 86400 * 1000000000;
	} else if (parse_time_ns(arg, &v, NULL) == 0 && v < INT64_MAX) {
		at = now_ns() - (int64_t)v;
	} else if (!parse_date(arg, &at)) {
		cli_usage(&a->common,
			  "--since: '%s' is neither a time ago (90m, 36h, 7d) nor a date in UTC "
			  "(2026-11-30, or '2026-11-30 19:05')",
			  arg);
	}
	a->filter.since_unix_ns = at > 0 ? at : 1;
}

static void parse_limit(struct history_args *a, const char *arg)
{
	uint64_t v = 0;

	if (parse_u64(arg, &v, NULL) || v == 0 || v > 1000000000)
		cli_usage(&a->common, "--limit: '%s' is not a number from 1 to 1000000000", arg);
	a->filter.limit = v;
}

static void add_change(struct history_args *a, int key, char *run, const char *label)
{
	if (a->n_changes == MAX_CHANGES)
		cli_usage(&a->common, "at most %d changes at once", (int)MAX_CHANGES);
	if (!*run)
		cli_usage(&a->common, "the name of the run is missing");
	a->changes[a->n_changes++] = (struct change){ key, run, label };
}

static void parse_set_label(struct history_args *a, char *arg)
{
	char *text = strchr(arg, '=');
	struct err e = { 0 };

	if (!text)
		cli_usage(&a->common,
			  "--set-label: '%s' is not RUN=TEXT, as in 'last=before'; 'last=' takes "
			  "the label away",
			  arg);
	*text++ = '\0';
	if (*text && library_check_label(text, &e))
		cli_usage(&a->common, "--set-label: %s", e.msg);
	add_change(a, KEY_SET_LABEL, arg, *text ? text : NULL);
}

static const char *filter_text(struct history_args *a, const char *option, const char *arg)
{
	if (!*arg)
		cli_usage(&a->common, "%s: the text is empty", option);
	return arg;
}

static error_t parse_history(int key, char *arg, struct argp_state *state)
{
	struct history_args *a = state->input;

	a->has_filter = a->has_filter || (key >= KEY_LABEL && key <= KEY_BASELINES);
	switch (key) {
	case KEY_LABEL:
		a->filter.label = filter_text(a, "--label", arg);
		return 0;
	case KEY_BENCH:
		a->filter.bench = filter_text(a, "--bench", arg);
		return 0;
	case KEY_MACHINE:
		a->filter.machine = filter_text(a, "--machine", arg);
		return 0;
	case KEY_KERNEL:
		a->filter.kernel = filter_text(a, "--kernel", arg);
		return 0;
	case KEY_SINCE:
		parse_since(a, arg);
		return 0;
	case KEY_LIMIT:
		parse_limit(a, arg);
		return 0;
	case KEY_BASELINES:
		a->filter.baselines_only = true;
		return 0;
	case KEY_SET_LABEL:
		parse_set_label(a, arg);
		return 0;
	case KEY_BASELINE:
	case KEY_NO_BASELINE:
		add_change(a, key, arg, NULL);
		return 0;
	case KEY_REBUILD:
		a->rebuild = true;
		return 0;
	default:
		return common_option(key, arg, state);
	}
}

/* --- acting ----------------------------------------------------------------------------------- */

static int apply(struct index *x, const struct change *c, const char *id, struct err *e)
{
	if (c->key == KEY_SET_LABEL)
		return index_set_label(x, id, c->label, e);
	return index_set_baseline(x, id, c->key == KEY_BASELINE, e);
}

static void say_change(struct str *out, const struct change *c, const char *id)
{
	str_addf(out, "%s: ", id);
	if (c->key != KEY_SET_LABEL)
		str_add(out, c->key == KEY_BASELINE ? "is a baseline" : "is no baseline");
	else if (c->label)
		str_addf(out, "label '%s'", c->label);
	else
		str_add(out, "no label");
	str_add(out, "\n");
}

/* An id that the index knows needs no file: runs whose files are gone can be named by it. */
static int change_run(const struct history_args *a, struct index *x, const struct change *c,
		      struct str *out)
{
	struct err e = { 0 };
	struct run *r = NULL;
	char *path = NULL;
	int rc = apply(x, c, c->run, &e);

	if (rc == 0) {
		say_change(out, c, c->run);
		return CLI_DONE;
	}
	err_clear(&e);
	if (rc == -ENOENT && library_load(c->run, &r, &path, &e) == 0) {
		if (!path)
			rc = err_set(&e, EINVAL,
				     "'%s' comes with pagetoll: labels and baselines are for runs "
				     "in the library",
				     c->run);
		else
			rc = apply(x, c, r->id, &e);
		if (rc == 0)
			say_change(out, c, r->id);
	}
	run_free(r);
	free(path);
	return rc ? cli_fail(&a->common, CLI_FATAL, "%s", e.msg) : CLI_DONE;
}

static int change_runs(const struct history_args *a, struct index *x)
{
	struct str out = { 0 };
	int rc = CLI_DONE, printed;

	for (size_t i = 0; rc == CLI_DONE && i < a->n_changes; i++)
		rc = change_run(a, x, &a->changes[i], &out);
	printed = cli_print_str(&out);
	return rc ? rc : printed;
}

static int list_runs(const struct history_args *a, struct index *x, const char *dir)
{
	struct arena arena = { 0 };
	struct index_entries entries = { 0 };
	struct err e = { 0 };
	int rc;

	if (x && index_list(x, &a->filter, &arena, &entries, &e))
		rc = cli_fail(&a->common, CLI_FATAL, "%s", e.msg);
	else if (a->common.format == FORMAT_JSON)
		rc = history_json(&entries);
	else if (a->common.format == FORMAT_CSV)
		rc = history_csv(&entries);
	else
		rc = history_text(&entries, dir, a->has_filter);
	arena_done(&arena);
	return rc;
}

static int open_index(const struct history_args *a, const char *dir, struct index **ret)
{
	const char *note = NULL;
	struct err e = { 0 };

	/* Nothing was ever kept: listing makes no folder. */
	if (access(dir, F_OK) && errno == ENOENT)
		return CLI_DONE;
	if ((a->rebuild && index_remove(dir, &e)) || index_open(dir, ret, &note, &e))
		return cli_fail(&a->common, CLI_FATAL, "%s", e.msg);
	if (note)
		cli_warn(&a->common, "%s", note);
	return CLI_DONE;
}

static int run_history(const struct verb *v, int argc, char **argv)
{
	struct history_args a = { 0 };
	struct index *x = NULL;
	struct err e = { 0 };
	char *dir;
	int rc;

	cli_parse(v, argc, argv, &a);
	cli_need_words(&a.common, 0, "");
	if (a.n_changes && (a.has_filter || a.common.format != FORMAT_TEXT))
		cli_usage(&a.common, "--set-label, --baseline and --no-baseline stand without "
				     "filters and --format");
	dir = library_dir(&e);
	if (!dir)
		return cli_fail(&a.common, CLI_FATAL, "%s", e.msg);
	rc = open_index(&a, dir, &x);
	if (rc == CLI_DONE && a.n_changes && !x)
		rc = cli_fail(&a.common, CLI_FATAL,
			      "there is no run '%s': the library is empty; 'pagetoll run' "
			      "measures and keeps one",
			      a.changes[0].run);
	if (rc == CLI_DONE)
		rc = a.n_changes ? change_runs(&a, x) : list_runs(&a, x, dir);
	index_close(x);
	free(dir);
	return rc;
}

static const struct argp_option history_options[] = {
	{ "label", KEY_LABEL, "TEXT", 0, "Only runs of this label", 0 },
	{ "bench", KEY_BENCH, "BENCH", 0, "Only runs of this benchmark, or family", 0 },
	{ "machine", KEY_MACHINE, "TEXT", 0, "Only runs on machines whose line has TEXT", 0 },
	{ "kernel", KEY_KERNEL, "TEXT", 0, "Only runs on kernels whose release has TEXT", 0 },
	{ "since", KEY_SINCE, "WHEN", 0, "Only runs begun since: 36h, 7d, 2026-11-30 (UTC)", 0 },
	{ "limit", KEY_LIMIT, "N", 0, "Only the newest N", 0 },
	{ "baselines", KEY_BASELINES, NULL, 0, "Only baselines", 0 },
	{ "set-label", KEY_SET_LABEL, "RUN=TEXT", 0,
	  "Label a run in place of listing; without TEXT it loses its label", 0 },
	{ "baseline", KEY_BASELINE, "RUN", 0,
	  "Make a run a baseline in place of listing: compare and show know it as 'baseline'", 0 },
	{ "no-baseline", KEY_NO_BASELINE, "RUN", 0, "The opposite", 0 },
	{ "rebuild", KEY_REBUILD, NULL, 0, "Make the index anew from the run files first", 0 },
	OPTION_FORMAT,
	OPTION_HELP,
	{ 0 }
};
static const struct argp history_argp = {
	.options = history_options,
	.parser = parse_history,
	.doc = "List the runs of the library, newest first. RUN is an id or the beginning of one, "
	       "last, last~1, baseline (the newest one), or a label.\v"
	       "  pagetoll history --baseline last      then, after the change:\n"
	       "  pagetoll compare baseline last",
};
const struct verb verb_history = {
	.name = "history",
	.summary = "List the runs that were kept, label them",
	.operand = OPERAND_NONE,
	.argp = &history_argp,
	.run = run_history,
};
