// SPDX-License-Identifier: MIT
/*
 * `pagetoll compare A B` and `pagetoll compare RUN --by NAME=A,B`: what differs, by how
 * much, and how sure that is. The rules are those of compare/.
 */
#include "cli/verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/run_sides.h"
#include "compare/compare.h"
#include "report/compare_report.h"

enum { KEY_BY = KEY_VERB, KEY_THRESHOLD, KEY_FAIL_ON, KEY_ACROSS, KEY_ALL };

enum fail_on { FAIL_ON_NOTHING, FAIL_ON_WORSE, FAIL_ON_INCONCLUSIVE };

struct compare_args {
	struct common common;
	char *parameter; /* of --by, owned, holds the values too; NULL: none */
	char *value_a, *value_b;
	struct compare_options options;
	enum fail_on fail_on;
	bool all;
};

/* "page-tables=local,remote" */
static void parse_by(struct compare_args *a, const char *arg)
{
	char *copy = strdup(arg);
	char *values = copy ? strchr(copy, '=') : NULL;
	char *second = values ? strchr(values, ',') : NULL;

	if (!copy)
		exit(cli_fail(&a->common, CLI_FATAL, "out of memory"));
	if (!second || values == copy || second == values + 1 || !second[1] ||
	    strchr(second + 1, ','))
		cli_usage(&a->common,
			  "--by: '%s' is not a parameter with two values, as in "
			  "page-tables=local,remote",
			  arg);
	*values++ = '\0';
	*second++ = '\0';
	if (strcmp(values, second) == 0)
		cli_usage(&a->common, "--by: '%s': both values are the same", arg);
	free(a->parameter);
	a->parameter = copy;
	a->value_a = values;
	a->value_b = second;
}

static void parse_threshold(struct compare_args *a, const char *arg)
{
	struct err e = { 0 };

	if (parse_percent(arg, &a->options.threshold, &e))
		cli_usage(&a->common, "--threshold: %s", e.msg);
	if (a->options.threshold <= 0 || a->options.threshold >= 1)
		cli_usage(&a->common,
			  "--threshold: '%s' is not between 0%% and 100%%, both excluded; it is "
			  "the difference that does not matter, such as 2%%",
			  arg);
}

static error_t parse_compare(int key, char *arg, struct argp_state *state)
{
	struct compare_args *a = state->input;

	switch (key) {
	case KEY_FORMAT:
		a->common.json_errors = cli_choice(&a->common, "--format", "text|json", arg) == 1;
		a->common.format = a->common.json_errors ? FORMAT_JSON : FORMAT_TEXT;
		return 0;
	case KEY_BY:
		parse_by(a, arg);
		return 0;
	case KEY_THRESHOLD:
		parse_threshold(a, arg);
		return 0;
	case KEY_FAIL_ON:
		a->fail_on = FAIL_ON_WORSE + (enum fail_on)cli_choice(&a->common, "--fail-on",
								      "worse|inconclusive", arg);
		return 0;
	case KEY_ACROSS:
		cli_choice(&a->common, "--across", "machine", arg);
		a->options.across = "machine";
		return 0;
	case KEY_ALL:
		a->all = true;
		return 0;
	default:
		return common_option(key, arg, state);
	}
}

static int print(const struct compare_args *a, const struct comparison *c,
		 const struct comparison_subject *s)
{
	struct report_options o = cli_report_options(&a->common);
	struct str out = { 0 };
	int rc;

	o.all = a->all;
	o.subject = s;
	rc = a->common.format == FORMAT_JSON ? report_comparison_json_of(&out, c, s)
					     : report_comparison_text(&out, c, &o);
	if (rc) {
		str_done(&out);
		return cli_fail(&a->common, CLI_FATAL,
				"cannot write the comparison: out of memory");
	}
	return cli_print_str(&out);
}

/* For scripts and `git bisect run`: bad is 1, what cannot be told is skipped. */
static int verdict(const struct compare_args *a, const struct comparison *c)
{
	enum outcome worst = comparison_overall(c);

	if (a->fail_on == FAIL_ON_NOTHING)
		return CLI_DONE;
	if (worst == OUTCOME_WORSE)
		return CLI_CHECK_FAILED;
	if (worst == OUTCOME_DIFFERENCE || worst == OUTCOME_MISSING)
		cli_warn(&a->common, "--fail-on: nothing here has a verdict");
	if (a->fail_on == FAIL_ON_INCONCLUSIVE && worst != OUTCOME_BETTER &&
	    worst != OUTCOME_EQUIVALENT)
		return CLI_NOT_MEASURED;
	return CLI_DONE;
}

