// SPDX-License-Identifier: MIT
/*
 * A walk through the tables, and where they lie. Leaves out the caches (lines.c). Sources of the
 * rules: Intel SDM vol. 3 ch. 4.10.3 (paging-structure caches), AMD APM vol. 2 ch. 15.25 (nested
 * paging: (g+1)(h+1)-1 reads), Linux 2.6.18 arch/ia64/kernel/ivt.S (vhpt_miss inserts the page and
 * the page of the linear table).
 */
#include "sim/state.h"

/* --- tables --- */

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

static bool held_table(struct assoc *holder, unsigned level, uint64_t number)
{
	return assoc_find(holder, tlb_key(number, KEY_TABLE + level), assoc_set(holder, number));
}

static void hold_table(struct assoc *holder, unsigned level, uint64_t number)
{
	assoc_insert(holder, tlb_key(number, KEY_TABLE + level), assoc_set(holder, number), true);
}

/* --- the host's tables --- */

static void host_walk(struct sim *s, uint64_t gpa)
{
	unsigned start = s->space.host_levels;

	for (unsigned k = s->host_leaf + 1; k <= s->space.host_levels; k++) {
		const uint64_t number = gpa >> (s->base_shift + s->index_bits * (k - 1));

		if (!assoc_is_made(&s->host_caches[k]))
			continue;
		/* what is not there will have been read */
		if (assoc_access(&s->host_caches[k], number,
				 assoc_set(&s->host_caches[k], number))) {
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
		read_line(s, SIM_HOST + k - 1, pa, first_cache(s), gpa);
	}
}

/* Where the guest's address lies, after the walk that it takes to know. */
static uint64_t host_translate(struct sim *s, uint64_t gpa)
{
	const uint64_t number = gpa >> s->host_shift;
	bool known = false;

	if (assoc_is_made(&s->nested)) {
		known = assoc_access(&s->nested, number, assoc_set(&s->nested, number));
		s->counts.nested_hit += known;
		s->counts.nested_miss += !known;
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

static uint64_t data_address(struct sim *s, uint64_t va)
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
	read_line(s, SIM_WALK + level - 1, pa, first_cache(s), va);
	if (level > s->leaf && s->table_holder[level])
		hold_table(s->table_holder[level], level, entry);
}

/* The highest level that has to be read. Those below it, and it, are in the walk caches then. */
static unsigned walk_start(struct sim *s, uint64_t va)
{
	for (unsigned k = s->leaf + 1; k <= s->levels; k++) {
		const uint64_t number = va >> (s->base_shift + s->index_bits * (k - 1));
		struct assoc *own = &s->walk_caches[k];
		bool hit;

		if (assoc_is_made(own)) /* then no TLB holds that level */
			hit = assoc_access(own, number, assoc_set(own, number));
		else if (s->table_holder[k])
			hit = held_table(s->table_holder[k], k, number);
		else
			continue;
		if (hit) {
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

void walk_from(struct sim *s, uint64_t va, unsigned start)
{
	for (unsigned k = start; k >= s->leaf; k--)
		read_entry(s, k, va);
	if (s->space.host_levels)
		host_translate(s, guest_data_address(s, va));
}

void walk(struct sim *s, uint64_t va)
{
	s->counts.walks++;
	if (s->m->walker.kind == SIM_VHPT)
		walk_vhpt(s, va);
	else
		walk_from(s, va, walk_start(s, va));
}

void read_data(struct sim *s, uint64_t va, bool first_level)
{
	read_line(s, SIM_DATA, data_address(s, va),
		  !first_level && s->skips_first && s->n_caches > 1, va);
}
