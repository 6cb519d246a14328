// SPDX-License-Identifier: MIT
/*
 * `pagetoll calibrate RUN...`: fits a described machine to measured runs and writes it, with what
 * the fit is worth on curves that it has not seen.
 */
#include "cli/take.h"
#include "cli/verbs.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/calibrate_points.h"
#include "cli/calibrate_print.h"
#include "cli/calibrate_prior.h"
#include "cli/machine_file.h"
#include "host/clock.h"

enum { KEY_MACHINE = KEY_VERB, KEY_HOLD_OUT, KEY_BUDGET, KEY_BEYOND };
enum { HOLD_OUTS_MAX = 16, SECONDS_DEFAULT = 45, THREADS_MAX = 16, KEEP_BYTES = 512 << 20 };

struct calibrate_args {
	struct common common;
	struct how how;
	const char *machine; /* NULL: chosen */
	const char *hold_outs[HOLD_OUTS_MAX];
	size_t n_hold_outs;
	double seconds;
	bool fit_beyond;
	/* operands */
	char **runs, **model;
	size_t n_runs, n_model;
};

static error_t parse_calibrate(int key, char *arg, struct argp_state *state)
{
	struct calibrate_args *a = state->input;
	struct err e = { 0 };
	uint64_t ns;

	switch (key) {
	case KEY_MACHINE:
		a->machine = arg;
		return 0;
	case KEY_HOLD_OUT:
		if (a->n_hold_outs == HOLD_OUTS_MAX)
			cli_usage(&a->common, "--hold-out: at most %d of them", HOLD_OUTS_MAX);
		a->hold_outs[a->n_hold_outs++] = arg;
		return 0;
	case KEY_BUDGET:
		if (parse_time_ns(arg, &ns, &e) < 0)
			cli_usage(&a->common, "--time-budget: %s", e.msg);
		a->seconds = (double)ns / 1e9;
		return 0;
	case KEY_BEYOND:
		a->fit_beyond = cli_choice(&a->common, "--beyond", "apart|fit", arg) == 1;
		return 0;
	default:
		return take_how(&a->how, &a->common, key, arg) ? 0 : common_option(key, arg, state);
	}
}

/* Operands with '=' are words of the model, the others runs. */
static int split_words(struct calibrate_args *a)
{
	const struct common *c = &a->common;

	a->runs = calloc(c->n_words + 1, sizeof(*a->runs));
	a->model = calloc(c->n_words + 1, sizeof(*a->model));
	if (!a->runs || !a->model)
		return cli_fail(c, CLI_FATAL, "out of memory");
	for (size_t i = 0; i < c->n_words; i++) {
		const char *equals = strchr(c->words[i], '=');
		bool known = false;

		for (const char *const *w = predict_words; equals && *w; w++)
			known = known || (strlen(*w) == (size_t)(equals - c->words[i]) &&
					  strncmp(*w, c->words[i], strlen(*w)) == 0);
		if (known)
			a->model[a->n_model++] = c->words[i];
		else
			a->runs[a->n_runs++] = c->words[i];
	}
	if (a->n_runs == 0)
		cli_usage(c, "RUN is missing (a file, an id, 'last', 'last~1', 'baseline', or a "
			     "label); 'pagetoll run tlb.chase tlb.walk' measures one");
	return CLI_DONE;
}

/* --- held out --- */

static bool curve_matches(const struct calibrate_source *s, const char *word)
{
	const char *equals = strchr(word, '=');
	struct str text = { 0 };
	bool same;
	char name[64];
	const struct attr *at;
	char size[UNITS_TEXT_BYTES];

	if (!equals)
		return strcmp(word, s->curve->bench) == 0;
	snprintf(name, sizeof(name), "%.*s", (int)(equals - word), word);
	at = attrs_find(&s->curve->outer, name);
	if (!at)
		return false;
	attr_format(&text, at);
	same = strcmp(str_text(&text), equals + 1) == 0 ||
	       (at->kind == ATTR_INT && at->integer >= 0 &&
		strcmp(format_size(size, (uint64_t)at->integer), equals + 1) == 0);
	str_done(&text);
	return same;
}

static int hold_out(const struct calibrate_args *a, const struct sim_machine *prior,
		    struct calibrate_input *in, const struct calibrate_options *o)
{
	struct err e = { 0 };

