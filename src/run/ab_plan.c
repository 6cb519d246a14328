// SPDX-License-Identifier: MIT
/*
 * The plan of two arms: pairs of settings, how many blocks, the order within a block, and what the
 * run file has to remember of it for continuing.
 */
#include "run/ab.h"
#include "run/run_settings.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/str.h"

static int no_memory(struct err *e)
{
	return err_set(e, ENOMEM, "out of memory");
}

static const char *const mode_names[] = { "ab", "aa", "boots" };

const char *ab_mode_name(enum ab_mode m)
{
	return (size_t)m < sizeof(mode_names) / sizeof(mode_names[0]) ? mode_names[m] : NULL;
}

int ab_mode_parse(const char *s, enum ab_mode *ret)
{
	for (size_t i = 0; i < sizeof(mode_names) / sizeof(mode_names[0]); i++) {
		if (strcmp(mode_names[i], s) == 0) {
			*ret = (enum ab_mode)i;
			return 0;
		}
	}
	return -EINVAL;
}

unsigned ab_blocks(const struct preset *p, unsigned invocations)
{
	unsigned n = invocations ? invocations : p->min_invocations * 3 / 2;

	return n > AB_PER_BLOCK ? (n + AB_PER_BLOCK - 1) / AB_PER_BLOCK : 1;
}

/* --- pairs -------------------------------------------------------------------------------------
 */

static bool arm_sets(const struct ab_arm arms[2], const char *name)
{
	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < arms[k].n_params; i++)
			if (strcmp(arms[k].params[i].name, name) == 0)
				return true;
	return false;
}

static bool same_value(const struct attr *x, const struct attr *y)
{
	if (!x || !y || x->kind != y->kind)
		return false;
	return x->kind == ATTR_TEXT ? strcmp(x->text, y->text) == 0 : x->integer == y->integer;
}

/* Whether two settings differ in nothing but what the arms set. */
static bool belong_together(const struct planned *a, const struct planned *b,
			    const struct ab_arm arms[2])
{
	const struct attrs *given = &a->setting.given;

	if (a->bench != b->bench)
		return false;
	for (size_t i = 0; i < given->n; i++)
		if (!arm_sets(arms, given->v[i].name) &&
		    !same_value(&given->v[i], attrs_find(&b->setting.given, given->v[i].name)))
			return false;
	return true;
}

static bool grid_has(const struct u64_array *g, uint64_t v)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->v[i] == v)
			return true;
	return false;
}

static void keep_common(struct u64_array *g, const struct u64_array *other)
{
	size_t n = 0;

	for (size_t i = 0; i < g->n; i++)
		if (grid_has(other, g->v[i]))
			g->v[n++] = g->v[i];
	g->n = n;
}

static void fit_grids(struct ab_pair *pair, const struct ab_arm arms[2])
{
	struct planned *a = pair->p[0], *b = pair->p[1];

	if (a == b || !a->inner || pair->skip_reason || arm_sets(arms, a->inner))
		return;
	keep_common(&a->grid, &b->grid);
	keep_common(&b->grid, &a->grid);
	if (a->grid.n == 0)
		pair->skip_reason = "the arms have no inner value in common";
}

static int make_pairs(struct ab_plan *p, const struct ab_arm arms[2], struct err *e)
{
	struct plan *a = &p->plans[0], *b = p->mode == AB_MODE_AB ? &p->plans[1] : a;

	if (a->n != b->n)
		return err_set(e, EINVAL, "the arms do not pair: A gives %zu settings, B gives %zu",
			       a->n, b->n);
	p->pairs = arena_alloc(&a->arena, (a->n + 1) * sizeof(*p->pairs));
	if (!p->pairs)
		return no_memory(e);
	for (size_t i = 0; i < a->n; i++) {
		struct ab_pair *pair = &p->pairs[i];

		if (!belong_together(&a->v[i], &b->v[i], arms))
			return err_set(e, EINVAL,
				       "the arms do not pair: setting %zu differs in more than "
				       "what -A and -B name",
				       i + 1);
		pair->p[0] = &a->v[i];
		pair->p[1] = &b->v[i];
		pair->skip_reason = a->v[i].skip_reason ? a->v[i].skip_reason : b->v[i].skip_reason;
		/* arms have a form of their own for settings of the kernel */
		if (run_settings_enter(NULL, NULL, pair->p[0], e) < 0 ||
		    run_settings_enter(NULL, NULL, pair->p[1], e) < 0)
			return -EINVAL;
		fit_grids(pair, arms);
	}
	p->n_pairs = a->n;
	return 0;
}

