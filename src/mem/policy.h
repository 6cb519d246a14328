/* SPDX-License-Identifier: MIT */
/*
 * Memory policies by direct system calls. Who decides what (checked on Linux 6.1, 6.12 and arm64 in
 * virtual machines with several nodes): the policy of the faulting *task* places page tables, and
 * data too unless the *mapping* has a policy of its own (mbind), which never touches page tables.
 * Page tables never move.
 */
#ifndef PAGETOLL_MEM_POLICY_H
#define PAGETOLL_MEM_POLICY_H

#include <stddef.h>
#include <stdint.h>

/* All return 0 or a negative errno (-ENOSYS: kernel without NUMA, -EPERM: denied by a filter). */
int policy_bind_mapping(void *base, size_t bytes, uint32_t node); /* mbind(MPOL_BIND) */
int policy_bind_task(uint32_t node);                              /* set_mempolicy(MPOL_BIND) */
int policy_reset_task(void);                                      /* set_mempolicy(MPOL_DEFAULT) */
/* Node of each page, negative errno where not mapped: move_pages() without nodes. */
int policy_page_nodes(void *const *pages, size_t n, int *ret_nodes);

#endif
