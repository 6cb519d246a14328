// SPDX-License-Identifier: MIT
/*
 * What an experiment of `ab` is: from its words, or from the run file that is continued. And the
 * plan of both arms. Measuring: ab_session.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/ab_session.h"
#include "cli/recover.h"
#include "cli/run_header.h"
#include "compare/compare.h"
#include "host/doctor.h"

static int fatal(const struct ab_session *s, const struct err *e)
{
	return cli_fail(&s->args->common, CLI_FATAL, "%s", e->msg);
}

static void parse_arms(struct ab_session *s, char *const *const words[2], const size_t n[2])
{
	struct err e = { 0 };

	for (int k = 0; k < 2; k++) {
		if (ab_arm_parse(&s->arena, words[k], n[k], &s->arms[k], &e))
			cli_usage(&s->args->common, "-%c: %s", "AB"[k], e.msg);
	}
	if (s->mode == AB_MODE_AB && ab_arms_check(s->arms, &e))
		cli_usage(&s->args->common, "%s", e.msg);
	if (s->mode != AB_MODE_AB && (n[0] || n[1]))
		cli_usage(&s->args->common, "%s",
			  s->mode == AB_MODE_AA
				  ? "--aa compares A with itself: no -A, no -B"
				  : "across reboots the kernels are the arms: no -A, no -B");
}

static void parse_words(struct ab_session *s, char **words, size_t n)
{
	struct err e = { 0 };

	if (request_parse(&s->arena, words, n, &s->request, &e))
		cli_usage(&s->args->common, "%s", e.msg);
}

/* --- a new one ---------------------------------------------------------------------------------
 */

static int begin_new(struct ab_session *s)
{
	const struct ab_args *a = s->args;
	char *const *const words[2] = { a->words[0], a->words[1] };

	if (a->aa)
		s->mode = AB_MODE_AA;
	else if (a->n_words[0] || a->n_words[1])
		s->mode = AB_MODE_AB;
	else if (a->resume)
		s->mode = AB_MODE_BOOTS;
	else
		cli_usage(&a->common, "nothing to compare: give -A WORD and -B WORD, or --aa, or "
				      "--resume-block FILE for two kernels");
	parse_arms(s, words, a->n_words);
	parse_words(s, a->common.words, a->common.n_words);
	s->request.preset = a->how.preset ? a->how.preset : preset_find("default");
	s->request.seed = a->how.has_seed ? a->how.seed : random_seed();
	return CLI_DONE;
}

/* --- one that is continued ---------------------------------------------------------------------
 */

/* Words given again, as in a boot script, have to be those of the experiment. */
static void check_again(struct ab_session *s, char *const *words, size_t n, const char *was,
			const char *what)
{
	const char *now = n ? ab_join(&s->arena, words, n) : NULL;

	/* an arm may have got page sizes beside its words (ab_arms_take_pages()) */
	if (now && strcmp(now, was) != 0 &&
	    !(words != s->args->common.words && strncmp(was, now, strlen(now)) == 0 &&
	      strncmp(was + strlen(now), " page=", strlen(" page=")) == 0))
		cli_usage(
			&s->args->common,
			"%s is an experiment with other %s: '%s', not '%s'; give none to continue "
			"it, or another FILE",
			s->args->resume, what, was, now);
}

static int split(struct ab_session *s, const char *text, char ***ret, size_t *ret_n)
{
	struct err e = { 0 };

	return ab_split(&s->arena, text, ret, ret_n, &e) ? fatal(s, &e) : CLI_DONE;
}

static int take_memory(struct ab_session *s, const struct ab_memory *m)
{
	const struct ab_args *a = s->args;
	char **arms[2] = { NULL, NULL }, **words = NULL;
	size_t n_arms[2] = { 0, 0 }, n = 0;
	int status;

	check_again(s, a->common.words, a->common.n_words, m->words, "words");
	check_again(s, a->words[0], a->n_words[0], m->a, "words of A");
	check_again(s, a->words[1], a->n_words[1], m->b, "words of B");
	if (a->aa && m->mode != AB_MODE_AA)
		cli_usage(&a->common, "%s is no experiment with --aa", a->resume);
	if (a->how.has_seed && a->how.seed != m->seed)
		cli_usage(&a->common, "--seed: %s has a seed already", a->resume);
	if (a->invocations || a->how.preset || a->how.label)
		cli_warn(&a->common,
			 "%s has its preset, number of processes and label already; "
			 "those given now are not used",
			 a->resume);
	s->mode = m->mode;
	status = split(s, m->a, &arms[0], &n_arms[0]);
	if (status == CLI_DONE)
		status = split(s, m->b, &arms[1], &n_arms[1]);
	if (status == CLI_DONE)
		status = split(s, m->words, &words, &n);
	if (status)
		return status;
	parse_arms(s, (char *const *const[2]){ arms[0], arms[1] }, n_arms);
	parse_words(s, words, n);
	s->request.preset = s->r->preset ? preset_find(s->r->preset) : NULL;
	if (!s->request.preset)
		return cli_fail(&a->common, CLI_FATAL, "%s has a preset that is not known: '%s'",
				a->resume, s->r->preset ? s->r->preset : "");
	s->request.seed = m->seed;
	return CLI_DONE;
}

