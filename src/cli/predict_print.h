/* SPDX-License-Identifier: MIT */
/* Predictions as text. */
#ifndef PAGETOLL_CLI_PREDICT_PRINT_H
#define PAGETOLL_CLI_PREDICT_PRINT_H

#include "base/str.h"
#include "record/run.h"
#include "sim/sim.h"

/* Machine and settings, a row for each point, and where the last point's time went. */
void predict_print(struct str *out, const struct run *r, const struct sim_machine *m);
/* The described machines that the program knows. */
void predict_print_machines(struct str *out);

#endif
