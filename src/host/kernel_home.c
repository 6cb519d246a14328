/* SPDX-License-Identifier: MIT */
/*
 * Where the kernel's text lies: its physical addresses, and the node of that memory block. Left
 * out: modules, and copies that a replicating kernel makes. Sources: kernel/resource.c (zeros for
 * those without CAP_SYS_ADMIN) and Documentation/admin-guide/mm/memory-hotplug.rst (memory blocks,
 * block_size_bytes in hexadecimal) of Linux 6.18.
 */
#include "host/kernel_home.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Hexadecimal digits at *@pp, behind which it is moved. */
static int read_hex(const char **pp, uint64_t *ret_value)
{
	const char *p = *pp;
	uint64_t v = 0;

	for (;; p++) {
		int d = *p >= '0' && *p <= '9'   ? *p - '0'
			: *p >= 'a' && *p <= 'f' ? *p - 'a' + 10
						 : -1;

		if (d < 0)
			break;
		if (v >> 60)
			return -EINVAL;
		v = v << 4 | (uint64_t)d;
	}
	if (p == *pp)
		return -EINVAL;
	*pp = p;
	*ret_value = v;
	return 0;
}

int kernel_home_parse(const char *iomem, uint64_t *ret_first, uint64_t *ret_last)
{
	static const char name[] = " : Kernel code";

	for (const char *line = iomem; line; line = strchr(line, '\n')) {
		const char *p;
		uint64_t first, last;

		line += *line == '\n';
		p = line + strspn(line, " ");
		if (read_hex(&p, &first) < 0 || *p++ != '-' || read_hex(&p, &last) < 0)
			continue;
		if (strncmp(p, name, sizeof(name) - 1) ||
		    (p[sizeof(name) - 1] && p[sizeof(name) - 1] != '\n'))
			continue;
		if (!first && !last)
			return -EACCES;
		if (last < first)
			return -EINVAL;
		*ret_first = first;
		*ret_last = last;
		return 0;
	}
	return -ENODATA;
}

static int read_addresses(const struct sysroot *sr, struct kernel_home *h, struct err *e)
{
	char *text;
	int rc = sysroot_read(sr, "proc/iomem", &text, NULL, e);

	if (rc < 0)
		return rc;
	rc = kernel_home_parse(text, &h->first, &h->last);
	free(text);
	if (rc == -EACCES)
		return err_set(
			e, EACCES,
			"/proc/iomem hides the kernel's addresses: needs root (CAP_SYS_ADMIN)");
	if (rc < 0)
		return err_set(e, -rc, "/proc/iomem has no usable row \"Kernel code\"");
	return 0;
}

static int read_block_bytes(const struct sysroot *sr, uint64_t *ret_bytes, struct err *e)
{
	char line[64];
	const char *p = line;
	int rc = sysroot_read_line(sr, "sys/devices/system/memory/block_size_bytes", line,
				   sizeof(line), NULL);

	if (rc < 0 || read_hex(&p, ret_bytes) < 0 || *p || !*ret_bytes)
		return err_set(e, ENODATA,
			       "this kernel tells no memory blocks "
			       "(/sys/devices/system/memory/block_size_bytes)");
	return 0;
}

static int find_block(const struct sysroot *sr, const struct u32_list *nodes, uint64_t block,
		      struct kernel_home *h, struct err *e)
{
	char path[128];

	for (size_t i = 0; i < nodes->n; i++) {
		snprintf(path, sizeof(path), "sys/devices/system/node/node%u/memory%llu",
			 nodes->v[i], (unsigned long long)block);
		if (sysroot_exists(sr, path)) {
			h->node = nodes->v[i];
			return 0;
		}
	}
	return err_set(e, ENODATA, "no node has memory block %llu, which holds the kernel's code",
		       (unsigned long long)block);
}

int kernel_home_read(const struct sysroot *sr, struct kernel_home *ret, struct err *e)
{
	struct kernel_home h = { 0 };
	struct u32_list nodes = { 0 };
	uint64_t block_bytes = 0;
	int rc;

	if (sysroot_list_ids(sr, "sys/devices/system/node", "node", &nodes, NULL) < 0 ||
	    nodes.n <= 1) {
		h.node = nodes.n ? nodes.v[0] : 0;
		h.source = "the only node";
		u32_list_done(&nodes);
		*ret = h;
		return 0;
	}
	rc = read_addresses(sr, &h, e);
	if (rc == 0)
		rc = read_block_bytes(sr, &block_bytes, e);
	if (rc == 0)
		rc = find_block(sr, &nodes, h.first / block_bytes, &h, e);
	u32_list_done(&nodes);
	if (rc < 0)
		return rc;
	h.source = "/proc/iomem and memory blocks";
	*ret = h;
	return 0;
}
