/* SPDX-License-Identifier: MIT */
/* The runs that one word of the command line means: one, or several boots of the same thing. */
#ifndef PAGETOLL_CLI_RUN_SIDES_H
#define PAGETOLL_CLI_RUN_SIDES_H

#include "cli/cli.h"
#include "record/run.h"

struct run_side {
	const char *words; /* as typed, borrowed */
	struct run **v;    /* owned */
	size_t n, cap;
};

/*
 * @words: names that library_load() takes, separated by commas, or a label that names several runs.
 * 0, or a negative errno with a message; run_side_done() in both cases.
 */
int run_side_load(const char *words, struct run_side *ret, struct err *e);
void run_side_done(struct run_side *s);

/*
 * Under which the library keeps the spread of a machine: what it is made of, without the kernel and
 * its switches. Empty: the run does not tell.
 */
void run_machine_key(struct str *out, const struct run *r);

/*
 * The largest spread between runs that the library holds for the machine of @r and any of its
 * benchmarks; NaN: none is known. Never fails: without it a comparison only says less.
 */
double run_side_spread(const struct run *r);

#endif
