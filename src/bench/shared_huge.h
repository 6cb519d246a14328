/* SPDX-License-Identifier: MIT */
/* Whether shared memory may have transparent huge pages here. */
#ifndef PAGETOLL_BENCH_SHARED_HUGE_H
#define PAGETOLL_BENCH_SHARED_HUGE_H

#include "bench/bench.h"

/*
 * For benchmarks whose parameter "page" is that of a memfd: 0, or with page=thp and shmem_enabled
 * at never or deny, what bench_skip() returns, with the remedy.
 */
int bench_skip_without_shared_huge(struct bench_ctx *ctx);

#endif
