/* SPDX-License-Identifier: MIT */
/*
 * The CPUID instruction of x86; on other architectures there is none. Left out: what leaves mean
 * (host/advertised, host/machine_identity). Hybrid processors answer for the core that asks.
 */
#ifndef PAGETOLL_BASE_ARCH_CPUID_H
#define PAGETOLL_BASE_ARCH_CPUID_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

static inline bool arch_has_cpuid(void)
{
	return true;
}

/* @regs: eax, ebx, ecx, edx. */
static inline void arch_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
{
	__cpuid_count(leaf, subleaf, regs[0], regs[1], regs[2], regs[3]);
}
#else
static inline bool arch_has_cpuid(void)
{
	return false;
}

static inline void arch_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
{
	(void)leaf;
	(void)subleaf;
	regs[0] = regs[1] = regs[2] = regs[3] = 0;
}
#endif

#endif
