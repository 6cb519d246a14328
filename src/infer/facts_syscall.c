// SPDX-License-Identifier: MIT
/*
 * Facts of system calls: the serial misses of a cold call, the node that holds the kernel's text,
 * and what a call costs more on other nodes. Leaves out any share of instructions: caches that hold
 * both mix the contrasts. Formulas: docs/methodology.md.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "infer/facts.h"
#include "stats/stats.h"

enum { INVOCATIONS_MAX = 256, NODES_MAX = 64 };

static bool is_call(const struct curve_points *c)
{
	return strncmp(c->bench, "syscall.", 8) == 0 && c->n == 1 && !c->arm;
}

static const char *word(const struct curve_points *c, const char *name)
{
	return attrs_text(&c->outer, name, "");
}

/* An integer of the proof of any valid measure; -1: none. */
static int64_t proof_of(const struct curve_points *c, const char *name)
{
	for (size_t i = 0; i < c->points[0]->n_measures; i++) {
		const struct measure *m = c->points[0]->measures[i];

		if (m->verdict == VERDICT_OK && attrs_find(&m->proof, name))
			return attrs_int(&m->proof, name, -1);
	}
	return -1;
}

/* The metric's value in each invocation, NaN where there is none. */
static void values_of(struct work *w, const struct curve_points *c, const char *metric,
		      double ret[INVOCATIONS_MAX])
{
	for (size_t i = 0; i < INVOCATIONS_MAX; i++)
		ret[i] = NAN;
	for (size_t i = 0; i < c->points[0]->n_measures; i++) {
		const struct measure *m = c->points[0]->measures[i];

		if (m->invocation < INVOCATIONS_MAX)
			ret[m->invocation] = measure_value(w->run, m, metric);
	}
}

/* The curve of the same benchmark that differs from @c in parameter @name only, where it is @value.
 */
static const struct curve_points *sibling(struct work *w, const struct curve_points *c,
					  const char *name, const char *value)
{
	for (size_t i = 0; i < w->curves->n; i++) {
		const struct curve_points *o = &w->curves->v[i];
		bool same = is_call(o) && strcmp(o->bench, c->bench) == 0 &&
			    strcmp(word(o, name), value) == 0;

		for (size_t k = 0; same && k < c->outer.n; k++) {
			const char *other = c->outer.v[k].name;

			/* the CPU follows the node */
			same = strcmp(other, name) == 0 || strcmp(other, "cpu") == 0 ||
			       strcmp(word(o, other), word(c, other)) == 0;
		}
		if (same)
			return o;
	}
	return NULL;
}

static int set_where(struct work *w, struct fact *f, const struct curve_points *c,
		     const char *const *names)
{
	int rc = fact_where_text(w, f, "test", c->bench + strlen("syscall."));

	for (; rc == 0 && *names; names++) {
		const char *value = word(c, *names);

		if (*value && strcmp(value, "none") != 0 && strcmp(value, "local") != 0)
			rc = fact_where_text(w, f, *names, value);
	}
	return rc;
}

/* --- serial misses --- */

static int add_misses(struct work *w, const struct curve_points *cold,
		      const struct curve_points *hot)
{
	static const char *const where[] = { "via", "evict", "node", "load", "evict-node", NULL };
	double a[INVOCATIONS_MAX], b[INVOCATIONS_MAX], memory[INVOCATIONS_MAX];
	struct fact *f = fact_new(w, "syscall.serial_misses", "misses",
				  "(cold - hot) / latency of memory, in each invocation");
	struct cost cost;

	if (!f || set_where(w, f, cold, where))
		return -ENOMEM;
	values_of(w, cold, "call_ns", a);
	values_of(w, hot, "call_ns", b);
	values_of(w, cold, "memory_ns", memory);
	for (size_t i = 0; i < INVOCATIONS_MAX; i++)
		a[i] = memory[i] > 0 ? (a[i] - b[i]) / memory[i] : NAN;
	cost = cost_of_values(a, INVOCATIONS_MAX,
			      "no invocation has cold, hot and the latency of memory");
	fact_set_cost(f, &cost);
	return 0;
}

static int facts_misses(struct work *w)
{
	for (size_t i = 0; i < w->curves->n; i++) {
		const struct curve_points *c = &w->curves->v[i], *hot;
		int rc;

		/* other kinds of eviction do not reach memory */
		if (!is_call(c) || strcmp(word(c, "cache"), "cold") != 0 ||
		    (strcmp(word(c, "evict"), "both") != 0 &&
		     strcmp(word(c, "evict"), "data") != 0))
			continue;
		hot = sibling(w, c, "cache", "hot");
		rc = hot ? add_misses(w, c, hot) : 0;
		if (rc)
			return rc;
	}
	return 0;
}

