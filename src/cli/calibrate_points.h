/* SPDX-License-Identifier: MIT */
/* From runs to the points that a machine is fitted to, with what was left out and why. */
#ifndef PAGETOLL_CLI_CALIBRATE_POINTS_H
#define PAGETOLL_CLI_CALIBRATE_POINTS_H

#include "calibrate/calibrate.h"
#include "cli/cli.h"
#include "cli/predict_setup.h"
#include "record/run.h"

struct left_out {
	char why[200];
	size_t n; /* points */
};
struct calibrate_source {
	const struct run *run;
	const struct curve_points *curve;
	struct predict_side *side; /* owned */
};
struct calibrate_input {
	struct arena arena;
	struct run **runs; /* owned */
	size_t n_runs;
	struct calibrate_source *sources; /* by curve */
	struct calibrate_curve *curves;
	size_t n_curves, cap_sources, cap_curves;
	struct calibrate_point *points;
	size_t n_points, cap_points;
	struct left_out *left;
	size_t n_left, cap_left, n_left_points;
	bool nested_is_given, nested; /* by a word, or by the setting of predicted points */
};

/* Loads the runs. CLI_DONE, or the exit status after a message. */
int calibrate_load(const struct common *c, char *const *names, size_t n,
		   struct calibrate_input *ret);
/* Refuses runs of machines that differ. */
int calibrate_check_alike(const struct common *c, const struct calibrate_input *in);
/*
 * Makes curves and points for @prior, with the @n_model words of the model ("table-align=256k")
 * added to each setting. CLI_DONE, or the exit status after a message.
 */
int calibrate_gather(const struct common *c, const struct sim_machine *prior, char **model,
		     size_t n_model, uint64_t seed, struct calibrate_input *in);
/*
 * Entries of TLBs, and the clock (0: unknown), as the curves that are not held out show them.
 * -ENOMEM.
 */
int calibrate_hints(const struct calibrate_input *in, const struct sim_machine *m,
		    struct calibrate_hints *ret, double *ret_clock_hz);
void calibrate_input_done(struct calibrate_input *in);

#endif
