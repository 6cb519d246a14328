/* SPDX-License-Identifier: MIT */
/* What the files of calibrate/ share. Inside calibrate/ only. */
#ifndef PAGETOLL_CALIBRATE_PARTS_H
#define PAGETOLL_CALIBRATE_PARTS_H

#include "calibrate/calibrate.h"

/* The figures of cost: columns of the least squares. */
enum column {
	COL_ROUND,
	COL_TLB2,
	COL_TLB3,
	COL_START,
	COL_STEP,
	COL_HANDLER,
	COL_CACHE, /* + index */
	COL_ALIAS = COL_CACHE + SIM_CACHES_MAX,
	COL_LOCAL,
	COL_REMOTE,
	COL_FAR,
	COLS,
};
_Static_assert((int)COLS <= (int)CALIBRATE_COLUMNS, "one cost a column");

/* A point's time on a structure: sum of x times cost, in ns with costs in their units, and rest. */
struct row {
	double x[COLS];
	double rest;   /* ns: what no column makes */
	uint64_t refs; /* that were counted */
};

enum { QUICK_REFS = 16384 }; /* of a simulation where many are compared */

/* A problem: all points, and the rows of those at hand. */
struct problem {
	const struct calibrate_point *points;
	size_t n;
	const struct calibrate_options *o;
	bool *in_fit;        /* by point */
	bool *beyond;        /* by point */
	uint64_t refs;       /* of a simulation; 0: the usual number */
	const uint64_t *all; /* by point: references that a quick simulation takes; may be NULL */
};

/* --- rows.c --- */

/* Whether the machine has the figure; its path and unit; reading and setting it. */
bool column_exists(const struct sim_machine *m, unsigned col);
void column_path(const struct sim_machine *m, unsigned col, char buf[48]);
const char *column_unit(unsigned col);
double column_get(const struct sim_machine *m, unsigned col);
void column_set(struct sim_machine *m, unsigned col, double value);
/* The same machine with every cost at 1: what parts then cost are counts. NULL: no memory. */
struct sim_machine *machine_of_ones(const struct sim_machine *m);
/*
 * Rows of the points @which (@n of them; NULL: all) on the structure of @m, in the same order,
 * over the threads of the options. 0, or the first point's error.
 */
int rows_make(const struct problem *p, const struct sim_machine *m, const size_t *which, size_t n,
	      struct row *ret_rows, struct err *e);
double row_ns(const struct row *r, const double *costs);
/* Simulates one point; the result is on the heap of the caller. */
int point_simulate(const struct problem *p, size_t i, const struct sim_machine *m,
		   struct predict_result *ret, struct err *e);

/* --- fit.c --- */

/*
 * Costs by non-negative least squares; columns that are `kept` stay at ret_costs[] as given. Points
 * that are off by more than 10 % weigh less than their square (Huber's loss): a knee at another
 * place than the machine's puts some points far off, whatever the costs. ret_loss: the sum, of
 * relative errors. -ENOMEM, -ELOOP.
 */
int fit_costs(const struct row *rows, const double *ns, size_t n, const bool *kept,
	      double *ret_costs, double *ret_loss);
struct problem problem_quick(const struct problem *p); /* with QUICK_REFS at most */
/* The same, and which of them the rows determine: fills @ret's costs. @m has the prior's figures.
 */
int fit_identify(const struct row *rows, const double *ns, size_t n, const struct sim_machine *m,
		 double *ret_costs, struct calibration *ret);

/* --- axes.c --- */

enum { VALUES_MAX = 10 };
struct axis {
	char path[48]; /* of the figure that it sets */
	char with[48]; /* of a second one, "": none */
	unsigned kind, index;
	int64_t values[VALUES_MAX];
	size_t n;
};
/* The grid for a prior; axes that have fewer than two values are left out. */
size_t axes_make(const struct sim_machine *prior, const struct calibrate_hints *h,
		 struct axis ret[CALIBRATE_AXES_MAX]);
int64_t axis_get(const struct axis *a, const struct sim_machine *m);
/* Sets it, with the source; false: it makes no sense on @m, which is then unusable. */
bool axis_set(const struct axis *a, int64_t value, struct sim_machine *m, const char *source);
void axis_word(const struct axis *a, int64_t value, char buf[32]);

/* --- search.c --- */

/* Searches from *@m, which it replaces by the best structure; fills @ret's axes. */
int search_structure(const struct problem *p, const struct calibrate_hints *h,
		     struct sim_machine **m, struct calibration *ret, struct err *e);

#endif
