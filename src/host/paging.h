/* SPDX-License-Identifier: MIT */
/*
 * How many levels of page tables a process's addresses go through in this boot. Probed, because
 * flags tell what was found or allowed, not what is walked: an address that only a deeper table can
 * translate is asked for, and either given or not.
 */
#ifndef PAGETOLL_HOST_PAGING_H
#define PAGETOLL_HOST_PAGING_H

#include <stdbool.h>
#include <stdint.h>

#include "host/sysroot.h"

struct paging {
	unsigned levels;       /* in use; 0: unknown, see reason */
	unsigned address_bits; /* of a process's addresses, 0: unknown */
	char reason[112];      /* why unknown, "" if known */
};

/*
 * Asks for a page at or near @hint, as mmap() does without MAP_FIXED, and gives it back: the
 * address that it got in @ret_address. 0 or negative errno.
 */
typedef int (*paging_try)(void *user, uint64_t hint, uint64_t *ret_address);

/*
 * What the answers of @try mean on @arch (as uname says it) with base pages of @page_bytes. Pure:
 * machines of any kind can be invented. The kernel gives addresses beyond the common width only to
 * those who ask for them (Documentation/arch/x86/x86_64/5level-paging.rst,
 * arch/arm64/memory.rst, arch/riscv/vm-layout.rst), and ignores hints that it cannot honour.
 */
void paging_probe(const char *arch, uint64_t page_bytes, paging_try try, void *user,
		  struct paging *ret);

/* The same with mmap() itself. */
void paging_probe_live(const char *arch, uint64_t page_bytes, struct paging *ret);

/*
 * Levels that the processor could walk, whatever the boot made of it: 0 and a reason where it
 * cannot be told. x86-64 only; CPUID, or the flag la57 of a recorded /proc/cpuinfo (which proves
 * five levels by being there, and nothing by being absent: no5lvl removes it).
 */
unsigned paging_cpu_levels(const struct sysroot *sr, const char *arch, char *reason, size_t bytes);

/*
 * The words of the kernel's command line that limit the levels ("no5lvl"), "none" without such a
 * word. -errno of the file.
 */
int paging_boot_words(const struct sysroot *sr, char *buf, size_t bytes);

#endif
