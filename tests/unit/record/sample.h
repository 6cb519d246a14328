/* SPDX-License-Identifier: MIT */
/*
 * A run that uses everything that a run can hold, and comparison of runs.
 */
#ifndef PAGETOLL_TESTS_RECORD_SAMPLE_H
#define PAGETOLL_TESTS_RECORD_SAMPLE_H

#include "record/run.h"

/* Fails the test when memory runs out. */
struct run *sample_run(void);

/* A measure of @run's benchmark "tlb.chase" with one sampled series of @n values. */
struct measure *sample_measure(struct run *run, int64_t pointers, const char *page,
			       const double *values, size_t n);

/* Fails the test where they differ. */
void assert_same_header(const struct run *a, const struct run *b);
void assert_same_measure(const struct measure *a, const struct measure *b);
void assert_same_run(const struct run *a, const struct run *b);

#endif
