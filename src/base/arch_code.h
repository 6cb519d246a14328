/* SPDX-License-Identifier: MIT */
/*
 * Machine code that a program writes itself, and cache lines that it throws out: one jump a cache
 * line, a return at the end, and the instruction that flushes one line of its own memory. Left out:
 * making memory executable (mem/evict). Architectures without these answer false. Sources: Intel
 * SDM vol. 2 (JMP rel32, RET, CLFLUSH), Arm ARM DDI 0487 (B, RET, DC CIVAC; Linux lets user space
 * use it, arch/arm64/include/asm/sysreg.h: SCTLR_EL1.UCI).
 */
#ifndef PAGETOLL_BASE_ARCH_CODE_H
#define PAGETOLL_BASE_ARCH_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { ARCH_CODE_LINE = 64 }; /* bytes from one jump to the next */

#if defined(__x86_64__)
static inline bool arch_has_code(void)
{
	return true;
}

/* One jump to the next line, or the return. */
static inline void arch_write_line(unsigned char *line, bool last)
{
	const int32_t distance = ARCH_CODE_LINE - 5;

	memset(line, 0xcc, ARCH_CODE_LINE); /* int3: whatever goes astray stops */
	line[0] = last ? 0xc3 : 0xe9;
	if (!last)
		memcpy(line + 1, &distance, sizeof(distance));
}

static inline bool arch_has_flush(void)
{
	return true;
}

static inline void arch_flush_line(const void *at)
{
	__asm__ volatile("clflush %0\n\tmfence" : : "m"(*(const char *)at) : "memory");
}

/* All lines of a range, and one barrier behind them. */
static inline void arch_flush_lines(const void *base, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += ARCH_CODE_LINE)
		__asm__ volatile("clflush %0" : : "m"(((const char *)base)[at]) : "memory");
	__asm__ volatile("mfence" : : : "memory");
}
#elif defined(__aarch64__)
static inline bool arch_has_code(void)
{
	return true;
}

static inline void arch_write_line(unsigned char *line, bool last)
{
	const uint32_t stop = 0xd4200000; /* brk #0 */
	const uint32_t word = last ? 0xd65f03c0 : 0x14000000 | (ARCH_CODE_LINE / 4);

	for (size_t i = 0; i < ARCH_CODE_LINE; i += sizeof(stop))
		memcpy(line + i, &stop, sizeof(stop));
	memcpy(line, &word, sizeof(word));
}

static inline bool arch_has_flush(void)
{
	return true;
}

static inline void arch_flush_line(const void *at)
{
	__asm__ volatile("dc civac, %0\n\tdsb sy" : : "r"(at) : "memory");
}

static inline void arch_flush_lines(const void *base, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += ARCH_CODE_LINE)
		__asm__ volatile("dc civac, %0" : : "r"((const char *)base + at) : "memory");
	__asm__ volatile("dsb sy" : : : "memory");
}
#else
static inline bool arch_has_code(void)
{
	return false;
}

static inline void arch_write_line(unsigned char *line, bool last)
{
	(void)line;
	(void)last;
}

static inline bool arch_has_flush(void)
{
	return false;
}

static inline void arch_flush_line(const void *at)
{
	(void)at;
}

static inline void arch_flush_lines(const void *base, size_t bytes)
{
	(void)base;
	(void)bytes;
}
#endif

#endif