/* --- pages that follow a setting of the system ------------------------------------------------ */

/*
 * The values that page parameter @name has in all settings of A and in all of B. 0: none in this
 * plan, or the same in both. 1: they differ. -EINVAL: more than one pair of values.
 */
static int page_values(const struct plan *a, const struct plan *b, const char *name,
		       const char *ret[2], struct err *e)
{
	const char *v[2] = { NULL, NULL };
	bool differ = false, many = false;

	for (size_t i = 0; i < a->n; i++) {
		const char *x = attrs_text(&a->v[i].setting.given, name, NULL);
		const char *y = attrs_text(&b->v[i].setting.given, name, NULL);

		if (!x || !y)
			continue;
		differ = differ || strcmp(x, y) != 0;
		many = many || (v[0] && (strcmp(v[0], x) != 0 || strcmp(v[1], y) != 0));
		v[0] = x;
		v[1] = y;
	}
	if (!differ)
		return 0;
	if (many)
		return err_set(
			e, EINVAL,
			"the arms do not pair: %s=auto is another page size under each arm's "
			"settings, and %s has other values beside it; give one %s=VALUE for "
			"all, or one to each arm",
			name, name, name);
	ret[0] = v[0];
	ret[1] = v[1];
	return 1;
}

static int take_page(struct arena *a, struct ab_arm *arm, const char *name, const char *value,
		     struct err *e)
{
	const char *kept = arena_strdup(a, value);
	const char *own = arena_strdup(a, name);
	const char *text = arena_printf(a, "%s %s=%s", arm->text, name, value);
	const char *pages = arena_printf(a, "%s%s%s=%s", arm->pages ? arm->pages : "",
					 arm->pages ? " " : "", name, value);

	if (!kept || !own || !text || !pages ||
	    arena_grow(a, &arm->params, arm->n_params, &arm->cap_params, sizeof(*arm->params)) < 0)
		return no_memory(e);
	arm->params[arm->n_params++] = (struct assignment){ .name = own, .value = kept };
	arm->text = text;
	arm->pages = pages;
	return 0;
}

