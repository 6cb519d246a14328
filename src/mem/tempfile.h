/* SPDX-License-Identifier: MIT */
/* A file without a name, in the folder of TMPDIR or /tmp: it vanishes with its last descriptor. */
#ifndef PAGETOLL_MEM_TEMPFILE_H
#define PAGETOLL_MEM_TEMPFILE_H

#include <stdint.h>

#include "base/err.h"

struct tempfile {
	int fd;              /* owned; -1: none */
	char folder[256];    /* where it lies */
	char filesystem[32]; /* "ext4", "tmpfs", or the number that statfs() gives */
};

#define TEMPFILE_NONE ((struct tempfile){ .fd = -1 })

/*
 * Creates it and writes @bytes of zeroes, so that its pages are in the page cache. -ENOSPC and
 * other errno of the calls, with the folder and the remedy.
 */
int tempfile_create(uint64_t bytes, struct tempfile *ret, struct err *e);
/* Accepts TEMPFILE_NONE. */
void tempfile_done(struct tempfile *t);

#endif
