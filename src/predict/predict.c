// SPDX-License-Identifier: MIT
/* Which benchmarks can be predicted, what their predictions share, and the way into a run. */
#include "predict/predict.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "predict/parts.h"

static const struct known {
	const char *name;
	bool needs_machine;
	int (*predict)(const struct predict_model *m, const struct predict_setting *s,
		       struct predict_result *r, struct err *e);
} known[] = {
	{ "cache.chase", true, predict_cache_chase },
	{ "mem.gups", true, predict_mem_gups },
	{ "syscall.forkexit", true, predict_syscall },
	{ "syscall.gettimeofday", true, predict_syscall },
	{ "syscall.null", true, predict_syscall },
	{ "syscall.openclose", true, predict_syscall },
	{ "syscall.pid", true, predict_syscall },
	{ "syscall.time", true, predict_syscall },
	{ "tables.shared", false, predict_tables_shared },
	{ "tlb.chase", true, predict_tlb_chase },
	{ "tlb.walk", true, predict_tlb_walk },
	{ NULL, false, NULL },
};

static const struct known *find(const char *bench)
{
	for (const struct known *k = known; k->name; k++)
		if (strcmp(k->name, bench) == 0)
			return k;
	return NULL;
}

bool predict_knows(const char *bench)
{
	return find(bench) != NULL;
}

bool predict_needs_machine(const char *bench)
{
	const struct known *k = find(bench);

	return k && k->needs_machine;
}

const char *predict_name(size_t i)
{
	return known[i].name;
}

int predict_point(const struct predict_model *m, const struct predict_setting *s,
		  struct predict_result *ret, struct err *e)
{
	const struct known *k = find(s->bench);

	memset(ret, 0, sizeof(*ret));
	if (!k)
		return err_set(e, EINVAL, "%s cannot be predicted", s->bench);
	if (k->needs_machine && !m->machine)
		return err_set(e, EINVAL, "%s needs a described machine", s->bench);
	return k->predict(m, s, ret, e);
}

/* --- settings --- */

uint64_t setting_bytes(const struct predict_setting *s, const char *resolved)
{
	return (uint64_t)attrs_int(s->resolved, resolved, 0);
}

bool setting_is(const struct predict_setting *s, const char *name, const char *word)
{
	return strcmp(attrs_text(s->given, name, ""), word) == 0;
}

static int placement_of(const struct predict_setting *s, struct sim_placement *ret, struct err *e)
{
	const int64_t node = attrs_int(s->resolved, "page-tables.node", s->cpu_node);

	*ret = (struct sim_placement){ SIM_PLACE_NODE, (uint32_t)node };
	if (!s->table_policy)
		return 0;
	if (strcmp(s->table_policy, "interleaved") == 0)
		ret->place = SIM_PLACE_INTERLEAVE;
	else if (strcmp(s->table_policy, "replicated") == 0)
		ret->place = SIM_PLACE_REPLICATE;
	else
		return err_set(e, EINVAL,
			       "page-tables=%s; accepted: a node, interleaved, "
			       "replicated",
			       s->table_policy);
	return 0;
}

int space_of(const struct predict_model *m, const struct predict_setting *s, struct sim_space *ret,
	     struct err *e)
{
	struct sim_space p = { .levels = m->levels,
			       .host_levels = m->host_levels,
			       .host_page_bytes = m->host_page_bytes,
			       .table_align_bytes = m->table_align_bytes,
			       .cpu_node = s->cpu_node };
	int rc = placement_of(s, &p.tables, e);

	p.page_bytes = setting_bytes(s, "page.bytes");
	p.data = (struct sim_placement){
		SIM_PLACE_NODE, (uint32_t)attrs_int(s->resolved, "data.node", s->cpu_node)
	};
	if (setting_is(s, "backing", "zero"))
		p.frames = SIM_FRAMES_SHARED;
	else if (setting_is(s, "backing", "contiguous"))
		p.frames = SIM_FRAMES_CONTIGUOUS;
	if (rc == 0)
		*ret = p;
	return rc;
}

