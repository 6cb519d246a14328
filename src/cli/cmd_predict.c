// SPDX-License-Identifier: MIT
/*
 * `pagetoll predict`: what a benchmark would say on a described machine, and what a change of the
 * machine or of the setting would give. Nothing is measured.
 */
#include "cli/take.h"
#include "cli/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "cli/machine_file.h"
#include "cli/predict_print.h"
#include "cli/predict_run.h"
#include "cli/predict_setup.h"
#include "cli/predict_trace.h"
#include "cli/render.h"

enum { KEY_MACHINE = KEY_VERB, KEY_WHAT_IF, KEY_MACHINES };
enum { WHAT_IFS_MAX = 32 };

struct predict_args {
	struct common common;
	struct how how;
	struct trace_args trace;
	const char *machine;
	char *what_ifs[WHAT_IFS_MAX];
	size_t n_what_ifs;
	bool list;
};

static error_t parse_predict(int key, char *arg, struct argp_state *state)
{
	struct predict_args *a = state->input;

	switch (key) {
	case KEY_MACHINE:
		a->machine = arg;
		return 0;
	case KEY_MACHINES:
		a->list = true;
		return 0;
	case KEY_WHAT_IF:
		if (!strchr(arg, '=') || arg[0] == '=')
			cli_usage(&a->common, "--what-if: '%s' is not NAME=VALUE", arg);
		if (a->n_what_ifs == WHAT_IFS_MAX)
			cli_usage(&a->common, "--what-if: at most %d of them", WHAT_IFS_MAX);
		a->what_ifs[a->n_what_ifs++] = arg;
		return 0;
	default:
		if (take_how(&a->how, &a->common, key, arg) ||
		    take_trace(&a->trace, &a->common, key, arg))
			return 0;
		return common_option(key, arg, state);
	}
}

/* --- predicting --- */

struct job {
	const struct predict_args *args;
	struct sim_machine *machine; /* as given; NULL: none */
	struct run *run;
	uint64_t seed;
};

static int add_point(struct job *j, const struct predict_side *s, const struct planned *p,
		     uint64_t inner, const char *arm, struct err *e)
{
	struct predict_result *r = malloc(sizeof(*r));
	struct predict_setting at = { .bench = p->bench->schema.name,
				      .given = &p->setting.given,
				      .resolved = &p->setting.resolved,
				      .inner = p->inner,
				      .inner_value = inner,
				      .table_policy = s->table_policy };
	const struct cpu *cpu =
		machine_cpu(&s->as_ours, (uint32_t)attrs_int(&p->setting.resolved, "cpu.id", 0));
	int rc = r ? 0 : -ENOMEM;

	at.cpu_node = cpu ? (uint32_t)cpu->node : 0;
	if (rc == 0)
		rc = predict_point(&s->model, &at, r, e);
	if (rc == 0)
		rc = predict_add_schema(j->run, &p->bench->schema, r);
	if (rc == 0)
		rc = predict_add_measure(j->run, &at, &s->extra, arm, r);
	free(r);
	return rc < 0 ? err_set(e, -rc, "out of memory") : 0;
}

