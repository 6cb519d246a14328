/* SPDX-License-Identifier: MIT */
/* Bytes into a file descriptor. Leaves out what the descriptor is, and files with names. */
#ifndef PAGETOLL_BASE_IO_H
#define PAGETOLL_BASE_IO_H

#include <stddef.h>

/* Writes all @n bytes, in as many pieces as it takes. 0 or negative errno (-EIO: nothing went). */
int io_write_all(int fd, const char *data, size_t n);

#endif
