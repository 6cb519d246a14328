// SPDX-License-Identifier: MIT
/*
 * What experiments without a difference tell: false findings, and how far values of one machine lie
 * apart from run to run.
 *
 * Source of the median of chi-squared: Wilson and Hilferty 1931, k (1 - 2 / (9 k))^3.
 */
#include "compare/compare_arms.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/infer.h"
#include "stats/stats.h"

enum { RUNS_MIN = 3, BLOCK_PROCESSES = 2 /* of one arm */ };

static void count(const struct compared *v, size_t n, size_t *tests, size_t *findings)
{
	for (size_t i = 0; i < n; i++) {
		*tests += isfinite(v[i].p) ? 1 : 0;
		*findings += v[i].outcome == OUTCOME_BETTER || v[i].outcome == OUTCOME_WORSE;
	}
}

void compare_arms_alike(const struct comparison *c, struct arms_alike *ret)
{
	*ret = (struct arms_alike){ 0 };
	count(c->facts, c->n_facts, &ret->n_fact_tests, &ret->n_fact_findings);
	count(c->points, c->n_points, &ret->n_point_tests, &ret->n_point_findings);
}

/* --- spread ------------------------------------------------------------------------------------
 */

/* A setting of one benchmark with the values of its units. */
struct spot {
	const struct attrs *setting;
	double *logs; /* one a run, or one a block */
	size_t n, cap;
};
struct spots {
	struct arena arena;
	struct spot *v;
	size_t n, cap;
};

static struct spot *find_spot(struct spots *s, const struct attrs *setting)
{
	for (size_t i = 0; i < s->n; i++)
		if (attrs_equal(s->v[i].setting, setting))
			return &s->v[i];
	if (arena_grow(&s->arena, &s->v, s->n, &s->cap, sizeof(*s->v)) < 0)
		return NULL;
	s->v[s->n] = (struct spot){ .setting = setting };
	return &s->v[s->n++];
}

static int add_value(struct spots *s, const struct attrs *setting, double value)
{
	struct spot *spot;

	if (!(value > 0) || !isfinite(value))
		return 0;
	spot = find_spot(s, setting);
	if (!spot || arena_grow(&s->arena, &spot->logs, spot->n, &spot->cap, sizeof(double)) < 0)
		return -ENOMEM;
	spot->logs[spot->n++] = log(value);
	return 0;
}

/* Measures of @block (any, for -1) as one point: both arms are the same thing here. */
static int add_part(struct spots *s, const struct run *r, const struct point *p, const char *metric,
		    int64_t block, const struct measure **room)
{
	struct point part = { .bench = p->bench, .setting = p->setting, .measures = room };
	struct estimate est;

	for (size_t i = 0; i < p->n_measures; i++)
		if (block < 0 || p->measures[i]->invocation / (2 * BLOCK_PROCESSES) == block)
			room[part.n_measures++] = p->measures[i];
	if (part.n_measures == 0)
		return 0;
	estimate_point(r, &part, metric, &est);
	return add_value(s, p->setting, est.value);
}

static int64_t count_blocks(const struct run *r)
{
	int64_t n = 0;

	for (size_t i = 0; i < r->n_measures; i++)
		if (r->measures[i].invocation / BLOCK_PROCESSES >= n)
			n = r->measures[i].invocation / BLOCK_PROCESSES + 1;
	return n;
}

/* The values of one run: one at each point, or one for each point and block. */
static int add_run(struct spots *s, const struct run *r, const char *bench, bool blocks)
{
	const struct bench_schema *schema = run_schema(r, bench);
	const struct measure **room;
	struct run merged = *r;
	struct points points;
	int64_t n = blocks ? count_blocks(r) : 1;
	int rc;

	if (!schema)
		return 0;
	/* Without arms, so that both are one point. */
	merged.measures = arena_alloc(&s->arena, (r->n_measures + 1) * sizeof(*merged.measures));
	room = arena_alloc(&s->arena, (r->n_measures + 1) * sizeof(*room));
	if (!merged.measures || !room)
		return -ENOMEM;
	memcpy(merged.measures, r->measures, r->n_measures * sizeof(*merged.measures));
	for (size_t i = 0; i < r->n_measures; i++) {
		struct measure *m = &merged.measures[i];

		/* Two processes all the same. */
		m->invocation = 2 * m->invocation + (m->arm && *m->arm == 'B');
		m->arm = NULL;
	}
	rc = points_assemble(&s->arena, &merged, &points);
	for (size_t i = 0; rc == 0 && i < points.n; i++)
		for (int64_t k = 0; rc == 0 && k < n; k++)
			if (strcmp(points.v[i].bench, bench) == 0)
				rc = add_part(s, r, &points.v[i], schema->metrics[0].name,
					      blocks ? k : -1, room);
	return rc;
}

static double deviation(const double *x, size_t n)
{
	double mean = 0, sum = 0;

	for (size_t i = 0; i < n; i++)
		mean += x[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sqrt(sum / (double)(n - 1));
}

/* The median over the spots, each against the median of its own distribution. */
static double typical(const struct spots *s)
{
	double *sd = calloc(s->n + 1, sizeof(*sd)), result = NAN;
	size_t n = 0;

	for (size_t i = 0; sd && i < s->n; i++) {
		double k = (double)s->v[i].n - 1, low;

		if (s->v[i].n < RUNS_MIN)
			continue;
		low = sqrt(pow(1 - 2 / (9 * k), 3));
		sd[n++] = deviation(s->v[i].logs, s->v[i].n) / low;
	}
	if (n)
		result = stats_median(sd, n);
	free(sd);
	return result;
}

double compare_arms_spread(const struct run *const *runs, size_t n, const char *bench,
			   bool *ret_from_blocks)
{
	bool blocks = n < RUNS_MIN;
	struct spots s = { 0 };
	double result = NAN;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++) {
		/* Blocks of different runs would count the change between runs in. */
		if (blocks && i + 1 < n)
			continue;
		rc = add_run(&s, runs[i], bench, blocks);
	}
	if (rc == 0)
		result = typical(&s);
	arena_done(&s.arena);
	*ret_from_blocks = blocks;
	return result;
}
