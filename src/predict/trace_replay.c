// SPDX-License-Identifier: MIT
/*
 * References of threads to CPUs, CPUs to simulations. Every thread has a CPU of its own with all
 * its caches, up to REPLAY_CPUS_MAX; CPUs lie on the nodes one after the other, or all on node 0.
 */
#include "predict/trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "predict/trace_parts.h"

enum { ADDRESS_BITS = 57 };
/*
 * References of a CPU gather, so that each simulation has its own tables in the caches of the
 * computer that simulates for a while. First touches are entered at once.
 */
enum { CHUNK = 1 << 14, WORTH_A_THREAD = 1 << 12 };

struct replay_cpu {
	uint32_t node;
	uint64_t last_page; /* that was found in the table of first touches; UINT64_MAX: none */
	uint64_t *va;       /* owned; CHUNK of them */
	size_t n_va;
	struct sim *sims[REPLAY_SETTINGS_MAX];
	/* what a simulation asks for a node with */
	struct asker {
		const struct replay *replay;
		const struct replay_setting *setting;
		uint32_t node;
		unsigned data_level; /* of the table of first touches */
	} askers[REPLAY_SETTINGS_MAX];
};

struct replay {
	const struct sim_machine *machine;
	struct replay_options options;
	unsigned base_shift, index_bits;
	struct replay_setting settings[REPLAY_SETTINGS_MAX];
	size_t n_settings;
	struct replay_cpu cpus[REPLAY_CPUS_MAX];
	size_t n_cpus;
	uint64_t *threads; /* owned; keys, in the order of appearance */
	size_t n_threads, cap_threads, last_thread;
	struct touch_map touched;
	struct replay_stats stats;
	uint64_t seen; /* references, warm ones as well */
};

const char *replay_place_name(enum replay_place p)
{
	static const char *const names[] = { "local", "node", "interleaved", "replicated" };

	return names[p];
}

int replay_new(const struct sim_machine *m, const struct replay_options *o, struct replay **ret,
	       struct err *e)
{
	struct replay *r = calloc(1, sizeof(*r));

	if (!r)
		return err_set(e, ENOMEM, "out of memory");
	r->machine = m;
	r->options = *o;
	r->base_shift = (unsigned)__builtin_ctzll(m->core.page_bytes);
	r->index_bits = r->base_shift - 3;
	*ret = r;
	return 0;
}

void replay_free(struct replay *r)
{
	if (!r)
		return;
	for (size_t c = 0; c < REPLAY_CPUS_MAX; c++) {
		for (size_t i = 0; i < REPLAY_SETTINGS_MAX; i++)
			sim_free(r->cpus[c].sims[i]);
		free(r->cpus[c].va);
	}
	touch_done(&r->touched);
	free(r->threads);
	free(r);
}

const struct sim_machine *replay_machine(const struct replay *r)
{
	return r->machine;
}

/* --- where things are --- */

static uint32_t on_node(enum replay_place place, uint32_t node, const struct asker *a,
			unsigned level, unsigned touched_level, uint64_t number)
{
	int found;

	switch (place) {
	case REPLAY_NODE:
		return node;
	case REPLAY_INTERLEAVED: /* as sim/place.c has it */
		return (uint32_t)(rng_mix64(number * 8 + level) % a->replay->machine->memory.nodes);
	case REPLAY_REPLICATED:
		return a->node;
	case REPLAY_FIRST_TOUCH:
		break;
	}
	found = touch_find(&a->replay->touched, touched_level, number);
	return found < 0 ? a->node : (uint32_t)found; /* a host's table: with who asks */
}

static uint32_t node_of(void *user, unsigned level, uint64_t number)
{
	const struct asker *a = user;
	const struct replay_setting *s = a->setting;

	if (level == 0)
		return on_node(s->data, s->data_node, a, 0, a->data_level, number);
	return on_node(s->tables, s->tables_node, a, level, level, number);
}

