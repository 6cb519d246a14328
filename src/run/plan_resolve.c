/* SPDX-License-Identifier: MIT */
/*
 * What the words of a setting mean on this machine: page sizes, strides in bytes, the CPU, nodes.
 * Two kinds of no: what this machine has not got is the reason of a skip (with its remedy); what
 * nobody can have meant (CPU 99 of 2) is an error that lists what there is.
 */
#include "run/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct resolving {
	struct arena *a;
	const struct machine *m;
	struct bench_setting *s;
	const char *skip;    /* the first reason */
	uint64_t page_bytes; /* of the pages in use */
	uint32_t cpu;
};

static int set_int(struct resolving *r, const char *param, const char *field, uint64_t value,
		   struct err *e)
{
	char name[96];

	snprintf(name, sizeof(name), "%s.%s", param, field);
	if (attrs_set_int(r->a, &r->s->resolved, name, (int64_t)value) < 0)
		return err_set(e, ENOMEM, "out of memory");
	return 0;
}

static int skip(struct resolving *r, const char *why, const char *param, const char *word,
		struct err *e)
{
	const char *text = arena_printf(r->a, "%s (%s=%s)", why, param, word);

	if (!text)
		return err_set(e, ENOMEM, "out of memory");
	if (!r->skip)
		r->skip = text;
	return 0;
}

static const char *const kind_words[] = { "base", "mthp", "thp", "hugetlb" };

static int resolve_page(struct resolving *r, const char *name, const char *word, struct err *e)
{
	const struct page_size *page = plan_page(r->m, word, e);
	char field[96];

	if (!page) {
		err_prefix(e, "%s: ", name);
		return -EINVAL;
	}
	if (!page->usable) {
		int rc = skip(r, page->reason, name, word, e);

		if (rc < 0)
			return rc;
	}
	if (!r->page_bytes)
		r->page_bytes = page->bytes;
	snprintf(field, sizeof(field), "%s.kind", name);
	if (attrs_set_text(r->a, &r->s->resolved, field, kind_words[page->kind]) < 0)
		return err_set(e, ENOMEM, "out of memory");
	return set_int(r, name, "bytes", page->bytes, e);
}

static int resolve_stride(struct resolving *r, const struct param *p, const char *word,
			  struct err *e)
{
	char low[UNITS_TEXT_BYTES], high[UNITS_TEXT_BYTES];
	const char *name = p->name;
	uint64_t page = r->page_bytes ? r->page_bytes : r->m->page_bytes;
	struct plan_stride s;
	int rc = plan_stride_parse(r->a, r->m, page, word, &s, e);

	if (rc < 0) {
		err_prefix(e, "%s: ", name);
		return rc;
	}
	if (s.bytes < p->min || (p->max && s.bytes > p->max))
		return err_set(e, ERANGE, "%s=%s is out of range; accepted: %s to %s", name, word,
			       format_size(low, p->min),
			       format_size(high, p->max ? p->max : (uint64_t)INT64_MAX));
	rc = set_int(r, name, "bytes", s.bytes, e);
	return rc < 0 ? rc : set_int(r, name, "base_bytes", s.base_bytes, e);
}

/* Ids of CPUs or nodes as a kernel list, "" when memory ran out. */
static void list_ids(char *buf, size_t bytes, uint32_t *ids, size_t n)
{
	struct u32_list l = { .v = ids, .n = n };
	char *text = format_u32_list(&l);

	snprintf(buf, bytes, "%s", text ? text : "");
	free(text);
}

static void list_cpus(const struct machine *m, char *buf, size_t bytes)
{
	uint32_t *ids = calloc(m->n_cpus + 1, sizeof(*ids));
	size_t n = 0;

	for (size_t i = 0; ids && i < m->n_cpus; i++)
		if (m->cpus[i].online && m->cpus[i].allowed)
			ids[n++] = m->cpus[i].id;
	list_ids(buf, bytes, ids, n);
	free(ids);
}

static bool node_is_usable(const struct node *n)
{
	return n->has_memory && n->mem_allowed;
}

