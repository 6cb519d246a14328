/* SPDX-License-Identifier: MIT */
/*
 * Fits a described machine to measured points: structure by a search over a stated grid, costs by
 * non-negative least squares (time is counts times costs, sim/sim.h), weighted by 1/time^2, so that
 * what is minimised is the relative error. Whole curves are held out and never enter the fit.
 * docs/model.md ("Calibrating") says what that can tell and what not. Pure but for its threads; the
 * same points, prior and seed give the same machine, unless the budget of time ends the search.
 *
 * Leaves out: what the settings of a run mean (the caller resolves them), and files.
 */
#ifndef PAGETOLL_CALIBRATE_CALIBRATE_H
#define PAGETOLL_CALIBRATE_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "predict/predict.h"

/* A measured point and the setting that it was measured at. */
struct calibrate_point {
	struct predict_setting setting; /* borrowed */
	struct predict_model model;     /* its machine and seed are replaced */
	double ns;                      /* measured, of predict_point()'s first metric; > 0 */
	uint64_t table_bytes;           /* of page tables behind it; 0: unknown */
	size_t curve;                   /* index of its curve */
};

struct calibrate_curve {
	const char *name; /* "tlb.chase stride=page", borrowed */
	bool held_out;
};

/* What the search may try, beside what it derives from the prior. */
struct calibrate_hints {
	/* Entries of TLBs by level that the runs' curves show (of curves that are not held out). */
	uint32_t tlb_entries[SIM_TLB_LEVELS]; /* 0: unknown */
	bool nested_is_given; /* the caller decided; else it is searched for where may_be_guest */
	bool may_be_guest;
};

enum { CALIBRATE_AXES_MAX = 40, CALIBRATE_COLUMNS = 16, CALIBRATE_WORDS = 96 };

struct calibrate_options {
	uint64_t seed;
	double seconds;      /* for the structure; <= 0: no search */
	uint64_t refs;       /* of a simulation, at least; 0: as many as `predict` takes */
	unsigned threads;    /* 0: one */
	const char *source;  /* of fitted figures: "calibrated: from run 01m8..." */
	double (*now)(void); /* seconds of a monotonic clock; NULL: the budget never ends */
	void (*progress)(void *user, const char *what, size_t done, size_t all, double error);
	void *user;
};

/* What became of one figure of cost. */
enum calibrate_fate {
	CALIBRATE_FITTED,
	CALIBRATE_NEVER,     /* no fitted point exercises it: at its prior */
	CALIBRATE_COLLINEAR, /* not told apart from `with`: at its prior */
	CALIBRATE_VAGUE,     /* exercised too little to be told: at its prior */
	CALIBRATE_DISORDER,  /* came out below the level before it: at its prior */
};
struct calibrate_cost {
	char path[48], with[48];    /* "caches[1].hit_cycles" */
	const char *unit;           /* "cycles", "ns" */
	double prior, value, error; /* error: standard error of the fit, NaN: none */
	double share;               /* largest share of any fitted point's time */
	enum calibrate_fate fate;
};

/* One axis of the grid of structures. */
struct calibrate_axis {
	char path[48];
	char prior[CALIBRATE_WORDS], value[CALIBRATE_WORDS]; /* as in a machine file */
	char tried[CALIBRATE_WORDS];                         /* all values */
	char alike[CALIBRATE_WORDS]; /* others that fit as well; "": it is determined */
	bool changed;
	bool determined; /* every other value fits worse */
};

/* Errors of the points of a curve: mean and worst |predicted / measured - 1|. */
struct calibrate_error {
	size_t n;
	double mean, worst;
	uint64_t from, to; /* inner values */
};

struct calibration {
	struct arena arena;
	struct sim_machine *machine; /* owned */
	struct calibrate_cost costs[CALIBRATE_COLUMNS];
	size_t n_costs;
	struct calibrate_axis axes[CALIBRATE_AXES_MAX];
	size_t n_axes;
	/* by curve: where tables stay in the last-level cache, and beyond */
	struct calibrate_error *inside, *beyond;
	struct calibrate_error prior_in, prior_out; /* of the prior, on the same points */
	struct calibrate_error in, out, past;       /* fitted, held out, beyond (all curves) */
	double *predicted;                          /* by point, ns */
	bool *is_beyond;                            /* by point */
	uint64_t llc_bytes;
	size_t tried;     /* structures */
	bool search_done; /* false: the budget ended it */
};

/*
 * -EINVAL: fewer than three points to fit, or a point that cannot be
 * predicted on @prior (says which); -ENOMEM. @ret is large; calibration_done() after success.
 */
int calibrate(const struct sim_machine *prior, const struct calibrate_point *points, size_t n,
	      const struct calibrate_curve *curves, size_t n_curves,
	      const struct calibrate_hints *hints, const struct calibrate_options *o,
	      struct calibration *ret, struct err *e);
void calibration_done(struct calibration *c);
/* Adds a source that figures can name, or changes its text. -ENOMEM. */
int calibrate_add_source(struct sim_machine *m, const char *key, const char *text);

/*
 * Chooses curves to hold out, a third at most, none of a single one: of those in order whose every
 * part of the time (as @prior predicts it) some curve that stays has too. Measured times play no
 * part. -EINVAL, -ENOMEM.
 */
int calibrate_hold_out(const struct sim_machine *prior, const struct calibrate_point *points,
		       size_t n, struct calibrate_curve *curves, size_t n_curves,
		       const struct calibrate_options *o, struct err *e);

#endif
