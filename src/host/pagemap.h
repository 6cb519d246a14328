/* SPDX-License-Identifier: MIT */
/*
 * Frames behind this process's own pages. Source: Documentation/admin-guide/mm/pagemap.rst (bit 63
 * present, bits 0 to 54 frame number, read as 0 without CAP_SYS_ADMIN).
 */
#ifndef PAGETOLL_HOST_PAGEMAP_H
#define PAGETOLL_HOST_PAGEMAP_H

#include <stdint.h>

#include "base/err.h"

/* A descriptor for pagemap_frame(), to be closed. -errno of open(). */
int pagemap_open(int *ret_fd, struct err *e);
/* -ENXIO: no page is mapped there, -EPERM: the kernel hides the number, -errno of the read. */
int pagemap_frame(int fd, const void *address, uint64_t *ret_frame);

#endif
