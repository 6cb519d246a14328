/* SPDX-License-Identifier: MIT */
/* The memory node that holds the kernel's text. */
#ifndef PAGETOLL_HOST_KERNEL_HOME_H
#define PAGETOLL_HOST_KERNEL_HOME_H

#include <stdint.h>

#include "base/err.h"
#include "host/sysroot.h"

struct kernel_home {
	int64_t node;
	uint64_t first, last; /* physical addresses, 0 where they were not needed */
	const char *source;   /* static: how it is known */
};

/*
 * One node: that one. Several: the node of the memory block in which "Kernel code" of /proc/iomem
 * begins. -EACCES: addresses are hidden (not root). -ENODATA: no memory blocks, or no such row.
 */
int kernel_home_read(const struct sysroot *sr, struct kernel_home *ret, struct err *e);

/* The row "Kernel code" of /proc/iomem's text. -ENODATA: none, -EACCES: zeros, -EINVAL. */
int kernel_home_parse(const char *iomem, uint64_t *ret_first, uint64_t *ret_last);

#endif
