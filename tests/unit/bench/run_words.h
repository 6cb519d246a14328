/* SPDX-License-Identifier: MIT */
/* Tests: one invocation of a benchmark in this process, its setting given as words. */
#ifndef TESTS_BENCH_RUN_WORDS_H
#define TESTS_BENCH_RUN_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "bench/ctx.h"

/* What the points came to: counts of verdicts, and texts of the last point that has them. */
struct seen {
	unsigned ok, other;
	int verdict; /* of the last point */
	char reason[300];
	char unproven[300];
	char checksum[16];
};

/* "name=value" words, into `given` and `resolved`, from where a benchmark reads both. */
void set_words(struct arena *a, struct bench_setting *s, const char *words);

/* The CPU that the setting asks for; -1: the one to which the process is bound. */
extern int64_t run_words_cpu;

/*
 * Runs the benchmark small, three repetitions a point, at @words "name=value name.bytes=4096 ..."
 * (what the planner would resolve included), bound to the first allowed CPU. @inner: values of the
 * first parameter. @look may be NULL; it sees every point.
 */
void run_words(const char *bench, const char *words, const uint64_t *inner, size_t n,
	       void (*look)(void *user, const struct bench_result *r), void *user,
	       struct seen *ret);

#endif
