// SPDX-License-Identifier: MIT
/*
 * A curve's setting goes through the planner once, as that of `predict` does; its points differ in
 * the inner value only. Left out is what has no value, and what the model does not predict.
 */
#include "cli/calibrate_points.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "access/tables.h"
#include "base/units.h"
#include "cli/run_sides.h"
#include "infer/infer.h"
#include "store/library.h"

static int no_memory(const struct common *c)
{
	return cli_fail(c, CLI_FATAL, "out of memory");
}

int calibrate_load(const struct common *c, char *const *names, size_t n,
		   struct calibrate_input *ret)
{
	ret->runs = calloc(n + 1, sizeof(*ret->runs));
	if (!ret->runs)
		return no_memory(c);
	for (size_t i = 0; i < n; i++) {
		struct err e = { 0 };

		if (library_load(names[i], &ret->runs[i], NULL, &e) < 0)
			return cli_fail(c, CLI_FATAL, "%s", e.msg);
		ret->n_runs++;
		for (size_t k = 0; k < i; k++)
			if (strcmp(ret->runs[k]->id, ret->runs[i]->id) == 0)
				return cli_fail(c, CLI_USAGE,
						"'%s' names run %s, which '%s' is already: its "
						"points would count twice; name each run once",
						names[i], ret->runs[i]->id, names[k]);
	}
	return CLI_DONE;
}

void calibrate_input_done(struct calibrate_input *in)
{
	for (size_t i = 0; i < in->n_curves; i++) {
		predict_side_done(in->sources[i].side);
		free(in->sources[i].side);
	}
	for (size_t i = 0; i < in->n_runs; i++)
		run_free(in->runs[i]);
	free(in->runs);
	arena_done(&in->arena);
}

int calibrate_check_alike(const struct common *c, const struct calibrate_input *in)
{
	struct str first = { 0 }, other = { 0 };
	int rc = CLI_DONE;

	run_machine_key(&first, in->runs[0]);
	for (size_t i = 1; i < in->n_runs && rc == CLI_DONE; i++) {
		str_clear(&other);
		run_machine_key(&other, in->runs[i]);
		if (strcmp(str_text(&first), str_text(&other)) != 0)
			rc = cli_fail(
				c, CLI_USAGE,
				"runs %s and %s are of machines that differ (%s; %s): calibrate "
				"each by itself",
				in->runs[0]->id, in->runs[i]->id,
				first.len ? str_text(&first) : "not told",
				other.len ? str_text(&other) : "not told");
	}
	str_done(&first);
	str_done(&other);
	return rc;
}

/* --- what is left out --- */

static int leave_out(struct calibrate_input *in, size_t n, const char *why)
{
	size_t i = 0;

	in->n_left_points += n;
	while (i < in->n_left && strncmp(in->left[i].why, why, sizeof(in->left[i].why) - 1) != 0)
		i++;
	if (i == in->n_left) {
		if (arena_grow(&in->arena, &in->left, in->n_left, &in->cap_left,
			       sizeof(*in->left)) < 0)
			return -ENOMEM;
		in->left[i] = (struct left_out){ .n = 0 };
		snprintf(in->left[i].why, sizeof(in->left[i].why), "%s", why);
		in->n_left++;
	}
	in->left[i].n += n;
	return 0;
}

/* NULL: a curve that can be used. */
static const char *why_not(const struct curve_points *v)
{
	if (strncmp(v->bench, "syscall.", 8) == 0 || strcmp(v->bench, "tables.shared") == 0 ||
	    !predict_knows(v->bench))
		return "other benchmarks than tlb.chase, tlb.walk, cache.chase, mem.gups";
	if (v->skipped)
		return v->skipped->reason;
	if (strcmp(attrs_text(&v->outer, "caches", ""), "wiped") == 0)
		return "caches=wiped: cold groups overlap as no model here tells";
	if (attrs_find(&v->outer, "dtlb-entries") || attrs_find(&v->outer, "far-side"))
		return "predicted on a machine that was changed (dtlb-entries, far-side)";
	return v->inner ? NULL : "no inner parameter";
}

/* --- settings --- */

static char *word_of(struct arena *a, const struct attr *at)
{
	if (at->kind == ATTR_INT)
		return arena_printf(a, "%s=%jd", at->name, (intmax_t)at->integer);
	return at->kind == ATTR_TEXT ? arena_printf(a, "%s=%s", at->name, at->text) : NULL;
}

