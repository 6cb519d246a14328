// SPDX-License-Identifier: MIT
/* What a machine must hold beyond its single fields; its sources; writing it; copies. */
#include "sim/machine.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "sim/fields.h"

void sim_machine_free(struct sim_machine *m)
{
	if (!m)
		return;
	arena_done(&m->arena);
	free(m);
}

/* --- sources --- */

bool sim_source_is_assumed(const char *source)
{
	return strcmp(source, "assumed") == 0 || strncmp(source, "assumed:", 8) == 0;
}

const char *sim_machine_source(const struct sim_machine *m, const char *path)
{
	for (size_t i = 0; i < m->n_origins; i++)
		if (strcmp(m->origins[i].path, path) == 0)
			return m->origins[i].source;
	return NULL;
}

int sim_machine_set_source(struct sim_machine *m, const char *path, const char *source)
{
	const char *copy = arena_strdup(&m->arena, source);
	struct sim_origin *o;

	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < m->n_origins; i++) {
		if (strcmp(m->origins[i].path, path) == 0) {
			m->origins[i].source = copy;
			return 0;
		}
	}
	if (arena_grow(&m->arena, &m->origins, m->n_origins, &m->cap_origins, sizeof(*o)) < 0)
		return -ENOMEM;
	o = &m->origins[m->n_origins];
	o->source = copy;
	o->path = arena_strdup(&m->arena, path);
	if (!o->path)
		return -ENOMEM;
	m->n_origins++;
	return 0;
}

size_t sim_machine_count_assumed(const struct sim_machine *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_origins; i++)
		n += sim_source_is_assumed(m->origins[i].source);
	return n;
}

/* --- checks --- */

static bool is_power(uint64_t v)
{
	return v && (v & (v - 1)) == 0;
}

static int check_shape(const char *path, const struct sim_shape *s, struct err *e)
{
	const uint32_t ways = s->ways ? s->ways : s->entries;

	if (s->entries == 0 || ways > 4096)
		return err_set(e, EINVAL, "%s: %u entries in sets of %u; accepted: 1 to 4096 ways",
			       path, s->entries, ways);
	if (s->entries % ways)
		return err_set(e, EINVAL, "%s: %u entries are no whole number of sets of %u ways",
			       path, s->entries, ways);
	if (s->policy == SIM_PLRU && (!is_power(ways) || ways > 64 || ways < 2))
		return err_set(e, EINVAL, "%s: plru needs 2, 4, 8, 16, 32 or 64 ways, these are %u",
			       path, ways);
	if (s->index == SIM_XOR && !is_power(s->entries / ways))
		return err_set(e, EINVAL, "%s: index xor needs a power of two of sets, not %u",
			       path, s->entries / ways);
	return 0;
}

static int check_tlbs(const struct sim_machine *m, struct err *e)
{
	char path[64];
	int rc = 0;

	for (size_t i = 0; i < m->n_tlbs && rc == 0; i++) {
		const struct sim_tlb *t = &m->tlbs[i];
		struct sim_shape shape = t->shape;

		snprintf(path, sizeof(path), "tlbs[%zu]", i);
		if (t->pinned && (t->shape.ways || t->pinned >= t->shape.entries))
			return err_set(e, EINVAL,
				       "%s.pinned: %u of %u; entries can be pinned in a fully "
				       "associative TLB, and not all",
				       path, t->pinned, t->shape.entries);
		if (t->holds_level == 1 || (t->holds_vhpt && m->walker.kind != SIM_VHPT))
			return err_set(e, EINVAL,
				       "%s: holds_level is 2 or more; holds_vhpt needs a walker "
				       "of that kind",
				       path);
		shape.entries -= t->pinned;
		rc = check_shape(path, &shape, e);
	}
	return rc;
}

static int check_walk_caches(const struct sim_machine *m, const struct sim_walk_cache *c, size_t n,
			     const char *name, struct err *e)
{
	char path[64];
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++) {
		snprintf(path, sizeof(path), "%s[%zu]", name, i);
		for (size_t k = 0; k < i; k++)
			if (c[k].level == c[i].level)
				return err_set(e, EINVAL, "%s.level: %u has one already", path,
					       c[i].level);
		for (size_t k = 0; c == m->walk_caches && k < m->n_tlbs; k++)
			if (m->tlbs[k].holds_level == c[i].level)
				return err_set(e, EINVAL,
					       "%s.level: %u is held by tlbs[%zu] already", path,
					       c[i].level, k);
		rc = check_shape(path, &c[i].shape, e);
	}
	return rc;
}

