/* SPDX-License-Identifier: MIT */
/* Pieces from which the invented runs are built. */
#ifndef PAGETOLL_TESTS_REPORT_FIXTURE_PARTS_H
#define PAGETOLL_TESTS_REPORT_FIXTURE_PARTS_H

#include <math.h>

#include "report/report.h"

extern const struct bench_schema fixture_tlb, fixture_cache, fixture_call;

/* "a=1 b=x": numbers become INT. */
void fixture_words(struct arena *a, struct attrs *at, const char *words);

void fixture_header(struct run *r);
void fixture_footer(struct run *r, bool complete, const char *why);
void fixture_finding(struct run *r, const char *id, enum severity s, const char *what,
		     const char *effect, const char *remedy);

/* "page=4k stride=2m+4k": the outer part of a setting; numbers become INT. */
struct fixture_setting {
	const char *bench;
	const char *outer;
};
/* A measure of @inner (0: none) in invocation @invocation. */
struct measure *fixture_measure(struct run *r, struct fixture_setting s, int64_t inner,
				unsigned invocation);
/* Raw samples whose minimum is @min. */
void fixture_samples(struct run *r, struct measure *m, const char *metric, double min);
void fixture_exact(struct run *r, struct measure *m, const char *metric, int64_t value);
void fixture_count(struct run *r, struct measure *m, const char *metric, int64_t events,
		   int64_t exposure);
void fixture_summary(struct run *r, struct measure *m, const char *metric, double value);
void fixture_null(struct run *r, struct measure *m, const char *metric, const char *reason);
/* A measured point: ref_ns, ref_cycles at 3 GHz, in @n invocations with some spread. */
void fixture_point(struct run *r, struct fixture_setting s, int64_t inner, unsigned n, double ns);
/* A setting that could not run. */
void fixture_skip(struct run *r, struct fixture_setting s, enum verdict v, const char *reason);

/* @where: "page=4k level=1". Low NaN: no interval because of fewer than 6 invocations. */
struct fact *fixture_fact(struct report *rep, const char *id, const char *where, const char *unit,
			  double value, double low, double high);
struct fact *fixture_fact_missing(struct report *rep, const char *id, const char *where,
				  const char *unit, const char *reason);

#endif
