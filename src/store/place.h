/* SPDX-License-Identifier: MIT */
/*
 * What kind of file system a folder is on. Inside store/ and its tests only.
 */
#ifndef PAGETOLL_STORE_PLACE_H
#define PAGETOLL_STORE_PLACE_H

#include <stdbool.h>
#include <sys/vfs.h>

#include "base/err.h"
#include "store/index.h"

/* statfs(2), or what a test puts in its place. */
typedef int (*statfs_fn)(const char *path, struct statfs *ret);

/*
 * Whether several machines may see the folder, so that shared memory and locks of this kernel do
 * not protect a file there. Unknown kinds, and a folder that cannot be asked, count as local.
 */
bool place_is_network(const char *dir, statfs_fn ask);

/* index_open() that asks @ask for the file system. */
int index_open_asking(const char *library_dir, statfs_fn ask, struct index **ret,
		      const char **ret_note, struct err *e);

#endif
