// SPDX-License-Identifier: MIT
/*
 * `pagetoll show RUN`: a run from a file, the library or the published ones.
 */
#include "cli/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/render.h"
#include "store/library.h"

enum { KEY_CARD = KEY_VERB, KEY_METRIC };
enum { METRICS_MAX = 16 };

struct show_args {
	struct common common;
	bool card;
	const char *metrics[METRICS_MAX];
	size_t n_metrics;
};

/* Splits "A,B" in place. */
static void take_metrics(struct show_args *a, char *arg)
{
	const char *name;

	while ((name = strsep(&arg, ","))) {
		if (!*name)
			cli_usage(&a->common, "--metric: an empty name");
		if (a->n_metrics == METRICS_MAX)
			cli_usage(&a->common, "--metric: more than %d names", METRICS_MAX);
		a->metrics[a->n_metrics++] = name;
	}
}

static error_t parse_show(int key, char *arg, struct argp_state *state)
{
	struct show_args *a = state->input;

	switch (key) {
	case KEY_CARD:
		a->card = true;
		return 0;
	case KEY_METRIC:
		take_metrics(a, arg);
		return 0;
	default:
		return common_option(key, arg, state);
	}
}

static int run_show(const struct verb *v, int argc, char **argv)
{
	struct show_args a = { 0 };
	struct err e = { 0 };
	struct run *r = NULL;
	char *path = NULL;
	int rc;

	cli_parse(v, argc, argv, &a);
	cli_need_words(&a.common, 1,
		       "RUN (a file, an id, 'last', 'last~1', 'baseline', or a label)");
	if (a.card && a.common.format != FORMAT_TEXT)
		cli_usage(&a.common, "--card is a form of the text; it has no --format");
	if (a.n_metrics && (a.card || a.common.format != FORMAT_TEXT))
		cli_usage(&a.common, "--metric chooses tables of the text; --card and the other "
				     "forms have no choice");
	if (library_load(a.common.words[0], &r, &path, &e))
		return cli_fail(&a.common, CLI_FATAL, "%s", e.msg);
	rc = cli_render_run(&a.common, r,
			    &(struct render_choice){ .card = a.card,
						     .metrics = a.metrics,
						     .n_metrics = a.n_metrics },
			    a.common.words[0], path);
	run_free(r);
	free(path);
	return rc;
}

static const struct argp_option show_options[] = {
	OPTION_FORMAT,
	{ "card", KEY_CARD, NULL, 0, "Print the toll card instead of all tables", 0 },
	OPTION_COLOR,
	{ "metric", KEY_METRIC, "METRIC[,METRIC...]", 0,
	  "Print a table for each of these metrics instead; 'info BENCH' lists them", 0 },
	OPTION_HELP,
	{ 0 }
};
static const struct argp show_argp = {
	.options = show_options,
	.parser = parse_show,
	.args_doc = "RUN",
	.doc = "Print a run: what was inferred from it and its tables. RUN is a file, an id or the "
	       "beginning of one, last, last~1, baseline, a label, or the name of a published run.",
};
const struct verb verb_show = {
	.name = "show",
	.summary = "Print a run",
	.operand = OPERAND_RUN,
	.argp = &show_argp,
	.run = run_show,
};
