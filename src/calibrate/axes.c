// SPDX-License-Identifier: MIT
/*
 * The grid of structures: one axis for each figure that is no cost, with the values that it may
 * take beside the prior's. Only TLBs that hold base pages are searched, for only those are asked by
 * runs of base pages, and, in a guest of small host pages, by all runs.
 */
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "calibrate/parts.h"

enum kind {
	AXIS_NESTED, /* 0: no, else bytes of the host's pages */
	AXIS_PINNED, /* of a TLB */
	AXIS_ENTRIES,
	AXIS_WAYS,
	AXIS_INDEX,
	AXIS_POLICY,
	AXIS_DIRECTORY,  /* level 2: -1 in the last TLB, 0 nowhere, else entries of a walk cache */
	AXIS_WALK_CACHE, /* index: level */
	AXIS_HOST_CACHE,
	AXIS_NESTED_ENTRIES,
	AXIS_CACHE_SIZE,
	AXIS_CACHE_POLICY,
	AXIS_CACHE_INDEX,
	AXIS_ALIAS,
	AXIS_FIRST_CACHE,
};
enum { IN_TLB = -1 };

static const char *const index_names[] = { "linear", "xor", "hash" };

/* --- walk caches as lists --- */

static size_t find_level(const struct sim_walk_cache *v, size_t n, uint32_t level)
{
	size_t i = 0;

	while (i < n && v[i].level != level)
		i++;
	return i;
}

/* Origins move with their elements: @from becomes @to, elements behind a removed one move down. */
static void forget_origins(struct sim_machine *m, const char *list, size_t index)
{
	char prefix[48];
	size_t kept = 0;
	const size_t n = strlen(list);

	for (size_t i = 0; i < m->n_origins; i++) {
		struct sim_origin *o = &m->origins[i];
		unsigned at;
		char key[32];

		snprintf(prefix, sizeof(prefix), "%s[", list);
		if (strncmp(o->path, prefix, n + 1) == 0 &&
		    sscanf(o->path + n, "[%u].%31s", &at, key) == 2 && at >= index) {
			if (at == index)
				continue;
			o->path = arena_printf(&m->arena, "%s[%u].%s", list, at - 1, key);
		}
		m->origins[kept++] = *o;
	}
	m->n_origins = kept;
}

static bool source_of(struct sim_machine *m, const char *list, size_t i, const char *key,
		      const char *source)
{
	char path[64];

	snprintf(path, sizeof(path), "%s[%zu].%s", list, i, key);
	return sim_machine_set_source(m, path, source) == 0;
}

static bool set_walk_cache(struct sim_machine *m, bool host, uint32_t level, int64_t entries,
			   const char *source)
{
	struct sim_walk_cache *v = host ? m->host_walk_caches : m->walk_caches;
	size_t *n = host ? &m->n_host_walk_caches : &m->n_walk_caches;
	const char *list = host ? "host_walk_caches" : "walk_caches";
	const size_t i = find_level(v, *n, level);

	if (entries <= 0) {
		if (i == *n)
			return true;
		memmove(&v[i], &v[i + 1], (*n - i - 1) * sizeof(*v));
		--*n;
		forget_origins(m, list, i);
		return true;
	}
	if (i == *n) {
		if (*n == SIM_LEVELS_MAX)
			return false;
		v[i] = (struct sim_walk_cache){ .level = level };
		++*n;
	}
	v[i].shape =
		(struct sim_shape){ .entries = (uint32_t)entries, .policy = v[i].shape.policy };
	return source_of(m, list, i, "entries", source) && source_of(m, list, i, "ways", source) &&
	       source_of(m, list, i, "policy", source);
}

static int64_t get_walk_cache(const struct sim_machine *m, bool host, uint32_t level)
{
	const struct sim_walk_cache *v = host ? m->host_walk_caches : m->walk_caches;
	const size_t n = host ? m->n_host_walk_caches : m->n_walk_caches;
	const size_t i = find_level(v, n, level);

	return i < n ? (int64_t)v[i].shape.entries : 0;
}

