/* SPDX-License-Identifier: MIT */
/* What the predictions of the single benchmarks share. Inside predict/ only. */
#ifndef PAGETOLL_PREDICT_PARTS_H
#define PAGETOLL_PREDICT_PARTS_H

#include "predict/predict.h"

enum {
	WARM_REFS_MAX = 4 << 20, /* beyond it the steady state is not reached, which is noted */
	WARM_REFS = 20000,       /* at least so many warm up */
	COUNT_REFS = 100000,     /* at least so many count, in whole rounds */
	COUNT_REFS_MAX = 2 << 20,
};

uint64_t setting_bytes(const struct predict_setting *s, const char *resolved);
bool setting_is(const struct predict_setting *s, const char *name, const char *word);

/* The address space of a setting: pages, nodes, levels. -EINVAL. */
int space_of(const struct predict_model *m, const struct predict_setting *s, struct sim_space *ret,
	     struct err *e);
/* First address of a region of @span bytes, aligned to 1 GiB; -EINVAL where it does not fit. */
int region_base(const struct predict_model *m, const struct sim_space *space, uint64_t span,
		uint64_t *ret, struct err *e);
/* Adds a metric whose parts are @parts, each divided by @by. */
struct predict_metric *add_parts(struct predict_result *r, const char *name, const char *summary,
				 const struct sim_parts *parts, double by);
struct predict_metric *add_exact(struct predict_result *r, const char *name, const char *summary,
				 int64_t value);

/* Addresses in visiting order: fills @va with elements from step @from on. */
typedef void (*stream_fn)(const void *stream, uint64_t from, uint64_t *va, size_t n);
/*
 * Warms up by whole rounds of @round references and counts whole rounds, through @s; what was done
 * goes to @r.
 */
void run_rounds(const struct predict_model *m, struct sim *s, stream_fn stream, const void *of,
		uint64_t round, struct predict_result *r);

int predict_tlb_chase(const struct predict_model *m, const struct predict_setting *s,
		      struct predict_result *r, struct err *e);
int predict_cache_chase(const struct predict_model *m, const struct predict_setting *s,
			struct predict_result *r, struct err *e);
int predict_tlb_walk(const struct predict_model *m, const struct predict_setting *s,
		     struct predict_result *r, struct err *e);
int predict_mem_gups(const struct predict_model *m, const struct predict_setting *s,
		     struct predict_result *r, struct err *e);
int predict_tables_shared(const struct predict_model *m, const struct predict_setting *s,
			  struct predict_result *r, struct err *e);
int predict_syscall(const struct predict_model *m, const struct predict_setting *s,
		    struct predict_result *r, struct err *e);

#endif
