/* SPDX-License-Identifier: MIT */
/* The header of a run that is about to be measured. */
#ifndef PAGETOLL_CLI_RUN_HEADER_H
#define PAGETOLL_CLI_RUN_HEADER_H

#include "base/err.h"
#include "host/machine.h"
#include "host/sysroot.h"
#include "record/run.h"
#include "run/run_plan.h"

/* Random bits from the kernel; the time if it has none. */
uint64_t random_seed(void);

/*
 * The part that does not depend on what is measured: id, version, command line (@argv with the verb
 * first), machine, findings. @label may be NULL. 0, or a negative errno.
 */
int run_header_begin(struct run *r, const struct sysroot *sr, const struct machine *m,
		     const char *label, int argc, char **argv, struct err *e);

/*
 * Fills id, version, command line (@argv with the verb first), machine, findings, timer cost and
 * the self-description of the benchmarks. @label may be NULL. 0, or a negative errno.
 */
int run_header_fill(struct run *r, const struct plan *p, const struct sysroot *sr,
		    const struct machine *m, const char *label, int argc, char **argv,
		    struct err *e);

#endif
