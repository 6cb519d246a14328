/* SPDX-License-Identifier: MIT */
/* The bytes of objects that measured programs load; each is a whole shared library. */
#ifndef PAGETOLL_PRELOAD_PRELOAD_H
#define PAGETOLL_PRELOAD_PRELOAD_H

#include <stddef.h>

extern const unsigned char preload_prefault[]; /* prefault.c */
extern const size_t preload_prefault_bytes;

#endif
