// SPDX-License-Identifier: MIT
#include "cli/predict_setup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/tables.h"
#include "base/units.h"

const char *const predict_words[] = { "levels",       "nested",     "host-page",
				      "table-align",  "far-side",   "kernel-text",
				      "dtlb-entries", "text-lines", "data-lines",
				      "hot-ns",       NULL };

/* --- a machine as the planner knows them --- */

enum { PLAN_CPUS_A_NODE = 2 };
static const uint64_t PLENTY = UINT64_C(1) << 58;

static void add_page(struct machine *m, enum page_kind kind, uint64_t bytes, const char *name)
{
	struct page_size *p = &m->pages[m->n_pages++];

	p->kind = kind;
	p->bytes = bytes;
	snprintf(p->name, sizeof(p->name), "%.23s", name);
	p->usable = true;
	p->zero_page = kind == PAGE_KIND_BASE || kind == PAGE_KIND_THP;
	p->pool_pages = p->pool_free = PLENTY >> 12;
}

static int add_pages(struct machine *m)
{
	char size[UNITS_TEXT_BYTES], name[24 + UNITS_TEXT_BYTES];

	m->pages = calloc(4, sizeof(*m->pages));
	if (!m->pages)
		return -ENOMEM;
	add_page(m, PAGE_KIND_BASE, m->page_bytes, format_size(size, m->page_bytes));
	add_page(m, PAGE_KIND_THP, m->leaf_table_span, "thp");
	snprintf(name, sizeof(name), "hugetlb-%s", format_size(size, m->leaf_table_span));
	add_page(m, PAGE_KIND_HUGETLB, m->leaf_table_span, name);
	if (m->pmd_table_span <= UINT64_C(1) << 40) {
		snprintf(name, sizeof(name), "hugetlb-%s", format_size(size, m->pmd_table_span));
		add_page(m, PAGE_KIND_HUGETLB, m->pmd_table_span, name);
	}
	return 0;
}

static int add_node(struct machine *m, uint32_t id, const struct sim_machine *d)
{
	struct node *n = &m->nodes[id];

	n->id = id;
	n->has_cpus = n->has_memory = n->mem_allowed = true;
	n->total_bytes = n->free_bytes = PLENTY;
	n->cpus.v = calloc(PLAN_CPUS_A_NODE, sizeof(*n->cpus.v));
	n->distance = calloc(m->n_nodes, sizeof(*n->distance));
	if (!n->cpus.v || !n->distance)
		return -ENOMEM;
	for (uint32_t k = 0; k < m->n_nodes; k++)
		n->distance[k] =
			d ? (uint32_t)(10 * sim_latency_ns(d, id, k) / sim_latency_ns(d, id, id))
			  : 10;
	for (uint32_t k = 0; k < PLAN_CPUS_A_NODE; k++) {
		const uint32_t cpu = id * PLAN_CPUS_A_NODE + k;

		m->cpus[cpu] = (struct cpu){ .id = cpu,
					     .node = (int32_t)id,
					     .online = true,
					     .allowed = true,
					     .package = id,
					     .core = cpu,
					     .capacity = 1024 };
		n->cpus.v[n->cpus.n++] = cpu;
	}
	m->n_cpus += PLAN_CPUS_A_NODE;
	return 0;
}

/* Of the half of all addresses that a process has; none has more than 56 bits. */
static unsigned address_bits(uint64_t page_bytes, uint32_t levels)
{
	const unsigned shift = (unsigned)__builtin_ctzll(page_bytes);
	const unsigned bits = shift + levels * (shift - 3);

	return (bits > 57 ? 57 : bits) - 1;
}

static int make_ours(struct machine *m, const struct sim_machine *d, uint64_t page_bytes,
		     uint32_t levels)
{
	const uint32_t nodes = d ? d->memory.nodes : 1;
	int rc;

	memset(m, 0, sizeof(*m));
	snprintf(m->model, sizeof(m->model), "%s", d ? d->summary : "geometry alone");
	snprintf(m->arch, sizeof(m->arch), "described");
	m->page_bytes = page_bytes;
	m->leaf_table_span = tables_span(page_bytes, 0);
	m->pmd_table_span = tables_span(page_bytes, 1);
	m->pud_table_span = tables_span(page_bytes, 2);
	m->p4d_table_span = tables_span(page_bytes, 3);
	if (m->p4d_table_span == UINT64_MAX)
		m->p4d_table_span = 0;
	m->paging_levels = levels;
	m->address_bits = address_bits(page_bytes, levels);
	m->hugetlb_bytes = m->leaf_table_span;
	m->has_numa = true;
	m->n_nodes = nodes;
	m->nodes = calloc(nodes, sizeof(*m->nodes));
	m->cpus = calloc((size_t)nodes * PLAN_CPUS_A_NODE, sizeof(*m->cpus));
	m->budget_bytes = PLENTY;
	rc = m->nodes && m->cpus ? add_pages(m) : -ENOMEM;
	for (uint32_t i = 0; i < nodes && rc == 0; i++)
		rc = add_node(m, i, d);
	return rc;
}

