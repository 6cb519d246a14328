/* SPDX-License-Identifier: MIT */
/*
 * Every read of /proc, /sys and /boot goes through here, below a root that can be a recorded or an
 * invented machine. Paths have no leading slash: "sys/devices/system/node/online".
 */
#ifndef PAGETOLL_HOST_SYSROOT_H
#define PAGETOLL_HOST_SYSROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/units.h"

struct sysroot {
	const char *dir; /* borrowed; "/" for this machine */
	bool is_live;    /* true only for "/": system calls may be mixed in */
};

/* @dir NULL or "/": this machine. -ENOTDIR or -ENOENT with the path otherwise. */
int sysroot_init(struct sysroot *sr, const char *dir, struct err *e);

/* Opens for reading (files that are no text: pagemap). -errno of open(), with the path in the
 * message. */
int sysroot_open(const struct sysroot *sr, const char *path, int *ret_fd, struct err *e);

/*
 * Whole file as a NUL-terminated malloc()ed string (at most 16 MiB; /proc files report size 0),
 * trailing newline kept. -errno of open() or read(), with the path in the message.
 */
int sysroot_read(const struct sysroot *sr, const char *path, char **ret_text, size_t *ret_n,
		 struct err *e);
/* The first line without the newline, into a fixed buffer; -EMSGSIZE if it does not fit. */
int sysroot_read_line(const struct sysroot *sr, const char *path, char *buf, size_t bytes,
		      struct err *e);
/* One unsigned decimal number (leading blanks and a trailing newline allowed). */
int sysroot_read_u64(const struct sysroot *sr, const char *path, uint64_t *ret_value,
		     struct err *e);
/* A kernel list such as "0-3,8". */
int sysroot_read_list(const struct sysroot *sr, const char *path, struct u32_list *ret_list,
		      struct err *e);
/* "key: 123 kB" lines (meminfo, status): the value of @key in bytes (kB scaled) or as it is. */
int sysroot_read_key(const struct sysroot *sr, const char *path, const char *key,
		     uint64_t *ret_value, struct err *e);
/* The word in brackets: "always [madvise] never" -> "madvise". */
int sysroot_read_choice(const struct sysroot *sr, const char *path, char *buf, size_t bytes,
			struct err *e);
/* Where a symbolic link leads, as text; -EMSGSIZE if it does not fit, -errno of readlink(). */
int sysroot_read_link(const struct sysroot *sr, const char *path, char *buf, size_t bytes,
		      struct err *e);
bool sysroot_exists(const struct sysroot *sr, const char *path);
/*
 * Names in a directory that start with @prefix followed by a number ("node" -> node0, node8): the
 * numbers, ascending. An absent directory gives an empty list and -ENOENT.
 */
int sysroot_list_ids(const struct sysroot *sr, const char *dir, const char *prefix,
		     struct u32_list *ret_ids, struct err *e);

#endif
