/* SPDX-License-Identifier: MIT */
/* The described machine that --machine names. */
#ifndef PAGETOLL_CLI_MACHINE_FILE_H
#define PAGETOLL_CLI_MACHINE_FILE_H

#include "cli/cli.h"
#include "sim/machine.h"

/*
 * @name: one that comes along, or a file (with a '/' or .json in its name). CLI_DONE, or the exit
 * status after a message; a name that there is not ends the program. ret is the caller's.
 */
int described_machine(const struct common *c, const char *name, struct sim_machine **ret);

#endif
