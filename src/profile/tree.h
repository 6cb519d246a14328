/* SPDX-License-Identifier: MIT */
/*
 * Looks at all processes below one: how many there are, their resident memory and their page
 * tables, at one moment. Sums count a shared page once for each process that has it; page tables
 * are what every process has of its own (all levels, VmPTE).
 */
#ifndef PAGETOLL_PROFILE_TREE_H
#define PAGETOLL_PROFILE_TREE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/units.h"
#include "host/sysroot.h"

struct tree_look {
	size_t n;                  /* processes with memory; a zombie has none */
	uint64_t resident_bytes;   /* sum of VmRSS */
	uint64_t page_table_bytes; /* sum of VmPTE */
	uint64_t largest_bytes;    /* the largest VmHWM: the most that one process ever had */
};

/*
 * The children of @root right now, ascending; u32_list_done(). 0, -ENOMEM, or -ENOSYS as below.
 */
int tree_children(const struct sysroot *sr, pid_t root, struct u32_list *ret_children);

/*
 * The descendants of @root, without @root itself, and without those of @strangers (NULL: none) and
 * what is below them. Processes that end meanwhile are left out. 0, or
 * -ENOMEM; -ENOSYS: the machine does not tell children (no CONFIG_PROC_CHILDREN) nor list /proc.
 */
int tree_look(const struct sysroot *sr, pid_t root, const struct u32_list *strangers,
	      struct tree_look *ret);

#endif
