// SPDX-License-Identifier: MIT
/* The table of first touches: open addressing, doubled at three quarters. */
#include <errno.h>
#include <stdlib.h>

#include "base/rng.h"
#include "predict/trace_parts.h"

enum { BITS_FIRST = 12, LEVEL_BITS = 3 };

static uint64_t key_of(unsigned level, uint64_t number)
{
	return (number + 1) << LEVEL_BITS | level;
}

static size_t slot_of(const struct touch_map *t, uint64_t key)
{
	size_t at = rng_mix64(key) >> (64 - t->bits);

	while (t->keys[at] && t->keys[at] != key)
		at = (at + 1) & (((size_t)1 << t->bits) - 1);
	return at;
}

static int grow(struct touch_map *t)
{
	struct touch_map bigger = { .bits = t->bits ? t->bits + 1 : BITS_FIRST, .n = t->n };

	bigger.keys = calloc((size_t)1 << bigger.bits, sizeof(*bigger.keys));
	bigger.nodes = calloc((size_t)1 << bigger.bits, sizeof(*bigger.nodes));
	if (!bigger.keys || !bigger.nodes) {
		touch_done(&bigger);
		return -ENOMEM;
	}
	for (size_t i = 0; t->bits && i < (size_t)1 << t->bits; i++) {
		if (t->keys[i]) {
			const size_t at = slot_of(&bigger, t->keys[i]);

			bigger.keys[at] = t->keys[i];
			bigger.nodes[at] = t->nodes[i];
		}
	}
	touch_done(t);
	*t = bigger;
	return 0;
}

void touch_done(struct touch_map *t)
{
	free(t->keys);
	free(t->nodes);
	*t = (struct touch_map){ 0 };
}

int touch_enter(struct touch_map *t, unsigned level, uint64_t number, uint32_t node)
{
	const uint64_t key = key_of(level, number);
	size_t at;

	if (!t->bits || t->n >= (UINT64_C(3) << t->bits) / 4)
		if (grow(t) < 0)
			return -ENOMEM;
	at = slot_of(t, key);
	if (t->keys[at])
		return 0;
	t->keys[at] = key;
	t->nodes[at] = (uint8_t)node;
	t->n++;
	return 1;
}

int touch_find(const struct touch_map *t, unsigned level, uint64_t number)
{
	size_t at;

	if (!t->bits)
		return -1;
	at = slot_of(t, key_of(level, number));
	return t->keys[at] ? t->nodes[at] : -1;
}

size_t touch_bytes(const struct touch_map *t)
{
	return t->bits ? ((sizeof(*t->keys) + sizeof(*t->nodes)) << t->bits) : 0;
}
