/* SPDX-License-Identifier: MIT */
/*
 * A program's trace on a described machine: its references go, once, through several simulations
 * at the same time (in threads), one for each setting that is to be compared. Pages are where the
 * thread that touched them first runs. docs/model.md, "Traces of real programs", has the rules.
 *
 * Leaves out the formats of traces (trace/trace.h) and files.
 */
#ifndef PAGETOLL_PREDICT_TRACE_H
#define PAGETOLL_PREDICT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "record/run.h"
#include "sim/sim.h"
#include "trace/trace.h"

enum {
	REPLAY_CPUS_MAX = 16, /* threads beyond share them */
	REPLAY_SETTINGS_MAX = 8,
	REPLAY_SIZES = 3, /* base pages, and what tables of level 1 and 2 map */
};

enum replay_place {
	REPLAY_FIRST_TOUCH, /* "local": with the thread that first needed it */
	REPLAY_NODE,
	REPLAY_INTERLEAVED,
	REPLAY_REPLICATED, /* tables only */
};
const char *replay_place_name(enum replay_place p); /* "local" */

/* What one simulation assumes. */
struct replay_setting {
	const struct sim_machine *machine; /* borrowed; base page and nodes as the first one's */
	uint64_t page_bytes;               /* 0: base page */
	uint32_t levels;                   /* of page tables; 0: the machine's */
	uint32_t host_levels;              /* 0: not nested */
	uint64_t host_page_bytes, table_align_bytes;
	enum replay_place data, tables;
	uint32_t data_node, tables_node; /* of REPLAY_NODE */
	bool overlap;                    /* references do not wait for each other */
	uint64_t seed;
};

struct replay_options {
	bool compact;      /* all threads on node 0, instead of one node after the other */
	bool instructions; /* fetches are references, too */
	uint64_t warm;     /* so many references first that do not count */
	uint64_t limit;    /* of references that count; 0: none */
};

struct replay;

/* -ENOMEM. */
int replay_new(const struct sim_machine *m, const struct replay_options *o, struct replay **ret,
	       struct err *e);
void replay_free(struct replay *r); /* accepts NULL */
const struct sim_machine *replay_machine(const struct replay *r);
/*
 * One more simulation, before the first reference. -EINVAL: it makes no sense on the machine, with
 * what is accepted; -ENOMEM.
 */
int replay_add(struct replay *r, const struct replay_setting *s, struct err *e);
/*
 * The next references of the thread that is known as @thread. 1: the limit is reached, nothing more
 * is taken; 0; -ENOMEM.
 */
int replay_feed(struct replay *r, uint64_t thread, const struct trace_ref *v, size_t n,
		struct err *e);

/* Of the references that count, and of the program's memory. */
struct replay_stats {
	uint64_t refs; /* that were simulated and count */
	uint64_t warm; /* that were simulated before */
	uint64_t kinds[TRACE_KINDS];
	uint64_t crossings; /* accesses over a page's end: two references */
	uint64_t folded;    /* addresses of more than 57 bits: the low ones are used */
	uint64_t threads, cpus;
	uint64_t page_bytes[REPLAY_SIZES]; /* 0: there is no such size */
	uint64_t pages[REPLAY_SIZES];      /* that were touched, of warm references as well */
	uint64_t pages_on[SIM_NODES_MAX];  /* base pages by the node of their first touch */
	size_t bytes;                      /* memory that the simulation takes */
};
void replay_stats(const struct replay *r, struct replay_stats *ret);

struct replay_result {
	struct sim_counts counts; /* of all CPUs */
	struct sim_parts parts;   /* ns a reference; they add up to ref_ns */
	double ref_ns;
};
/*
 * Of setting @i, in the order of replay_add(); references that have gathered are simulated first.
 * @ret is large: not for small stacks.
 */
void replay_result(struct replay *r, size_t i, struct replay_result *ret);

/* Whether TLBs of @m hold pages of @bytes, whole or in parts. */
bool replay_tlbs_hold(const struct sim_machine *m, uint64_t bytes);

/* --- into a run --- */

/*
 * Adds a measure of origin predicted with its schema, named "trace". @setting: what was set, @arm
 * NULL, "A" or "B"; @incomplete: why the trace is, NULL: it is whole. -ENOMEM.
 */
int replay_add_measure(struct run *run, struct replay *r, size_t i, const struct attrs *setting,
		       const char *arm, const char *incomplete);

#endif
