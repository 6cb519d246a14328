/* SPDX-License-Identifier: MIT */
/*
 * Distances between CPUs. Machines have up to thousands of CPUs and so millions of pairs: what each
 * CPU belongs to is looked up once. Left out: clusters that share no cache, and which of two nodes
 * at equal distance.
 */
#include "host/machine_distance.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_CACHE = -1, PAIRS_MAX = 20000 };

/* What a CPU belongs to. */
struct place {
	const struct cpu *cpu;
	int64_t l2, l3; /* index of the cache, NO_CACHE: not told */
	size_t node;    /* index; n_nodes: none */
};

static int64_t cache_index(const struct machine *m, uint32_t cpu, unsigned level)
{
	const struct cache *c = machine_cache(m, cpu, level);

	return c ? c - m->caches : NO_CACHE;
}

static struct place place_of(const struct machine *m, const struct cpu *c)
{
	struct place p = {
		.cpu = c,
		.l2 = cache_index(m, c->id, 2),
		.l3 = cache_index(m, c->id, 3),
	};

	while (p.node < m->n_nodes && (c->node < 0 || m->nodes[p.node].id != (uint32_t)c->node))
		p.node++;
	return p;
}

static enum cpu_distance distance_of(const struct place *a, const struct place *b)
{
	if (a->cpu->core == b->cpu->core)
		return DISTANCE_SMT;
	if (a->l2 != NO_CACHE && a->l2 == b->l2)
		return DISTANCE_L2;
	if (a->l3 != NO_CACHE && a->l3 == b->l3)
		return DISTANCE_L3;
	if (a->node != b->node)
		return DISTANCE_REMOTE;
	return a->cpu->package == b->cpu->package ? DISTANCE_PACKAGE : DISTANCE_NODE;
}

static void fill_pair(const struct machine *m, const struct place *a, const struct place *b,
		      struct cpu_pair *ret)
{
	static const char *const names[] = { "smt", "l2", "l3", "package", "node", "remote" };
	uint32_t hops = 0;
	size_t used;

	*ret = (struct cpu_pair){
		.from = a->cpu->id,
		.to = b->cpu->id,
		.distance = distance_of(a, b),
	};
	if (ret->distance == DISTANCE_REMOTE && a->node < m->n_nodes && b->node < m->n_nodes &&
	    m->nodes[a->node].distance)
		hops = m->nodes[a->node].distance[b->node];
	snprintf(ret->name, sizeof(ret->name), hops ? "%s-%u" : "%s", names[ret->distance], hops);
	used = strlen(ret->name);
	if (a->cpu->capacity != b->cpu->capacity || a->cpu->capacity != 1024)
		snprintf(ret->name + used, sizeof(ret->name) - used, ":%u>%u", a->cpu->capacity,
			 b->cpu->capacity);
}

void cpu_pairs_done(struct cpu_pairs *p)
{
	free(p->v);
	*p = (struct cpu_pairs){ 0 };
}

int machine_pair(const struct machine *m, uint32_t from, uint32_t to, struct cpu_pair *ret,
		 struct err *e)
{
	const struct cpu *a = machine_cpu(m, from), *b = machine_cpu(m, to);
	struct place pa, pb;

	if (!a || !b)
		return err_set(e, EINVAL, "CPU %u: there is no such CPU", a ? to : from);
	if (a == b)
		return err_set(e, EINVAL, "from=%u to=%u: a pair needs two different CPUs", from,
			       to);
	pa = place_of(m, a);
	pb = place_of(m, b);
	fill_pair(m, &pa, &pb, ret);
	return 0;
}

/* --- choosing --- */

struct choice {
	const struct machine *m;
	struct place *places; /* usable CPUs */
	size_t n;
	const uint32_t *from, *to;
	struct cpu_pairs pairs;
	size_t cap;
};

static int add(struct choice *c, const struct cpu_pair *p, struct err *e)
{
	if (c->pairs.n == PAIRS_MAX)
		return err_set(e, EINVAL,
			       "more than %d pairs of CPUs; give from= and to=", PAIRS_MAX);
	if (c->pairs.n == c->cap) {
		size_t cap = c->cap ? 2 * c->cap : 16;
		struct cpu_pair *more = reallocarray(c->pairs.v, cap, sizeof(*more));

		if (!more)
			return err_set(e, ENOMEM, "no memory for pairs of CPUs");
		c->pairs.v = more;
		c->cap = cap;
	}
	c->pairs.v[c->pairs.n++] = *p;
	return 0;
}

/* How unfit a CPU is to stand for others. */
static unsigned unfit(const struct cpu *c)
{
	return (c->isolated ? 2u : 0u) + (c->id == 0 ? 1u : 0u);
}

