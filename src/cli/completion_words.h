/* SPDX-License-Identifier: MIT */
/* What the words of a command line can be, for the completion of every shell. */
#ifndef PAGETOLL_CLI_COMPLETION_WORDS_H
#define PAGETOLL_CLI_COMPLETION_WORDS_H

#include <stdbool.h>

#include "base/str.h"
#include "bench/bench.h"
#include "cli/cli.h"

/* Appends blank-separated words. */
void words_verbs(struct str *out);
void words_options(struct str *out, const struct verb *v);      /* "--preset -o --output" */
void words_targets(struct str *out);                            /* benchmarks, families, all */
void words_param_names(struct str *out, const struct bench *b); /* "page= order="; NULL: all */
void words_values(struct str *out, const char *param);          /* of the parameter of that name */

/* What a word of the command line can be. */
enum completes {
	COMPLETES_NOTHING, /* that could be told */
	COMPLETES_LIST,
	COMPLETES_FILE,
	COMPLETES_DIR,
	COMPLETES_WORD, /* targets, and parameters with their values */
	COMPLETES_RUN,  /* the words, the runs that were kept, and files */
	COMPLETES_COMMAND,
};
/* Of an option's value, and of a verb's operands; appends the words of LIST and RUN. */
enum completes words_of_option(struct str *out, const struct argp_option *o);
enum completes words_of_operand(struct str *out, const struct verb *v);

/* The verb, not in help, that scripts ask for the runs that were kept. */
#define RUNS_VERB "__runs"
/* Prints their labels and the newest ids, one a line; nothing where there is no library. */
int completion_runs(void);

/* Every parameter name of every benchmark once: calls @each. */
void words_each_param(void (*each)(void *user, const char *name), void *user);

/* The scripts. */
void completion_bash(struct str *out);
void completion_zsh(struct str *out);
void completion_fish(struct str *out);

#endif