static unsigned data_level(const struct replay *r, const struct replay_setting *s)
{
	const uint64_t page = s->page_bytes ? s->page_bytes : r->machine->core.page_bytes;

	return ((unsigned)__builtin_ctzll(page) - r->base_shift) / r->index_bits;
}

/* The simulation of setting @i for CPU @c. */
static int make_sim(struct replay *r, struct replay_cpu *c, size_t i, struct err *e)
{
	const struct replay_setting *s = &r->settings[i];
	struct asker *a = &c->askers[i];
	const struct sim_space space = { .levels = s->levels,
					 .page_bytes = s->page_bytes,
					 .table_align_bytes = s->table_align_bytes,
					 .host_levels = s->host_levels,
					 .host_page_bytes = s->host_page_bytes,
					 .cpu_node = c->node,
					 .node_of = node_of,
					 .user = a };

	*a = (struct asker){
		.replay = r, .setting = s, .node = c->node, .data_level = data_level(r, s)
	};
	return sim_new(s->machine, &space, s->seed, &c->sims[i], e);
}

static int check_nodes(const struct replay *r, const struct replay_setting *s, struct err *e)
{
	const uint32_t nodes = r->machine->memory.nodes;
	const bool data = s->data == REPLAY_NODE && s->data_node >= nodes;

	if (data || (s->tables == REPLAY_NODE && s->tables_node >= nodes))
		return err_set(e, EINVAL, "%s=%u; %s has nodes 0 to %u",
			       data ? "data" : "page-tables", data ? s->data_node : s->tables_node,
			       r->machine->name, nodes - 1);
	if (s->data == REPLAY_REPLICATED)
		return err_set(e, EINVAL, "data=replicated; accepted: local, a node, interleaved");
	return 0;
}

int replay_add(struct replay *r, const struct replay_setting *s, struct err *e)
{
	const size_t i = r->n_settings;
	int rc = check_nodes(r, s, e);

	if (rc < 0)
		return rc;
	if (i == REPLAY_SETTINGS_MAX || r->seen > 0)
		return err_set(e, EINVAL, "at most %d settings, before the first reference",
			       REPLAY_SETTINGS_MAX);
	r->settings[i] = *s;
	r->cpus[0].last_page = UINT64_MAX;
	rc = make_sim(r, &r->cpus[0], i, e);
	if (rc == 0)
		r->n_settings++;
	return rc;
}

/* --- threads --- */

static int new_cpu(struct replay *r, struct err *e)
{
	struct replay_cpu *c = &r->cpus[r->n_cpus];

	c->last_page = UINT64_MAX;
	c->node = r->options.compact ? 0 : (uint32_t)(r->n_cpus % r->machine->memory.nodes);
	for (size_t i = 0; i < r->n_settings; i++)
		if (!c->sims[i] && make_sim(r, c, i, e) < 0)
			return err_set(e, ENOMEM, "out of memory");
	c->va = malloc(CHUNK * sizeof(*c->va));
	if (!c->va)
		return err_set(e, ENOMEM, "out of memory");
	r->n_cpus++;
	return 0;
}

/* The CPU of a thread. */
static int find_cpu(struct replay *r, uint64_t thread, struct replay_cpu **ret, struct err *e)
{
	size_t i = r->last_thread;

	if (i >= r->n_threads || r->threads[i] != thread)
		for (i = 0; i < r->n_threads && r->threads[i] != thread; i++)
			;
	if (i == r->n_threads) {
		if (r->n_threads == r->cap_threads) {
			const size_t cap = r->cap_threads ? 2 * r->cap_threads : 16;
			uint64_t *more = realloc(r->threads, cap * sizeof(*more));

			if (!more)
				return err_set(e, ENOMEM, "out of memory");
			r->threads = more;
			r->cap_threads = cap;
		}
		if (r->n_cpus < REPLAY_CPUS_MAX && new_cpu(r, e) < 0)
			return -ENOMEM;
		r->threads[r->n_threads++] = thread;
	}
	r->last_thread = i;
	*ret = &r->cpus[i % REPLAY_CPUS_MAX];
	return 0;
}

