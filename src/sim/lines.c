// SPDX-License-Identifier: MIT
/*
 * Lines through the caches and to memory: a block of them level by level (state.h says why), or one
 * after the other where a cache reaches back into those before it. Leaves out what reads them
 * (sim.c, walk.c).
 */
#include <string.h>

#include "sim/state.h"

/* --- memory --- */

static void ask_far_side(struct sim *s, unsigned what, uint64_t pa)
{
	const uint64_t line = pa >> s->line_shift[s->n_caches - 1];
	const uint32_t set = assoc_set(&s->far, line);

	if (assoc_find(&s->far, line, set)) {
		s->counts.far_hit++;
		return;
	}
	s->counts.far_miss++;
	s->counts.far_miss_of[what]++;
	assoc_insert(&s->far, line, set, true);
}

/* The level of tables that @what reads, 0: none, and the number of the table or page. */
static unsigned number_of(const struct sim *s, unsigned what, uint64_t va, uint64_t *ret_number)
{
	unsigned level;

	if (what == SIM_DATA) {
		*ret_number = va >> s->page_shift;
		return 0;
	}
	level = (what >= SIM_HOST ? what - SIM_HOST : what - SIM_WALK) + 1;
	*ret_number = va >> (s->base_shift + s->index_bits * level);
	return level;
}

static void read_memory(struct sim *s, unsigned what, uint64_t pa, uint64_t va)
{
	uint64_t number;
	const unsigned level = number_of(s, what, va, &number);

	s->counts.found[what][SIM_IN_MEMORY + place_node(s, level, number)]++;
	if (assoc_is_made(&s->far))
		ask_far_side(s, what, pa);
}

/* --- one after the other --- */

static void fill(struct sim *s, unsigned i, uint64_t pa);

/* What left cache @i. */
static void evicted(struct sim *s, unsigned i, uint64_t line)
{
	const uint64_t pa = line << s->line_shift[i];

	if (s->m->caches[i].relation == SIM_INCLUSIVE) {
		for (unsigned up = 0; up < i; up++) {
			const uint64_t step = UINT64_C(1) << s->line_shift[up];

			for (uint64_t at = pa; at < pa + (UINT64_C(1) << s->line_shift[i]);
			     at += step) {
				const uint64_t key = at >> s->line_shift[up];

				assoc_remove(&s->caches[up], key, assoc_set(&s->caches[up], key));
			}
		}
	}
	if (i + 1 < s->n_caches && s->m->caches[i + 1].relation == SIM_VICTIM) {
		struct assoc *next = &s->caches[i + 1];
		const uint64_t key = pa >> s->line_shift[i + 1];

		/* only a walker that passes by cache @i can have brought it there before */
		if (!s->guards[i + 1] || !assoc_find(next, key, assoc_set(next, key)))
			fill(s, i + 1, pa);
	}
}

static void fill(struct sim *s, unsigned i, uint64_t pa)
{
	const uint64_t line = pa >> s->line_shift[i];
	const uint64_t old =
		assoc_insert(&s->caches[i], line, assoc_set(&s->caches[i], line), true);

	if (s->tells[i] && old != ASSOC_NONE)
		evicted(s, i, old);
}

/* Brings a line that cache @found had (or memory) into those from @first on before it. */
static void fill_from(struct sim *s, uint64_t pa, unsigned first, unsigned found)
{
	for (unsigned i = found; i-- > first;)
		if (i == first || s->m->caches[i].relation != SIM_VICTIM)
			fill(s, i, pa);
}

unsigned cache_access(struct sim *s, uint64_t pa, unsigned first)
{
	for (unsigned i = first; i < s->n_caches; i++) {
		struct assoc *c = &s->caches[i];
		const uint64_t line = pa >> s->line_shift[i];
		const uint32_t set = assoc_set(c, line);

		if (!assoc_find(c, line, set)) {
			s->counts.cache_miss[i]++;
			continue;
		}
		s->counts.cache_hit[i]++;
		if (i > first) {
			if (s->m->caches[i].relation == SIM_VICTIM)
				assoc_remove(c, line, set);
			fill_from(s, pa, first, i);
		}
		return i;
	}
	fill_from(s, pa, first, s->n_caches);
	return SIM_IN_MEMORY;
}

/* --- aliases in the first cache --- */

static uint16_t alias_hash(const struct sim *s, uint64_t va)
{
	uint64_t h = 0;

	if (s->m->alias.rule == SIM_ALIAS_VIPT) {
		const struct sim_cache *c = &s->m->caches[0];
		const uint64_t way = c->ways ? c->size_bytes / c->ways : c->line_bytes;

		return (uint16_t)((va & (way - 1)) >> s->base_shift);
	}
	for (unsigned k = 0; k < s->n_folds; k++)
		h |= (va ^ va >> s->folds[k].shift) & s->folds[k].mask;
	return (uint16_t)(h ^ h >> 12);
}

/* After the line is in a slot of the first cache: does its last address reach it the same way? */
static void check_alias(struct sim *s, uint64_t va, size_t slot, bool was_there)
{
	const uint16_t now = alias_hash(s, va);

	s->counts.alias_misses += was_there && s->alias_of[slot] != now;
	s->alias_of[slot] = now;
}