	if (a->n_hold_outs == 0 || (a->n_hold_outs == 1 && strcmp(a->hold_outs[0], "auto") == 0))
		return calibrate_hold_out(prior, in->points, in->n_points, in->curves, in->n_curves,
					  o, &e) < 0
			       ? cli_fail(&a->common, CLI_NOT_MEASURED, "%s", e.msg)
			       : CLI_DONE;
	if (a->n_hold_outs == 1 && strcmp(a->hold_outs[0], "none") == 0)
		return CLI_DONE;
	for (size_t k = 0; k < a->n_hold_outs; k++) {
		struct str names = { 0 };
		bool found = false;

		for (size_t i = 0; i < in->n_curves; i++) {
			if (curve_matches(&in->sources[i], a->hold_outs[k]))
				found = in->curves[i].held_out = true;
			str_addf(&names, "%s%s", i ? "; " : "", in->curves[i].name);
		}
		if (!found)
			cli_usage(&a->common,
				  "--hold-out: no curve has %s; accepted: auto, none, a benchmark, "
				  "or NAME=VALUE of one of: %.300s",
				  a->hold_outs[k], str_text(&names));
		str_done(&names);
	}
	return CLI_DONE;
}

/* --- progress --- */

struct showing {
	bool terminal;
	double last;
};

static double now_seconds(void)
{
	return (double)clock_now_ns() / 1e9;
}

static void show_progress(void *user, const char *what, size_t done, size_t all, double error)
{
	struct showing *s = user;
	const double now = now_seconds();

	if (!s->terminal || now - s->last < 0.1)
		return;
	s->last = now;
	fprintf(stderr, "\r\033[Kstructure %zu of %zu: %s, error %.1f%%", done, all, what,
		100 * error);
}

/* --- the whole --- */

struct calibrating {
	const struct calibrate_args *args;
	struct calibrate_input in;
	struct sim_machine *prior;
	struct str why, ids;
	char *path; /* NULL: not written */
};

static const char SOURCE[] = "calibrated", TOLD[] = "told";

static int add_sources(struct calibrating *k)
{
	struct str fitted = { 0 }, told = { 0 };
	int rc;

	for (size_t i = 0; i < k->in.n_runs; i++)
		str_addf(&k->ids, "%s%s", i ? ", " : "", k->in.runs[i]->id);
	str_addf(&fitted, "calibrated from run %s (pagetoll calibrate; prior: %s)",
		 str_text(&k->ids), k->prior->name);
	str_addf(&told, "what the system told run %s of itself", str_text(&k->ids));
	rc = fitted.failed || told.failed ? -ENOMEM : 0;
	/* texts of machine files end at 400 bytes */
	if (rc == 0 && fitted.len > 390)
		memcpy(fitted.data + 386, "...", 4);
	if (rc == 0 && told.len > 390)
		memcpy(told.data + 386, "...", 4);
	if (rc == 0)
		rc = calibrate_add_source(k->prior, SOURCE, str_text(&fitted));
	if (rc == 0)
		rc = calibrate_add_source(k->prior, TOLD, str_text(&told));
	str_done(&fitted);
	str_done(&told);
	return rc;
}

static int get_prior(struct calibrating *k)
{
	const struct common *c = &k->args->common;
	struct err e = { 0 };
	int rc = CLI_DONE;

	if (k->args->machine)
		rc = described_machine(c, k->args->machine, &k->prior);
	else
		k->prior = prior_choose(k->in.runs[0], &k->why, &e);
	if (rc != CLI_DONE)
		return rc;
	if (!k->prior)
		return cli_fail(c, CLI_USAGE, "%s", e.msg);
	if (add_sources(k) < 0)
		return cli_fail(c, CLI_FATAL, "out of memory");
	if (prior_adapt(k->prior, k->in.runs[0], TOLD, &e) < 0)
		return cli_fail(c, CLI_USAGE, "%s", e.msg);
	return CLI_DONE;
}

static int no_points(const struct calibrating *k)
{
	struct str why = { 0 };
	int rc;

	for (size_t i = 0; i < k->in.n_left && i < 3; i++)
		str_addf(&why, "; %zu left out: %.120s", k->in.left[i].n, k->in.left[i].why);
	rc = cli_fail(&k->args->common, CLI_NOT_MEASURED,
		      "nothing to fit%s. Measure first: pagetoll run tlb.chase backing=zero "
		      "stride=page,leaf-table+base-page,16m tlb.walk caches=warm cache.chase "
		      "page=base",
		      str_text(&why));
	str_done(&why);
	return rc;
}

/* The machine's own name: of the prior and the run. */
static int name_machine(struct calibrating *k, struct sim_machine *m)
{
	const struct run *r = k->in.runs[0];
	char *name = arena_printf(&m->arena, "%.200s-calibrated", k->prior->name);
	char *summary = arena_printf(&m->arena, "%.200s; calibrated from run %.60s",
				     k->prior->summary, r->id);

	if (!name || !summary)
		return cli_fail(&k->args->common, CLI_FATAL, "out of memory");
	if (!strstr(k->prior->name, "-calibrated"))
		m->name = name;
	m->summary = summary;
	return CLI_DONE;
}

