// SPDX-License-Identifier: MIT
/*
 * `pagetoll ab`: two arms, interleaved in fresh processes, and what differs between them. This file
 * has the command line and the result; ab_begin.c and ab_session.c do the work.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"
#include "cli/take.h"
#include "cli/ab_session.h"
#include "cli/stop.h"
#include "cli/ab_spread.h"
#include "cli/recover.h"
#include "cli/verbs.h"
#include "compare/compare_arms.h"
#include "report/compare_report.h"

enum {
	KEY_AA = KEY_VERB,
	KEY_RESUME,
	KEY_INVOCATIONS,
	KEY_THRESHOLD,
	KEY_FAIL_ON,
	KEY_ALL,
};
enum { MAX_INVOCATIONS = 1000 };
enum fail_on { FAIL_ON_NOTHING, FAIL_ON_WORSE, FAIL_ON_INCONCLUSIVE };

struct ab_options {
	struct ab_args args; /* first: argp's input starts with the common part */
	struct compare_options compare;
	enum fail_on fail_on;
	bool all;
};

/* --- command line ----------------------------------------------------------------------------- */

static void take_invocations(struct ab_args *a, const char *arg)
{
	struct err e = { 0 };
	uint64_t n = 0;

	if (parse_u64(arg, &n, &e))
		cli_usage(&a->common, "--invocations: %s", e.msg);
	if (n < AB_PER_BLOCK || n > MAX_INVOCATIONS || n % AB_PER_BLOCK)
		cli_usage(&a->common,
			  "--invocations: %s is not an even number within %d to %d; each block "
			  "has two processes of each arm",
			  arg, AB_PER_BLOCK, MAX_INVOCATIONS);
	a->invocations = (unsigned)n;
}

static void take_threshold(struct ab_options *o, const char *arg)
{
	struct err e = { 0 };

	if (parse_percent(arg, &o->compare.threshold, &e))
		cli_usage(&o->args.common, "--threshold: %s", e.msg);
	if (o->compare.threshold <= 0 || o->compare.threshold >= 1)
		cli_usage(&o->args.common,
			  "--threshold: '%s' is not between 0%% and 100%%, both excluded", arg);
}

static void take_word(struct ab_args *a, int arm, char *arg)
{
	if (a->n_words[arm] == AB_WORDS_MAX)
		cli_usage(&a->common, "-%c is given more than %d times", "AB"[arm], AB_WORDS_MAX);
	a->words[arm][a->n_words[arm]++] = arg;
}

static error_t parse_result_option(int key, char *arg, struct argp_state *state)
{
	struct ab_options *o = state->input;
	struct common *c = &o->args.common;

	switch (key) {
	case KEY_FORMAT:
		c->json_errors = cli_choice(c, "--format", "text|json", arg) == 1;
		c->format = c->json_errors ? FORMAT_JSON : FORMAT_TEXT;
		return 0;
	case KEY_THRESHOLD:
		take_threshold(o, arg);
		return 0;
	case KEY_FAIL_ON:
		o->fail_on = FAIL_ON_WORSE +
			     (enum fail_on)cli_choice(c, "--fail-on", "worse|inconclusive", arg);
		return 0;
	case KEY_ALL:
		o->all = true;
		return 0;
	default:
		return common_option(key, arg, state);
	}
}

static error_t parse_ab(int key, char *arg, struct argp_state *state)
{
	struct ab_args *a = state->input;

	switch (key) {
	case 'A':
	case 'B':
		take_word(a, key == 'B', arg);
		return 0;
	case KEY_AA:
		a->aa = true;
		return 0;
	case KEY_RESUME:
		a->resume = take_file_name(&a->common, "--resume-block", arg);
		return 0;
	case KEY_INVOCATIONS:
		take_invocations(a, arg);
		return 0;
	default:
		return take_how(&a->how, &a->common, key, arg)
			       ? 0
			       : parse_result_option(key, arg, state);
	}
}

static void check_args(const struct ab_args *a)
{
	if ((a->how.output != NULL) + a->how.no_save + (a->resume != NULL) > 1)
		cli_usage(&a->common, "--output, --no-save and --resume-block exclude each other");
	if (a->aa && (a->n_words[0] || a->n_words[1]))
		cli_usage(&a->common, "--aa compares A with itself: no -A, no -B");
}

/* --- result ----------------------------------------------------------------------------------- */

static size_t count_ok(const struct run *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_measures; i++)
		n += r->measures[i].verdict == VERDICT_OK;
	return n;
}

