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

/* The name of the file system that holds @fd, "unknown" where it is not told. */
void tempfile_filesystem(int fd, char ret[32]);

#define TEMPFILE_NONE ((struct tempfile){ .fd = -1 })

enum { TEMPFILE_PIECE_BYTES = 1 << 20 };
/*
 * Creates it and writes @bytes of zeroes, @piece_bytes (at most TEMPFILE_PIECE_BYTES) at a time, so
 * that its pages are in the page cache; file systems with large folios make them as large as the
 * pieces. -ENOSPC and other errno of the calls, with the folder and the remedy.
 */
int tempfile_create(uint64_t bytes, uint64_t piece_bytes, struct tempfile *ret, struct err *e);
/* Accepts TEMPFILE_NONE. */
void tempfile_done(struct tempfile *t);

#endif