static int write_machine(struct calibrating *k, struct sim_machine *m)
{
	const struct how *how = &k->args->how;
	struct str text = { 0 };
	int rc = name_machine(k, m);

	if (rc != CLI_DONE || how->no_save)
		return rc;
	if (how->output)
		k->path = strdup(how->output);
	else if (asprintf(&k->path, "%s-%.10s.json", m->name, k->in.runs[0]->id) < 0)
		k->path = NULL;
	if (!k->path || sim_machine_text(&text, m) < 0)
		rc = cli_fail(&k->args->common, CLI_FATAL, "out of memory");
	else
		rc = cli_write_file(&k->args->common, k->path, &text);
	str_done(&text);
	return rc;
}

static int print(const struct calibrating *k, const struct calibration *r, double clock_hz,
		 double seconds)
{
	const struct calibrate_about a = { .in = &k->in,
					   .c = r,
					   .prior = k->prior->name,
					   .why_prior = str_text(&k->why),
					   .clock_hz = clock_hz,
					   .seconds = seconds,
					   .path = k->path };
	struct str out = { 0 };

	if (k->args->common.format == FORMAT_JSON) {
		json_t *doc = calibrate_json(&a);

		return doc ? cli_print_json(doc)
			   : cli_fail(&k->args->common, CLI_FATAL, "out of memory");
	}
	calibrate_print(&out, &a);
	return cli_print_str(&out);
}

static int fit(struct calibrating *k)
{
	const struct calibrate_args *a = k->args;
	struct showing s = { .terminal = isatty(STDERR_FILENO) && !a->how.quiet };
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct calibrate_options o = { .seed = a->how.has_seed ? a->how.seed : 1,
				       .seconds = a->seconds,
				       .threads = cpus > THREADS_MAX ? THREADS_MAX
						  : cpus > 0         ? (unsigned)cpus
								     : 1,
				       .source = SOURCE,
				       .now = now_seconds,
				       .progress = show_progress,
				       .user = &s };
	const double start = now_seconds();
	struct calibrate_hints hints;
	struct calibration *r;
	struct err e = { 0 };
	double clock_hz = 0;
	int status = hold_out(a, k->prior, &k->in, &o), rc;

	if (status != CLI_DONE)
		return status;
	if (calibrate_hints(&k->in, k->prior, &hints, &clock_hz) < 0)
		return cli_fail(&a->common, CLI_FATAL, "out of memory");
	if (clock_hz > 0) {
		k->prior->core.clock_hz = clock_hz;
		sim_machine_set_source(k->prior, "core.clock_hz", SOURCE);
	}
	r = malloc(sizeof(*r));
	rc = r ? calibrate(k->prior, k->in.points, k->in.n_points, k->in.curves, k->in.n_curves,
			   &hints, &o, r, &e)
	       : err_set(&e, ENOMEM, "out of memory");
	if (s.terminal)
		fprintf(stderr, "\r\033[K");
	if (rc < 0) {
		free(r);
		return cli_fail(&a->common, CLI_NOT_MEASURED, "%s", e.msg);
	}
	/* what could not be written is printed: it took its time */
	status = write_machine(k, r->machine);
	if (status != CLI_DONE) {
		free(k->path);
		k->path = NULL;
	}
	rc = print(k, r, clock_hz, now_seconds() - start);
	status = status == CLI_DONE ? rc : status;
	calibration_done(r);
	free(r);
	return status;
}

/* Wrong words are told as such, not as a reason to leave every curve out. */
static int check_model(const struct calibrating *k)
{
	const struct calibrate_args *a = k->args;
	struct predict_side side;
	struct err e = { 0 };
	char **rest = NULL;
	size_t n_rest = 0;
	int rc = predict_side_words(&side, k->prior, a->model, a->n_model, 1, &rest, &n_rest, &e);

	predict_side_done(&side);
	if (rc == -ENOMEM)
		return cli_fail(&a->common, CLI_FATAL, "out of memory");
	if (rc < 0)
		cli_usage(&a->common, "%s", e.msg);
	return CLI_DONE;
}