/* --- references --- */

/* A base page, and the tables above it, belong to who touches them first. */
static int touch(struct replay *r, struct replay_cpu *c, uint64_t va)
{
	uint64_t number = va >> r->base_shift;
	int is_new = 1;

	if (number == c->last_page)
		return 0;
	c->last_page = number;
	for (unsigned level = 0; level <= SIM_LEVELS_MAX && is_new == 1; level++) {
		is_new = touch_enter(&r->touched, level, number, c->node);
		if (is_new == 1 && level < REPLAY_SIZES)
			r->stats.pages[level]++;
		if (is_new == 1 && level == 0)
			r->stats.pages_on[c->node]++;
		number >>= r->index_bits;
	}
	return is_new < 0 ? is_new : 0;
}

struct share {
	struct sim *sim;
	const struct replay_cpu *cpu;
	pthread_t thread;
	bool started;
};

static void *run_share(void *of)
{
	const struct share *s = of;

	sim_run(s->sim, s->cpu->va, s->cpu->n_va);
	return NULL;
}

/*
 * A thread for each simulation but one: they share nothing but the first touches, which nobody
 * changes meanwhile, so the counts are the same as one after the other.
 */
static void run(const struct replay *r, struct replay_cpu *c)
{
	struct share shares[REPLAY_SETTINGS_MAX];

	for (size_t i = 0; i < r->n_settings; i++) {
		struct share *s = &shares[i];

		*s = (struct share){ .sim = c->sims[i], .cpu = c };
		s->started = i > 0 && c->n_va >= WORTH_A_THREAD &&
			     pthread_create(&s->thread, NULL, run_share, s) == 0;
	}
	for (size_t i = 0; i < r->n_settings; i++)
		if (!shares[i].started)
			run_share(&shares[i]);
	for (size_t i = 0; i < r->n_settings; i++)
		if (shares[i].started)
			pthread_join(shares[i].thread, NULL);
	c->n_va = 0;
}

static void run_all(struct replay *r)
{
	for (size_t c = 0; c < r->n_cpus; c++)
		run(r, &r->cpus[c]);
}

static void clear_counts(struct replay *r)
{
	run_all(r);
	for (size_t c = 0; c < r->n_cpus; c++)
		for (size_t i = 0; i < r->n_settings; i++)
			sim_clear_counts(r->cpus[c].sims[i]);
	memset(r->stats.kinds, 0, sizeof(r->stats.kinds));
	r->stats.crossings = 0;
}

static uint64_t fold(struct replay *r, uint64_t address)
{
	const uint64_t low = address & ((UINT64_C(1) << ADDRESS_BITS) - 1);

	r->stats.folded += low != address;
	return low;
}

static bool limit_reached(const struct replay *r)
{
	return r->options.limit && r->seen >= r->options.warm + r->options.limit;
}

static int put(struct replay *r, struct replay_cpu *c, uint64_t address, struct err *e)
{
	const uint64_t va = fold(r, address);

	if (touch(r, c, va) < 0)
		return err_set(e, ENOMEM, "out of memory after %ju pages",
			       (uintmax_t)r->stats.pages[0]);
	c->va[c->n_va++] = va;
	r->seen++;
	if (c->n_va == CHUNK)
		run(r, c);
	if (r->seen == r->options.warm)
		clear_counts(r);
	return 0;
}

static int put_ref(struct replay *r, struct replay_cpu *c, const struct trace_ref *ref,
		   struct err *e)
{
	const uint64_t last = ref->address + (ref->bytes ? ref->bytes - 1 : 0);
	int rc;