/* The pair of the same class that was kept, by the class's name without its direction; else n. */
static size_t find_class(const struct choice *c, const struct cpu_pair *p)
{
	size_t i = 0;

	while (i < c->pairs.n && strcmp(c->pairs.v[i].name, p->name) != 0)
		i++;
	return i;
}

static unsigned pair_unfit(const struct machine *m, const struct cpu_pair *p)
{
	return unfit(machine_cpu(m, p->from)) + unfit(machine_cpu(m, p->to));
}

/* Keeps the fittest pair of each class, the first of equally fit ones. */
static int keep_fittest(struct choice *c, const struct cpu_pair *p, struct err *e)
{
	size_t i = find_class(c, p);

	if (i == c->pairs.n)
		return add(c, p, e);
	if (pair_unfit(c->m, p) < pair_unfit(c->m, &c->pairs.v[i]))
		c->pairs.v[i] = *p;
	return 0;
}

static int each_pair(struct choice *c, enum pairs_wanted wanted, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < c->n && rc == 0; i++) {
		const struct place *a = &c->places[i];

		if (c->from && *c->from != a->cpu->id)
			continue;
		for (size_t k = 0; k < c->n && rc == 0; k++) {
			const struct place *b = &c->places[k];
			struct cpu_pair p;

			if (k == i || (c->to && *c->to != b->cpu->id))
				continue;
			fill_pair(c->m, a, b, &p);
			rc = wanted == PAIRS_ALL ? add(c, &p, e) : keep_fittest(c, &p, e);
		}
	}
	return rc;
}

static bool has_pair(const struct choice *c, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < c->pairs.n; i++)
		if (c->pairs.v[i].from == from && c->pairs.v[i].to == to)
			return true;
	return false;
}

/* The way back of every pair that stands for a class. */
static int add_ways_back(struct choice *c, struct err *e)
{
	size_t n = c->pairs.n;

	for (size_t i = 0; i < n; i++) {
		struct cpu_pair back;
		int rc = machine_pair(c->m, c->pairs.v[i].to, c->pairs.v[i].from, &back, e);

		if (rc == 0 && !has_pair(c, back.from, back.to))
			rc = add(c, &back, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int by_class(const void *a, const void *b)
{
	const struct cpu_pair *x = a, *y = b;
	int names = strcmp(x->name, y->name);

	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	if (names)
		return names;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static int no_pair(const struct choice *c, struct err *e)
{
	size_t online = 0;

	for (size_t i = 0; i < c->m->n_cpus; i++)
		online += c->m->cpus[i].online;
	if (c->n >= 2)
		return err_set(e, ENODEV,
			       "no pair of CPUs is left: from and to must be two different CPUs "
			       "that are online and allowed");
	/* What would give a second one: the affinity, a CPU that is offline, or another machine. */
	if (online >= 2)
		return err_set(e, ENODEV,
			       "needs two CPUs: %zu present, %zu online, %zu allowed to this "
			       "process (affinity, cpuset); to allow more: taskset -c with two of "
			       "those online, or a wider cpuset",
			       c->m->n_cpus, online, c->n);
	for (size_t i = 0; i < c->m->n_cpus; i++)
		if (!c->m->cpus[i].online)
			return err_set(e, ENODEV,
				       "needs two CPUs: %zu present, %zu online; to bring one "
				       "online, as root: echo 1 > "
				       "/sys/devices/system/cpu/cpu%u/online",
				       c->m->n_cpus, online, c->m->cpus[i].id);
	return err_set(e, ENODEV, "needs two CPUs: this machine has %zu", c->m->n_cpus);
}

int machine_pairs(const struct machine *m, enum pairs_wanted wanted, const uint32_t *from,
		  const uint32_t *to, struct cpu_pairs *ret, struct err *e)
{
	struct choice c = { .m = m, .from = from, .to = to };
	int rc;

	c.places = calloc(m->n_cpus ? m->n_cpus : 1, sizeof(*c.places));
	if (!c.places)
		return err_set(e, ENOMEM, "no memory for the places of %zu CPUs", m->n_cpus);
	for (size_t i = 0; i < m->n_cpus; i++)
		if (m->cpus[i].online && m->cpus[i].allowed)
			c.places[c.n++] = place_of(m, &m->cpus[i]);
	rc = each_pair(&c, wanted, e);
	if (rc == 0 && wanted == PAIRS_CLASSES && !from && !to)
		rc = add_ways_back(&c, e);
	if (rc == 0 && c.pairs.n == 0)
		rc = no_pair(&c, e);
	free(c.places);
	if (rc < 0) {
		cpu_pairs_done(&c.pairs);
		return rc;
	}
	qsort(c.pairs.v, c.pairs.n, sizeof(*c.pairs.v), by_class);
	*ret = c.pairs;
	return 0;
}