static const char *first_reason(const struct run *r)
{
	for (size_t i = 0; i < r->n_measures; i++)
		if (r->measures[i].reason)
			return r->measures[i].reason;
	return stop_caught() ? "interrupted" : "no measure came back";
}

static void add_alike_text(struct str *out, const struct arms_alike *n,
			   const struct machine_spread *v)
{
	char percent[UNITS_TEXT_BYTES];
	size_t findings = n->n_fact_findings + n->n_point_findings;

	str_addf(out,
		 "\nA against A: %zu finding%s among %zu fact%s and %zu point%s that were tested.\n"
		 "Of all such experiments one in twenty may have any.\n",
		 findings, findings == 1 ? "" : "s", n->n_fact_tests,
		 n->n_fact_tests == 1 ? "" : "s", n->n_point_tests,
		 n->n_point_tests == 1 ? "" : "s");
	if (!v->n)
		str_addf(out,
			 "No spread of this machine is stored: one experiment tells it from three "
			 "blocks\n(--invocations 6), or three experiments with the same words from "
			 "their values;\nthis is the %s.\n",
			 v->n_alike <= 1 ? "first" : "second");
	for (size_t i = 0; i < v->n; i++) {
		snprintf(percent, sizeof(percent), "%.2f", 100 * v->v[i].spread);
		str_addf(out, "Spread of %s on this machine: %s %%\n  (%s%zu %s)%s\n",
			 v->v[i].bench, percent,
			 v->v[i].from_blocks ? "between the blocks of " : "between ", v->n_runs,
			 v->n_runs == 1 ? "experiment" : "experiments",
			 v->is_stored ? ", stored" : "");
	}
}

static json_t *alike_json(const struct arms_alike *n, const struct machine_spread *v)
{
	json_t *all = json_array();

	for (size_t i = 0; i < v->n; i++)
		json_array_append_new(all, json_pack("{s:s,s:f,s:b,s:I}", "bench", v->v[i].bench,
						     "spread_ratio", v->v[i].spread, "from_blocks",
						     v->v[i].from_blocks, "runs",
						     (json_int_t)v->n_runs));
	return json_pack("{s:I,s:I,s:I,s:I,s:b,s:o}", "facts_tested", (json_int_t)n->n_fact_tests,
			 "points_tested", (json_int_t)n->n_point_tests, "fact_findings",
			 (json_int_t)n->n_fact_findings, "point_findings",
			 (json_int_t)n->n_point_findings, "stored", v->is_stored, "spreads", all);
}

/* The comparison's document with what alike arms tell in it. */
static int print_json(struct ab_session *s, const struct comparison *c,
		      const struct comparison_subject *subject, json_t *alike)
{
	struct str out = { 0 };
	json_t *doc;
	int rc = report_comparison_json_of(&out, c, subject);

	if (rc || !alike) {
		json_decref(alike);
		if (!rc)
			return cli_print_str(&out);
		str_done(&out);
		return cli_fail(&s->args->common, CLI_FATAL, "out of memory");
	}
	doc = json_loads(str_text(&out), 0, NULL);
	str_done(&out);
	json_object_set_new(doc, "alike", alike);
	return cli_print_json(doc);
}

static int print(struct ab_session *s, const struct ab_options *o, const struct comparison *c)
{
	const struct run *r = s->r;
	struct comparison_subject subject = { .a = &r, .b = &r, .n_a = 1, .n_b = 1 };
	struct report_options ro = cli_report_options(&s->args->common);
	struct machine_spread spread = { 0 };
	struct arms_alike alike = { 0 };
	struct str out = { 0 };
	int status;

	ro.all = o->all;
	ro.subject = &subject;
	if (s->mode == AB_MODE_AA) {
		compare_arms_alike(c, &alike);
		machine_spread_update(&s->args->common, r, s->path != NULL, &spread);
	}
	if (s->args->common.format == FORMAT_JSON) {
		status = print_json(s, c, &subject,
				    s->mode == AB_MODE_AA ? alike_json(&alike, &spread) : NULL);
	} else if (report_comparison_text(&out, c, &ro)) {
		str_done(&out);
		status = cli_fail(&s->args->common, CLI_FATAL, "out of memory");
	} else {
		if (s->mode == AB_MODE_AA)
			add_alike_text(&out, &alike, &spread);
		str_addf(&out, "\n%s%s\n", r->complete ? "" : "Incomplete: ", r->stop_reason);
		if (s->path)
			str_addf(&out, "Saved as %s\n", s->path);
		status = cli_print_str(&out);
	}
	machine_spread_done(&spread);
	return status;
}

