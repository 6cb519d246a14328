/* SPDX-License-Identifier: MIT */
/*
 * Inside stats/: the distribution of a rank sum over all divisions of pooled values. Used by
 * rank_test.c and hodges_lehmann.c only.
 */
#ifndef PAGETOLL_STATS_RANK_SUMS_H
#define PAGETOLL_STATS_RANK_SUMS_H

#include <stddef.h>

/* Up to this product of group sizes everything is exact. */
enum { RANK_SUMS_EXACT = 2500 };

/*
 * How many subsets of @k of the @n non-negative whole @scores have the sum s, for s from 0 to
 * *ret_max: the shift algorithm. *ret_counts is malloc()ed. 0 or -ENOMEM.
 */
int rank_sums_count(const size_t *scores, size_t n, size_t k, double **ret_counts, size_t *ret_max);

#endif
