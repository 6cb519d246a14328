/* SPDX-License-Identifier: MIT */
/* The spread of this machine, from experiments with alike arms. */
#ifndef PAGETOLL_CLI_AB_SPREAD_H
#define PAGETOLL_CLI_AB_SPREAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "cli/cli.h"
#include "record/run.h"

struct bench_spread {
	const char *bench;
	double spread;    /* relative */
	bool from_blocks; /* not between runs yet */
};
struct machine_spread {
	struct arena arena;
	struct bench_spread *v;
	size_t n, cap;
	size_t n_runs;  /* that it comes from */
	size_t n_alike; /* experiments with these words, this one too */
	bool is_stored;
};

/*
 * From @r and all complete experiments with alike arms and the same words, of the same machine, in
 * the library; stored there if @store. Failures are told and leave it empty or not stored.
 */
void machine_spread_update(const struct common *c, const struct run *r, bool store,
			   struct machine_spread *ret);
void machine_spread_done(struct machine_spread *s);

#endif
