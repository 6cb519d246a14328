/* SPDX-License-Identifier: MIT */
/* Pairs of CPUs as curves of one class, shared by facts_migration*.c only. */
#ifndef PAGETOLL_INFER_FACTS_MIGRATION_H
#define PAGETOLL_INFER_FACTS_MIGRATION_H

#include "infer/facts.h"

/* One ordered pair. All borrowed. */
struct pair_curve {
	const struct curve_points *c;
	uint32_t from, to;
	const char *class; /* what the machine tells: "l3" */
};

/* All pairs of one class at one setting of everything else. */
struct family {
	const char *class;
	struct pair_curve *pairs;
	size_t n, cap;
	/* One value a working set and invocation: the median over the pairs. NaN: missing. */
	double *x; /* ascending */
	size_t n_x, n_reps;
	double *cost, *stayed; /* [r * n_x + i] */
};

struct families {
	struct family *v;
	size_t n, cap;
};
/* The families of the run, in the order of their first curve. 0 or -ENOMEM. */
int families_make(struct work *w, struct families *ret);
/* A fact with class and with what else differs between the run's families. NULL: no memory. */
struct fact *family_fact(struct work *w, const struct families *all, const struct family *f,
			 const char *id, const char *unit, const char *method);
/* The cost at index @i over invocations. */
struct cost family_cost(const struct family *f, size_t i);

/*
 * Whether the CPUs of the class share a core, by the cost of a working set that fits the first
 * cache. *ret_note: what to know of the other facts of the class, NULL: nothing.
 */
int family_apart(struct work *w, const struct families *all, const struct family *f,
		 const char **ret_note);
/*
 * Groups of @n ascending values, divided where the next is more than @ratio times as large and more
 * than @noise larger. ret_group[i] counts from 0. Returns how many.
 */
size_t gap_groups(const double *sorted, size_t n, double ratio, double noise, size_t *ret_group);
/* Groups of pairs by measured cost, against the classes. */
int facts_migration_groups(struct work *w, const struct families *all);

#endif
