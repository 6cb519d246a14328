/* SPDX-License-Identifier: MIT */
/*
 * The measured loops. Empty asm statements with the value as operand keep the compiler from seeing
 * through the dependence; they emit no instruction. See chase_loops.h for what each does.
 */
#include "mem/chase_loops.h"

/* clang unrolls loops whatever the flags say */
#ifdef __clang__
#define KEEP_ROLLED _Pragma("clang loop unroll(disable) vectorize(disable)")
#else
#define KEEP_ROLLED
#endif
#define OPAQUE(x) __asm__ volatile("" : "+r"(x))

void *chase_links(void *start, uint64_t steps)
{
	void **p = start;

	for (; steps; steps -= CHASE_UNROLL) {
		p = *p;
		p = *p;
		p = *p;
		p = *p;
		p = *p;
		p = *p;
		p = *p;
		p = *p;
		p = *p;
		p = *p;
		p = *p;
		p = *p;
		p = *p;
		p = *p;
		p = *p;
		p = *p;
		OPAQUE(p);
	}
	return p;
}

uintptr_t chase_list(const uintptr_t *list, size_t n, uint64_t rounds)
{
	uintptr_t x = 0;

	KEEP_ROLLED
	for (; rounds; rounds--) {
		size_t i = 0;

		KEEP_ROLLED
		do {
			uintptr_t address = list[i];

			OPAQUE(address); /* in a register: base plus index costs no addition */
			x = *(const uintptr_t *)(address + x);
			OPAQUE(x);
		} while (++i < n);
	}
	return x;
}

uintptr_t chase_list_independent(const uintptr_t *list, size_t n, uint64_t rounds)
{
	uintptr_t sum = 0;

	KEEP_ROLLED
	for (; rounds; rounds--) {
		size_t i = 0;

		KEEP_ROLLED
		do {
			uintptr_t address = list[i];

			OPAQUE(address);
			sum += *(const uintptr_t *)address;
			OPAQUE(sum);
		} while (++i < n);
	}
	return sum;
}

#define ADD1(sum, one)       \
	do {                 \
		sum += one;  \
		OPAQUE(sum); \
	} while (0)
#define ADD4(sum, one)          \
	do {                    \
		ADD1(sum, one); \
		ADD1(sum, one); \
		ADD1(sum, one); \
		ADD1(sum, one); \
	} while (0)

uint64_t loop_adds(uint64_t count)
{
	uint64_t sum = 0, one = 1;

	OPAQUE(one); /* a register: some CPUs take additions of constants out of the chain */
	for (; count; count -= CHASE_UNROLL) {
		ADD4(sum, one);
		ADD4(sum, one);
		ADD4(sum, one);
		ADD4(sum, one);
	}
	return sum;
}

uint64_t loop_stream(const void *base, size_t bytes)
{
	const char *p = base;
	uint64_t sum = 0;

	for (size_t i = 0; i < bytes; i += 64) {
		sum += *(const uint64_t *)(const void *)(p + i);
		OPAQUE(sum);
	}
	return sum;
}

uint64_t loop_pages(const void *base, uint64_t n, uint64_t page_bytes)
{
	const char *p = base;
	uint64_t sum = 0, line = 0;

	KEEP_ROLLED
	for (uint64_t i = 0; i < n; i++) {
		sum += *(const uint64_t *)(const void *)(p + line);
		OPAQUE(sum);
		p += page_bytes;
		line = (line + 64) & (page_bytes - 1);
	}
	return sum;
}

void loop_calls(void (*call)(void *arg), void *arg, uint64_t n)
{
	OPAQUE(call);
	KEEP_ROLLED
	for (; n; n--)
		call(arg);
}

void call_nothing(void *arg)
{
	(void)arg;
	__asm__ volatile("");
}