static int run_all(struct calibrating *k)
{
	const struct calibrate_args *a = k->args;
	const struct common *c = &a->common;
	int rc = calibrate_load(c, a->runs, a->n_runs, &k->in);

	if (rc == CLI_DONE)
		rc = calibrate_check_alike(c, &k->in);
	if (rc == CLI_DONE)
		rc = get_prior(k);
	if (rc == CLI_DONE)
		rc = check_model(k);
	if (rc == CLI_DONE)
		rc = calibrate_gather(c, k->prior, a->model, a->n_model,
				      a->how.has_seed ? a->how.seed : 1, &k->in);
	if (rc != CLI_DONE)
		return rc;
	if (k->in.n_points == 0)
		return no_points(k);
	if (k->in.nested_is_given)
		k->prior->core.nested = k->in.nested;
	if (k->in.nested_is_given && sim_machine_set_source(k->prior, "core.nested", TOLD) < 0)
		return cli_fail(c, CLI_FATAL, "out of memory");
	for (size_t i = 0; a->fit_beyond && i < k->in.n_points; i++)
		k->in.points[i].table_bytes = 0;
	return fit(k);
}

static int run_calibrate(const struct verb *v, int argc, char **argv)
{
	struct calibrate_args a = { .seconds = SECONDS_DEFAULT };
	struct calibrating k = { .args = &a };
	int rc;

	cli_parse(v, argc, argv, &a);
	/* thousands of simulations take and give back megabytes each: keep the pages */
	mallopt(M_MMAP_THRESHOLD, KEEP_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEEP_BYTES);
	if (a.common.format == FORMAT_CSV)
		cli_usage(&a.common, "--format csv: a calibration comes as text or json");
	if (a.how.output && a.how.no_save)
		cli_usage(&a.common, "--output and --no-save exclude each other");
	if (a.how.output && strcmp(a.how.output, "-") == 0)
		cli_usage(&a.common, "--output: '-' is standard output, which has the result; give "
				     "the machine a file, as mine.json");
	rc = split_words(&a);
	if (rc == CLI_DONE)
		rc = run_all(&k);
	calibrate_input_done(&k.in);
	sim_machine_free(k.prior);
	str_done(&k.why);
	str_done(&k.ids);
	free(k.path);
	free(a.runs);
	free(a.model);
	return rc;
}

static const struct argp_option calibrate_options[] = {
	{ "machine", KEY_MACHINE, "MACHINE", 0,
	  "Start from this described machine: a name of 'predict --machines', or a file (default: "
	  "the one that is most like the run's)",
	  0 },
	{ "output", 'o', "FILE", 0,
	  "Write the machine to FILE (default: MACHINE-calibrated-RUN.json here)", 0 },
	{ "no-save", HOW_NO_SAVE, NULL, 0, "Print the result only", 0 },
	{ "hold-out", KEY_HOLD_OUT, "WHAT", 0,
	  "Curves that are not fitted but predicted: auto, none, a benchmark, or NAME=VALUE of "
	  "their setting; may be given several times (default: auto)",
	  0 },
	{ "beyond", KEY_BEYOND, "apart|fit", 0,
	  "Points whose page tables exceed the last-level cache (default: apart)", 0 },
	{ "time-budget", KEY_BUDGET, "TIME", 0,
	  "For the search of the structure (default: 45s; 0s: costs only)", 0 },
	{ "seed", HOW_SEED, "N", 0, "Seed of orders, frames and random replacement (default: 1)",
	  0 },
	{ "quiet", 'q', NULL, 0, "No progress on stderr", 0 },
	{ "format", KEY_FORMAT, "text|json", 0, "Form of the result (default: text)", 0 },
	OPTION_HELP,
	{ 0 }
};
static const struct argp calibrate_argp = {
	.options = calibrate_options,
	.parser = parse_calibrate,
	.args_doc = "RUN... [NAME=VALUE]...",
	.doc = "Fit a described machine to measured runs: its structure by a search, its costs by "
	       "least squares, with whole curves held out to see what the fit is worth. Writes a "
	       "file for 'pagetoll predict --machine FILE'.\v"
	       "Used are the points of tlb.chase, tlb.walk (warm), cache.chase and mem.gups. "
	       "NAME=VALUE are words of the model that hold for all points: nested=yes|no, "
	       "table-align=SIZE, levels=N.\n\n"
	       "  pagetoll run tlb.chase backing=zero stride=page,leaf-table+base-page,16m \\\n"
	       "      tlb.walk caches=warm cache.chase page=base\n"
	       "  pagetoll calibrate last -o mine.json\n"
	       "  pagetoll predict tlb.chase stride=1m --machine mine.json\n\n"
	       "docs/model.md ('Calibrating') says what can be told from runs and what not.",
};
const struct verb verb_calibrate = {
	.name = "calibrate",
	.summary = "Fit a described machine to measured runs",
	.operand = OPERAND_RUNS,
	.argp = &calibrate_argp,
	.run = run_calibrate,
};