static int64_t inner_value(const struct curve_points *v, size_t i)
{
	return attrs_int(v->points[i]->setting, v->inner, 0);
}

/* Resolves the setting of a curve; NULL with a reason in @e where it cannot be. */
static struct predict_side *make_side(struct calibrate_input *in, const struct sim_machine *prior,
				      const struct curve_points *v, char **model, size_t n_model,
				      uint64_t seed, struct err *e)
{
	char **words = arena_alloc(&in->arena, (v->outer.n + n_model + 3) * sizeof(*words));
	struct predict_side *side = calloc(1, sizeof(*side));
	size_t n = 0;
	int rc = words && side ? 0 : err_set(e, ENOMEM, "out of memory");

	if (rc == 0) {
		words[n++] = arena_strdup(&in->arena, v->bench);
		for (size_t i = 0; i < v->outer.n; i++) {
			/* a CPU's number is the other machine's; "auto" is what is anyhow */
			if (strcmp(v->outer.v[i].name, "cpu") == 0 ||
			    strcmp(attrs_text(&v->outer, v->outer.v[i].name, ""), "auto") == 0)
				continue;
			words[n] = word_of(&in->arena, &v->outer.v[i]);
			n += words[n] != NULL;
		}
		words[n++] = arena_printf(&in->arena, "%s=%jd", v->inner,
					  (intmax_t)inner_value(v, v->n - 1));
		for (size_t i = 0; i < n_model; i++)
			words[n++] = model[i];
		rc = predict_side_init(side, prior, words, n, seed, e);
	}
	if (rc == 0 && (side->plan.n != 1 || side->plan.v[0].skip_reason))
		rc = err_set(e, EINVAL, "%s",
			     side->plan.n == 1 ? side->plan.v[0].skip_reason : "no single setting");
	if (rc == 0)
		return side;
	if (side)
		predict_side_done(side);
	free(side);
	return NULL;
}

/* "tlb.chase stride=page backing=zero": what is not at its default, and the stride. */
static const char *name_curve(struct calibrate_input *in, const struct run *r,
			      const struct curve_points *v)
{
	const struct bench_schema *s = run_schema(r, v->bench);
	struct str name = { 0 };
	char size[UNITS_TEXT_BYTES];
	const char *copy;

	str_add(&name, v->bench);
	for (size_t i = 0; i < v->outer.n; i++) {
		const struct attr *a = &v->outer.v[i];
		const struct param *p = s ? schema_param(s, a->name) : NULL;
		const bool is_def = p && a->kind == ATTR_TEXT && strcmp(p->def, a->text) == 0;
		const bool is_count =
			p && a->kind == ATTR_INT && strcmp(p->def, "0") == 0 && a->integer == 0;

		if (!p || p->type == PARAM_CPU || is_count || (is_def && p->type != PARAM_STRIDE) ||
		    a->kind == ATTR_NULL)
			continue;
		if (a->kind == ATTR_INT)
			str_addf(&name, " %s=%s", a->name,
				 p->type == PARAM_BYTES ? format_size(size, (uint64_t)a->integer)
							: format_real(size, (double)a->integer));
		else if (p->type != PARAM_PAGE || strcmp(a->text, "4k") != 0)
			str_addf(&name, " %s=%s", a->name, a->text);
	}
	if (v->arm)
		str_addf(&name, " (%s)", v->arm);
	if (in->n_runs > 1)
		str_addf(&name, " [%.10s]", r->id);
	copy = name.failed ? NULL : arena_strdup(&in->arena, str_text(&name));
	str_done(&name);
	return copy;
}

/* --- points --- */

/* Bytes of page tables, by geometry: what the run counted is that of its largest point. */
static uint64_t table_bytes(const struct predict_setting *s, const struct sim_machine *m)
{
	const uint64_t page = (uint64_t)attrs_int(s->resolved, "page.bytes", 4096);
	const bool by_bytes = strstr(s->bench, "cache.") || strstr(s->bench, "mem.");
	uint64_t n = s->inner_value, stride, bytes = 0;

	stride = by_bytes ? page : (uint64_t)attrs_int(s->resolved, "stride.bytes", (int64_t)page);
	n = by_bytes ? n / page + 1 : n;
	for (unsigned k = 0; k + 1 < m->core.levels; k++) {
		const uint64_t span = tables_span(m->core.page_bytes, k);
		const double tables = (double)n * (double)stride / (double)span;

		if (span > page)
			bytes += m->core.page_bytes *
				 (uint64_t)ceil(fmin((double)n, fmax(tables, 1)));
	}
	return bytes;
}

