/* SPDX-License-Identifier: MIT */
/* Options that measuring verbs share. Each ends the program by cli_usage() on a bad value. */
#ifndef PAGETOLL_CLI_TAKE_H
#define PAGETOLL_CLI_TAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"
#include "run/run_plan.h"

/* Beside those that a verb numbers from KEY_VERB; also 'o' and 'q'. */
enum {
	HOW_PRESET = KEY_VERB + 0x40,
	HOW_BUDGET,
	HOW_LABEL,
	HOW_SEED,
	HOW_DRY_RUN,
	HOW_NO_SAVE,
};

/* How to measure, and what becomes of it. */
struct how {
	const struct preset *preset; /* NULL: not given */
	double budget_seconds;       /* 0: not given */
	const char *label, *output;  /* NULL: not given */
	uint64_t seed;
	bool has_seed, dry_run, no_save, quiet;
};
/* Whether @key is one of them; then it is taken. */
bool take_how(struct how *how, const struct common *c, int key, const char *arg);
/* A label that names nothing else; borrowed from @arg. */
const char *take_label(const struct common *c, const char *arg);
/* The name of a file, not empty. */
const char *take_file_name(const struct common *c, const char *option, const char *arg);
/* The file of --output; NULL for "-", standard output. */
const char *take_output(const struct common *c, const char *arg);

#endif