/* --- TLBs --- */

static bool holds_base(const struct sim_machine *m, const struct sim_tlb *t)
{
	for (size_t i = 0; i < t->n_pages; i++)
		if (t->pages[i] == m->core.page_bytes)
			return true;
	return false;
}

/* The TLB that is asked last for base pages. */
static size_t last_tlb(const struct sim_machine *m)
{
	size_t found = m->n_tlbs;

	for (size_t i = 0; i < m->n_tlbs; i++)
		if (holds_base(m, &m->tlbs[i]) &&
		    (found == m->n_tlbs || m->tlbs[i].level > m->tlbs[found].level))
			found = i;
	return found;
}

/* --- values --- */

static int64_t get_directory(const struct sim_machine *m)
{
	for (size_t i = 0; i < m->n_tlbs; i++)
		if (m->tlbs[i].holds_level == 2)
			return IN_TLB;
	return get_walk_cache(m, false, 2);
}

static bool set_directory(struct sim_machine *m, int64_t value, const char *source)
{
	const size_t last = last_tlb(m);

	for (size_t i = 0; i < m->n_tlbs; i++) {
		if (m->tlbs[i].holds_level != 2 && !(i == last && value == IN_TLB))
			continue;
		m->tlbs[i].holds_level = value == IN_TLB ? 2 : 0;
		if (!source_of(m, "tlbs", i, "holds_level", source))
			return false;
	}
	return set_walk_cache(m, false, 2, value == IN_TLB ? 0 : value, source);
}

int64_t axis_get(const struct axis *a, const struct sim_machine *m)
{
	const struct sim_tlb *t = &m->tlbs[a->index];

	switch ((enum kind)a->kind) {
	case AXIS_NESTED:
		return !m->core.nested           ? 0
		       : m->core.host_page_bytes ? (int64_t)m->core.host_page_bytes
						 : (int64_t)m->core.page_bytes;
	case AXIS_PINNED:
		return t->pinned;
	case AXIS_ENTRIES:
		return t->shape.entries;
	case AXIS_WAYS:
		return t->shape.ways;
	case AXIS_INDEX:
		return t->shape.index;
	case AXIS_POLICY:
		return t->shape.policy;
	case AXIS_DIRECTORY:
		return get_directory(m);
	case AXIS_WALK_CACHE:
		return get_walk_cache(m, false, a->index);
	case AXIS_HOST_CACHE:
		return get_walk_cache(m, true, a->index);
	case AXIS_NESTED_ENTRIES:
		return m->core.nested_entries;
	case AXIS_CACHE_SIZE:
		return (int64_t)m->caches[a->index].size_bytes;
	case AXIS_CACHE_POLICY:
		return m->caches[a->index].policy;
	case AXIS_CACHE_INDEX:
		return m->caches[a->index].index;
	case AXIS_ALIAS:
		return m->alias.rule;
	case AXIS_FIRST_CACHE:
		return m->walker.first_cache;
	}
	return 0;
}

