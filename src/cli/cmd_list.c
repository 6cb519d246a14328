// SPDX-License-Identifier: MIT
/*
 * `pagetoll list`: the benchmarks, whether they can run here and why not, and what their machine
 * parameters (page sizes, memory nodes, CPUs) can take here.
 */
#include "cli/recover.h"
#include "cli/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "bench/bench.h"
#include "host/paging.h"
#include "run/run_plan.h"

struct list_row {
	const struct bench *bench;
	char reason[512]; /* why it cannot run here with its defaults; "": it can */
};

static error_t parse_list(int key, char *arg, struct argp_state *state)
{
	return common_option(key, arg, state);
}

/* Plans the benchmark with its defaults: what stops that, stops it here. */
static void examine(const struct bench *b, const struct machine *m, struct list_row *row)
{
	struct arena a = { 0 };
	struct request q = { 0 };
	struct plan p = { 0 };
	struct err e = { 0 };
	char *word = arena_strdup(&a, b->schema.name);

	row->bench = b;
	row->reason[0] = '\0';
	q.preset = preset_find("default");
	if (!word || request_parse(&a, &word, 1, &q, &e) || plan_build(&q, m, &p, &e)) {
		snprintf(row->reason, sizeof(row->reason), "%s", e.code ? e.msg : "out of memory");
	} else {
		if (plan_count_runnable(&p) == 0)
			snprintf(row->reason, sizeof(row->reason), "%s",
				 p.n && p.v[0].skip_reason ? p.v[0].skip_reason
							   : "nothing to measure");
		plan_done(&p);
	}
	arena_done(&a);
}

static void list_pages(struct str *out, const struct machine *m)
{
	str_add(out, "\nPage sizes (page=...):\n");
	for (size_t i = 0; i < m->n_pages; i++) {
		const struct page_size *p = &m->pages[i];
		char size[UNITS_TEXT_BYTES];

		str_addf(out, "  %-12s %8s  %s\n", p->name,
			 format_size_human(size, (double)p->bytes),
			 p->usable ? "usable" : "not usable");
		if (!p->usable)
			cli_wrap(out, p->reason, 6);
	}
}

/* A kernel list, broken after commas where it would pass column 80. */
static void add_ids(struct str *out, const char *text, size_t column, size_t indent)
{
	while (*text) {
		size_t n = strcspn(text, ",");

		n += text[n] == ',';
		if (column + n > 80 && column > indent) {
			str_addf(out, "\n%*s", (int)indent, "");
			column = indent;
		}
		str_add_n(out, text, n);
		column += n;
		text += n;
	}
}

/* Nodes without CPUs and memory: places for what can be plugged in. */
static bool is_empty_node(const struct node *n)
{
	return !n->has_memory && !n->has_cpus;
}

static void list_empty_nodes(struct str *out, const struct machine *m)
{
	uint32_t *ids = calloc(m->n_nodes, sizeof(*ids));
	struct u32_list l = { .v = ids };
	char *text = NULL;

	for (size_t i = 0; ids && i < m->n_nodes; i++)
		if (is_empty_node(&m->nodes[i]))
			ids[l.n++] = m->nodes[i].id;
	if (l.n)
		text = format_u32_list(&l);
	if (text) {
		str_addf(out, "  no memory and no CPUs (%zu): ", l.n);
		add_ids(out, text, 31 + (l.n > 9), 7);
		str_add(out, "\n");
	}
	free(text);
	free(ids);
}

/* What the words "local" and "remote" mean for the CPU that measures unless one is named. */
static void list_words(struct str *out, const struct machine *m)
{
	uint32_t cpu, local, remote;
	struct err e = { 0 };

	if (machine_choose_cpu(m, &cpu, &e) < 0 || machine_local_node(m, cpu, &local, &e) < 0)
		str_addf(out, "  local and remote: %s\n", e.msg);
	else if (machine_remote_node(m, cpu, &remote, &e) < 0)
		str_addf(out, "  local is node %u; remote is %s\n", local, e.msg);
	else
		str_addf(out, "  local is node %u and remote is node %u for CPU %u (cpu=auto)\n",
			 local, remote, cpu);
}