int region_base(const struct predict_model *m, const struct sim_space *space, uint64_t span,
		uint64_t *ret, struct err *e)
{
	const uint64_t page = m->machine->core.page_bytes;
	const unsigned levels = space->levels ? space->levels : m->machine->core.levels;
	const unsigned shift = (unsigned)__builtin_ctzll(page);
	const unsigned bits = shift + levels * (shift - 3);
	const unsigned half = bits > 57 ? 56 : bits - 1; /* the kernel has the other half */
	const uint64_t base = UINT64_C(1) << (half - 1 < 40 ? half - 1 : 40);
	char have[UNITS_TEXT_BYTES], want[UNITS_TEXT_BYTES];

	if (span > (UINT64_C(1) << half) - base)
		return err_set(e, EINVAL,
			       "%s of addresses are needed, %u levels of page tables have %s; "
			       "take fewer or nearer pages, or more levels",
			       format_size_human(want, (double)span), levels,
			       format_size_human(have, (double)((UINT64_C(1) << half) - base)));
	*ret = base;
	return 0;
}

/* --- results --- */

struct predict_metric *add_parts(struct predict_result *r, const char *name, const char *summary,
				 const struct sim_parts *parts, double by)
{
	struct predict_metric *p = &r->metrics[r->n_metrics++];

	p->name = name;
	p->summary = summary;
	p->unit = "ns";
	p->has_parts = true;
	p->parts = *parts;
	for (size_t i = 0; i < p->parts.n; i++)
		p->parts.v[i].ns /= by;
	p->value = sim_parts_ns(&p->parts);
	return p;
}

struct predict_metric *add_exact(struct predict_result *r, const char *name, const char *summary,
				 int64_t value)
{
	struct predict_metric *p = &r->metrics[r->n_metrics++];

	p->name = name;
	p->summary = summary;
	p->unit = "bytes";
	p->is_exact = true;
	p->exact = value;
	return p;
}

enum { CHUNK = 4096 };

static void run_refs(struct sim *s, stream_fn stream, const void *of, uint64_t round, uint64_t from,
		     uint64_t n)
{
	uint64_t va[CHUNK];

	while (n > 0) {
		const uint64_t at = from % round;
		uint64_t k = n < CHUNK ? n : CHUNK;

		k = k < round - at ? k : round - at;
		stream(of, at, va, k);
		sim_run(s, va, k);
		from += k;
		n -= k;
		if (from % round == 0)
			sim_round(s);
	}
}

void run_rounds(const struct predict_model *m, struct sim *s, stream_fn stream, const void *of,
		uint64_t round, struct predict_result *r)
{
	const uint64_t most = m->refs ? m->refs : UINT64_MAX;
	const uint64_t least_warm = most < WARM_REFS ? most : WARM_REFS;
	const uint64_t least = most < COUNT_REFS ? most : COUNT_REFS;
	uint64_t warm = 3 * round > least_warm ? 2 * round : least_warm, counted;

	warm = (warm + round - 1) / round * round;
	if (warm > WARM_REFS_MAX) {
		warm = WARM_REFS_MAX;
		snprintf(r->note, sizeof(r->note),
			 "sampled: %ju of the %ju references of a round, after as many as warmed "
			 "the caches",
			 (uintmax_t)COUNT_REFS_MAX, (uintmax_t)round);
	}
	run_refs(s, stream, of, round, 0, warm);
	sim_clear_counts(s);
	counted = round > least ? round : (least + round - 1) / round * round;
	if (counted > COUNT_REFS_MAX)
		counted = COUNT_REFS_MAX;
	run_refs(s, stream, of, round, warm, counted);
	r->warm_refs = warm;
	r->counts = *sim_counts(s);
	r->has_counts = true;
}

/* --- into a run --- */