static bool set_value(const struct axis *a, int64_t v, struct sim_machine *m, const char *source)
{
	struct sim_tlb *t = &m->tlbs[a->index];

	switch ((enum kind)a->kind) {
	case AXIS_NESTED:
		m->core.nested = v != 0;
		if (v)
			m->core.host_page_bytes = (uint64_t)v;
		return v == 0 || sim_machine_set_source(m, a->with, source) == 0;
	case AXIS_PINNED:
		t->pinned = (uint32_t)v;
		break;
	case AXIS_ENTRIES:
		t->shape.entries = (uint32_t)v;
		break;
	case AXIS_WAYS:
		t->shape.ways = (uint32_t)v;
		break;
	case AXIS_INDEX:
		t->shape.index = (enum sim_index)v;
		break;
	case AXIS_POLICY:
		t->shape.policy = (enum sim_policy)v;
		break;
	case AXIS_DIRECTORY:
		return set_directory(m, v, source);
	case AXIS_WALK_CACHE:
		return set_walk_cache(m, false, a->index, v, source);
	case AXIS_HOST_CACHE:
		return set_walk_cache(m, true, a->index, v, source);
	case AXIS_NESTED_ENTRIES:
		m->core.nested_entries = (uint32_t)v;
		break;
	case AXIS_CACHE_SIZE:
		m->caches[a->index].size_bytes = (uint64_t)v;
		break;
	case AXIS_CACHE_POLICY:
		m->caches[a->index].policy = (enum sim_policy)v;
		break;
	case AXIS_CACHE_INDEX:
		m->caches[a->index].index = (enum sim_index)v;
		break;
	case AXIS_ALIAS:
		m->alias.rule = (enum sim_alias_rule)v;
		m->alias.n_pairs = v == SIM_ALIAS_UTAG ? m->alias.n_pairs : 0;
		break;
	case AXIS_FIRST_CACHE:
		m->walker.first_cache = (uint32_t)v;
		break;
	}
	return true;
}

bool axis_set(const struct axis *a, int64_t value, struct sim_machine *m, const char *source)
{
	const bool is_list = a->kind == AXIS_DIRECTORY || a->kind == AXIS_WALK_CACHE ||
			     a->kind == AXIS_HOST_CACHE;

	if (!set_value(a, value, m, source))
		return false;
	if (!is_list && sim_machine_set_source(m, a->path, source) < 0)
		return false;
	return sim_machine_check(m, NULL) == 0;
}

void axis_word(const struct axis *a, int64_t v, char buf[32])
{
	char size[UNITS_TEXT_BYTES];

	switch ((enum kind)a->kind) {
	case AXIS_NESTED:
		snprintf(buf, 32, v ? "host pages of %.12s" : "no%.0s",
			 format_size(size, (uint64_t)v));
		return;
	case AXIS_CACHE_SIZE:
		snprintf(buf, 32, "%.24s", format_size(size, (uint64_t)v));
		return;
	case AXIS_POLICY:
	case AXIS_CACHE_POLICY:
		snprintf(buf, 32, "%s", sim_policy_name((enum sim_policy)v));
		return;
	case AXIS_INDEX:
	case AXIS_CACHE_INDEX:
		snprintf(buf, 32, "%s", index_names[v]);
		return;
	case AXIS_ALIAS:
		snprintf(buf, 32, "%s",
			 v == SIM_ALIAS_NONE   ? "none"
			 : v == SIM_ALIAS_UTAG ? "utag"
					       : "vipt");
		return;
	case AXIS_DIRECTORY:
		if (v == IN_TLB) {
			snprintf(buf, 32, "in the last TLB");
			return;
		}
		break;
	default:
		break;
	}
	snprintf(buf, 32, "%jd", (intmax_t)v);
}

/* --- the grid --- */

struct grid {
	const struct sim_machine *prior;
	struct axis *v;
	size_t n;
};

static void add(struct grid *g, enum kind kind, unsigned index, const int64_t *values, size_t n,
		const char *list, const char *key)
{
	struct axis *a = &g->v[g->n];
	int64_t own;

	if (g->n == CALIBRATE_AXES_MAX)
		return;
	*a = (struct axis){ .kind = kind, .index = index };
	if (*list == '\0')
		snprintf(a->path, sizeof(a->path), "%s", key);
	else if (strcmp(key, "level") == 0)
		snprintf(a->path, sizeof(a->path), "%s level %u", list, index);
	else
		snprintf(a->path, sizeof(a->path), "%s[%u].%s", list, index, key);
	own = axis_get(a, g->prior);
	a->values[a->n++] = own;
	for (size_t i = 0; i < n && a->n < VALUES_MAX; i++) {
		bool known = false;

		for (size_t k = 0; k < a->n; k++)
			known = known || a->values[k] == values[i];
		if (!known)
			a->values[a->n++] = values[i];
	}
	g->n += a->n > 1;
}
#define ADD(g, kind, index, list, key, ...)                                                        \
	do {                                                                                       \
		const int64_t those[] = { __VA_ARGS__ };                                           \
		add(g, kind, (unsigned)(index), those, sizeof(those) / sizeof(*those), list, key); \
	} while (0)