static const char *metric_of(const char *bench)
{
	return strcmp(bench, "mem.gups") == 0 ? "update_ns" : "ref_ns";
}

static int add_points(struct calibrate_input *in, const struct run *r, const struct curve_points *v,
		      struct predict_side *side, const struct sim_machine *prior)
{
	const struct planned *p = &side->plan.v[0];
	struct predict_setting at = { .bench = p->bench->schema.name,
				      .given = &p->setting.given,
				      .resolved = &p->setting.resolved,
				      .inner = v->inner,
				      .table_policy = side->table_policy };
	const struct cpu *cpu =
		machine_cpu(&side->as_ours, (uint32_t)attrs_int(&p->setting.resolved, "cpu.id", 0));

	at.cpu_node = cpu ? (uint32_t)cpu->node : 0;
	for (size_t i = 0; i < v->n; i++) {
		struct estimate x;
		struct calibrate_point *to;

		estimate_point(r, v->points[i], metric_of(v->bench), &x);
		at.inner_value = (uint64_t)inner_value(v, i);
		if (!(x.value > 0) || !isfinite(x.value) || at.inner_value == 0) {
			if (leave_out(in, 1, x.reason ? x.reason : "no time above zero") < 0)
				return -ENOMEM;
			continue;
		}
		if (arena_grow(&in->arena, &in->points, in->n_points, &in->cap_points,
			       sizeof(*to)) < 0)
			return -ENOMEM;
		to = &in->points[in->n_points++];
		/* nested or not is the machine's, which the search may change */
		side->model.host_levels = 0;
		if (!attrs_find(&side->extra, "host-page"))
			side->model.host_page_bytes = 0;
		*to = (struct calibrate_point){ .setting = at,
						.model = side->model,
						.ns = x.value,
						.table_bytes = table_bytes(&at, prior),
						.curve = in->n_curves };
	}
	return 0;
}

/* Whether the largest point of the curve can be predicted: the smaller ones can then, too. */
static int try_curve(const struct calibrate_input *in, size_t first, const struct sim_machine *m,
		     struct err *e)
{
	struct predict_result *r = malloc(sizeof(*r));
	int rc = r ? 0 : err_set(e, ENOMEM, "out of memory");

	for (size_t i = first; i < in->n_points && rc == 0; i++) {
		struct predict_model model = in->points[i].model;

		if (i != first && i + 1 != in->n_points)
			continue;
		model.machine = m;
		rc = predict_point(&model, &in->points[i].setting, r, e);
	}
	free(r);
	return rc;
}

static int add_curve(struct calibrate_input *in, const struct run *r, const struct curve_points *v,
		     struct predict_side *side, const struct sim_machine *prior)
{
	const size_t first = in->n_points, left = in->n_left_points;
	struct err e = { 0 };
	int rc = add_points(in, r, v, side, prior);

	if (rc == 0 && in->n_points > first && try_curve(in, first, prior, &e) < 0) {
		in->n_points = first;
		rc = e.code == ENOMEM ? -ENOMEM
				      : leave_out(in, v->n - (in->n_left_points - left), e.msg);
	}
	if (rc < 0 || in->n_points == first) {
		predict_side_done(side);
		free(side);
		return rc;
	}
	if (arena_grow(&in->arena, &in->sources, in->n_curves, &in->cap_sources,
		       sizeof(*in->sources)) < 0 ||
	    arena_grow(&in->arena, &in->curves, in->n_curves, &in->cap_curves,
		       sizeof(*in->curves)) < 0) {
		predict_side_done(side);
		free(side);
		return -ENOMEM;
	}
	in->sources[in->n_curves] = (struct calibrate_source){ r, v, side };
	in->curves[in->n_curves] = (struct calibrate_curve){ .name = name_curve(in, r, v) };
	return in->curves[in->n_curves++].name ? 0 : -ENOMEM;
}

