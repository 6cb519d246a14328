/* SPDX-License-Identifier: MIT */
/*
 * Inside of the planner, shared by plan*.c only: expanding words (plan_values.c), resolving them
 * against the machine (plan_resolve.c), grids and what they cost (plan_grid.c), the toll set
 * (plan_toll.c), and the product over all of it (plan.c).
 */
#ifndef PAGETOLL_RUN_PLAN_H
#define PAGETOLL_RUN_PLAN_H

#include "run/run_plan.h"

/* --- words --- */

/* One value of a parameter in canonical form. */
struct plan_value {
	const char *text; /* NULL: a number */
	uint64_t number;
};

struct plan_values {
	struct plan_value *v; /* in the order given, without duplicates */
	size_t n, cap;
};

/*
 * Expands VALUE ("4k,thp", "1,10..200:10") of parameter @p into canonical values, memory from @a.
 * The page sizes of @m decide what page words exist and what "auto" becomes. Checks min, max and
 * choices; CPUs and nodes are checked by plan_resolve(). "auto" for a number gives no value at all
 * (n = 0): the benchmark chooses. -EINVAL, -ERANGE, -ENOMEM.
 */
int plan_expand(struct arena *a, const struct machine *m, const struct param *p, const char *value,
		struct plan_values *ret, struct err *e);

/*
 * A stride's text in its parts: bytes of both, and the canonical text from @a. @page_bytes is what
 * the symbol "page" stands for.
 */
struct plan_stride {
	uint64_t base_bytes, bytes; /* without and with the offset */
	const char *text;
};
int plan_stride_parse(struct arena *a, const struct machine *m, uint64_t page_bytes,
		      const char *text, struct plan_stride *ret, struct err *e);

/* The page size that a word means; NULL with -EINVAL in @e when there is none of that name. */
const struct page_size *plan_page(const struct machine *m, const char *word, struct err *e);

/* --- suggestions --- */

/* Name of index @i, or NULL at the end. */
typedef const char *(*plan_name_fn)(const void *list, size_t i);
/* " (did you mean \"page\"?)" or "", in @buf. */
const char *plan_suggest(char *buf, size_t bytes, const char *word, plan_name_fn name,
			 const void *list);
/* "a, b, c" in @buf, cut with "..." where it does not fit. */
const char *plan_list(char *buf, size_t bytes, plan_name_fn name, const void *list);
/* For NULL-terminated arrays of text and for ended tables of struct param. */
const char *plan_name_of_text(const void *list, size_t i);
const char *plan_name_of_param(const void *list, size_t i);

/* --- against the machine --- */

/*
 * Fills s->resolved from s->given. What this machine has not got (a page size, a second node)
 * gives *ret_skip, a text from @a; what cannot be meant (a CPU or node that is not there) -EINVAL.
 */
int plan_resolve(struct arena *a, const struct machine *m, const struct bench *b,
		 struct bench_setting *s, const char **ret_skip, struct err *e);

/*
 * The parameter "node": the node that measures. @is_auto: the CPU *@cpu was not named by the user
 * and is replaced by one of the node. What this machine has not got (remote with one node) goes to
 * @ret_why, with -ENODEV; what cannot be meant to @e, with -EINVAL.
 */
int plan_place(const struct machine *m, const char *word, bool is_auto, uint32_t *cpu,
	       uint32_t *ret_node, struct err *ret_why, struct err *e);
/* "each": adds every node with a usable CPU by @add. */
int plan_place_each(struct arena *a, const struct machine *m, struct plan_values *out,
		    int (*add)(struct arena *, struct plan_values *, const char *, struct err *),
		    struct err *e);

/* --- pairs of CPUs --- */

#define PLAN_PAIRS "pairs" /* the parameter that says which; it is in no setting */

/* Outer settings before they are resolved. */
struct plan_givens {
	struct attrs *v;
	size_t n, cap;
};
/*
 * For a benchmark with parameters of the roles from and to: appends @given once for each pair that
 * it means, nothing where both ends are one CPU. What cannot run here stays as it is, for
 * plan_resolve_pair() to tell. Memory from @a.
 */
int plan_pairs(struct arena *a, const struct machine *m, const struct bench *b,
	       const struct attrs *given, struct plan_givens *ret, struct err *e);
/* Adds what a resolved pair is; no pair of CPUs here gives *ret_skip. Others: nothing. */
int plan_resolve_pair(struct arena *a, const struct machine *m, const struct bench *b,
		      struct bench_setting *s, const char **ret_skip, struct err *e);

/* --- grids and cost --- */

/*
 * The automatic grid of the benchmark into p->grid, its note into p->note. What cannot be had here
 * sets p->skip_reason.
 */
int plan_grid_auto(struct plan *plan, const struct machine *m, struct planned *p, struct err *e);
/*
 * Cost of p at its largest inner value; caps an automatic grid to the memory budget and to a
 * hugetlb pool; -ENOMEM over the budget; a pool that is too small sets p->skip_reason.
 */
int plan_fit_memory(struct plan *plan, const struct machine *m, struct planned *p, struct err *e);
/* Caps an automatic grid so that one invocation takes at most @seconds. */
int plan_fit_time(struct plan *plan, const struct machine *m, struct planned *p, double seconds,
		  struct err *e);

/* --- settings --- */

/* Assignments that hold for a benchmark, the strongest first; NULL ends nothing, n does. */
struct plan_layer {
	const struct assignment *v;
	size_t n;
};
struct plan_wish {
	const struct bench *bench;
	struct plan_layer layers[2];
	bool in_toll, first;
	unsigned samples, max_invocations; /* 0: from the preset */
	double share; /* of the whole budget that this setting may plan with; 0: an equal share */
};

/* Adds all settings of the wish to the plan. */
int plan_add_wish(struct plan *plan, const struct machine *m, const struct plan_wish *w,
		  struct err *e);
/* -EINVAL if @for_all sets what the toll set fixes itself. */
int plan_check_toll(const struct target *for_all, struct err *e);
/* Adds the toll set; @for_all are assignments given without a target. */
int plan_add_toll(struct plan *plan, const struct machine *m, const struct target *for_all,
		  struct err *e);

#endif
