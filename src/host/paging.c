/* SPDX-License-Identifier: MIT */
/*
 * Levels of page tables in use, by asking for addresses. Left out: architectures whose tables grow
 * with a process (s390) or whose width says nothing about the levels (POWER). Sources: widths of
 * addresses in Documentation/arch/x86/x86_64/mm.rst, arch/arm64/memory.rst and
 * arch/riscv/vm-layout.rst; arm64's levels from ARM64_HW_PGTABLE_LEVELS in
 * arch/arm64/include/asm/pgtable-hwdef.h; Linux 6.12.
 */
#include "host/paging.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/arch_cpuid.h"
#include "host/kernel_text.h"

/* A process's addresses have so many bits with so many levels; the wider of a kind first. */
static const struct width {
	const char *arch;
	unsigned page_shift, bits, levels;
} widths[] = {
	/* half of the canonical addresses is the kernel's */
	{ "x86_64", 12, 56, 5 },
	{ "x86_64", 12, 47, 4 },
	{ "riscv64", 12, 56, 5 },
	{ "riscv64", 12, 47, 4 },
	{ "riscv64", 12, 38, 3 },
	/* the kernel has a register and an address space of its own */
	{ "aarch64", 12, 52, 5 },
	{ "aarch64", 12, 48, 4 },
	{ "aarch64", 12, 39, 3 },
	{ "aarch64", 14, 52, 4 },
	{ "aarch64", 14, 48, 4 },
	{ "aarch64", 14, 47, 3 },
	{ "aarch64", 14, 36, 2 },
	{ "aarch64", 16, 52, 3 },
	{ "aarch64", 16, 48, 3 },
	{ "aarch64", 16, 42, 2 },
};

/*
 * An address in the upper half of those with @bits. Several places are tried: a hint is ignored
 * too where something is mapped already.
 */
static int reaches(unsigned bits, paging_try try, void *user, bool *ret_reaches)
{
	const uint64_t half = UINT64_C(1) << (bits - 1);

	for (unsigned i = 0; i < 4; i++) {
		uint64_t address;
		int rc = try(user, half + i * (half / 8), &address);

		if (rc < 0)
			return rc;
		if (address >= half) {
			*ret_reaches = true;
			return 0;
		}
	}
	*ret_reaches = false;
	return 0;
}

void paging_probe(const char *arch, uint64_t page_bytes, paging_try try, void *user,
		  struct paging *ret)
{
	bool is_known = false;

	*ret = (struct paging){ 0 };
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		const struct width *w = &widths[i];
		bool is_reached;
		int rc;

		if (strcmp(w->arch, arch) != 0 || UINT64_C(1) << w->page_shift != page_bytes)
			continue;
		is_known = true;
		rc = reaches(w->bits, try, user, &is_reached);
		if (rc < 0) {
			snprintf(ret->reason, sizeof(ret->reason), "probing by mmap: %s",
				 strerror(-rc));
			return;
		}
		if (is_reached) {
			ret->levels = w->levels;
			ret->address_bits = w->bits;
			return;
		}
	}
	if (is_known)
		snprintf(ret->reason, sizeof(ret->reason),
			 "mmap gave none of the addresses asked for");
	else
		snprintf(ret->reason, sizeof(ret->reason),
			 "no probe for %.20s with pages of %llu bytes", arch[0] ? arch : "?",
			 (unsigned long long)page_bytes);
}

struct live {
	uint64_t page_bytes;
};

static int try_mmap(void *user, uint64_t hint, uint64_t *ret_address)
{
	const struct live *l = user;
	void *p = mmap((void *)(uintptr_t)hint, l->page_bytes, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return -errno;
	*ret_address = (uint64_t)(uintptr_t)p;
	munmap(p, l->page_bytes);
	return 0;
}

void paging_probe_live(const char *arch, uint64_t page_bytes, struct paging *ret)
{
	struct live l = { .page_bytes = page_bytes };

	if (sizeof(void *) < sizeof(uint64_t)) {
		*ret = (struct paging){ .reason = "a program of 32 bits cannot probe it" };
		return;
	}
	paging_probe(arch, page_bytes, try_mmap, &l, ret);
}

unsigned paging_cpu_levels(const struct sysroot *sr, const char *arch, char *reason, size_t bytes)
{
	uint32_t regs[4];
	char *cpuinfo;
	bool has_flag;

	reason[0] = '\0';
	if (strcmp(arch, "x86_64") != 0) {
		snprintf(reason, bytes, "this architecture does not tell programs");
		return 0;
	}
	if (sr->is_live && arch_has_cpuid()) {
		arch_cpuid(0, 0, regs);
		if (regs[0] < 7)
			return 4;
		arch_cpuid(7, 0, regs);
		return regs[2] >> 16 & 1 ? 5 : 4;
	}
	if (sysroot_read(sr, "proc/cpuinfo", &cpuinfo, NULL, NULL) < 0) {
		snprintf(reason, bytes, "no /proc/cpuinfo");
		return 0;
	}
	has_flag = ktext_has_word(cpuinfo, "flags", "la57");
	free(cpuinfo);
	if (has_flag)
		return 5;
	snprintf(reason, bytes, "no flag la57 in /proc/cpuinfo, which no5lvl removes too");
	return 0;
}

int paging_boot_words(const struct sysroot *sr, char *buf, size_t bytes)
{
	static const char *const words[] = { "no5lvl", "no4lvl", "arm64.nolva" };
	char *text;
	size_t n = 0;
	int rc = sysroot_read(sr, "proc/cmdline", &text, NULL, NULL);

	if (rc < 0)
		return rc;
	for (const char *p = text; *p;) {
		size_t length = strcspn(p, " \t\n");

		/* What follows is for init. */
		if (length == 2 && !strncmp(p, "--", 2))
			break;
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
			if (strlen(words[i]) == length && !strncmp(words[i], p, length) &&
			    n + length + 2 < bytes)
				n += (size_t)snprintf(buf + n, bytes - n, "%s%s", n ? " " : "",
						      words[i]);
		p += length + (p[length] != '\0');
	}
	free(text);
	if (n == 0)
		snprintf(buf, bytes, "none");
	return 0;
}