static int check_machine(struct ab_session *s)
{
	struct run *probe = run_new();
	struct err e = { 0 };
	int status = CLI_DONE;

	if (!probe)
		return cli_fail(&s->args->common, CLI_FATAL, "out of memory");
	probe->id = "this";
	if (fingerprint_read(&s->sr, &s->m, probe, &e))
		status = fatal(s, &e);
	else if (compare_machines(s->r, probe, &e))
		status = cli_fail(&s->args->common, CLI_NOT_MEASURED,
				  "%s was begun on another machine: %s", s->args->resume, e.msg);
	run_free(probe);
	return status;
}

static int begin_resumed(struct ab_session *s)
{
	struct ab_memory m = { 0 };
	struct err e = { 0 };
	int status;

	/* Read only for now: a word that is refused must not cost the file its footer. */
	if (runfile_load(s->args->resume, &s->r, &e))
		return fatal(s, &e);
	if (ab_recall(s->r, &m, &e))
		return cli_fail(&s->args->common, CLI_USAGE, "--resume-block: %s: %s",
				s->args->resume, e.msg);
	status = check_machine(s);
	if (status)
		return status;
	s->is_resumed = true;
	return take_memory(s, &m);
}

/* The machine as it is now, for an environment line of the arm. */
static int read_environment(struct ab_session *s, unsigned arm, const struct machine *m,
			    struct err *e)
{
	struct run *r = run_new();
	int rc = r ? fingerprint_read(&s->sr, m, r, e) : err_set(e, ENOMEM, "out of memory");

	if (rc == 0)
		rc = doctor_examine(&s->sr, m, r, e);
	if (rc < 0) {
		run_free(r);
		return rc;
	}
	run_free(s->probes[arm]);
	s->probes[arm] = r;
	s->environments[arm] = (struct environment){
		.fingerprint = r->fingerprint,
		.context = r->context,
		.findings = r->findings,
		.n_findings = r->n_findings,
	};
	return 0;
}

/* What tells one kernel of an experiment from the other: its build, and its options for memory. */
static int begin_boots(struct ab_session *s)
{
	struct err e = { 0 };
	const char *options;
	char *build;

	if (read_environment(s, 0, &s->m, &e))
		return fatal(s, &e);
	options = attrs_text(&s->environments[0].context, "kernel_cmdline", "");
	build = ab_kernel_now(&s->sr);
	if (!build || !s->boot[0]) {
		free(build);
		return cli_fail(&s->args->common, CLI_NOT_MEASURED,
				"this kernel tells neither its version nor its boot: "
				"/proc/sys/kernel cannot be read");
	}
	if (asprintf(&s->kernel, "%s%s%s", build, *options ? ", with " : "", options) < 0)
		s->kernel = NULL;
	free(build);
	return s->kernel ? CLI_DONE : cli_fail(&s->args->common, CLI_FATAL, "out of memory");
}

/* A later boot may be set otherwise than the one that the header tells of. */
static int begin_later_boot(struct ab_session *s)
{
	struct err e = { 0 };

	if (!s->is_resumed || !s->boot[0] || (s->r->boot_id && !strcmp(s->r->boot_id, s->boot)))
		return CLI_DONE;
	if (read_environment(s, 0, &s->m, &e) || read_environment(s, 1, &s->m, &e))
		return fatal(s, &e);
	return CLI_DONE;
}

int ab_session_begin(struct ab_session *s)
{
	const struct ab_args *a = s->args;
	int status = cli_machine(&a->common, &s->sr, &s->m);

	if (status)
		return status;
	if (sysroot_read_line(&s->sr, "proc/sys/kernel/random/boot_id", s->boot, sizeof(s->boot),
			      NULL))
		s->boot[0] = '\0';
	if (a->resume && access(a->resume, F_OK) == 0)
		status = begin_resumed(s);
	else
		status = begin_new(s);
	if (status)
		return status;
	return s->mode == AB_MODE_BOOTS ? begin_boots(s) : begin_later_boot(s);
}

/* --- plan --------------------------------------------------------------------------------------
 */

static int plan_status(int rc)
{
	switch (rc) {
	case -EINVAL:
	case -ERANGE:
		return CLI_USAGE;
	case -ENOMEM:
	case -ENODEV:
	case -EACCES:
	case -EPERM:
	case -EROFS:
	case -ENOENT:
	case -EBUSY:
	case -EIO:
		return CLI_NOT_MEASURED;
	default:
		return CLI_FATAL;
	}
}

