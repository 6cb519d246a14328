/* SPDX-License-Identifier: MIT */
/* Shared by facts_tlb.c (small pages) and facts_pages.c (larger ones). */
#ifndef PAGETOLL_INFER_FACTS_TLB_H
#define PAGETOLL_INFER_FACTS_TLB_H

#include "infer/facts.h"

struct tlb_metric {
	const char *metric, *unit;
	const char *hit, *walk_cached, *walk_memory; /* ids of facts */
};
enum { TLB_METRICS = 2 };
extern const struct tlb_metric tlb_metrics[TLB_METRICS];

/* The knee with the largest ratio of costs whose capacity lies above @above; NULL: none. */
const struct knee *strongest_knee(const struct knees *k, double above);
/* Points that surely fit a structure of this capacity. */
struct span span_below(double capacity);
const char *no_knee_text(struct work *w, const struct view *v);

/* tlb.entries and tlb.reach, from the knee @k of @curve; @k NULL: no value, because of @reason. */
int add_entries(struct work *w, const char *page, int level, const struct curve_points *curve,
		const struct knee *k, const char *reason, const char *note);
/* A cost with where page (and level, unless 0). */
int add_cost(struct work *w, const char *id, const char *unit, const char *page, int level,
	     const struct cost *c, const char *method, const char *note);

/* Facts of larger pages. @first: the first level for small pages; NULL: not known. */
int facts_pages(struct work *w, const struct knee *first);

#endif
