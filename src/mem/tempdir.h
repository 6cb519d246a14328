/* SPDX-License-Identifier: MIT */
/*
 * A folder of files for a measurement, in the folder of TMPDIR or /tmp. It goes with this process,
 * however that ends: a small process of its own waits for the end and removes it.
 */
#ifndef PAGETOLL_MEM_TEMPDIR_H
#define PAGETOLL_MEM_TEMPDIR_H

#include <sys/types.h>

#include "base/err.h"

struct tempdir {
	char path[512]; /* "": none */
	int alive;      /* owned: end of a pipe whose closing removes the folder */
	pid_t keeper;
};

/* -errno of the calls, with the folder and the remedy. */
int tempdir_create(struct tempdir *ret, struct err *e);
/* Removes it with all that is in it, and waits until it is gone. Accepts an all-zero one. */
void tempdir_done(struct tempdir *t);

#endif
