/* SPDX-License-Identifier: MIT */
/* Kernel constants that the C library's headers may lack (include/uapi of Linux 6.12). */
#ifndef PAGETOLL_MEM_LINUX_ABI_H
#define PAGETOLL_MEM_LINUX_ABI_H

#include <sys/mman.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#endif