static void find_alias(struct sim *s, uint64_t va, uint64_t pa, bool was_there)
{
	const struct assoc *c = &s->caches[0];
	const uint64_t line = pa >> s->line_shift[0];
	const uint32_t set = assoc_set(c, line);
	const uint32_t way = assoc_small_way(c, assoc_small_at(c, set), line);

	if (way < c->ways)
		check_alias(s, va, (size_t)set * c->ways + way, was_there);
}

/* --- a block --- */

static unsigned count_hits(struct sim *s, unsigned i, unsigned asked, unsigned missed)
{
	s->counts.cache_hit[i] += asked - missed;
	s->counts.cache_miss[i] += missed;
	return missed;
}

/* Lines @of a cache that takes all that misses it; leaves those that missed. */
static unsigned through_plain(struct sim *s, unsigned i, uint16_t *of, unsigned n)
{
	struct lines *l = &s->lines;
	uint64_t keys[LINES_MAX], old[LINES_MAX];
	/* four of each: an addition need not wait for the one before */
	uint64_t found[4][SIM_WHATS] = { 0 };
	uint8_t ways[LINES_MAX];
	unsigned missed = 0;

	for (unsigned k = 0; k < n; k++)
		keys[k] = l->pa[of[k]] >> s->line_shift[i];
	assoc_block(&s->caches[i], n, keys, 0, old, ways);
	for (unsigned k = 0; i == 0 && s->alias_of && k < n; k++)
		if (l->what[of[k]] == SIM_DATA)
			check_alias(s, l->va[of[k]],
				    (size_t)assoc_set(&s->caches[0], keys[k]) * s->caches[0].ways +
					    ways[k],
				    old[k] == keys[k]);
	for (unsigned k = 0; s->tells[i] && k < n; k++)
		l->evicted[of[k]] = old[k];
	for (unsigned k = 0; k < n; k++) {
		const bool hit = old[k] == keys[k];

		found[k % 4][l->what[of[k]]] += hit;
		of[missed] = of[k];
		missed += !hit;
	}
	for (unsigned what = 0; what < SIM_WHATS; what++)
		s->counts.found[what][i] +=
			found[0][what] + found[1][what] + found[2][what] + found[3][what];
	return count_hits(s, i, n, missed);
}

/* A cache that takes what the one before it loses, and gives back what it has. */
static unsigned through_victim(struct sim *s, unsigned i, uint16_t *of, unsigned n)
{
	const struct lines *l = &s->lines;
	struct assoc *c = &s->caches[i];
	unsigned missed = 0;

	for (unsigned k = 0; c->small && k < n; k++) {
		assoc_prefetch(c, assoc_set(c, l->pa[of[k]] >> s->line_shift[i]));
		assoc_prefetch(c, assoc_set(c, l->evicted[of[k]]));
	}
	for (unsigned k = 0; k < n; k++) {
		const uint64_t key = l->pa[of[k]] >> s->line_shift[i];
		const uint64_t old = l->evicted[of[k]];
		bool hit;

		if (l->first[of[k]] == i) {
			hit = assoc_access(c, key, assoc_set(c, key));
		} else {
			hit = assoc_remove(c, key, assoc_set(c, key));
			/* only what passes by the cache before can have brought it here before */
			if (old != ASSOC_NONE &&
			    !(s->guards[i] && assoc_find(c, old, assoc_set(c, old))))
				assoc_insert(c, old, assoc_set(c, old), true);
		}
		s->counts.found[l->what[of[k]]][i] += hit;
		of[missed] = of[k];
		missed += !hit;
	}
	return count_hits(s, i, n, missed);
}

/* Those that missed and those that ask no cache before @i, in the order of reading. */
static unsigned begin_at(const struct lines *l, unsigned i, const uint16_t *missed, unsigned n,
			 uint16_t *ret_of)
{
	unsigned asked = 0, next = 0;

	for (unsigned k = 0; k < l->n; k++) {
		const bool goes_on = next < n && missed[next] == k;

		next += goes_on;
		ret_of[asked] = (uint16_t)k;
		asked += goes_on || l->first[k] == i;
	}
	return asked;
}

void lines_flush(struct sim *s)
{
	struct lines *l = &s->lines;
	uint16_t of[LINES_MAX], missed[LINES_MAX];
	unsigned n = s->passes_by ? 0 : l->n;

	for (unsigned k = 0; k < n; k++)
		of[k] = (uint16_t)k;
	for (unsigned i = 0; i < s->n_caches; i++) {
		if (s->passes_by) {
			memcpy(missed, of, n * sizeof(of[0]));
			n = begin_at(l, i, missed, n, of);
		}
		if (s->m->caches[i].relation == SIM_VICTIM)
			n = through_victim(s, i, of, n);
		else
			n = through_plain(s, i, of, n);
	}
	for (unsigned k = 0; k < n; k++)
		read_memory(s, l->what[of[k]], l->pa[of[k]], l->va[of[k]]);
	l->n = 0;
}

void read_line(struct sim *s, unsigned what, uint64_t pa, unsigned first, uint64_t va)
{
	struct lines *l = &s->lines;
	unsigned where;

	if (s->caches_in_blocks) {
		l->pa[l->n] = pa;
		l->va[l->n] = va;
		l->what[l->n] = (uint8_t)what;
		l->first[l->n++] = (uint8_t)first;
		return;
	}
	where = cache_access(s, pa, first);
	if (where == SIM_IN_MEMORY)
		read_memory(s, what, pa, va);
	else
		s->counts.found[what][where]++;
	if (s->alias_of && what == SIM_DATA && first == 0)
		find_alias(s, va, pa, where == 0);
}
