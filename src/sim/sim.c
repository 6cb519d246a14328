// SPDX-License-Identifier: MIT
/*
 * References through TLBs, and the address space that they go through. Leaves out walks and caches
 * (walk.c), places (place.c), costs (cost.c).
 */
#include "sim/sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "sim/state.h"

/* --- making --- */

/* The size at which a TLB holds pages of 2^@shift; 0: not at all. */
static unsigned held_shift(const struct sim_tlb *t, unsigned shift)
{
	unsigned largest = 0;

	for (size_t i = 0; i < t->n_pages; i++) {
		const unsigned own = (unsigned)__builtin_ctzll(t->pages[i]);

		if (own == shift)
			return shift;
		largest = own > largest ? own : largest;
	}
	return t->splits && shift > largest ? largest : 0;
}

static int make_tlbs(struct sim *s, unsigned shift)
{
	const struct sim_machine *m = s->m;

	for (size_t i = 0; i < m->n_tlbs; i++) {
		const struct sim_tlb *t = &m->tlbs[i];
		struct tlb_level *l = &s->tlb_levels[t->level - 1];
		struct sim_shape shape = t->shape;
		const unsigned held = held_shift(t, shift);

		shape.entries -= t->pinned;
		if (assoc_init(&s->tlbs[i], &shape, rng_mix64(s->seed + i + 1)) < 0)
			return -ENOMEM;
		if (t->holds_level)
			s->table_holder[t->holds_level] = &s->tlbs[i];
		if (t->holds_vhpt)
			s->vhpt_holder = &s->tlbs[i];
		if (t->level == 1)
			s->skips_first = t->skips_first_cache;
		if (!held || l->n == UNITS_MAX)
			continue;
		l->units[l->n++] = (struct tlb_unit){ .a = &s->tlbs[i], .shift = held };
		if (t->level > s->n_tlb_levels)
			s->n_tlb_levels = t->level;
	}
	return 0;
}

static int make_caches(struct sim *s)
{
	const struct sim_machine *m = s->m;

	s->n_caches = (unsigned)m->n_caches;
	for (size_t i = 0; i < m->n_caches; i++) {
		const struct sim_cache *c = &m->caches[i];
		struct sim_shape shape = { .entries = (uint32_t)(c->size_bytes / c->line_bytes),
					   .ways = c->ways,
					   .index = c->index,
					   .policy = c->policy };

		s->line_shift[i] = (unsigned)__builtin_ctz(c->line_bytes);
		s->tells[i] = c->relation == SIM_INCLUSIVE ||
			      (i + 1 < m->n_caches && m->caches[i + 1].relation == SIM_VICTIM);
		s->guards[i] = m->walker.first_cache > i || s->skips_first;
		if (assoc_init(&s->caches[i], &shape, rng_mix64(s->seed + 100 + i)) < 0)
			return -ENOMEM;
	}
	if (m->far_side.present &&
	    assoc_init(&s->far, &m->far_side.shape, rng_mix64(s->seed + 200)) < 0)
		return -ENOMEM;
	return 0;
}

static int make_walk_caches(struct sim *s)
{
	const struct sim_machine *m = s->m;
	const struct sim_shape nested = { .entries = m->core.nested_entries };

	for (size_t i = 0; i < m->n_walk_caches; i++)
		if (assoc_init(&s->walk_caches[m->walk_caches[i].level], &m->walk_caches[i].shape,
			       rng_mix64(s->seed + 300 + i)) < 0)
			return -ENOMEM;
	if (!s->space.host_levels)
		return 0;
	for (size_t i = 0; i < m->n_host_walk_caches; i++)
		if (assoc_init(&s->host_caches[m->host_walk_caches[i].level],
			       &m->host_walk_caches[i].shape, rng_mix64(s->seed + 400 + i)) < 0)
			return -ENOMEM;
	if (nested.entries && assoc_init(&s->nested, &nested, rng_mix64(s->seed + 500)) < 0)
		return -ENOMEM;
	return frames_init(&s->guest, s->space.guest_memory_bytes >> s->base_shift);
}

