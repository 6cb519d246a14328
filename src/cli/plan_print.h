/* SPDX-License-Identifier: MIT */
/* Prints a plan for `run --dry-run`. */
#ifndef PAGETOLL_CLI_PLAN_PRINT_H
#define PAGETOLL_CLI_PLAN_PRINT_H

#include "cli/cli.h"
#include "run/run_plan.h"

/* Returns the exit status. */
int plan_print(const struct common *c, const struct plan *p, const struct machine *m);

#endif
