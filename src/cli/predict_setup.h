/* SPDX-License-Identifier: MIT */
/*
 * The words of `pagetoll predict`: which of them set the model, and which are the benchmark's, that
 * run/plan.h understands once the described machine looks like one of ours.
 */
#ifndef PAGETOLL_CLI_PREDICT_SETUP_H
#define PAGETOLL_CLI_PREDICT_SETUP_H

#include "cli/cli.h"
#include "predict/predict.h"
#include "run/run_plan.h"

/* One side of a prediction: before or after --what-if. */
struct predict_side {
	struct arena arena;
	struct sim_machine *machine; /* owned, changed by the words; NULL: geometry alone */
	struct predict_model model;
	struct attrs extra;       /* words of the model, for the setting */
	const char *table_policy; /* "interleaved", "replicated", NULL */
	struct machine as_ours;   /* what the planner sees */
	struct plan plan;
};

/*
 * Reads @words: [BENCH, NAME=VALUE...] for @m (NULL: none). 0; -EINVAL, -ERANGE, -ENOMEM with what
 * is wrong. predict_side_done() in any case.
 */
int predict_side_init(struct predict_side *s, const struct sim_machine *m, char *const *words,
		      size_t n, uint64_t seed, struct err *e);
/*
 * The first half of it: takes the words of the model, and gives those that are left, which are the
 * benchmark's or the trace's. Their list is the side's.
 */
int predict_side_words(struct predict_side *s, const struct sim_machine *m, char *const *words,
		       size_t n, uint64_t seed, char ***ret_rest, size_t *ret_n, struct err *e);
/*
 * -EINVAL: a word of the model has no effect on @bench (NULL: on a trace), which would look like a
 * change that gives nothing.
 */
int predict_side_check(const struct predict_side *s, const char *bench, struct err *e);
void predict_side_done(struct predict_side *s);

/* Names of the words that set the model, for help and messages; ended by NULL. */
extern const char *const predict_words[];

#endif