/* Pairs of equal distance are folded together. */
static int make_alias(struct sim *s)
{
	const struct sim_alias *a = &s->m->alias;
	const struct assoc *first = &s->caches[0];
	unsigned k;

	if (a->rule == SIM_ALIAS_NONE)
		return 0;
	for (size_t i = 0; i < a->n_pairs; i++) {
		const unsigned shift = a->high[i] - a->low[i];

		for (k = 0; k < s->n_folds && s->folds[k].shift != shift; k++)
			;
		s->n_folds = k == s->n_folds ? k + 1 : s->n_folds;
		s->folds[k].shift = shift;
		s->folds[k].mask |= UINT64_C(1) << a->low[i];
	}
	s->alias_of = calloc((size_t)first->sets * first->ways, sizeof(*s->alias_of));
	return s->alias_of ? 0 : -ENOMEM;
}

/* The level of tables whose entries map pages of 2^@shift; 0: none. */
static unsigned level_of(const struct sim *s, unsigned shift, unsigned levels)
{
	for (unsigned k = 1; k <= levels; k++)
		if (s->base_shift + s->index_bits * (k - 1) == shift)
			return k;
	return 0;
}

static int refuse_page(const struct sim *s, const char *what, uint64_t bytes, unsigned levels,
		       struct err *e)
{
	char sizes[200] = "", one[UNITS_TEXT_BYTES], size[UNITS_TEXT_BYTES];

	for (unsigned k = 1; k < levels && k <= 3; k++) {
		format_size(one, UINT64_C(1) << (s->base_shift + s->index_bits * (k - 1)));
		if (k > 1)
			strcat(sizes, ", ");
		strcat(sizes, one);
	}
	return err_set(e, EINVAL, "%s of %s: tables of %u levels map pages of %s", what,
		       format_size(size, bytes), levels, sizes);
}

static bool is_power(uint64_t v)
{
	return v && (v & (v - 1)) == 0;
}

static int fill_space(struct sim *s, struct err *e)
{
	struct sim_space *p = &s->space;
	const struct sim_core *core = &s->m->core;

	p->levels = p->levels ? p->levels : core->levels;
	p->page_bytes = p->page_bytes ? p->page_bytes : core->page_bytes;
	p->host_page_bytes = p->host_page_bytes ? p->host_page_bytes : core->page_bytes;
	p->guest_memory_bytes = p->guest_memory_bytes ? p->guest_memory_bytes : UINT64_C(1) << 36;
	s->levels = p->levels;
	s->base_shift = (unsigned)__builtin_ctzll(core->page_bytes);
	s->index_bits = s->base_shift - 3;
	if (p->levels < 2 || p->levels > SIM_LEVELS_MAX || p->host_levels == 1 ||
	    p->host_levels > SIM_LEVELS_MAX)
		return err_set(e, EINVAL, "levels of page tables: %u over %u; accepted: 2 to %d",
			       p->levels, p->host_levels, SIM_LEVELS_MAX);
	if (!is_power(p->page_bytes) || !is_power(p->host_page_bytes) ||
	    !is_power(p->guest_memory_bytes))
		return err_set(e, EINVAL, "sizes of pages and of a guest are powers of two");
	s->page_shift = (unsigned)__builtin_ctzll(p->page_bytes);
	s->host_shift = (unsigned)__builtin_ctzll(p->host_page_bytes);
	s->leaf = level_of(s, s->page_shift, p->levels - 1);
	s->host_leaf = level_of(s, s->host_shift, p->host_levels ? p->host_levels - 1 : 4);
	if (!s->leaf)
		return refuse_page(s, "pages", p->page_bytes, p->levels, e);
	if (p->host_levels && !s->host_leaf)
		return refuse_page(s, "the host's pages", p->host_page_bytes, p->host_levels, e);
	if (p->host_levels && s->m->walker.kind != SIM_RADIX)
		return err_set(e, EINVAL, "nested paging needs a radix walker");
	if (p->table_align_bytes > core->page_bytes && is_power(p->table_align_bytes))
		s->align_shift = (unsigned)__builtin_ctzll(p->table_align_bytes);
	else if (p->table_align_bytes && p->table_align_bytes != core->page_bytes)
		return err_set(e, EINVAL, "alignment of tables: a power of two, a page or more");
	return 0;
}

