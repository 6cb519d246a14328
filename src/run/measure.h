/* SPDX-License-Identifier: MIT */
/* From a worker's result to a measure of the run; used by collect.c only. */
#ifndef PAGETOLL_RUN_MEASURE_H
#define PAGETOLL_RUN_MEASURE_H

#include "base/err.h"
#include "bench/ctx.h"
#include "record/run.h"

/*
 * Appends a deep copy of @r as a measure of @run, its setting from @s (and the inner value).
 * -ENOMEM.
 */
int measure_from_result(struct run *run, const struct invocation_spec *s,
			const struct bench_result *r, const struct measure **ret, struct err *e);

#endif
