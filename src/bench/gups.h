/* SPDX-License-Identifier: MIT */
/*
 * The forms of RandomAccess in a worker: tables with their placement and proof, the CPUs that
 * update them, one pass, and the verification. Used by mem_gups.c, and by its test, which breaks
 * tables.
 */
#ifndef PAGETOLL_BENCH_GUPS_H
#define PAGETOLL_BENCH_GUPS_H

#include "bench/chase.h"
#include "mem/team.h"

enum gups_form { GUPS_SINGLE, GUPS_STAR, GUPS_SHARED };
enum gups_kernel { GUPS_LITERAL, GUPS_TUNED, GUPS_DEPENDENT };
extern const char *const gups_form_words[]; /* in the order of the enums, NULL-terminated */
extern const char *const gups_kernel_words[];

enum { GUPS_PROVEN_PAGES = 256 };

struct gups_table {
	struct chase_run run; /* its region and proof */
	uint64_t proven[GUPS_PROVEN_PAGES];
	uint32_t cpu; /* that populated it, and updates it unless the table is shared */
	uint64_t wrong;
};

/* All-zero is one that was never set up. */
struct gups {
	enum gups_form form;
	enum gups_kernel kernel;
	uint32_t *cpus; /* owned; ascending; that update */
	size_t n_cpus;
	struct gups_table *tables; /* owned; of cpus[i] with GUPS_STAR, else one */
	size_t n_tables;
	struct team *team; /* owned; NULL with GUPS_SINGLE: the calling thread */
	uint64_t words;    /* of each table, at this point */
	uint64_t updates;  /* of each table in one pass, at this point */
	bool is_sampled;   /* the time limit made them fewer than the rules have */
	uint64_t passes;   /* since the tables were filled */
	char contrary[96]; /* a thread that left its CPU; "": none */
};

/*
 * CPUs, tables of @bytes each (populated on their CPU, proven), threads. 0 or nonzero as
 * bench_fail() and bench_skip().
 */
int gups_setup(struct bench_ctx *ctx, struct gups *g, uint64_t bytes);

/*
 * A point: tables of @words (a power of two), filled, and so many updates that a pass takes
 * @limit_seconds at most (0: all that the rules have), found by a trial.
 */
void gups_prepare(struct gups *g, uint64_t words, double limit_seconds);

struct gups_pass {
	double gups;               /* GUPS_STAR: mean of the CPUs; GUPS_SHARED: all together */
	double min_gups, max_gups; /* over the CPUs; of GUPS_STAR only */
	double update_ns;          /* of one CPU for one update, mean of the CPUs */
	int64_t wall_ns;
};
/* All updates of the point once. */
void gups_pass(struct gups *g, struct gups_pass *ret);

/*
 * The rules' verification: undoes the passes by other means and counts the wrong words of all
 * tables. An even number of passes undoes itself, so one more is done first.
 */
uint64_t gups_verify(struct gups *g);

void gups_done(struct gups *g);

#endif
