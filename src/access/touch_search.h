/* SPDX-License-Identifier: MIT */
/*
 * The search of Linux 2.6.16 to 2.6.22 for the working set that is dearest to migrate, pure: it
 * asks for the cost of one size after the other. Leaves out how a cost is measured.
 *
 * Range: half the largest cache to twice it, 64 KiB at least; 64 KiB to 10 MiB where no cache size
 * is known. Each step is 10/9 of the size before. It ends early when the size is more than 30 %
 * beyond that of the largest cost and the cost, with the average fluctuation added, has fallen by
 * more than 30 / 130, or to zero. The result is twice the largest cost (a task counts as cold after
 * twice the worst that moving it can cost), times the factor, 100 % by default.
 *
 * Known defects, kept because they are what the published values were made with: one noisy cost is
 * taken for the maximum, since each size is measured once; where the costs go on rising the end of
 * the range is the answer; and the pattern touches two thirds of what it names (touch.h). One is
 * not kept: the kernel computed sizes times 100 in 32 bits, which overflows beyond 41 MiB.
 * Source: kernel/sched.c of Linux 2.6.18, measure_migration_cost().
 */
#ifndef PAGETOLL_ACCESS_TOUCH_SEARCH_H
#define PAGETOLL_ACCESS_TOUCH_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

struct touch_search {
	uint64_t size, max_bytes;     /* the size whose cost is wanted, and the last one */
	uint64_t found_bytes;         /* of the largest cost; 0: no cost was above zero */
	int64_t cost_ns, max_cost_ns; /* the last, and the largest */
	int64_t fluctuation_ns;       /* average */
	unsigned steps;
	bool ended, early; /* early: because the costs had fallen */
};

/* @cache_bytes: of the largest cache, 0: not known. */
void touch_search_begin(struct touch_search *s, uint64_t cache_bytes);
/* Range of the search in bytes. */
uint64_t touch_search_first(uint64_t cache_bytes);
uint64_t touch_search_last(uint64_t cache_bytes);
/* Tells the cost of s->size (may be negative); s->size is then the next one unless s->ended. */
void touch_search_tell(struct touch_search *s, int64_t cost_ns);
/* What the kernel took for the time after which a task is cold; @factor_percent: 100. */
int64_t touch_search_result_ns(const struct touch_search *s, unsigned factor_percent);

#endif