static void add_tlb(struct grid *g, size_t i, const struct calibrate_hints *h)
{
	const struct sim_tlb *t = &g->prior->tlbs[i];
	const int64_t shown = t->level <= SIM_TLB_LEVELS ? h->tlb_entries[t->level - 1] : 0;

	if (shown > 0 && (t->shape.ways == 0 || shown % t->shape.ways == 0))
		ADD(g, AXIS_ENTRIES, i, "tlbs", "entries", shown);
	if (t->shape.ways == 0)
		ADD(g, AXIS_PINNED, i, "tlbs", "pinned", 0, 1, 2, 3, 4);
	ADD(g, AXIS_POLICY, i, "tlbs", "policy", SIM_LRU, SIM_PLRU, SIM_NRU, SIM_RANDOM);
	if (t->shape.ways == 0)
		return;
	ADD(g, AXIS_WAYS, i, "tlbs", "ways", 4, 8, 12, 16);
	ADD(g, AXIS_INDEX, i, "tlbs", "index", SIM_LINEAR, SIM_XOR, SIM_HASH);
}

static void add_walks(struct grid *g, bool nested)
{
	ADD(g, AXIS_DIRECTORY, 2, "walk_caches", "level", IN_TLB, 0, 16, 32, 64, 128);
	for (unsigned level = 3; level <= g->prior->core.levels && level <= 4; level++)
		ADD(g, AXIS_WALK_CACHE, level, "walk_caches", "level", 0, 4, 16, 64);
	ADD(g, AXIS_FIRST_CACHE, 0, "", "walker.first_cache", 1, 2);
	if (!nested)
		return;
	ADD(g, AXIS_NESTED_ENTRIES, 0, "", "core.nested_entries", 0, 16, 64, 256, 1024);
	for (unsigned level = 2; level <= 3; level++)
		ADD(g, AXIS_HOST_CACHE, level, "host_walk_caches", "level", 0, 16, 64, 256);
}

static void add_caches(struct grid *g)
{
	const struct sim_machine *m = g->prior;
	const size_t last = m->n_caches - 1;
	const int64_t size = (int64_t)m->caches[last].size_bytes;

	ADD(g, AXIS_CACHE_SIZE, last, "caches", "size", size / 2, size / 4, size / 8, size / 16,
	    size / 32);
	ADD(g, AXIS_CACHE_POLICY, 0, "caches", "policy", SIM_LRU, SIM_PLRU, SIM_RANDOM);
	if (last > 0)
		ADD(g, AXIS_CACHE_INDEX, 1, "caches", "index", SIM_LINEAR, SIM_HASH);
	if (m->alias.rule != SIM_ALIAS_NONE)
		ADD(g, AXIS_ALIAS, 0, "", "alias.rule", SIM_ALIAS_NONE);
}

size_t axes_make(const struct sim_machine *prior, const struct calibrate_hints *h,
		 struct axis ret[CALIBRATE_AXES_MAX])
{
	struct grid g = { .prior = prior, .v = ret };
	const int64_t page = (int64_t)prior->core.page_bytes;
	const bool maybe = prior->core.nested || (h->may_be_guest && !h->nested_is_given);

	if (maybe && prior->walker.kind == SIM_RADIX) {
		ADD(&g, AXIS_NESTED, 0, "", "core.nested", 0, page, page * page / 8);
		if (g.n)
			snprintf(ret[0].with, sizeof(ret[0].with), "core.host_page");
	}
	for (size_t i = 0; i < prior->n_tlbs; i++)
		if (holds_base(prior, &prior->tlbs[i]))
			add_tlb(&g, i, h);
	if (prior->walker.kind == SIM_RADIX)
		add_walks(&g, maybe);
	add_caches(&g);
	return g.n;
}
