// SPDX-License-Identifier: MIT
/* A calibration as one JSON document; docs/json.md describes it. */
#include <math.h>

#include "cli/calibrate_print.h"

static json_t *real(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *error_json(const struct calibrate_error *e)
{
	if (!e->n)
		return json_null();
	return json_pack("{sI so so sI sI}", "points", (json_int_t)e->n, "mean", real(e->mean),
			 "worst", real(e->worst), "from", (json_int_t)e->from, "to",
			 (json_int_t)e->to);
}

static json_t *costs_json(const struct calibration *c)
{
	static const char *const words[] = { "fitted", "never-exercised", "collinear", "vague",
					     "out-of-order" };
	json_t *list = json_array();

	for (size_t i = 0; i < c->n_costs; i++) {
		const struct calibrate_cost *x = &c->costs[i];

		json_array_append_new(
			list, json_pack("{ss ss so so so so ss so}", "path", x->path, "unit",
					x->unit, "prior", real(x->prior), "value", real(x->value),
					"standard_error", real(x->error), "largest_share",
					real(x->share), "fate", words[x->fate], "with",
					cli_json_text_or_null(*x->with ? x->with : NULL)));
	}
	return list;
}

static json_t *axes_json(const struct calibration *c)
{
	json_t *list = json_array();

	for (size_t i = 0; i < c->n_axes; i++) {
		const struct calibrate_axis *x = &c->axes[i];

		json_array_append_new(list, json_pack("{ss ss ss ss ss sb sb}", "path", x->path,
						      "prior", x->prior, "value", x->value, "tried",
						      x->tried, "fits_as_well", x->alike, "changed",
						      x->changed, "determined", x->determined));
	}
	return list;
}

static json_t *curves_json(const struct calibrate_about *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < a->in->n_curves; i++)
		json_array_append_new(list, json_pack("{so so sb so so}", "run",
						      cli_json_text(a->in->sources[i].run->id),
						      "name", cli_json_text(a->in->curves[i].name),
						      "held_out", a->in->curves[i].held_out,
						      "inside", error_json(&a->c->inside[i]),
						      "beyond", error_json(&a->c->beyond[i])));
	return list;
}

static json_t *points_json(const struct calibrate_about *a)
{
	json_t *list = json_array();

	for (size_t i = 0; i < a->in->n_points; i++) {
		const struct calibrate_point *p = &a->in->points[i];

		json_array_append_new(
			list,
			json_pack("{sI sI so so sb sI}", "curve", (json_int_t)p->curve, "value",
				  (json_int_t)p->setting.inner_value, "measured_ns", real(p->ns),
				  "predicted_ns", real(a->c->predicted[i]), "beyond",
				  a->c->is_beyond[i], "table_bytes", (json_int_t)p->table_bytes));
	}
	return list;
}

static json_t *left_json(const struct calibrate_input *in)
{
	json_t *list = json_array();

	for (size_t i = 0; i < in->n_left; i++)
		json_array_append_new(list,
				      json_pack("{sI so}", "points", (json_int_t)in->left[i].n,
						"why", cli_json_text(in->left[i].why)));
	return list;
}

json_t *calibrate_json(const struct calibrate_about *a)
{
	const struct calibration *c = a->c;
	json_t *runs = json_array();

	for (size_t i = 0; i < a->in->n_runs; i++)
		json_array_append_new(runs,
				      json_pack("{so ss}", "id", cli_json_text(a->in->runs[i]->id),
						"origin", origin_name(a->in->runs[i]->origin)));
	return json_pack(
		"{so so so so sI sb so so so so so so so so so so so}", "runs", runs, "prior",
		cli_json_text(a->prior), "machine", cli_json_text(c->machine->name), "file",
		cli_json_text_or_null(a->path), "structures_tried", (json_int_t)c->tried,
		"search_complete", c->search_done, "seconds", real(a->seconds), "clock_hz",
		a->clock_hz > 0 ? real(a->clock_hz) : json_null(), "left_out", left_json(a->in),
		"structure", axes_json(c), "costs", costs_json(c), "in_sample", error_json(&c->in),
		"held_out", error_json(&c->out), "beyond", error_json(&c->past), "prior_error",
		json_pack("{so so}", "in_sample", error_json(&c->prior_in), "held_out",
			  error_json(&c->prior_out)),
		"curves", curves_json(a), "points", points_json(a));
}
