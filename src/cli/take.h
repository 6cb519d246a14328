/* SPDX-License-Identifier: MIT */
/* Values of options that several verbs have. Each ends the program by cli_usage() on a bad one. */
#ifndef PAGETOLL_CLI_TAKE_H
#define PAGETOLL_CLI_TAKE_H

#include <stdint.h>

#include "cli/cli.h"
#include "run/run_plan.h"

const struct preset *take_preset(const struct common *c, const char *arg);
/* Seconds, at least 1. */
double take_budget(const struct common *c, const char *arg);
uint64_t take_seed(const struct common *c, const char *arg);
/* A label that names nothing else; borrowed from @arg. */
const char *take_label(const struct common *c, const char *arg);

#endif
