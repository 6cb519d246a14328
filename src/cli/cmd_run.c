// SPDX-License-Identifier: MIT
/*
 * `pagetoll run`: parse, plan, measure, print. What was measured is never thrown away: a signal or
 * a full disk ends the measuring, and the summary of what there is follows.
 */
#include "cli/take.h"
#include "cli/verbs.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "cli/plan_print.h"
#include "cli/progress.h"
#include "cli/recover.h"
#include "cli/render.h"
#include "cli/run_header.h"
#include "cli/stop.h"
#include "host/clock.h"
#include "record/runfile.h"
#include "run/run.h"
#include "run/run_settings.h"
#include "store/library.h"

enum { KEY_INVOCATIONS = KEY_VERB };

enum { MAX_INVOCATIONS = 1000 };

struct run_args {
	struct common common;
	struct how how;
	unsigned invocations;
};

/* Everything of one run in work. */
struct job {
	const struct run_args *args;
	const struct sysroot *sr;
	struct plan *plan;
	struct run *r;
	struct runfile *file; /* NULL: in memory only */
	char *path;           /* owned; of the file, NULL: none */
	char *not_saved;      /* owned; why there is no file, NULL: there is one */
	struct progress progress;
	struct settings settings; /* that parameters change; valid if has_settings */
	bool has_settings;
	struct err no_settings; /* why there are none */
};

/* --- command line --- */

static void take_invocations(struct run_args *a, const char *arg)
{
	struct err e = { 0 };
	uint64_t n = 0;

	if (parse_u64(arg, &n, &e))
		cli_usage(&a->common, "--invocations: %s", e.msg);
	if (n < 1 || n > MAX_INVOCATIONS)
		cli_usage(&a->common, "--invocations: %s is not within 1 to %d", arg,
			  MAX_INVOCATIONS);
	a->invocations = (unsigned)n;
}

static error_t parse_run(int key, char *arg, struct argp_state *state)
{
	struct run_args *a = state->input;

	if (key == KEY_INVOCATIONS) {
		take_invocations(a, arg);
		return 0;
	}
	return take_how(&a->how, &a->common, key, arg) ? 0 : common_option(key, arg, state);
}

static void check_args(const struct run_args *a)
{
	if (a->common.sysroot && !a->how.dry_run)
		cli_usage(&a->common, "--sysroot shows a plan for another machine and needs "
				      "--dry-run: measuring happens on this one");
	if (a->how.output && a->how.no_save)
		cli_usage(&a->common, "--output and --no-save exclude each other");
}

/* --- measuring --- */

/* Opens the run's file. 0, or the exit status when the user's own choice of a place fails. */
static int open_file(struct job *j)
{
	struct err e = { 0 };
	int rc;

	if (j->args->how.no_save) {
		j->not_saved = strdup("--no-save");
		return CLI_DONE;
	}
	if (j->args->how.output) {
		j->path = strdup(j->args->how.output);
		rc = j->path ? runfile_create(j->path, j->r, &j->file, &e) : -ENOMEM;
		return rc ? cli_fail(&j->args->common, CLI_FATAL, "cannot save to %s: %s",
				     j->args->how.output, e.code ? e.msg : strerror(-rc))
			  : CLI_DONE;
	}
	rc = library_new_path(j->r->id, &j->path, &e);
	if (rc == 0)
		rc = runfile_create(j->path, j->r, &j->file, &e);
	if (rc) {
		cli_warn(&j->args->common,
			 "this run will not be saved: %s; use --output FILE or "
			 "set PAGETOLL_DATA to a folder that can be written",
			 e.code ? e.msg : strerror(-rc));
		j->not_saved = strdup(e.code ? e.msg : strerror(-rc));
		free(j->path);
		j->path = NULL;
	}
	return CLI_DONE;
}

static size_t count_ok(const struct run *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_measures; i++)
		n += r->measures[i].verdict == VERDICT_OK;
	return n;
}

static const char *first_reason(const struct job *j)
{
	for (size_t i = 0; i < j->r->n_measures; i++) {
		if (j->r->measures[i].reason)
			return j->r->measures[i].reason;
	}
	for (size_t i = 0; i < j->plan->n; i++) {
		if (j->plan->v[i].skip_reason)
			return j->plan->v[i].skip_reason;
	}
	return stop_caught() ? "interrupted" : "no measure came back";
}

