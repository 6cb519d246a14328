/* SPDX-License-Identifier: MIT */
/*
 * Sixteen bytes at once, in few instructions where the architecture has them: which equal one (a
 * bit for each), and the ages of the ways of a set (0: the youngest; bytes that are no way: 127).
 */
#ifndef PAGETOLL_BASE_ARCH_MATCH_H
#define PAGETOLL_BASE_ARCH_MATCH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A function ARCH_MATCH_WIDE is compiled with instructions that not every computer of the
 * architecture has (x86-64: AVX2, BMI; they need fewer to spread a byte, and to find a bit): only
 * to be called where arch_match_is_wide(). What it calls has to be part of it: ARCH_MATCH_INLINE.
 */
#define ARCH_MATCH_INLINE __attribute__((always_inline))
#if defined(__x86_64__)
#define ARCH_MATCH_WIDE __attribute__((target("avx2,bmi,bmi2")))
static inline bool arch_match_is_wide(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
	       __builtin_cpu_supports("bmi2");
}
#else
#define ARCH_MATCH_WIDE
static inline bool arch_match_is_wide(void)
{
	return false;
}
#endif

#if defined(__SSE2__)
#include <emmintrin.h>

static inline ARCH_MATCH_INLINE uint32_t arch_match16(const uint8_t bytes[16], uint8_t want)
{
	const __m128i v = _mm_loadu_si128((const __m128i *)(const void *)bytes);

	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8((char)want)));
}

/*
 * Those younger than @way grow older by one, and it becomes the youngest. Whole stores: a load of
 * sixteen bytes soon after a store of one would wait until that store has left the processor.
 */
static inline ARCH_MATCH_INLINE void arch_youngest16(uint8_t ages[16], uint32_t way)
{
	__m128i *const at = (__m128i *)(void *)ages;
	const __m128i v = _mm_load_si128(at), own = _mm_set1_epi8((char)ages[way]);
	const __m128i is_own = _mm_cmpeq_epi8(v, own);

	_mm_store_si128(at, _mm_andnot_si128(is_own, _mm_sub_epi8(v, _mm_cmplt_epi8(v, own))));
}

/* The same, and its byte of @marks becomes @mark. */
static inline ARCH_MATCH_INLINE void arch_enter16(uint8_t marks[16], uint8_t ages[16], uint32_t way,
						  uint8_t mark)
{
	__m128i *const at = (__m128i *)(void *)ages, *const m = (__m128i *)(void *)marks;
	const __m128i v = _mm_load_si128(at), own = _mm_set1_epi8((char)ages[way]);
	const __m128i is_own = _mm_cmpeq_epi8(v, own);
	const __m128i new = _mm_and_si128(is_own, _mm_set1_epi8((char)mark));

	_mm_store_si128(at, _mm_andnot_si128(is_own, _mm_sub_epi8(v, _mm_cmplt_epi8(v, own))));
	_mm_store_si128(m, _mm_or_si128(new, _mm_andnot_si128(is_own, _mm_load_si128(m))));
}

/* Those older than @way grow younger by one, and it becomes the oldest of @ways. */
static inline void arch_oldest16(uint8_t ages[16], uint32_t way, uint32_t ways)
{
	__m128i *const at = (__m128i *)(void *)ages;
	const __m128i v = _mm_load_si128(at);
	const __m128i older = _mm_cmpgt_epi8(v, _mm_set1_epi8((char)ages[way]));
	const __m128i is_way = _mm_cmplt_epi8(v, _mm_set1_epi8(127));

	_mm_store_si128(at, _mm_add_epi8(v, _mm_and_si128(older, is_way)));
	ages[way] = (uint8_t)(ways - 1);
}
#else
/* Bytes of zero become bits: no carry leaves a byte, so that none is found in vain. */
static inline ARCH_MATCH_INLINE uint32_t arch_zero_bytes(uint64_t v)
{
	const uint64_t low = 0x7f7f7f7f7f7f7f7fu;
	const uint64_t tops = ~(((v & low) + low) | v | low);

	return (uint32_t)((tops >> 7) * 0x0102040810204080u >> 56);
}

/* As a little-endian machine loads them; compilers make one load of it where that is true. */
static inline ARCH_MATCH_INLINE uint64_t arch_eight_bytes(const uint8_t *b)
{
	return (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24 |
	       (uint64_t)b[4] << 32 | (uint64_t)b[5] << 40 | (uint64_t)b[6] << 48 |
	       (uint64_t)b[7] << 56;
}

static inline ARCH_MATCH_INLINE uint32_t arch_match16(const uint8_t bytes[16], uint8_t want)
{
	const uint64_t all = want * 0x0101010101010101u;

	return arch_zero_bytes(arch_eight_bytes(bytes) ^ all) |
	       arch_zero_bytes(arch_eight_bytes(bytes + 8) ^ all) << 8;
}

static inline ARCH_MATCH_INLINE void arch_youngest16(uint8_t ages[16], uint32_t way)
{
	const uint8_t own = ages[way];

	for (unsigned i = 0; i < 16; i++)
		ages[i] = (uint8_t)(ages[i] + (ages[i] < own));
	ages[way] = 0;
}

static inline ARCH_MATCH_INLINE void arch_enter16(uint8_t marks[16], uint8_t ages[16], uint32_t way,
						  uint8_t mark)
{
	arch_youngest16(ages, way);
	marks[way] = mark;
}

static inline void arch_oldest16(uint8_t ages[16], uint32_t way, uint32_t ways)
{
	const uint8_t own = ages[way];

	for (unsigned i = 0; i < ways; i++)
		ages[i] = (uint8_t)(ages[i] - (ages[i] > own));
	ages[way] = (uint8_t)(ways - 1);
}
#endif

#endif