/* --- words of the model --- */

static int no_such(struct err *e, const char *name, const char *value, const char *accepted)
{
	return err_set(e, EINVAL, "%s=%s; accepted: %s", name, value, accepted);
}

static int two_words(const char *name, const char *value, const char *no, const char *yes,
		     bool *ret, struct err *e)
{
	char both[64];

	if (strcmp(value, no) != 0 && strcmp(value, yes) != 0) {
		snprintf(both, sizeof(both), "%s, %s", no, yes);
		return no_such(e, name, value, both);
	}
	*ret = strcmp(value, yes) == 0;
	return 0;
}

static int need_machine(const struct predict_side *s, const char *name, struct err *e)
{
	return s->machine
		       ? 0
		       : err_set(e, EINVAL, "%s= needs a described machine: --machine NAME", name);
}

/* The kernel pins or frees entries of the largest fully associative TLB. */
static int set_dtlb(struct predict_side *s, const char *value, struct err *e)
{
	struct sim_tlb *largest = NULL;
	uint64_t n = 0;
	const bool minus = value[0] == '-';

	if ((value[0] != '-' && value[0] != '+') || parse_u64(value + 1, &n, NULL) < 0 || n > 4096)
		return no_such(
			e, "dtlb-entries", value,
			"-N or +N: so many entries fewer or more for the program, of at most 4096");
	for (size_t i = 0; i < s->machine->n_tlbs; i++) {
		struct sim_tlb *t = &s->machine->tlbs[i];

		if (t->shape.ways == 0 && (!largest || t->shape.entries > largest->shape.entries))
			largest = t;
	}
	if (!largest)
		return err_set(e, EINVAL,
			       "dtlb-entries=%s: %s has no fully associative TLB of which single "
			       "entries could be pinned",
			       value, s->machine->name);
	if (minus && largest->pinned + n >= largest->shape.entries)
		return err_set(e, EINVAL, "dtlb-entries=%s: %s has %u, of which %u are pinned",
			       value, largest->name, largest->shape.entries, largest->pinned);
	if (minus)
		largest->pinned += (uint32_t)n;
	else if (n <= largest->pinned)
		largest->pinned -= (uint32_t)n;
	else
		return err_set(e, EINVAL, "dtlb-entries=%s: only %u entries of %s are pinned",
			       value, largest->pinned, largest->name);
	return 0;
}

static int set_size(const char *name, const char *value, uint64_t *ret, struct err *e)
{
	int rc = parse_size(value, ret, e);

	if (rc < 0)
		err_prefix(e, "%s: ", name);
	else if (*ret == 0 || (*ret & (*ret - 1)))
		rc = no_such(e, name, value, "a power of two of bytes, as 4k or 2m");
	return rc;
}

static int set_lines(const char *name, const char *value, double most, double *ret, struct err *e)
{
	uint64_t n;

	if (parse_u64(value, &n, NULL) < 0 || (double)n > most)
		return no_such(e, name, value, "a whole number up to ten million");
	*ret = (double)n;
	return 0;
}

static int set_paging(struct predict_side *s, const char *name, const char *value, struct err *e)
{
	uint64_t n;
	bool nested = false;
	int rc;

	if (strcmp(name, "nested") == 0) {
		rc = two_words(name, value, "no", "yes", &nested, e);
		s->model.host_levels =
			rc == 0 && nested && s->machine ? s->machine->core.host_levels : 0;
		return rc;
	}
	if (strcmp(name, "levels") == 0) {
		if (parse_u64(value, &n, NULL) < 0 || n < 2 || n > SIM_LEVELS_MAX)
			return no_such(e, name, value, "2, 3, 4, 5");
		s->model.levels = (uint32_t)n;
		return 0;
	}
	return set_size(name, value,
			strcmp(name, "host-page") == 0 ? &s->model.host_page_bytes
						       : &s->model.table_align_bytes,
			e);
}