int ab_arms_take_pages(struct arena *arena, const struct plan *a, const struct plan *b,
		       struct ab_arm arms[2], struct err *e)
{
	if (arms[0].n_settings == 0 || a->n != b->n)
		return 0;
	for (size_t i = 0; i < a->n; i++) {
		const struct param *p = a->v[i].bench->schema.params;

		for (; p && p->name; p++) {
			const char *values[2];
			int rc = 0;

			if (p->type == PARAM_PAGE && !arm_sets(arms, p->name))
				rc = page_values(a, b, p->name, values, e);
			for (int k = 0; rc > 0 && k < 2; k++)
				if (take_page(arena, &arms[k], p->name, values[k], e) < 0)
					return -ENOMEM;
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

int ab_plan_make(enum ab_mode mode, struct plan *a, struct plan *b, const struct ab_arm arms[2],
		 unsigned blocks, struct ab_plan *ret, struct err *e)
{
	struct ab_plan p = { .mode = mode, .plans = { *a }, .blocks = blocks };
	int rc;

	*a = (struct plan){ 0 };
	if (b) {
		p.plans[1] = *b;
		*b = (struct plan){ 0 };
	}
	p.seed = p.plans[0].seed;
	p.budget_seconds = p.plans[0].budget_seconds;
	rc = make_pairs(&p, arms, e);
	if (rc < 0) {
		ab_plan_done(&p);
		return rc;
	}
	*ret = p;
	return 0;
}

void ab_plan_done(struct ab_plan *p)
{
	plan_done(&p->plans[0]);
	plan_done(&p->plans[1]);
	*p = (struct ab_plan){ 0 };
}

double ab_block_seconds(const struct ab_plan *p)
{
	double sum = 0;

	for (size_t i = 0; i < p->n_pairs; i++) {
		const struct ab_pair *pair = &p->pairs[i];

		if (!pair->skip_reason)
			sum += plan_invocation_seconds(&p->plans[0], pair->p[0]) +
			       plan_invocation_seconds(&p->plans[0], pair->p[1]);
	}
	/* In both modes four processes a pair. */
	return sum * AB_PER_BLOCK;
}

/* --- order -------------------------------------------------------------------------------------
 */

size_t ab_steps_per_block(const struct ab_plan *p)
{
	_Static_assert(AB_PER_BOOT == 2 * AB_PER_BLOCK, "one size of a block for all modes");
	return p->n_pairs * AB_PER_BOOT;
}

/* One boot: every setting once, in a new order each of AB_PER_BOOT times. */
static void order_boot(const struct ab_plan *p, struct rng *rng, unsigned block, unsigned arm,
		       uint64_t *order, struct ab_step *steps)
{
	for (unsigned k = 0; k < AB_PER_BOOT; k++) {
		rng_shuffle_u64(rng, order, p->n_pairs);
		for (size_t i = 0; i < p->n_pairs; i++)
			*steps++ = (struct ab_step){ order[i], arm, block * AB_PER_BOOT + k };
	}
}

static void order_pairs(const struct ab_plan *p, struct rng *rng, unsigned block, uint64_t *order,
			struct ab_step *steps)
{
	rng_shuffle_u64(rng, order, p->n_pairs);
	for (size_t i = 0; i < p->n_pairs; i++) {
		unsigned first = (unsigned)(rng_next(rng) >> 63), second = 1 - first;
		unsigned number = block * AB_PER_BLOCK;

		*steps++ = (struct ab_step){ order[i], first, number };
		*steps++ = (struct ab_step){ order[i], second, number };
		*steps++ = (struct ab_step){ order[i], second, number + 1 };
		*steps++ = (struct ab_step){ order[i], first, number + 1 };
	}
}

int ab_block_order(const struct ab_plan *p, unsigned block, unsigned arm, struct ab_step *steps)
{
	uint64_t *order = calloc(p->n_pairs + 1, sizeof(*order));
	struct rng rng;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_pairs; i++)
		order[i] = i;
	/* A stream of its own for each block, so that continuing needs no state. */
	rng_seed(&rng, rng_mix64(p->seed ^ rng_mix64(block + UINT64_C(1))));
	if (p->mode == AB_MODE_BOOTS)
		order_boot(p, &rng, block, arm, order, steps);
	else
		order_pairs(p, &rng, block, order, steps);
	free(order);
	return 0;
}

/* --- memory ------------------------------------------------------------------------------------
 */

static int remember_grid(struct run *r, size_t pair, unsigned arm, const struct planned *p)
{
	struct str text = { 0 };
	char name[48];
	int rc;

	for (size_t i = 0; i < p->grid.n; i++)
		str_addf(&text, "%s%" PRIu64, i ? "," : "", p->grid.v[i]);
	snprintf(name, sizeof(name), "ab.grid.%zu.%c", pair + 1, "ab"[arm]);
	rc = text.failed ? -ENOMEM : attrs_set_text(&r->arena, &r->context, name, str_text(&text));
	str_done(&text);
	return rc;
}

int ab_remember(struct run *r, const struct ab_plan *p, const struct ab_memory *m, struct err *e)
{
	struct arena *a = &r->arena;
	struct attrs *c = &r->context;
	char seed[24];
	int rc;

	snprintf(seed, sizeof(seed), "%" PRIu64, p->seed);
	rc = attrs_set_text(a, c, "ab.mode", ab_mode_name(p->mode));
	if (rc == 0)
		rc = attrs_set_text(a, c, "ab.a", m->a);
	if (rc == 0)
		rc = attrs_set_text(a, c, "ab.b", m->b);
	if (rc == 0)
		rc = attrs_set_text(a, c, "ab.words", m->words);
	if (rc == 0)
		rc = attrs_set_int(a, c, "ab.blocks", p->blocks);
	if (rc == 0)
		rc = attrs_set_text(a, c, "ab.seed", seed);
	for (size_t i = 0; rc == 0 && i < p->n_pairs; i++)
		for (unsigned k = 0; rc == 0 && k < 2; k++)
			rc = remember_grid(r, i, k, p->pairs[i].p[k]);
	return rc < 0 ? no_memory(e) : 0;
}

int ab_recall(const struct run *r, struct ab_memory *ret, struct err *e)
{
	const struct attrs *c = &r->context;
	const char *mode = attrs_text(c, "ab.mode", NULL), *seed = attrs_text(c, "ab.seed", NULL);
	int64_t blocks = attrs_int(c, "ab.blocks", 0);
	struct ab_memory m = {
		.words = attrs_text(c, "ab.words", NULL),
		.a = attrs_text(c, "ab.a", NULL),
		.b = attrs_text(c, "ab.b", NULL),
	};

	if (!mode || !m.words || !m.a || !m.b || !seed || ab_mode_parse(mode, &m.mode) < 0 ||
	    parse_u64(seed, &m.seed, NULL) < 0 || blocks < 1 || blocks > 100000)
		return err_set(e, EINVAL,
			       "that run is no experiment of 'pagetoll ab', or its header is "
			       "damaged");
	m.blocks = (unsigned)blocks;
	*ret = m;
	return 0;
}

static int recall_grid(const struct run *r, size_t pair, unsigned arm, struct planned *p,
		       struct err *e)
{
	struct u64_array grid = { 0 };
	const char *text;
	char name[48], *copy, *rest, *word;
	int rc = 0;

	snprintf(name, sizeof(name), "ab.grid.%zu.%c", pair + 1, "ab"[arm]);
	text = attrs_text(&r->context, name, NULL);
	if (!text)
		return err_set(e, EINVAL, "the experiment has fewer settings than its words give");
	copy = rest = strdup(text);
	if (!copy)
		return no_memory(e);
	while (rc == 0 && *copy && (word = strsep(&rest, ",")) != NULL) {
		uint64_t v = 0;

		rc = parse_u64(word, &v, e);
		if (rc == 0 && grid.n && v <= grid.v[grid.n - 1])
			rc = err_set(e, EINVAL, "%s: not ascending", name);
		if (rc == 0 && u64_array_add(&grid, v) < 0)
			rc = no_memory(e);
	}
	free(copy);
	if (rc < 0) {
		u64_array_done(&grid);
		return rc;
	}
	u64_array_done(&p->grid);
	p->grid = grid;
	return 0;
}

int ab_recall_grids(const struct run *r, struct ab_plan *p, struct err *e)
{
	char name[48];
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < p->n_pairs; i++)
		for (unsigned k = 0; rc == 0 && k < 2; k++)
			rc = recall_grid(r, i, k, p->pairs[i].p[k], e);
	snprintf(name, sizeof(name), "ab.grid.%zu.a", p->n_pairs + 1);
	if (rc == 0 && attrs_find(&r->context, name))
		rc = err_set(e, EINVAL, "the experiment has more settings than its words give");
	return rc;
}
