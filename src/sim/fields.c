// SPDX-License-Identifier: MIT
/* The tables of the schema; docs/machines.md says the same in words, which a test holds to them. */
#include "sim/fields.h"

static const char *const policy_words[] = { "lru",    "plru", "nru", "nru-lowest",
					    "random", "fifo", NULL };
static const char *const index_words[] = { "linear", "xor", "hash", NULL };
static const char *const relation_words[] = { "non-inclusive", "inclusive", "victim", NULL };
static const char *const walker_words[] = { "radix", "vhpt", NULL };
static const char *const alias_words[] = { "none", "utag", "vipt", NULL };

const char *sim_policy_name(enum sim_policy p)
{
	return p <= SIM_FIFO ? policy_words[p] : "?";
}

#define AT(type, member) offsetof(struct type, member)
#define CYCLES_MAX 100000
#define NS_MAX 1e6

#define SHAPE(type, at)                                                                         \
	{ "entries",                                                                            \
	  "entries",                                                                            \
	  "entries in all",                                                                     \
	  FIELD_COUNT,                                                                          \
	  AT(type, at.entries),                                                                 \
	  true,                                                                                 \
	  true,                                                                                 \
	  1,                                                                                    \
	  1048576,                                                                              \
	  NULL,                                                                                 \
	  0 },                                                                                  \
		{ "ways",                                                                       \
		  "ways",                                                                       \
		  "entries of a set; 0: fully associative",                                     \
		  FIELD_COUNT,                                                                  \
		  AT(type, at.ways),                                                            \
		  false,                                                                        \
		  true,                                                                         \
		  0,                                                                            \
		  4096,                                                                         \
		  NULL,                                                                         \
		  0 },                                                                          \
		{ "index",                                                                      \
		  "word",                                                                       \
		  "which set: low bits, two groups of bits xored, or all bits",                 \
		  FIELD_CHOICE,                                                                 \
		  AT(type, at.index),                                                           \
		  false,                                                                        \
		  true,                                                                         \
		  0,                                                                            \
		  0,                                                                            \
		  index_words,                                                                  \
		  0 },                                                                          \
	{                                                                                       \
		"policy", "word", "what is replaced", FIELD_CHOICE, AT(type, at.policy), false, \
			true, 0, 0, policy_words, 0                                             \
	}

static const struct field core_fields[] = {
	{ "clock_hz", "Hz", "clock of the core", FIELD_REAL, AT(sim_core, clock_hz), true, true,
	  1e6, 1e11, NULL, 0 },
	{ "page", "size", "base page", FIELD_SIZE, AT(sim_core, page_bytes), true, true, 4096,
	  65536, NULL, 0 },
	{ "levels", "levels", "levels of page tables", FIELD_COUNT, AT(sim_core, levels), true,
	  true, 2, SIM_LEVELS_MAX, NULL, 0 },
	{ "round_cycles", "cycles", "of each round of a chase, beside its references", FIELD_REAL,
	  AT(sim_core, round_cycles), false, true, 0, CYCLES_MAX, NULL, 0 },
	{ "parallel_misses", "misses", "independent loads that miss at once", FIELD_COUNT,
	  AT(sim_core, parallel_misses), false, true, 1, 1024, NULL, 1 },
	{ "host_levels", "levels", "levels of a host's page tables, when a guest is predicted",
	  FIELD_COUNT, AT(sim_core, host_levels), false, true, 2, SIM_LEVELS_MAX, NULL, 4 },
	{ "nested_entries", "entries",
	  "guest pages whose host translation is kept for walks; 0: none", FIELD_COUNT,
	  AT(sim_core, nested_entries), false, true, 0, 4096, NULL, 0 },
	{ "nested", "flag", "a guest: predicted with the host's levels below it", FIELD_FLAG,
	  AT(sim_core, nested), false, true, 0, 0, NULL, 0 },
	{ "host_page", "size", "the host's pages behind a guest's memory; by default the base page",
	  FIELD_SIZE, AT(sim_core, host_page_bytes), false, true, 4096, (double)(UINT64_C(1) << 30),
	  NULL, 0 },
	{ 0 }
};