static int set_word(struct predict_side *s, const char *name, const char *value, struct err *e)
{
	const double most = 1e7;
	bool on = true;
	int rc = need_machine(s, name, e);

	if (rc < 0)
		return rc;
	if (strcmp(name, "far-side") == 0) {
		rc = two_words(name, value, "off", "on", &on, e);
		s->machine->far_side.present = s->machine->far_side.present && on;
		return rc;
	}
	if (strcmp(name, "kernel-text") == 0)
		return two_words(name, value, "single", "replicated", &s->model.text_replicated, e);
	if (strcmp(name, "dtlb-entries") == 0)
		return set_dtlb(s, value, e);
	if (strcmp(name, "text-lines") == 0)
		return set_lines(name, value, most, &s->model.text_lines, e);
	if (strcmp(name, "data-lines") == 0)
		return set_lines(name, value, most, &s->model.data_lines, e);
	if (strcmp(name, "hot-ns") == 0)
		return set_lines(name, value, most, &s->model.hot_ns, e);
	return set_paging(s, name, value, e);
}

/* Takes the words of the model; the others go to @rest. */
static int take_words(struct predict_side *s, char *const *words, size_t n, char **rest,
		      size_t *n_rest, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		const char *equals = strchr(words[i], '=');
		const size_t len = equals ? (size_t)(equals - words[i]) : 0;
		const char *const *w = predict_words;
		int rc = 0;

		while (equals && *w && (strlen(*w) != len || strncmp(words[i], *w, len) != 0))
			w++;
		if (equals && *w) {
			rc = set_word(s, *w, equals + 1, e);
			if (rc == 0 && attrs_set_text(&s->arena, &s->extra, *w, equals + 1) < 0)
				rc = err_set(e, ENOMEM, "out of memory");
		} else if (strcmp(words[i], "page-tables=interleaved") == 0 ||
			   strcmp(words[i], "page-tables=replicated") == 0) {
			s->table_policy = words[i] + strlen("page-tables=");
		} else {
			rest[(*n_rest)++] = words[i];
		}
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int plan_rest(struct predict_side *s, char *const *rest, size_t n, struct err *e)
{
	struct request q = { .preset = preset_find("default"), .invocations = 1 };
	const uint32_t levels = s->model.levels ? s->model.levels
				: s->machine    ? s->machine->core.levels
						: 4;
	int rc = make_ours(&s->as_ours, s->machine, s->model.page_bytes, levels);

	if (rc < 0)
		return err_set(e, ENOMEM, "out of memory");
	rc = request_parse(&s->arena, rest, n, &q, e);
	q.seed = s->model.seed;
	return rc < 0 ? rc : plan_build(&q, &s->as_ours, &s->plan, e);
}

int predict_side_words(struct predict_side *s, const struct sim_machine *m, char *const *words,
		       size_t n, uint64_t seed, char ***ret_rest, size_t *ret_n, struct err *e)
{
	char **rest;

	memset(s, 0, sizeof(*s));
	s->machine = m ? sim_machine_copy(m) : NULL;
	rest = arena_alloc(&s->arena, (n + 1) * sizeof(*rest));
	if ((m && !s->machine) || !rest)
		return err_set(e, ENOMEM, "out of memory");
	s->model = (struct predict_model){ .machine = s->machine,
					   .page_bytes = m ? m->core.page_bytes : 4096,
					   .text_lines = -1,
					   .data_lines = -1,
					   .hot_ns = -1,
					   .text_replicated = m && m->text.replicated,
					   .host_levels =
						   m && m->core.nested ? m->core.host_levels : 0,
					   .host_page_bytes = m ? m->core.host_page_bytes : 0,
					   .seed = seed };
	*ret_rest = rest;
	*ret_n = 0;
	return take_words(s, words, n, rest, ret_n, e);
}

int predict_side_init(struct predict_side *s, const struct sim_machine *m, char *const *words,
		      size_t n, uint64_t seed, struct err *e)
{
	char **rest = NULL;
	size_t n_rest = 0;
	int rc = predict_side_words(s, m, words, n, seed, &rest, &n_rest, e);

	return rc < 0 ? rc : plan_rest(s, rest, n_rest, e);
}

int predict_side_check(const struct predict_side *s, const char *bench, struct err *e)
{
	static const char *const calls[] = { "kernel-text", "text-lines", "data-lines", "hot-ns" };

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (attrs_find(&s->extra, calls[i]) &&
		    !(bench && strncmp(bench, "syscall.", strlen("syscall.")) == 0))
			return err_set(e, EINVAL, "%s= is of system calls, not of %s", calls[i],
				       bench ? bench : "a trace");
	/* A what-if may take nested= away again. */
	if (attrs_find(&s->extra, "host-page") && !attrs_find(&s->extra, "nested") &&
	    !s->model.host_levels)
		return err_set(e, EINVAL, "host-page= needs nested=yes: %s is no guest",
			       s->machine ? s->machine->name : "it");
	return 0;
}

void predict_side_done(struct predict_side *s)
{
	plan_done(&s->plan);
	machine_done(&s->as_ours);
	sim_machine_free(s->machine);
	arena_done(&s->arena);
	memset(s, 0, sizeof(*s));
}