/* Settings that the machine cannot have are left out and told, if others remain. */
static int add_side(struct job *j, const struct predict_side *s, const char *arm, struct err *e)
{
	size_t left_out = 0;

	for (size_t i = 0; i < s->plan.n; i++) {
		const struct planned *p = &s->plan.v[i];
		int rc = 0;

		if (p->skip_reason) {
			if (++left_out == s->plan.n)
				return err_set(e, EINVAL, "%s", p->skip_reason);
			cli_warn(&j->args->common, "left out: %s", p->skip_reason);
			continue;
		}
		if (!p->inner)
			rc = add_point(j, s, p, 0, arm, e);
		for (size_t k = 0; k < p->grid.n && rc == 0; k++)
			rc = add_point(j, s, p, p->grid.v[k], arm, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int count_points(const struct plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		n += p->v[i].inner ? p->v[i].grid.n : 1;
	return (int)n;
}

static int predict_both(struct job *j, struct predict_side *before, struct predict_side *after,
			struct err *e)
{
	const struct predict_args *a = j->args;
	char **words = NULL;
	size_t n = 0;
	int rc = predict_side_init(before, j->machine, a->common.words, a->common.n_words, j->seed,
				   e);

	if (rc == 0)
		rc = predict_side_check(before, a->common.words[0], e);
	if (rc == 0 && a->n_what_ifs) {
		words = predict_words_after(a->common.words, a->common.n_words, a->what_ifs,
					    a->n_what_ifs, &n);
		rc = words ? predict_side_init(after, j->machine, words, n, j->seed, e) : -ENOMEM;
		if (rc == 0)
			rc = predict_side_check(after, a->common.words[0], e);
		if (rc == 0 && count_points(&before->plan) != count_points(&after->plan))
			rc = err_set(e, EINVAL,
				     "--what-if: %d points before and %d after; give the points "
				     "(as pointers=64,128) so that both have the same",
				     count_points(&before->plan), count_points(&after->plan));
	}
	if (rc == 0)
		rc = add_side(j, before, a->n_what_ifs ? "A" : NULL, e);
	if (rc == 0 && a->n_what_ifs)
		rc = add_side(j, after, "B", e);
	free(words);
	return rc;
}

/* --- the run --- */

static int print(const struct job *j, const char *path)
{
	struct str out = { 0 };

	if (j->args->common.format != FORMAT_TEXT)
		return cli_render_run(&j->args->common, j->run, NULL, j->run->id, path);
	predict_print(&out, j->run, j->machine);
	if (path)
		str_addf(&out, "\nrun %s (predicted)\n", j->args->how.output ? path : j->run->id);
	return cli_print_str(&out);
}

static int predict(struct job *j, int argc, char **argv)
{
	struct predict_side before = { 0 }, after = { 0 };
	struct err e = { 0 };
	char *path = NULL;
	int rc = predict_run_header(j->run, j->machine, &j->args->how, j->seed, argc, argv, &e);
	int saved, status;

	if (rc == 0)
		rc = predict_both(j, &before, &after, &e);
	predict_side_done(&before);
	predict_side_done(&after);
	if (rc == -EINVAL || rc == -ERANGE)
		cli_usage(&j->args->common, "%s", e.msg);
	if (rc < 0)
		return cli_fail(&j->args->common, CLI_NOT_MEASURED, "%s", e.msg);
	saved = predict_run_save(&j->args->common, &j->args->how, j->run, &path);
	status = print(j, saved == CLI_DONE ? path : NULL);
	free(path);
	return saved == CLI_DONE ? status : saved;
}

static void check_args(const struct predict_args *a)
{
	const struct common *c = &a->common;
	struct str all = { 0 };

	for (size_t i = 0; predict_name(i); i++)
		str_addf(&all, "%s%s", i ? ", " : "", predict_name(i));
	if (c->n_words == 0 || strchr(c->words[0], '='))
		cli_usage(c, "the first word is the benchmark; predicted are %s", str_text(&all));
	if (!predict_knows(c->words[0]))
		cli_usage(c, "%s cannot be predicted; predicted are %s", c->words[0],
			  str_text(&all));
	for (size_t i = 1; i < c->n_words; i++)
		if (!strchr(c->words[i], '='))
			cli_usage(c, "'%s': one benchmark at a time, then NAME=VALUE", c->words[i]);
	if (!a->machine && predict_needs_machine(c->words[0]))
		cli_usage(c, "%s needs --machine NAME; --machines lists them", c->words[0]);
	if (a->how.output && a->how.no_save)
		cli_usage(c, "--output and --no-save exclude each other");
	str_done(&all);
}

static void check_trace(const struct predict_args *a)
{
	if (!a->machine)
		cli_usage(&a->common, "--trace needs --machine NAME; --machines lists them");
	if (a->how.output && a->how.no_save)
		cli_usage(&a->common, "--output and --no-save exclude each other");
}

static int predict_trace_of(const struct job *j, int argc, char **argv)
{
	const struct trace_request q = { .common = &j->args->common,
					 .how = &j->args->how,
					 .trace = &j->args->trace,
					 .machine = j->machine,
					 .what_ifs = j->args->what_ifs,
					 .n_what_ifs = j->args->n_what_ifs,
					 .run = j->run,
					 .seed = j->seed };

	return predict_trace(&q, argc, argv);
}

static int list_machines(void)
{
	struct str out = { 0 };

	predict_print_machines(&out);
	return cli_print_str(&out);
}

static int run_predict(const struct verb *v, int argc, char **argv)
{
	struct predict_args a = { 0 };
	struct job j = { .args = &a };
	static char **typed; /* usage errors end the program where this is still needed */
	int status = CLI_DONE;

	typed = calloc((size_t)argc + 1, sizeof(*typed));
	if (!typed)
		return cli_fail(&a.common, CLI_FATAL, "out of memory");
	memcpy(typed, argv, (size_t)argc * sizeof(*typed));
	cli_parse(v, argc, argv, &a);
	if (a.list) {
		free(typed);
		return list_machines();
	}
	take_trace_files(&a.trace, &a.common);
	if (a.trace.n_files)
		check_trace(&a);
	else
		check_args(&a);
	j.seed = a.how.has_seed ? a.how.seed : 1;
	j.run = run_new();
	if (!j.run)
		status = cli_fail(&a.common, CLI_FATAL, "out of memory");
	if (status == CLI_DONE && a.machine)
		status = described_machine(&a.common, a.machine, &j.machine);
	if (status == CLI_DONE && a.trace.n_files)
		status = predict_trace_of(&j, argc, typed);
	else if (status == CLI_DONE)
		status = predict(&j, argc, typed);
	sim_machine_free(j.machine);
	run_free(j.run);
	free(typed);
	return status;
}

static const struct argp_option predict_options[] = {
	{ "machine", KEY_MACHINE, "MACHINE", 0,
	  "The described machine: a name of --machines, or a file", 0 },
	{ "machines", KEY_MACHINES, NULL, 0, "List the described machines that come along", 0 },
	{ "what-if", KEY_WHAT_IF, "NAME=VALUE", 0,
	  "Predict again with this change, and print the difference; may be given several times",
	  0 },
	OPTIONS_TRACE,
	{ "seed", HOW_SEED, "N", 0, "Seed of orders, frames and random replacement (default: 1)",
	  0 },
	{ "label", HOW_LABEL, "TEXT", 0, "Name the run, for show and compare", 0 },
	{ "output", 'o', "FILE", 0,
	  "Save the run to FILE, which must not exist, and not to the library", 0 },
	{ "no-save", HOW_NO_SAVE, NULL, 0, "Print the result only", 0 },
	{ "quiet", 'q', NULL, 0, "No progress on standard error", 0 },
	OPTION_FORMAT,
	OPTION_COLOR,
	OPTION_HELP,
	{ 0 }
};
static const struct argp predict_argp = {
	.options = predict_options,
	.parser = parse_predict,
	.args_doc = "BENCH [NAME=VALUE]...\n--trace FILE... [NAME=VALUE]...",
	.doc = "Predict what a benchmark, or a traced program, would take on a described machine, "
	       "by simulating its references, and where the time of each goes. Nothing is "
	       "measured.\v"
	       "NAME=VALUE are the benchmark's own parameters ('pagetoll info BENCH'), and of the "
	       "model: levels=2..5, page-tables=interleaved|replicated, nested=yes|no, "
	       "host-page=SIZE, table-align=SIZE, far-side=on|off, dtlb-entries=-N|+N, and for "
	       "system calls kernel-text=single|replicated, text-lines=N, data-lines=N, "
	       "hot-ns=N.\n\n"
	       "  pagetoll predict tlb.chase --machine zen3-epyc pointers=1024,65536 \\\n"
	       "      stride=leaf-table+base-page backing=zero page-tables=remote \\\n"
	       "      --what-if page-tables=replicated\n"
	       "  pagetoll predict tables.shared processes=500 segment=8000m\n\n"
	       "With --trace, the references are those of a program: text of Valgrind's lackey, "
	       "ChampSim's records, or DynamoRIO's drmemtrace; '-' is standard input, several "
	       "files are threads. NAME=VALUE are then page=SIZE, page-tables=local|NODE|"
	       "interleaved|replicated, data=local|NODE|interleaved (local: with the thread that "
	       "touched it first), loads=dependent|independent, and levels, nested, host-page, "
	       "table-align, far-side, dtlb-entries as above.\n\n"
	       "  valgrind --tool=lackey --trace-mem=yes --log-file=prog.lk ./prog\n"
	       "  pagetoll predict --trace prog.lk --machine zen3-epyc\n"
	       "  xz -dc prog.champsim.xz | pagetoll predict --trace - --machine plan-16-nodes\n\n"
	       "docs/model.md says what the model is and what it cannot; docs/machines.md how to "
	       "describe a machine.",
};
const struct verb verb_predict = {
	.name = "predict",
	.summary = "Predict a benchmark, or a change, on a described machine",
	.operand = OPERAND_WORDS,
	.argp = &predict_argp,
	.run = run_predict,
};