/* Ends the file; a failure is told but takes nothing away. Returns the exit status. */
static int close_file(struct job *j, int run_rc, struct err *e)
{
	int rc = run_rc;

	if (!j->r->end_unix_ns)
		j->r->end_unix_ns = clock_unix_ns();
	if (!j->r->stop_reason)
		j->r->stop_reason = rc ? arena_strdup(&j->r->arena, e->msg) : "finished";
	if (rc)
		j->r->complete = false;
	j->r->has_footer = true;
	if (j->file && rc == 0)
		rc = runfile_finish(j->file, j->r, e);
	else if (j->file)
		(void)runfile_finish(j->file, j->r, NULL);
	runfile_close(j->file);
	j->file = NULL;
	if (rc == 0)
		return CLI_DONE;
	cli_warn(&j->args->common, "%s", e->code ? e->msg : strerror(-rc));
	if (j->path)
		cli_warn(&j->args->common,
			 "%s holds what was saved until then; the result "
			 "below holds all that was measured",
			 j->path);
	return CLI_FATAL;
}

/* The last line, since the warning before the measuring has scrolled away by then. */
static int print_not_saved(const struct job *j)
{
	struct str line = { 0 };

	if (!j->not_saved || j->args->common.format != FORMAT_TEXT)
		return CLI_DONE;
	str_add(&line, "\nnot saved: ");
	escape_terminal(&line, j->not_saved);
	str_add(&line, "\n");
	return cli_print_str(&line);
}

/* Only where a parameter stands for a kernel setting: the journal needs root. */
static void prepare_settings(struct job *j)
{
	char *journal;

	if (!run_settings_needed(j->plan))
		return;
	journal = cli_settings_journal_made(&j->no_settings);
	if (journal && settings_init(&j->settings, j->sr, journal, &j->no_settings) == 0)
		j->has_settings = true;
	free(journal);
}

/* The machine is not ours: before anything is printed. */
static int restore_settings(struct job *j)
{
	struct err e = { 0 };
	int status = CLI_DONE;

	if (!j->has_settings)
		return CLI_DONE;
	if (settings_restore(&j->settings, &e) < 0)
		status = cli_fail(&j->args->common, CLI_FATAL, "%s", e.msg);
	stop_forget();
	settings_done(&j->settings);
	j->has_settings = false;
	return status;
}

static int measure(struct job *j)
{
	struct run_hooks hooks = {
		.user = &j->progress,
		.status = progress_status,
		.setting_done = progress_setting_done,
	};
	struct render_choice choice = { 0 };
	struct err e = { 0 };
	size_t runnable = plan_count_runnable(j->plan);
	int status, printed, restored;
	const volatile sig_atomic_t *stop;
	int rc;

	/* A run with nothing in it would only stand in the way of `last`. */
	if (runnable && (status = open_file(j)) != CLI_DONE)
		return status;
	progress_init(&j->progress, j->args->how.quiet || !runnable, j->plan->n);
	prepare_settings(j);
	hooks.settings = j->has_settings ? &j->settings : NULL;
	hooks.no_settings = j->no_settings.code ? j->no_settings.msg : NULL;
	stop = stop_catch(hooks.settings);
	rc = run_execute(j->plan, j->r, j->file, &hooks, stop, &e);
	restored = restore_settings(j);
	if (!runnable)
		rc = 0; /* it recorded the reasons; they are told below */
	progress_done(&j->progress);
	status = close_file(j, rc, &e);
	choice.card = j->plan->is_toll && count_ok(j->r);
	printed = cli_render_run(&j->args->common, j->r, &choice,
				 j->args->how.output ? j->args->how.output
				 : j->path           ? "last"
						     : NULL,
				 j->path);
	if (printed == CLI_DONE)
		printed = print_not_saved(j);
	if (count_ok(j->r) == 0) {
		cli_warn(&j->args->common, "nothing could be measured: %s", first_reason(j));
		status = status ? status : CLI_NOT_MEASURED;
	}
	return restored ? restored : printed ? printed : status;
}

static int run_plan(const struct run_args *a, const struct sysroot *sr, const struct machine *m,
		    struct plan *plan, int argc, char **argv)
{
	struct job j = { .args = a, .sr = sr, .plan = plan, .r = run_new() };
	struct err e = { 0 };
	int status;

	if (!j.r)
		return cli_fail(&a->common, CLI_FATAL, "out of memory");
	if (run_header_fill(j.r, plan, sr, m, a->how.label, argc, argv, &e))
		status = cli_fail(&a->common, CLI_FATAL, "%s", e.msg);
	else
		status = measure(&j);
	free(j.path);
	free(j.not_saved);
	run_free(j.r);
	return status;
}

static int plan_status(int rc)
{
	switch (rc) {
	case -EINVAL:
	case -ERANGE:
		return CLI_USAGE;
	case -ENOMEM: /* over the memory budget */
	case -ENODEV:
		return CLI_NOT_MEASURED;
	default:
		return CLI_FATAL;
	}
}

