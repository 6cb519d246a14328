// SPDX-License-Identifier: MIT
/*
 * From points to rows of the least squares. A point is simulated once on a machine whose every cost
 * is 1; what a part of the prediction then costs is how often it occurred (less what overlaps), and
 * its name tells which figure it is multiplied with.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/parts.h"

static bool has_tlb(const struct sim_machine *m, uint32_t level)
{
	for (size_t i = 0; i < m->n_tlbs; i++)
		if (m->tlbs[i].level == level)
			return true;
	return false;
}

bool column_exists(const struct sim_machine *m, unsigned col)
{
	if (col >= COL_CACHE && col < COL_ALIAS)
		return col - COL_CACHE < m->n_caches;
	switch (col) {
	case COL_TLB2:
		return has_tlb(m, 2);
	case COL_TLB3:
		return has_tlb(m, 3);
	case COL_HANDLER:
		return m->walker.kind == SIM_VHPT;
	case COL_ALIAS:
		return m->alias.rule != SIM_ALIAS_NONE;
	case COL_LOCAL:
		return !m->memory.latency_ns;
	case COL_REMOTE:
		return !m->memory.latency_ns && m->memory.nodes > 1;
	case COL_FAR:
		return m->far_side.present;
	default:
		return true;
	}
}

/* The last TLB of a level has the figure that counts (sim/cost.c). */
static size_t tlb_of(const struct sim_machine *m, uint32_t level)
{
	size_t found = 0;

	for (size_t i = 0; i < m->n_tlbs; i++)
		found = m->tlbs[i].level == level ? i : found;
	return found;
}

void column_path(const struct sim_machine *m, unsigned col, char buf[48])
{
	static const char *const names[COLS] = {
		[COL_ROUND] = "core.round_cycles", [COL_START] = "walker.start_cycles",
		[COL_STEP] = "walker.step_cycles", [COL_HANDLER] = "walker.handler_cycles",
		[COL_ALIAS] = "alias.miss_cycles", [COL_LOCAL] = "memory.local_ns",
		[COL_REMOTE] = "memory.remote_ns", [COL_FAR] = "far_side.miss_ns",
	};

	if (col == COL_TLB2 || col == COL_TLB3)
		snprintf(buf, 48, "tlbs[%zu].hit_cycles", tlb_of(m, col == COL_TLB2 ? 2 : 3));
	else if (col >= COL_CACHE && col < COL_ALIAS)
		snprintf(buf, 48, "caches[%u].hit_cycles", col - COL_CACHE);
	else
		snprintf(buf, 48, "%s", names[col]);
}

const char *column_unit(unsigned col)
{
	return col == COL_LOCAL || col == COL_REMOTE || col == COL_FAR ? "ns" : "cycles";
}

static double *figure(struct sim_machine *m, unsigned col)
{
	if (col >= COL_CACHE && col < COL_ALIAS)
		return &m->caches[col - COL_CACHE].hit_cycles;
	switch (col) {
	case COL_ROUND:
		return &m->core.round_cycles;
	case COL_TLB2:
		return &m->tlbs[tlb_of(m, 2)].hit_cycles;
	case COL_TLB3:
		return &m->tlbs[tlb_of(m, 3)].hit_cycles;
	case COL_START:
		return &m->walker.start_cycles;
	case COL_STEP:
		return &m->walker.step_cycles;
	case COL_HANDLER:
		return &m->walker.handler_cycles;
	case COL_ALIAS:
		return &m->alias.miss_cycles;
	case COL_LOCAL:
		return &m->memory.local_ns;
	case COL_REMOTE:
		return &m->memory.remote_ns;
	default:
		return &m->far_side.miss_ns;
	}
}

double column_get(const struct sim_machine *m, unsigned col)
{
	return *figure((struct sim_machine *)(uintptr_t)m, col);
}

void column_set(struct sim_machine *m, unsigned col, double value)
{
	const uint32_t level = col == COL_TLB2 ? 2 : col == COL_TLB3 ? 3 : 0;

	*figure(m, col) = value;
	for (size_t i = 0; i < m->n_tlbs; i++)
		if (level && m->tlbs[i].level == level)
			m->tlbs[i].hit_cycles = value;
}

struct sim_machine *machine_of_ones(const struct sim_machine *m)
{
	struct sim_machine *to = sim_machine_copy(m);

	for (unsigned c = 0; to && c < COLS; c++)
		if (column_exists(to, c))
			column_set(to, c, 1);
	for (size_t i = 0; to && i < to->n_tlbs; i++)
		if (to->tlbs[i].level == 1)
			to->tlbs[i].hit_cycles = 0; /* added to the rest by the caller */
	if (to)
		to->core.clock_hz = 1e9;
	return to;
}

/* The column of a part; COLS: none. */
static unsigned column_of(const char *part)
{
	static const struct {
		const char *name;
		unsigned col;
	} whole[] = { { "round", COL_ROUND },         { "alias", COL_ALIAS },
		      { "walk.start", COL_START },    { "walk.steps", COL_STEP },
		      { "tlb.l2", COL_TLB2 },         { "tlb.l3", COL_TLB3 },
		      { "walk.handler", COL_HANDLER } };
	const char *dot = strrchr(part, '.');

	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (strcmp(part, whole[i].name) == 0)
			return whole[i].col;
	if (!dot || strncmp(part, "tlb.", 4) == 0)
		return COLS;
	if (strcmp(dot, ".far") == 0)
		return COL_FAR;
	if (strcmp(dot, ".local") == 0)
		return COL_LOCAL;
	if (strcmp(dot, ".remote") == 0)
		return COL_REMOTE;
	if (dot[1] == 'l' && dot[2] >= '1' && dot[2] <= '0' + SIM_CACHES_MAX && dot[3] == '\0')
		return COL_CACHE + (unsigned)(dot[2] - '1');
	return COLS;
}

