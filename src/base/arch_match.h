/* SPDX-License-Identifier: MIT */
/*
 * Which of 16 bytes equal one: a bit for each, in one comparison where the architecture has it.
 */
#ifndef PAGETOLL_BASE_ARCH_MATCH_H
#define PAGETOLL_BASE_ARCH_MATCH_H

#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>

static inline uint32_t arch_match16(const uint8_t bytes[16], uint8_t want)
{
	const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)bytes);

	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8((char)want)));
}
#else
/* Bytes of zero become bits: no carry leaves a byte, so that none is found in vain. */
static inline uint32_t arch_zero_bytes(uint64_t v)
{
	const uint64_t low = 0x7f7f7f7f7f7f7f7fu;
	const uint64_t tops = ~(((v & low) + low) | v | low);

	return (uint32_t)((tops >> 7) * 0x0102040810204080u >> 56);
}

/* As a little-endian machine loads them; compilers make one load of it where that is true. */
static inline uint64_t arch_eight_bytes(const uint8_t *b)
{
	return (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24 |
	       (uint64_t)b[4] << 32 | (uint64_t)b[5] << 40 | (uint64_t)b[6] << 48 |
	       (uint64_t)b[7] << 56;
}

static inline uint32_t arch_match16(const uint8_t bytes[16], uint8_t want)
{
	const uint64_t all = want * 0x0101010101010101u;

	return arch_zero_bytes(arch_eight_bytes(bytes) ^ all) |
	       arch_zero_bytes(arch_eight_bytes(bytes + 8) ^ all) << 8;
}
#endif

#endif
