/* SPDX-License-Identifier: MIT */
/*
 * System calls for memory policies. Constants are the kernel's (include/uapi/linux/mempolicy.h);
 * Debian's C library has no wrappers.
 */
#include "mem/policy.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { POLICY_DEFAULT = 0, POLICY_BIND = 2 };
enum { BITS = 8 * sizeof(unsigned long) };

/* A mask with one bit, large enough for any node id that the kernel can have (MAX_NUMNODES <=
 * 1024). */
enum { MASK_WORDS = 1024 / BITS };

static int set_mask(unsigned long mask[MASK_WORDS], uint32_t node)
{
	if (node >= MASK_WORDS * BITS)
		return -EINVAL;
	for (size_t i = 0; i < MASK_WORDS; i++)
		mask[i] = 0;
	mask[node / BITS] = 1UL << (node % BITS);
	return 0;
}

int policy_bind_mapping(void *base, size_t bytes, uint32_t node)
{
	unsigned long mask[MASK_WORDS];
	int r = set_mask(mask, node);

	if (r < 0)
		return r;
	if (syscall(SYS_mbind, base, bytes, POLICY_BIND, mask, MASK_WORDS * BITS + 1, 0) < 0)
		return -errno;
	return 0;
}

int policy_bind_task(uint32_t node)
{
	unsigned long mask[MASK_WORDS];
	int r = set_mask(mask, node);

	if (r < 0)
		return r;
	if (syscall(SYS_set_mempolicy, POLICY_BIND, mask, MASK_WORDS * BITS + 1) < 0)
		return -errno;
	return 0;
}

int policy_reset_task(void)
{
	if (syscall(SYS_set_mempolicy, POLICY_DEFAULT, NULL, 0) < 0)
		return -errno;
	return 0;
}

int policy_page_nodes(void *const *pages, size_t n, int *ret_nodes)
{
	if (syscall(SYS_move_pages, 0, n, pages, NULL, ret_nodes, 0) < 0)
		return -errno;
	return 0;
}