/* A plan of one arm, made while the machine is as that arm has it. */
static int plan_arm(struct ab_session *s, unsigned arm, struct plan *ret, struct err *e)
{
	bool changes = s->arms[arm].n_settings > 0 && !s->args->how.dry_run;
	struct machine m = { 0 };
	struct request q;
	int rc = 0;

	if (changes) {
		rc = ab_enter_arm(&s->settings, &s->arms[arm], e);
		if (rc == 0)
			rc = machine_read(&s->sr, &m, e);
		if (rc == 0)
			rc = read_environment(s, arm, &m, e);
	}
	if (rc == 0)
		rc = ab_request(&s->arena, &s->request, &s->arms[arm], &q, e);
	if (rc == 0) {
		rc = plan_build(&q, changes ? &m : &s->m, ret, e);
		if (rc < 0 && s->mode == AB_MODE_AB)
			err_prefix(e, "arm %c: ", "AB"[arm]);
	}
	machine_done(&m);
	return rc;
}

/*
 * The planner caps grids so that the least number of processes fits the budget; an experiment takes
 * three times as many: two arms, and half as many again.
 */
static void set_budget(struct ab_session *s, double *ret_budget)
{
	const struct ab_args *a = s->args;
	double whole = a->how.budget_seconds > 0 ? a->how.budget_seconds
						 : s->request.preset->budget_seconds;

	s->request.budget_seconds = whole / 3;
	/* A number of processes that was asked for is given, however long it takes. */
	*ret_budget = a->invocations && !(a->how.budget_seconds > 0) ? 0 : whole;
}

static int make_plans(struct ab_session *s, struct err *e)
{
	struct plan plans[2] = { 0 };
	double budget = 0;
	unsigned blocks;
	int rc;

	set_budget(s, &budget);
	rc = plan_arm(s, 0, &plans[0], e);
	if (rc == 0 && s->mode == AB_MODE_AB)
		rc = plan_arm(s, 1, &plans[1], e);
	if (rc == 0 && s->mode == AB_MODE_AB)
		rc = ab_arms_take_pages(&s->arena, &plans[0], &plans[1], s->arms, e);
	if (rc < 0) {
		plan_done(&plans[0]);
		plan_done(&plans[1]);
		return rc;
	}
	blocks = ab_blocks(s->request.preset, s->args->invocations);
	rc = ab_plan_make(s->mode, &plans[0], s->mode == AB_MODE_AB ? &plans[1] : NULL, s->arms,
			  blocks, &s->plan, e);
	if (rc == 0)
		s->plan.budget_seconds = budget;
	return rc;
}

/* What was planned when it began holds; only the benchmarks have to be the same ones still. */
static int match_resumed(struct ab_session *s, struct err *e)
{
	struct ab_memory m;
	int rc = ab_recall(s->r, &m, e);

	for (size_t i = 0; rc == 0 && i < s->plan.n_pairs; i++) {
		const struct bench_schema *now = &s->plan.pairs[i].p[0]->bench->schema;
		const struct bench_schema *was = run_schema(s->r, now->name);

		if (!was || was->revision != now->revision)
			rc = err_set(e, EINVAL,
				     "%s was measured by revision %u of %s, this program has %u: "
				     "begin a new experiment",
				     s->args->resume, was ? was->revision : 0, now->name,
				     now->revision);
	}
	if (rc == 0)
		rc = ab_recall_grids(s->r, &s->plan, e);
	if (rc == 0)
		s->plan.blocks = m.blocks;
	return rc;
}

static int init_settings(struct ab_session *s, struct err *e)
{
	char *journal;
	int rc;

	if (!s->arms[0].n_settings || s->args->how.dry_run)
		return 0;
	journal = cli_settings_journal_made(e);
	if (!journal)
		return -e->code;
	rc = settings_init(&s->settings, &s->sr, journal, e);
	s->has_settings = rc == 0;
	free(journal);
	return rc;
}

int ab_session_plan(struct ab_session *s)
{
	struct err e = { 0 };
	int rc = init_settings(s, &e);

	if (rc == 0)
		rc = make_plans(s, &e);
	/* The header tells of the machine as it was found. */
	if (s->has_settings && ab_session_restore(s))
		return CLI_FATAL;
	if (rc == 0 && s->is_resumed)
		rc = match_resumed(s, &e);
	if (rc == 0)
		return CLI_DONE;
	if (plan_status(rc) == CLI_USAGE)
		cli_usage(&s->args->common, "%s", e.msg);
	return cli_fail(&s->args->common, plan_status(rc), "%s", e.msg);
}
