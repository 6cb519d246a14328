/* SPDX-License-Identifier: MIT */
/* Samples counted by call chain: memory grows with the number of places, not with time. */
#ifndef PAGETOLL_PROFILE_STACKS_H
#define PAGETOLL_PROFILE_STACKS_H

#include <stddef.h>
#include <stdint.h>

struct stack {
	uint64_t hash;
	size_t at; /* of the first frame in `frames` */
	uint32_t n;
	uint64_t ticks; /* 0: the slot is free */
};

struct stacks {
	struct stack *slots; /* owned; a power of two of them, or none */
	size_t cap, n;
	uint64_t *frames; /* owned; of all chains, the innermost first */
	size_t n_frames, cap_frames;
	uint64_t ticks;   /* of all */
	uint64_t dropped; /* for lack of memory */
};

/* @ticks samples of one chain. Without memory for a new chain they are counted as dropped. */
void stacks_add(struct stacks *s, const uint64_t *frames, size_t n, uint64_t ticks);
/* All of @from. */
void stacks_merge(struct stacks *to, const struct stacks *from);
void stacks_done(struct stacks *s);

#endif
