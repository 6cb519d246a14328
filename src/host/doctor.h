/* SPDX-License-Identifier: MIT */
/*
 * What here disturbs or forbids measuring, each with its effect and the exact remedy. The same
 * findings stand in the header of every run. Privileged interfaces are probed once, live machine
 * only.
 */
#ifndef PAGETOLL_HOST_DOCTOR_H
#define PAGETOLL_HOST_DOCTOR_H

#include "base/err.h"
#include "host/machine.h"
#include "host/sysroot.h"
#include "record/run.h"

/* Appends findings to @r, worst first. 0 or -ENOMEM. */
int doctor_examine(const struct sysroot *sr, const struct machine *m, struct run *r, struct err *e);

/* Fills r->fingerprint (must match for A/B), r->context and r->boot_id. 0 or -ENOMEM. */
int fingerprint_read(const struct sysroot *sr, const struct machine *m, struct run *r,
		     struct err *e);

#endif
