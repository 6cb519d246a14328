/* SPDX-License-Identifier: MIT */
/*
 * Invented machines for tests: one text file holds a whole tree of /proc and /sys.
 *
 *   # comment                       (between files only)
 *   = PATH | LINE                   a file of one line
 *   == PATH                         a file of all lines up to the next = == --
 *   -- PATH                         an empty folder
 *
 * A PATH may have one range {A-B}: the line stands for all numbers n in it. In PATH (after the
 * range) and LINE, {n} is the number, {n/K} and {n%K} quotient and rest, {mask:K} the kernel's
 * hexadecimal mask of the K CPUs from n - n%K on. {mask:K+S*T} is the mask of the group of K CPUs
 * that n%S is in, T times, each S further: threads of a core that are numbered half a machine
 * apart.
 */
#ifndef PAGETOLL_TESTS_TREE_H
#define PAGETOLL_TESTS_TREE_H

#include <stddef.h>

/* Creates the tree of @file below the existing folder @dir. 0, or a negative errno with @msg. */
int tree_unpack(const char *file, const char *dir, char *msg, size_t msg_bytes);
/* The same from text; @name is for messages. */
int tree_unpack_text(const char *name, const char *text, const char *dir, char *msg,
		     size_t msg_bytes);
/* Into a new folder of its own, which is returned (owned); NULL with @msg. */
char *tree_unpack_temp(const char *file, char *msg, size_t msg_bytes);
/* Removes a folder with all that is in it. */
void tree_remove(const char *dir);

#endif