int predict_add_schema(struct run *run, const struct bench_schema *bench,
		       const struct predict_result *r)
{
	struct metric metrics[PREDICT_METRICS_MAX + 1] = { 0 };
	struct bench_schema s = *bench;

	for (size_t i = 0; i < r->n_metrics; i++) {
		const struct metric *own = schema_metric(bench, r->metrics[i].name);

		metrics[i] = (struct metric){ .name = r->metrics[i].name,
					      .summary = r->metrics[i].summary,
					      .unit = r->metrics[i].unit,
					      .better = own ? own->better : BETTER_NONE,
					      .estimator = own ? own->estimator : EST_MEDIAN,
					      .form = r->metrics[i].is_exact ? FORM_EXACT
									     : FORM_SUMMARY };
	}
	s.metrics = metrics;
	return run_add_schema(run, &s);
}

static int add_value(struct run *run, struct measure *m, const struct predict_metric *p,
		     const char *part, double value)
{
	struct series *s = measure_add_series(run, m);

	if (!s)
		return -ENOMEM;
	s->metric = arena_strdup(&run->arena, p->name);
	s->part = part ? arena_strdup(&run->arena, part) : NULL;
	s->origin = ORIGIN_PREDICTED;
	s->form = p->is_exact ? FORM_EXACT : FORM_SUMMARY;
	s->n = 1;
	if (p->is_exact) {
		s->integers = arena_alloc(&run->arena, sizeof(*s->integers));
		if (s->integers)
			s->integers[0] = (int64_t)value;
	} else {
		s->values = arena_alloc(&run->arena, sizeof(*s->values));
		if (s->values)
			s->values[0] = value;
	}
	return (s->integers || s->values) && s->metric && (!part || s->part) ? 0 : -ENOMEM;
}

static int add_proof(struct run *run, struct measure *m, const struct predict_result *r)
{
	const struct sim_counts *c = &r->counts;
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = { { "references", c->refs },
		     { "warm_references", r->warm_refs },
		     { "walks", c->walks },
		     { "walk_reads", c->steps } };

	for (size_t i = 0; r->has_counts && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (attrs_set_int(&run->arena, &m->proof, rows[i].name, (int64_t)rows[i].value) < 0)
			return -ENOMEM;
	if (r->note[0])
		return attrs_set_text(&run->arena, &m->proof, "note", r->note);
	return 0;
}

static int fill_setting(struct run *run, struct measure *m, const struct predict_setting *s,
			const struct attrs *extra)
{
	int rc = attrs_copy(&run->arena, &m->setting, s->given);

	if (rc == 0 && s->inner)
		rc = attrs_set_int(&run->arena, &m->setting, s->inner, (int64_t)s->inner_value);
	if (rc == 0 && s->table_policy)
		rc = attrs_set_text(&run->arena, &m->setting, "page-tables", s->table_policy);
	for (size_t i = 0; extra && i < extra->n && rc == 0; i++)
		rc = extra->v[i].kind == ATTR_INT
			     ? attrs_set_int(&run->arena, &m->setting, extra->v[i].name,
					     extra->v[i].integer)
			     : attrs_set_text(&run->arena, &m->setting, extra->v[i].name,
					      extra->v[i].text);
	return rc;
}

int predict_add_measure(struct run *run, const struct predict_setting *s, const struct attrs *extra,
			const char *arm, const struct predict_result *r)
{
	struct measure *m = run_add_measure(run);
	int rc;

	if (!m)
		return -ENOMEM;
	m->bench = arena_strdup(&run->arena, s->bench);
	m->arm = arm;
	m->verdict = VERDICT_OK;
	rc = m->bench ? fill_setting(run, m, s, extra) : -ENOMEM;
	if (rc == 0)
		rc = add_proof(run, m, r);
	for (size_t i = 0; i < r->n_metrics && rc == 0; i++) {
		const struct predict_metric *p = &r->metrics[i];

		rc = add_value(run, m, p, NULL, p->is_exact ? (double)p->exact : p->value);
		for (size_t k = 0; p->has_parts && k < p->parts.n && rc == 0; k++)
			rc = add_value(run, m, p, p->parts.v[k].name, p->parts.v[k].ns);
	}
	return rc;
}
