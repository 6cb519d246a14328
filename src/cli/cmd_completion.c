// SPDX-License-Identifier: MIT
/*
 * `pagetoll completion SHELL`: the completion script of a shell, made from the verbs' option tables
 * and the benchmarks' descriptors.
 */
#include "cli/completion_words.h"
#include "cli/verbs.h"

static error_t parse_completion(int key, char *arg, struct argp_state *state)
{
	return common_option(key, arg, state);
}

static int run_completion(const struct verb *v, int argc, char **argv)
{
	static void (*const scripts[])(struct str * out) = { completion_bash, completion_zsh,
							     completion_fish };
	struct common c = { 0 };
	struct str out = { 0 };
	size_t shell;

	cli_parse(v, argc, argv, &c);
	cli_need_words(&c, 1, "the shell (bash, zsh, fish)");
	shell = cli_choice(&c, "SHELL", "bash|zsh|fish", c.words[0]);
	scripts[shell](&out);
	return cli_print_str(&out);
}

static const struct argp_option completion_options[] = { OPTION_HELP, { 0 } };
static const struct argp completion_argp = {
	.options = completion_options,
	.parser = parse_completion,
	.args_doc = "bash|zsh|fish",
	.doc = "Print the completion script of a shell.\v"
	       "For bash: source <(pagetoll completion bash)",
};
const struct verb verb_completion = {
	.name = "completion",
	.summary = "Print a completion script for bash, zsh or fish",
	.operand = OPERAND_SHELL,
	.argp = &completion_argp,
	.run = run_completion,
};