static int gather_run(struct calibrate_input *in, const struct run *r,
		      const struct sim_machine *prior, char **model, size_t n_model, uint64_t seed)
{
	struct points points = { 0 };
	struct curves curves = { 0 };
	int rc = points_assemble(&in->arena, r, &points);

	if (rc == 0)
		rc = curves_assemble(&in->arena, r, &points, &curves);
	for (size_t i = 0; i < curves.n && rc == 0; i++) {
		const struct curve_points *v = &curves.v[i];
		const size_t n = v->n ? v->n : 1;
		const char *why = why_not(v);
		struct predict_side *side = NULL;
		struct err e = { 0 };

		if (!why)
			side = make_side(in, prior, v, model, n_model, seed, &e);
		if (e.code == ENOMEM)
			rc = -ENOMEM;
		else if (!side)
			rc = leave_out(in, n, why ? why : e.msg);
		else
			rc = add_curve(in, r, v, side, prior);
		if (rc == 0 && attrs_find(&v->outer, "nested")) {
			in->nested_is_given = true;
			in->nested = strcmp(attrs_text(&v->outer, "nested", ""), "yes") == 0;
		}
	}
	return rc;
}

int calibrate_gather(const struct common *c, const struct sim_machine *prior, char **model,
		     size_t n_model, uint64_t seed, struct calibrate_input *in)
{
	for (size_t i = 0; i < in->n_runs; i++)
		if (gather_run(in, in->runs[i], prior, model, n_model, seed) < 0)
			return no_memory(c);
	for (size_t i = 0; i < n_model; i++) {
		if (strncmp(model[i], "nested=", 7) != 0)
			continue;
		in->nested_is_given = true;
		in->nested = strcmp(model[i], "nested=yes") == 0;
	}
	return CLI_DONE;
}

/* --- what the curves show --- */

static bool is_held_out(const struct calibrate_input *in, const struct measure *m)
{
	for (size_t i = 0; i < in->n_curves; i++) {
		const struct curve_points *v = in->sources[i].curve;

		for (size_t k = 0; in->curves[i].held_out && k < v->n; k++)
			for (size_t j = 0; j < v->points[k]->n_measures; j++)
				if (v->points[k]->measures[j] == m)
					return true;
	}
	return false;
}

static void take_facts(const struct facts *f, const struct sim_machine *m,
		       struct calibrate_hints *ret, double *ret_clock_hz)
{
	char page[UNITS_TEXT_BYTES];

	format_size(page, m->core.page_bytes);
	for (size_t i = 0; i < f->n; i++) {
		const struct fact *x = &f->v[i];
		const int64_t level = attrs_int(&x->where, "level", 0);
		const double n = isfinite(x->nominal) ? x->nominal : x->value;

		if (strcmp(x->id, "clock.core_hz") == 0 && x->value >= 1e6 && x->value <= 1e11)
			*ret_clock_hz = x->value;
		if (strcmp(x->id, "tlb.entries") == 0 && level >= 1 && level <= SIM_TLB_LEVELS &&
		    strcmp(attrs_text(&x->where, "page", ""), page) == 0 && n >= 1 && n < 1e6)
			ret->tlb_entries[level - 1] = (uint32_t)n;
	}
}

int calibrate_hints(const struct calibrate_input *in, const struct sim_machine *m,
		    struct calibrate_hints *ret, double *ret_clock_hz)
{
	struct arena a = { 0 };
	int rc = 0;

	*ret = (struct calibrate_hints){ .nested_is_given = in->nested_is_given };
	*ret_clock_hz = 0;
	for (size_t i = 0; i < in->n_runs && rc == 0; i++) {
		/* The run without what is held out: facts are inferred from the rest alone. */
		struct run part = *in->runs[i];
		const char *host = attrs_text(&part.fingerprint, "hypervisor", "none");
		struct points points = { 0 };
		struct curves curves = { 0 };
		struct facts facts = { 0 };
		struct err e = { 0 };

		ret->may_be_guest = ret->may_be_guest || strcmp(host, "none") != 0;
		part.measures = arena_alloc(&a, (part.n_measures + 1) * sizeof(*part.measures));
		part.n_measures = 0;
		for (size_t k = 0; part.measures && k < in->runs[i]->n_measures; k++)
			if (!is_held_out(in, &in->runs[i]->measures[k]))
				part.measures[part.n_measures++] = in->runs[i]->measures[k];
		rc = part.measures ? points_assemble(&a, &part, &points) : -ENOMEM;
		if (rc == 0)
			rc = curves_assemble(&a, &part, &points, &curves);
		if (rc == 0)
			rc = infer_facts(&a, &part, &curves, &facts, &e);
		if (rc == 0)
			take_facts(&facts, m, ret, ret_clock_hz);
	}
	arena_done(&a);
	return rc;
}
