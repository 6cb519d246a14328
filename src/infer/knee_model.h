/* SPDX-License-Identifier: MIT */
/*
 * Inside the knee finder: a cost curve as a sum of non-negative components, fitted by least squares
 * of relative residuals. Used by the knee_*.c files only.
 *
 *   y(x) = t0 + sum over components of p * shape(x)
 */
#ifndef PAGETOLL_INFER_KNEE_MODEL_H
#define PAGETOLL_INFER_KNEE_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "infer/knee.h"

enum comp_kind {
	COMP_HINGE,    /* max(0, 1 - (c / x)^sharp): a full structure with some replacement */
	COMP_STEP,     /* x > c: least recently used under a cyclic order */
	COMP_OVERFLOW, /* share of pages in overfull sets, `sharp` ways, random page colours */
	COMP_LOG,      /* log(x / x[0]): drift */
	COMP_POWER,    /* (x / x[n-1])^(1/sharp): drift that grows faster */
	COMP_KINDS
};

enum {
	COMPS_MAX = 8,
	ALLOW_HINGE = 1 << COMP_HINGE,
	ALLOW_STEP = 1 << COMP_STEP,
	ALLOW_SMOOTH = 1 << COMP_OVERFLOW | 1 << COMP_LOG | 1 << COMP_POWER,
};

struct comp {
	enum comp_kind kind;
	unsigned sharp;
	double c; /* HINGE, STEP, OVERFLOW: the capacity */
	double p; /* after model_fit(): the cost it adds at most, in the unit of y */
};

struct model {
	struct comp v[COMPS_MAX];
	size_t n;
	double t0;
	double rss; /* of log(y / fit) over the points in use */
	double bic;
};

enum { OVERFLOW_KINDS = 4, OVERFLOW_STEPS = 512 };

/* A curve prepared for fitting. Memory owned, ended by curve_data_done(). */
struct curve_data {
	const double *x, *y; /* borrowed; y by curve_data_set_y() */
	size_t n;
	double *log_x, *inverse_x, *root_x;
	double *log_y;
	double *iso;    /* isotonic fit of y */
	double *weight; /* 1 / iso; 0: a disturbed point, left out */
	double *target; /* weight * y */
	size_t n_used;
	double sigma;    /* noise of log y, from the isotonic residuals */
	double *basis;   /* scratch: (COMPS_MAX + 1) x n orthonormal columns */
	double *rest;    /* scratch: what is left of y outside the basis */
	double *column;  /* scratch */
	double *rows;    /* scratch: n x (COMPS_MAX + 1) */
	double *overful; /* COMP_OVERFLOW by ways and log(x / c), in steps */
	double *memory;
};

int curve_data_init(struct curve_data *d, const double *x, size_t n);
int curve_data_set_y(struct curve_data *d, const double *y);
void curve_data_done(struct curve_data *d);

static inline bool comp_is_knee(const struct comp *c)
{
	return c->kind == COMP_HINGE || c->kind == COMP_STEP;
}

/* The component's shape at one x, between 0 and 1 for all but COMP_LOG. */
double comp_at(const struct curve_data *d, const struct comp *c, double x);
double model_at(const struct curve_data *d, const struct model *m, double x);

/* Fits the costs (t0 and all p) at fixed capacities; fills rss and bic. 0, or as stats_nnls(). */
int model_fit(struct curve_data *d, struct model *m);
/* Number of free parameters, for BIC and degrees of freedom. */
double model_params(const struct model *m);

/*
 * Linear part without component @skip (m->n: none), prepared for trying columns in its place:
 * residual sum of squares when @c is added to it is scan_rss().
 */
struct scan {
	size_t n_basis;
	double rss; /* without any further component */
};
void scan_begin(struct curve_data *d, const struct model *m, size_t skip, struct scan *ret);
double scan_rss(struct curve_data *d, const struct scan *s, const struct comp *c);

/* Moves each capacity, one after the other, to its best place near where it is. */
void model_refine(struct curve_data *d, struct model *m, unsigned sweeps);
/* The same for one component within [low, high]; returns the least RSS. */
double model_refine_one(struct curve_data *d, struct model *m, size_t k, double low, double high);

/* Best model by BIC made of the kinds in @allow, searched stepwise from @start (may be empty). */
void model_search(struct curve_data *d, unsigned allow, const struct model *start,
		  struct model *ret);
/* Step models by optimal segmentation of log y as starts, then model_search(). 0 or -ENOMEM. */
int model_search_steps(struct curve_data *d, struct model *ret);

/* Index of the last point with x <= c (0 when there is none). */
size_t curve_below(const struct curve_data *d, double c);

/* One knee: the knee components with capacities from that of @first to that of @last. */
struct knee_group {
	size_t first, last;
};
/* Ascending; returns how many. */
size_t groups_find(const struct curve_data *d, const struct model *m, struct knee_group *ret,
		   size_t max);
bool group_is_step(const struct model *m, const struct knee_group *g);
/* Cost just before it, and what was reached behind it before the next one (or the end). */
void group_levels(const struct curve_data *d, const struct model *m, const struct knee_group *g,
		  double *ret_before, double *ret_after);
/* Its capacity, and the gap between points in which that lies. */
double group_locate(const struct curve_data *d, const struct model *m, const struct knee_group *g,
		    double *ret_low, double *ret_high);

/* Capacities of component @at at which the fit is not worse than noise allows. */
void interval_profile(struct curve_data *d, const struct model *m, size_t at, double *ret_low,
		      double *ret_high);
/* Widens the intervals of all knees by a bootstrap over the replicates. 0 or -ENOMEM. */
int interval_replicates(const struct knee_curve *c, const struct model *m,
			const struct knee_group *groups, struct knees *k);

#endif
