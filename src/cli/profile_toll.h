/* SPDX-License-Identifier: MIT */
/* What this machine's toll card says of larger pages, beside a profile. */
#ifndef PAGETOLL_CLI_PROFILE_TOLL_H
#define PAGETOLL_CLI_PROFILE_TOLL_H

#include "record/run.h"

/*
 * Adds to the context of @r, from the newest run of the library that was measured on the same
 * machine and has them: `toll.run` (its id), `toll.huge_page_saving_percent`, `toll.walk_ns` (a
 * walk for base pages whose tables are in memory). Nothing where there is none.
 */
void profile_add_toll(struct run *r);

#endif