static int check_caches(const struct sim_machine *m, struct err *e)
{
	char path[64];
	int rc = 0;

	if (m->n_caches == 0)
		return err_set(e, EINVAL, "caches: at least one is needed");
	if (m->walker.first_cache > m->n_caches)
		return err_set(e, EINVAL, "walker.first_cache: %u of %zu", m->walker.first_cache,
			       m->n_caches);
	for (size_t i = 0; i < m->n_caches && rc == 0; i++) {
		const struct sim_cache *c = &m->caches[i];
		struct sim_shape shape = { .ways = c->ways,
					   .policy = c->policy,
					   .index = c->index };

		snprintf(path, sizeof(path), "caches[%zu]", i);
		if (!is_power(c->line_bytes) || c->size_bytes % c->line_bytes)
			return err_set(e, EINVAL,
				       "%s: lines are powers of two, and a size is whole lines",
				       path);
		if (i > 0 && c->line_bytes < m->caches[i - 1].line_bytes)
			return err_set(e, EINVAL, "%s.line: shorter than that of the cache before",
				       path);
		if (c->relation != SIM_NON_INCLUSIVE && i == 0)
			return err_set(e, EINVAL, "%s.relation: there is no cache before it", path);
		if (c->relation == SIM_VICTIM && c->line_bytes != m->caches[i - 1].line_bytes)
			return err_set(e, EINVAL,
				       "%s: a victim cache has the lines of the one before", path);
		shape.entries = (uint32_t)(c->size_bytes / c->line_bytes);
		rc = check_shape(path, &shape, e);
	}
	return rc;
}

static int check_alias(const struct sim_machine *m, struct err *e)
{
	const struct sim_alias *a = &m->alias;

	if (a->rule == SIM_ALIAS_UTAG && a->n_pairs == 0)
		return err_set(e, EINVAL, "alias.pairs: utag needs them");
	if (a->rule != SIM_ALIAS_UTAG && a->n_pairs)
		return err_set(e, EINVAL, "alias.pairs: only utag has them");
	if (a->rule != SIM_ALIAS_NONE && (m->caches[0].ways == 0 || m->caches[0].ways > 16))
		return err_set(e, EINVAL, "alias.rule: needs a first cache of 1 to 16 ways");
	for (size_t i = 0; i < a->n_pairs; i++)
		if (a->low[i] >= a->high[i])
			return err_set(e, EINVAL, "alias.pairs: the lower bit comes first");
	return 0;
}

int sim_machine_check(const struct sim_machine *m, struct err *e)
{
	int rc;

	if (!is_power(m->core.page_bytes))
		return err_set(e, EINVAL, "core.page: a power of two is accepted");
	if (m->core.page_bytes > 16384 && m->core.levels > 4)
		return err_set(e, EINVAL, "core.levels: tables of such pages have up to 4");
	if (m->text.home_node >= m->memory.nodes)
		return err_set(e, EINVAL, "text.home_node: %u of %u nodes", m->text.home_node,
			       m->memory.nodes);
	rc = check_tlbs(m, e);
	if (rc == 0)
		rc = check_walk_caches(m, m->walk_caches, m->n_walk_caches, "walk_caches", e);
	if (rc == 0)
		rc = check_walk_caches(m, m->host_walk_caches, m->n_host_walk_caches,
				       "host_walk_caches", e);
	if (rc == 0)
		rc = check_caches(m, e);
	if (rc == 0)
		rc = check_alias(m, e);
	if (rc == 0 && m->far_side.present)
		rc = check_shape("far_side", &m->far_side.shape, e);
	return rc;
}

/* --- writing --- */

static json_t *sizes_json(const struct sim_tlb *t)
{
	json_t *a = json_array();
	char size[UNITS_TEXT_BYTES];

	for (size_t i = 0; i < t->n_pages; i++)
		json_array_append_new(a, json_string(format_size(size, t->pages[i])));
	return a;
}

static json_t *pairs_json(const struct sim_alias *x)
{
	json_t *a = x->n_pairs ? json_array() : NULL;

	for (size_t i = 0; i < x->n_pairs; i++)
		json_array_append_new(a, json_pack("[ii]", (int)x->low[i], (int)x->high[i]));
	return a;
}

static json_t *number_json(double v)
{
	return v == floor(v) && fabs(v) < 1e15 ? json_integer((json_int_t)v) : json_real(v);
}

static json_t *matrix_json(const struct sim_memory *mem)
{
	json_t *a = mem->latency_ns ? json_array() : NULL;

	for (uint32_t i = 0; a && i < mem->nodes; i++) {
		json_t *row = json_array();

		for (uint32_t k = 0; k < mem->nodes; k++)
			json_array_append_new(row,
					      number_json(mem->latency_ns[i * mem->nodes + k]));
		json_array_append_new(a, row);
	}
	return a;
}

/* NULL: not to be written. */
static json_t *value_json(const struct field *f, const char *base)
{
	const void *at = base + f->offset;
	char size[UNITS_TEXT_BYTES];

	switch (f->kind) {
	case FIELD_TEXT:
		return json_string(*(const char *const *)at);
	case FIELD_REAL:
		return number_json(*(const double *)at);
	case FIELD_COUNT:
		return json_integer(*(const uint32_t *)at);
	case FIELD_SIZE:
		return json_string(format_size(size, *(const uint64_t *)at));
	case FIELD_FLAG:
		return json_boolean(*(const bool *)at);
	case FIELD_CHOICE:
		return json_string(f->choices[*(const int *)at]);
	case FIELD_PAGES:
		return sizes_json((const struct sim_tlb *)(const void *)base);
	case FIELD_PAIRS:
		return pairs_json((const struct sim_alias *)(const void *)base);
	case FIELD_MATRIX:
		return matrix_json((const struct sim_memory *)(const void *)base);
	}
	return NULL;
}