/* ns that one hit of the first TLB costs. */
static double first_tlb_ns(const struct sim_machine *m)
{
	double cycles = 0;

	for (size_t i = 0; i < m->n_tlbs; i++)
		if (m->tlbs[i].level == 1)
			cycles = m->tlbs[i].hit_cycles;
	return cycles * 1e9 / m->core.clock_hz;
}

static void fill_row(const struct sim_machine *m, const struct predict_result *r, struct row *ret)
{
	const double cycle_ns = 1e9 / m->core.clock_hz;
	const double refs = r->counts.refs ? (double)r->counts.refs : 1;
	const struct sim_parts *parts = &r->metrics[0].parts;

	*ret = (struct row){ .refs = r->counts.refs,
			     .rest = (double)r->counts.tlb_hit[0] / refs * first_tlb_ns(m) };
	for (size_t i = 0; i < parts->n; i++) {
		const unsigned col = column_of(parts->v[i].name);

		if (col == COLS || !column_exists(m, col))
			ret->rest += parts->v[i].ns;
		else
			ret->x[col] += parts->v[i].ns * (column_unit(col)[0] == 'c' ? cycle_ns : 1);
	}
}

double row_ns(const struct row *r, const double *costs)
{
	double sum = r->rest;

	for (unsigned c = 0; c < COLS; c++)
		sum += r->x[c] * costs[c];
	return sum;
}

struct problem problem_quick(const struct problem *p)
{
	struct problem quick = *p;

	if (!quick.refs || quick.refs > QUICK_REFS)
		quick.refs = QUICK_REFS;
	return quick;
}

int point_simulate(const struct problem *p, size_t i, const struct sim_machine *m,
		   struct predict_result *ret, struct err *e)
{
	struct predict_model model = p->points[i].model;

	model.machine = m;
	model.seed = p->o->seed;
	model.refs = p->refs;
	if (!model.host_levels && m->core.nested) {
		model.host_levels = m->core.host_levels;
		if (!model.host_page_bytes)
			model.host_page_bytes = m->core.host_page_bytes;
	}
	return predict_point(&model, &p->points[i].setting, ret, e);
}

/* --- over threads --- */

struct making {
	const struct problem *p;
	const struct sim_machine *m, *ones;
	const size_t *which;
	size_t n;
	struct row *rows;
	atomic_size_t next;
	atomic_int rc;
	struct err *errors; /* by thread */
	size_t *at;         /* by thread: the point of its error */
};
struct maker {
	struct making *all;
	unsigned number;
	pthread_t thread;
	bool started;
};

static void *make_rows(void *arg)
{
	struct maker *me = arg;
	struct making *k = me->all;
	struct predict_result *r = malloc(sizeof(*r));
	size_t i;

	if (!r)
		atomic_store(&k->rc, -ENOMEM);
	while (r && atomic_load(&k->rc) == 0 && (i = atomic_fetch_add(&k->next, 1)) < k->n) {
		const size_t point = k->which ? k->which[i] : i;
		int rc = point_simulate(k->p, point, k->ones, r, &k->errors[me->number]);

		if (rc < 0) {
			k->at[me->number] = point;
			atomic_store(&k->rc, rc);
		} else {
			fill_row(k->m, r, &k->rows[i]);
		}
	}
	free(r);
	return NULL;
}

/* The error of the first point that has one, whatever thread met it. */
static void tell(const struct making *k, unsigned threads, struct err *e)
{
	const struct err *first = NULL;
	size_t at = SIZE_MAX;

	for (unsigned t = 0; t < threads; t++) {
		if (!k->errors[t].code || k->at[t] >= at)
			continue;
		first = &k->errors[t];
		at = k->at[t];
	}
	err_set(e, first ? first->code : ENOMEM, "%s", first ? first->msg : "out of memory");
}

int rows_make(const struct problem *p, const struct sim_machine *m, const size_t *which, size_t n,
	      struct row *ret_rows, struct err *e)
{
	enum { THREADS_MAX = 64 };
	struct err errors[THREADS_MAX] = { 0 };
	size_t at[THREADS_MAX] = { 0 };
	struct maker makers[THREADS_MAX] = { 0 };
	unsigned threads = p->o->threads ? p->o->threads : 1;
	struct making k = { .p = p, .m = m, .which = which, .n = n, .rows = ret_rows };
	int rc;

	threads = threads < THREADS_MAX ? threads : THREADS_MAX;
	threads = threads < n ? threads : n ? (unsigned)n : 1;
	k.errors = errors;
	k.at = at;
	k.ones = machine_of_ones(m);
	if (!k.ones)
		return err_set(e, ENOMEM, "out of memory");
	for (unsigned t = 0; t < threads; t++) {
		makers[t] = (struct maker){ .all = &k, .number = t };
		makers[t].started = t > 0 && pthread_create(&makers[t].thread, NULL, make_rows,
							    &makers[t]) == 0;
	}
	make_rows(&makers[0]); /* does it all where no other thread could be had */
	for (unsigned t = 1; t < threads; t++)
		if (makers[t].started)
			pthread_join(makers[t].thread, NULL);
	rc = atomic_load(&k.rc);
	sim_machine_free((struct sim_machine *)(uintptr_t)k.ones);
	if (rc < 0)
		tell(&k, threads, e);
	return rc;
}
