// SPDX-License-Identifier: MIT
/* Synthetic curves with known truth; see knee_sim.h. */
#include "knee_sim.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "infer/knee.h"
#include "stats/stats.h"

enum { POINTS = 45, MOST = 128, ROUNDS = 3, MORE = 8, SEEDS_MAX = 500 };

/*
 * Cycles: hit, added by a first-level miss, added by a walk (or, for the last, by memory). What can
 * be known depends on them: given the true shape and number of knees, least squares reaches a
 * median error of 0.043 and 0.037 octaves on the first machine at 8 % noise; if its walk cost 25
 * behind a hit of 9, 0.050, and no method could meet the bounds below.
 */
const struct sim_machine sim_machines[SIM_MACHINES] = {
	{ "two TLB levels, cheap hits", 4, 7, 32, 40, 110, 1000, 3000 },
	{ "two TLB levels, dear hits", 4, 9, 40, 40, 110, 1000, 3000 },
	{ "near levels, dear walks", 3, 8, 160, 28, 36, 100, 140 },
};

const struct sim_bounds sim_bounds[SIM_NOISES] = {
	{ 0.01, 0.03, 0.10 },
	{ 0.03, 0.03, 0.12 },
	{ 0.08, 0.05, 0.20 },
};

const struct sim_bounds *sim_bounds_of(double noise)
{
	size_t i = 0;

	while (i + 1 < SIM_NOISES && sim_bounds[i].noise != noise)
		i++;
	return &sim_bounds[i];
}

struct curve {
	double x[MOST], y[MOST];
	size_t n;
};

struct truth {
	enum sim_shape shape;
	double base, cost[2], capacity[2];
	double ways, colours, slope;
};

/* P(Binomial(pages - 1, 1 / colours) >= ways): the share of pages in overfull sets. */
static double overfull(double pages, double colours, double ways)
{
	double p = 1 / colours;
	double term = pow(1 - p, pages - 1);
	double sum = 0;

	for (double k = 0; k < ways && k < pages; k++) {
		sum += term;
		term *= (pages - 1 - k) / (k + 1) * p / (1 - p);
	}
	return fmax(0, 1 - sum);
}

static double cost_at(const struct truth *t, double x)
{
	double y = t->base;

	switch (t->shape) {
	case SIM_RANDOM:
		for (int k = 0; k < 2; k++)
			y += t->cost[k] * fmax(0, 1 - t->capacity[k] / x);
		return y;
	case SIM_LRU:
		for (int k = 0; k < 2; k++)
			y += x > t->capacity[k] ? t->cost[k] : 0;
		return y;
	case SIM_OVERFLOW:
		return y + t->cost[0] * overfull(x, t->colours, t->ways);
	case SIM_LOG:
		return y * (1 + t->slope * log2(x / 4));
	case SIM_POWER:
		return y * pow(x / 4, t->slope);
	case SIM_LEVEL:
		break;
	}
	return y;
}

static void add_point(struct curve *c, const struct truth *t, double x, double noise, struct rng *r)
{
	size_t i = c->n;

	if (c->n == MOST)
		return;
	for (; i > 0 && c->x[i - 1] > x; i--) {
		c->x[i] = c->x[i - 1];
		c->y[i] = c->y[i - 1];
	}
	c->x[i] = x;
	c->y[i] = cost_at(t, x) * exp(noise * rng_normal(r));
	c->n++;
}

static void first_points(struct curve *c, const struct truth *t, double noise, struct rng *r)
{
	c->n = 0;
	for (int i = 0; i < POINTS; i++) {
		double x = floor(4 * exp2(0.25 * i) + 0.5);

		if (c->n == 0 || x > c->x[c->n - 1])
			add_point(c, t, x, noise, r);
	}
}

/* The measuring loop: where to measure next is asked, measured with fresh noise, and judged. */
static int find(struct curve *c, const struct truth *t, double noise, struct rng *r,
		struct knees *ret)
{
	for (int round = 0;; round++) {
		struct knee_curve k = { .x = c->x, .y = c->y, .n = c->n };
		uint64_t more[MORE];
		size_t n;

		if (knees_find(&k, ret, NULL))
			return -1;
		if (t->shape != SIM_LRU || round == ROUNDS)
			return 0;
		n = knees_refine(&k, ret, more, MORE);
		if (n == 0)
			return 0;
		for (size_t i = 0; i < n; i++)
			add_point(c, t, (double)more[i], noise, r);
	}
}

static double between(struct rng *r, double low, double high)
{
	return low * pow(high / low, rng_unit(r));
}

void sim_two_knees(enum sim_shape shape, const struct sim_machine *m, double noise, unsigned seeds,
		   struct sim_result *ret)
{
	static double error[2][SEEDS_MAX];
	const struct sim_bounds *b = sim_bounds_of(noise);
	unsigned wrong = 0;

	*ret = (struct sim_result){ 0 };
	for (unsigned seed = 0; seed < seeds && seed < SEEDS_MAX; seed++) {
		struct truth t = { .shape = shape,
				   .base = m->base,
				   .cost = { m->first_cost, m->second_cost } };
		struct curve c;
		struct knees k = { 0 };
		struct rng r;

		rng_seed(&r, 1000 + seed);
		t.capacity[0] = between(&r, m->first_low, m->first_high);
		t.capacity[1] = between(&r, m->second_low, m->second_high);
		if (shape == SIM_LRU) {
			t.capacity[0] = floor(t.capacity[0]);
			t.capacity[1] = floor(t.capacity[1]);
		}
		first_points(&c, &t, noise, &r);
		if (find(&c, &t, noise, &r, &k))
			k.n = 0;
		wrong += k.n != 2;
		for (int q = 0; q < 2; q++) {
			error[q][seed] = 9;
			for (size_t i = 0; i < k.n; i++)
				error[q][seed] = fmin(error[q][seed],
						      fabs(log2(k.v[i].capacity / t.capacity[q])));
			ret->beyond_median[q] += error[q][seed] > b->median;
			ret->beyond_p95[q] += error[q][seed] > b->p95;
		}
	}
	for (int q = 0; q < 2; q++) {
		ret->median[q] = stats_median(error[q], seeds);
		ret->p95[q] = stats_quantile(error[q], seeds, 0.95);
	}
	ret->wrong_number = wrong;
}

unsigned sim_false_knees(enum sim_shape shape, double noise, unsigned seeds)
{
	static const double ways[] = { 2, 4, 8, 16 };
	unsigned found = 0;

	for (unsigned seed = 0; seed < seeds; seed++) {
		struct truth t = { .shape = shape, .base = 4 };
		struct curve c;
		struct knees k = { 0 };
		struct rng r;

		rng_seed(&r, 5000 + seed);
		t.ways = ways[rng_below(&r, 4)];
		t.colours = floor(between(&r, 8, 64));
		t.cost[0] = 2 + 10 * rng_unit(&r);
		t.slope = 0.02 + 0.2 * rng_unit(&r);
		first_points(&c, &t, noise, &r);
		found += find(&c, &t, noise, &r, &k) || k.n > 0;
	}
	return found;
}
