/* SPDX-License-Identifier: MIT */
/*
 * From a request to a plan: targets to benchmarks, the product over all outer values, duplicates
 * out, then memory and time. The parts are in plan_values.c, plan_resolve.c and plan_grid.c.
 */
#include "run/plan.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETTINGS_MAX = 2000, OUTER_MAX = 32 };

static int no_memory(struct err *e)
{
	return err_set(e, ENOMEM, "out of memory");
}

/* --- one wish: a benchmark with assignments --- */

static const char *wish_value(const struct plan_wish *w, const struct param *p)
{
	for (size_t l = 0; l < sizeof(w->layers) / sizeof(w->layers[0]); l++)
		for (size_t i = 0; i < w->layers[l].n; i++)
			if (strcmp(w->layers[l].v[i].name, p->name) == 0)
				return w->layers[l].v[i].value;
	return p->def;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void sort_unique(struct u64_array *g)
{
	size_t n = 0;

	if (g->n)
		qsort(g->v, g->n, sizeof(*g->v), compare_u64);
	for (size_t i = 0; i < g->n; i++)
		if (n == 0 || g->v[n - 1] != g->v[i])
			g->v[n++] = g->v[i];
	g->n = n;
}

static int set_given(struct arena *a, struct attrs *given, const char *name,
		     const struct plan_value *v)
{
	return v->text ? attrs_set_text(a, given, name, v->text)
		       : attrs_set_int(a, given, name, (int64_t)v->number);
}

static int fill_grid(struct plan *plan, const struct machine *m, struct planned *p,
		     const struct plan_values *inner, struct err *e)
{
	int r = 0;

	if (!p->inner || p->skip_reason)
		return 0;
	if (inner->n == 0) {
		r = plan_grid_auto(plan, m, p, e);
		sort_unique(&p->grid);
		return r;
	}
	for (size_t i = 0; i < inner->n; i++)
		if (u64_array_add(&p->grid, inner->v[i].number) < 0)
			return no_memory(e);
	sort_unique(&p->grid);
	return 0;
}

/*
 * A setting of the toll set must not end the whole run: what the machine cannot do becomes the
 * reason of a skip.
 */
static int forgive_toll(struct plan *plan, struct planned *p, int r, struct err *why, struct err *e)
{
	if (r == 0)
		return 0;
	if (!p->in_toll || (r != -EINVAL && r != -ENOMEM && r != -ERANGE))
		return err_set(e, -r, "%s", why->msg);
	p->skip_reason = arena_strdup(&plan->arena, why->msg);
	return p->skip_reason ? 0 : no_memory(e);
}

static int add_setting(struct plan *plan, const struct machine *m, const struct plan_wish *w,
		       const struct attrs *given, const char *inner,
		       const struct plan_values *inner_values, struct err *e)
{
	struct err why = { 0 };
	struct planned *p;
	int r;

	if (plan->n >= SETTINGS_MAX)
		return err_set(
			e, EINVAL,
			"more than %d settings; give fewer values (of pairs of CPUs: by from= "
			"and to=)",
			SETTINGS_MAX);
	if (arena_grow(&plan->arena, &plan->v, plan->n, &plan->cap, sizeof(*plan->v)) < 0)
		return no_memory(e);
	p = &plan->v[plan->n];
	*p = (struct planned){
		.bench = w->bench,
		.inner = inner,
		.in_toll = w->in_toll,
		.first = w->first,
		.share = w->share,
		.samples = w->samples ? w->samples : plan->preset->samples,
		.max_invocations = plan->max_invocations,
	};
	if (w->max_invocations && w->max_invocations < p->max_invocations)
		p->max_invocations = w->max_invocations;
	if (attrs_copy(&plan->arena, &p->setting.given, given) < 0)
		return no_memory(e);
	plan->n++; /* from here on plan_done() frees its grid */
	r = plan_resolve(&plan->arena, m, w->bench, &p->setting, &p->skip_reason, e);
	if (r < 0)
		return r;
	r = fill_grid(plan, m, p, inner_values, &why);
	return forgive_toll(plan, p, r, &why, e);
}

struct product {
	const struct param *outer[OUTER_MAX];
	struct plan_values values[OUTER_MAX];
	size_t at[OUTER_MAX];
	size_t n;
	const char *inner;
	struct plan_values inner_values;
};

static int expand_all(struct plan *plan, const struct machine *m, const struct plan_wish *w,
		      struct product *x, struct err *e)
{
	for (const struct param *p = w->bench->schema.params; p && p->name; p++) {
		struct plan_values v = { 0 };
		const char *text = wish_value(w, p);
		int r;

		if (!text)
			return err_set(e, EINVAL, "%s needs %s=VALUE", w->bench->schema.name,
				       p->name);
		r = plan_expand(&plan->arena, m, p, text, &v, e);
		if (r < 0) {
			err_prefix(e, "%s: ", w->bench->schema.name);
			return r;
		}
		if (p->role == ROLE_INNER) {
			x->inner = p->name;
			x->inner_values = v;
			continue;
		}
		if (x->n == OUTER_MAX)
			return err_set(e, EINVAL, "%s has too many parameters",
				       w->bench->schema.name);
		x->outer[x->n] = p;
		x->values[x->n++] = v;
	}
	return 0;
}

/* The next combination, the last parameter turning fastest; false after the last one. */
static bool next_combination(struct product *x)
{
	for (size_t i = x->n; i-- > 0;) {
		if (++x->at[i] < x->values[i].n)
			return true;
		x->at[i] = 0;
	}
	return false;
}

/* One combination of outer values: one setting, or one for each pair of CPUs. */
static int add_combination(struct plan *plan, const struct machine *m, const struct plan_wish *w,
			   const struct attrs *given, const struct product *x, struct err *e)
{
	struct plan_givens pairs = { 0 };
	int r = 0;

	if (!schema_role(&w->bench->schema, ROLE_FROM))
		return add_setting(plan, m, w, given, x->inner, &x->inner_values, e);
	r = plan_pairs(&plan->arena, m, w->bench, given, &pairs, e);
	for (size_t i = 0; r == 0 && i < pairs.n; i++)
		r = add_setting(plan, m, w, &pairs.v[i], x->inner, &x->inner_values, e);
	return r;
}

int plan_add_wish(struct plan *plan, const struct machine *m, const struct plan_wish *w,
		  struct err *e)
{
	struct product x = { 0 };
	size_t before = plan->n;
	int r = expand_all(plan, m, w, &x, e);

	if (r < 0)
		return r;
	do {
		struct attrs given = { 0 };

		for (size_t i = 0; i < x.n; i++)
			if (set_given(&plan->arena, &given, x.outer[i]->name,
				      &x.values[i].v[x.at[i]]) < 0)
				return no_memory(e);
		r = add_combination(plan, m, w, &given, &x, e);
		if (r < 0) {
			err_prefix(e, "%s: ", w->bench->schema.name);
			return r;
		}
	} while (next_combination(&x));
	if (plan->n == before)
		return err_set(e, EINVAL,
			       "%s: from and to are one and the same CPU; accepted: two different "
			       "ones",
			       w->bench->schema.name);
	return 0;
}

/* --- targets --- */

static bool is_member(const struct bench *b, const char *target)
{
	size_t n = strlen(target);

	if (strcmp(target, "all") == 0 || strcmp(target, b->schema.name) == 0)
		return true;
	return strncmp(b->schema.name, target, n) == 0 && b->schema.name[n] == '.';
}

static const char *bench_name(const void *list, size_t i)
{
	const struct bench *const *v = list;

	return v[i] ? v[i]->schema.name : NULL;
}

static int unknown_target(const char *name, struct err *e)
{
	char near[96], all[240];

	return err_set(
		e, EINVAL, "there is no benchmark \"%s\"%s; accepted: %s, a family (%s), all", name,
		plan_suggest(near, sizeof(near), name, bench_name, bench_table),
		plan_list(all, sizeof(all), bench_name, bench_table), "the part before the dot");
}

static int unknown_param(const char *target, const struct bench *b, const char *name, struct err *e)
{
	char near[96], all[240];

	return err_set(e, EINVAL, "%s has no parameter \"%s\"%s; accepted: %s", target, name,
		       plan_suggest(near, sizeof(near), name, plan_name_of_param, b->schema.params),
		       plan_list(all, sizeof(all), plan_name_of_param, b->schema.params));
}

/* Each assignment must mean something to the target: one member of a family is enough. */
static int check_names(const char *target, const struct target *assigns, struct err *e)
{
	for (size_t i = 0; i < assigns->n_assigns; i++) {
		const struct bench *last = NULL;
		bool found = false;

		for (size_t k = 0; bench_table[k]; k++) {
			if (!is_member(bench_table[k], target))
				continue;
			last = bench_table[k];
			found = found ||
				schema_param(&last->schema, assigns->assigns[i].name) != NULL;
		}
		if (!last)
			return unknown_target(target, e);
		if (!found)
			return unknown_param(target, last, assigns->assigns[i].name, e);
	}
	return 0;
}

static int add_target(struct plan *plan, const struct machine *m, const struct target *t,
		      const struct target *for_all, struct err *e)
{
	bool any = false;
	int r;

	for (size_t k = 0; bench_table[k]; k++)
		any = any || is_member(bench_table[k], t->name);
	if (!any)
		return unknown_target(t->name, e);
	r = check_names(t->name, t, e);
	if (r == 0)
		r = check_names(t->name, for_all, e);
	for (size_t k = 0; r == 0 && bench_table[k]; k++) {
		struct plan_wish w = {
			.bench = bench_table[k],
			.layers = { { t->assigns, t->n_assigns },
				    { for_all->assigns, for_all->n_assigns } },
		};

		if (is_member(bench_table[k], t->name))
			r = plan_add_wish(plan, m, &w, e);
	}
	return r;
}

static int add_toll(struct plan *plan, const struct machine *m, const struct target *for_all,
		    struct err *e)
{
	static const char *const benches[] = { "tlb.chase", "cache.chase" };
	int r = plan_check_toll(for_all, e);

	for (size_t i = 0; r == 0 && i < sizeof(benches) / sizeof(benches[0]); i++)
		if (bench_find(benches[i]))
			r = check_names(benches[i], for_all, e);
	plan->is_toll = true;
	return r < 0 ? r : plan_add_toll(plan, m, for_all, e);
}

/* --- duplicates --- */

static bool grid_has(const struct u64_array *g, uint64_t v)
{
	return g->n && bsearch(&v, g->v, g->n, sizeof(v), compare_u64);
}

/* Takes from @p what @earlier measures already, at the same outer setting. */
static void drop_values(struct planned *p, const struct planned *earlier)
{
	size_t n = 0;

	for (size_t i = 0; i < p->grid.n; i++)
		if (!grid_has(&earlier->grid, p->grid.v[i]))
			p->grid.v[n++] = p->grid.v[i];
	p->grid.n = n;
}

/* Two settings alike would give one point two processes of the same number: the second goes. */
static void drop_duplicates(struct plan *plan)
{
	size_t n = 0;

	for (size_t i = 0; i < plan->n; i++) {
		struct planned p = plan->v[i];
		bool had_grid = p.grid.n > 0, drop = false;

		for (size_t k = 0; k < n && !drop; k++) {
			const struct planned *o = &plan->v[k];

			if (o->bench != p.bench ||
			    !attrs_equal(&o->setting.given, &p.setting.given))
				continue;
			drop_values(&p, o);
			drop = !had_grid || p.grid.n == 0;
		}
		if (drop)
			u64_array_done(&p.grid);
		else
			plan->v[n++] = p;
	}
	plan->n = n;
}

/* --- memory, time, totals --- */

static int fit_memory(struct plan *plan, const struct machine *m, struct err *e)
{
	for (size_t i = 0; i < plan->n; i++) {
		struct planned *p = &plan->v[i];
		struct err why = { 0 };
		int r = p->skip_reason ? 0 : plan_fit_memory(plan, m, p, &why);

		r = forgive_toll(plan, p, r, &why, e);
		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * Automatic grids end where one invocation would take more than twice its share of the budget:
 * twice, because most settings need less than theirs.
 */
static int fit_time(struct plan *plan, const struct machine *m, struct err *e)
{
	size_t n = plan_count_runnable(plan);

	for (size_t i = 0; i < plan->n && plan->budget_seconds > 0; i++) {
		struct planned *p = &plan->v[i];
		unsigned times = p->max_invocations < plan->min_invocations ? p->max_invocations
									    : plan->min_invocations;
		double share = p->share > 0 ? p->share : 2.0 / (double)n;
		int r;

		if (p->skip_reason)
			continue;
		r = plan_fit_time(plan, m, p, plan->budget_seconds * share / times, e);
		if (r < 0)
			return r;
	}
	return 0;
}

static void total(struct plan *plan)
{
	double planned = 0, once = 0;

	for (size_t i = 0; i < plan->n; i++) {
		const struct planned *p = &plan->v[i];
		unsigned times = p->max_invocations < plan->min_invocations ? p->max_invocations
									    : plan->min_invocations;
		double seconds;
		uint64_t bytes;

		if (p->skip_reason)
			continue;
		seconds = plan_invocation_seconds(plan, p);
		once += seconds;
		planned += seconds * times;
		if (__builtin_add_overflow(p->cost.arena_bytes, p->cost.table_bytes, &bytes))
			bytes = UINT64_MAX;
		if (bytes > plan->peak_bytes)
			plan->peak_bytes = bytes;
	}
	if (plan->budget_seconds > 0 && planned > plan->budget_seconds)
		planned = fmax(once, plan->budget_seconds);
	plan->estimated_seconds = planned;
}

static void set_limits(struct plan *p, const struct request *q)
{
	p->preset = q->preset ? q->preset : preset_find("default");
	p->seed = q->seed;
	p->budget_seconds = q->budget_seconds > 0 ? q->budget_seconds : p->preset->budget_seconds;
	p->min_invocations = p->preset->min_invocations;
	p->max_invocations = p->preset->max_invocations;
	if (q->invocations > 0) {
		p->min_invocations = p->max_invocations = q->invocations;
		if (!(q->budget_seconds > 0))
			p->budget_seconds = 0;
	}
}

int plan_build(const struct request *q, const struct machine *m, struct plan *ret, struct err *e)
{
	static const struct target nothing = { 0 };
	const struct target *for_all = q->n_targets ? &q->targets[0] : &nothing;
	struct plan p = { 0 };
	int r = 0;

	set_limits(&p, q);
	if (q->n_targets <= 1)
		r = add_toll(&p, m, for_all, e);
	for (size_t i = 1; r == 0 && i < q->n_targets; i++)
		r = add_target(&p, m, &q->targets[i], for_all, e);
	if (r == 0) {
		drop_duplicates(&p);
		r = fit_memory(&p, m, e);
	}
	if (r == 0)
		r = fit_time(&p, m, e);
	if (r < 0) {
		plan_done(&p);
		return r;
	}
	total(&p);
	*ret = p;
	return 0;
}

void plan_done(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		u64_array_done(&p->v[i].grid);
	arena_done(&p->arena);
	*p = (struct plan){ 0 };
}

size_t plan_count_runnable(const struct plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		n += p->v[i].skip_reason == NULL;
	return n;
}
