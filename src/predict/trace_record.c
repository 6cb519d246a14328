// SPDX-License-Identifier: MIT
/*
 * What a trace's simulation found, as a measure: time in parts, misses of TLBs, reads of walks by
 * where they were found, pages by size. Everything a table in text has is in the run.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "predict/trace.h"

static const char *const tables_words[] = { "interleaved", "replicated", NULL };
static const char *const data_words[] = { "interleaved", NULL };
static const struct param params[] = {
	{ .name = "page",
	  .summary = "size of pages",
	  .type = PARAM_BYTES,
	  .role = ROLE_OUTER,
	  .def = "4k",
	  .max = UINT64_MAX },
	{ .name = "levels",
	  .summary = "levels of page tables",
	  .type = PARAM_COUNT,
	  .role = ROLE_OUTER,
	  .def = "4",
	  .max = SIM_LEVELS_MAX },
	{ .name = "page-tables",
	  .summary = "where page tables are",
	  .type = PARAM_NODE,
	  .role = ROLE_OUTER,
	  .def = "local",
	  .choices = tables_words },
	{ .name = "data",
	  .summary = "where data is",
	  .type = PARAM_NODE,
	  .role = ROLE_OUTER,
	  .def = "local",
	  .choices = data_words },
	{ .name = NULL },
};
static const struct metric metrics[] = {
	{ "ref_ns", "time per reference", "ns", BETTER_LOWER, EST_MEDIAN, FORM_SUMMARY },
	{ "references", "references that count", "count", BETTER_NONE, EST_MEDIAN, FORM_EXACT },
	{ "tlb", "hits and misses by level of TLBs", "count", BETTER_NONE, EST_MEDIAN, FORM_TABLE },
	{ "walk_reads", "reads of page walks by level and where they were found", "count",
	  BETTER_NONE, EST_MEDIAN, FORM_TABLE },
	{ "footprint", "pages touched by size", "count", BETTER_NONE, EST_MEDIAN, FORM_TABLE },
	{ .name = NULL },
};

static int add_schema(struct run *run)
{
	const struct bench_schema schema = { .name = "trace",
					     .summary = "References of a traced program",
					     .revision = 1,
					     .params = params,
					     .metrics = metrics };

	return run_add_schema(run, &schema);
}

static struct series *add_series(struct run *run, struct measure *m, const char *metric,
				 enum series_form form)
{
	struct series *s = measure_add_series(run, m);

	if (s) {
		s->metric = metric;
		s->origin = ORIGIN_PREDICTED;
		s->form = form;
		s->n = 1;
	}
	return s;
}

static int add_time(struct run *run, struct measure *m, const char *part, double ns)
{
	struct series *s = add_series(run, m, "ref_ns", FORM_SUMMARY);

	if (!s || !(s->values = arena_alloc(&run->arena, sizeof(*s->values))))
		return -ENOMEM;
	s->values[0] = ns;
	if (part && !(s->part = arena_strdup(&run->arena, part)))
		return -ENOMEM;
	return 0;
}

static int add_exact(struct run *run, struct measure *m, const char *metric, uint64_t value)
{
	struct series *s = add_series(run, m, metric, FORM_EXACT);

	if (!s || !(s->integers = arena_alloc(&run->arena, sizeof(*s->integers))))
		return -ENOMEM;
	s->integers[0] = (int64_t)value;
	return 0;
}

/* A table of @n rows, cells to be filled; NULL: no memory. */
static struct series *add_table(struct run *run, struct measure *m, const char *metric,
				const char *const *columns, size_t n_columns, size_t n)
{
	struct series *s = add_series(run, m, metric, FORM_TABLE);

	if (!s)
		return NULL;
	s->n = n;
	s->n_columns = n_columns;
	s->columns = arena_alloc(&run->arena, n_columns * sizeof(*s->columns));
	s->keys = arena_alloc(&run->arena, (n + 1) * sizeof(*s->keys));
	s->cells = arena_alloc(&run->arena, (n + 1) * n_columns * sizeof(*s->cells));
	if (!s->columns || !s->keys || !s->cells)
		return NULL;
	memcpy(s->columns, columns, n_columns * sizeof(*columns));
	return s;
}

static int add_tlbs(struct run *run, struct measure *m, const struct sim_counts *c)
{
	static const char *const columns[] = { "hits", "misses", "miss_percent" };
	struct series *s = add_table(run, m, "tlb", columns, 3, SIM_TLB_LEVELS);
	size_t n = 0;

	if (!s)
		return -ENOMEM;
	for (unsigned level = 0; level < SIM_TLB_LEVELS; level++) {
		const uint64_t asked = c->tlb_hit[level] + c->tlb_miss[level];
		double *cell = s->cells + 3 * n;

		if (asked == 0)
			continue;
		s->keys[n] = arena_printf(&run->arena, "L%u", level + 1);
		if (!s->keys[n++])
			return -ENOMEM;
		cell[0] = (double)c->tlb_hit[level];
		cell[1] = (double)c->tlb_miss[level];
		cell[2] = 100 * cell[1] / (double)asked;
	}
	s->n = n;
	return 0;
}