static void list_nodes(struct str *out, const struct machine *m)
{
	str_add(out, "\nMemory nodes (data=..., page-tables=..., load=...):\n");
	for (size_t i = 0; i < m->n_nodes; i++) {
		const struct node *n = &m->nodes[i];
		char *cpus = format_u32_list(&n->cpus);
		char size[UNITS_TEXT_BYTES];
		size_t start;

		if (is_empty_node(n)) {
			free(cpus);
			continue;
		}
		start = out->len;
		str_addf(out, "  %-4u ", n->id);
		if (n->has_memory)
			str_addf(out, "%s%s",
				 n->total_bytes ? format_size_human(size, (double)n->total_bytes)
						: "memory of unknown size",
				 n->mem_allowed ? "" : " (not allowed for this process)");
		else
			str_add(out, "no memory");
		if (n->has_cpus) {
			str_add(out, ", CPUs ");
			add_ids(out, cpus ? cpus : "?", out->len - start, 7);
			str_add(out, "\n");
		} else {
			str_addf(out, ", no CPUs%s\n",
				 n->movable_only ? ", no page tables (movable memory)" : "");
		}
		free(cpus);
	}
	list_empty_nodes(out, m);
	list_words(out, m);
}

/* What is known of the levels of page tables: walked, possible, allowed by the boot line. */
struct levels {
	const struct machine *m;
	unsigned cpu_levels; /* 0: unknown */
	char cpu_reason[96], boot[64];
};

static void read_levels(const struct sysroot *sr, const struct machine *m, struct levels *ret)
{
	*ret = (struct levels){ .m = m };
	ret->cpu_levels = paging_cpu_levels(sr, m->arch, ret->cpu_reason, sizeof(ret->cpu_reason));
	if (paging_boot_words(sr, ret->boot, sizeof(ret->boot)) < 0)
		ret->boot[0] = '\0';
}

static void list_levels(struct str *out, const struct levels *l)
{
	str_add(out, "\nPage tables:\n");
	if (l->m->paging_levels)
		str_addf(out, "  in use       %u levels, addresses of %u bits (probed)\n",
			 l->m->paging_levels, l->m->address_bits);
	else
		str_addf(out, "  in use       unknown: %s\n", l->m->paging_reason);
	str_add(out, "  processor    ");
	if (l->cpu_levels)
		str_addf(out, "up to %u levels\n", l->cpu_levels);
	else
		cli_wrap_at(out, l->cpu_reason, 15, 15);
	str_addf(out, "  boot line    %s\n",
		 !l->boot[0]                    ? "cannot be read"
		 : strcmp(l->boot, "none") == 0 ? "says nothing about levels"
						: l->boot);
}

static int list_text(const struct list_row *rows, size_t n, const struct machine *m,
		     const struct levels *l)
{
	struct str out = { 0 };
	size_t column = 0;

	for (size_t i = 0; i < n; i++)
		if (strlen(rows[i].bench->schema.name) + 4 > column)
			column = strlen(rows[i].bench->schema.name) + 4;
	str_add(&out, "Benchmarks (pagetoll info NAME tells more):\n");
	for (size_t i = 0; i < n; i++) {
		str_addf(&out, "  %-*s", (int)column - 2, rows[i].bench->schema.name);
		cli_wrap_at(&out, rows[i].bench->schema.summary, column, column);
		str_addf(&out, "%*s", (int)column, "");
		if (rows[i].reason[0]) {
			str_add(&out, "cannot run here: ");
			cli_wrap_at(&out, rows[i].reason, column + 17, column);
		} else {
			str_add(&out, "runs here\n");
		}
	}
	list_pages(&out, m);
	list_levels(&out, l);
	list_nodes(&out, m);
	return cli_print_str(&out);
}

static int list_csv(const struct list_row *rows, size_t n)
{
	struct str out = { 0 };

	str_add(&out, "benchmark,summary,revision,runs_here,reason\n");
	for (size_t i = 0; i < n; i++) {
		const struct bench_schema *s = &rows[i].bench->schema;

		escape_csv(&out, s->name);
		str_add(&out, ",");
		escape_csv(&out, s->summary);
		str_addf(&out, ",%u,%s,", s->revision, rows[i].reason[0] ? "no" : "yes");
		escape_csv(&out, rows[i].reason);
		str_add(&out, "\n");
	}
	return cli_print_str(&out);
}

static json_t *pages_json(const struct machine *m)
{
	json_t *a = json_array();

	for (size_t i = 0; i < m->n_pages; i++) {
		const struct page_size *p = &m->pages[i];

		json_array_append_new(
			a, json_pack("{s:s,s:I,s:b,s:o}", "name", p->name, "bytes",
				     (json_int_t)p->bytes, "usable", p->usable, "reason",
				     cli_json_text_or_null(p->usable ? NULL : p->reason)));
	}
	return a;
}