/* For scripts and `git bisect run`. */
static int verdict(const struct ab_options *o, const struct comparison *c)
{
	enum outcome worst = comparison_overall(c);

	if (o->fail_on == FAIL_ON_NOTHING)
		return CLI_DONE;
	if (worst == OUTCOME_WORSE)
		return CLI_CHECK_FAILED;
	if (o->fail_on == FAIL_ON_INCONCLUSIVE && worst != OUTCOME_BETTER &&
	    worst != OUTCOME_EQUIVALENT)
		return CLI_NOT_MEASURED;
	return CLI_DONE;
}

static bool has_both_arms(const struct run *r)
{
	bool seen[2] = { false, false };

	for (size_t i = 0; i < r->n_measures; i++)
		if (r->measures[i].arm && r->measures[i].verdict == VERDICT_OK)
			seen[r->measures[i].arm[0] == 'B'] = true;
	return seen[0] && seen[1];
}

/* The first boot of an experiment has nothing to compare with yet. */
static int say_one_arm(struct ab_session *s)
{
	struct str out = { 0 };

	if (s->args->common.format == FORMAT_JSON)
		return cli_print_json(json_pack("{s:n,s:s,s:s?,s:b}", "comparison", "stop_reason",
						s->r->stop_reason, "file", s->path, "complete",
						s->r->complete));
	str_addf(&out, "%s.\n", s->r->stop_reason);
	if (s->mode == AB_MODE_BOOTS)
		str_addf(&out, "Boot the other kernel, and there: pagetoll ab --resume-block %s\n",
			 s->args->resume);
	return cli_print_str(&out);
}

static int report(struct ab_session *s, const struct ab_options *o)
{
	struct comparison c = { 0 };
	struct err e = { 0 };
	int status;

	if (count_ok(s->r) == 0)
		return cli_fail(&s->args->common, CLI_NOT_MEASURED, "nothing could be measured: %s",
				first_reason(s->r));
	if (!has_both_arms(s->r))
		return say_one_arm(s);
	if (compare_arms(s->r, &o->compare, &c, &e))
		return cli_fail(&s->args->common, CLI_NOT_MEASURED, "%s", e.msg);
	status = print(s, o, &c);
	if (status == CLI_DONE)
		status = verdict(o, &c);
	comparison_done(&c);
	return status;
}

static int print_plan(const struct ab_session *s)
{
	const struct ab_plan *p = &s->plan;
	struct str out = { 0 };
	char text[UNITS_TEXT_BYTES];
	size_t skipped = 0;

	for (size_t i = 0; i < p->n_pairs; i++) {
		struct str setting = { 0 };

		attrs_format(&setting, &p->pairs[i].p[0]->setting.given);
		str_addf(&out, "%s %s\n", p->pairs[i].p[0]->bench->schema.name, str_text(&setting));
		str_done(&setting);
		if (p->pairs[i].skip_reason)
			str_addf(&out, "  cannot run here: %s\n", p->pairs[i].skip_reason);
		skipped += p->pairs[i].skip_reason != NULL;
	}
	if (s->mode == AB_MODE_AB)
		str_addf(&out, "A: %s\nB: %s\n", s->arms[0].text, s->arms[1].text);
	if (s->arms[0].n_settings)
		str_add(&out, "System settings are changed while measuring, and restored; this\n"
			      "plan is for the machine as it is.\n");
	snprintf(text, sizeof(text), "%.0f", ceil(ab_block_seconds(p)));
	if (s->mode == AB_MODE_BOOTS)
		str_addf(&out, "One block of %d processes a setting and boot, about %s s each.\n",
			 AB_PER_BOOT, text);
	else
		str_addf(&out, "%u blocks of two processes of each arm, about %s s each.\n",
			 p->blocks, text);
	if (cli_print_str(&out))
		return CLI_FATAL;
	return skipped < p->n_pairs ? CLI_DONE : CLI_NOT_MEASURED;
}

static int run_session(struct ab_session *s, const struct ab_options *o)
{
	bool measured = false;
	int status = ab_session_begin(s), reported;

	if (status)
		return status;
	ab_session_watch(s);
	status = ab_session_plan(s);
	if (status)
		return status;
	if (s->args->how.dry_run)
		return print_plan(s);
	status = ab_session_measure(s, &measured);
	if (!measured)
		return status;
	reported = report(s, o);
	return status ? status : reported;
}