/* --- nodes --- */

struct homes {
	int64_t nodes[NODES_MAX]; /* that measured */
	double log_cost[NODES_MAX];
	size_t n_costs[NODES_MAX];
	size_t n;
	int64_t told; /* by proof, -1: not */
};

static size_t node_index(struct homes *h, int64_t node)
{
	size_t i = 0;

	while (i < h->n && h->nodes[i] != node)
		i++;
	if (i == h->n && i < NODES_MAX)
		h->nodes[h->n++] = node;
	return i;
}

static void collect(struct work *w, struct homes *h)
{
	for (size_t i = 0; i < w->curves->n; i++) {
		const struct curve_points *c = &w->curves->v[i];
		struct estimate e;
		int64_t node;
		size_t at;

		if (!is_call(c))
			continue;
		if (h->told < 0)
			h->told = proof_of(c, "home_node");
		node = proof_of(c, "node");
		at = node >= 0 ? node_index(h, node) : NODES_MAX;
		if (at >= NODES_MAX || strcmp(word(c, "cache"), "cold") != 0)
			continue;
		estimate_point(w->run, c->points[0], "call_ns", &e);
		if (e.value > 0) {
			h->log_cost[at] += log(e.value);
			h->n_costs[at]++;
		}
	}
}

/* The node with the cheapest cold calls, where all measured equally many; -1: cannot be told. */
static int64_t cheapest(const struct homes *h)
{
	size_t best = 0;

	for (size_t i = 0; i < h->n; i++) {
		if (h->n_costs[i] == 0 || h->n_costs[i] != h->n_costs[0])
			return -1;
		if (h->log_cost[i] < h->log_cost[best])
			best = i;
	}
	return h->n > 1 ? h->nodes[best] : -1;
}

static int add_home(struct work *w, const struct homes *h, int64_t *ret_home)
{
	struct fact *f = fact_new(w, "syscall.home_node", NULL, "the kernel's own addresses");

	if (!f)
		return -ENOMEM;
	*ret_home = h->told >= 0 ? h->told : cheapest(h);
	f->interval_reason = "a name, not a quantity";
	if (*ret_home < 0) {
		f->reason = "the kernel's addresses are hidden (root can read them), and the order "
			    "of costs needs cold calls on every node (node=each)";
		return 0;
	}
	f->value = (double)*ret_home;
	if (h->told < 0) {
		f->method = "order of the measured cold costs";
		f->note = "inferred from the order of the measured costs, not read: the kernel's "
			  "addresses are hidden";
	} else if (attrs_int(&w->run->fingerprint, "nodes", 0) == 1) {
		f->note = "one node: near and far cannot be compared on this machine";
	} else if (h->n < 2) {
		f->note = "one node was measured: node=each compares them";
	}
	return 0;
}

/* What the call costs more on @c's node than on the home node. */
static int add_away(struct work *w, const struct curve_points *c, const struct curve_points *home)
{
	static const char *const where[] = { "via",  "cache",      "evict", "node",
					     "load", "evict-node", NULL };
	double a[INVOCATIONS_MAX], b[INVOCATIONS_MAX];
	struct fact *f = fact_new(w, "syscall.away_ns", "ns", "this node - home node");
	struct cost cost;

	if (!f || set_where(w, f, c, where))
		return -ENOMEM;
	values_of(w, c, "call_ns", a);
	values_of(w, home, "call_ns", b);
	for (size_t i = 0; i < INVOCATIONS_MAX; i++)
		a[i] -= b[i];
	cost = cost_of_values(a, INVOCATIONS_MAX, "no invocation has both nodes");
	fact_set_cost(f, &cost);
	f->note = "an upper bound of what a copy of the kernel's text on this node could save: "
		  "the home node's data is in it";
	return 0;
}

static int facts_nodes(struct work *w)
{
	struct homes h = { .told = -1 };
	char home_word[24];
	int64_t home = -1;
	int rc;

	collect(w, &h);
	if (h.n == 0)
		return 0;
	rc = add_home(w, &h, &home);
	snprintf(home_word, sizeof(home_word), "%lld", (long long)home);
	for (size_t i = 0; rc == 0 && home >= 0 && i < w->curves->n; i++) {
		const struct curve_points *c = &w->curves->v[i], *at_home;

		if (!is_call(c) || proof_of(c, "node") < 0 || proof_of(c, "node") == home)
			continue;
		at_home = sibling(w, c, "node", home_word);
		if (!at_home)
			at_home = sibling(w, c, "node", "local");
		if (at_home && proof_of(at_home, "node") == home)
			rc = add_away(w, c, at_home);
	}
	return rc;
}

int facts_syscall(struct work *w)
{
	int rc = facts_nodes(w);

	return rc ? rc : facts_misses(w);
}