static json_t *nodes_json(const struct machine *m)
{
	json_t *a = json_array();

	for (size_t i = 0; i < m->n_nodes; i++) {
		const struct node *n = &m->nodes[i];
		json_t *cpus = json_array();

		for (size_t k = 0; k < n->cpus.n; k++)
			json_array_append_new(cpus, json_integer(n->cpus.v[k]));
		json_array_append_new(a, json_pack("{s:I,s:b,s:b,s:I,s:o}", "id", (json_int_t)n->id,
						   "has_memory", n->has_memory, "allowed",
						   n->mem_allowed, "total_bytes",
						   (json_int_t)n->total_bytes, "cpus", cpus));
	}
	return a;
}

static json_t *number_or_null(unsigned v)
{
	return v ? json_integer(v) : json_null();
}

static json_t *levels_json(const struct levels *l)
{
	return json_pack("{s:o,s:o,s:o,s:o,s:o}", "levels", number_or_null(l->m->paging_levels),
			 "address_bits", number_or_null(l->m->address_bits), "cpu_levels",
			 number_or_null(l->cpu_levels), "boot",
			 cli_json_text_or_null(l->boot[0] ? l->boot : NULL), "reason",
			 cli_json_text_or_null(l->m->paging_levels ? NULL : l->m->paging_reason));
}

/* The CPU and the nodes that "auto", "local" and "remote" mean here; null where there is none. */
static json_t *words_json(const struct machine *m)
{
	json_t *cpu = NULL, *local = NULL, *remote = NULL;
	uint32_t id, node;

	if (machine_choose_cpu(m, &id, NULL) == 0) {
		cpu = json_integer(id);
		if (machine_local_node(m, id, &node, NULL) == 0)
			local = json_integer(node);
		if (machine_remote_node(m, id, &node, NULL) == 0)
			remote = json_integer(node);
	}
	return json_pack("{s:o,s:o,s:o}", "cpu", cpu ? cpu : json_null(), "local",
			 local ? local : json_null(), "remote", remote ? remote : json_null());
}

static int list_json(const struct list_row *rows, size_t n, const struct machine *m,
		     const struct levels *l)
{
	json_t *benches = json_array();

	for (size_t i = 0; i < n; i++) {
		const struct bench_schema *s = &rows[i].bench->schema;
		const char *reason = rows[i].reason[0] ? rows[i].reason : NULL;

		json_array_append_new(benches, json_pack("{s:s,s:s,s:i,s:b,s:o,s:s}", "name",
							 s->name, "summary", s->summary, "revision",
							 (int)s->revision, "runs_here", !reason,
							 "reason", cli_json_text_or_null(reason),
							 "smoke", rows[i].bench->smoke));
	}
	return cli_print_json(json_pack("{s:o,s:o,s:o,s:o,s:o}", "benchmarks", benches,
					"page_sizes", pages_json(m), "page_tables", levels_json(l),
					"nodes", nodes_json(m), "words", words_json(m)));
}

static int run_list(const struct verb *v, int argc, char **argv)
{
	struct common c = { 0 };
	struct sysroot sr;
	struct machine m = { 0 };
	struct list_row rows[64];
	struct levels levels;
	size_t n = 0;
	int rc;

	cli_parse(v, argc, argv, &c);
	cli_need_words(&c, 0, "");
	rc = cli_machine(&c, &sr, &m);
	if (rc)
		return rc;
	if (!c.sysroot)
		cli_name_left_settings(&c, NULL);
	for (const struct bench *const *b = bench_table; *b && n < 64; b++)
		examine(*b, &m, &rows[n++]);
	read_levels(&sr, &m, &levels);
	if (c.format == FORMAT_JSON)
		rc = list_json(rows, n, &m, &levels);
	else if (c.format == FORMAT_CSV)
		rc = list_csv(rows, n);
	else
		rc = list_text(rows, n, &m, &levels);
	machine_done(&m);
	return rc;
}

static const struct argp_option list_options[] = {
	OPTION_FORMAT, OPTION_SYSROOT, OPTION_HELP, { 0 }
};
static const struct argp list_argp = {
	.options = list_options,
	.parser = parse_list,
	.doc = "List the benchmarks, whether they can run here and why not, and which page sizes "
	       "and memory nodes there are.",
};
const struct verb verb_list = {
	.name = "list",
	.summary = "List the benchmarks and whether they can run here",
	.operand = OPERAND_NONE,
	.argp = &list_argp,
	.run = run_list,
};
