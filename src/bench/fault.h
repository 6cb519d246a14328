/* SPDX-License-Identifier: MIT */
/*
 * What fault.anon, fault.file and fault.shm share: a mapping is made, filled, touched and unmapped,
 * each part timed, by one thread or several. Used by fault*.c only.
 */
#ifndef PAGETOLL_BENCH_FAULT_H
#define PAGETOLL_BENCH_FAULT_H

#include "bench/bench.h"
#include "mem/segment.h"
#include "mem/team.h"
#include "mem/tempfile.h"

enum fault_kind { FAULT_ANON, FAULT_FILE, FAULT_SHM };
enum fault_access { ACCESS_READ, ACCESS_WRITE, ACCESS_READ_WRITE };
enum fault_fill {
	FILL_DEMAND,
	FILL_MAP_POPULATE,
	FILL_POPULATE_READ,
	FILL_POPULATE_WRITE,
	FILL_WILLNEED,
};

/* What a mapping is, alike for all threads. */
struct fault_spec {
	enum fault_kind kind;
	enum fault_access access;
	enum fault_fill fill;
	enum page_kind page_kind;
	uint64_t page_bytes; /* asked for */
	uint64_t base_bytes; /* the unit of touches and of "per page" */
	uint64_t bytes;
	int fd; /* of the file or the segment; -1: anonymous */
};

/* One thread's times and faults in one pass. */
struct fault_took {
	int64_t map_ns, fill_ns, touch_ns, unmap_ns;
	int64_t fill_faults, touch_faults, major_faults;
};

struct fault_part {
	char *base;         /* where it is mapped; NULL: it is not */
	char *hint;         /* aligned address that is free for it */
	int code;           /* negative errno of the call that failed, 0: none */
	const char *failed; /* its name */
	struct fault_took took;
};

/* The pieces of a pass (fault_pass.c). Each returns 0 or negative, with code and failed set. */
int fault_reserve(const struct fault_spec *s, struct fault_part *parts, size_t n);
int fault_map(const struct fault_spec *s, struct fault_part *p);
int fault_fill(const struct fault_spec *s, struct fault_part *p);
/* Touches the pages of @list[0 .. n). */
void fault_touch(const struct fault_spec *s, struct fault_part *p, const uint32_t *list, size_t n);
void fault_unmap(const struct fault_spec *s, struct fault_part *p);

struct fault_state {
	struct fault_spec spec;
	struct tempfile file;
	uint64_t pages; /* base pages of one mapping */
	uint32_t *list; /* owned: order of the touches, `pages` of them */
	size_t used;    /* of the current point */
	bool each;      /* a mapping for each thread */
	size_t threads;
	struct team *team;        /* NULL: one thread */
	struct fault_part *parts; /* owned: `threads` of them; one mapping is parts[0]'s */
	double first_page_ns;
	int64_t touches, faults_on_touch, faults_on_fill; /* of the point */
	int64_t strayed_to;
};

/* The callbacks of all three descriptors. */
int fault_grid(const struct machine *m, const struct bench_setting *s, struct u64_array *ret_values,
	       char *ret_note, size_t note_bytes, struct err *e);
int fault_cost(enum fault_kind kind, const struct machine *m, const struct bench_setting *s,
	       struct bench_cost *ret_cost, struct err *e);
int fault_setup(struct bench_ctx *ctx, struct fault_state *s, enum fault_kind kind);
int fault_prepare(struct bench_ctx *ctx, void *state);
int fault_sample(struct bench_ctx *ctx, void *state);
int fault_check(struct bench_ctx *ctx, void *state);
void fault_teardown(struct bench_ctx *ctx, void *state);

/* fault_proof.c: what a pass left resident, and how many faults it took. */
int fault_prove(struct bench_ctx *ctx, struct fault_state *s);

extern const struct metric fault_metrics[];
enum {
	M_PAGE_NS,
	M_FAULT_NS,
	M_FAULTS,
	M_RSS,
	M_FIRST_PAGE_NS,
	M_TOTAL_NS,
	M_MAP_NS,
	M_FILL_NS,
	M_TOUCH_NS,
	M_UNMAP_NS,
	M_MAJOR_FAULTS
};

extern const char *const fault_access_words[],
	*const fault_fill_words[], *const fault_spread_words[], *const fault_mapping_words[];

#define FAULT_PARAMS                                                                            \
	{ .name = "used",                                                                       \
	  .summary = "percent of the pages that are touched; auto: a curve",                    \
	  .type = PARAM_COUNT,                                                                  \
	  .role = ROLE_INNER,                                                                   \
	  .def = "100",                                                                         \
	  .min = 0,                                                                             \
	  .max = 100 },                                                                         \
		{ .name = "size",                                                               \
		  .summary = "size of the mapping",                                             \
		  .type = PARAM_BYTES,                                                          \
		  .def = "64m",                                                                 \
		  .min = 4096,                                                                  \
		  .max = UINT64_C(1) << 43 },                                                   \
		{ .name = "spread",                                                             \
		  .summary = "which pages are touched: the first ones, or scattered ones",      \
		  .type = PARAM_CHOICE,                                                         \
		  .def = "prefix",                                                              \
		  .choices = fault_spread_words },                                              \
		{ .name = "access",                                                             \
		  .summary = "first touch of a page: read, write, or a read and later a write", \
		  .type = PARAM_CHOICE,                                                         \
		  .def = "read",                                                                \
		  .choices = fault_access_words },                                              \
		{ .name = "fill",                                                               \
		  .summary = "how pages come into the mapping: by its faults, or all at once",  \
		  .type = PARAM_CHOICE,                                                         \
		  .def = "demand",                                                              \
		  .choices = fault_fill_words },                                                \
		{ .name = "page",                                                               \
		  .summary = "page size of the mapping",                                        \
		  .type = PARAM_PAGE,                                                           \
		  .def = "base" },                                                              \
		{ .name = "threads",                                                            \
		  .summary = "threads that touch at the same time, each on a CPU of its own",   \
		  .type = PARAM_COUNT,                                                          \
		  .def = "1",                                                                   \
		  .min = 1,                                                                     \
		  .max = 4096 },                                                                \
		{ .name = "mapping",                                                            \
		  .summary = "one mapping for all threads, or one for each",                    \
		  .type = PARAM_CHOICE,                                                         \
		  .def = "one",                                                                 \
		  .choices = fault_mapping_words },                                             \
	{                                                                                       \
		.name = "cpu", .summary = "CPU that measures", .type = PARAM_CPU, .def = "auto" \
	}

#endif
