// SPDX-License-Identifier: MIT
/*
 * Where pages lie in the physical memory of the model. Random frames are a bijection of the page's
 * number (xor-shifts and odd multipliers, as in access/perm.h), so that no table of frames is
 * needed; pages of different kinds never share a frame. Frames of a guest are given out in the
 * order of first use, since the host's tables depend on how dense they are.
 */
#include "sim/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void place_init(struct sim *s)
{
	for (unsigned shift = 0; shift < KIND_SHIFT; shift++) {
		const unsigned bits = KIND_SHIFT - shift;

		s->mix[shift].mask = (UINT64_C(1) << bits) - 1;
		s->mix[shift].half = (bits + 1) / 2;
		s->mix[shift].key = rng_mix64(s->seed + 0x51ed270b * (shift + 1));
	}
}

uint32_t place_node(const struct sim *s, unsigned level, uint64_t number)
{
	const struct sim_placement *p = level ? &s->space.tables : &s->space.data;

	if (s->space.node_of)
		return s->space.node_of(s->space.user, level, number);
	switch (p->place) {
	case SIM_PLACE_REPLICATE:
		return s->space.cpu_node;
	case SIM_PLACE_INTERLEAVE:
		/* pages come in the order of first use, which is none of addresses */
		return (uint32_t)(rng_mix64(number * 8 + level) % s->m->memory.nodes);
	case SIM_PLACE_NODE:
		break;
	}
	return p->node;
}

/* --- frames of a guest --- */

int frames_init(struct frames *f, uint64_t limit)
{
	f->bits = 12;
	f->limit = limit;
	f->keys = calloc((size_t)1 << f->bits, sizeof(*f->keys));
	f->values = calloc((size_t)1 << f->bits, sizeof(*f->values));
	return f->keys && f->values ? 0 : -ENOMEM;
}

static size_t slot_of(const struct frames *f, uint64_t key)
{
	size_t at = rng_mix64(key) >> (64 - f->bits);

	while (f->keys[at] && f->keys[at] != key)
		at = (at + 1) & (((size_t)1 << f->bits) - 1);
	return at;
}

static void grow(struct frames *f)
{
	struct frames bigger = { .bits = f->bits + 1, .n = f->n, .limit = f->limit };

	bigger.keys = calloc((size_t)1 << bigger.bits, sizeof(*f->keys));
	bigger.values = calloc((size_t)1 << bigger.bits, sizeof(*f->values));
	if (!bigger.keys || !bigger.values) {
		free(bigger.keys);
		free(bigger.values);
		f->failed = true;
		return;
	}
	for (size_t i = 0; i < (size_t)1 << f->bits; i++) {
		if (f->keys[i]) {
			const size_t at = slot_of(&bigger, f->keys[i]);

			bigger.keys[at] = f->keys[i];
			bigger.values[at] = f->values[i];
		}
	}
	free(f->keys);
	free(f->values);
	*f = bigger;
}

uint64_t frames_get(struct frames *f, uint64_t key)
{
	size_t at = slot_of(f, key);
	uint64_t n;

	if (f->keys[at])
		return f->values[at];
	if (f->n >= UINT64_C(3) << f->bits >> 2) {
		grow(f);
		if (f->failed)
			return f->n % f->limit;
		at = slot_of(f, key);
	}
	/* scattered: an odd step goes through all frames of a power of two */
	n = f->n++ * 0x9e3779b1u & (f->limit - 1);
	f->keys[at] = key;
	f->values[at] = n;
	return n;
}
