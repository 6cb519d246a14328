// SPDX-License-Identifier: MIT
/*
 * In order: what was fitted to what, the structure, the costs, what could not be told, and the
 * errors of fitted and held-out curves side by side.
 */
#include "cli/calibrate_print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"

static const char *const fate_words[] = { "fitted", "never exercised", "not told apart",
					  "hardly exercised", "out of order" };

static const char *digits(char buf[UNITS_TEXT_BYTES], double v)
{
	return isfinite(v) ? format_digits(buf, v, 4) : "-";
}

static bool is_far_off(const struct calibrate_error *e)
{
	return e->n && e->mean > 0.1;
}

/* --- about --- */

static void about(struct str *out, const struct calibrate_about *a)
{
	const struct run *r = a->in->runs[0];
	size_t fit = a->c->in.n, held = a->c->out.n;
	char buf[UNITS_TEXT_BYTES];

	for (size_t i = 0; i < a->in->n_runs; i++) {
		const struct run *x = a->in->runs[i];

		str_addf(out, "%s%s (%s", i ? ", " : "calibrated from run ", x->id,
			 origin_name(x->origin));
		str_add(out, ")");
	}
	str_add(out, "\n");
	if (attrs_text(&r->fingerprint, "cpu", NULL)) {
		const char *host = attrs_text(&r->fingerprint, "hypervisor", "none");

		str_add(out, "on ");
		escape_terminal(out, attrs_text(&r->fingerprint, "cpu", ""));
		if (strcmp(host, "none") != 0) {
			str_add(out, ", a guest of ");
			escape_terminal(out, host);
		}
		str_add(out, "\n");
	}
	str_addf(out, "prior: %s", a->prior);
	if (*a->why_prior)
		str_addf(out, " (chosen by %s)", a->why_prior);
	str_add(out, "\n");
	str_addf(out, "points: %zu fitted, %zu held out, %zu beyond the range, %zu left out\n", fit,
		 held, a->c->past.n, a->in->n_left_points);
	for (size_t i = 0; i < a->in->n_left; i++) {
		str_addf(out, "  %4zu left out: ", a->in->left[i].n);
		cli_wrap_at(out, a->in->left[i].why, 17, 17);
	}
	if (a->clock_hz > 0)
		str_addf(out, "clock: %s GHz, as the runs show it\n",
			 format_digits(buf, a->clock_hz / 1e9, 3));
}

/* --- structure --- */

static void structure(struct str *out, const struct calibrate_about *a)
{
	const struct calibration *c = a->c;
	size_t vague = 0;

	str_addf(out, "\nStructure: %zu tried%s\n", c->tried,
		 c->n_axes == 0   ? ""
		 : c->search_done ? ", to the end"
				  : "; the time budget ended the search: --time-budget gives more");
	if (c->n_axes)
		str_addf(out, "  %-26s %-16s %-16s %s\n", "figure", "prior", "found",
			 "fits as well");
	for (size_t i = 0; i < c->n_axes; i++) {
		const struct calibrate_axis *x = &c->axes[i];

		vague += !x->determined && !x->changed;
		if (!x->determined && !x->changed)
			continue;
		str_addf(out, "  %-26s %-16s %-16s %.16s%s\n", x->path, x->prior, x->value,
			 *x->alike ? x->alike : "nothing", strlen(x->alike) > 16 ? "~" : "");
	}
	if (vague) {
		struct str list = { 0 };

		for (size_t i = 0; i < c->n_axes; i++)
			if (!c->axes[i].determined && !c->axes[i].changed)
				str_addf(&list, "%s%s", list.len ? ", " : "", c->axes[i].path);
		str_add(out, "  not told by these runs, as in the prior: ");
		cli_wrap_at(out, str_text(&list), 43, 4);
		str_done(&list);
	}
}

/* --- costs --- */

static void costs(struct str *out, const struct calibration *c)
{
	char prior[UNITS_TEXT_BYTES], value[UNITS_TEXT_BYTES], error[UNITS_TEXT_BYTES];
	size_t n = 0;

	str_addf(out, "\nCosts\n  %-26s %10s %10s %9s  %s\n", "figure", "prior", "fitted", "+-",
		 "unit");
	for (size_t i = 0; i < c->n_costs; i++) {
		const struct calibrate_cost *x = &c->costs[i];

		n += x->fate != CALIBRATE_FITTED;
		if (x->fate == CALIBRATE_FITTED)
			str_addf(out, "  %-26s %10s %10s %9s  %s\n", x->path,
				 digits(prior, x->prior), digits(value, x->value),
				 format_digits(error, x->error, 2), x->unit);
	}
	if (n)
		str_add(out, "not identified, as in the prior:\n");
	for (size_t i = 0; i < c->n_costs; i++) {
		const struct calibrate_cost *x = &c->costs[i];

		if (x->fate == CALIBRATE_FITTED)
			continue;
		str_addf(out, "  %-26s %10s %-6s  %s\n", x->path, digits(prior, x->prior), x->unit,
			 fate_words[x->fate]);
		if (*x->with)
			str_addf(out, "  %48sfrom %s\n", "", x->with);
	}
}

