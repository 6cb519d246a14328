/* SPDX-License-Identifier: MIT */
/*
 * From points to facts. Works on any run: measured here, predicted, or published.
 */
#ifndef PAGETOLL_INFER_INFER_H
#define PAGETOLL_INFER_INFER_H

#include "base/err.h"
#include "record/run.h"

/* A point's headline: the median over invocations of the metric's estimator within each. */
struct estimate {
	double value;         /* NaN: none, see reason */
	double low, high;     /* 95 % of the median over invocations; NaN: see interval_reason */
	double min;           /* smallest sample of all */
	double q25, q75;      /* over invocations */
	size_t n_invocations; /* with verdict ok */
	/* of a metric of form COUNT, summed over them; @exposure 0: no counts, or beyond 64 bits */
	int64_t events, exposure;
	/*
	 * Every invocation has the same whole number (form EXACT): each number above is @exact,
	 * which reals beyond 2^53 are not.
	 */
	bool is_exact;
	int64_t exact;
	const char *reason, *interval_reason; /* static text or from the run */
};
/*
 * Invalid, failed and skipped measures do not count; their reason is reported when nothing is left.
 * Measures of one invocation (a number that stands twice, as in files made by hand) are one value,
 * their median: what happened in one process is no replication.
 */
void estimate_point(const struct run *r, const struct point *p, const char *metric,
		    struct estimate *ret);

/* All facts that the run supports, memory from @a. 0 or -ENOMEM. */
int infer_facts(struct arena *a, const struct run *r, const struct curves *c,
		struct facts *ret_facts, struct err *e);

/* NULL when absent. @where_name may be NULL; further pairs are compared as text. */
const struct fact *facts_find(const struct facts *f, const char *id, const char *where_name,
			      const char *where_value);

#endif
