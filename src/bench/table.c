/* SPDX-License-Identifier: MIT */
/* The table of benchmarks, made from bench_list.h. */
#include "bench/bench.h"
#include "bench/bench_list.h"

#define DECLARE(id) extern const struct bench bench_##id;
BENCH_LIST (DECLARE)

#define ROW(id) &bench_##id,
	const struct bench *const bench_table[] = { BENCH_LIST (ROW) NULL };
