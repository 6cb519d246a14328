/* SPDX-License-Identifier: MIT */
/*
 * Invented runs for the tests of comparing: values of processes as given, or drawn around a centre.
 */
#ifndef PAGETOLL_TESTS_COMPARE_SIM_H
#define PAGETOLL_TESTS_COMPARE_SIM_H

#include "base/rng.h"
#include "compare/compare.h"

/*
 * Owned run of an invented machine with benchmarks syn.read (parameters size, page, order;
 * metrics t_ns lower, rate higher, note_ns none, faults a count, tables_bytes exact, profile a
 * table), and cache.chase and tlb.chase, of which facts are drawn.
 */
struct run *sim_new(const char *id, const char *boot);
/* The same with other words: id and fingerprint stay. */
void sim_set_text(struct run *r, const char *name, const char *value);
void sim_set_int(struct run *r, const char *name, int64_t value);

/* One process at one setting of syn.read, without series. */
struct measure *sim_measure(struct run *r, unsigned invocation, const char *page, int64_t size);
/* The median of the three samples is @value; the least one is not. */
void sim_samples(struct run *r, struct measure *m, const char *metric, double value);
void sim_summary(struct run *r, struct measure *m, const char *metric, double value);
void sim_count(struct run *r, struct measure *m, int64_t events, int64_t exposure);
void sim_exact(struct run *r, struct measure *m, int64_t value);
/* Columns "share" and "ticks". */
void sim_table(struct run *r, struct measure *m, const char *const *keys, const double *cells,
	       size_t n);

/* One process a value at one setting. */
void sim_values(struct run *r, const char *metric, const char *page, int64_t size, const double *v,
		size_t n);
/* @n processes around @centre with the relative deviation @sd. */
void sim_draw(struct run *r, const char *page, int64_t size, double centre, double sd, unsigned n,
	      struct rng *rng);
/* The same for random reads over 1 GiB, of which facts are drawn. */
void sim_draw_reads(struct run *r, const char *page, double centre, double sd, unsigned n,
		    struct rng *rng);

/* A chase that costs 7 instead of 4 beyond so many pages. */
void sim_draw_curve(struct run *r, double entries, unsigned n, struct rng *rng);

/* Comparisons that must succeed; the caller ends them. */
struct comparison sim_compare(const struct run *a, const struct run *b, double threshold,
			      double run_spread);
struct comparison sim_by(const struct run *r, const char *parameter, const char *a, const char *b,
			 double threshold);
/* The only row of a metric; fails when there is none or several. */
const struct compared *sim_row(const struct comparison *c, const char *metric);
const struct compared *sim_fact_row(const struct comparison *c, const char *id, const char *page);

#endif