static void list_nodes(const struct machine *m, bool usable_only, char *buf, size_t bytes)
{
	uint32_t *ids = calloc(m->n_nodes + 1, sizeof(*ids));
	size_t n = 0;

	for (size_t i = 0; ids && i < m->n_nodes; i++)
		if (!usable_only || node_is_usable(&m->nodes[i]))
			ids[n++] = m->nodes[i].id;
	list_ids(buf, bytes, ids, n);
	free(ids);
}

/* Ids in settings come from plan_expand() and are digits; larger than any id counts as absent. */
static uint32_t parse_id(const char *word)
{
	uint64_t v;

	if (parse_u64(word, &v, NULL) < 0 || v > UINT32_MAX - 1)
		return UINT32_MAX;
	return (uint32_t)v;
}

/* Benchmarks that use several CPUs use these, the measuring one among them. */
static int set_allowed(struct resolving *r, const char *param, struct err *e)
{
	char name[96], ids[16384];

	list_cpus(r->m, ids, sizeof(ids));
	snprintf(name, sizeof(name), "%s.allowed", param);
	if (attrs_set_text(r->a, &r->s->resolved, name, ids) < 0)
		return err_set(e, ENOMEM, "out of memory");
	return 0;
}

static int resolve_cpu(struct resolving *r, const char *name, const char *word, struct err *e)
{
	const struct cpu *c;
	char ids[200];
	int rc;

	if (strcmp(word, "auto") == 0) {
		rc = machine_choose_cpu(r->m, &r->cpu, e);
		if (rc < 0)
			return rc;
		rc = set_int(r, name, "id", r->cpu, e);
		return rc < 0 ? rc : set_allowed(r, name, e);
	}
	c = machine_cpu(r->m, parse_id(word));
	list_cpus(r->m, ids, sizeof(ids));
	if (!c)
		return err_set(e, EINVAL, "%s=%s: there is no such CPU; allowed here: %s", name,
			       word, ids);
	if (!c->online)
		return err_set(e, EINVAL, "%s=%s: that CPU is offline; allowed here: %s", name,
			       word, ids);
	if (!c->allowed)
		return err_set(e, EINVAL,
			       "%s=%s: that CPU is outside of this process's affinity or cpuset; "
			       "allowed here: %s",
			       name, word, ids);
	r->cpu = c->id;
	rc = set_int(r, name, "id", c->id, e);
	return rc < 0 ? rc : set_allowed(r, name, e);
}

/*
 * A node parameter that can be switched off by a word means a load, which needs a CPU of its own
 * beside the measuring one: p.cpu, -1 for those words.
 */
static int resolve_load_cpu(struct resolving *r, const struct param *p, const char *word,
			    uint32_t node, struct err *e)
{
	struct err why = { 0 };
	uint32_t cpu = 0;
	int rc;

	if (!p->choices)
		return 0;
	rc = machine_choose_load_cpu(r->m, node, r->cpu, &cpu, &why);
	if (rc < 0)
		return skip(r, why.msg, p->name, word, e);
	return set_int(r, p->name, "cpu", cpu, e);
}

static int resolve_node_id(struct resolving *r, const char *name, const char *word,
			   uint32_t *ret_node, struct err *e)
{
	const struct node *n = machine_node(r->m, parse_id(word));
	char ids[200];

	if (!n) {
		list_nodes(r->m, false, ids, sizeof(ids));
		return err_set(e, EINVAL, "%s=%s: there is no such node; nodes here: %s", name,
			       word, ids);
	}
	list_nodes(r->m, true, ids, sizeof(ids));
	if (!n->has_memory)
		return err_set(e, EINVAL,
			       "%s=%s: that node has no memory; nodes with memory here: %s", name,
			       word, ids);
	if (!n->mem_allowed)
		return err_set(e, EINVAL,
			       "%s=%s: this process may not use that node's memory (cpuset); "
			       "allowed here: %s",
			       name, word, ids);
	*ret_node = n->id;
	return 0;
}

/* Page tables cannot be moved, so the kernel keeps them out of memory that has to be movable. */
static int refuse_movable(struct resolving *r, const char *name, const char *word, uint32_t node,
			  struct err *e)
{
	const struct node *n = machine_node(r->m, node);
	char why[128];