/* --- errors --- */

static void error_cell(struct str *out, const struct calibrate_error *e)
{
	char mean[24], worst[24];

	if (!e->n) {
		str_addf(out, " %15s", "");
		return;
	}
	snprintf(mean, sizeof(mean), "%.1f%%", 100 * e->mean);
	snprintf(worst, sizeof(worst), "%.1f%%", 100 * e->worst);
	str_addf(out, " %7s %7s", mean, worst);
}

static void range_text(struct str *out, const struct calibrate_input *in, size_t curve,
		       const struct calibrate_error *e)
{
	const bool bytes = strstr(in->sources[curve].curve->inner, "pointers") == NULL &&
			   strstr(in->sources[curve].curve->inner, "regions") == NULL;
	char from[UNITS_TEXT_BYTES], to[UNITS_TEXT_BYTES], text[64];

	if (bytes) {
		format_size(from, e->from);
		format_size(to, e->to);
	} else {
		snprintf(from, sizeof(from), "%ju", (uintmax_t)e->from);
		snprintf(to, sizeof(to), "%ju", (uintmax_t)e->to);
	}
	snprintf(text, sizeof(text), "%.20s..%.20s", from, to);
	str_addf(out, " %4zu %15s", e->n, text);
}

static void curve_name(struct str *out, const char *name)
{
	const size_t start = out->len;

	str_add(out, "  ");
	escape_terminal(out, name);
	if (str_columns(name) > 36)
		str_addf(out, "\n  ");
	str_pad(out, str_columns(name) > 36 ? out->len - 2 : start, 38);
}

static void errors(struct str *out, const struct calibrate_about *a)
{
	const struct calibration *c = a->c;
	const struct calibrate_error none = { 0 };

	str_add(out, "\nErrors: mean and worst of |predicted / measured - 1|\n");
	str_addf(out, "%38s %4s %15s %15s\n", "", "", "in-sample", "held out");
	str_addf(out, "  %-36s %4s %7s %7s %7s %7s\n", "all curves", "n", "mean", "worst", "mean",
		 "worst");
	str_addf(out, "  %-36s %4zu", a->prior, c->prior_in.n + c->prior_out.n);
	error_cell(out, &c->prior_in);
	error_cell(out, &c->prior_out);
	str_addf(out, "\n  %-36s %4zu", "calibrated", c->in.n + c->out.n);
	error_cell(out, &c->in);
	error_cell(out, &c->out);
	str_addf(out, "\n  %-36s %4s %15s\n", "curve", "n", "range");
	for (size_t i = 0; i < a->in->n_curves; i++) {
		const bool held = a->in->curves[i].held_out;

		if (!c->inside[i].n)
			continue;
		curve_name(out, a->in->curves[i].name);
		range_text(out, a->in, i, &c->inside[i]);
		str_add(out, "\n");
		str_addf(out, "%42s", "");
		error_cell(out, held ? &none : &c->inside[i]);
		error_cell(out, held ? &c->inside[i] : &none);
		str_add(out, "\n");
	}
}

/* Beyond the range: said apart, and that it fails where it does. */
static void beyond(struct str *out, const struct calibrate_about *a)
{
	const struct calibration *c = a->c;
	char llc[UNITS_TEXT_BYTES];

	if (!c->past.n) {
		str_addf(out, "\nNo point's page tables exceed the last-level cache (%s).\n",
			 format_size_human(llc, (double)c->llc_bytes));
		return;
	}
	str_addf(out,
		 "\nBeyond: page tables larger than the last-level cache (%s). Not fitted; the "
		 "model\n%s here: mean %.0f%%, worst %.0f%% of %zu points.\n",
		 format_size_human(llc, (double)c->llc_bytes),
		 is_far_off(&c->past) ? "FAILS" : "holds", 100 * c->past.mean, 100 * c->past.worst,
		 c->past.n);
	for (size_t i = 0; i < a->in->n_curves; i++) {
		if (!c->beyond[i].n)
			continue;
		curve_name(out, a->in->curves[i].name);
		range_text(out, a->in, i, &c->beyond[i]);
		error_cell(out, &c->beyond[i]);
		str_add(out, "\n");
	}
}

static void verdict(struct str *out, const struct calibrate_about *a)
{
	const struct calibration *c = a->c;

	if (!c->out.n)
		str_add(out, "\nNo curve was held out: the errors are in-sample, and say little of "
			     "other settings.\n");
	else if (is_far_off(&c->out))
		str_addf(out,
			 "\nHeld-out curves are off by %.0f%% in the mean: this machine does not "
			 "predict them.\nMeasure curves that exercise what they need, or take "
			 "another prior.\n",
			 100 * c->out.mean);
	if (a->path) {
		str_add(out, "\nmachine written to ");
		escape_terminal(out, a->path);
		str_add(out, "\n  pagetoll predict tlb.chase --machine ");
		escape_terminal(out, a->path);
		str_add(out, "\n");
	}
}

void calibrate_print(struct str *out, const struct calibrate_about *a)
{
	about(out, a);
	structure(out, a);
	costs(out, a->c);
	errors(out, a);
	beyond(out, a);
	verdict(out, a);
}