enum { COLUMNS_MAX = SIM_WHERES };

static int add_walks(struct run *run, struct measure *m, const struct sim_machine *machine,
		     const struct sim_counts *c)
{
	const size_t n_columns = machine->n_caches + machine->memory.nodes;
	const char *columns[COLUMNS_MAX];
	struct series *s;
	size_t n = 0;

	for (size_t i = 0; i < n_columns; i++) {
		columns[i] = i < machine->n_caches
				     ? arena_printf(&run->arena, "l%zu", i + 1)
				     : arena_printf(&run->arena, "node%zu", i - machine->n_caches);
		if (!columns[i])
			return -ENOMEM;
	}
	s = add_table(run, m, "walk_reads", columns, n_columns, SIM_CODE - SIM_WALK);
	if (!s)
		return -ENOMEM;
	for (unsigned what = SIM_WALK; what < SIM_CODE; what++) {
		const unsigned level = (what - SIM_WALK) % SIM_LEVELS_MAX + 1;
		uint64_t sum = 0;

		for (size_t i = 0; i < SIM_WHERES; i++)
			sum += c->found[what][i];
		if (sum == 0)
			continue;
		for (size_t i = 0; i < n_columns; i++)
			s->cells[n * n_columns + i] =
				(double)c->found[what]
						[i < machine->n_caches
							 ? i
							 : SIM_IN_MEMORY + i - machine->n_caches];
		s->keys[n] = arena_printf(&run->arena, "%s%s", what >= SIM_HOST ? "host." : "",
					  sim_level_name(level));
		if (!s->keys[n++])
			return -ENOMEM;
	}
	s->n = n;
	return 0;
}

static int add_footprint(struct run *run, struct measure *m, const struct replay_stats *st)
{
	static const char *const columns[] = { "pages", "bytes" };
	struct series *s = add_table(run, m, "footprint", columns, 2, REPLAY_SIZES);
	char size[UNITS_TEXT_BYTES];

	if (!s)
		return -ENOMEM;
	for (unsigned k = 0; k < REPLAY_SIZES; k++) {
		s->keys[k] = arena_strdup(&run->arena, format_size(size, st->page_bytes[k]));
		if (!s->keys[k])
			return -ENOMEM;
		s->cells[2 * k] = (double)st->pages[k];
		s->cells[2 * k + 1] = (double)st->pages[k] * (double)st->page_bytes[k];
	}
	return 0;
}

static int add_proof(struct run *run, struct measure *m, const struct replay_stats *st,
		     const struct sim_counts *c)
{
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = { { "warm_references", st->warm },
		     { "loads", st->kinds[TRACE_LOAD] },
		     { "stores", st->kinds[TRACE_STORE] },
		     { "modifies", st->kinds[TRACE_MODIFY] },
		     { "instruction_fetches", st->kinds[TRACE_FETCH] },
		     { "page_crossings", st->crossings },
		     { "threads", st->threads },
		     { "cpus", st->cpus },
		     { "walks", c->walks },
		     { "walk_reads", c->steps } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (attrs_set_int(&run->arena, &m->proof, rows[i].name, (int64_t)rows[i].value) < 0)
			return -ENOMEM;
	return 0;
}

static int add_all(struct run *run, struct measure *m, const struct sim_machine *machine,
		   const struct replay_stats *st, const struct replay_result *x)
{
	int rc = add_proof(run, m, st, &x->counts);

	if (rc == 0)
		rc = add_time(run, m, NULL, x->ref_ns);
	for (size_t k = 0; k < x->parts.n && rc == 0; k++)
		rc = add_time(run, m, x->parts.v[k].name, x->parts.v[k].ns);
	if (rc == 0)
		rc = add_exact(run, m, "references", x->counts.refs);
	if (rc == 0)
		rc = add_tlbs(run, m, &x->counts);
	if (rc == 0)
		rc = add_walks(run, m, machine, &x->counts);
	return rc < 0 ? rc : add_footprint(run, m, st);
}

int replay_add_measure(struct run *run, struct replay *r, size_t i, const struct attrs *setting,
		       const char *arm, const char *incomplete)
{
	struct replay_result *x = malloc(sizeof(*x));
	struct replay_stats st;
	struct measure *m;
	int rc = x ? add_schema(run) : -ENOMEM;

	m = rc == 0 ? run_add_measure(run) : NULL;
	rc = m ? attrs_copy(&run->arena, &m->setting, setting) : -ENOMEM;
	if (rc == 0) {
		m->bench = "trace";
		m->arm = arm;
		m->verdict = VERDICT_OK;
		m->unproven = incomplete ? arena_strdup(&run->arena, incomplete) : NULL;
		rc = incomplete && !m->unproven ? -ENOMEM : 0;
	}
	if (rc == 0) {
		replay_stats(r, &st);
		replay_result(r, i, x);
		rc = add_all(run, m, replay_machine(r), &st, x);
	}
	free(x);
	return rc;
}