static int check_nodes(const struct sim *s, struct err *e)
{
	const uint32_t nodes = s->m->memory.nodes;

	if (s->space.cpu_node >= nodes || s->space.data.node >= nodes ||
	    s->space.tables.node >= nodes)
		return err_set(e, EINVAL, "node beyond the last one: %s has %u", s->m->name, nodes);
	return 0;
}

/* Where no level depends on one behind it. */
static void choose_blocks(struct sim *s)
{
	const struct sim_cache *c = s->m->caches;

	s->passes_by = s->skips_first || s->m->walker.first_cache > 1;
	s->caches_in_blocks = true;
	s->tlbs_in_blocks = s->m->walker.kind == SIM_RADIX;
	for (unsigned i = 1; i < s->n_caches; i++)
		if (c[i].relation == SIM_INCLUSIVE ||
		    (c[i].relation == SIM_VICTIM && c[i - 1].relation == SIM_VICTIM))
			s->caches_in_blocks = false;
	for (unsigned i = 0; i < s->n_tlb_levels; i++)
		if (s->tlb_levels[i].n > 1)
			s->tlbs_in_blocks = false;
	for (size_t i = 0; i < s->m->n_tlbs; i++)
		if (s->m->tlbs[i].holds_level || s->m->tlbs[i].holds_vhpt)
			s->tlbs_in_blocks = false;
}

int sim_new(const struct sim_machine *m, const struct sim_space *space, uint64_t seed,
	    struct sim **ret, struct err *e)
{
	struct sim *s = calloc(1, sizeof(*s));
	unsigned tlb_shift;
	int rc;

	if (!s)
		return err_set(e, ENOMEM, "no memory for the model");
	s->m = m;
	s->space = *space;
	s->seed = seed;
	rc = fill_space(s, e);
	if (rc == 0)
		rc = check_nodes(s, e);
	if (rc < 0) {
		sim_free(s);
		return rc;
	}
	place_init(s);
	/* a TLB can hold no more than both tables agree on */
	tlb_shift = s->space.host_levels && s->host_shift < s->page_shift ? s->host_shift
									  : s->page_shift;
	if (make_tlbs(s, tlb_shift) < 0 || make_caches(s) < 0 || make_walk_caches(s) < 0 ||
	    make_alias(s) < 0) {
		sim_free(s);
		return err_set(e, ENOMEM, "no memory for the model");
	}
	choose_blocks(s);
	*ret = s;
	return 0;
}

void sim_free(struct sim *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < SIM_TLBS_MAX; i++)
		assoc_done(&s->tlbs[i]);
	for (size_t i = 0; i < SIM_CACHES_MAX; i++)
		assoc_done(&s->caches[i]);
	for (size_t i = 0; i <= SIM_LEVELS_MAX; i++) {
		assoc_done(&s->walk_caches[i]);
		assoc_done(&s->host_caches[i]);
	}
	assoc_done(&s->nested);
	assoc_done(&s->far);
	free(s->guest.keys);
	free(s->guest.values);
	free(s->alias_of);
	free(s);
}

/* --- references --- */

static bool find_in(const struct tlb_level *l, uint64_t va)
{
	for (unsigned u = 0; u < l->n; u++) {
		const uint64_t number = va >> l->units[u].shift;

		if (assoc_find(l->units[u].a, tlb_key(number, l->units[u].shift),
			       assoc_set(l->units[u].a, number)))
			return true;
	}
	return false;
}

static void insert_in(struct sim *s, const struct tlb_level *l, uint64_t va)
{
	const struct tlb_unit *u;

	if (l->n == 0)
		return;
	u = &l->units[l->n > 1 ? s->fills++ % l->n : 0];
	assoc_insert(u->a, tlb_key(va >> u->shift, u->shift), assoc_set(u->a, va >> u->shift),
		     true);
}

