/* SPDX-License-Identifier: MIT */
/* What a calibration found, as text and as JSON. */
#ifndef PAGETOLL_CLI_CALIBRATE_PRINT_H
#define PAGETOLL_CLI_CALIBRATE_PRINT_H

#include "cli/calibrate_points.h"

struct calibrate_about {
	const struct calibrate_input *in;
	const struct calibration *c;
	const char *prior, *why_prior; /* why: "" where it was named */
	double clock_hz;               /* as the runs show it; 0: they do not */
	double seconds;                /* that it took */
	const char *path;              /* of the machine; NULL: not written */
};
void calibrate_print(struct str *out, const struct calibrate_about *a);
json_t *calibrate_json(const struct calibrate_about *a); /* NULL: no memory */

#endif
