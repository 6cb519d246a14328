/* SPDX-License-Identifier: MIT */
/*
 * Benchmarks for the runner's tests, in the place of the real table. fake.plain has no inner
 * parameter, nor have tally.bytes and tally.events, which give an exact number and counts and no
 * samples; fake.sweep has one and does what its parameter `what` says, in real worker processes;
 * other.one is of another family.
 */
#ifndef TESTS_UNIT_RUN_FAKE_BENCH_H
#define TESTS_UNIT_RUN_FAKE_BENCH_H

/* The file named by this variable receives the worker's pid (what=hang, what=children). */
#define FAKE_PID_FILE "PAGETOLL_TEST_PID_FILE"

/* Where the curve of what=knee jumps. */
enum { FAKE_KNEE = 37 };

#endif
