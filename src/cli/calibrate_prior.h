/* SPDX-License-Identifier: MIT */
/* The machine that a calibration starts from. */
#ifndef PAGETOLL_CLI_CALIBRATE_PRIOR_H
#define PAGETOLL_CLI_CALIBRATE_PRIOR_H

#include "cli/cli.h"
#include "record/run.h"
#include "sim/machine.h"

/*
 * The described machine that comes along and is most like the run's: of the vendor, and then by
 * sizes of caches and TLBs. NULL with a message in @e: none of that vendor, or no memory.
 */
struct sim_machine *prior_choose(const struct run *r, struct str *ret_why, struct err *e);
/*
 * Takes over what the run tells of itself: levels, nodes, sizes of caches (as the kernel has them).
 * @source of these figures. -EINVAL: another base page; -ENOMEM.
 */
int prior_adapt(struct sim_machine *m, const struct run *r, const char *source, struct err *e);

#endif
