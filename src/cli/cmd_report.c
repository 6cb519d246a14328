// SPDX-License-Identifier: MIT
/*
 * `pagetoll report RUN... -o FILE.html`: runs as one page for people who did not make them. With
 * several runs the first is compared with each of the others. The page is report/'s.
 */
#include "cli/verbs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/run_sides.h"
#include "cli/take.h"
#include "compare/compare_arms.h"
#include "report/html.h"
#include "store/library.h"

enum { KEY_ACROSS = KEY_VERB, RUNS_MAX = 16 };

struct report_args {
	struct common common;
	const char *output; /* NULL: stdout */
	struct compare_options options;
};

/* All that a page is made of; ends with page_done(). */
struct page_parts {
	struct run_side sides[RUNS_MAX];
	size_t n_sides;
	struct report *reports; /* of page runs, in their order */
	struct page_run *runs;
	size_t n_runs;
	/* each side's arms, if it is an experiment; then each side against the first */
	struct comparison compared[2 * RUNS_MAX];
	struct err refusals[2 * RUNS_MAX];
	struct page_comparison comparisons[2 * RUNS_MAX];
	size_t n_comparisons;
	struct arena arena; /* names */
	struct run *published[64];
	size_t n_published;
};

static error_t parse_report(int key, char *arg, struct argp_state *state)
{
	struct report_args *a = state->input;

	switch (key) {
	case KEY_ACROSS:
		cli_choice(&a->common, "--across", "machine", arg);
		a->options.across = "machine";
		return 0;
	case 'o':
		a->output = take_output(&a->common, arg);
		return 0;
	default:
		return common_option(key, arg, state);
	}
}

static void page_done(struct page_parts *p)
{
	for (size_t i = 0; i < p->n_comparisons; i++)
		if (p->comparisons[i].c)
			comparison_done(&p->compared[i]);
	for (size_t i = 0; i < p->n_runs; i++)
		report_done(&p->reports[i]);
	for (size_t i = 0; i < p->n_sides; i++)
		run_side_done(&p->sides[i]);
	for (size_t i = 0; i < p->n_published; i++)
		run_free(p->published[i]);
	free(p->reports);
	free(p->runs);
	arena_done(&p->arena);
}

static int add_run(const struct report_args *a, struct page_parts *p, const struct run *r,
		   const char *name, bool overlay)
{
	struct err e = { 0 };

	if (report_init(&p->reports[p->n_runs], r, &e))
		return cli_fail(&a->common, CLI_FATAL, "cannot evaluate the run: %s", e.msg);
	p->runs[p->n_runs] = (struct page_run){ .rep = &p->reports[p->n_runs],
						.name = name,
						.is_overlay = overlay };
	p->n_runs++;
	return CLI_DONE;
}

/* A side is called as typed, a file without its folders: the page's readers do not have them. */
static const char *side_name(const struct run_side *s)
{
	const char *slash = strrchr(s->words, '/');

	return slash && slash[1] && !strchr(s->words, ',') ? slash + 1 : s->words;
}

/* The boots of a side are told apart by their ids. */
static const char *run_name(struct page_parts *p, const struct run_side *s, size_t i)
{
	const char *id = s->v[i]->id ? s->v[i]->id : "without an id";

	return s->n == 1 ? side_name(s) : arena_printf(&p->arena, "%s (%s)", side_name(s), id);
}

static int load_sides(const struct report_args *a, struct page_parts *p)
{
	struct err e = { 0 };

	for (; p->n_sides < a->common.n_words; p->n_sides++)
		if (run_side_load(a->common.words[p->n_sides], &p->sides[p->n_sides], &e)) {
			p->n_sides++; /* may hold some of its runs */
			return cli_fail(&a->common, CLI_FATAL, "%s", e.msg);
		}
	return CLI_DONE;
}

/* Published tables that are not on the page already, for the curves of their benchmarks. */
static int load_published(const struct report_args *a, struct page_parts *p)
{
	const size_t max = sizeof(p->published) / sizeof(p->published[0]);
	struct err e = { 0 };

	for (const struct published *x = published_runs; x->name && p->n_published < max; x++) {
		if (library_load(x->name, &p->published[p->n_published], NULL, &e))
			return cli_fail(&a->common, CLI_FATAL, "%s: %s", x->name, e.msg);
		p->n_published++;
	}
	return CLI_DONE;
}

static bool is_on_page(const struct page_parts *p, const struct run *r)
{
	for (size_t i = 0; i < p->n_runs; i++) {
		const char *id = p->runs[i].rep->run->id;

		if (id && r->id && strcmp(id, r->id) == 0)
			return true;
	}
	return false;
}

static int add_runs(const struct report_args *a, struct page_parts *p)
{
	size_t n = p->n_published;
	int rc = CLI_DONE;

	for (size_t i = 0; i < p->n_sides; i++)
		n += p->sides[i].n;
	p->reports = calloc(n, sizeof(*p->reports));
	p->runs = calloc(n, sizeof(*p->runs));
	if (!p->reports || !p->runs)
		return cli_fail(&a->common, CLI_FATAL, "out of memory");
	for (size_t i = 0; i < p->n_sides; i++) {
		for (size_t k = 0; rc == CLI_DONE && k < p->sides[i].n; k++) {
			const char *name = run_name(p, &p->sides[i], k);

			rc = name ? add_run(a, p, p->sides[i].v[k], name, false)
				  : cli_fail(&a->common, CLI_FATAL, "out of memory");
		}
	}
	for (size_t i = 0; rc == CLI_DONE && i < p->n_published; i++)
		if (!is_on_page(p, p->published[i]))
			rc = add_run(a, p, p->published[i], p->published[i]->id, true);
	return rc;
}