static int run_ab(const struct verb *v, int argc, char **argv)
{
	struct ab_options o = { .compare.run_spread = NAN };
	struct ab_session s = { .args = &o.args, .argc = argc };
	int status;

	/* argp sorts the words and names the verb anew; the header says what was typed. */
	s.argv = calloc((size_t)argc + 1, sizeof(*s.argv));
	if (!s.argv)
		return cli_fail(&o.args.common, CLI_FATAL, "out of memory");
	memcpy(s.argv, argv, (size_t)argc * sizeof(*argv));
	cli_parse(v, argc, argv, &o);
	check_args(&o.args);
	/* A plan changes nothing, not even what has to be restored. */
	if (o.args.how.dry_run)
		cli_name_left_settings(&o.args.common, NULL);
	else
		cli_recover_settings(&o.args.common);
	status = run_session(&s, &o);
	ab_session_done(&s);
	free(s.argv);
	stop_end();
	return status;
}

static const struct argp_option ab_options[] = {
	{ "arm-a", 'A', "WORD", 0,
	  "What A has of its own: a parameter (page=4k), an environment variable of the processes "
	  "(GLIBC_TUNABLES=...), or a system setting, as root (thp=always); may be repeated",
	  0 },
	{ "arm-b", 'B', "WORD", 0, "The same of B", 0 },
	{ "aa", KEY_AA, NULL, 0,
	  "A against itself: how many findings there are without a difference, and the spread of "
	  "this machine, which is stored",
	  0 },
	{ "resume-block", KEY_RESUME, "FILE", 0,
	  "Continue the experiment in FILE, or begin it there. Without -A and -B the arms are two "
	  "kernels: each boot measures one block",
	  0 },
	{ "preset", HOW_PRESET, "quick|default|rigorous", 0, "How long and how well to measure",
	  0 },
	{ "budget", HOW_BUDGET, "TIME", 0, "Stop after TIME (30s, 5m), at the end of a block", 0 },
	{ "invocations", KEY_INVOCATIONS, "N", 0,
	  "N processes of each arm at each setting, an even number", 0 },
	{ "threshold", KEY_THRESHOLD, "PERCENT", 0,
	  "Differences up to this do not matter (default: 2%)", 0 },
	{ "fail-on", KEY_FAIL_ON, "worse|inconclusive", 0,
	  "worse: exit status 1 if B is worse. inconclusive: also 125 if that cannot be told", 0 },
	{ "all", KEY_ALL, NULL, 0, "All points, not only the 40 that tell most", 0 },
	{ "label", HOW_LABEL, "TEXT", 0, "Name the experiment, for show and export", 0 },
	{ "seed", HOW_SEED, "N", 0, "Seed of all random orders (default: drawn, recorded)", 0 },
	{ "output", 'o', "FILE", 0, "Save to FILE, which must not exist, and not to the library",
	  0 },
	{ "no-save", HOW_NO_SAVE, NULL, 0, "Print the result only", 0 },
	{ "dry-run", HOW_DRY_RUN, NULL, 0,
	  "Print the plan with its time; measure and change nothing", 0 },
	{ "quiet", 'q', NULL, 0, "No progress", 0 },
	{ "format", KEY_FORMAT, "text|json", 0, "Form of the result (default: text)", 0 },
	OPTION_COLOR,
	OPTION_HELP,
	{ 0 }
};
static const struct argp ab_argp = {
	.options = ab_options,
	.parser = parse_ab,
	.args_doc = "-A WORD... -B WORD... [NAME=VALUE]... [TARGET [NAME=VALUE]...]...\n"
		    "--aa [NAME=VALUE]... [TARGET [NAME=VALUE]...]...\n"
		    "--resume-block FILE [NAME=VALUE]... [TARGET [NAME=VALUE]...]...",
	.doc = "Measure A and B interleaved, in random blocks of fresh processes (ABBA or BAAB), "
	       "and tell what differs. The words are those of 'run'; words of -A and -B override "
	       "them.\v"
	       "  pagetoll ab -A page=4k -B page=thp tlb.chase pointers=64,1024\n"
	       "  pagetoll ab -A thp=always -B thp=never cache.chase working-set=64m\n\n"
	       "System settings: thp, thp-defrag, fault-around-bytes, numa-balancing. They are "
	       "restored on every way out; after a kill -9 the next run or ab restores them.",
};
const struct verb verb_ab = {
	.name = "ab",
	.summary = "Measure A and B interleaved and tell what differs",
	.operand = OPERAND_WORDS,
	.argp = &ab_argp,
	.run = run_ab,
};
