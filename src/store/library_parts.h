/* SPDX-License-Identifier: MIT */
/* Finding a run by a name in the folder of the library. Inside store/ only. */
#ifndef PAGETOLL_STORE_LIBRARY_PARTS_H
#define PAGETOLL_STORE_LIBRARY_PARTS_H

#include <stdbool.h>

#include "base/err.h"

#define LIBRARY_SUFFIX ".pagetoll.jsonl"

/* "last", "last~N", "baseline": words that name a run and cannot be its id or label. */
bool library_is_word(const char *name);

/*
 * The file of the one run that @name means: such a word, a label, an id or the unique beginning of
 * one. *ret_path is malloc()ed. -ENOENT: none (with near names, and what to do); -EEXIST: several
 * (with them).
 */
int library_find(const char *dir, const char *name, char **ret_path, struct err *e);

#endif
