// SPDX-License-Identifier: MIT
/*
 * Measuring an experiment of `ab`: its file, its signals, and the settings of the machine, which
 * come back on every way out.
 */
#include "cli/ab_session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/recover.h"
#include "cli/run_header.h"
#include "cli/stop.h"
#include "host/clock.h"
#include "store/library.h"

/* --- settings ----------------------------------------------------------------------------------
 */

int ab_session_restore(struct ab_session *s)
{
	struct err e = { 0 };

	if (!s->has_settings || settings_restore(&s->settings, &e) == 0)
		return CLI_DONE;
	return cli_fail(&s->args->common, CLI_FATAL, "%s", e.msg);
}

void ab_session_done(struct ab_session *s)
{
	(void)ab_session_restore(s);
	stop_forget();
	if (s->has_settings)
		settings_done(&s->settings);
	runfile_close(s->file);
	ab_plan_done(&s->plan);
	machine_done(&s->m);
	run_free(s->r);
	run_free(s->probes[0]);
	run_free(s->probes[1]);
	arena_done(&s->arena);
	free(s->path);
	free(s->kernel);
}

void ab_session_watch(struct ab_session *s)
{
	s->stop = stop_catch(&s->settings);
}

/* --- the file ----------------------------------------------------------------------------------
 */

static const char *joined(struct ab_session *s, char *const *words, size_t n)
{
	return ab_join(&s->arena, words, n);
}

/* What an arm is: its words as typed, and the pages that follow from them. */
static const char *arm_words(struct ab_session *s, unsigned arm)
{
	const struct ab_args *a = s->args;
	const char *typed = joined(s, a->words[arm], a->n_words[arm]);
	const char *pages = s->arms[arm].pages;

	return typed && pages ? arena_printf(&s->arena, "%s %s", typed, pages) : typed;
}

static int fill_header(struct ab_session *s, struct err *e)
{
	const struct ab_args *a = s->args;
	struct ab_memory m = {
		.words = joined(s, a->common.words, a->common.n_words),
		.a = arm_words(s, 0),
		.b = arm_words(s, 1),
	};
	int rc;

	s->r = run_new();
	if (!s->r || !m.words || !m.a || !m.b)
		return err_set(e, ENOMEM, "out of memory");
	rc = run_header_fill(s->r, &s->plan.plans[0], &s->sr, &s->m, a->how.label, s->argc, s->argv,
			     e);
	if (rc == 0)
		rc = attrs_set_real(&s->r->arena, &s->r->context, "budget_seconds",
				    s->plan.budget_seconds);
	return rc < 0 ? rc : ab_remember(s->r, &s->plan, &m, e);
}

/* A place that the user chose must work; the library may fail, and then the result is printed. */
static int create_file(struct ab_session *s)
{
	const struct ab_args *a = s->args;
	const char *chosen = a->resume ? a->resume : a->how.output;
	struct err e = { 0 };
	int rc;

	if (a->how.no_save)
		return CLI_DONE;
	if (chosen) {
		s->path = strdup(chosen);
		rc = s->path ? runfile_create(s->path, s->r, &s->file, &e) : -ENOMEM;
		return rc ? cli_fail(&a->common, CLI_FATAL, "cannot save to %s: %s", chosen,
				     e.code ? e.msg : strerror(-rc))
			  : CLI_DONE;
	}
	rc = library_new_path(s->r->id, &s->path, &e);
	if (rc == 0)
		rc = runfile_create(s->path, s->r, &s->file, &e);
	if (rc) {
		cli_warn(&a->common,
			 "this experiment will not be saved: %s; use --output FILE or set "
			 "PAGETOLL_DATA to a folder that can be written",
			 e.code ? e.msg : strerror(-rc));
		free(s->path);
		s->path = NULL;
	}
	return CLI_DONE;
}

static int open_run(struct ab_session *s)
{
	struct err e = { 0 };

	if (!s->is_resumed) {
		if (fill_header(s, &e))
			return cli_fail(&s->args->common, CLI_FATAL, "%s", e.msg);
		return create_file(s);
	}
	run_free(s->r);
	s->r = NULL;
	s->path = strdup(s->args->resume);
	if (!s->path)
		return cli_fail(&s->args->common, CLI_FATAL, "out of memory");
	if (runfile_resume(s->path, &s->r, &s->file, &e))
		return cli_fail(&s->args->common, CLI_FATAL, "%s", e.msg);
	return CLI_DONE;
}

/* Ends the file; a failure is told but takes nothing away. */
static int close_run(struct ab_session *s, int rc, struct err *e)
{
	if (!s->r->end_unix_ns)
		s->r->end_unix_ns = clock_unix_ns();
	s->r->has_footer = true;
	if (s->file && rc == 0)
		rc = runfile_finish(s->file, s->r, e);
	else if (s->file)
		(void)runfile_finish(s->file, s->r, NULL);
	runfile_close(s->file);
	s->file = NULL;
	if (rc == 0)
		return CLI_DONE;
	cli_warn(&s->args->common, "%s", e->code ? e->msg : strerror(-rc));
	if (s->path)
		cli_warn(&s->args->common, "%s holds what was saved until then", s->path);
	return CLI_FATAL;
}

/* --- measuring ---------------------------------------------------------------------------------
 */

/* Not to be told as a failure: nothing could run, or nothing is left to do. */
static int soften(const struct ab_session *s, int rc, struct err *e)
{
	if (rc == -EALREADY)
		cli_warn(&s->args->common, "%s", e->msg);
	if (rc != -EALREADY)
		return rc;
	err_clear(e);
	return 0;
}

static int run_it(struct ab_session *s, struct err *e)
{
	const struct run_hooks hooks = {
		.user = &s->progress,
		.status = progress_status,
		.setting_done = progress_setting_done,
	};
	bool same_boot = s->r->boot_id && strcmp(s->r->boot_id, s->boot) == 0;
	const struct ab_job job = {
		.plan = &s->plan,
		.arms = s->arms,
		.settings = s->has_settings ? &s->settings : NULL,
		.run = s->r,
		.file = s->file,
		.boot_id = same_boot || !s->boot[0] ? NULL : s->boot,
		.environments = { s->probes[0] ? &s->environments[0] : NULL,
				  s->probes[1] ? &s->environments[1] : NULL },
		.kernel = s->kernel,
		.hooks = &hooks,
		.stop = s->stop,
		.limits = ab_limits,
	};
	int rc;

	progress_init(&s->progress, s->args->how.quiet, s->plan.n_pairs);
	rc = ab_execute(&job, e);
	progress_done(&s->progress);
	return soften(s, rc, e);
}

int ab_session_measure(struct ab_session *s, bool *ret_measured)
{
	struct err e = { 0 };
	int status = open_run(s), restored, rc;

	if (status)
		return status;
	*ret_measured = true;
	rc = run_it(s, &e);
	/* Before anything else: the machine is not ours. */
	restored = ab_session_restore(s);
	if (rc == -ENODEV) {
		status = cli_fail(&s->args->common, CLI_NOT_MEASURED, "%s", e.msg);
		*ret_measured = false;
		rc = 0;
	}
	if (close_run(s, rc, &e) && status == CLI_DONE)
		status = CLI_FATAL;
	return restored ? restored : status;
}
