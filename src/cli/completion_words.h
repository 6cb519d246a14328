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
void words_runs(struct str *out);
/* Choices "a|b|c" of an option's argument as "a b c"; false if it takes no choice. */
bool words_choices(struct str *out, const struct argp_option *o);

/* Every parameter name of every benchmark once: calls @each. */
void words_each_param(void (*each)(void *user, const char *name), void *user);

/* The scripts. */
void completion_bash(struct str *out);
void completion_zsh(struct str *out);
void completion_fish(struct str *out);

#endif