static const struct field tlb_fields[] = {
	{ "name", "text", "what it is called", FIELD_TEXT, AT(sim_tlb, name), true, false, 0, 0,
	  NULL, 0 },
	{ "level", "level", "1 is asked first; several of one level hold different sizes",
	  FIELD_COUNT, AT(sim_tlb, level), true, false, 1, SIM_TLB_LEVELS, NULL, 0 },
	SHAPE(sim_tlb, shape),
	{ "pages", "sizes", "page sizes that it holds", FIELD_PAGES, 0, true, true, 0, 0, NULL, 0 },
	{ "splits", "flag", "larger pages are held in parts of its largest size", FIELD_FLAG,
	  AT(sim_tlb, splits), false, true, 0, 0, NULL, 0 },
	{ "pinned", "entries", "entries that the kernel pins", FIELD_COUNT, AT(sim_tlb, pinned),
	  false, true, 0, 1048575, NULL, 0 },
	{ "hit_cycles", "cycles", "added to a reference that hits here", FIELD_REAL,
	  AT(sim_tlb, hit_cycles), false, true, 0, CYCLES_MAX, NULL, 0 },
	{ "holds_level", "level", "table entries of this level compete for its entries; 0: none",
	  FIELD_COUNT, AT(sim_tlb, holds_level), false, true, 0, SIM_LEVELS_MAX, NULL, 0 },
	{ "holds_vhpt", "flag", "translations of the linear table compete for its entries",
	  FIELD_FLAG, AT(sim_tlb, holds_vhpt), false, true, 0, 0, NULL, 0 },
	{ "skips_first_cache", "flag", "a miss here keeps the data access from the first cache",
	  FIELD_FLAG, AT(sim_tlb, skips_first_cache), false, true, 0, 0, NULL, 0 },
	{ 0 }
};

static const struct field walker_fields[] = {
	{ "kind", "word", "radix: hardware; vhpt: linear table and a software handler",
	  FIELD_CHOICE, AT(sim_walker, kind), true, true, 0, 0, walker_words, 0 },
	{ "start_cycles", "cycles", "of each walk, beside its reads", FIELD_REAL,
	  AT(sim_walker, start_cycles), true, true, 0, CYCLES_MAX, NULL, 0 },
	{ "step_cycles", "cycles", "of each read, beside the cache", FIELD_REAL,
	  AT(sim_walker, step_cycles), false, true, 0, CYCLES_MAX, NULL, 0 },
	{ "first_cache", "level", "the first cache that reads of tables ask", FIELD_COUNT,
	  AT(sim_walker, first_cache), true, true, 1, SIM_CACHES_MAX, NULL, 0 },
	{ "parallel", "walks", "walks at once", FIELD_COUNT, AT(sim_walker, parallel), false, true,
	  1, 1024, NULL, 1 },
	{ "handler_cycles", "cycles", "vhpt: the software handler, beside its reads", FIELD_REAL,
	  AT(sim_walker, handler_cycles), false, true, 0, CYCLES_MAX, NULL, 0 },
	{ 0 }
};

static const struct field walk_cache_fields[] = {
	{ "level", "level", "of the table entries that it holds; 1 is the leaf's", FIELD_COUNT,
	  AT(sim_walk_cache, level), true, false, 2, SIM_LEVELS_MAX, NULL, 0 },
	SHAPE(sim_walk_cache, shape),
	{ 0 }
};

static const struct field cache_fields[] = {
	{ "name", "text", "what it is called", FIELD_TEXT, AT(sim_cache, name), true, false, 0, 0,
	  NULL, 0 },
	{ "size", "size", "what this CPU can use of it", FIELD_SIZE, AT(sim_cache, size_bytes),
	  true, true, 64, (double)(UINT64_C(1) << 31), NULL, 0 },
	{ "ways", "ways", "lines of a set; 0: fully associative", FIELD_COUNT, AT(sim_cache, ways),
	  true, true, 0, 4096, NULL, 0 },
	{ "line", "bytes", "size of a line", FIELD_COUNT, AT(sim_cache, line_bytes), true, true, 16,
	  1024, NULL, 0 },
	{ "index", "word", "which set: low bits, two groups of bits xored, or all bits",
	  FIELD_CHOICE, AT(sim_cache, index), false, true, 0, 0, index_words, 0 },
	{ "policy", "word", "what is replaced", FIELD_CHOICE, AT(sim_cache, policy), false, true, 0,
	  0, policy_words, 0 },
	{ "relation", "word", "to the caches before it", FIELD_CHOICE, AT(sim_cache, relation),
	  false, true, 0, 0, relation_words, 0 },
	{ "hit_cycles", "cycles", "load to use", FIELD_REAL, AT(sim_cache, hit_cycles), true, true,
	  0, CYCLES_MAX, NULL, 0 },
	{ 0 }
};

