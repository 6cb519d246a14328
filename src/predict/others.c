// SPDX-License-Identifier: MIT
/*
 * tables.shared, which is geometry, and the cold system call, which is a number of lines from a
 * number of nodes.
 *
 * The lines of a call are derived from the published table kernel-text-replication-2006 and the
 * memory latencies of the machine that it was measured on (machines/altix-itanium2-900.json, 145
 * and 566 ns): what replication saved beyond the hot call, by the difference of the latencies, are
 * lines of text; what the cold call then still cost beyond the hot one, by the local latency, is
 * all lines. They are those of that kernel; another one has others.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "access/tables.h"
#include "base/units.h"
#include "predict/parts.h"

/* --- tables.shared --- */

enum { VMPTE_LEVELS = 3 }; /* leaf, PMD and PUD tables are what the kernel counts */

int predict_tables_shared(const struct predict_model *m, const struct predict_setting *s,
			  struct predict_result *r, struct err *e)
{
	static const char *const names[VMPTE_LEVELS] = { "leaf", "pmd", "pud" };
	const uint64_t base = m->machine ? m->machine->core.page_bytes : m->page_bytes;
	const uint64_t page = setting_bytes(s, "page.bytes");
	const uint64_t segment = (uint64_t)attrs_int(s->given, "segment", 0);
	const uint64_t bytes = (segment + page - 1) / page * page;
	struct table_count c = tables_under(base, VMPTE_LEVELS, page, 0, bytes);
	struct predict_metric *p;
	uint64_t all = 0;

	if (s->inner_value > (UINT64_C(1) << 62) / (tables_bytes(&c, base, VMPTE_LEVELS) + 1))
		return err_set(e, ERANGE, "more bytes of tables than can be counted");
	c.pages[VMPTE_LEVELS - 1]--; /* the process has one of the highest anyhow */
	p = add_exact(r, "predicted_table_bytes", "page tables that geometry predicts", 0);
	p->has_parts = true;
	for (unsigned k = 0; k < VMPTE_LEVELS; k++) {
		const uint64_t n = c.pages[k] * s->inner_value;
		struct sim_part *part = &p->parts.v[p->parts.n];

		if (n == 0)
			continue;
		snprintf(part->name, sizeof(part->name), "%s", names[k]);
		part->count = n;
		part->ns = (double)(n * base); /* bytes: of the metric's unit */
		p->parts.n++;
		all += n * base;
	}
	p->exact = (int64_t)all;
	return 0;
}

/* --- the cold system call --- */

static const struct call_lines {
	const char *bench;
	double text, data, hot_ns;
} published_calls[] = {
	{ "syscall.null", 0, 5, 44 },           { "syscall.forkexit", 225, 1599, 151927 },
	{ "syscall.openclose", 75, 386, 8128 }, { "syscall.pid", 1, 15, 67 },
	{ "syscall.time", 15, 58, 1100 },       { "syscall.gettimeofday", 14, 59, 1074 },
};

static const struct call_lines *lines_of(const char *bench)
{
	for (size_t i = 0; i < sizeof(published_calls) / sizeof(published_calls[0]); i++)
		if (strcmp(published_calls[i].bench, bench) == 0)
			return &published_calls[i];
	return &published_calls[0];
}

static int run_call(const struct predict_model *m, const struct predict_setting *s, double text,
		    double data, struct predict_result *r, struct err *e)
{
	struct sim_space space = { .cpu_node = s->cpu_node };
	const uint32_t home = m->text_replicated ? s->cpu_node : m->machine->text.home_node;
	struct sim *sim;
	int rc = sim_new(m->machine, &space, m->seed, &sim, e);

	if (rc < 0)
		return rc;
	for (uint64_t i = 0; i < (uint64_t)text; i++)
		sim_line(sim, SIM_CODE, i, home);
	for (uint64_t i = 0; i < (uint64_t)data; i++)
		sim_line(sim, SIM_DATA, i, s->cpu_node);
	r->counts = *sim_counts(sim);
	r->has_counts = true;
	sim_free(sim);
	return 0;
}

int predict_syscall(const struct predict_model *m, const struct predict_setting *s,
		    struct predict_result *r, struct err *e)
{
	const struct call_lines *l = lines_of(s->bench);
	const double text = m->text_lines < 0 ? l->text : m->text_lines;
	const double data = m->data_lines < 0 ? l->data : m->data_lines;
	const bool is_altix = m->machine->walker.kind == SIM_VHPT;
	const double hot_ns = m->hot_ns >= 0 ? m->hot_ns : is_altix ? l->hot_ns : 0;
	struct sim_parts parts;
	int rc;

	if (!setting_is(s, "cache", "cold") || setting_is(s, "via", "vdso"))
		return err_set(e, EINVAL,
			       "predicted is the cold call through the kernel: cache=cold%s",
			       attrs_find(s->given, "via") ? " via=kernel" : "");
	rc = run_call(m, s, floor(text), floor(data), r, e);
	if (rc < 0)
		return rc;
	sim_cost(m->machine, s->cpu_node, &r->counts, false, &parts);
	if (hot_ns > 0) {
		struct sim_part *p = &parts.v[parts.n++];

		memset(p, 0, sizeof(*p));
		snprintf(p->name, sizeof(p->name), "hot");
		p->count = 1;
		p->ns = hot_ns;
	} else {
		snprintf(r->note, sizeof(r->note),
			 "without the hot call, which the machine does not tell: hot-ns=TIME adds "
			 "it");
	}
	add_parts(r, "call_ns", "time of one cold call", &parts, 1);
	return 0;
}