static int finish(const struct compare_args *a, struct comparison *c,
		  const struct comparison_subject *s)
{
	int rc = print(a, c, s);

	if (rc == CLI_DONE)
		rc = verdict(a, c);
	comparison_done(c);
	return rc;
}

static int compare_one(const struct compare_args *a, const struct run_side *side)
{
	const struct run *r = side->v[0];
	struct comparison_subject s = { .a = &r, .b = &r, .n_a = 1, .n_b = 1 };
	struct comparison c;
	struct err e = { 0 };

	if (side->n > 1)
		return cli_fail(&a->common, CLI_USAGE,
				"'%s' names %zu runs; --by compares inside one run", side->words,
				side->n);
	if (compare_by(r, a->parameter, a->value_a, a->value_b, &a->options, &c, &e))
		return cli_fail(&a->common, CLI_NOT_MEASURED, "%s", e.msg);
	return finish(a, &c, &s);
}

static int compare_two(struct compare_args *a, const struct run_side *x, const struct run_side *y)
{
	struct comparison_subject s = { .a = (const struct run *const *)x->v,
					.b = (const struct run *const *)y->v,
					.n_a = x->n,
					.n_b = y->n };
	struct comparison c;
	struct err e = { 0 };

	a->options.run_spread = run_side_spread(x->v[0]);
	if (compare_runs(s.a, s.n_a, s.b, s.n_b, &a->options, &c, &e))
		return cli_fail(&a->common, CLI_NOT_MEASURED, "%s", e.msg);
	c.name_a = x->words;
	c.name_b = y->words;
	return finish(a, &c, &s);
}

static int run_compare(const struct verb *v, int argc, char **argv)
{
	struct compare_args a = { .options.run_spread = NAN };
	struct run_side sides[2] = { 0 };
	struct err e = { 0 };
	int rc = CLI_DONE;

	cli_parse(v, argc, argv, &a);
	if (a.parameter)
		cli_need_words(&a.common, 1, "RUN (with --by: the run to compare within)");
	else
		cli_need_words(&a.common, 2, "A and B (two runs, or one and --by NAME=A,B)");
	if (a.parameter && a.options.across)
		cli_usage(&a.common, "--across is between runs, --by inside one");
	for (size_t i = 0; rc == CLI_DONE && i < a.common.n_words; i++) {
		if (run_side_load(a.common.words[i], &sides[i], &e))
			rc = cli_fail(&a.common, CLI_FATAL, "%s", e.msg);
	}
	if (rc == CLI_DONE)
		rc = a.parameter ? compare_one(&a, &sides[0])
				 : compare_two(&a, &sides[0], &sides[1]);
	run_side_done(&sides[0]);
	run_side_done(&sides[1]);
	free(a.parameter);
	return rc;
}

static const struct argp_option compare_options[] = {
	{ "by", KEY_BY, "NAME=A,B", 0,
	  "Inside one run: points that differ in this parameter only, A and B being its values",
	  0 },
	{ "threshold", KEY_THRESHOLD, "PERCENT", 0,
	  "Differences up to this do not matter (default: 2%)", 0 },
	{ "across", KEY_ACROSS, "machine", 0,
	  "Compare runs of unlike machines, which are refused otherwise", 0 },
	{ "fail-on", KEY_FAIL_ON, "worse|inconclusive", 0,
	  "Exit status 1 if B is worse; with inconclusive also 125 if that cannot be told", 0 },
	{ "all", KEY_ALL, NULL, 0, "All points, not only the 40 that tell most", 0 },
	{ "format", KEY_FORMAT, "text|json", 0, "Form of the result (default: text)", 0 },
	OPTION_COLOR,
	OPTION_HELP,
	{ 0 }
};
static const struct argp compare_argp = {
	.options = compare_options,
	.parser = parse_compare,
	.args_doc = "A B\nRUN --by NAME=A,B",
	.doc = "Compare B with A: facts first, then points, each with both values, the difference "
	       "with its interval, and a verdict: better, worse, equivalent, or inconclusive with "
	       "what is missing. A and B are runs as 'show' takes them; several runs of one side "
	       "(a list with commas, or a label that several have) are several boots.\v"
	       "  pagetoll compare last~1 last\n"
	       "  pagetoll compare baseline last                            (history --baseline RUN)\n"
	       "  pagetoll compare last --by page=4k,thp\n"
	       "  pagetoll compare good last --fail-on inconclusive         (good: a label; bisect)",
};
const struct verb verb_compare = {
	.name = "compare",
	.summary = "Compare two runs, or two settings inside one",
	.operand = OPERAND_RUNS,
	.argp = &compare_argp,
	.run = run_compare,
};