static bool has_arms(const struct run *r)
{
	for (size_t i = 0; i < r->n_measures; i++)
		if (r->measures[i].arm)
			return true;
	return false;
}

/* The verdicts that `ab` gave. */
static void compare_experiment(const struct report_args *a, struct page_parts *p,
			       const struct run_side *s)
{
	size_t n = p->n_comparisons;
	struct page_comparison *pc = &p->comparisons[n];

	if (s->n != 1 || !has_arms(s->v[0]))
		return;
	*pc = (struct page_comparison){
		.name_a = arena_printf(&p->arena, "arm A of %s", side_name(s)),
		.name_b = arena_printf(&p->arena, "arm B of %s", side_name(s)),
	};
	if (!pc->name_a || !pc->name_b)
		return; /* no memory: less on the page, as the rest will say */
	if (compare_arms(s->v[0], &a->options, &p->compared[n], &p->refusals[n]))
		pc->refusal = p->refusals[n].msg;
	else
		pc->c = &p->compared[n];
	p->n_comparisons++;
}

/* What cannot be compared stands on the page with the reason. */
static void compare(const struct report_args *a, struct page_parts *p)
{
	struct compare_options o = a->options;
	const struct run_side *x = &p->sides[0];

	for (size_t i = 0; i < p->n_sides; i++)
		compare_experiment(a, p, &p->sides[i]);
	o.run_spread = run_side_spread(x->v[0]);
	for (size_t i = 1; i < p->n_sides; i++) {
		const struct run_side *y = &p->sides[i];
		size_t n = p->n_comparisons++;
		struct page_comparison *pc = &p->comparisons[n];

		*pc = (struct page_comparison){ .name_a = side_name(x), .name_b = side_name(y) };
		if (compare_runs((const struct run *const *)x->v, x->n,
				 (const struct run *const *)y->v, y->n, &o, &p->compared[n],
				 &p->refusals[n]))
			pc->refusal = p->refusals[n].msg;
		else
			pc->c = &p->compared[n];
	}
}

static int write_page(const struct report_args *a, const struct page_parts *p)
{
	struct page_input in = { .runs = p->runs,
				 .n_runs = p->n_runs,
				 .comparisons = p->comparisons,
				 .n_comparisons = p->n_comparisons,
				 .version = cli_version() };
	struct str out = { 0 };
	int rc;

	if (report_html(&out, &in)) {
		str_done(&out);
		return cli_fail(&a->common, CLI_FATAL, "cannot write the page: out of memory");
	}
	if (!a->output)
		return cli_print_str(&out);
	rc = cli_write_file(&a->common, a->output, &out);
	str_done(&out);
	return rc;
}

static int run_report(const struct verb *v, int argc, char **argv)
{
	struct report_args a = { .options.run_spread = NAN };
	struct page_parts *p;
	int rc;

	cli_parse(v, argc, argv, &a);
	if (a.common.n_words < 1 || a.common.n_words > RUNS_MAX)
		cli_usage(&a.common,
			  "%zu runs; a page has 1 to %d (a file, an id, 'last', 'last~1', "
			  "'baseline', or a label)",
			  a.common.n_words, RUNS_MAX);
	if (!a.output && isatty(STDOUT_FILENO))
		cli_usage(&a.common, "a page is no text for a terminal; give it a file: "
				     "-o FILE.html");
	p = calloc(1, sizeof(*p));
	if (!p)
		return cli_fail(&a.common, CLI_FATAL, "out of memory");
	rc = load_sides(&a, p);
	if (rc == CLI_DONE)
		rc = load_published(&a, p);
	if (rc == CLI_DONE)
		rc = add_runs(&a, p);
	if (rc == CLI_DONE) {
		compare(&a, p);
		rc = write_page(&a, p);
	}
	page_done(p);
	free(p);
	return rc;
}

static const struct argp_option report_options[] = {
	{ "output", 'o', "FILE", 0, "Write to FILE instead of stdout", 0 },
	{ "across", KEY_ACROSS, "machine", 0,
	  "Compare runs of unlike machines, which otherwise stand side by side only", 0 },
	OPTION_HELP,
	{ 0 }
};
static const struct argp report_argp = {
	.options = report_options,
	.parser = parse_report,
	.args_doc = "RUN...",
	.doc = "Write runs as one HTML file that needs no network: facts as sentences, curves with "
	       "every invocation, matrices, profiles, proof, what disturbed, the environment. With "
	       "several runs the first is compared with each of the others. RUN is as 'show' takes "
	       "it; a list with commas, or a label that several runs have, is several boots.\v"
	       "  pagetoll report last -o last.html\n"
	       "  pagetoll report last~1 last -o change.html",
};
const struct verb verb_report = {
	.name = "report",
	.summary = "Write runs as a page that opens offline",
	.operand = OPERAND_RUNS,
	.argp = &report_argp,
	.run = run_report,
};