static const struct field alias_fields[] = {
	{ "rule", "word", "what makes two addresses of one line differ in the first cache",
	  FIELD_CHOICE, AT(sim_alias, rule), true, true, 0, 0, alias_words, 0 },
	{ "pairs", "bits", "utag: pairs of address bits that cancel", FIELD_PAIRS, 0, false, true,
	  0, 0, NULL, 0 },
	{ "miss_cycles", "cycles", "of an access through another alias", FIELD_REAL,
	  AT(sim_alias, miss_cycles), false, true, 0, CYCLES_MAX, NULL, 0 },
	{ 0 }
};

static const struct field memory_fields[] = {
	{ "nodes", "nodes", "memory nodes", FIELD_COUNT, AT(sim_memory, nodes), true, true, 1,
	  SIM_NODES_MAX, NULL, 0 },
	{ "local_ns", "ns", "load to use, from the CPU's own node", FIELD_REAL,
	  AT(sim_memory, local_ns), true, true, 1, NS_MAX, NULL, 0 },
	{ "remote_ns", "ns", "from another node", FIELD_REAL, AT(sim_memory, remote_ns), true, true,
	  1, NS_MAX, NULL, 0 },
	{ "latency_ns", "ns", "instead of both: a row for each node of a CPU", FIELD_MATRIX, 0,
	  false, true, 1, NS_MAX, NULL, 0 },
	{ 0 }
};

static const struct field far_fields[] = {
	{ "label", "text", "what it may be: printed wherever it has a share", FIELD_TEXT,
	  AT(sim_far_side, label), true, false, 0, 0, NULL, 0 },
	SHAPE(sim_far_side, shape),
	{ "miss_ns", "ns", "added to an access of memory whose line it does not know", FIELD_REAL,
	  AT(sim_far_side, miss_ns), true, true, 0, NS_MAX, NULL, 0 },
	{ 0 }
};

static const struct field text_fields[] = {
	{ "home_node", "node", "where the kernel's only copy of its text is", FIELD_COUNT,
	  AT(sim_text, home_node), false, true, 0, SIM_NODES_MAX - 1, NULL, 0 },
	{ "replicated", "flag", "a copy on each node", FIELD_FLAG, AT(sim_text, replicated), false,
	  true, 0, 0, NULL, 0 },
	{ 0 }
};

#define ONE(section, member, needed, fields)                                           \
	{                                                                              \
		section, offsetof(struct sim_machine, member), 0, 0, 0, needed, fields \
	}
#define MANY(section, member, type, most, n, needed, fields)                              \
	{                                                                                 \
		section, offsetof(struct sim_machine, member), sizeof(struct type), most, \
			offsetof(struct sim_machine, n), needed, fields                   \
	}

const struct section sim_sections[] = {
	ONE("core", core, true, core_fields),
	MANY("tlbs", tlbs, sim_tlb, SIM_TLBS_MAX, n_tlbs, false, tlb_fields),
	ONE("walker", walker, true, walker_fields),
	MANY("walk_caches", walk_caches, sim_walk_cache, SIM_LEVELS_MAX, n_walk_caches, false,
	     walk_cache_fields),
	MANY("host_walk_caches", host_walk_caches, sim_walk_cache, SIM_LEVELS_MAX,
	     n_host_walk_caches, false, walk_cache_fields),
	MANY("caches", caches, sim_cache, SIM_CACHES_MAX, n_caches, true, cache_fields),
	ONE("alias", alias, false, alias_fields),
	ONE("memory", memory, true, memory_fields),
	ONE("far_side", far_side, false, far_fields),
	ONE("text", text, false, text_fields),
	{ 0 },
};

struct sim_field_doc sim_field_doc(size_t i)
{
	struct sim_field_doc d = { 0 };

	for (const struct section *s = sim_sections; s->name; s++) {
		for (const struct field *f = s->fields; f->key; f++, i--) {
			if (i > 0)
				continue;
			d = (struct sim_field_doc){ s->name, f->key, f->unit, f->summary,
						    f->is_figure };
			return d;
		}
	}
	return d;
}
