// SPDX-License-Identifier: MIT
/*
 * Entry: the worker, the table of verbs, help and version. A new verb is one file cmd_VERB.c and
 * one row here. Exit codes are in cli.h.
 */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "cli/completion_words.h"
#include "cli/manual.h"
#include "cli/verbs.h"
#include "run/run.h"

enum { MAX_VERBS = 40 };

static const struct verb verb_help;

const struct verb *const verb_table[] = {
	&verb_run,    &verb_ab,     &verb_profile, &verb_predict,    &verb_calibrate, &verb_list,
	&verb_info,   &verb_show,   &verb_plot,    &verb_compare,    &verb_report,    &verb_history,
	&verb_import, &verb_export, &verb_doctor,  &verb_completion, &verb_help,      NULL,
};

const struct verb *verb_find(const char *name)
{
	for (const struct verb *const *v = verb_table; *v; v++) {
		if (strcmp((*v)->name, name) == 0)
			return *v;
	}
	return NULL;
}

static const struct {
	const char *verb, *question, *command;
} questions[] = {
	{ "run", "What does a TLB miss cost here?", "pagetoll run" },
	{ "run", "The same in 30 seconds?", "pagetoll run --preset quick" },
	{ "compare", "Did my change help?", "pagetoll compare last~1 last" },
	{ "doctor", "What disturbs measuring here?", "pagetoll doctor" },
	{ "profile", "Where does my program's time go?", "pagetoll profile -- CMD" },
	{ "predict", "What would a change give?", "pagetoll predict BENCH" },
};

static void add_questions(struct str *out)
{
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		if (verb_find(questions[i].verb))
			str_addf(out, "%-34s %s\n", questions[i].question, questions[i].command);
	}
}

static int print_questions(void)
{
	struct str out = { 0 };

	add_questions(&out);
	str_addf(&out, "%-34s %s\n", "What else is there?", "pagetoll help");
	return cli_print_str(&out);
}

static int print_overview(void)
{
	struct str out = { 0 };

	str_add(&out, "Usage: pagetoll VERB [OPTION...] [WORD...]\n"
		      "Tells what memory management costs on this machine.\n\n");
	for (const struct verb *const *v = verb_table; *v; v++)
		str_addf(&out, "  %-12s %s\n", (*v)->name, (*v)->summary);
	str_add(&out, "\n");
	add_questions(&out);
	str_add(&out, "\n'pagetoll help VERB' or 'pagetoll VERB --help' tells more;\n"
		      "'pagetoll --version' names the version and how it was built.\n"
		      "Exit status: 0 done, 1 a check failed or worse, 125 nothing could be\n"
		      "measured or told, 128 fatal, 129 usage; a signal ends the program by it.\n");
	return cli_print_str(&out);
}

static void unknown_verb(const char *word)
{
	const char *names[MAX_VERBS + 1] = { 0 };
	struct str hint = { 0 }, all = { 0 };
	size_t k = 0;

	if (strcmp(word, "version") == 0)
		cli_usage(NULL, "there is no verb 'version'; did you mean 'pagetoll --version'?");
	if (bench_find(word))
		cli_usage(NULL, "'%s' is a benchmark; did you mean 'pagetoll run %s'?", word, word);
	for (const struct verb *const *v = verb_table; *v && k < MAX_VERBS; v++) {
		str_addf(&all, "%s%s", k ? ", " : "", (*v)->name);
		names[k++] = (*v)->name;
	}
	cli_did_you_mean(&hint, "", word, names);
	cli_usage(NULL, "unknown verb '%s'%s; there are %s", word, str_text(&hint), str_text(&all));
}

static error_t parse_help(int key, char *arg, struct argp_state *state)
{
	return common_option(key, arg, state);
}

static int run_help(const struct verb *self, int argc, char **argv)
{
	struct common c = { 0 };
	const struct verb *v;

	cli_parse(self, argc, argv, &c);
	if (c.n_words == 0)
		return print_overview();
	cli_need_words(&c, 1, "VERB");
	v = verb_find(c.words[0]);
	if (!v)
		unknown_verb(c.words[0]);
	return cli_help(v);
}

static const struct argp_option help_options[] = { OPTION_HELP, { 0 } };
static const struct argp help_argp = {
	.options = help_options,
	.parser = parse_help,
	.args_doc = "[VERB]",
	.doc = "Print what a verb does and which options it takes; without VERB, list the verbs.",
};
static const struct verb verb_help = {
	.name = "help",
	.summary = "Print help on a verb",
	.operand = OPERAND_VERB,
	.argp = &help_argp,
	.run = run_help,
};

int main(int argc, char **argv)
{
	const struct verb *v;

	if (argc >= 2 && strcmp(argv[1], WORKER_VERB) == 0)
		return worker_main();
	if (argc == 2 && strcmp(argv[1], RUNS_VERB) == 0)
		return completion_runs();
	if (argc >= 2 && strcmp(argv[1], MANUAL_VERB) == 0)
		return manual_main(argc - 2, argv + 2);
	cli_streams_init();
	if (argc < 2)
		return print_questions();
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return print_overview();
	if (strcmp(argv[1], "--version") == 0)
		return cli_print_version();
	if (argv[1][0] == '-')
		cli_usage(NULL,
			  "unknown option '%s' before the verb; only --help and --version "
			  "stand there",
			  argv[1]);
	v = verb_find(argv[1]);
	if (!v)
		unknown_verb(argv[1]);
	return v->run(v, argc - 1, argv + 1);
}