	if (!n || !n->movable_only)
		return 0;
	snprintf(why, sizeof(why),
		 "node %u has movable memory only, which holds no page tables "
		 "(has_normal_memory)",
		 node);
	return skip(r, why, name, word, e);
}

/* The node that measures: it decides on the CPU. */
static int resolve_place(struct resolving *r, const struct param *p, const char *word,
			 struct err *e)
{
	bool is_auto = strcmp(attrs_text(&r->s->given, "cpu", "auto"), "auto") == 0;
	struct err why = { 0 };
	uint32_t node = 0;
	int rc = plan_place(r->m, word, is_auto, &r->cpu, &node, &why, e);

	if (rc < 0)
		return why.code ? skip(r, why.msg, p->name, word, e) : rc;
	rc = set_int(r, "cpu", "id", r->cpu, e);
	return rc < 0 ? rc : set_int(r, p->name, "node", node, e);
}

static int resolve_node(struct resolving *r, const struct param *p, const char *word, struct err *e)
{
	struct err why = { 0 };
	uint32_t node = 0;
	int rc = 0;

	if (strcmp(p->name, "node") == 0)
		return resolve_place(r, p, word, e);
	for (size_t i = 0; p->choices && p->choices[i]; i++) {
		if (strcmp(p->choices[i], word) != 0)
			continue;
		rc = set_int(r, p->name, "node", (uint64_t)-1, e);
		return rc < 0 ? rc : set_int(r, p->name, "cpu", (uint64_t)-1, e);
	}
	if (strcmp(word, "local") == 0)
		rc = machine_local_node(r->m, r->cpu, &node, &why);
	else if (strcmp(word, "remote") == 0)
		rc = machine_remote_node(r->m, r->cpu, &node, &why);
	if (rc < 0)
		return skip(r, why.msg, p->name, word, e);
	if (word[0] >= '0' && word[0] <= '9')
		rc = resolve_node_id(r, p->name, word, &node, e);
	if (rc == 0 && strcmp(p->name, "page-tables") == 0)
		rc = refuse_movable(r, p->name, word, node, e);
	if (rc == 0)
		rc = set_int(r, p->name, "node", node, e);
	return rc < 0 ? rc : resolve_load_cpu(r, p, word, node, e);
}

/* Strides need the page size, nodes need the CPU: two passes over the parameters. */
static int pass_of(enum param_type t)
{
	return t == PARAM_PAGE || t == PARAM_CPU ? 0 : t == PARAM_STRIDE || t == PARAM_NODE ? 1 : 2;
}

static int resolve_param(struct resolving *r, const struct param *p, const char *word,
			 struct err *e)
{
	switch (p->type) {
	case PARAM_PAGE:
		return resolve_page(r, p->name, word, e);
	case PARAM_CPU:
		return resolve_cpu(r, p->name, word, e);
	case PARAM_STRIDE:
		return resolve_stride(r, p, word, e);
	case PARAM_NODE:
		return resolve_node(r, p, word, e);
	default:
		return 0;
	}
}

int plan_resolve(struct arena *a, const struct machine *m, const struct bench *b,
		 struct bench_setting *s, const char **ret_skip, struct err *e)
{
	struct resolving r = { .a = a, .m = m, .s = s };
	bool has_cpu = false;

	for (const struct param *p = b->schema.params; p && p->name; p++)
		has_cpu = has_cpu || p->type == PARAM_CPU;
	if (!has_cpu) {
		int rc = machine_choose_cpu(m, &r.cpu, e);

		if (rc < 0)
			return rc;
	}
	for (int pass = 0; pass < 2; pass++) {
		for (const struct param *p = b->schema.params; p && p->name; p++) {
			const char *word = attrs_text(&s->given, p->name, NULL);
			int rc;

			if (!word || pass_of(p->type) != pass)
				continue;
			rc = resolve_param(&r, p, word, e);
			if (rc < 0)
				return rc;
		}
	}
	*ret_skip = r.skip;
	return r.skip ? 0 : plan_resolve_pair(a, m, b, s, ret_skip, e);
}
