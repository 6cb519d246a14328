// SPDX-License-Identifier: MIT
#include "naive.h"

#include <stdlib.h>
#include <string.h>

struct entry {
	uint64_t key, used;
	bool valid;
};
struct sets {
	struct entry *v;
	uint32_t ways, n;
	bool fifo, xor, hash;
};
struct naive {
	const struct sim_machine *m;
	uint64_t align, clock;
	int wrong;
	struct sets tlbs[SIM_TLBS_MAX], caches[SIM_CACHES_MAX], walk[SIM_LEVELS_MAX + 1];
	struct sim_counts c;
};

static void sets_init(struct sets *s, const struct sim_shape *shape)
{
	s->ways = shape->ways ? shape->ways : shape->entries;
	s->n = shape->entries / s->ways;
	s->fifo = shape->policy == SIM_FIFO;
	s->xor = shape->index == SIM_XOR;
	s->hash = shape->index == SIM_HASH;
	s->v = calloc(shape->entries, sizeof(*s->v));
	if (!s->v)
		abort();
}

static uint64_t set_of(const struct sets *s, uint64_t number)
{
	uint64_t set = number % s->n;

	if (s->xor)
		set ^= number / s->n % s->n;
	for (uint64_t rest = number / s->n; s->hash && s->n > 1 && rest; rest /= s->n)
		set ^= rest % s->n;
	return set;
}

static bool sets_find(struct naive *n, struct sets *s, uint64_t number)
{
	struct entry *v = s->v + set_of(s, number) * s->ways;

	for (uint32_t i = 0; i < s->ways; i++) {
		if (!v[i].valid || v[i].key != number)
			continue;
		if (!s->fifo)
			v[i].used = ++n->clock;
		return true;
	}
	return false;
}

/* Returns the number that had to go, UINT64_MAX: none. */
static uint64_t sets_add(struct naive *n, struct sets *s, uint64_t number)
{
	struct entry *v = s->v + set_of(s, number) * s->ways, *oldest = v;
	uint64_t gone;

	for (uint32_t i = 0; i < s->ways; i++) {
		if (!v[i].valid) {
			v[i] = (struct entry){ number, ++n->clock, true };
			return UINT64_MAX;
		}
		if (v[i].used < oldest->used)
			oldest = &v[i];
	}
	gone = oldest->key;
	*oldest = (struct entry){ number, ++n->clock, true };
	return gone;
}

static void sets_drop(struct sets *s, uint64_t number)
{
	struct entry *v = s->v + set_of(s, number) * s->ways;

	for (uint32_t i = 0; i < s->ways; i++)
		if (v[i].valid && v[i].key == number)
			v[i].valid = false;
}

static void read_line(struct naive *n, unsigned what, uint64_t pa, unsigned first)
{
	const uint64_t line = pa / 64;
	unsigned found = first;

	while (found < n->m->n_caches && !sets_find(n, &n->caches[found], line))
		n->c.cache_miss[found++]++;
	if (found < n->m->n_caches) {
		n->c.cache_hit[found]++;
		n->c.found[what][found]++;
	} else {
		n->c.found[what][SIM_IN_MEMORY]++;
	}
	for (unsigned i = found; i-- > first;) {
		const uint64_t gone = sets_add(n, &n->caches[i], line);

		for (unsigned up = 0;
		     gone != UINT64_MAX && n->m->caches[i].relation == SIM_INCLUSIVE && up < i;
		     up++)
			sets_drop(&n->caches[up], gone);
	}
}

static uint64_t entry_number(uint64_t va, unsigned level)
{
	return va >> (12 + 9 * (level - 1));
}

static void walk(struct naive *n, uint64_t va)
{
	unsigned start = n->m->core.levels;

	n->c.walks++;
	for (unsigned k = 2; k <= n->m->core.levels; k++) {
		if (!n->walk[k].v)
			continue;
		if (sets_find(n, &n->walk[k], entry_number(va, k))) {
			n->c.walk_cache_hit[k]++;
			start = k - 1;
			break;
		}
		n->c.walk_cache_miss[k]++;
	}
	for (unsigned k = start; k >= 1; k--) {
		const uint64_t e = entry_number(va, k);
		const uint64_t kind = k; /* tables of a level lie by themselves */

		n->c.steps++;
		read_line(n, SIM_WALK + k - 1, (kind << 59) + (e / 512) * n->align + e % 512 * 8,
			  n->m->walker.first_cache - 1);
		if (k > 1 && n->walk[k].v)
			sets_add(n, &n->walk[k], e);
		if (n->wrong && k == 1 && n->walk[2].v)
			sets_add(n, &n->walk[2], e);
	}
}

void naive_run(struct naive *n, uint64_t va)
{
	const uint64_t page = va / 4096;
	unsigned level, last = 0;

	n->c.refs++;
	for (size_t i = 0; i < n->m->n_tlbs; i++)
		last = n->m->tlbs[i].level > last ? n->m->tlbs[i].level : last;
	for (level = 1; level <= last; level++) { /* one TLB a level in these machines */
		if (sets_find(n, &n->tlbs[level - 1], page)) {
			n->c.tlb_hit[level - 1]++;
			break;
		}
		n->c.tlb_miss[level - 1]++;
	}
	if (level > last)
		walk(n, va);
	for (unsigned i = 1; i < level && i <= last; i++)
		sets_add(n, &n->tlbs[i - 1], page);
	read_line(n, SIM_DATA, va % 4096, 0);
}

struct naive *naive_new(const struct sim_machine *m, uint64_t align, int wrong)
{
	struct naive *n = calloc(1, sizeof(*n));

	if (!n)
		abort();
	n->m = m;
	n->align = align;
	n->wrong = wrong;
	for (size_t i = 0; i < m->n_tlbs; i++)
		sets_init(&n->tlbs[i], &m->tlbs[i].shape);
	for (size_t i = 0; i < m->n_walk_caches; i++)
		sets_init(&n->walk[m->walk_caches[i].level], &m->walk_caches[i].shape);
	for (size_t i = 0; i < m->n_caches; i++) {
		const struct sim_cache *c = &m->caches[i];

		sets_init(&n->caches[i],
			  &(struct sim_shape){ (uint32_t)(c->size_bytes / c->line_bytes), c->ways,
					       c->index, c->policy });
	}
	return n;
}

void naive_free(struct naive *n)
{
	for (size_t i = 0; i < SIM_TLBS_MAX; i++)
		free(n->tlbs[i].v);
	for (size_t i = 0; i < SIM_CACHES_MAX; i++)
		free(n->caches[i].v);
	for (size_t i = 0; i <= SIM_LEVELS_MAX; i++)
		free(n->walk[i].v);
	free(n);
}

const struct sim_counts *naive_counts(const struct naive *n)
{
	return &n->c;
}
