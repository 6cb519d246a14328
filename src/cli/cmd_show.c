// SPDX-License-Identifier: MIT
/*
 * `pagetoll show RUN`: a run from a file, the library or the published ones.
 */
#include "cli/verbs.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/render.h"
#include "store/library.h"

enum { KEY_CARD = KEY_VERB };

struct show_args {
	struct common common;
	bool card;
};

static error_t parse_show(int key, char *arg, struct argp_state *state)
{
	struct show_args *a = state->input;

	if (key != KEY_CARD)
		return common_option(key, arg, state);
	a->card = true;
	return 0;
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
	if (library_load(a.common.words[0], &r, &path, &e))
		return cli_fail(&a.common, CLI_FATAL, "%s", e.msg);
	rc = cli_render_run(&a.common, r, a.card, a.common.words[0], path);
	run_free(r);
	free(path);
	return rc;
}

static const struct argp_option show_options[] = {
	OPTION_FORMAT,
	{ "card", KEY_CARD, NULL, 0, "Print the toll card instead of all tables", 0 },
	OPTION_COLOR,
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
