/* SPDX-License-Identifier: MIT */
/* Evidence of the system-call benchmarks: entries, faults, and where the kernel's text lies. */
#ifndef PAGETOLL_BENCH_SYSCALL_PROOF_H
#define PAGETOLL_BENCH_SYSCALL_PROOF_H

#include "bench/syscall.h"

/*
 * Counts what one call does, from outside: entries into the kernel by tracing a child, page faults
 * by the kernel's own count. Contrary evidence goes to run->contrary. 0 or as bench_fail().
 */
int syscall_prove_entries(struct bench_ctx *ctx, struct syscall_run *run);
/* The node of the kernel's text: home_node and home_source, or why it cannot be told. */
void syscall_prove_home(struct bench_ctx *ctx, const struct sysroot *sr);

#endif
