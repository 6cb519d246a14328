// SPDX-License-Identifier: MIT
/*
 * One step of the model: a line through the caches, a walk through the tables. Sources of the
 * rules: Intel SDM vol. 3 ch. 4.10.3 (paging-structure caches), AMD APM vol. 2 ch. 15.25 (nested
 * paging: (g+1)(h+1)-1 reads), Linux 2.6.18 arch/ia64/kernel/ivt.S (vhpt_miss inserts the page and
 * the page of the linear table).
 */
#include "sim/state.h"

/* --- caches --- */

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
	const uint32_t set = assoc_set(&s->caches[i], line);
	uint64_t old;

	if (!s->tells[i]) {
		assoc_put(&s->caches[i], line, set);
		return;
	}
	old = assoc_insert(&s->caches[i], line, set, true);
	if (old != ASSOC_NONE)
		evicted(s, i, old);
}

/* Brings a line that cache @found had (or memory) into those from @first on before it. */
static void fill_from(struct sim *s, uint64_t pa, unsigned first, unsigned found,
		      const uint32_t *sets)
{
	for (unsigned i = found; i-- > first;) {
		if (i != first && s->m->caches[i].relation == SIM_VICTIM)
			continue;
		if (s->tells[i])
			fill(s, i, pa);
		else
			assoc_put(&s->caches[i], pa >> s->line_shift[i], sets[i]);
	}
}

unsigned cache_access(struct sim *s, uint64_t pa, unsigned first)
{
	uint32_t sets[SIM_CACHES_MAX];

	for (unsigned i = first; i < s->n_caches; i++) {
		struct assoc *c = &s->caches[i];
		const uint64_t line = pa >> s->line_shift[i];

		sets[i] = assoc_set(c, line);
		if (!assoc_find(c, line, sets[i])) {
			s->counts.cache_miss[i]++;
			continue;
		}
		s->counts.cache_hit[i]++;
		if (i > first) {
			if (s->m->caches[i].relation == SIM_VICTIM)
				assoc_remove(c, line, sets[i]);
			fill_from(s, pa, first, i, sets);
		}
		return i;
	}
	fill_from(s, pa, first, s->n_caches, sets);
	return SIM_IN_MEMORY;
}

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

void read_line(struct sim *s, unsigned what, uint64_t pa, unsigned first, unsigned level,
	       uint64_t number)
{
	unsigned where = cache_access(s, pa, first);

	if (where == SIM_IN_MEMORY) {
		where += place_node(s, level, number);
		if (assoc_is_made(&s->far))
			ask_far_side(s, what, pa);
	}
	s->counts.found[what][where]++;
}

/* --- tables --- */

static unsigned first_cache(const struct sim *s)
{
	const unsigned first = s->m->walker.first_cache - 1;

	return first < s->n_caches ? first : s->n_caches - 1;
}

/* Address of table @number of level @level, before translation by a host. */
static uint64_t table_address(struct sim *s, unsigned level, uint64_t number)
{
	const unsigned kind = KIND_TABLE + level - 1;

	if (s->space.host_levels)
		return frames_get(&s->guest, (number + 1) << 3 | level) << s->base_shift;
	if (s->align_shift)
		return (uint64_t)kind << KIND_SHIFT | number << s->align_shift;
	return place_random(s, kind, number, s->base_shift);
}

static bool table_cached(struct assoc *own, struct assoc *holder, unsigned level, uint64_t number)
{
	if (assoc_is_made(own) && assoc_find(own, number, assoc_set(own, number)))
		return true;
	return holder &&
	       assoc_find(holder, tlb_key(number, KEY_TABLE + level), assoc_set(holder, number));
}

static void cache_table(struct assoc *own, struct assoc *holder, unsigned level, uint64_t number)
{
	if (assoc_is_made(own))
		assoc_insert(own, number, assoc_set(own, number), true);
	if (holder)
		assoc_insert(holder, tlb_key(number, KEY_TABLE + level), assoc_set(holder, number),
			     true);
}

/* --- the host's tables --- */

static void host_walk(struct sim *s, uint64_t gpa)
{
	unsigned start = s->space.host_levels;

	for (unsigned k = s->host_leaf + 1; k <= s->space.host_levels; k++) {
		const uint64_t number = gpa >> (s->base_shift + s->index_bits * (k - 1));

		if (!assoc_is_made(&s->host_caches[k]))
			continue;
		if (table_cached(&s->host_caches[k], NULL, k, number)) {
			s->counts.host_cache_hit[k]++;
			start = k - 1;
			break;
		}
		s->counts.host_cache_miss[k]++;
	}
	for (unsigned k = start; k >= s->host_leaf; k--) {
		const uint64_t entry = gpa >> (s->base_shift + s->index_bits * (k - 1));
		const uint64_t table = entry >> s->index_bits;
		const uint64_t offset = (entry & ((UINT64_C(1) << s->index_bits) - 1)) * 8;
		const uint64_t pa =
			place_random(s, KIND_HOST + k - 1, table, s->base_shift) + offset;

		s->counts.steps++;
		read_line(s, SIM_HOST + k - 1, pa, first_cache(s), k, table);
		if (k > s->host_leaf)
			cache_table(&s->host_caches[k], NULL, k, entry);
	}
}