static void reference(struct sim *s, uint64_t va)
{
	unsigned level;

	s->counts.refs++;
	for (level = 0; level < s->n_tlb_levels; level++) {
		if (find_in(&s->tlb_levels[level], va)) {
			s->counts.tlb_hit[level]++;
			break;
		}
		s->counts.tlb_miss[level] += s->tlb_levels[level].n > 0;
	}
	if (level == s->n_tlb_levels) {
		const uint64_t handlers = s->counts.handlers;

		walk(s, va);
		for (unsigned i = 0; i < level; i++)
			insert_in(s, &s->tlb_levels[i], va);
		if (s->counts.handlers != handlers && s->vhpt_holder) {
			const uint64_t page = va >> (s->base_shift + s->index_bits);

			assoc_insert(s->vhpt_holder, tlb_key(page, KEY_VHPT),
				     assoc_set(s->vhpt_holder, page), false);
		}
	} else {
		for (unsigned i = 0; i < level; i++)
			insert_in(s, &s->tlb_levels[i], va);
	}
	read_data(s, va, level == 0);
}

void sim_run(struct sim *s, const uint64_t *addresses, size_t n)
{
	while (s->tlbs_in_blocks && n) {
		const unsigned block = n < BLOCK ? (unsigned)n : BLOCK;

		run_block(s, addresses, block);
		addresses += block;
		n -= block;
	}
	for (size_t i = 0; i < n; i++) {
		if (s->lines.n > LINES_MAX - LINES_OF_ONE)
			lines_flush(s);
		reference(s, addresses[i]);
	}
	lines_flush(s);
}

void sim_round(struct sim *s)
{
	s->counts.rounds++;
}

void sim_line(struct sim *s, enum sim_what what, uint64_t line, uint32_t node)
{
	const unsigned kind = what == SIM_CODE ? KIND_CODE : KIND_KERNEL_DATA;
	unsigned where = cache_access(s, place_random(s, kind, line, s->line_shift[0]), 0);

	if (where == SIM_IN_MEMORY)
		where += node;
	s->counts.found[what][where]++;
}

void sim_flush(struct sim *s, unsigned what)
{
	for (size_t i = 0; what & SIM_FLUSH_CACHES && i < s->n_caches; i++)
		assoc_clear(&s->caches[i]);
	for (size_t i = 0; what & SIM_FLUSH_TLBS && i < s->m->n_tlbs; i++)
		assoc_clear(&s->tlbs[i]);
	for (size_t i = 0; what & SIM_FLUSH_WALK_CACHES && i <= SIM_LEVELS_MAX; i++) {
		if (assoc_is_made(&s->walk_caches[i]))
			assoc_clear(&s->walk_caches[i]);
		if (assoc_is_made(&s->host_caches[i]))
			assoc_clear(&s->host_caches[i]);
	}
	if (what & SIM_FLUSH_WALK_CACHES && assoc_is_made(&s->nested))
		assoc_clear(&s->nested);
}

const struct sim_counts *sim_counts(const struct sim *s)
{
	return &s->counts;
}

void sim_clear_counts(struct sim *s)
{
	memset(&s->counts, 0, sizeof(s->counts));
}

size_t sim_bytes(const struct sim *s)
{
	size_t bytes = sizeof(*s);

	for (size_t i = 0; i < s->m->n_tlbs; i++)
		bytes += assoc_bytes(&s->tlbs[i]);
	for (size_t i = 0; i < s->n_caches; i++)
		bytes += assoc_bytes(&s->caches[i]);
	for (size_t i = 0; i <= SIM_LEVELS_MAX; i++) {
		bytes += assoc_is_made(&s->walk_caches[i]) ? assoc_bytes(&s->walk_caches[i]) : 0;
		bytes += assoc_is_made(&s->host_caches[i]) ? assoc_bytes(&s->host_caches[i]) : 0;
	}
	return bytes + (s->guest.keys ? (size_t)16 << s->guest.bits : 0);
}