/* Figures without a source are at their defaults, and are left out. */
static json_t *object_json(const struct sim_machine *m, const struct section *s, const char *path,
			   const char *base)
{
	json_t *o = json_object(), *sources = json_object();
	char full[128];

	for (const struct field *f = s->fields; f->key; f++) {
		const char *source;

		snprintf(full, sizeof(full), "%s.%s", path, f->key);
		source = sim_machine_source(m, full);
		if (f->is_figure && !source)
			continue;
		if (source)
			json_object_set_new(sources, f->key, json_string(source));
		json_object_set_new(o, f->key, value_json(f, base));
	}
	if (json_object_size(sources))
		json_object_set_new(o, "source", sources);
	else
		json_decref(sources);
	return o;
}

static json_t *section_json(const struct sim_machine *m, const struct section *s)
{
	const char *base = (const char *)m + s->offset;
	size_t n;
	char path[64];
	json_t *a;

	if (s->max == 0)
		return object_json(m, s, s->name, base);
	a = json_array();
	memcpy(&n, (const char *)m + s->count_offset, sizeof(n));
	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s[%zu]", s->name, i);
		json_array_append_new(a, object_json(m, s, path, base + i * s->element_bytes));
	}
	return a;
}

static bool is_present(const struct sim_machine *m, const struct section *s)
{
	char prefix[64];
	const size_t n =
		(size_t)snprintf(prefix, sizeof(prefix), "%s%c", s->name, s->max ? '[' : '.');

	for (size_t i = 0; i < m->n_origins; i++)
		if (strncmp(m->origins[i].path, prefix, n) == 0)
			return strcmp(s->name, "far_side") != 0 || m->far_side.present;
	return false;
}

int sim_machine_text(struct str *out, const struct sim_machine *m)
{
	json_t *o = json_pack("{si ss ss so}", "schema", SIM_FILE_VERSION, "name", m->name,
			      "summary", m->summary, "sources", json_object());
	char *text;

	for (size_t i = 0; i < m->n_sources; i++)
		json_object_set_new(json_object_get(o, "sources"), m->sources[i].key,
				    json_string(m->sources[i].text));
	for (const struct section *s = sim_sections; s->name; s++)
		if (is_present(m, s))
			json_object_set_new(o, s->name, section_json(m, s));
	text = json_dumps(o, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
	json_decref(o);
	if (!text)
		return -ENOMEM;
	str_add(out, text);
	str_add(out, "\n");
	free(text);
	return out->failed ? -ENOMEM : 0;
}

/* --- copies --- */

static int copy_names(struct sim_machine *to)
{
	struct arena *a = &to->arena;

	to->name = arena_strdup(a, to->name);
	to->summary = arena_strdup(a, to->summary);
	for (size_t i = 0; i < to->n_tlbs; i++)
		to->tlbs[i].name = arena_strdup(a, to->tlbs[i].name);
	for (size_t i = 0; i < to->n_caches; i++)
		to->caches[i].name = arena_strdup(a, to->caches[i].name);
	if (to->far_side.label)
		to->far_side.label = arena_strdup(a, to->far_side.label);
	if (to->memory.latency_ns) {
		const size_t bytes = (size_t)to->memory.nodes * to->memory.nodes * sizeof(double);
		double *copy = arena_alloc(a, bytes);

		if (!copy)
			return -ENOMEM;
		memcpy(copy, to->memory.latency_ns, bytes);
		to->memory.latency_ns = copy;
	}
	return to->name && to->summary ? 0 : -ENOMEM;
}

struct sim_machine *sim_machine_copy(const struct sim_machine *m)
{
	struct sim_machine *to = malloc(sizeof(*to));
	int rc;

	if (!to)
		return NULL;
	*to = *m;
	to->arena = (struct arena){ 0 };
	to->origins = NULL;
	to->n_origins = to->cap_origins = 0;
	to->sources = arena_alloc(&to->arena, (m->n_sources + 1) * sizeof(*to->sources));
	to->cap_sources = m->n_sources + 1;
	rc = to->sources ? copy_names(to) : -ENOMEM;
	for (size_t i = 0; i < m->n_sources && rc == 0; i++) {
		to->sources[i].key = arena_strdup(&to->arena, m->sources[i].key);
		to->sources[i].text = arena_strdup(&to->arena, m->sources[i].text);
		rc = to->sources[i].key && to->sources[i].text ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < m->n_origins && rc == 0; i++)
		rc = sim_machine_set_source(to, m->origins[i].path, m->origins[i].source);
	if (rc < 0) {
		sim_machine_free(to);
		return NULL;
	}
	return to;
}