/* Where the guest's address lies, after the walk that it takes to know. */
static uint64_t host_translate(struct sim *s, uint64_t gpa)
{
	const uint64_t number = gpa >> s->host_shift;
	bool known = false;

	if (assoc_is_made(&s->nested)) {
		known = assoc_find(&s->nested, number, assoc_set(&s->nested, number));
		s->counts.nested_hit += known;
		s->counts.nested_miss += !known;
		if (!known)
			assoc_insert(&s->nested, number, assoc_set(&s->nested, number), true);
	}
	if (!known)
		host_walk(s, gpa);
	return place_random(s, KIND_DATA, number, s->host_shift) |
	       (gpa & ((UINT64_C(1) << s->host_shift) - 1));
}

static uint64_t guest_data_address(struct sim *s, uint64_t va)
{
	const uint64_t page = va >> s->page_shift,
		       within = va & ((UINT64_C(1) << s->page_shift) - 1);
	uint64_t number = s->space.frames == SIM_FRAMES_SHARED ? 0 : page;

	/* larger pages take as many frames: the table of frames has one entry, of its own kind */
	number = frames_get(&s->guest, (number + 1) << 3 | 7);
	return ((number << s->page_shift) & ((s->guest.limit << s->base_shift) - 1)) | within;
}

uint64_t data_address(struct sim *s, uint64_t va)
{
	const uint64_t within = va & ((UINT64_C(1) << s->page_shift) - 1);
	const uint64_t page = va >> s->page_shift;

	if (s->space.host_levels) {
		const uint64_t gpa = guest_data_address(s, va);

		return place_random(s, KIND_DATA, gpa >> s->host_shift, s->host_shift) |
		       (gpa & ((UINT64_C(1) << s->host_shift) - 1));
	}
	switch (s->space.frames) {
	case SIM_FRAMES_SHARED:
		return within;
	case SIM_FRAMES_CONTIGUOUS:
		return va;
	case SIM_FRAMES_RANDOM:
		break;
	}
	return place_random(s, KIND_DATA, page, s->page_shift) | within;
}

/* --- walks --- */

static void read_entry(struct sim *s, unsigned level, uint64_t va)
{
	const uint64_t entry = va >> (s->base_shift + s->index_bits * (level - 1));
	const uint64_t table = entry >> s->index_bits;
	uint64_t pa =
		table_address(s, level, table) + (entry & ((UINT64_C(1) << s->index_bits) - 1)) * 8;

	if (s->space.host_levels)
		pa = host_translate(s, pa);
	s->counts.steps++;
	read_line(s, SIM_WALK + level - 1, pa, first_cache(s), level, table);
	if (level > s->leaf)
		cache_table(&s->walk_caches[level], s->table_holder[level], level, entry);
}

/* The highest level that has to be read. */
static unsigned walk_start(struct sim *s, uint64_t va)
{
	for (unsigned k = s->leaf + 1; k <= s->levels; k++) {
		const uint64_t number = va >> (s->base_shift + s->index_bits * (k - 1));

		if (!assoc_is_made(&s->walk_caches[k]) && !s->table_holder[k])
			continue;
		if (table_cached(&s->walk_caches[k], s->table_holder[k], k, number)) {
			s->counts.walk_cache_hit[k]++;
			return k - 1;
		}
		s->counts.walk_cache_miss[k]++;
	}
	return s->levels;
}

static void walk_vhpt(struct sim *s, uint64_t va)
{
	const uint64_t page = va >> (s->base_shift + s->index_bits);
	struct assoc *holder = s->vhpt_holder;
	const uint64_t key = tlb_key(page, KEY_VHPT);

	if (holder && assoc_find(holder, key, assoc_set(holder, page))) {
		read_entry(s, s->leaf, va);
		return;
	}
	s->counts.handlers++;
	for (unsigned k = s->levels; k >= s->leaf; k--)
		read_entry(s, k, va);
}

void walk(struct sim *s, uint64_t va)
{
	s->counts.walks++;
	if (s->m->walker.kind == SIM_VHPT) {
		walk_vhpt(s, va);
		return;
	}
	for (unsigned k = walk_start(s, va); k >= s->leaf; k--)
		read_entry(s, k, va);
	if (s->space.host_levels)
		host_translate(s, guest_data_address(s, va));
}