static int with_request(const struct run_args *a, const struct request *q, int argc, char **argv)
{
	struct sysroot sr;
	struct machine m = { 0 };
	struct plan plan = { 0 };
	struct err e = { 0 };
	int status = cli_machine(&a->common, &sr, &m);
	int rc;

	if (status)
		return status;
	rc = plan_build(q, &m, &plan, &e);
	if (rc && plan_status(rc) == CLI_USAGE)
		cli_usage(&a->common, "%s", e.msg);
	if (rc) {
		status = cli_fail(&a->common, plan_status(rc), "%s", e.msg);
	} else if (a->how.dry_run) {
		status = plan_print(&a->common, &plan, &m);
		if (status == CLI_DONE && plan_count_runnable(&plan) == 0)
			status = CLI_NOT_MEASURED;
	} else {
		status = run_plan(a, &sr, &m, &plan, argc, argv);
	}
	plan_done(&plan);
	machine_done(&m);
	return status;
}

static int run_run(const struct verb *v, int argc, char **argv)
{
	struct run_args a = { 0 };
	struct arena arena = { 0 };
	struct request q = { 0 };
	struct err e = { 0 };
	/* argp sorts the words and names the verb anew; the header says what was typed. */
	char **typed = calloc((size_t)argc + 1, sizeof(*typed));
	int status;

	if (!typed)
		return cli_fail(&a.common, CLI_FATAL, "out of memory");
	memcpy(typed, argv, (size_t)argc * sizeof(*typed));
	cli_parse(v, argc, argv, &a);
	check_args(&a);
	/* Not for a plan of another machine. */
	if (!a.how.dry_run)
		cli_recover_settings(&a.common);
	else if (!a.common.sysroot)
		cli_name_left_settings(&a.common, NULL);
	if (request_parse(&arena, a.common.words, a.common.n_words, &q, &e))
		cli_usage(&a.common, "%s", e.msg);
	q.preset = a.how.preset ? a.how.preset : preset_find("default");
	q.budget_seconds = a.how.budget_seconds;
	q.invocations = a.invocations;
	q.seed = a.how.has_seed ? a.how.seed : random_seed();
	status = with_request(&a, &q, argc, typed);
	arena_done(&arena);
	free(typed);
	stop_end();
	return status;
}

static const struct argp_option run_options[] = {
	{ "preset", HOW_PRESET, "quick|default|rigorous", 0,
	  "How long and how well to measure: under 30 s, about 2 minutes, or longer", 0 },
	{ "budget", HOW_BUDGET, "TIME", 0, "Stop after TIME (30s, 5m) and report what there is",
	  0 },
	{ "invocations", KEY_INVOCATIONS, "N", 0, "Measure each setting in exactly N processes",
	  0 },
	{ "label", HOW_LABEL, "TEXT", 0, "Name the run, for show and export", 0 },
	{ "seed", HOW_SEED, "N", 0, "Seed of all random orders (default: drawn, recorded)", 0 },
	{ "output", 'o', "FILE", 0,
	  "Save the run to FILE, which must not exist, and not to the "
	  "library",
	  0 },
	{ "no-save", HOW_NO_SAVE, NULL, 0, "Print the result only", 0 },
	{ "dry-run", HOW_DRY_RUN, NULL, 0,
	  "Print the plan with its time and memory; measure nothing", 0 },
	{ "quiet", 'q', NULL, 0, "No progress", 0 },
	OPTION_FORMAT,
	OPTION_COLOR,
	OPTION_SYSROOT,
	OPTION_HELP,
	{ 0 }
};
static const struct argp run_argp = {
	.options = run_options,
	.parser = parse_run,
	.args_doc = "[NAME=VALUE]... [TARGET [NAME=VALUE]...]...",
	.doc = "Measure, save the run, and print what it tells. TARGET is a benchmark (tlb.chase), "
	       "a family (tlb), or all; without one, the toll set: what a TLB miss, a page walk "
	       "and the caches cost here.\v"
	       "A NAME=VALUE belongs to the target on its left, or, before the first, to every "
	       "target. VALUE is a list of V, A..B, A..B:STEP or A..B:xFACTOR:\n\n"
	       "  pagetoll run tlb.chase stride=32m+128 pointers=1,10..200:10\n\n"
	       "'pagetoll list' has the benchmarks, 'pagetoll info BENCH' their parameters. "
	       "--sysroot goes with --dry-run only.",
};
const struct verb verb_run = {
	.name = "run",
	.summary = "Measure what memory management costs on this machine",
	.operand = OPERAND_WORDS,
	.argp = &run_argp,
	.run = run_run,
};
