/* SPDX-License-Identifier: MIT */
/* Inside compare/: the two sides, and the steps from them to verdicts. */
#ifndef PAGETOLL_COMPARE_PARTS_H
#define PAGETOLL_COMPARE_PARTS_H

#include "compare/compare.h"
#include "infer/infer.h"

/*
 * What one value stands for. The finest unit whose variation the question is about: invocations
 * where both sides are of one run, boots (or runs) where each side has three of its own.
 */
enum unit { UNIT_INVOCATION, UNIT_RUN, UNIT_BOOT };

/* Which measures belong to a side, and what of their settings is not compared. */
struct side_source {
	const struct run *const *runs;
	size_t n_runs;
	const char *parameter; /* of compare_by(); NULL: all measures */
	const char *value;
	const char *const *dropped; /* names left out of settings, NULL-terminated; NULL: none */
};

struct side {
	struct run *run;   /* owned; its measures borrow from the runs, invocations are numbered
			      through */
	unsigned *boot_of; /* [n_measures]; index of the boot */
	unsigned *run_of;
	size_t n_boots, n_runs;
	const char **boots; /* names; NULL entries: not known */
	unsigned *unit_of;  /* [n_measures]; index of the unit, after side_set_unit() */
	size_t n_units;
	struct points points;
	struct curves curves;
	struct facts facts;
	struct facts *unit_facts; /* [n_units]; facts of each unit alone */
	bool is_published;        /* single values only: no samples, no counts */
};

/* 0, -ENOMEM; -ENOENT: nothing belongs to it. */
int side_init(struct side *s, const struct side_source *from);
void side_done(struct side *s); /* accepts zeroed */
/* Assembles units, points, curves and facts. */
int side_infer(struct side *s, enum unit unit, struct err *e);
bool side_has_boot(const struct side *s, const char *boot);

/* Text of a value, in the arena; NULL: no memory. */
const char *attr_words(struct arena *a, const struct attr *at);
/* Whether a setting's value is meant by a word of the command line. */
bool attr_is_word(const struct run *r, const struct attr *at, const char *word);

/* A row on its way to a verdict. */
struct row {
	struct compared c;
	enum better better;
	bool is_alone;       /* single values: no test */
	bool is_exact;       /* no spread by nature: no test, no variation between runs */
	bool is_extra;       /* follows from another row: not one more test */
	bool is_sum;         /* of other rows: tested, but no member of their family */
	const char *nominal; /* both sides stand for this round size; NULL: not so */
};
struct rows {
	struct row *v;
	size_t n, cap;
};

/* What all rows share. */
struct rules {
	struct arena *arena;
	const struct comparison *c;
	enum unit unit;
	size_t runs_a, runs_b;
};

/* Values per unit into difference, interval and p. */
int row_test_values(const struct rules *r, struct row *row, const double *a, size_t n_a,
		    const double *b, size_t n_b);
/* Events and exposures per measure into the same. */
struct count {
	int64_t events, exposure;
};
int row_test_counts(const struct rules *r, struct row *row, const struct count *a, size_t n_a,
		    const struct count *b, size_t n_b);
/* Outcome and reason, after the p-values are adjusted. */
int row_decide(const struct rules *r, struct row *row, size_t n_tests);

/* Rows without verdicts. */
int rows_of_facts(const struct rules *r, const struct side *a, const struct side *b,
		  struct rows *ret);
int rows_of_points(const struct rules *r, const struct side *a, const struct side *b,
		   struct rows *ret);
struct row *rows_add(struct arena *a, struct rows *rows);

/* A name in the settings of a benchmark, and whether points differ in it. */
struct told {
	const char *bench, *name;
	bool yes;
};

struct matching {
	struct told *told; /* in the arena of the rules */
	size_t n_told, cap_told;
	const struct rules *rules;
	const struct side *a, *b;
	struct rows *rows;
};

/* A row for a metric at a point, without values; NULL: no memory. */
struct row *point_row(struct matching *m, const struct point *any, const struct metric *metric);
/* The symbols of a table (a profile), column by column; one of both points may be NULL. */
int rows_of_table(struct matching *m, const struct point *a, const struct point *b,
		  const struct metric *metric);

/* Refuses unlike machines and revisions; 0 or -EINVAL. */
int sides_check(const struct run *const *a, size_t n_a, const struct run *const *b, size_t n_b,
		bool across_machines, struct err *e);
/* Adds what differs to c->environment. 0 or -ENOMEM. */
int environment_compare(struct comparison *c, const struct run *const *a, size_t n_a,
			const struct run *const *b, size_t n_b);

/* The same for the arms of one experiment, what differs on purpose first. 0 or -ENOMEM. */
int environment_compare_arms(struct comparison *c, const struct run *r, const char *arm_a,
			     const char *arm_b);
/* The kernel that an arm of an experiment across reboots ran under; NULL: not told. */
const char *arm_kernel(const struct run *r, const char *arm);
int environment_add(struct comparison *c, const char *name, const char *a, const char *b,
		    bool is_fingerprint);

/* Everything from two sources to facts, points, verdicts and the box. 0, or with a message. */
int compare_sides(struct comparison *c, const struct side_source *x, const struct side_source *y,
		  struct err *e);
/* The part of it that follows side_infer(), for sides made elsewhere; c->between_runs and
 * one_boot_* are set. */
int comparison_fill(struct comparison *c, const struct side *a, const struct side *b,
		    enum unit unit, struct err *e);
void comparison_begin(struct comparison *c, const struct compare_options *o);
/* The lines of the box. 0 or -ENOMEM. */
int how_fill(const struct rules *r, struct comparison *c, size_t n_fact_tests,
	     size_t n_point_tests);

#endif