	r->stats.kinds[ref->kind]++;
	if (ref->kind == TRACE_FETCH && !r->options.instructions)
		return 0;
	rc = put(r, c, ref->address, e);
	if (rc < 0 || last >> r->base_shift == ref->address >> r->base_shift || limit_reached(r))
		return rc;
	r->stats.crossings++;
	return put(r, c, last, e);
}

int replay_feed(struct replay *r, uint64_t thread, const struct trace_ref *v, size_t n,
		struct err *e)
{
	struct replay_cpu *c = NULL;
	int rc = find_cpu(r, thread, &c, e);

	for (size_t i = 0; i < n && rc == 0 && !limit_reached(r); i++)
		rc = put_ref(r, c, &v[i], e);
	return rc < 0 ? rc : limit_reached(r);
}

/* --- results --- */

static void add_counts(struct sim_counts *to, const struct sim_counts *from)
{
	_Static_assert(sizeof(*to) % sizeof(uint64_t) == 0, "counts are all of 64 bits");
	uint64_t sums[sizeof(*to) / sizeof(uint64_t)], more[sizeof(*to) / sizeof(uint64_t)];

	memcpy(sums, to, sizeof(sums));
	memcpy(more, from, sizeof(more));
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		sums[i] += more[i];
	memcpy(to, sums, sizeof(sums));
}

static void add_parts_of(struct sim_parts *to, const struct sim_parts *from)
{
	for (size_t i = 0; i < from->n; i++) {
		size_t k = 0;

		while (k < to->n && strcmp(to->v[k].name, from->v[i].name) != 0)
			k++;
		if (k == SIM_PARTS_MAX)
			continue;
		if (k == to->n)
			to->v[to->n++] = from->v[i];
		else {
			to->v[k].count += from->v[i].count;
			to->v[k].ns += from->v[i].ns;
		}
	}
}

void replay_result(struct replay *r, size_t i, struct replay_result *ret)
{
	const struct replay_setting *s = &r->settings[i];
	struct sim_parts parts;

	run_all(r);
	memset(ret, 0, sizeof(*ret));
	for (size_t c = 0; c < r->n_cpus; c++) {
		const struct sim_counts *counts = sim_counts(r->cpus[c].sims[i]);

		add_counts(&ret->counts, counts);
		sim_cost(s->machine, r->cpus[c].node, counts, s->overlap, &parts);
		add_parts_of(&ret->parts, &parts);
	}
	for (size_t k = 0; k < ret->parts.n && ret->counts.refs > 0; k++)
		ret->parts.v[k].ns /= (double)ret->counts.refs;
	ret->ref_ns = sim_parts_ns(&ret->parts);
}

void replay_stats(const struct replay *r, struct replay_stats *ret)
{
	*ret = r->stats;
	ret->warm = r->seen < r->options.warm ? r->seen : r->options.warm;
	ret->refs = r->seen - ret->warm;
	ret->threads = r->n_threads;
	ret->cpus = r->n_cpus;
	ret->bytes = touch_bytes(&r->touched);
	for (size_t c = 0; c < r->n_cpus; c++)
		for (size_t i = 0; i < r->n_settings; i++)
			ret->bytes += sim_bytes(r->cpus[c].sims[i]);
	for (unsigned k = 0; k < REPLAY_SIZES; k++)
		ret->page_bytes[k] = UINT64_C(1) << (r->base_shift + k * r->index_bits);
}

bool replay_tlbs_hold(const struct sim_machine *m, uint64_t bytes)
{
	for (size_t i = 0; i < m->n_tlbs; i++) {
		uint64_t largest = 0;

		for (size_t k = 0; k < m->tlbs[i].n_pages; k++) {
			if (m->tlbs[i].pages[k] == bytes)
				return true;
			largest = m->tlbs[i].pages[k] > largest ? m->tlbs[i].pages[k] : largest;
		}
		if (m->tlbs[i].splits && bytes > largest)
			return true;
	}
	return false;
}
