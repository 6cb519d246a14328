/* SPDX-License-Identifier: MIT */
/*
 * The contract between a benchmark and the rest. One benchmark is one file with one exported
 * `const struct bench bench_NAME`, listed in bench_list.h. It declares what it is (schema), how
 * large it gets (cost), and how to do it (setup, prepare, sample, check, teardown); the runner
 * acts.
 *
 * Parent process:   grid(), cost()                           pure functions of machine and setting
 * Worker process:   setup() { prepare() { sample() ... } check() } ... teardown()
 */
#ifndef PAGETOLL_BENCH_BENCH_H
#define PAGETOLL_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/units.h"
#include "host/machine.h"
#include "record/attrs.h"
#include "record/schema.h"

struct bench_ctx;

/*
 * One outer setting. `given` has every outer parameter as canonical words (numbers as INT).
 * `resolved` has what the words mean on this machine, made by the planner from the parameter types:
 *   PAGE p    p.bytes (INT), p.kind ("base" "mthp" "thp" "hugetlb")
 *   STRIDE p  p.bytes (INT, offset included), p.base_bytes (without the offset)
 *   CPU p     p.id (INT), p.allowed (TEXT): all CPUs that may be used, as "0-3,8"
 *   NODE p    p.node (INT; -1 for words such as "none" and "default")
 *             for the parameter "load" also load.cpu: a CPU of that node for the load, -1: none
 * Parameters of the roles from and to (type CPU) make pairs: the planner puts the ids of two
 * different CPUs in place of "auto", one pair for each distance class or, with pairs=all, every
 * one. The parameter "pairs" itself never stands in a setting. Resolved is then also
 *   pair.class (text: host/machine_distance.h), pair.node (the memory node local to `from`),
 *   pair.guest (the hypervisor's name, "" none)
 */
struct bench_setting {
	struct attrs given;
	struct attrs resolved;
};

struct bench_cost {
	uint64_t
		arena_bytes; /* memory that stays mapped and populated at the largest inner point */
	uint64_t table_bytes; /* page tables for it */
	uint64_t faults;      /* page faults or pages populated in setup, for the time estimate */
	uint64_t processes;   /* started beside the worker, at the same time */
	double seconds;       /* of one invocation beside faults and sampling: linking, clearing */
};

struct bench {
	struct bench_schema schema;
	const char *description; /* paragraphs for `info`: what it measures, what it cannot show */
	const char *const *examples; /* NULL-terminated command lines with comments, for `info` */
	/*
	 * The smallest sensible setting, as words of the command line ("pointers=1,8"; "": the
	 * defaults are small): under a second and 64 MiB. What runs every benchmark under hostile
	 * conditions runs this one.
	 */
	const char *smoke;
	const char *toll;         /* NULL, or why it stands in the toll set */
	bool faults_are_measured; /* page faults while sampling are no disturbance */
	size_t state_size;
	/*
	 * Default values of the inner parameter when the user gives none ("auto"), for this
	 * setting; may cap them (memory budget, last-level caches) and then says why in ret_note
	 * (bytes long). NULL for benchmarks without an inner parameter.
	 */
	int (*grid)(const struct machine *m, const struct bench_setting *s,
		    struct u64_array *ret_values, char *ret_note, size_t note_bytes, struct err *e);
	/*
	 * What an invocation with largest inner value @max_inner needs. Also refuses settings that
	 * make no sense together (-EINVAL) or cannot be had here (-ENODEV, the message becomes the
	 * reason of a skip). Mandatory.
	 */
	int (*cost)(const struct machine *m, const struct bench_setting *s, uint64_t max_inner,
		    struct bench_cost *ret_cost, struct err *e);
	/*
	 * Whether both directions of a pair of CPUs are one measurement at this setting, so that
	 * only the one from the lower CPU is planned. NULL: never.
	 */
	bool (*is_symmetric)(const struct attrs *given);
	/* Maps and populates for the largest inner value. 0 or what bench_fail() and friends
	 * return. */
	int (*setup)(struct bench_ctx *ctx, void *state);
	/* Makes the current inner point ready (untimed). */
	int (*prepare)(struct bench_ctx *ctx, void *state);
	/* One repetition: times itself and reports through bench_value(). Called many times. */
	int (*sample)(struct bench_ctx *ctx, void *state);
	/* Evidence of the current inner point: proof, unproven, invalid. */
	int (*check)(struct bench_ctx *ctx, void *state);
	/* Accepts a half-built (zeroed) state. */
	void (*teardown)(struct bench_ctx *ctx, void *state);
};

/* All benchmarks, sorted by name, NULL-terminated. */
extern const struct bench *const bench_table[];
/* NULL when there is none of that exact name. */
const struct bench *bench_find(const char *name);

/* --- for use inside setup, prepare, sample, check --- */

/* The current value of a parameter ("pointers"), or of a resolved one ("page.bytes"). */
uint64_t bench_u64(const struct bench_ctx *ctx, const char *name);
const char *bench_text(const struct bench_ctx *ctx, const char *name);
/* The resolved kind of the parameter "page". */
enum page_kind bench_page_kind(const struct bench_ctx *ctx);
/* Largest value of the inner parameter in this invocation. */
uint64_t bench_max_inner(const struct bench_ctx *ctx);
/* 64 random bits that differ by invocation and point, equal for equal seeds. */
uint64_t bench_seed(const struct bench_ctx *ctx);

/* Stores one value of the metric with this index in the schema's table. */
void bench_value(struct bench_ctx *ctx, int metric, double value);
/*
 * Stores ns / (ns per dependent add): core cycles without a counter. The clock is calibrated before
 * and after each repetition, and the fastest calibration of the point counts.
 */
void bench_value_cycles(struct bench_ctx *ctx, int metric, double ns);
void bench_exact(struct bench_ctx *ctx, int metric, int64_t value);
/*
 * Adds to a count of form COUNT: @events of @exposure (operations, pages or ns in which they could
 * happen). What several calls of one point say is summed. Negative numbers and sums beyond int64_t
 * leave the metric without a value, with that reason; so does a sum of exposures of 0.
 */
void bench_count(struct bench_ctx *ctx, int metric, int64_t events, int64_t exposure);
void bench_null(struct bench_ctx *ctx, int metric, const char *reason);

/*
 * In sample(): no further repetition of this point, because this one was a whole run of its own.
 * Without it a point has three repetitions at least.
 */
void bench_enough(struct bench_ctx *ctx);

/* Evidence. Names are stable; sizes in bytes; -1 is not "unknown": use bench_unproven(). */
void bench_proof_int(struct bench_ctx *ctx, const char *name, int64_t value);
void bench_proof_real(struct bench_ctx *ctx, const char *name, double value);
void bench_proof_text(struct bench_ctx *ctx, const char *name, const char *value);
/*
 * Something could not be proven; texts of several calls are joined by "; ", each stands once. Keeps
 * the verdict.
 */
void bench_unproven(struct bench_ctx *ctx, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Something disturbed this point: adds to the counter of that name ("steal_ticks"). */
void bench_taint(struct bench_ctx *ctx, const char *name, int64_t count);

/*
 * End of this point (in prepare, sample, check) or of the invocation (in setup), with a verdict and
 * a reason. Each returns a nonzero value to be returned at once.
 */
int bench_fail(struct bench_ctx *ctx, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int bench_skip(struct bench_ctx *ctx, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int bench_invalid(struct bench_ctx *ctx, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
