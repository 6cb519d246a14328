// SPDX-License-Identifier: MIT
/* A hash table with open addressing. The hash is FNV-1a over whole words, mixed at the end. */
#include "profile/stacks.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

enum { FIRST_SLOTS = 1024 };

static uint64_t hash_of(const uint64_t *frames, size_t n)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ frames[i]) * 0x100000001b3u;
	return rng_mix64(h ^ n);
}

static struct stack *find(const struct stacks *s, uint64_t hash, const uint64_t *frames, size_t n)
{
	for (size_t i = (size_t)hash & (s->cap - 1);; i = (i + 1) & (s->cap - 1)) {
		struct stack *k = &s->slots[i];

		if (!k->ticks || (k->hash == hash && k->n == n &&
				  memcmp(s->frames + k->at, frames, n * sizeof(*frames)) == 0))
			return k;
	}
}

static bool grow_slots(struct stacks *s)
{
	struct stacks bigger = { .cap = s->cap ? 2 * s->cap : FIRST_SLOTS };

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < s->cap; i++) {
		size_t to = (size_t)s->slots[i].hash & (bigger.cap - 1);

		if (!s->slots[i].ticks)
			continue;
		while (bigger.slots[to].ticks)
			to = (to + 1) & (bigger.cap - 1);
		bigger.slots[to] = s->slots[i];
	}
	free(s->slots);
	s->slots = bigger.slots;
	s->cap = bigger.cap;
	return true;
}

static bool grow_frames(struct stacks *s, size_t n)
{
	size_t cap = s->cap_frames ? 2 * s->cap_frames : 4096;
	uint64_t *grown;

	if (s->n_frames + n <= s->cap_frames)
		return true;
	if (cap < s->n_frames + n)
		cap = s->n_frames + n;
	grown = reallocarray(s->frames, cap, sizeof(*grown));
	if (!grown)
		return false;
	s->frames = grown;
	s->cap_frames = cap;
	return true;
}

void stacks_add(struct stacks *s, const uint64_t *frames, size_t n, uint64_t ticks)
{
	uint64_t hash = hash_of(frames, n);
	struct stack *k = s->cap ? find(s, hash, frames, n) : NULL;

	if (k && k->ticks) {
		k->ticks += ticks;
		s->ticks += ticks;
		return;
	}
	if (!ticks)
		return;
	if (n == 0 || !grow_frames(s, n) || (4 * (s->n + 1) > 3 * s->cap && !grow_slots(s))) {
		s->dropped += ticks;
		return;
	}
	k = find(s, hash, frames, n);
	*k = (struct stack){ .hash = hash, .at = s->n_frames, .n = (uint32_t)n, .ticks = ticks };
	memcpy(s->frames + s->n_frames, frames, n * sizeof(*frames));
	s->n_frames += n;
	s->n++;
	s->ticks += ticks;
}

void stacks_merge(struct stacks *to, const struct stacks *from)
{
	for (size_t i = 0; i < from->cap; i++) {
		const struct stack *k = &from->slots[i];

		if (k->ticks)
			stacks_add(to, from->frames + k->at, k->n, k->ticks);
	}
	to->dropped += from->dropped;
}

void stacks_done(struct stacks *s)
{
	free(s->slots);
	free(s->frames);
	*s = (struct stacks){ 0 };
}
