/* SPDX-License-Identifier: MIT */
/* What predictions of benchmarks and of traces share: the run that they become, and its words. */
#ifndef PAGETOLL_CLI_PREDICT_RUN_H
#define PAGETOLL_CLI_PREDICT_RUN_H

#include "cli/cli.h"
#include "cli/take.h"
#include "record/run.h"
#include "sim/sim.h"

/* Fills the header of a run that is predicted for @m (NULL: geometry alone). -ENOMEM. */
int predict_run_header(struct run *r, const struct sim_machine *m, const struct how *how,
		       uint64_t seed, int argc, char **argv, struct err *e);
/*
 * Saves the run as @how says; *@ret_path, for free(), is where, NULL: nowhere. CLI_DONE, also after
 * a warning; or the exit status after a message.
 */
int predict_run_save(const struct common *c, const struct how *how, const struct run *r,
		     char **ret_path);
/* The words with those of --what-if in their places, or behind them. For free(); NULL: no memory.
 */
char **predict_words_after(char *const *words, size_t n, char *const *what_ifs, size_t n_what_ifs,
			   size_t *ret_n);

#endif
